"""What a proxy knows of a conversation between its requests: the calls of tools, and what became of them."""

from __future__ import annotations

import json
from typing import Any

from interpose import BegunMessage, BegunTool, Session

from .base import Adapter, Refused, text_of_blocks

__all__ = ["Conversation", "prompt_of"]


class Conversation:
    """The calls of one session. The client sends them all again with each request, as it has seen them."""

    def __init__(self, adapter: Adapter, session: Session) -> None:
        self.adapter = adapter
        self.session = session
        self._running: dict[str, BegunTool] = {}
        self._results: dict[str, tuple[str, str]] = {}  # what the client sent, and what the model sees
        # By the first call of an answer: what the model said and was told before it, and the calls that were taken out.
        self._unseen: dict[str, tuple[list[Any], list[Any]]] = {}

    async def with_results(self, messages: list[Any], tools: Any) -> list[Any]:
        """Return messages with what hooks leave of the results, and with the calls that the client never saw."""
        made: list[Any] = []
        calls: dict[str, Any] = {}
        for message in messages:
            if message.get("role") == "assistant" and message.get("tool_calls"):
                own = message["tool_calls"]
                calls |= {one["id"]: one for one in own}
                before, refused = self._unseen.get(own[0]["id"], ([], []))
                made += [*before, {**message, "tool_calls": [*own, *(call for call, _ in refused)]}, *_told(refused)]
            elif message.get("role") == "tool":
                call = calls.get(message.get("tool_call_id", ""))
                if call is None:
                    raise Refused(f"no call has the result {message.get('tool_call_id')!r}")
                made.append({**message, "content": await self._result(call, text_of_blocks(message["content"]), tools)})
            else:
                made.append(message)
        return made

    async def _result(self, call: Any, sent: str, tools: Any) -> str:
        known = self._results.get(call["id"])
        if known is not None and known[0] == sent:
            return known[1]
        begun = self._running.pop(call["id"], None)
        try:  # a call that is not known here was answered by another proxy, or long ago
            begun = begun or await self._begin(call, tools)
            answer = await begun.done(sent)
            seen = str(answer.content) if answer.changed else sent
        except Refused as refused:
            seen = str(refused)
        self._results[call["id"]] = sent, seen
        return seen

    async def begin_message(self, data: dict[str, Any], messages: list[Any]) -> BegunMessage:
        """Let hooks see a request; put into it what they have left."""
        prompt, tools = prompt_of(messages), data.get("tools")
        seen = self.adapter.messages(messages)
        call = await self.session.begin_message(prompt, model=str(data.get("model")), messages=seen, tools=tools)
        if call.state == "run":
            data["messages"] = _with_prompt(messages, call.prompt) if call.prompt != prompt else messages
            if call.system:
                data["messages"] = [{"role": "system", "content": call.system}, *data["messages"]]
            if call.tools != tools:
                data["tools"] = call.tools
            if not data.get("tools"):  # an empty list is an error
                data.pop("tools", None)
                data.pop("tool_choice", None)
        return call

    async def judge(self, begun: BegunMessage, response: Any, tools: Any, unseen: list[Any]) -> list[Any]:
        """Take what hooks refuse out of an answer; return what the model is told if nothing of it is left.

        ``unseen`` is what the model has said and was told before that, in the place of this answer.
        """
        choice = response.choices[0]
        message, calls = choice.message, [one.model_dump() for one in choice.message.tool_calls or []]
        if getattr(message, "function_call", None):
            raise Refused("a function_call was not asked for, and hooks do not see it")
        answer = await begun.done(message, text=message.content or "", tool_calls=calls)
        if answer.changed:
            message.content = answer.content
        kept, refused = [], []
        for one, call in zip(message.tool_calls or [], calls, strict=True):
            try:
                running = self._running[call["id"]] = await self._begin(call, tools)
                one.function.arguments = json.dumps(running.input)
                kept.append(one)
            except Exception as error:  # it is refused, or cannot be judged
                refused.append((call, str(error) or type(error).__name__))
        if kept:
            message.tool_calls, self._unseen[kept[0].id] = kept, (unseen, refused)
            return []
        said = {"role": "assistant", "content": message.content}
        if refused:
            return [{**said, "tool_calls": [call for call, _ in refused]}, *_told(refused)]
        stop = await self.session.stop(message.content or "")
        return [said, {"role": "user", "content": stop.content}] if stop.keep_going else []

    async def _begin(self, call: Any, tools: Any) -> BegunTool:
        name = call["function"]["name"]
        schemas = [one["function"] for one in tools or [] if one.get("type") == "function"]
        schema = next((one.get("parameters") for one in schemas if one["name"] == name), None)
        given = json.loads(call["function"]["arguments"] or "{}")
        return await self.adapter.begin(self.session, name, given, id=call["id"], schema=schema)


def prompt_of(messages: list[Any]) -> str:
    """Return what the person has said since the last answer."""
    return "\n".join(text_of_blocks(messages[at]["content"]) for at in _news(messages))


def _news(messages: list[Any]) -> list[int]:
    last = max((at for at, one in enumerate(messages) if one.get("role") == "assistant"), default=-1)
    return [at for at in range(last + 1, len(messages)) if messages[at].get("role") == "user"]


def _with_prompt(messages: list[Any], prompt: str) -> list[Any]:
    made, news = list(messages), _news(messages)
    for at in news:
        blocks = made[at]["content"] if isinstance(made[at]["content"], list) else []
        text = {"type": "text", "text": prompt if at == news[0] else ""}
        others = [one for one in blocks if one.get("type") != "text"]
        made[at] = {**made[at], "content": [text, *others] if others else text["text"]}
    return made


def _told(refused: list[Any]) -> list[Any]:
    return [{"role": "tool", "tool_call_id": call["id"], "content": reason} for call, reason in refused]
