"""Variables that hooks set for the tools of a session: the file that ``CLAUDE_ENV_FILE`` names.

The file is made for one event, read when its hooks have answered, and removed. A tool never gets its path, and its
text is never run: a model that could write shell lines there could give a harmless command another meaning. Of the
shell's language it may have assignments:

    export NODE_ENV=production
    declare -x TOKEN="a b"            # as `export -p` prints them
    PATH="$PATH:./node_modules/.bin"
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["EnvFile", "NotAnAssignment", "read_assignments"]

_MOST = 1024 * 1024
_MOST_PROBLEMS = 10
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_ENDS = " \t\n;"
_RUNS = "`|&<>()*?[]{}!"
"""Characters that mean something else than themselves in an unquoted word."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v",
            "\\": "\\", "'": "'", '"': '"', "?": "?"}  # fmt: skip
_NUMBER = re.compile(r"x([0-9A-Fa-f]{1,2})|([0-7]{1,3})")


class NotAnAssignment(ValueError):
    """A statement that is not understood; the text says why."""


class EnvFile:
    """The file for one event, empty, in a new directory that only this user can enter.

    ``variables`` get what hooks have set; ``environment`` returns the values that an assignment may refer to.
    """

    def __init__(self, variables: dict[str, str], environment: Callable[[], Mapping[str, str]]) -> None:
        self._variables = variables
        self._environment = environment
        self.path = Path(tempfile.mkdtemp(prefix="interpose-env-"), "variables.sh")
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def take(self) -> list[str]:
        """Set the variables that hooks have written, and remove the file; return what was not understood."""
        try:
            with open(self.path, "rb") as file:
                data = file.read(_MOST + 1)
        except OSError as error:
            return [f"CLAUDE_ENV_FILE cannot be read, so no variable is set: {error.strerror}"]
        finally:
            self.remove()
        if len(data) > _MOST:
            return [f"CLAUDE_ENV_FILE has more than {_MOST} bytes, so no variable is set"]
        return read_assignments(data.decode("utf-8", "replace"), self._variables, self._environment)

    def remove(self) -> None:
        """Remove the file and its directory."""
        shutil.rmtree(self.path.parent, ignore_errors=True)


def read_assignments(text: str, variables: dict[str, str], environment: Callable[[], Mapping[str, str]]) -> list[str]:
    """Set the variables that a text assigns, statement by statement; return a problem for every other statement."""
    text = text.replace("\r\n", "\n")
    reader = _EnvFileReader(text, lambda name: variables.get(name, environment().get(name, "")))
    problems: list[str] = []
    while not reader.is_done():
        start = reader.at
        try:
            variables.update(reader.statement())
        except NotAnAssignment as error:
            ends = reader.skip() or len(problems) == _MOST_PROBLEMS - 1
            rest = ", and the rest is not read" if ends else ""
            where = f"CLAUDE_ENV_FILE, line {text.count(chr(10), 0, start) + 1}"
            problems.append(f"{where}: {error}{rest} (only assignments: export NAME=value)")
            if ends:
                break
    return problems


class _EnvFileReader:
    """Reads assignments as a shell would, and runs nothing; ``at`` is where it is in the text."""

    def __init__(self, text: str, value_of: Callable[[str], str]) -> None:
        self._text = text
        self.at = 0
        self._in_quotes = False
        self._value_of = value_of
        self._skip_blanks()

    def is_done(self) -> bool:
        """Whether the text is at its end."""
        return self.at >= len(self._text)

    def statement(self) -> dict[str, str]:
        """Read the assignments up to the end of the statement."""
        assigned: dict[str, str] = {}
        declared = self._take("export", "declare", "typeset")
        while declared and self._take("-x", "-gx", "--"):
            continue
        while not self.is_done() and self._text[self.at] not in "\n;#":
            name = _NAME.match(self._text, self.at)
            if name is None or not (declared or self._text[name.end() : name.end() + 1] == "="):
                raise NotAnAssignment(f"{self._word()!a} is not an assignment")
            self.at = name.end()
            if self._text.startswith("=", self.at):
                self.at += 1
                assigned[name[0]] = self._value()
                if "\0" in assigned[name[0]]:
                    raise NotAnAssignment(f"{name[0]} has a NUL character in it")
            elif not self.is_done() and self._text[self.at] not in _ENDS:
                raise NotAnAssignment(f"{name[0]}{self._word()} is not an assignment")
            self._skip_spaces()
        self._skip_blanks()
        return assigned

    def skip(self) -> bool:
        """Go on after the current line, or to the end if quotes are open: what follows may belong to the value.

        Return whether quotes are open.
        """
        end = -1 if self._in_quotes else self._text.find("\n", self.at)
        self.at = len(self._text) if end < 0 else end
        self._skip_blanks()
        return self._in_quotes

    def _take(self, *words: str) -> bool:
        for word in words:
            end = self.at + len(word)
            if self._text.startswith(word, self.at) and (end >= len(self._text) or self._text[end] in " \t"):
                self.at = end
                self._skip_spaces()
                return True
        return False

    def _word(self) -> str:
        return self._text[self.at : self.at + 40].partition("\n")[0]

    def _value(self) -> str:
        """Read a word: quoted and unquoted parts one after another."""
        parts: list[str] = []
        start = self.at
        while not self.is_done() and (letter := self._text[self.at]) not in _ENDS:
            if letter in ("'", '"') or self._text.startswith("$'", self.at):
                parts.append(self._quoted(letter))
            elif letter == "\\":
                parts.append(self._text[self.at + 1 : self.at + 2].rstrip("\n"))
                self.at += 2
            elif letter == "$":
                parts.append(self._variable())
            elif letter == "~" and (self.at == start or self._text[self.at - 1] == ":"):
                parts.append(self._home())
            elif letter in _RUNS:
                raise NotAnAssignment(f"{letter} in an unquoted value")
            else:
                parts.append(letter)
                self.at += 1
        return "".join(parts)

    def _quoted(self, begin: str) -> str:
        """Read a part in single or double quotes, or one that begins with ``$'``."""
        self._in_quotes = True
        self.at += 2 if begin == "$" else 1
        text = self._single_quoted() if begin == "'" else self._escaped() if begin == "$" else self._double_quoted()
        self._in_quotes = False
        return text

    def _single_quoted(self) -> str:
        end = self._text.find("'", self.at)
        if end < 0:
            raise NotAnAssignment("the closing ' is missing")
        text, self.at = self._text[self.at : end], end + 1
        return text

    def _double_quoted(self) -> str:
        parts: list[str] = []
        while not self.is_done():
            letter = self._text[self.at]
            if letter == '"':
                self.at += 1
                return "".join(parts)
            if letter == "\\" and self._text[self.at + 1 : self.at + 2] in ("$", "`", '"', "\\", "\n"):
                parts.append(self._text[self.at + 1].rstrip("\n"))
                self.at += 2
            elif letter == "$":
                parts.append(self._variable())
            elif letter == "`":
                raise NotAnAssignment("a command in a value")
            else:
                parts.append(letter)
                self.at += 1
        raise NotAnAssignment('the closing " is missing')

    def _escaped(self) -> str:
        """Read ``$'…'``, as ``export -p`` prints values with control characters."""
        parts: list[str] = []
        while not self.is_done():
            letter = self._text[self.at]
            self.at += 1
            if letter == "'":
                return os.fsencode("".join(parts)).decode("utf-8", "surrogateescape")  # bytes may be characters now
            if letter != "\\":
                parts.append(letter)
                continue
            number = _NUMBER.match(self._text, self.at)
            if number is not None:
                byte = int(number[1], 16) if number[1] else int(number[2], 8) & 0xFF
                parts.append(os.fsdecode(bytes([byte])))
                self.at = number.end()
            else:
                following = self._text[self.at : self.at + 1]
                parts.append(_ESCAPES.get(following, f"\\{following}"))
                self.at += 1
        raise NotAnAssignment("the closing ' is missing")

    def _variable(self) -> str:
        """Read ``$NAME`` or ``${NAME}``; nothing else after a ``$`` is a value."""
        found = _VARIABLE.match(self._text, self.at)
        if found is None:
            following = self._text[self.at + 1 : self.at + 2]
            means_more = "({[`$@*#?!-0123456789" + ("" if self._in_quotes else '"')
            if not following or following not in means_more:
                self.at += 1
                return "$"
            raise NotAnAssignment(f"{self._text[self.at : self.at + 2]} is not the value of a variable")
        self.at = found.end()
        return self._value_of(found[1] or found[2])

    def _home(self) -> str:
        following = self._text[self.at + 1 : self.at + 2]
        if following and following not in "/:" + _ENDS:
            raise NotAnAssignment("the home of another user in a value")
        self.at += 1
        return self._value_of("HOME")

    def _skip_spaces(self) -> None:
        while not self.is_done() and self._text[self.at] in " \t":
            self.at += 1

    def _skip_blanks(self) -> None:
        """Go to the next statement: over blanks, line ends, semicolons and comments."""
        while not self.is_done():
            if self._text[self.at] == "#":
                end = self._text.find("\n", self.at)
                self.at = len(self._text) if end < 0 else end
            elif self._text[self.at] in _ENDS:
                self.at += 1
            else:
                return
