"""What ``interpose fire --reply`` does for an agent that is attached: notice changed settings, and answer a canary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...attach.watch import changed_since
from ...hooks import Hooks
from ...replies import Reply, deny

__all__ = ["canary_hooks", "is_canary", "put_back_settings", "telling"]

CANARY = "interpose-canary-"
_NAME = "interpose:settings"


def put_back_settings(agent: str) -> list[str]:
    """Put our entries back into the settings of an agent that were changed; return a sentence for each."""
    changed = changed_since(agent)
    if not changed:
        return []
    from ...attach.protect import put_back

    return [str(found) for key in changed for found in put_back(key)]


@contextmanager
def telling(hooks: Hooks, event: str, noticed: Sequence[str]) -> Iterator[None]:
    """Have the firing of this event say what was noticed: to the person, and in the record. A change is refused."""
    if not noticed:
        yield
        return
    text = "\n".join(noticed)

    def settings_of_agents(_: Any) -> Reply:
        return deny(text) if event == "ConfigChange" else Reply(messages=(text,))

    hook = hooks.register(event, settings_of_agents, name=_NAME, priority=-1_000_000, on_error="abort", inline=True)
    try:
        yield
    finally:
        hooks.unregister(hook)  # a resident engine keeps the others


def is_canary(fields: Mapping[str, Any]) -> bool:
    """Return whether an event is the call by which ``attach --verify`` sees that calls are denied."""
    given = fields.get("tool_input")
    values = given.values() if isinstance(given, dict) else ()
    return any(isinstance(one, str) and one.startswith(CANARY) for value in values
               for one in (value if isinstance(value, list) else [value]))  # fmt: skip


def canary_hooks(fields: Mapping[str, Any]) -> Hooks:
    """Return hooks that deny a canary and record nothing."""
    session = str(fields.get("session_id", ""))
    hooks = Hooks()
    hooks.register("PreToolUse", lambda _: deny(f"{session}: Interpose denies calls here"), name="canary", inline=True)
    return hooks
