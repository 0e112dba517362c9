"""Find what git's own content overwrites in the working tree: ``git show HEAD:f > f``, ``git diff | git apply -R``."""

from __future__ import annotations

from collections.abc import Iterator

from ...matching.shell import Line, ShellCommand
from ...matching.shell.options import operands_of
from ...matching.shell.words import is_known
from .effect import Effect
from .flow import Brought, DataOrigin, FlowStep, Origins, follow
from .paths import absolute, plain
from .rows import written

__all__ = ["git_contents"]

_DIFFS = frozenset(["diff", "diff-files", "diff-index"])
_NO_PATCH = frozenset(["--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--quiet", "--check"])
_DRY = frozenset(["--check", "--stat", "--numstat", "--summary", "--cached", "--dry-run"])
_COPIES = frozenset(["cp", "mv", "install"])


def git_contents(line: Line, cwd: str, home: str) -> Iterator[Effect]:
    """Yield an effect for each command that writes what git has over files of the working tree."""
    if not any(command.name == "git" for command in line.commands):
        return
    for step in follow(line, _sources):
        command = step.command
        for directory in command.directories:
            place = absolute(directory, cwd, home) if is_known(directory) else None
            for target in _overwritten(step, place, home):
                text = " ".join(map(written, command.parts))
                found = absolute(target, place, home)
                yield Effect("lose-changes", found, text, command.name, command.grade, (), place)


def _sub(command: ShellCommand) -> tuple[str, tuple[str, ...]]:
    """Return the subcommand of git and the words after it."""
    if command.name != "git":
        return "", ()
    at, _ = operands_of("git", command.parts[1:])
    words = command.parts[1 + at :]
    return "".join(words[:1]), tuple(words[1:])


def _sources(command: ShellCommand) -> Iterator[Brought]:
    sub, words = _sub(command)
    operands = [word for word in words if not word.startswith("-")]
    if sub in _DIFFS and not _NO_PATCH & set(words):
        names = words[: words.index("--")] if "--" in words else words
        if not {"--cached", "--staged"} & set(names) and all(one in ("HEAD", "@") or one[:1] == "-" for one in names):
            yield Brought(DataOrigin("git-changes"))
    elif sub in ("show", "cat-file"):
        for word in operands:
            revision, colon, path = word.partition(":")
            if colon and path and revision:
                yield Brought(DataOrigin("git-file", path))
    elif sub == "archive" and not any(word.startswith("--remote") for word in words):
        yield Brought(DataOrigin("git-tree", command.directories[0]))


def _overwritten(step: FlowStep, place: str | None, home: str) -> Iterator[str]:
    """Yield the files, or the directory, over which a command writes content of git."""
    command = step.command
    sub, words = _sub(command)
    given = step.input | step.of_words
    kinds = {origin.kind for origin in given}
    if "git-changes" in kinds and _reverses(command, sub, words):
        yield "."
    if command.name in ("tar", "gtar", "bsdtar") and _unpacks_here(command, given):
        yield "."
    own = frozenset(one.origin for one in _sources(command))
    files = [origin for origin in own | given if origin.kind == "git-file"]
    for target in _written_files(command) if files else ():
        whole = plain(absolute(written(target), place, home))
        for origin in files:
            path = origin.target
            is_same = (
                whole.endswith("/" + plain(path))
                if not path.startswith("./")
                else (whole == plain(absolute(path, place, home)))
            )
            if is_same:
                yield written(target)


def _reverses(command: ShellCommand, sub: str, words: tuple[str, ...]) -> bool:
    """Return whether a command takes changes of a patch back in the working tree."""
    if command.name == "patch":
        words = command.parts[1:]
    elif sub != "apply":
        return False
    is_reverse = any(one == "--reverse" or (one[:1] == "-" and one[1:2] != "-" and "R" in one) for one in words)
    return is_reverse and not _DRY & set(words)


def _unpacks_here(command: ShellCommand, given: Origins) -> bool:
    """Return whether tar unpacks a tree of git in the directory in which git made it."""
    words = command.parts[1:]
    letters = "".join(words[:1]).lstrip("-")
    is_elsewhere = any(one.startswith(("-C", "--directory", "--one-top-level", "-t", "--list")) for one in words)
    if is_elsewhere or "C" in letters or not ("x" in letters or {"-x", "--extract", "--get"} & set(words)):
        return False
    return any(origin.kind == "git-tree" and origin.target == command.directories[0] for origin in given)


def _written_files(command: ShellCommand) -> Iterator[str]:
    yield from (one.target for one in command.redirections if one.is_output)
    if command.name in ("tee", "sponge"):
        yield from (word for word in command.parts[1:] if not word.startswith("-"))
    elif command.name in _COPIES:
        yield from command.parts[-1:]
