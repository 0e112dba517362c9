"""The agent's tools, with the names and inputs of Claude Code's."""

from __future__ import annotations

from .bash import BASH
from .edit import EDIT
from .files import replace_file
from .glob import GLOB
from .grep import GREP
from .making import make_tool
from .nouns import Kind, Tool, ToolFailed, Workplace
from .read import READ
from .write import WRITE

__all__ = ["TOOLS", "Kind", "Tool", "ToolFailed", "Workplace", "make_tool", "replace_file"]

TOOLS: tuple[Tool, ...] = (BASH, READ, WRITE, EDIT, GLOB, GREP)
