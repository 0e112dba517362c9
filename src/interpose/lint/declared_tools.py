"""Rules over the tools that a configuration declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..config.load import Loaded
from ..errors import Problem, nearest
from ..matching.declared_tools import DeclaredTool, contains
from ..matching.names import compile_matcher
from .rules import KNOWN_TOOLS, Finding

__all__ = ["check_tools", "describe_tool", "tool_as_json"]


def check_tools(tools: Iterable[DeclaredTool], loaded: Loaded) -> Iterator[Finding]:
    """Find declared tools that no hook and no rule sees, or whose names are likely to be a mistake."""
    for tool in tools:
        if tool.name and tool.name not in KNOWN_TOOLS and (hint := nearest(tool.name, KNOWN_TOOLS)):
            yield _warning(tool, "never_matches", f"is declared as {tool.name}, which is not a known tool", hint)
        if hidden := [name for name in KNOWN_TOOLS if contains(tool.pattern, name) and tool.name not in ("", name)]:
            yield _warning(tool, "renamed", f"gives {hidden[0]}, a name that rules know, the name {tool.name}",
                           "declare only the tools that rules do not know")  # fmt: skip
        if not tool.kind and not _is_seen(tool, loaded):
            yield _warning(tool, "no_effect", "is declared, and no hook and no rule is about it",
                           "add a hook or a rule, or leave it out")  # fmt: skip


def _is_seen(tool: DeclaredTool, loaded: Loaded) -> bool:
    names = [name for name in (tool.name, tool.pattern) if name]
    of_hooks = [hook.matches for hook in loaded.hooks if hook.enabled and hook.row.subject == "tool_name"]
    of_rules = [compile_matcher(rule.partition("(")[0].strip()) for rule in (*loaded.permissions, *loaded.harmless)]
    # A pattern without a name may stand for any tool.
    open_ended = not tool.name and "*" in tool.pattern
    return any(open_ended or matches is None or any(map(matches, names)) for matches in (*of_hooks, *of_rules))


def _warning(tool: DeclaredTool, code: str, what: str, hint: str) -> Finding:
    return Finding("warning", code, Problem(f"tools: {tool.pattern} {what}", where=tool.source, hint=hint))


def describe_tool(tool: DeclaredTool) -> str:
    """Return what is declared about a tool in one line."""
    parts: Sequence[str] = [
        *([f"declared as {tool.name}"] if tool.name else []),
        *(f"{own} is {declared}" for own, declared in tool.fields.items()),
        *([f"kind {tool.kind}"] if tool.kind else []),
    ]
    return ", ".join(parts)


def tool_as_json(tool: DeclaredTool) -> dict[str, Any]:
    """Return a declared tool as JSON."""
    return {"tool": tool.pattern, "as": tool.name or None, "fields": dict(tool.fields), "kind": tool.kind or None,
            "layer": tool.layer, "source": tool.source}  # fmt: skip
