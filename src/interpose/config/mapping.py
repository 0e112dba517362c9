"""Read a parsed configuration to hooks, scopes and settings.

All problems are found in one pass, each with its path (``hooks.PreToolUse[0].timeout``), which the caller turns into a
line. If anything is wrong, no hook is registered.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from ..errors import BadHook, ConfigError, InterposeError, Problem, nearest
from ..events import Table
from ..handlers.projects import own_project
from ..matching import compile_rule
from ..matching.written import as_written
from ..model import Hook, Settings
from ..registry import Scope
from .audit import read_audit
from .commands import Trusted
from .declare import ERROR_BEHAVIORS, declare, doubt_about, duration, seconds
from .kinds import KINDS
from .questions import read_questions
from .script_hooks import PRIORITY, ScriptReader

if TYPE_CHECKING:
    from ..matching.declared_tools import DeclaredTool
    from ..models.configured import ConfiguredModel
    from .fleet import FleetSettings
    from .options import SettingOptions

__all__ = [
    "GROUP_KEYS",
    "HOOK_KEYS",
    "SETTINGS",
    "SNAKE",
    "SPELLED",
    "TOP_LEVEL",
    "Configuration",
    "read_mapping",
    "read_scope",
    "settings_from",
]  # fmt: skip

HOOK_KEYS = {
    "name", "matcher", "if", "type", "handler", "priority", "timeout", "onError", "enabled", "enforce", "locked",
    "parallel", "async", "once", "inline", "description", "command", "args", "shell", "env", "passEnv", "inheritEnv",
    "cwd", "isolation", "isolate", "background", "warm", "url", "headers", "allowedEnvVars", "server", "tool", "input",
    "prompt", "model", "continueOnBlock", "cache", "subject",
}  # fmt: skip
SPELLED = {
    "onError": "on_error", "if": "if_", "async": "async_", "passEnv": "pass_env", "inheritEnv": "inherit_env",
    "allowedEnvVars": "allowed_env_vars", "continueOnBlock": "continue_on_block",
}  # fmt: skip
SNAKE = {
    "on_error": "onError", "pass_env": "passEnv", "inherit_env": "inheritEnv", "allowed_env_vars": "allowedEnvVars",
    "continue_on_block": "continueOnBlock",
    "max_hooks_per_point": "maxHooksPerPoint", "error_behavior": "errorBehavior",
    "default_timeout": "defaultTimeout", "total_timeout": "totalTimeout",
}  # fmt: skip
TOP_LEVEL = ("hooks", "policies", "tools", "mcpServers", "models", "agents", "scripts", "permissions", "audit",
             "questions", "resident", "fleet", "dialect")  # fmt: skip
_NOT_OF_A_FLEET = ("project", "local", "fleet")
"""Layers that cannot say which fleet a machine belongs to: others than its person write them."""
_OF_OTHERS = ("model",)
"""Keys that other programs have beside ours: they look like ours, and are meant."""
_WHAT_IS_RUN = ("handler", "command", "url", "server", "tool", "prompt", "subject")
GROUP_KEYS = {"matcher", "timeout", "hooks", "commands"}
SETTINGS = {"errorBehavior", "timeout", "defaultTimeout", "totalTimeout", "maxHooksPerPoint", "enforce"}


class Configuration:
    """The content of a configuration: hooks, scopes, settings and warnings."""

    __slots__ = ("audit", "fleet", "harmless", "hooks", "models", "permissions", "places", "questions", "resident",
                 "scopes", "scripts", "settings", "tools", "warnings")  # fmt: skip

    def __init__(self) -> None:
        self.hooks: list[Hook] = []
        self.scopes: dict[str, Scope] = {}
        self.settings: dict[str, Any] = {}
        self.warnings: list[Problem] = []
        self.permissions: dict[str, str] = {}
        self.harmless: list[str] = []
        """Rules for calls that are not asked about, unless a hook or another rule asks."""
        self.places: dict[str, str] = {}
        """Where each rule is written."""
        self.scripts: list[str] = []
        """The files of script lines that it names."""
        self.tools: list[DeclaredTool] = []
        """The tools that the host calls by names of its own."""
        self.models: list[ConfiguredModel] = []
        """The models that hooks may ask."""
        self.audit: dict[str, Any] | None = None
        """Where firings are recorded, and how."""
        self.questions: dict[str, Any] | None = None
        """How long questions wait in the record, and where that is written."""
        self.fleet: FleetSettings | None = None
        """The fleet that this machine is a node of."""
        self.resident = False
        """Whether ``interpose fire`` starts the resident engine for the events that follow."""


class _ConfigurationReader:
    def __init__(
        self,
        table: Table,
        layer: str,
        source: str,
        directory: str,
        locate: Callable[[str], str] | None = None,
        scripts: ScriptReader | None = None,
        trusted: Trusted | None = None,
    ) -> None:
        self.table = table
        self.layer = layer
        self.locate = locate or (lambda path: source)
        self.directory = directory
        self.trusted = trusted
        self.project = own_project(directory, layer)
        self.script_reader = scripts or ScriptReader(table)
        self.problems: list[Problem] = []
        self.servers: dict[str, Any] = {}
        self.found = Configuration()

    def wrong(self, path: str, what: str, hint: str = "") -> None:
        self.problems.append(Problem(what, where=path, hint=hint))

    def warn(self, path: str, what: str, hint: str = "") -> None:
        self.found.warnings.append(Problem(what, where=path, hint=hint))

    def attempt(self, path: str, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except InterposeError as error:
            self.wrong(path, error.problem.what, error.problem.hint)
            return None

    # From the top down.

    def whole(self, given: Any) -> None:
        if not isinstance(given, Mapping):
            self.wrong("", f"{as_written(given)} where a mapping with hooks: is expected")
            return
        self.mcp_servers(given.get("mcpServers"))
        self.hooks_section(given.get("hooks"), "hooks", scope=None)
        self.policies(given.get("policies"))
        self.tools(given.get("tools"))
        self.models(given.get("models"))
        self.permissions(given.get("permissions"))
        self.scripts(given.get("scripts"))
        self.found.audit = read_audit(given.get("audit"), self.directory, self.wrong)
        self.found.questions = read_questions(given.get("questions"), self.wrong, self.locate("questions"))
        self.fleet(given.get("fleet"))
        self.resident(given.get("resident"))
        for key in given:
            if not isinstance(key, str) or key in TOP_LEVEL or key.startswith("x-"):
                continue
            if key in self.table:
                self.warn(key, f"{key} is not read: an event belongs below hooks:", "move it below hooks:")
            elif key not in _OF_OTHERS and (meant := nearest(key, TOP_LEVEL)):
                self.warn(key, f"{key} is not read", meant)
        agents = given.get("agents")
        if agents is None:
            return
        if not isinstance(agents, list):
            self.wrong("agents", f"{as_written(agents)} where a list of agents is expected")
            return
        for index, agent in enumerate(agents):
            self.agent(agent, f"agents[{index}]")

    def mcp_servers(self, given: Any) -> None:
        if given is None:
            return
        from .mcp_hooks import read_servers_section

        self.servers = read_servers_section(given, self.wrong)

    def policies(self, given: Any) -> None:
        if given is None:
            return
        from ..policies import read_policies

        before = len(self.problems)
        for use in read_policies(given, self.wrong, project=self.project):
            options = dict(use.options)
            scope = options.pop("scope", None)
            made = self.declared(use.event, use.hook, use.path, scope, options)
            if made is not None:
                self.add(made, f"{use.path}.matcher")
        # A policy has several hooks, and what is wrong with one is wrong with all.
        found = list(dict.fromkeys(self.problems[before:]))
        self.problems[before:] = sorted(found, key=lambda problem: _index_of(problem.where))

    def fleet(self, given: Any) -> None:
        if given is None:
            return
        from .fleet import read_fleet

        if self.layer in _NOT_OF_A_FLEET:
            self.warn("fleet", "fleet has no effect in the configuration of a project", "write it into your own")
        else:
            self.found.fleet = read_fleet(given, self.directory, self.wrong, self.locate("fleet"))

    def resident(self, given: Any) -> None:
        if given is not None and not isinstance(given, bool):
            self.wrong("resident", f"{as_written(given)} where true or false is expected")
        self.found.resident = given is True

    def tools(self, given: Any) -> None:
        if given is None:
            return
        from .tools import read_tools

        self.found.tools = read_tools(given, self.wrong, layer=self.layer, locate=self.locate)

    def models(self, given: Any) -> None:
        if given is None:
            return
        from .models import read_models

        directory = self.directory if self.trusted is None else self.trusted.folder(guard=True)
        self.found.models = read_models(given, self.wrong, layer=self.layer, directory=directory, locate=self.locate)

    def permissions(self, given: Any) -> None:
        if given is not None and not isinstance(given, Mapping):
            self.wrong("permissions", f"{as_written(given)} where names and answers are expected")
            return
        for name, answer in (given or {}).items():
            before = len(self.problems)
            if not isinstance(name, str) or answer not in ("allow", "ask", "deny"):
                self.wrong(f"permissions.{name}", f"{answer!r} is not an answer", "allow, ask or deny")
            else:
                self.attempt(f"permissions.{name}", partial(compile_rule, name))
            if len(self.problems) == before:
                self.found.permissions[name] = answer
                self.found.places[name] = self.locate(f"permissions.{name}")

    def scripts(self, given: Any) -> None:
        if given is not None and not (isinstance(given, list) and all(isinstance(path, str) for path in given)):
            self.wrong("scripts", f"{as_written(given)} where a list of .arma files is expected")
            return
        for name in given or ():
            path = os.path.join(self.directory, name)
            self.found.scripts.append(os.path.realpath(path))
            try:
                for hook in self.script_reader.hooks_of_file(path, self.layer):
                    self.add(hook, hook.source)
            except ConfigError as error:
                self.problems.extend(error.problems)

    def agent(self, agent: Any, path: str) -> None:
        backend = agent.get("backend") if isinstance(agent, Mapping) else None
        if not isinstance(backend, Mapping) or backend.get("hooks") is None:
            return
        scope = agent.get("id")
        if not isinstance(scope, str) or not scope:
            self.wrong(f"{path}.id", "an agent with hooks needs an id", "hooks apply to the agent with that id")
            return
        if scope in self.found.scopes:
            self.wrong(f"{path}.id", f"there are two agents {scope}", "give each its own id")
            return
        self.hooks_section(backend["hooks"], f"{path}.backend.hooks", scope=scope)

    def hooks_section(self, given: Any, path: str, scope: str | None) -> None:
        overrides: dict[str, str] = {}
        if given is not None and not isinstance(given, Mapping):
            self.wrong(path, f"{as_written(given)} where settings and events are expected")
            return
        for key, value in (given or {}).items():
            place = f"{path}.{key}"
            if not isinstance(key, str):
                self.wrong(path, f"{key!r} is not text", "quote it")
            elif key.startswith("x-"):
                continue
            elif scope is None and SNAKE.get(key, key) in SETTINGS:
                self.setting(SNAKE.get(key, key), value, place)
            elif self.known_event(key, path):
                if isinstance(value, Mapping) and "override" in value and self.override(value, place, scope):
                    overrides[self.table.find(key)[0].name] = self.layer
                self.event(key, value, place, scope)
        if scope is not None:
            self.found.scopes[scope] = Scope(overrides=overrides)

    def known_event(self, key: str, path: str) -> bool:
        try:
            self.table.find(key)
        except InterposeError as error:
            hint = nearest(key, [*self.table.spellings(), *SETTINGS]) or error.problem.hint
            if key in TOP_LEVEL:
                hint = f"{key}: belongs beside hooks:, not below it"
            self.wrong(f"{path}.{key}", f"{key} is neither an event nor a setting", hint)
            return False
        return True

    def override(self, value: Mapping[str, Any], path: str, scope: str | None) -> bool:
        if scope is None:
            self.wrong(f"{path}.override", "only an agent can override shared hooks", "move it under agents:")
        elif not isinstance(value["override"], bool):
            self.wrong(f"{path}.override", f"{as_written(value['override'])} where true or false is expected")
        return value["override"] is True

    def event(self, event: str, value: Any, path: str, scope: str | None) -> None:
        if isinstance(value, Mapping):
            for key in value:
                if key not in ("override", "hooks") and not str(key).startswith("x-"):
                    self.wrong(
                        f"{path}.{key}", f"{key} is not known here", "an event holds a list, or override: and hooks:"
                    )
            value, path = value.get("hooks", []), f"{path}.hooks"
        if value is None:
            return
        if not isinstance(value, (list, tuple)):
            self.wrong(path, f"{as_written(value)} where a list of hooks is expected")
            return
        for index, item in enumerate(value):
            self.item(event, item, f"{path}[{index}]", scope, {})

    def item(self, event: str, item: Any, path: str, scope: str | None, inherited: dict[str, Any]) -> None:
        if callable(item):
            item = {"handler": item}
        if not isinstance(item, Mapping):
            self.wrong(path, f"{as_written(item)} where a hook is expected", "a hook is a mapping with handler:")
        elif "hooks" in item or "commands" in item:
            self.group(event, item, path, scope)
        else:
            self.hook(event, item, path, scope, inherited)

    def group(self, event: str, group: Mapping[str, Any], path: str, scope: str | None) -> None:
        self.only_known(group, GROUP_KEYS, path, "a group")
        inherited = {key: group[key] for key in ("matcher", "timeout") if group.get(key) is not None}
        members = group.get("hooks") or []
        if not isinstance(members, (list, tuple)):
            self.wrong(f"{path}.hooks", f"{as_written(members)} where a list of hooks is expected")
            return
        for index, member in enumerate(members):
            if isinstance(member, Mapping) and ("hooks" in member or "commands" in member):
                self.wrong(f"{path}.hooks[{index}]", "a group inside a group", "groups cannot be nested")
            else:
                self.item(event, member, f"{path}.hooks[{index}]", scope, inherited)
        commands = group.get("commands") or []
        if not members and not commands:
            self.warn(path, "a group without hooks", "add a hook, or remove the group")
        if not isinstance(commands, (list, tuple)):
            self.wrong(f"{path}.commands", f"{as_written(commands)} where a list of shell lines is expected")
            return
        for index, line in enumerate(commands):
            # They run after hooks:, in order; each is a line for the shell, or a hook with one.
            hook = {"command": line} if isinstance(line, str) else line
            if not isinstance(hook, Mapping) or "command" not in hook:
                self.wrong(f"{path}.commands[{index}]", f"{as_written(line)} where a line for the shell is expected")
            else:
                self.hook(event, hook, f"{path}.commands[{index}]", scope, inherited)

    def hook(
        self, event: str, hook: Mapping[str, Any], path: str, scope: str | None, inherited: dict[str, Any]
    ) -> None:
        before = len(self.problems)
        known = self.only_known(hook, HOOK_KEYS, path, "a hook")
        given = {SNAKE.get(key, key): value for key, value in hook.items() if SNAKE.get(key, key) in HOOK_KEYS}
        if all(given.get(key) is None for key in _WHAT_IS_RUN) and given.get("type") not in KINDS:
            if known:  # otherwise one of them may be misspelt
                self.wrong(path, "a hook without handler:, command: or prompt:",
                           "handler: module.function, or command: a line")  # fmt: skip
            return
        if "matcher" in inherited and given.get("matcher") not in (None, inherited["matcher"]):
            self.wrong(f"{path}.matcher", "its group has a matcher already", "leave one of them out")
            return
        if given.get("timeout") == 0 and not isinstance(given["timeout"], bool):
            del given["timeout"]  # not set: the timeout of the group applies
        options = {SPELLED.get(key, key): value for key, value in {**inherited, **given}.items()}
        handler = options.pop("handler", None)
        options = {key: value for key, value in options.items() if value is not None}
        if options.get("type") == "script":
            handler = self.attempt(path, lambda: self.script_reader.line(event, handler))
            if handler is None:
                return
            options.setdefault("priority", PRIORITY)
        made = self.declared(event, handler, path, scope, options)
        if made is not None and len(self.problems) == before:
            self.add(made, f"{path}.matcher")

    def add(self, hook: Hook, matcher_at: str) -> None:
        self.found.hooks.append(hook)
        if doubt := doubt_about(hook, matcher_at):
            self.found.warnings.append(doubt)

    def declared(self, event: str, handler: Any, path: str, scope: str | None, options: dict[str, Any]) -> Hook | None:
        """Make a hook; if an option is wrong, note that and check the others without it."""
        while True:
            try:
                return declare(
                    self.table, event, handler, scope=scope, layer=self.layer, source=self.locate(path),
                    directory=self.directory, project_dir=self.project, hooks_dir=self.directory,
                    trusted=self.trusted, types=("script",), servers=self.servers, **options,
                )  # fmt: skip
            except InterposeError as error:
                self.wrong(path, error.problem.what, error.problem.hint)
                option = error.problem.what.partition(":")[0]
                if options.pop(SPELLED.get(option, option), None) is None or option in ("type", *_WHAT_IS_RUN):
                    return None

    def only_known(self, given: Mapping[str, Any], known: set[str], path: str, what: str) -> bool:
        unknown = [key for key in given if not isinstance(key, str)
                   or (SNAKE.get(key, key) not in known and not key.startswith("x-"))]  # fmt: skip
        for key in unknown:
            self.wrong(f"{path}.{key}", f"{key} is not a key of {what}",
                       nearest(str(key), known) or f"keys are {', '.join(sorted(known))}")  # fmt: skip
        return not unknown

    def setting(self, key: str, value: Any, path: str) -> None:
        made = self.attempt(path, lambda: _setting(key, value))
        if made is not None:
            self.found.settings.update(made)


def _setting(key: str, value: Any) -> dict[str, Any]:
    match key:
        case "timeout":
            # As in Armament: a ceiling for every hook, in milliseconds.
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 100 <= value < 1e9:
                raise BadHook(f"timeout: {value!r} is not a ceiling in milliseconds",
                              hint="at least 100; a hook's own timeout: is in seconds")  # fmt: skip
            return {"timeout_ceiling": value / 1000}
        case "defaultTimeout":
            return {"default_timeout": duration(key, value)}
        case "totalTimeout":
            return {"total_timeout": duration(key, value)}
        case "errorBehavior":
            return {"error_behavior": value}
        case "maxHooksPerPoint":
            return {"max_hooks_per_point": value}
        case _:
            return {"enforce": value}


def settings_from(**given: Unpack[SettingOptions]) -> Settings:
    """Return checked settings."""
    for name in given:
        if not hasattr(Settings, name):
            from .options import SettingOptions

            hint = nearest(name, SettingOptions.__annotations__)
            if name == "timeout":
                hint = "default_timeout is for each hook, total_timeout for a whole firing"
            raise BadHook(f"{name}: no such setting", hint=hint)
    settings = Settings(**given)
    if settings.error_behavior not in ERROR_BEHAVIORS:
        raise BadHook(f"errorBehavior: {settings.error_behavior!r} is not a choice",
                      hint=f"choose {', '.join(ERROR_BEHAVIORS)}")  # fmt: skip
    limit = settings.max_hooks_per_point
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise BadHook(f"maxHooksPerPoint: {limit!r} is not a number of hooks", hint="0 means no limit")
    for name in ("enforce", "redirect_output"):
        if not isinstance(getattr(settings, name), bool):
            raise BadHook(f"{name}: {getattr(settings, name)!r} where true or false is expected")
    for name in ("default_timeout", "timeout_ceiling", "total_timeout"):
        seconds(name, getattr(settings, name))
    if 0 < settings.timeout_ceiling < 0.1:
        raise BadHook(
            f"timeout ceiling: {settings.timeout_ceiling} s is shorter than any hook needs", hint="at least 0.1 s"
        )
    return settings


def read_mapping(
    table: Table,
    given: Any,
    *,
    layer: str = "code",
    source: str = "",
    directory: str = "",
    locate: Callable[[str], str] | None = None,
    commands: Any = None,
    read: Callable[[str], bytes] | None = None,
    trusted: Trusted | None = None,
) -> Configuration:
    """Read a whole configuration; raise ConfigError with all problems. ``locate`` turns a path into file and line.

    ``read`` returns the content of a script; ``trusted`` says what is run from a snapshot.
    """
    scripts = ScriptReader(table, commands, read)
    reader = _ConfigurationReader(table, layer, source, directory, locate, scripts, trusted)
    reader.whole(given)
    for name, value in reader.found.settings.items():
        reader.attempt("hooks", partial(settings_from, **{name: value}))
    if reader.problems:
        raise ConfigError(reader.problems)
    return reader.found


def read_scope(table: Table, scope: str, given: Any, parent: str | None, like: str | None = None) -> Configuration:
    """Read the hooks of one scope: event to a list of callables, hooks and groups."""
    if not isinstance(scope, str) or not scope:
        raise BadHook("a scope is named by text", hint="usually the agent's id")
    reader = _ConfigurationReader(table, "code", "", "")
    reader.hooks_section(given, scope, scope=scope)
    for name, found in reader.found.scopes.items():
        if found.overrides:
            reader.wrong(name, "a scope adds hooks and never overrides", "override belongs to an agent's configuration")
    if reader.problems:
        raise ConfigError(reader.problems)
    reader.found.scopes = {scope: Scope(parent=parent, like=like)}
    return reader.found


def _index_of(path: str) -> int:
    """Return the first index in a path, as in ``policies[2].secrets``."""
    index = path.partition("[")[2].partition("]")[0]
    return int(index) if index.isdigit() else 0
