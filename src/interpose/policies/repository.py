"""Read a git repository from its files: branch, refs, settings. Only ``changes`` and ``tracks`` start git."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cached_property

__all__ = ["Repository", "find_repository"]

_LARGEST = 4 << 20
_MOST_PARENTS = 100
_LONGEST = 3.0
_KNOWN_FILTERS = frozenset({"git-lfs clean -- %f", "git-lfs filter-process", "git-lfs filter-process --skip"})
"""Seconds that git may take."""
_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_SETTING = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?\Z")


def _text(path: str) -> str:
    """Return the text of a file; empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_LARGEST)
    except (OSError, ValueError):
        return ""


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
        return _branch_of(_text(os.path.join(self.git_dir, "HEAD"))) or self._branch_of_rebase()

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
        return [line for line in _text(os.path.join(self.common, "packed-refs")).splitlines() if line[:1] not in "#^"]

    @cached_property
    def _remotes(self) -> list[str]:
        try:
            return os.listdir(os.path.join(self.common, "refs/remotes"))
        except OSError:
            return []

    @cached_property
    def settings(self) -> dict[str, list[str]]:
        """The settings of the repository and of the user by name: ``branch.topic.merge``."""
        found: dict[str, list[str]] = {}
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        files = (os.path.join(config, "git/config"), os.path.expanduser("~/.gitconfig"), f"{self.common}/config")
        for path in (*files, f"{self.git_dir}/config.worktree"):
            _read_settings(_text(path), found)
        return found

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
            if branch := _branch_of(f"ref: {_text(os.path.join(self.git_dir, name))}"):
                return branch
        return ""


def _branch_of(head: str) -> str:
    name = head.strip().removeprefix("ref:").strip()
    return name.removeprefix("refs/heads/") if name.startswith("refs/heads/") else ""


def _read_settings(text: str, found: dict[str, list[str]]) -> None:
    section = ""
    for line in text.splitlines():
        rest = line
        if head := _SECTION.match(line):
            name = (head[2] or "").replace('\\"', '"').replace("\\\\", "\\")
            section = f"{head[1].lower()}.{name}." if head[2] is not None else f"{head[1].lower()}."
            rest = line[head.end() :]
        if setting := _SETTING.match(rest):
            value = re.split(r"\s[#;]", setting[2] or "", maxsplit=1)[0].strip().strip('"')
            found.setdefault(section + setting[1].lower(), []).append("true" if setting[2] is None else value)


def find_repository(directory: str) -> Repository | None:
    """Return the repository that holds a directory; None if there is none."""
    place = os.path.realpath(directory)
    for _ in range(_MOST_PARENTS):
        git = os.path.join(place, ".git")
        if os.path.isdir(git):
            return Repository(place, git, git)
        if os.path.isfile(git):
            return _linked(place, _text(git))
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
    common = _text(os.path.join(git_dir, "commondir")).strip()
    return Repository(tree, git_dir, os.path.normpath(os.path.join(git_dir, common)) if common else git_dir)
