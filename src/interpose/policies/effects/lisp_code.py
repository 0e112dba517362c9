"""Read code of Emacs on a command line: calls that delete and write files, and that run commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...matching.shell.words import ONE
from ...runtime.regex import regex
from .rows import RUNS, Found, line_of

__all__ = ["read_lisp"]

_TOKEN = regex(r"\"((?:[^\"\\]|\\.)*+)\"|([()])|;[^\n]*|[^\s()\";]+", re.DOTALL)
_ESCAPE = regex(r"\\(.)", re.DOTALL)
_SHELLS = frozenset(
    ["shell-command", "shell-command-to-string", "async-shell-command", "compile", "call-process-shell-command"]
)
_PROCESSES = frozenset(["call-process", "start-process", "process-file", "process-lines", "call-process-region"])
_FILES = {
    "delete-directory": "delete-files", "delete-file": "delete-files", "write-region": "write-files",
    "write-file": "write-files", "rename-file": "move-files", "insert-file-contents": "read-files",
    "find-file": "read-files", "append-to-file": "write-files", "copy-file": "read-files",
}  # fmt: skip
_COMPUTES = frozenset(["intern", "read", "read-from-string", "base64-decode-string", "funcall-interactively"])
_MOST_WORDS = 50


def read_lisp(code: str) -> Iterator[Found]:
    """Yield what the calls in code do whose arguments are literals; ``ONE`` stands for other arguments."""
    tokens = [found for found in _TOKEN.finditer(code) if not found[0].startswith(";")]
    for at, token in enumerate(tokens[:-1]):
        if token[2] == "(":
            yield from _call(tokens[at + 1][0], list(_arguments(tokens, at + 2)))


def _arguments(tokens: list[re.Match[str]], at: int) -> Iterator[str]:
    """Yield the texts of a call from a place on, up to its end."""
    depth = 0
    for token in tokens[at : at + _MOST_WORDS]:
        if token[2] == "(":
            if depth == 0:
                yield ONE
            depth += 1
        elif token[2] == ")":
            depth -= 1
            if depth < 0:
                return
        elif depth == 0:
            yield ONE if token[1] is None else _ESCAPE.sub(r"\1", token[1])


def _call(name: str, arguments: list[str]) -> Iterator[Found]:
    texts = [one for one in arguments if one != ONE]
    if name in _SHELLS or name in _PROCESSES:
        if not texts:
            yield Found("computed-code")
        elif name in _SHELLS:
            yield Found(RUNS, texts[0])
        else:
            yield Found(RUNS, line_of(texts[name == "start-process" and len(texts) > 1 :]))
    elif name in _FILES:
        yield from (Found(_FILES[name], one) for one in (texts[:1] or [ONE]))
    elif name in _COMPUTES:
        yield Found("computed-code")
