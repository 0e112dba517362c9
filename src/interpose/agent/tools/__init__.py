"""The agent's tools, with the names and inputs of Claude Code's tools."""

from __future__ import annotations

from .bash import BASH
from .edit import EDIT
from .files import replace_file
from .glob import GLOB
from .grep import GREP
from .read import READ
from .tool import Kind, Tool, ToolFailed, Workplace, make_tool
from .write import WRITE

__all__ = ["LOOKING", "TOOLS", "Kind", "Tool", "ToolFailed", "Workplace", "make_tool", "replace_file"]

TOOLS: tuple[Tool, ...] = (BASH, READ, WRITE, EDIT, GLOB, GREP)
LOOKING: tuple[Tool, ...] = (READ, GLOB, GREP)
"""The tools that only read."""
