"""Read ``tools:``, the tools that a host calls by names of its own, and order the declarations of all sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from ..errors import ConfigError, Problem, nearest
from ..matching.declared_tools import KINDS, DeclaredTool, DeclaredTools, contains, overlap
from ..matching.tool_inputs import LISTS, plain_key
from ..matching.written import as_written
from ..registry import LAYERS
from ..runtime.regex import regex

__all__ = ["TOOL_KEYS", "declared_tools", "find_overruled", "read_given_tools", "read_tools"]

TOOL_KEYS = {"as", "fields", "kind"}
OWN_LAYERS = ("user", "fleet", "code")
"""Layers of the person, the fleet and the host. What these declare may make a tool a lesser kind, and replaces
defaults."""

Wrong = Callable[[str, str, str], None]  # is told of a path, what is wrong there, and what to do

_NAME = regex(r"[^\s|?\[\]()*\x00-\x1f\x7f]+")
_PATTERN = regex(r"[^\s|?\[\]()\x00-\x1f\x7f]+")


def read_tools(
    given: Any, wrong: Wrong, *, layer: str = "code", locate: Callable[[str], str] = lambda path: ""
) -> list[DeclaredTool]:
    """Read a section ``tools:``; tell ``wrong`` of every problem."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        wrong("tools", f"{as_written(given)} where names of tools are expected", "write shell: Bash")
        return []
    above = frozenset(LAYERS[LAYERS.index(layer) + 1 :])
    found: list[DeclaredTool] = []
    for pattern, value in given.items():
        if isinstance(pattern, str) and pattern.startswith("x-"):
            continue
        path = f"tools.{pattern}"
        parts = _read_tool(pattern, value, path, wrong)
        if isinstance(pattern, str):
            found.append(DeclaredTool(pattern=pattern, layer=layer, above=above, source=locate(path), **parts))
    for index, one in enumerate(found):
        for other in found[:index]:
            if _is_ambiguous(one, other):
                wrong(f"tools.{one.pattern}", f"{one.pattern} and {other.pattern} may match the same tool, and neither "
                      "is the more specific one", "narrow one of them, or declare both alike")  # fmt: skip
    return found


def _is_ambiguous(one: DeclaredTool, other: DeclaredTool) -> bool:
    same = (one.name, one.fields, one.kind) == (other.name, other.fields, other.kind)
    ordered = contains(one.pattern, other.pattern) or contains(other.pattern, one.pattern)
    return not same and not ordered and overlap(one.pattern, other.pattern)


def _read_tool(pattern: Any, value: Any, path: str, wrong: Wrong) -> dict[str, Any]:
    if not isinstance(pattern, str) or not _PATTERN.fullmatch(pattern):
        wrong(path, f"{as_written(pattern)} is not the name of a tool", "a name, in which * stands for any text")
    if isinstance(value, str):
        value, at = {"as": value}, path
    else:
        at = f"{path}.as"
    if not isinstance(value, Mapping) or not value:
        wrong(path, f"{as_written(value)} where a tool is declared", "write shell: Bash, or as:, fields: and kind:")
        return {}
    for key in value:
        if not isinstance(key, str) or (key not in TOOL_KEYS and not key.startswith("x-")):
            hint = nearest(str(key), TOOL_KEYS) or "keys are as, fields and kind"
            wrong(f"{path}.{key}", f"{key} is not a key of a tool", hint)
    name, kind = value.get("as"), value.get("kind")
    if name is not None and not (isinstance(name, str) and _NAME.fullmatch(name)):
        wrong(at, f"{as_written(name)} is not the name of a tool", "one name that rules know, such as Bash")
    if kind is not None and kind not in KINDS:
        wrong(f"{path}.kind", f"{as_written(kind)} is not a kind of tool", f"{', '.join(KINDS[:-1])} or {KINDS[-1]}")
    return {"name": name or "", "kind": kind or "", "fields": _read_fields(value.get("fields"), path, wrong)}


def _read_fields(given: Any, path: str, wrong: Wrong) -> dict[str, str]:
    path = f"{path}.fields"
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for pair in given.items() for one in pair):
        wrong(path, f"{as_written(given)} where names of fields are expected", "write {cmd: command}")
        return {}
    for own, declared in given.items():
        report = partial(wrong, f"{path}.{own}")
        if not own or not declared or "." in own + declared:
            report(f"{own!r} or {declared!r} is not a field of the input", "only fields at the top can be named")
        elif declared in given:
            report(f"{declared} is a field of the host too", "a field has one name on each side")
        elif list(given.values()).count(declared) > 1:
            report(f"two fields become {declared}", "each needs a name of its own")
        elif plain_key(own) in LISTS and plain_key(declared) not in LISTS:
            report(f"{own} holds several values, and {declared} holds one", f"leave it out: rules read {own} too")
    return dict(given)


def read_given_tools(given: Mapping[str, Any]) -> list[DeclaredTool]:
    """Read tools that code declares; raise ConfigError with all problems."""
    problems: list[Problem] = []
    found = read_tools(given, lambda path, what, hint: problems.append(Problem(what, where=path, hint=hint)))
    if problems:
        raise ConfigError(problems)
    return found


def declared_tools(
    groups: Iterable[Sequence[DeclaredTool]], defaults: Sequence[DeclaredTool] = ()
) -> DeclaredTools | None:
    """Return the tools of several files, each a group of one layer, and those that code declares; None without any.

    A higher layer comes first. ``defaults`` give way to what the person and the host configure, and no file of a
    project replaces them.
    """
    ordered = _in_order(groups)
    high = [group for group in ordered if group[0].layer in OWN_LAYERS]
    low = [group for group in ordered if group[0].layer not in OWN_LAYERS]
    return DeclaredTools([*high, defaults, *low]) if ordered or defaults else None


def find_overruled(groups: Iterable[Sequence[DeclaredTool]]) -> list[Problem]:
    """Return a warning for each declaration that has no effect, since another file declares the tool before it."""
    ordered = _in_order(groups)
    return [
        Problem(f"tools: {tool.pattern} has no effect: it is declared in {first.source} too", where=tool.source,
                hint="leave it out here")
        for index, group in enumerate(ordered)
        for tool in group
        if (first := next((one for one in chain(*ordered[:index]) if contains(one.pattern, tool.pattern)), None))
    ]  # fmt: skip


def _in_order(groups: Iterable[Sequence[DeclaredTool]]) -> list[Sequence[DeclaredTool]]:
    return sorted(filter(None, groups), key=lambda group: -LAYERS.index(group[0].layer))
