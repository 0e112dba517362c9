"""One tool call: hooks, permission, the tool itself, hooks again.

PreToolUse comes first; what it leaves of the input is what is judged, asked about and run. Only a call that nobody has
decided reaches PermissionRequest and the person.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..model import Injection, Outcome
from ..replies import Reply, clean
from .answers import Answer, Question
from .permission import judge, kind_of
from .schemas import misfit

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Call"]

WITHHELD = "[a hook withheld the output of this tool]"


class Call:
    """One call on its way. ``input`` is what it stands at; ``outcomes`` are those of the events so far."""

    def __init__(
        self,
        session: Session,
        name: str,
        input: Any,
        tool_use_id: str,
        schema: Mapping[str, Any] | None,
        kind: str | None,
    ) -> None:
        self.session = session
        self.name = name
        self.input = input
        self.id = tool_use_id
        self.schema = schema
        self.kind = kind or kind_of(name)
        self.outcomes: list[Outcome] = []
        self.decided_by: Outcome

    async def make(self, run: Callable[[Any], Any]) -> Answer:
        """Take the call from its first event to its last."""
        before = await self._fire("PreToolUse")
        self.decided_by = before
        unfit = "" if before.denied else self._changed(before.tool_input)
        refused = unfit or await self._permit(before)
        if refused:
            return self._refuse(refused)
        began = monotonic()
        try:
            raw = await self.session._port.call(run, self.input)
        except Exception as error:
            return await self._failed(error, began)
        except BaseException as error:
            if not isinstance(error, GeneratorExit):
                await self._tell_failure(error, began, interrupted=True)
            raise
        after = await self._fire("PostToolUse", tool_response=raw, duration_ms=_since(began))
        return self._answer(
            True, _shown(after), raw=raw,
            user_messages=tuple(item.content for item in after.inject if item.strategy == "user_message"),
        )  # fmt: skip

    # Permission.

    async def _permit(self, before: Outcome) -> str:
        """Return why the call must not run, or nothing."""
        session = self.session
        call = {"tool_name": self.name, "tool_input": self.input, "cwd": session.cwd}
        verdict = judge(before, call, rules=session.rules, mode=session.mode, kind=self.kind, default=session.default)
        if verdict.what != "ask":
            return verdict.reason
        known = session._questions.recall(self.id, self.name, self.input)
        refused, changed = known or await self._ask(verdict.reason)
        if known is None:
            session._questions.remember(self.id, self.name, self.input, (refused, changed))
        if refused or changed is None:
            return refused
        return self._changed(changed) or await self._look_again()

    async def _ask(self, reason: str) -> tuple[str, Any]:
        """Ask hooks, then the person. Return why not, or nothing; and the input, if they changed it."""
        request = await self._fire("PermissionRequest")
        if request.denied or request.interrupt:
            self.decided_by = request
            return request.reason or "permission was denied by a hook", None
        if request.granted:
            return "", request.tool_input if request.tool_input != self.input else None
        session = self.session
        if session.asker is None:
            return f"{reason or 'this needs a yes'} (there is nobody to ask)", None
        question = Question(
            tool_name=self.name, tool_input=self.input, reason=reason, tool_use_id=self.id,
            session_id=session.session_id, agent_id=session.agent_id or "",
        )  # fmt: skip
        notice = await session._fire(
            "Notification", message=f"{self.name} needs your permission", notification_type="permission_prompt"
        )
        self.outcomes.append(notice)
        try:
            said = await session._port.call(session.asker, question)
        except Exception as error:
            return f"the question could not be asked: {_words(error)}", None
        return _understood(said)

    async def _look_again(self) -> str:
        """Have the guards judge an input that was changed after they had seen it."""
        again = await self.session._hear(
            self.session._port.fire_guards("PreToolUse", **self.session._common(), **self._fields())
        )
        self.outcomes.append(again)
        if again.allowed:
            return ""
        self.decided_by = again
        return again.reason or "a guard does not allow the input that was changed while permission was asked"

    def _changed(self, given: Any) -> str:
        """Take over an input; return why it cannot be used, if it was changed into something that the tool refuses."""
        if given is self.input or given == self.input:
            return ""
        self.input = given
        wrong = misfit(given, self.schema) if self.schema is not None else ""
        return f"a hook changed the input into one that {self.name} cannot take: {wrong}" if wrong else ""

    # Afterwards.

    async def _failed(self, error: Exception, began: float) -> Answer:
        await self._tell_failure(error, began, interrupted=False)
        return self._answer(False, _words(error), error=error, reason=_words(error))

    async def _tell_failure(self, error: BaseException, began: float, *, interrupted: bool) -> None:
        fire = self.session._fire_at_last if interrupted else self.session._fire
        self.outcomes.append(await fire(
            "PostToolUseFailure", **self._fields(), error=_words(error), is_interrupt=interrupted,
            duration_ms=_since(began),
        ))  # fmt: skip

    def _refuse(self, reason: str) -> Answer:
        return self._answer(False, f"{self.name} was not run: {reason}", denied=True, reason=reason)

    def _answer(self, ok: bool, content: Any, **more: Any) -> Answer:
        return Answer(
            ok=ok, content=content, outcome=self.decided_by, outcomes=tuple(self.outcomes), input=self.input, **more
        )

    async def _fire(self, event: str, **more: Any) -> Outcome:
        outcome = await self.session._fire(event, **self._fields(), **more)
        self.outcomes.append(outcome)
        return outcome

    def _fields(self) -> dict[str, Any]:
        return {"tool_name": self.name, "tool_input": self.input, "tool_use_id": self.id}


def _understood(said: object) -> tuple[str, Any]:
    """Read what an asker answered: yes, no, or a reply such as ``deny("not today")``."""
    if isinstance(said, Reply):
        if said.decision == "allow":
            return "", said.changes.get("tool_input", said.changes.get("args"))
        return said.reason or "the person said no", None
    if said is True:
        return "", None
    return (
        "the person said no" if said is False else f"the answer to the question is neither yes nor no: {said!r}"
    ), None


def _shown(after: Outcome) -> Any:
    """Return what the model gets to see of a result, after hooks changed it, withheld it or added to it."""
    shown = WITHHELD if after.suppress_output else after.tool_response
    added = [item for item in after.inject if item.strategy == "tool_result"]
    return _with(shown, added) if added else shown


def _with(shown: Any, added: list[Injection]) -> Any:
    if isinstance(shown, list):  # blocks of content
        return [*shown, *({"type": "text", "text": item.content} for item in added)]
    if not isinstance(shown, str):
        shown = json.dumps(shown, ensure_ascii=False, default=str)
    return "\n".join([shown, *(item.content for item in added)])


def _words(error: BaseException) -> str:
    return clean(str(error)) or type(error).__name__


def _since(began: float) -> float:
    return round((monotonic() - began) * 1000, 3)
