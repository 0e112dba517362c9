"""Read code on a command line: the commands, files, requests and statements that its literals name.

This is no parser. Calls of known functions are looked for, and their arguments are worked out as far as they are
literals, names that were given a literal, and joins of these. Everything else in code has no effect here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...matching.shell import Command
from ...matching.shell.options import program_of
from ...matching.shell.words import MANY, ONE, is_known
from .code_functions import (
    ALONE,
    CALLS_NAMES,
    COPIES,
    DECODES,
    DELETES,
    EMPTIES,
    ENVIRONMENTS,
    EVALUATES,
    FETCHED,
    FUNCTIONS,
    HOMES,
    JOINS,
    MOVES,
    OPENS,
    PATH_METHODS,
    PRINTS,
    READS,
    REQUESTS,
    RUNNERS,
    SAME_TEXT,
    SECRET_PARTS,
    SENDS,
    SHELL,
    SINGLE,
    SOCKETS,
    STATEMENTS,
    TREES,
    WRITES,
)
from .code_tokens import Token, tokens_of
from .rows import RUNS, Found, line_of
from .sql import sql_effects

__all__ = ["code_of", "read_code"]

_LONGEST_VALUE = 10_000
_MOST_TOKENS = 400
_DEEPEST = 15
_MOST_STEPS = 100_000
_DEEPEST_CODE = 3
_UNKNOWN = "${UNKNOWN}"
_MOST_EFFECTS = 200

_INTERPRETERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("python", "py", "python2", "python3", "pypy", "pypy3", "ipython"), ("python", "c")),
    **dict.fromkeys(("node", "nodejs", "bun", "ts-node", "tsx", "deno"), ("node", "ep")),
    "ruby": ("ruby", "e"),
    "perl": ("perl", "eE"),
    "php": ("php", "rBRE"),
    "lua": ("lua", "e"),
    "luajit": ("lua", "e"),
    "osascript": ("osascript", "e"),
    "julia": ("julia", "eE"),
    "rscript": ("r", "e"),
    "elixir": ("elixir", "e"),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), ("awk", "")),
}
_LONG_OPTIONS = frozenset({"--eval", "--print", "--exec", "--run", "--source", "--expression"})
_VALUED = frozenset({"-W", "-X", "-I", "-r", "--require", "-L", "-d", "--import", "-S", "--loader", "-F", "-v", "-M"})


def code_of(command: Command, texts: Iterable[str]) -> tuple[str, list[str]]:
    """Return the language of an interpreter and the code that it is given; texts are what it reads."""
    known = _INTERPRETERS.get(program_of(command.name.lower())) if command.name else None
    if known is None:
        return "", []
    language, letters = known
    words = list(command.parts[1:])
    if words[:1] == ["eval"] and command.name == "deno":
        return language, [word for word in words[1:] if not word.startswith("-")][:1]
    found, operand = list[str](), ""
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "-":
        option, at = words[at], at + 1
        name, equals, value = option.partition("=")
        if option == "--" or (option == "-m" and language == "python"):
            operand = "-m" if option == "-m" else ""
            break
        if name in _LONG_OPTIONS:
            code = value if equals else "".join(words[at : at + 1])
            found.append(f"console.log({code})" if name == "--print" else code)
            at += not equals
            continue
        place = next((i for i, letter in enumerate(option[1:], 2) if letter in letters), 0)
        if place and not option.startswith("--"):
            code = option[place:] or "".join(words[at : at + 1])
            found.append(f"console.log({code})" if option[place - 1] == "p" else code)
            at += not option[place:]
        else:
            at += option in _VALUED
    operand = operand or "".join(words[at : at + 1])
    if language == "awk":
        return language, found or ([operand] if operand else [])
    reads_data = operand not in ("", "-") and any(one.text for one in command.redirections)
    return language, found if found or reads_data else list(texts)


def read_code(language: str, code: str, depth: int = 0) -> list[Found]:
    """Return what code runs, reads, writes, deletes and prints, each once."""
    scans = [_Scan(language, tuple(tokens_of(language, code)), depth)]
    if "/" in code and language in ("node", "ruby", "perl", "awk"):
        scans.append(_Scan(language, tuple(tokens_of(language, code, patterns=False)), depth))
    for scan in scans:
        scan.run()
    return list(dict.fromkeys(one for scan in scans for one in scan.found))[:_MOST_EFFECTS]


Value = str | list[str]


class _Scan:
    """One pass over the parts of code."""

    def __init__(self, language: str, tokens: tuple[Token, ...], level: int) -> None:
        self.language = language
        self.tokens = tokens
        self.level = level
        self.found: list[Found] = []
        self.values: dict[str, Value] = {}
        self.names = {token.text for token in tokens if token.kind == "name"}
        self.parts = {part for name in self.names for part in (_last(name), name)}
        self.prints = any(PRINTS.fullmatch(name) or PRINTS.match(name) for name in self.names)
        self.runs = set(RUNNERS.get(language, "").split())
        self.evaluates = frozenset(EVALUATES.get(language, "").split())
        self.others: dict[str, str] = {}
        """Other names of modules and functions."""
        self.imports = set[int]()
        """Where names are only imported."""
        self.depth = 0
        self.steps = 0

    def run(self) -> None:
        """Look at every part; again if a function turns out to run what it is given."""
        self._note_imports()
        for _ in range(3):
            known = len(self.runs)
            self.found, self.steps = [], 0
            self._look()
            if len(self.runs) == known:
                break
        if self.parts & SOCKETS and (self.parts & {"dup2", "pty.spawn"} or self._runs_shell()):
            self.found.append(Found("network-shell"))

    def _look(self) -> None:
        for at, token in enumerate(self.tokens):
            if self.steps > _MOST_STEPS:
                self.found.append(Found("computed-code"))
                break
            if token.kind == "command":
                self._run_text(token.text)
            elif token.kind == "name":
                self._name(at, token.text)
            elif token.kind == "mark" and self.language == "awk":
                self._awk(at, token.text)
            elif token.text == "$" and self.language == "node" and self._kind(at + 1) == "text":
                self._run_text(self.tokens[at + 1].text)

    def _note_imports(self) -> None:
        """Note other names: ``from os import system as s``, ``const {rm} = require("fs")``, ``f = os.system``."""
        module = ""
        for at, token in enumerate(self.tokens):
            if token.text == "from" and self._kind(at + 1) == "name" and self._text(at + 2) == "import":
                module = self.tokens[at + 1].text
            elif token.text in ("\n", ";") and token.kind == "mark":
                module = ""
            elif token.text == "as" and self._kind(at - 1) == self._kind(at + 1) == "name":
                known = self.tokens[at - 1].text
                self.others[self.tokens[at + 1].text] = f"{module}.{known}" if module else known
            elif module and token.kind == "name" and token.text not in ("import", "from", "as", module):
                self.imports.add(at)
                self.others.setdefault(token.text, f"{module}.{token.text}")
            elif token.text == "=" and self._text(at + 1) in FUNCTIONS and self._text(at + 2) != "(":
                self.others[self._text(at - 1)] = self._text(at + 1)
            if token.text in ("require", "from", "import") and self.language == "node":
                self._note_module(at)

    def _note_module(self, at: int) -> None:
        """Note the names that node code has for a module and its functions."""
        place = at + 2 if self._text(at + 1) == "(" else at + 1
        if self._kind(place) != "text":
            return
        module = self.tokens[place].text.removeprefix("node:").partition("/")[0]
        before = at - 2 if self._text(at - 1) == "=" else at - 1
        if self._kind(before) == "name":
            self.others[self.tokens[before].text] = module
        elif self._text(before) == "}":
            start = before
            while start > 0 and before - start < 100 and self._text(start) != "{":
                start -= 1
            names = [self._text(one) for one in range(start + 1, before)]
            self.imports |= set(range(start, before))
            for one, name in enumerate(names):
                if name not in (",", ":", "\n", "", "as") and (one == 0 or names[one - 1] not in (":", "as")):
                    renamed = (
                        names[one + 2] if names[one + 1 : one + 2] in ([":"], ["as"]) and one + 2 < len(names) else name
                    )
                    self.others[renamed] = f"{module}.{name}"

    def _known_name(self, name: str) -> str:
        """Return the name that a function has by itself."""
        first, dot, rest = name.partition(".")
        return f"{self.others[first]}{dot}{rest}" if first in self.others else name

    def _runs_shell(self) -> bool:
        return any(one.kind == RUNS and SHELL.match(one.target) for one in self.found)

    # Names.

    def _name(self, at: int, name: str) -> None:
        following = self._text(at + 1)
        if following == "=" and self._text(at + 2) != "=":
            value, end = self._expression(at + 2, at + _MOST_TOKENS)
            self.values[name] = value if end > at + 2 else ONE
        if name in ENVIRONMENTS or any(name.startswith(f"{one}.") for one in ENVIRONMENTS):
            self._environment(at, name)
        known = self._known_name(name)
        if _last(name) in ("delete_all", "destroy_all") and following != "(" and ".where" not in name:
            self.found.append(Found("db-delete", f"of {name}"))
        if following == "(":
            values, end = self._arguments(at + 1, at + _MOST_TOKENS)
            self._call(at, known, values, end)
        elif self.language in ("perl", "ruby", "php", "lua", "elixir", "awk") and self._starts_value(at + 1):
            values, end = self._list(at + 1, at + _MOST_TOKENS)
            if _last(name) in self.runs or name in self.runs or name in DELETES or name in ("require", "open"):
                self._call(at, known, values, end)
        elif self.language == "osascript" and name == "script" and self._text(at - 1) == "shell":
            self._run_values([self._term(at + 1, at + _MOST_TOKENS)[0]])
        elif name in ("Bun.$", "$.sync") and self._kind(at + 1) == "text":
            self._run_text(self.tokens[at + 1].text)
        elif (
            known in FUNCTIONS
            and at not in self.imports
            and self._text(at - 1) not in ("import", "as", "=", "def", ".")
            and following != "="
        ):
            self.found.append(Found("computed-code"))  # the function is handed on

    def _call(self, at: int, name: str, values: list[Value], end: int) -> None:
        last = _last(name)
        if self._text(at - 1) in ("def", "function", "sub"):
            return
        before = self._text(at - 1)
        if self._is_run(name, last):
            self._run_values(values, self._parameter(at))
        if last in self.evaluates or name in self.evaluates:
            self._evaluate(at, values, end)
        self._files(name, last, values, before)
        self._methods(name, values, end)
        first = values[0] if values and isinstance(values[0], str) else ""
        if last in REQUESTS or name in REQUESTS:
            url = next((one for one in values[:2] if isinstance(one, str) and re.match(r"(?i)https?://", one)), "")
            if url:
                self.found.append(Found("send" if last in SENDS else "request", url))
        if (last in STATEMENTS or name in STATEMENTS) and first:
            self.found += sql_effects(first)
        if last in ("import_module", "__import__") and first and not is_known(first):
            self.found.append(Found("computed-code"))
        if last == "getattr" and len(values) > 1 and isinstance(values[1], str):
            self._reflected(values[1], end)
        if self.language == "php" and first in (*self.runs, "unlink", "rmdir") and last in CALLS_NAMES:
            self.found.append(Found("computed-code"))
        if last in ("chmod", "chmodSync", "lchmod"):
            self._mode(at, values)
        inside = self._text(at + 2) + self._text(at + 3)
        if last in EMPTIES and (inside[:1] == ")" or inside == "{}") and ".where" not in name:
            self.found.append(Found("db-delete", f"of {name}"))
        if last == "getenv" and first:
            self._variable(first)

    def _reflected(self, name: str, end: int) -> None:
        """Read ``getattr(os, "system")("…")`` as a call of that name."""
        if not is_known(name):
            self.found.append(Found("computed-code"))
        elif self._text(end) == "(":
            values, after = self._arguments(end, end + _MOST_TOKENS)
            self._call(end - 1, f"os.{name}", values, after)

    def _is_run(self, name: str, last: str) -> bool:
        if last == "exec" and self.language == "node":
            return any("child_process" in token.text for token in self.tokens if token.kind == "text")
        if name in self.runs or last in self.runs:
            return True
        return name in ALONE.get(self.language, ()) and "subprocess" in self.names

    def _parameter(self, at: int) -> str:
        """Return the name of the function that hands its first parameter to a call; empty if there is none."""
        argument = self._text(at + 2)
        for place in range(at - 1, max(at - 60, -1), -1):
            if self._text(place) in ("def", "function", "sub") and self._kind(place + 1) == "name":
                takes = self._text(place + 3) == argument or self._text(place + 4) == argument
                return self._text(place + 1) if argument and takes else ""
        return ""

    def _run_values(self, values: list[Value], function: str = "") -> None:
        """Note the command of a call: a text that a shell reads, or its words."""
        given = [one for one in values if one != []]
        if not given:
            return
        if function and given[0] == ONE:
            self.runs.add(function)
            return
        first, rest = given[0], given[1:]
        if isinstance(first, list):
            self._run_words(first)
        elif rest and isinstance(rest[0], list) and is_known(first) and " " not in first:
            words = rest[0]
            same = words[:1] and words[0].rpartition("/")[2] == first.rpartition("/")[2]
            self._run_words(words if same else [first, *words])
        elif rest and (self.language in ("perl", "ruby", "elixir", "r") or first.startswith("/")) and _all_texts(rest):
            words = [first, *(one for one in rest if isinstance(one, str))]
            if len(words) > 1 and first.rpartition("/")[2] == words[1]:
                del words[1]
            self._run_words(words)
        else:
            self._run_text(first)

    def _run_words(self, words: list[str]) -> None:
        if words and words[0] not in (ONE, MANY):
            self.found.append(Found(RUNS, line_of(words)))
        elif words:
            self.found.append(Found("computed-code"))

    def _run_text(self, text: str) -> None:
        if not text.replace(ONE, "").strip():
            self.found.append(Found("computed-code"))
        else:
            self.found.append(Found(RUNS, text.replace(ONE, _UNKNOWN).strip()))

    def _evaluate(self, at: int, values: list[Value], end: int) -> None:
        """Read code in a literal; say what else is run: decoded, downloaded or computed."""
        first = values[0] if values else ""
        if not isinstance(first, str) or not first:
            return
        self.steps += end - at
        names = {
            _last(token.text) for token in self.tokens[at + 1 : min(end, at + _MOST_TOKENS)] if token.kind == "name"
        }
        if is_known(first):
            if self.level < _DEEPEST_CODE:
                self.found += read_code(self.language, first, self.level + 1)
        elif names & DECODES:
            self.found.append(Found("run-decoded"))
        elif names & FETCHED:
            url = next((t.text for t in self.tokens[at:end] if t.kind == "text" and "://" in t.text), "")
            self.found.append(Found("run-downloaded", url))
        else:
            self.found.append(Found("computed-code"))

    # Files, modes, variables.

    def _files(self, name: str, last: str, values: list[Value], before: str) -> None:
        texts = [one for one in values if isinstance(one, str)]
        known = [one for one in texts if one.replace(ONE, "")]
        short = ".".join(name.split(".")[-2:])
        base, _, method = name.rpartition(".")
        if base in self.values and method in PATH_METHODS:
            path = self.values[base]
            self.found += [Found(PATH_METHODS[method], path)] if isinstance(path, str) and path.strip(ONE) else []
        elif name in DELETES or short in DELETES or (last in TREES | {"unlink", "unlinkSync"} and values):
            if known or last in TREES or any(isinstance(one, list) for one in values):
                self.found += [Found("delete-files", one) for one in _flat(values[: 1 if last in TREES else None])]
        elif name in MOVES or (last in MOVES and self.language != "python"):
            self.found += [Found("move-files", one) for one in known[:1]]
            self.found += [Found("write-files", one) for one in known[1:2]]
        elif (name in COPIES or last in COPIES - {"copy"}) and len(texts) > 1:
            self.found += [Found("read-files", one) for one in known[:1]]
            self.found += [Found("write-files", one) for one in texts[1:2]]
        elif name in WRITES or last in WRITES:
            self.found += [Found("write-files", one) for one in known[:1]]
        elif name in OPENS or (last == "open" and before != "."):
            self._open(texts)
        elif (name in READS or last in READS - OPENS) and known and "://" not in known[0]:
            self.found.append(Found("read-files", known[0]))

    def _open(self, texts: list[str]) -> None:
        """Note what ``open`` opens: a file to read or to write, or in Perl a command."""
        if self.language == "perl":
            texts = [one for one in texts if one.replace(ONE, "")]
            if len(texts) > 1 and texts[0].strip() in ("-|", "|-"):
                self._run_text(" ".join(texts[1:]))
                return
            if texts and (texts[0].startswith("|") or texts[0].rstrip().endswith("|")):
                self._run_text(texts[0].strip().strip("|"))
                return
            mode, path = (texts[0], texts[1]) if len(texts) > 1 else ("".join(texts[:1]), "".join(texts[:1]))
            path = path.lstrip("<>+ ")
            writes = ">" in mode
        else:
            path, mode = "".join(texts[:1]), texts[1] if len(texts) > 1 else ""
            writes = bool(re.match(r"[rbt]*[waxc+]", mode))
            if self.language == "ruby" and path.startswith("|"):
                self._run_text(path[1:])
                return
        if path.replace(ONE, "") and "://" not in path:
            self.found.append(Found("write-files" if writes else "read-files", path))

    def _methods(self, name: str, values: list[Value], end: int) -> None:
        """Note ``Path("x").unlink()`` and the like: a method of a path."""
        if _last(name) not in ("Path", "PurePath", "PosixPath", "Pathname", "joinpath", "expanduser", "file", "home"):
            return
        path = self._same_text(name, values)
        at = end
        while self._text(at) in ("/", ")") or self._kind(at) == "text":
            if self._kind(at) == "text":
                path = f"{path}/{self.tokens[at].text}"
            at += 1
        if self._text(at) != "." or self._kind(at + 1) != "name":
            return
        method = self.tokens[at + 1].text.partition(".")[0]
        kinds = {
            "unlink": "delete-files",
            "rmdir": "delete-files",
            "delete": "delete-files",
            "rmtree": "delete-files",
            "read_text": "read-files",
            "read_bytes": "read-files",
            "read": "read-files",
            "open": "read-files",
            "text": "read-files",
            "write_text": "write-files",
            "write_bytes": "write-files",
            "write": "write-files",
            "rename": "move-files",
            "replace": "move-files",
            "touch": "write-files",
        }
        if method in kinds and path.replace(ONE, "").strip("/"):
            self.found.append(Found(kinds[method], path))

    def _mode(self, at: int, values: list[Value]) -> None:
        numbers = [token.text for token in self.tokens[at + 2 : at + 12] if token.kind == "number"]
        path = next((one for one in values if isinstance(one, str) and one.replace(ONE, "")), ONE)
        mode = numbers[0].lower().replace("0o", "") if numbers else ""
        if re.fullmatch(r"[0-7]*[2367]", mode) and len(mode) >= 3:
            self.found.append(Found("open-permissions", path))
        elif re.fullmatch(r"0?[2467][0-7]{3}", mode):
            self.found.append(Found("setuid", path))

    def _environment(self, at: int, name: str) -> None:
        """Note that the whole environment is printed, or a variable of it whose name says that it is secret."""
        base = next(
            one for one in sorted(ENVIRONMENTS, key=len, reverse=True) if name == one or name.startswith(f"{one}.")
        )
        rest = name[len(base) :].lstrip(".")
        method = rest.partition(".")[0]
        if method in SINGLE or self._text(at + 1) in ("[", "{"):
            inside = self.tokens[at + 2 : at + 3]
            if inside and inside[0].kind in ("text", "name"):
                self._variable(inside[0].text)
        elif method and base in ("process.env", "Bun.env"):
            self._variable(method)
        elif self.prints and self._text(at - 1) not in ("**", "...", "=", ":") and not self._is_membership(at):
            self.found.append(Found("print-env"))

    def _variable(self, name: str) -> None:
        if self.prints and set(name.upper().split("_")) & SECRET_PARTS:
            self.found.append(Found("print-variable", name))

    def _is_membership(self, at: int) -> bool:
        return self._text(at - 1) == "in" and self._kind(at - 2) == "text"

    def _awk(self, at: int, mark: str) -> None:
        """Note awk's pipes and files: ``"cmd" | getline``, ``print | "cmd"``, ``print > "file"``."""
        after = self._kind(at + 1) == "text"
        if mark == "|" and self._text(at + 1) == "getline":
            value = self._before(at)
            self._run_text(value)
        elif mark == "|" and (after or self._text(at + 1) in self.values):
            self._run_values([self._expression(at + 1, at + _MOST_TOKENS)[0]])
        elif mark in (">", ">>") and after and self._is_printed(at):
            self.found.append(Found("write-files", self.tokens[at + 1].text))
        elif mark == "<" and after:
            self.found.append(Found("read-files", self.tokens[at + 1].text))

    def _is_printed(self, at: int) -> bool:
        """Return whether a part belongs to a print of awk, and not to a comparison in brackets."""
        depth = 0
        for place in range(at - 1, max(at - 60, -1), -1):
            text = self._text(place)
            depth += (text == ")") - (text == "(")
            if depth < 0 or text in (";", "{", "}", "\n"):
                return False
            if text in ("print", "printf"):
                return True
        return False

    def _before(self, at: int) -> str:
        """Return the text that ends before a part."""
        texts = list[str]()
        place = at - 1
        while place >= 0 and (self._kind(place) == "text" or self._text(place) in self.values):
            value = self.tokens[place].text if self._kind(place) == "text" else self.values[self._text(place)]
            texts.append(value if isinstance(value, str) else ONE)
            place -= 1
        return "".join(reversed(texts)) or ONE

    # Values.

    def _text(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) and self.tokens[at].kind in ("mark", "name") else ""

    def _kind(self, at: int) -> str:
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def _starts_value(self, at: int) -> bool:
        return self._kind(at) in ("text", "words") or (self._kind(at) == "name" and self._text(at) in self.values)

    def _arguments(self, at: int, end: int) -> tuple[list[Value], int]:
        """Return the values between brackets, and where the part after them is."""
        return self._list(at + 1, end)

    def _list(self, at: int, end: int) -> tuple[list[Value], int]:
        values: list[Value] = []
        end = min(end, len(self.tokens))
        self.depth += 1
        while at < end and self.steps <= _MOST_STEPS:
            self.steps += 1
            text = self._text(at)
            if text in (")", "]", "}"):
                at += 1
                break
            if text == ";" or (text == "\n" and self.depth == 1 and self.language in ("ruby", "perl", "lua")):
                break
            if text in (",", "\n"):
                at += 1
                continue
            if self._kind(at) == "name" and self._text(at + 1) in ("=", ":", "=>"):
                keyword = text
                value, at = self._expression(at + 2, end)
                if keyword in ("args", "argv", "path", "file"):
                    values.append(value)
                continue
            value, at = self._expression(at, end)
            values.append(value)
        self.depth -= 1
        return values, at

    def _expression(self, at: int, end: int) -> tuple[Value, int]:
        """Return the value of the parts up to a comma or a bracket, and where the next part is."""
        value, at = self._term(at, end)
        end = min(end, len(self.tokens))
        while at < end:
            text = self._text(at)
            self.steps += 1
            if text in (",", ")", "]", "}", ";", "\n", "=>") or self.depth > _DEEPEST:
                break
            if text in ("+", "/") or (text == "." and self.language in ("perl", "php")):
                more, at = self._term(at + 1, end)
                value = _joined(value, more, "/" if text == "/" else "")
            elif text == "%":
                _, at = self._term(at + 1, end)
                value = re.sub(r"%[-\w.]*[sdrif]", ONE, value) if isinstance(value, str) else value
            elif text == "." and self._kind(at + 1) == "name":
                value, at = self._method(value, at + 1, end)
            elif self._kind(at) == "text" and isinstance(value, str):
                value, at = _joined(value, self.tokens[at].text, ""), at + 1
            else:
                at += 1
                if text not in ("as", "||", "??"):
                    value = ONE if isinstance(value, str) else value
        return value, at

    def _term(self, at: int, end: int) -> tuple[Value, int]:
        self.steps += 1
        if at >= min(end, len(self.tokens)) or self.depth > _DEEPEST or self.steps > _MOST_STEPS:
            return ONE, at + 1
        token = self.tokens[at]
        if token.kind == "text":
            return token.text, at + 1
        if token.kind == "words":
            return list[str](token.text.split()), at + 1
        if token.text in ("[", "(", "{"):
            values, after = self._list(at + 1, end)
            if token.text == "(" and len(values) == 1:
                return values[0], after
            nested = [one for one in values if isinstance(one, list)]
            if token.text == "{":  # { args: [...] }
                return (nested[0] if nested else []), after
            return _flat(values), after
        if token.kind == "name":
            return self._named(at, token.text, end)
        if token.text in ("!", "*", "-", "@", "&", "\n", "new"):
            return self._term(at + 1, end)
        return (ONE, at) if token.text in (",", ")", "]", "}", ";") else (ONE, at + 1)

    def _named(self, at: int, name: str, end: int) -> tuple[Value, int]:
        following = self._text(at + 1)
        if following == "(":
            values, after = self._arguments(at + 1, end)
            return self._result(name, values), after
        if name in ("new", "await", "return", "my", "local", "lambda"):
            return self._term(at + 1, end)
        if following in ("[", "{") and name in (*ENVIRONMENTS, "$ENV"):
            inside = "".join(token.text for token in self.tokens[at + 2 : at + 3])
            return ("~" if inside == "HOME" else ONE), min(at + 4, end)
        if name in ("process.env.HOME", "Deno.env.HOME"):
            return "~", at + 1
        base, _, method = name.rpartition(".")
        if base in self.values and method in ("encode", "decode", "strip", "trim"):
            return self.values[base], at + 1
        return self.values.get(name, ONE), at + 1

    def _method(self, value: Value, at: int, end: int) -> tuple[Value, int]:
        name = self.tokens[at].text
        values: list[Value] = []
        after = at + 1
        if self._text(at + 1) == "(":
            values, after = self._arguments(at + 1, end)
        if name == "join":
            if isinstance(value, list):
                separator = values[0] if values and isinstance(values[0], str) else ","
                return separator.join(value)[:_LONGEST_VALUE], after
            if values and isinstance(values[0], list):
                return value.join(values[0])[:_LONGEST_VALUE], after
        if name == "format" and isinstance(value, str):
            return re.sub(r"\{\w*\}", ONE, value), after
        if name == "split" and isinstance(value, str):
            return value.split(), after
        return (value if name in SAME_TEXT else ONE), after

    def _result(self, name: str, values: list[Value]) -> Value:
        last = _last(name)
        if name in HOMES:
            return "~"
        if name in JOINS or (last in JOINS and len(values) > 1):
            return "/".join(one for one in _flat(values) if one)[:_LONGEST_VALUE] or ONE
        if last == "chr" or last in DECODES:
            return ONE
        if name in SAME_TEXT or last in SAME_TEXT:
            text = self._same_text(name, values)
            return text.split() if last == "split" and is_known(text) else text
        return ONE

    def _same_text(self, name: str, values: list[Value]) -> str:
        if name in HOMES:
            return "~"
        texts = [one for one in values if isinstance(one, str)]
        return "/".join(texts)[:_LONGEST_VALUE] if texts else ONE


def _last(name: str) -> str:
    return re.split(r"\.|::|->", name)[-1]


def _flat(values: Iterable[Value]) -> list[str]:
    return [text for one in values for text in ([one] if isinstance(one, str) else one)]


def _all_texts(values: Iterable[Value]) -> bool:
    return all(isinstance(one, str) for one in values)


def _joined(value: Value, more: Value, between: str) -> Value:
    if isinstance(value, list):
        return [*value, *([more] if isinstance(more, str) else more)]
    if isinstance(more, list):
        return [value, *more]
    return f"{value}{between}{more}"[:_LONGEST_VALUE]
