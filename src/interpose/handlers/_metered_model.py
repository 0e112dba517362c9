"""A model whose calls are counted: over its budget, it is not asked. The counts are shared by all processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..models import Model, Request, Turn, ignore_text
from ..models.configured import Budget, ConfiguredModel
from ..replies import HookFailed
from ..runtime.regex import regex
from ..state.locked import StateUnavailable, locked_json, session_state

__all__ = ["MeteredModel"]

_LINE = regex(r":\d+$")  # of the place where it is configured, which not every process looks for
_SECONDS = {"hour": 3600, "day": 86_400}


class MeteredModel:
    """A model, and what this event has used of it."""

    def __init__(self, model: Model, configured: ConfiguredModel, session_id: str) -> None:
        self._model = model
        self._configured = configured
        self._session_id = session_id
        self.name = model.name
        self.window = model.window
        self.calls = 0
        self.tokens = 0

    async def answer(self, request: Request, on_text: Callable[[str], None] = ignore_text) -> Turn:
        """Return the model's next turn; raise HookFailed if its budget is used up."""
        budget = self._configured.budget
        if budget is not None:
            self._count_call(budget)
        self.calls += 1
        turn = await self._model.answer(request, on_text)
        self.tokens += turn.tokens
        if budget is not None and budget.tokens:
            with self._counts(budget) as counts:
                counts["tokens"] = counts.get("tokens", 0) + turn.tokens
        return turn

    async def close(self) -> None:
        """Close the connections."""
        await self._model.close()

    def _count_call(self, budget: Budget) -> None:
        """Count a call before it is made: calls that are made at once all count."""
        with self._counts(budget) as counts:
            calls, tokens = counts.get("calls", 0), counts.get("tokens", 0)
            if (budget.calls and calls >= budget.calls) or (budget.tokens and tokens >= budget.tokens):
                used = [f"{calls} calls"] * bool(budget.calls) + [f"{tokens} tokens"] * bool(budget.tokens)
                what = f"the budget of the model {self._configured.name} ({budget}) is used up: {' and '.join(used)}"
                raise HookFailed("budget_used_up", f"{what} (raise budget: in models:)")
            counts["calls"] = calls + 1

    @contextmanager
    def _counts(self, budget: Budget) -> Iterator[dict[str, Any]]:
        """Yield the counts of the current session, hour or day."""
        name = f"{_LINE.sub('', self._configured.source)} {self._configured.name}"
        try:
            if budget.per == "session":
                with session_state(self._session_id, f"model {name}") as counts:
                    yield counts
                return
            now = int(time.time()) // _SECONDS[budget.per]
            with locked_json("models", f"{name} {budget.per}") as counts:
                if counts.get("period") != now:
                    counts.clear()
                    counts["period"] = now
                yield counts
        except StateUnavailable as error:
            raise HookFailed("budget_unknown", f"the budget cannot be looked up: {error}") from None
