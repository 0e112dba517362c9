"""Read a settings file of Claude Code, or the hooks file of a plugin, to hooks that behave as in that client.

The client skips an entry that it cannot read and keeps the rest. So does this module; every entry that is skipped, and
every option without effect, is a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import BadHook, ConfigError, InterposeError, Problem, nearest
from ..events import EventSpec, Table
from ..handlers.command import command_of
from ..matching import compile_condition
from ..model import Hook
from ..records import replace
from ..replies import clean
from .declare import as_written, declare
from .mapping import Configuration

__all__ = ["read_settings", "without_copies"]

LONGEST_LABEL = 60

# The keys that make the label of a handler, by type; only commands can run here.
_SHOWN = {
    "command": ("command",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
    "prompt": ("prompt",),
    "agent": ("prompt",),
}
_PLACEHOLDER = re.compile(r"\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT)\}")


def read_settings(
    table: Table,
    given: Any,
    *,
    layer: str = "code",
    source: str = "",
    directory: str = "",
    project_dir: str = "",
    plugin_root: str = "",
) -> Configuration:
    """Read parsed settings; ``plugin_root`` is the directory of the plugin, for the hooks file of one."""
    if not isinstance(given, Mapping):
        raise ConfigError([Problem(f"{as_written(given)} where a mapping with hooks: is expected")])
    hooks = given.get("hooks")
    if hooks is not None and not isinstance(hooks, Mapping):
        raise ConfigError([Problem(f"{as_written(hooks)} where events are expected", where="hooks",
                                   hint="an event's name, and a list of groups")])  # fmt: skip
    reader = _SettingsReader(table, layer, source, directory, project_dir, plugin_root)
    if given.get("disableAllHooks") is True:
        reader.warn("disableAllHooks", "all hooks of this file are switched off", "remove it to switch them on")
        return reader.found
    if "modules" in given:
        reader.warn("modules", "modules are not hooks that can be run here")
    for event, groups in (hooks or {}).items():
        reader.event(event, groups)
    reader.found.hooks = without_copies(reader.found.hooks)
    return reader.found


def without_copies(hooks: Iterable[Hook]) -> list[Hook]:
    """Return hooks without the duplicates in settings files.

    A hook with the same event, matcher, condition and handler as an earlier one is a duplicate. Hooks that are not of
    the Claude dialect all stay. Hooks of different plugins differ by their directories.
    """
    seen: set[tuple[object, ...]] = set()
    kept = []
    for hook in hooks:
        identity = _identity(hook)
        if identity is None or identity not in seen:
            kept.append(hook)
        if identity is not None:
            seen.add(identity)
    return kept


def _identity(hook: Hook) -> tuple[object, ...] | None:
    if hook.dialect != "claude" or not isinstance(hook.handler, str):
        return None
    command = command_of(hook)
    run: tuple[object, ...] = (hook.handler,)
    if command is not None:
        run = (command.path, *command.argv, command.cwd, *sorted(command.env.items()))
    # Hooks that differ in on_error or background are not duplicates.
    return (hook.event, hook.matcher, hook.condition, hook.type, hook.background, hook.on_error, hook.scope, run)


class _SettingsReader:
    """Reads one settings file; collects hooks and warnings."""

    def __init__(
        self, table: Table, layer: str, source: str, directory: str, project_dir: str, plugin_root: str
    ) -> None:
        self.table = table
        self.layer = layer
        self.source = source
        self.directory = directory
        self.project_dir = project_dir
        self.places = {
            "CLAUDE_PROJECT_DIR": project_dir or os.path.abspath(directory or os.getcwd()),
            "CLAUDE_PLUGIN_ROOT": plugin_root,
        }
        self.found = Configuration()

    def warn(self, path: str, what: str, hint: str = "") -> None:
        self.found.warnings.append(Problem(what, where=path, hint=hint))

    def event(self, event: Any, groups: Any) -> None:
        path = f"hooks.{event}"
        row = self.table.get(event) if isinstance(event, str) else None
        if row is None:
            self.warn(path, f"{event} is not an event; its hooks never run", nearest(str(event), self.table))
            return
        if not isinstance(groups, list):
            self.warn(path, f"{as_written(groups)} where a list of groups is expected; skipped")
            return
        for index, group in enumerate(groups):
            self.group(row, group, f"{path}[{index}]")

    def group(self, row: EventSpec, group: Any, path: str) -> None:
        handlers = group.get("hooks") if isinstance(group, Mapping) else None
        if not isinstance(handlers, list):
            self.warn(path, "no group with a list of hooks; skipped", "{matcher, hooks: [...]}")
            return
        matcher = group.get("matcher")
        if matcher is not None and not isinstance(matcher, str):
            self.warn(f"{path}.matcher", f"{as_written(matcher)} where text is expected; the group is skipped")
            return
        if matcher and matcher != "*" and row.subject is None:
            self.warn(f"{path}.matcher", f"{row.name} has nothing to compare it with; it is ignored")
            matcher = None
        for index, handler in enumerate(handlers):
            place = f"{path}.hooks[{index}]"
            try:
                self.handler(row, handler, matcher or None, place)
            except InterposeError as error:
                self.warn(place, f"{error.problem.what}; skipped", error.problem.hint)

    def handler(self, row: EventSpec, given: Any, matcher: str | None, path: str) -> None:
        if not isinstance(given, Mapping):
            raise BadHook(f"{as_written(given)} where a hook is expected")
        kind = given.get("type")
        if not isinstance(kind, str) or kind not in _SHOWN:
            raise BadHook(f"type: {kind!r} is not a type of hook", hint=f"there is {', '.join(_SHOWN)}")
        if given.get("if") is not None and not row.claude.tool_event:
            raise BadHook(f"if: {row.name} is not about a tool, so the hook never runs", hint="leave out if")
        shown = " ".join(" ".join(_text(given, key) for key in _SHOWN[kind]).split())
        options = self.options(row, given, path)
        if kind == "command":
            options |= self.command(given, path)
        else:
            options["type"] = kind
        if options["type"] != "command":
            options["handler"] = shown
            self.warn(path, f"hooks of type {options['type']} cannot be run here; at every firing it fails")
        made = declare(
            self.table, row.name, options.pop("handler", None), matcher=matcher, dialect="claude", layer=self.layer,
            source=self.source, directory=self.directory, project_dir=self.project_dir, **options,
        )  # fmt: skip
        self.found.hooks.append(replace(made, label=clean(shown)[:LONGEST_LABEL]))

    def options(self, row: EventSpec, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Read the options that every type of hook has."""
        if given.get("once"):
            self.warn(f"{path}.once", "once is ignored in a settings file")
        condition = given.get("if")
        try:
            compile_condition(condition if isinstance(condition, str) else None)
        except BadHook as error:
            # If its condition is unknown, a guard runs.
            self.warn(f"{path}.if", f"{error.problem.what}; the hook runs without it", error.problem.hint)
            condition = None
        # The client takes an unknown value for "block".
        on_failure = given.get("onFailure")
        return {
            "if_": condition,
            "timeout": given.get("timeout") or row.claude.timeout,
            "async_": any(_flag(given, key) for key in ("async", "asyncRewake")),
            "description": _text(given, "statusMessage") if given.get("statusMessage") is not None else "",
            "on_failure_blocks": on_failure is not None and on_failure != "continue",
        }

    def command(self, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Read the command. A line for the shell is left as it is: the shell expands the variables."""
        line, args, shell = _text(given, "command"), given.get("args"), given.get("shell")
        if args is None and shell not in (None, "bash"):
            if shell != "powershell":
                raise BadHook(f"shell: {shell!r} is not a shell", hint="bash or powershell")
            return {"type": "powershell"}
        if isinstance(args, list) and all(isinstance(arg, str) for arg in args):
            line, *args = [self.filled_in(word, path) for word in (line, *args)]
        root = self.places["CLAUDE_PLUGIN_ROOT"]
        return {
            "type": "command",
            "command": line,
            "args": args,
            "shell": shell if args is None else None,
            "env": {"CLAUDE_PLUGIN_ROOT": root} if root else None,
        }

    def filled_in(self, word: str, path: str) -> str:
        """Replace the placeholders of directories, as text that is not parsed again."""

        def place(found: re.Match[str]) -> str:
            if not self.places[found[1]]:
                self.warn(path, f"{found[0]} is not set: this is not a plugin")
            return self.places[found[1]] or found[0]

        return _PLACEHOLDER.sub(place, word)


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        raise BadHook(f"{key}: {as_written(value)} where text is expected")
    return value


def _flag(given: Mapping[str, Any], key: str) -> bool:
    value = given.get(key)
    if value is not None and not isinstance(value, bool):
        raise BadHook(f"{key}: {as_written(value)} where true or false is expected")
    return value is True
