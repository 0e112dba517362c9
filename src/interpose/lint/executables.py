"""What a hook runs: whether its file, interpreter or module is there, and in which process it runs. Runs nothing."""

from __future__ import annotations

import ast
import os
import shutil
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..config.kinds import JUDGES
from ..errors import nearest
from ..handlers.declared_command import Command, command_of, program_of
from ..handlers.python import ModulePlace
from ..model import Hook
from ..runtime.named_tuples import NamedTuple

if TYPE_CHECKING:
    from ..handlers.http import Endpoint
    from ..handlers.mcp_tool import McpTool
    from ..handlers.nats import NatsService

__all__ = ["ExecutableFlaw", "describe_model", "find_flaws", "isolation_of", "runs_what"]


class ExecutableFlaw(NamedTuple):
    """One reason why a hook cannot run: a stable code, what is wrong, and what to do."""

    code: str
    what: str
    hint: str


_DENIES = "so every firing denies"


def isolation_of(hook: Hook) -> str:
    """Return where a hook runs, in words."""
    command = command_of(hook)
    if command is not None:
        kept = ", its background processes are kept" if command.keep else ""
        return f"a process, {command.isolation or 'tree'}{', warm' if command.warm else ''}{kept}"
    if hook.type in JUDGES:
        asked = f"the model {describe_model(hook)}"
        return f"an agent that reads, with {asked}" if hook.type == "agent" else asked
    if hook.type == "http":
        return f"a request to {hook.handler}"
    if hook.type == "mcp_tool":
        return "a kept MCP server" if program_of(hook) else "an MCP server elsewhere"
    if hook.type == "nats":
        return f"a worker of {hook.handler}, asked over NATS"
    if hook.inline:
        return "the caller's task or thread"
    if hook.binding.handler is not None:
        return "a kept process"
    return "a script line" if hook.type == "script" else "a task or thread of the engine"


def runs_what(hook: Hook) -> str:
    """Return what a hook runs, in words: also where headers with variables go to, and the program of a server."""
    target = hook.binding.target
    if hook.type == "mcp_tool" and target is not None:
        return f"{hook.handler}, a tool of the MCP server: {target.shown_server}"
    if hook.type == "http" and target is not None:
        sent = sorted(target.allowed & set().union(*(_variables_of(target).values() or [()])))
        return f"POST {hook.handler}" + (f" with your {', '.join(sent)}" if sent else "")
    if hook.type == "nats":
        return f"a worker of {hook.handler}, which gets the event over NATS"
    return f"{hook.type}: {hook.handler}" if hook.type in JUDGES else str(hook.handler)


def find_flaws(hook: Hook) -> Iterator[ExecutableFlaw]:
    """Return every reason why a hook cannot run."""
    command = program_of(hook)
    if hook.type == "mcp_tool" and hook.binding.target is not None:
        yield from _check_mcp_tool(hook.binding.target)
    if hook.type == "http" and hook.binding.target is not None:
        yield from _check_endpoint(hook.binding.target)
    if hook.type == "nats" and hook.binding.target is not None:
        yield from _check_service(hook.binding.target)
    if command is not None:
        yield from _check_command(command)
    elif hook.type in JUDGES:
        yield from _check_model(hook)
    elif hook.type == "python" and isinstance(hook.handler, str):
        where = getattr(hook.binding.call, "where", None)
        yield from _check_function(hook.handler, where.directory if isinstance(where, ModulePlace) else "")


def _check_model(hook: Hook) -> Iterator[ExecutableFlaw]:
    """Find a missing package or key of the model, and a missing agent; asks nothing."""
    from importlib.util import find_spec

    from ..handlers.prompt import AGENT, judge_of

    judge = judge_of(hook)
    if judge is not None:
        what, hint = judge.configured.lacks()
        if what:
            yield ExecutableFlaw("missing", f"it asks {judge.configured.describe()}: {what}", hint)
    if hook.type == "agent" and find_spec(AGENT.rpartition(".")[0]) is None:
        yield ExecutableFlaw(
            "missing", f"hooks of type agent need {AGENT}, which is not installed", "pip install interpose"
        )


def describe_model(hook: Hook) -> str:
    """Return the model that a hook asks, in words."""
    from ..handlers.prompt import judge_of

    judge = judge_of(hook)
    return judge.configured.describe() if judge is not None else "of the host"


def _check_mcp_tool(tool: McpTool) -> Iterator[ExecutableFlaw]:
    from importlib.util import find_spec

    if tool.problem:
        yield ExecutableFlaw(
            "missing", f"MCP server {tool.name} cannot be used: {tool.problem}", "describe it in mcpServers"
        )
    if find_spec("mcp") is None:
        yield ExecutableFlaw("missing", "MCP servers need the package mcp", "pip install 'interpose[mcp]'")


def _check_service(service: NatsService) -> Iterator[ExecutableFlaw]:
    from importlib.util import find_spec

    if service.nats is None:
        yield ExecutableFlaw("missing", f"it asks workers over NATS, and no fleet is configured, {_DENIES}",
                   "write fleet: {servers: nats://host:4222, team: NAME} into your own configuration")  # fmt: skip
    if find_spec("nats") is None:
        yield ExecutableFlaw("missing", f"it asks workers over NATS, which needs the package nats-py, {_DENIES}",
                   "pip install 'interpose[fleet]'")  # fmt: skip


def _check_endpoint(endpoint: Endpoint) -> Iterator[ExecutableFlaw]:
    for header, names in _variables_of(endpoint).items():
        for name in sorted(names):
            if name not in endpoint.allowed:
                what = f"the header {header} is sent without ${name}: it is not in allowedEnvVars"
                yield ExecutableFlaw("unlisted_variable", what, f"allowedEnvVars: [{name}]")
            elif name not in os.environ:
                what = f"the header {header} is sent without ${name}: it is not set here"
                yield ExecutableFlaw("unset_variable", what, f"set {name} where the hook runs")


def _variables_of(endpoint: Endpoint) -> dict[str, set[str]]:
    """Return the names of the variables in each header."""
    from ..handlers.http import variables_in

    return {name: variables_in(value) for name, value in endpoint.headers}


def _check_command(command: Command) -> Iterator[ExecutableFlaw]:
    if command.cwd is not None and not os.path.isdir(command.cwd):
        yield ExecutableFlaw("missing", f"its working directory {command.cwd} does not exist", "check cwd:")
    # The script of an interpreter is the second word. A line for the shell is checked only if it begins with a path.
    program, argv = command.words(os.curdir)
    is_line = len(argv) > 1 and argv[1] == "-c"
    scripts = [program] + [word for word in argv[1:2] if word.endswith(".py") and os.sep in word]
    for path in scripts if not is_line else [program, *_script_of_line(argv)]:
        if not os.path.exists(path):
            yield ExecutableFlaw("missing", f"{path} does not exist, {_DENIES}", "check the path")
        elif os.path.isdir(path):
            yield ExecutableFlaw("missing", f"{path} is a directory", "name a file in it")
        elif path == scripts[0] and not os.access(path, os.X_OK):
            yield ExecutableFlaw("not_executable", f"{path} is not executable", f"chmod +x {path}")
        elif path == scripts[0]:
            yield from _check_first_line(path, has_own_path="PATH" in command.env)


def _script_of_line(argv: Sequence[str]) -> list[str]:
    """Return the script that a line for the shell begins with, if it has an absolute path without expansions."""
    import shlex

    try:
        first = shlex.split(argv[2])[:1]
    except (ValueError, IndexError):
        return []
    return [word for word in first if word.startswith("/") and not set(word) & set("$`*?")]


def _check_first_line(path: str, *, has_own_path: bool) -> Iterator[ExecutableFlaw]:
    """Check the ``#!`` line as the operating system does when it starts a script."""
    try:
        with open(path, "rb") as file:
            start = file.read(256)
    except OSError:
        return
    if b"\0" in start:  # a binary
        return
    if not start.startswith(b"#!"):
        yield ExecutableFlaw(
            "not_executable", f"{path} has no #! line, {_DENIES}", "begin it with a line such as #!/bin/sh"
        )
        return
    line = start.split(b"\n", 1)[0]
    words = line[2:].decode("utf-8", "replace").split()
    if line.endswith(b"\r"):
        yield ExecutableFlaw(
            "not_executable", f"{path}: its first line ends in a carriage return", "save it with LF line ends"
        )
    elif not words or not os.path.exists(words[0]):
        name = words[0] if words else ""
        yield ExecutableFlaw("missing", f"{path}: its interpreter {name!r} does not exist, {_DENIES}", "install it")
    elif os.path.basename(words[0]) == "env" and words[1:] and not has_own_path:
        name = words[1]
        if not name.startswith("-") and "=" not in name and shutil.which(name) is None:
            yield ExecutableFlaw("missing", f"{path}: its interpreter {name!r} is not on PATH, {_DENIES}", "install it")


def _check_function(handler: str, directory: str) -> Iterator[ExecutableFlaw]:
    from importlib.util import find_spec

    module, _, name = handler.partition(":") if ":" in handler else handler.rpartition(".")
    if directory and (found := _module_in(directory, module)):
        if found.endswith(".py"):
            yield from _check_module(found, name.partition(".")[0])
        return
    # Only the top-level package is looked for: finding a submodule would import, and so run, the packages above it.
    top = module.partition(".")[0]
    try:
        exists = find_spec(top) is not None
    except (ImportError, ValueError):
        exists = False
    if not exists:
        hint = f"put {top}.py beside the configuration, or install it"
        yield ExecutableFlaw("missing", f"module {top} was not found, {_DENIES}", hint)


def _module_in(directory: str, module: str) -> str:
    """Return the file or the folder of a module beside the configuration; empty if there is neither."""
    path = os.path.join(directory, *module.split("."))
    if os.path.isfile(f"{path}.py"):
        return f"{path}.py"
    # In `helpers.Guard.check`, what looks like a module may be a class in one.
    return path if os.path.isdir(path) or os.path.isfile(f"{os.path.dirname(path)}.py") else ""


def _check_module(path: str, name: str) -> Iterator[ExecutableFlaw]:
    """Parse a module without importing it, and check that it defines a name."""
    try:
        with open(path, "rb") as file, warnings.catch_warnings(action="ignore"):
            tree = ast.parse(file.read(), path)
    except SyntaxError as error:
        yield ExecutableFlaw("cannot_import", f"{path}:{error.lineno}: {error.msg}, {_DENIES}", "fix the syntax")
        return
    except (OSError, ValueError, RecursionError):
        return
    names = set(_names_in(tree.body))
    if name not in names and not names & {"*", "__getattr__"}:
        hint = nearest(name, names) or "define it there, or name another"
        yield ExecutableFlaw("cannot_import", f"{path} has no {name}, {_DENIES}", hint)


def _names_in(body: Iterable[ast.AST]) -> Iterator[str]:
    """Return the names that a module's top-level statements bind, also inside ``if`` and ``try``."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store):
            yield statement.id
        else:
            yield from _names_in(ast.iter_child_nodes(statement))
