"""Listening to a model while it answers, the same for every API: text goes on at once, the rest is gathered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Protocol

from . import Request, Turn
from .troubles import Server, cut_off, explain

__all__ = ["Said", "hear"]


class Said(Protocol):
    """What a client gathers from one answer."""

    @property
    def complete(self) -> bool:
        """Whether the end of the answer was there."""
        ...

    def take(self, event: Any) -> str:
        """Add what an event of the stream brings; return the piece of text in it."""
        ...

    def turn(self, request: Request) -> Turn:
        """Return all of it as one turn."""
        ...


async def hear(
    ask: Callable[[Request], Awaitable[Any]],
    request: Request,
    said: Said,
    server: Server,
    on_text: Callable[[str], None],
) -> Turn:
    """Return the answer to a request; ``ask`` opens the stream of it, which is closed however this ends."""
    async with aclosing(_pieces(ask, request, said, server)) as pieces:
        async for piece in pieces:
            on_text(piece)  # out here, so that what the listener raises is not taken for the server's fault
    if not said.complete:
        raise cut_off(server)
    try:
        return said.turn(request)
    except Exception as error:
        raise explain(error, server, began=True) from error


async def _pieces(
    ask: Callable[[Request], Awaitable[Any]], request: Request, said: Said, server: Server
) -> AsyncGenerator[str]:
    began = False
    try:
        async with await ask(request) as stream:
            began = True
            async for event in stream:
                if piece := said.take(event):
                    yield piece
    except Exception as error:
        raise explain(error, server, began=began) from error
