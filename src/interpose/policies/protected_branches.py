"""Stop pushing to, rewriting, deleting and moving protected branches, and on demand work on them."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator

from ..matching.shell.words import MANY, ONE
from .call import SETTERS, Call
from .effects import Effect, say
from .parameters import action, names
from .policy import Objection, Options, Policy
from .repository import Repository, find_repository

__all__ = ["POLICY"]

_PARAMETERS = {
    "push": "push",
    "rewrite-remote": "force",
    "rewrite-remote-checked": "force",
    "delete-remote-ref": "delete",
    "change-branch": "delete",
    "unprotect-branch": "delete",
    "commit-here": "work",
}
_MOST_SWITCHES = 20
"""How many changes of the branch in a line are followed; after more it may be any."""
_PLATFORMS = ("dokku", "gigalixir", "heroku", "piku", "scalingo")
"""Names that platforms give to the remote to which a program is pushed to run."""
_INSTEAD = {
    "push": "push a branch and open a pull request",
    "rewrite-remote": "push a branch and open a pull request",
    "rewrite-remote-checked": "push a branch and open a pull request",
    "commit-here": "git switch -c NAME starts a branch",
}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        verdict = options[_PARAMETERS[effect.kind]]
        if verdict == "allow":
            continue
        branch = _protected(effect, call, options["branches"])
        if branch and effect.kind == "push" and _is_from_outside(effect, call):
            verdict = options["unknownRefs"]
        if branch:
            reason = say(effect._replace(target=branch), _INSTEAD.get(effect.kind, ""))
            if effect.kind == "commit-here":
                reason = f"{reason}: it is the protected branch {branch}"
            yield Objection(verdict, reason, effect.grade)


def _protected(effect: Effect, call: Call, patterns: tuple[str, ...]) -> str:
    """Return the protected branch that an effect is on; empty if there is none."""
    if effect.kind == "push" and _deploys(effect, call):
        return ""
    for branch in _branches(effect, call):
        if effect.kind == "change-branch" and branch in effect.values:
            continue  # ``git branch -M main`` on main
        if branch == "*":
            return patterns[0] if patterns else ""
        # The pattern on the remote's side of a refspec names many branches.
        if any(fnmatch.fnmatchcase(branch, one) for one in patterns) or (
            "*" in branch and any(fnmatch.fnmatchcase(one, branch) for one in patterns)
        ):
            return branch
    return ""


def _branches(effect: Effect, call: Call) -> Iterator[str]:
    target = effect.target.removeprefix("refs/heads/").removeprefix("heads/")
    if effect.kind == "commit-here" or target == "HEAD":
        yield from _with_settings(_current(effect, call), effect, call)
    elif not target and effect.kind != "change-branch":
        # ``git push main``: the word is a remote, and was most likely meant as the branch.
        yield from (value.removeprefix("alone=") for value in effect.values if value.startswith("alone="))
        yield from _pushed_by_default(effect, call)
    elif ONE in target and _is_computed(effect, call):
        yield "*"
    elif target in (ONE, MANY) and "if merged" not in effect.values and not _is_tag(effect, call):
        yield from _current(effect, call)  # git push origin "$branch"
    elif target and ONE not in target and MANY not in target:
        yield from _with_settings(iter((target,)), effect, call)


def _with_settings(branches: Iterator[str], effect: Effect, call: Call) -> Iterator[str]:
    """Yield branches, and where the repository's files say that they go: links, and the refspecs of the remote."""
    repository = _repository(effect, call)
    given = _given(effect)
    for branch in branches:
        yield branch
        if repository is None or effect.kind == "change-branch":
            continue
        yield repository.resolve(branch)
        if "source" in given:  # a refspec without a target
            yield from _mapped(branch, repository, given)


def _given(effect: Effect) -> dict[str, str]:
    """Return the settings that a command has for itself, the remote, and a refspec without a target as ``source``."""
    given = dict(value.split("=", 1) for value in effect.values if "=" in value)
    return {key.lower(): value for key, value in given.items()}


def _mapped(branch: str, repository: Repository, given: dict[str, str]) -> Iterator[str]:
    """Yield where a branch that is pushed without a target goes."""
    remote = given.get("remote") or _remote(branch, repository)
    for refspec in repository.settings.get(f"remote.{remote}.push", ()):
        source, _, target = refspec.removeprefix("+").partition(":")
        name = source.removeprefix("refs/heads/")
        if target and (fnmatch.fnmatchcase(branch, name) or name == "HEAD"):
            yield target.removeprefix("refs/heads/")
    if (given.get("push.default") or repository.setting("push.default")) in ("upstream", "tracking"):
        yield repository.setting(f"branch.{branch}.merge").removeprefix("refs/heads/")


def _remote(branch: str, repository: Repository) -> str:
    names = (f"branch.{branch}.pushremote", "remote.pushdefault", f"branch.{branch}.remote")
    return next(filter(None, map(repository.setting, names)), "origin")


def _is_tag(effect: Effect, call: Call) -> bool:
    """Return whether the variables of a command are tags by their names: ``$RELEASE_TAG``."""
    names = [name for _, command in call.commands_of(effect) for name in command.variables]
    return bool(names) and all({"tag", "version"} & set(name.lower().split("_")) for name in names)


def _deploys(effect: Effect, call: Call) -> bool:
    """Return whether a remote is that of a platform, which runs what is pushed to any of its branches."""
    name = next((value.removeprefix("remote=") for value in effect.values if value.startswith("remote=")), "")
    if name not in _PLATFORMS or any(True for _ in call.of("change-remote", "persist-command")):
        return False
    repository = _repository(effect, call)
    url = repository.setting(f"remote.{name}.url") if repository is not None else ""
    return not url or name in url


def _is_computed(effect: Effect, call: Call) -> bool:
    """Return whether the line computes the branch in another way than by asking git for it."""
    return any(
        first <= one.place < last and one.name != "git"
        for line, command in call.commands_of(effect)
        for first, last in command.substituted
        for one in line.commands
    )


def _is_from_outside(effect: Effect, call: Call) -> bool:
    """Return whether what is pushed is named by a variable that the line does not set."""
    found = list(call.commands_of(effect))
    return (
        effect.target == ONE
        and bool(found)
        and all(
            line.is_simple
            and command.variables
            and not command.substituted
            and not set(command.variables) & dict(command.assigned).keys()
            and not any(one.name in SETTERS for one in line.commands)
            for line, command in found
        )
    )


def _current(effect: Effect, call: Call) -> Iterator[str]:
    """Yield the branches that may be the current one: those that the line switches to, and that of the repository."""
    repository = _repository(effect, call)
    place = os.path.normpath(os.path.join(call.cwd, effect.directory or ""))
    switches = []
    for one in call.of("switch-branch", effect.kind):
        if one is effect:
            break
        if one.kind == "switch-branch":
            switches.append(one)
    if len(switches) > _MOST_SWITCHES:
        yield "*"
    for one in reversed(switches[-_MOST_SWITCHES:]):
        there = os.path.normpath(os.path.join(call.cwd, one.directory or "", *one.values[1:]))
        if there == place or place.startswith(f"{there}/"):
            is_known_branch = one.target != "-" and not one.target.startswith("@{-")  # the one before
            yield one.target.removeprefix("refs/heads/") if is_known_branch else "*"
            if _succeeds(one, repository):
                return
    if repository is not None and repository.branch:
        yield repository.branch


def _succeeds(switch: Effect, repository: Repository | None) -> bool:
    """Return whether a line certainly switches to a branch: it exists, or is created and does not exist."""
    if "reset" in switch.values[:1] or repository is None:
        return True
    return repository.has_branch(switch.target) != ("new" in switch.values[:1])


def _repository(effect: Effect, call: Call) -> Repository | None:
    return find_repository(os.path.join(call.cwd, effect.directory or ""))


def _pushed_by_default(effect: Effect, call: Call) -> Iterator[str]:
    """Yield what ``git push`` without a refspec pushes to, as the repository's settings say."""
    repository = _repository(effect, call)
    given = _given(effect)
    default = given.get("push.default") or (repository.setting("push.default") if repository is not None else "")
    if default == "matching":
        yield "*"
    for branch in _current(effect, call):
        if default not in ("upstream", "tracking"):
            yield branch
        if repository is None:
            continue
        yield from _mapped(branch, repository, given)
        remote = given.get("remote") or _remote(branch, repository)
        for refspec in repository.settings.get(f"remote.{remote}.push", ()):
            source, _, target = refspec.removeprefix("+").partition(":")
            yield (target or source).removeprefix("refs/heads/")


POLICY = Policy(
    name="protected-branches",
    prevents="Pushing to, force-pushing, deleting or moving protected branches, and on demand committing to them.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        names("branches", ("main", "master"), "the protected branches"),
        action("push", "ask", "pushing to one"),
        action("unknownRefs", "ask", "pushing a branch or tag that a variable names which the line does not set"),
        action("force", "deny", "overwriting one on the remote, also with a lease"),
        action(
            "delete", "deny", "deleting, renaming or moving one, on the remote or here, and taking its protection away"
        ),
        action("work", "allow", "committing, merging and rebasing while it is the current branch"),
    ),
    recommended={"unknownRefs": "allow"},
    notes="`git push` without a branch pushes the current one: it is read from the repository's files, with "
    "push.default and the refspecs of the remote. A switch of the branch in the same line, a worktree or clone that it "
    "makes, links of branches, files that settings include, and aliases of git are followed. Where no repository is "
    "found, it passes.",
)
