"""One tool call: hooks, permission, the tool itself, hooks again.

PreToolUse comes first; permission is decided for the input that its hooks return. Only a call that neither hooks nor
rules decide reaches PermissionRequest and the approver.
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
from .backends import AsyncFunction
from .permission import judge, kind_of
from .permission_cache import PermissionAnswer
from .schemas import schema_error

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Call", "error_text"]

WITHHELD = "[a hook withheld the output of this tool]"


class Call:
    """One tool call while it is made. ``input`` is its current input; ``outcomes`` are those of its events so far."""

    def __init__(
        self,
        session: Session,
        name: str,
        input: Any,
        tool_use_id: str,
        schema: Mapping[str, Any] | None,
        kind: str | None,
        leaves_out: bool = False,
    ) -> None:
        self.session = session
        self.name = name
        self.input = input
        self.id = tool_use_id
        self.schema = schema
        self.kind = kind_of(name, kind)
        self.leaves_out = leaves_out
        self.outcomes: list[Outcome] = []
        self.decided_by: Outcome

    async def make(self, run: Callable[[Any], Any]) -> Answer:
        """Fire the events of the call in their order, and run the tool if it is permitted."""
        before = await self._fire("PreToolUse")
        self.decided_by = before
        unfit = self._set_input(field_of(before, "tool_input")) if hooks_ran(before) and not before.denied else ""
        refused = unfit or await self._permit(before)
        if refused:
            return self._refuse(refused)
        began = monotonic()
        try:
            raw = await self.session._backend.call(run, self.input)
        except AsyncFunction:
            raise
        except Exception as error:
            return await self._failed(error, began)
        except BaseException as error:
            # A session that has ended fires no more events; the interruption is raised in any case.
            if not isinstance(error, GeneratorExit) and self.session._state == "running":
                await self._fire_failure(error, began, interrupted=True)
            raise
        after = await self._fire("PostToolUse", tool_response=raw, duration_ms=_ms_since(began))
        if not hooks_ran(after):
            return self._answer(True, raw, raw=raw)
        return self._answer(
            True, _result_for_model(after), raw=raw,
            user_messages=tuple(
                item.content for item in after.inject if item.strategy == "user_message" and item.content
            ),
        )  # fmt: skip

    # Permission.

    async def _permit(self, before: Outcome) -> str:
        """Return why the call must not run; an empty text if it may."""
        session = self.session
        call = {"tool_name": self.name, "tool_input": self.input, "cwd": session.cwd}
        verdict = judge(
            before, call, rules=session.rules, mode=session.mode, kind=self.kind, default=session.default,
            leaves_out=self.leaves_out,
        )  # fmt: skip
        if verdict.what != "ask":
            return verdict.reason
        cache = session._permission_cache
        answer = cache.recall(self.id, self.name, self.input)
        if answer is None:
            hook_set = cache.hook_set
            answer = await self._ask(verdict.reason)
            cache.remember(self.id, self.name, self.input, answer, hook_set)
        if answer.refused or answer.changed is None or _same(answer.changed, self.input):
            return answer.refused
        return self._set_input(answer.changed) or self._denied_by_rule() or await self._recheck()

    async def _ask(self, reason: str) -> PermissionAnswer:
        """Ask the hooks of PermissionRequest, then the approver."""
        request = await self._fire("PermissionRequest")
        if request.denied:  # an interrupt is one too
            self.decided_by = request
            return PermissionAnswer(request.reason or "permission was denied by a hook")
        if request.granted:
            return PermissionAnswer(changed=request.tool_input)
        session = self.session
        if session.approver is None:
            return PermissionAnswer(f"{reason or 'this call needs approval'} (there is no approver)", final=False)
        notice = await session._fire(
            "Notification", message=f"{self.name} needs your permission", notification_type="permission_prompt"
        )
        self.outcomes.append(notice)
        try:
            # A copy: the approver may change what it shows, and that must not be what runs.
            question = Question(
                tool_name=self.name, tool_input=copied(self.input), reason=reason, tool_use_id=self.id,
                session_id=session.session_id, agent_id=session.agent_id or "",
            )  # fmt: skip
            return _read_approval(await session._backend.call(session.approver, question))
        except AsyncFunction:
            raise
        except Exception as error:
            return PermissionAnswer(f"the question could not be asked: {error_text(error)}", final=False)

    def _denied_by_rule(self) -> str:
        """Return which rule denies an input that was changed after the rules were applied."""
        call = {"tool_name": self.name, "tool_input": self.input, "cwd": self.session.cwd}
        ruled = self.session.rules(call)
        return ruled.reason if ruled.answer == "deny" else ""

    async def _recheck(self) -> str:
        """Fire PreToolUse for the guards with an input that was changed after they had seen it."""
        again = await self.session._handle(
            self.session._backend.fire_guards("PreToolUse", **self.session._common(), **self._fields())
        )
        self.outcomes.append(again)
        if again.allowed:
            return ""
        self.decided_by = again
        return again.reason or "a guard does not allow the input that was changed while permission was asked"

    def _set_input(self, given: Any) -> str:
        """Set the input of the call; return why the tool cannot take it, if it does not match the schema."""
        if _same(given, self.input):
            return ""
        self.input = given
        wrong = schema_error(given, self.schema) if self.schema is not None else ""
        return f"a hook changed the input into one that {self.name} cannot take: {wrong}" if wrong else ""

    # Afterwards.

    async def _failed(self, error: Exception, began: float) -> Answer:
        after = await self._fire_failure(error, began, interrupted=False)
        told = field_of(after, "error")
        return self._answer(False, told, error=error, reason=told)

    async def _fire_failure(self, error: BaseException, began: float, *, interrupted: bool) -> Outcome:
        fire = self.session._fire_shielded if interrupted else self.session._fire
        after = await fire(
            "PostToolUseFailure", **self._fields(), error=error_text(error), is_interrupt=interrupted,
            duration_ms=_ms_since(began),
        )  # fmt: skip
        self.outcomes.append(after)
        return after

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


def _same(one: Any, other: Any) -> bool:
    """Whether two inputs are equal and of the same types; 1, 1.0 and True are not the same."""
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


def _read_approval(said: object) -> PermissionAnswer:
    """Read what an approver returned: True, False, or a reply such as ``deny("not today")``."""
    if said is True:
        return PermissionAnswer()
    if said is False:
        return PermissionAnswer("the person said no")
    if not isinstance(said, Reply) or said.decision not in ("allow", "deny"):
        return PermissionAnswer(
            f"the answer to the question is neither yes nor no: {clean(repr(said))[:200]}", final=False
        )
    if said.decision == "deny":
        return PermissionAnswer(clean(said.reason) or "the person said no")
    if unknown := sorted(map(str, said.changes.keys() - _CHANGEABLE)):
        return PermissionAnswer(
            f"the answer changes fields that a call does not have: {', '.join(unknown)}", final=False
        )
    return PermissionAnswer(changed=said.changes.get("tool_input", said.changes.get("args")))


def _result_for_model(after: Outcome) -> Any:
    """Return the result for the model, after hooks changed it, withheld it or added to it."""
    shown = WITHHELD if after.suppress_output else field_of(after, "tool_response")
    added = [item for item in after.inject if item.strategy == "tool_result" and item.content]
    return _append(shown, added) if added else shown


def _append(shown: Any, added: list[Injection]) -> Any:
    if isinstance(shown, list) and all(isinstance(block, Mapping) and "type" in block for block in shown):
        return [*shown, *({"type": "text", "text": item.content} for item in added)]
    texts = [] if shown is None else [shown if isinstance(shown, str) else _text(shown)]
    return "\n".join([*texts, *(item.content for item in added)])


def _text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):  # a value that is not JSON
        return str(value)


def error_text(error: BaseException) -> str:
    """Return the text of an exception, or its class name if it has none."""
    try:
        return clean(str(error)) or type(error).__name__
    except Exception:  # an exception whose __str__ raises
        return type(error).__name__


def _ms_since(began: float) -> float:
    return round((monotonic() - began) * 1000, 3)
