"""The native dialect: events are a superset of three protocols, and answers of all three are read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ...event import Event
from ...events import EventSpec
from ...records import replace
from ...replies import Ended, Failure, Reply, clean
from ...runtime.regex import regex
from ...strict_json import BadJson, decode
from .answers import read as read_answer

__all__ = ["read", "variables", "write"]

PROTOCOL = 1
_EMPTY_ANSWERS = (b"", b"{}", b"null")
_SHOWN = 300
"""How many bytes of an unreadable answer are kept as evidence."""
_ANSWERED = frozenset({"http_status", "http_type", "http_cut_off", "mcp_tool_error"})
"""Failures of servers that said something all the same: a deny or an ask in it counts."""
_TOO_LARGE = frozenset({"http_too_large", "mcp_too_large", "nats_answer_too_large"})
"""Answers of servers that were not read to their end: they may have been a deny."""
_MOST_LINES = 100
"""How many lines of a text are searched for an answer."""

# Python, Perl and the shell exit with 2 if they do not find their script, which would look like a deny. It must be all
# that was written: a hook that denies may repeat what the model wrote.
_NOT_LAUNCHED = regex(
    r"(\S*(python|pypy)[\w.-]*: can't open file '.*': \[Errno \d+\]|Can't open perl script \".*\":"
    r"|\S*sh: (\d+: )?(cannot|can't) open .*:) (No such file( or directory)?|Permission denied|(Is|Not) a directory)"
)


def write(event: Event) -> dict[str, Any]:
    """Return the input of a command: the event's fields, and those that MassGen names differently."""
    row = event.row
    said = {name: value for name, value in event.items() if value or name not in row.optional}
    said["hook_type"] = row.name
    said["orchestrator_id"] = said.get("orchestrator_id") or ""
    said["agent_id"] = said.get("agent_id") or None
    said["timestamp"] = _now()
    if "tool_name" in row.fields:
        said["tool_output"] = _text(said.get("tool_response")) if "tool_response" in row.fields else None
    said["protocol"] = PROTOCOL
    return said


def _now() -> str:
    now = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1_000_000):06d}+00:00"


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    import json

    return json.dumps(value)


_VARIABLES = [
    (field, f"MASSGEN_{field.upper()}", f"INTERPOSE_{field.upper()}")
    for field in ("tool_name", "session_id", "agent_id", "orchestrator_id")
]


def variables(event: Event) -> dict[str, str]:
    """Return the environment variables of an event."""
    said = {"MASSGEN_HOOK_TYPE": event.row.name, "INTERPOSE_HOOK_TYPE": event.row.name}
    for field, massgens, ours in _VARIABLES:
        value = dict.get(event, field)  # dict.get: event.get() also completes the event
        said[massgens] = said[ours] = value if isinstance(value, str) else ""
    return said


def read(row: EventSpec, answer: object, guard: bool = False) -> Reply | Failure:
    """Read the return value of a callable, or the end of a command. A guard's answer has no unknown keys."""
    if type(answer) is not Ended:
        return read_answer(row, answer, guard)
    if answer.failure is not None and (answer.failure.code != "stdout_limit" or answer.status != 2):
        return _unfinished(row, answer, answer.failure, guard)
    if answer.status == 0 and answer.stdout.strip() in _EMPTY_ANSWERS:
        return Reply(evidence=answer.evidence)
    match answer.status:
        case 0:
            said = _said(row, answer, guard)
        case 2:
            return _denied(row, answer)
        case 126 | 127:
            code = "spawn_permission" if answer.status == 126 else "spawn_not_found"
            return _failed(answer, code, f"exit status {answer.status}: {_first_line(answer.stderr)}")
        case _:
            return _broken(row, answer, guard)
    return said if isinstance(said, Failure) else replace(said, evidence=answer.evidence)


def _said(row: EventSpec, answer: Ended, guard: bool = False) -> Reply | Failure:
    """Read standard output; an empty one has no decision."""
    if not answer.stdout.strip():
        return Reply()
    try:
        said = decode(answer.stdout)
    except BadJson as error:
        begun = _begins_an_object(answer.stdout)
        hint = "" if begun else _unread_answer(row, answer.stdout)
        return _failed(answer, "bad_output", f"the answer is not JSON: {error}{hint}", misstated=begun)
    if said is None:
        return Reply()
    if not isinstance(said, Mapping):
        return _failed(answer, "bad_output", f"the answer is a {type(said).__name__} where an object is expected")
    reply = read_answer(row, said, guard)
    return _failed(answer, reply.code, reply.text) if isinstance(reply, Failure) else reply


def _begins_an_object(stdout: bytes) -> bool:
    """Say whether standard output begins as an answer does: after blanks, marks and colours comes a brace."""
    text = clean(stdout[:_SHOWN].replace(b"\0", b"").decode("utf-8", "ignore"))
    return text.lstrip("\ufeff\ufffe\u200b\u2060 \t\r\n\v\f").startswith("{")


def _unread_answer(row: EventSpec, stdout: bytes) -> str:
    """Return a hint if a line of a text is an answer that refuses: text before it keeps it from being read."""
    lines = stdout.splitlines(keepends=True)[:_MOST_LINES]
    for number, line in enumerate(lines):
        if not line.lstrip().startswith(b"{"):
            continue
        rest = b"".join(lines[number:])
        for text in (line, rest[: rest.rfind(b"}") + 1]):
            try:
                found = read_answer(row, decode(text))
            except BadJson:
                continue
            if found.kind == "misstated" if isinstance(found, Failure) else found.decision in ("deny", "ask"):
                return f"; line {number + 1} refuses, and is not read: print nothing but the answer to standard output"
    return ""


def _unfinished(row: EventSpec, answer: Ended, failure: Failure, guard: bool) -> Reply | Failure:
    """Return why there is no answer; one that was cut off, or that came with an error, may have been a deny."""
    if failure.code in _ANSWERED and answer.stdout.strip():
        said = _said(row, answer, guard)
        if isinstance(said, Reply) and said.decision in ("deny", "ask"):
            return replace(said, problem=failure, evidence=answer.evidence)
        return replace(failure, misstated=isinstance(said, Failure) and said.kind == "misstated")
    # A command that was ended because it wrote without end has no exit status, which may have been 2.
    cut_off = failure.code == "stdout_limit" and (answer.status < 0 or _begins_an_object(answer.stdout))
    return replace(failure, misstated=True) if cut_off or failure.code in _TOO_LARGE else failure


def _denied(row: EventSpec, answer: Ended) -> Reply | Failure:
    """Read exit status 2: a deny, whatever is on standard output."""
    message = answer.stderr.strip()
    if not answer.stdout.strip() and _NOT_LAUNCHED.fullmatch(message):
        return _failed(answer, "launch_error", f"exit status 2: {_first_line(message)}")
    if not message:
        said = _said(row, answer)
        message = said.reason if isinstance(said, Reply) and said.decision == "deny" else ""
    name = answer.evidence.get("hook", "a hook")
    return Reply(decision="deny", reason=message or f"{name} exited with status 2", evidence=answer.evidence)


def _broken(row: EventSpec, answer: Ended, guard: bool) -> Reply | Failure:
    """Read any other status: a failure, but a deny or an ask on standard output still counts, also a misstated one."""
    import signal  # takes long to load, and few commands end this way

    number = -answer.status if answer.status < 0 else answer.status - 128
    if number > 0 and number in set(map(int, signal.valid_signals())):
        name = signal.Signals(number).name.removeprefix("SIG") if number < signal.SIGRTMIN else str(number)
        failure = _failed(answer, f"signal:{name}", f"ended by signal {name}")
    else:
        failure = _failed(answer, "hook_crash", f"exit status {answer.status}: {_first_line(answer.stderr)}")
    said = _said(row, answer, guard) if answer.stdout.strip() else None
    if isinstance(said, Reply) and said.decision in ("deny", "ask"):
        return replace(said, problem=failure, evidence=answer.evidence)
    return said if isinstance(said, Failure) and said.kind == "misstated" else failure


def _failed(answer: Ended, code: str, text: str, *, misstated: bool = False) -> Failure:
    evidence = dict(answer.evidence)
    if code in ("bad_output", "bad_decision"):
        evidence["stdout"] = clean(answer.stdout[:_SHOWN].decode("utf-8", "replace"))
    return Failure(code, text, trace=answer.stderr, evidence=evidence, misstated=misstated)


def _first_line(text: str) -> str:
    """Return the last line of a traceback, or the first line of any other text."""
    lines = [line for line in clean(text).splitlines() if line.strip()] or ["nothing on standard error"]
    return (lines[-1] if lines[0].startswith("Traceback") else lines[0])[:500]
