"""Find the commands that a line runs: those in it, and those that they run in turn.

Programs of one kind are here: shells, interpreters, wrappers such as ``sudo``, known and unknown programs. Programs
that are read in their own way are in ``runners``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .. import programs
from ..grades import Grade
from ..programs import (
    DIRECTORY_VARIABLES,
    GLOBAL_OPTIONS,
    INERT,
    INTERPRETERS,
    KNOWN,
    SHELLS,
    WRAPPERS,
    Wrapper,
    options_of,
)
from .flow import NO_STATE, State, choices_of, fill, follow, join_directory
from .functions import is_fork_bomb, uncalled
from .languages import is_inert_code
from .line import Command, Pipe, Suspect
from .reader import Parsed, parse
from .words import (
    MANY,
    ONE,
    MarkedWord,
    RawCommand,
    Unread,
    UnreadKind,
    Unsure,
    base_name,
    is_known,
    names_in,
    value_of,
    written_of,
)

__all__ = [
    "DEEPEST",
    "INPUT_IGNORED",
    "INPUT_RUN",
    "INPUT_SUSPECT",
    "LONGEST",
    "Context",
    "ProgramReader",
    "Resolver",
    "is_text",
    "operands_of",
    "parse_options",
]  # fmt: skip

LONGEST = 100_000
DEEPEST = 10
_MOST_COMMANDS = 3_000
_MOST_FED = 100
_MOST_SETTINGS = 50

# What a command does with what it reads.
INPUT_IGNORED, INPUT_SUSPECT, INPUT_RUN = 0, 1, 2

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=", re.ASCII)
_VERSIONED = re.compile(
    r"(python|pip|pypy|perl|ruby|gcc|g\+\+|clang|clang\+\+|php|lua|node|tclsh|wish|bash|ksh|vim|not|java)-?[0-9][0-9.]*"
)
_FILE_VALUE = re.compile(r"(?!.*(?:eval|exec|-[rME]|command))[\w=%:,.+ -]*\Z", re.ASCII)
_COMMAND_VARIABLE = re.compile(r"(?:PAGER|EDITOR|_COMMAND|_CMD|_SSH|_RSH|_ASKPASS|BROWSER)\Z")
_FILE_VARIABLE = re.compile(r"(?:LD_|DYLD_|BASH_FUNC_)")

_ARITHMETIC_TESTS = frozenset(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])
_NUMBER = re.compile(r"-?[0-9]*")
_ARRAY = re.compile(r"-\w*[aA]\w*")
_COMPUTED = re.compile("=.*[$`\0\1]", re.DOTALL)
_ESCAPES = re.compile(r"\\[abfnrtv]")  # as printf and echo -e write them
_FEEDS = re.compile(r"(?<!\|)\|(?!\|)|<|>\(|\bcoproc\b")
_COUNTING = re.compile(r"(?<![$\w{])(?:RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|HISTCMD)(?=\+?=|[\s;]|$)")
_EVALUATED = re.compile(r"@[PEAKak]\}")
_CODE = re.compile(
    r"\.(?:[ch]|cc|cpp|cs|go|gradle|java|js|kt|lua|mjs|mk|php|pl|pm|py|r|rb|rs|sh|swift|tcl|ts|tsx|zig|cmake)\Z"
)
_SYSTEM_PROGRAM = re.compile(r"/(?:usr/|opt/homebrew/)?(?:local/)?s?bin/[^/]+\Z")
_CONNECTS = frozenset(["nc", "ncat", "netcat", "telnet"])
_CONNECTS_TO = re.compile(r"-[a-zA-Z]*[ec]|--(?:sh-)?exec|--lua-exec")
_TRANSPORTS = frozenset(["ssh", "rsh", "gzip", "pigz", "zstd", "xz", "bzip2", "lz4", "less"])
_CLUSTERED = frozenset(["rsync", "tar", "man", "nc", "ncat", "netcat"])
_SAVES = re.compile(r"-[a-zA-Z]*O|--remote-name")
_TEXT_OPTION_LETTERS = re.compile(r"-[a-zA-Z]*m")
_SQL_PROGRAMS = frozenset(["psql", "sqlite3"])
_SQL_COMMAND = re.compile(
    r"[\\\\!|]|^\s*\.\w|\bprogram\b|load_extension|edit\(|readfile|writefile", re.IGNORECASE | re.MULTILINE
)
_SUBSTITUTED_TEXT = programs.PRODUCERS | frozenset(["sed", "awk", "cut", "perl", "python", "python3", "node", "grep"])


class Context(NamedTuple):
    """How a command was reached."""

    via: tuple[str, ...]
    grade: Grade
    why: str
    depth: int
    raw: RawCommand
    parsed: Parsed
    elsewhere: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    """The variables that programs such as ``env`` set for it."""
    directories: tuple[str, ...] = ("",)

    def inside(self, program: str, why: str = "") -> Context:
        """Return the context of a command that another one runs."""
        grade: Grade = "possible" if why else self.grade
        return self._replace(via=(*self.via, program), depth=self.depth + 1, grade=grade, why=why or self.why)


ProgramReader = Callable[["Resolver", str, Sequence[str], Context], int]
"""Reads the arguments of one program, and returns what it does with what it reads."""


class Resolver:
    """Collects what one line runs."""

    def __init__(self, readers: Mapping[str, ProgramReader]) -> None:
        self.readers = readers
        self.commands: list[Command] = []
        self.suspects: list[Suspect] = []
        self.pipes: list[Pipe] = []
        self.opaque: list[Unread] = []
        self.unread = 2 * LONGEST  # eval eval eval … reads the same text again and again
        self.values: list[str] = []
        self.whole: Parsed | None = None
        self.settings: tuple[tuple[str, str], ...] = ()  # the variables that the line has set so far
        self.functions: set[str] = set()
        self.written: set[str] = set()
        self.ran: list[tuple[str, str]] = []
        self.texts: list[str] = []  # what inert programs may have written to files
        self.runs_scripts = False
        self.hungry: dict[int, tuple[str, Context]] = {}  # shells that run what they read, by place
        self.is_fed = False  # the line has a pipe, a here-document, a process substitution or a coprocess
        self.loads: list[str] = []  # programs that run code which they find
        self.path_changed = False
        self.dynamic = False  # the line itself says what its variables hold
        self.is_suspect = False
        self.is_simple = True
        self.is_fork_bomb = False
        self.descriptors: dict[str, str] = {}  # the files that exec has opened
        self.counts = False  # arithmetic evaluates variables
        self.holds_text = False  # a variable may hold more than a number

    def cannot_read(self, what: str, kind: UnreadKind = "computed") -> None:
        """Note something that the line runs and that cannot be read."""
        self.opaque.append(Unread(what, kind))

    # Texts.

    def read(self, text: str, outer: Context | None) -> int:
        """Read a text, and return what its commands do with what they read."""
        depth = outer.depth if outer else 0
        self.unread -= len(text)
        if depth > DEEPEST or self.unread < 0:
            raise Unsure("too many commands that run commands")
        parsed = parse(text)
        self.is_fed |= _FEEDS.search(text) is not None
        if "[" in text and _COUNTING.search(text):
            self.cannot_read("a variable of the shell evaluates what it is set to")
        if _EVALUATED.search(text):
            self.cannot_read("${x@P} evaluates what a variable holds")
        self.opaque += parsed.opaque
        self.functions |= parsed.functions
        self.is_simple &= parsed.is_simple
        self.dynamic |= bool(parsed.assigned - DIRECTORY_VARIABLES or parsed.functions)
        self.counts |= bool(parsed.counted)
        self.holds_text |= bool(parsed.functions or "$(" in parsed.counted)
        if parsed.assigned & parsed.used:
            self.cannot_read(f"the line changes {', '.join(sorted(parsed.assigned & parsed.used))}")
        if outer is None:
            self.whole = parsed
            self.pipes += [Pipe(*pipe) for pipe in parsed.pipes]
        begin = State(outer.directories) if outer else NO_STATE
        states = follow(parsed, begin, self._set_outside(outer))
        idle = uncalled(parsed)
        self.is_fork_bomb |= is_fork_bomb(parsed)
        roles = [
            self._read_idle(raw, parsed, outer, state) if at in idle else self._read_command(raw, parsed, outer, state)
            for at, (raw, state) in enumerate(zip(parsed.commands, states, strict=True))
        ]
        self._follow_pipes(parsed, roles)
        return max(roles, default=INPUT_IGNORED)

    def _set_outside(self, outer: Context | None) -> Iterator[str]:
        """Yield the variables that were set before a text is run."""
        if outer is not None:
            for settings in (self.settings, outer.raw.assigned, outer.settings):
                yield from (name for name, _ in settings)

    def _read_idle(self, raw: RawCommand, parsed: Parsed, outer: Context | None, state: State) -> int:
        """Read a command of a function that the text does not call: it is only suspect."""
        self.suspect("a function that is not called", lambda: self._read_command(raw, parsed, outer, state))
        return INPUT_IGNORED

    def _read_command(self, raw: RawCommand, parsed: Parsed, outer: Context | None, state: State) -> int:
        if len(self.commands) > _MOST_COMMANDS:
            raise Unsure("more than 3,000 commands")
        grade: Grade = "possible" if raw.doubt else outer.grade if outer else "certain"
        if outer is None:
            context = Context((), grade, raw.doubt, 0, raw, parsed, directories=state.directories)
        else:
            raw.place = outer.raw.place
            context = outer._replace(
                grade=grade, why=raw.doubt or outer.why, raw=raw, parsed=parsed, directories=state.directories
            )
        self.dynamic |= bool(raw.substituted)
        return max(self._read_variant(one, within) for one, within in _variants(raw, context, state))

    def _follow_descriptors(self, raw: RawCommand) -> None:
        """Note the files that exec opens, and put them where a later redirection names their descriptors."""
        for at, one in enumerate(raw.redirections):
            opened = self.descriptors.get(one.target.rstrip("-")) if one.operator in (">&", "<&") else None
            if opened:
                raw.redirections[at] = one._replace(target=opened)
        if raw.words == ["exec"]:
            self.descriptors |= {one.descriptor: one.target for one in raw.redirections if one.descriptor}

    def _read_variant(self, raw: RawCommand, context: Context) -> int:
        """Read a command with certain values of its variables."""
        if raw.redirections:
            self._follow_descriptors(raw)
        if raw.words:
            role = self.resolve(raw.words, context)
        else:
            role = INPUT_IGNORED
            if raw.redirections or (raw.assigned and not raw.loops):
                self._note((), context)
        for redirection in raw.redirections:
            if redirection.is_output:
                self.writes(redirection.target)
        for name, value in raw.assigned:
            self._assigns(name, value, role if raw.words else INPUT_SUSPECT, context, alone=not raw.words)
        self._follow_input(raw, role)
        self.texts += _texts_of(raw)
        self.is_suspect |= role > INPUT_IGNORED
        return role

    def _follow_input(self, raw: RawCommand, role: int) -> None:
        inputs = [one for one in raw.redirections if one.is_input and one.target != "/dev/null"]
        name = base_name(raw.words[0]) if raw.words else "it"
        if not inputs or role == INPUT_IGNORED or name in programs.READS_DATA:
            return
        self.suspects += [Suspect(name, text=one.text) for one in inputs if one.text]
        if role == INPUT_RUN and not (len(inputs) == 1 and self._feed(raw, name, inputs[0].text)):
            path = inputs[0].target
            is_file = not inputs[0].text and is_known(path) and not path.startswith(("/dev/", "/proc/"))
            self.ran += [(name, path)] if is_file else []
            self.cannot_read(f"{name} runs what it reads", "file" if is_file else "input")

    def _feed(self, raw: RawCommand, name: str, text: str) -> bool:
        """Read a text that is given to a program to run; return whether that says all that it runs."""
        if not text or (name in _SQL_PROGRAMS and not is_known(text)):
            return False
        if name in _SQL_PROGRAMS:
            return not _SQL_COMMAND.search(text)
        shell, context = self.hungry.get(raw.place, ("", None))
        if context is None:
            return False
        del self.hungry[raw.place]
        self.run_text(text, context, shell)
        return True

    def _follow_pipes(self, parsed: Parsed, roles: list[int]) -> None:
        feeds_function = bool(self.functions) and any(
            raw.words and raw.words[0] in self.functions
            for _, middle, last in parsed.pipes
            for raw in parsed.commands[middle : min(last, middle + _MOST_FED)]
        )
        fed = dict[int, int]()  # where a pipeline begins, and how far its texts have been noted
        for first, middle, last in parsed.pipes[:_MOST_COMMANDS]:
            role = max(
                (
                    one
                    for raw, one in zip(parsed.commands[middle:last], roles[middle:last], strict=True)
                    if not _reads_data(raw)
                ),
                default=INPUT_IGNORED,
            )
            if feeds_function:
                role = max(roles)
            if role == INPUT_IGNORED:
                continue
            for raw in parsed.commands[max(first, fed.get(first, 0)) : middle]:
                self.suspects += [Suspect("a pipe", text=text) for text in _texts_of(raw)]
            fed[first] = middle
            if role == INPUT_RUN:
                readers = [
                    raw
                    for raw, one in zip(parsed.commands[middle:last], roles[middle:last], strict=True)
                    if one == INPUT_RUN
                ]
                name = base_name(readers[0].words[0]) if readers and readers[0].words else "a function"
                text = _literal_text(parsed.commands[first:middle]) if len(readers) == 1 else ""
                if not (text and self._feed(readers[0], name, text)):
                    path = _printed_file(parsed.commands[first:middle])
                    self.ran += [(name, path)] if path else []
                    self.cannot_read(f"{name} runs what it reads from a pipe", "file" if path else "input")

    def run_text(self, text: str, context: Context, program: str, why: str = "", *, more: bool = False) -> int:
        """Read a text that a shell runs; with ``more``, further words may follow it."""
        computed = not is_known(text)
        if more:
            text = f"{text} {MANY}"
        if computed:
            self.cannot_read(f"{program} runs a text that is computed")
            if text in (ONE, MANY):
                return INPUT_RUN
            why = why or "parts of the text are computed"
        try:
            return self.read(text, context.inside(program, why))
        except Unsure as error:
            self.cannot_read(f"{program} runs a text that cannot be read: {error}", "broken")
            self.suspects.append(Suspect(program, text=text, runs=True))
            return INPUT_RUN

    def finish(self) -> None:
        """Judge what depends on the whole line."""
        if self.hungry and self.is_fed and not self.opaque:
            self.cannot_read(f"{next(iter(self.hungry.values()))[0]} runs what it reads", "input")
        names = {command.name for command in self.commands if command.parts}
        if self.runs_scripts or (self.written and ("chmod" in names or not names <= programs.INERT)):
            self.suspects += [Suspect("a file that is run", text=_ESCAPES.sub("\n", text)) for text in self.texts]
        if self.is_suspect or self.opaque:
            self.suspects += [Suspect("a variable", text=value) for value in self.values]
        if "git" in names and self.written & {"config", ".gitconfig"}:
            self.cannot_read("git reads a configuration that the line writes", "written")
        code = sorted(name for name in self.written if _CODE.search(name))
        if self.loads and code:
            self.cannot_read(f"{self.loads[0]} may run {code[0]}, which the line writes", "written")
        if self.counts and self.holds_text:
            self.cannot_read("arithmetic evaluates what a variable holds")
        if self.written and self.ran:
            anything = "" in self.written
            for program, path in self.ran:
                if anything or base_name(path) in self.written:
                    self.cannot_read(f"{program} runs {path}, which the line writes", "written")

    # Commands.

    def resolve(self, words: Sequence[str], context: Context) -> int:
        """Note a command, and the commands that it runs; return what it does with what it reads."""
        if context.depth > DEEPEST:
            raise Unsure("too many commands that run commands")
        self._note(words, context)
        first, arguments = words[0], words[1:]
        name = base_name(first)
        if not is_known(first) and (MANY in first or not is_known(name) or not name):
            self.cannot_read("a program whose name is computed")
            self.suspects.append(Suspect("a program whose name is computed", tuple(arguments), runs=True))
            return INPUT_RUN
        if self.path_changed and "/" not in first and name not in programs.BUILTINS:
            self.cannot_read(f"{name} is searched for in a PATH that the line sets", "path")
        if "/" in first or name in self.written:
            self.ran.append(("the line", first))
            self.runs_scripts |= not _SYSTEM_PROGRAM.match(first)
        if name in self.functions:
            self.suspect_texts(name, arguments)
            return INPUT_SUSPECT
        return self._dispatch(program_of(name), arguments, context)

    def _note(self, words: Sequence[str], context: Context) -> None:
        """Add a command to those of the line."""
        raw = context.raw
        used = names_in([*words, *(part for one in raw.redirections for part in (one.target, one.text))])
        self.commands.append(
            Command(
                tuple(words),
                context.grade,
                context.via,
                context.why,
                tuple(raw.redirections),
                (*self.settings, *raw.assigned, *context.settings),
                raw.place,
                context.directories,
                variables=tuple(dict.fromkeys(used)),
                substituted=tuple(raw.substituted) if context.parsed is self.whole else (),
            )
        )

    def _dispatch(self, name: str, arguments: Sequence[str], context: Context) -> int:
        if name in programs.EVALUATING_BUILTINS:
            self._evaluates(name, arguments, context)
        if name in programs.COMMANDS_IN_VALUES:
            self.run_values(name, arguments, context)
        reader = self.readers.get(name)
        if reader is not None:
            return reader(self, name, arguments, context)
        if name in SHELLS:
            return self.run_shell(name, arguments, context)
        if name in INTERPRETERS:
            return self._interpreter(name, arguments, context)
        for key, at in _keys(name, arguments):
            wrapper = WRAPPERS.get(key)
            if wrapper is not None:
                return self.run_wrapper(key, wrapper, arguments[at:], context)
        if name in INERT:
            if name in programs.RUN_OPTIONS:
                self._run_options(name, arguments, programs.RUN_OPTIONS[name], context)
            if name in programs.WRITERS:
                self._write_operands(name, arguments)
            return INPUT_IGNORED
        if name in KNOWN:
            return self.look_into(name, arguments, context)
        return self._unknown(name, arguments, context)

    def suspect_texts(self, name: str, arguments: Sequence[str], *, runs: bool = False) -> None:
        """Note the arguments that are more than a word."""
        after_text = False
        for word in arguments:
            option, equals, value = word.partition("=")
            is_data = word[:1] in ("{", "[") and word[-1:] in ("}", "]") and name in KNOWN
            if not after_text and not (equals and option in programs.TEXT_OPTIONS) and not is_data and is_text(word):
                self.suspects.append(Suspect(name, text=value if equals and option[:1] == "-" else word, runs=runs))
            after_text = word in programs.TEXT_OPTIONS or (name == "git" and bool(_TEXT_OPTION_LETTERS.fullmatch(word)))

    def look_into(self, name: str, arguments: Sequence[str], context: Context, *, texts: bool = True) -> int:
        """Look at the options whose value is a command, and unless they are only stored, at texts."""
        if texts:
            self.suspect_texts(name, arguments)
        runs = programs.RUN_OPTIONS.get(name)
        if runs:
            self._run_options(name, arguments, runs, context)
        if name in programs.WRITERS:
            self._write_operands(name, arguments)
        if name in programs.BUILD_TOOLS:
            self.loads.append(name)
            self.ran += [(name, word) for word in arguments]
        if self.written & programs.FILES_READ_BY_NAME:
            self.cannot_read(
                f"{name} may run {min(self.written & programs.FILES_READ_BY_NAME)}, which the line writes", "written"
            )
        if (
            name in ("make", "gmake", "cmake")
            and any(not is_known(word) for word in arguments)
            and context.raw.substituted
        ):
            at = next((at for at, word in enumerate(arguments) if word in ("-f", "--file", "-P")), None)
            if at is not None and not is_known("".join(arguments[at + 1 : at + 2])):
                self.cannot_read(f"{name} runs a file that is computed")
        if name == "cmake" and list(arguments[:1]) == ["-E"]:
            self.suspects.append(Suspect("cmake -E", tuple(arguments[1:]), runs=True))
        reads = name in ("make", "gmake") and any(one in ("-f-", "-") for one in arguments)
        if name in _CONNECTS and not set(arguments) & programs.RUN_OPTIONS.get(name, frozenset()):
            return INPUT_SUSPECT
        return INPUT_RUN if reads or name in programs.READS_COMMANDS else INPUT_SUSPECT

    def run_values(self, name: str, arguments: Sequence[str], context: Context) -> None:
        """Read the commands in values such as ``ProxyCommand=…`` and ``EXEC:…``."""
        for key in programs.COMMANDS_IN_VALUES[name]:
            for word in arguments:
                at = word.lower().find(key.lower())
                text = word[at + len(key) :] if at >= 0 else ""
                if text[:1] in ("=", " ", "\t") or (text and key.endswith(":")):
                    text = text.lstrip("= \t")
                    text = text.partition(",")[0] if key.endswith(":") else text
                    self.suspects.append(Suspect(f"{name} {key}", text=text, runs=True))
                    if key.endswith(":"):
                        self.run_text(text.strip("\"'"), context, f"{name} {key}", "an option names it")
                    elif text != "none":
                        self.run_named(text.strip("\"'"), f"{name} {key}", context)

    def run_named(self, text: str, program: str, context: Context) -> None:
        """Read a command that an option or a setting names; the program may add words to it."""
        words = text.split()
        if words and not (_is_plain(text) and words[0] in _TRANSPORTS and "ommand" not in text):
            more = _is_plain(text) and not program.endswith("-filter")
            self.run_text(text, context, program, "an option names it", more=more)

    def suspect(self, program: str, read: Callable[[], object]) -> None:
        """Read commands that the line names and does not run: they are only suspect."""
        commands, unread = len(self.commands), len(self.opaque)
        read()
        self.suspects += [Suspect(program, one.parts, runs=True) for one in self.commands[commands:] if one.parts]
        del self.commands[commands:], self.opaque[unread:]

    def _run_options(self, name: str, arguments: Sequence[str], runs: frozenset[str], context: Context) -> None:
        for at, word in enumerate(arguments):
            option, equals, value = word.partition("=")
            if option in runs:
                value = value if equals else "".join(arguments[at + 1 : at + 2])
            elif word[:2] in runs and len(word) > 2 and not word.startswith("--"):
                value = word[2:]
            elif name in _CLUSTERED and re.fullmatch(r"-[a-zA-Z0-9]+", word) and f"-{word[-1]}" in runs:
                option, value = f"-{word[-1]}", "".join(arguments[at + 1 : at + 2])
            else:
                continue
            if not is_known(value) and (self.dynamic or MANY in value):
                self.cannot_read(f"{name} {option} runs a text that is computed")
            elif option in programs.COMMAND_OPTIONS.get(name, ()) or word[:2] in programs.COMMAND_OPTIONS.get(name, ()):
                self.run_named(value, f"{name} {option}", context)
            self.suspects.append(Suspect(f"{name} {option}", text=value.replace(",", " "), runs=True))
            if "=" in value:
                self.suspects.append(Suspect(f"{name} {option}", text=value.rpartition("=")[2], runs=True))

    def _unknown(self, name: str, arguments: Sequence[str], context: Context) -> int:
        """Suspect every argument of a program that no table has."""
        if arguments:
            self.suspects.append(Suspect(name, tuple(arguments)))
            self.suspect_texts(name, arguments)
            self.ran += [(name, word) for word in arguments if is_known(word) and not word.startswith("-")]
            first = next((word for word in arguments if not word.startswith("-")), "")
            sets = context.parsed.assigned - DIRECTORY_VARIABLES or context.parsed.functions
            if (first.startswith((ONE, MANY)) and sets) or self._is_composed(arguments, context):
                self.cannot_read(f"{name}, which is not known, is given words that the line computes")
        reads = name in programs.READS_COMMANDS and (name not in _CONNECTS or any(map(_CONNECTS_TO.match, arguments)))
        return INPUT_RUN if reads else INPUT_SUSPECT

    def _is_composed(self, arguments: Sequence[str], context: Context) -> bool:
        """Return whether a substitution lets the line choose the text of an argument."""
        if not any(word[:1] in (ONE, MANY) for word in arguments if word):
            return False
        return any(
            raw.words and base_name(raw.words[0]) in _SUBSTITUTED_TEXT
            for first, last in context.raw.substituted
            for raw in context.parsed.commands[first:last]
        )

    # Programs that run other commands.

    def run_wrapper(self, key: str, wrapper: Wrapper, arguments: Sequence[str], context: Context) -> int:
        """Read the command after a wrapper's options and operands."""
        at, found, sure = parse_options(arguments, wrapper.options)
        if not sure:
            return self.suspect_wrapper(key, arguments)
        while wrapper.assigns and at < len(arguments) and arguments[at].find("=") > 0:
            variable, value = arguments[at].partition("=")[0], value_of(arguments[at])
            self._assigns(variable, value, INPUT_SUSPECT, context, alone=False)
            context = context._replace(settings=(*context.settings, (variable, value))[-_MOST_SETTINGS:])
            at += 1
        context = self.move(context, found.get("chdir") or (found.get("D") if key == "sudo" else None))
        passed = arguments[: at + wrapper.skipped]
        if any(MANY in word for word in passed) or (
            wrapper.assigns and arguments[at : at + 1] and arguments[at][:1] == ONE
        ):
            self.cannot_read(f"the words after {key} are computed")
        inner = list(arguments[at + wrapper.skipped :])
        if inner and inner[0] == "--":
            inner = inner[1:]
        if not inner:
            return INPUT_RUN if key in programs.SHELL_WITHOUT_COMMAND else INPUT_SUSPECT
        if key == "xargs":
            inner = _with_input(inner, found)
        if key in programs.RUN_OPTIONS:
            self._run_options(key, arguments, programs.RUN_OPTIONS[key], context)
        if key in programs.TEXT_WRAPPERS and is_text(inner[0]):
            return max(self.run_text(text, context, key) for text in inner if is_text(text))
        if key.endswith(" run") and inner[0] in programs.SUBCOMMAND_WORDS:  # a script of the project
            self.suspects.append(Suspect(key, tuple(inner)))
            return INPUT_SUSPECT
        why = f"{key} runs it elsewhere" if wrapper.elsewhere else ""
        within = context.inside(key, why)
        return self.resolve(inner, within._replace(elsewhere=within.elsewhere or wrapper.elsewhere))

    def move(self, context: Context, directory: str | None) -> Context:
        """Return the context of a command that a program runs in another directory."""
        if directory is None:
            return context
        found = tuple(join_directory(one, written_of(directory)) for one in context.directories)
        return context._replace(directories=tuple(dict.fromkeys(found)))

    def suspect_wrapper(self, key: str, arguments: Sequence[str]) -> int:
        """Suspect every argument: which of them is the command is not known."""
        self.suspects.append(Suspect(key, tuple(arguments), runs=True))
        self.suspect_texts(key, arguments, runs=True)
        operands = [word for word in arguments if not word.startswith("-")]
        if any(word[:1] in (ONE, MANY) for word in operands[:1]) or (
            self.dynamic and not all(map(is_known, arguments))
        ):
            self.cannot_read(f"the words after {key} are computed")
        return INPUT_SUSPECT if arguments and not set(arguments) & SHELLS else INPUT_RUN

    def run_shell(self, name: str, arguments: Sequence[str], context: Context) -> int:
        """Read the text after -c; a shell without a text and without a file runs what it reads."""
        at, has_text, reads, only_checks = 0, False, False, False
        while at < len(arguments) and arguments[at][:1] in ("-", "+"):
            option = arguments[at]
            at += 1
            if not is_known(option):
                self.cannot_read(f"the options of {name} are computed")
                self.suspect_texts(name, arguments, runs=True)
                return INPUT_RUN
            if option in ("-", "--"):
                break
            if option.startswith("--"):
                if option.partition("=")[0] in ("--rcfile", "--init-file", "--command", "--init-command"):
                    self.cannot_read(f"{name} {option} runs a file or a text", "file")
                    self.suspect_texts(name, arguments, runs=True)
                at += option in ("--rcfile", "--init-file")
                continue
            has_text |= "c" in option[1:] and option[0] == "-"
            reads |= "s" in option[1:]
            only_checks = (only_checks or "n" in option) and option[0] == "-" and "i" not in option
            at += option.lower().count("o")
        if only_checks:
            return INPUT_IGNORED
        if has_text:
            if at >= len(arguments):
                return INPUT_IGNORED
            self.suspect_texts(name, arguments[:at], runs=True)
            return self.run_text(arguments[at], context, f"{name} -c")
        if reads or at >= len(arguments):
            self.hungry[context.raw.place] = (name, context)
            return INPUT_RUN
        return self.run_file(name, arguments[at], context, arguments[at + 1 :])

    def run_file(self, name: str, path: str, context: Context, arguments: Sequence[str] = ()) -> int:
        """Note a file that a shell or an interpreter runs, and suspect its arguments."""
        self.runs_scripts = True
        if path.startswith(("/dev/", "/proc/")) or path == "-":
            self.cannot_read(f"{name} runs what it reads from {path}", "input")
            return INPUT_RUN
        if not is_known(path) and (context.raw.substituted or not is_known(base_name(path))):
            self.cannot_read(f"{name} runs a file that is computed")
            return INPUT_RUN
        self.ran.append((name, path))
        if arguments:
            self.suspects.append(Suspect(base_name(path), tuple(arguments)))
            self.suspect_texts(name, arguments)
        return INPUT_SUSPECT

    def _interpreter(self, name: str, arguments: Sequence[str], context: Context) -> int:
        """Look for code among the options; else the program is a file, a module, or what it reads."""
        letters = INTERPRETERS[name]
        self.loads.append(name)
        at = 0
        while at < len(arguments) and arguments[at][:1] == "-" and arguments[at] != "-":
            option = arguments[at]
            at += 1
            if option[:2] == "-M" and not re.fullmatch(r"[\w=.,:/-]+", option):
                return self._code(name, option)
            if option in ("-m", "-jar") or (
                name.startswith(("py", "ipython")) and re.fullmatch(r"-[a-zA-Z]*m", option)
            ):
                return self._module(arguments[at:], context)
            code = self._code_of(name, letters, option, arguments, at)
            if code is not None:
                return self._code(name, code)
            at += option in ("-W", "-X", "-I", "-r", "--require", "-L", "-d", "--import", "-S", "--loader")
        if at >= len(arguments) or arguments[at] == "-":
            return INPUT_RUN
        if arguments[at] in ("run", "test", "task", "install", "add", "x") and name in ("bun", "deno"):
            return self.look_into(name, arguments[at:], context)
        return self.run_file(name, arguments[at], context, arguments[at + 1 :])

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
            self.cannot_read(f"code for {name}, which is not read", "code")
            self.suspects.append(Suspect(name, text=code, runs=True))
        return INPUT_SUSPECT

    def _module(self, arguments: Sequence[str], context: Context) -> int:
        """Judge ``python -m pip install`` as ``pip install``."""
        self.loads.append("python")
        if not arguments or not is_known(arguments[0]) or arguments[0] in programs.MODULES_THAT_RUN_CODE:
            self.cannot_read("code for python, which is not read", "code")
            self.suspect_texts("python -m", arguments, runs=True)
            return INPUT_RUN
        if arguments[0] in KNOWN:
            return self.resolve(arguments, context.inside("python -m"))
        self._note(arguments, context.inside("python -m"))
        return self.look_into("python -m", arguments[1:], context)

    # Files and variables.

    def writes(self, target: str) -> None:
        """Note a file that the line writes."""
        if target in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
            return
        base = base_name(target)
        self.written.add(base if is_known(base) else "")

    def _write_operands(self, name: str, arguments: Sequence[str]) -> None:
        """Note the files that a program may write: those that its table says."""
        option = programs.WRITERS[name]
        if option:
            for at, word in enumerate(arguments):
                if word.startswith(option) and (word != option or at + 1 < len(arguments)):
                    self.writes(word[len(option) :].lstrip("=") or arguments[at + 1])
                elif "://" in word and (name == "wget" or (name == "curl" and any(map(_SAVES.match, arguments)))):
                    self.writes(word.partition("?")[0])
        else:
            for word in arguments:
                if not word.startswith("-") and (is_known(word) or not is_known(base_name(word))):
                    self.writes(word.rstrip("/"))

    def _assigns(self, name: str, value: str, role: int, context: Context, *, alone: bool) -> None:
        """Note a variable: some make programs run their value, or change what a name means."""
        self.holds_text |= not _NUMBER.fullmatch(value)
        if alone:
            self.settings = (*self.settings, (name, value))[-_MOST_SETTINGS:]
        if name == "PATH":
            if not alone:
                self.cannot_read("a program is searched for in a PATH that the line sets", "path")
            self.path_changed = True
        elif not is_known(name):
            self.cannot_read("a variable whose name is computed")
        elif (
            name in programs.FILE_VARIABLES
            or _FILE_VARIABLE.match(name)
            or (name == "ENV" and re.search("[/$`]", value))
        ):
            if value and not (name in programs.OPTION_VARIABLES and _FILE_VALUE.match(value)):
                self.cannot_read(f"{name} makes programs run or load something", "variable")
        elif role > INPUT_IGNORED and (name in programs.COMMAND_VARIABLES or _COMMAND_VARIABLE.search(name)):
            if not is_known(value):
                self.cannot_read(f"{name} names a command that is computed", "variable")
            elif value:
                self.run_text(value, context, f"{name}=", f"{name} names it", more=_is_plain(value))
        elif is_text(value):
            self.values.append(value)

    def _evaluates(self, name: str, arguments: Sequence[str], context: Context) -> None:
        """Note text that a builtin evaluates: the subscript of a variable's name, or arithmetic."""
        self.holds_text |= name in ("read", "mapfile", "readarray", "getopts", "printf")
        if name == "printf" and not any(word.startswith("-v") for word in arguments[:2]):
            return
        if name in ("test", "[") and "-v" not in arguments:
            return
        for word in arguments:
            subject = word if name in ("let", "[[") else word.partition("=")[0] or word
            if "[" in subject and ("$(" in word or "`" in word):
                self.cannot_read(f"{name} evaluates the subscript of a name")
                self.suspects.append(Suspect(name, text=word, runs=True))
            elif self.dynamic and subject[:1] in (ONE, MANY) and name not in ("[[", "wait", "export", "local"):
                self.cannot_read(f"{name} evaluates a name that is computed")
        self.counts |= name == "let" or (name == "[[" and bool(_ARITHMETIC_TESTS & set(arguments)))
        if name in ("export", "declare", "typeset", "local", "readonly"):
            self.dynamic |= any("=" in word for word in arguments)
            if (
                name != "local"
                and any(word.startswith("-") and ("i" in word or "n" in word) for word in arguments)
                and name != "export"
            ):
                self.cannot_read(f"{name} makes a variable that is evaluated")
            if any(_ARRAY.fullmatch(word) for word in arguments) and any(_COMPUTED.search(word) for word in arguments):
                self.cannot_read(f"{name} evaluates the text of an array")
            for word in arguments:
                if setting := _ASSIGNMENT.match(word):
                    self._assigns(setting.group(1), value_of(word), INPUT_SUSPECT, context, alone=True)


def _variants(raw: RawCommand, context: Context, state: State) -> Iterator[tuple[RawCommand, Context]]:
    """Yield a command with the values that its variables may have; with one that is not known, as it is written."""
    texts = [*raw.words, *(part for one in raw.redirections for part in (one.target, one.text))]
    if not any(isinstance(one, MarkedWord) for one in texts):
        yield raw, context
        return
    choices = choices_of(texts, state)
    unknown = {name for name in choices[0] if choices[0][name] is None}
    for chosen in choices:
        words = [fill(word, chosen, context.parsed) for word in raw.words]
        redirections = [
            one._replace(target=fill(one.target, chosen, context.parsed), text=fill(one.text, chosen, context.parsed))
            for one in raw.redirections
        ]
        variant = raw.filled(words, redirections)
        within = context._replace(raw=variant)
        if any(chosen[name] is not None for name in unknown):
            within = within._replace(grade="possible", why="a variable may hold it")
        yield variant, within


def program_of(name: str) -> str:
    """Return the name that the tables have for a program: ``python`` for ``python3.11``."""
    versioned = _VERSIONED.fullmatch(name)
    return versioned.group(1) if versioned else name


def operands_of(name: str, words: Sequence[str]) -> tuple[int, bool]:
    """Return where the words after a program's global options begin, and whether all those options are known."""
    at, _, sure = parse_options(words, GLOBAL_OPTIONS.get(name, ""))
    return at, sure


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


def is_text(word: str) -> bool:
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
            texts += [word for word in raw.words[1:] if is_text(word)]
    return texts


def _literal_text(commands: Sequence[RawCommand]) -> str:
    """Return the text that commands write into a pipe; empty if it is not wholly in the line."""
    if not commands:
        return ""
    producer, *others = commands
    if any(one.words != ["cat"] or one.redirections for one in others) or producer.assigned:
        return ""
    name, *words = producer.words or [""]
    texts = [one.text for one in producer.redirections]
    if name == "cat" and not words and len(texts) == 1:
        return texts[0]
    if texts or not words or not all(map(is_known, words)) or "\\" in "".join(words).replace("\\n", ""):
        return ""
    if name == "echo" and "\\" not in "".join(words):
        words = words[1:] if words[0] == "-n" else words
        return "" if words and words[0].startswith("-") else " ".join(words)
    if name == "printf" and words[0] in ("%s", "%s\\n"):
        return "\n".join(words[1:])
    return words[0].replace("\\n", "\n") if name == "printf" and "%" not in words[0] and len(words) == 1 else ""


def _printed_file(commands: Sequence[RawCommand]) -> str:
    """Return the one file that cat writes into a pipe; empty if something else is written."""
    if len(commands) != 1 or commands[0].redirections or len(commands[0].words) != 2:
        return ""
    name, path = commands[0].words
    plain = name == "cat" and is_known(path) and not path.startswith(("-", "/dev/", "/proc/"))
    return path if plain else ""


def parse_options(words: Sequence[str], spec: str, *, dash: bool = False) -> tuple[int, dict[str, str], bool]:
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
