"""One call of the model in two halves: what goes out after hooks have seen it, and what comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from ..errors import UsageError
from ..model import Outcome, field_of, hooks_spoke
from ..runtime.faults import log
from .answers import Answer
from .results import error_text

if TYPE_CHECKING:
    from .session import Session

__all__ = ["BegunMessage"]


class BegunMessage:
    """A model call that has begun: ``session.begin_message()`` returns it.

    ``state`` is ``run`` or ``denied``. A call that may run is made by the host with ``prompt``, ``system`` and
    ``tools``, and ended with ``done`` or ``failed``; an error that leaves its ``async with`` block ends it too. If it
    fails or is dropped, the context in ``system`` waits for the next call.
    """

    __slots__ = ("__weakref__", "_before", "_fields", "_pending", "_session", "answer", "prompt", "reason", "state",
                 "system", "tools")  # fmt: skip

    def __init__(self, session: Session, prompt: str, fields: dict[str, Any], tools: Sequence[Any] | None) -> None:
        self._session = session
        self._fields = fields
        self._pending: list[str] = []
        self._before: Outcome
        self.state: Literal["deciding", "run", "denied", "done"] = "deciding"
        self.prompt = prompt
        """What is sent, after hooks changed it."""
        self.system = ""
        """The system prompt, with the context that hooks have added."""
        self.tools = list(tools) if tools is not None else None
        """The tools that the model is told of: those of the host that no hook has hidden."""
        self.reason = ""
        self.answer: Answer | None = None
        """Why the call is not made, or what became of it."""

    async def begin(self, system: str, with_context: bool) -> None:
        """Fire pre:message, and take the pending context."""
        session = self._session
        if halted := session._halted_answer():
            self.state, self.reason, self.answer = "denied", halted.reason, halted
            return
        for tool in self.tools or ():
            _name(tool)  # raises if it has none, also if no hook looks
        shown: dict[str, Any] = {}
        if self.tools is not None and session._is_seen("pre:message"):
            shown["tools"] = [_shown_tool(tool, session.view) for tool in self.tools]
        before = await session._fire("pre:message", prompt=self.prompt, **self._fields, **shown)
        self._before = before
        if not before.allowed:
            self.answer = session._answer(before)
            self.state, self.reason = "denied", self.answer.reason
            return
        self.prompt = field_of(before, "prompt")
        if hooks_spoke(before):
            self.tools = _not_hidden(self.tools, shown.get("tools"), before)
        self._pending = session._take_pending() if with_context else []
        self.system = "\n\n".join(part for part in (system, "\n".join(self._pending)) if part)
        self.state = "run"

    async def done(
        self,
        result: Any,
        *,
        text: str | None = None,
        tool_calls: Sequence[Any] | None = None,
        usage: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Tell what the model answered: post:message. Return its text after hooks have changed it.

        ``text`` is the text of the answer, if ``result`` is not the text itself. ``tool_calls`` are the calls that the
        model wants to make, and ``usage`` the tokens that it has used; both are for hooks.
        """
        self._end()
        session, output = self._session, str(result) if text is None else text
        fields = dict(self._fields)
        if tool_calls is not None and session._is_seen("post:message"):
            fields["tool_calls"] = session._view_or_text(list(tool_calls))
        if usage is not None:
            fields["usage"] = dict(usage)
        after = await session._fire("post:message", prompt=self.prompt, output=output, **fields)
        content = after.output
        self.answer = Answer(
            ok=True, content=content, raw=result, changed=content != output, input=self.prompt, outcome=self._before,
            outcomes=(self._before, after),
        )  # fmt: skip
        return self.answer

    async def failed(self, error: BaseException | str) -> Answer:
        """Tell that the model has not answered. The context waits for the next call; no event is fired."""
        self._end()
        self._put_back()
        reason = error_text(error)
        self.answer = Answer(
            ok=False, content=reason, reason=reason, input=self.prompt, outcome=self._before, outcomes=(self._before,),
            error=error if isinstance(error, BaseException) else None,
        )  # fmt: skip
        return self.answer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End a call that an error has ended before ``done``."""
        if error is not None and self.state == "run":
            await self.failed(error)

    def _end(self) -> None:
        if self.state != "run":
            hint = (
                f"it was denied: {self.reason}" if self.state == "denied" else "done() or failed() was called already"
            )
            raise UsageError(f"this model call is {self.state}", hint=hint)
        self.state = "done"

    def _put_back(self) -> None:
        pending, self._pending = self._pending, []
        self._session._turn.put_back(pending)

    def __del__(self) -> None:
        if self.state == "run" and self._pending:  # it was never made
            self._put_back()


def _shown_tool(tool: Any, view: Callable[[Any], Any] | None) -> dict[str, Any]:
    """Return what hooks see of a tool: a mapping with its ``name``."""
    if isinstance(tool, Mapping):
        return {**(dict(tool) if view is None else view(tool)), "name": _name(tool)}
    description = getattr(tool, "description", None)
    return {"name": _name(tool), **({"description": description} if isinstance(description, str) else {})}


def _name(tool: Any) -> str:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    named = function if isinstance(function, Mapping) else tool
    name = (
        named.get("name")
        if isinstance(named, Mapping)
        else tool
        if isinstance(tool, str)
        else getattr(tool, "name", None)
    )
    if not isinstance(name, str):
        raise UsageError(
            f"tools: a {type(tool).__name__} has no name", hint="a name, or an object or mapping with a name"
        )
    return name


def _not_hidden(tools: list[Any] | None, shown: list[dict[str, Any]] | None, before: Outcome) -> list[Any] | None:
    """Return the tools that hooks have left; a tool that a hook has added is not one of the host's."""
    left = field_of(before, "tools") if "tools" in before.input else None
    if left is None or left is shown:
        return tools
    if tools is None:
        log("warning", "a hook hides tools from a model call, and the host has not said which tools there are")
        return None
    names = {one if isinstance(one, str) else one.get("name") if isinstance(one, Mapping) else None for one in left}
    if added := sorted(map(str, names - {_name(tool) for tool in tools} - {None})):
        log("warning", "a hook adds tools that the host does not have: %s", ", ".join(added))
    return [tool for tool in tools if _name(tool) in names]
