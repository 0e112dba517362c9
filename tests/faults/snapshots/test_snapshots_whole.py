"""A snapshot that is not whole is not run, and what hooks write beside themselves harms none."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.faults.snapshots.projects import GUARD, LOCKED, Project, said_no

from interpose import ConfigError, Hooks
from interpose.config import contents


@pytest.mark.parametrize("how", ["removed", "a file removed", "a file changed", "manifest", "moved"])
def test_a_snapshot_that_is_not_whole_is_not_loaded(project: Project, home: Path, how: str) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    directory = Path(project.trust().directory)
    guard = directory / "files" / ".interpose" / "guard.py"
    match how:
        case "removed":
            shutil.rmtree(directory)
        case "a file removed":
            guard.unlink()
        case "a file changed":
            guard.chmod(0o600)
            guard.write_text("raise SystemExit(0)\n")
        case "manifest":
            (directory / "manifest.json").write_text("{}")
        case _:
            directory.rename(directory.with_name("0" * 64))
            record = home / ".local" / "state" / "interpose" / "trust.json"
            record.write_text(record.read_text().replace(directory.name, "0" * 64))

    with pytest.raises(ConfigError, match=r"cannot be loaded: the snapshot that was trusted is not whole: .* trust"):
        project.fire()

    project.trust()
    assert said_no(project.fire())


def test_hooks_deny_if_their_snapshot_goes_away(project: Project) -> None:
    project.configure({"command": "true"}, {"handler": "mine.check"})
    project.write(".interpose/mine.py", "def check(event): return None\n")
    snapshot = project.trust()
    hooks = Hooks.discover(project.folder)

    shutil.rmtree(snapshot.directory)
    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={})

    assert outcome.denied
    assert outcome.results[0].error is not None
    assert outcome.results[0].error.code == "changed"


def test_a_hook_may_write_beside_itself(project: Project) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(
        ".interpose/guard.py",
        "import os, sys\nopen(os.path.join(os.path.dirname(__file__), 'seen.txt'), 'a').write('x')\nsys.exit(2)\n",
    )
    snapshot = project.trust()

    assert [said_no(project.fire()) for _ in range(2)] == [True, True]
    assert (Path(snapshot.folder) / "seen.txt").read_text() == "xx"
    assert not (project.folder / ".interpose" / "seen.txt").exists()


@pytest.mark.parametrize("hook", [{"onError": "abort"}, {}])
def test_a_hook_may_write_to_a_file_that_was_there_and_is_neither_run_nor_named(
    project: Project, hook: dict[str, Any]
) -> None:
    project.configure({"type": "command", "handler": "./count.sh", **hook})
    project.write(
        ".interpose/count.sh", '#!/bin/sh\ncd "$(dirname "$0")"\necho x >> count.txt\ncat count.txt >&2\nexit 2\n'
    )
    original = project.write(".interpose/count.txt", "")
    project.trust()

    assert [project.fire().reason.split() for _ in range(2)] == [["x"], ["x", "x"]]
    assert original.read_text() == ""


def test_a_file_that_a_line_names_stays_as_it_was_trusted_in_the_snapshot(project: Project) -> None:
    project.configure({"name": "guard", "command": "grep -qf .interpose/words.txt && exit 2", "onError": "abort"})
    project.write(".interpose/words.txt", "Bash\n")
    copy = Path(project.trust().folder) / "words.txt"
    assert said_no(project.fire())

    copy.chmod(0o600)
    copy.write_text("nothing\n")

    with pytest.raises(ConfigError, match=r"words\.txt has changed"):
        project.fire()


def test_a_hook_that_is_no_guard_may_write_a_script_beside_itself(project: Project) -> None:
    project.configure({"type": "command", "handler": "./x.sh"})
    project.write(".interpose/x.sh", '#!/bin/sh\necho exit 2 >> "$(dirname "$0")/made.js"\nexit 2\n')
    project.trust()

    assert [said_no(project.fire()) for _ in range(2)] == [True, True]


def test_a_package_that_is_called_sessions_is_kept_if_it_is_one_of_the_hooks(project: Project) -> None:
    project.configure({"type": "command", "handler": "./x.py"})
    project.write(".interpose/x.py", "import sys, sessions.end\n")
    project.write(".interpose/sessions/__init__.py", "")
    project.write(".interpose/sessions/end.py", "import sys\nsys.exit(2)\n")
    project.trust()

    assert said_no(project.fire())


def test_sounds_and_pictures_are_not_copied_and_are_found_where_they_are(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MOST_BYTES", 10_000)
    project.settings(".claude/hooks/x.sh")
    project.write(".claude/hooks/x.sh", '#!/bin/sh\ntest -f "$(dirname "$0")/sounds/done.WAV" && exit 2\n')
    sound = project.write(".claude/hooks/sounds/done.WAV", "x" * 20_000)
    project.write(".claude/hooks/sounds/names.txt", "done\n")
    snapshot = project.trust()

    assert said_no(project.fire())
    assert str(sound) in snapshot.beside[str(sound.parent)].values()


@pytest.mark.parametrize("name", ["json.py", "json/__init__.py", "json.so", "node_modules/x.js"])
def test_what_appears_in_a_snapshot_is_not_run_in_the_place_of_another(project: Project, name: str) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    planted = Path(project.trust().folder) / name
    planted.parent.mkdir(exist_ok=True)
    planted.write_text("raise SystemExit(0)\n")

    with pytest.raises(ConfigError, match="was not trusted, and may be run in the place of another"):
        project.fire()
