"""Code in other languages on a command line: whether it certainly runs no command. Everything else is not read."""

from __future__ import annotations

import re
from functools import cache

from ...runtime.regex import regex

__all__ = ["is_inert_awk", "is_inert_code", "is_inert_sed"]

_DANGEROUS = (
    r"(?:os|sys|subprocess|pty|builtins|importlib|runpy|ctypes|socket|shutil|posix|code|pdb|__builtins__|__import__"
    r"|breakpoint|compile|eval|exec|help|input|open)\b"
)
_DOTTED = rf"(?!{_DANGEROUS})[A-Za-z_][\w.]*"
_VALUE = rf"(?:{_DOTTED}(?:\(\))?(?:\.\w+(?:\(\))?)*|'[^'\\]*'|\"[^\"\\]*\"|[0-9.]+)"
_PYTHON = (
    rf"\s*(?:(?:import {_DOTTED}(?: as \w+)?(?:, ?{_DOTTED})*|from {_DOTTED} import [\w, ]+)\s*[;\n]?\s*)*"
    rf"(?:print ?\(?(?:{_VALUE}(?: ?[,+%] ?{_VALUE})*)?\)?;?)?\s*"
)
_NODE = (
    r"\s*(?:console\.log\()?"
    r"(?:require\(['\"](?!(?:node:)?(?:child_process|module|vm|fs))[\w./@-]+['\"]\)(?:\.\w+)*"
    r"|process\.(?:version|versions|arch|platform)(?:\.\w+)*|[0-9 +*/-]+)\)?;?\s*"
)
_PERL = r"(?:s([/|#,!])(?:(?!\1)[^\\`@({]|\\.)*\1(?:(?!\1)[^\\`@$]|\\.|\$[0-9])*\1[gimsx]*;?\s*)+"
_INERT = {"python": _PYTHON, "node": _NODE, "perl": _PERL}
_LONGEST = 1_000

# A slash in brackets does not end a pattern, so brackets are read too.
_SED_PATTERN = r"/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]/]*\])*/[IM]?"
_SED_ADDRESS = regex(rf"(?:[0-9]+(?:~[0-9]+)?|\$|{_SED_PATTERN})(?:,(?:[0-9]+|\+[0-9]+|\$|{_SED_PATTERN}))?\s*!?\s*")
_SED_COMMAND = regex(
    r"s([^\w\s\\;{}\[])(?:(?!\1)[^\\\[]|\\.|\[\^?\]?(?:(?!\1)[^\]])*\])*?\1(?:(?!\1)[^\\]|\\.)*?\1[gpiIm0-9]*(?=\s*(?:[;}\n]|\Z))"
    r"|y([^\w\s\\;{}])(?:(?!\2)[^\\]|\\.)*?\2(?:(?!\2)[^\\]|\\.)*?\2(?=\s*(?:[;}\n]|\Z))"
    r"|[dDpPnNgGhHxzF=](?=\s*(?:[;}\n]|\Z))|[qQlL][0-9]*(?=\s*(?:[;}\n]|\Z))|[aicrbtT:][^\n;]*(?:\n|\Z)|[btT:][\w]*(?=[;\n}]|\Z)",
    re.DOTALL,
)
_SED_BETWEEN = regex(r"[\s;{}]*")


def is_inert_code(language: str, code: str) -> bool:
    """Return whether code has one of the few shapes that run nothing: an import, a version that is printed."""
    return language in _INERT and len(code) < _LONGEST and _shape(language).fullmatch(code) is not None


@cache
def _shape(language: str) -> re.Pattern[str]:
    """Return the expression for a language; it is compiled on first use, which takes long."""
    return re.compile(_INERT[language])


def is_inert_awk(program: str) -> bool:
    """Return whether an awk program runs no command: it has no system, no pipe, no getline and no extension."""
    return len(program) < _LONGEST and not re.search(r"system|getline|@|\|", program.replace("||", ""))


def is_inert_sed(script: str) -> bool:
    """Return whether a sed script has only commands that edit: no ``e``, no ``s///e``, no ``w``."""
    at = 0
    if len(script) > _LONGEST:
        return False
    while True:
        between = _SED_BETWEEN.match(script, at)
        at = between.end() if between else at
        if at >= len(script):
            return True
        address = _SED_ADDRESS.match(script, at)
        at = address.end() if address else at
        if script.startswith("{", at):
            continue
        command = _SED_COMMAND.match(script, at)
        if command is None:
            return False
        at = command.end()
