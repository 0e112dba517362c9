"""The fields of an answer in the Claude dialect: their names, types and meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...events import EventSpec
from ...records import Record, replace
from ...replies import Failure, Reply, clean
from ...runtime.regex import regex

__all__ = ["LONGEST_TEXT", "OUTPUTS", "PARTS", "TOP_LEVEL", "ParsedAnswer", "cut", "is_discarded", "read_answer"]

LONGEST_TEXT = 10_000
"""The longest text that goes to the model or to the user."""
_ROOM_FOR_MARK = 60
_MOST_REPORTED = 20

_KINDS: dict[str, Callable[[object], bool]] = {
    "text": lambda value: isinstance(value, str),
    "flag": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "list": lambda value: isinstance(value, list),
    "texts": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
    "any": lambda value: True,
}


def _fields(text: str) -> dict[str, str]:
    """Parse ``name`` and ``name:kind``; a kind is one of those above, or the allowed words."""
    return {name: kind or "text" for name, _, kind in (field.partition(":") for field in text.split())}


TOP_LEVEL = _fields(
    "continue:flag suppressOutput:flag stopReason systemMessage terminalSequence reason decision:approve|block "
    "hookSpecificOutput:object"
)
_BEHAVIORS = {
    "allow": _fields("behavior updatedInput:object updatedPermissions:list"),
    "deny": _fields("behavior message interrupt:flag"),
}
_PERMISSION = "permissionDecision:allow|deny|ask|defer permissionDecisionReason updatedInput:object additionalContext"
_ELICITATION = "action:accept|decline|cancel content:object"
# The fields of hookSpecificOutput, for every event of the client.
OUTPUTS = {event: _fields(outputs) for event, outputs in {
    "PreToolUse": _PERMISSION,
    "PostToolUse": "additionalContext classifierContext updatedToolOutput:any updatedMCPToolOutput:any",
    "PreModelSwitch": "permissionDecision:allow|deny|ask permissionDecisionReason",
    "PermissionRequest": "decision:object",
    "PermissionDenied": "retry:flag",
    "UserPromptSubmit": "additionalContext sessionTitle suppressOriginalPrompt:flag",
    "UserPromptExpansion": "additionalContext suppressOriginalPrompt:flag",
    "SessionStart": "additionalContext initialUserMessage sessionTitle watchPaths:texts reloadSkills:flag",
    "Elicitation": _ELICITATION,
    "ElicitationResult": _ELICITATION,
    "WorktreeCreate": "worktreePath",
    "CwdChanged": "watchPaths:texts",
    "FileChanged": "watchPaths:texts",
    "MessageDisplay": "displayContent",
    **dict.fromkeys(("PostToolUseFailure", "PostToolBatch", "Notification", "SubagentStart", "Stop", "SubagentStop",
                     "PostModelSwitch", "Setup"), "additionalContext"),
    **dict.fromkeys(("SessionEnd", "StopFailure", "PreCompact", "PostCompact", "TeammateIdle", "TaskCreated",
                     "TaskCompleted", "ConfigChange", "WorktreeRemove", "InstructionsLoaded", "DirectoryAdded"), ""),
}.items()}  # fmt: skip
# For an event that the client does not have.
_OUTPUTS_ELSEWHERE = _fields(_PERMISSION)
# Outputs that become parts of a reply; all others go to ``extra``.
PARTS = {"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "updatedToolOutput",
          "updatedMCPToolOutput", "decision"}  # fmt: skip
_TERMINAL = regex("(?:\x1b\\](?:0|1|2|9|99|777);[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\\\)|\x07)+")


class ParsedAnswer(Record, kw_only=False):
    """The answer on standard output, before the exit status is considered."""

    reply: Reply
    block: str | None = None
    """The reason of ``decision: block``; None without one."""
    is_answer: bool = True
    """Whether it was a JSON answer, not plain text or nothing."""

    @property
    def why_blocked(self) -> str:
        """The reason of the block or deny in it."""
        return self.block or (self.reply.reason if self.reply.decision == "deny" else "")


def read_answer(row: EventSpec, given: dict[str, Any], tool_name: str, status: int) -> ParsedAnswer | Failure:
    """Read an answer. A field of a wrong type makes the whole answer unreadable, as in the client."""
    if given.get("async") is True:
        return ParsedAnswer(Reply(ignored=("async: the run is over, so there is nothing to wait for",)))
    wrong: list[str] = []
    ignored: list[str] = []
    said = _checked(given, TOP_LEVEL, wrong, ignored)
    specific = _specific(row, said, status, wrong, ignored)
    if wrong:
        return Failure("bad_output", "; ".join(wrong[:_MOST_REPORTED]))
    for name in [name for name in said if is_discarded(row, name)]:
        ignored.append(f"{name}: {row.name} discards it")
        del said[name]
    if "hookSpecificOutput" not in said:
        specific = {}
    reply = _parts(said, specific, tool_name, ignored)
    if said.get("decision") == "approve":
        if "updatedInput" in _outputs(row):
            reply = Reply(decision="allow", grants=True, reason=said.get("reason", "")) + reply
        else:
            ignored.append(f"approve: nothing is approved at {row.name}")
    text = said.get("terminalSequence", "")
    if _TERMINAL.fullmatch(text):
        reply = replace(reply, extra={**reply.extra, "terminalSequence": text})
    elif text:
        ignored.append("terminalSequence: only titles, notifications and the bell may be sent")
    if said.get("suppressOutput"):
        ignored.append("suppressOutput: without effect")
    block = said.get("reason", "") if said.get("decision") == "block" else None
    return ParsedAnswer(replace(reply, ignored=tuple(ignored[:_MOST_REPORTED])), block)


def _parts(said: dict[str, Any], specific: dict[str, Any], tool_name: str, ignored: list[str]) -> Reply:
    """Return a reply from the top-level fields and those of hookSpecificOutput."""
    decision, changes = specific.get("permissionDecision"), {}
    extra = {name: item for name, item in specific.items() if name not in PARTS}
    if "initialUserMessage" in extra:
        extra["initialUserMessage"] = cut(extra["initialUserMessage"])
    if decision == "defer":
        decision, extra["defer"] = "ask", True
    elif specific.get("action") == "decline":
        decision = "deny"  # so that it wins over the accept of another hook
    if "updatedInput" in specific:
        changes["tool_input"] = specific["updatedInput"]
    if "updatedMCPToolOutput" in specific:
        if tool_name.startswith("mcp__"):
            changes["tool_response"] = specific["updatedMCPToolOutput"]
        else:
            ignored.append("updatedMCPToolOutput: this is not a tool of an MCP server")
    if "updatedToolOutput" in specific:
        changes["tool_response"] = specific["updatedToolOutput"]
    halt = said.get("continue") is False
    reply = Reply(
        decision=decision,
        grants=decision == "allow",
        reason=(specific.get("permissionDecisionReason") or said.get("reason", "")) if decision else "",
        changes=changes,
        context=tuple(cut(specific[name]) for name in ("additionalContext",) if specific.get(name)),
        messages=tuple(cut(said[name]) for name in ("systemMessage",) if said.get(name)),
        halt=halt,
        stop_reason=said.get("stopReason", "") if halt else "",
        extra=extra,
    )
    return _behavior(specific["decision"]) + reply if "decision" in specific else reply


def _behavior(said: dict[str, Any]) -> Reply:
    """Return the reply of the decision object of a request for permission."""
    return Reply(
        decision=said["behavior"],
        grants=said["behavior"] == "allow",
        reason=said.get("message", ""),
        changes={"tool_input": said["updatedInput"]} if "updatedInput" in said else {},
        interrupt=said.get("interrupt", False),
        extra={name: said[name] for name in ("updatedPermissions",) if name in said},
    )


def _specific(
    row: EventSpec, said: dict[str, Any], status: int, wrong: list[str], ignored: list[str]
) -> dict[str, Any]:
    """Return the fields of hookSpecificOutput that are known and valid."""
    given = said.get("hookSpecificOutput")
    if given is None:
        return {}
    if (named := given.get("hookEventName")) != row.name:
        wrong.append(f"hookEventName: {_shown(named)} where {row.name} is expected")
        return {}
    specific = _checked({name: item for name, item in given.items() if name != "hookEventName"}, _outputs(row),
                        wrong, ignored)  # fmt: skip
    without_effect = []
    if "action" in _outputs(row) and status != 0:
        without_effect = [(name, "read only with exit status 0") for name in specific]
    elif specific.get("permissionDecision") == "defer":
        without_effect = [(name, "not read beside defer") for name in ("updatedInput", "additionalContext")]
    for name, why in without_effect:
        if specific.pop(name, None) is not None:
            ignored.append(f"{name}: {why}")
    if "decision" in specific:
        behavior = specific["decision"].get("behavior")
        known = _BEHAVIORS.get(behavior) if isinstance(behavior, str) else None
        if known is None:
            wrong.append(f"behavior: {_shown(behavior)} where allow or deny is expected")
        else:
            specific["decision"] = _checked(specific["decision"], known, wrong, ignored)
    return specific


def _checked(given: dict[str, Any], known: Mapping[str, str], wrong: list[str], ignored: list[str]) -> dict[str, Any]:
    """Return the fields that are known and valid; null is the same as a missing field."""
    sound: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        kind = known.get(name)
        if kind is None:
            ignored.append(f"{clean(name)[:60]}: not known here")
        elif _KINDS[kind](value) if kind in _KINDS else isinstance(value, str) and value in kind.split("|"):
            sound[name] = value
        else:
            wrong.append(f"{name}: {_shown(value)} where {kind} is expected")
    return sound


def _outputs(row: EventSpec) -> dict[str, str]:
    return OUTPUTS.get(row.name, _OUTPUTS_ELSEWHERE)


def is_discarded(row: EventSpec, name: str) -> bool:
    """Return whether the client drops this field at this event."""
    if row.claude.discards == "all":
        return not (name == "terminalSequence" and row.name == "StopFailure")
    return name in row.claude.discards.split()


def cut(text: str) -> str:
    """Cut a text that is too long, and append how much was cut."""
    if len(text) <= LONGEST_TEXT:
        return text
    kept = LONGEST_TEXT - _ROOM_FOR_MARK
    return f"{text[:kept]}\n[cut off here: {len(text) - kept} more characters]"


def _shown(value: object) -> str:
    """Return text, flags and numbers as written, any other value by its type."""
    if isinstance(value, str | bool | int):
        return repr(value)[:60]
    return "nothing" if value is None else type(value).__name__
