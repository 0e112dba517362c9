"""The Claude dialect: the input of hooks of Claude Code, and the meaning of their answers.

The exit status counts beside the answer: 2 blocks whatever was written, and any other is overruled by a readable
answer. An unreadable answer is a failure, and after a failure the action goes on, unless the hook has ``onFailure:
block``. What the client drops silently is reported here, in ``ignored`` or as a failure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from ... import strict_json
from ...event import Event
from ...events import EventSpec
from ...records import replace
from ...replies import Ended, Failure, Reply, clean
from ...runtime.regex import regex
from ...runtime.signals import not_by_signal
from .. import native
from .answers import LONGEST_TEXT, OUTPUTS, TOP_LEVEL, ParsedAnswer, cut, read_answer

__all__ = ["LONGEST_TEXT", "read", "variables", "withheld_prefixes", "write"]

withheld_prefixes = ("OTEL_",)
"""Prefixes of the host's variables that a hook does not get; it gets all others."""
_MISSING_FILE_IS_NO_BLOCK = frozenset({"Stop", "SubagentStop", "TaskCompleted"})
_FILE_IS_MISSING = regex(r"no such file|can't open file|cannot find module|ENOENT", re.IGNORECASE)
_NOTHING = ParsedAnswer(Reply(), is_answer=False)


def read(row: EventSpec, answer: object, *, blocks: bool = False) -> Reply | Failure:
    """Read the end of a command, or the return value of a callable.

    ``blocks`` is ``onFailure: block``. A command's ``evidence`` has the ``tool_name``: ``updatedMCPToolOutput`` applies
    to MCP tools only.
    """
    if isinstance(answer, Ended):
        found = _read_command(row, answer, blocks)
        if not answer.evidence:
            return found
        if isinstance(found, Reply):
            return replace(found, evidence={**answer.evidence, **found.evidence})
        return Failure(found.code, found.text, trace=found.trace, evidence={**answer.evidence, **found.evidence})
    said = _read_value(row, answer)
    if isinstance(said, Failure):
        return _failed(row, said, blocks)
    return _settle(row, said)


# The exit status.


def _read_command(row: EventSpec, ended: Ended, blocks: bool) -> Reply | Failure:
    status, stderr, failure = ended.status, ended.stderr.strip(), ended.failure
    if failure is not None and failure.code == "http_type":
        failure = None  # the client looks at the answer, and not at the type that the server gives it
    if failure is not None and (status != 2 or failure.code == "timeout"):
        return _failed(row, failure, blocks, stderr)
    said = _read_stdout(row, ended) if failure is None else failure
    if status == 2 and not row.claude.any_failure_denies:
        return _exit_2(row, ended, said, stderr)
    if status != 0 and row.claude.any_failure_denies:
        return _failed(row, _exit_failure(row, ended), blocks, stderr)
    if isinstance(said, Failure):
        return _failed(row, said, blocks, stderr)
    if status != 0 and (blocks or not said.is_answer):
        return _failed(row, _exit_failure(row, ended), blocks, stderr, said)
    return _settle(row, said)


def _exit_2(row: EventSpec, ended: Ended, said: ParsedAnswer | Failure, stderr: str) -> Reply | Failure:
    if row.name in _MISSING_FILE_IS_NO_BLOCK and not ended.stdout.strip() and _FILE_IS_MISSING.search(stderr):
        # An interpreter that does not find its script exits with 2 too; that must not keep an agent going.
        return Failure("launch_error", f"exit status 2, and a file is missing: {stderr[:300]}")
    problem = said if isinstance(said, Failure) else None
    heard = _NOTHING if isinstance(said, Failure) or not said.is_answer else said
    reason = heard.why_blocked or stderr
    if not reason and row.claude.exit2 in ("deny", "keep going"):
        reason = f"{ended.evidence.get('hook', 'a hook')} exited with status 2"
    return _block(row, _word(row), heard.reply, reason, problem)


def _exit_failure(row: EventSpec, ended: Ended) -> Failure:
    """Return the failure of an exit status, the same as in the native dialect."""
    failure = native.read(row, replace(ended, stdout=b""))
    return failure if isinstance(failure, Failure) else Failure("hook_crash", f"exit status {ended.status}")


def _failed(
    row: EventSpec, failure: Failure, blocks: bool, stderr: str = "", said: ParsedAnswer = _NOTHING
) -> Reply | Failure:
    """Return the failure, or a block if this hook or this event demands one."""
    if failure.kind == "unasked":
        return failure  # it denies in every dialect, and does not count
    if failure.kind == "misstated":
        failure = Failure("bad_output", failure.text, trace=failure.trace, evidence=failure.evidence)
    facts, late = row.claude, failure.kind == "late"
    how = "timed out" if late else "failed"
    if blocks and facts.failure_blocks:
        reason = f'{how}; blocking because onFailure is "block"' + (f"\n{stderr}" if stderr else "")
        # No exit status denies a request for permission; onFailure does.
        word = "deny" if "deny" in row.can else _word(row)
        return _block(row, word, said.reply, reason, failure)
    if facts.any_failure_denies or (late and facts.timeout_denies):
        return _block(row, "deny", Reply(), stderr or f"{how}: {failure.text}", failure)
    return failure


def _word(row: EventSpec) -> str:
    """Return what exit status 2 means at an event."""
    word = row.claude.exit2
    if word == "ignored" and row.name not in OUTPUTS:
        # The client does not have this event, so the table does not say what a block does.
        return "deny" if "deny" in row.can else "keep going" if "keep going" in row.can else word
    return word


def _block(row: EventSpec, word: str, said: Reply, reason: str, problem: Failure | None = None) -> Reply:
    """Add a block to a reply; no other part of the reply removes it."""
    ignored = said.ignored
    if said.decision == "allow":
        ignored = (*ignored, "allow: the same hook blocks")
    kept = replace(said, decision=None if said.decision == "allow" else said.decision, grants=False, ignored=ignored,
                   problem=problem or said.problem)  # fmt: skip
    match word:
        case "deny":
            return replace(kept, decision="deny", reason=reason)
        case "keep going":
            return replace(kept, decision=None, keep_going=True, reason=reason)
        case "context":
            return replace(kept, context=(*kept.context, cut(reason)))
        case "user":
            return replace(kept, messages=(*kept.messages, cut(reason)))
        case _:
            return replace(kept, ignored=(*ignored, f"block: {row.name} cannot be blocked so"))


def _settle(row: EventSpec, said: ParsedAnswer) -> Reply:
    """Return the reply of an answer whose exit status adds nothing."""
    reply = said.reply
    if said.block is not None:
        reply = _block(row, _word(row), reply, said.why_blocked)
        if reply.keep_going and reply.halt:
            reply = replace(reply, keep_going=False, ignored=(*reply.ignored, "block: continue is false"))
    if row.claude.exit2 == "keep going" and reply.context and not (reply.halt or reply.keep_going):
        # Context at the end of a turn is read only if the agent goes on: it is the reason to.
        return replace(reply, keep_going=True, reason="\n".join(reply.context), context=())
    return reply


# Standard output.


def _read_stdout(row: EventSpec, ended: Ended) -> ParsedAnswer | Failure:
    data = ended.stdout.removeprefix(b"\xef\xbb\xbf").strip()
    if data.startswith(b"{") and data.endswith(b"}"):
        try:
            value, doubt = _decoded(data)
        except strict_json.BadJson as error:
            if not _is_only_lines(data):
                return Failure("bad_output", f"standard output is not JSON: {error}")
        else:
            said = read_answer(row, value, str(ended.evidence.get("tool_name", "")), ended.status)
            return _in_doubt(said, doubt) if doubt and isinstance(said, ParsedAnswer) else said
    text = data.decode("utf-8", "replace")
    if not text:
        return _NOTHING
    if ended.only_json:
        return Failure("bad_output", f"the answer is not a JSON object: {clean(text[:200])!a}")
    if row.claude.stdout_is_context:
        return ParsedAnswer(Reply(context=(cut(text),)), is_answer=False)
    if "worktreePath" in OUTPUTS.get(row.name, ()):
        return ParsedAnswer(Reply(extra={"worktreePath": clean(text.splitlines()[-1].strip())}), is_answer=False)
    return ParsedAnswer(Reply(ignored=(f"text on standard output: {row.name} does not read it",)), is_answer=False)


def _decoded(data: bytes) -> tuple[dict[str, Any], str]:
    """Return an object, and why it is not strict JSON: the client reads some text that is not."""
    try:
        value, doubt = strict_json.decode(data), ""
    except strict_json.BadJson as error:
        try:
            value = json.loads(data.decode("utf-8", "replace"), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise error from None
        doubt = str(error)
    if data.count(b"{") + data.count(b"[") > strict_json.DEEPEST:
        try:
            strict_json.encode(value)
        except strict_json.Unencodable as error:
            doubt = str(error)
    return value, doubt


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _in_doubt(said: ParsedAnswer, doubt: str) -> ParsedAnswer | Failure:
    """Keep an answer in doubtful JSON only if it restricts; it grants and changes nothing."""
    problem = Failure("bad_output", f"standard output is not strict JSON: {doubt}")
    reply = said.reply
    if said.block is None and reply.decision not in ("deny", "ask") and not reply.halt:
        return problem
    return replace(said, reply=replace(reply, changes={}, extra={}, problem=problem))


def _is_only_lines(data: bytes) -> bool:
    """Return whether text is lines of JSON of which none can be an answer."""
    lines = [line for line in data.splitlines() if line.strip()]
    for line in lines:
        try:
            value = strict_json.decode(line)
        except strict_json.BadJson:
            return False
        if isinstance(value, dict) and not value.keys().isdisjoint(TOP_LEVEL):
            return False
    return len(lines) > 1


def _read_value(row: EventSpec, answer: object) -> ParsedAnswer | Failure:
    """Read the return value of a callable."""
    if type(answer) is Reply:
        checked = native.read(row, answer)
        return checked if isinstance(checked, Failure) else ParsedAnswer(checked)
    if answer is None:
        return _NOTHING
    if not isinstance(answer, Mapping):
        return Failure("bad_output", f"returned {type(answer).__name__} where a mapping is expected")
    try:
        # Encoded and decoded again: the result has no overridden methods.
        said = strict_json.decode(strict_json.encode(dict(answer)))
    except BaseException as error:  # a mapping whose own methods break
        not_by_signal(error)
        return Failure("bad_output", f"returned a mapping that cannot be read: {type(error).__name__}")
    for name in ("continue", "async"):
        if f"{name}_" in said:
            said.setdefault(name, said.pop(f"{name}_"))
    return read_answer(row, said, "", 0)


# The event.

# Fields of the native wire format, which hooks of Claude Code do not know.
_NATIVE = frozenset({"hook_type", "orchestrator_id", "timestamp", "tool_output", "protocol", "async_phase", "match"})


def write(event: Event) -> dict[str, Any]:
    """Return the input of a command: the event with the client's fields, and further fields of the host."""
    fields = event.row.fields
    fields_of_client = {name: event[name] for name in fields if name in event and not _is_left_out(event, name)}
    more = {name: event[name] for name in event if name not in fields and name not in _NATIVE and name != "env_file"}
    return {**fields_of_client, **more}


def _is_left_out(event: Event, name: str) -> bool:
    value = event[name]
    empty = value is None or (isinstance(value, str | dict | list) and not value)
    # In the client only subagents have an id, with a type: hooks recognise them by that.
    is_main = name == "agent_id" and not event.get("agent_type")
    return (empty or is_main) and not event.row.fields[name].always


def variables(event: Event) -> dict[str, str]:
    """Return the environment variables of an event, without CLAUDE_PROJECT_DIR, which the command adds."""
    effort = event.get("effort")
    found = {
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": event.get("session_id"),
        "CLAUDE_EFFORT": effort.get("level") if isinstance(effort, Mapping) else None,
        "CLAUDE_ENV_FILE": event.get("env_file") if event.row.claude.env_file else None,
    }
    return {name: value for name, value in found.items() if isinstance(value, str) and value}
