"""Data files for the agent (scripts, agent types): YAML with the line of each part, or JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import UsageError

__all__ = ["load"]


def load(path: str) -> tuple[Any, dict[str, int]]:
    """Return the data of a file and the line of each part; JSON has no lines."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"cannot be read: {why}", where=path, hint="check the path") from error
    return _load_json(path, text) if path.endswith(".json") else _load_yaml(path, text)


def _load_json(path: str, text: str) -> tuple[Any, dict[str, int]]:
    try:
        return json.loads(text), {}
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise UsageError(f"is not JSON: {error}", where=f"{path}:{line}") from error


def _load_yaml(path: str, text: str) -> tuple[Any, dict[str, int]]:
    import yaml

    try:
        node = yaml.compose(text, yaml.SafeLoader)
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else path
        what = getattr(error, "problem", None) or str(error) or type(error).__name__
        raise UsageError(f"is not YAML: {what}", where=place, hint="quote text with : in it") from error
    lines: dict[str, int] = {}
    _note(node, "", lines, set(), path)
    return data, lines


def _note(node: Any, path: str, lines: dict[str, int], seen: set[int], source: str) -> None:
    """Collect the line of each part below a node; for an alias, the line of its anchor."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    lines[path] = node.start_mark.line + 1
    if node.id == "sequence":
        for number, item in enumerate(node.value):
            _note(item, f"{path}[{number}]", lines, seen, source)
    elif node.id == "mapping":
        found: set[str] = set()
        for key, item in node.value:
            name = str(key.value)
            if name in found:
                what = f"the key {name!r} is there twice"
                place = f"{source}:{key.start_mark.line + 1}"
                raise UsageError(what, where=place, hint="remove one of them")
            found.add(name)
            _note(item, f"{path}.{name}" if path else name, lines, seen, source)
