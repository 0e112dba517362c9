"""Find the commands that a line runs: those in it, and those that they run in turn.

Wrappers such as ``sudo``, known and unknown programs are here. Shells and interpreters are in ``interpreters``, and
programs that are read in their own way in ``runners``.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase as fnmatch
from typing import NamedTuple

from .. import programs
from ..grades import Grade
from ..programs import (
    DIRECTORY_VARIABLES,
    INERT,
    INTERPRETERS,
    KNOWN,
    SHELLS,
    WRAPPERS,
    Wrapper,
)
from .flow import (
    NO_STATE,
    State,
    are_plain_values,
    choices_of,
    fill,
    follow,
    is_from_outside,
    is_place,
    join_directory,
    kind_of_path,
    split_words,
)
from .functions import is_fork_bomb, uncalled
from .line import Pipe, ShellCommand, Suspect
from .options import keys_of, parse_options, program_of
from .parsed import ARRAY_ELEMENT, ParsedLine
from .reader import parse
from .texts import is_plain, is_text, literal_text, printed_file, reads_data, texts_of, with_input
from .words import (
    MANY,
    ONE,
    Expansion,
    MarkedWord,
    RawCommand,
    Unread,
    UnreadKind,
    Unsure,
    base_name,
    is_known,
    names_in,
    pieces_of,
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
]  # fmt: skip

LONGEST = 100_000
DEEPEST = 10
_MOST_COMMANDS = 3_000
_MOST_FED = 100
_MOST_SETTINGS = 50
_MOST_GUESSES = 3
_SHORTEST = 4  # a long option is not shortened further

# What a command does with what it reads.
INPUT_IGNORED, INPUT_SUSPECT, INPUT_RUN = 0, 1, 2

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=", re.ASCII)
_FILE_VALUE = re.compile(r"(?!.*(?:eval|exec|-[rME]|command))[\w=%:,.+ -]*\Z", re.ASCII)
_COMMAND_VARIABLE = re.compile(r"(?:PAGER|EDITOR|_COMMAND|_CMD|_SSH|_RSH|_ASKPASS|BROWSER)\Z")
_SETTINGS_FILES = frozenset(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"])
_FILE_VARIABLE = re.compile(r"(?:LD_|DYLD_|BASH_FUNC_)")

_ARITHMETIC_TESTS = frozenset(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"])
_NUMBER = re.compile(r"-?[0-9]*")
_SUBSCRIPT = re.compile(r"[\[`]|\$\(|\\[0-9xuU]")
_TEXT_MAKERS = SHELLS | INTERPRETERS.keys() | frozenset([
    "awk", "gawk", "mawk", "nawk", "base32", "base64", "basenc", "curl", "gpg", "http", "jq", "nc", "ncat", "openssl",
    "socat", "tr", "uudecode", "wget", "xh", "xxd",
])  # fmt: skip
"""Programs that can make any text of another, or bring one from elsewhere."""
_TESTS = frozenset(["[", "[["])
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
_PROMPTS = frozenset(["PS0", "PS1", "PS2", "PROMPT_COMMAND"])
_STARTS_SHELLS = frozenset(["su", "script", "ssh", "screen", "tmux", "exec", "env", "login", "docker", "", "runuser"])
_PLAIN_XARGS = frozenset(["I", "i", "replace", "r", "t", "P", "no-run-if-empty", "verbose", "max-procs"])
_PLAIN_INPUT = re.compile(r"[\w./:@%+,=\s-]{1,4000}", re.ASCII)
_LIBRARY_PATHS = frozenset(["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"])
_MARKS = re.compile("[\0\1]+")
_SHELL_VARIABLES = frozenset(["SHELL"])
_CODE_OPTION = re.compile(r"-[a-zA-Z]*[ceErR]|--?(?:eval|exec|command|print|run)(?:=.*)?", re.DOTALL)
_STANDARD_INPUT = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_CONNECTS = frozenset(["nc", "ncat", "netcat", "telnet", "socat"])
_CONNECTS_TO = re.compile(r"^-[a-zA-Z]*[ec]|^--(?:sh-|lua-)?exec|exec:|system:|shell:|[\0\1]", re.IGNORECASE)
_TRANSPORTS = frozenset(["ssh", "rsh", "gzip", "pigz", "zstd", "xz", "bzip2", "lz4", "less"])
_CLUSTERED = frozenset(["rsync", "tar", "man", "nc", "ncat", "netcat", "git rebase", "git difftool"])
_CLUSTER = re.compile(r"-[a-zA-Z0-9]*([a-zA-Z0-9])")
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
    parsed: ParsedLine
    elsewhere: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    """The variables that programs such as ``env`` set for it."""
    directories: tuple[str, ...] = ("",)
    state: State = NO_STATE
    positional: Sequence[str] = ()
    """The values of ``$0``, ``$1`` …"""
    adds: bool = False
    """Whether the program that runs a text adds words to it, for which ``MANY`` stands at its end."""

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
        self.commands: list[ShellCommand] = []
        self.suspects: list[Suspect] = []
        self.pipes: list[Pipe] = []
        self.opaque: list[Unread] = []
        self.unread = 2 * LONGEST  # eval eval eval … reads the same text again and again
        self.values: list[str] = []
        self.whole: ParsedLine | None = None
        self.settings: tuple[tuple[str, str], ...] = ()  # the variables that the line has set so far
        self.functions: set[str] = set()
        self.written: set[str] = set()
        self.written_like: set[str] = set()  # patterns of names that are not wholly known
        self.ran: list[tuple[str, str]] = []
        self.texts: list[str] = []  # what inert programs may have written to files
        self.runs_scripts = False
        self.hungry: dict[int, tuple[str, Context]] = {}  # shells that run what they read, by place
        self.is_fed = False  # the line has a pipe, a here-document, a process substitution or a coprocess
        self.loads: list[str] = []  # programs that run code which they find
        self.path_kind: UnreadKind | None = None  # of the PATH that the line sets
        self.dynamic = False  # the line itself says what its variables hold
        self.is_suspect = False
        self.is_simple = True
        self.is_fork_bomb = False
        self.beside_aliases: dict[ParsedLine, str] = {}  # the text of the other commands, by what was parsed
        self.prompts: list[str] = []  # variables that interactive shells evaluate
        self.descriptors: dict[str, str] = {}  # the files that exec has opened
        self.holds_subscript = False  # a variable is set to a text that arithmetic may run
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
        if parsed.assigned & parsed.used and not are_plain_values(parsed):
            self.cannot_read(f"the line changes {', '.join(sorted(parsed.assigned & parsed.used))}")
        if outer is None:
            self.whole = parsed
            self.pipes += [Pipe(*pipe) for pipe in parsed.pipes]
        begin = NO_STATE
        if outer is not None:
            begin = State(outer.directories, _positional_values(outer.positional))
            outer = outer._replace(positional=())
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

    def _read_idle(self, raw: RawCommand, parsed: ParsedLine, outer: Context | None, state: State) -> int:
        """Read a command of a function that the text does not call: it is only suspect."""
        self.suspect("a function that is not called", lambda: self._read_command(raw, parsed, outer, state))
        return INPUT_IGNORED

    def _read_command(self, raw: RawCommand, parsed: ParsedLine, outer: Context | None, state: State) -> int:
        if len(self.commands) > _MOST_COMMANDS:
            raise Unsure("more than 3,000 commands")
        grade: Grade = "possible" if raw.doubt else outer.grade if outer else "certain"
        if outer is None:
            context = Context((), grade, raw.doubt, 0, raw, parsed, directories=state.directories, state=state)
        else:
            raw.place = outer.raw.place
            context = outer._replace(
                grade=grade,
                why=raw.doubt or outer.why,
                raw=raw,
                parsed=parsed,
                directories=state.directories,
                state=state,
            )
        self.dynamic |= bool(raw.substituted)
        variants = list(_variants(raw, context, state))
        before = len(self.ran)
        own = {base_name(one.target) for one in raw.redirections if one.operator in (">", ">|")} - self.written
        role = max(self._read_variant(one, within) for one, within in variants)
        if own:
            # A file of this name is empty as the program starts, or it is another that was there already.
            self.ran[before:] = [entry for entry in self.ran[before:] if base_name(entry[1]) not in own]
        for one, _ in variants:
            for redirection in one.redirections:
                if redirection.is_output:
                    self.writes(redirection.target)
        return role

    def _follow_descriptors(self, raw: RawCommand) -> None:
        """Note the files that exec opens, and put them where a later redirection names their descriptors."""
        for at, one in enumerate(raw.redirections):
            number = next((f"{{{name}}}" for name in names_in([one.target])), one.target.rstrip("-"))
            opened = self.descriptors.get(number) if one.operator in (">&", "<&") else None
            if opened:
                raw.redirections[at] = one._replace(target=opened)
        if raw.words == ["exec"]:
            self.descriptors |= {one.descriptor: one.target for one in raw.redirections if one.descriptor}

    def _read_variant(self, raw: RawCommand, context: Context) -> int:
        """Read a command with certain values of its variables."""
        if raw.redirections:
            self._follow_descriptors(raw)
        if raw.doubt == ARRAY_ELEMENT:
            self.suspects.append(Suspect("an array", tuple(raw.words), runs=True))
            self.counts |= any(written_of(word).startswith("[") for word in raw.words)
            return INPUT_IGNORED
        if raw.words:
            role = self.resolve(raw.words, context)
        else:
            role = INPUT_IGNORED
            if raw.redirections or (raw.assigned and not raw.loops):
                self._note((), context)
        for name, value in raw.assigned:
            self._assigns(name, value, role if raw.words else INPUT_SUSPECT, context, alone=not raw.words)
        self._follow_input(raw, role)
        self.texts += texts_of(raw)
        self.is_suspect |= role > INPUT_IGNORED
        return role

    def _follow_input(self, raw: RawCommand, role: int) -> None:
        inputs = [one for one in raw.redirections if one.is_input and one.target != "/dev/null"]
        name = base_name(raw.words[0]) if raw.words else "it"
        if not inputs or role == INPUT_IGNORED or name in programs.READS_DATA:
            return
        if not is_known(name):
            role = min(role, INPUT_SUSPECT)  # that it is not known is noted already
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

    def printed_text(self, word: str, context: Context) -> str:
        """Return the text of the file ``<(echo …)``; empty if a word is something else, or not wholly in the line."""
        pieces = pieces_of(word)
        one = pieces[0] if len(pieces) == 1 else ""
        if isinstance(one, str) or one.pipe != "<" or one.commands is None:
            return ""
        return literal_text(context.parsed.commands[slice(*one.commands)])

    def _follow_pipes(self, parsed: ParsedLine, roles: list[int]) -> None:
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
                    if not reads_data(raw)
                ),
                default=INPUT_IGNORED,
            )
            if feeds_function:
                role = max(roles)
            if role == INPUT_IGNORED:
                continue
            for raw in parsed.commands[max(first, fed.get(first, 0)) : middle]:
                self.suspects += [Suspect("a pipe", text=text) for text in texts_of(raw)]
            fed[first] = middle
            if role == INPUT_RUN:
                readers = [
                    raw
                    for raw, one in zip(parsed.commands[middle:last], roles[middle:last], strict=True)
                    if one == INPUT_RUN
                ]
                name = base_name(readers[0].words[0]) if readers and readers[0].words else "a function"
                text = literal_text(parsed.commands[first:middle]) if len(readers) == 1 else ""
                if is_known(name) and not (text and self._feed(readers[0], name, text)):
                    path = printed_file(parsed.commands[first:middle])
                    self.ran += [(name, path)] if path else []
                    self.cannot_read(f"{name} runs what it reads from a pipe", "file" if path else "input")

    def run_text(
        self,
        text: str,
        context: Context,
        program: str,
        why: str = "",
        *,
        more: bool = False,
        positional: Sequence[str] = (),
    ) -> int:
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
            return self.read(text, context.inside(program, why)._replace(adds=more, positional=positional))
        except Unsure as error:
            self.cannot_read(f"{program} runs a text that cannot be read: {error}", "broken")
            self.suspects.append(Suspect(program, text=text, runs=True))
            return INPUT_RUN

    def finish(self) -> None:
        """Judge what depends on the whole line."""
        if self.hungry and self.is_fed and not self.opaque:
            self.cannot_read(f"{next(iter(self.hungry.values()))[0]} runs what it reads", "input")
        names = {command.name for command in self.commands if command.parts}
        if self.prompts and names & (SHELLS | programs.SHELL_WITHOUT_COMMAND | _STARTS_SHELLS):
            self.cannot_read(f"{self.prompts[0]} makes programs run or load something", "variable")
        wrote = bool(self.written or self.written_like)
        if self.runs_scripts or (wrote and ("chmod" in names or not names <= programs.INERT)):
            self.suspects += [Suspect("a file that is run", text=_ESCAPES.sub("\n", text)) for text in self.texts]
        if self.is_suspect or self.opaque:
            self.suspects += [Suspect("a variable", text=value) for value in self.values]
        if "git" in names and self.written & {"config", ".gitconfig"}:
            self.cannot_read("git reads a configuration that the line writes", "written")
        code = sorted(name for name in self.written if _CODE.search(name))
        if self.loads and code:
            self.cannot_read(f"{self.loads[0]} may run {code[0]}, which the line writes", "written")
        if self.counts and self.holds_text:
            self.cannot_read("arithmetic evaluates what a variable holds", self._kind_of_sum(names))
        if self.written or self.written_like:
            for program, path in self.ran:
                if self.wrote(path):
                    self.cannot_read(f"{program} runs {path}, which the line writes", "written")

    def _kind_of_sum(self, names: set[str]) -> UnreadKind:
        """Return why arithmetic cannot be read: a variable may hold a subscript with a command, as ``a[$(id)]``."""
        words = [word for command in self.commands for word in command.parts if word not in _TESTS]
        texts = [one.text for command in self.commands for one in command.redirections]
        can_hold = self.holds_subscript or any(map(_SUBSCRIPT.search, (*words, *texts)))
        return "computed" if can_hold or names & _TEXT_MAKERS else "arithmetic"

    # Commands.

    def resolve(self, words: Sequence[str], context: Context) -> int:
        """Note a command, and the commands that it runs; return what it does with what it reads."""
        if context.depth > DEEPEST:
            raise Unsure("too many commands that run commands")
        self._note(words, context)
        first, arguments = words[0], words[1:]
        name = base_name(first)
        if not is_known(first) and (MANY in first or not is_known(name) or not name):
            if context.raw.doubt and first[:1].isdigit():
                return INPUT_IGNORED  # a product
            return self._run_computed(first, arguments, context)
        if self.path_kind and "/" not in first and name not in programs.BUILTINS:
            self.cannot_read(f"{name} is searched for in a PATH that the line sets", self.path_kind)
        if "/" in first or name in self.written:
            self.ran.append(("the line", first))
            self.runs_scripts |= not _SYSTEM_PROGRAM.match(first)
        if name in self.functions:
            self.suspect_texts(name, arguments)
            return INPUT_SUSPECT
        return self._dispatch(self._plain_name(program_of(name)), arguments, context)

    def _plain_name(self, name: str) -> str:
        """Return the name of a program that runs others as the tables have it: some file systems fold its case."""
        lower = name.lower()
        is_another = name != lower and name not in KNOWN and name not in self.readers
        return lower if is_another and (lower in self.readers or lower in WRAPPERS) else name

    def _note(self, words: Sequence[str], context: Context) -> None:
        """Add a command to those of the line."""
        raw = context.raw
        used = names_in([*words, *(part for one in raw.redirections for part in (one.target, one.text))])
        self.commands.append(
            ShellCommand(
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

    def _run_computed(self, first: str, arguments: Sequence[str], context: Context) -> int:
        """Read a command whose program is computed: it may be empty, or its last part may be known."""
        is_outside = is_from_outside(first, context.state, context.parsed, is_top=context.parsed is self.whole)
        if is_outside and set(names_in([first])) <= _SHELL_VARIABLES and first in (ONE, MANY):
            return self.resolve(["sh", *arguments], context.inside("$SHELL"))
        base = base_name(first)
        is_named = bool(base) and is_known(base) and base not in SHELLS and base not in INTERPRETERS
        if any(is_text(word) or (_CODE_OPTION.fullmatch(word) and not is_named) for word in arguments):
            is_outside = False
            for word in filter(is_text, arguments):
                self.run_text(word, context, "a computed program", "a program whose name is computed may run it")
        is_outside |= self._is_pattern_below(first, context)
        is_sum = context.raw.doubt == "it stands in arithmetic"  # for some shells it is a command
        kind: UnreadKind = "program" if is_outside or is_sum else "computed"
        is_alone = context.parsed is self.whole and len(self.whole.commands) == 1
        if (
            is_alone
            and set(written_of(first)) <= {"*", "?"}
            and not any(written_of(word)[:1] in "-/~.\0" for word in arguments)
        ):
            kind = "file"  # the first file of the directory; most likely a line of a list
        self.cannot_read("a program whose name is computed", kind)
        self.suspects.append(Suspect("a program whose name is computed", tuple(arguments), runs=True))
        if first == MANY and arguments and arguments[0][:1] not in (MANY, "-"):
            self.resolve(arguments, context.inside("a variable", "the variable before it may be empty"))
        name = base_name(first)
        if is_outside and name and is_known(name):
            self._dispatch(program_of(name), arguments, context.inside(f"…/{name}", "its directory is not known"))
        return INPUT_RUN

    def _is_pattern_below(self, word: str, context: Context) -> bool:
        """Return whether a program is found by a pattern below the directory of a line that writes no file."""
        parts = written_of(word).split("/")
        if not isinstance(word, MarkedWord) or any(
            isinstance(piece, Expansion) and not piece.written for piece in pieces_of(word)
        ):
            return False
        is_below = len(parts) > 1 and parts[0] not in ("", "..", "~") and ".." not in parts and "{" not in word
        changes = self.written or self.written_like or self.functions or context.directories != ("",)
        return is_below and not changes

    def _dispatch(self, name: str, arguments: Sequence[str], context: Context) -> int:
        if name in programs.EVALUATING_BUILTINS:
            self._evaluates(name, arguments, context)
        if name in programs.COMMANDS_IN_VALUES:
            self.run_values(name, arguments, context)
        reader = self.readers.get(name)
        if reader is not None:
            return reader(self, name, arguments, context)
        for key, at in keys_of(name, arguments):
            wrapper = WRAPPERS.get(key)
            if wrapper is not None:
                return self.run_wrapper(key, wrapper, arguments[at:], context)
        if name in INERT:
            self.run_options(name, arguments, context)
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
        self.run_options(name, arguments, context)
        if name in programs.WRITERS:
            self._write_operands(name, arguments)
        if name in programs.BUILD_TOOLS:
            self.loads.append(name)
            given = zip(["", *arguments], arguments, strict=False)
            self.ran += [(name, word) for before, word in given if before not in ("-o", "--output")]
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
        reads = name in ("make", "gmake") and any(one in ("-f-", "-") for one in arguments)
        reads |= name in programs.BUILD_TOOLS and any(one in _STANDARD_INPUT for one in arguments)
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
        if words and not (is_plain(text) and words[0] in _TRANSPORTS and "ommand" not in text):
            more = is_plain(text) and not program.endswith("-filter")
            self.run_text(text, context, program, "an option names it", more=more)

    def suspect(self, program: str, read: Callable[[], object]) -> None:
        """Read commands that the line names and does not run: they are only suspect."""
        commands, unread = len(self.commands), len(self.opaque)
        read()
        self.suspects += [Suspect(program, one.parts, runs=True) for one in self.commands[commands:] if one.parts]
        del self.commands[commands:], self.opaque[unread:]

    def run_options(self, name: str, arguments: Sequence[str], context: Context) -> None:
        """Read the values of the options that name commands; a long option may be shortened."""
        runs = programs.RUN_OPTIONS.get(name) or programs.REST_OPTIONS.get(name) or frozenset()
        for at, word in enumerate(arguments if runs else ()):
            option, equals, value = word.partition("=")
            if option[:2] == "--" and len(option) > _SHORTEST and option not in runs:
                option = next((one for one in sorted(runs) if one.startswith(option)), option)
            if option in runs:
                value = value if equals else "".join(arguments[at + 1 : at + 2])
            elif word[:2] in runs and len(word) > 2 and not word.startswith("--"):
                value = word[2:]
            elif name in _CLUSTERED and (cluster := _CLUSTER.fullmatch(word)) and f"-{cluster[1]}" in runs:
                option, value = f"-{cluster[1]}", "".join(arguments[at + 1 : at + 2])
            else:
                continue
            if option in programs.REST_OPTIONS.get(name, ()):
                if arguments[at + 1 :]:
                    self.resolve(arguments[at + 1 :], context.inside(f"{name} {option}"))
                return
            value = value.replace(",", " ") if option == "-wrapper" else value
            if not is_known(value) and (self.dynamic or MANY in value):
                self.cannot_read(f"{name} {option} runs a text that is computed")
            elif option in programs.COMMAND_OPTIONS.get(name, ()) or word[:2] in programs.COMMAND_OPTIONS.get(name, ()):
                self.run_named(value, f"{name} {option}", context)
            self.suspects.append(Suspect(f"{name} {option}", text=value.replace(",", " "), runs=True))
            if "=" in value:
                self.suspects.append(Suspect(f"{name} {option}", text=value.rpartition("=")[2], runs=True))

    def _unknown(self, name: str, arguments: Sequence[str], context: Context) -> int:
        """Suspect every argument of a program that no table has."""
        self.run_options(name, arguments, context)
        if arguments:
            self.suspects.append(Suspect(name, tuple(arguments)))
            self.suspect_texts(name, arguments)
            self.ran += [(name, word) for word in arguments if is_known(word) and not word.startswith("-")]
            first = next((word for word in arguments if not word.startswith("-")), "")
            sets = self._sets(first, context)
            if (first.startswith((ONE, MANY)) and sets) or self._is_composed(arguments, context):
                self.cannot_read(f"{name}, which is not known, is given words that the line computes", "arguments")
        reads = name in programs.READS_COMMANDS and (name not in _CONNECTS or any(map(_CONNECTS_TO.search, arguments)))
        return INPUT_RUN if reads else INPUT_SUSPECT

    def _sets(self, word: str, context: Context) -> bool:
        """Return whether the text sets a variable that a word has; without names, whether it sets any."""
        assigned = context.parsed.assigned - DIRECTORY_VARIABLES
        names = set(names_in([word]))
        return bool(context.parsed.functions or (assigned & names if names else assigned))

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
        self.run_options(key, arguments if not sure else arguments[:at], context)
        if not sure:
            return self.suspect_wrapper(key, arguments, context)
        while wrapper.assigns and at < len(arguments) and arguments[at].find("=") > 0:
            variable, value = arguments[at].partition("=")[0], value_of(arguments[at])
            self._assigns(variable, value, INPUT_SUSPECT, context, alone=False)
            context = context._replace(settings=(*context.settings, (variable, value))[-_MOST_SETTINGS:])
            at += 1
        context = self.move(context, found.get("chdir") or (found.get("D") if key == "sudo" else None))
        passed = arguments[: at + wrapper.skipped]
        if any(MANY in word for word in passed) or (
            wrapper.assigns and arguments[at : at + 1] and arguments[at][:1] == ONE and not is_place(arguments[at])
        ):
            unknown = [word for word in (*passed, *arguments[at : at + 1]) if not is_known(word)]
            outside = all(is_from_outside(word, context.state, context.parsed) for word in unknown)
            self.cannot_read(f"the words after {key} are computed", "program" if outside else "computed")
        inner = list(arguments[at + wrapper.skipped :])
        if inner and inner[0] == "--":
            inner = inner[1:]
        if not inner:
            return INPUT_RUN if key in programs.SHELL_WITHOUT_COMMAND else INPUT_SUSPECT
        if key == "xargs":
            return self._run_xargs(inner, found, context)
        if key in programs.TEXT_WRAPPERS and is_text(inner[0]):
            return max(self.run_text(text, context, key) for text in inner if is_text(text))
        if key.endswith(" run") and inner[0] in programs.SUBCOMMAND_WORDS:  # a script of the project
            self.suspects.append(Suspect(key, tuple(inner)))
            return INPUT_SUSPECT
        why = f"{key} runs it elsewhere" if wrapper.elsewhere else ""
        within = context.inside(key, why)
        return self.resolve(inner, within._replace(elsewhere=within.elsewhere or wrapper.elsewhere))

    def _run_xargs(self, words: list[str], options: dict[str, str], context: Context) -> int:
        """Read the command of xargs with its input: that of a pipe if it is in the line, else unknown words."""
        within = context.inside("xargs")
        given = self._piped_text(context) if options.keys() <= _PLAIN_XARGS else ""
        if not _PLAIN_INPUT.fullmatch(given):
            return self.resolve(with_input(words, options), within)
        replaced = next((options[one] or "{}" for one in ("I", "i", "replace") if one in options), "")
        if not replaced:
            return self.resolve([*words, *given.split()], within)
        lines = [line.strip() for line in given.splitlines() if line.strip()]
        roles = [self.resolve([word.replace(replaced, one) for word in words], within) for one in lines]
        return max(roles, default=INPUT_IGNORED)

    def _piped_text(self, context: Context) -> str:
        """Return the text that is piped into a command; empty if it is not wholly in the line."""
        place = context.raw.place
        if context.parsed is not self.whole:
            return ""
        found = [(first, middle) for first, middle, last in context.parsed.pipes if middle <= place < last]
        return literal_text(context.parsed.commands[slice(*found[0])]) if len(found) == 1 else ""

    def move(self, context: Context, directory: str | None) -> Context:
        """Return the context of a command that a program runs in another directory."""
        if directory is None:
            return context
        found = tuple(join_directory(one, written_of(directory)) for one in context.directories)
        return context._replace(directories=tuple(dict.fromkeys(found)))

    def suspect_wrapper(self, key: str, arguments: Sequence[str], context: Context) -> int:
        """Suspect every argument: which of them is the command is not known. Those with a program's name may be it."""
        within = context.inside(key, "options before it are not known")
        named = [at for at, word in enumerate(arguments) if self._is_program(word)]
        for at in named[:_MOST_GUESSES]:
            self.resolve(arguments[at:], within)
        self.suspects.append(Suspect(key, tuple(arguments), runs=True))
        self.suspect_texts(key, arguments, runs=True)
        operands = [word for word in arguments if not word.startswith("-")]
        if any(word[:1] in (ONE, MANY) for word in operands[:1]) or (
            self.dynamic and not all(map(is_known, arguments))
        ):
            self.cannot_read(f"the words after {key} are computed")
        return INPUT_SUSPECT if arguments and not set(arguments) & SHELLS else INPUT_RUN

    def _is_program(self, word: str) -> bool:
        name = program_of(base_name(word))
        is_listed = name in INERT or name in KNOWN or name in SHELLS or name in self.readers or name in WRAPPERS
        return is_listed and name not in programs.SUBCOMMAND_WORDS

    def run_file(self, name: str, path: str, context: Context, arguments: Sequence[str] = ()) -> int:
        """Note a file that a shell or an interpreter runs, and suspect its arguments."""
        self.runs_scripts = True
        if context.adds and path == MANY:
            return INPUT_SUSPECT
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

    # Files and variables.

    def writes(self, target: str) -> None:
        """Note a file that the line writes."""
        if target in ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"):
            return
        base = _file_name(target)
        if is_known(base):
            self.written |= {base} if base else set()
        else:
            self.written_like.add(_MARKS.sub("*", glob.escape(base)))

    def wrote(self, path: str) -> bool:
        """Return whether the line writes, or may write, a file of this name."""
        base = _file_name(path)
        return bool(base) and (base in self.written or any(fnmatch(base, one) for one in self.written_like))

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

    def sets(self, name: str, value: str, context: Context) -> None:
        """Note a variable that a program sets for what it runs."""
        self._assigns(name, value, INPUT_SUSPECT, context, alone=False)

    def _assigns(self, name: str, value: str, role: int, context: Context, *, alone: bool) -> None:
        """Note a variable: some make programs run their value, or change what a name means."""
        self.holds_text |= not _NUMBER.fullmatch(value)
        self.holds_subscript |= _SUBSCRIPT.search(written_of(value)) is not None
        if alone:
            self.settings = (*self.settings, (name, value))[-_MOST_SETTINGS:]
        if name == "PATH":
            self.path_kind = kind_of_path(value)
            if not alone and self.path_kind:
                self.cannot_read("a program is searched for in a PATH that the line sets", self.path_kind)
        elif not is_known(name):
            self.cannot_read("a variable whose name is computed")
        elif (
            name in programs.FILE_VARIABLES
            or _FILE_VARIABLE.match(name)
            or (name == "ENV" and (re.search("[/$`]", value) or _is_interactive(context.raw.words)))
        ):
            if value and not (name in programs.OPTION_VARIABLES and _FILE_VALUE.match(value)):
                if name in _PROMPTS:
                    self.prompts.append(name)
                else:
                    kind = kind_of_path(value, name) or "path" if name in _LIBRARY_PATHS else "variable"
                    if name in _SETTINGS_FILES and is_known(value) and not value.startswith(("/dev/", "/proc/")):
                        self.ran.append((name, value))
                        kind = "file"
                    self.cannot_read(f"{name} makes programs run or load something", kind)
        elif role > INPUT_IGNORED and (name in programs.COMMAND_VARIABLES or _COMMAND_VARIABLE.search(name)):
            if not is_known(value):
                is_outside = is_from_outside(value, context.state, context.parsed)
                kind = "program" if alone and is_outside and not context.raw.substituted else "variable"
                self.cannot_read(f"{name} names a command that is computed", kind)
            elif value:
                self.run_text(value, context, f"{name}=", f"{name} names it", more=is_plain(value))
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


def _file_name(path: str) -> str:
    """Return the name of a file: as the line shows it where it is a variable, such as one that mktemp has made."""
    base, shown = base_name(path), base_name(written_of(path))
    return shown if not is_known(base) and is_known(shown) and not set(shown) & set("*?[{~") else base


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
        several = split_words(words, chosen)
        if several:
            variant = raw.filled(several, redirections)
            yield variant, context._replace(raw=variant, grade="possible", why="a variable may hold it")


def _is_interactive(words: Sequence[str]) -> bool:
    """Return whether a command is a shell that reads the file in ENV first."""
    is_shell = bool(words) and base_name(words[0]) in SHELLS
    return is_shell and (len(words) == 1 or any(re.fullmatch("-[a-z]*i[a-z]*", word) for word in words[1:]))


def _positional_values(words: Sequence[str]) -> dict[str, tuple[str | None, ...]]:
    if len(words) > _MOST_SETTINGS or not all(map(is_known, words)):
        return {}
    return {str(at): (word,) for at, word in enumerate(words)}
