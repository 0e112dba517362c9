"""Which commands of a line have an output that the line itself consumes, so that nothing of it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from ...matching.shell import Line, ShellCommand
from ...matching.shell.options import program_of
from ...matching.shell.parsed import ParsedLine
from ...matching.shell.reader import parse
from ...matching.shell.words import RawCommand, Unsure, base_name, written_of

__all__ = ["PRINTERS", "consumed_commands"]

PRINTERS = frozenset({"echo", "printf", "print", "cat", "tee", "say", "wall", "write", "notify-send"})
"""Programs that print their words or what they read."""

_TAKERS = frozenset({
    "age", "aws", "az", "b2sum", "bw", "chpasswd", "cksum", "cosign", "cmp", "crane", "docker", "doctl", "eas", "fly",
    "flyctl", "gcloud", "gh", "glab", "gpg", "gpg2", "helm", "heroku", "htpasswd", "kubectl", "kubeseal", "md5",
    "md5sum", "mysql", "nerdctl", "netlify", "npm", "oc", "op", "oras", "passwd", "podman", "psql", "read",
    "redis-cli", "regctl", "sha1sum", "sha256sum", "sha512sum", "shasum", "skopeo", "sops", "ssh-add", "supabase",
    "vault", "vercel", "wc", "wrangler", "smbpasswd", "restic", "cryptsetup", "buildah", "fastlane", "twine", "cargo",
    "cf", "ibmcloud", "rclone",
})  # fmt: skip
"""Programs that take what they read and do not print it."""

_RUNNERS = frozenset({
    "bash", "dash", "eval", "ksh", "node", "perl", "php", "python", "python3", "ruby", "sh", "source", "ssh", "xargs",
    "zsh",
})  # fmt: skip
_SILENT = frozenset({"export", "declare", "local", "typeset", "readonly", "test", "[", "[["})


@lru_cache(maxsize=64)
def consumed_commands(line: Line) -> frozenset[str]:
    """Return the texts of the commands whose output is consumed wherever they stand in the line."""
    try:
        parsed = parse(line.text)
    except Unsure:
        return frozenset()
    consumed = _consumed_places(parsed, line.text)
    if not consumed:
        return frozenset()
    shown = {_text(command) for command in line.commands if command.place not in consumed}
    return frozenset(
        text for command in line.commands if command.place in consumed and (text := _text(command)) not in shown
    )


def _text(command: ShellCommand) -> str:
    return " ".join(map(written_of, command.parts))


def _consumed_places(parsed: ParsedLine, text: str) -> set[int]:
    raws: dict[int, RawCommand] = {raw.place: raw for raw in parsed.commands}
    consumed: set[int] = set()
    # A number in front of a redirection says that it is not the output that is redirected.
    is_numbered = any(mark == ">" and before.isdigit() for before, mark in pairwise(text))
    for raw in parsed.commands:
        if raw.substituted and _hides(raw):
            for first, last in raw.substituted:
                consumed.update(range(first, last))
        if not is_numbered and raw.words and _program(raw.words) in ("echo", "printf") and _goes_to_file(raw):
            consumed.add(raw.place)
    for first, middle, last in parsed.pipes:
        readers = [raws[place] for place in range(middle, last) if place in raws]
        if readers and all(_takes(raw.words) for raw in readers):
            consumed.update(range(first, middle))
    return consumed


def _goes_to_file(raw: RawCommand) -> bool:
    """Return whether the output goes to a file, in a line without numbered descriptors."""
    targets = [one.target for one in raw.redirections if one.is_output and one.operator in (">", ">>", ">|")]
    return bool(targets) and not any(target.startswith("/dev/") for target in targets)


def _hides(raw: RawCommand) -> bool:
    """Return whether a command shows nothing of what stands for its substitutions."""
    if not raw.words:
        return bool(raw.assigned)
    program = _program(raw.words)
    return program in _SILENT or (program != "" and program not in PRINTERS and program not in _RUNNERS)


def _takes(words: Iterable[str]) -> bool:
    """Return whether a command takes what it reads and prints nothing of it."""
    given = list(words)
    return _program(given) in _TAKERS or "--password-stdin" in given or _is_quiet(given) or _cuts_names(given)


def _cuts_names(words: list[str]) -> bool:
    """Return whether a command shows only the names of variables: ``cut -d= -f1``."""
    return _program(words[:1]) == "cut" and "".join(words[1:]) in ("-d=-f1", "-f1-d=")


def _is_quiet(words: Iterable[str]) -> bool:
    given = list(words)
    if _program(given) not in ("grep", "egrep", "rg"):
        return False
    return any(word in ("-q", "-c", "-qF", "-qE", "-Fq") for word in given[1:]) or _picks_plain(given)


# Variables that hold no secret; what follows such a word in a name is taken for harmless too.
_PLAIN = frozenset({
    "ANDROID_HOME", "AWS_PROFILE", "AWS_REGION", "BASH", "CI", "COLORTERM", "CONDA", "CUDA", "CUDA_VISIBLE_DEVICES",
    "DEBUG", "DISPLAY", "DJANGO_SETTINGS_MODULE", "EDITOR", "FLASK_ENV", "GO", "GOPATH", "GOROOT", "HOME", "HOSTNAME",
    "JAVA", "JAVA_HOME", "LANG", "LC_", "LC_ALL", "LOGNAME", "NODE", "NODE_ENV", "NODE_OPTIONS", "NVM", "PATH", "PORT",
    "PWD", "PYENV", "PYTHON", "PYTHONPATH", "RAILS_ENV", "RUST", "SHELL", "SHLVL", "TERM", "TMPDIR", "TZ", "USER",
    "VIRTUAL", "VIRTUAL_ENV", "WAYLAND", "XDG",
})  # fmt: skip


def _picks_plain(words: list[str]) -> bool:
    """Return whether grep picks only lines of variables that hold no secret."""
    options = [word for word in words[1:] if word.startswith("-")]
    operands = [word for word in words[1:] if not word.startswith("-")]
    if len(operands) != 1 or any(set(option[1:]) - set("iEnwF") for option in options):
        return False
    return all(part.strip("^=()").upper() in _PLAIN for part in operands[0].replace("\\|", "|").split("|"))


def _program(words: Iterable[str]) -> str:
    given = [
        word for word in words if "=" not in word and word not in ("sudo", "command", "env", "time", "exec", "builtin")
    ]
    return program_of(base_name(given[0]).lower()) if given else ""
