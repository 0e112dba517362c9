"""``interpose demo``: a session of the agent with a scripted model, which shows what hooks can do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import UsageError
from ...hooks import Hooks
from ..render import paint
from ..render.streams import silence_log
from ..run.session import TerminalSession
from ..run.timeline import print_timeline
from ..run.view import LiveView, PlainView

__all__ = ["create_project", "play", "run"]

PROMPT = "Clean up, fix add() and publish. The password is hunter2, should you need it."


def run(
    plain: Annotated[bool, typer.Option("--plain", help="Print lines only, for logs.")] = False,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="DIR", help="Keep the project of the demonstration in this directory."),
    ] = None,
) -> int:
    """Runs offline, in seconds: the model plays a script; hooks, tools, files and processes are real."""
    silence_log()
    with tempfile.TemporaryDirectory(prefix="interpose-demo-") as scratch:
        project = create_project(Path(scratch))
        if keep is not None:
            _create_directory(keep)
        status, _ = play(project, PlainView() if plain or not sys.stdout.isatty() else LiveView())
        if keep is not None:
            shutil.copytree(project, keep, symlinks=True, dirs_exist_ok=True)
            print(f"\nThe project is in {keep}. `interpose list -c {keep}/hooks.yaml` lists its hooks.")
        else:
            print("\n`interpose demo --keep DIR` keeps its project for you to read; `interpose init` starts yours.")
    return status


def _create_directory(keep: str) -> None:
    """Create the directory before the session, so that an error is printed first."""
    try:
        os.makedirs(keep)
    except FileExistsError:
        raise UsageError(f"--keep {keep}: it exists already", hint="name a new directory") from None
    except OSError as error:
        raise UsageError(f"--keep {keep}: {error.strerror}", hint="name another directory") from None


def play(project: Path, view: PlainView) -> tuple[int, list[dict[str, Any]]]:
    """Play the session in a project; return the exit status and the rows of the timeline."""
    with as_file(files(__package__) / "turns.yaml") as turns:
        session = TerminalSession(
            Hooks.load(project / "hooks.yaml"), view, cwd=project, model=f"scripted:{turns}", options={"approver": None}
        )
        status = session.run(PROMPT)
    print(f"\n{paint('What the hooks did', 'bold')}  ({session.timeline.firings} events in all)\n")
    print_timeline([row for row in session.timeline.rows if row["decision"] != "-"])
    return status, session.timeline.rows


def create_project(scratch: Path) -> Path:
    """Create a small project, with a git repository and a remote to push to."""
    project = scratch / "project"
    with as_file(files(__package__) / "project") as source:
        shutil.copytree(source, project, ignore=shutil.ignore_patterns("__pycache__"))
    person = ["-c", "user.name=Demo", "-c", "user.email=demo@example.org", "-c", "commit.gpgsign=false"]
    for words in (
        ["init", "-q", "--bare", str(scratch / "remote.git")],
        ["init", "-q", "-b", "main", str(project)],
        ["-C", str(project), "remote", "add", "origin", str(scratch / "remote.git")],
        ["-C", str(project), "add", "."],
        ["-C", str(project), *person, "commit", "-q", "--no-verify", "-m", "begin"],
    ):
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(f"git could not set up the project: {done.stderr.strip()}", hint="is git installed?")
    return project
