"""The environment of a command: an allow-list of the host's variables, and those that its hook asks for.

This keeps secrets from hooks that do not need them. It is not a sandbox: a command can read what its user can read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..replies import HookFailed
from ..runtime.set_aside import variables_set_aside
from . import trace_context
from ._process import encoded

__all__ = ["environment", "trace_variables", "withheld"]

_ALLOWED = frozenset(
    b"PATH HOME USER LOGNAME SHELL PWD LANG LANGUAGE TZ TMPDIR TEMP TMP TERM COLORTERM NO_COLOR VIRTUAL_ENV "
    b"CONDA_PREFIX PYENV_ROOT NVM_DIR SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS DISPLAY "
    b"WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS SYSTEMROOT COMSPEC PATHEXT".split()
)
_ALLOWED_PREFIXES = (b"LC_", b"XDG_")
_PROXIES = frozenset(
    name.encode() for upper in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY") for name in (upper, upper.lower())
)
_DEFAULT_PATH = b"/usr/local/bin:/usr/bin:/bin"


def environment(
    *,
    inherit: bool,
    without: tuple[str, ...],
    passed: Iterable[str],
    fixed: Mapping[str, str],
    event_variables: Mapping[str, str],
    all_given: bool = False,
) -> dict[bytes, bytes]:
    """Return a command's environment: what it inherits, what its hook adds, and the variables of the event.

    ``all_given``: it may inherit what this process was given and has set aside, too.

    With tracing it also names the span of the hook. Raise HookFailed for a value of the event that cannot be encoded: a
    command that looks at the variable must not take it for missing. Names of variables never come from an event.
    """
    made = _without(os.environb, without) if inherit else _allowed().copy()
    aside = variables_set_aside() if all_given else {}
    if aside:
        made |= _without(aside, without) if inherit else _only_allowed(aside)
    if not inherit:
        for name in map(encoded, passed):
            if name in aside or name in os.environb:
                made[name] = aside[name] if name in aside else os.environb[name]
    made.setdefault(b"PATH", _DEFAULT_PATH)
    for word, text in fixed.items():
        made[encoded(word)] = encoded(text)
    if trace := trace_variables():
        made.pop(b"TRACESTATE", None)  # an inherited one belongs to another span
        made.update((word.encode(), text.encode()) for word, text in trace.items())
    for word, text in event_variables.items():
        try:
            made[word.encode()] = encoded(text)
        except UnicodeEncodeError:
            raise HookFailed(
                "bad_input", f"{word}: the event's value does not fit a variable: {text[:200]!a}"
            ) from None
    return made


def trace_variables() -> dict[str, str]:
    """Return the variables by which a process that is started now finds the span that it runs in."""
    give = trace_context.get()
    return give() if give is not None else {}


def _without(given: Mapping[bytes, bytes], without: tuple[str, ...]) -> dict[bytes, bytes]:
    dropped = tuple(prefix.encode() for prefix in without)
    return {name: value for name, value in given.items() if not (dropped and name.startswith(dropped))}


_last: list[tuple[dict[bytes, bytes], dict[bytes, bytes]]] = [({}, {})]
"""The host's environment at the last call, and the part of it that commands may get."""


def _allowed() -> dict[bytes, bytes]:
    """Return the variables that every command may get; computed again only if the host's environment has changed."""
    now: dict[bytes, bytes] = getattr(os.environ, "_data", None) or dict(os.environb)
    before, made = _last[0]
    if now == before:
        return made
    made = _only_allowed(now)
    _last[0] = (dict(now), made)
    return made


def _only_allowed(given: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    made = {}
    for name, value in given.items():
        if name in _ALLOWED or name.startswith(_ALLOWED_PREFIXES):
            made[name] = value
        elif name in _PROXIES:
            made[name] = _without_user(value)
    return made


def _without_user(url: bytes) -> bytes:
    """Return a proxy's address without the name and password in it."""
    scheme, mark, rest = url.rpartition(b"://")
    host, slash, path = rest.partition(b"/")
    return scheme + mark + host.rpartition(b"@")[2] + slash + path


def withheld(made: Mapping[bytes, bytes]) -> list[str]:
    """Return the names of the host's variables that a command did not get."""
    return sorted(os.fsdecode(name) for name in os.environb if name not in made)
