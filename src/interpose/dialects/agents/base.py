"""What the dialects of all agents share: how an event is read, and how an outcome is fitted to what an agent can do.

An agent says what it ``can`` at each of its events. What it cannot becomes the nearest stricter thing: an ask and a
rewrite become a deny that says what to do instead. The rest is returned as unsaid. Untrusted: every string and every
type in a payload comes from an agent, and the model chooses most of them.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...errors import BadEvent, UnknownEvent, nearest
from ...events import TABLE, EventSpec
from ...model import STRICTNESS, Outcome
from ...runtime.named_tuples import NamedTuple
from ...strict_json import encode
from ..reply import changed_fields
from .exchange import AgentEvent, HookOutput
from .tools import ToolMapping, files_of_patch, mcp_readings, patch_in, to_ours, to_theirs

if TYPE_CHECKING:
    from .contract import Contract, HookExit, Prediction

__all__ = ["KEEPS_GOING", "BaseDialect", "Wish", "hook_specific", "text_of"]

KEEPS_GOING = frozenset({"Stop", "SubagentStop", "TeammateIdle"})
"""Events at which a block sends the agent back to work, so that a failure must not be one."""

LONGEST = 10_000
"""The longest text that goes to an agent; some agents drop an answer with a longer one."""

_NO_REASON = "denied by Interpose"


class Wish(NamedTuple):
    """An outcome as far as an agent can do it at an event. A part that is empty or None is not asked for."""

    deny: str = ""
    ask: str = ""
    granted: bool = False
    input: dict[str, Any] | None = None
    """The new input of the tool, in the agent's words."""
    result: Any = None
    """The new result of the tool."""
    context: str = ""
    keep_going: str = ""
    stop: str = ""
    message: str = ""
    """What the person is told."""
    interrupt: bool = False


class BaseDialect(ABC):
    """The dialect of one agent; ``AgentDialect`` says what each part is for."""

    NAME = ""
    TITLE = ""
    EVENTS: Mapping[str, str] = {}
    TOOLS: Mapping[str, ToolMapping] = {}
    """The agent's tools that have another name or other keys here."""
    FIELDS: Mapping[str, str] = {}
    """The agent's names of the fields of an event, and ours."""
    CAN: Mapping[str, str] = {}
    """What can be said at each of the agent's events: parts of a ``Wish``, by name, and ``grant``."""
    MCP_SEPARATOR = ""
    """What stands between the server and the tool in the name of a tool of an MCP server, if the agent joins them."""
    RESULT_KEY = ""
    """The key of a tool's result that holds what the model reads, if the agent gives more beside it."""
    SILENCE = ""
    """What is printed if nothing is to be said."""
    DENY_STATUS = 0
    """The exit status beside a deny."""

    @cached_property
    def CONTRACTS(self) -> Sequence[Contract]:  # noqa: N802 - a constant of the dialect, read when it is needed
        """The contracts of this agent, the newest first."""
        from .contracts import read_contracts

        return read_contracts(self.NAME)

    # Reading.

    def read_event(self, name: str, payload: Mapping[str, Any]) -> AgentEvent:
        """Return an event in our words; raise BadEvent if a decision could not be made on it."""
        own = self.name_of(name, payload)
        event = self.EVENTS.get(own, own)
        if event not in TABLE:
            if own in self.EVENTS:
                return AgentEvent("", dict(payload), payload, own)
            hint = nearest(own, [*self.EVENTS, *TABLE]) or f"`interpose agents show {self.NAME}` lists them"
            raise UnknownEvent(f"{own or 'an event without a name'} is not an event of {self.TITLE}", hint=hint)
        row, _ = TABLE.find(event)
        fields = self.fields_of(own, row, payload)
        fields = _of_known_types(row, fields)
        calls = self._calls(row, fields)
        first = {**fields, **calls[0]} if calls else fields
        return AgentEvent(row.name, first, payload, own, tuple({**fields, **call} for call in calls[1:]))

    def name_of(self, name: str, payload: Mapping[str, Any]) -> str:
        """Return the agent's name of the event: what the payload says, if it is one, else the command line."""
        said = payload.get("hook_event_name")
        return said if isinstance(said, str) and (said in self.EVENTS or not name) else name

    def fields_of(self, own: str, row: EventSpec, payload: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of an event under our names; what has no other name keeps its own."""
        fields: dict[str, Any] = {}
        for key, value in payload.items():
            if value is not None and key not in ("hook_event_name", "tool_readings"):
                fields.setdefault(self.FIELDS.get(key, key), value)
        for key, ours in self.FIELDS.items():
            if payload.get(key) is not None:
                fields[ours] = payload[key]
        result = fields.get("tool_response")
        if self.RESULT_KEY and isinstance(result, dict) and self.RESULT_KEY in result:
            fields["tool_response"] = result[self.RESULT_KEY]
        fields["client"] = self.NAME
        if not fields.get("cwd"):
            fields.pop("cwd", None)  # an empty one is none
        return fields

    def call_of(self, name: str, given: dict[str, Any], fields: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return a call of a tool under our names."""
        tool = self.tool(name)
        return tool.name, to_ours(tool, given)

    def readings_of(self, name: str, ours: str) -> list[str]:
        """Return what a tool may be called here, if the agent's name of it can be read in several ways.

        A tool that is not of a server may contain a short separator too, so its own name is one of them.
        """
        if not self.MCP_SEPARATOR or ours != name or name in self.TOOLS or name.startswith("mcp__"):
            return []
        found = mcp_readings(name, self.MCP_SEPARATOR)
        return [*found, name] if found and len(self.MCP_SEPARATOR) == 1 else found

    def tool(self, name: str) -> ToolMapping:
        """Return what is known about a tool of the agent."""
        return self.TOOLS.get(name) or ToolMapping(name)

    def _calls(self, row: EventSpec, fields: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the fields of each call of a tool that an event is about; several if it is a patch."""
        if row.subject != "tool_name":
            if "deny" in row.can and "prompt" in row.fields and "prompt" not in fields:
                raise BadEvent(f"{row.name} without a prompt")
            return []
        name, given = fields.get("tool_name"), fields.get("tool_input")
        if not isinstance(name, str) or not name:
            if "deny" not in row.can:
                return []
            raise BadEvent(f"{row.name} without the name of a tool")
        if isinstance(given, str):
            given = _object(given)
        if given is None and "deny" not in row.can:
            given = {}
        if not isinstance(given, dict):
            raise BadEvent(f"{row.name}: the input of {name} is not an object")
        ours, mapped = self.call_of(name, given, fields)
        about: dict[str, Any] = {"client_tool_name": name} if ours != name else {}
        if (patch := patch_in(ours, mapped)) is not None:
            return [{"tool_name": tool, "tool_input": call, "client_tool_name": name}
                    for tool, call in files_of_patch(patch)]  # fmt: skip
        names = self.readings_of(name, ours)
        if names:
            ours, about = names[0], {"client_tool_name": name}
        if len(names) > 1:
            about["tool_readings"] = names
        return [{"tool_name": ours, "tool_input": mapped, **about}]

    # Writing.

    def write_answer(self, event: AgentEvent, *outcomes: Outcome) -> HookOutput:
        """Write the outcomes of an event in the words that this agent honours; the strictest of them holds."""
        if not event.event:
            return HookOutput(self.SILENCE, "", 0)
        unsaid: list[str] = []
        wish = self._fit(event, self._wish(event, outcomes, unsaid), unsaid)
        return self._answer(event.name, wish, unsaid)

    def write_failure(self, name: str, why: str) -> HookOutput:
        """Write that nothing could be decided: a deny where the event has one, and never a reason to keep going."""
        why = _short(f"Interpose could not decide: {why}")
        own = name if name in self.EVENTS else next((mine for mine, our in self.EVENTS.items() if our == name), name)
        event, can = self.EVENTS.get(own, own), self._can(own)
        if event in KEEPS_GOING:
            return HookOutput("", why + "\n", 1)
        if "deny" in can or (own not in self.CAN and event not in TABLE):
            return self._answer(own, Wish(deny=why), [])
        if "result" in can:
            return self._answer(own, Wish(result=why), [])
        return HookOutput("", why + "\n", 1)

    @abstractmethod
    def say(self, name: str, wish: Wish) -> dict[str, Any] | None:
        """Return the JSON object that says what the agent can do at an event; None says nothing."""

    @abstractmethod
    def predict(self, name: str, ended: HookExit, version: str = "") -> Prediction:
        """Return what the agent does when the program of a hook has ended so."""

    def input_for(self, event: AgentEvent, new: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a rewritten input in the agent's words; None if it cannot be put so."""
        name = event.fields.get("client_tool_name") or event.fields.get("tool_name")
        given = self.given_input(event)
        if given is None or not isinstance(name, str):
            return None
        tool = self.tool(name)
        if patch_in(tool.name, to_ours(tool, given)) is not None:
            return None
        return to_theirs(tool, given, new)

    def given_input(self, event: AgentEvent) -> dict[str, Any] | None:
        """Return the input of the tool as the agent gave it."""
        keys = [key for key, ours in self.FIELDS.items() if ours == "tool_input"]
        given = next((event.given[key] for key in [*keys, "tool_input"] if key in event.given), None)
        given = _object(given) if isinstance(given, str) else given
        return given if isinstance(given, dict) else None

    def _answer(self, name: str, wish: Wish, unsaid: Sequence[str]) -> HookOutput:
        body = self.say(name, wish)
        text = encode(body).decode("ascii") if body is not None else self.SILENCE
        if wish.deny:
            return HookOutput(text, wish.deny + "\n", self.DENY_STATUS, tuple(unsaid))
        return HookOutput(text, "", 0, tuple(unsaid))

    def _can(self, name: str) -> frozenset[str]:
        return frozenset(self.CAN.get(name, "").split())

    def _wish(self, event: AgentEvent, outcomes: Sequence[Outcome], unsaid: list[str]) -> Wish:
        """Return what the outcomes of an event ask for, all together."""
        strictest = max(outcomes, key=lambda outcome: STRICTNESS[outcome.decision])
        reason = _short(strictest.reason)
        new: dict[str, Any] = {}
        for fields, outcome in zip((event.fields, *event.more), outcomes, strict=False):
            changed = changed_fields(outcome, fields)
            unsaid += [f"the new {name}" for name in changed if name not in ("tool_input", "tool_response")]
            new |= changed
        texts = [text for outcome in outcomes for text in (*outcome.context, *(i.content for i in outcome.inject))]
        keeps = next((outcome for outcome in outcomes if outcome.keep_going), None)
        halts = next((outcome for outcome in outcomes if not outcome.continue_), None)
        messages = [text for outcome in outcomes for text in outcome.messages]
        if any(outcome.suppress_output for outcome in outcomes):
            unsaid.append("that the output is suppressed")
        return Wish(
            deny=reason or _NO_REASON if strictest.decision == "deny" else "",
            ask=reason or "a hook asks for a person's yes" if strictest.decision == "ask" else "",
            granted=all(outcome.granted for outcome in outcomes),
            input=new.get("tool_input"),
            result=new.get("tool_response"),
            context=_short("\n".join(dict.fromkeys(texts))),
            keep_going=_short(keeps.reason) or "go on" if keeps is not None else "",
            stop=_short(halts.stop_reason) or "stopped by Interpose" if halts is not None else "",
            message=_short("\n".join(messages)),
            interrupt=any(outcome.interrupt for outcome in outcomes),
        )

    def _fit(self, event: AgentEvent, wish: Wish, unsaid: list[str]) -> Wish:
        """Return a wish with what the agent can do at this event; the rest becomes stricter, or is unsaid."""
        can = self._can(event.name)
        if wish.ask and "ask" not in can:
            wish = wish._replace(ask="", deny=self.ask_denied(wish.ask))
        if wish.input is not None and not wish.deny:
            wish = self._fit_input(event, wish, can)
        elif wish.input is not None:
            wish = wish._replace(input=None)
        if wish.deny and "deny" not in can:
            unsaid.append(f"the deny ({wish.deny})")
            wish = wish._replace(deny="")
        if wish.granted and "grant" not in can:
            wish = wish._replace(granted=False)
        if wish.result is not None and "result" not in can:
            unsaid.append("the new tool_response")
            wish = wish._replace(result=None)
        if wish.keep_going and "keep_going" not in can:
            unsaid.append(f"that the agent keeps going ({wish.keep_going})")
            wish = wish._replace(keep_going="")
        if wish.stop and "stop" not in can:
            if not wish.deny:
                unsaid.append(f"that the agent stops ({wish.stop})")
            wish = wish._replace(stop="")
        if wish.context and "context" not in can:
            if wish.keep_going:  # the model reads the reason, and nothing else
                wish = wish._replace(keep_going=f"{wish.keep_going}\n{wish.context}")
            else:
                unsaid.append("context")
            wish = wish._replace(context="")
        if wish.message and "message" not in can:
            unsaid.append(f"the message to the person ({wish.message})")
            wish = wish._replace(message="")
        return wish

    def _fit_input(self, event: AgentEvent, wish: Wish, can: frozenset[str]) -> Wish:
        """Return a wish whose new input is in the agent's words, or whose deny says what to run instead."""
        new = wish.input
        theirs = self.input_for(event, new) if "input" in can and isinstance(new, dict) else None
        if theirs is not None:
            return wish._replace(input=theirs)
        shown = json.dumps(new, ensure_ascii=False, default=repr)
        why = f"{self.TITLE} cannot run this call with another input; run it yourself with {shown}"
        return wish._replace(input=None, ask="", deny=_short(why))

    def ask_denied(self, reason: str) -> str:
        """Return the reason of a deny that stands for an ask."""
        way = "a person can answer such questions if the configuration has `questions:`, or can change the rule"
        return _short(f"{reason} (this needs a person's yes, and {self.TITLE} cannot ask for it here: {way})")


def hook_specific(name: str, **own: Any) -> dict[str, Any]:
    """Return the object that Claude Code's shape has for the answer to one event."""
    return {"hookSpecificOutput": {"hookEventName": name, **own}}


def text_of(result: Any) -> str:
    """Return a result as text: as it is, or as JSON."""
    return result if isinstance(result, str) else json.dumps(result, default=repr)


def _short(text: str) -> str:
    """Return a text that every agent takes: not too long, and not only spaces."""
    text = text.strip()
    return text if len(text) <= LONGEST else text[: LONGEST - 20] + " [cut off here]"


def _object(text: str) -> Any:
    """Return what a text is as JSON; the text itself if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _of_known_types(row: EventSpec, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields whose types the row knows; raise BadEvent for another type if the event can be denied."""
    odd = [name for name, value in fields.items()
           if name != "tool_input" and name in row.fields and not _fits(row, name, value)]  # fmt: skip
    if odd and "deny" in row.can:
        raise BadEvent(f"{row.name}: {', '.join(odd)} has a type that it cannot have")
    return {name: value for name, value in fields.items() if name not in odd}


def _fits(row: EventSpec, name: str, value: object) -> bool:
    field = row.fields[name]
    return field.fits(value) if field.kind != "text|null" else isinstance(value, str)
