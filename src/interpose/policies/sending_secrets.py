"""Deny sending secret files, the environment or secret variables to other machines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..errors import BadHook
from ..matching.hosts import HostPattern
from ..matching.shell.words import MANY, ONE, is_known
from ..matching.tool_inputs import TooMuch, limited_values
from ..runtime.regex import regex
from .call import Call
from .effects import Effect, say
from .effects.secret_names import secret_kind
from .effects.senders import SENDERS
from .parameters import Parameter, action, names
from .policy import Objection, Options, Policy
from .secret_folders import secret_in

__all__ = ["POLICY"]

_PARAMETERS = {"file": "files", "system": "files", "environment": "environment", "variable": "variables"}


@lru_cache(maxsize=16)
def _patterns(hosts: tuple[str, ...]) -> tuple[HostPattern, ...]:
    return tuple(map(HostPattern, hosts))


def _hosts(value: Any) -> tuple[str, ...]:
    given: tuple[str, ...] = names("allowHosts", (), "").read(value)
    try:
        _patterns(given)
    except ValueError as error:
        raise BadHook(
            str(error).removeprefix("domain:"), hint="write hosts such as example.com or *.example.com"
        ) from None
    return given


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    yield from _in_code(call, options)
    yield from _by_tool(call, options)
    for effect in call.of("serve-files"):
        if _is_private(effect.target, call):
            yield Objection(options["folders"], say(effect), effect.grade)
    for effect in call.of("send-secret", "send-files"):
        kind, host = (*effect.values, "", "")[:2]
        if host and any(pattern.covers(host) for pattern in _patterns(options["allowHosts"])):
            continue
        where = f" to {host}" if host else ""
        if kind in ("folder", "path"):
            yield from _by_disk(effect, kind, where, call, options)
        else:
            yield Objection(options[_PARAMETERS[kind]], say(effect) + where, effect.grade)


def _is_private(folder: str, call: Call) -> bool:
    """Return whether a folder is a home, a folder above it, or one for keys."""
    if not is_known(folder):
        return False
    path = os.path.normpath(folder)
    return f"{call.home}/".startswith(f"{path.rstrip('/')}/") or secret_kind(f"{path}/x", call.home) is not None


def _in_code(call: Call, options: Options) -> Iterator[Objection]:
    """Object to code that reads a secret file, or the environment, and makes a request."""
    requests = {effect.command: effect for effect in call.of("request", "send") if effect.program not in SENDERS}
    for effect in call.of("read-files", "print-env") if requests else ():
        request = requests.get(effect.command)
        if request is None or any(pattern.covers(request.target) for pattern in _patterns(options["allowHosts"])):
            continue
        is_file = effect.kind == "read-files"
        if not is_file or secret_kind(effect.target, call.home) in ("env", "keys", "stores"):
            what = effect.target if is_file else "the environment"
            reason = f"{say(Effect('send-secret', what, effect.command))} to {request.target}"
            yield Objection(options["files" if is_file else "environment"], reason, effect.grade)


_SENDING = frozenset(
    """
    send upload post attach share publish mail email gmail outlook slack discord telegram gist paste s3 drive dropbox
    """.split()
)
"""Words in the names of tools that send files to a service."""
_WORD = regex("[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_LONGEST = 4_096


def _by_tool(call: Call, options: Options) -> Iterator[Objection]:
    """Object to a tool of a service that is given a secret file to send, under whichever key."""
    words = {word.lower() for word in _WORD.findall(call.own_name)}
    if call.lines or not call.own_name.startswith("mcp_") or _SENDING.isdisjoint(words):
        return
    try:
        for _, value, _ in limited_values(call.input):
            if not isinstance(value, str) or not 0 < len(value) <= _LONGEST or set(value) & set(" \n"):
                continue
            for name in call.names_of(os.path.expanduser(value)):
                if secret_kind(name, call.home) in ("env", "keys", "stores"):
                    yield Objection(options["files"], say(Effect("send-secret", value, call.tool)))
                    break
    except TooMuch:
        return


def _by_disk(effect: Effect, kind: str, where: str, call: Call, options: Options) -> Iterator[Objection]:
    """Object to a folder or a link that leads to a secret, and to a folder that cannot be looked into."""
    path = _MARKED.split(effect.target)[0] if kind == "folder" else effect.target
    if path != effect.target:
        path = path.rpartition("/")[0] or "/"
    if not is_known(path):
        return
    held = secret_in(path, call)
    if held is None:
        return
    if held:
        inside = "" if held == path else f", which holds {held}"
        what = options["files"] if os.path.isfile(path) else options["folders"]
        yield Objection(what, f"{say(effect)}{inside}{where}", effect.grade)
    elif kind == "folder" and "raw" in effect.values:
        yield Objection(options["folders"], f"{say(effect)}{where}, and it may hold secrets", "possible")


_MARKED = regex(f"[*?{ONE}{MANY}]|\\[")


POLICY = Policy(
    name="sending-secrets",
    prevents="Sending a secret file, a secret variable or the environment away, also through copies and archives.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("files", "deny", "sending files that hold secrets"),
        action(
            "folders", "ask", "sending a folder that holds such files; one that cannot be looked into, over the web"
        ),
        action("environment", "deny", "sending the environment"),
        action("variables", "ask", "sending a variable that holds a secret by its name, in a body or an address"),
        Parameter("allowHosts", _hosts, (), "hosts that may be sent secrets", "a list of hosts, such as *.example.com"),
    ),
    recommended={"variables": "allow"},
    notes=(
        "A variable or a single token in a header or a password (curl -H, -u) is how a service is used and passes; a "
        "whole secret file or the environment does not. A secret that is stored in a service for secrets passes. "
        "Which file a line sends is read from the line; a file that an earlier call wrote is known by its name only."
    ),
)
