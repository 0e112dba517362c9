"""Read the effects of tools for files and the web from their input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from ...matching.tool_inputs import TooMuch, kind_of_key, limited_values
from .effect import Effect

__all__ = ["effects_of_input"]

_READS = frozenset({"Read", "NotebookRead", "Grep", "Glob", "LS", "read_file", "list_directory", "view"})


def effects_of_input(tool: str, given: Mapping[str, Any], cwd: str) -> tuple[Effect, ...]:
    """Return what a tool does with the paths and URLs in its input."""
    return tuple(dict.fromkeys(_effects(tool, given, cwd)))


def _effects(tool: str, given: Mapping[str, Any], cwd: str) -> Iterator[Effect]:
    kind = "read-files" if tool in _READS else "write-files"
    try:
        for key, value, _ in limited_values(given):
            if not isinstance(value, str):
                continue
            what = kind_of_key(key)
            if what == "path":
                yield Effect(kind, os.path.join(cwd, os.path.expanduser(value)), tool, tool)
            elif what == "url":
                yield Effect("request", value, tool, tool)
    except TooMuch:
        return
