"""Parse a shell's command line, without running it, into its simple commands.

It is one pass over the text, in linear time. The grammar is not checked: the parser has to find every command, so it
may take more text for commands than a shell would (a pattern of ``case``, an element of an array), never less. Where
shells differ or the text is ambiguous, it raises ``Unsure``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .shell_words import CommandBuilder, SimpleCommand, Unsure, Word

__all__ = ["read_commands"]


class _HereDocument(NamedTuple):
    end: str
    expands: bool
    indented: bool


_DEEPEST = 40

_BLANKS = re.compile(r"(?:[ \t\r\v\f]|\\\n)+")
_PLAIN = re.compile(r"[^\s'\"\\$`*?\[{}=;&|()<>#~!]+")
_IN_DOUBLE_QUOTES = re.compile(r'[^"\\$`]+')
_IN_BRACES = re.compile(r"[^}'\"\\$`<>]+")
_PARAMETER = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]", re.ASCII)
_BROKEN_MARK = re.compile(r"[$<>(]\\\n")  # a mark that continues on the next line: $ and (, < and <
_REDIRECTION = re.compile(r"&>>?|<<<|<<-?|<>|<&|>>|>&|>\||[<>]")
_IN_BACKTICKS = re.compile(r"((?:[^`\\]|\\.)*)`", re.DOTALL)
_ANSI_C = re.compile(r"((?:[^'\\]|\\.)*)'", re.DOTALL)


def read_commands(text: str, depth: int = 0) -> list[SimpleCommand]:
    """Return every simple command of a command line, also those in substitutions; raise Unsure if in doubt."""
    reader = _ShellReader(text, depth, [])
    reader.read_list("")
    return reader.commands


class _ShellReader:
    def __init__(self, text: str, depth: int, commands: list[SimpleCommand]) -> None:
        if _BROKEN_MARK.search(text):
            raise Unsure
        self.text = text
        self.at = 0
        self.depth = depth
        self.commands = commands
        self.arithmetic = 0
        self.waiting: list[_HereDocument] = []

    # Lists of commands.

    def read_list(self, closer: str) -> None:
        """Read commands up to ``closer``, and skip it."""
        self._deeper()
        inherited = len(self.waiting)
        line = CommandBuilder(self.commands)
        while True:
            self._skip_blanks()
            mark = self.text[self.at : self.at + 1]
            if not mark or mark == "\n":
                line.end(mark)
                if self.waiting and (inherited or not mark):
                    raise Unsure  # a here-document is missing, or begins inside a substitution
                if not mark:
                    break
                self.at += 1
                self._read_here_documents()
            elif mark == ")" and not line.cases:
                line.end(mark)
                if closer != ")" or len(self.waiting) > inherited:
                    raise Unsure
                self.at += 1
                self.depth -= 1
                return
            elif self.text.startswith("&>", self.at) or (mark in "<>" and not self._is_process_substitution()):
                line.forked |= mark == "&"
                self._read_redirection()
            elif mark in ";&|)":
                line.end(mark)
                self.at += 1
            elif mark == "(":
                self._read_parenthesis(line)
            elif mark == "#":
                self._skip_comment(line)
            else:
                self._read_argument(line)
        if closer:
            raise Unsure
        self.depth -= 1

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unsure

    def _skip_blanks(self) -> None:
        blanks = _BLANKS.match(self.text, self.at)
        if blanks:
            self.at = blanks.end()

    def _skip_comment(self, line: CommandBuilder) -> None:
        if self.arithmetic or line.is_test:
            raise Unsure  # a comment, or a digit or a pattern
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def _read_parenthesis(self, line: CommandBuilder) -> None:
        """Read a subshell, arithmetic, or the parentheses after a function's name."""
        if self.text.startswith("((", self.at) and (not line.words or line.is_for):
            line.words.clear()
            self.at += 1
            self._read_arithmetic()
            return
        self.at += 1
        if line.words and not self.arithmetic:
            self._skip_blanks()
            if not self.text.startswith(")", self.at) or len(line.words) > 1:
                raise Unsure
            self.at += 1
            line.words.clear()
            return
        self.read_list(")")

    def _read_arithmetic(self) -> None:
        """Read the rest of ``((``: to take sums for commands does no harm."""
        self.arithmetic += 1
        self.at += 1
        self.read_list(")")
        self.read_list(")")
        self.arithmetic -= 1

    def _read_redirection(self) -> None:
        operator = _REDIRECTION.match(self.text, self.at)
        if operator is None:
            raise Unsure
        self.at = operator.end()
        self._skip_blanks()
        began = self.at
        target = self.read_word()
        if self.at == began:
            raise Unsure
        if operator.group() in ("<<", "<<-"):
            if self.arithmetic or not target.known:
                raise Unsure
            expands = self._source(began) == target.text
            self.waiting.append(_HereDocument(target.text, expands, operator.group() == "<<-"))

    def _read_here_documents(self) -> None:
        """Skip the here-documents of the line."""
        for document in self.waiting:
            began, joined = self.at, False
            while True:
                end = self.text.find("\n", self.at)
                whole = self.text[self.at : len(self.text) if end < 0 else end]
                is_end = not joined and (whole.lstrip("\t") if document.indented else whole) == document.end
                if is_end:
                    break
                if end < 0:
                    raise Unsure
                joined = document.expands and (len(whole) - len(whole.rstrip("\\"))) % 2 == 1
                self.at = end + 1
            if document.expands:
                body = _ShellReader(self.text[began : self.at], self.depth, self.commands)
                body.read_double_quoted("")
            self.at = len(self.text) if end < 0 else end + 1
        self.waiting.clear()

    # Words.

    def _read_argument(self, line: CommandBuilder) -> None:
        began = self.at
        word = self.read_word()
        source = self._source(began)
        if source.isdigit() and self.text[self.at : self.at + 1] in ("<", ">"):
            return  # a file descriptor: 2>errors
        line.add(word, source)

    def _source(self, began: int) -> str:
        """Return the source of a word, without line continuations."""
        return self.text[began : self.at].replace("\\\n", "")

    def _is_process_substitution(self) -> bool:
        return self.text.startswith(("<(", ">("), self.at)

    def read_word(self) -> Word:
        """Read one word; after its first unknown part, only the commands in it are read."""
        pieces: list[str] = []
        known, began = True, self.at
        while self.at < len(self.text):
            mark = self.text[self.at]
            plain = _PLAIN.match(self.text, self.at)
            if plain:
                piece: str | None = plain.group()
                self.at = plain.end()
            elif self._is_process_substitution() and self.at == began:
                self.at += 2
                self.read_list(")")
                piece = None
            elif mark in " \t\r\v\f\n;&|)<>":
                break
            elif mark == "(":
                if self.at == began or self.text[self.at - 1] != "=":
                    break
                self.at += 1
                self.read_list(")")  # an array: its elements may be run later
                piece = None
            else:
                first, piece, sure = self.at, *self._read_part(mark, self.at == began)
                if not sure and piece and known:
                    pieces.append(piece)
                piece = piece if sure else None
                if self.at == first:
                    raise Unsure
            known = known and piece is not None
            if known and piece:
                pieces.append(piece)
        return Word("".join(pieces), known)

    def _read_part(self, mark: str, is_first: bool) -> tuple[str, bool]:
        """Read a special part of a word; return its text and whether that is all of it."""
        if self.arithmetic and mark in "\\'\"":
            raise Unsure  # in arithmetic it is not a quote
        if mark == "\\":
            taken = self.text[self.at + 1 : self.at + 2]
            self.at += 1 + len(taken)
            return ("" if taken == "\n" else taken or "\\"), True
        if mark == "'":
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise Unsure
            piece, self.at = self.text[self.at + 1 : end], end + 1
            return piece, True
        if mark == '"':
            self.at += 1
            return self.read_double_quoted('"')
        if mark == "$":
            return self._read_dollar(quoted=False)
        if mark == "`":
            self._read_backticks(quoted=False)
            return "", False
        return self._read_wildcard(mark, is_first)

    def _read_wildcard(self, mark: str, is_first: bool) -> tuple[str, bool]:
        ahead = self.text[self.at + 1 : self.at + 3]
        self.at += 1
        stands_alone = not ahead or ahead[0] in " \t\r\n;"
        if mark == "{" and ahead.startswith("}"):
            self.at += 1
            return "{}", True
        if mark == "{":
            return ("{", True) if is_first and stands_alone else ("", False)
        if mark == "[":
            if is_first and stands_alone:
                return "[", True
            if is_first and ahead in ("[", "[ ", "[\t", "[\n"):
                self.at += 1
                return "[[", True
            return "", False
        if mark in "*?" or (mark == "=" and is_first):  # zsh: =git is the path of git
            return "", False
        return mark, True

    def _read_dollar(self, *, quoted: bool) -> tuple[str, bool]:
        """Read an expansion: only the commands in it are known."""
        text = self.text
        self.at += 1
        if text.startswith("((", self.at):
            self.at += 1
            self._read_arithmetic()
        elif text.startswith("(", self.at):
            self.at += 1
            arithmetic, self.arithmetic = self.arithmetic, 0
            self.read_list(")")
            self.arithmetic = arithmetic
        elif text.startswith("{", self.at):
            self.at += 1
            self._read_braces(quoted)
        elif text.startswith("[", self.at):
            raise Unsure
        elif not quoted and text.startswith("'", self.at):
            string = _ANSI_C.match(text, self.at + 1)
            if string is None or "\\'" in string.group(1):
                raise Unsure  # for sh the string ends there
            self.at = string.end()
        elif not quoted and text.startswith('"', self.at):
            pass  # a text to translate, or a dollar in sh; the quotes are read next
        else:
            parameter = _PARAMETER.match(text, self.at)
            if parameter is None:
                return "$", True
            self.at = parameter.end()
        return "", False

    def read_double_quoted(self, closer: str) -> tuple[str, bool]:
        """Read up to the closing quote, or without a closer to the end, as for a here-document."""
        self._deeper()
        pieces: list[str] = []
        known = True
        while True:
            mark = self.text[self.at : self.at + 1]
            piece, sure = mark, True
            plain = _IN_DOUBLE_QUOTES.match(self.text, self.at)
            if plain:
                piece, self.at = plain.group(), plain.end()
            elif mark == closer:
                break
            elif not mark:
                raise Unsure
            elif mark == "\\":
                taken = self.text[self.at + 1 : self.at + 2]
                piece = "" if taken == "\n" else taken if taken in '$`"\\' else mark + taken
                self.at += 1 + len(taken)
            elif mark == "$":
                piece, sure = self._read_dollar(quoted=True)
            elif mark == "`":
                self._read_backticks(quoted=True)
                piece, sure = "", False
            else:
                self.at += 1
            if known:
                pieces.append(piece)
            known = known and sure
        self.at += len(closer)
        self.depth -= 1
        return "".join(pieces), known

    def _read_braces(self, quoted: bool) -> None:
        """Read ``${…}`` for the commands in its default or pattern."""
        self._deeper()
        if self.text[self.at : self.at + 1] in (" ", "\t", "\n", "|"):
            raise Unsure  # Korn shells run its content
        while not self.text.startswith("}", self.at):
            plain = _IN_BRACES.match(self.text, self.at)
            mark = self.text[self.at : self.at + 1]
            if plain:
                self.at = plain.end()
            elif not mark or (mark in "<>" and self._is_process_substitution()) or (mark == "'" and quoted):
                raise Unsure  # whether that is a quote depends on the operator and the shell
            elif mark in "<>":
                self.at += 1
            else:
                self._read_part(mark, is_first=False)
        self.at += 1
        self.depth -= 1

    def _read_backticks(self, *, quoted: bool) -> None:
        """Read a substitution whose own backticks, dollars and backslashes have a backslash before them."""
        inside = _IN_BACKTICKS.match(self.text, self.at + 1)
        if inside is None or (quoted and '\\"' in inside.group(1)):
            raise Unsure  # between double quotes, shells differ in what a backslash before one means
        self.at = inside.end()
        inner = _ShellReader(re.sub(r"\\([$`\\])", r"\1", inside.group(1)), self.depth, self.commands)
        inner.read_list("")
