"""Whether what a hook names can be run at all: files, first lines, modules. Looks, and runs nothing."""

from __future__ import annotations

import ast
import os
import shutil
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import nearest
from ..handlers.command import command_of
from ..model import Hook

__all__ = ["Flaw", "flaws_of"]

Flaw = tuple[str, str, str]
"""A stable code, what is wrong, and what to do."""

_DENIES = "so every firing denies"


def flaws_of(hook: Hook) -> Iterator[Flaw]:
    """Return what keeps a hook from running."""
    command = command_of(hook)
    if command is not None:
        yield from _of_command(command)
    elif hook.type == "python" and isinstance(hook.handler, str):
        yield from _of_function(hook.handler, str(getattr(hook.binding.call, "directory", "") or ""))


def _of_command(command: Any) -> Iterator[Flaw]:
    if command.cwd is not None and not os.path.isdir(command.cwd):
        yield "missing", f"the directory to run in, {command.cwd}, is not there", "check cwd:"
    # A script that an interpreter runs stands in the second word; a line for the shell is the shell's to judge.
    is_line = len(command.argv) > 1 and command.argv[1] == "-c"
    scripts = [command.path] + [word for word in command.argv[1:2] if word.endswith(".py") and os.sep in word]
    for path in scripts if not is_line else [command.path, *_script_of_line(command)]:
        if not os.path.exists(path):
            yield "missing", f"{path} is not there, {_DENIES}", "check the path"
        elif os.path.isdir(path):
            yield "missing", f"{path} is a directory", "name a file in it"
        elif path == scripts[0] and not os.access(path, os.X_OK):
            yield "not_executable", f"{path} is not executable", f"chmod +x {path}"
        elif path == scripts[0]:
            yield from _of_first_line(path, has_own_path="PATH" in command.env)


def _script_of_line(command: Any) -> list[str]:
    """Return the script that a line for the shell begins with, if it is plainly one with an absolute path."""
    import shlex

    try:
        first = shlex.split(command.argv[2])[:1]
    except (ValueError, IndexError):
        return []
    return [word for word in first if word.startswith("/") and not set(word) & set("$`*?")]


def _of_first_line(path: str, *, has_own_path: bool) -> Iterator[Flaw]:
    """Look for what the system looks for when it starts a script."""
    try:
        with open(path, "rb") as file:
            start = file.read(256)
    except OSError:
        return
    if b"\0" in start:  # a program, whose format is for the system to know
        return
    if not start.startswith(b"#!"):
        yield "not_executable", f"{path} does not say what runs it, {_DENIES}", "begin it with a line such as #!/bin/sh"
        return
    line = start.split(b"\n", 1)[0]
    words = line[2:].decode("utf-8", "replace").split()
    if line.endswith(b"\r"):
        yield "not_executable", f"{path}: its first line ends in a carriage return", "save it with LF line ends"
    elif not words or not os.path.exists(words[0]):
        yield "missing", f"{path}: its interpreter {words[0] if words else ''!r} is not there, {_DENIES}", "install it"
    elif os.path.basename(words[0]) == "env" and words[1:] and not has_own_path:
        name = words[1]
        if not name.startswith("-") and "=" not in name and shutil.which(name) is None:
            yield "missing", f"{path}: its interpreter {name!r} is not on PATH, {_DENIES}", "install it"


def _of_function(handler: str, directory: str) -> Iterator[Flaw]:
    from importlib.util import find_spec

    module, _, name = handler.partition(":") if ":" in handler else handler.rpartition(".")
    if directory and (beside := _beside(directory, module)):
        if beside.endswith(".py"):
            yield from _of_module(beside, name.partition(".")[0])
        return
    # Packages above it would be imported to find it, and looking must run nothing: only the first name is looked for.
    top = module.partition(".")[0]
    try:
        there = find_spec(top) is not None
    except (ImportError, ValueError):
        there = False
    if not there:
        yield (
            "missing",
            f"module {top} is not there, {_DENIES}",
            f"put {top}.py beside the configuration, or install it",
        )


def _beside(directory: str, module: str) -> str:
    """Return what stands beside the configuration under a module's name: its file, or a folder."""
    path = os.path.join(directory, *module.split("."))
    if os.path.isfile(f"{path}.py"):
        return f"{path}.py"
    # `helpers.Guard.check`: what looks like a module may be a class in one.
    return path if os.path.isdir(path) or os.path.isfile(f"{os.path.dirname(path)}.py") else ""


def _of_module(path: str, name: str) -> Iterator[Flaw]:
    """Read a module as Python would, for mistakes that its import would run into."""
    try:
        with open(path, "rb") as file, warnings.catch_warnings(action="ignore"):
            tree = ast.parse(file.read(), path)
    except SyntaxError as error:
        yield "cannot_import", f"{path}:{error.lineno}: {error.msg}, {_DENIES}", "put the syntax right"
        return
    except (OSError, ValueError, RecursionError):
        return
    names = set(_names_in(tree.body))
    if name not in names and not names & {"*", "__getattr__"}:
        hint = nearest(name, names) or "define it there, or name another"
        yield "cannot_import", f"{path} has no {name}, {_DENIES}", hint


def _names_in(body: Iterable[ast.AST]) -> Iterator[str]:
    """Return the names that statements of a module's top level bind, whatever they are nested in."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        elif isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store):
            yield statement.id
        else:
            yield from _names_in(ast.iter_child_nodes(statement))
