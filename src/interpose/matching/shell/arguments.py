"""The arguments of known programs: options and values that name commands, files that are written or loaded."""

from __future__ import annotations

from collections.abc import Sequence

from ...runtime.regex import regex
from .. import programs
from .context import INPUT_RUN, INPUT_SUSPECT, Context
from .line import Suspect
from .resolver import Resolver
from .texts import is_plain
from .words import MANY, is_known

__all__ = ["CONNECTS", "look_into", "run_named", "run_options", "run_values"]

CONNECTS = frozenset(["nc", "ncat", "netcat", "telnet", "socat"])
"""Programs that connect what they read with a host, or with a command that an option names."""

_SHORTEST = 4  # a long option is not shortened further
_STANDARD_INPUT = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_TRANSPORTS = frozenset(["ssh", "rsh", "gzip", "pigz", "zstd", "xz", "bzip2", "lz4", "less"])
_CLUSTERED = frozenset(["rsync", "tar", "man", "nc", "ncat", "netcat", "git rebase", "git difftool"])
_CLUSTER = regex(r"-[a-zA-Z0-9]*([a-zA-Z0-9])")


def look_into(line: Resolver, name: str, arguments: Sequence[str], context: Context, *, texts: bool = True) -> int:
    """Look at the options whose value is a command, and unless they are only stored, at texts."""
    if texts:
        line.found.suspect_texts(name, arguments)
    run_options(line, name, arguments, context)
    line.files.write_operands(name, arguments)
    if name in programs.BUILD_TOOLS:
        line.files.loads.append(name)
        given = zip(["", *arguments], arguments, strict=False)
        line.files.ran += [(name, word) for before, word in given if before not in ("-o", "--output")]
    line.files.judge_found_by_name(name)
    if name in ("make", "gmake", "cmake") and context.raw.substituted:
        at = next((at for at, word in enumerate(arguments) if word in ("-f", "--file", "-P")), None)
        if at is not None and not is_known("".join(arguments[at + 1 : at + 2])):
            line.found.cannot_read(f"{name} runs a file that is computed")
    reads = name in ("make", "gmake") and any(one in ("-f-", "-") for one in arguments)
    reads |= name in programs.BUILD_TOOLS and any(one in _STANDARD_INPUT for one in arguments)
    if name in CONNECTS and not set(arguments) & programs.RUN_OPTIONS.get(name, frozenset()):
        return INPUT_SUSPECT
    return INPUT_RUN if reads or name in programs.READS_COMMANDS else INPUT_SUSPECT


def run_values(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> None:
    """Read the commands in values such as ``ProxyCommand=…`` and ``EXEC:…``."""
    for key in programs.COMMANDS_IN_VALUES[name]:
        for word in arguments:
            at = word.lower().find(key.lower())
            text = word[at + len(key) :] if at >= 0 else ""
            if text[:1] in ("=", " ", "\t") or (text and key.endswith(":")):
                text = text.lstrip("= \t")
                text = text.partition(",")[0] if key.endswith(":") else text
                line.found.suspects.append(Suspect(f"{name} {key}", text=text, runs=True))
                if key.endswith(":"):
                    line.run_text(text.strip("\"'"), context, f"{name} {key}", "an option names it")
                elif text != "none":
                    run_named(line, text.strip("\"'"), f"{name} {key}", context)


def run_named(line: Resolver, text: str, program: str, context: Context) -> None:
    """Read a command that an option or a setting names; the program may add words to it."""
    words = text.split()
    if words and not (is_plain(text) and words[0] in _TRANSPORTS and "ommand" not in text):
        more = is_plain(text) and not program.endswith("-filter")
        line.run_text(text, context, program, "an option names it", more=more)


def run_options(line: Resolver, name: str, arguments: Sequence[str], context: Context) -> None:
    """Read the values of the options that name commands; a long option may be shortened."""
    runs = programs.RUN_OPTIONS.get(name) or programs.REST_OPTIONS.get(name) or frozenset()
    for at, word in enumerate(arguments if runs else ()):
        option, equals, value = word.partition("=")
        if option[:2] == "--" and len(option) > _SHORTEST and option not in runs:
            option = next((one for one in sorted(runs) if one.startswith(option)), option)
        if option in runs:
            value = value if equals else "".join(arguments[at + 1 : at + 2])
        elif word[:2] in runs and len(word) > 2 and not word.startswith("--"):
            value = word[2:]
        elif name in _CLUSTERED and (cluster := _CLUSTER.fullmatch(word)) and f"-{cluster[1]}" in runs:
            option, value = f"-{cluster[1]}", "".join(arguments[at + 1 : at + 2])
        else:
            continue
        if option in programs.REST_OPTIONS.get(name, ()):
            if arguments[at + 1 :]:
                line.resolve(arguments[at + 1 :], context.inside(f"{name} {option}"))
            return
        value = value.replace(",", " ") if option == "-wrapper" else value
        if not is_known(value) and (line.variables.are_chosen or MANY in value):
            line.found.cannot_read(f"{name} {option} runs a text that is computed")
        elif option in programs.COMMAND_OPTIONS.get(name, ()) or word[:2] in programs.COMMAND_OPTIONS.get(name, ()):
            run_named(line, value, f"{name} {option}", context)
        line.found.suspects.append(Suspect(f"{name} {option}", text=value.replace(",", " "), runs=True))
        if "=" in value:
            line.found.suspects.append(Suspect(f"{name} {option}", text=value.rpartition("=")[2], runs=True))
