"""What is live: a guard that uses what can change is refused, and another hook is listed."""

import os

import pytest
from tests.faults.snapshots.projects import GUARD, Project

from interpose import ConfigError, Hooks


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
    "the path of Perl": ("perl -Itools -MCheck -e 1", "tools"),
    "the path of Ruby": ("ruby -I . -rcheck -e 1", ""),
    "the directory of the process": ("sh /proc/self/cwd/tools/check.sh", "/proc/self/cwd/tools/check.sh"),
    "a script that is read by a dot": (". /proc/self/cwd/tools/check.sh", "/proc/self/cwd/tools/check.sh"),
    "a file that may come to be there": ("[ -f .skip ] && exit 0; exit 2", ".skip"),
    "a file that may go": ('test -d "$PWD/tools" || exit 0; exit 2', "tools"),
    "a file that may be newer": ("[[ .skip -nt /etc/hostname ]] && exit 0; exit 2", ".skip"),
    "a status that may come to be there": ("exit $(cat .status || echo 2)", ".status"),
    "input that may come to be there": ("read -r status < .status; exit ${status:-2}", ".status"),
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
        "if [ -x tools/check.sh ]; then ./tools/check.sh; fi",
        "[ -f /nowhere ] || . ./tools/check.sh",
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

    (project.folder / "tools/check.sh").unlink()
    assert project.fire().reason.endswith("trusted")


def test_a_script_that_names_files_of_the_project_by_its_variable_is_listed(project: Project) -> None:
    project.settings('"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh')
    project.write(".claude/hooks/check.sh", '#!/bin/sh\n. "$CLAUDE_PROJECT_DIR"/.claude/hooks/lib.sh\n')
    lib = project.write(".claude/hooks/lib.sh", "exit 0\n")

    assert [entry["what"] for entry in project.trust().live] == [str(lib)]
