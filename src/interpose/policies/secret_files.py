"""Ask about or deny showing, copying and packing env files, keys and credential stores."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from ..errors import BadHook
from ..matching.paths import PathPattern, readings_of
from ..matching.shell.words import is_known
from ..matching.tool_inputs import TooMuch, kind_of_key, limited_values
from .call import Call
from .effects import Effect, say
from .effects.secret_names import SecretKind, is_beside_keys, secret_kind
from .parameters import Parameter, action, names
from .policy import Objection, Options, Policy
from .secret_folders import secret_in

__all__ = ["POLICY"]

_KINDS: tuple[SecretKind, ...] = ("keys", "stores", "env", "settings")
_INSTEAD: dict[str, str] = {
    "env": "an example file such as .env.example shows the names; programs can use the file itself",
    "keys": "let a program use the key, as ssh -i does",
    "stores": "let a program use the credentials",
    "settings": "it may hold tokens",
    "public": "it tells which machines and accounts there are",
}
_READS = frozenset({"read-files", "move-files"})
_WRITES = frozenset({"write-files", "empty-files", "delete-files", "delete-files-for-good"})

_WRITERS = ("write", "edit", "create", "patch", "delete", "remove", "move", "rename", "insert", "replace", "mkdir")
_LISTERS = frozenset({"glob", "ls", "list_directory", "listdirectory", "listfiles", "list_files"})
_LONGEST = 4_096
_GLOB_KEYS = ("glob", "include", "includes", "file_pattern", "include_pattern")


@lru_cache(maxsize=16)
def _patterns(paths: tuple[str, ...]) -> tuple[PathPattern, ...]:
    return tuple(map(PathPattern, paths))


def _paths_of(value: Any) -> tuple[str, ...]:
    given: tuple[str, ...] = names("names", (), "").read(value)
    try:
        _patterns(given)
    except ValueError as error:
        raise BadHook(f"a path cannot be read: {error}") from None
    return given


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    own = _patterns(options["names"])
    for effect in call.effects:
        is_tool = effect.program == call.tool and not call.lines
        if effect.kind in ("read-secret", "print-key"):
            shown = "commands" if effect.kind == "read-secret" else "keys"
            what = options["use" if effect.command in call.consumed or _is_value(effect, call) else shown]
            yield Objection(what, say(effect, "let a program use it in place of printing it"), effect.grade)
        elif effect.kind == "read-decoded":
            yield Objection(options["env"], say(effect, "write the name of the file as it is"), effect.grade)
        elif effect.kind in _READS or effect.kind == "give-secret-file":
            held = None if is_tool else _kind(effect.target, call, options, own)
            if held is not None:
                is_use = (
                    effect.command in call.consumed or effect.program in ("source", ".") or _is_bundled(effect, call)
                )
                is_script = held == "env" and "script" in effect.values
                chosen = "use" if is_use else "scripts" if is_script else held
                yield Objection(options[chosen], say(effect, _INSTEAD[held]), effect.grade)
        elif effect.kind in _WRITES and (not is_tool or _is_writer(call.tool)):
            held = _kind(effect.target, call, options, own)
            if held == "env":
                yield Objection(options["writeEnv"], say(effect), effect.grade)
            elif held in ("keys", "stores") and (is_tool or _is_of_person(held, effect.target, call)):
                yield Objection(options["write"], say(effect), effect.grade)
        elif effect.kind == "use-secret-file":
            yield Objection(options["use"], say(effect), effect.grade)
    yield from _added(call, options)
    yield from _of_input(call, options, own)


def _added(call: Call, options: Options) -> Iterator[Objection]:
    """Yield objections to adding a folder with its ignored files to a commit, if a secret file is in it."""
    for line in call.lines:
        for command in line.commands:
            words = command.parts[1:]
            is_forced = any(
                word == "--force" or (word[:1] == "-" and word[:2] != "--" and "f" in word) for word in words
            )
            if command.name != "git" or words[:1] not in (("add",), ("stage",)) or not is_forced:
                continue
            places = [place for place in command.directories if is_known(place)] or [""]
            paths = [word for word in words[1:] if word[:1] != "-" and is_known(word)]
            if not paths and {"-A", "--all", "-Af", "-fA"} & set(words):
                paths = ["."]
            for path in paths:
                folder = os.path.join(call.cwd, os.path.expanduser(places[0]), path)
                held = secret_in(folder, call) if os.path.isdir(folder) else None
                if held:
                    reason = say(Effect("read-files", held, " ".join(command.parts)), "leave out -f")
                    yield Objection(options[secret_kind(held, call.home) or "env"], reason, command.grade)


def _is_bundled(effect: Effect, call: Call) -> bool:
    """Return whether a key of the project is added to certificates of the project: ``cat a.key >> a.pem``."""
    if effect.program != "cat":
        return False
    found = [command for _, command in call.commands_of(effect)]
    targets = [one.target for command in found for one in command.redirections if one.is_output]
    return (
        len(targets) == len(found) > 0
        and all(target.endswith(_BUNDLES) and call.place_of(target) == "inside" for target in targets)
        and call.place_of(effect.target) == "inside"
        and len(call.lines) == 1
        and len(call.lines[0].commands) <= _MOST_BUNDLED
        and not any(one.name == "cat" and not one.redirections for one in call.lines[0].commands)
    )


_MOST_BUNDLED = 20
_BUNDLES = (".pem", ".crt", ".cer", ".chain", ".bundle")


def _is_value(effect: Effect, call: Call) -> bool:
    """Return whether a command is only the value of a variable, such as RCLONE_PASSWORD_COMMAND: a program runs it."""
    found = [command for _, command in call.commands_of(effect)]
    return bool(found) and all(command.via[-1:] and command.via[-1].endswith("=") for command in found)


def _is_of_person(held: str, path: str, call: Call) -> bool:
    """Return whether a key is of a person or of the machine's logins, not of the project or of a service."""
    if call.place_of(path) == "inside" or held == "stores":
        return held == "stores" and call.place_of(path) != "inside"
    parts = path.split("/")
    is_hidden = any(part.startswith(".") and part.strip(".") for part in parts[:-1])
    return is_hidden or path.startswith(("~", call.home + "/", "/root/", "/home/", "/Users/", "/etc/ssh/", "/etc/ssl/"))


def _kind(path: str, call: Call, options: Options, own: tuple[PathPattern, ...]) -> str | None:
    """Return which secrets a file holds by one of its names."""
    if not path or ("://" in path and not path.lower().startswith("file:")):
        return None
    base = path.rstrip("/").rpartition("/")[2].casefold()
    if any(fnmatchcase(base, glob.casefold()) for glob in options["examples"]):
        return None
    spellings = [path]
    if is_known(path):
        spellings = [name for reading in readings_of(path) for name in call.names_of(reading)]
    found = {secret_kind(name, call.home) for name in spellings}
    for kind in _KINDS:
        if kind in found:
            return kind
    if is_known(path) and any(pattern.grade(path, call.cwd) for pattern in own):
        return "stores"
    return "public" if any(is_beside_keys(name, call.home) for name in spellings) else None


def _of_input(call: Call, options: Options, own: tuple[PathPattern, ...]) -> Iterator[Objection]:
    """Yield objections to a tool that reads files, and to one of which it is unknown what it does with them."""
    if _is_writer(call.tool) or call.tool.lower() in _LISTERS:
        return
    for path in _paths(call.input, call.home):
        held = _kind(path, call, options, own)
        if held is not None:
            reason = say(Effect("read-files", path, call.tool), _INSTEAD[held])
            yield Objection(options[held], reason)
    for key in _GLOB_KEYS:
        globs = call.input.get(key)
        for glob in (globs if isinstance(globs, (list, tuple)) else [globs]) if call.tool.lower() != "glob" else ():
            if isinstance(glob, str) and not glob.startswith("!"):
                held = _kind("/" + glob.replace("*", "\1").replace("?", "\1"), call, options, own)
                if held is not None:
                    yield Objection(options[held], say(Effect("read-files", glob, call.tool), _INSTEAD[held]))


def _paths(given: Any, home: str) -> Iterator[str]:
    """Yield the paths in an input; under a key that says nothing, those that lead into a store of keys."""
    try:
        for key, value, _ in limited_values(given):
            if not isinstance(value, str) or not value:
                continue
            what = kind_of_key(key)
            is_path = what == "path" or (what == "url" and value.lower().startswith("file:"))
            if is_path or (what is None and _leads_to_store(value, home)):
                yield value
    except TooMuch:
        return


def _leads_to_store(value: str, home: str) -> bool:
    """Return whether a value is an absolute path of a key or of credentials."""
    if len(value) > _LONGEST or "\n" in value or not value.startswith(("/", "~", "$HOME", "${HOME}", "file:")):
        return False
    return any(secret_kind(reading, home) in ("keys", "stores") for reading in readings_of(value))


def _is_writer(tool: str) -> bool:
    plain = tool.rpartition("__")[2].lower()
    return any(word in plain for word in _WRITERS)


POLICY = Policy(
    name="secret-files",
    prevents="Showing, copying or packing env files, keys and credential stores; programs may use them.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("env", "ask", "showing env files, and files of a project that often hold secrets"),
        action("keys", "deny", "showing private keys"),
        action("stores", "deny", "showing credentials of a person or a machine"),
        action("settings", "ask", "showing settings of coding agents, which may hold tokens"),
        action("public", "ask", "showing what lies beside keys: settings of ssh, known hosts, public keys"),
        action("commands", "ask", "commands that print a secret, such as gh auth token"),
        action("use", "allow", "programs that work with a secret file, and secrets that the same line takes"),
        action("scripts", "ask", "scripts that are given an env file: python3 deploy.py .env"),
        action("write", "ask", "writing and deleting keys and credentials of a person or a machine"),
        action("writeEnv", "ask", "writing, emptying and deleting env files"),
        Parameter("names", _paths_of, (), "further files that hold secrets", "a list of paths as in Read(…)"),
        names(
            "examples",
            (),
            "names of files that hold no secrets, beside *.example, *.sample, *.template, *.dist and the like",
        ),
    ),
    recommended={"settings": "allow", "public": "allow", "commands": "allow", "writeEnv": "allow", "scripts": "allow"},
    notes=(
        "A search in a directory that contains a secret file passes unless it is aimed at the file; a pattern for "
        "hidden files (.*), and a list of hidden files that another command shows, are asked about. A file is known by "
        "its name, its place and the links that lead to it; a copy under another name is seen in the line that makes "
        "it."
    ),
)
