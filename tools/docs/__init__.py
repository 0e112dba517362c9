"""Those parts of the documentation that are made from the code: agents, events, keys, options, policies, public names.

A page says where such a part stands: ``<!-- generated: NAME -->``, and ``<!-- end of generated -->`` below it. What is
between is never edited by hand; ``python -m tools.docs`` writes it anew, and a test compares.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from . import agents, api, events, frameworks, keys, options, policies

__all__ = ["DOCS", "PARTS", "for_the_site", "renewed"]

DOCS = Path(__file__).parents[2] / "docs"

PARTS: dict[str, Callable[[], str]] = {
    "agents": agents.agents,
    "api": api.names,
    "commands": options.commands,
    "events": events.events,
    "fields": events.base_fields,
    "frameworks": frameworks.frameworks,
    "keys": keys.keys,
    "options": options.options,
    "parameters": policies.common,
    "policies": policies.policies,
}

_PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(^<!-- end of generated -->)", re.DOTALL | re.MULTILINE)


def renewed(page: str) -> str:
    """Return the text of a page with every generated part made anew."""
    return _PART.sub(lambda found: f"{found[1]}\n{_part(found[2]).strip()}\n\n{found[3]}", page)


def _part(name: str) -> str:
    """Return a part; ``agent_codex`` is that of one agent, for the page of that agent."""
    return PARTS[name]() if name in PARTS else agents.agent(name.removeprefix("agent_"))


def for_the_site(page: str) -> str:
    """Return a page in which links to what lies beside ``docs`` are text: the site has only the pages."""
    return re.sub(r"\[([^\[\]]*)\]\(\.\./[^)]*\)", r"\1", page)
