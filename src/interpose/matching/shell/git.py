"""git: the settings and aliases on its command line that name commands, and the subcommands that run some."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import partial

from ..programs import GIT_TEXT_SUBCOMMANDS
from .arguments import look_into, run_named, run_options
from .context import INPUT_SUSPECT, Context
from .flow import is_from_outside
from .line import Suspect
from .options import operands_of
from .resolver import Resolver
from .texts import is_text
from .words import is_known

__all__ = ["read_git"]

# These are compiled on first use, which takes long.
_BENIGN_KEYS = (
    r"(?i)(?:user|color|http|https|init|advice|commit|pull|push|fetch|safe|log|status|rebase|branch|tag|lfs|gc|pack|i18n|column"
    r"|remote|submodule|url)\.|core\.(?:autocrlf|longpaths|quotepath|filemode|symlinks|bare|ignorecase|eol|compression|precomposeunicode)\b"
    r"|merge\.(?:ff|conflictstyle)|diff\.(?:renames|algorithm|color)|credential\.usehttppath|protocol\.version"
)
_COMMAND_KEYS = (
    r"(?i)core\.(?:pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand)|sequence\.editor|gpg\.(?:\w+\.)?program"
    r"|diff\.external|diff\..*\.(?:command|textconv)|(?:diff|merge)tool\..*\.(?:cmd|path)|merge\..*\.driver|pager\..*"
    r"|.*\.(?:cmd|command|program)|interactive\.difffilter|credential\.(?:.*\.)?helper|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack)"
)


def read_git(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> int:
    """Look at the settings on the line, which may name commands, and at subcommands that run commands."""
    at, _ = operands_of(name, arguments)
    words = arguments[at:]
    for place, word in enumerate(arguments[:at]):
        if word.startswith("-c") and not word.startswith("--"):
            key, _, value = (word[2:] or "".join(arguments[place + 1 : place + 2])).partition("=")
            _read_setting(line, key, value, context, words)
        elif word.startswith(("--exec-path=", "--config-env")):
            line.found.cannot_read("git is told to run other programs", "variable")
    if words[:1] == ["config"]:
        keys = [place for place, word in enumerate(words) if "." in word and not word.startswith("-")]
        if keys:
            values = words[keys[0] + 1 :]
            _read_setting(
                line, words[keys[0]], values[0] if len(values) == 1 else " ".join(values), context, is_stored=True
            )
    if words[:2] == ["submodule", "foreach"]:
        rest = [word for word in words[2:] if word not in ("--recursive", "-q", "--quiet")]
        return line.run_text(" ".join(rest), context, "git submodule foreach") if rest else INPUT_SUSPECT
    if words[:2] == ["bisect", "run"] and words[2:]:
        return line.resolve(words[2:], context.inside("git bisect run"))
    if any(word.startswith("ext::") for word in words):
        line.found.cannot_read("git runs the command in ext::")
    for place, word in enumerate(words):
        if word in ("-c", "--config") and words[0] in ("clone", "init", "submodule"):
            _read_setting(line, *"".join(words[place + 1 : place + 2]).partition("=")[::2], context)
    run_options(line, " ".join(["git", *words[:1]]), words[1:], context)
    return look_into(line, name, words, context, texts="".join(words[:1]) not in GIT_TEXT_SUBCOMMANDS)


def _read_setting(
    line: Resolver, key: str, value: str, context: Context, words: Sequence[str] = (), *, is_stored: bool = False
) -> None:
    """Look at a setting; ``words`` are those after the options of git, to which it applies."""
    if not is_known(key):
        line.found.cannot_read("a setting of git is computed")
    elif key.lower().startswith("alias."):
        _read_alias(line, key, value, context, words)
    elif value and (value.startswith("!") or re.fullmatch(_COMMAND_KEYS, key) or not re.match(_BENIGN_KEYS, key)):
        line.found.suspects.append(Suspect("git -c", text=value.lstrip("!"), runs=True))
        if key.lower().startswith(("core.hookspath", "core.fsmonitor", "include", "filter.")):
            is_there = key.lower() == "core.hookspath" and is_stored and is_known(value) and not line.files.written
            line.found.cannot_read(f"{key} makes git run files", "file" if is_there else "variable")
        elif is_known(value) and (value.startswith("!") or re.fullmatch(_COMMAND_KEYS, key)):
            run_named(line, value.lstrip("!"), f"git {key}", context)
        if not is_known(value) and (
            re.fullmatch(_COMMAND_KEYS, key) or not is_from_outside(value, context.state, context.parsed)
        ):
            line.found.cannot_read("a setting of git is computed")


def _read_alias(line: Resolver, key: str, value: str, context: Context, words: Sequence[str]) -> None:
    """Read what an alias stands for: with the words after it, or if it is only set, as suspect."""
    text = value[1:] if value.startswith("!") else f"git {value}"
    read = partial(line.run_text, text, context, "git alias", "an alias of git stands for it", more=True)
    if not is_known(value):
        line.found.cannot_read("an alias of git is computed")
    elif words and words[0] == key[len("alias.") :] and value:
        if all(map(is_known, words)):
            text = " ".join([text, *map(shlex.quote, words[1:])])
            line.run_text(text, context, "git alias", "an alias of git stands for it")
        else:
            read()
    elif value and not words and not _names_word(key[len("alias.") :], context):
        line.found.suspect("an alias of git", read)
    elif value:
        read()


def _names_word(name: str, context: Context) -> bool:
    """Return whether another command of the text may use an alias of git."""
    words = [word for raw in context.parsed.commands if "config" not in raw.words for word in raw.words]
    return any(word == name or not is_known(word) or (is_text(word) and name in word) for word in words)
