"""The pages in a process of their own, as a person starts them, and a Chromium that opens them."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.asking import PATIENCE, until

PEOPLE = Path(__file__).parents[1] / "people.py"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip


def chromium() -> str:
    """The path of a Chromium on this machine; empty if there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")


class Started:
    """``interpose ui`` in a process: its address, and the codes that its terminal has shown."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        assert process.stdout is not None
        self._thread = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self.lines.append(re.sub(r"\x1b\[[0-9;]*m", "", line))

    def close(self) -> None:
        self._thread.join(PATIENCE)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def _find(self, pattern: str) -> str:
        def look() -> str:
            assert self.process.poll() is None, "".join(self.lines)
            found = re.findall(pattern, "".join(self.lines))
            return found[-1] if found else ""

        return str(until(look))

    @property
    def address(self) -> str:
        return self._find(r"(http://[a-z0-9]+\.localhost:\d+)")

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    @property
    def code(self) -> str:
        return self._find(r"code: ([0-9a-z]{4}-[0-9a-z]{4})")


@contextmanager
def pages(project: Path, *more: str, person: bool = True, usual_port: bool = False) -> Iterator[Started]:
    """Start the pages of a project."""
    program = [sys.executable, str(PEOPLE)] if person else [str(Path(sys.executable).parent / "interpose")]
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        [*program, "ui", "--no-browser", *([] if usual_port else ["--port", "0"]), *more], cwd=project, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    made = Started(process)
    try:
        yield made
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        finally:
            made.close()


@contextmanager
def browser(**options: Any) -> Iterator[Any]:
    """A Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            yield made
        finally:
            made.close()


def sign_in(page: Any, started: Started) -> str:
    """Type the code; return the address of the pages behind it."""
    page.goto(started.address)
    page.fill("#code", started.code)
    page.click("button")
    page.wait_for_url("**/now")
    return str(page.url).removesuffix("/now")
