"""Python functions, for every framework that takes them as tools: ``tools=governed("hooks.yaml", [shell, read])``.

The function itself is governed, so a direct call is governed too. Model calls and prompts are not seen here.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from interpose import BegunTool, Session, UsageError, json_view

from .base import Adapter, Agents, Ask, HooksOrPath, Refused, acting_as, current_session
from .signatures import Parameters

__all__ = ["Functions", "Refused", "acting_as", "governed"]

Function = Callable[..., Any]


def governed(
    hooks: HooksOrPath,
    functions: Iterable[Function] | Mapping[str, Function],
    *,
    agents: Agents = (),
    ask: Ask = None,
    conversation: str = "",
    unseen: Collection[str] = (),
    raises: bool = False,
) -> Functions:
    """Return functions that do the same under hooks, with the same names, signatures and texts, in a list.

    A mapping names functions that have no name of their own. ``agents`` names the functions that run an agent. ``ask``
    is a function of a Question; without it a question denies. ``unseen`` names parameters that the framework fills in
    and that hooks do not see, such as a context. A refused call returns the reason; with ``raises`` it raises Refused.
    All calls are in one session, called ``conversation``, unless ``acting_as(session)`` says otherwise.
    """
    if ask == "native":
        raise UsageError('ask: "native": a function cannot pause', hint="a function of a Question, or None")
    named = dict(functions) if isinstance(functions, Mapping) else {}
    for function in () if isinstance(functions, Mapping) else functions:
        name = getattr(function, "__name__", "")
        if not name.isidentifier() or name in named:
            wrong = "two functions have its name" if name in named else "it has no name"
            raise UsageError(f"{function!r}: {wrong}", hint='pass a mapping: {"name": function}')
        named[name] = function
    return Functions(Adapter(hooks, agents=agents, ask=ask), named, conversation or uuid4().hex, unseen, raises)


class Functions(list[Function]):
    """Governed functions: a list for the framework. ``sessions`` has their session, and may have others."""

    def __init__(
        self, adapter: Adapter, named: Mapping[str, Function], conversation: str, unseen: Collection[str], raises: bool
    ) -> None:
        self.sessions = adapter.sessions
        self.conversation = conversation
        self._adapter, self._raises = adapter, raises
        kinds = {name: _is_async(name, function) for name, function in named.items()}
        self._blocks = not all(kinds.values())
        super().__init__(
            self._wrap(name, function, Parameters(function, unseen), kinds[name]) for name, function in named.items()
        )

    def _wrap(self, name: str, function: Function, parameters: Parameters, is_async: bool) -> Function:
        schema = parameters.schema

        async def flow(session: Session, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
            try:
                given, unseen = parameters.read(arguments, keywords)
                call = await self._adapter.begin(session, name, given, id=None, schema=schema)
                _expect_run(call)
                bound = parameters.write(given, call.input, unseen)
                result, answer = await self._adapter.run(call, session, lambda: run(*bound.args, **bound.kwargs))
            except Refused as refused:
                if self._raises:
                    raise
                return _with_context(str(refused), session)
            return _with_context(answer.content if answer.changed else result, session, answer.user_messages)

        def run(*arguments: Any, **keywords: Any) -> Any:
            made = function(*arguments, **keywords)
            if inspect.isawaitable(made) and not is_async:
                if inspect.iscoroutine(made):
                    made.close()
                raise TypeError(f"{name} is not asynchronous and returned {type(made).__name__}: make it `async def`")
            return made

        async def call_async(*arguments: Any, **keywords: Any) -> Any:
            return await flow(await self._session(), arguments, keywords)

        def call(*arguments: Any, **keywords: Any) -> Any:
            return self._adapter.blocking(self.conversation).run(flow, arguments, keywords)

        made: Any = functools.wraps(function)(call_async if is_async else call)
        del made.__wrapped__  # it would lead around the hooks
        made.__name__, made.__signature__ = name, parameters.signature
        made.__annotations__ = _annotations(parameters.signature)
        return made  # type: ignore[no-any-return]

    async def _session(self) -> Session:
        if self._blocks and current_session() is None and self.conversation not in self.sessions:
            # A blocking function must not wait on this loop for a session that another task here has half begun.
            self.sessions.get_sync(self.conversation)
        return await self._adapter.session(self.conversation)


def _expect_run(call: BegunTool) -> None:
    if call.state != "run":  # the agent around this function has a pause, a function has none
        call.close()
        raise Refused(f"{call.name} was not run: {call.reason or 'a person has to answer a question first'}")


def _annotations(signature: inspect.Signature) -> dict[str, Any]:
    empty = inspect.Parameter.empty
    found = {one.name: one.annotation for one in signature.parameters.values() if one.annotation is not empty}
    return found if signature.return_annotation is empty else {**found, "return": signature.return_annotation}


def _is_async(name: str, function: Function) -> bool:
    inner = getattr(function, "func", function)  # of a functools.partial
    called = inner if inspect.isroutine(inner) else getattr(type(inner), "__call__", None)  # noqa: B004
    if inspect.isclass(inner) or not callable(inner):
        raise UsageError(f"{name}: {function!r} is not a function", hint="write a function around it")
    if inspect.isgeneratorfunction(called) or inspect.isasyncgenfunction(called):
        raise UsageError(f"{name} is a generator: hooks would not see its result", hint="return the whole result")
    return inspect.iscoroutinefunction(called)


def _with_context(content: Any, session: Session, messages: Sequence[str] = ()) -> Any:
    """Return a result with what hooks want the model to know. There is no model call here to add it to."""
    added = [*messages, *session.take_context()]
    if not added:
        return content
    try:
        text = content if isinstance(content, str) else json.dumps(json_view(content), ensure_ascii=False)
    except ValueError:
        text = str(content)
    return "\n".join([text, *added])
