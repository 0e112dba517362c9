"""Ordinary hooks keep working from a snapshot: their folder, their neighbours, modules and the path."""

import importlib.util
import json
import os
import py_compile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.snapshots.projects import Project, said_no


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


@pytest.fixture
def moved_path(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[tuple[str, str]]]:
    """Trusts a project where ``decide`` allows; fires where PATH leads to one that denies, and says who has denied."""

    def fire() -> list[tuple[str, str]]:
        (good := project.folder.parent / "good").mkdir()
        (good / "decide").write_text("#!/bin/sh\nexit 0\n")
        (good / "decide").chmod(0o755)
        project.write("bin/decide", "#!/bin/sh\nexit 2\n")
        with monkeypatch.context() as patch:
            patch.setenv("PATH", f"{good}:{os.environ['PATH']}")
            project.trust()
        monkeypatch.setenv("PATH", f"{project.folder}/bin:{os.environ['PATH']}")
        return [(result.hook, result.decision) for result in project.fire().results]

    return fire


def test_a_guard_has_the_path_that_was_recorded(
    project: Project, moved_path: Callable[[], list[tuple[str, str]]]
) -> None:
    project.configure(
        {"name": "guard", "command": "decide", "onError": "abort"},
        {"name": "words", "type": "command", "handler": "decide", "onError": "abort"},
        {"name": "locked", "command": "decide", "locked": True},
        {"name": "other", "command": "decide"},
    )

    assert moved_path() == [("guard", "none"), ("words", "none"), ("locked", "none"), ("other", "deny")]


def test_where_failures_deny_every_hook_has_that_path_that_does_not_say_otherwise(
    project: Project, moved_path: Callable[[], list[tuple[str, str]]]
) -> None:
    project.configure(
        {"name": "guard", "command": "decide"},
        {"name": "other", "command": "decide", "onError": "log"},
        errorBehavior="abort",
    )

    assert moved_path() == [("guard", "none"), ("other", "deny")]


@pytest.mark.parametrize(("more", "decision"), [({"onFailure": "block"}, "none"), ({}, "deny")])
def test_a_hook_of_a_client_has_that_path_if_its_failure_blocks(
    project: Project, moved_path: Callable[[], list[tuple[str, str]]], more: dict[str, str], decision: str
) -> None:
    project.settings("decide", **more)

    [(_, decided)] = moved_path()

    assert decided == decision


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
