"""``interpose demo``: a whole session of the agent on a scripted model, in which a reader sees what hooks can do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from ...errors import UsageError
from ...hooks import Hooks
from ..frames import Lines, Live
from ..job import Job
from ..outputs import without_log
from ..timeline import show_timeline
from ..words import paint

__all__ = ["run"]

PROMPT = "Clean up, fix add() and publish. The password is hunter2, should you need it."


def run(
    plain: Annotated[bool, typer.Option("--plain", help="Lines only, for logs.")] = False,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="DIR", help="Leave the project of the demonstration here.")
    ] = None,
) -> int:
    """Offline and in seconds: the model plays a script; hooks, tools, files and processes are real."""
    without_log()
    with tempfile.TemporaryDirectory(prefix="interpose-demo-") as scratch:
        project = _lay_out(Path(scratch))
        if keep is not None:
            _make_room(keep)
        status = _play(project, Lines() if plain or not sys.stdout.isatty() else Live())
        if keep is not None:
            shutil.copytree(project, keep, symlinks=True, dirs_exist_ok=True)
            print(f"\nThe project is in {keep}. `interpose list -c {keep}/hooks.yaml` lists its hooks.")
        else:
            print("\n`interpose demo --keep DIR` leaves its project for you to read; `interpose init` begins yours.")
    return status


def _make_room(keep: str) -> None:
    """Make the directory before anything is shown: that it cannot be made should not be said after the last word."""
    try:
        os.makedirs(keep)
    except FileExistsError:
        raise UsageError(f"--keep {keep}: it is there already", hint="name a directory that is not there") from None
    except OSError as error:
        raise UsageError(f"--keep {keep}: {error.strerror}", hint="name a directory that can be made") from None


def _play(project: Path, view: Lines) -> int:
    with as_file(files(__package__) / "turns.yaml") as turns:
        job = Job(
            Hooks.load(project / "hooks.yaml"), view, cwd=project, model=f"scripted:{turns}", options={"approver": None}
        )
        status = job.run(PROMPT)
    print(f"\n{paint('What the hooks did', 'bold')}  ({job.timeline.firings} events in all)\n")
    show_timeline([row for row in job.timeline.rows if row["decision"] != "-"])
    return status


def _lay_out(scratch: Path) -> Path:
    """Make a small project, with a repository that can be pushed to another."""
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
