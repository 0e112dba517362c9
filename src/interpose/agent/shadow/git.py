"""The repository itself: git's plumbing over a directory of ours, and nothing of the person's own git."""

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

__all__ = ["Blob", "Entry", "Repository", "ShadowError", "opened"]

_BRANCH = "refs/heads/main"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
_OPTIONS = ("--literal-pathspecs", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
_LOCK_SECONDS = 30.0
_GIT_SECONDS = 120.0

Blob = tuple[str, str]
"""A file in the repository: its mode (``100644`` or ``100755``), and the name of its content."""


class ShadowError(InterposeError):
    """Something that the shadow git cannot or will not do."""

    code = "shadow"


@dataclass(frozen=True)
class Entry:
    """One commit to be made: what it says, and the one file that it sets; content or the name of it, or nothing."""

    message: str
    path: str
    mode: str = "100644"
    data: bytes | None = None
    name: str = ""


class Repository:
    """A repository that nobody else writes to as long as this is held."""

    def __init__(self, directory: Path, lock: int) -> None:
        self._directory = directory
        self._lock = lock

    def tip(self) -> str:
        """Return the last commit, or nothing."""
        return self._run("rev-parse", "--verify", "--quiet", _BRANCH, fine=(0, 1)).decode().strip()

    def file(self, tip: str, path: str) -> Blob | None:
        """Return what a commit has at a path."""
        if not tip:
            return None
        found = self._run("ls-tree", "-z", "--full-tree", tip, "--", os.fsencode(path))
        if not found:
            return None
        mode, kind, name = found.split(b"\t")[0].decode().split()
        return (mode, name) if kind == "blob" else None

    def content(self, name: str) -> bytes:
        """Return what is in a file that was recorded."""
        return self._run("cat-file", "blob", name)

    def messages(self) -> list[tuple[str, int, str]]:
        """Return every commit, the first one first: its name, its time, and what it says."""
        if not (tip := self.tip()):
            return []
        found = self._run("rev-list", "--reverse", "--format=%ct%n%B%x00", tip).decode("utf-8", "replace")
        commits = [text.split("\n", 2) for text in found.split("\0\n") if text]
        return [(name.removeprefix("commit "), int(when), message) for name, when, message in commits]

    def save(self, tip: str, entries: Sequence[Entry]) -> list[str]:
        """Make commits, all or none of them; return their names."""
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
        # Whoever left a lock behind was killed: as long as we hold ours, nobody else is at work here.
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
                pass_fds=(self._lock,),  # git finishes what it does though we are killed, and nobody comes between
                start_new_session=True,  # Ctrl-C at a terminal is for us, and we wait for git
                timeout=_GIT_SECONDS,
            )
        except FileNotFoundError:
            raise ShadowError("git is not installed", hint="install git: what agents write is recorded there") from None
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise ShadowError(f"git does not work: {error}", where=str(self._directory)) from None
        if done.returncode not in fine:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit status {done.returncode}"]
            hint = "if it is damaged, move it away: a new one is made"
            raise ShadowError(f"git {words[0]!s} failed: {said[0]}", where=str(self._directory), hint=hint)
        return done.stdout


def _change(entry: Entry) -> bytes:
    raw = os.fsencode(entry.path).replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    path = b'"' + raw + b'"\n'
    if entry.data is not None:
        return f"M {entry.mode} inline ".encode() + path + f"data {len(entry.data)}\n".encode() + entry.data + b"\n"
    return f"M {entry.mode} {entry.name} ".encode() + path if entry.name else b"D " + path


def _environment() -> dict[str, str]:
    """Return the environment without anything that speaks to git, and with what keeps it to itself."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return ours | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ALLOW_PROTOCOL": "none",  # whatever a repository says that came with a project: nothing is fetched
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


@contextmanager
def opened(directory: Path) -> Iterator[Repository]:
    """Hold the repository in a directory, alone; make it if it is not there."""
    try:
        if directory.resolve() != directory:
            raise ShadowError("is, or lies behind, a symbolic link", where=str(directory), hint="remove the link")
        directory.mkdir(parents=True, exist_ok=True)
        directory.chmod(0o700)  # it has what is in files that others may not read
        lock = os.open(directory / "interpose.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise ShadowError(f"cannot be used: {error.strerror}", where=str(directory)) from None
    try:
        _wait_for(lock, directory)
        _prepare(directory)
        yield Repository(directory, lock)
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
                    f"somebody else has been writing there for {_LOCK_SECONDS:g} s",
                    where=str(directory),
                    hint="end the other agent, or wait for it",
                ) from None
        time.sleep(0.005)


def _prepare(directory: Path) -> None:
    """See to it that a repository is there, with our settings and no others: it may have come with the project."""
    if (directory / "commondir").exists():
        raise ShadowError("is not a repository of ours", where=str(directory), hint="move it away: a new one is made")
    try:
        if link := _link_in(directory):
            # What is written here would land where it leads to: in a file of the person's, perhaps.
            raise ShadowError("is a symbolic link", where=link, hint="move the repository away: a new one is made")
        for name in ("objects", "refs/heads", "info"):
            (directory / name).mkdir(parents=True, exist_ok=True)
        _set(directory / "config", _CONFIG)
        _set(directory / "HEAD", f"ref: {_BRANCH}\n")
        _set(directory / "info" / "exclude", "*\n")  # for whoever looks at it with the work tree: only what is recorded
        _ignore(directory.parent / ".gitignore", f"/{directory.name}/")
    except OSError as error:
        raise ShadowError(f"cannot be used: {error.strerror}", where=error.filename or str(directory)) from None


def _link_in(directory: Path) -> str:
    """Return the first symbolic link where git or we would write, or nothing."""
    if (ignore := directory.parent / ".gitignore").is_symlink():
        return str(ignore)
    for folder, folders, files in os.walk(directory):
        if folder == str(directory) and "hooks" in folders:
            folders.remove("hooks")  # which nobody looks into
        for name in (*folders, *files):
            if os.path.islink(path := os.path.join(folder, name)):
                return path
        if folder == str(directory / "objects"):
            folders[:] = ["info", "pack"]  # the others hold what is there: git reads it, and never writes to it again
    return ""


def _set(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text("utf-8", "replace") != text:
        path.write_text(text, "utf-8")


def _ignore(path: Path, rule: str) -> None:
    """Have the project's own git, if there is one, pass the repository over."""
    if not path.exists():
        path.write_text(f"{rule}\n/{path.name}\n", "utf-8")
        return
    text = path.read_text("utf-8", "replace")
    if rule not in text.splitlines():
        with path.open("a", encoding="utf-8") as file:
            file.write(("" if text.endswith("\n") or not text else "\n") + f"{rule}\n")
