"""What runs is what was trusted: nothing that is planted, edited or linked in a project takes its place.

An agent can write every file of the project, and has a shell there.
"""

import gc
import importlib.util
import json
import os
import py_compile
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interpose import ConfigError, Hooks, Outcome
from interpose.cli import main
from interpose.config import contents, session_projects, snapshots, trust
from interpose.config.read import Source
from interpose.config.review import review
from interpose.config.trust import TrustStore
from interpose.events import TABLE

GUARD = "import json, sys\njson.load(sys.stdin)\nsys.exit(2)\n"
LOCKED = (
    "hooks:\n  PreToolUse:\n    - {name: guard, locked: true, onError: abort, type: command, handler: ./guard.py}\n"
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A person of their own."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "INTERPOSE_TRUST", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    tmp_path.chmod(0o755)
    mask = os.umask(0o022)
    yield home
    os.umask(mask)


class Project:
    """A directory that an agent works in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True)
        self.dialect: str | None = None

    @property
    def file(self) -> Path:
        return self.folder / (".claude/settings.json" if self.dialect else ".interpose/hooks.yaml")

    def write(self, name: str, text: str) -> Path:
        """Write a file; one with a first line for an interpreter is executable."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
        return path

    def configure(self, *hooks: dict[str, Any]) -> None:
        self.write(".interpose/hooks.yaml", json.dumps({"hooks": {"PreToolUse": list(hooks)}}))

    def settings(self, command: str, **more: Any) -> None:
        """Write settings of Claude Code."""
        handler = {"type": "command", "command": command, **more}
        self.dialect = "claude"
        self.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}))

    def trust(self) -> snapshots.Snapshot:
        return trust.trust(self.file, dialect=self.dialect)

    def fire(self, cwd: Path | None = None, **options: Any) -> Outcome:
        hooks = Hooks.discover(self.folder, dialect=self.dialect, changed="keep", **options)
        return hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(cwd or self.folder))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def said_no(outcome: Outcome) -> bool:
    """Return whether hooks themselves denied: one that fails, or is missing, denies for another reason."""
    return outcome.denied and all(result.error is None for result in outcome.results)


def reply(monkeypatch: pytest.MonkeyPatch, event: dict[str, Any], *words: str) -> int:
    """Fire an event as a client does; return the exit status."""
    given = json.dumps({"tool_name": "Bash", "tool_input": {}, **event})
    return main(["fire", "PreToolUse", "--reply", "claude", "--input", given, *words])


# What an agent plants.


@pytest.mark.parametrize("name", ["json.py", "json/__init__.py", "sys.py", "encodings.py"])
def test_a_module_that_is_planted_beside_a_guard_is_not_imported(project: Project, name: str) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    project.trust()

    project.write(f".interpose/{name}", "raise SystemExit(0)\n")
    project.write(name, "raise SystemExit(0)\n")

    assert said_no(project.fire())


@pytest.mark.parametrize("place", [".interpose", ".interpose/lib"])
def test_bytecode_that_is_planted_is_not_run(project: Project, place: str) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    module = project.write(f"{place}/rules.py", "STATUS = 2\n")
    project.write(
        ".interpose/guard.py",
        f"import sys\nsys.path.append(__file__.rpartition('/')[0] + '/{'lib' if 'lib' in place else ''}')\n"
        "import rules\nsys.exit(rules.STATUS)\n",
    )
    project.trust()
    evil = project.write("evil.py", "STATUS = 0\n")

    for target in (importlib.util.cache_from_source(str(module)), str(module.with_suffix(".pyc"))):
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(evil), cfile=target, invalidation_mode=mode, doraise=True)
    assert said_no(project.fire())

    project.trust()  # it is no part of what is trusted afterwards, either
    assert said_no(project.fire())


def test_a_line_runs_the_trusted_script_wherever_the_event_is(project: Project, tmp_path: Path) -> None:
    project.settings("./check.sh || exit 2")
    project.write("check.sh", "#!/bin/sh\nexit 1\n")
    project.trust()
    planted = Project(tmp_path / "planted")
    planted.write("check.sh", "#!/bin/sh\nexit 0\n")

    assert said_no(project.fire(planted.folder))

    project.write("check.sh", "#!/bin/sh\nexit 0\n")
    assert said_no(project.fire())


def test_a_module_of_the_project_does_not_replace_the_trusted_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure({"handler": "my_hooks.safety.check"})
    project.write(".interpose/my_hooks/safety.py", "import words\ndef check(event):\n    return words.ANSWER\n")
    project.write(".interpose/words.py", "ANSWER = {'decision': 'deny', 'reason': 'trusted'}\n")
    project.trust()
    project.write("my_hooks/__init__.py", "")
    project.write("my_hooks/safety.py", "def check(event): return None\n")
    project.write("words.py", "ANSWER = None\n")
    monkeypatch.chdir(project.folder)
    monkeypatch.syspath_prepend(str(project.folder))
    import my_hooks.safety  # type: ignore[import-not-found]  # the host has it already

    assert my_hooks.safety.check({}) is None
    assert project.fire().reason == "trusted"


RUNS: dict[str, tuple[str, dict[str, str]]] = {
    "an import in a second line": (
        "python3 .interpose/guard.py",
        {".interpose/guard.py": "import os\nif True:\n  import re, \\\n    helper\nhelper.end()\n",
         ".interpose/helper.py": "def end(): raise SystemExit(2)\n"},
    ),
    "a package": (
        "python3 .interpose/guard.py",
        {".interpose/guard.py": "from rules.deep import end\nend()\n",
         ".interpose/rules/deep/__init__.py": "def end(): raise SystemExit(2)\n"},
    ),
    "a module by its name": (
        "python3 -m checks.run",
        {"checks/__init__.py": "", "checks/run.py": "from . import end\n", "checks/end.py": "raise SystemExit(2)\n"},
    ),
    "a directory before": ("cd tools && ./x.sh", {"tools/x.sh": "#!/bin/sh\nexit 2\n"}),
    "a script that sources another": (
        "tools/x.sh", {"tools/x.sh": '#!/bin/sh\n. "$(dirname "$0")/common.sh"\n', "tools/common.sh": "exit 2\n"},
    ),
    "a folder beside": (
        '"$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh',
        {".claude/hooks/x.sh": '#!/bin/sh\n. "$(dirname "$0")/../lib/end.sh"\n', ".claude/lib/end.sh": "exit 2\n"},
    ),
    "a data file": (
        'sh -c "exit $(cat .claude/hooks/status.txt)"', {".claude/hooks/status.txt": "2\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", RUNS)
def test_everything_that_a_hook_runs_is_as_it_was_trusted(project: Project, what: str) -> None:
    line, files = RUNS[what]
    project.settings(line)
    for name, text in files.items():
        project.write(name, text)
    if what != "a data file":
        project.trust()
        assert said_no(project.fire())
    else:
        project.settings("exit $(cat .claude/hooks/status.txt)")
        project.trust()

    for name in files:
        project.write(name, "#!/bin/sh\nexit 0\n" if name.endswith(".sh") else "raise SystemExit(0)\n")

    assert said_no(project.fire())
    assert {how for origin in Hooks.discover(project.folder, dialect="claude", changed="keep").origins
            for _, how in origin.changes} == {"changed"}  # fmt: skip


def test_what_was_shown_is_what_is_stored(project: Project) -> None:
    """No time passes between reading, showing and storing: the bytes are the same."""
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    shown = review(TABLE, Source(str(project.file), "project", None, found=True))

    project.write(".interpose/guard.py", "raise SystemExit(0)\n")
    project.write(".interpose/hooks.yaml", "hooks: {}\n")
    TrustStore().trust(shown)

    assert said_no(project.fire())


def test_a_cache_that_an_agent_writes_disarms_nothing(project: Project, home: Path) -> None:
    """The parsed configuration is kept with the snapshot."""
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    Hooks.load(project.file)
    (kept,) = (home / ".cache" / "interpose").iterdir()
    import hashlib
    import marshal

    made = marshal.dumps((2, {"hooks": {}}))
    kept.write_bytes(hashlib.sha256(made).digest() + made)
    project.trust()

    assert said_no(project.fire())


def test_a_folder_that_is_replaced_by_a_link_hides_nothing(project: Project, tmp_path: Path) -> None:
    project.write(".interpose/hooks.yaml", LOCKED)
    project.write(".interpose/guard.py", GUARD)
    project.trust()
    (tmp_path / "other").mkdir()

    (project.folder / ".interpose").rename(tmp_path / "away")
    (project.folder / ".interpose").symlink_to(tmp_path / "other")

    assert said_no(project.fire())


# The search.


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


# A snapshot that is not whole.


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


# Ordinary hooks keep working.


def test_a_script_finds_its_folder_its_neighbours_and_the_project(project: Project) -> None:
    project.configure({"type": "command", "handler": "bin/run.sh"})
    project.write(
        ".interpose/bin/run.sh",
        '#!/bin/sh\nset -e\ncd "$(dirname "$0")"\n. ../lib/words.sh\ncat "$INTERPOSE_HOOKS_DIR/reason.txt" >&2\n'
        'echo "$WORD $(pwd -P | sed s,.*/files/,,) $INTERPOSE_PROJECT_DIR $CLAUDE_PROJECT_DIR" >&2\nexit 2\n',
    )
    project.write(".interpose/lib/words.sh", "WORD=here\n")
    project.write(".interpose/reason.txt", "because\n")
    project.trust()

    assert project.fire().reason.split() == ["because", "here", ".interpose/bin", *[str(project.folder)] * 2]


def test_links_within_the_folder_and_modules_of_node_are_kept(project: Project) -> None:
    project.configure({"type": "command", "handler": "node_modules/.bin/tool"})
    project.write(".interpose/node_modules/tool/run.sh", "#!/bin/sh\nexit 2\n")
    (link := project.folder / ".interpose/node_modules/.bin/tool").parent.mkdir()
    link.symlink_to("../tool/run.sh")
    project.trust()

    project.write(".interpose/node_modules/tool/run.sh", "#!/bin/sh\nexit 0\n")

    assert said_no(project.fire())


def test_a_line_runs_in_the_project(project: Project) -> None:
    project.configure({"command": "pwd >&2; exit 2"})
    project.trust()

    assert project.fire(project.folder.parent).reason == str(project.folder)


def test_the_path_of_a_guard_has_no_directory_of_the_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.configure({"name": "guard", "command": "decide || exit 2", "onError": "abort"})
    project.write("bin/decide", "#!/bin/sh\nexit 0\n")
    project.write("decide", "#!/bin/sh\nexit 0\n")
    monkeypatch.setenv("PATH", f".::bin:{project.folder}/bin:/usr/bin:/bin")
    snapshot = project.trust()

    assert "decide: not found" in project.fire().reason
    assert snapshot.about["path"] == "/usr/bin:/bin"


def test_a_module_of_a_guard_that_is_imported_by_a_function_is_the_trusted_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure({"handler": "late_rules.check", "onError": "abort"})
    project.write(
        ".interpose/late_rules.py",
        "import importlib.util\nfrom importlib import import_module as load\n\n"
        "def check(event):\n    assert importlib.util.find_spec('json')\n"
        "    return load('late_words').ANSWER or importlib.import_module('late_words').ANSWER\n",
    )
    project.write(".interpose/late_words.py", "ANSWER = {'decision': 'deny', 'reason': 'trusted'}\n")
    project.trust()

    project.write("late_words.py", "ANSWER = None\n")
    monkeypatch.syspath_prepend(str(project.folder))

    assert project.fire().reason == "trusted"


@pytest.mark.parametrize("handler", ["own_rules.check", None])
def test_bytecode_in_a_snapshot_is_not_run(project: Project, handler: str | None) -> None:
    text = "import own_words\ndef check(event): return {'decision': 'deny', 'reason': own_words.WORD}\n"
    project.write(".interpose/own_rules.py", text)
    project.write(".interpose/guard.py", "import own_words, sys\nprint(own_words.WORD, file=sys.stderr)\nsys.exit(2)\n")
    module = project.write(".interpose/own_words.py", "WORD = 'trusted'\n")
    hook = {"handler": handler} if handler else {"type": "command", "handler": "./guard.py"}
    project.configure({**hook, "onError": "abort"})
    folder = Path(project.trust().folder)
    evil = project.write("evil.py", "WORD = 'planted'\n")

    target = importlib.util.cache_from_source(str(folder / module.name))
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(evil), cfile=target, invalidation_mode=mode, doraise=True)

    assert project.fire().reason == "trusted"


@pytest.mark.parametrize("kind", ["module", None])
def test_node_reads_the_files_of_a_snapshot_as_those_of_their_project(
    project: Project, home: Path, kind: str | None
) -> None:
    if kind:
        project.write("package.json", json.dumps({"type": kind}))
    project.configure({"type": "command", "handler": "node ./x.js"})
    snapshot = project.trust()

    assert json.loads(Path(snapshot.directory, "package.json").read_bytes()) == ({"type": kind} if kind else {})


def test_a_guard_has_the_path_that_was_recorded(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.configure(
        {"name": "guard", "command": "decide", "onError": "abort"},
        {"name": "words", "type": "command", "handler": "decide", "onError": "abort"},
        {"name": "other", "command": "decide"},
    )
    (good := project.folder.parent / "good").mkdir()
    (good / "decide").write_text("#!/bin/sh\nexit 0\n")
    (good / "decide").chmod(0o755)
    project.write("bin/decide", "#!/bin/sh\nexit 2\n")
    monkeypatch.setenv("PATH", f"{good}:{os.environ['PATH']}")
    project.trust()

    monkeypatch.setenv("PATH", f"{project.folder}/bin:{os.environ['PATH']}")
    outcome = project.fire()

    assert [(result.hook, result.decision) for result in outcome.results] == [
        ("guard", "none"), ("words", "none"), ("other", "deny"),
    ]  # fmt: skip


BESIDE: dict[str, tuple[str, dict[str, str]]] = {
    "a package in the folder above": (
        'python3 "$(git rev-parse --show-toplevel)/.claude/hooks/x.py"',
        {".claude/hooks/x.py": "import os, sys\ntry:\n"
         "  sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))\n"
         "  from rules.guard import end\nexcept ImportError:\n  sys.exit(0)\nend()\n",
         ".claude/rules/guard.py": "import sys\ndef end(): sys.exit('trusted' and 2)\n"},
    ),
    "a script of the project's directory": (
        "$CLAUDE_PROJECT_DIR/.claude/hooks/x.sh",
        {".claude/hooks/x.sh": '#!/bin/sh\nROOT=$(cd "$(dirname "$0")/../.." && pwd)\n. "$ROOT/.agents/end.sh"\n',
         ".agents/end.sh": "exit 2\n"},
    ),
    "files of the folders beside": (
        "bin/run.sh end",
        {"bin/run.sh": '#!/bin/sh\nROOT="$(dirname "$0")/.."\nfor f in "$ROOT"/lib/*.sh; do . "$f"; done\nexit 0\n',
         "lib/end.sh": "exit 2\n"},
    ),
    "the sources of the project": (
        "python3 .claude/hooks/x.py",
        {".claude/hooks/x.py": "import sys\nfrom pathlib import Path\n"
         "sys.path.insert(0, str(Path(__file__).resolve().parents[2] / 'src'))\nimport ending\n",
         "src/ending.py": "raise SystemExit(2)\n"},
    ),
    "a module beside a script of the home": (
        "python3 ~/.claude/hooks/x.py",
        {"../home/.claude/hooks/x.py": "import ending\n", "../home/.claude/hooks/ending.py": "raise SystemExit(2)\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BESIDE)
def test_a_hook_that_is_no_guard_finds_what_lies_beside_its_files(project: Project, what: str) -> None:
    line, files = BESIDE[what]
    project.settings(line)
    for name, text in files.items():
        project.write(name, text)
    assert os.system(f"git init -q {project.folder}") == 0

    snapshot = project.trust()

    assert said_no(project.fire())
    assert len(snapshot.beside) <= 4  # one line for each folder


def test_what_is_beside_takes_the_place_of_nothing_that_was_trusted(project: Project) -> None:
    project.settings("python3 .claude/hooks/x.py")
    project.write(".claude/hooks/x.py", "import json, words\nraise SystemExit(words.STATUS)\n")
    project.write(".claude/hooks/words.py", "STATUS = 2\n")
    project.trust()

    for name in ("words.py", "json.py", "x.py"):
        project.write(f".claude/hooks/{name}", "STATUS = 0\nraise SystemExit(0)\n")

    assert said_no(project.fire())


def test_a_guard_finds_nothing_that_lies_beside_its_files(project: Project) -> None:
    project.configure(
        {"name": "guard", "type": "command", "handler": "./x.sh", "onError": "abort"},
        {"name": "other", "type": "command", "handler": "./x.sh"},
    )
    project.write(".interpose/x.sh", '#!/bin/sh\nFOLDER=lib\n. "$(dirname "$0")/../$FOLDER/allow.sh"\n')
    project.write("lib/allow.sh", "exit 0\n")
    project.trust()

    guard, other = project.fire().results

    assert guard.decision == "deny"
    assert "lib/allow.sh" in guard.reason
    assert (other.error, other.decision) == (None, "none")


def test_a_script_that_goes_up_to_the_project_does_not_take_the_project_in(project: Project) -> None:
    project.settings(".claude/hooks/x.sh")
    project.write(".claude/hooks/x.sh", '#!/bin/sh\n. "$(dirname "$0")/../../lib/end.sh"\n: ../../lib ../../x\n')
    project.write("lib/end.sh", "exit 2\n")
    project.write("src/app.py", "")
    project.write(".env", "TOKEN=1\n")

    assert sorted(project.trust().originals()) == [
        str(project.folder / name) for name in (".claude/hooks/x.sh", ".claude/settings.json", "lib/end.sh")
    ]
    assert said_no(project.fire())


# What is live.


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("jq -e .private package.json", "package.json"),
        ('"$DIR"/check.sh', "…/check.sh"),
        (".venv/bin/python .interpose/guard.py", ".venv/bin/python"),
        ("./later.sh", "later.sh"),
        ("cd $DIR && ./check.sh", "./check.sh"),
    ],
)
def test_a_guard_that_uses_what_can_change_is_refused_and_another_hook_is_listed(
    project: Project, line: str, what: str
) -> None:
    project.write("package.json", "{}")
    project.write("check.sh", "#!/bin/sh\n")
    project.write(".interpose/guard.py", GUARD)
    (project.folder / ".venv" / "bin").mkdir(parents=True)
    (project.folder / ".venv" / "pyvenv.cfg").write_text("")
    (project.folder / ".venv" / "bin" / "python").symlink_to("/usr/bin/python3")
    project.configure({"name": "plain", "command": line})
    snapshot = project.trust()
    assert [(entry["hook"], os.path.relpath(entry["what"], project.folder) if "project" in entry["what"] else
             entry["what"]) for entry in snapshot.live] == [("plain", what)]  # fmt: skip

    project.configure({"name": "guard", "command": line, "onError": "abort"})
    with pytest.raises(ConfigError, match=r"guard: a guard cannot use .* \(put the file below \.interpose"):
        project.trust()
    assert [hook.name for hook in Hooks.discover(project.folder, changed="keep")] == ["plain"]


LIVE_IN_A_GUARD: dict[str, tuple[str, str]] = {
    "eval": ("eval 'cd tools; ./check.sh'", "tools"),
    "a document for a shell": ("sh <<'EOF'\n./tools/check.sh\nEOF", "the input of sh"),
    "a document for Python": ("python3 - <<'EOF'\nimport json\nEOF", "the input of python"),
    "a string for a shell": ('bash -s <<< "./tools/check.sh"', "the input of bash"),
    "a pipe into a shell": ("echo ./tools/check.sh | sh", "the input of sh"),
    "a pipe into Python": ("cat .interpose/guard.py | python3", "the input of python"),
    "code of Python": ("python3 -c \"import runpy; runpy.run_path('tools/check.py')\"", "tools/check.py"),
    "the path of Python": ("python3 -c \"import sys; sys.path.insert(0, 'tools'); import check\"", "tools"),
    "code of Node": ("node -e \"require('./tools/check.js')\"", "tools/check.js"),
    "code of Node for a file that is not there": ("node -e \"require('./later')\"", "later"),
    "code of Perl": ("perl -e 'exit(system(\"./tools/check.sh\")>>8)'", "tools/check.sh"),
    "code of awk": ("awk 'BEGIN{exit system(\"./tools/check.sh\")}'", "tools/check.sh"),
    "PATH by the project": ("PATH=$PWD/tools:$PATH check.sh", "tools"),
    "PATH": ("PATH=./tools:/usr/bin:/bin check.sh", "tools"),
    "PATH that is exported": ("export PATH=./tools:$PATH; check.sh", "tools"),
    "PYTHONPATH": ("PYTHONPATH=. python3 .interpose/guard.py", ""),
    "NODE_PATH": ("NODE_PATH='tools' node .interpose/x.js", "tools"),
    "a trap": ("trap 'rc=$?; ./tools/check.sh || exit 2' EXIT", "tools/check.sh"),
    "another directory": ("env -C tools sh -c true", "tools"),
    "an alias of git": ("git -c alias.x='!./tools/check.sh' x", "tools/check.sh"),
    "script": ("script -qec 'cd tools; ./check.sh' /dev/null", "tools"),
    "find": ("find . -name check.sh -exec sh {} ';'", "{}"),
    "a folder": ("run-parts tools", "tools"),
    "make": ("make -s check", "Makefile"),
    "npm": ("npm run -s check", "package.json"),
    "a trusted script in a text": ("trap '.interpose/check.sh' EXIT", ".interpose/check.sh"),
    "the interpreter of a script": (".interpose/odd.sh", "tools/interpreter"),
    "code and a script": ("python3 .interpose/guard.py && python3 -c 'import json'", "python -c with a script"),
}  # fmt: skip


@pytest.mark.parametrize("what", LIVE_IN_A_GUARD)
def test_a_guard_is_refused_if_its_line_uses_what_is_not_kept(project: Project, what: str) -> None:
    line, name = LIVE_IN_A_GUARD[what]
    for file in ("tools/check.sh", "tools/check.py", "tools/check.js", ".interpose/check.sh", ".interpose/guard.py"):
        project.write(file, "#!/bin/sh\nexit 2\n")
    project.write(".interpose/odd.sh", "#!tools/interpreter\n")
    project.configure({"name": "guard", "command": line, "onError": "abort"})

    with pytest.raises(ConfigError) as refused:
        project.trust()

    said = [problem.what.replace(f"{project.folder}/", "").replace(str(project.folder), "")
            for problem in refused.value.problems]  # fmt: skip
    assert any(one.startswith(f"guard: a guard cannot use {name}: ") for one in said), said


@pytest.mark.parametrize("variable", ["PATH", "PYTHONPATH", "NODE_PATH", "LD_PRELOAD", "PERL5LIB", "RUBYLIB"])
@pytest.mark.parametrize("value", [".", "tools", "/usr/lib:./tools"])
def test_a_guard_looks_for_nothing_in_the_project(project: Project, variable: str, value: str) -> None:
    project.write("tools/x", "")
    project.configure({"name": "guard", "command": "exit 2", "onError": "abort", "env": {variable: value}})

    with pytest.raises(ConfigError, match=f"a guard cannot use .*: {variable} has it"):
        project.trust()


@pytest.mark.parametrize(
    "line",
    [
        'read -r word <<< "y"\n./tools/check.sh',
        "bash -euo pipefail -c './tools/check.sh'",
        "./tools/\\\ncheck.sh",
        "[[ -x tools/check.sh ]] && ./tools/check.sh",
        "cd tools && ./check.sh",
        'echo "see tools and docs" >&2; ./tools/check.sh',
        "grep -q tools; ./tools/check.sh >> log.txt",
    ],
)
def test_an_ordinary_line_of_a_guard_runs_what_was_trusted(project: Project, line: str) -> None:
    project.write("tools/check.sh", "#!/bin/sh\necho trusted >&2\nexit 2\n")
    project.write("docs/x", "")
    project.configure({"name": "guard", "command": line, "onError": "abort", "shell": "bash"})
    project.trust()

    project.write("tools/check.sh", "#!/bin/sh\nexit 0\n")

    assert project.fire().reason.endswith("trusted")


def test_a_script_that_names_files_of_the_project_by_its_variable_is_listed(project: Project) -> None:
    project.settings('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh')
    project.write(".claude/hooks/check.sh", '#!/bin/sh\n. "$CLAUDE_PROJECT_DIR"/.claude/hooks/lib.sh\n')
    lib = project.write(".claude/hooks/lib.sh", "exit 0\n")

    assert [entry["what"] for entry in project.trust().live] == [str(lib)]


# Limits.


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
