"""A script line, its arguments, and the references to values of the event in them. All are immutable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..event import Event
from ..records import Record
from ..replies import HookFailed
from ..runtime.faults import type_name

__all__ = ["Reference", "ScriptLine", "Template", "fill", "joined", "literal"]

_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "$": "\\$", "\n": "\\n", "\t": "\\t"})
_LONGEST_INDEX = 9  # digits: no list is longer, and int() refuses thousands of them


class Reference(Record, kw_only=False):
    """A reference in an argument to a value of the event: ``$name`` or ``$name.field.sub``."""

    name: str
    path: tuple[str, ...] = ()
    column: int = 0
    """Its column in the line, for messages."""

    _uncompared = frozenset({"column"})

    def __str__(self) -> str:
        return "${" + ".".join((self.name, *self.path)) + "}"


Template = tuple[str | Reference, ...]
"""An argument before it is filled in: texts and references in order; an empty one is the empty text."""


class ScriptLine(Record, kw_only=False):
    """One hook of a script. ``event`` is spelled as in the script, with its subject; ``command`` has no slash."""

    event: str
    command: str
    arguments: tuple[Template, ...]
    line: int = 1
    column: int = 1
    text: str = ""
    source: str = ""

    _uncompared = frozenset({"line", "column", "text", "source"})

    @property
    def where(self) -> str:
        """Its position, as ``file:line:column``."""
        return f"{self.source}:{self.line}:{self.column}"

    def __str__(self) -> str:
        return self.text or self.render()

    def render(self) -> str:
        """Return an equivalent line with every argument in double quotes."""
        return " ".join(("hook", self.event, f"/{self.command}", *map(_quoted, self.arguments)))


def _quoted(template: Template) -> str:
    return f'"{"".join(part.translate(_ESCAPED) if isinstance(part, str) else str(part) for part in template)}"'


def joined(parts: Iterable[str | Reference]) -> Template:
    """Return the template of these parts, with adjacent texts joined."""
    made: list[str | Reference] = []
    for part in parts:
        if isinstance(part, str) and made and isinstance(made[-1], str):
            made[-1] += part
        elif part:
            made.append(part)
    return tuple(made)


def literal(template: Template) -> str | None:
    """Return the text of an argument without references; None if it has any."""
    if not template:
        return ""
    return template[0] if len(template) == 1 and isinstance(template[0], str) else None


def fill(template: Template, event: Event, *, lenient: bool = False) -> str:
    """Return the argument with the event's values filled in.

    Text stays as it is, a missing value or ``None`` is the empty text, any other value is compact JSON. A value that
    cannot be written fails the hook; if ``lenient``, its name stands in angle brackets instead.
    """
    return "".join(part if isinstance(part, str) else _shown(part, event, lenient) for part in template)


def _shown(reference: Reference, event: Event, lenient: bool) -> str:
    try:
        value = _found(reference, event)
        if value is None:
            return ""
        if isinstance(value, str):
            return str.__str__(value)
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except Exception as error:  # not JSON, nested too deep, or an object that raises
        if lenient:
            return f"<{reference.name}: {type_name(error)}>"
        raise HookFailed("payload", f"{reference} cannot be written: {type_name(error)}") from None


def _found(reference: Reference, event: Event) -> Any:
    value = event.get(reference.name)
    for key in reference.path:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, (list, tuple)) and key.isdecimal() and len(key) <= _LONGEST_INDEX:
            value = value[int(key)] if int(key) < len(value) else None
        else:
            return None
    return value
