"""How entries are written into a file of settings, found in it, and taken out: a class per kind of file.

Every shape edits text and nothing else. ``write`` returns the new text and what had to be made for it, which
``remove`` takes away again if nothing else is in it by then.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from .entry import MARK, SettingsEntry, is_line_of_ours
from .errors import BadSettings
from .json_edit import JsonText
from .toml_edit import add_block, parse_toml, remove_block, toml_text
from .yaml_edit import add_item, parse_yaml, remove_items

__all__ = ["ExecutableFile", "JsonHooks", "Made", "OwnJson", "Plugin", "Shape", "TomlHooks", "YamlHooks"]

Made = list[list[str]]
"""Paths of keys that did not exist before."""

Unit = Literal["s", "ms"]


class Shape(Protocol):
    """How one kind of file holds entries."""

    is_own: bool
    """Whether the whole file is ours."""

    def write(self, text: str, entries: Sequence[SettingsEntry], where: str) -> tuple[str, Made]:
        """Return the text with the entries; entries of ours that were there are replaced."""

    def remove(self, text: str, made: Made, where: str) -> str:
        """Return the text without our entries."""

    def lines(self, text: str, where: str) -> dict[str, str]:
        """Return our lines that are there, by the agent's name of the event."""

    def lost(self, text: str, entries: Sequence[SettingsEntry], where: str) -> list[str]:
        """Return the names of the events whose entry is not there exactly as it was written."""

    def doubts(self, text: str, where: str) -> list[str]:
        """Return why the agent may not read this file."""


class _ByLines(ABC):
    """What shapes share whose files are wholly ours: an entry is there if its line is."""

    is_own = True

    def lost(self, text: str, entries: Sequence[SettingsEntry], where: str) -> list[str]:
        """Return the names of the events whose line is not there."""
        found = self.lines(text, where)
        return [entry.name for entry in entries if found.get(entry.name) != entry.command]

    @abstractmethod
    def lines(self, text: str, where: str) -> dict[str, str]:
        """Return our lines that are there."""

    def doubts(self, text: str, where: str) -> list[str]:
        """Return nothing: the file is ours."""
        return []


def _is_value(found: Any, wanted: Any) -> bool:
    """Return whether a value is the one that is wanted: ``...`` is any, and a function is a test of it."""
    if wanted is ...:
        return True
    return bool(wanted(found)) if callable(wanted) else found == wanted


class JsonHooks:
    """Lists of hooks by event in JSON: below a key, or at the top."""

    is_own = False

    def __init__(
        self,
        below: tuple[str, ...] = ("hooks",),
        *,
        unit: Unit = "s",
        form: Callable[[SettingsEntry], dict[str, Any]] | None = None,
        head: Mapping[str, Any] | None = None,
        strict: bool = True,
        switches: Mapping[str, Any] | None = None,
        known: tuple[str, ...] = (),
    ) -> None:
        self.below, self.unit, self.head, self.strict = below, unit, dict(head or {}), strict
        self.known = known
        """All keys of the file, if the agent drops a file with another one."""
        self.form = form or (lambda entry: grouped(entry, unit=unit))
        self.switches = dict(switches or {})
        """Keys of the file that switch hooks off, and the value that does: ``...`` for any, or a test of it."""

    def write(self, text: str, entries: Sequence[SettingsEntry], where: str) -> tuple[str, Made]:
        """Return the text with the entries, and what was made for them."""
        document = JsonText(self.remove(text, [], where) if MARK in text else text, where)
        made: list[tuple[str, ...]] = []
        for key, value in self.head.items():
            if document.find((key,)) is None:
                made += document.set_member((), key, value)
        for entry in entries:
            made += document.append((*self.below, entry.name), self.form(entry))
        return document.text, [list(path) for path in made]

    def remove(self, text: str, made: Made, where: str) -> str:
        """Return the text without our entries."""
        document = JsonText(text, where)
        around = document.find(self.below)
        if around is not None and around.kind == "object":
            for name in [name for name, _, _ in around.members]:
                document.remove((*self.below, name), _is_ours)
        for path in reversed(made):
            node = document.find(path)
            is_head = len(path) == 1 and path[0] in self.head and node is not None
            if is_head and node is not None and node.plain() == self.head[path[0]]:
                rest = document.root.members if document.root is not None else []
                if len(rest) == 1:
                    document.remove_member(path)
            elif node is not None and node.kind != "atom" and not node.parts():
                document.remove_member(path)
        return document.text

    def lines(self, text: str, where: str) -> dict[str, str]:
        """Return our lines that are there."""
        around = JsonText(text, where).find(self.below)
        if around is None or around.kind != "object":
            return {}
        found: dict[str, str] = {}
        for name, _, node in around.members:
            for element in node.elements:
                found.update(dict.fromkeys([name], line) if (line := _line_in(element.plain())) else {})
        return found

    def doubts(self, text: str, where: str) -> list[str]:
        """Return why the agent may not read this file."""
        document = JsonText(text, where)
        found = []
        if self.strict and document.notes:
            at, what = document.notes[0]
            found.append(f"{where}:{document.place(at)}: {what}: this agent reads strict JSON and drops the whole file")
        if self.known:
            found += [f"{where}:{document.place(at)}: {what}: this agent reads strict JSON and drops the whole file"
                      for at, what in self._unread(document)]  # fmt: skip
        else:
            for at, name in document.duplicates():
                drops = self.strict and name in self.below
                means = "this agent reads strict JSON and drops the whole file" if drops else "the last one counts"
                found.append(f"{where}:{document.place(at)}: the key {name} is there twice: {means}")
        for path, value in self.switches.items():
            node = document.find(path.split(".")) if callable(value) else None
            if node is not None and _is_value(node.plain(), value):
                what = f"a value of {path} that the agent does not know"
                found.append(f"{where}:{document.place(node.begin)}: {what} switches hooks off")
        return found + self.switched_off(text, where)

    def switched_off(self, text: str, where: str) -> list[str]:
        """Return which keys of a file switch off hooks, also those of other files."""
        document = JsonText(text, where)
        found = []
        for path, value in self.switches.items():
            node = document.find(path.split(".")) if not callable(value) else None
            if node is not None and _is_value(node.plain(), value):
                found.append(f"{where}:{document.place(node.begin)}: {path} switches hooks off")
        return found

    def _unread(self, document: JsonText) -> Iterator[tuple[int, str]]:
        """Yield what makes the agent drop the whole file, with its offset."""
        if document.text.startswith("\ufeff"):
            yield 0, "a byte order mark"
        for at, name in document.duplicates():
            yield at, f"the key {name} is there twice"
        for name, at, _ in document.root.members if document.root is not None else ():
            if name not in self.known:
                yield at, f"the key {name} is not one of {', '.join(self.known)}"
        around = document.find(self.below)
        for name, at, node in around.members if around is not None else ():
            groups = node.plain() if node.kind == "array" else None
            if groups is None or not all(map(_is_group, groups)):
                yield at, f"{name} is not a list of groups of hooks"

    def lost(self, text: str, entries: Sequence[SettingsEntry], where: str) -> list[str]:
        """Return the names of the events whose entry is not there exactly: a matcher could switch it off too."""
        document = JsonText(text, where)
        wrong = []
        for entry in entries:
            node = document.find((*self.below, entry.name))
            if node is None or self.form(entry) not in [one.plain() for one in node.elements]:
                wrong.append(entry.name)
        return wrong

    def is_same(self, text: str, other: str, where: str) -> bool:
        """Return whether two texts mean the same, and neither has a comment that the other has not."""
        one, two = JsonText(text, where), JsonText(other, where)
        values = [document.root.plain() if document.root is not None else None for document in (one, two)]
        return values[0] == values[1] and len(one.notes) == len(two.notes)

    def groups(self, text: str, where: str) -> dict[str, list[Any]]:
        """Return the hooks of others, by the agent's name of the event."""
        around = JsonText(text, where).find(self.below)
        if around is None or around.kind != "object":
            return {}
        found = {name: [one.plain() for one in node.elements if not _is_ours(one.plain())]
                 for name, _, node in around.members if node.kind == "array"}  # fmt: skip
        return {name: groups for name, groups in found.items() if groups}

    def without_others(self, text: str, where: str) -> str:
        """Return the text without the hooks of others."""
        document = JsonText(text, where)
        around = document.find(self.below)
        names = [name for name, _, _ in around.members] if around is not None else []
        for name in names:
            document.remove((*self.below, name), lambda value: not _is_ours(value))
        return document.text

    def without_switches(self, text: str, before: str, where: str) -> str:
        """Return the text with each key that switches hooks off as it was in an earlier text."""
        document, earlier = JsonText(text, where), JsonText(before, where)
        for path, value in self.switches.items():
            keys = path.split(".")
            now, then = document.find(keys), earlier.find(keys)
            if now is None or not _is_value(now.plain(), value):
                continue
            if then is None:
                document.remove_member(keys)
                around = document.find(keys[:-1])
                if len(keys) > 1 and around is not None and not around.parts() and earlier.find(keys[:-1]) is None:
                    document.remove_member(keys[:-1])
            elif then.plain() != now.plain():
                document.set_member(keys[:-1], keys[-1], then.plain())
        return document.text


def grouped(
    entry: SettingsEntry, *, unit: Unit = "s", more: Mapping[str, Any] | None = None, matcher: str = ""
) -> dict[str, Any]:
    """Return an entry in Claude Code's form: a group with one hook."""
    hook = {"type": "command", "command": entry.command, "timeout": entry.timeout * (1000 if unit == "ms" else 1)}
    group: dict[str, Any] = {"matcher": matcher} if matcher and entry.is_about_tool else {}
    return {**group, "hooks": [{**hook, **(more or {})}]}


def _is_group(value: Any) -> bool:
    """Return whether a value is a group of hooks of kinds that Codex knows."""
    hooks = value.get("hooks", []) if isinstance(value, dict) else None
    return isinstance(hooks, list) and all(
        isinstance(hook, dict) and hook.get("type") in ("command", "mcp_tool", "prompt", "agent") for hook in hooks
    )


def _line_in(value: Any) -> str:
    """Return the line of ours in a hook or in a group of hooks; empty if there is none."""
    if not isinstance(value, dict):
        return ""
    for key in ("command", "bash"):
        if is_line_of_ours(value.get(key)):
            return str(value[key])
    nested = value.get("hooks") or [value.get("action")]
    for below in nested if isinstance(nested, list) else []:
        if line := _line_in(below):
            return line
    return ""


def _is_ours(value: Any) -> bool:
    return bool(_line_in(value))


class OwnJson(_ByLines):
    """A JSON file that is wholly ours."""

    def __init__(self, form: Callable[[Sequence[SettingsEntry]], Any]) -> None:
        self.form = form

    def write(self, text: str, entries: Sequence[SettingsEntry], where: str) -> tuple[str, Made]:
        """Return the text with the entries, and what was made for them."""
        if text and not self.lines(text, where):
            raise BadSettings("is there already, and is not ours", where=where, hint="move it away first")
        return json.dumps(self.form(entries), indent=2, ensure_ascii=False) + "\n", []

    def remove(self, text: str, made: Made, where: str) -> str:
        """Return the text without our entries."""
        return "" if self.lines(text, where) else text

    def lines(self, text: str, where: str) -> dict[str, str]:
        """Return our lines that are there."""
        found: dict[str, str] = {}

        def walk(value: Any, name: str) -> None:
            if isinstance(value, dict):
                if line := _line_in({key: one for key, one in value.items() if key in ("command", "bash", "action")}):
                    found[str(value.get("trigger") or name)] = line
                for key, below in value.items():
                    walk(below, key if isinstance(below, list) and key != "hooks" else name)
            elif isinstance(value, list):
                for below in value:
                    walk(below, name)

        root = JsonText(text, where).root
        walk(root.plain() if root is not None else None, "")
        return found


class TomlHooks:
    """Tables of hooks in TOML."""

    is_own = False

    def __init__(self, form: Callable[[SettingsEntry], list[str]], key: str = "hooks") -> None:
        self.form, self.key = form, key

    def write(self, text: str, entries: Sequence[SettingsEntry], where: str) -> tuple[str, Made]:
        """Return the text with the entries, and what was made for them."""
        lines = [line for entry in entries for line in self.form(entry)]
        return add_block(remove_block(text), lines, where), []

    def remove(self, text: str, made: Made, where: str) -> str:
        """Return the text without our entries."""
        left = remove_block(text)
        if self.lines(left, where):
            raise BadSettings("our hooks are here, but not in the block that was written", where=where,
                              hint="take out the tables whose command ends with `# interpose attach`")  # fmt: skip
        return left

    def lines(self, text: str, where: str) -> dict[str, str]:
        """Return our lines that are there."""
        value = parse_toml(text, where).get(self.key)
        found: dict[str, str] = {}
        if isinstance(value, list):
            for one in value:
                if isinstance(one, dict) and is_line_of_ours(one.get("command")):
                    found[str(one.get("event"))] = str(one["command"])
        elif isinstance(value, dict):
            for name, groups in value.items():
                for group in groups if isinstance(groups, list) else []:
                    if line := _line_in(group):
                        found[name] = line
        return found

    def lost(self, text: str, entries: Sequence[SettingsEntry], where: str) -> list[str]:
        """Return the names of the events whose table is not there exactly."""
        found = parse_toml(text, where).get(self.key)
        wrong = []
        for entry in entries:
            (wanted,) = _tables(parse_toml("\n".join(self.form(entry)), where)[self.key], entry.name)
            if wanted not in _tables(found, entry.name):
                wrong.append(entry.name)
        return wrong

    def doubts(self, text: str, where: str) -> list[str]:
        """Return nothing: what is wrong is an error."""
        return []


def _tables(value: Any, name: str) -> list[Any]:
    """Return the tables of an event."""
    found = value.get(name) if isinstance(value, dict) else value
    return found if isinstance(found, list) else []


def toml_grouped(entry: SettingsEntry) -> list[str]:
    """Return an entry as Codex has it."""
    return [
        f"[[hooks.{entry.name}]]",
        f"[[hooks.{entry.name}.hooks]]",
        'type = "command"',
        f"command = {toml_text(entry.command)}",
        f"timeout = {entry.timeout}",
    ]


def toml_flat(entry: SettingsEntry) -> list[str]:
    """Return an entry as Kimi has it."""
    return ["[[hooks]]", f"event = {toml_text(entry.name)}", f"command = {toml_text(entry.command)}",
            f"timeout = {entry.timeout}"]  # fmt: skip


class YamlHooks:
    """Lists of hooks by event below ``hooks:`` in YAML."""

    is_own = False

    def write(self, text: str, entries: Sequence[SettingsEntry], where: str) -> tuple[str, Made]:
        """Return the text with the entries, and what was made for them."""
        text = self.remove(text, [], where)
        made: Made = []
        for entry in entries:
            item = {"command": entry.command, "timeout": entry.timeout}
            text, paths = add_item(text, ("hooks", entry.name), item, where)
            made += [list(path) for path in paths]
        parse_yaml(text, where)
        return text, made

    def remove(self, text: str, made: Made, where: str) -> str:
        """Return the text without our entries."""
        return remove_items(text, "hooks", _is_yaml_hook_of_ours, [tuple(path) for path in made], where)

    def lines(self, text: str, where: str) -> dict[str, str]:
        """Return our lines that are there."""
        document = parse_yaml(text, where)
        hooks = document.get("hooks") if isinstance(document, dict) else None
        return {str(name): str(one["command"]) for name, listed in (hooks or {}).items() if isinstance(listed, list)
                for one in listed if _is_yaml_hook_of_ours(one)}  # fmt: skip

    def lost(self, text: str, entries: Sequence[SettingsEntry], where: str) -> list[str]:
        """Return the names of the events whose item is not there exactly."""
        document = parse_yaml(text, where)
        hooks = document.get("hooks") if isinstance(document, dict) else None
        found = hooks if isinstance(hooks, dict) else {}
        wanted = [(entry.name, {"command": entry.command, "timeout": entry.timeout}) for entry in entries]
        return [name for name, item in wanted if item not in (found.get(name) or [])]

    def doubts(self, text: str, where: str) -> list[str]:
        """Return nothing: what is wrong is an error."""
        return []


def _is_yaml_hook_of_ours(value: Any) -> bool:
    return isinstance(value, dict) and is_line_of_ours(value.get("command"))


class ExecutableFile(_ByLines):
    """An executable for one event."""

    def write(self, text: str, entries: Sequence[SettingsEntry], where: str) -> tuple[str, Made]:
        """Return the text with the entries, and what was made for them."""
        if text and not is_line_of_ours(text):
            raise BadSettings("is there already, and is not ours", where=where, hint="move it away first")
        return f"#!/bin/sh\n{entries[0].command}\n", []

    def remove(self, text: str, made: Made, where: str) -> str:
        """Return the text without our entries."""
        return "" if is_line_of_ours(text) else text

    def lines(self, text: str, where: str) -> dict[str, str]:
        """Return our lines that are there."""
        name = where.rpartition("/")[2].partition(".")[0]
        return {name: text.partition("\n")[2].rstrip("\n")} if is_line_of_ours(text) else {}


class Plugin(_ByLines):
    """A program in the agent's own language, which starts the line of each event."""

    def __init__(self, source: Callable[[Sequence[SettingsEntry]], str]) -> None:
        self.source = source

    def write(self, text: str, entries: Sequence[SettingsEntry], where: str) -> tuple[str, Made]:
        """Return the text with the entries, and what was made for them."""
        if text and not is_line_of_ours(text):
            raise BadSettings("is there already, and is not ours", where=where, hint="move it away first")
        return self.source(entries), []

    def remove(self, text: str, made: Made, where: str) -> str:
        """Return the text without our entries."""
        return "" if is_line_of_ours(text) else text

    def lines(self, text: str, where: str) -> dict[str, str]:
        """Return our lines that are there."""
        if not is_line_of_ours(text):
            return {}
        begin = text.find("const LINES = ") + len("const LINES = ")
        try:
            found, _ = json.JSONDecoder().raw_decode(text, begin)
        except ValueError:
            return {}
        return {str(name): str(line) for name, line in found.items()} if isinstance(found, dict) else {}
