"""Read code on a command line: the commands, files, requests and statements that its literals name.

This is no parser. Calls of known functions are looked for, and their arguments are worked out as far as they are
literals, names that were given a literal, and joins of these. Everything else in code has no effect here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ...matching.shell.words import MANY, ONE, is_known
from ...runtime.regex import regex
from .code_functions import (
    ALONE,
    CALLS_NAMES,
    COPIES,
    DECODES,
    DELETES,
    DELETES_OF,
    EMPTIES,
    ENVIRONMENTS,
    EVALUATES,
    FETCHED,
    FUNCTIONS,
    LISTS,
    MOVES,
    NAMESPACES,
    OPENS,
    PATH_CALLS,
    PATH_METHODS,
    PATHS,
    PRINTS,
    READS,
    REFLECTED,
    REQUESTS,
    RUNNERS,
    SAVES,
    SENDS,
    SHELL,
    SINGLE,
    SOCKETS,
    STATEMENTS,
    TAKES_WORDS,
    TREES,
    WRITES,
)
from .code_tokens import Token, tokens_of
from .code_values import MOST_STEPS, MOST_TOKENS, CodeReader, Value, flat, last_part
from .lisp_code import read_lisp
from .rows import RUNS, Found, line_of
from .sql import sql_effects

__all__ = ["read_code"]

_DEEPEST_CODE = 3
_UNKNOWN = "${UNKNOWN}"
_MOST_EFFECTS = 200

_POSTS = frozenset({"Request", "axios", "fetch", "post", "put", "urlopen"})
"""Functions that send what they are given."""
_BARE_SHELL = regex(r"\s*(?:\S*/)?(?:ba|da|z|k|c|a)?sh(?:\s+-[abd-z]+)*\s*")


_WITHOUT_BRACKETS = frozenset({"perl", "ruby", "php", "lua", "elixir", "awk"})
"""Languages in which the values of a call may stand without brackets."""
_ALIASED = frozenset(name for name in FUNCTIONS | READS | WRITES | DELETES if "." in name)


def read_code(language: str, code: str, depth: int = 0) -> list[Found]:
    """Return what code runs, reads, writes, deletes and prints, each once."""
    if language == "lisp":
        return list(dict.fromkeys(read_lisp(code)))[:_MOST_EFFECTS]
    scans = [_Scan(language, tuple(tokens_of(language, code)), depth)]
    if "/" in code and language in ("node", "ruby", "perl", "awk"):
        scans.append(_Scan(language, tuple(tokens_of(language, code, patterns=False)), depth))
    for scan in scans:
        scan.run()
    found = list(dict.fromkeys(one for scan in scans for one in scan.found))
    return found if len(found) <= _MOST_EFFECTS else [*found[:_MOST_EFFECTS], Found("computed-code")]


class _Scan:
    """One pass over the parts of code."""

    def __init__(self, language: str, tokens: tuple[Token, ...], level: int) -> None:
        self.language = language
        self.code = CodeReader(language, tokens)
        self.level = level
        self.found: list[Found] = []
        self.names = {token.text for token in tokens if token.kind == "name"}
        self.parts = {part for name in self.names for part in (last_part(name), name)}
        self.prints = any(PRINTS.fullmatch(name) or PRINTS.match(name) for name in self.names)
        self.runs = set(RUNNERS.get(language, "").split())
        self.evaluates = frozenset(EVALUATES.get(language, "").split())
        self.others: dict[str, str] = {}
        """Other names of modules and functions."""
        self.moves: list[tuple[int, str]] = []
        """Where the code changes its directory: how much was found before, and the directory."""
        self.listed = set[str]()
        """The patterns of files that the code lists."""
        self.imports = set[int]()
        """Where names are only imported."""

    def run(self) -> None:
        """Look at every part; again if a function turns out to run what it is given, or a loop names values."""
        self._note_imports()
        for _ in range(3):
            known = (len(self.runs), dict(self.code.loops))
            self.found, self.code.steps = [], 0
            self.code.values, self.code.earlier = dict(self.code.loops), {}
            self.moves = []
            self._look()
            if (len(self.runs), self.code.loops) == known:
                break
        self._place()
        if self.parts & SOCKETS and (self.parts & {"dup2", "pty.spawn"} or self._runs_shell()):
            self.found.append(Found("network-shell"))

    def _place(self) -> None:
        """Say of what the code does after ``os.chdir`` where it happens."""
        for number, (begin, _) in enumerate(self.moves):
            place = os.path.join("", *(folder for _, folder in self.moves[: number + 1]))
            end = self.moves[number + 1][0] if number + 1 < len(self.moves) else None
            self.found[begin:end] = [one._replace(directory=place) for one in self.found[begin:end]]

    def _look(self) -> None:
        for at, token in enumerate(self.code.tokens):
            if self.code.steps > MOST_STEPS:
                self.found.append(Found("computed-code"))
                break
            if token.kind == "command":
                self._run_text(token.text)
            elif token.kind == "name":
                self._name(at, token.text)
            elif token.kind == "mark":
                self._mark(at, token.text)
            elif token.text in REFLECTED and self.code.text(at - 1) == "[":
                self.found.append(Found("computed-code"))

    def _mark(self, at: int, mark: str) -> None:
        """Note commands of templates, and calls of what a subscript or a symbol names."""
        if self.language == "awk":
            self._awk(at, mark)
        elif mark == "$" and self.language == "node" and self.code.kind(at + 1) == "text":
            self._run_text(self.code.tokens[at + 1].text)
        elif mark == "=>":
            self.code.take_arrow(at)
        elif mark == "]" and self.language in ("python", "node"):
            if self.code.text(at + 1) == "(" and not self._is_plain_item(at):
                self.found.append(Found("computed-code"))
        elif (
            (mark == ":" and self.language == "ruby" and self.code.text(at + 1) in self.runs)
            or (mark == "!" and self.language == "python" and self.code.text(at - 1) in ("", "\n"))
            or (mark == "{" and self.language == "perl" and self.code.text(at - 1) in self.runs)
        ):
            self.found.append(Found("computed-code"))

    def _is_plain_item(self, at: int) -> bool:
        """Return whether a subscript that ends at a place is a literal of a variable: ``handlers["a"](…)``."""
        is_literal = self.code.kind(at - 1) in ("text", "number") and self.code.text(at - 2) == "["
        base = self.code.text(at - 3) if self.code.kind(at - 3) == "name" else ""
        return is_literal and bool(base) and last_part(base) not in NAMESPACES

    def _note_imports(self) -> None:
        """Note other names: ``from os import system as s``, ``const {rm} = require("fs")``, ``f = os.system``."""
        module = ""
        for at, token in enumerate(self.code.tokens):
            if token.text == "from" and self.code.kind(at + 1) == "name" and self.code.text(at + 2) == "import":
                module = self.code.tokens[at + 1].text
            elif token.text in ("\n", ";") and token.kind == "mark":
                module = ""
            elif token.text == "as" and self.code.kind(at - 1) == self.code.kind(at + 1) == "name":
                known = self.code.tokens[at - 1].text
                self.others[self.code.tokens[at + 1].text] = f"{module}.{known}" if module else known
            elif module and token.kind == "name" and token.text not in ("import", "from", "as", module):
                self.imports.add(at)
                self.others.setdefault(token.text, f"{module}.{token.text}")
            elif token.text == "=" and self.code.text(at + 1) in _ALIASED and self.code.text(at + 2) != "(":
                self.others[self.code.text(at - 1)] = self.code.text(at + 1)
            if token.text in ("require", "from", "import") and self.language == "node":
                self._note_module(at)

    def _note_module(self, at: int) -> None:
        """Note the names that node code has for a module and its functions."""
        place = at + 2 if self.code.text(at + 1) == "(" else at + 1
        if self.code.kind(place) != "text":
            return
        module = self.code.tokens[place].text.removeprefix("node:").partition("/")[0]
        before = at - 2 if self.code.text(at - 1) == "=" else at - 1
        if self.code.kind(before) == "name":
            member = self.code.text(place + 3) if self.code.text(place + 2) == "." else ""
            self.others[self.code.tokens[before].text] = f"{module}.{member}" if member else module
        elif self.code.text(before) == "}":
            start = before
            while start > 0 and before - start < 100 and self.code.text(start) != "{":
                start -= 1
            names = [self.code.text(one) for one in range(start + 1, before)]
            self.imports |= set(range(start, before))
            for one, name in enumerate(names):
                if name not in (",", ":", "\n", "", "as") and (one == 0 or names[one - 1] not in (":", "as")):
                    renamed = (
                        names[one + 2] if names[one + 1 : one + 2] in ([":"], ["as"]) and one + 2 < len(names) else name
                    )
                    self.others[renamed] = f"{module}.{name}"

    def _known_name(self, name: str) -> str:
        """Return the name that a function has by itself; in PHP, a variable may hold it."""
        held = self.code.values.get(name)
        if isinstance(held, str) and held in self.runs and self.language == "php":
            return held
        first, dot, rest = name.partition(".")
        return f"{self.others[first]}{dot}{rest}" if first in self.others else name

    def _runs_shell(self) -> bool:
        return any(one.kind == RUNS and SHELL.match(one.target) for one in self.found)

    # Names.

    def _name(self, at: int, name: str) -> None:
        following = self.code.text(at + 1)
        self.code.assign(at)
        if name in ENVIRONMENTS or any(name.startswith(f"{one}.") for one in ENVIRONMENTS):
            self._environment(at, name)
        known = self._known_name(name)
        if last_part(name) in ("delete_all", "destroy_all") and following != "(" and ".where" not in name:
            self.found.append(Found("db-delete", f"of {name}"))
        if following == "(":
            values, end = self.code.arguments(at + 1, at + MOST_TOKENS)
            self._call(at, known, values, end)
        elif self.language in _WITHOUT_BRACKETS and (begin := self._begin_of_values(at, name)):
            values, end = self.code.items(begin, at + MOST_TOKENS)
            if {last_part(name), name} & (self.runs | DELETES | MOVES | {"require", "open"}):
                self._call(at, known, values, end)
        elif self.language == "osascript" and name == "script" and self.code.text(at - 1) == "shell":
            self._run_values([self.code.term(at + 1, at + MOST_TOKENS)[0]])
        elif name in ("Bun.$", "$.sync") and self.code.kind(at + 1) == "text":
            self._run_text(self.code.tokens[at + 1].text)
        elif (
            known in FUNCTIONS
            and at not in self.imports
            and self.code.text(at - 1) not in ("import", "as", "=", "def", ".")
            and following != "="
        ):
            self.found.append(Found("computed-code"))  # the function is handed on

    def _begin_of_values(self, at: int, name: str) -> int:
        """Return where the values of a call without brackets begin; 0 if it is none."""
        if self.language == "perl" and name == "open":  # open HANDLE, "file"
            return at + 1
        is_loop = self.code.text(at + 1) in ("for", "foreach") and name in DELETES  # unlink for @files
        return at + 1 + is_loop if self.code.starts_value(at + 1 + is_loop) else 0

    def _call(self, at: int, name: str, values: list[Value], end: int) -> None:
        last = last_part(name)
        if self.code.text(at - 1) in ("def", "function", "sub"):
            return
        before = self.code.text(at - 1)
        if self._is_run(name, last):
            if self._names_in(at, end) & DECODES:
                self.found.append(Found("run-decoded"))
            leads = last.startswith("spawn") and values[:1] == [ONE] and self.language == "python"
            self._run_values(values[1:] if leads else values, self._parameter(at), last)
            for value in self.code.earlier.get(self.code.text(at + 2), ()):
                self._run_values([value])
        if last in self.evaluates or name in self.evaluates:
            self._evaluate(at, values, end)
        self._files(name, last, values, before)
        self._methods(name, values, end)
        first = values[0] if values and isinstance(values[0], str) else ""
        if last in REQUESTS or name in REQUESTS:
            url = next((one for one in values[:2] if isinstance(one, str) and re.match(r"(?i)https?://", one)), "")
            if url:
                self.found.append(Found("send" if last in SENDS else "request", url))
                saved = [one for one in values[1:2] if isinstance(one, str) and one.strip(ONE)]
                self.found += [Found("write-files", one) for one in saved if last in SAVES]
        if (last in STATEMENTS or name in STATEMENTS) and first:
            self.found += sql_effects(first)
        if (last in ("import_module", "__import__") and first and not is_known(first)) or name == "process.binding":
            self.found.append(Found("computed-code"))
        if last == "getattr" and len(values) > 1 and isinstance(values[1], str):
            self._reflected(values[1], end)
        if self.language == "php" and first in (*self.runs, "unlink", "rmdir") and last in CALLS_NAMES:
            self.found.append(Found("computed-code"))
        if last in ("chmod", "chmodSync", "lchmod"):
            self._mode(at, values)
        inside = self.code.text(at + 2) + self.code.text(at + 3)
        if last in EMPTIES and (inside[:1] == ")" or inside == "{}") and ".where" not in name:
            self.found.append(Found("db-delete", f"of {name}"))
        if last == "getenv" and first:
            self._variable(first)

    def _names_in(self, at: int, end: int) -> set[str]:
        """Return the last parts of the names in the arguments of a call."""
        inside = self.code.tokens[at + 1 : min(end, at + MOST_TOKENS)]
        return {last_part(token.text) for token in inside if token.kind == "name"}

    def _reflected(self, name: str, end: int) -> None:
        """Read ``getattr(os, "system")("…")`` as a call of that name."""
        if not is_known(name):
            self.found.append(Found("computed-code"))
        elif self.code.text(end) == "(":
            values, after = self.code.arguments(end, end + MOST_TOKENS)
            self._call(end - 1, f"os.{name}", values, after)

    def _is_run(self, name: str, last: str) -> bool:
        if last == "exec" and self.language == "node":
            return any("child_process" in token.text for token in self.code.tokens if token.kind == "text")
        if name in self.runs or last in self.runs:
            return True
        return name in ALONE.get(self.language, ()) and "subprocess" in self.names

    def _parameter(self, at: int) -> str:
        """Return the name of the function that hands its first parameter to a call; empty if there is none."""
        argument = self.code.text(at + 2)
        for place in range(at - 1, max(at - 60, -1), -1):
            if self.code.text(place) in ("def", "function", "sub") and self.code.kind(place + 1) == "name":
                takes = self.code.text(place + 3) == argument or self.code.text(place + 4) == argument
                return self.code.text(place + 1) if argument and takes else ""
        return ""

    def _run_values(self, values: list[Value], function: str = "", name: str = "") -> None:
        """Note the command of a call: a text that a shell reads, or its words."""
        given = [one for one in values if one != []]
        if not given:
            return
        if function:
            self.runs.add(function)
            return
        first, rest = given[0], given[1:]
        if isinstance(first, list):
            self._run_words(first)
        elif rest and isinstance(rest[0], list) and is_known(first) and " " not in first:
            words = rest[0]
            same = words[:1] and words[0].rpartition("/")[2] == first.rpartition("/")[2]
            self._run_words(words if same else [first, *words])
        elif rest and (self.language in ("perl", "ruby", "elixir", "r") or name in TAKES_WORDS) and _all_texts(rest):
            words = [first, *(one for one in rest if isinstance(one, str))]
            if len(words) > 1 and first.rpartition("/")[2] == words[1]:
                del words[1]
            self._run_words(words)
        else:
            self._run_text(first)

    def _run_words(self, words: list[str]) -> None:
        if words and words[0] not in (ONE, MANY):
            self.found.append(Found(RUNS, line_of(words)))
            self._feed(line_of(words))
        elif words:
            self.found.append(Found("computed-code"))

    def _run_text(self, text: str) -> None:
        if not text.replace(ONE, "").strip():
            self.found.append(Found("computed-code"))
        else:
            self.found.append(Found(RUNS, text.replace(ONE, _UNKNOWN).strip()))
            self._feed(text)

    def _feed(self, command: str) -> None:
        """Note a shell alone, which runs what the code writes to it."""
        if _BARE_SHELL.fullmatch(command):
            self.found.append(Found("computed-code"))

    def _evaluate(self, at: int, values: list[Value], end: int) -> None:
        """Read code in a literal; say what else is run: decoded, downloaded or computed."""
        first = values[0] if values else ""
        if not isinstance(first, str) or not first:
            return
        self.code.steps += end - at
        names = self._names_in(at, end)
        if names & DECODES:
            self.found.append(Found("run-decoded"))
        if is_known(first):
            if self.level < _DEEPEST_CODE:
                self.found += read_code(self.language, first, self.level + 1)
        elif names & DECODES:
            return
        elif names & FETCHED:
            url = next((t.text for t in self.code.tokens[at:end] if t.kind == "text" and "://" in t.text), "")
            self.found.append(Found("run-downloaded", url))
        else:
            self.found.append(Found("computed-code"))

    # Files, modes, variables.

    def _files(self, name: str, last: str, values: list[Value], before: str) -> None:
        if last == "chdir" and values and isinstance(values[0], str):
            self.moves.append((len(self.found), values[0]))
        if last in LISTS:
            self.listed |= {one for one in flat([self.code.result_of(name, values)]) if one.strip(ONE)}
        texts = [one for one in values if isinstance(one, str)]
        known = [one for one in texts if one.replace(ONE, "")]
        short = ".".join(name.split(".")[-2:])
        base, _, method = name.rpartition(".")
        if base in self.code.values and method in PATH_METHODS:
            path = self.code.values[base]
            self.found += [Found(PATH_METHODS[method], path)] if isinstance(path, str) and path.strip(ONE) else []
        elif self._deletes(name, before) or short in DELETES or (last in TREES | {"unlink", "unlinkSync"} and values):
            if known or last in TREES or any(isinstance(one, list) for one in values):
                self.found += [Found("delete-files", one) for one in flat(values[: 1 if last in TREES else None])]
            elif texts:  # what a loop or a block takes from a list of files
                self.found += [Found("delete-files", one) for one in self.listed]
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

    def _deletes(self, name: str, before: str) -> bool:
        if self.language == "node" and before == "." and name in ("rm", "rmdir", "unlink"):
            texts = (token.text for token in self.code.tokens if token.kind == "text")
            return any(text.removeprefix("node:") in ("fs", "fs/promises", "fs-extra") for text in texts)
        return name in DELETES or name in DELETES_OF.get(self.language, ())

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
        if last_part(name) not in PATHS:
            return
        path = self.code.same_text(name, values)
        at = end
        while self.code.text(at) in ("/", ")") or self.code.kind(at) == "text":
            if self.code.kind(at) == "text":
                path = f"{path}/{self.code.tokens[at].text}"
            at += 1
        if self.code.text(at) != "." or self.code.kind(at + 1) != "name":
            return
        method = self.code.tokens[at + 1].text.partition(".")[0]
        kinds = {**PATH_METHODS, **PATH_CALLS}
        if method in kinds and path.replace(ONE, "").strip("/"):
            self.found.append(Found(kinds[method], path))

    def _mode(self, at: int, values: list[Value]) -> None:
        numbers = [token.text for token in self.code.tokens[at + 2 : at + 12] if token.kind == "number"]
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
        if method in SINGLE or self.code.text(at + 1) in ("[", "{"):
            inside = self.code.tokens[at + 2 : at + 3]
            if inside and inside[0].kind in ("text", "name"):
                self._variable(inside[0].text)
        elif method and base in ("process.env", "Bun.env"):
            self._variable(method)
        elif self.prints and self.code.text(at - 1) not in ("**", "...", "=", ":") and not self._is_membership(at):
            self.found.append(Found("print-env"))
        elif not self.prints and self.parts & _POSTS and not self._is_membership(at) and self.code.text(at - 1) != "**":
            self.found.append(Found("send-secret", "the environment", ("environment", "")))

    def _variable(self, name: str) -> None:
        if self.prints:
            self.found.append(Found("print-variable", name))

    def _is_membership(self, at: int) -> bool:
        return self.code.text(at - 1) == "in" and self.code.kind(at - 2) == "text"

    def _awk(self, at: int, mark: str) -> None:
        """Note awk's pipes and files: ``"cmd" | getline``, ``print | "cmd"``, ``print > "file"``."""
        after = self.code.kind(at + 1) == "text"
        if mark == "|" and self.code.text(at + 1) == "getline":
            value = self._before(at)
            self._run_text(value)
        elif mark == "|" and after and _BARE_SHELL.fullmatch(self.code.tokens[at + 1].text):
            self._run_text(self._before(at) if self.code.text(at - 2) in ("print", "printf") else ONE)
        elif mark == "|" and (after or self.code.text(at + 1) in self.code.values):
            self._run_values([self.code.expression(at + 1, at + MOST_TOKENS)[0]])
        elif mark in (">", ">>") and after and self._is_printed(at):
            self.found.append(Found("write-files", self.code.tokens[at + 1].text))
        elif mark == "<" and after:
            self.found.append(Found("read-files", self.code.tokens[at + 1].text))

    def _is_printed(self, at: int) -> bool:
        """Return whether a part belongs to a print of awk, and not to a comparison in brackets."""
        depth = 0
        for place in range(at - 1, max(at - 60, -1), -1):
            text = self.code.text(place)
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
        while place >= 0 and (self.code.kind(place) == "text" or self.code.text(place) in self.code.values):
            value = (
                self.code.tokens[place].text
                if self.code.kind(place) == "text"
                else self.code.values[self.code.text(place)]
            )
            texts.append(value if isinstance(value, str) else ONE)
            place -= 1
        return "".join(reversed(texts)) or ONE


def _all_texts(values: Iterable[Value]) -> bool:
    return all(isinstance(one, str) for one in values)
