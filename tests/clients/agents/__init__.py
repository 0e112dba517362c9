"""The agents that run here, the most important first."""

from __future__ import annotations

from ..rig import Client
from .claude import Claude
from .cline import Cline
from .codex import Codex
from .copilot import Copilot
from .droid import Droid
from .gemini import Gemini
from .opencode import OpenCode
from .qwen import Qwen

__all__ = ["CLIENTS"]

CLIENTS: dict[str, Client] = {
    one.name: one for one in (Claude(), Codex(), Copilot(), Gemini(), Qwen(), Cline(), Droid(), OpenCode())
}
