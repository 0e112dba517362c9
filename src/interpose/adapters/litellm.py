"""LiteLLM: ``guardrail: interpose.adapters.litellm.Guardrail`` in the configuration of its proxy.

The proxy runs no tool: its client does, and sends the result with the next request. A call that hooks deny is taken out
of the answer, and the model is told why. A session of LiteLLM is a session.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from os import PathLike
from typing import Any
from uuid import uuid4

from fastapi import HTTPException
from litellm import OPENAI_CHAT_COMPLETION_PARAMS, stream_chunk_builder
from litellm.integrations.custom_guardrail import CustomGuardrail, get_session_id_from_request_data
from litellm.llms.base_llm.base_model_iterator import convert_model_response_to_streaming
from litellm.types.utils import ModelResponse

from interpose import BegunMessage, Hooks, Session, UsageError

from .base import Adapter, Ask, check_version
from .litellm_conversation import Conversation, prompt_of

__all__ = ["Guardrail"]

_WITHOUT_TOOLS = ("embedding", "image", "moderation", "rerank", "speech", "transcription")
_ROUNDS = 10  # how often a model is asked again in the place of one answer
_MAX_KEPT = 1000
_WHOLE = {"stream": False, "stream_options": None}


class Guardrail(CustomGuardrail):
    """A guardrail that puts hooks around chat completions of the proxy. It needs both modes, and to be always on."""

    def __init__(self, hooks: Hooks | str | PathLike[str], *, ask: Ask = None, **options: Any) -> None:
        check_version("litellm", "1.106.2", "2")
        modes = options.get("event_hook")
        named = {getattr(mode, "value", mode) for mode in modes} if isinstance(modes, list) else set()
        if not options.get("default_on") or not {"pre_call", "post_call"} <= named:
            hint = "mode: [pre_call, post_call] and default_on: true"
            raise UsageError("the guardrail would not see all requests and answers", hint=hint)
        if options.get("run_in_parallel") or options.get("scan_raw_request"):
            raise UsageError("what hooks change would be lost", hint="leave out run_in_parallel and scan_raw_request")
        if ask == "native":
            raise UsageError("a proxy cannot wait for a person", hint="ask: a function of a Question, or None")
        super().__init__(**options)
        self.adapter = Adapter(hooks, ask=ask)
        self._conversations: dict[str, Conversation] = {}
        self._begun: dict[str, tuple[Conversation, BegunMessage]] = {}

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: str) -> Any:
        """Let hooks see the results of tools, the prompt and the request; refuse what they cannot see."""
        if any(kind in call_type for kind in _WITHOUT_TOOLS):
            return data
        if call_type not in {"completion", "acompletion"} or data.get("functions") or (data.get("n") or 1) != 1:
            raise HTTPException(400, "hooks see chat completions with tools and one choice; use /chat/completions")
        session = await self.adapter.session(get_session_id_from_request_data(data) or uuid4().hex)
        conversation = self._conversation(session)
        messages = await conversation.with_results(data["messages"], data.get("tools"))
        text = prompt_of(messages)
        if text and not (answer := await session.prompt(text)).ok:
            self.raise_passthrough_exception(str(answer.content), data)
        call = await conversation.begin_message(data, messages)
        if call.state != "run":
            self.raise_passthrough_exception(call.reason, data)
        _keep(self._begun, data["litellm_call_id"], (conversation, call))
        return data

    def _conversation(self, session: Session) -> Conversation:
        known = self._conversations.pop(session.session_id, None)
        if known is None or known.session is not session:
            known = Conversation(self.adapter, session)
        _keep(self._conversations, session.session_id, known)
        return known

    async def async_post_call_success_hook(self, data: Any, user_api_key_dict: Any, response: Any) -> Any:
        """Let hooks see an answer and the calls in it."""
        return await self._judged(data, response) if isinstance(response, ModelResponse) else response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: Any
    ) -> AsyncIterator[Any]:
        """Hold a streamed answer back until hooks have seen it."""
        whole = stream_chunk_builder([chunk async for chunk in response])
        judged = await self._judged(request_data, whole)
        for at, one in enumerate(judged.choices[0].message.tool_calls or []):
            one.index = at
        yield convert_model_response_to_streaming(judged)

    async def async_post_call_failure_hook(self, request_data: Any, original_exception: Any, *_: Any, **__: Any) -> Any:
        """End the call of a model that has not answered."""
        if begun := self._begun.pop(request_data.get("litellm_call_id", ""), None):
            await begun[1].failed(original_exception)

    async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
        """Do nothing: the proxy has called the guardrail."""
        return kwargs

    async def async_post_call_success_deployment_hook(self, request_data: Any, response: Any, call_type: Any) -> Any:
        """Do nothing: the proxy calls the guardrail."""

    async def _judged(self, data: Any, response: Any) -> Any:
        """Return an answer that hooks let pass; ask the model again if they refuse its calls, or its end."""
        conversation, call = self._begun.pop(data["litellm_call_id"])
        from litellm.proxy.proxy_server import llm_router as router  # slow to load; here the proxy has loaded it

        reason, unseen = f"hooks have refused {_ROUNDS} answers of the model", list[Any]()
        for _ in range(_ROUNDS):
            told = await conversation.judge(call, response, data.get("tools"), unseen)
            if not told:
                return response
            data, unseen = dict(data), [*unseen, *told]
            call = await conversation.begin_message(data, [*data["messages"], *told])
            if call.state != "run":
                reason = call.reason
                break
            asked = {key: data[key] for key in ("model", "messages", *OPENAI_CHAT_COMPLETION_PARAMS) if key in data}
            try:
                response = await router.acompletion(**{**asked, "metadata": data.get("metadata"), **_WHOLE})
            except BaseException as error:
                await call.failed(error)
                raise
        choice = response.choices[0]
        choice.message.content, choice.message.tool_calls, choice.finish_reason = reason, None, "stop"
        return response


def _keep(kept: dict[str, Any], key: str, value: Any) -> None:
    kept[key] = value
    while len(kept) > _MAX_KEPT:
        del kept[next(iter(kept))]
