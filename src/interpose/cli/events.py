"""``interpose events``: the table of events that the engine uses."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from ..events import BASE_FIELDS, TABLE, EventSpec
from . import options
from .render import paint
from .render.table import terminal_width, wrap_text

__all__ = ["BASE_NAMES", "KINDS", "groups", "rights_of", "row_as_json", "run"]

KINDS = {"text": "text", "text|null": "text or null", "any": "anything", "flag": "true or false", "number": "number",
          "list": "list", "object": "object"}  # fmt: skip
_WORDS = {
    "context": "add context",
    "inject": "inject text",
    "suppress": "suppress the output",
    "keep going": "keep it going",
}
BASE_NAMES = {field.name for field in BASE_FIELDS}


def run(
    name: Annotated[str | None, typer.Argument(metavar="[EVENT]", help="Show all fields of this event.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Example: interpose events PreToolUse"""
    if name is not None:
        row, suffix = TABLE.find(name)
        if as_json:
            print(json.dumps(row_as_json(row)))
        else:
            _print_event(row, suffix)
        return
    if as_json:
        print(json.dumps([row_as_json(row) for row in TABLE.values()]))
        return
    for title, rows in groups():
        print(paint(title, "bold"))
        width = max(len(_names(row)) for row in rows)
        terminal = terminal_width()
        for row in rows:
            print(f"  {paint(_names(row).ljust(width), 'cyan')}  {row.meaning}")
            rights = _rights_line(row)
            for line in [rights] if terminal is None else wrap_text(rights, max(20, terminal - width - 4)):
                print(f"  {' ' * width}  {paint(line, 'dim')}")
        print()
    print("`interpose events NAME` shows the fields of an event and how to write a hook for it.")


def groups() -> list[tuple[str, list[EventSpec]]]:
    """Return all rows in groups, each with a title."""
    rows = list(TABLE.values())
    return [
        ("Agents and coding agents (the names of Claude Code)",
         [row for row in rows if ":" not in row.name and not row.claude_only]),
        ("Points (the names of Armament)", [row for row in rows if ":" in row.name]),
        ("Events that only Claude Code has", [row for row in rows if row.claude_only]),
    ]  # fmt: skip


def _names(row: EventSpec) -> str:
    return " = ".join((row.name, *row.aliases))


def rights_of(row: EventSpec) -> list[str]:
    """Return what a hook may do at an event, in words."""
    order = ("deny", "ask", "allow", "keep going", "interrupt", "inject", "suppress", "context")
    rights = [_WORDS.get(right, right) for right in order if right in row.can]
    return rights + [f"modify {name}" for name in sorted(row.modifies)]


def _rights_line(row: EventSpec) -> str:
    compared = f"; the matcher is compared with {row.subject}" if row.subject else ""
    return f"a hook may {', '.join(rights_of(row)) or 'only look'}{compared}"


def _print_event(row: EventSpec, suffix: str | None) -> None:
    print(f"{paint(_names(row), 'bold')}: {row.meaning}")
    print(f"  a hook may   {', '.join(rights_of(row)) or 'only look'}")
    compared = row.subject or "nothing: leave it out"
    if row.subject_is_path_end:
        compared += " (the last part of the path)"
    print(f"  a matcher    is compared with {compared}")
    if suffix is not None:
        print(f"  {row.name}:{suffix}  is {row.name} with the matcher {suffix}")
    print("  fields")
    own = [
        field for field in row.fields.values() if field.name not in BASE_NAMES or field.always != _always(field.name)
    ]
    for field in [*own, *(field for field in row.fields.values() if field not in own)]:
        words = [word for word, name in row.words.items() if name == field.name]
        also = f", also called {words[0]}" if words else ""
        marks = "" if field.always else ", may be absent"
        print(f"    {paint(f'{field.name:<24}', 'cyan')} {KINDS[field.kind]}{marks}{also}")
    print("\n  in a configuration")
    print(f"    hooks:\n      {row.name}:")
    matcher = "{matcher: …, " if row.subject else "{"
    print(f"        - {matcher}handler: my_hooks.function}}")
    print(f"  try it\n    interpose fire {row.name} {_try(row)}")


def _always(name: str) -> bool:
    return next(field.always for field in BASE_FIELDS if field.name == name)


def _try(row: EventSpec) -> str:
    if "tool_name" in row.fields:
        return '--tool Bash --tool-input \'{"command": "ls"}\''
    texts = [
        field.name
        for field in row.fields.values()
        if field.name not in BASE_NAMES and field.always and field.kind == "text"
    ]
    return " ".join(f"--field {name}=…" for name in texts[:2])


def row_as_json(row: EventSpec) -> dict[str, Any]:
    """Return a row as JSON."""
    return {
        "name": row.name,
        "aliases": list(row.aliases),
        "meaning": row.meaning,
        "matcher": row.subject,
        "can": sorted(row.can),
        "modifies": sorted(row.modifies),
        "fields": [{"name": field.name, "kind": field.kind, "always": field.always} for field in row.fields.values()],
        "claude_only": row.claude_only,
    }
