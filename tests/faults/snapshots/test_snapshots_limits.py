"""Limits of snapshots, and the record of what was trusted."""

import gc
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.faults.snapshots.projects import GUARD, LOCKED, Project, said_no

from interpose import ConfigError, Hooks
from interpose.cli import main
from interpose.config import contents, snapshots
from interpose.config.read import Source
from interpose.config.review import review
from interpose.config.trust import TrustStore
from interpose.events import TABLE


def test_a_folder_that_is_too_large_is_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (contents.MOST_BYTES, contents.MOST_FILES) == (10 * 1024 * 1024, 1000)
    monkeypatch.setattr(contents, "MOST_BYTES", 1 << 20)
    monkeypatch.setattr(contents, "MOST_FILES", 20)
    project.configure({"command": "true"})
    project.write(".interpose/large.bin", "x" * (1 << 20))
    with pytest.raises(ConfigError, match="more than 1 MiB or 20 files would have to be kept"):
        project.trust()

    project.write(".interpose/large.bin", "")
    for number in range(20):
        project.write(f".interpose/many/{number}", "")
    with pytest.raises(ConfigError, match="has more than 20 files"):
        project.trust()
    assert not (Path(os.environ["HOME"]) / ".local").exists()


@pytest.mark.parametrize("target", ["/etc/hostname", "../../home", "/"])
def test_a_link_out_of_the_project_is_refused(project: Project, target: str) -> None:
    project.configure({"command": "true"})
    (project.folder / ".interpose" / "link").symlink_to(target)

    with pytest.raises(ConfigError, match="a link out of the project"):
        project.trust()


def test_what_interpose_writes_into_the_folder_is_no_part_of_a_snapshot(project: Project) -> None:
    project.write(
        ".interpose/hooks.yaml", "audit: {path: record.db}\nhooks: {Stop: [{type: script, handler: /context x}]}\n"
    )
    for name in ("record.db", "record.db-wal", "sessions/one.jsonl", "cases.yaml", "hooks.local.yaml", "run.log"):
        project.write(f".interpose/{name}", "")
    project.write(".interpose/__pycache__/x.pyc", "")

    assert list(project.trust().originals()) == [str(project.file)]
    assert Hooks.discover(project.folder).audit.path == str(project.folder / ".interpose" / "record.db")  # type: ignore[union-attr]


# The record.


def test_a_record_of_version_0_1_is_shown_for_trusting_again(project: Project, home: Path, capsys: Any) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    record = home / ".local" / "state" / "interpose" / "trust.json"
    record.parent.mkdir(parents=True, mode=0o700)
    old = {"digest": "0" * 64, "sha256": "1" * 64, "references": {}, "text": "hooks: {}\n"}
    record.write_text(json.dumps({str(project.file): old}))

    with pytest.raises(ConfigError, match="was trusted by an earlier version, which kept no copy of it"):
        project.fire()
    assert main(["trust", "--list"]) == 0
    assert f"old       {project.file}" in capsys.readouterr().out
    main(["trust", str(project.file), "--diff"])
    assert "-hooks: {}\n" in capsys.readouterr().out

    project.trust()
    assert said_no(project.fire())


def test_snapshots_that_no_record_needs_are_removed_after_a_day_if_no_process_uses_them(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home / ".local" / "state" / "interpose" / "snapshots"
    names, used = [], []
    for word in ("one", "two", "three"):
        project.configure({"type": "script", "handler": f"/context {word}"})
        names.append(os.path.basename(project.trust().directory))
        used += [Hooks.discover(project.folder)] if word == "two" else []
    assert set(os.listdir(folder)) == set(names)

    monkeypatch.setattr(snapshots, "_KEPT", -1.0)
    project.trust()
    assert set(os.listdir(folder)) == set(names[1:])

    used.clear()
    gc.collect()
    project.trust()
    assert set(os.listdir(folder)) == set(names[2:])

    assert TrustStore().forget(str(project.file))
    assert os.listdir(folder) == []


def test_trusting_an_older_content_again_is_a_new_act(project: Project) -> None:
    for word in ("one", "two"):
        project.configure({"type": "script", "handler": f"/context {word}"})
        project.trust()
    project.configure({"type": "script", "handler": "/context one"})

    assert project.fire().context == ["two"]


def test_a_digest_from_outside_trusts_the_same_content_at_another_place(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Project(tmp_path / "checkout")
    for one in (project, other):
        one.write(".interpose/hooks.yaml", LOCKED)
        one.write(".interpose/guard.py", GUARD)
    made = review(TABLE, Source(str(project.file), "project", None, found=True))
    monkeypatch.setenv("INTERPOSE_TRUST", made.digest)

    assert said_no(other.fire())

    other.write(".interpose/guard.py", "raise SystemExit(0)\n")
    assert list(Hooks.discover(other.folder)) == []


def test_a_machine_without_a_state_directory_runs_from_a_temporary_one(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    (home / ".local").write_text("")
    monkeypatch.setattr(snapshots, "_temporary", [])
    monkeypatch.setenv("INTERPOSE_TRUST", "all")

    assert said_no(project.fire())
