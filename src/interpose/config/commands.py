"""Make a Command from the options of a hook: words are split and paths resolved once, here.

Data of an event never becomes part of a command line. Programs are looked up when a hook is declared, so that a changed
directory or a new file cannot replace them.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ..dialects import dialect as find_dialect
from ..errors import BadHook, nearest
from ..event import Event
from ..handlers.declared_command import ISOLATIONS, Command, can_be_passed, current_interpreter
from ..handlers.projects import VARIABLE, project_directory
from ..records import Record
from ..replies import HookFailed
from ..runtime.regex import regex

__all__ = [
    "COMMAND_OPTIONS",
    "PLACEHOLDER",
    "PLUGIN_VARIABLE",
    "Trusted",
    "imports_from_cwd",
    "make_command",
    "runs_script_too",
]

COMMAND_OPTIONS = ("command", "args", "shell", "env", "pass_env", "inherit_env", "cwd", "isolation", "background",
                   "warm")  # fmt: skip
"""The options that only a hook with a command has, as declare() spells them."""

_SHELL = "/bin/sh"
PLUGIN_VARIABLE = "CLAUDE_PLUGIN_ROOT"
PLACEHOLDER = regex(rf"\$\{{({VARIABLE}|{PLUGIN_VARIABLE})\}}")
"""A directory that Claude Code puts into the words of a command without a shell."""
_SAFE_PATH = "PYTHONSAFEPATH"
_PYTHON_CODE = regex(r"(?<![\w.-])(?:python|pypy)[\d.]*((?:\s+-[A-Za-z]+)*)\s+-[A-Za-z]*([cm])(?![\w-])")
"""Python with code or a module, and the options before that."""


class Trusted(Record, kw_only=False):
    """What a snapshot says about the commands of its configuration."""

    directory: str
    """The snapshot, from which guards run."""
    linked: str
    """The directory in the snapshot from which other hooks run."""
    config: str
    """The directory of the configuration, below either of them."""
    commands: Mapping[str, Any]
    """What is run in the place of what is written: of ``line …``, ``words\0…\0…`` and ``value …`` of a variable.

    That of guards begins with ``guard``.
    """
    path: str
    """The PATH when it was trusted: that of guards."""
    guards: bool
    """Whether all its hooks are guards that do not say otherwise."""

    def folder(self, *, guard: bool) -> str:
        """Return the directory of the configuration in the snapshot."""
        return os.path.join(self.directory if guard else self.linked, self.config)

    def root(self, *, guard: bool) -> str:
        """Return the project's directory in the snapshot."""
        return os.path.join(self.directory if guard else self.linked, "files")

    def placed(self, key: str, written: Any, *, guard: bool) -> Any:
        """Return what is run in the place of what is written."""
        own, other = (f"guard {key}", key) if guard else (key, f"guard {key}")
        return self.commands.get(own, self.commands.get(other, written))


def make_command(
    handler: Any,
    *,
    directory: str,
    dialect: str,
    project_dir: str,
    command: str | None = None,
    args: Any = None,
    shell: str | None = None,
    env: Any = None,
    pass_env: Any = None,
    inherit_env: bool = False,
    cwd: str | None = None,
    isolation: str | None = None,
    background: str | None = None,
    warm: bool = False,
    hooks_dir: str = "",
    trusted: Trusted | None = None,
    guard: bool = False,
) -> Command:
    """Return the command that these options describe; raise BadHook if they are wrong.

    ``project_dir`` is the project that the configuration belongs to, if it belongs to one, and ``hooks_dir`` the
    directory of the configuration. A ``trusted`` one runs files of its snapshot, a ``guard`` with its PATH.
    """
    base = beside = os.path.abspath(directory or os.getcwd())
    project = partial(project_directory, project_dir)
    claude = dialect == "claude"
    placed = None
    search = trusted.path if trusted is not None and guard else os.environ.get("PATH", os.defpath)
    words, line = _what_is_run(handler, command, args, shell)
    given = (line,) if line else tuple(words)
    if trusted is not None:
        hooks_dir = trusted.folder(guard=guard)
        beside = trusted.root(guard=guard) if claude else hooks_dir
        line = trusted.placed(f"line {line}", line, guard=guard)
        words = trusted.placed("\0".join(("words", *words)), words, guard=guard)
        if _is_env(env):
            env = {name: trusted.placed(f"value {text}", text, guard=guard) for name, text in env.items()}
    if claude and not line and any(PLACEHOLDER.search(word) for word in words):
        placed = _PlacedWords(words, beside, str((env or {}).get(PLUGIN_VARIABLE, "")), search)
        words = placed.filled_in(project_dir or base)
    path, argv = _in_shell(line, shell, search) if line else _program(words, beside, search)
    _check_choice("isolation", isolation, ISOLATIONS)
    _check_choice("background", background, ("keep",))
    for option, value in (("inheritEnv", inherit_env), ("warm", warm)):
        if not isinstance(value, bool):
            raise BadHook(f"{option}: {value!r} where true or false is expected")
    if warm and command is not None and args is None:
        raise BadHook("warm: a line for the shell is not a Python script",
                      hint="handler: with type: command, or command: with args:, needs no shell")  # fmt: skip
    if cwd is not None and (not isinstance(cwd, str) or not cwd or not can_be_passed(cwd)):
        raise BadHook(f"cwd: {cwd!r} where a directory is expected")
    if cwd is None and not claude and _names_project_files(argv, project_dir):
        cwd = project_dir
    where = os.path.join(base, os.path.expanduser(cwd)) if cwd not in (None, "event") else None
    spoken = find_dialect(dialect)
    fixed = {} if claude else _safe_path(argv, guard=trusted is not None and guard)
    if trusted is not None and guard:
        fixed["PATH"] = search
        # Bytecode beside a script could be another's.
        fixed["PYTHONPYCACHEPREFIX"] = os.path.join(os.path.dirname(trusted.directory), ".pycache")
    return Command(
        path=path,
        argv=argv,
        given=given,
        is_line=bool(line),
        dialect=dialect,
        write=spoken.write,
        variables=partial(_event_variables, spoken.variables, project, hooks_dir),
        env=fixed | _variables(env),
        passed=_names(pass_env),
        inherit=inherit_env or claude,
        without=spoken.withheld,
        all_given=not guard,
        cwd=where,
        real_cwd=os.path.realpath(where) if where is not None else None,
        project=project,
        placed=placed,
        fallback_cwds=(os.path.expanduser("~"), "/tmp") if claude else (),  # noqa: S108 - as the client does
        isolation=isolation,
        keep=background == "keep",
        warm=warm,
    )


def imports_from_cwd(argv: Sequence[str]) -> set[str]:
    """Return ``c`` or ``m`` for each ``python -c`` or ``-m`` that looks for modules in the directory where it runs.

    An agent that writes a ``json.py`` there has its own code run in the place of the hook's.
    """
    found = _PYTHON_CODE.finditer(" ".join(argv))
    return {one[2] for one in found if not re.search("[IP]", one[0])}


def _safe_path(argv: Sequence[str], *, guard: bool) -> dict[str, str]:
    """Keep code of a line from importing what is in the agent's directory; a script needs what is beside it.

    A module of the project that a trusted guard runs by its name is found without that directory.
    """
    found = imports_from_cwd(argv)
    plain = (found == {"c"} or (guard and found)) and not runs_script_too(argv)
    return {_SAFE_PATH: "1"} if plain else {}


def runs_script_too(argv: Sequence[str]) -> bool:
    """Return whether a command with code for Python runs a script too, which needs what is beside it."""
    return any(re.search(r"\.py\b", word) for word in argv)


def _names_project_files(argv: Sequence[str], project: str) -> bool:
    """Return whether a command may name files of its project: a line for the shell, or a word that is one of them.

    It then runs in its project: an agent can change to a directory with other files of the same names.
    """
    if not project:
        return False
    is_line = len(argv) == 3 and argv[1] == "-c"
    return is_line or any(os.path.isfile(os.path.join(project, word)) for word in argv[1:] if not os.path.isabs(word))


def _event_variables(of_dialect: Any, project: Callable[[object], str], folder: str, event: Event) -> dict[str, str]:
    own = project(event.get("cwd"))
    hooks_dir = {"INTERPOSE_HOOKS_DIR": folder} if folder else {}
    return {**of_dialect(event), VARIABLE: own, "INTERPOSE_PROJECT_DIR": own, **hooks_dir}


class _PlacedWords:
    """The words of a command with placeholders of directories, which are replaced as text that is not parsed again."""

    def __init__(self, words: Sequence[str], base: str, plugin_root: str, search: str) -> None:
        self._words = tuple(words)
        self._base = base
        self._search = search
        self._plugin_root = plugin_root
        # A program that is the same in every project is looked up now.
        fixed = PLACEHOLDER.search(self._words[0]) is None
        self._program = _program([self._words[0]], base, search) if fixed else None

    def __call__(self, project: str) -> tuple[str, Sequence[str]]:
        """Return the path and the words for a project."""
        if not can_be_passed(project):
            raise HookFailed("payload", f"the project {project!a} cannot be passed to a command")
        words = self.filled_in(project)
        if self._program is None:
            return _program(words, self._base, self._search)
        path, first = self._program
        return path, [*first, *words[1:]]

    def filled_in(self, project: str) -> list[str]:
        """Return the words with this project in them."""
        places = {VARIABLE: project, PLUGIN_VARIABLE: self._plugin_root}
        return [PLACEHOLDER.sub(lambda found: places[found[1]] or found[0], word) for word in self._words]


def _what_is_run(handler: Any, command: Any, args: Any, shell: Any) -> tuple[list[str], str]:
    """Return the words of a command, or its line for the shell."""
    if command is not None and handler is not None:
        raise BadHook("a hook with both handler: and command:", hint="leave one of them out")
    if args is not None and (not isinstance(args, (list, tuple)) or not all(isinstance(arg, str) for arg in args)):
        raise BadHook(f"args: {args!r} where a list of texts is expected")
    if command is not None:
        if not isinstance(command, str) or not command.strip():
            raise BadHook(f"command: {command!r} where a line for the shell is expected")
        return ([], command) if args is None else ([command, *args], "")
    if shell is not None:
        raise BadHook("shell: only a command: has one", hint="a handler: is run without a shell")
    return [*_words(handler), *(args or ())], ""


def _in_shell(line: str, shell: Any, search: str) -> tuple[str, list[str]]:
    interpreter = _shell(shell, search)
    return _without_nul(interpreter, [os.path.basename(interpreter), "-c", line])


def _shell(wanted: Any, search: str) -> str:
    if wanted is None or wanted == "sh":
        return _SHELL
    if wanted != "bash":
        raise BadHook(f"shell: {wanted!r} cannot be used", hint="sh or bash")
    return _on_path("bash", search) or _SHELL


def _on_path(name: str, search: str) -> str | None:
    """Return the program of that name; a relative directory of PATH would depend on where the host is."""
    from shutil import which

    return which(name, path=os.pathsep.join(filter(os.path.isabs, search.split(os.pathsep))))


def _is_env(env: Any) -> bool:
    return isinstance(env, Mapping) and all(isinstance(value, str) for value in env.values())


def _words(handler: Any) -> list[str]:
    if isinstance(handler, (list, tuple)) and handler and all(isinstance(word, str) for word in handler):
        return list(handler)
    if not isinstance(handler, str) or not handler.strip():
        raise BadHook(f"handler: {handler!r} is not a command", hint="a program and its arguments, as in a shell")
    try:
        return shlex.split(handler)
    except ValueError as error:
        raise BadHook(f"handler: {handler!r} cannot be split into words: {error}",
                      hint="close the quotes, or write a list of words") from None  # fmt: skip


def _program(words: list[str], base: str, search: str) -> tuple[str, list[str]]:
    """Find the program: in the configuration's directory, then on PATH. A Python script need not be executable."""
    name = os.path.expanduser(words[0])
    beside = os.path.join(base, name)
    is_beside = os.sep in name or os.path.isfile(beside)
    path = os.path.normpath(beside) if is_beside else _on_path(name, search) or beside
    if path.endswith(".py") and os.path.isfile(path) and not os.access(path, os.X_OK):
        interpreter = current_interpreter()
        return _without_nul(interpreter, [interpreter, path, *words[1:]])
    return _without_nul(path, [path, *words[1:]])


def _without_nul(path: str, argv: list[str]) -> tuple[str, list[str]]:
    if not all(map(can_be_passed, (path, *argv))):
        raise BadHook("a command with a NUL character or a lone surrogate in it", hint="no system can run it")
    return path, argv


def _variables(given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadHook(f"env: {type(given).__name__} where names and values are expected")
    for name, value in given.items():
        if not isinstance(name, str) or not name or "=" in name or not name.isprintable() or not can_be_passed(name):
            raise BadHook(f"env: {name!r} is not the name of a variable")
        if not isinstance(value, str) or not can_be_passed(value):
            raise BadHook(f"env: {name} is {value!r} where text is expected", hint="quote numbers")
    return dict(given)


def _names(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, (list, tuple)) or not all(isinstance(n, str) for n in given):
        raise BadHook(f"passEnv: {given!r} where a list of names is expected")
    if wrong := [name for name in given if not can_be_passed(name)]:
        raise BadHook(f"passEnv: {wrong[0]!a} is not the name of a variable")
    return tuple(given)


def _check_choice(option: str, value: Any, choices: tuple[str, ...]) -> None:
    if value is not None and value not in choices:
        raise BadHook(f"{option}: {value!r} is not a choice",
                      hint=nearest(str(value), choices) or f"choose {', '.join(choices)}")  # fmt: skip
