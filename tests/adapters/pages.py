"""The page of a framework begins with a program and with what it prints; the program is in ``programs``."""

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.adapters.driver import HOOKS

ROOT = Path(__file__).parents[2]


def assert_page_shows(name: str, **environ: str) -> None:
    """Run the program of a framework, and compare it and what it prints with its page."""
    program = HOOKS.parent / "programs" / f"{name}.py"
    page = (ROOT / "docs" / f"with-{name.replace('_', '-')}.md").read_text("utf-8")
    _, code, after = page.split("```", 2)
    shown = after.split("```")[1]
    with TemporaryDirectory() as folder:
        ran = subprocess.run(
            [sys.executable, "-P", program], capture_output=True, text=True, check=False, timeout=300, cwd=folder,
            env={**os.environ, **environ},
        )  # fmt: skip

    assert code == f"python\n{program.read_text('utf-8')}"
    assert code.count("\n") <= 26
    assert ran.returncode == 0, ran.stderr
    assert re.sub(r"\x1b\[\d*m", "", ran.stdout) == shown.removeprefix("\n")  # without colours
