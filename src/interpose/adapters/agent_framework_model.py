"""Calls of the model in an agent of the Microsoft Agent Framework, and the contents of its results."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import agent_framework as af

from interpose import Session

from .base import Adapter

__all__ = ["ModelCalls", "SessionMiddleware", "changed", "said", "shown"]


class SessionMiddleware:
    """A middleware; it finds the session of what it is called for."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter

    async def session(self, context: Any) -> Session:
        """Return the session of a run."""
        return await self.adapter.session(context.session.session_id)


class ModelCalls(SessionMiddleware, af.ChatMiddleware):
    """Puts hooks around calls of the model."""

    async def process(self, context: Any, call_next: Any) -> None:
        """Let hooks see a request, and then the answer."""
        messages, options = list(context.messages), dict(context.options or {})
        last = max((at for at, one in enumerate(messages) if one.role == "assistant"), default=-1)
        news = [one for one in messages[last + 1 :] if one.role == "user" and one.text]
        prompt, system = "\n".join(one.text for one in news), options.get("instructions") or ""
        seen = self.adapter.messages(messages)
        tools = None if seen is None else options.get("tools")  # to show them takes time
        call = await (await self.session(context)).begin_message(prompt, system=system, messages=seen, tools=tools)
        if call.state != "run":
            context.result = said(call.reason, af.ChatResponse, af.ChatResponseUpdate, context.stream)
            return
        if call.prompt != prompt and news:  # results of tools stay where they are
            texts = {id(one): [call.prompt] if one is news[0] else [] for one in news}
            context.messages = [_with_text(one, texts[id(one)]) if id(one) in texts else one for one in messages]
        if call.system != system:
            context.options = options = {**options, "instructions": call.system}
        if call.tools != tools:
            context.options = {**options, "tools": call.tools}
        try:
            await call_next()
        except BaseException as error:
            await call.failed(error)
            raise
        if not context.stream:
            await _answered(call, context.result)
            return
        final: list[Any] = []
        stream = _streamed(call, context.result, final, held=self.adapter.hooks.wants("post:message"))
        context.result = af.ResponseStream(stream, finalizer=lambda _: final[-1])


async def _streamed(call: Any, stream: Any, final: list[Any], *, held: bool) -> AsyncIterator[Any]:
    """Stream an answer; if hooks look at answers, hold it back until they have seen it."""
    updates: list[Any] = []
    try:
        async for update in stream:
            if held:
                updates.append(update)
            else:
                yield update
        final.append(await stream.get_final_response())
    except BaseException as error:
        await call.failed(error)
        raise
    if await _answered(call, final[-1]):
        updates = [af.ChatResponseUpdate(role=one.role, contents=one.contents) for one in final[-1].messages]
    for update in updates:
        yield update


async def _answered(call: Any, response: Any) -> bool:
    contents = [content for message in response.messages for content in message.contents]
    calls = [
        {"id": content.call_id, "name": content.name, "arguments": content.arguments}
        for content in contents
        if content.type == "function_call"
    ]
    answer = await call.done(response, text=response.text, tool_calls=calls)
    if answer.changed:
        others = [content for content in contents if content.type != "text"]
        response.messages = [af.Message("assistant", [answer.content, *others])]
    return bool(answer.changed)


def said(text: Any, response: Any, update: Any, stream: bool) -> Any:
    """Return a response of one text, or a stream of it."""

    async def once() -> AsyncIterator[Any]:
        yield update(role="assistant", contents=[af.Content.from_text(str(text))])

    if stream:
        return af.ResponseStream(once(), finalizer=response.from_updates)
    return response(messages=[af.Message("assistant", [str(text)])])


def _with_text(message: Any, text: list[str]) -> Any:
    others = [content for content in message.contents if content.type != "text"]
    return af.Message(message.role, [*text, *others], author_name=message.author_name)


def shown(result: Any) -> Any:
    """Return what hooks see of a result: its text, if it is nothing but text."""
    if not _is_contents(result):
        return result
    if all(one.type == "text" for one in result):
        return "\n".join(one.text for one in result)
    return [one.to_dict() for one in result]


def changed(result: Any, content: Any) -> Any:
    """Return a result as hooks have left it."""
    return (
        [af.Content.from_dict(one) for one in content]
        if isinstance(content, list) and _is_contents(result)
        else content
    )


def _is_contents(result: Any) -> bool:
    return isinstance(result, list) and all(isinstance(one, af.Content) for one in result)
