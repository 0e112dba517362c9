"""The search: an untrusted file hides no trusted one, and where nothing is trusted nothing goes on in silence."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults.snapshots.projects import GUARD, LOCKED, Project, reply

from interpose import ConfigError, Hooks
from interpose.config import session_projects, trust


def test_an_untrusted_file_below_hides_no_trusted_one(project: Project, capsys: Any, monkeypatch: Any) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    project.trust()
    near = project.write("sub/.interpose/hooks.yaml", "hooks: {}\n")
    project.write("sub/.git/HEAD", "")
    monkeypatch.chdir(near.parents[1])

    status = reply(monkeypatch, {"cwd": str(near.parents[1])})

    assert status == 2
    said = capsys.readouterr().err
    assert "guard exited with status 2" in said
    assert f"{near}: found, but not trusted" in said


def test_a_broken_untrusted_file_disarms_no_trusted_one(project: Project) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    project.trust()
    project.write(".interpose/hooks.local.yaml", "hooks: [")

    hooks = Hooks.discover(project.folder)

    assert [hook.name for hook in hooks] == ["guard"]
    assert any("hooks.local.yaml" in problem.where for problem in hooks.warnings)


def test_untrusted_files_above_the_repository_are_not_looked_for(project: Project) -> None:
    project.write(".interpose/hooks.yaml", "hooks: {}\n")
    project.write("sub/.git/HEAD", "")

    assert Hooks.discover(project.folder / "sub").origins == ()
    assert len(Hooks.discover(project.folder).origins) == 1


def test_hooks_of_the_same_name_in_two_projects_both_hold(project: Project) -> None:
    inner = Project(project.folder / "sub")
    for one, word in ((project, "outer"), (inner, "inner")):
        one.configure({"name": "same", "type": "script", "handler": f"/context {word}"})
        one.trust()

    assert inner.fire().context == ["outer", "inner"]


def test_a_session_keeps_the_project_of_its_first_event(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    project.trust()
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)

    assert reply(monkeypatch, {"cwd": str(elsewhere), "session_id": "s"}) == 0  # nothing is trusted here
    assert reply(monkeypatch, {"cwd": str(project.folder), "session_id": "s"}) == 2
    assert reply(monkeypatch, {"cwd": str(elsewhere), "session_id": "s"}) == 2
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(elsewhere))
    assert reply(monkeypatch, {"cwd": str(elsewhere), "session_id": "s"}) == 2
    assert reply(monkeypatch, {"cwd": str(elsewhere), "session_id": "another"}) == 0


@pytest.mark.parametrize("how", ["project", "directory above", "link"])
@pytest.mark.parametrize("session", ["begun", "new"])
def test_a_project_that_is_moved_and_linked_to_is_still_under_its_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, how: str, session: str
) -> None:
    project = Project(tmp_path / "above" / "project")
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    where = project.folder
    if how == "link":
        (where := tmp_path / "link").symlink_to(project.folder)
    trust.trust(where / ".interpose" / "hooks.yaml")
    event = {"cwd": str(where), "session_id": "s"}
    monkeypatch.chdir(tmp_path)
    if session == "begun":
        assert reply(monkeypatch, event) == 2

    if how == "link":
        (tmp_path / "other").mkdir()
        where.unlink()
        where.symlink_to("other")
    else:
        moved = where if how == "project" else where.parent
        moved.rename(tmp_path / "moved")
        moved.symlink_to(tmp_path / "moved")
        shutil.rmtree(where / ".interpose")

    capsys.readouterr()
    assert reply(monkeypatch, event) == 2
    assert "guard exited with status 2" in capsys.readouterr().err


def test_a_directory_of_the_project_that_leads_out_of_it_is_under_its_hooks(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    project.trust()
    (tmp_path / "other").mkdir()
    (project.folder / "sub").symlink_to(tmp_path / "other")
    monkeypatch.chdir(tmp_path)

    for _ in range(2):
        assert reply(monkeypatch, {"cwd": str(project.folder / "sub"), "session_id": "s"}) == 2
        assert "guard exited with status 2" in capsys.readouterr().err


def test_many_other_sessions_do_not_push_a_session_out(home: Path) -> None:
    session_projects.keep_project("mine", "/project")
    folder = home / ".local/state/interpose/session-projects"
    mine = next(folder.iterdir())
    os.utime(mine, (time.time() - 5 * 86_400,) * 2)
    for number in range(1100):
        (folder / str(number)).write_text("/x")
    (folder / "old").write_text("/x")
    os.utime(folder / "old", (0, 0))

    session_projects.keep_project("another", "/other")

    assert session_projects.project_of_session("mine") == "/project"
    assert mine.stat().st_mtime > time.time() - 60  # it was used now
    assert not (folder / "old").exists()


@pytest.mark.parametrize("what", ["nothing", "untrusted", "trusted", "own"])
def test_require_refuses_where_nothing_is_trusted(
    project: Project, home: Path, what: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    if what in ("trusted", "untrusted"):
        project.configure({"type": "script", "handler": "/context x"})
    if what == "trusted":
        project.trust()
    if what == "own":
        file = home / ".config" / "interpose" / "hooks.yaml"
        file.parent.mkdir(parents=True)
        file.write_text("hooks: {Stop: [{type: script, handler: /context x}]}\n")
        trust.trust(file)

    status = reply(monkeypatch, {"cwd": str(project.folder)}, "--require")

    refused = what in ("nothing", "untrusted")
    assert (status, "interpose trust" in capsys.readouterr().err) == (2 if refused else 0, refused)


def test_outside_of_a_project_nothing_simply_goes_on(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)

    assert reply(monkeypatch, {"cwd": str(tmp_path)}) == 0
    assert "no configuration was found: nothing is checked (--require refuses this)" in capsys.readouterr().err
    assert reply(monkeypatch, {"cwd": str(tmp_path)}, "--require") == 2


def test_discover_can_require_a_trusted_file(project: Project) -> None:
    project.configure({"type": "script", "handler": "/context x"})

    with pytest.raises(ConfigError, match="no trusted configuration was found"):
        Hooks.discover(project.folder, required=True)

    project.trust()
    assert len(list(Hooks.discover(project.folder, required=True))) == 1
