"""The record of what was trusted lies with the person, and nothing in a project can write itself into it."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import program
from tests.faults.trusted_projects import Project

from interpose import ConfigError, Hooks
from interpose.config.trust import TrustStore

pytestmark = pytest.mark.usefixtures("home")


# The record.


def test_the_record_is_the_persons_alone(project: Project, record: Path) -> None:
    """Fault 195"""
    project.trust()

    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert stat.S_IMODE(record.parent.stat().st_mode) == 0o700
    assert sorted(path.name for path in record.parent.iterdir()) == ["snapshots", "trust.json"]
    assert list(json.loads(record.read_text())) == [str(project.file)]
    modes = {stat.S_IMODE(path.lstat().st_mode) for path in (record.parent / "snapshots").rglob("*")}
    assert modes <= {0o700, 0o600, 0o400}


def _damage(record: Path, how: str) -> None:
    good = record.read_text()
    match how:
        case "cut off":
            record.write_text(good[: len(good) // 2])
        case "empty":
            record.write_text("")
        case "binary":
            record.write_bytes(b"\x00\xff\xfe")
        case "a list":
            record.write_text("[]")
        case "deep":
            record.write_text("[" * 100_000)
        case "written by everybody":
            record.chmod(0o666)
        case "written by a group":
            record.chmod(0o660)
        case "in an open folder":
            record.parent.chmod(0o777)
        case "a link":
            record.rename(record.with_name("real.json"))
            record.symlink_to("real.json")
        case "a FIFO":
            record.unlink()
            os.mkfifo(record)
        case "a directory":
            record.unlink()
            record.mkdir()
        case _:
            os.chown(record, 12345, -1)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("cut off", "is damaged"),
        ("empty", "is damaged"),
        ("binary", "is damaged"),
        ("a list", "is damaged"),
        ("deep", "is damaged"),
        ("written by everybody", "can be written to by every user"),
        ("written by a group", "can be written to by its group"),
        ("in an open folder", "its directory can be written to by every user"),
        ("a link", "a symbolic link"),
        ("a FIFO", "a FIFO, not a file"),
        ("a directory", "a directory, not a file"),
        pytest.param("of another user", "belongs to another user", marks=pytest.mark.skipif(os.geteuid() != 0, reason="needs root")),
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_believed_has_trusted_nothing_and_the_reason_is_said(
    project: Project, record: Path, how: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 195"""
    project.trust()
    assert project.armed == ["guard"]

    _damage(record, how)

    assert project.armed == []
    (said,) = project.warnings
    assert f"the record of what is trusted, {record}, {reason}" in said
    with pytest.raises(ConfigError):  # nor is it overwritten
        project.trust()

    monkeypatch.setenv("INTERPOSE_TRUST", "all")
    assert project.armed == ["guard"]


@pytest.mark.parametrize(
    "entry", [True, "all", [], {}, {"digest": True}, {"digest": ""}, {"digest": None}, {"sha256": "x"}, "digest"]
)
def test_an_entry_of_another_shape_trusts_nothing(project: Project, record: Path, entry: Any) -> None:
    """Fault 195"""
    project.trust()
    record.write_text(
        json.dumps({str(project.file): project.review().digest if entry == "digest" else entry, "*": True})
    )

    assert project.armed == []


def test_trust_that_is_taken_back_is_gone(project: Project) -> None:
    """Fault 193"""
    project.trust()

    assert TrustStore().forget(str(project.file))
    assert project.armed == []
    assert not TrustStore().forget(str(project.file))


# 236: homes that are missing or cannot be written to.


@pytest.mark.parametrize("kind", ["missing", "a file", "relative", "empty", "read-only"])
def test_a_home_that_cannot_be_used_keeps_no_hooks_from_loading(
    project: Project, home: Path, kind: str, tmp_path: Path
) -> None:
    """Fault 236"""
    env = {"HOME": str(home), "XDG_CACHE_HOME": "", "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}
    match kind:
        case "missing":
            home.rmdir()
        case "a file":
            home.rmdir()
            home.write_text("")
        case "relative":
            env["HOME"] = "."
        case "empty":
            env["HOME"] = ""
        case _:
            home.chmod(0o555)
            if os.geteuid() == 0:
                env["XDG_CACHE_HOME"] = env["XDG_STATE_HOME"] = "/proc/none"  # where even root writes nothing

    text = f"""
        import os
        os.chdir({str(project.folder)!r})
        from interpose import Hooks
        print([hook.name for hook in Hooks.load({str(project.file)!r})], list(Hooks.discover(".")))
    """
    ran = program(text, env=env)

    assert (ran.returncode, ran.stdout.strip()) == (0, "['guard'] []"), ran.stderr
    assert sorted(os.listdir(project.folder)) == [".interpose"]


def test_trust_that_cannot_be_kept_is_said_and_not_raised_as_a_bug(project: Project, home: Path) -> None:
    """Fault 236"""
    (home / ".local").write_text("a file where the directory for state belongs")

    with pytest.raises(ConfigError, match=r"the snapshot cannot be written: File exists \(make .* writable, or set"):
        project.trust()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into everything")
@pytest.mark.parametrize("dialect", [None, "claude"])
def test_a_folder_that_may_not_be_looked_into_is_no_project_without_hooks(
    project: Project, tmp_path: Path, dialect: str | None
) -> None:
    """Fault 174"""
    below = tmp_path / "project" / "below"
    below.mkdir()
    project.write(".claude/settings.json", "{}")
    folders = [project.folder / ".interpose", project.folder / ".claude"]
    for folder in folders:
        folder.chmod(0)

    try:
        with pytest.raises(ConfigError, match="cannot be opened"):
            Hooks.discover(below, dialect=dialect)
    finally:
        for folder in folders:
            folder.chmod(0o755)
