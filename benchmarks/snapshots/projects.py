"""Projects with hooks, and copies of them in which events are fired.

Every copy of a project has the same path, the same content and a home of its own, so that what hooks say can be
compared, and nothing that one writes reaches another.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.snapshots.events import WRITTEN, events_of
from interpose.events import TABLE

FIRING = Path(__file__).with_name("firing.py")
LONGEST = 900.0
"""Seconds for all events of a project; each hook has ten."""

_STATE = Path(".local/state/interpose")
_TRUST = """
import sys
from interpose import InterposeError
from interpose.config.trust import trust
try:
    for file in sys.argv[2:]:
        trust(file, dialect=sys.argv[1] or None)
except InterposeError as error:
    sys.exit(str(error))
"""
_GIT = ("-c", "user.name=Ana", "-c", "user.email=ana@example.com", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Project:
    """A directory with configuration files, as it was found."""

    repository: str
    name: str
    directory: Path
    files: Sequence[str]
    """The configuration files, relative to the directory."""
    dialect: str | None = "claude"
    inside: str = ""
    """Where in a copy the directory is; empty if it is the copy itself."""

    def events(self, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events to fire in a copy at that place."""
        for file in self.files:
            read = json.loads if file.endswith(".json") else yaml.safe_load
            given = read(
                (self.directory / Path(file).name if self.inside else self.directory / file).read_text("utf-8")
            )
            yield from events_of({name: value for name, value in given["hooks"].items() if name in TABLE}, place)
        cases = self.directory / "cases.yaml"
        if self.inside and cases.is_file():
            for case in yaml.safe_load(cases.read_text("utf-8")):
                fields = {"cwd": place, "session_id": "1", **case["given"]}
                yield fields.pop("event"), fields


def claude_projects(cases: Path) -> Iterator[Project]:
    """The projects below a directory that have hooks in a settings file of Claude Code; a repository is its child."""
    for repository in sorted(path for path in cases.iterdir() if path.is_dir()):
        for folder in sorted(repository.rglob(".claude")):
            names = ("settings.json", "settings.local.json")
            files = [f".claude/{name}" for name in names if _has_hooks(folder / name)]
            if files:
                name = str(folder.parent.relative_to(cases))
                yield Project(repository.name, name, folder.parent, files)


def native_projects(examples: Path) -> Iterator[Project]:
    """The examples, each as the `.interpose` of a project."""
    for file in sorted(examples.glob("*/hooks*.yaml")):
        name = f"{examples.name}/{file.parent.name}/{file.name}"
        yield Project(examples.name, name, file.parent, [f".interpose/{file.name}"], None, ".interpose")


def trust_here(python: str, files: Sequence[Path], env: Mapping[str, str], dialect: str | None) -> str:
    """Trust configuration files; return why that is refused, or nothing."""
    command = [python, "-c", _TRUST, dialect or "", *map(str, files)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def _has_hooks(path: Path) -> bool:
    try:
        given = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    hooks = given.get("hooks") if isinstance(given, dict) else None
    return isinstance(hooks, dict) and any(isinstance(groups, list) and groups for groups in hooks.values())


@dataclass(frozen=True)
class Fired:
    """What a process that fired events has told of each, and the files that have changed in the copy."""

    firings: Sequence[dict[str, Any]]
    files: set[str]


class Copies:
    """Fresh copies of one project, one at a time, and firings in them."""

    def __init__(self, project: Project, scratch: Path, python: str) -> None:
        self.project, self.python = project, python
        self.template, self.trusted = scratch / "template", scratch / "trusted"
        self.place, self.home = scratch / "copy" / "project", scratch / "copy" / "home"
        self.programs = scratch / "bin"
        self.programs.mkdir(parents=True)
        for name in ("python", "python3"):
            (self.programs / name).symlink_to(os.path.realpath(python))
        self._make_template()
        self.untrusted = self._trust()
        """Why it cannot be trusted; nothing if it is."""

    def _make_template(self) -> None:
        shutil.copytree(
            self.project.directory, self.template / self.project.inside, symlinks=True,
            ignore=shutil.ignore_patterns(".git", "__pycache__"),
        )  # fmt: skip
        named = self.template / self.project.files[0]
        if self.project.inside and named.name != "hooks.yaml":
            named.replace(named.with_name("hooks.yaml"))
        for name, text in WRITTEN.items():
            (self.template / name).parent.mkdir(parents=True, exist_ok=True)
            (self.template / name).write_text(text, encoding="utf-8")
        for directory, _, files in os.walk(self.template):
            for path in (Path(directory), *(Path(directory, name) for name in files)):
                if not path.is_symlink():
                    path.chmod(path.stat().st_mode & ~0o022 | 0o600)
        for arguments in (("init", "-q", "-b", "topic"), ("add", "-A"), (*_GIT, "commit", "-qm", "Begin")):
            subprocess.run(["git", *arguments], cwd=self.template, env=self._environment(), check=True)

    def _trust(self) -> str:
        self._renew(trusted=False)
        files = [self.place / file for file in self.files]
        if said := trust_here(self.python, files, self._environment(), self.project.dialect):
            return said
        shutil.copytree(self.home / _STATE, self.trusted, symlinks=True)
        return ""

    @property
    def files(self) -> list[str]:
        return [f"{self.project.inside}/hooks.yaml"] if self.project.inside else list(self.project.files)

    def fire(self, events: Sequence[tuple[str, Mapping[str, Any]]], *, trusted: bool) -> Fired:
        """Fire events in a fresh copy, one after the other: of the files in place, or of what is found and trusted."""
        self._renew(trusted=trusted)
        before = _listed(self.place)
        files = [] if trusted else self.files
        request = {"files": files, "dialect": self.project.dialect, "events": events}
        firings = self._firings(json.dumps(request)) or [{"problem": "the process that fires has failed"}] * len(events)
        after = _listed(self.place)
        changed = {self.neutral(name) for name in {*before, *after} if before.get(name) != after.get(name)}
        return Fired(firings, changed)

    def _firings(self, request: str) -> list[dict[str, Any]]:
        """Run the process that fires, and return what it tells; nothing if it fails, which it has said itself."""
        try:
            done = subprocess.run(
                [self.python, str(FIRING)], input=request, cwd=self.place, env=self._environment(), check=True,
                capture_output=True, text=True, timeout=LONGEST,
            )  # fmt: skip
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{self.project.name}: {error} {error.stderr!r}", file=sys.stderr)
            return []
        told: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
        return told

    def _renew(self, *, trusted: bool) -> None:
        shutil.rmtree(self.place.parent, ignore_errors=True)
        shutil.copytree(self.template, self.place, symlinks=True)
        self.home.mkdir()
        if trusted:
            shutil.copytree(self.trusted, self.home / _STATE, symlinks=True)

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}:{os.environ.get('PATH', os.defpath)}", "HOME": str(self.home), "LANG": "C.UTF-8",
            "TMPDIR": str(self.home), "GIT_CONFIG_NOSYSTEM": "1", "UV_OFFLINE": "1", "USER": "ana",
        }  # fmt: skip

    def neutral(self, text: str) -> str:
        """Text without what differs between two runs of one program: places, times, numbers of processes, ids."""
        snapshots = f"{re.escape(str(self.home / _STATE))}/snapshots"
        text = re.sub(rf"{snapshots}/[0-9a-f]{{64}}/(?:linked/)?files", str(self.place), text)
        text = text.replace(f"{self.place}/", "")  # a script names itself as it was called, from the project or in full
        for pattern, word in _VARYING:
            text = pattern.sub(word, text)
        return text


_VARYING = [
    (re.compile(r"\d{4}-\d\d-\d\d([T _]\d\d[:-]?\d\d([:-]?\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?)?"), "DATE"),
    (re.compile(r"\b\d{8}[-_T]?\d{4,6}\b"), "DATE"),
    (re.compile(r"\b\d\d:\d\d(:\d\d)?(\.\d+)?\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE), "ID"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b", re.IGNORECASE), "ID"),
    (re.compile(r"\b\d{5,}(\.\d+)?\b"), "NUMBER"),
    (re.compile(r"\b\d+(\.\d+)?\s?(ms|s|µs|seconds?|minutes?|hours?)\b"), "DURATION"),
]


def _listed(directory: Path) -> dict[str, tuple[int, int]]:
    """Every file of a copy but those of git and compiled modules, with size and time."""
    found = {}
    for parent, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if name not in (".git", "__pycache__")]
        for name in names:
            path = Path(parent, name)
            info = path.lstat()
            found[str(path.relative_to(directory))] = (info.st_size, info.st_mtime_ns)
    return found
