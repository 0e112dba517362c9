"""Parse a shell's command line, without running it, into its simple commands.

It is one pass over the text, in linear time. The grammar is not checked: the parser has to find every command, so it
may take more text for commands than a shell would, never less. It reads as bash does. Where other shells differ in what
they run, or the text is ambiguous, it notes a reason or raises ``Unsure``.

Lists of commands, redirections and compound commands are here. ``word_reader`` and ``expansions`` read the words,
``here_documents`` the texts below a line, and ``command_list`` collects what has been read into ``parsed``.
"""

from __future__ import annotations

import re
from weakref import proxy

from ...runtime.regex import regex
from .command_list import KEYWORDS, RESERVED, CommandList
from .expansions import ExpansionReader
from .here_documents import HereDocument, HereDocuments
from .parsed import ARRAY_ELEMENT, IN_ARITHMETIC, ParsedLine
from .source import ShellSource
from .word_reader import WordReader
from .words import Redirection, Unsure, is_known

__all__ = ["parse"]

_OPERATORS = frozenset(";&|()<>#")
_DESCRIPTOR = regex(r"[0-9]+|\{[A-Za-z_]\w*\}", re.ASCII)
_REDIRECTION = regex(r"&>>?|<<<|<<-?|<>|<&|>>|>&|>\||[<>]")
_NUMBER_OF = regex(r"\$\((?:nproc|date \+%s|id -u|getconf \w+)\)")
_EVALUATED = regex(r"[A-Za-z_]\w*|\$\(", re.ASCII)

# What may follow the name of a coprocess: a command that is more than words.
_COMPOUND = regex(r"(?:[ \t]|\\\n)+(?:\(|(?:\{|\[\[|if|while|until|for|case|select)(?=\s))")


def parse(text: str, depth: int = 0) -> ParsedLine:
    """Return every simple command of a command line, also those in substitutions; raise Unsure if in doubt."""
    parsed = ParsedLine()
    parsed.splits = "IFS" in text
    _CommandReader(text, depth, parsed).read_list("")
    return parsed


class _CommandReader:
    """Reads lists of commands; words come back to it for the commands that are nested in them."""

    def __init__(self, text: str, depth: int, parsed: ParsedLine) -> None:
        self.source = ShellSource(text, depth)
        self.parsed = parsed
        nested = proxy(self)  # a cycle of references would be left to the garbage collector
        self.expansions = ExpansionReader(self.source, parsed, nested)
        self.words = WordReader(self.source, self.expansions, nested)
        self.documents = HereDocuments(self.source, nested)

    # Lists of commands.

    def read_list(self, closer: str, doubt: str = "") -> str:
        """Read commands up to ``closer``, a parenthesis or the end of a case's item; return what ended the list."""
        source = self.source
        source.go_deeper()
        outer, self.documents.waiting = self.documents.waiting, []
        line = CommandList(self.parsed, doubt)
        ended = ""
        while True:
            source.skip_blanks()
            mark = source.text[source.at : source.at + 1]
            if not mark or mark == "\n":
                self._end_line(line, mark, bool(outer))
                if not mark:
                    break
            elif mark not in _OPERATORS or source.is_process_substitution():
                if self._read_argument(line, closer):
                    ended = "esac"
                    break
            elif mark == ")" or source.starts((";;", ";&")):
                if self._closes(line, mark, closer):
                    ended = closer
                    break
            elif mark in "<>" or source.starts("&>"):
                self._read_redirection(line)
            elif mark == "(":
                self._read_parenthesis(line)
            elif mark == "#":
                self._skip_comment(line)
            else:
                self._read_operator(line, mark)
        self.documents.waiting = outer + self.documents.waiting
        source.depth -= 1
        return ended

    def _end_line(self, line: CommandList, mark: str, is_awaited: bool) -> None:
        if not line.goes_on:
            line.separate()
            self.parsed.steps.append(";")
        if mark:
            if is_awaited:
                raise Unsure("a here-document whose text begins inside a substitution")
            self.source.at += 1
        self.documents.read()

    def _closes(self, line: CommandList, mark: str, closer: str) -> bool:
        line.separate()
        if mark == ")":
            self.source.at += 1
            return closer == ")"  # else a syntax error in every shell
        self.source.at += 3 if self.source.starts(";;&") else 2
        return closer == ";;"

    def _read_operator(self, line: CommandList, mark: str) -> None:
        ahead = self.source.text[self.source.at + 1 : self.source.at + 2]
        was_test = line.is_test
        line.separate(piped=mark == "|" and ahead != "|")
        if was_test and mark != ";":
            line.doubt_test()
        is_double = mark + ahead in ("&&", "||", "|&")
        self.parsed.steps.append(mark + ahead if mark == ahead and is_double else mark)
        self.source.at += 2 if is_double else 1

    def _skip_comment(self, line: CommandList) -> None:
        source = self.source
        end = source.text.find("\n", source.at)
        is_element = line.doubt == ARRAY_ELEMENT and end > 0 and ")" not in source.text[source.at : end]
        is_doubtful = line.doubt and line.command.words[-1:] != ["]]"] and not is_element
        if source.arithmetic or line.is_test or is_doubtful:
            raise Unsure("a # that begins a comment, or does not")
        source.skip_to_line_end()

    # Redirections.

    def _read_redirection(self, line: CommandList) -> None:
        source = self.source
        operator = _REDIRECTION.match(source.text, source.at)
        if operator is None:
            raise Unsure("an operator that is not known")
        source.at = operator.end()
        source.skip_blanks()
        began = source.at
        target = self.words.read(is_target=True)
        line.command.substituted += self.expansions.take_substituted()
        sign = operator.group()
        if sign.startswith("&") and line.forked is None:
            line.forked = []
        if sign in ("<<", "<<-"):
            if source.arithmetic or not is_known(target) or "\n" in target or source.at == began:
                raise Unsure("a here-document whose end is not known")
            if line.doubt or line.is_test:  # [[ a =~ (<<E) ]]: no here-document for bash
                raise Unsure("a here-document where a test or an array is written")
            self.documents.waiting.append(HereDocument(line.command, target, sign, source.since(began) == target))
            return
        text = target if sign == "<<<" else ""
        line.command.redirections.append(Redirection(sign, target, text, line.descriptor))
        line.descriptor = ""

    # The words of commands.

    def _read_argument(self, line: CommandList, closer: str) -> bool:
        """Read a word into the current command; return whether it is the esac that closes the list."""
        began = self.source.at
        word = self.words.read()
        written = self.source.since(began)
        if self.source.mark() in ("<", ">") and _DESCRIPTOR.fullmatch(written):
            line.descriptor = written  # 2>errors, or in bash {log}>errors
            return False
        command = line.command
        if self.expansions.substituted:
            command.substituted += self.expansions.take_substituted()
        if line.forked is not None:
            line.forked.append(word)
        is_coprocess, line.is_coprocess = line.is_coprocess, False
        if line.begins:
            if is_coprocess and written not in RESERVED and _COMPOUND.match(self.source.text, self.source.at):
                return False  # coproc NAME { … }
            if self._read_head(line, written, word):
                return written == "esac" and closer == ";;"
        if line.kind == "function":
            line.define(word)
            return False
        line.timed = False
        line.add(word)
        if line.kind in ("for", "select") and len(command.words) == 2 and written == "do":
            command.words.pop()
            line.separate()
        return False

    def _read_head(self, line: CommandList, written: str, word: str) -> bool:
        """Read a word where a command may begin; return whether it is none of the command's words."""
        is_first = not line.command.redirections and not line.command.assigned
        if word in KEYWORDS and written == word and not self.source.arithmetic and is_first:
            self._read_keyword(line, word)
            return True
        if line.timed and written.startswith("-"):
            if written in ("-p", "--"):
                return True
            line.command.words.append("time")
            return False
        return line.assign(written, word)

    def _read_keyword(self, line: CommandList, word: str) -> None:
        """Read a reserved word, and the case that it begins."""
        if word in RESERVED:
            self.parsed.is_simple &= word != "coproc"
            line.reserved(word)
        elif word == "esac":
            line.separate()
        elif word == "case":
            self.parsed.is_simple = False
            self._read_case(line)
        else:
            self.parsed.is_simple = False
            line.kind = word
            self.parsed.steps += ["for"] if word != "function" else []

    # Parentheses.

    def _read_parenthesis(self, line: CommandList) -> None:
        """Read a subshell, arithmetic, or the parentheses after a function's name."""
        source, words = self.source, line.command.words
        if source.starts("((") and not words:
            source.at += 1
            self.read_arithmetic()
            line.kind = ""
            return
        if source.at and source.text[source.at - 1] in "@?*+!":
            raise Unsure("a pattern of extglob, or a subshell")
        source.at += 1
        if line.is_test:  # to its end, as the parenthesis ends the command here
            line.doubt_test()
        if words and not source.arithmetic:
            source.skip_blanks()
            if source.starts(")") and len(words) == 1:
                source.at += 1
                line.define(words[0])
                return
            line.end_command()  # a syntax error in every shell, or a test: what is inside counts as commands
        line.group = self.read_group(line.doubt, "(")

    def read_group(self, doubt: str = "", opener: str = "$(") -> tuple[int, int]:
        """Read commands up to the closing parenthesis."""
        first = len(self.parsed.commands)
        self.parsed.steps.append(opener)
        self._read_to_parenthesis(doubt)
        self.parsed.steps.append(")")
        return first, len(self.parsed.commands)

    def _read_to_parenthesis(self, doubt: str) -> None:
        if not self.read_list(")", doubt):
            raise Unsure("a parenthesis that is not closed")

    def read_arithmetic(self) -> None:
        """Read the rest of ``((``, or a subshell in a subshell: to take sums for commands does no harm."""
        source = self.source
        source.arithmetic += 1
        began, first = source.at, len(self.parsed.commands)
        source.at += 1
        self.parsed.steps.append("(")
        self._read_to_parenthesis(IN_ARITHMETIC)
        is_sum = source.starts(")")
        self._read_to_parenthesis(IN_ARITHMETIC if is_sum else "")
        self.parsed.steps.append(")")
        source.arithmetic -= 1
        if is_sum:
            self.parsed.counted.update(_EVALUATED.findall(_NUMBER_OF.sub("", source.text[began : source.at])))
        else:  # a subshell within a subshell
            for command in self.parsed.commands[first:]:
                command.doubt = command.doubt.removeprefix(IN_ARITHMETIC)

    def read_substitution(self) -> tuple[int, int]:
        """Read the commands of a substitution up to its closing parenthesis."""
        arithmetic, self.source.arithmetic = self.source.arithmetic, 0
        waiting = len(self.documents.waiting)
        found = self.read_group()
        if len(self.documents.waiting) > waiting:
            raise Unsure("a here-document whose text is outside its substitution")
        self.source.arithmetic = arithmetic
        return found

    # Texts that are read apart: those in backticks, and here-documents.

    def read_apart(self, text: str) -> tuple[int, int]:
        """Read commands that stand in another text."""
        first = len(self.parsed.commands)
        inner = _CommandReader(text, self.source.depth, self.parsed)
        self.parsed.steps.append("$(")
        inner.read_list("")
        self.parsed.steps.append(")")
        return first, len(self.parsed.commands)

    def read_document(self, text: str) -> tuple[str, tuple[int, int]]:
        """Read the text of a here-document; return it and the range of the commands in its substitutions."""
        first = len(self.parsed.commands)
        inner = _CommandReader(text, self.source.depth, self.parsed)
        expanded = inner.expansions.read_double_quoted("")
        return expanded, (first, len(self.parsed.commands))

    # case … esac.

    def _read_case(self, line: CommandList) -> None:
        """Read ``case x in a|b) … ;; esac`` after its first word."""
        source = self.source
        source.go_deeper()
        began = len(self.parsed.commands)
        self.parsed.steps.append("case")
        self._skip_lines()
        self.words.read()
        self._skip_lines()
        if source.read_bare() != "in":
            raise Unsure("a case without in")
        while self._read_item():
            self.parsed.steps.append(";;")
        self.parsed.steps.append("esac")
        source.depth -= 1
        line.group = (began, len(self.parsed.commands))

    def _read_item(self) -> bool:
        """Read an item of a case: its patterns and its commands; return whether another may follow."""
        source = self.source
        self._skip_lines()
        if source.starts("("):
            source.at += 1
        else:
            at = source.at
            if source.read_bare() == "esac":
                return False
            source.at = at
        self._read_patterns()
        ended = self.read_list(";;")
        if not ended:
            raise Unsure("a case that does not end")
        return ended != "esac"

    def _read_patterns(self) -> None:
        source = self.source
        while True:
            source.skip_blanks()
            began = source.at
            self.words.read()
            source.skip_blanks()
            mark = source.mark()
            if mark not in ("|", ")") or began == source.at:
                raise Unsure("a case whose patterns cannot be read")
            source.at += 1
            if mark == ")":
                return

    def _skip_lines(self) -> None:
        source = self.source
        while True:
            source.skip_blanks()
            mark = source.mark()
            if mark == "\n":
                source.at += 1
                self.documents.read()
            elif mark == "#":
                source.skip_to_line_end()
            else:
                return
