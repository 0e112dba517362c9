"""What a coding agent does with a hook's answer: which effects it honours, in which words, and what it lets through.

A contract is data: it holds for a range of versions, and each row says how it was found out. The rest of the package
asks it before it relies on an effect.
"""

from __future__ import annotations

from typing import Literal, get_args

from ...runtime.named_tuples import NamedTuple
from .exchange import AgentEvent, HookOutput

__all__ = ["EFFECTS", "FAILURES", "AgentEvent", "Contract", "Effect", "EffectRow", "Evidence", "Failure", "FailureRow",
           "HookExit", "HookOutput", "Prediction", "Support"]  # fmt: skip

Effect = Literal["deny", "reason", "grant", "ask", "rewrite", "result", "context", "stop", "keep_going"]
"""What an outcome can ask of an agent. ``reason``: the model reads why. ``result``: the tool's result is replaced."""

Support = Literal["honoured", "degraded", "impossible"]

Failure = Literal["error", "killed", "missing", "timeout", "silent_block", "garbage"]
"""How a hook's program can fail: another exit status, a signal, no such program, too slow, exit 2 without a text,
output that is no answer."""

Evidence = Literal["run", "read", "documented", "reported"]
"""How a row is known: the real agent was run; its source or package was read; its documentation says so; others
report it."""

EFFECTS: tuple[Effect, ...] = get_args(Effect)
FAILURES: tuple[Failure, ...] = get_args(Failure)


class EffectRow(NamedTuple):
    """Whether one event of an agent can have one effect."""

    event: str
    """Our name of the event."""
    effect: Effect
    support: Support
    instead: str = ""
    """What happens instead, of a degraded effect; a sentence for a person."""
    evidence: Evidence = "documented"


class FailureRow(NamedTuple):
    """What an agent does if the program of a hook fails at an event."""

    event: str
    failure: Failure
    goes_on: bool
    """Whether the action runs all the same."""
    evidence: Evidence = "documented"


class Contract(NamedTuple):
    """What one agent does, in a range of its versions."""

    agent: str
    versions: str
    """Such as ``>=0.160,<0.170``; empty if no version is known."""
    since: str
    """The day on which this was found out, as ``2026-11-16``."""
    effects: tuple[EffectRow, ...]
    failures: tuple[FailureRow, ...]
    evidence: Evidence = "documented"
    """The best that any of its rows rests on."""
    notes: tuple[str, ...] = ()
    """What a person has to know before relying on this agent, a sentence each."""
    unseen: tuple[str, ...] = ()
    """Events that were not fired when the agent was run: their rows rest on what is documented."""

    def effect(self, event: str, effect: str) -> EffectRow | None:
        """Return the row of an effect at an event; None if the agent has no such event."""
        return next((row for row in self.effects if (row.event, row.effect) == (event, effect)), None)

    @property
    def events(self) -> tuple[str, ...]:
        """The events that the agent has, by our names."""
        return tuple(dict.fromkeys(row.event for row in self.effects))

    def covers(self, version: str) -> bool:
        """Return whether a version of the agent is in the range; an unknown version is not."""
        given = _numbers(version)
        return bool(given) and all(_holds(part.strip(), given) for part in self.versions.split(",") if part.strip())


class HookExit(NamedTuple):
    """How the program of a hook ended, as the agent sees it."""

    stdout: str = ""
    stderr: str = ""
    status: int | None = 0
    """None if it was ended by its deadline; negative for a signal; 127 if it is missing."""


class Prediction(NamedTuple):
    """What an agent does after a hook's program ended so."""

    tool_ran: bool
    model_sees: frozenset[str]
    """Which of these reach the model: ``stderr``, ``stdout``, ``reason``, ``context``, ``input``, ``result``,
    ``stop_reason``, ``system_message``, ``tool_output``."""
    model_calls: int
    """0: the prompt is refused; 1: the run ends after the model's first answer; 2: ordinary; 3: it is sent back to
    work once."""
    asks: bool = False
    """Whether a person is asked first; without a person the tool does not run."""


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with: ``1.0.97-0`` is (1, 0, 97)."""
    parts: list[int] = []
    for part in version.strip().lstrip("v").partition("-")[0].split("."):
        if not part.isdecimal():
            break
        parts.append(int(part))
    return tuple(parts)


def _holds(condition: str, given: tuple[int, ...]) -> bool:
    for sign in (">=", "<=", "==", "<", ">"):
        if condition.startswith(sign):
            wanted = _numbers(condition[len(sign) :])
            longest = max(len(wanted), len(given))
            mine, other = (numbers + (0,) * (longest - len(numbers)) for numbers in (given, wanted))
            return {">=": mine >= other, "<=": mine <= other, "==": mine == other, "<": mine < other,
                    ">": mine > other}[sign]  # fmt: skip
    return False
