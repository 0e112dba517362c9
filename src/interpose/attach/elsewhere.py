"""Other settings of an attached agent that switch its hooks off: those that a cloned project brings, for example."""

from __future__ import annotations

from .agents import CodingAgent, Scope
from .errors import BadSettings
from .files import read_bytes, text_of
from .shapes import JsonHooks

__all__ = ["switched_off_elsewhere"]


def switched_off_elsewhere(agent: CodingAgent, scope: Scope, project: str) -> list[str]:
    """Return what the settings of an agent's other scopes have that switches hooks off, a sentence each."""
    here, found = agent.path(scope, project), dict[str, None]()
    for other in agent.places:
        path, shape = agent.path(other, project), agent.shape_of(other)
        if path == here or not isinstance(shape, JsonHooks):
            continue
        try:
            data = read_bytes(path)
            found |= dict.fromkeys(shape.switched_off(text_of(data, path), path)) if data is not None else {}
        except BadSettings:
            continue  # the agent cannot read it either
    return list(found)
