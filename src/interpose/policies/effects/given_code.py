"""Find the code that a command gives to an interpreter: after an option, in a here-document, as an argument."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from urllib.parse import unquote

from ...matching.shell import ShellCommand
from ...matching.shell.options import program_of
from ...matching.shell.words import ONE
from ...runtime.regex import regex

__all__ = ["code_of"]

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
    **dict.fromkeys(("emacs", "emacsclient"), ("lisp", "e")),
    "elixir": ("elixir", "e"),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), ("awk", "")),
}
_LONG_OPTIONS = frozenset({"--eval", "--print", "--exec", "--run", "--source", "--expression", "-eval"})
_VALUED = frozenset({"-W", "-X", "-I", "-r", "--require", "-L", "-d", "--import", "-S", "--loader", "-F", "-v", "-M"})


_LOADS = frozenset({"--import", "--loader", "--experimental-loader", "--preload"})
_MODULE = regex(r"-[bBdEiIOPqsSuvx]*m(\w*)")


def code_of(command: ShellCommand, texts: Iterable[str]) -> tuple[str, list[str]]:
    """Return the language of an interpreter and the code that it is given; texts are what it reads."""
    known = _INTERPRETERS.get(program_of(command.name.lower())) if command.name else None
    if known is None:
        return "", []
    language, letters = known
    words = list(command.parts[1:])
    if words[:1] == ["eval"] and command.name == "deno":
        return language, [word for word in words[1:] if not word.startswith("-")][:1]
    found, at = list[str](), 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "-":
        option, at = words[at], at + 1
        name, equals, value = option.partition("=")
        if language == "python" and (module := _MODULE.fullmatch(option)):
            given = [*([module[1]] if module[1] else []), *words[at:]]
            return language, _code_of_module(given) or (list(texts) if given[1:2] == ["-"] else [])
        if option == "--":
            break
        loaded = (value if equals else "".join(words[at : at + 1])) if name in _LOADS else ""
        if loaded.startswith("data:"):
            found.append(_data(loaded))
        if name in _LONG_OPTIONS:
            code = value if equals else "".join(words[at : at + 1])
            found.append(f"console.log({code})" if name == "--print" else code)
            at += not equals
            continue
        place = next((i for i, letter in enumerate(option[1:], 2) if letter in letters), 0)
        if place and not option.startswith("--"):
            rest = "" if language == "node" and set(option[place:]) <= set(letters) else option[place:]
            code = rest or "".join(words[at : at + 1])
            found.append(f"console.log({code})" if "p" in option[place - 1 :] and language == "node" else code)
            at += not rest
        else:
            at += option in _VALUED
    operand = "".join(words[at : at + 1])
    if language == "awk":
        return language, found or ([operand] if operand else [])
    reads_data = operand not in ("", "-") and any(one.text for one in command.redirections)
    return language, found if found or reads_data else list(texts)


def _data(url: str) -> str:
    """Return the text of a data URL."""
    head, _, text = url.partition(",")
    if not head.endswith(";base64"):
        return unquote(text)
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return ONE


def _code_of_module(words: list[str]) -> list[str]:
    """Return the code that modules of Python are given: statements to measure, commands of the debugger."""
    name, rest = "".join(words[:1]), words[1:]
    letters = {"timeit": "nrsu", "pdb": "c", "IPython": "c"}.get(name)
    if letters is None:
        return []
    found, at = list[str](), 0
    while at < len(rest) and rest[at][:1] == "-" and rest[at] not in ("-", "--"):
        option, equals, value = rest[at].partition("=")
        at += 1
        if option[:2] == "--" or option[1:2] in letters:
            text = value if equals else rest[at - 1][2:] if option[:2] != "--" else ""
            takes = not text and option not in ("--verbose", "--process", "--help")
            text = text or ("".join(rest[at : at + 1]) if takes else "")
            at += takes
            found += [text.lstrip("!")] if option in ("-s", "-c", "--setup", "--command") or option[:2] == "-c" else []
    return [*found, "\n".join(rest[at:])] if name == "timeit" else found
