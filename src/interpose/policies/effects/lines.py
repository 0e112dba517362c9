"""Read the effects of a command line: of each command by its program's table, and of its redirections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from ...matching.shell import Line, ShellCommand, Unread, read_line
from ...matching.shell.options import program_of
from ...matching.shell.words import ONE, is_known
from .computed_words import computed_words
from .downloads import downloads_that_run
from .effect import Effect
from .git_contents import git_contents
from .given_code import code_of
from .guards import guard_effects
from .inline_code import read_code
from .network_code import network_in_code
from .paths import absolute
from .renames import Names
from .rows import RUNS, Found, apply_rows, written
from .scripts import effects_of_script, scripts_read
from .secret_reads import read_secrets
from .sizes import size_effects
from .sql import CLIENTS
from .tables import find_programs
from .tables.network import is_check_off
from .texts import Texts
from .variables import loading_variables
from .xargs import Inputs

__all__ = ["effects_of_line", "unread"]

FILE_KINDS = frozenset({
    "read-files", "write-files", "delete-files", "delete-files-for-good", "empty-files", "move-files", "change-tree",
    "change-mode", "not-executable", "lock-out", "lose-changes", "lose-untracked", "open-permissions", "setuid",
    "rename-files", "change-case", "link-files", "make-folder", "change-files", "add-files", "fill-disk",
    "serve-files",
})  # fmt: skip
"""Kinds whose target is a file: it is made absolute."""


def _fork_bombs(line: Line, cwd: str, home: str) -> Iterator[Effect]:
    if line.is_fork_bomb:
        yield Effect("fork-bomb", command=line.text, directory=cwd)


LINE_READERS: tuple[Callable[[Line, str, str], Iterable[Effect]], ...] = (
    downloads_that_run,
    _fork_bombs,
    read_secrets,
    guard_effects,
    size_effects,
    git_contents,
)
"""Functions that read effects of several commands together: a download that is run, a secret that is sent."""


_DEEPEST = 4
"""How often a line may run code that runs a line."""


@lru_cache(maxsize=256)  # every policy at an event asks for the same line
def effects_of_line(line: Line, cwd: str, home: str, depth: int = 0) -> tuple[Effect, ...]:
    """Return what a line does in a directory. Looks at no file."""
    texts, inputs = Texts(line), Inputs(line)
    found = list[Effect]()
    names = Names(home)
    for command in line.commands:
        places = _directories(command, cwd, home)
        found += names.follow(command, list(_effects(inputs, texts, command, places, home, depth)))
        names.note(command, places)
    for read in LINE_READERS:
        found += read(line, cwd, home)
    return tuple(dict.fromkeys(found))


def _effects(
    inputs: Inputs, texts: Texts, command: ShellCommand, places: tuple[str | None, ...], home: str, depth: int
) -> Iterator[Effect]:
    text = " ".join(map(written, command.parts)) or " ".join(
        f"{one.operator} {written(one.target)}" for one in command.redirections
    )
    found = tuple(_found(texts, inputs.with_input(command)))
    if not found:
        return
    hosts = inputs.hosts(command)
    for directory in places:
        for one in found:
            place = _known(absolute(one.directory, directory, home)) if one.directory else directory
            if one.kind == RUNS:
                yield from _run(one.target, place, home, command, depth)
                continue
            is_file = one.kind in FILE_KINDS and one.target
            target = absolute(one.target, place, home) if is_file else one.target
            yield Effect(one.kind, target, text, command.name, command.grade, (*one.values, *hosts), place)


def _run(text: str, directory: str | None, home: str, command: ShellCommand, depth: int) -> Iterator[Effect]:
    """Yield the effects of a command line that code or a statement runs."""
    inner = read_line(text)
    if depth < _DEEPEST:
        for effect in effects_of_line(inner, ONE if directory is None else directory, home, depth + 1):
            yield effect if command.grade == "certain" else effect._replace(grade=command.grade)
    if inner.opaque or depth >= _DEEPEST:
        yield Effect("computed-code", "", text, command.name, command.grade, (), directory)


def _found(texts: Texts, command: ShellCommand) -> Iterator[Found]:
    for redirection in command.redirections:
        if redirection.target.startswith(("/dev/tcp/", "/dev/udp/")):
            host = redirection.target.split("/")[3]
            yield Found("request", host)
            if redirection.is_output:
                yield Found("send", host)
        elif redirection.is_output:
            yield Found("write-files", written(redirection.target))
            if redirection.operator in (">", ">|") and _writes_nothing(command):
                yield Found("empty-files", written(redirection.target))
        elif redirection.is_input and not redirection.text and redirection.operator != "<&":
            yield Found("read-files", written(redirection.target))
    for name, value in command.assigned:
        if is_check_off(name, value):
            yield Found("tls-off")
    yield from loading_variables(command)
    yield from computed_words(command)
    given = texts.read_by(command)
    for name, program in find_programs(command.name):
        yield from apply_rows(name, program, command, given)
    language, code = code_of(command, given)
    for one in code:
        for found in read_code(language, one):
            yield found
            if found.kind == RUNS:
                yield Found("code-command", found.target)
    yield from network_in_code(command, code)
    if not code:
        yield from effects_of_script(texts, command)


def unread(line: Line) -> tuple[Unread, ...]:
    """Return what a line runs that cannot be read, without the code and the statements that are read here."""
    if not any(reason.kind in ("code", "input", "file", "written") for reason in line.opaque):
        return line.opaque
    texts = Texts(line)
    read = set(scripts_read(line, texts))
    for command in line.commands:
        given = texts.read_by(command)
        names = (command.name, program_of(command.name))
        language, code = code_of(command, given)
        if code and all(map(is_known, code)):
            read |= {f"code for {name}, which is not read" for name in names}
        is_client = command.name.lower() in CLIENTS
        if (texts.is_complete(command) and (language or is_client)) or (is_client and texts.is_from_files(command)):
            read |= {f"{name} runs what it reads{end}" for name in names for end in ("", " from a pipe")}
    return tuple(reason for reason in line.opaque if str(reason) not in read)


def _writes_nothing(command: ShellCommand) -> bool:
    """Return whether a command has no output, so that a redirection empties its file."""
    return command.parts in ((), (":",), ("true",), ("cat", "/dev/null"))


_DEEPEST_DIRECTORY = 40
"""How many parts the path of a directory may have: a line that goes deeper is in an unknown one."""


def _directories(command: ShellCommand, cwd: str, home: str) -> tuple[str | None, ...]:
    known = (is_known(place) and place.count("/") < _DEEPEST_DIRECTORY for place in command.directories)
    places = [
        absolute(place, cwd, home) if is_near else None
        for place, is_near in zip(command.directories, known, strict=True)
    ]
    return tuple(dict.fromkeys(places)) or (None,)


def _known(path: str) -> str | None:
    return path if is_known(path) else None
