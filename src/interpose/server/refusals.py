"""Write a refusal as the reply of a hook, for hosts that read nothing but the reply."""

from __future__ import annotations

from ..dialects.agents import AGENTS, agent_dialect
from ..errors import InterposeError
from ..events import TABLE
from ..hooks import Hooks
from ..replies import deny
from ..strict_json import BadJson, decode, encode

__all__ = ["refusal"]


async def refusal(dialect: str, event: str, body: bytes, why: str) -> bytes:
    """Return a reply that denies the event, in a dialect; where nothing can be denied, one that says why.

    Of an unknown event it is one that denies in every way that hosts read.
    """
    reason = f"interpose: {why} (so this denies)"
    if dialect in AGENTS and dialect != "claude":
        return agent_dialect(dialect).write_failure(event or _named(body), why).stdout.encode() or b"{}"
    try:
        row, _ = TABLE.find(event or _named(body))
        hooks = Hooks()
        hooks.register(row.name, lambda _: deny(reason), inline=True)
        outcome = await hooks.fire(row.name)
        return encode(outcome.reply(dialect) or {"systemMessage": reason})
    except InterposeError:
        return encode({"decision": "block", "reason": reason, "continue": False, "stopReason": reason})


def _named(body: bytes) -> str:
    try:
        fields = decode(body)
    except BadJson:
        return ""
    name = fields.get("hook_event_name") if isinstance(fields, dict) else ""
    return name if isinstance(name, str) else ""
