"""Parse a shell's command line, without running it, into its simple commands.

It is one pass over the text, in linear time. The grammar is not checked: the parser has to find every command, so it
may take more text for commands than a shell would, never less. It reads as bash does. Where other shells differ in what
they run, or the text is ambiguous, it notes a reason or raises ``Unsure``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..programs import DIRECTORY_VARIABLES
from .words import (
    MANY,
    ONE,
    Expansion,
    MarkedWord,
    RawCommand,
    Redirection,
    Unread,
    Unsure,
    brace_words,
    expanded,
    is_known,
    join,
    pieces_of,
    value_of,
)

__all__ = ["ARRAY_ELEMENT", "ParsedLine", "parse"]

ARRAY_ELEMENT = "it is an element of an array"
_IN_TEST = "it stands in [[ ]]"

_DEEPEST = 40
_MOST_COMMANDS = 3_000
_MOST_BRACES = 2_000

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_PLAIN = re.compile(r"[^\s'\"\\$`*?\[{}=;&|()<>#~!]+")
_IN_DOUBLE_QUOTES = re.compile(r'[^"\\$`]+')
_IN_BRACES = re.compile(r"[^}'\"\\$`<>]+")
_DESCRIPTOR = re.compile(r"[0-9]+|\{[A-Za-z_]\w*\}", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[.*?\])?\+?=", re.ASCII | re.DOTALL)
_OPEN_SUBSCRIPT = re.compile(r"[A-Za-z_]\w*\[[^\]]*\Z", re.ASCII)
# A mark that continues on the next line: $ and (, < and <.
_BROKEN_MARK = re.compile(r"\$\\\n|[<>]\\\n[<>(&|]|\(\\\n\(|[&|;]\\\n[&|;>]")
_REDIRECTION = re.compile(r"&>>?|<<<|<<-?|<>|<&|>>|>&|>\||[<>]")
_IN_BACKTICKS = re.compile(r"((?:[^`\\]|\\.)*)`", re.DOTALL)
_ANSI_C = re.compile(r"((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\\"?])|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_TILDE = re.compile(r"~[\w.+-]*(?=[/:\s;&|()<>]|\Z)", re.ASCII)
_BRACKETS = re.compile(r"\[[^\]\s;&|()<>'\"\\$`]{0,64}\]")
_NO_BRACES = re.compile(r"\{(?:(?!\.\.)[^{},\s;&|()<>'\"\\$`])*\}")  # nothing to choose from: no expansion
_PLAIN_BRACES = re.compile(r"\{[\w./:@%+=-]*(?:,[\w./:@%+=-]*)+\}", re.ASCII)
_DEFAULT = re.compile(r"[A-Za-z_]\w*:?[-=+]((?:[^${}`'\"\\*?\[]|\"[\w./:@%+-]*\"|'[\w./:@%+-]*')+)", re.ASCII)
_AFTER_BRACKET = re.compile(r"[\s;&|<>()\]$`\"'\\]")  # ends a word, or may make a pattern of an open bracket
_LONGEST_DELIMITER = 1_000
_SUBSCRIPT = re.compile(r"\[(?:[@*]|-?[0-9]+)\]")
_SLICE = re.compile(r":(?![-=?+]) *[^}]*")
_NUMBERS = re.compile(r"[ 0-9:-]*\Z")
_NUMBER_OF = re.compile(r"\$\((?:nproc|date \+%s|id -u|getconf \w+)\)")
_EVALUATED = re.compile(r"[A-Za-z_]\w*|\$\(", re.ASCII)
_INDIRECT = re.compile(r"![A-Za-z_]\w*(?:[@*]|\[[@*]\])?\}?", re.ASCII)

# What may follow the name of a coprocess: a command that is more than words.
_COMPOUND = re.compile(r"(?:[ \t]|\\\n)+(?:\(|(?:\{|\[\[|if|while|until|for|case|select)(?=\s))")

_OPENERS = frozenset(["{", "if", "while", "until"])
_CLOSERS = frozenset(["}", "fi", "done"])
_BETWEEN = frozenset(["then", "elif", "else", "do", "!", "time", "coproc"])
_RESERVED = _OPENERS | _CLOSERS | _BETWEEN


class _HereDocument(NamedTuple):
    command: RawCommand
    end: str
    operator: str
    expands: bool


class ParsedLine:
    """What a text holds: its simple commands, which of them feed which, and what could not be read."""

    def __init__(self) -> None:
        self.commands: list[RawCommand] = []
        self.pipes: list[tuple[int, int, int]] = []
        """Commands first … middle feed the commands middle … last."""
        self.opaque: list[Unread] = []
        self.functions: set[str] = set()
        self.assigned: set[str] = set()
        self.used: set[str] = set()
        """The variables of directories that begin a word."""
        self.is_simple = True
        self.counted: set[str] = set()
        """The variables that arithmetic evaluates."""
        self.changed: set[str] = set()
        """The variables that are changed otherwise than by a plain assignment."""
        self.braces_left = _MOST_BRACES
        """How many words braces may still make."""
        self.splits = False
        """Whether words may be split at other characters than blanks."""
        self.steps: list[int | str] = []
        """The commands by number, between them operators and reserved words: how the commands follow each other.

        ``(`` and ``$(`` to ``)`` are a subshell and a substitution; ``function NAME`` stands before a body.
        """


def parse(text: str, depth: int = 0) -> ParsedLine:
    """Return every simple command of a command line, also those in substitutions; raise Unsure if in doubt."""
    parsed = ParsedLine()
    parsed.splits = "IFS" in text
    _ShellReader(text, depth, parsed).read_list("")
    return parsed


class _Nesting:
    """A list of commands inside braces, ``if`` and the like: where its pipeline and the current stage begin."""

    __slots__ = ("piped", "pipeline", "stage")

    def __init__(self, at: int) -> None:
        self.pipeline = self.stage = at
        self.piped = False


class _List:
    """Collects the words of the current command, and knows where a command may begin."""

    def __init__(self, parsed: ParsedLine, doubt: str) -> None:
        self.parsed = parsed
        self.levels = [_Nesting(len(parsed.commands))]
        self.doubt = doubt
        self.command = RawCommand()
        self.kind = ""  # for, select, function: the head that is being read
        self.timed = False
        self.is_coprocess = False  # the word before was coproc
        self.forked: list[str] | None = None  # after &>: bash redirects, other shells end the command
        self.group = (0, 0)  # the commands of the compound command that has just ended
        self.descriptor = ""

    @property
    def is_test(self) -> bool:
        """Whether this is ``[[ … ]]``."""
        return self.command.words[:1] == ["[["] and self.command.words[-1] != "]]"

    @property
    def begins(self) -> bool:
        """Whether a command may begin here."""
        return not self.command.words and not self.kind

    def end_command(self) -> None:
        """Finish the current command."""
        command, self.command = self.command, RawCommand()
        if self.kind in ("for", "select"):
            name = command.words[0] if command.words else ""
            is_list = command.words[1:2] == ["in"]
            command.assigned += [(name, value) for value in (command.words[2:] if is_list else [MANY])]
            self.parsed.assigned.add(name)
            self.parsed.changed.update(() if is_list else command.words)
            command.words, command.loops = [], True
        self.kind, self.timed = "", False
        if command.words or command.assigned or command.redirections:
            at = len(self.parsed.commands)
            command.place = at
            command.doubt = self.doubt
            self.parsed.commands.append(command)
            self.parsed.steps.append(at)
            if at > _MOST_COMMANDS:
                raise Unsure("more than 3,000 commands")
            if not command.words and not command.assigned and self.group[0] < self.group[1]:
                self.parsed.pipes.append((at, *self.group))  # done < file: the redirection is the group's
            if self.forked:
                other = RawCommand()
                other.words, other.doubt, other.place = self.forked, "shells differ in what follows &>", at + 1
                self.parsed.commands.append(other)
                self.parsed.steps.append(at + 1)
        self.forked, self.group = None, (0, 0)
        if command.words and command.words[-1] == "]]":
            self.doubt = self.doubt.removesuffix(_IN_TEST)

    def separate(self, *, piped: bool = False) -> None:
        """Finish the current stage of the pipeline, and unless it is piped on, the pipeline."""
        self.end_command()
        level, now = self.levels[-1], len(self.parsed.commands)
        if level.piped and level.stage < now:
            self.parsed.pipes.append((level.pipeline, level.stage, now))
        level.stage, level.piped = now, piped
        if not piped:
            level.pipeline = now

    def reserved(self, word: str) -> None:
        """Pass a reserved word."""
        if word in _OPENERS:
            self.levels.append(_Nesting(len(self.parsed.commands)))
        elif word in _CLOSERS:
            self.close()
        elif word in ("then", "elif", "else", "do"):
            self.separate()
        self.parsed.steps += [word] if word != "time" else []
        self.timed = word == "time"
        self.is_coprocess = word == "coproc"

    def close(self) -> None:
        """Leave a compound command."""
        self.separate()
        if len(self.levels) > 1:
            self.levels.pop()
        self.group = (self.levels[-1].stage, len(self.parsed.commands))


class _ShellReader:
    def __init__(self, text: str, depth: int, parsed: ParsedLine) -> None:
        if _BROKEN_MARK.search(text):
            raise Unsure("an operator that is broken over two lines")
        self.text = text
        self.at = 0
        self.depth = depth
        self.parsed = parsed
        self.arithmetic = 0
        self.substituted: list[tuple[int, int]] = []
        self.waiting: list[_HereDocument] = []
        self.after_bracket = (0, -1)  # a place, and the first mark after it that decides what an open bracket is

    # Lists of commands.

    def read_list(self, closer: str, doubt: str = "") -> str:
        """Read commands up to ``closer``, a parenthesis or the end of a case's item; return what ended the list."""
        self._deeper()
        outer, self.waiting = self.waiting, []
        line = _List(self.parsed, doubt)
        ended = ""
        while True:
            self._skip_blanks()
            mark = self.text[self.at : self.at + 1]
            if not mark or mark == "\n":
                self._end_line(line, mark, bool(outer))
                if not mark:
                    break
            elif mark == ")" or self.text.startswith((";;", ";&"), self.at):
                if self._closes(line, mark, closer):
                    ended = closer
                    break
            elif self.text.startswith("&>", self.at) or (mark in "<>" and not self._is_process_substitution()):
                self._read_redirection(line)
            elif mark in ";&|":
                self._read_operator(line, mark)
            elif mark == "(":
                self._read_parenthesis(line)
            elif mark == "#":
                self._skip_comment(line)
            elif self._read_argument(line, closer):
                ended = "esac"
                break
        self.waiting = outer + self.waiting
        self.depth -= 1
        return ended

    def _end_line(self, line: _List, mark: str, is_awaited: bool) -> None:
        goes_on = line.levels[-1].piped and line.begins and line.group[0] >= line.group[1]
        if not goes_on:  # after a pipe, the next line goes on with it
            line.separate()
            self.parsed.steps.append(";")
        if mark:
            if is_awaited:
                raise Unsure("a here-document whose text begins inside a substitution")
            self.at += 1
        self._read_here_documents()

    def _closes(self, line: _List, mark: str, closer: str) -> bool:
        line.separate()
        if mark == ")":
            self.at += 1
            return closer == ")"  # else a syntax error in every shell
        self.at += 3 if self.text.startswith(";;&", self.at) else 2
        return closer == ";;"

    def _read_operator(self, line: _List, mark: str) -> None:
        ahead = self.text[self.at + 1 : self.at + 2]
        was_test = line.is_test
        line.separate(piped=mark == "|" and ahead != "|")
        if was_test and mark != ";":
            line.doubt = line.doubt or _IN_TEST
        is_double = bool(ahead) and mark + ahead in ("&&", "||", "|&")
        self.parsed.steps.append(mark + ahead if mark == ahead and is_double else mark)
        self.at += 2 if is_double else 1

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unsure("nested too deeply")

    def _skip_blanks(self) -> None:
        blanks = _BLANKS.match(self.text, self.at)
        if blanks:
            self.at = blanks.end()

    def _skip_comment(self, line: _List) -> None:
        end = self.text.find("\n", self.at)
        is_element = line.doubt == ARRAY_ELEMENT and end > 0 and ")" not in self.text[self.at : end]
        is_doubtful = line.doubt and line.command.words[-1:] != ["]]"] and not is_element
        if self.arithmetic or line.is_test or is_doubtful:
            raise Unsure("a # that begins a comment, or does not")
        self.at = len(self.text) if end < 0 else end

    def _read_parenthesis(self, line: _List) -> None:
        """Read a subshell, arithmetic, or the parentheses after a function's name."""
        words = line.command.words
        if self.text.startswith("((", self.at) and not words:
            self.at += 1
            self._read_arithmetic()
            line.kind = ""
            return
        before = self.text[self.at - 1 : self.at]
        if before in ("@", "?", "*", "+", "!") and self.at:
            raise Unsure("a pattern of extglob, or a subshell")
        self.at += 1
        if line.is_test:  # to its end, as the parenthesis ends the command here
            line.doubt = line.doubt or _IN_TEST
        if words and not self.arithmetic:
            self._skip_blanks()
            if self.text.startswith(")", self.at) and len(words) == 1:
                self.at += 1
                self._define(line, words[0])
                return
            line.end_command()  # a syntax error in every shell, or a test: what is inside counts as commands
        begin = len(self.parsed.commands)
        self.parsed.steps.append("(")
        self._read_group(line.doubt)
        self.parsed.steps.append(")")
        line.group = (begin, len(self.parsed.commands))

    def _define(self, line: _List, name: str) -> None:
        self.parsed.is_simple = False
        self.parsed.functions.add(name if is_known(name) else "")
        self.parsed.steps.append(f"function {name}")
        line.command, line.kind = RawCommand(), ""

    def _read_group(self, doubt: str = "") -> None:
        if not self.read_list(")", doubt):
            raise Unsure("a parenthesis that is not closed")

    def _read_arithmetic(self) -> None:
        """Read the rest of ``((``, or a subshell in a subshell: to take sums for commands does no harm."""
        self.arithmetic += 1
        began = self.at
        first = len(self.parsed.commands)
        self.at += 1
        self.parsed.steps.append("(")
        self._read_group("it stands in arithmetic")
        adjacent = self.text.startswith(")", self.at)
        self._read_group("" if not adjacent else "it stands in arithmetic")
        self.parsed.steps.append(")")
        self.arithmetic -= 1
        if not adjacent:  # not arithmetic but a subshell within a subshell
            for command in self.parsed.commands[first:]:
                command.doubt = command.doubt.removeprefix("it stands in arithmetic")
        if adjacent:
            self.parsed.counted.update(_EVALUATED.findall(_NUMBER_OF.sub("", self.text[began : self.at])))

    def _read_case(self, line: _List) -> None:
        """Read ``case x in a|b) … ;; esac`` after its first word."""
        self._deeper()
        began = len(self.parsed.commands)
        self.parsed.steps.append("case")
        self._skip_lines()
        self.read_word()
        self._skip_lines()
        if self._bare_word() != "in":
            raise Unsure("a case without in")
        while True:
            self._skip_lines()
            opened = self.text.startswith("(", self.at)
            self.at += opened
            if not opened and self._peek_word() == "esac":
                self._bare_word()
                break
            self._read_patterns()
            if self._read_item():
                break
            self.parsed.steps.append(";;")
        self.parsed.steps.append("esac")
        self.depth -= 1
        line.group = (began, len(self.parsed.commands))

    def _read_patterns(self) -> None:
        while True:
            self._skip_blanks()
            began = self.at
            self.read_word()
            self._skip_blanks()
            mark = self.text[self.at : self.at + 1]
            if mark not in ("|", ")") or began == self.at:
                raise Unsure("a case whose patterns cannot be read")
            self.at += 1
            if mark == ")":
                return

    def _read_item(self) -> bool:
        """Read the commands of one item; return whether the case ends with them."""
        ended = self.read_list(";;")
        if not ended:
            raise Unsure("a case that does not end")
        return ended == "esac"

    def _skip_lines(self) -> None:
        while True:
            self._skip_blanks()
            mark = self.text[self.at : self.at + 1]
            if mark == "\n":
                self.at += 1
                self._read_here_documents()
            elif mark == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def _peek_word(self) -> str:
        at = self.at
        word = self._bare_word()
        self.at = at
        return word

    def _bare_word(self) -> str:
        plain = _PLAIN.match(self.text, self.at)
        if plain is None:
            return ""
        self.at = plain.end()
        return plain.group()

    def _read_redirection(self, line: _List) -> None:
        operator = _REDIRECTION.match(self.text, self.at)
        if operator is None:
            raise Unsure("an operator that is not known")
        self.at = operator.end()
        self._skip_blanks()
        began = self.at
        target = self.read_word(is_target=True)
        line.command.substituted += self.substituted
        self.substituted.clear()
        sign = operator.group()
        if sign.startswith("&") and line.forked is None:
            line.forked = []
        if sign in ("<<", "<<-"):
            if self.arithmetic or not is_known(target) or "\n" in target or self.at == began:
                raise Unsure("a here-document whose end is not known")
            if line.doubt or line.is_test:  # [[ a =~ (<<E) ]]: no here-document for bash
                raise Unsure("a here-document where a test or an array is written")
            self.waiting.append(_HereDocument(line.command, target, sign, self._source(began) == target))
            return
        text = target if sign == "<<<" else ""
        line.command.redirections.append(Redirection(sign, target, text, line.descriptor))
        line.descriptor = ""

    def _read_here_documents(self) -> None:
        """Skip the here-documents of the line; without their last line they end with the text."""
        waiting, self.waiting = self.waiting, []
        for document in waiting:
            began = self.at
            before = ""  # the lines that go on after a backslash
            while True:
                end = self.text.find("\n", self.at)
                whole = self.text[self.at : len(self.text) if end < 0 else end]
                is_end = (whole.lstrip("\t") if document.operator == "<<-" else whole) == document.end
                if before and (is_end or (before + whole).lstrip("\t") == document.end):
                    raise Unsure("a here-document whose end follows a backslash")
                if is_end:
                    break
                goes_on = document.expands and (len(whole) - len(whole.rstrip("\\"))) % 2 == 1
                before = before + whole[:-1] if goes_on else ""
                if goes_on and len(before) > _LONGEST_DELIMITER:
                    before = before[:_LONGEST_DELIMITER]
                if end < 0:
                    whole = ""
                    self.at = len(self.text)
                    break
                self.at = end + 1
            body = self.text[began : self.at]
            if document.expands:
                first = len(self.parsed.commands)
                body = _ShellReader(body, self.depth, self.parsed).read_double_quoted("")
                document.command.substituted.append((first, len(self.parsed.commands)))
            document.command.redirections.append(Redirection(document.operator, document.end, body))
            self.at = min(len(self.text), self.at + len(whole) + 1)

    # Words.

    def _read_argument(self, line: _List, closer: str) -> bool:
        """Read a word into the current command; return whether it is the esac that closes the list."""
        began = self.at
        word = self.read_word()
        source = self._source(began)
        if self.text[self.at : self.at + 1] in ("<", ">") and _DESCRIPTOR.fullmatch(source):
            line.descriptor = source  # 2>errors, or in bash {log}>errors
            return False
        command = line.command
        command.substituted += self.substituted
        self.substituted.clear()
        if line.forked is not None:
            line.forked.append(word)
        is_coprocess, line.is_coprocess = line.is_coprocess, False
        if is_coprocess and line.begins and source not in _RESERVED and _COMPOUND.match(self.text, self.at):
            return False  # coproc NAME { … }
        if line.begins and self._read_head(line, source, word):
            return source == "esac" and closer == ";;"
        if line.kind == "function":
            self._define(line, word)
            return False
        line.timed = False
        made = brace_words(word, self.parsed.braces_left)
        self.parsed.braces_left -= len(made) - 1
        command.words += made
        if line.kind in ("for", "select") and len(command.words) == 2 and source == "do":
            command.words.pop()
            line.separate()
        return False

    def _read_head(self, line: _List, source: str, word: str) -> bool:
        """Read a word where a command may begin; return whether it is none of the command's words."""
        is_first = not line.command.redirections and not line.command.assigned
        if source == word and not self.arithmetic and is_first:
            if word in _RESERVED:
                self.parsed.is_simple &= word != "coproc"
                line.reserved(word)
                return True
            self.parsed.is_simple &= word not in ("case", "for", "select", "function")
            if word == "case":
                self._read_case(line)
                return True
            if word == "esac":
                line.separate()
                return True
            if word in ("for", "select", "function"):
                line.kind = word
                self.parsed.steps += ["for"] if word != "function" else []
                return True
        if line.timed and source.startswith("-"):
            if source in ("-p", "--"):
                return True
            line.command.words.append("time")
            return False
        if _OPEN_SUBSCRIPT.match(source):
            raise Unsure("a blank within a subscript")
        assignment = _ASSIGNMENT.match(source)
        if assignment is None:
            return False
        self._assign(line, assignment, word)
        return True

    def _assign(self, line: _List, assignment: re.Match[str], word: str) -> None:
        name, subscript = assignment.group(1), assignment.group(2)
        if subscript and not subscript[1:-1].isdigit():
            self.parsed.counted.update(_NAME.findall(subscript))
        if subscript or assignment.group().endswith("+="):
            self.parsed.changed.add(name)
        self.parsed.assigned.add(name)
        line.command.assigned.append((name, value_of(word)))

    def _source(self, began: int) -> str:
        """Return the source of a word, without line continuations."""
        return self.text[began : self.at].replace("\\\n", "")

    def _is_process_substitution(self) -> bool:
        return self.text.startswith(("<(", ">("), self.at)

    def read_word(self, *, is_target: bool = False) -> str:
        """Read one word, in which marks stand for its unknown parts."""
        pieces: list[str] = []
        began, unreadable = self.at, False
        while self.at < len(self.text):
            plain = _PLAIN.match(self.text, self.at)
            if plain:
                self.at = plain.end()
                pieces.append(plain.group())
                continue
            mark = self.text[self.at]
            if mark in "<>" and self._is_process_substitution() and (is_target or self._begins_value(began)):
                self.at += 2
                pieces.append(expanded(self._read_substitution(ONE)._replace(pipe=mark)))
            elif mark in " \t\n;&|)<>":
                break
            elif mark == "(":
                if self.at == began or self.text[self.at - 1] != "=":
                    break
                self.at += 1
                self.parsed.steps.append("$(")
                self._read_group(ARRAY_ELEMENT)
                self.parsed.steps.append(")")
                pieces.append(MANY)
            else:
                piece = self._read_part(mark, began)
                unreadable |= piece is None
                pieces.append(MANY if piece is None else piece)
        if unreadable:  # braces: what stands in them is no part of the word as it is written
            word = "".join(pieces)
            unknown = tuple(one for piece in pieces for one in pieces_of(piece) if not isinstance(one, str))
            return MarkedWord(word[: word.index(MANY) + 1], unknown, word[: word.index(MANY) + 1])
        return join(pieces) if pieces else ""

    def _begins_value(self, began: int) -> bool:
        """Return whether a word that began at a place, or its value after an equals sign, begins here."""
        return self.at == began or self.text[self.at - 1] == "="

    def _read_part(self, mark: str, began: int) -> str | None:
        """Read a special part of a word; None if nothing after it is as it is written."""
        if self.arithmetic and mark in "\\'\"":
            raise Unsure("a quote in arithmetic")
        if mark == "\\":
            taken = self.text[self.at + 1 : self.at + 2]
            self.at += 1 + len(taken)
            return "" if taken == "\n" else taken or "\\"
        if mark == "'":
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise Unsure("a quote that is not closed")
            piece, self.at = self.text[self.at + 1 : end], end + 1
            return piece
        if mark == '"':
            self.at += 1
            return self.read_double_quoted('"')
        if mark == "$":
            return self._read_dollar(quoted=False, begins=self.at == began)
        if mark == "`":
            return expanded(self._read_backticks(MANY))
        return self._read_wildcard(mark, began)

    def _read_wildcard(self, mark: str, began: int) -> str | None:
        text, at = self.text, self.at
        if mark == "~" and (at == began or text[at - 1] in "=:"):
            tilde = _TILDE.match(text, at)
            self.at = tilde.end() if tilde else at + 1
            return expanded(Expansion(ONE, "~", tilde.group())) if tilde else mark
        if mark == "[":
            return self._read_bracket(began)
        if mark == "{":
            ahead = text[at + 1 : at + 2]
            choices = _PLAIN_BRACES.match(text, at)
            if choices and not self.arithmetic:
                self.at = choices.end()
                return expanded(Expansion(MANY, written=choices.group()))
            literal = _NO_BRACES.match(text, at)
            self.at = literal.end() if literal else at + 1
            alone = at == began and (not ahead or ahead in " \t\n;")
            return literal.group() if literal else mark if alone else None
        self.at += 1
        if mark in "*?":
            return expanded(Expansion(MANY, written=mark))
        if mark == "=" and at == began and text[at + 1 : at + 2].isalpha():  # zsh: =git is the path of git
            return ONE
        return mark

    def _read_bracket(self, began: int) -> str | None:
        text, at = self.text, self.at
        brackets = _BRACKETS.match(text, at)
        if brackets:
            self.at = brackets.end()
            return expanded(Expansion(MANY, written=brackets.group()))
        self.at += 1
        if at == began and text[at + 1 : at + 2] == "[" and text[at + 2 : at + 3] in ("", " ", "\t", "\n"):
            self.at += 1
            return "[["
        if not self.after_bracket[0] <= self.at <= self.after_bracket[1]:  # looked for once, not once per bracket
            found = _AFTER_BRACKET.search(text, self.at)
            self.after_bracket = self.at, found.start() if found else len(text)
        mark = text[self.after_bracket[1] : self.after_bracket[1] + 1]
        return None if mark and mark in "]$`\"'\\" else "["

    def _read_substitution(self, mark: str) -> Expansion:
        first = len(self.parsed.commands)
        arithmetic, self.arithmetic = self.arithmetic, 0
        outer, self.substituted = self.substituted, []
        waiting = len(self.waiting)
        self.parsed.steps.append("$(")
        self._read_group()
        self.parsed.steps.append(")")
        if len(self.waiting) > waiting:
            raise Unsure("a here-document whose text is outside its substitution")
        self.arithmetic = arithmetic
        found = (first, len(self.parsed.commands))
        self.substituted = [*outer, found]
        return Expansion(mark, commands=found)

    def _read_dollar(self, *, quoted: bool, begins: bool = False) -> str:
        """Read an expansion: only the commands in it are known."""
        text = self.text
        self.at += 1
        unknown = ONE if quoted else MANY
        if text.startswith("((", self.at):
            self.at += 1
            self._read_arithmetic()
            return ONE if text[self.at - 2 : self.at] == "))" else unknown
        if text.startswith("(", self.at):
            self.at += 1
            return expanded(self._read_substitution(unknown))
        if text.startswith("{", self.at):
            self.at += 1
            return self._read_braces(quoted)
        if text.startswith("[", self.at):
            raise Unsure("arithmetic in $[ ]")
        if not quoted and text.startswith("'", self.at):
            return self._read_ansi_c()
        if not quoted and text.startswith('"', self.at):
            return ""  # a text to translate; the quotes are read next
        parameter = _PARAMETER.match(text, self.at)
        if parameter is None:
            return "$"
        self.at = parameter.end()
        return self._value(parameter.group(), quoted)

    def _value(self, name: str, quoted: bool) -> str:
        """Return the mark of a variable's value."""
        if name == "@" or (name == "*" and not quoted):
            return expanded(Expansion(MANY, name, is_plain=False))
        if name in DIRECTORY_VARIABLES:
            self.parsed.used.add(name)
            return expanded(Expansion(ONE, name))
        return expanded(Expansion(ONE if quoted or name in "#?$!" else MANY, name))

    def _read_ansi_c(self) -> str:
        string = _ANSI_C.match(self.text, self.at + 1)
        if string is None or "\\'" in string.group(1):
            raise Unsure("a $'…' that other shells end elsewhere")
        self.at = string.end()
        decoded = _ESCAPE.sub(_unescape, string.group(1))
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", decoded):
            raise Unsure("a control character in $'…'")
        return decoded

    def read_double_quoted(self, closer: str) -> str:
        """Read up to the closing quote, or without a closer to the end, as for a here-document."""
        self._deeper()
        pieces: list[str] = []
        while True:
            plain = _IN_DOUBLE_QUOTES.match(self.text, self.at)
            if plain:
                self.at = plain.end()
                pieces.append(plain.group())
                continue
            mark = self.text[self.at : self.at + 1]
            if mark == closer:
                break
            if not mark:
                raise Unsure("a quote that is not closed")
            if mark == "\\":
                taken = self.text[self.at + 1 : self.at + 2]
                pieces.append("" if taken == "\n" else taken if taken and taken in '$`"\\' else mark + taken)
                self.at += 1 + len(taken)
            elif mark == "$":
                pieces.append(self._read_dollar(quoted=True))
            elif mark == "`":
                pieces.append(expanded(self._read_backticks(ONE)))
            else:
                self.at += 1
                pieces.append(mark)
        self.at += len(closer)
        self.depth -= 1
        return join(pieces) if pieces else ""

    def _read_braces(self, quoted: bool) -> str:
        """Read ``${…}`` for the commands in its default or pattern."""
        self._deeper()
        text = self.text
        if text[self.at : self.at + 1] in (" ", "\t", "\n", "|"):
            raise Unsure("a ${ that some shells run")
        began = self.at
        value = self._read_parameter(quoted)
        inner: list[str] = [value]
        while not text.startswith("}", self.at):
            plain = _IN_BRACES.match(text, self.at)
            mark = text[self.at : self.at + 1]
            if plain:
                self.at = plain.end()
            elif not mark or (mark in "<>" and self._is_process_substitution()) or (mark == "'" and quoted):
                raise Unsure("a ${…} that shells read differently")
            elif mark in "<>":
                self.at += 1
            else:
                inner.append(self._read_part(mark, -1) or "")
            value = ONE if quoted and value != MANY else MANY
        self.at += 1
        self.depth -= 1
        if type(value) is not str:
            return value
        names = [one for piece in inner for one in pieces_of(piece) if not isinstance(one, str) and one.name]
        default = _DEFAULT.fullmatch(text, began, self.at - 1)
        if default and len(names) == 1:
            return expanded(
                Expansion(value, names[0].name, is_plain=False, default=re.sub("['\"]", "", default.group(1)))
            )
        pieces = tuple(one._replace(is_plain=False, mark=value if one is names[0] else "") for one in names)
        return MarkedWord(value, pieces, value) if names else value

    def _read_parameter(self, quoted: bool) -> str:
        """Read the name in ``${…}``, and note if what follows is evaluated."""
        text = self.text
        indirect = _INDIRECT.match(text, self.at)
        if indirect and indirect.group().endswith("}") and indirect.group()[-2] not in "@*]":
            self.parsed.opaque.append(Unread("${!name} evaluates what a variable holds"))
        changed = text[self.at : self.at + 1] in ("!", "#") and text[self.at + 1 : self.at + 2] not in ("}", "")
        self.at += changed
        name = _PARAMETER.match(text, self.at)
        if name is None:
            return ONE if quoted else MANY
        self.at = name.end()
        value = self._value(name.group(), quoted)
        value = str(value) if changed else value
        after = self.at
        if text.startswith("[", self.at):
            subscript = _SUBSCRIPT.match(text, self.at)
            after = subscript.end() if subscript else after
            if subscript is None:
                self.parsed.counted.add("")
            is_whole = subscript is not None and ("@" in subscript.group() or "*" in subscript.group())
            value = expanded(Expansion(MANY if is_whole else str(value), name.group(), is_plain=False))
        if text.startswith(("=", ":="), after):
            self.parsed.changed.add(name.group())
        if text.startswith(("@P", "@E", "@A"), after):
            self.parsed.opaque.append(Unread("${x@P} evaluates what a variable holds"))
        part = _SLICE.match(text, after)
        if part and not _NUMBERS.match(part.group()):
            self.parsed.counted.update(_NAME.findall(part.group()) or [""])
        return value

    def _read_backticks(self, mark: str) -> Expansion:
        """Read a substitution whose own backticks, dollars and backslashes have a backslash before them."""
        inside = _IN_BACKTICKS.match(self.text, self.at + 1)
        if inside is None or (mark == ONE and '\\"' in inside.group(1)):
            raise Unsure("a backtick that is not closed, or that shells read differently")
        self.at = inside.end()
        first = len(self.parsed.commands)
        inner = _ShellReader(re.sub(r"\\([$`\\])", r"\1", inside.group(1)), self.depth, self.parsed)
        self.parsed.steps.append("$(")
        inner.read_list("")
        self.parsed.steps.append(")")
        found = (first, len(self.parsed.commands))
        self.substituted.append(found)
        return Expansion(mark, commands=found)


def _unescape(escape: re.Match[str]) -> str:
    letter, x, u, large, octal, other = escape.groups()
    if letter:
        return _ESCAPES.get(letter, letter)
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if other is not None:
        if other == "c":
            raise Unsure("a control character in $'…'")
        return "\\" + other
    code = int(x or u or large, 16)
    if code > 0x10FFFF or (x and code > 0x7F):
        raise Unsure("a byte in $'…'")
    return chr(code)
