"""A real terminal for a command, of a width that the test chooses."""

import os
import subprocess
import sys

MAIN = "import sys; from interpose.cli import main; sys.exit(main(sys.argv[1:]))"


def on_a_terminal(*arguments: str, columns: int, **variables: str) -> list[str]:
    """The lines that a person would see; the command must succeed."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "LANG": "C.UTF-8", "COLUMNS": str(columns), "TERM": "xterm", **variables}
    running = subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        env=environment,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    try:
        while some := os.read(ours, 65536):
            seen += some
    except OSError:  # the other side has closed
        pass
    os.close(ours)
    assert running.wait(30) == 0, seen
    return seen.decode().replace("\r\n", "\n").splitlines()
