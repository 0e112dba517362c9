"""A Claude Code settings file, or the hooks file of a plugin, to hooks that behave as they do in that client.

The client passes over an entry that it cannot read and keeps the rest; so does this, and every entry that was passed
over, and every wish that has no effect, is a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import BadHook, ConfigError, InterposeError, Problem, as_written, nearest
from ..events import Row, Table
from ..handlers.command import command_of
from ..matching import compile_condition
from ..model import Hook
from ..records import replace
from ..replies import clean
from .declare import declare
from .mapping import Configuration

__all__ = ["read_settings", "without_copies"]

LONGEST_LABEL = 60

# What shows which handler it is, by type; all but the first cannot be run here.
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
    """Read parsed settings; ``plugin_root`` is the directory of the plugin whose hooks file this is."""
    if not isinstance(given, Mapping):
        raise ConfigError([Problem(f"{as_written(given)} where a mapping with hooks: is expected")])
    hooks = given.get("hooks")
    if hooks is not None and not isinstance(hooks, Mapping):
        raise ConfigError([Problem(f"{as_written(hooks)} where events are expected", where="hooks",
                                   hint="an event's name, and a list of groups")])  # fmt: skip
    reader = _SettingsReader(table, layer, source, directory, project_dir, plugin_root)
    if given.get("disableAllHooks") is True:
        reader.warn("disableAllHooks", "all hooks of this file are switched off", "remove it to arm them")
        return reader.found
    if "modules" in given:
        reader.warn("modules", "modules are not hooks that can be run here")
    for event, groups in (hooks or {}).items():
        reader.event(event, groups)
    reader.found.hooks = without_copies(reader.found.hooks)
    return reader.found


def without_copies(hooks: Iterable[Hook]) -> list[Hook]:
    """Return hooks without those of a settings file that say again what an earlier one says.

    The same event, matcher, conditions and handler make a copy. Hooks that were not written for Claude Code all stay;
    so do those of different plugins, whose directories tell them apart.
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
    # Two that treat a failure differently, or of which only one is waited for, are not the same.
    return (hook.event, hook.matcher, hook.condition, hook.type, hook.background, hook.on_error, hook.scope, run)


class _SettingsReader:
    """Reads one file from the top down; collects hooks and warnings."""

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
            self.warn(path, f"{as_written(groups)} where a list of groups is expected; passed over")
            return
        for index, group in enumerate(groups):
            self.group(row, group, f"{path}[{index}]")

    def group(self, row: Row, group: Any, path: str) -> None:
        handlers = group.get("hooks") if isinstance(group, Mapping) else None
        if not isinstance(handlers, list):
            self.warn(path, "no group with a list of hooks; passed over", "{matcher, hooks: [...]}")
            return
        matcher = group.get("matcher")
        if matcher is not None and not isinstance(matcher, str):
            self.warn(f"{path}.matcher", f"{as_written(matcher)} where text is expected; the group is passed over")
            return
        if matcher and matcher != "*" and row.subject is None:
            self.warn(f"{path}.matcher", f"{row.name} has nothing to compare it with; it is not looked at")
            matcher = None
        for index, handler in enumerate(handlers):
            place = f"{path}.hooks[{index}]"
            try:
                self.handler(row, handler, matcher or None, place)
            except InterposeError as error:
                self.warn(place, f"{error.problem.what}; passed over", error.problem.hint)

    def handler(self, row: Row, given: Any, matcher: str | None, path: str) -> None:
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

    def options(self, row: Row, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Read what every type of hook has."""
        if given.get("once"):
            self.warn(f"{path}.once", "once is not looked at in a settings file")
        condition = given.get("if")
        try:
            compile_condition(condition if isinstance(condition, str) else None)
        except BadHook as error:
            # A guard that cannot tell whether it is meant looks.
            self.warn(f"{path}.if", f"{error.problem.what}; the hook runs without it", error.problem.hint)
            condition = None
        # What cannot be understood here is a block: that is what the client takes it for.
        on_failure = given.get("onFailure")
        return {
            "if_": condition,
            "timeout": given.get("timeout") or row.claude.timeout,
            "async_": any(_flag(given, key) for key in ("async", "asyncRewake")),
            "description": _text(given, "statusMessage") if given.get("statusMessage") is not None else "",
            "on_failure_blocks": on_failure is not None and on_failure != "continue",
        }

    def command(self, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Read what is run. A line for the shell is left as it is: the shell knows the variables."""
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
        """Put directories in the place of their names, as plain text that is never parsed again."""

        def place(found: re.Match[str]) -> str:
            if not self.places[found[1]]:
                self.warn(path, f"{found[0]} stands for nothing here: this is no plugin")
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
