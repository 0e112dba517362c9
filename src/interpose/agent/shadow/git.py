"""The repository: git plumbing commands on a directory of ours, without the person's git configuration."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from interpose import InterposeError

__all__ = ["Blob", "NewCommit", "ShadowError", "ShadowRepository", "opened"]

_BRANCH = "refs/heads/main"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
_OPTIONS = ("--literal-pathspecs", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
_LOCK_SECONDS = 30.0
_GIT_SECONDS = 120.0

Blob = tuple[str, str]
"""A file in the repository: its mode (``100644`` or ``100755``), and the hash of its content."""


class ShadowError(InterposeError):
    """The shadow git cannot do something."""

    code = "shadow"


@dataclass(frozen=True)
class NewCommit:
    """One commit to make: its message, and the one file that it sets, by content or hash, or deletes."""

    message: str
    path: str
    mode: str = "100644"
    data: bytes | None = None
    name: str = ""


class ShadowRepository:
    """A repository whose lock is held."""

    def __init__(self, directory: Path, lock: int) -> None:
        self._directory = directory
        self._lock = lock

    def tip(self) -> str:
        """Return the last commit; empty if there is none."""
        return self._run("rev-parse", "--verify", "--quiet", _BRANCH, fine=(0, 1)).decode().strip()

    def file(self, tip: str, path: str) -> Blob | None:
        """Return the file of a commit at a path, or None."""
        if not tip:
            return None
        found = self._run("ls-tree", "-z", "--full-tree", tip, "--", os.fsencode(path))
        if not found:
            return None
        mode, kind, name = found.split(b"\t")[0].decode().split()
        return (mode, name) if kind == "blob" else None

    def content(self, name: str) -> bytes:
        """Return the content of a file by its hash."""
        return self._run("cat-file", "blob", name)

    def messages(self) -> list[tuple[str, int, str]]:
        """Return every commit, the first one first: its hash, its time and its message."""
        if not (tip := self.tip()):
            return []
        found = self._run("rev-list", "--reverse", "--format=%ct%n%B%x00", tip).decode("utf-8", "replace")
        commits = [text.split("\n", 2) for text in found.split("\0\n") if text]
        return [(name.removeprefix("commit "), int(when), message) for name, when, message in commits]

    def save(self, tip: str, entries: Sequence[NewCommit]) -> list[str]:
        """Make commits, all or none of them; return their hashes."""
        stream: list[bytes] = []
        for number, entry in enumerate(entries, 1):
            message = entry.message.encode()
            stream += (
                f"commit {_BRANCH}\nmark :{number}\n".encode(),
                f"committer Interpose <interpose@localhost> {int(time.time())} +0000\n".encode(),
                f"data {len(message)}\n".encode() + message + b"\n",
                f"from {tip}\n".encode() if tip and number == 1 else b"",
                _change(entry),
            )
        stream += [f"get-mark :{number}\n".encode() for number in range(1, len(entries) + 1)]
        # We hold our lock, so a lock file of git was left by a process that was killed.
        self._directory.joinpath(f"{_BRANCH}.lock").unlink(missing_ok=True)
        return self._run("fast-import", "--quiet", "--done", data=b"".join([*stream, b"done\n"])).decode().split()

    def _run(self, *words: str | bytes, data: bytes = b"", fine: Sequence[int] = (0,)) -> bytes:
        try:
            done = subprocess.run(
                ["git", f"--git-dir={self._directory}", *_OPTIONS, *words],
                input=data,
                capture_output=True,
                check=False,
                cwd=self._directory,
                env=_environment(),
                pass_fds=(self._lock,),  # git holds the lock too and finishes if we are killed
                start_new_session=True,  # Ctrl-C at a terminal must not interrupt git
                timeout=_GIT_SECONDS,
            )
        except FileNotFoundError:
            raise ShadowError(
                "git is not installed", hint="install git: files that agents write are recorded with it"
            ) from None
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise ShadowError(f"git does not work: {error}", where=str(self._directory)) from None
        if done.returncode not in fine:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit status {done.returncode}"]
            hint = "if it is damaged, move it away: a new one is made"
            raise ShadowError(f"git {words[0]!s} failed: {said[0]}", where=str(self._directory), hint=hint)
        return done.stdout


def _change(entry: NewCommit) -> bytes:
    raw = os.fsencode(entry.path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    path = b'"' + raw + b'"\n'
    if entry.data is not None:
        return f"M {entry.mode} inline ".encode() + path + f"data {len(entry.data)}\n".encode() + entry.data + b"\n"
    return f"M {entry.mode} {entry.name} ".encode() + path if entry.name else b"D " + path


def _environment() -> dict[str, str]:
    """Return the environment without variables of git, and with those that keep git to this repository."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return ours | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": "none",  # a repository that came with a project must not make git fetch anything
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


@contextmanager
def opened(directory: Path) -> Iterator[ShadowRepository]:
    """Lock the repository in a directory; create it if it does not exist."""
    try:
        if directory.resolve() != directory:
            raise ShadowError("is, or lies behind, a symbolic link", where=str(directory), hint="remove the link")
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o700)  # its content may come from files that others may not read
        lock = os.open(directory / "interpose.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise ShadowError(f"cannot be used: {error.strerror}", where=str(directory)) from None
    try:
        _wait_for(lock, directory)
        _prepare(directory)
        yield ShadowRepository(directory, lock)
    finally:
        os.close(lock)


def _wait_for(lock: int, directory: Path) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise ShadowError(
                    f"another process has held the lock for {_LOCK_SECONDS:g} s",
                    where=str(directory),
                    hint="end the other agent, or wait for it",
                ) from None
        time.sleep(0.005)


def _prepare(directory: Path) -> None:
    """Create the repository if it is missing, and restore our settings: it may have come with the project."""
    if (directory / "commondir").exists():
        raise ShadowError("is not a repository of ours", where=str(directory), hint="move it away: a new one is made")
    try:
        if link := _link_in(directory):
            # A write would go to the target of the link.
            raise ShadowError("is a symbolic link", where=link, hint="move the repository away: a new one is made")
        for name in ("objects", "refs/heads", "info"):
            (directory / name).mkdir(parents=True, exist_ok=True)
        _set(directory / "config", _CONFIG)
        _set(directory / "HEAD", f"ref: {_BRANCH}\n")
        _set(directory / "info" / "exclude", "*\n")  # `git status` with the work tree shows only recorded files
        _ignore(directory.parent / ".gitignore", f"/{directory.name}/")
    except OSError as error:
        raise ShadowError(f"cannot be used: {error.strerror}", where=error.filename or str(directory)) from None


def _link_in(directory: Path) -> str:
    """Return the first symbolic link at a path that git or we write to; empty if there is none."""
    if (ignore := directory.parent / ".gitignore").is_symlink():
        return str(ignore)
    for folder, folders, files in os.walk(directory):
        if folder == str(directory) and "hooks" in folders:
            folders.remove("hooks")  # which is never used
        for name in (*folders, *files):
            if os.path.islink(path := os.path.join(folder, name)):
                return path
        if folder == str(directory / "objects"):
            folders[:] = ["info", "pack"]  # git never writes to the others again
    return ""


def _set(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text("utf-8", "replace") != text:
        path.write_text(text, "utf-8")


def _ignore(path: Path, rule: str) -> None:
    """Make the project's own git ignore the repository."""
    if not path.exists():
        path.write_text(f"{rule}\n/{path.name}\n", "utf-8")
        return
    text = path.read_text("utf-8", "replace")
    if rule not in text.splitlines():
        with path.open("a", encoding="utf-8") as file:
            file.write(("" if text.endswith("\n") or not text else "\n") + f"{rule}\n")
