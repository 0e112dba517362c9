"""What of each hook holds in a coding agent, by the agent's contract: what is weakened, and what has no effect.

What a hook will answer is not known beforehand, so each effect of its event counts that it may have. A line of a script
says which one it has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..dialects.agents import AgentDialect
from ..dialects.agents.contract import Contract, Effect, EffectRow
from ..model import Hook
from ..runtime.named_tuples import NamedTuple

__all__ = ["AgentReport", "HeldHook", "hooks_in_agent"]

_LINES: dict[str, Effect] = {"/deny": "deny", "/ask": "ask", "/context": "context", "/inject": "context"}
_QUIET = frozenset({"/log", "/notify"})
_OF_DECISIONS: tuple[Effect, ...] = ("deny", "ask", "reason")


class HeldHook(NamedTuple):
    """One hook, and what becomes of its effects in an agent."""

    hook: str
    event: str
    fires: bool
    """Whether the agent has the event."""
    holds: tuple[Effect, ...] = ()
    weakened: tuple[EffectRow, ...] = ()
    lost: tuple[EffectRow, ...] = ()


class AgentReport(NamedTuple):
    """What of a configuration holds in an agent."""

    agent: str
    title: str
    contract: Contract
    hooks: tuple[HeldHook, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""

        def row(one: EffectRow) -> dict[str, str]:
            return {"effect": one.effect, "instead": one.instead, "evidence": one.evidence}

        return {
            "name": self.agent, "versions": self.contract.versions, "since": self.contract.since,
            "evidence": self.contract.evidence, "notes": list(self.contract.notes),
            "hooks": [{"hook": one.hook, "event": one.event, "fires": one.fires, "holds": list(one.holds),
                       "weakened": [row(r) for r in one.weakened], "lost": [row(r) for r in one.lost]}
                      for one in self.hooks],
            "failures": [{"event": one.event, "failure": one.failure, "goes_on": one.goes_on}
                         for one in self.contract.failures],
        }  # fmt: skip


def hooks_in_agent(dialect: AgentDialect, hooks: Iterable[Hook]) -> AgentReport:
    """Return what of each hook holds in an agent."""
    contract = dialect.CONTRACTS[0]
    return AgentReport(dialect.NAME, dialect.TITLE, contract, tuple(_held(contract, dialect, hook) for hook in hooks))


def _held(contract: Contract, dialect: AgentDialect, hook: Hook) -> HeldHook:
    if hook.event not in dialect.EVENTS.values():
        return HeldHook(hook.label, hook.event, fires=False)
    rows = [row for row in contract.effects if row.event == hook.event and row.effect in _effects(hook, contract)]
    return HeldHook(
        hook.label, hook.event, True, tuple(row.effect for row in rows if row.support == "honoured"),
        tuple(row for row in rows if row.support == "degraded"),
        tuple(row for row in rows if row.support == "impossible"),
    )  # fmt: skip


def _effects(hook: Hook, contract: Contract) -> frozenset[Effect]:
    """Return the effects that a hook may have at its event."""
    everything = frozenset(row.effect for row in contract.effects if row.event == hook.event)
    if hook.type == "script":
        word = next((word for word in str(hook.handler).split() if word.startswith("/")), "")
        if word in _QUIET:
            return frozenset()
        if word in _LINES:
            found = _LINES[word]
            if found == "deny" and "keep_going" in everything:
                found = "keep_going"
            return frozenset({found, *(("reason",) if found in _OF_DECISIONS else ())}) & everything
    return everything - {"stop", "grant"} if hook.type in ("command", "python", "script") else everything
