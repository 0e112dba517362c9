"""A cloned project whose settings set variables for hooks: no guard runs or decides anything else because of them.

The agent is a program with the name of one. It starts the line that attach has written as Claude Code does: with its
own environment, and the variables of the settings.
"""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib._bootstrap_external import _code_to_timestamp_pyc  # type: ignore[attr-defined]
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import interpose.cli.__main__ as entry_point
from interpose.attach.agents import find_agent
from interpose.attach.entry import make_entries
from interpose.config.read import Source
from interpose.config.review import review
from interpose.config.trust import TrustStore
from interpose.dialects.agents import agent_dialect
from interpose.events import TABLE
from interpose.server.build import client_command

pytestmark = pytest.mark.slow

RULES = """\
hooks:
  PreToolUse:
    - {name: other, command: 'env > "%(folder)s/other"', inheritEnv: true}
    - {name: listed, command: 'env > "%(folder)s/listed"', passEnv: [SETTING]}
    - {name: guard, command: 'env > "%(folder)s/guard"; exit 2', inheritEnv: true, passEnv: [SETTING], onError: abort}
"""
AGENT = """\
import json, os, subprocess, sys
line, settings = json.loads(sys.argv[1])
sys.exit(subprocess.run(["/bin/sh", "-c", line], env={**os.environ, **settings}).returncode)
"""
SETTINGS = {"SETTING": "of the project", "HTTPS_PROXY": "http://proxy.example", "GIT_DIR": "/elsewhere", "LANG": "xx"}


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A trusted project and an empty home; its path is short, as that of a socket has to be."""
    for name in list(os.environ):
        if name.startswith(("XDG_", "INTERPOSE_", "CLAUDE", "CODEX")) or name in SETTINGS:
            monkeypatch.delenv(name)
    with TemporaryDirectory(prefix="ip-", dir="/tmp") as made:
        root = Path(made)
        monkeypatch.setenv("HOME", str(root / "home"))
        monkeypatch.setenv("LANG", "C.UTF-8")
        (root / "home").mkdir()
        (root / "project" / ".interpose").mkdir(parents=True)
        rules = root / "project" / ".interpose" / "hooks.yaml"
        rules.write_text(RULES % {"folder": root})
        TrustStore().trust(review(TABLE, Source(str(rules), "project", None, found=True)))
        yield root


def line_of(agent: str = "claude") -> str:
    dialect, found = agent_dialect(agent), find_agent(agent)
    events = {"PreToolUse": "PreToolUse"}
    return make_entries(agent, events, dialect.write_failure, found.deadlines, client_command(),
                        in_posix_shell=found.in_posix_shell)[0].command  # fmt: skip


def event(folder: Path) -> str:
    return json.dumps({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(folder / "project"),
                       "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"})  # fmt: skip


def call(folder: Path, settings: dict[str, str], program: str = "claude") -> subprocess.CompletedProcess[str]:
    """Have a program start the line with the variables of the settings."""
    agent = folder / program
    agent.write_text(AGENT)
    return subprocess.run([sys.executable, str(agent), json.dumps([line_of(), settings])], input=event(folder),
                          capture_output=True, text=True, cwd=folder / "project", check=False)  # fmt: skip


def seen_by(folder: Path, hook: str) -> dict[str, str]:
    """Return the variables of the settings that a hook got."""
    lines = (folder / hook).read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if "=" in line)
    return {name: given[name] for name in SETTINGS if name in given}


@pytest.fixture
def engine(folder: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "interpose.cli", "serve"]
    with subprocess.Popen(command, cwd=folder / "project", stdout=subprocess.PIPE) as served:
        try:
            assert served.stdout is not None
            assert b"ready" in served.stdout.readline()
            yield
        finally:
            served.terminate()


def assert_only_others_get_them(folder: Path) -> None:
    done = call(folder, SETTINGS)

    assert done.returncode == 2, done
    assert seen_by(folder, "guard") == {"LANG": "C.UTF-8"}
    assert seen_by(folder, "other") == SETTINGS
    assert seen_by(folder, "listed") == {name: SETTINGS[name] for name in ("SETTING", "HTTPS_PROXY", "LANG")}


def test_a_guard_gets_what_the_agent_was_started_with_and_other_hooks_get_all(folder: Path) -> None:
    assert_only_others_get_them(folder)


@pytest.mark.usefixtures("engine")
def test_so_it_is_with_the_resident_engine(folder: Path) -> None:
    assert_only_others_get_them(folder)

    done = call(folder, {})

    assert done.returncode == 2, done
    assert seen_by(folder, "other") == seen_by(folder, "guard") == {"LANG": "C.UTF-8"}


def test_a_program_that_is_no_agent_gives_a_guard_any_variable(folder: Path) -> None:
    call(folder, SETTINGS, program="runner")

    assert seen_by(folder, "guard") == SETTINGS


def test_neither_the_line_nor_a_guard_looks_for_programs_in_a_path_of_the_settings(folder: Path) -> None:
    planted = folder / "planted"
    planted.mkdir()
    for name in ("env", "printf", "python", "python3", "sh"):
        (planted / name).write_text("#!/bin/sh\necho planted\n")
        (planted / name).chmod(0o755)

    done = call(folder, {"PATH": f"{planted}:{os.environ['PATH']}"})

    assert (done.returncode, "planted" in done.stdout) == (2, False), done
    assert "LANG=C.UTF-8" in (folder / "guard").read_text()
    assert (folder / "other").read_text() == "planted\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the message is that of glibc")
def test_a_library_of_the_settings_is_loaded_by_the_shell_alone(folder: Path) -> None:
    done = call(folder, {"LD_PRELOAD": str(folder / "missing.so")})

    assert done.returncode == 2, done
    assert done.stderr.count("missing.so") <= 1


def test_bytecode_of_the_settings_is_not_run(folder: Path) -> None:
    source = Path(str(entry_point.__file__))
    found = source.stat()
    code = compile("import os; os._exit(0)", str(source), "exec")
    cache = importlib.util.cache_from_source(str(source), optimization="")
    planted = folder / "cache" / str(source.parent).lstrip("/") / Path(cache).name
    planted.parent.mkdir(parents=True)
    planted.write_bytes(_code_to_timestamp_pyc(code, int(found.st_mtime), found.st_size))
    words = [*client_command(), "PreToolUse", "--reply", "claude", "--require"]

    done = subprocess.run(words, input=event(folder), capture_output=True, text=True, cwd=folder / "project",
                          env={**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "cache")}, check=False)  # fmt: skip

    assert done.returncode == 2, done
