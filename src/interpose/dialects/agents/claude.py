"""Claude Code: the words are those of the Claude dialect; this adds what the client does with them.

Context at Stop and SubagentStop would send the agent back to work, and WorktreeCreate takes the answer for the path of
a worktree: so nothing is said there that was not wished.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import UnknownEvent
from ...events import TABLE, EventSpec
from ...model import Outcome
from ...replies import Ended, Failure, Reply
from ...strict_json import encode
from ..claude.answers import OUTPUTS
from ..claude.reply import write_reply
from . import predictions as then
from .base import BaseDialect, Wish, hook_specific
from .exchange import AgentEvent, HookOutput
from .predictions import object_in, specific, text_in

if TYPE_CHECKING:
    from .contract import HookExit, Prediction

__all__ = ["DIALECT"]

_NOT_REGISTERED = frozenset({"WorktreeCreate", "WorktreeRemove", "MessageDisplay", "FileChanged"})
"""A hook at WorktreeCreate replaces what the client does; the others are called very often and decide nothing."""


class Claude(BaseDialect):
    """The dialect of Claude Code."""

    NAME, TITLE = "claude", "Claude Code"
    EVENTS = {name: name for name, row in TABLE.items()
              if ":" not in name and name not in _NOT_REGISTERED}  # fmt: skip

    def read_event(self, name: str, payload: Mapping[str, Any]) -> AgentEvent:
        """Return the event as it was given: its words are ours."""
        said = payload.get("hook_event_name", payload.get("hook_type"))
        own = name or (said if isinstance(said, str) else "")
        if not own:
            raise UnknownEvent(
                "which event?", hint="name one, such as PreToolUse, or give --input with hook_event_name"
            )
        row, suffix = TABLE.find(own)
        fields = {key: value for key, value in payload.items() if key != "hook_event_name"}
        if suffix is not None and row.subject:
            fields.setdefault(row.subject, suffix)
        return AgentEvent(row.name, fields, payload, row.name)

    def write_answer(self, event: AgentEvent, *outcomes: Outcome) -> HookOutput:
        """Write an outcome as Claude Code reads a reply; a deny is exit status 2 too, with the reason beside it."""
        (outcome,) = outcomes
        row = TABLE.find(event.event)[0]
        if "worktreePath" in OUTPUTS.get(row.name, ()):
            return _plain(outcome)
        reply = write_reply(outcome, event.fields)
        text = encode(reply.body).decode("ascii") if reply.body else ""
        if outcome.denied:
            return HookOutput(text, (outcome.reason or "denied") + "\n", 2, tuple(reply.unsaid))
        return HookOutput(text, "", 0, tuple(reply.unsaid))

    def write_failure(self, name: str, why: str) -> HookOutput:
        """Write that nothing could be decided: exit status 2, or 1 where 2 would keep the agent going."""
        row = TABLE.get(name)
        text = ""
        if row is not None and row.claude.exit2 == "ignored" and "decision" in OUTPUTS.get(row.name, ()):
            # No exit status denies a request for permission.
            deny = {"behavior": "deny", "message": f"Interpose could not decide: {why}"}
            text = encode(hook_specific(row.name, decision=deny)).decode("ascii")
        return HookOutput(text, why + "\n", 1 if row is not None and row.claude.exit2 == "keep going" else 2)

    def say(self, name: str, wish: Wish) -> None:
        """Say nothing here: ``write_answer`` and ``write_failure`` write the whole answer."""

    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        """Return what Claude Code does, as the Claude dialect reads an answer."""
        from ..claude import read

        row = TABLE.find(name)[0]
        if ended.status is None:
            return then.refused_prompt() if row.claude.timeout_denies else then.ordinary()
        stdout = ended.stdout.encode("utf-8", "surrogatepass")
        reply = read(row, Ended(stdout=stdout, stderr=ended.stderr, status=ended.status))
        if isinstance(reply, Failure):
            return then.ordinary()
        said = object_in(ended.stdout.strip()) or {}
        own = specific(said)
        text = "stderr" if ended.status == 2 and reply.reason in ("", ended.stderr.strip()) else "reason"
        context = ["context" if said else "stdout"] if reply.context else []
        if row.claude.exit2 == "context" and (ended.status == 2 or said.get("decision") == "block"):
            context = ["stderr" if ended.status == 2 and not text_in(said, "reason") else "reason"]
            context += ["context"] if text_in(own, "additionalContext") else []
        if reply.decision in ("deny", "ask") and "deny" in row.can:
            return _stopped(row, reply, text, context)
        if reply.halt and row.name not in ("SessionStart", "Stop", "SubagentStop"):
            return then.refused_prompt() if row.name == "UserPromptSubmit" else then.ended_run(tool_ran=True)
        if "keep going" in row.can and (reply.keep_going or reply.context):
            return then.sent_back(text, *(["context"] if text_in(own, "additionalContext") else context))
        if "tool_input" in reply.changes:
            return then.rewritten(*context)
        if isinstance(reply.changes.get("tool_response"), dict):  # a text has not the shape of a result
            return then.replaced_result("result", *context)
        return then.ordinary(*context)


def _stopped(row: EventSpec, reply: Reply, text: str, context: list[str]) -> Prediction:
    """Return what a deny or an ask does at an event."""
    if row.name in ("UserPromptSubmit", "UserPromptExpansion"):
        return then.refused_prompt()
    if row.name == "PostToolBatch":
        return then.ended_run(tool_ran=True)
    if reply.halt or reply.extra.get("defer"):
        return then.ended_run(tool_ran=False)
    return then.stopped_tool(text, *context, asks=reply.decision == "ask")


def _plain(outcome: Outcome) -> HookOutput:
    """Write the answer to WorktreeCreate: a path alone, or exit status 2; another answer would be read as a path."""
    if not outcome.allowed:
        return HookOutput("", (outcome.reason or "denied") + "\n", 2)
    path = outcome.extra.get("worktreePath")
    if isinstance(path, str) and path.strip():
        return HookOutput(path + "\n", "", 0)
    return HookOutput(
        "", "no hook has made a worktree, and a hook at WorktreeCreate replaces what Claude Code does\n", 1
    )


DIALECT = Claude()
