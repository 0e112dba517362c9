"""Read a settings file of Claude Code, or the hooks file of a plugin, to hooks that behave as in that client.

The client skips an entry that it cannot read and keeps the rest. So does this module; every entry that is skipped, and
every option without effect, is a warning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from ..errors import BadHook, ConfigError, InterposeError, Problem, nearest
from ..events import EventSpec, Table
from ..handlers.declared_command import command_of
from ..handlers.projects import OF_NO_PROJECT
from ..matching import compile_claude_matcher, compile_condition
from ..matching.written import as_written
from ..model import Hook
from ..records import replace
from ..replies import clean
from .commands import PLACEHOLDER, PLUGIN_VARIABLE, Trusted
from .declare import declare
from .kinds import JUDGES, KINDS
from .mapping import Configuration

__all__ = ["read_settings", "with_unique_names", "without_copies"]

LONGEST_LABEL = 60

# The keys of each type of handler; the first ones make the label of a hook without a script.
_KEYS = {
    "command": ("command", "args", "shell", "async", "asyncRewake", "onFailure"),
    "http": ("url", "headers", "allowedEnvVars", "onFailure"),
    "mcp_tool": ("server", "tool", "input"),
    "prompt": ("prompt", "model", "continueOnBlock"),
    "agent": ("prompt", "model"),
}
_SHOWN = {"command": 1, "http": 1, "mcp_tool": 2, "prompt": 1, "agent": 1}
_COMMON_KEYS = ("type", "if", "timeout", "statusMessage", "once")
_GROUP_KEYS = ("matcher", "hooks")
_READ = ("hooks", "permissions", "disableAllHooks", "allowedHttpHookUrls", "httpHookAllowedEnvVars")
"""The keys of a settings file that are read here; the client has many more."""


def read_settings(
    table: Table,
    given: Any,
    *,
    layer: str = "code",
    source: str = "",
    directory: str = "",
    folder: str = "",
    project_dir: str = "",
    plugin_root: str = "",
    locate: Callable[[str], str] | None = None,
    read: Callable[[str], bytes] | None = None,
    trusted: Trusted | None = None,
) -> Configuration:
    """Read parsed settings.

    ``directory`` is where commands look for files, ``folder`` where the file is, ``project_dir`` the project that it
    belongs to, and ``plugin_root`` the directory of the plugin, for the hooks file of one. ``locate`` turns the path of
    a hook into its file and line; ``read`` returns the content of a file that it needs; ``trusted`` says what is run
    from a snapshot.
    """
    if not isinstance(given, Mapping):
        raise ConfigError([Problem(f"{as_written(given)} where a mapping with hooks: is expected")])
    hooks = given.get("hooks")
    if hooks is not None and not isinstance(hooks, Mapping):
        raise ConfigError([Problem(f"{as_written(hooks)} where events are expected", where="hooks",
                                   hint="an event's name, and a list of groups")])  # fmt: skip
    reader = _SettingsReader(table, layer, locate or (lambda path: source), directory, project_dir, plugin_root)
    reader.hooks_dir, reader.trusted, reader.read = folder, trusted, read
    reader.top(given)
    if (rules := given.get("permissions")) is not None:
        from .claude_permissions import read_permissions

        anchor = project_dir or folder or directory
        answers, paths = read_permissions(rules, anchor=anchor, project=project_dir, warn=reader.warn)
        # In the client a rule that allows does not answer the question of a hook.
        reader.found.harmless = [rule for rule, answer in answers.items() if answer == "allow"]
        reader.found.permissions = {rule: answer for rule, answer in answers.items() if answer != "allow"}
        reader.found.places = {rule: reader.locate(path) for rule, path in paths.items()}
    if given.get("disableAllHooks") is True:
        reader.warn("disableAllHooks", "all hooks of this file are switched off", "remove it to switch them on")
        return reader.found
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


def with_unique_names(hooks: Sequence[Hook]) -> list[Hook]:
    """Return hooks of which those of settings files have names of their own: guard.sh, guard.sh-2.

    Their names are made here and not written by a person, so none of them replaces another hook.
    """
    taken = {_place(hook, hook.name) for hook in hooks if hook.name and hook.dialect != "claude"}
    made = []
    for hook in hooks:
        if hook.name and hook.dialect == "claude":
            names = (hook.name if number == 1 else f"{hook.name}-{number}" for number in count(1))
            name = next(name for name in names if _place(hook, name) not in taken)
            taken.add(_place(hook, name))
            made.append(replace(hook, name=name, label=name))
        else:
            made.append(hook)
    return made


def _place(hook: Hook, name: str) -> tuple[str, str, str | None, str]:
    return hook.event, hook.layer, hook.scope, name


def _identity(hook: Hook) -> tuple[object, ...] | None:
    if hook.dialect != "claude" or not isinstance(hook.handler, str):
        return None
    command = command_of(hook)
    run: tuple[object, ...] = (hook.handler,)
    if command is not None:
        run = (command.path, *command.argv, command.cwd, *sorted(command.env.items()))
    else:
        run = getattr(hook.binding.target, "identity", run)
    # Hooks that differ in on_error or background are not duplicates.
    return (hook.event, hook.matcher, hook.condition, hook.type, hook.background, hook.on_error, hook.scope, run)


class _SettingsReader:
    """Reads one settings file; collects hooks and warnings."""

    def __init__(
        self,
        table: Table,
        layer: str,
        locate: Callable[[str], str],
        directory: str,
        project_dir: str,
        plugin_root: str,
    ) -> None:
        self.table = table
        self.layer = layer
        self.locate = locate
        self.directory = directory
        self.project_dir = project_dir
        self.plugin_root = plugin_root
        self.hooks_dir = ""
        self.trusted: Trusted | None = None
        self.read: Callable[[str], bytes] | None = None
        self.found = Configuration()
        self._servers: Mapping[str, Any] | None = None
        self._urls: Any = None
        self._variables: Any = None

    def warn(self, path: str, what: str, hint: str = "") -> None:
        self.found.warnings.append(Problem(what, where=path, hint=hint))

    def top(self, given: Mapping[str, Any]) -> None:
        """Warn of keys beside ``hooks`` that were probably meant to be read; others belong to the client."""
        self._urls, self._variables = given.get("allowedHttpHookUrls"), given.get("httpHookAllowedEnvVars")
        if "modules" in given:
            self.warn("modules", "modules are not hooks that can be run here")
        for key in given:
            if not isinstance(key, str) or key in _READ:
                continue
            if key in self.table:
                self.warn(key, f"{key} is not read: an event belongs below hooks", "move it below hooks")
            elif meant := _near(key, _READ):
                self.warn(key, f"{key} is not read", f"did you mean {meant}?")

    def unknown_keys(self, given: Mapping[str, Any], known: tuple[str, ...], path: str, what: str) -> None:
        for key in given:
            if key not in known and not str(key).startswith("x-"):
                self.warn(f"{path}.{key}", f"{key} is not a key of {what}, and has no effect", nearest(str(key), known))

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
            hint = "{matcher, hooks: [...]}"
            if isinstance(group, Mapping):
                meant = next((key for key in group if key != "matcher" and _near(str(key), ("hooks",))), None)
                hint = f"did you mean hooks in place of {meant}?" if meant else hint
            self.warn(path, "no group with a list of hooks; skipped", hint)
            return
        self.unknown_keys(group, _GROUP_KEYS, path, "a group")
        if not handlers:
            self.warn(f"{path}.hooks", "a group without hooks", "add a hook, or remove the group")
        matcher = group.get("matcher")
        if matcher is not None and not isinstance(matcher, str):
            self.warn(f"{path}.matcher", f"{as_written(matcher)} where text is expected; the group is skipped")
            return
        if matcher and matcher != "*" and row.subject is None:
            self.warn(f"{path}.matcher", f"{row.name} has nothing to compare it with; it is ignored")
            matcher = None
        try:
            compile_claude_matcher(matcher)
        except BadHook as error:
            # The client may know what it means: a guard runs at every subject rather than at none.
            self.warn(f"{path}.matcher", f"{error.problem.what}; its hooks always run", error.problem.hint)
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
        if not isinstance(kind, str) or kind not in _KEYS:
            hint = nearest(str(kind), _KEYS) if isinstance(kind, str) else ""
            raise BadHook(f"type: {as_written(kind)} is not a type of hook",
                          hint=hint or f"there is {', '.join(_KEYS)}")  # fmt: skip
        known = (*_KEYS[kind], *_COMMON_KEYS)
        self.unknown_keys(given, known, path, f"a hook of type {kind}")
        if given.get("if") is not None and not row.claude.tool_event:
            raise BadHook(f"if: {row.name} is not about a tool, so the hook never runs", hint="leave out if")
        shown = " ".join(" ".join(_text(given, key) for key in _KEYS[kind][: _SHOWN[kind]]).split())
        options = self.options(row, kind, given, path)
        if kind == "command":
            options |= self.command(given, path)
            options["name"] = _name_of(options)
        elif kind in JUDGES:
            options |= self.judge(row, kind, given)
        elif kind == "http":
            options |= self.http(row, given)
            shown = ""
        elif kind == "mcp_tool":
            options |= self.mcp_tool(row, given)
        else:
            options["type"] = kind
        if options["type"] not in ("command", *KINDS):
            options["handler"] = shown
            self.warn(path, f"hooks of type {options['type']} cannot be run here; at every firing it fails")
        made = declare(
            self.table, row.name, options.pop("handler", None), matcher=matcher, dialect="claude", layer=self.layer,
            source=self.locate(path), directory=self.directory, project_dir=self.project_dir, hooks_dir=self.hooks_dir,
            trusted=self.trusted, **options,
        )  # fmt: skip
        if kind == "mcp_tool" and row.claude.mcp_tool_at != "*":
            made = replace(made, matches=_only_at(made.matches, row.claude.mcp_tool_at.split()))
        if problem := getattr(made.binding.target, "problem", ""):
            self.warn(path, f"server: MCP server {given['server']} cannot be used: {problem}; at every firing it fails")
        self.found.hooks.append(replace(made, label=made.name or clean(shown or str(made.handler))[:LONGEST_LABEL]))

    def http(self, row: EventSpec, given: Mapping[str, Any]) -> dict[str, Any]:
        """Read the request; what the file's own limits do not allow is not sent."""
        url, allowed = _text(given, "url"), given.get("allowedEnvVars")
        if not row.claude.http:
            raise BadHook(f"type: hooks of type http do not run at {row.name}", hint="use a command")
        if isinstance(self._urls, list) and not any(isinstance(one, str) and _covers(one, url) for one in self._urls):
            raise BadHook("url: allowedHttpHookUrls does not allow it", hint="add it there")
        if isinstance(self._variables, list) and isinstance(allowed, list):
            allowed = [name for name in allowed if name in self._variables]
        return {"type": "http", "url": url, "headers": given.get("headers"), "allowed_env_vars": allowed}

    def mcp_tool(self, row: EventSpec, given: Mapping[str, Any]) -> dict[str, Any]:
        """Read the tool, and the servers of the project if this is the first one."""
        if not row.claude.mcp_tool_at:
            raise BadHook(f"type: hooks of type mcp_tool do not run at {row.name}", hint="use a command")
        from .claude_servers import servers_named
        from .mcp_hooks import FILE, read_servers_file

        is_users, project = self.layer in OF_NO_PROJECT, self.project_dir or self.directory
        if self._servers is None:
            file = os.path.join(project, FILE)
            self._servers = read_servers_file(file, self.read, self.warn) if not is_users else {}
        server = _text(given, "server")
        servers = servers_named(server, "" if is_users else project, self.read, self._servers)
        return {"type": "mcp_tool", "server": server, "tool": _text(given, "tool"), "input": given.get("input"),
                "servers": servers}  # fmt: skip

    def options(self, row: EventSpec, kind: str, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Read the options that every type of hook has, and those that some have."""
        given = {key: value for key, value in given.items() if key in (*_KEYS[kind], *_COMMON_KEYS)}
        if given.get("once"):
            self.warn(f"{path}.once", "once is ignored in a settings file")
        condition = given.get("if")
        try:
            # The client reads no list.
            compile_condition([condition] if isinstance(condition, list) else condition, family=False)
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

    def judge(self, row: EventSpec, kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Read what a model is asked; the table says at which events the client asks one."""
        facts = row.claude.not_ok
        if facts is None or (kind == "agent" and not facts.agents):
            raise BadHook(f"type: the client runs no hook of type {kind} at {row.name}", hint="use a command")
        from .judges import TIMEOUTS

        continues = _flag(given, "continueOnBlock") if kind == "prompt" else None
        return {
            "type": kind,
            "prompt": _text(given, "prompt"),
            "model": given.get("model"),
            "continue_on_block": continues,
            "on_failure_blocks": False,
            "timeout": given.get("timeout") or min(TIMEOUTS[kind], row.claude.timeout),
        }

    def command(self, given: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Read the command. A line for the shell is left as it is: the shell expands the variables."""
        line, args, shell = _text(given, "command"), given.get("args"), given.get("shell")
        if args is None and shell not in (None, "bash"):
            if shell != "powershell":
                raise BadHook(f"shell: {shell!r} is not a shell", hint="bash or powershell")
            return {"type": "powershell"}
        root = self.plugin_root
        if isinstance(args, list) and not root:
            for found in PLACEHOLDER.findall(" ".join(map(str, (line, *args)))):
                if found == PLUGIN_VARIABLE:
                    self.warn(path, f"${{{found}}} is not set: this is not a plugin")
        return {
            "type": "command",
            "command": line,
            "args": args,
            "shell": shell if args is None else None,
            "env": {PLUGIN_VARIABLE: root} if root else None,
        }


def _only_at(matches: Callable[[str], bool] | None, subjects: Sequence[str]) -> Callable[[str], bool]:
    """Return a matcher that matches at these subjects only."""
    return lambda subject: subject in subjects and (matches is None or matches(subject))


def _covers(pattern: str, url: str) -> bool:
    """Say whether a pattern, in which ``*`` stands for any text, is this URL."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), url) is not None


def _name_of(options: Mapping[str, Any]) -> str | None:
    """Return the name of the file of a command's script; None if it runs none."""
    from .script_names import script_name

    line, args = options.get("command"), options.get("args")
    words = line if args is None else [line, *args] if isinstance(args, list) else None
    if not isinstance(words, str) and not (words and all(isinstance(word, str) for word in words)):
        return None
    return clean(script_name(words))[:LONGEST_LABEL] or None


def _near(key: str, known: tuple[str, ...]) -> str:
    """Return the name that a key is a misspelling of; the bar is high, since the client has keys of its own."""
    from difflib import get_close_matches

    folded = {name.lower(): name for name in known}
    return next((folded[name] for name in get_close_matches(key.lower(), folded, n=1, cutoff=0.85)), "")


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str) or not value.strip():
        meant = next((other for other in given if other != key and _near(str(other), (key,))), None)
        raise BadHook(f"{key}: {as_written(value)} where text is expected",
                      hint=f"did you mean {key} in place of {meant}?" if meant else "")  # fmt: skip
    return value


def _flag(given: Mapping[str, Any], key: str) -> bool:
    value = given.get(key)
    if value is not None and not isinstance(value, bool):
        raise BadHook(f"{key}: {as_written(value)} where true or false is expected")
    return value is True
