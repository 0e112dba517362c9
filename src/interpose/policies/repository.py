"""Read a git repository from its files: branch, refs, settings. Only ``changes`` and ``tracks`` start git."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from .git_settings import read_settings, text_of

if TYPE_CHECKING:
    import subprocess

__all__ = ["GitNotAsked", "Repository", "find_repository", "without_git"]

_MOST_PARENTS = 100
_MOST_LINKS = 5
_LONGEST = 3.0
_KNOWN_FILTERS = frozenset({"git-lfs clean -- %f", "git-lfs filter-process", "git-lfs filter-process --skip"})
"""Seconds that git may take."""


class GitNotAsked:
    """Says whether git would have been asked since ``asked`` was set to False."""

    def __init__(self) -> None:
        self.asked = False


_not_asked: list[GitNotAsked] = []


@contextmanager
def without_git() -> Iterator[GitNotAsked]:
    """Start no git in this process for the duration of a block: it could only tell of today about calls of the past."""
    _not_asked.append(GitNotAsked())
    try:
        yield _not_asked[-1]
    finally:
        _not_asked.pop()


class Repository:
    """A repository: its working tree, and what its files say."""

    def __init__(self, tree: str, git_dir: str, common: str) -> None:
        self.tree = tree
        self.git_dir = git_dir
        self.common = common

    @property
    def is_linked(self) -> bool:
        """Whether it is a linked worktree, made by ``git worktree add``."""
        return os.path.realpath(self.git_dir) != os.path.realpath(self.common)

    @cached_property
    def branch(self) -> str:
        """The current branch; empty if there is none or it is unknown."""
        return self.resolve(_branch_of(text_of(os.path.join(self.git_dir, "HEAD"))) or self._branch_of_rebase())

    def resolve(self, branch: str) -> str:
        """Return the branch that a name stands for: a branch may be a link to another (``git symbolic-ref``)."""
        for _ in range(_MOST_LINKS):
            text = text_of(os.path.join(self.common, "refs/heads", branch)) if branch else ""
            if not text.startswith("ref:"):
                break
            branch = _branch_of(text)
        return branch

    def has_branch(self, name: str) -> bool:
        """Return whether there is a branch of this name here."""
        ref = f"refs/heads/{name}"
        return os.path.isfile(os.path.join(self.common, ref)) or any(one.endswith(f" {ref}") for one in self._packed)

    def has_ref(self, name: str) -> bool:
        """Return whether a name is a branch, a tag, a remote's branch, or looks like a commit."""
        places = ("", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/")
        if any(
            os.path.isfile(os.path.join(self.common, place, name))
            for place in places
            if place or name.startswith("refs/")
        ):
            return True
        packed = {line.rpartition(" ")[2] for line in self._packed}
        if any(place + name in packed for place in places):
            return True
        # `git checkout topic` creates the branch of a remote that has it.
        return any(one.startswith("refs/remotes/") and one.split("/", 3)[3:] == [name] for one in packed) or any(
            os.path.isfile(os.path.join(self.common, "refs/remotes", remote, name)) for remote in self._remotes
        )

    @cached_property
    def _packed(self) -> list[str]:
        return [line for line in text_of(os.path.join(self.common, "packed-refs")).splitlines() if line[:1] not in "#^"]

    @cached_property
    def _remotes(self) -> list[str]:
        try:
            return os.listdir(os.path.join(self.common, "refs/remotes"))
        except OSError:
            return []

    @cached_property
    def settings(self) -> dict[str, list[str]]:
        """The settings of the repository and of the user by name: ``branch.topic.merge``."""
        return read_settings(self.git_dir, self.common, self.branch)

    def setting(self, name: str) -> str:
        """Return the last value of a setting; empty if it is not set."""
        return self.settings.get(name, [""])[-1]

    def changes(self, path: str, *, untracked: bool) -> bool | None:
        """Return whether something below a path is changed, or untracked; None if git does not say.

        Git runs the filters of a repository to compare files, and those of its submodules. A filter that is not one of
        git-lfs could do anything, so git is not asked then.
        """
        if self._runs_filters():
            return None
        wanted = ["--untracked-files=all", "--ignored"] if untracked else ["--untracked-files=no"]
        # Settings of the repository could start programs.
        safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks"]
        return self._ask_git(*safe, "status", "--porcelain", "--ignore-submodules=all", *wanted, "--", path)

    def _runs_filters(self) -> bool:
        done = self._run_git("config", "--get-regexp", r"^filter\..*\.(clean|process)$")
        if done is None or done.returncode not in (0, 1):
            return True
        values = [line.partition(" ")[2].strip() for line in done.stdout.decode("utf-8", "replace").splitlines()]
        return any(value not in _KNOWN_FILTERS for value in values)

    def tracks(self, path: str) -> bool | None:
        """Return whether git has a file at a path or below it; None if git does not say."""
        return self._ask_git("-c", "core.fsmonitor=false", "ls-files", "--", path)

    def _ask_git(self, *arguments: str) -> bool | None:
        """Return whether git prints something; None if it fails or takes long."""
        done = self._run_git(*arguments)
        return None if done is None or done.returncode != 0 else bool(done.stdout.strip())

    def _run_git(self, *arguments: str) -> subprocess.CompletedProcess[bytes] | None:
        if _not_asked:
            _not_asked[-1].asked = True
            return None
        import subprocess  # takes long to load, and few calls need git

        environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        try:
            return subprocess.run(
                ["git", *arguments], cwd=self.tree, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=_LONGEST, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return None

    def _branch_of_rebase(self) -> str:
        for name in ("rebase-merge/head-name", "rebase-apply/head-name"):
            if branch := _branch_of(f"ref: {text_of(os.path.join(self.git_dir, name))}"):
                return branch
        return ""


def _branch_of(head: str) -> str:
    name = head.strip().removeprefix("ref:").strip()
    return name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else ""


def find_repository(directory: str) -> Repository | None:
    """Return the repository that holds a directory; None if there is none."""
    place = os.path.realpath(directory)
    for _ in range(_MOST_PARENTS):
        git = os.path.join(place, ".git")
        if os.path.isdir(git):
            return Repository(place, git, git)
        if os.path.isfile(git):
            return _linked(place, text_of(git))
        if os.path.isfile(os.path.join(place, "HEAD")) and os.path.isdir(os.path.join(place, "refs")):
            return Repository(place, place, place)
        parent = os.path.dirname(place)
        if parent == place:
            return None
        place = parent
    return None


def _linked(tree: str, text: str) -> Repository | None:
    """Return the repository of a worktree or submodule, whose ``.git`` is a file."""
    if not text.startswith("gitdir:"):
        return None
    git_dir = os.path.normpath(os.path.join(tree, text.removeprefix("gitdir:").strip()))
    common = text_of(os.path.join(git_dir, "commondir")).strip()
    return Repository(tree, git_dir, os.path.normpath(os.path.join(git_dir, common)) if common else git_dir)
