"""Snapshots: what a person has trusted, stored in a private directory of the state, and run from there.

A snapshot is a directory that is named after its content and the path of its configuration. It is written whole or
not at all, and its files are never changed. Hooks may write new files beside them; those have no part in it. They may
also write to the copies of files that are neither run nor named.

Guards run from its files alone. For other hooks, ``linked`` has the same files once more, and links to the originals of
everything that lies beside them: what such a hook finds in place, it finds there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError, Problem
from ..runtime.digests import sha256
from .claude_servers import is_part, read_part
from .files import FileRead, Seen, seen
from .files import read as read_file
from .state import make_private, state_path, write_privately

if TYPE_CHECKING:
    from .contents import Contents

__all__ = ["LINKED", "Snapshot", "open_snapshot", "remove_unneeded", "snapshot_name", "snapshot_path", "store_snapshot",
           "use_temporary_directory"]  # fmt: skip

_MANIFEST = "manifest.json"
_SEEN = "seen.json"
_IN_USE = "in-use"
LINKED = "linked"
"""The directory of a snapshot in which hooks that are not guards run."""
_KEPT = 24 * 3600.0
"""Seconds for which a snapshot is kept that no record needs."""
_VERSION = 2
_MODULES = (".py", ".pyc", ".so", ".pyd", ".js", ".mjs", ".cjs", ".ts", ".node")
"""How the names of files end that Python and Node take for modules."""
_temporary: list[str] = []


class Snapshot:
    """A stored snapshot. While it is used, it is kept from being removed."""

    def __init__(self, directory: str, about: Mapping[str, Any]) -> None:
        self.directory = directory
        self.about = about
        """The manifest."""
        self._use: _Use | None = None

    @property
    def digest(self) -> str:
        """The hash of its content."""
        return str(self.about["digest"])

    @property
    def folder(self) -> str:
        """The directory of the configuration, as it was trusted."""
        return os.path.dirname(os.path.join(self.directory, self.about["config"]))

    @property
    def linked(self) -> str:
        """The directory in which hooks that are not guards run."""
        return os.path.join(self.directory, LINKED) if self.about["others"] else self.directory

    @property
    def live(self) -> list[dict[str, str]]:
        """What its hooks run or read that is no part of it, each with ``hook``, ``what`` and ``why``."""
        return list(self.about["live"])

    @property
    def beside(self) -> dict[str, dict[str, str]]:
        """What lies beside its files and hooks that are not guards can use: per folder the places with the paths."""
        return dict(self.about["beside"])

    def originals(self) -> dict[str, str]:
        """Return the paths of the original files with the hashes of their trusted content."""
        return {facts["path"]: facts["sha256"] for facts in self.about["files"].values()}

    def text_of(self, path: str) -> bytes | None:
        """Return the trusted content of an original file; None if it has none."""
        for place, facts in self.about["files"].items():
            if facts["path"] == path:
                return read_file(os.path.join(self.directory, place), found=True).data
        return None

    def config(self, path: str) -> FileRead:
        """Return the trusted configuration as the file at this path."""
        place = self.about["config"]
        data = read_file(os.path.join(self.directory, place), found=True, hashed=False).data
        facts = self.about["files"][place]
        return FileRead(data, path, facts["path"], (0, 0), facts["sha256"])

    def changes(self) -> list[tuple[str, str]]:
        """Return the original files that differ from the snapshot: each with ``changed`` or ``gone``.

        A file is read only if its stat differs from that of the file which was trusted. New files are no change.
        """
        known = _load(os.path.join(self.directory, _SEEN))
        found: list[tuple[str, str]] = []
        renewed: dict[str, Seen] = {}
        for facts in self.about["files"].values():
            path = facts["path"]
            if is_part(path):
                found += [(path, how)] if (how := _change_of_part(path, facts["sha256"])) else []
                continue
            now = seen(path)
            if now is None:
                found.append((path, "gone"))
            elif known.get(path) != list(now):
                if _hash(path) != facts["sha256"]:
                    found.append((path, "changed"))
                elif seen(path) == now:
                    renewed[path] = now
        if renewed:
            _renew(os.path.join(self.directory, _SEEN), {**known, **renewed})
        return found

    def broken(self) -> str:
        """Return the path of the snapshot if it does not exist any more."""
        return "" if os.path.exists(os.path.join(self.directory, _MANIFEST)) else self.directory

    def keep(self) -> None:
        """Keep the snapshot from being removed as long as this object exists."""
        self._use = self._use or _Use(self.directory)


def _change_of_part(path: str, known: str) -> str:
    try:
        return "" if sha256(read_part(path)).hex() == known else "changed"
    except ConfigError:
        return "gone"


class _Use:
    """A shared lock on a snapshot."""

    def __init__(self, directory: str) -> None:
        self._descriptor = -1
        try:
            import fcntl

            self._descriptor = os.open(os.path.join(directory, _IN_USE), os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except (ImportError, OSError):
            pass  # another process is about to remove it, or there are no locks here

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def snapshot_name(digest: str, path: str) -> str:
    """Return the name of the snapshot of a content at a path."""
    return sha256(f"{digest} {path}".encode("utf-8", "surrogateescape")).hex()


def snapshot_path(name: str, folder: str = "") -> str:
    """Return the directory of a snapshot; ``folder`` has those that are not kept with the person's own."""
    if folder:
        return os.path.join(folder, name)
    return os.path.join(_temporary[0], name) if _temporary else state_path(os.path.join("snapshots", name))


def use_temporary_directory() -> None:
    """Keep snapshots in a directory of this process, which is removed at its end."""
    import atexit
    import shutil
    import tempfile

    if not _temporary:
        _temporary.append(os.path.realpath(tempfile.mkdtemp(prefix="interpose-")))
        atexit.register(shutil.rmtree, _temporary[0], ignore_errors=True)


def open_snapshot(name: str, path: str, *, folder: str = "", hint: str = "") -> Snapshot:
    """Return the snapshot of the configuration at a path; raise ConfigError if it is missing or incomplete.

    ``hint`` says what to do then, if it is not to trust the file again.
    """
    directory = snapshot_path(name, folder)
    about: dict[str, Any] = {}
    try:
        about = _load(os.path.join(directory, _MANIFEST))
        flaw = _flaw(directory, about)
    except (ConfigError, OSError, KeyError, TypeError, ValueError) as error:
        flaw = f"it cannot be read ({error})" if os.path.isdir(directory) else "it is missing"
    if flaw:
        raise ConfigError([Problem(f"cannot be loaded: the snapshot that was trusted is not whole: {flaw}", where=path,
                                   hint=hint or f"look at it, then: interpose trust {path}")])  # fmt: skip
    return Snapshot(directory, about)


def _flaw(directory: str, about: Mapping[str, Any]) -> str:
    """Return what is wrong with a snapshot; nothing if it is whole."""
    if about.get("version") != _VERSION or about["directory"] != directory:
        return "it was made for another place or version"
    folders: dict[str, set[str]] = {}
    for place, facts in about["files"].items():
        copy = os.path.join(directory, place)
        _add_parents(folders, place)
        if facts["data"]:  # hooks may write to it
            continue
        now = seen(copy)
        if now is None:
            return f"{place} is missing"
        if list(now) != facts["stat"] and _hash(copy) != facts["sha256"]:
            return f"{place} has changed"
        twin = os.path.join(directory, LINKED, place)
        if about["others"] and seen(twin) != now and _hash(twin) != facts["sha256"]:
            return f"{LINKED}/{place} has changed"
    for place in about["links"]:
        _add_parents(folders, place)
    for folder, known in folders.items():
        with os.scandir(os.path.join(directory, folder)) as entries:
            for entry in entries:
                if entry.name not in known and _may_be_run(entry):
                    return f"{os.path.join(folder, entry.name)} was not trusted, and may be run in the place of another"
    return ""


def _add_parents(folders: dict[str, set[str]], place: str) -> None:
    while place:
        place, name = os.path.split(place)
        if not place:
            return
        known = folders.setdefault(place, set())
        if name in known:
            return
        known.add(name)


def _may_be_run(entry: os.DirEntry[str]) -> bool:
    """Return whether a file that appeared beside trusted ones can be taken for a module or a program."""
    if entry.name == "__pycache__":
        return False  # Python writes it
    if entry.is_dir():
        return entry.name == "node_modules" or any(name.startswith("__init__.") for name in os.listdir(entry.path))
    return entry.name.endswith(_MODULES)


def store_snapshot(
    contents: Contents, about: Mapping[str, Any], path: str, *, renew: bool = True, folder: str = ""
) -> Snapshot:
    """Write a snapshot and return it; ``renew`` replaces one of the same content, else that one is used."""
    import shutil
    import tempfile

    name = snapshot_name(contents.digest, path)
    directory = snapshot_path(name, folder)
    if not renew and os.path.isdir(directory):
        try:
            return open_snapshot(name, path, folder=folder)
        except ConfigError:
            pass  # it is written again
    scratch = ""
    try:
        make_private(os.path.dirname(directory))
        scratch = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(directory))
        _write(scratch, directory, contents, about)
        if os.path.isdir(directory):
            os.rename(directory, tempfile.mkdtemp(prefix=".old-", dir=os.path.dirname(directory)))
        os.rename(scratch, directory)
    except OSError as error:
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)
        what = f"the snapshot cannot be written: {error.strerror or error}"
        hint = f"make {os.path.dirname(directory)} writable, or set XDG_STATE_HOME to a directory that is"
        raise ConfigError([Problem(what, where=directory, hint=hint)]) from None
    return open_snapshot(name, path, folder=folder)


def _write(scratch: str, directory: str, contents: Contents, about: Mapping[str, Any]) -> None:
    files: dict[str, Any] = {}
    known: dict[str, Seen | None] = {}
    linked = os.path.join(scratch, LINKED)
    for place, file in contents.files.items():
        copy = os.path.join(scratch, place)
        make_private(os.path.dirname(copy))
        with open(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(file.data)
        is_data = contents.is_data(place)
        os.chmod(copy, 0o600 if is_data else 0o500 if file.runs else 0o400)
        if about["others"]:
            make_private(os.path.dirname(os.path.join(linked, place)))
            _link(copy, os.path.join(linked, place), copied=is_data)
        files[place] = {"path": file.path, "sha256": file.sha256, "stat": seen(copy), "data": is_data}
        known[file.path] = file.seen
    for place, target in contents.links.items():
        for tree in (scratch, linked) if about["others"] else (scratch,):
            make_private(os.path.dirname(os.path.join(tree, place)))
            os.symlink(target, os.path.join(tree, place))
    for links in about["beside"].values():
        for place, target in links.items():
            os.symlink(target, os.path.join(linked, place))
    manifest = {"version": _VERSION, "directory": directory, "digest": contents.digest, "config": contents.config,
                "files": files, "links": contents.links, **about}  # fmt: skip
    write_privately(os.path.join(scratch, "package.json"), _package(contents.root))
    write_privately(os.path.join(scratch, _IN_USE), b"")
    write_privately(os.path.join(scratch, _SEEN), json.dumps(known).encode())
    write_privately(os.path.join(scratch, _MANIFEST), json.dumps(manifest).encode())


def _package(root: str) -> bytes:
    """Return the package.json above all files, which says how Node reads ``.js``; else one of the home would."""
    try:
        kind = json.loads(read_file(os.path.join(root, "package.json"), found=False, hashed=False).data).get("type")
    except (ConfigError, ValueError, AttributeError, RecursionError):
        kind = None
    return json.dumps({"type": kind} if kind in ("module", "commonjs") else {}).encode()


def _link(path: str, twin: str, *, copied: bool) -> None:
    """Make a file appear at a second path; where there are no hard links, copy it."""
    import shutil

    try:
        if not copied:
            os.link(path, twin)
            return
    except OSError:
        pass
    shutil.copy2(path, twin)


def remove_unneeded(needed: Iterable[str], folder: str = "") -> list[str]:
    """Remove the snapshots that no record needs, no process uses and that are older than a day; return their names."""
    import shutil
    import time

    folder = folder or state_path("snapshots")
    removed: list[str] = []
    for name in sorted(set(os.listdir(folder)) - set(needed)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        try:
            if time.time() - os.lstat(path).st_ctime < _KEPT or _is_used(path):
                continue
        except OSError:
            continue
        shutil.rmtree(path, ignore_errors=True)
        removed.append(name)
    return removed


def _is_used(path: str) -> bool:
    try:
        import fcntl

        descriptor = os.open(os.path.join(path, _IN_USE), os.O_RDONLY | os.O_CLOEXEC)
    except (ImportError, OSError):
        return False  # it was never finished
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _load(path: str) -> dict[str, Any]:
    found = json.loads(read_file(path, found=True, hashed=False).data)
    if not isinstance(found, dict):
        raise TypeError("it is damaged")
    return found


def _renew(path: str, known: Mapping[str, Any]) -> None:
    try:
        write_privately(path, json.dumps(known).encode())
    except OSError:
        pass  # the files are hashed again next time


def _hash(path: str) -> str:
    try:
        return read_file(path, found=False).sha256
    except ConfigError:
        return ""
