"""An outcome written as the reply of one hook, so that a whole configuration can act as a hook of another host.

Each dialect has a ``write_reply`` in its own module. A part of the outcome that a dialect cannot express is returned in
``WrittenReply.unsaid``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError, nearest
from ..model import Outcome, field_of, row_of
from ..runtime.faults import log
from ..runtime.named_tuples import NamedTuple

__all__ = ["WrittenReply", "changed_fields", "reply_body", "write_reply"]


class WrittenReply(NamedTuple):
    """A reply as a JSON object, and the parts of the outcome that the dialect has no field for."""

    body: dict[str, Any]
    unsaid: list[str]


def write_reply(dialect: str, outcome: Outcome, before: Mapping[str, Any]) -> WrittenReply:
    """Write an outcome as a reply in a dialect; ``before`` holds the fields that the event was fired with."""
    if dialect == "claude":
        from .claude.reply import write_reply as write
    else:
        from .native.reply import write_reply as write
    return write(outcome, before)


def reply_body(dialect: str, outcome: Outcome, before: Mapping[str, Any]) -> dict[str, Any]:
    """Write an outcome as a reply in a dialect; log what the dialect has no field for."""
    if dialect in ("native", "claude"):
        body, unsaid = write_reply(dialect, outcome, before)
    else:
        body, unsaid = _agent_reply(dialect, outcome, before)
    for part in unsaid:
        log("warning", "the reply of %s has no field for %s", outcome.event, part)
    return body


def _agent_reply(agent: str, outcome: Outcome, before: Mapping[str, Any]) -> WrittenReply:
    """Write an outcome in the words of a coding agent; ``before`` holds the fields under our names."""
    from .agents import AGENTS, agent_dialect
    from .agents.contract import AgentEvent

    if agent not in AGENTS:
        hint = nearest(agent, ("native", *AGENTS)) or f"native, or one of {', '.join(AGENTS)}"
        raise UsageError(f"there is no dialect {agent!r}", hint=hint)
    dialect = agent_dialect(agent)
    own = next((mine for mine, ours in dialect.EVENTS.items() if ours == outcome.event), "")
    if not own:
        raise UsageError(f"{dialect.TITLE} has no event {outcome.event}", hint=f"`interpose agents show {agent}`")
    answer = dialect.write_answer(AgentEvent(outcome.event, dict(before), before, own), outcome)
    try:
        body = json.loads(answer.stdout) if answer.stdout.strip() else {}
    except ValueError:
        body = {}
    said = [*answer.unsaid, *(["the deny, which is an exit status there"] if outcome.denied and not body else [])]
    return WrittenReply(body if isinstance(body, dict) else {}, said)


def changed_fields(outcome: Outcome, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the final value of each field that hooks have changed."""
    row, changed = row_of(outcome), dict[str, Any]()
    for name in sorted(row.modifies):
        final = field_of(outcome, name)
        if final is not None and final != (before[name] if name in before else row.defaults().get(name)):
            changed[name] = getattr(outcome, name)
    return changed
