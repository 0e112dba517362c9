"""One tool call in two halves: hooks and permission before the tool runs, hooks again after it.

PreToolUse comes first; permission is decided for the input that its hooks return. Only a call that neither hooks nor
rules decide reaches PermissionRequest and the approver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from ..errors import UsageError
from ..matching.declared_tools import same_value
from ..model import Outcome, field_of, hooks_spoke
from ..person.permission import Permission
from ..records import replace
from ..runtime.copies import copied
from .answers import Answer, Question
from .approval import later, read_approval
from .backends import AsyncFunction
from .permission import By, HooksSaid, Verdict, judge, kind_of
from .permission_cache import PermissionAnswer
from .results import error_text, result_for_model, user_messages
from .schemas import schema_error

if TYPE_CHECKING:
    from .session import Session

__all__ = ["BegunTool", "Schema", "State", "hook_that_decided"]

State = Literal["deciding", "run", "denied", "asked", "done"]
Schema = Mapping[str, Any] | Callable[[], Mapping[str, Any] | None] | None
"""The JSON Schema of a tool's input, or a function that returns it."""
_WAITS = "a person has to answer a question first"
_NOTHING: dict[str, Any] = {}


class BegunTool:
    """A tool call that has begun: ``session.begin_tool()`` returns it.

    ``state`` is ``run``, ``denied`` or ``asked``. A call that may run is run by the host with ``input``, and ended with
    ``done`` or ``failed``. A call that is denied has ``reason``, and in ``answer`` what the model is told. A call that
    is asked about has ``question``; ``said`` takes the answer. A call that is never ended needs nothing.
    """

    __slots__ = ("__weakref__", "_began", "_decided_by", "_fields", "_first", "_given", "_hook_set", "_leaves_out",
                 "_outcomes", "_said", "_schema", "_session", "_shown", "_verdict", "answer", "id", "input", "kind",
                 "name", "permission", "question", "reason", "state")  # fmt: skip

    def __init__(
        self,
        session: Session,
        name: str,
        input: Any,
        id: str,
        schema: Schema = None,
        kind: str | None = None,
        leaves_out: bool = False,
        fields: Mapping[str, Any] = _NOTHING,
    ) -> None:
        self.name = name
        self.id = id
        self.input = self._first = input
        """What the tool is to be run with, after all changes."""
        self.kind = kind_of(name, kind, session._declared(name))
        self.state: State = "deciding"
        self.reason = ""
        self.question: Question | None = None
        self.answer: Answer | None = None
        """What the model is told; None as long as the call may run."""
        self.permission: Permission | None = None
        """What was decided, and by whom or what; None for a call that was simply allowed."""
        self._session = session
        self._schema = schema
        self._leaves_out = leaves_out
        self._fields = fields
        # What hooks see of the first input, and of the input as it is now.
        self._given = self._shown = input if session.view is None else _shown_input(input, session.view)
        self._outcomes: list[Outcome] = []
        self._decided_by: Outcome
        self._said: HooksSaid  # what the hooks of PreToolUse said
        self._verdict: Verdict  # why the call is asked about
        self._hook_set: object = None
        self._began = 0.0

    def __repr__(self) -> str:
        because = f": {self.reason}" if self.reason else ""
        return f"<{type(self).__name__} {self.name} {self.id}, {self.state}{because}>"

    @property
    def key(self) -> tuple[str, str]:
        """The agent and the id, by which the call is found when it is begun again."""
        return self._session.agent_id, self.id

    def move_to(self, session: Session) -> None:
        """Go on in the same session, with an event loop or with blocking methods."""
        self._session = session

    def is_same(self, begun: BegunTool) -> bool:
        """Say whether a call that was begun again is this one, and is seen by the same hooks."""
        return (
            self.name == begun.name
            and self._hook_set == self._session._permission_cache.hook_set
            and same_value(self._given, begun._given)
        )

    # The first half.

    async def begin(self) -> None:
        """Fire PreToolUse, and decide whether the call may run."""
        before = await self._fire("PreToolUse")
        self._decided_by = self._said = before
        if type(self._shown) is Unshown:
            await self._deny(self._shown.reason, "nobody")
            return
        if hooks_spoke(before) and not before.denied and (unfit := self._take_input(field_of(before, "tool_input"))):
            await self._deny(unfit, "hook", **_hook_that_changed(before))
            return
        verdict = self._judge()
        if verdict.by is None:  # simply allowed
            self.state, self._began = "run", monotonic()
        elif verdict.what == "ask":
            await self._ask(verdict)
        else:
            await self._follow(verdict)

    async def halt(self, answer: Answer) -> None:
        """Deny the call because the turn is over."""
        self._decided_by = answer.outcome
        await self._decide("denied", answer.reason, "hook", **_hook_that_ended(answer.outcome))
        self.state, self.reason, self.answer = "denied", answer.reason, replace(answer, permission=self.permission)

    def _judge(self) -> Verdict:
        session = self._session
        return judge(
            self._said, self._call(), rules=session.rules, mode=session.mode, kind=self.kind, default=session.default,
            leaves_out=self._leaves_out,
        )  # fmt: skip

    def _call(self) -> dict[str, Any]:
        return self._session._call_for_rules(self.name, self._shown)

    async def _follow(self, verdict: Verdict) -> None:
        """Do what hooks, rules or the mode have decided without a question."""
        named = {"rule": verdict.rule, "place": verdict.place}
        if verdict.by == "hook":
            named = hook_that_decided(self._said)
        elif verdict.by == "mode":
            named |= {"mode": self._session.mode, "hook": hook_that_decided(self._said).get("hook", "")}
        if verdict.what == "run":
            await self._allow(verdict.reason, verdict.by or "default", **named)
        else:
            await self._deny(verdict.reason, verdict.by or "default", **named)

    async def _ask(self, verdict: Verdict) -> None:
        """Ask the hooks of PermissionRequest, then the approver; or leave the question to the host."""
        session, asked_at = self._session, time()
        cache = session._permission_cache
        self._verdict = verdict
        answer = cache.recall(self.id, self.name, self._shown) or cache.recall_for_session(self._asked_about())
        if answer is None:
            self._hook_set = cache.hook_set
            answer = await self._ask_hooks() or await self._ask_person(asked_at)
            if answer is None:
                return
            answer = replace(answer, asked_at=asked_at, answered_at=time())
            cache.remember(self.id, self.name, self._shown, answer, self._hook_set)
            cache.remember_for_session(self._asked_about(), answer, self._hook_set)
        await self._heed(answer)

    async def _ask_hooks(self) -> PermissionAnswer | None:
        request = await self._fire("PermissionRequest")
        if request.denied:  # an interrupt is one too
            self._decided_by = request
            reason = request.reason or "permission was denied by a hook"
            return PermissionAnswer(reason, by="hook", **hook_that_decided(request))
        if request.granted:
            return PermissionAnswer(changed=request.tool_input, by="hook", **hook_that_decided(request))
        return None

    async def _ask_person(self, asked_at: float) -> PermissionAnswer | None:
        """Ask the approver; return None if the host is to tell the answer later."""
        session, reason = self._session, self._verdict.reason
        if session.approver is None:
            why = f"{reason or 'this call needs approval'} (there is no approver)"
            return PermissionAnswer(why, final=False, by="nobody")
        notice = await session._fire(
            "Notification", message=f"{self.name} needs your permission", notification_type="permission_prompt"
        )
        self._outcomes.append(notice)
        try:
            question = self._make_question()
            if session.approver is later:
                await self._wait_for(question, asked_at)
                return None
            return read_approval(await session._backend.call(session.approver, question))
        except AsyncFunction:
            raise
        except Exception as error:
            return PermissionAnswer(f"the question could not be asked: {error_text(error)}", final=False, by="nobody")
        except BaseException:
            if session._state == "running":
                await self._deny("the question was interrupted", "nobody", asked_at=asked_at)
            raise

    def _make_question(self) -> Question:
        session = self._session
        # A copy: the approver may change what it shows, and that must not be what runs.
        return Question(
            tool_name=self.name, tool_input=copied(self._shown), reason=self._verdict.reason, tool_use_id=self.id,
            session_id=session.session_id, agent_id=session.agent_id or "", **self._asked_by(),
        )  # fmt: skip

    async def _wait_for(self, question: Question, asked_at: float) -> None:
        """Become a call that is asked about."""
        verdict = self._verdict
        await self._decide("asked", verdict.reason, verdict.by or "default", asked_at=asked_at, **self._asked_by())
        self.state, self.reason, self.question = "asked", verdict.reason, question
        self.answer = replace(self._refusal(verdict.reason or _WAITS), question=question)
        self._session._asked.add(self)

    def _asked_about(self) -> tuple[str, ...]:
        """Return what an answer for the session is about."""
        return self._session.agent_id, self.name, *self._asked_by().values(), self._verdict.reason

    def _asked_by(self) -> dict[str, str]:
        """Return the rule or the hook that asks."""
        verdict = self._verdict
        named = {"rule": verdict.rule, "place": verdict.place}
        return named | hook_that_decided(self._said) if verdict.by == "hook" else named

    async def _heed(self, answer: PermissionAnswer) -> None:
        """Do what the answer to the question says."""
        named: dict[str, Any] = self._asked_by()
        if answer.by == "hook":
            named |= {"hook": answer.hook, "place": answer.place}
        named |= {"asked_at": answer.asked_at, "answered_at": answer.answered_at, "person": answer.person}
        named |= {"question": answer.question, "remembered": answer.remembered}
        if answer.refused:
            await self._deny(answer.refused, answer.by, **named)
            return
        if answer.changed is not None and not same_value(answer.changed, self._shown):
            if unfit := self._take_input(answer.changed):
                await self._deny(unfit, answer.by, **named)
                return
            ruled = self._session.rules(self._call())
            if ruled.answer == "deny":
                await self._deny(ruled.reason, "rule", **(named | {"rule": ruled.rule, "place": ruled.place}))
                return
            if refused := await self._recheck():
                await self._deny(refused, "hook", **(named | hook_that_decided(self._decided_by)))
                return
        await self._allow(self._verdict.reason, answer.by, **named)

    async def _recheck(self) -> str:
        """Fire PreToolUse for the guards with an input that was changed after they had seen it."""
        session = self._session
        again = await session._handle(session._backend.fire_guards("PreToolUse", **self._event(session._common())))
        self._outcomes.append(again)
        if again.allowed:
            return ""
        self._decided_by = again
        return again.reason or "a guard does not allow the input that was changed while permission was asked"

    def _take_input(self, given: Any) -> str:
        """Take a new input; return why the tool cannot take it, if it does not match the schema."""
        if same_value(given, self._shown):
            return ""
        self.input = self._shown = given
        schema = self._schema() if callable(self._schema) else self._schema
        wrong = schema_error(given, schema) if schema is not None else ""
        return f"a hook changed the input into one that {self.name} cannot take: {wrong}" if wrong else ""

    async def said(self, answer: object) -> State:
        """Take the answer to the question, as an approver would return it; return the new state.

        If hooks or rules have changed since the question was asked, the call is judged anew: a yes counts only for what
        they have seen.
        """
        self._expect("asked", "there is no question to answer")
        session, cache = self._session, self._session._permission_cache
        session._common()  # raises if the session is over
        self.state, self.question, self.answer = "deciding", None, None
        asked_at = self.permission.asked_at if self.permission else None
        read = replace(read_approval(answer), asked_at=asked_at, answered_at=time())
        try:
            if not read.refused and (halted := session._halted_answer()):
                await self.halt(halted)
            elif not read.refused and cache.hook_set != self._hook_set:
                session._asked.discard(self)
                self.input, self._shown = self._first, self._given
                self._outcomes.clear()
                await self.begin()
            else:
                cache.remember(self.id, self.name, self._shown, read, self._hook_set)
                cache.remember_for_session(self._asked_about(), read, self._hook_set)
                verdict = self._judge()  # rules and the mode may have changed
                await (self._follow(verdict) if verdict.what == "refuse" and not read.refused else self._heed(read))
        except BaseException:
            self.close()
            raise
        return self.state

    def to_dict(self) -> dict[str, Any]:
        """Return a call that is asked about as JSON values, for ``session.resume``: now, or in another process.

        There is no answer in it, and a code in it shows whether it was changed.
        """
        from .pending import write_call

        self._expect("asked", "only a call with an open question is written down")
        return write_call(self)

    async def _allow(self, reason: str, by: By, **named: Any) -> None:
        lost = await self._decide("allowed", reason, by, **named)
        if lost:
            await self._deny(lost, "nobody")
            return
        self.state, self.reason, self._began = "run", "", monotonic()

    async def _deny(self, reason: str, by: By, **named: Any) -> None:
        await self._decide("denied", reason, by, **named)
        self.state, self.reason, self.answer = "denied", reason, self._refusal(reason)

    async def _decide(self, verdict: Literal["allowed", "denied", "asked"], reason: str, by: By, **named: Any) -> str:
        """Note what was decided; return why it could not be recorded, if the record is required."""
        session = self._session
        self.permission = Permission(
            verdict=verdict, by=by, reason=reason, tool_name=self.name, tool_use_id=self.id,
            session_id=session.session_id, agent_id=session.agent_id, **named,
        )  # fmt: skip
        return await session._record_permission(self.permission)

    # The second half.

    async def done(self, result: Any) -> Answer:
        """Tell what the tool returned: PostToolUse. Return what the model sees of it."""
        self._end("done")
        shown = self._session._view_or_text(result)
        after = await self._fire("PostToolUse", tool_response=shown, duration_ms=self._ms())
        if not hooks_spoke(after):
            self.answer = self._answer(True, result, raw=result)
            return self.answer
        content = result_for_model(after)
        changed = not same_value(content, shown)
        self.answer = self._answer(
            True, content if changed else result, raw=result, changed=changed, user_messages=user_messages(after)
        )
        return self.answer

    async def failed(self, error: BaseException | str, *, result: Any = None) -> Answer:
        """Tell that the tool failed or was interrupted: PostToolUseFailure. Return what the model sees of it.

        ``result`` is what the tool returned, if it says by its result that it failed. The model sees the result as it
        is, unless a hook changes the error.
        """
        self._end("failed")
        interrupted = isinstance(error, BaseException) and not isinstance(error, Exception)
        session, text = self._session, error_text(error)
        fire = session._fire_shielded if interrupted else session._fire
        after = await fire(
            "PostToolUseFailure", **self._event({}), error=text, is_interrupt=interrupted, duration_ms=self._ms()
        )
        self._outcomes.append(after)
        told = field_of(after, "error")
        changed = told != text
        self.answer = self._answer(
            False, told if changed or result is None else result, reason=told, changed=changed, raw=result,
            error=error if isinstance(error, BaseException) else None,
        )  # fmt: skip
        return self.answer

    def close(self) -> None:
        """End the call without an event: it was not run after all."""
        self.state, self.question = "done", None
        self._session._asked.discard(self)

    def _end(self, how: str) -> None:
        self._expect("run", f"{how} ends a call that may run")
        self.close()

    def _expect(self, state: State, what: str) -> None:
        if self.state != state:
            hints = {
                "deciding": "wait for begin_tool() or said()", "denied": f"it was denied: {self.reason}",
                "asked": "answer its question first, with said()", "run": "run it, then call done() or failed()",
                "done": "done() or failed() was called already, or the call was closed",
            }  # fmt: skip
            raise UsageError(f"{what}; this call of {self.name} is {self.state}", hint=hints[self.state])

    def _ms(self) -> float:
        return round((monotonic() - self._began) * 1000, 3)

    def _refusal(self, reason: str) -> Answer:
        return self._answer(False, f"{self.name} was not run: {reason}", denied=True, reason=reason)

    def _answer(self, ok: bool, content: Any, **more: Any) -> Answer:
        return Answer(
            ok=ok, content=content, outcome=self._decided_by, outcomes=tuple(self._outcomes), input=self.input,
            permission=self.permission, **more,
        )  # fmt: skip

    async def _fire(self, event: str, **more: Any) -> Outcome:
        outcome = await self._session._fire(event, **self._event(more))
        self._outcomes.append(outcome)
        return outcome

    def _event(self, more: dict[str, Any]) -> dict[str, Any]:
        return {**more, **self._fields, "tool_name": self.name, "tool_input": self._shown, "tool_use_id": self.id}


class Unshown:
    """Stands for an input that cannot be shown to hooks. It cannot be copied, so a hook that should see it fails."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"<{self.reason}>"

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise TypeError(self.reason)


def _shown_input(input: Any, view: Callable[[Any], Any]) -> Any:
    try:
        return view(input)
    except Exception as error:
        return Unshown(f"its input cannot be shown to hooks: {error_text(error)}")


def hook_that_decided(said: object) -> dict[str, Any]:
    """Return the first hook that gave the decision of an outcome, and where it is written."""
    if isinstance(said, Outcome):
        decision = "allow" if said.granted else said.decision
        for result in said.results:
            if result.enforced and result.decision == decision != "none":
                return {"hook": result.hook, "place": result.source}
        return {}
    return {name: text for name in ("hook", "place") if (text := getattr(said, name, ""))}


def _hook_that_ended(outcome: Outcome) -> dict[str, str]:
    """Return the hook that ended the turn: the last one that said anything."""
    for result in reversed(outcome.results):
        if result.enforced and result.reply is not None:
            return {"hook": result.hook, "place": result.source}
    return {}


def _hook_that_changed(outcome: Outcome) -> dict[str, str]:
    """Return the last hook that changed the input of an outcome."""
    for result in reversed(outcome.results):
        if result.enforced and getattr(result.reply, "changes", None):
            return {"hook": result.hook, "place": result.source}
    return {}
