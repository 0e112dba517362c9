"""Follow data through one line: from a command that brings it to the commands that read, run or send it.

Data has an ``Origin``. It moves through pipes, substitutions, redirections, variables, and files that the line writes,
copies, links, packs and unpacks. ``follow`` yields each command with the origins that reach it. A function says which
origins a command has of its own: a download, a decoded text, a secret file.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from ...matching.programs import SHELLS, is_known_program
from ...matching.shell import Line, ShellCommand, read_line
from ...matching.shell.words import MANY, ONE, base_name, is_known
from ...runtime.named_tuples import NamedTuple
from .rows import written

__all__ = ["Brought", "DataOrigin", "Files", "FlowStep", "Origins", "Sources", "follow"]

_DEEPEST = 4
_MOST_NAMES = 64
_MOST_ORIGINS = 8
_ROUNDS = 2  # what a line writes may be read by a command that stands before: mkfifo, loops, &


class DataOrigin(NamedTuple):
    """Where data comes from."""

    kind: str
    """``downloaded``, ``decoded`` or another word of the function that names the origins."""
    target: str = ""
    """The URL, host or file."""
    via: str = ""
    """``archive`` if it is something in an archive."""


Origins = frozenset[DataOrigin]
_NOTHING: Origins = frozenset()


class Brought(NamedTuple):
    """Data that a command brings into the line: to its output, or to a file."""

    origin: DataOrigin
    file: str = ""
    """The file that it is written to; empty if it is the output."""


Sources = Callable[[ShellCommand], Iterable[Brought]]


class Files:
    """The files and variables of a line, and the origins of what they hold."""

    def __init__(self) -> None:
        self.by_name: dict[str, set[DataOrigin]] = {}
        self.everything: set[DataOrigin] = set()
        """The origins of all files."""
        self.variables: dict[str, set[DataOrigin]] = {}
        self.in_variables: Origins = frozenset()
        self.extracted: set[DataOrigin] = set()
        """The origins of archives that were unpacked: their files have names that the line does not show."""
        self.extracted_in: set[str] = set()
        """The directories in which that was done."""
        self.programs: set[str] = set()
        """The names of files in directories of programs: they are run by name."""

    def write(self, path: str, origins: Iterable[DataOrigin], command: ShellCommand) -> None:
        """Note that a command writes data to a file."""
        path = written(path)
        found = set(origins)
        if not found or path in ("/dev/null", "/dev/stderr"):
            return
        self.everything |= found
        if not path.strip(ONE) and not command.variables:  # the server chooses the name
            self.extracted |= found
            self.extracted_in.update(command.directories)
        for name in _names(path, command):
            self.by_name.setdefault(name, set()).update(found)
        folder, _, name = path.rstrip("/").rpartition("/")
        if base_name(folder) in ("bin", "sbin") or not is_known(folder):
            self.programs.add(name)

    def hold(self, variable: str, origins: Iterable[DataOrigin]) -> None:
        """Note that a variable holds data."""
        self.variables.setdefault(variable, set()).update(origins)
        self.in_variables |= frozenset(origins)

    def read(self, path: str, command: ShellCommand) -> Origins:
        """Return the origins of what a file holds; files are compared by their last names."""
        path = written(path)
        found: set[DataOrigin] = set()
        for name in _names(path, command):
            found |= self.by_name.get(name, set())
        base = base_name(path.rstrip("/"))
        if not is_known(base) and base != ONE:
            if base == MANY or len(self.by_name) > _MOST_NAMES:
                return frozenset(self.everything)
            glob = base.replace(ONE, "*").replace(MANY, "*")
            for name, origins in self.by_name.items():
                if fnmatch.fnmatchcase(name, glob):
                    found |= origins
        return frozenset(found)


def _names(path: str, command: ShellCommand) -> Iterator[str]:
    """Yield the names under which a file is kept: its last name, or the variables that the name consists of."""
    base = base_name(path.rstrip("/"))
    if is_known(base):
        if base:
            yield base
    else:
        for variable in command.variables:
            yield f"${variable}"


class FlowStep(NamedTuple):
    """A command of a line, with the origins of what it is given."""

    command: ShellCommand
    input: Origins
    """What it reads: pipes, redirections, here-documents."""
    substituted: Origins
    """What stands for the unknown parts of its words: substitutions and variables."""
    files: Files

    def of_word(self, word: str) -> Origins:
        """Return the origins of a word: of the file that it names, and of its unknown parts."""
        found = self.files.read(word, self.command)
        return found if is_known(word) else found | self.substituted

    @property
    def of_words(self) -> Origins:
        """The origins of all words after the program."""
        return _union(map(self.of_word, self.command.parts[1:]))


def follow(line: Line, sources: Sources) -> list[FlowStep]:
    """Return the commands of a line with the origins that reach them; empty if no command brings data."""
    if not any(command.name in _OTHER_SHELLS or any(True for _ in sources(command)) for command in line.commands):
        return []
    walk = _EffectWalk(line, _few(sources), Files(), 0)
    steps: list[FlowStep] = []
    for _ in range(_ROUNDS):
        steps = list(walk.steps())
    return steps


def _few(sources: Sources) -> Sources:
    """Return a function that gives the first origins as they are, and one without a target for the others."""
    seen: set[DataOrigin] = set()

    def read(command: ShellCommand) -> Iterator[Brought]:
        for one in sources(command):
            is_one_more = one.origin not in seen and len(seen) >= _MOST_ORIGINS
            found = one._replace(origin=one.origin._replace(target="")) if is_one_more else one
            seen.add(found.origin)
            yield found

    return read


def _union(many: Iterable[Iterable[DataOrigin]]) -> Origins:
    found: set[DataOrigin] = set()
    for one in many:
        found.update(one)
    return frozenset(found)


class _EffectWalk:
    """One pass over the commands of a text, in their order."""

    def __init__(self, line: Line, sources: Sources, files: Files, depth: int) -> None:
        self.line = line
        self.sources = sources
        self.files = files
        self.depth = depth
        self.outputs: dict[int, Origins] = {}
        self.in_outputs: set[DataOrigin] = set()
        """The origins of all outputs."""
        self.at_place: dict[int, list[ShellCommand]] = {}
        for command in line.commands:
            self.at_place.setdefault(command.place, []).append(command)
        self.stages = _stages(line)

    def steps(self) -> Iterator[FlowStep]:
        """Yield the commands with their origins; note what they write."""
        for place, commands in sorted(self.at_place.items()):
            first = commands[0]
            substituted = self._substituted(commands)
            piped = self._output(*self.stages[place]) if place in self.stages else _NOTHING
            given = piped | self._redirected(first, substituted)
            self._assign(first, substituted)
            output = given if not first.parts else _NOTHING  # $(< file)
            for command in commands:
                more = given if {"xargs", "parallel"} & set(command.via) else _NOTHING
                step = FlowStep(command, given, substituted | more, self.files)
                if self.depth >= _DEEPEST or not _is_in_text(command):  # else the text is followed by itself
                    yield step
                    yield from self._nested(step)
                output |= self._written(step)
            self.outputs[place] = output
            self.in_outputs |= output
            for redirection in first.redirections:
                if redirection.is_output:
                    self.files.write(redirection.target, output, first)

    def _output(self, first: int, last: int) -> Origins:
        return _union(self.outputs.get(place, _NOTHING) for place in range(first, last))

    def _substituted(self, commands: list[ShellCommand]) -> Origins:
        ranges = {one for command in commands for one in command.substituted}
        names = {name for command in commands for name in command.variables}
        found = [self._output(first, last) for first, last in ranges]
        return _union([*found, *(self.files.variables.get(name, ()) for name in names)])

    def _redirected(self, command: ShellCommand, substituted: Origins) -> Origins:
        found: set[DataOrigin] = set()
        for one in command.redirections:
            if not one.is_input:
                continue
            if not is_known(one.text or one.target):
                found |= substituted
            if not one.text:
                found |= self.files.read(one.target, command)
                found |= self.files.by_name.get("&", set()) if one.operator == "<&" else set()
        return frozenset(found)

    def _assign(self, command: ShellCommand, substituted: Origins) -> None:
        """Note what variables hold; a value that is unknown and no substitution may be any other variable's."""
        held = substituted or (_NOTHING if command.parts else self.files.in_variables)
        if not held:
            return
        # The settings of earlier commands are there too: the new ones are this command's.
        unknown = [name for name, value in command.assigned if not is_known(value)]
        for name in [one for one in unknown if one not in self.files.variables] or unknown:
            self.files.hold(name, held)

    def _written(self, step: FlowStep) -> Origins:
        """Note the files that a command writes, and return what it may write to its output."""
        command, files = step.command, self.files
        brought = list(self.sources(command))
        for one in brought:
            if one.file:
                files.write(one.file, [one.origin], command)
        own = frozenset(one.origin for one in brought if not one.file)
        name, words = command.name, list(command.parts[1:])
        if not self.line.is_simple and name and not is_known_program(name):  # it may be a function of the line
            own |= self.in_outputs
        read = step.input | step.of_words
        held = read | own
        if held:
            for target in _targets(name, words):
                files.write(target, held, command)
            if name in _UNPACKERS and _unpacks(name, words):
                files.extracted.update(origin._replace(via="archive") for origin in held)
                files.extracted_in.update(command.directories)
            if name in ("exec", "coproc") and any(one.is_input for one in command.redirections):
                files.by_name.setdefault("&", set()).update(held)
            if name in ("read", "mapfile", "readarray", "printf", "export", "declare", "local"):
                for word in words:
                    files.hold(word.partition("=")[0], held)
        if name in _NO_DATA:
            return own
        return held

    def _nested(self, step: FlowStep) -> Iterator[FlowStep]:
        """Yield the steps of a text that the command runs as a line of its own."""
        if self.depth >= _DEEPEST:
            return
        for text in _texts(step.command):
            inner = read_line(text)
            if inner.commands and text != self.line.text:
                for one in _EffectWalk(inner, self.sources, self.files, self.depth + 1).steps():
                    # What the outer command reads, the commands in its text read too.
                    yield one._replace(input=one.input | step.input)


def _stages(line: Line) -> dict[int, tuple[int, int]]:
    """Return for each command that reads from a pipe the range of the commands that feed it: the stage before."""
    began: dict[tuple[int, int], int] = {(first, last): middle for first, middle, last in line.pipes}
    found: dict[int, tuple[int, int]] = {}
    for first, middle, last in line.pipes:
        before = began.get((first, middle), first)
        for place in range(middle, last):
            found.setdefault(place, (before, middle))
    return found


_OTHER_SHELLS = frozenset(["pwsh", "powershell", "cmd", "powershell.exe", "cmd.exe"])
"""Shells whose texts are not among the commands of a line."""

_RUNNERS = SHELLS | _OTHER_SHELLS | {
    "eval", "ssh", "su", "runuser", "watch", "flock", "script", "trap", "sudo", "xargs", "parallel", "docker",
    "podman", "kubectl",
}  # fmt: skip
"""Programs that run a text among their words."""

_NO_DATA = frozenset(
    """
    [ b2sum cd chmod chown cksum cmp diff du exit false file find kill ls md5 md5sum mkdir
    mkfifo mktemp pwd return rm rmdir sha1sum sha224sum sha256sum sha384sum sha512sum shasum shellcheck sleep stat sum
    test touch true type unlink wait wc which
    """.split()
)
"""Programs that print nothing of what they read."""

_LAST = frozenset(["cp", "mv", "ln", "install", "rsync", "gcp", "gmv"])
_UNPACKERS = frozenset(
    ["tar", "bsdtar", "gtar", "unzip", "7z", "7za", "7zz", "cpio", "unrar", "jar", "ar", "pax", "dtrx", "unar"]
)
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".Z", ".gpg", ".asc", ".enc", ".b64")
_PRESSES = frozenset(
    ["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "pigz", "compress", "uncompress"]
)
_OUTPUT_OPTIONS = frozenset(["-o", "--output", "-out", "--out", "--output-file", "-of"])


def _targets(name: str, words: list[str]) -> Iterator[str]:
    """Yield the files into which a command writes what it reads."""
    operands = [word for word in words if not word.startswith("-")]
    if name in _LAST and len(operands) > 1:
        target = operands[-1]
        yield target
        for word in operands[:-1]:
            yield f"{target.rstrip('/')}/{base_name(word)}"
    elif name in ("tee", "sponge", "split"):
        yield from operands
    elif name == "dd":
        yield from (word[3:] for word in operands if word.startswith("of="))
    elif name in _PRESSES:
        for word in operands:
            stem = next((word.removesuffix(end) for end in _COMPRESSED if word.endswith(end)), "")
            yield from (stem,) if stem else (word + end for end in _COMPRESSED)
    elif name in _UNPACKERS or name == "zip":
        yield from _archives(name, words, operands)
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in _OUTPUT_OPTIONS and name not in ("curl", "wget", "grep", "set", "ssh", "sort"):
            yield value if equals else "".join(words[at + 1 : at + 2])


def _archives(name: str, words: list[str], operands: list[str]) -> Iterator[str]:
    if name in _UNPACKERS and _unpacks(name, words):
        return
    if name in ("tar", "bsdtar", "gtar"):
        for at, word in enumerate(words):
            if word.startswith("--file="):
                yield word[7:]
            elif "f" in word[-1:] and (word.startswith("-") or at == 0) and not word.startswith("--"):
                yield "".join(words[at + 1 : at + 2])
    elif name.startswith("7z"):
        yield from operands[1:2]
    else:
        yield from operands[:1]


def _unpacks(name: str, words: list[str]) -> bool:
    if name in ("tar", "bsdtar", "gtar"):
        first = words[0] if words else ""
        return any(
            "x" in word if not word.startswith("--") else word in ("--extract", "--get")
            for word in [first.lstrip("-") and first, *(word for word in words[1:] if word.startswith("-"))]
        )
    if name == "zip":
        return False
    if name in ("jar", "ar"):
        return "x" in "".join(words[:1])
    if name == "cpio":
        return any(word.startswith("-") and "i" in word for word in words)
    return not name.startswith("7z") or words[:1] in (["x"], ["e"])


def _texts(command: ShellCommand) -> Iterator[str]:
    """Yield the words of a command that it runs as command lines."""
    if command.name not in _RUNNERS:
        return
    words = command.parts[1:]
    texts = dict.fromkeys(word for word in words if any(mark in word for mark in " ;|&\n"))
    texts |= dict.fromkeys(word for before, word in pairwise(words) if re.fullmatch("-[a-zA-Z]*c", before))
    if command.name in ("eval", "watch") and not texts:
        texts = {" ".join(words): None}
    for text in (one for one in texts if one not in (ONE, MANY, "")):
        # What is computed in it is no syntax: it stands for a word.
        yield text.replace(ONE, "$_").replace(MANY, "$_")


def _is_in_text(command: ShellCommand) -> bool:
    """Return whether a command stands in a text that another runs: ``bash -c TEXT``."""
    return any(one.endswith(" -c") or one in ("eval", "watch") for one in command.via)
