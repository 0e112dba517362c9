"""What runs is what was trusted: nothing that is planted, edited or linked in a project takes its place.

An agent can write every file of the project, and has a shell there.
"""

import importlib.util
import py_compile
from pathlib import Path

import pytest
from tests.faults.snapshots.projects import GUARD, LOCKED, Project, said_no

from interpose import Hooks
from interpose.config.read import Source
from interpose.config.review import review
from interpose.config.trust import TrustStore
from interpose.events import TABLE


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


@pytest.mark.parametrize("how", ["rewritten", "exchanged"])
def test_a_script_that_changes_between_the_check_and_the_start_is_not_run(project: Project, how: str) -> None:
    project.configure({"name": "guard", "type": "command", "handler": "./guard.sh", "onError": "abort"})
    guard = project.write(".interpose/guard.sh", "#!/bin/sh\nexit 2\n")
    project.trust()

    def between(event: object) -> None:
        name = ".interpose/guard.sh" if how == "rewritten" else "planted.sh"
        project.write(name, "#!/bin/sh\nexit 0\n").replace(guard)

    hooks = Hooks.discover(project.folder)
    hooks.register("PreToolUse", between, name="between", priority=-1)
    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(project.folder))

    assert [result.hook for result in outcome.results] == ["between", "guard"]
    assert said_no(outcome)
    assert guard.read_text() == "#!/bin/sh\nexit 0\n"


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
