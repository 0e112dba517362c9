"""Follow a line from command to command: the directories in which each may run, and the values of variables.

A directory is relative to that of the line; ``ONE`` stands for an unknown one. A value is a word; None stands for one
that is not known. Where the line may go two ways, both are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from ...runtime.named_tuples import NamedTuple
from ...runtime.regex import regex
from ..programs import DIRECTORY_VARIABLES, KNOWN
from .parsed import CLOSER_OF, CLOSERS, ParsedLine
from .words import MANY, ONE, Expansion, MarkedWord, RawCommand, UnreadKind, is_known, pieces_of, value_of, written_of

__all__ = [
    "NO_STATE", "State", "are_plain_values", "choices_of", "fill", "follow", "is_from_outside", "is_place",
    "join_directory", "kind_of_path", "split_words",
]  # fmt: skip

_MOST_DIRECTORIES = 8
_MOST_VALUES = 16
_LONGEST_VALUE = 20_000
"""Characters of the value of a variable; a longer one is unknown."""
_MOST_ASSIGNMENTS = 200
_TEMPORARY = "/tmp/tmp.0000000000"  # noqa: S108 - it is compared, not used

_SAFE_VALUE = regex(r"[\w./:@%+,=^-]+", re.ASCII)
_WORDS_VALUE = regex(r"[\w./:@%+,=^~ -]*", re.ASCII)
_NAME = regex(r"[A-Za-z_]\w*", re.ASCII)
_STORES = frozenset(
    ["read", "mapfile", "readarray", "getopts", "unset", "let", "wait", "printf", "vared", "zparseopts"]
)
_DECLARES = frozenset(["export", "declare", "typeset", "local", "readonly", "integer"])
_EVALUATES = frozenset(["eval", "source", ".", "trap", "alias", "emulate", "enable", "builtin", "command"])
_ENDS = frozenset(["exit", "return", "exec", "break", "continue", "logout"])
_PLACES = {"HOME": "~", "PWD": ".", "TMPDIR": "/tmp"}  # noqa: S108 - it is compared, not used
_ENVIRONMENT_NAME = regex(r"(?!argv\Z)[A-Za-z]\w*", re.ASCII)
_POSITIONAL = regex(r"[0-9]+|[@*]")
_OF_THE_SHELL = (
    "BASH", "COPROC", "COMP_", "DIRSTACK", "FUNCNAME", "HIST", "IFS", "LINENO", "MAPFILE", "OPT", "PIPESTATUS",
    "PROMPT", "PS", "RANDOM", "READLINE", "REPLY", "SECONDS", "SRANDOM", "ZSH_",
)  # fmt: skip
_CHOOSERS = frozenset(
    ["sed", "awk", "gawk", "mawk", "nawk", "git", "jq", "openssl", "gpg", "age", "wget", "http", "aws"]
)
_SYSTEM_DIRECTORIES = frozenset(
    ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"]
)
_TEMPORARY_DIRECTORIES = ("/tmp", "/var/tmp", "/dev")  # noqa: S108 - they are compared, not used
_LOOPS = frozenset(["while", "until", "for"])

Value = str | None
Values = Mapping[str, tuple[Value, ...]]


class State(NamedTuple):
    """What holds when a command begins: its possible directories and the possible values of the variables."""

    directories: tuple[str, ...] = ("",)
    values: Values = {}  # noqa: RUF012 - it is never changed
    pushed: tuple[tuple[str, ...], ...] = ()


NO_STATE = State()
_NOWHERE = State(())


def follow(parsed: ParsedLine, begin: State, hidden: Iterable[str]) -> list[State]:
    """Return the state in which each command of a text begins.

    Values of ``hidden`` names are not known, whatever the text says.
    """
    if begin.values and any(_without_prefix(raw.words)[:1] in (["set"], ["shift"]) for raw in parsed.commands):
        begin = begin._replace(values={})  # they change the positional parameters
    changes = any(one.assigned for one in parsed.commands) or any(map(_changes, parsed.commands))
    if not changes and not (begin.values and parsed.functions):
        values = {**begin.values, **dict.fromkeys(hidden, (None,))}
        state = begin._replace(values=values) if values else begin
        return [state] * len(parsed.commands)
    return _StateWalk(parsed, begin, hidden).states


def _changes(raw: RawCommand) -> bool:
    return bool(raw.words) and raw.words[0] in _CHANGING


_CHANGING = frozenset(["cd", "chdir", "pushd", "popd", "builtin", "command"]) | _DECLARES | _STORES


class _Chain:
    """A list of commands joined by operators: the states in which it goes on."""

    def __init__(self, state: State) -> None:
        self.now = self.start = self.ok = self.failed = self.pipeline = state
        self.kept = _NOWHERE  # the states that pass the next command by
        self.operator = ";"
        self.is_piped = self.is_negated = False
        self.is_fresh = True

    def ran(self, ok: State, failed: State) -> None:
        """Note the states after a command that succeeds or fails."""
        if self.is_piped:  # a stage has a shell of its own; in some shells the last one has not
            ok = failed = _union(self.pipeline, ok)
        if self.is_negated:
            ok, failed = failed, ok
        self.ok = _union(ok, self.kept) if self.operator == "||" else ok
        self.failed = _union(failed, self.kept) if self.operator == "&&" else failed
        self.is_fresh = False

    def join(self, operator: str, *, stops: bool) -> None:
        """Go on after an operator; with ``stops``, a failure ends the shell."""
        if operator == ";" and self.is_fresh:
            return
        if operator == "|":
            self.is_piped, self.now, self.is_fresh = True, self.pipeline, True
            return
        if operator == "&&":
            self.kept, self.now = self.failed, self.ok
        elif operator == "||":
            self.kept, self.now = self.ok, self.failed
        elif operator == "&":
            self.ok = self.failed = self.now = self.start
        else:
            stops = stops and self.operator == ";" and not self.is_piped
            self.now = self.ok if stops else _union(self.ok, self.failed)
        if not self.now.directories:  # not reached, as far as is known
            self.now = self.start
        if operator in (";", "&"):
            self.kept, self.start = _NOWHERE, self.now
        self.operator, self.pipeline = operator, self.now
        self.is_piped = self.is_negated = False
        self.is_fresh = True

    @property
    def end(self) -> State:
        """The state after the last command."""
        return _union(self.ok, self.failed)


class _Frame:
    """A compound command that is open."""

    def __init__(self, opener: str, outer: _Chain, at: int, *, is_function: bool = False) -> None:
        self.opener = opener
        self.outer = outer
        self.first = at
        self.is_function = is_function
        self.ends: list[State] = []
        self.otherwise = outer.now


class _StateWalk:
    def __init__(self, parsed: ParsedLine, begin: State, hidden: Iterable[str]) -> None:
        self.parsed = parsed
        self.moves = any(raw.words and raw.words[0] in ("cd", "chdir", "pushd", "popd") for raw in parsed.commands)
        self.hidden = set(hidden) | parsed.counted | _hidden_in(parsed)
        self.is_blind = _is_blind(parsed)
        values: dict[str, tuple[Value, ...]] = dict.fromkeys(self.hidden, (None,))
        self.states = [begin] * len(parsed.commands)
        self.shown: dict[str, tuple[Value, ...]] = {}
        self._note_shown()
        values |= {name: self.shown.get(name, (None,)) for name in self.hidden}
        self.anywhere = State((ONE,) if self.moves else begin.directories, {**self.shown, **values})
        self.chain = _Chain(begin._replace(values={**begin.values, **values}))
        self.frames: list[_Frame] = []
        self.at = 0
        self.stops = False
        self.defines = False
        for step in parsed.steps:
            self._step(step)

    def _note_shown(self) -> None:
        """Note every value that the line gives to a variable, for where the order is not known."""
        for raw in self.parsed.commands:
            for name, value in _assigned(raw):
                before = self.shown.get(name, (None,))
                if len(before) < _MOST_VALUES:
                    self.shown[name] = tuple(dict.fromkeys((*before, _value(fill(value, {}, self.parsed)))))

    def _step(self, step: int | str) -> None:
        if isinstance(step, int):
            self._command(step)
        elif step.startswith("function "):
            self.defines = True
        elif step in CLOSER_OF:
            self._open(step)
        elif step in CLOSERS:
            self._close(step)
        elif step in ("then", "elif", "else", "do", ";;"):
            self._branch(step)
        elif step == "!":
            self.chain.is_negated = not self.chain.is_negated
        elif step != "coproc" and not self.defines:
            self.chain.join(step, stops=self.stops)

    def _open(self, opener: str) -> None:
        frame = _Frame(opener, self.chain, self.at, is_function=self.defines)
        self.frames.append(frame)
        self.chain = _Chain(self.anywhere if self.defines else self.chain.now)
        self.defines = False

    def _branch(self, word: str) -> None:
        frame = self.frames[-1] if self.frames else None
        if frame is None or frame.opener not in ("if", "case", *_LOOPS):
            return
        end = self.chain.end
        if word == "then":
            frame.otherwise = self.chain.failed
            self.chain = _Chain(_reached(self.chain.ok, end))
        elif word == "do":
            self.chain = _Chain(_reached(self.chain.failed if frame.opener == "until" else self.chain.ok, end))
        elif word == ";;":
            frame.ends.append(end)
            self.chain = _Chain(frame.outer.now)
        else:
            frame.ends.append(end)
            self.chain = _Chain(_reached(frame.otherwise, end))
            frame.otherwise = _NOWHERE

    def _close(self, closer: str) -> None:
        if not self.frames or CLOSER_OF[self.frames[-1].opener] != closer:
            return
        frame = self.frames.pop()
        inner, self.chain = self.chain, frame.outer
        if frame.is_function or frame.opener == "$(":
            return
        if frame.opener == "(":
            self.chain.ran(self.chain.now, self.chain.now)
        elif frame.opener == "{":
            self.chain.ran(inner.ok, inner.failed)
        else:
            end = inner.end
            for one in (*frame.ends, frame.otherwise, *(() if frame.opener == "if" else (frame.outer.now,))):
                end = _union(end, one)
            if frame.opener in _LOOPS and set(end.directories) - set(frame.outer.now.directories):
                end = end._replace(directories=_shortened((*end.directories, ONE)))
                self._was_repeated(frame)
            self.chain.ran(end, end)

    def _was_repeated(self, frame: _Frame) -> None:
        for at in range(frame.first, self.at):
            state = self.states[at]
            self.states[at] = state._replace(directories=_shortened((*state.directories, ONE)))

    def _command(self, at: int) -> None:
        raw, now, self.at = self.parsed.commands[at], self.chain.now, at + 1
        if self.defines:
            now, self.defines = self.anywhere, False
        self.states[at] = now
        ok = failed = now
        for name, values in _by_name(raw).items():
            ok = failed = self._assign(ok, name, values, raw)
        words = _without_prefix(raw.words)
        name = words[0] if words else ""
        if not is_known(name) and not all(is_known(fill(name, one, self.parsed)) for one in choices_of([name], now)):
            ok = failed = now._replace(values=self.anywhere.values)
        if name in ("cd", "chdir", "pushd", "popd"):
            ok = self._move(name, words[1:], ok)
        elif name in _ENDS and (name != "exec" or words[1:]):
            ok = failed = _NOWHERE
        elif name == "set":
            self.stops |= any(re.match(r"-[a-zA-Z]*e", word) for word in words[1:])
        elif name in self.parsed.functions and self.moves:
            ok = failed = now._replace(directories=(ONE,))
        self.chain.ran(ok, failed)

    def _assign(self, state: State, name: str, values: Sequence[str], raw: RawCommand) -> State:
        known = [
            _value(fill(value, chosen, self.parsed, moves=self.moves))
            for value in values
            for chosen in choices_of([value], state)
        ]
        if raw.words and not _is_declaration(raw):  # for this command alone, except in some shells
            known += state.values.get(name, (None,))
        if self.is_blind or name in self.hidden:
            known = list(self.shown.get(name, (None,)))
        limited = tuple(dict.fromkeys(known))
        limited = limited if len(limited) <= _MOST_VALUES else (None, *limited[: _MOST_VALUES - 1])
        return state._replace(values={**state.values, name: limited})

    def _move(self, name: str, arguments: Sequence[str], state: State) -> State:
        targets = [word for word in arguments if not re.fullmatch(r"--|-[LPe@nq]+", word)]
        if name == "popd" or (name == "pushd" and not targets):
            before = state.pushed[-1] if state.pushed else (ONE,)
            return state._replace(directories=before, pushed=state.pushed[:-1])
        pushed = (*state.pushed, state.directories) if name == "pushd" else state.pushed
        target = targets[0] if targets else "~"
        found = [
            join_directory(directory, written_of(fill(target, chosen, self.parsed)))
            for chosen in choices_of([target], state)
            for directory in state.directories
        ]
        if len(targets) > 1 or "CDPATH" in self.parsed.assigned or _has_wildcard(target) or target.startswith("+"):
            found = [ONE]
        return state._replace(directories=_shortened(found), pushed=pushed)


def _by_name(raw: RawCommand) -> dict[str, list[str]]:
    """Return the values that a command gives to variables: the last one, or all those of a loop."""
    found: dict[str, list[str]] = {}
    for name, value in _assigned(raw):
        found[name] = [*found.get(name, ()), value] if raw.loops else [value]
    return found


def _is_declaration(raw: RawCommand) -> bool:
    words = _without_prefix(raw.words)
    return bool(words) and words[0] in _DECLARES and not raw.assigned


def _assigned(raw: RawCommand) -> Iterator[tuple[str, str]]:
    """Yield the variables that a command sets, also as a word of export or declare."""
    yield from raw.assigned
    words = _without_prefix(raw.words)
    if words and words[0] in _DECLARES:
        for word in words[1:]:
            name = word.partition("=")[0]
            if "=" in word and _NAME.fullmatch(name):
                yield name, value_of(word)


def _hidden_in(parsed: ParsedLine) -> set[str]:
    """Return the variables whose value at a command does not follow from the order of the text."""
    hidden, repeated = set(parsed.changed), list[bool]()
    pending, depth = False, 0
    for step in parsed.steps:
        if isinstance(step, str):
            pending = pending or step.startswith("function ")
            if step in CLOSER_OF:
                repeated.append(pending or step in _LOOPS)
                depth += repeated[-1]
                pending = False
            elif step in CLOSERS and repeated:
                depth -= repeated.pop()
            continue
        raw = parsed.commands[step]
        if depth > raw.loops or pending:
            hidden.update(name for name, _ in _assigned(raw))
        words = _without_prefix(raw.words)
        if words and words[0] in _STORES | _DECLARES:
            plain = words[0] in ("export", "local")
            hidden.update(word.partition("=")[0].partition("[")[0] for word in words[1:] if not (plain and "=" in word))
    return {name for name in hidden if _NAME.fullmatch(name)}


def _is_blind(parsed: ParsedLine) -> bool:
    """Return whether the text has something that may set any variable."""
    count = sum(len(raw.assigned) for raw in parsed.commands)
    return count > _MOST_ASSIGNMENTS or any(
        words and words[0] in _EVALUATES for words in (_without_prefix(raw.words) for raw in parsed.commands)
    )


def _value(word: str) -> Value:
    """Return a value that says something; None if it does not, or if it is too long to be followed."""
    shown = written_of(word)
    if max(len(word), len(shown)) > _LONGEST_VALUE:  # each of `b=$a$a; c=$b$b; …` is twice as long as the one before
        return None
    return None if word in ("", ONE, MANY) and shown in ("", ONE, MANY) else word


def _without_prefix(words: Sequence[str]) -> Sequence[str]:
    while words and words[0] in ("builtin", "command") and len(words) > 1 and not words[1].startswith("-"):
        words = words[1:]
    return words


def is_place(word: str) -> bool:
    """Return whether a word begins with a tilde or a directory of the environment: it is a path."""
    first = pieces_of(word)[0]
    return isinstance(first, Expansion) and (first.name == "~" or first.name in DIRECTORY_VARIABLES)


def is_from_outside(word: str, state: State, parsed: ParsedLine, *, is_top: bool = False) -> bool:
    """Return whether the unknown parts of a word are variables of the environment, or printed by known programs.

    At the top, where the line itself is run, positional parameters are of the environment too.
    """
    pieces = [one for one in pieces_of(word) if isinstance(one, Expansion)]
    return bool(pieces) and all(_is_from_outside(one, state, parsed, is_top) for one in pieces)


def _is_from_outside(one: Expansion, state: State, parsed: ParsedLine, is_top: bool) -> bool:
    if is_top and _POSITIONAL.fullmatch(one.name):
        sets = any(_without_prefix(raw.words)[:1] == ["set"] for raw in parsed.commands)
        return not sets and not parsed.functions
    if one.commands is not None:
        commands = parsed.commands[slice(*one.commands)]
        names = [raw.words[0] if raw.words else "" for raw in commands]
        return len(names) == 1 and names[0] in KNOWN and names[0] not in _CHOOSERS
    if not one.is_plain:  # it has text of the line
        return False
    is_name = _ENVIRONMENT_NAME.fullmatch(one.name) is not None and not one.name.startswith(_OF_THE_SHELL)
    return (
        is_name
        and one.name not in state.values
        and one.name not in parsed.assigned
        and not (len(parsed.commands) > 1 and _is_blind(parsed))
    )


def are_plain_values(parsed: ParsedLine) -> bool:
    """Return whether every directory that the text sets and uses is set to a plain path, which no shell splits."""
    names = parsed.assigned & parsed.used
    found: dict[str, list[str]] = {name: [] for name in names}
    for raw in parsed.commands:
        for name, value in _assigned(raw):
            if name in found:
                found[name].append(value)
    plain = all(values and all(map(_SAFE_VALUE.fullmatch, values)) for values in found.values())
    return plain and not parsed.splits and not _is_blind(parsed) and not names & (_hidden_in(parsed) | parsed.counted)


def kind_of_path(value: str, variable: str = "PATH") -> UnreadKind | None:
    """Return what a PATH that the line sets means: None if it has only the system's directories."""
    parts = written_of(value).split(":")
    if is_known(value) and all(part in _SYSTEM_DIRECTORIES for part in parts):
        return None
    names = {one.name for one in pieces_of(value) if isinstance(one, Expansion)}
    outside = names <= {variable, "~", *DIRECTORY_VARIABLES} - {"PWD", "OLDPWD", "TMPDIR"}
    named = all(part[:1] in ("/", "~", ONE, MANY) and not part.startswith(_TEMPORARY_DIRECTORIES) for part in parts)
    return "path" if outside and named else "variable"


def _has_wildcard(word: str) -> bool:
    return any(not isinstance(one, str) and one.written and one.name != "~" for one in pieces_of(word))


def join_directory(directory: str, target: str) -> str:
    """Return where a change of the directory leads to."""
    if not is_known(target) or target in ("-", ""):
        return ONE
    if target.startswith(("/", "~")):
        return target
    if directory == ONE:
        return ONE
    path = os.path.normpath(os.path.join(directory, target))
    return "" if path == "." else path


def _shortened(directories: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(directories))
    return found if len(found) <= _MOST_DIRECTORIES else (*found[: _MOST_DIRECTORIES - 1], ONE)


def _reached(state: State, other: State) -> State:
    return state if state.directories else other


def _union(one: State, other: State) -> State:
    if one is other or not other.directories:
        return one
    if not one.directories:
        return other
    values = one.values
    if one.values is not other.values:
        names = dict.fromkeys((*one.values, *other.values))
        values = {
            name: tuple(dict.fromkeys((*one.values.get(name, (None,)), *other.values.get(name, (None,)))))
            for name in names
        }
    pushed = max(one.pushed, other.pushed, key=len)
    return State(_shortened((*one.directories, *other.directories)), values, pushed)


def _key(one: Expansion) -> str:
    """Return the name under which the value of an expansion is chosen."""
    return f"{one.name}-{one.default}" if one.default else one.name


def choices_of(words: Iterable[str], state: State) -> list[dict[str, Value]]:
    """Return the combinations of values that the variables in words may have; the first has the unknown ones."""
    names: dict[str, tuple[Value, ...]] = {}
    for word in words:
        for one in pieces_of(word):
            if isinstance(one, Expansion) and one.default:
                names[_key(one)] = (None, one.default)
            elif isinstance(one, Expansion) and one.is_plain and one.name in state.values:
                names[one.name] = state.values[one.name]
    if not names:
        return [{}]
    sets = [sorted(values, key=lambda one: one is not None) for values in names.values()]
    return [dict(zip(names, values, strict=True)) for values in islice(product(*sets), _MOST_VALUES)]


def fill(word: str, chosen: Mapping[str, Value], parsed: ParsedLine, *, moves: bool = False) -> str:
    """Return a word with the values that are known; ``moves`` says that ``.`` will be another directory."""
    if not isinstance(word, MarkedWord):
        return word
    pieces = word.pieces
    if "".join(one if isinstance(one, str) else one.mark for one in pieces) != word:
        return word
    text, written, kept = list[str](), list[str](), list[str | Expansion]()
    for at, one in enumerate(pieces):
        if isinstance(one, str):
            text.append(one)
            written.append(one)
            kept.append(one)
            continue
        value = _value_of(one, chosen, parsed, moves)
        if (
            value is not None
            and is_known(value)
            and (one.mark == ONE or (_SAFE_VALUE.fullmatch(value) and not parsed.splits))
        ):
            text.append(value)
            written.append(value)
            kept.append(value)
            continue
        text.append(one.mark)
        kept.append(one)
        is_split = value is not None and is_known(value) and one.mark == MANY
        shown = written_of(value) if value is not None and not is_split else one.written
        after = pieces[at + 1] if at + 1 < len(pieces) else "/"
        whole = shown not in ("~", ".", "/tmp") or (isinstance(after, str) and after[:1] in ("/", ":", ""))  # noqa: S108
        written.append(shown if shown and whole else one.mark)
    result = "".join(text)
    return result if is_known(result) else MarkedWord(result, tuple(kept), "".join(written))


def split_words(words: Sequence[str], chosen: Mapping[str, Value]) -> list[str] | None:
    """Return words in which a variable alone stands for the several words of its value; None if there is none."""
    made, is_split = list[str](), False
    for word in words:
        pieces = pieces_of(word)
        if len(pieces) != 1 or not isinstance(pieces[0], Expansion):
            made.append(word)
            continue
        value = chosen.get(_key(pieces[0]))
        if word == MANY and value is not None and _WORDS_VALUE.fullmatch(value):
            made += map(_with_tilde, value.split()) if pieces[0].default else value.split()
            is_split = True
        else:
            made.append(word)
    return made if is_split else None


def _with_tilde(word: str) -> str:
    """Return a word of a default, in which the shell replaces a tilde."""
    if word != "~" and not word.startswith("~/"):
        return word
    return MarkedWord(ONE + word[1:], (Expansion(ONE, "~", "~"), word[1:]))


def _value_of(one: Expansion, chosen: Mapping[str, Value], parsed: ParsedLine, moves: bool) -> Value:
    if one.pipe:
        return None
    if one.commands is not None:
        return _printed(parsed.commands[slice(*one.commands)], moves)
    if one.default and chosen.get(_key(one)) is not None:
        return chosen[_key(one)]
    if not (one.is_plain or (one.default and one.name in _PLACES)) or not one.name or one.name == "~":
        return None
    if one.name in chosen:
        return chosen[one.name]
    if one.name in _PLACES and one.name not in parsed.assigned and not (moves and one.name == "PWD"):
        return MarkedWord(ONE, (one,), _PLACES[one.name])
    return None


def _printed(commands: Sequence[RawCommand], moves: bool) -> Value:
    """Return what a substitution prints, if that is known before."""
    if len(commands) != 1 or commands[0].assigned or not all(map(is_known, commands[0].words)):
        return None
    if commands[0].redirections and (commands[0].words != ["cat"] or len(commands[0].redirections) > 1):
        return None
    name, *words = commands[0].words or [""]
    if (name == "which" and len(words) == 1) or (name == "command" and words[:1] == ["-v"] and len(words) == 2):
        found = words[-1]
        return None if found.startswith("-") else found if "/" in found else f"/usr/bin/{found}"
    if name == "printf" and len(words) == 1 and not set("%\\") & set(words[0]) and not words[0].startswith("-"):
        return words[0]
    if name == "pwd" and not moves:
        return MarkedWord(ONE, (), ".")
    if name == "mktemp":
        return _temporary(words)
    if name == "echo" and words and not words[0].startswith("-") and "\\" not in "".join(words):
        return " ".join(words)
    return None


def _temporary(words: Sequence[str]) -> Value:
    if any(word.startswith(("-p", "--tmpdir")) for word in words):
        return None
    paths = [word for word in words if not word.startswith("-") and "/" in word]
    return MarkedWord(ONE, (), paths[-1] if paths else _TEMPORARY)
