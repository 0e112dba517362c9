"""Find the files that commands run, in lines for the shell too, and put other paths in their place.

A line is read as the shell reads it, as far as that can be known before it runs: quotes, substitutions, ``cd``, the
arguments of interpreters. Every file that a command runs is given to a ``FileLocator``, which answers with the path to
run instead. What cannot be known is noted, and so are the files that a command names and does not run.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence
from typing import Protocol

from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex
from .script_names import PREFIXES, RUNNERS, SHELLS, is_assignment

__all__ = ["FileLocator", "redirect_line", "redirect_value", "redirect_words"]

_DEEPEST = 8
_INERT = {"echo", "printf", ":", "true", "false", "exit", "return", "read", "export", "unset", "set", "local", "shift"}
_HARMLESS = {"echo", "printf", ":", "true", "false", "exit", "return", "read", "unset", "shift", "grep", "egrep",
             "fgrep", "jq"}  # fmt: skip
"""Programs that run nothing that their words name."""
_JQ_MODULE = regex(r"\b(?:import|include)\b")
_FILTERS = {"grep", "egrep", "fgrep", "jq"}
"""Programs whose first argument is no file."""
_READERS = {"cat", "tac", "head", "tail", "ls", "stat", "wc", "cmp", "diff", "readlink"}
"""Programs whose arguments are all files."""
_FILE_COMPARED = {"-nt", "-ot", "-ef"}
_FILE_TESTS = {f"-{letter}" for letter in "bcdefghkLNOGprsSuwx"} | _FILE_COMPARED
_KEYWORDS = {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "fi", "done"}
_LATER = {"eval", "trap"}
"""Programs whose words are lines for the shell."""
_FIND_RUNS = {"-exec", "-execdir", "-ok", "-okdir"}
_ONLY_SAYS = {"--version", "-V", "-v", "--help", "-h"}
_TOOLS = {"uv", "poetry", "pdm", "hatch", "pipenv", "rye", "go", "deno", "bun"}
"""Programs that run scripts, and have subcommands too: ``go vet``."""
_SUBCOMMANDS = {"run", "exec", "x", "dlx", "tool", "--"}
"""Words between a program such as ``uv`` or ``npm`` and the command that it runs."""
_PACKAGE = ("package.json",)
_READ = {
    "make": ("Makefile", "makefile", "GNUmakefile"), "just": ("justfile", "Justfile"), "rake": ("Rakefile",),
    "npm": _PACKAGE, "pnpm": _PACKAGE, "yarn": _PACKAGE, "bun": _PACKAGE, "npx": _PACKAGE, "cargo": ("Cargo.toml",),
    "go": ("go.mod",), "tox": ("tox.ini", "pyproject.toml"), "nox": ("noxfile.py",), "mvn": ("pom.xml",),
    "gradle": ("build.gradle", "build.gradle.kts"), "composer": ("composer.json",), "bundle": ("Gemfile",),
    "pre-commit": (".pre-commit-config.yaml",),
}  # fmt: skip
"""Files of a project by which programs know what to run."""
_OPERATORS = regex(r"\n|;;&?|;&|;|&&|\|\||\|&|\||&(?!>)|\(|\)")
_REDIRECTION = regex(r"\d*(?:<<<|<<-?|<>|<&|>>|>&|>\||[<>])|&>>?")
_PROJECT = regex(
    r"\$(?:(?:CLAUDE|INTERPOSE)_PROJECT_DIR\b|\{(?:CLAUDE|INTERPOSE)_PROJECT_DIR(?::?-[^{}]*(?:\{[^{}]*\}[^{}]*)*)?\}"
    r"|PWD\b|\{PWD\}|\(pwd\)|\(git rev-parse --show-toplevel(?: *2> */dev/null)?\))"
    r"|`pwd`|`git rev-parse --show-toplevel(?: *2> */dev/null)?`"
)
_HOME = regex(r"\$(?:HOME\b|\{HOME\})")
_PARAMETER = regex(r"\$(?:\w+|[@*#?$!-])")
_VALUE_PARTS = regex(r"[^\s=:,;]+")
_VERSION = regex(r"[0-9.]+$")
_MODULE = (
    "import sys; sys.path[:] = [{root!r}, *filter(None, sys.path)]; import runpy; "
    "runpy.run_module({name!r}, run_name='__main__', alter_sys=True)"
)


class FileLocator(Protocol):
    """Says where files are to be run from."""

    project: str
    """The directory that relative paths of a line begin at; nothing if that is not known."""
    folder: str
    """The directory of the configuration, where the program of a command without a shell is looked for first."""

    def run(self, path: str) -> str | None:
        """Return the path to run in the place of this one; None if it stays as it is."""

    def module(self, root: str, name: str) -> str | None:
        """Return the directory to import a module from in the place of this one; None if it is not there."""

    def name(self, path: str) -> str | None:
        """Return the path in the place of a file that is named and not run; None if it stays as it is."""

    def asks(self, path: str) -> str | None:
        """Return the path in the place of one whose existence or content decides; None if it stays as it is."""

    def searches(self, name: str, value: str) -> None:
        """Note directories where an interpreter looks for modules, and the option that names them."""

    def unknown(self, text: str) -> None:
        """Note what is run and cannot be known before."""

    def reads(self, path: str) -> None:
        """Note a file that a program reads without being told: the Makefile of ``make``."""

    def mentions(self, text: str, bases: Sequence[str]) -> None:
        """Note the files that a text names which no command was seen to run, in directories where it may run."""


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    """The literal text; ``\\0`` stands for the project."""
    known: bool
    """Whether the text is all that there is: without expansions."""
    inner: str
    """The text of a word without expansions but that of the project, as a line for another shell."""


def redirect_line(line: str, place: FileLocator, base: str | None = None, depth: int = 0) -> str:
    """Return a line for the shell that runs files from their new places."""
    reader = _Line(line, place, place.project if base is None else base, depth)
    reader.read()
    rest = line
    for start, end in reader.ignored + [(start, end) for start, end, _ in reader.edits]:
        rest = rest[:start] + " " * (end - start) + rest[end:]
    place.mentions(_PROJECT.sub(lambda _: place.project, rest), reader.bases)
    for start, end, text in sorted(reader.edits, reverse=True):
        line = line[:start] + text + line[end:]
    return line


def redirect_words(words: Sequence[str], place: FileLocator) -> list[str]:
    """Return the words of a command without a shell that runs files from their new places."""
    given = [_word_of(at, word) for at, word in enumerate(words)]
    edits: dict[int, str] = {}
    ignored: set[int] = set()
    _Command(
        given, place, place.project, 0, lambda word, text: edits.__setitem__(word.start, text),
        lambda word: ignored.add(word.start), str,
    ).read()  # fmt: skip
    for at, word in enumerate(words):
        if at not in edits and at not in ignored:
            place.mentions(_PROJECT.sub(lambda _: place.project, word), [place.project])
    return [edits.get(at, word) for at, word in enumerate(words)]


def redirect_value(value: str, place: FileLocator) -> str:
    """Return the value of a variable with the new places of the files that it names: ``--require=./setup.js``."""

    def moved(found: re.Match[str]) -> str:
        path = _join(place.project, found[0])
        return (place.run(path) if os.path.exists(path) else None) or found[0]

    return _VALUE_PARTS.sub(moved, _PROJECT.sub(lambda _: place.project, value)) if place.project else value


def _word_of(at: int, word: str) -> _Word:
    """Return a word that no shell reads; Claude Code fills in the project."""
    text = _PROJECT.sub("\0", word, count=1) if word.startswith("${") else word
    return _Word(at, at, text, "${" not in text, word)


class _Line:
    """Reads the simple commands of one line, and collects what is to be replaced in it."""

    def __init__(self, text: str, place: FileLocator, base: str, depth: int) -> None:
        self.text = text
        self.place = place
        self.base: str | None = base
        self.depth = depth
        self.edits: list[tuple[int, int, str]] = []
        self.ignored: list[tuple[int, int]] = []
        """Where words are that name no file which is run."""
        self.bases = [base]
        """The directories in which its commands run, as far as they are known."""
        self._at = 0
        self._documents: list[str] = []
        self._words: list[_Word] = []
        self._in_case = 0
        self._pattern = False

    def read(self) -> None:
        """Read to the end."""
        outer: list[str | None] = []
        while self._at < len(self.text):
            if self.text[self._at] in " \t\r" or self.text.startswith("\\\n", self._at):
                self._at += 1 + (self.text[self._at] == "\\")
            elif self.text[self._at] == "#":
                end = self.text.find("\n", self._at)
                self._at = len(self.text) if end < 0 else end
            elif found := _REDIRECTION.match(self.text, self._at):
                self._redirection(found)
            elif found := _OPERATORS.match(self.text, self._at):
                self._operator(found[0], outer)
                self._at = found.end()
                if found[0] == "\n":
                    self._skip_documents()
            else:
                self._words.append(self._word())
        self._command("")

    def _operator(self, mark: str, outer: list[str | None]) -> None:
        if self._pattern:  # of a case: up to the parenthesis
            self._words = []
            self._pattern = mark != ")"
            return
        self._command(mark)
        if mark == "(":
            outer.append(self.base)
        elif mark == ")" and outer:
            self.base = outer.pop()
        elif mark.startswith(";;") or mark == ";&":
            self._pattern = self._in_case > 0

    def _redirection(self, found: re.Match[str]) -> None:
        self._at = found.end()
        while self.text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1
        word = self._word()
        if found[0].endswith("<<<"):
            return
        if ">" in found[0] and "<" not in found[0]:
            self._ignore(word)
        elif found[0].endswith(("<<", "<<-")):
            self._documents.append(word.text)
        elif found[0].endswith("<") and word.known:
            path = self._path(word.text) or ""
            self._replace(word, self.place.name(path) or self.place.asks(path))

    def _skip_documents(self) -> None:
        for end in self._documents:
            found = re.compile(rf"^\t*{re.escape(end)}$", re.MULTILINE).search(self.text, self._at)
            self._at = len(self.text) if found is None else found.end()
        self._documents = []

    def _command(self, mark: str) -> None:
        words, self._words = self._words, []
        while words and words[0].text in _KEYWORDS:
            words = words[1:]
        if not words:
            return
        if words[0].text == "case":
            self._in_case += 1
            self._pattern = words[-1].text == "in"
            return
        if words[0].text == "esac":
            self._in_case -= 1
            return
        if words[0].text in ("for", "select", "function"):
            return
        if words[0].text in ("[[", "[", "test"):
            for before, word, after in zip([None, *words], words, [*words[1:], None], strict=False):
                self._ignore(word)
                asked = (before and before.text in _FILE_TESTS) or (after and after.text in _FILE_COMPARED)
                if asked and word.known and (path := self._path(word.text)):
                    self._replace(word, self.place.asks(path))
            return
        if words[0].text == "popd":
            self.base = None
        if words[0].text in ("cd", "pushd"):
            self._change(words, mark)
            return
        _Command(words, self.place, self.base, self.depth, self._replace, self._ignore, shlex.quote).read()

    def _change(self, words: list[_Word], mark: str) -> None:
        """Follow ``cd``."""
        if mark in ("|", "|&", "&"):
            return  # it holds for another process
        target = next((word for word in words[1:] if not word.text.startswith("-")), None)
        if target is None or not target.known:
            self.base = None
        else:
            self.base = self._path(target.text)
            self._ignore(target)
        if self.base is not None:
            self.bases.append(self.base)

    def _path(self, text: str) -> str | None:
        return _resolve(text, self.place, self.base)

    def _replace(self, word: _Word, text: str | None) -> None:
        if text is not None:
            self.edits.append((word.start, word.end, text))

    def _ignore(self, word: _Word) -> None:
        if word.known:
            self.ignored.append((word.start, word.end))

    def _word(self) -> _Word:
        """Read one word: its literal text, and whether that is all of it."""
        start, parts, inner, known, quoted = self._at, [], [], True, False
        while self._at < len(self.text):
            mark = self.text[self._at]
            if not quoted and (
                mark in " \t\r\n<>" or _OPERATORS.match(self.text, self._at) or self.text.startswith("&>", self._at)
            ):
                break
            if mark == '"':
                quoted = not quoted
                self._at += 1
            elif mark == "'" and not quoted:
                end = self.text.find("'", self._at + 1)
                end = len(self.text) if end < 0 else end
                parts.append(self.text[self._at + 1 : end])
                inner.append(parts[-1])
                self._at = end + 1
            elif self.text.startswith("\\\n", self._at):
                self._at += 2
            elif mark == "\\":
                parts.append(self.text[self._at + 1 : self._at + 2])
                inner.append(parts[-1])
                self._at += 2
            elif mark in "$`":
                if self._expansion(parts, inner, mark):
                    continue
                known = False
            else:
                known = known and (quoted or mark not in "*?[{") and not (mark == "~" and self._at != start)
                parts.append(mark)
                inner.append(mark)
                self._at += 1
        return _Word(start, self._at, "".join(parts), known, "".join(inner) if known else "")

    def _expansion(self, parts: list[str], inner: list[str], mark: str) -> bool:
        """Read an expansion; return whether its value is known: the project, or the home at the beginning."""
        if found := _PROJECT.match(self.text, self._at):
            parts.append("\0")
            inner.append('"$CLAUDE_PROJECT_DIR"')
            self._at = found.end()
            return True
        if not parts and (found := _HOME.match(self.text, self._at)):
            parts.append(os.path.expanduser("~"))
            inner.append(parts[-1])
            self._at = found.end()
            return True
        if self.text.startswith("$(", self._at) or mark == "`":
            self._substitution(mark)
        elif self.text.startswith("${", self._at):
            end = self.text.find("}", self._at)
            self._at = len(self.text) if end < 0 else end + 1
        elif found := _PARAMETER.match(self.text, self._at):
            self._at = found.end()
        else:
            parts.append(mark)
            inner.append(mark)
            self._at += 1
            return True
        parts.append("*")
        return False

    def _substitution(self, mark: str) -> None:
        """Redirect the line of a substitution where it stands."""
        start = self._at + (1 if mark == "`" else 2)
        end = _closing(self.text, start, "`" if mark == "`" else ")")
        self._at = end + 1
        if self.depth < _DEEPEST and self.base is not None:
            nested = _Line(self.text[start:end], self.place, self.base, self.depth + 1)
            nested.read()
            self.edits += [(start + one, start + two, text) for one, two, text in nested.edits]
            self.ignored += [(start + one, start + two) for one, two in nested.ignored]
            self.bases += nested.bases


def _closing(text: str, at: int, closer: str) -> int:
    """Return where a substitution that begins here ends."""
    depth, quote = 0, ""
    while at < len(text):
        mark = text[at]
        if mark == "\\":
            at += 1
        elif quote:
            quote = "" if mark == quote else quote
        elif mark == "'" and closer == ")":
            quote = mark
        elif mark == closer and depth == 0:
            return at
        elif closer == ")" and mark in "()":
            depth += 1 if mark == "(" else -1
        at += 1
    return len(text)


class _Command:
    """One simple command: which of its words it runs, and which it only names."""

    def __init__(
        self,
        words: Sequence[_Word],
        place: FileLocator,
        base: str | None,
        depth: int,
        replace: Callable[[_Word, str], None],
        ignore: Callable[[_Word], None],
        quote: Callable[[str], str],
    ) -> None:
        self.words = words
        self.place = place
        self.base = base
        self.depth = depth
        self.replace = replace
        self.ignore = ignore
        self.quote = quote

    def read(self) -> None:
        """Give every word that is run, and every file that is named, to the place."""
        at = self._program(0)
        if at is None:
            return
        rest = list(self.words[at + 1 :])
        program = os.path.basename(self.words[at].text)
        name = _VERSION.sub("", program) or program  # a dot is a program too
        if name in _HARMLESS and not any(_JQ_MODULE.search(word.text) for word in rest):
            for word in rest:
                self.ignore(word)
        if name in _INERT or name in _LATER:
            for word in rest if name in _LATER else ():
                if not word.known:
                    self.place.unknown(word.text)
            return
        self._run(self.words[at], is_program=True)
        if not {"/", "\0"} & set(self.words[at].text) and all(is_assignment(word.text) for word in self.words[:at]):
            self.ignore(self.words[at])  # it is on PATH
        for word in self._after_what_is_run(name, rest):
            self._name(word)

    def _after_what_is_run(self, name: str, rest: list[_Word]) -> list[_Word]:
        """Read what a program runs; return the words that may name other files."""
        if name in SHELLS:
            return self._shell(name, rest)
        if name in RUNNERS:
            return self._interpreted(name, rest)
        if name == "find":
            for start, word in enumerate(rest):
                if word.text in _FIND_RUNS:
                    self._again(rest[start + 1 :])
        elif name in _READERS:
            for word in rest:
                if word.known and not word.text.startswith("-") and not word.text.isdigit():
                    self.place.asks(self._resolve(word.text) or "")
        elif name in _FILTERS and not any(re.match(r"-\w*[ef]|--(?:file|regexp)", word.text) for word in rest):
            pattern = next((word for word in rest if not word.text.startswith("-")), None)
            return [word for word in rest if word is not pattern]
        return rest

    def _program(self, at: int) -> int | None:
        """Return the index of the program, after assignments and programs that run another."""
        prefixed = False
        for index in range(at, len(self.words)):
            word = self.words[index]
            for read in _READ.get(os.path.basename(word.text), ()) if self.base else ():
                self.place.reads(_join(self.base or "", read))
            if is_assignment(word.text):
                self._value(word)
            elif os.path.basename(word.text) in PREFIXES:
                prefixed = True
            elif not (prefixed and (word.text.startswith("-") or word.text[:1].isdigit() or word.text in _SUBCOMMANDS)):
                return index
        return None

    def _again(self, words: Sequence[_Word]) -> None:
        """Read a command that this one runs."""
        _Command(words, self.place, self.base, self.depth, self.replace, self.ignore, self.quote).read()

    def _shell(self, name: str, rest: list[_Word]) -> list[_Word]:
        """Read what a shell runs: its options, then a line or a script; return the words after that."""
        at, letters = 0, ""
        while at < len(rest) and rest[at].text[:1] in ("-", "+") and rest[at].text not in ("-", "--"):
            text = rest[at].text
            if text.startswith("--"):
                self._option(rest[at], self.place.run)
                at += 1
                if text in ("--rcfile", "--init-file") and at < len(rest):
                    self._run(rest[at])
                    at += 1
            else:
                letters += text[1:]
                at += 2 if text[-1] in "oO" else 1  # bash -euo pipefail
        if rest[at : at + 1] and rest[at].text in ("-", "--"):
            at += 1
        if at >= len(rest) or ("s" in letters and "c" not in letters):
            self.place.unknown(f"the input of {name}")
        elif "c" in letters:
            self._nested(rest[at : at + 1])
        else:
            self._run(rest[at])
        return rest[at + 1 :]

    def _interpreted(self, name: str, rest: list[_Word]) -> list[_Word]:
        """Read what an interpreter runs: its options, a line, a module or a script; return the words after that."""
        for at, word in enumerate(rest):
            option = word.text.startswith("-")
            if word.text == "-m" and name.startswith(("python", "pypy")):
                self._module(word, rest[at + 1 : at + 2])
                return rest[at + 2 :]
            if word.text in ("-c", "-e", "--eval", "-p", "-r"):
                return rest[at + 2 :]
            if option:
                self._option(word, self.place.run)
                if name in ("perl", "ruby") and word.text.startswith("-I"):
                    self.place.searches("-I", word.text[2:] or "".join(one.text for one in rest[at + 1 : at + 2]))
                continue
            if word.text in _SUBCOMMANDS:
                continue
            if _VERSION.sub("", os.path.basename(word.text)) in RUNNERS | PREFIXES:  # uv run python check.py
                self._again(rest[at:])
                return []
            if name in _TOOLS and not {"/", ".", "\0"} & set(word.text):
                return rest[at + 1 :]
            is_file = self._run(word)
            # The value of an option looks like the script: node --require ./a.js ./b.js, uv run --with x ./b.py.
            after_option = at > 0 and rest[at - 1].text.startswith("-")
            if not after_option or (is_file and not _has_file(rest[at + 1 :])):
                return rest[at + 1 :]
        if name not in _TOOLS and not any(word.text in _ONLY_SAYS for word in rest):
            self.place.unknown(f"the input of {name}")
        return []

    def _nested(self, line: list[_Word]) -> None:
        """Redirect the line of ``sh -c LINE``."""
        for word in line:
            if not word.known or self.depth >= _DEEPEST or self.base is None:
                self.place.unknown(word.text)
                continue
            text = word.inner if self.quote is shlex.quote else word.text.replace("\0", '"$CLAUDE_PROJECT_DIR"')
            made = redirect_line(text, self.place, self.base, self.depth + 1)
            self.ignore(word)
            if made != text:
                self.replace(word, self.quote(made))

    def _module(self, option: _Word, names: list[_Word]) -> None:
        """Redirect ``python -m NAME``: the module comes from its new place, and nothing from where it runs."""
        for word in names:
            if not word.known or self.base is None:
                self.place.unknown(f"-m {word.text}")
            elif (root := self.place.module(self.base, word.text)) is not None:
                self.replace(option, "-c")
                self.replace(word, self.quote(_MODULE.format(root=root, name=word.text)))

    def _option(self, word: _Word, place: Callable[[str], str | None]) -> None:
        """Redirect the file of ``--require=./setup.js``."""
        name, equals, value = word.text.partition("=")
        if equals and word.known and value and (path := self._resolve(value)) and (made := place(path)):
            self.replace(word, self.quote(f"{name}={made}"))

    def _value(self, word: _Word) -> None:
        """Redirect the file of ``BASH_ENV=./setup.sh``."""
        name, _, value = word.text.partition("=")
        if word.known and value and (path := self._resolve(value)) and (made := self.place.name(path)):
            self.replace(word, f"{name}={self.quote(made)}")

    def _run(self, word: _Word, *, is_program: bool = False) -> bool:
        """Redirect a word that is run; return whether it is a file."""
        if not word.known or "{}" in word.text:  # xargs and find put a file there
            self.place.unknown(word.text)
            return False
        in_line = self.quote is shlex.quote
        is_beside = not in_line and os.path.isfile(_join(self.place.folder, word.text))
        if is_program and not is_beside and not {"/", "\0"} & set(word.text):
            return False  # it is on PATH
        path = self._resolve(word.text) if in_line or not is_program else _join(self.place.folder, word.text)
        if "\0" in word.text and not in_line:
            path = self._resolve(word.text)
        if path is None:
            self.place.unknown(word.text)
            self.ignore(word)
            return False
        made = self.place.run(path)
        if made is not None:
            self.replace(word, self.quote(made))
        return made is not None

    def _name(self, word: _Word) -> None:
        """Redirect a word that is named and not run."""
        if word.text.startswith("-"):
            self._option(word, self.place.name)
        elif word.known and word.text:
            path = self._resolve(word.text)
            if path is not None and (made := self.place.name(path)) is not None:
                self.replace(word, self.quote(made))

    def _resolve(self, text: str) -> str | None:
        path = _resolve(text, self.place, self.base)
        if self.quote is str and (path is None or not os.path.lexists(path)) and "\0" not in text:
            beside = _join(self.place.folder, text)
            return beside if os.path.lexists(beside) else path
        return path


def _has_file(words: Sequence[_Word]) -> bool:
    return any("/" in word.text and not word.text.startswith("-") for word in words)


def _resolve(text: str, place: FileLocator, base: str | None) -> str | None:
    """Return the path that a word names; None if the directory is not known."""
    if "\0" in text:
        if not text.startswith("\0") or not place.project or "\0" in text[1:]:
            return None
        return os.path.normpath(place.project + text[1:])
    path = os.path.expanduser(text)
    if not os.path.isabs(path) and not base:
        return None
    return _join(base or "", path)


def _join(base: str, path: str) -> str:
    return os.path.normpath(os.path.join(base, os.path.expanduser(path)))
