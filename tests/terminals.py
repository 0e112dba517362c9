"""A command at a real terminal: what is seen there, what is typed, and how it ends."""

import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Self

from tests import people

COMMAND = Path(sys.executable).parent / "interpose"
_PATIENCE = 60.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """A person's command with a terminal of its own. ``raw`` is all that it wrote there, ``seen`` what a person saw.

    ``program`` is another command, which no person has started unless its processes say so.
    """

    def __init__(
        self, *words: str, environment: dict[str, str], cwd: Path | None = None, program: str | Path = ""
    ) -> None:
        self._ours, theirs = os.openpty()
        command = [program] if program else [sys.executable, people.__file__]
        self._running = subprocess.Popen(
            [*command, *words], cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, preexec_fn=_take_terminal,  # noqa: PLW1509 - one call of the system, no lock
        )  # fmt: skip
        os.close(theirs)
        self._written = b""
        self._looked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._running.poll() is None:
            self._running.kill()
            self._running.wait()
        os.close(self._ours)

    @property
    def raw(self) -> str:
        return self._written.decode("utf-8", "ignore").replace("\r\n", "\n")

    @property
    def seen(self) -> str:
        return _ESCAPES.sub("", self.raw)

    def until(self, text: str) -> None:
        """Look until a text appears after what was looked at before."""
        deadline = time.monotonic() + _PATIENCE
        while text not in self.seen[self._looked :]:
            assert self._read(deadline), f"{text!r} was not seen in {self.seen[self._looked :]!r}"
        self._looked = self.seen.index(text, self._looked) + len(text)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        self._running.send_signal(signal.SIGINT)

    def wait(self) -> int:
        """Look to the end, and return the exit status."""
        deadline = time.monotonic() + _PATIENCE
        while self._read(deadline):
            pass
        return self._running.wait(10)

    def _read(self, deadline: float) -> bool:
        """Take in what is written next; false if nothing more comes, or not in time."""
        if not select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            part = os.read(self._ours, 65536)
        except OSError:  # the terminal's other end is closed
            return False
        self._written += part
        return bool(part)


def _take_terminal() -> None:
    """Make standard input the controlling terminal of this process, which leads a session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def of_a_project(project: Path, term: str) -> dict[str, str]:
    """An environment in which the person's home is beside the project."""
    return {"PATH": os.environ["PATH"], "HOME": str(project.parent), "LANG": "C.UTF-8", "TERM": term}


def on_a_terminal(*words: str, columns: int, **variables: str) -> list[str]:
    """The lines that a command writes on a terminal of this width; it must succeed."""
    environment = {**os.environ, "LANG": "C.UTF-8", "COLUMNS": str(columns), "TERM": "xterm", **variables}
    with Terminal(*words, environment=environment) as terminal:
        assert terminal.wait() == 0, terminal.raw
        return terminal.raw.splitlines()
