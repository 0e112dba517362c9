"""Find the commands that a line runs: those in it, and those that ``sudo``, ``sh -c``, ``find -exec`` and others run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from .. import programs
from ..grades import Grade
from ..programs import GLOBAL_OPTIONS, INERT, INTERPRETERS, KNOWN, SHELLS, WRAPPERS, Wrapper, options_of
from .languages import is_inert_awk, is_inert_code, is_inert_sed
from .line import Command, Line, Pipe, Suspect
from .reader import DIRECTORIES, Parsed, parse
from .words import MANY, ONE, RawCommand, SimpleCommand, Unsure, base_name, is_known

__all__ = ["operands_of", "program_of", "read_line", "shell_commands"]

_LONGEST = 100_000
_DEEPEST = 10
_MOST_COMMANDS = 3_000

# What a command does with what it reads.
_INERT, _SUSPECT, _RUNS = 0, 1, 2

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=", re.ASCII)
_VERSIONED = re.compile(
    r"(python|pip|pypy|perl|ruby|gcc|g\+\+|clang|clang\+\+|php|lua|node|tclsh|wish|bash|ksh|vim|not|java)-?[0-9][0-9.]*"
)
_FILE_VALUE = re.compile(r"(?!.*(?:eval|exec|-[rME]|command))[\w=%:,.+ -]*\Z", re.ASCII)
_COMMAND_VARIABLE = re.compile(r"(?:PAGER|EDITOR|_COMMAND|_CMD|_SSH|_RSH|_ASKPASS|BROWSER)\Z")
_FILE_VARIABLE = re.compile(r"(?:LD_|DYLD_|BASH_FUNC_)")
_BENIGN_GIT_KEYS = re.compile(
    r"(?i)(?:user|color|http|https|init|advice|commit|pull|push|fetch|safe|log|status|rebase|branch|tag|lfs|gc|pack|i18n|column"
    r"|remote|submodule|url)\.|core\.(?:autocrlf|longpaths|quotepath|filemode|symlinks|bare|ignorecase|eol|compression|precomposeunicode)\b"
    r"|merge\.(?:ff|conflictstyle)|diff\.(?:renames|algorithm|color)|credential\.usehttppath|protocol\.version"
)
_SUBSCRIPTED = frozenset(
    "read declare typeset local export readonly let unset printf getopts wait test [ [[ mapfile readarray".split()
)
_ARITHMETIC_TESTS = frozenset(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])
_ARCHITECTURE = re.compile(r"x86_64|i[3-6]86|linux(?:32|64)|uname26|aarch64|arm\w*|ppc\w*|s390x?|mips\w*|sparc\w*|ia64|athlon|alpha\w*|parisc\w*|riscv\w*")
_NUMBER = re.compile(r"-?[0-9]*")
_SAVES = re.compile(r"-[a-zA-Z]*O|--remote-name")
_TEXT_OPTION_LETTERS = re.compile(r"-[a-zA-Z]*m")
_FIND_ACTIONS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])
_SUBSTITUTED_TEXT = programs.PRODUCERS | frozenset(["sed", "awk", "cut", "perl", "python", "python3", "node", "grep"])


class _Context(NamedTuple):
    """How a command was reached."""

    via: tuple[str, ...]
    grade: Grade
    why: str
    depth: int
    raw: RawCommand
    parsed: Parsed
    elsewhere: bool = False

    def inside(self, program: str, why: str = "") -> _Context:
        """Return the context of a command that another one runs."""
        grade: Grade = "possible" if why else self.grade
        return self._replace(via=(*self.via, program), depth=self.depth + 1, grade=grade, why=why or self.why)


@lru_cache(maxsize=64)  # every rule at an event reads the same line
def read_line(text: str) -> Line:
    """Return every command that a command line runs or may run, and what in it cannot be read."""
    if len(text) > _LONGEST:
        return Line(text, opaque=("longer than 100,000 characters",), is_whole=False)
    control = _CONTROL.search(text)
    if control:
        return Line(text, opaque=(f"a control character, {control.group()!a}",), is_whole=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return Line(text, opaque=("text that is no Unicode",), is_whole=False)
    resolver = _Resolver()
    try:
        resolver.read(text, None)
    except Unsure as error:
        reasons = dict.fromkeys([str(error), *resolver.opaque])
        return Line(
            text, tuple(resolver.commands), tuple(resolver.suspects), (), tuple(reasons), is_whole=False, is_simple=False
        )
    resolver.finish()
    return Line(
        text,
        tuple(resolver.commands),
        tuple(resolver.suspects),
        tuple(resolver.pipes),
        tuple(dict.fromkeys(resolver.opaque)),
        is_simple=resolver.is_simple,
    )


def shell_commands(text: str) -> tuple[SimpleCommand, ...] | None:
    """Return every simple command that a command line would run, also through ``sudo``, ``sh -c`` and other wrappers.

    None if that is unknown: the text is too long or too deep, is not a shell's, or is computed while the line runs.
    """
    line = read_line(text)
    return None if line.opaque else tuple(command.words for command in line.commands)


def program_of(name: str) -> str:
    """Return the name that the tables have for a program: ``python`` for ``python3.11``."""
    versioned = _VERSIONED.fullmatch(name)
    return versioned.group(1) if versioned else name


def operands_of(name: str, words: Sequence[str]) -> tuple[int, bool]:
    """Return where the words after a program's global options begin, and whether all those options are known."""
    at, _, sure = _options(words, GLOBAL_OPTIONS.get(name, ""))
    return at, sure


class _Resolver:
    """Collects what one line runs."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.suspects: list[Suspect] = []
        self.pipes: list[Pipe] = []
        self.opaque: list[str] = []
        self.unread = 2 * _LONGEST  # eval eval eval … reads the same text again and again
        self.values: list[str] = []
        self.functions: set[str] = set()
        self.written: set[str] = set()
        self.ran: list[tuple[str, str]] = []
        self.path_changed = False
        self.dynamic = False  # the line itself says what its variables hold
        self.is_suspect = False
        self.is_simple = True
        self.counts = False  # arithmetic evaluates variables
        self.holds_text = False  # a variable may hold more than a number

    # Texts.

    def read(self, text: str, outer: _Context | None) -> int:
        """Read a text, and return what its commands do with what they read."""
        depth = outer.depth if outer else 0
        self.unread -= len(text)
        if depth > _DEEPEST or self.unread < 0:
            raise Unsure("too many commands that run commands")
        parsed = parse(text)
        self.opaque += parsed.opaque
        self.functions |= parsed.functions
        self.is_simple &= parsed.is_simple
        self.dynamic |= bool(parsed.assigned - DIRECTORIES or parsed.functions)
        self.counts |= bool(parsed.counted)
        self.holds_text |= bool(parsed.functions or "$(" in parsed.counted)
        if parsed.assigned & parsed.used:
            self.opaque.append(f"the line changes {', '.join(sorted(parsed.assigned & parsed.used))}")
        if outer is None:
            self.pipes += [Pipe(*pipe) for pipe in parsed.pipes]
        roles = [self._read_command(raw, parsed, outer) for raw in parsed.commands]
        self._follow_pipes(parsed, roles)
        return max(roles, default=_INERT)

    def _read_command(self, raw: RawCommand, parsed: Parsed, outer: _Context | None) -> int:
        if len(self.commands) > _MOST_COMMANDS:
            raise Unsure("more than 3,000 commands")
        grade: Grade = "possible" if raw.doubt else outer.grade if outer else "certain"
        context = _Context(
            outer.via if outer else (), grade, raw.doubt or (outer.why if outer else ""), outer.depth if outer else 0, raw, parsed,
            elsewhere=outer.elsewhere if outer else False,
        )  # fmt: skip
        self.dynamic |= bool(raw.substituted)
        role = self.resolve(raw.words, context) if raw.words else _INERT
        for redirection in raw.redirections:
            if redirection.is_output:
                self._writes(redirection.target)
        for name, value in raw.assigned:
            self._assigns(name, value, role if raw.words else _SUSPECT, context, alone=not raw.words)
        self._follow_input(raw, role)
        self.is_suspect |= role > _INERT
        return role

    def _follow_input(self, raw: RawCommand, role: int) -> None:
        inputs = [one for one in raw.redirections if one.is_input and one.target != "/dev/null"]
        name = base_name(raw.words[0]) if raw.words else "it"
        if not inputs or role == _INERT or name in programs.READS_DATA:
            return
        self.suspects += [Suspect(name, text=one.text) for one in inputs if one.text]
        if role == _RUNS:
            self.opaque.append(f"{name} runs what it reads")

    def _follow_pipes(self, parsed: Parsed, roles: list[int]) -> None:
        feeds_function = any(
            raw.words and raw.words[0] in self.functions for _, middle, last in parsed.pipes for raw in parsed.commands[middle:last]
        )  # fmt: skip
        for first, middle, last in parsed.pipes[:_MOST_COMMANDS]:
            role = max((one for raw, one in zip(parsed.commands[middle:last], roles[middle:last], strict=True) if not _reads_data(raw)), default=_INERT)
            if feeds_function:
                role = max(roles)
            if role == _INERT:
                continue
            for raw in parsed.commands[first:middle]:
                self.suspects += [Suspect("a pipe", text=text) for text in _texts_of(raw)]
            if role == _RUNS:
                readers = [raw for raw, one in zip(parsed.commands[middle:last], roles[middle:last], strict=True) if one == _RUNS]
                name = base_name(readers[0].words[0]) if readers and readers[0].words else "a function"
                self.opaque.append(f"{name} runs what it reads from a pipe")

    def run_text(self, text: str, context: _Context, program: str, why: str = "", *, more: bool = False) -> int:
        """Read a text that a shell runs; with ``more``, further words may follow it."""
        computed = not is_known(text)
        if more:
            text = f"{text} {MANY}"
        if computed:
            self.opaque.append(f"{program} runs a text that is computed")
            if text in (ONE, MANY):
                return _RUNS
            why = why or "parts of the text are computed"
        try:
            return self.read(text, context.inside(program, why))
        except Unsure as error:
            self.opaque.append(f"{program} runs a text that cannot be read: {error}")
            self.suspects.append(Suspect(program, text=text, runs=True))
            return _RUNS

    def finish(self) -> None:
        """Judge what depends on the whole line."""
        if self.is_suspect or self.opaque:
            self.suspects += [Suspect("a variable", text=value) for value in self.values]
        if self.counts and self.holds_text:
            self.opaque.append("arithmetic evaluates what a variable holds")
        if self.written and self.ran:
            anything = "" in self.written
            for program, path in self.ran:
                if anything or base_name(path) in self.written:
                    self.opaque.append(f"{program} runs {path}, which the line writes")

    # Commands.

    def resolve(self, words: Sequence[str], context: _Context) -> int:
        """Note a command, and the commands that it runs; return what it does with what it reads."""
        if context.depth > _DEEPEST:
            raise Unsure("too many commands that run commands")
        raw = context.raw
        self.commands.append(
            Command(tuple(words), context.grade, context.via, context.why, tuple(raw.redirections), tuple(raw.assigned), raw.place)
        )  # fmt: skip
        first, arguments = words[0], words[1:]
        name = base_name(first)
        if not is_known(first) and (MANY in first or not is_known(name) or not name):
            self.opaque.append("a program whose name is computed")
            self.suspects.append(Suspect("a program whose name is computed", tuple(arguments), runs=True))
            return _RUNS
        if self.path_changed and "/" not in first and name not in _BUILTINS:
            self.opaque.append(f"{name} is searched for in a PATH that the line sets")
        if "/" in first or name in self.written:
            self.ran.append(("the line", first))
        if name in self.functions:
            self._suspect_texts(name, arguments)
            return _SUSPECT
        return self._dispatch(program_of(name), arguments, context)

    def _dispatch(self, name: str, arguments: Sequence[str], context: _Context) -> int:
        if name in _SUBSCRIPTED:
            self._evaluates(name, arguments, context)
        reader = _READERS.get(name)
        if reader is not None:
            return reader(self, name, arguments, context)
        if name in SHELLS:
            return self._shell(name, arguments, context)
        if name in INTERPRETERS:
            return self._interpreter(name, arguments, context)
        for key, at in _keys(name, arguments):
            wrapper = WRAPPERS.get(key)
            if wrapper is not None:
                return self._wrapper(key, wrapper, arguments[at:], context)
        if name in INERT:
            if name in programs.RUN_OPTIONS:
                self._run_options(name, arguments, programs.RUN_OPTIONS[name], context)
            if name in _WRITERS:
                self._write_operands(name, arguments)
            return _INERT
        if name in KNOWN:
            return self._known(name, arguments, context)
        return self._unknown(name, arguments, context)

    def _suspect_texts(self, name: str, arguments: Sequence[str], *, runs: bool = False) -> None:
        """Note the arguments that are more than a word."""
        after_text = False
        for word in arguments:
            option, equals, value = word.partition("=")
            is_data = word[:1] in ("{", "[") and word[-1:] in ("}", "]") and name in KNOWN
            if not after_text and not (equals and option in programs.TEXT_OPTIONS) and not is_data and _is_text(word):
                self.suspects.append(Suspect(name, text=value if equals and option[:1] == "-" else word, runs=runs))
            after_text = word in programs.TEXT_OPTIONS or (name == "git" and bool(_TEXT_OPTION_LETTERS.fullmatch(word)))

    def _known(self, name: str, arguments: Sequence[str], context: _Context) -> int:
        """Look at the options whose value is a command, and at texts."""
        self._suspect_texts(name, arguments)
        runs = programs.RUN_OPTIONS.get(name)
        if runs:
            self._run_options(name, arguments, runs, context)
        if name in _WRITERS:
            self._write_operands(name, arguments)
        if name in _BUILDS:
            self.ran += [(name, word) for word in arguments if "." in word or name in ("make", "gmake")]
        if self.written & _READ_BY_NAME:
            self.opaque.append(f"{name} may run {min(self.written & _READ_BY_NAME)}, which the line writes")
        if name in ("make", "gmake", "cmake") and any(not is_known(word) for word in arguments) and context.raw.substituted:
            at = next((at for at, word in enumerate(arguments) if word in ("-f", "--file", "-P")), None)
            if at is not None and not is_known("".join(arguments[at + 1 : at + 2])):
                self.opaque.append(f"{name} runs a file that is computed")
        if name == "cmake" and list(arguments[:1]) == ["-E"]:
            self.suspects.append(Suspect("cmake -E", tuple(arguments[1:]), runs=True))
        reads = name in ("make", "gmake") and any(one in ("-f-", "-") for one in arguments)
        return _RUNS if reads or name in programs.READS_COMMANDS else _SUSPECT

    def _run_options(self, name: str, arguments: Sequence[str], runs: frozenset[str], context: _Context) -> None:
        for at, word in enumerate(arguments):
            option, equals, value = word.partition("=")
            if option in runs:
                value = value if equals else "".join(arguments[at + 1 : at + 2])
            elif word[:2] in runs and len(word) > 2 and not word.startswith("--"):
                value = word[2:]
            else:
                continue
            if not is_known(value) and (self.dynamic or MANY in value):
                self.opaque.append(f"{name} {option} runs a text that is computed")
            self.suspects.append(Suspect(f"{name} {option}", text=value.replace(",", " "), runs=True))
            if "=" in value:
                self.suspects.append(Suspect(f"{name} {option}", text=value.rpartition("=")[2], runs=True))

    def _unknown(self, name: str, arguments: Sequence[str], context: _Context) -> int:
        """Suspect every argument of a program that no table has."""
        if arguments:
            self.suspects.append(Suspect(name, tuple(arguments)))
            self._suspect_texts(name, arguments)
            self.ran += [(name, word) for word in arguments if is_known(word) and not word.startswith("-")]
            first = next((word for word in arguments if not word.startswith("-")), "")
            if first[:1] in (ONE, MANY) and first and (context.parsed.assigned - DIRECTORIES or context.parsed.functions):
                self.opaque.append(f"{name}, which is not known, is given words that the line computes")
            elif self._is_composed(arguments, context):
                self.opaque.append(f"{name}, which is not known, is given words that the line computes")
        return _RUNS if name in programs.READS_COMMANDS else _SUSPECT

    def _is_composed(self, arguments: Sequence[str], context: _Context) -> bool:
        """Return whether a substitution lets the line choose the text of an argument."""
        if not any(word[:1] in (ONE, MANY) for word in arguments if word):
            return False
        return any(
            raw.words and base_name(raw.words[0]) in _SUBSTITUTED_TEXT
            for first, last in context.raw.substituted
            for raw in context.parsed.commands[first:last]
        )

    # Programs that run other commands.

    def _wrapper(self, key: str, wrapper: Wrapper, arguments: Sequence[str], context: _Context) -> int:
        at, found, sure = _options(arguments, wrapper.options)
        if not sure:
            return self._unsure_wrapper(key, arguments)
        while wrapper.assigns and at < len(arguments) and arguments[at].find("=") > 0:
            variable, _, value = arguments[at].partition("=")
            self._assigns(variable, value, _SUSPECT, context, alone=False)
            at += 1
        passed = arguments[: at + wrapper.skipped]
        if any(MANY in word for word in passed) or (wrapper.assigns and arguments[at : at + 1] and arguments[at][:1] == ONE):
            self.opaque.append(f"the words after {key} are computed")
        inner = list(arguments[at + wrapper.skipped :])
        if inner and inner[0] == "--":
            inner = inner[1:]
        if not inner:
            return _RUNS if key in _SHELL_WITHOUT_COMMAND else _SUSPECT
        if key == "xargs":
            inner = _with_input(inner, found)
        if key in _JOINED and len(inner) == 1 and _is_text(inner[0]):
            return self.run_text(inner[0], context, key)
        if key.endswith(" run") and inner[0] in programs.SUBCOMMAND_WORDS:  # a script of the project
            self.suspects.append(Suspect(key, tuple(inner)))
            return _SUSPECT
        why = f"{key} runs it elsewhere" if wrapper.elsewhere else ""
        within = context.inside(key, why)
        return self.resolve(inner, within._replace(elsewhere=within.elsewhere or wrapper.elsewhere))

    def _unsure_wrapper(self, key: str, arguments: Sequence[str]) -> int:
        """Suspect every argument: which of them is the command is not known."""
        self.suspects.append(Suspect(key, tuple(arguments), runs=True))
        self._suspect_texts(key, arguments, runs=True)
        operands = [word for word in arguments if not word.startswith("-")]
        if any(word[:1] in (ONE, MANY) for word in operands[:1]) or (self.dynamic and not all(map(is_known, arguments))):
            self.opaque.append(f"the words after {key} are computed")
        return _SUSPECT if arguments and not set(arguments) & SHELLS else _RUNS

    def _shell(self, name: str, arguments: Sequence[str], context: _Context) -> int:
        """Read the text after -c; a shell without a text and without a file runs what it reads."""
        at, has_text, reads = 0, False, False
        while at < len(arguments) and arguments[at][:1] in ("-", "+"):
            option = arguments[at]
            at += 1
            if not is_known(option):
                self.opaque.append(f"the options of {name} are computed")
                self._suspect_texts(name, arguments, runs=True)
                return _RUNS
            if option in ("-", "--"):
                break
            if option.startswith("--"):
                if option.partition("=")[0] in ("--rcfile", "--init-file", "--command", "--init-command"):
                    self.opaque.append(f"{name} {option} runs a file or a text")
                    self._suspect_texts(name, arguments, runs=True)
                at += option in ("--rcfile", "--init-file")
                continue
            has_text |= "c" in option[1:] and option[0] == "-"
            reads |= "s" in option[1:]
            at += option.lower().count("o")
        if has_text:
            if at >= len(arguments):
                return _INERT
            self._suspect_texts(name, arguments[:at], runs=True)
            return self.run_text(arguments[at], context, f"{name} -c")
        if reads or at >= len(arguments):
            return _RUNS
        return self._runs_file(name, arguments[at], context, arguments[at + 1 :])

    def _runs_file(self, name: str, path: str, context: _Context, arguments: Sequence[str] = ()) -> int:
        if path.startswith(("/dev/", "/proc/")) or path == "-":
            self.opaque.append(f"{name} runs what it reads from {path}")
            return _RUNS
        if not is_known(path) and (context.raw.substituted or not is_known(base_name(path))):
            self.opaque.append(f"{name} runs a file that is computed")
            return _RUNS
        self.ran.append((name, path))
        if arguments:
            self.suspects.append(Suspect(base_name(path), tuple(arguments)))
            self._suspect_texts(name, arguments)
        return _SUSPECT

    def _interpreter(self, name: str, arguments: Sequence[str], context: _Context) -> int:
        """Look for code among the options; else the program is a file, a module, or what it reads."""
        letters = INTERPRETERS[name]
        at = 0
        while at < len(arguments) and arguments[at][:1] == "-" and arguments[at] != "-":
            option = arguments[at]
            at += 1
            if option in ("-m", "-jar") or (name.startswith(("py", "ipython")) and re.fullmatch(r"-[a-zA-Z]*m", option)):
                return self._module(arguments[at:], context)
            code = self._code_of(name, letters, option, arguments, at)
            if code is not None:
                return self._code(name, code)
            at += option in ("-W", "-X", "-I", "-r", "--require", "-L", "-d", "--import", "-S", "--loader")
        if at >= len(arguments) or arguments[at] == "-":
            return _RUNS
        if arguments[at] in ("run", "test", "task", "install", "add", "x") and name in ("bun", "deno"):
            return self._known(name, arguments[at:], context)
        return self._runs_file(name, arguments[at], context, arguments[at + 1 :])

    def _code_of(self, name: str, letters: str, option: str, arguments: Sequence[str], at: int) -> str | None:
        """Return the code that an option has; None if it has none."""
        if option in ("--eval", "--print", "--exec", "--command", "-Command", "-EncodedCommand", "--run"):
            return "".join(arguments[at : at + 1])
        if option.startswith(("--eval=", "--print=", "--exec=")):
            return option.partition("=")[2]
        if option.startswith("--") or not letters:
            return None
        for place, letter in enumerate(option[1:], 2):
            if letter in letters:
                return option[place:] or "".join(arguments[at : at + 1])
        return None if is_known(option) else MANY

    def _code(self, name: str, code: str) -> int:
        language = "python" if name.startswith(("py", "ipython")) else name.removesuffix("js")
        if not is_known(code) or not is_inert_code(language, code):
            self.opaque.append(f"code for {name}, which is not read")
            self.suspects.append(Suspect(name, text=code, runs=True))
        return _SUSPECT

    def _module(self, arguments: Sequence[str], context: _Context) -> int:
        """Judge ``python -m pip install`` as ``pip install``."""
        if not arguments or not is_known(arguments[0]) or arguments[0] in _MODULES_THAT_RUN_CODE:
            self.opaque.append("code for python, which is not read")
            self._suspect_texts("python -m", arguments, runs=True)
            return _RUNS
        if arguments[0] in KNOWN:
            return self.resolve(arguments, context.inside("python -m"))
        return self._known("python -m", arguments[1:], context)

    # Files and variables.

    def _writes(self, target: str) -> None:
        if target in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
            return
        base = base_name(target)
        self.written.add(base if is_known(base) else "")

    def _write_operands(self, name: str, arguments: Sequence[str]) -> None:
        """Note the files that a program may write: those that its table says."""
        option = _WRITERS[name]
        if option:
            for at, word in enumerate(arguments):
                if word.startswith(option) and (word != option or at + 1 < len(arguments)):
                    self._writes(word[len(option) :].lstrip("=") or arguments[at + 1])
                elif "://" in word and (name == "wget" or (name == "curl" and any(map(_SAVES.match, arguments)))):
                    self._writes(word.partition("?")[0])
        else:
            for word in arguments:
                if not word.startswith("-") and (is_known(word) or not is_known(base_name(word))):
                    self._writes(word.rstrip("/"))

    def _assigns(self, name: str, value: str, role: int, context: _Context, *, alone: bool) -> None:
        """Note a variable: some make programs run their value, or change what a name means."""
        self.holds_text |= not _NUMBER.fullmatch(value)
        if name == "PATH":
            if not alone:
                self.opaque.append("a program is searched for in a PATH that the line sets")
            self.path_changed = True
        elif not is_known(name):
            self.opaque.append("a variable whose name is computed")
        elif name in programs.FILE_VARIABLES or _FILE_VARIABLE.match(name) or (name == "ENV" and "/" in value):
            if value and not (name in programs.OPTION_VARIABLES and _FILE_VALUE.match(value)):
                self.opaque.append(f"{name} makes programs run or load something")
        elif role > _INERT and (name in programs.COMMAND_VARIABLES or _COMMAND_VARIABLE.search(name)):
            if not is_known(value):
                self.opaque.append(f"{name} names a command that is computed")
            elif value:
                self.run_text(value, context, f"{name}=", f"{name} names it", more=_is_plain(value))
        elif _is_text(value):
            self.values.append(value)

    def _evaluates(self, name: str, arguments: Sequence[str], context: _Context) -> None:
        """Note text that a builtin evaluates: the subscript of a variable's name, or arithmetic."""
        self.holds_text |= name in ("read", "mapfile", "readarray", "getopts", "printf")
        if name == "printf" and not any(word.startswith("-v") for word in arguments[:2]):
            return
        if name in ("test", "[") and "-v" not in arguments:
            return
        for word in arguments:
            subject = word if name in ("let", "[[") else word.partition("=")[0] or word
            if "[" in subject and ("$(" in word or "`" in word):
                self.opaque.append(f"{name} evaluates the subscript of a name")
                self.suspects.append(Suspect(name, text=word, runs=True))
            elif self.dynamic and subject[:1] in (ONE, MANY) and name not in ("[[", "wait", "export", "local"):
                self.opaque.append(f"{name} evaluates a name that is computed")
        self.counts |= name == "let" or (name == "[[" and bool(_ARITHMETIC_TESTS & set(arguments)))
        if name in ("export", "declare", "typeset", "local", "readonly"):
            self.dynamic |= any("=" in word for word in arguments)
            if name != "local" and any(word.startswith("-") and ("i" in word or "n" in word) for word in arguments) and name != "export":
                self.opaque.append(f"{name} makes a variable that is evaluated")
            for word in arguments:
                if setting := _ASSIGNMENT.match(word):
                    self._assigns(setting.group(1), word[setting.end() :], _SUSPECT, context, alone=True)


# Readers of single programs.

_Reader = Callable[[_Resolver, str, Sequence[str], _Context], int]


def _eval(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if _is_safe_text(words, context):
        return _INERT
    return self.run_text(" ".join(words), context, "eval")


def _source(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if not words:
        return _INERT
    path = words[0]
    if _is_safe_text(words[:1], context):
        return _INERT
    if programs.is_sourced_safely(path.replace(ONE, "")) and MANY not in path and path not in self.written:
        self.ran.append((name, path))
        return _INERT
    self.opaque.append(f"{name} runs a file that is not read")
    return _RUNS


def _alias(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    for word in arguments:
        text = word.partition("=")[2]
        if text:
            self.run_text(text, context, "alias", "an alias stands for it", more=True)
    return _INERT


def _trap(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    words = arguments[1:] if arguments[:1] == ["--"] else arguments
    if len(words) > 1 and words[0] not in ("-", "-l", "-p"):
        return self.run_text(words[0], context, "trap")
    return _INERT


def _find(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read each command between an action and its end: ``;``, or ``+`` after braces."""
    role, current, before = _INERT, list[str](), ""
    inside = False
    for at, word in enumerate([*arguments, ";"]):
        if not inside:
            inside = word in _FIND_ACTIONS
            if not is_known(word) and word[:1] in (ONE, MANY) and (";" in arguments or (MANY in word and self.dynamic)):
                self.opaque.append("the actions of find are computed")
                self.suspects.append(Suspect("find", tuple(arguments), runs=True))
        elif word == ";" or (word == "+" and before == "{}"):
            if current:
                inner = [one.replace("{}", ONE) for one in current]
                why = "" if at < len(arguments) else "find -exec is not ended"
                role = max(role, self.resolve(inner, context.inside("find -exec", why)))
            inside, current = False, []
        else:
            current.append(word)
        before = word
    return role


def _env(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    at, found, sure = _options(arguments, "0iu:C:S:v ignore-environment null unset= chdir= split-string= debug", dash=True)
    split = found.get("S", found.get("split-string"))
    if split is not None and sure:
        if re.search(r"[\\$#'\"\0\1]", split):
            self.opaque.append("env -S reads a text in its own way")
            self.suspects.append(Suspect("env -S", text=split, runs=True))
            return _RUNS
        if context.depth > _DEEPEST:
            raise Unsure("too many commands that run commands")
        return _env(self, name, [*split.split(), *arguments[at:]], context.inside("env -S"))
    if not sure:
        return self._unsure_wrapper("env", arguments)
    return self._wrapper("env", Wrapper(assigns=True), arguments[at:], context) if at < len(arguments) else _INERT


def _su(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read each text after -c; without one it is a shell that runs what it reads."""
    role, found = _RUNS, False
    if name == "runuser" and any(word == "-u" or word.startswith("--user") for word in arguments):
        return self._wrapper("runuser", Wrapper("u: user="), arguments, context)
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if option in ("--command", "--session-command") and equals:
            text = value
        elif word in ("-c", "--command", "--session-command") or re.fullmatch(r"-[a-z]*c", word):
            text = "".join(arguments[at + 1 : at + 2])
        elif re.match(r"-[lmpPf]*c.", word):
            text = word.partition("c")[2]
        elif _is_text(word):
            text = word
        else:
            continue
        found = True
        role = max(role, self.run_text(text, context, f"{name} -c"))
    return role if not found or role == _RUNS else _SUSPECT


def _script(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read the text after -c, which may have letters before it and the text at once after it."""
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        letters = re.match(r"-[a-zA-Z]*?c", word) if not word.startswith("--") else None
        if option == "--command" or letters:
            attached = value if equals and not letters else word[letters.end() :] if letters else ""
            return self.run_text(attached or "".join(arguments[at + 1 : at + 2]), context, "script -c")
    self.suspects.append(Suspect(name, tuple(arguments), runs=True))
    return _RUNS


def _joined(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read all words after the options as one text, as watch runs them."""
    at, found, sure = _options(
        arguments, "bcd:egn:pqrtwx beep color differences errexit chgexit interval= no-title precise exec"
    )
    if not sure:
        return self._unsure_wrapper(name, arguments)
    if found.keys() & {"x", "exec"}:
        return self.resolve(arguments[at:], context.inside(name)) if at < len(arguments) else _INERT
    return self.run_text(" ".join(arguments[at:]), context, name)


def _flock(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    spec = "eE:Fnosuvw:x close conflict-exit-code= exclusive nb no-fork nonblock shared timeout= unlock verbose wait="
    at, _, sure = _options(arguments, spec)
    rest = arguments[at + 1 :]
    if not sure:
        return self._unsure_wrapper(name, arguments)
    if rest and rest[0] in ("-c", "--command"):
        return self.run_text("".join(rest[1:2]), context, "flock -c")
    return self.resolve(rest, context.inside(name)) if rest else _INERT


def _ssh(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read the words after the host as a text that another machine runs."""
    spec = "46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:Q:R:S:W:w:P:"
    at, found, sure = _options(arguments, spec)
    rest = arguments[at + 1 :]
    again, more, sure_again = _options(rest, spec)
    for word in arguments:
        value = word.removeprefix("-o")
        if "command" in value.partition("=")[0].lower().partition(" ")[0] and ("=" in value or " " in value):
            self.suspects.append(Suspect("ssh -o", text=re.split("[= ]", value, maxsplit=1)[1], runs=True))
            if not is_known(value):
                self.opaque.append("ssh -o runs a text that is computed")
    if not sure or not sure_again:
        return self._unsure_wrapper(name, arguments)
    rest = rest[again:]
    if not rest:
        return _RUNS
    if not all(is_known(word) for word in rest):
        self.suspects.append(Suspect("ssh", text=" ".join(rest), runs=True))
        if not is_known(rest[0]):
            self.opaque.append("ssh runs a text that is computed")
        return _RUNS
    return self.run_text(" ".join(rest), context._replace(elsewhere=True), "ssh", "ssh runs it on another host")


def _docker(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read the words after an image as a command that a container runs."""
    at, _ = operands_of(name, arguments)
    words = list(arguments[at:])
    if words[:1] in (["container"], ["compose"]):
        key = " ".join([name, *words[:2]])
        if key in WRAPPERS:
            return self._wrapper(key, WRAPPERS[key], words[2:], context)
        words = words[1:]
    key = f"{name if f'{name} exec' in WRAPPERS else 'docker'} {words[0] if words else ''}"
    if words[:1] == ["exec"]:
        return self._wrapper(key, WRAPPERS[key], words[1:], context)
    if not words or words[0] not in ("run", "create"):
        return self._known(name, arguments, context)
    at, entry = 1, ""
    while at < len(words) and words[at].startswith("-"):
        option, equals, value = words[at].partition("=")
        takes = not equals and option not in _DOCKER_FLAGS and not re.fullmatch(r"-[itdPq]+", option)
        if option == "--entrypoint":
            entry = value if equals else "".join(words[at + 1 : at + 2])
        at += 2 if takes else 1
    inner = [*([entry] if entry else []), *words[at + 1 :]]
    self._suspect_texts(name, words[:at])
    if not inner:
        return _SUSPECT
    within = context.inside(f"{name} {words[0]}", "a container runs it")._replace(elsewhere=True)
    if inner[0].startswith("-"):
        return self._known(name, inner, within)
    return self.resolve(inner, within)


def _git(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Look at the settings on the line, which may name commands, and at subcommands that run commands."""
    at, _ = operands_of(name, arguments)
    for place, word in enumerate(arguments[:at]):
        if word == "-c":
            _git_setting(self, *"".join(arguments[place + 1 : place + 2]).partition("=")[::2], context)
        elif word.startswith(("--exec-path=", "--config-env")):
            self.opaque.append("git is told to run other programs")
    words = arguments[at:]
    if words[:1] == ["config"]:
        keys = [place for place, word in enumerate(words) if "." in word and not word.startswith("-")]
        if keys:
            _git_setting(self, words[keys[0]], " ".join(words[keys[0] + 1 :]), context)
    if words[:2] == ["submodule", "foreach"]:
        rest = [word for word in words[2:] if word not in ("--recursive", "-q", "--quiet")]
        return self.run_text(" ".join(rest), context, "git submodule foreach") if rest else _SUSPECT
    if words[:2] == ["bisect", "run"] and words[2:]:
        return self.resolve(words[2:], context.inside("git bisect run"))
    if any(word.startswith("ext::") for word in words):
        self.opaque.append("git runs the command in ext::")
    for place, word in enumerate(words):
        if word in ("-c", "--config") and words[0] in ("clone", "init", "submodule"):
            _git_setting(self, *"".join(words[place + 1 : place + 2]).partition("=")[::2], context)
    return self._known(name, words, context)


def _git_setting(self: _Resolver, key: str, value: str, context: _Context) -> None:
    if not is_known(key):
        self.opaque.append("a setting of git is computed")
    elif key.lower().startswith("alias."):
        if not is_known(value):
            self.opaque.append("an alias of git is computed")
        elif value.startswith("!"):
            self.run_text(value[1:], context, "git alias", "an alias of git stands for it", more=True)
        elif value:
            self.run_text(f"git {value}", context, "git alias", "an alias of git stands for it", more=True)
    elif not _BENIGN_GIT_KEYS.match(key) and value:
        self.suspects.append(Suspect("git -c", text=value.lstrip("!"), runs=True))
        if key.lower().startswith(("core.hookspath", "core.fsmonitor", "include", "filter.")):
            self.opaque.append(f"{key} makes git run files")
        if not is_known(value):
            self.opaque.append("a setting of git is computed")


def _awk(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    at = 0
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "-":
        option = arguments[at]
        at += 1
        if option.startswith("-f") or option.startswith("--file"):
            path = option[2:] if not option.startswith("--") else option.partition("=")[2]
            return self._runs_file(name, path or "".join(arguments[at : at + 1]), context)
        if option == "--":
            break
        if option.startswith(("-e", "--source", "-i", "-l", "-E")):
            self.opaque.append(f"code for {name}, which is not read")
        at += option in ("-F", "-v")
    code = "".join(arguments[at : at + 1])
    if not is_known(code) or not is_inert_awk(code):
        self.opaque.append(f"code for {name}, which is not read")
        self.suspects.append(Suspect(name, text=code, runs=True))
    return _INERT


def _sed(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    scripts, operands, at = list[str](), list[str](), 0
    while at < len(arguments):
        word = arguments[at]
        at += 1
        value = "".join(arguments[at : at + 1])
        if word in ("-e", "--expression") or re.fullmatch(r"-[nrEsuz]*e", word):
            scripts.append(value)
            at += 1
        elif word.startswith("--expression="):
            scripts.append(word.partition("=")[2])
        elif word in ("-f", "--file") or word.startswith("--file="):
            self._runs_file(name, word.partition("=")[2] or value, context)
            scripts.append("")
            at += word in ("-f", "--file")
        elif not word.startswith("-") or word == "-":
            operands.append(word)
    if not scripts:
        scripts = operands[:1]
        if operands[:1] == [""] and len(operands) > 1:  # BSD: sed -i '' script
            scripts = operands[1:2]
    for script in scripts:
        if not is_inert_sed(script.replace(ONE, "x")) or MANY in script or (ONE in script and self.dynamic):
            self.opaque.append("code for sed, which is not read")
            self.suspects.append(Suspect(name, text=script, runs=True))
    return _INERT


def _editor(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Look at the commands of an editor: a plain word is one of its own."""
    for at, word in enumerate(arguments):
        if word in ("-c", "--cmd", "-S", "-s", "-u") or word.startswith("+"):
            value = word[1:] if word.startswith("+") else "".join(arguments[at + 1 : at + 2])
            if word in ("-S", "-s", "-u") and "." in value:
                self.ran.append((name, value))
            elif not re.fullmatch(r"[\w ]*|:?[\w]+!?|/.*", value) or value.startswith("!"):
                self.opaque.append(f"code for {name}, which is not read")
                self.suspects.append(Suspect(name, text=value, runs=True))
    self._suspect_texts(name, arguments)
    return _RUNS if name in ("ed", "ex", "red") or {"-es", "-e", "-s", "-"} & set(arguments) else _SUSPECT


def _reads_commands(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Note a program that runs what it reads, such as at and crontab."""
    operands = [word for word in arguments if not word.startswith("-")]
    if name == "crontab":
        if not operands and "-" not in arguments:
            return _SUSPECT if arguments else _RUNS
        self.ran += [(name, word) for word in operands]
    elif name in ("at", "batch"):
        self.ran += [(name, word) for word in operands]
    self._suspect_texts(name, arguments, runs=True)
    return _RUNS


def _callback(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read the text that mapfile -C, complete -C, bind -x and others run."""
    for at, word in enumerate(arguments):
        if re.match(r"-[a-zA-Z]*[CFxW]", word):
            value = "".join(arguments[at + 1 : at + 2]) or word[2:]
            self.opaque.append(f"{name} {word[:2]} runs a text later")
            self.suspects.append(Suspect(name, text=value, runs=True))
    return _INERT


def _changes_names(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Note hash -p, enable -f and others, after which a name means something else."""
    marks = {"hash": "p", "enable": "fad", "fc": "se", "history": "sprcw"}[name]
    if any(word.startswith("-") and set(word[1:]) & set(marks) for word in arguments):
        self.opaque.append(f"{name} changes what a name means, or runs something that is not read")
    return _INERT


def _jobs(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    if arguments[:1] == ["-x"] and len(arguments) > 1:
        return self.resolve(arguments[1:], context.inside("jobs -x"))
    return _INERT


def _command(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    if any(re.fullmatch(r"-p?[vV]+p?", word) for word in arguments[:2]):
        return _INERT  # only prints what would be run
    return self._wrapper("command", WRAPPERS["command"], arguments, context)


def _sudo(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    if arguments[:1] and arguments[0] in ("-v", "-K", "-k", "-l", "-V", "--version", "-e", "--edit", "--list", "--validate") and (
        len(arguments) == 1 or arguments[0] in ("-e", "--edit")
    ):
        return _INERT
    return self._wrapper("sudo", WRAPPERS["sudo"], arguments, context)


def _tmux(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Suspect all words: windows run commands, and keys that are sent to a shell are run."""
    self.suspects.append(Suspect(name, tuple(arguments), runs=True))
    self._suspect_texts(name, arguments, runs=True)
    return _SUSPECT


def _capsh(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    if "--" in arguments:
        return self._shell("bash", arguments[list(arguments).index("--") + 1 :], context)
    return self._unsure_wrapper(name, arguments)


def _start_stop_daemon(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read the program after --exec with the words after the dashes."""
    program, rest = "", list[str]()
    for at, word in enumerate(arguments):
        option, equals, value = word.partition("=")
        if word == "--":
            rest = list(arguments[at + 1 :])
            break
        if option in ("-x", "--exec", "-a", "--startas"):
            program = value if equals else "".join(arguments[at + 1 : at + 2])
    return self.resolve([program, *rest], context.inside(name)) if program else self._unsure_wrapper(name, arguments)


def _parallel(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read the words before ``:::`` as a command with more words; without a command the other words are commands."""
    end = next((at for at, word in enumerate(arguments) if word.startswith(":::")), None)
    command = list(arguments[:end])
    at, _, sure = _options(command, WRAPPERS["parallel"].options)
    for word in arguments[end:] if end is not None else ():
        self.suspects.append(Suspect(name, text=word, runs=True))
    if not sure:
        return self._unsure_wrapper(name, arguments)
    if not command[at:]:
        return _RUNS
    return max(_SUSPECT, self.run_text(" ".join([*command[at:], MANY]) if all(map(is_known, command)) else MANY, context, name, "parallel adds words")) if len(
        command[at:]
    ) == 1 else self.resolve([*command[at:], MANY], context.inside(name))


def _setarch(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Pass the architecture, which may be left out, and the options on both sides of it."""
    spec = WRAPPERS["setarch"].options
    at, _, sure = _options(arguments, spec)
    if name == "setarch" and at < len(arguments) and _ARCHITECTURE.fullmatch(arguments[at]):
        more, _, sure_again = _options(arguments[at + 1 :], spec)
        at, sure = at + 1 + more, sure and sure_again
    if not sure:
        return self._unsure_wrapper(name, arguments)
    return self._wrapper(name, Wrapper(), arguments[at:], context)


def _set(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    self.holds_text |= bool(arguments)
    return _INERT


def _fd(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    """Read the command after -x, which fd runs for each file."""
    at = next((at for at, word in enumerate(arguments) if word in ("-x", "-X", "--exec", "--exec-batch")), None)
    if at is None or at + 1 >= len(arguments):
        return _INERT
    return self.resolve([*(word.replace("{}", ONE) for word in arguments[at + 1 :]), MANY], context.inside("fd -x"))


def _run_parts(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    self.opaque.append("run-parts runs the files of a directory")
    return _SUSPECT


def _exec(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    if not arguments and any(one.is_input and one.target != "/dev/null" for one in context.raw.redirections):
        self.opaque.append("exec gives the shell something else to read")
    return self._wrapper("exec", WRAPPERS["exec"], arguments, context) if arguments else _INERT


def _python_module_runner(self: _Resolver, name: str, arguments: Sequence[str], context: _Context) -> int:
    return self._wrapper(name, Wrapper("qvn nproc-per-node= nproc_per_node= nnodes= master-port= master_port= standalone"), arguments, context)


_BUILTINS = frozenset(
    ": . [ [[ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable eval exec exit "
    "export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set "
    "shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait".split()
)
_SHELL_WITHOUT_COMMAND = frozenset(["sudo", "doas", "unshare", "nsenter", "chroot", "fakeroot", "newgrp", "setpriv", "setarch", "linux64", "linux32", "i386", "x86_64", "screen"])
_JOINED = frozenset(["parallel", "hyperfine", "watchexec", "npx", "entr", "concurrently", "srun", "xvfb-run", "heroku run", "screen"])
_WRITERS: dict[str, str] = {
    "tee": "", "cp": "", "mv": "", "ln": "", "install": "", "link": "", "dd": "of", "curl": "-o", "wget": "-O", "base64": "", "touch": "", "gcc": "-o",
    "cc": "-o", "clang": "-o", "g++": "-o", "c++": "-o", "rustc": "-o", "truncate": "", "sort": "-o", "patch": "", "gunzip": "", "xxd": "",
}  # fmt: skip
_BUILDS = frozenset("gcc cc clang g++ c++ rustc go javac java make gmake cmake tsc ts-node tsx meson ninja".split())
_READ_BY_NAME = frozenset(
    "Makefile makefile GNUmakefile package.json setup.py Rakefile Gruntfile.js gulpfile.js Justfile justfile tox.ini noxfile.py conftest.py build.gradle "
    "pom.xml CMakeLists.txt build.rs .npmrc .gitconfig pre-commit pre-push post-commit post-checkout pre-merge-commit prepare-commit-msg commit-msg post-merge build.zig "
    "BUILD WORKSPACE Gemfile .pythonrc sitecustomize.py usercustomize.py".split()
)
_MODULES_THAT_RUN_CODE = frozenset("timeit pdb cProfile profile trace code runpy pty".split())
_DOCKER_FLAGS = frozenset(
    "-i -t -d -P -q -it -ti --rm --init --privileged --tty --interactive --detach --read-only --no-healthcheck --publish-all --sig-proxy "
    "--oom-kill-disable --disable-content-trust --quiet --help --replace --tls-verify".split()
)
_SAFE_TEXTS: tuple[tuple[str, ...], ...] = tuple(
    tuple(words.split())
    for words in (
        "ssh-agent", "brew shellenv", "pyenv init", "pyenv virtualenv-init", "rbenv init", "nodenv init", "goenv init", "jenv init", "direnv hook", "starship init", "zoxide init", "atuin init",
        "minikube docker-env", "minikube -p minikube docker-env", "docker-machine env", "opam env", "opam config env", "dircolors", "conda shell.bash hook", "fnm env", "luarocks path", "thefuck --alias", "hub alias",
        "mcfly init", "register-python-argcomplete", "kubectl completion", "helm completion", "gh completion", "mise activate", "rtx activate", "perl -I", "keychain", "gpg-agent", "npm completion", "pip completion", "pipenv --completion", "flux completion",
        "minikube completion", "kind completion", "k3d completion", "oc completion", "doctl completion", "tk complete", "navi widget", "sheldon source", "fzf --bash", "fzf --zsh", "lesspipe", "crc oc-env", "crc podman-env", "hook-env", "arkade completion", "stern --completion",
    )
)  # fmt: skip


def _is_safe_text(words: Sequence[str], context: _Context) -> bool:
    """Return whether a text to evaluate is wholly the output of a program that prints settings: ``eval "$(ssh-agent)"``."""
    ranges = context.raw.substituted
    if len(words) != 1 or words[0] not in (ONE, MANY) or len(ranges) != 1:
        return False
    commands = context.parsed.commands[slice(*ranges[0])]
    if len(commands) != 1 or commands[0].assigned or commands[0].substituted or not all(map(is_known, commands[0].words)):
        return False
    given = [base_name(word) if at == 0 else word for at, word in enumerate(commands[0].words)]
    return any(tuple(given[: len(safe)]) == safe for safe in _SAFE_TEXTS) and not context.parsed.functions


_READERS: dict[str, _Reader] = {
    ".": _source, "source": _source, "eval": _eval, "alias": _alias, "trap": _trap, "find": _find, "env": _env, "su": _su, "runuser": _su, "script": _script,
    "scriptlive": _script, "sg": _su, "watch": _joined, "flock": _flock, "set": _set, "ssh": _ssh, "slogin": _ssh, "autossh": _ssh, "mosh": _ssh, "docker": _docker, "podman": _docker, "nerdctl": _docker, "nvidia-docker": _docker, "git": _git,
    "awk": _awk, "gawk": _awk, "mawk": _awk, "nawk": _awk, "sed": _sed, "gsed": _sed, "vim": _editor, "vi": _editor, "nvim": _editor, "ex": _editor, "ed": _editor, "view": _editor, "rvim": _editor,
    "vimdiff": _editor, "red": _editor, "at": _reads_commands, "batch": _reads_commands, "crontab": _reads_commands, "mapfile": _callback, "readarray": _callback, "complete": _callback,
    "compgen": _callback, "bind": _callback, "hash": _changes_names, "enable": _changes_names, "fc": _changes_names, "history": _changes_names, "jobs": _jobs,
    "command": _command, "sudo": _sudo, "tmux": _tmux, "capsh": _capsh, "exec": _exec, "start-stop-daemon": _start_stop_daemon, "parallel": _parallel, "setarch": _setarch, "linux32": _setarch, "linux64": _setarch, "i386": _setarch, "x86_64": _setarch, "run-parts": _run_parts, "fd": _fd, "fdfind": _fd, "torchrun": _python_module_runner,
}  # fmt: skip


# Words.


def _reads_data(raw: RawCommand) -> bool:
    return bool(raw.words) and base_name(raw.words[0]) in programs.READS_DATA


def _keys(name: str, arguments: Sequence[str]) -> list[tuple[str, int]]:
    """Return the keys under which a wrapper may stand in the table, and how many arguments they include."""
    keys = [(name, 0)]
    if arguments and name in _WITH_SUBCOMMANDS:
        at, _ = operands_of(name, arguments)
        words = [name, *arguments[at : at + 2]]
        keys = [(" ".join(words[:3]), at + 2), (" ".join(words[:2]), at + 1), *keys]
    return keys


_WITH_SUBCOMMANDS = frozenset(key.partition(" ")[0] for key in WRAPPERS if " " in key)


def _is_text(word: str) -> bool:
    """Return whether a word is more than a word for a shell: it has a blank or another separator."""
    return any(mark in word for mark in " \n\t;|&`") or "$(" in word


def _is_plain(text: str) -> bool:
    return not re.search(r"[;|&\n<>()`]", text)


def _texts_of(raw: RawCommand) -> list[str]:
    """Return the text that a command writes, as far as it stands in the line."""
    texts = [one.text for one in raw.redirections if one.text]
    if raw.words:
        name = base_name(raw.words[0])
        if name in ("echo", "printf", "yes"):
            texts.append(" ".join(raw.words[1:]))
            texts += [word for word in raw.words[1:] if _is_text(word)]
    return texts


def _options(words: Sequence[str], spec: str, *, dash: bool = False) -> tuple[int, dict[str, str], bool]:
    """Return where the operands begin, the options before them, and whether all of these are known."""
    flags, valued = options_of(spec)
    at, found, sure = 0, dict[str, str](), True
    while at < len(words):
        option = words[at]
        if option[:1] in (ONE, MANY):
            sure = sure and MANY not in option
            break
        if not option.startswith("-") or (option == "-" and not dash):
            break
        at += 1
        if option == "--":
            break
        if option.startswith("--") or (option[1:] in valued and len(option) > 2):
            name, equals, value = option.lstrip("-").partition("=")
            if name in valued and not equals:
                value = words[at] if at < len(words) else MANY
                at += 1
            elif name not in flags and name not in valued:
                sure = False
            found[name] = value
        else:
            known, at = _letters(option[1:], flags, valued, words, at, found)
            sure = sure and known
    return at, found, sure


def _letters(
    cluster: str, flags: frozenset[str], valued: frozenset[str], words: Sequence[str], at: int, found: dict[str, str]
) -> tuple[bool, int]:
    """Read single-letter options written together; return whether they are known, and where the next word is."""
    for place, letter in enumerate(cluster):
        rest = cluster[place + 1 :]
        if letter in valued:
            found[letter] = rest or (words[at] if at < len(words) else MANY)
            return True, at if rest else at + 1
        if letter not in flags:
            return False, at
        found[letter] = rest if letter in "il" else ""
        if letter in "eil" and rest and "P" in valued:  # xargs: a value may follow at once
            return True, at
    return True, at


def _with_input(words: list[str], options: dict[str, str]) -> list[str]:
    """Add the input of xargs as unknown words: at the end, or where the replaced text is."""
    for option, default in (("I", ""), ("J", ""), ("i", "{}"), ("replace", "{}")):
        if option in options:
            replaced = options[option] or default
            words = [word.replace(replaced, ONE) if replaced and is_known(replaced) else word + ONE for word in words]
    return [*words, MANY]
