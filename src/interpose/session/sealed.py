"""JSON with a message authentication code: a text that was changed, or written by another program, is refused.

The key is a file in the person's state directory, which only the person may read.
"""

from __future__ import annotations

import hmac
import json
import os
import stat
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from ..errors import CallChanged, UsageError
from ..state.directories import state_path

__all__ = ["AGAIN", "read_sealed", "seal"]

_FORMAT = "interpose.tool_call.1"
_KEY_NAME = "pending-calls.key"
_KEY_LENGTH = 32
AGAIN = "begin the call again; it is judged anew"


def seal(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with its format and its authentication code; it must be JSON."""
    whole = {"format": _FORMAT, **body}
    try:
        text = json.dumps(whole, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"this call cannot be written down: {error}", hint="give the session a view, such as view=json_view"
        ) from None
    return {**json.loads(text), "code": _code(text)}


def read_sealed(pending: object) -> dict[str, Any]:
    """Return the body of what ``seal`` returned; raise CallChanged if it is anything else."""
    if not isinstance(pending, Mapping):
        raise CallChanged(
            f"a written call is a mapping, not {type(pending).__name__}", hint="pass what to_dict() returned"
        )
    body = dict(pending)
    code = body.pop("code", None)
    try:
        text = json.dumps(body, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = ""
    if body.get("format") != _FORMAT:
        raise CallChanged("this is not a call that was written down here", hint=AGAIN)
    if not isinstance(code, str) or not hmac.compare_digest(code.encode("utf-8", "replace"), _code(text).encode()):
        raise CallChanged("the written call was changed, or comes from another machine or user", hint=AGAIN)
    return body


def _code(text: str) -> str:
    return hmac.new(_key(), text.encode("utf-8", "surrogatepass"), sha256).hexdigest()


def _key() -> bytes:
    """Return the key of this user, made when it is first needed."""
    path = state_path(_KEY_NAME)
    for make in (False, True):
        try:
            if make:
                _make_key(path)
            return _read_key(path)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _no_key(path, error.strerror or str(error)) from None
    raise _no_key(path, "it was removed meanwhile")


def _read_key(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise _no_key(path, "others may read or write it")
        key = os.read(descriptor, _KEY_LENGTH + 1)
    finally:
        os.close(descriptor)
    if len(key) != _KEY_LENGTH:
        raise _no_key(path, "it is damaged")
    return key


def _make_key(path: str) -> None:
    """Write a new key, unless another process is faster."""
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    scratch = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, os.urandom(_KEY_LENGTH))
        os.close(descriptor)
        os.link(scratch, path)
    except FileExistsError:
        return
    finally:
        os.unlink(scratch)


def _no_key(path: str, why: str) -> UsageError:
    return UsageError(f"the key of written calls, {path}, cannot be used: {why}",
                      hint="remove the file, or set XDG_STATE_HOME to a directory of your own")  # fmt: skip
