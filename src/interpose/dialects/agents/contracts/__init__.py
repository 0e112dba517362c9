"""The contracts of agents, as data: a file for each agent, with what it does by event, and since when this is known.

A file has the contracts of one agent, the newest first::

    [[contract]]
    versions = ">=0.166,<0.167"
    since = "2026-11-16"
    evidence = "run"
    notes = ["…"]

    [contract.effects.PreToolUse]
    deny = "honoured"
    ask = "degraded: a deny"

    [contract.failures.PreToolUse]
    goes_on = "error killed missing"
    stops = "garbage"

``evidence`` holds for each row that does not end in another word in brackets, such as ``[read]``, and is not at an
event of ``unseen``: those were not fired when the agent was run, and rest on what is documented.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from ..contract import EFFECTS, FAILURES, Contract, EffectRow, Evidence, FailureRow, Support

__all__ = ["read_contracts"]


@cache
def read_contracts(agent: str) -> Sequence[Contract]:
    """Return the contracts of an agent, the newest first."""
    import tomllib

    document = tomllib.loads(Path(__file__).with_name(f"{agent}.toml").read_text(encoding="utf-8"))
    return tuple(_contract(agent, given) for given in document["contract"])


def _contract(agent: str, given: Mapping[str, Any]) -> Contract:
    evidence: Evidence = given["evidence"]
    unseen = tuple(given.get("unseen", ()))

    def known_by(event: str) -> Evidence:
        return "documented" if event in unseen else evidence

    return Contract(
        agent, given["versions"], given["since"], tuple(_effects(given["effects"], known_by)),
        tuple(_failures(given["failures"], known_by)), evidence, tuple(given.get("notes", ())), unseen,
    )  # fmt: skip


def _effects(given: Mapping[str, Mapping[str, str]], known_by: Callable[[str], Evidence]) -> Iterator[EffectRow]:
    for event, rows in given.items():
        for effect, text in rows.items():
            if effect not in EFFECTS:
                raise ValueError(f"{event}: {effect} is not an effect")
            said, how = _evidence(text, known_by(event))
            support, _, instead = said.partition(":")
            yield EffectRow(event, effect, cast("Support", support), instead.strip(), how)


def _failures(given: Mapping[str, Mapping[str, str]], known_by: Callable[[str], Evidence]) -> Iterator[FailureRow]:
    for event, rows in given.items():
        for word, goes_on in (("goes_on", True), ("stops", False)):
            said, how = _evidence(rows.get(word, ""), known_by(event))
            for failure in said.split():
                if failure not in FAILURES:
                    raise ValueError(f"{event}: {failure} is not a failure")
                yield FailureRow(event, failure, goes_on, how)


def _evidence(text: str, evidence: Evidence) -> tuple[str, Evidence]:
    """Return a text without the word in brackets at its end, and that word."""
    if not text.endswith("]"):
        return text, evidence
    said, _, word = text[:-1].rpartition(" [")
    return said, cast("Evidence", word)
