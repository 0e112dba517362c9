"""Find the commands that a line runs: those in it, and those that they run in turn.

A line is parsed into commands; each is taken with the values that its variables may have, noted, and given to the
reader of its program, which comes back with the commands and texts that the program runs. What the commands of a line
have in common is kept beside: ``findings``, ``files``, ``variables``, ``arithmetic`` and ``inputs``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from ...runtime.regex import regex
from ..grades import Grade
from ..programs import BUILTINS, INTERPRETERS, KNOWN, SHELLS, WRAPPERS
from .arithmetic import Arithmetic
from .context import INPUT_IGNORED, INPUT_RUN, INPUT_SUSPECT, Context
from .files import LineFiles
from .findings import Findings
from .flow import NO_STATE, State, follow, is_from_outside
from .functions import is_fork_bomb, uncalled
from .inputs import LineInputs
from .line import Pipe, ShellCommand, Suspect
from .options import program_of
from .parsed import ARRAY_ELEMENT, IN_ARITHMETIC, ParsedLine
from .reader import parse
from .texts import is_plain, is_text, texts_of
from .variables import Variables
from .variants import positional_values, variants
from .words import (
    MANY,
    ONE,
    Expansion,
    MarkedWord,
    RawCommand,
    UnreadKind,
    Unsure,
    base_name,
    is_known,
    names_in,
    pieces_of,
    written_of,
)

__all__ = ["DEEPEST", "LONGEST", "ProgramReader", "Resolver"]

LONGEST = 100_000
DEEPEST = 10
_MOST_COMMANDS = 3_000

_SYSTEM_PROGRAM = regex(r"/(?:usr/|opt/homebrew/)?(?:local/)?s?bin/[^/]+\Z")
_SHELL_VARIABLES = frozenset(["SHELL"])
_CODE_OPTION = regex(r"-[a-zA-Z]*[ceErR]|--?(?:eval|exec|command|print|run)(?:=.*)?", re.DOTALL)


ProgramReader = Callable[["Resolver", str, Sequence[str], Context], int]
"""Reads the arguments of one program, and returns what it does with what it reads."""


class Resolver:
    """Collects what one line runs.

    ``read_program`` reads the arguments of any program; ``readers`` are the programs that are read in their own way.
    """

    def __init__(self, read_program: ProgramReader, readers: Mapping[str, ProgramReader]) -> None:
        self.read_program = read_program
        self.readers = readers
        self.found = Findings()
        self.files = LineFiles(self.found)
        self.arithmetic = Arithmetic()
        self.variables = Variables(self.found, self.files, self.arithmetic)
        self.inputs = LineInputs(self.found, self.files)
        self.whole: ParsedLine | None = None
        self.functions: set[str] = set()
        self.beside_aliases: dict[ParsedLine, str] = {}
        """The text of the other commands, by what was parsed."""
        self.unread = 2 * LONGEST  # eval eval eval … reads the same text again and again
        self.is_suspect = False
        self.is_simple = True
        self.is_fork_bomb = False

    # Texts.

    def read(self, text: str, outer: Context | None) -> int:
        """Read a text, and return what its commands do with what they read."""
        depth = outer.depth if outer else 0
        self.unread -= len(text)
        if depth > DEEPEST or self.unread < 0:
            raise Unsure("too many commands that run commands")
        parsed = parse(text)
        self.inputs.note_text(text)
        self.variables.note_text(text, parsed)
        self.functions |= parsed.functions
        self.is_simple &= parsed.is_simple
        begin = NO_STATE
        if outer is None:
            self.whole = parsed
            self.found.pipes += [Pipe(*pipe) for pipe in parsed.pipes]
        else:
            begin = State(outer.directories, positional_values(outer.positional))
            outer = outer._replace(positional=())
        states = follow(parsed, begin, self._set_outside(outer))
        idle = uncalled(parsed)
        self.is_fork_bomb |= is_fork_bomb(parsed)
        roles = [
            self._read_idle(raw, parsed, outer, state) if at in idle else self._read_command(raw, parsed, outer, state)
            for at, (raw, state) in enumerate(zip(parsed.commands, states, strict=True))
        ]
        if parsed.pipes:
            self.inputs.follow_pipes(parsed, roles, self.functions, self.run_text)
        return max(roles, default=INPUT_IGNORED)

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
            self.found.cannot_read(f"{program} runs a text that is computed")
            if text in (ONE, MANY):
                return INPUT_RUN
            why = why or "parts of the text are computed"
        try:
            return self.read(text, context.inside(program, why)._replace(adds=more, positional=positional))
        except Unsure as error:
            self.found.cannot_read(f"{program} runs a text that cannot be read: {error}", "broken")
            self.found.suspects.append(Suspect(program, text=text, runs=True))
            return INPUT_RUN

    def finish(self) -> None:
        """Judge what depends on the whole line."""
        names = {command.name for command in self.found.commands if command.parts}
        self.inputs.judge()
        self.variables.judge_prompts(names)
        self.files.suspect_written_texts(names)
        if self.is_suspect or self.found.opaque:
            self.variables.suspect_values()
        self.files.judge_loaded(names)
        self.arithmetic.judge(self.found, names)
        self.files.judge_run()

    def _set_outside(self, outer: Context | None) -> Iterator[str]:
        """Yield the variables that were set before a text is run."""
        if outer is not None:
            for settings in (self.variables.settings, outer.raw.assigned, outer.settings):
                yield from (name for name, _ in settings)

    # Commands of a text.

    def _read_idle(self, raw: RawCommand, parsed: ParsedLine, outer: Context | None, state: State) -> int:
        """Read a command of a function that the text does not call: it is only suspect."""
        self.found.suspect("a function that is not called", lambda: self._read_command(raw, parsed, outer, state))
        return INPUT_IGNORED

    def _read_command(self, raw: RawCommand, parsed: ParsedLine, outer: Context | None, state: State) -> int:
        if len(self.found.commands) > _MOST_COMMANDS:
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
        self.variables.are_chosen |= bool(raw.substituted)
        found = list(variants(raw, context, state))
        if not raw.redirections:
            return max(self._read_variant(one, within) for one, within in found)
        before, emptied = len(self.files.ran), self.files.emptied_by(raw)
        role = max(self._read_variant(one, within) for one, within in found)
        if emptied:
            # A file of this name is empty as the program starts, or it is another that was there already.
            self.files.forget_run(emptied, before)
        for one, _ in found:
            for redirection in one.redirections:
                if redirection.is_output:
                    self.files.write(redirection.target)
        return role

    def _read_variant(self, raw: RawCommand, context: Context) -> int:
        """Read a command with certain values of its variables."""
        if raw.redirections:
            self.inputs.follow_descriptors(raw)
        if raw.doubt == ARRAY_ELEMENT:
            self.found.suspects.append(Suspect("an array", tuple(raw.words), runs=True))
            self.arithmetic.counts |= any(written_of(word).startswith("[") for word in raw.words)
            return INPUT_IGNORED
        if raw.words:
            role = self.resolve(raw.words, context)
        else:
            role = INPUT_IGNORED
            if raw.redirections or (raw.assigned and not raw.loops):
                self.note((), context)
        for name, value in raw.assigned:
            self.assign(name, value, context, role=role if raw.words else INPUT_SUSPECT, alone=not raw.words)
        if raw.redirections:
            self.inputs.follow_redirections(raw, role, self.run_text)
        self.files.texts += texts_of(raw)
        self.is_suspect |= role > INPUT_IGNORED
        return role

    def assign(
        self, name: str, value: str, context: Context, *, role: int = INPUT_SUSPECT, alone: bool = False
    ) -> None:
        """Note a variable, and read the command that it names; ``alone`` says that it is set for the line."""
        command = self.variables.assign(name, value, role, context, alone=alone)
        if command:
            self.run_text(command, context, f"{name}=", f"{name} names it", more=is_plain(command))

    # One command.

    def resolve(self, words: Sequence[str], context: Context) -> int:
        """Note a command, and the commands that it runs; return what it does with what it reads."""
        if context.depth > DEEPEST:
            raise Unsure("too many commands that run commands")
        self.note(words, context)
        first, arguments = words[0], words[1:]
        name = base_name(first)
        if not is_known(first) and (MANY in first or not is_known(name) or not name):
            if context.raw.doubt and first[:1].isdigit():
                return INPUT_IGNORED  # a product
            return self._run_computed(first, arguments, context)
        if self.variables.path_kind and "/" not in first and name not in BUILTINS:
            what = f"{name} is searched for in a PATH that the line sets"
            self.found.cannot_read(what, self.variables.path_kind)
        if "/" in first or name in self.files.written:
            self.files.ran.append(("the line", first))
            self.files.runs_scripts |= not _SYSTEM_PROGRAM.match(first)
        if name in self.functions:
            self.found.suspect_texts(name, arguments)
            return INPUT_SUSPECT
        return self.read_program(self, self._plain_name(program_of(name)), arguments, context)

    def note(self, words: Sequence[str], context: Context) -> None:
        """Add a command to those of the line."""
        raw = context.raw
        used = names_in([*words, *(part for one in raw.redirections for part in (one.target, one.text))])
        self.found.commands.append(
            ShellCommand(
                tuple(words),
                context.grade,
                context.via,
                context.why,
                tuple(raw.redirections),
                (*self.variables.settings, *raw.assigned, *context.settings),
                raw.place,
                context.directories,
                variables=tuple(dict.fromkeys(used)),
                substituted=tuple(raw.substituted) if context.parsed is self.whole else (),
            )
        )

    def _plain_name(self, name: str) -> str:
        """Return the name of a program that runs others as the tables have it: some file systems fold its case."""
        lower = name.lower()
        is_another = name != lower and name not in KNOWN and name not in self.readers
        return lower if is_another and (lower in self.readers or lower in WRAPPERS) else name

    # Programs whose names are computed.

    def _run_computed(self, first: str, arguments: Sequence[str], context: Context) -> int:
        """Read a command whose program is computed: it may be empty, or its last part may be known."""
        is_outside = is_from_outside(first, context.state, context.parsed, is_top=context.parsed is self.whole)
        if is_outside and set(names_in([first])) <= _SHELL_VARIABLES and first in (ONE, MANY):
            return self.resolve(["sh", *arguments], context.inside("$SHELL"))
        name = base_name(first)
        is_named = bool(name) and is_known(name)
        is_ordinary = is_named and name not in SHELLS and name not in INTERPRETERS
        if any(is_text(word) or (_CODE_OPTION.fullmatch(word) and not is_ordinary) for word in arguments):
            is_outside = False
            for word in filter(is_text, arguments):
                self.run_text(word, context, "a computed program", "a program whose name is computed may run it")
        is_outside |= self._is_pattern_below(first, context)
        self.found.cannot_read(
            "a program whose name is computed", self._kind_of_computed(first, arguments, context, is_outside)
        )
        self.found.suspects.append(Suspect("a program whose name is computed", tuple(arguments), runs=True))
        if first == MANY and arguments and arguments[0][:1] not in (MANY, "-"):
            self.resolve(arguments, context.inside("a variable", "the variable before it may be empty"))
        if is_outside and is_named:
            within = context.inside(f"…/{name}", "its directory is not known")
            self.read_program(self, program_of(name), arguments, within)
        return INPUT_RUN

    def _kind_of_computed(self, first: str, arguments: Sequence[str], context: Context, is_outside: bool) -> UnreadKind:
        """Return why a program whose name is computed cannot be read."""
        is_alone = context.parsed is self.whole and len(context.parsed.commands) == 1
        if (
            is_alone
            and set(written_of(first)) <= {"*", "?"}
            and not any(written_of(word)[:1] in "-/~.\0" for word in arguments)
        ):
            return "file"  # the first file of the directory; most likely a line of a list
        is_sum = context.raw.doubt == IN_ARITHMETIC  # for some shells it is a command
        return "program" if is_outside or is_sum else "computed"

    def _is_pattern_below(self, word: str, context: Context) -> bool:
        """Return whether a program is found by a pattern below the directory of a line that writes no file."""
        parts = written_of(word).split("/")
        if not isinstance(word, MarkedWord) or any(
            isinstance(piece, Expansion) and not piece.written for piece in pieces_of(word)
        ):
            return False
        is_below = len(parts) > 1 and parts[0] not in ("", "..", "~") and ".." not in parts and "{" not in word
        changes = self.files.is_any_written or self.functions or context.directories != ("",)
        return is_below and not changes
