"""Record what agents write, and bring back what was there before."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from ..tools.files import explain, replace_file
from ..tools.places import SHADOW, is_private, resolved
from .git import Blob, Entry, Repository, ShadowError, opened
from .journal import Journal, Write, message

__all__ = ["ShadowGit", "Undone"]


@dataclass(frozen=True)
class Undone:
    """What became of a write that was to be taken back, or done again."""

    write: Write
    what: Literal["restored", "removed", "unchanged"]
    """``unchanged``: the file was already as it is to be."""


@dataclass(frozen=True)
class _Found:
    """A file on disk: its mode and content as git would have them."""

    mode: str
    data: bytes

    @property
    def name(self) -> str:
        return hashlib.sha1(b"blob %d\0" % len(self.data) + self.data, usedforsecurity=False).hexdigest()


class ShadowGit:
    """The shadow repository of one work tree: ``.interpose/shadow.git`` below its root, made when first needed."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.directory = self.root.joinpath(*SHADOW)

    @classmethod
    def find(cls, start: Path) -> Self | None:
        """Return the shadow git of the nearest directory, upwards, that has one and is the person's own."""
        for root in (start.resolve(), *start.resolve().parents):
            try:
                if root.joinpath(*SHADOW).lstat().st_uid == os.getuid():
                    return cls(root)
            except OSError:
                continue
        return None

    async def commit(self, path: Path, content: str, *, session: str = "", note: str = "") -> str:
        """Record a write that is about to happen, and what it replaces; return the commit's name. Write then."""
        return await asyncio.to_thread(self._commit, path, content, session, note)

    def _commit(self, path: Path, content: str, session: str, note: str) -> str:
        file = self._file(self.root / path)
        name = str(file.relative_to(self.root))
        try:
            data = content.encode()
        except UnicodeEncodeError:
            raise ShadowError("the text has half a character in it, which no file can hold", where=name) from None
        with opened(self.directory) as git:
            tip = git.tip()
            found = _on_disk(file)
            noted = _noted(git, tip, name, found)
            before = (found.mode, found.name) if found else None
            after = _Found(found.mode if found else "100644", data)
            facts = {"session": session, "note": note, "before": before, "after": (after.mode, after.name)}
            text = message("write", name, **facts, made=_missing(file))
            return git.save(tip, [*noted, Entry(text, name, after.mode, data)])[-1]

    def history(self, limit: int | None = None) -> list[Write]:
        """Return the last writes, the very last first; each says whether it was undone."""
        if not self.directory.is_dir():
            return []
        with opened(self.directory) as git:
            journal = Journal(git.messages())
        done = set(journal.done)
        newest = list(reversed(journal.writes.values()))[:limit]
        return [replace(write, undone=write.commit not in done) for write in newest]

    def undo(self, count: int = 1, *, force: bool = False) -> list[Undone]:
        """Bring back what was there before the last writes; all of them, or none if somebody has changed a file since.

        With ``force`` a file that was changed is brought back, too; what was in it is kept in the record.
        """
        return self._bring_back(count, force, "undo")

    def redo(self, count: int = 1, *, force: bool = False) -> list[Undone]:
        """Do again what was undone last, as long as no agent has written since."""
        return self._bring_back(count, force, "redo")

    def _bring_back(self, count: int, force: bool, kind: Literal["undo", "redo"]) -> list[Undone]:
        if not self.directory.is_dir():
            return []
        with opened(self.directory) as git:
            journal = Journal(git.messages())
            names = journal.done if kind == "undo" else journal.undone
            writes = [journal.writes[name] for name in reversed(names[max(0, len(names) - count) :])]
            if not force:
                self._refuse_what_changed(writes, kind)
            return [self._turn(git, write, kind) for write in writes]

    def _refuse_what_changed(self, writes: list[Write], kind: Literal["undo", "redo"]) -> None:
        states: dict[str, str | None] = {}
        for write in writes:
            if write.path not in states:
                found = _on_disk(self._file(self.root / write.path))
                states[write.path] = found.name if found else None
            known = {write.after[1], write.before[1] if write.before else None}
            if states[write.path] not in known:
                raise ShadowError(
                    "has been changed since an agent wrote it: nothing was brought back",
                    where=write.path,
                    hint="with --force it is brought back, too; what is there now stays in the record",
                )
            target = _target(write, kind)
            states[write.path] = target[1] if target else None

    def _turn(self, git: Repository, write: Write, kind: Literal["undo", "redo"]) -> Undone:
        """Bring one file back, and record it afterwards: if we are killed in between, it can be done again."""
        target = _target(write, kind)
        file = self._file(self.root / write.path)
        found = _on_disk(file)
        tip = git.tip()
        noted = _noted(git, tip, write.path, found) if found and (found.name != (target[1] if target else "")) else []
        if noted:
            tip = git.save(tip, noted)[-1]
        what = _put(git, file, target, found, write.made)
        mode, name = target or ("", "")
        git.save(tip, [Entry(message(kind, write.path, of=write.commit), write.path, mode, name=name)])
        return Undone(replace(write, undone=kind == "undo"), what)

    def _file(self, path: Path) -> Path:
        """Return a file of the work; refuse what is elsewhere, also where the record, which may be forged, says so."""
        real = resolved(path)
        if real is None:
            raise ShadowError("a symbolic link in it leads nowhere", where=str(path))
        if not real.is_relative_to(self.root) or real == self.root or is_private(real.relative_to(self.root)):
            raise ShadowError(f"is not a file of the work in {self.root}", where=str(path))
        return real


def _target(write: Write, kind: Literal["undo", "redo"]) -> Blob | None:
    return write.before if kind == "undo" else write.after


def _noted(git: Repository, tip: str, name: str, found: _Found | None) -> list[Entry]:
    """Return the commit that records what is on disk now, if the repository does not have it already."""
    known = git.file(tip, name)
    if (found and (found.mode, found.name)) == known:
        return []
    text = message("before", name)
    return [Entry(text, name, found.mode, found.data) if found else Entry(text, name)]


def _on_disk(file: Path) -> _Found | None:
    try:
        state = file.lstat()
        if not stat.S_ISREG(state.st_mode):
            raise ShadowError("is no regular file", where=str(file), hint="move it away")
        return _Found("100755" if state.st_mode & stat.S_IXUSR else "100644", file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ShadowError(explain(error, str(file))) from None


def _put(
    git: Repository, file: Path, target: Blob | None, found: _Found | None, made: int
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
        # The file is gone; a directory that was made for it is in use.
    return "removed"


def _missing(file: Path) -> int:
    """Return how many directories must be made before a file can be written."""
    return sum(1 for directory in file.parents if not directory.exists())
