"""Record the writes of agents, and undo them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from ..tools.files import explain, replace_file
from ..tools.paths import SHADOW, is_private, resolved
from .git import Blob, NewCommit, ShadowError, ShadowRepository, opened
from .journal import Journal, Write, message

__all__ = ["ShadowGit", "Undone"]


@dataclass(frozen=True)
class Undone:
    """The result of undoing or redoing one write."""

    write: Write
    what: Literal["restored", "removed", "unchanged"]
    """``unchanged``: the file already had the content."""


@dataclass(frozen=True)
class _FileOnDisk:
    """A file on disk: its mode and content as git stores them."""

    mode: str
    data: bytes

    @property
    def name(self) -> str:
        return hashlib.sha1(b"blob %d\0" % len(self.data) + self.data, usedforsecurity=False).hexdigest()


class ShadowGit:
    """The shadow repository of one work tree: ``.interpose/shadow.git`` below its root, created at the first write."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.directory = self.root.joinpath(*SHADOW)

    @classmethod
    def find(cls, start: Path) -> Self | None:
        """Return the shadow git of the nearest directory, upwards, that has one of this user."""
        for root in (start.resolve(), *start.resolve().parents):
            try:
                if root.joinpath(*SHADOW).lstat().st_uid == os.getuid():
                    return cls(root)
            except OSError:
                continue
        return None

    async def commit(self, path: Path, content: str, *, session: str = "", note: str = "") -> str:
        """Commit a write and what it replaces, before the file is written; return the hash of the commit."""
        return await asyncio.to_thread(self._commit, path, content, session, note)

    def _commit(self, path: Path, content: str, session: str, note: str) -> str:
        file = self._file(self.root / path)
        name = str(file.relative_to(self.root))
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise ShadowError(
                "the text has a lone surrogate in it, which cannot be written as UTF-8", where=name
            ) from None
        with opened(self.directory) as git:
            tip = git.tip()
            found = _on_disk(file)
            noted = _noted(git, tip, name, found)
            before = (found.mode, found.name) if found else None
            after = _FileOnDisk(found.mode if found else "100644", data)
            facts = {"session": session, "note": note, "before": before, "after": (after.mode, after.name)}
            text = message("write", name, **facts, made=_missing(file))
            return git.save(tip, [*noted, NewCommit(text, name, after.mode, data)])[-1]

    def history(self, limit: int | None = None) -> list[Write]:
        """Return the last writes, newest first; each says whether it was undone."""
        if not self.directory.is_dir():
            return []
        with opened(self.directory) as git:
            journal = Journal(git.messages())
        done = set(journal.done)
        newest = list(reversed(journal.writes.values()))[:limit]
        return [replace(write, undone=write.commit not in done) for write in newest]

    def undo(self, count: int = 1, *, force: bool = False) -> list[Undone]:
        """Undo the last writes; all of them, or none if a file was changed since.

        With ``force`` a file that was changed is restored too; its content is committed first.
        """
        return self._restore(count, force, "undo")

    def redo(self, count: int = 1, *, force: bool = False) -> list[Undone]:
        """Redo the writes that were undone last, if no agent has written since."""
        return self._restore(count, force, "redo")

    def _restore(self, count: int, force: bool, kind: Literal["undo", "redo"]) -> list[Undone]:
        if not self.directory.is_dir():
            return []
        with opened(self.directory) as git:
            journal = Journal(git.messages())
            names = journal.done if kind == "undo" else journal.undone
            writes = [journal.writes[name] for name in reversed(names[max(0, len(names) - count) :])]
            if not force:
                self._refuse_changed(writes, kind)
            return [self._restore_one(git, write, kind) for write in writes]

    def _refuse_changed(self, writes: list[Write], kind: Literal["undo", "redo"]) -> None:
        states: dict[str, str | None] = {}
        for write in writes:
            if write.path not in states:
                found = _on_disk(self._file(self.root / write.path))
                states[write.path] = found.name if found else None
            known = {write.after[1], write.before[1] if write.before else None}
            if states[write.path] not in known:
                raise ShadowError(
                    "has been changed since an agent wrote it: nothing was restored",
                    where=write.path,
                    hint="with --force it is restored too; its current content is kept in the shadow git",
                )
            target = _target(write, kind)
            states[write.path] = target[1] if target else None

    def _restore_one(self, git: ShadowRepository, write: Write, kind: Literal["undo", "redo"]) -> Undone:
        """Restore one file, and commit that afterwards: if we are killed in between, it can be repeated."""
        target = _target(write, kind)
        file = self._file(self.root / write.path)
        found = _on_disk(file)
        tip = git.tip()
        noted = _noted(git, tip, write.path, found) if found and (found.name != (target[1] if target else "")) else []
        if noted:
            tip = git.save(tip, noted)[-1]
        what = _put(git, file, target, found, write.made)
        mode, name = target or ("", "")
        git.save(tip, [NewCommit(message(kind, write.path, of=write.commit), write.path, mode, name=name)])
        return Undone(replace(write, undone=kind == "undo"), what)

    def _file(self, path: Path) -> Path:
        """Return the real path of a file in the work tree; a forged commit may name one outside, which is refused."""
        real = resolved(path)
        if real is None:
            raise ShadowError("a symbolic link in it leads to itself", where=str(path))
        if not real.is_relative_to(self.root) or real == self.root or is_private(real.relative_to(self.root)):
            raise ShadowError(f"is not a file of the work tree {self.root}", where=str(path))
        return real


def _target(write: Write, kind: Literal["undo", "redo"]) -> Blob | None:
    return write.before if kind == "undo" else write.after


def _noted(git: ShadowRepository, tip: str, name: str, found: _FileOnDisk | None) -> list[NewCommit]:
    """Return the commit of the file on disk, if the repository does not have it already."""
    known = git.file(tip, name)
    if (found and (found.mode, found.name)) == known:
        return []
    text = message("before", name)
    return [NewCommit(text, name, found.mode, found.data) if found else NewCommit(text, name)]


def _on_disk(file: Path) -> _FileOnDisk | None:
    try:
        state = file.lstat()
        if not stat.S_ISREG(state.st_mode):
            raise ShadowError("is not a regular file", where=str(file), hint="move it away")
        return _FileOnDisk("100755" if state.st_mode & stat.S_IXUSR else "100644", file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ShadowError(explain(error, str(file))) from None


def _put(
    git: ShadowRepository, file: Path, target: Blob | None, found: _FileOnDisk | None, made: int
) -> Literal["restored", "removed", "unchanged"]:
    if (target[1] if target else None) == (found.name if found else None):
        return "unchanged"
    try:
        if target is not None:
            replace_file(file, git.content(target[1]), mode=0o777 if target[0] == "100755" else 0o666)
            return "restored"
        file.unlink()
        for directory in list(file.parents)[:made]:
            directory.rmdir()
    except OSError as error:
        if file.exists() or target is not None:
            raise ShadowError(explain(error, str(file))) from None
        # The file is removed; a directory that was created for it is in use.
    return "removed"


def _missing(file: Path) -> int:
    """Return how many directories must be created to write a file."""
    return sum(1 for directory in file.parents if not directory.exists())
