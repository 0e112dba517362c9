"""One tool call: hooks, permission, the tool itself, hooks again.

PreToolUse comes first; what it leaves of the input is what is judged, asked about and run. Only a call that nobody has
decided reaches PermissionRequest and the person.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..event import copied
from ..model import Injection, Outcome, field_of, hooks_ran
from ..replies import Reply, clean
from .answers import Answer, Question
from .permission import judge, kind_of
from .ports import Asynchronous
from .questions import Said
from .schemas import misfit

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Call", "words"]

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
        self.kind = kind_of(name, kind)
        self.outcomes: list[Outcome] = []
        self.decided_by: Outcome

    async def make(self, run: Callable[[Any], Any]) -> Answer:
        """Take the call from its first event to its last."""
        before = await self._fire("PreToolUse")
        self.decided_by = before
        unfit = self._changed(field_of(before, "tool_input")) if _spoken(before) and not before.denied else ""
        refused = unfit or await self._permit(before)
        if refused:
            return self._refuse(refused)
        began = monotonic()
        try:
            raw = await self.session._port.call(run, self.input)
        except Asynchronous:
            raise
        except Exception as error:
            return await self._failed(error, began)
        except BaseException as error:
            # A session that is over meanwhile has nobody to tell; the interruption goes on in any case.
            if not isinstance(error, GeneratorExit) and self.session._state == "running":
                await self._tell_failure(error, began, interrupted=True)
            raise
        after = await self._fire("PostToolUse", tool_response=raw, duration_ms=_since(began))
        if not _spoken(after):
            return self._answer(True, raw, raw=raw)
        return self._answer(
            True, _shown(after), raw=raw,
            user_messages=tuple(
                item.content for item in after.inject if item.strategy == "user_message" and item.content
            ),
        )  # fmt: skip

    # Permission.

    async def _permit(self, before: Outcome) -> str:
        """Return why the call must not run, or nothing."""
        session = self.session
        call = {"tool_name": self.name, "tool_input": self.input, "cwd": session.cwd}
        verdict = judge(before, call, rules=session.rules, mode=session.mode, kind=self.kind, default=session.default)
        if verdict.what != "ask":
            return verdict.reason
        questions = session._questions
        said = questions.recall(self.id, self.name, self.input)
        if said is None:
            hook_set = questions.hook_set
            said = await self._ask(verdict.reason)
            questions.remember(self.id, self.name, self.input, said, hook_set)
        if said.refused or said.changed is None or _same(said.changed, self.input):
            return said.refused
        return self._changed(said.changed) or self._forbidden() or await self._look_again()

    async def _ask(self, reason: str) -> Said:
        """Ask hooks, then the person."""
        request = await self._fire("PermissionRequest")
        if request.denied:  # an interrupt is one too
            self.decided_by = request
            return Said(request.reason or "permission was denied by a hook")
        if request.granted:
            return Said(changed=request.tool_input)
        session = self.session
        if session.asker is None:
            return Said(f"{reason or 'this needs a yes'} (there is nobody to ask)", final=False)
        notice = await session._fire(
            "Notification", message=f"{self.name} needs your permission", notification_type="permission_prompt"
        )
        self.outcomes.append(notice)
        try:
            # A copy: whoever asks may change what is shown, and that must not be what runs.
            question = Question(
                tool_name=self.name, tool_input=copied(self.input), reason=reason, tool_use_id=self.id,
                session_id=session.session_id, agent_id=session.agent_id or "",
            )  # fmt: skip
            return _understood(await session._port.call(session.asker, question))
        except Asynchronous:
            raise
        except Exception as error:
            return Said(f"the question could not be asked: {words(error)}", final=False)

    def _forbidden(self) -> str:
        """Return which rule denies an input that was changed after the rules had been heard."""
        call = {"tool_name": self.name, "tool_input": self.input, "cwd": self.session.cwd}
        answer, rule = self.session.rules(call)
        return f"denied by the rule {rule}" if answer == "deny" else ""

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
        if _same(given, self.input):
            return ""
        self.input = given
        wrong = misfit(given, self.schema) if self.schema is not None else ""
        return f"a hook changed the input into one that {self.name} cannot take: {wrong}" if wrong else ""

    # Afterwards.

    async def _failed(self, error: Exception, began: float) -> Answer:
        await self._tell_failure(error, began, interrupted=False)
        return self._answer(False, words(error), error=error, reason=words(error))

    async def _tell_failure(self, error: BaseException, began: float, *, interrupted: bool) -> None:
        fire = self.session._fire_at_last if interrupted else self.session._fire
        self.outcomes.append(await fire(
            "PostToolUseFailure", **self._fields(), error=words(error), is_interrupt=interrupted,
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


def _spoken(outcome: Outcome) -> bool:
    """Whether a hook ran: without one nothing has changed, and nothing need be looked for."""
    return hooks_ran(outcome)


def _same(one: Any, other: Any) -> bool:
    """Whether two inputs are the same, and not only equal as 1, 1.0 and True are."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if type(one) is list:
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) in (str, int, float, bytes) and one == other


_CHANGEABLE = frozenset({"tool_input", "args"})


def _understood(said: object) -> Said:
    """Read what an asker answered: yes, no, or a reply such as ``deny("not today")``."""
    if said is True:
        return Said()
    if said is False:
        return Said("the person said no")
    if not isinstance(said, Reply) or said.decision not in ("allow", "deny"):
        return Said(f"the answer to the question is neither yes nor no: {clean(repr(said))[:200]}", final=False)
    if said.decision == "deny":
        return Said(clean(said.reason) or "the person said no")
    if unknown := sorted(map(str, said.changes.keys() - _CHANGEABLE)):
        return Said(f"the answer changes what is no part of a call: {', '.join(unknown)}", final=False)
    return Said(changed=said.changes.get("tool_input", said.changes.get("args")))


def _shown(after: Outcome) -> Any:
    """Return what the model gets to see of a result, after hooks changed it, withheld it or added to it."""
    shown = WITHHELD if after.suppress_output else field_of(after, "tool_response")
    added = [item for item in after.inject if item.strategy == "tool_result" and item.content]
    return _with(shown, added) if added else shown


def _with(shown: Any, added: list[Injection]) -> Any:
    if isinstance(shown, list) and all(isinstance(block, Mapping) and "type" in block for block in shown):
        return [*shown, *({"type": "text", "text": item.content} for item in added)]
    texts = [] if shown is None else [shown if isinstance(shown, str) else _text(shown)]
    return "\n".join([*texts, *(item.content for item in added)])


def _text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # what JSON cannot say
        return str(value)


def words(error: BaseException) -> str:
    """Return what an exception says, or its name if it says nothing."""
    try:
        return clean(str(error)) or type(error).__name__
    except Exception:  # an exception whose own text breaks
        return type(error).__name__


def _since(began: float) -> float:
    return round((monotonic() - began) * 1000, 3)
