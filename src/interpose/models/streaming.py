"""Streaming an answer, for every API: text is passed on as it arrives, the rest is collected."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Protocol

from . import Request, Turn
from .errors import ModelServer, cut_off, explain

__all__ = ["StreamedAnswer", "stream_answer"]


class StreamedAnswer(Protocol):
    """What a client collects of one answer."""

    @property
    def complete(self) -> bool:
        """Whether the end of the answer has arrived."""
        ...

    def take(self, event: Any) -> str:
        """Add an event of the stream; return the text in it."""
        ...

    def turn(self, request: Request) -> Turn:
        """Return the answer as a turn."""
        ...


async def stream_answer(
    ask: Callable[[Request], Awaitable[Any]],
    request: Request,
    answer: StreamedAnswer,
    server: ModelServer,
    on_text: Callable[[str], None],
) -> Turn:
    """Return the answer to a request; ``ask`` opens its stream, which is closed in any case."""
    async with aclosing(_pieces(ask, request, answer, server)) as pieces:
        async for piece in pieces:
            on_text(piece)  # not in _pieces: an exception of on_text is not an error of the server
    if not answer.complete:
        raise cut_off(server)
    try:
        return answer.turn(request)
    except Exception as error:
        raise explain(error, server, began=True) from error


async def _pieces(
    ask: Callable[[Request], Awaitable[Any]], request: Request, answer: StreamedAnswer, server: ModelServer
) -> AsyncGenerator[str]:
    began = False
    try:
        async with await ask(request) as stream:
            began = True
            async for event in stream:
                if piece := answer.take(event):
                    yield piece
    except Exception as error:
        raise explain(error, server, began=began) from error
