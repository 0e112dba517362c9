"""Compile a matcher to a predicate on names.

A matcher is names and globs separated by ``|``, case-sensitive, or ``re:`` and a regular expression for the whole
name. Claude Code has other rules: see ``compile_claude_matcher``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

from ..errors import BadHook, Problem
from ..runtime.regex import regex

__all__ = ["RENAMED_TOOLS", "Predicate", "check_matcher", "compile_claude_matcher", "compile_matcher", "doubt_matcher",
           "is_glob", "linear"]  # fmt: skip

Predicate = Callable[[str], bool]

_LONGEST = 10_000


def compile_matcher(text: str | None) -> Predicate | None:
    """Return a predicate on names, or None where every name matches."""
    if text is None or text in ("", "*"):
        return None
    if len(text) > _LONGEST:
        raise BadHook(f"a matcher of {len(text)} characters", hint=f"at most {_LONGEST}")
    if text.startswith("re:"):
        return _compile_regex(text[3:])
    parts = [part.strip() for part in text.split("|")]
    parts = [part for part in parts if part]
    if not parts:
        raise BadHook(f"matcher {text!r} names nothing", hint='use "*" for everything')
    if "*" in parts:
        return None
    names = frozenset(part for part in parts if not is_glob(part))
    globs = [part for part in parts if is_glob(part)]
    if not globs:
        return names.__contains__
    # Patterns that are made from globs do not backtrack.
    fullmatch = re.compile("|".join(translate(part) for part in globs)).match
    return lambda name: name in names or fullmatch(name) is not None


_REGEX_MARKS = "^$()\\+"


def check_matcher(text: str | None) -> None:
    """Refuse a matcher of tools that is meant as a regular expression: as names and globs it never matches."""
    if text is None or text.startswith("re:"):
        return
    if mark := next((mark for mark in text if mark in _REGEX_MARKS), ""):
        what = f"has {mark} in it, which no tool's name has"
    elif any(part.strip().startswith("re:") for part in text.split("|")):
        what = "has re: in the middle"
    else:
        return
    raise BadHook(f"matcher: {text!r} {what}", hint=f"write a regular expression as {_as_regex(text)!r}")


def doubt_matcher(text: str, where: str = "") -> Problem | None:
    """Return what is doubtful about a matcher of tools; None if nothing is."""
    if text.startswith("re:") or ".*" not in text:
        return None
    return Problem(
        f"matcher {text!r} is names and globs, in which a dot is a dot",
        where=where,
        hint=f"write {text.replace('.*', '*')!r}, or {_as_regex(text)!r} for a regular expression",
    )


def _as_regex(text: str) -> str:
    parts = [part.strip().removeprefix("re:") for part in text.split("|")]
    return "re:" + "|".join(part.removeprefix("^").removesuffix("$") if "|" not in text else part for part in parts)


def is_glob(part: str) -> bool:
    """Return whether a name has wildcards."""
    return any(mark in part for mark in "*?[")


def _compile_regex(pattern: str) -> Predicate:
    """Compile a regular expression for the whole name."""
    try:
        return linear(pattern)
    except ValueError as error:
        raise BadHook(
            f"matcher re:{pattern!a} is not a regular expression: {error}",
            hint="RE2 syntax: no look-around, no back-references",
        ) from None


def linear(pattern: str, *, anywhere: bool = False) -> Predicate:
    """Compile with RE2, whose time is linear in the text for any pattern; raise ValueError for a bad pattern."""
    try:
        import re2
    except ImportError:
        raise BadHook("this matcher needs google-re2", hint="pip install google-re2") from None
    options = re2.Options()
    options.log_errors = False
    try:
        pattern.encode()
        compiled = re2.compile(pattern, options)
    except UnicodeEncodeError:
        raise ValueError("it has a lone surrogate in it") from None
    except re2.error as error:
        raise ValueError(_words(error)) from None
    found = compiled.search if anywhere else compiled.fullmatch
    return lambda text: found(_encodable(text)) is not None


def _words(error: Exception) -> str:
    said = error.args[0] if error.args else error
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


def _encodable(name: str) -> str:
    # RE2 works on UTF-8, which cannot encode a lone surrogate.
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")


RENAMED_TOOLS = {
    "Brief": "SendUserMessage",
    "KillBash": "TaskStop",
    "KillShell": "TaskStop",
    "ListMcpResources": "ListMcpResourcesTool",
    "ListPeers": "ListAgents",
    "ReadMcpResource": "ReadMcpResourceTool",
    "ReadMcpResourceDir": "ReadMcpResourceDirTool",
    "Task": "Agent",
}
"""Old names of tools of Claude Code; a matcher and a rule with the old name hold for the new one too."""
_EXACT = regex(r"[A-Za-z0-9_\- ,|]*")
_NARROW_EXACT = regex(r"[A-Za-z0-9_|]*")


def compile_claude_matcher(text: str | None, *, exact: bool = False) -> Predicate | None:
    """Compile a matcher as Claude Code does; None where every name matches.

    A text of letters, digits, ``_``, ``-``, blanks, ``,`` and ``|`` is a list of exact names; any other text is a
    regular expression that may match anywhere in the name. With ``exact`` the list is narrower, only letters, digits,
    ``_`` and ``|``, as at FileChanged and StopFailure.
    """
    if text is None or text in ("", "*"):
        return None
    if len(text) > _LONGEST:
        raise BadHook(f"a matcher of {len(text)} characters", hint=f"at most {_LONGEST}")
    if not (_NARROW_EXACT if exact else _EXACT).fullmatch(text):
        return _compile_claude_regex(text)
    names = {part.strip() for part in re.split(r"[|,]", text)} - {""}
    if not names:
        raise BadHook(f"matcher {text!r} names nothing", hint='use "*" for everything')
    names |= {RENAMED_TOOLS[name] for name in names if name in RENAMED_TOOLS}
    return frozenset(names).__contains__


def _compile_claude_regex(pattern: str) -> Predicate:
    try:
        found = linear(pattern, anywhere=True)
    except ValueError as error:
        raise BadHook(
            f"matcher {pattern!a} is not a regular expression: {error}",
            hint="RE2 syntax: no look-around, no back-references; list exact names as A|B",
        ) from None
    legacy: dict[str, list[str]] = {}
    for old, new in RENAMED_TOOLS.items():
        legacy.setdefault(new, []).append(old)
    return lambda name: found(name) or any(found(old) for old in legacy.get(name, ()))
