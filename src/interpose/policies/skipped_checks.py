"""Stop committing and pushing past the project's own hooks and signatures."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator

from ..matching.shell import ShellCommand
from .call import Call
from .effects import Effect, say
from .parameters import action, names
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_VARIABLES = (
    "HUSKY=0", "HUSKY_SKIP_HOOKS=*", "HUSKY_SKIP_INSTALL=*", "SKIP=*", "PRE_COMMIT_ALLOW_NO_CONFIG=*", "LEFTHOOK=0",
    "LEFTHOOK=false", "LEFTHOOK_EXCLUDE=*", "OVERCOMMIT_DISABLE=*", "SKIP_HOOKS=*", "SKIP_SIMPLE_GIT_HOOKS=*",
    "GIT_HOOKS_SKIP=*", "NO_VERIFY=*",
)  # fmt: skip
_RUNS_HOOKS = frozenset(["commit", "push", "merge", "rebase", "am", "cherry-pick", "revert", "pull"])
_SETTERS = frozenset(["export", "declare", "typeset", "env", "set", "setenv"])
_HOOKS = (
    "*/.git/hooks", "*/.git/hooks/*", "*/.husky", "*/.husky/*", "*/.githooks", "*/.githooks/*", "*/lefthook.yml",
    "*/.pre-commit-config.yaml",
)  # fmt: skip
_INSTEAD = "mend what the check finds, or ask the user"


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of("skip-checks"):
        if not _installs_hooks(effect, call):
            yield Objection(options["options"], say(effect, _INSTEAD), effect.grade)
    for effect in call.of("delete-files", "delete-files-for-good", "empty-files", "move-files", "not-executable"):
        if _is_hook(effect.target):
            what = effect._replace(kind="skip-checks", target=f"by changing {os.path.basename(effect.target)}")
            yield Objection(options["hookFiles"], say(what, _INSTEAD), effect.grade)
    yield from _judge_variables(call, options)


def _installs_hooks(effect: Effect, call: Call) -> bool:
    """Return whether a setting of core.hooksPath names a directory of hooks, by what is there or by its name."""
    _, setting, value = effect.target.partition("core.hooksPath=")
    if not setting or " -c " in f" {effect.command} ":
        return False
    folder = os.path.join(effect.directory or call.cwd, os.path.expanduser(value))
    if call.place_of(folder) != "inside":
        return False
    try:
        return any(not name.endswith(".sample") for name in os.listdir(folder))
    except OSError:
        return "hook" in value or "husky" in value


def _is_hook(path: str) -> bool:
    """Return whether a path is a hook of the project, or the directory of its hooks."""
    whole = os.path.normpath(path)
    return any(fnmatch.fnmatchcase(whole, one) for one in _HOOKS) and not whole.endswith(".sample")


def _judge_variables(call: Call, options: Options) -> Iterator[Objection]:
    for line in call.lines:
        committing = [command for command in line.commands if _runs_hooks(command)]
        if not committing:
            continue
        given = {pair for command in line.commands for pair in _assigned(command)}
        for name, value in sorted(given):
            if any(
                fnmatch.fnmatchcase(f"{name}={value}", one if "=" in one else f"{one}=*")
                for one in options["variables"]
            ):
                what = Effect("skip-checks", f"by {name}={value}", " ".join(committing[0].parts))
                yield Objection(options["options"], say(what, _INSTEAD), committing[0].grade)


def _runs_hooks(command: ShellCommand) -> bool:
    name = command.name.lower()
    return (name == "git" and bool(_RUNS_HOOKS & set(command.parts))) or name in {f"git-{sub}" for sub in _RUNS_HOOKS}


def _assigned(command: ShellCommand) -> Iterator[tuple[str, str]]:
    """Yield the variables that a command is given, or sets."""
    yield from command.assigned
    if command.name in _SETTERS:
        for word in command.parts[1:]:
            name, equals, value = word.partition("=")
            if equals and name.isidentifier():
                yield name, value


POLICY = Policy(
    name="skipped-checks",
    prevents="Committing or pushing past the project's own hooks and signatures.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("options", "ask", "--no-verify, --no-gpg-sign, core.hooksPath and variables that switch hooks off"),
        action("hookFiles", "ask", "deleting hooks, or making them not executable"),
        names(
            "variables", _VARIABLES, "variables that switch hooks off while git commits or pushes",
            "a list of NAME or NAME=VALUE; * stands for any text",
        ),
    ),
    recommended={},
    notes="Setting core.hooksPath to a directory of the project that holds hooks passes: it switches them on.",
)  # fmt: skip
