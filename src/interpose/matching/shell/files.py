"""The files that a line writes, and the files that it runs: one that it writes itself cannot be read before."""

from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase

from ...runtime.regex import regex
from ..programs import FILES_READ_BY_NAME, INERT, WRITERS
from .context import INPUT_RUN, INPUT_SUSPECT, Context
from .findings import Findings
from .line import Suspect
from .words import MANY, RawCommand, base_name, is_known, written_of

__all__ = ["LineFiles"]

_STREAMS = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty")
_MARKS = regex("[\0\1]+")
_ESCAPES = regex(r"\\[abfnrtv]")  # as printf and echo -e write them
_SAVES = regex(r"-[a-zA-Z]*O|--remote-name")
# It is compiled on first use, which takes long.
_CODE = r"\.(?:[ch]|cc|cpp|cs|go|gradle|java|js|kt|lua|mjs|mk|php|pl|pm|py|r|rb|rs|sh|swift|tcl|ts|tsx|zig|cmake)\Z"
_GIT_SETTINGS = frozenset(["config", ".gitconfig"])


class LineFiles:
    """The files that a line writes and runs, by their names without directories."""

    def __init__(self, found: Findings) -> None:
        self.found = found
        self.written: set[str] = set()
        self.written_like: set[str] = set()  # patterns of names that are not wholly known
        self.ran: list[tuple[str, str]] = []
        """The programs that run a file, or may run it, and its path."""
        self.texts: list[str] = []
        """What inert programs may have written to files."""
        self.loads: list[str] = []
        """The programs that run code which they find."""
        self.runs_scripts = False

    # Files that are written.

    @property
    def is_any_written(self) -> bool:
        """Whether the line writes a file."""
        return bool(self.written or self.written_like)

    def write(self, target: str) -> None:
        """Note a file that the line writes."""
        if target in _STREAMS:
            return
        base = _file_name(target)
        if is_known(base):
            self.written |= {base} if base else set()
        else:
            self.written_like.add(_MARKS.sub("*", glob.escape(base)))

    def write_operands(self, name: str, arguments: Sequence[str]) -> None:
        """Note the files that a program may write: those that its table says."""
        if name not in WRITERS:
            return
        option = WRITERS[name]
        if option:
            for at, word in enumerate(arguments):
                if word.startswith(option) and (word != option or at + 1 < len(arguments)):
                    self.write(word[len(option) :].lstrip("=") or arguments[at + 1])
                elif "://" in word and (name == "wget" or (name == "curl" and any(map(_SAVES.match, arguments)))):
                    self.write(word.partition("?")[0])
        else:
            for word in arguments:
                if not word.startswith("-") and (is_known(word) or not is_known(base_name(word))):
                    self.write(word.rstrip("/"))

    def wrote(self, path: str) -> bool:
        """Return whether the line writes, or may write, a file of this name."""
        base = _file_name(path)
        return bool(base) and (base in self.written or any(fnmatchcase(base, one) for one in self.written_like))

    def emptied_by(self, raw: RawCommand) -> set[str]:
        """Return the files that a command's own redirections write, and nothing before them."""
        return {base_name(one.target) for one in raw.redirections if one.operator in (">", ">|")} - self.written

    # Files that are run.

    def run(self, name: str, path: str, context: Context, arguments: Sequence[str] = ()) -> int:
        """Note a file that a shell or an interpreter runs, and suspect its arguments."""
        self.runs_scripts = True
        if context.adds and path == MANY:
            return INPUT_SUSPECT
        if path.startswith(("/dev/", "/proc/")) or path == "-":
            self.found.cannot_read(f"{name} runs what it reads from {path}", "input")
            return INPUT_RUN
        if not is_known(path) and (context.raw.substituted or not is_known(base_name(path))):
            self.found.cannot_read(f"{name} runs a file that is computed")
            return INPUT_RUN
        self.ran.append((name, path))
        if arguments:
            self.found.suspects.append(Suspect(base_name(path), tuple(arguments)))
            self.found.suspect_texts(name, arguments)
        return INPUT_SUSPECT

    def forget_run(self, names: AbstractSet[str], since: int) -> None:
        """Forget the files of these names among those that were run last."""
        self.ran[since:] = [entry for entry in self.ran[since:] if base_name(entry[1]) not in names]

    # What depends on the whole line.

    def judge_found_by_name(self, name: str) -> None:
        """Note if the line has written a file that a program finds by its name and runs."""
        if found := self.written & FILES_READ_BY_NAME:
            self.found.cannot_read(f"{name} may run {min(found)}, which the line writes", "written")

    def suspect_written_texts(self, names: AbstractSet[str]) -> None:
        """Suspect the texts that may have been written to a file which is run; ``names`` are those of the programs."""
        if self.runs_scripts or (self.is_any_written and ("chmod" in names or not names <= INERT)):
            self.found.suspects += [Suspect("a file that is run", text=_ESCAPES.sub("\n", text)) for text in self.texts]

    def judge_loaded(self, names: AbstractSet[str]) -> None:
        """Note settings and code that the line writes and that its programs load."""
        if "git" in names and self.written & _GIT_SETTINGS:
            self.found.cannot_read("git reads a configuration that the line writes", "written")
        code = [name for name in self.written if re.search(_CODE, name)] if self.loads else []
        if code:
            self.found.cannot_read(f"{self.loads[0]} may run {min(code)}, which the line writes", "written")

    def judge_run(self) -> None:
        """Note the files that the line writes and runs."""
        for program, path in self.ran if self.is_any_written else ():
            if self.wrote(path):
                self.found.cannot_read(f"{program} runs {path}, which the line writes", "written")


def _file_name(path: str) -> str:
    """Return the name of a file: as the line shows it where it is a variable, such as one that mktemp has made."""
    base, shown = base_name(path), base_name(written_of(path))
    return shown if not is_known(base) and is_known(shown) and not set(shown) & set("*?[{~") else base
