"""The examples do what they say: alone, brought in together, and against those who would get round them."""

import fcntl
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks
from interpose.cli.init.examples import Choice, examples
from interpose.policies import POLICIES
from interpose.testing import fire

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
EXAMPLES = examples()
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def all_choices() -> Iterator[Any]:
    for name, example in EXAMPLES.items():
        yield pytest.param(name, id=name)
        for variant in example.variants:
            yield pytest.param(f"{name}:{variant}", id=f"{name}:{variant}", marks=[needs_node] * (variant == "node"))


CHOICES = list(all_choices())


def choice_of(word: str) -> Choice:
    name, _, variant = word.partition(":")
    return Choice(EXAMPLES[name], variant)


@pytest.fixture
def project(tmp_path: Path, quick: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "bin").symlink_to(quick)
    return tmp_path / "project"


def interpose(project: Path, *words: str) -> str:
    """What the command line says, in a project whose person has an empty home."""
    programs = f"{project.parent / 'bin'}:{BIN}:{os.environ['PATH']}"
    environment = {"PATH": programs, "HOME": str(project.parent / "home"), "LANG": "C.UTF-8"}
    done = subprocess.run(["interpose", *words], cwd=project, env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=False)  # fmt: skip
    assert done.returncode == 0, f"interpose {' '.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


def run_script(path: Path, event: str, env: dict[str, str] | None = None, **fields: Any) -> Any:
    """The outcome of one script of an example, as a hook of its own that must not fail."""
    hooks = Hooks()
    hooks.register(event, [str(path)], type="command", name="script", env=env or {}, on_error="abort", timeout=60)
    outcome = hooks.fire_sync(event, **fields)
    assert [str(result.error) for result in outcome.results if result.error] == []
    return outcome


def module_of(example: str, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES[example].folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# All of them.


@pytest.mark.more  # all of them together, and the folder of each, are tested below
@pytest.mark.parametrize("word", CHOICES)
def test_an_example_brought_in_is_in_order_and_does_what_its_cases_say(project: Path, word: str) -> None:
    interpose(project, "init", "--with", word)
    interpose(project, "trust", "--yes")

    checked = json.loads(interpose(project, "check", "--strict", "--json"))
    tested = json.loads(interpose(project, "test", "--json"))

    assert checked["problems"] == checked["warnings"] == []
    assert (tested["failed"], tested["coverage"]["never"]) == (0, [])


def test_all_examples_get_along_with_each_other(project: Path) -> None:
    interpose(project, "init", "--with", ",".join(EXAMPLES))
    interpose(project, "trust", "--yes")

    checked = json.loads(interpose(project, "check", "--strict", "--json"))
    tested = json.loads(interpose(project, "test", "--json"))

    assert checked["problems"] == checked["warnings"] == []
    assert (tested["failed"], tested["coverage"]["never"]) == (0, [])


@pytest.mark.parametrize("word", CHOICES)
def test_the_folder_of_an_example_is_a_configuration_by_itself(project: Path, word: str) -> None:
    choice = choice_of(word)
    hooks = f"hooks.{choice.variant}.yaml" if choice.variant else "hooks.yaml"
    folder = choice.example.folder

    tested = json.loads(interpose(project, "test", "--json", "-c", str(folder / hooks), str(folder / "cases.yaml")))

    assert (tested["failed"], tested["coverage"]["never"]) == (0, [])


@pytest.mark.parametrize("name", ["rate-limit", "tests-before-stop"])
def test_cases_that_leave_something_behind_can_be_run_again(project: Path, name: str) -> None:
    folder = EXAMPLES[name].folder

    for _ in range(2):
        interpose(project, "test", "-c", str(folder / "hooks.yaml"), str(folder / "cases.yaml"))


def test_there_are_the_examples_that_the_documentation_lists() -> None:
    listed = (ROOT / "docs" / "examples.md").read_text()

    assert [name for name, example in EXAMPLES.items() if f"| {example.purpose} |" not in listed] == []
    assert {path.name for path in (ROOT / "examples").iterdir() if path.is_dir()} - {"__pycache__"} == set(EXAMPLES)


@pytest.mark.parametrize("word", CHOICES)
def test_every_file_that_is_run_is_brought_and_no_other_is(word: str) -> None:
    choice = choice_of(word)
    hooks = Hooks.load(choice.example.folder / (f"hooks.{choice.variant}.yaml" if choice.variant else "hooks.yaml"))

    [origin] = hooks.origins

    assert set(origin.references) == {str(path.resolve()) for path in choice.files()}


def test_every_guard_is_closed_when_it_breaks() -> None:
    hooks = [hook for example in EXAMPLES.values() for hook in Hooks.load(example.folder / "hooks.yaml")]
    open_ones = {hook.label for hook in hooks if "deny" in hook.row.can and hook.on_error != "abort"}

    # A line of a script cannot break, a notification decides nothing, and a rule that breaks leaves it to the person.
    assert {label for label in open_ones if not label.startswith(("approve-", "hook "))} == {
        "permission-rules", "notify-of-question", "audit-to-file",
    }  # fmt: skip


# Scripts.

SCRIPTS = sorted(path for example in EXAMPLES.values() for path in example.folder.iterdir()
                 if path.suffix in (".sh", ".mjs") or (path.suffix == ".py" and path.read_text().startswith("#!")))  # fmt: skip


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.name))
def test_a_script_can_be_run(path: Path) -> None:
    shebangs = {".sh": "#!/bin/sh", ".py": "#!/usr/bin/env python3", ".mjs": "#!/usr/bin/env node"}

    assert path.read_text().splitlines()[0] == shebangs[path.suffix]
    assert path.stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize("language", [".sh", ".py", ".mjs"])
def test_each_language_is_there_twice(language: str) -> None:
    assert len([path for path in SCRIPTS if path.suffix == language]) >= 2


def test_an_example_can_be_read_in_a_minute() -> None:
    programs = [path for example in EXAMPLES.values() for path in example.folder.iterdir()
                if path.suffix in (".py", ".sh", ".mjs")]  # fmt: skip

    assert {path.name: len(path.read_text().splitlines()) for path in programs
            if len(path.read_text().splitlines()) > 40} == {}  # fmt: skip


def test_an_example_does_not_have_the_name_of_a_policy() -> None:
    hooks = [hook for example in EXAMPLES.values() for hook in Hooks.load(example.folder / "hooks.yaml")]

    assert {hook.name for hook in hooks} & set(POLICIES) == set()


@pytest.mark.parametrize("path", [path for path in SCRIPTS if path.suffix == ".sh"], ids=lambda path: str(path.name))
def test_a_shell_can_read_its_scripts(path: Path) -> None:
    assert subprocess.run(["sh", "-n", path], check=False).returncode == 0


@needs_node
@pytest.mark.parametrize("path", [path for path in SCRIPTS if path.suffix == ".mjs"], ids=lambda path: str(path.name))
def test_node_can_read_its_scripts(path: Path) -> None:
    assert subprocess.run(["node", "--check", path], check=False).returncode == 0


# redact-results


@pytest.mark.parametrize("language", ["python", pytest.param("node", marks=needs_node)])
def test_a_command_that_prints_a_number_and_fails_does_not_show_it_to_the_model(project: Path, language: str) -> None:
    folder = EXAMPLES["redact-results"].folder
    hooks = Hooks.load(folder / ("hooks.node.yaml" if language == "node" else "hooks.yaml"))

    def fails(tool_input: Any) -> str:
        raise RuntimeError("exit status 1\nC-104233\nend")

    with hooks.session_sync(cwd=str(project)) as session:
        answer = session.tool("Bash", {"command": "cat orders; false"}, fails)

    assert answer.content == "exit status 1\n[customer]\nend"


# format-after-edit


@pytest.mark.parametrize("script", ["format_after_edit.py", pytest.param("format-after-edit.mjs", marks=needs_node)])
def test_a_file_is_formatted_and_the_model_is_told(project: Path, script: str) -> None:
    path = EXAMPLES["format-after-edit"].folder / script
    outside = project.parent / "outside.py"
    for file in (project / "a.py", outside):
        file.write_text("x = [1,2 ]\n")
    (project / "b.py").write_text("x = (\n")

    def context(file: str) -> list[str]:
        given: dict[str, Any] = {
            "tool_name": "Write",
            "tool_input": {"file_path": file},
            "tool_response": "",
            "cwd": str(project),
        }
        env = {"PATH": f"{BIN}:{os.environ['PATH']}"}
        said: list[str] = run_script(path, "PostToolUse", env, **given).context
        return said

    assert context("a.py") == ["a.py was formatted by ruff after you wrote it: read it before you edit it again."]
    assert (project / "a.py").read_text() == "x = [1, 2]\n"
    assert context("a.py") == []
    assert context(str(outside)) == []
    assert outside.read_text() == "x = [1,2 ]\n"
    [said] = context("b.py")
    assert said.startswith("ruff cannot format b.py: ")
    assert len(said) > 40


# tests-before-stop


def test_an_agent_is_kept_going_while_tests_fail_but_not_for_ever(project: Path) -> None:
    path = EXAMPLES["tests-before-stop"].folder / "tests-before-stop.sh"
    (project / "result").write_text("1")

    def goes_on(active: bool) -> bool:
        env = {"TESTS": "echo broken; exit $(cat result)"}
        outcome = run_script(path, "Stop", env, stop_hook_active=active, session_id="s", cwd=str(project))
        if outcome.keep_going:
            assert "The tests fail" in outcome.reason
            assert "broken" in outcome.reason
        return bool(outcome.keep_going)

    assert [goes_on(False), goes_on(True)] == [True, False]
    (project / "result").write_text("0")
    assert not goes_on(False)


# context-at-start


def test_the_model_is_told_what_git_says(project: Path) -> None:
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=trunk"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", 'A "first" commit']):
        subprocess.run([*git, *words], cwd=project, check=True)
    for number in range(20):
        (project / f"new{number:02}.txt").touch()

    outcome = run_script(
        EXAMPLES["context-at-start"].folder / "context_at_start.py", "SessionStart", source="startup", cwd=str(project)
    )

    [said] = outcome.context
    assert "Branch:\n  trunk\n" in said
    assert "  ?? new14.txt\n  … and 5 more\n" in said
    assert said.endswith('Ada: A "first" commit')


# rate-limit, audit-to-file: any number of processes at once.


def test_of_many_calls_at_once_only_so_many_go_on(project: Path) -> None:
    path = EXAMPLES["rate-limit"].folder / "rate_limit.py"

    def call(_: int) -> bool:
        event = {"tool_name": "mcp__mail__send", "session_id": "s"}
        done = subprocess.run([path], input=json.dumps(event), env={**os.environ, "XDG_STATE_HOME": str(project)},
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode in (0, 2), done.stderr
        return done.returncode == 0

    with ThreadPoolExecutor(6) as pool:
        went_on = list(pool.map(call, range(6)))

    assert sum(went_on) == 2


def test_a_call_waits_for_another_that_is_being_counted(project: Path) -> None:
    path = EXAMPLES["rate-limit"].folder / "rate_limit.py"
    event = json.dumps({"tool_name": "mcp__mail__send", "session_id": "s"}).encode()
    environment = {**os.environ, "XDG_STATE_HOME": str(project)}
    subprocess.run([path], input=event, env=environment, check=True)
    [file] = (project / "interpose" / "rate-limit").iterdir()

    with file.open("a") as held, subprocess.Popen([path], stdin=subprocess.PIPE, env=environment) as call:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert call.stdin is not None
        call.stdin.write(event)
        call.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            call.wait(1)
        held.write(file.read_text())
        held.close()

    assert call.returncode == 2


def test_records_are_whole_lines_that_only_their_owner_can_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "deep" / "audit.jsonl"
    monkeypatch.setenv("INTERPOSE_AUDIT_FILE", str(file))
    write = module_of("audit-to-file", "audit_to_file").write

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: fire(write, "PostToolUse", tool_name=f"t{n}", tool_response="é\n" * 5000), range(40)))

    records = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert sorted(record["tool_name"] for record in records) == sorted(f"t{n}" for n in range(40))
    assert records[0]["tool_response"].endswith("… (10000 characters)")
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_recorded_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERPOSE_AUDIT_FILE", str(tmp_path))
    hooks = Hooks.load(EXAMPLES["audit-to-file"].folder / "hooks.yaml")

    assert hooks.fire_sync("PreToolUse", tool_name="Read").denied
    assert not hooks.fire_sync("UserPromptSubmit", prompt="hello").denied


# approvals


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "allow"), ("git log --oneline -5 main", "allow"), ("git diff HEAD~1 -- src/a.py", "allow"), ("ls -la src", "allow"), ("pwd", "allow"),
        ("git status\n", "none"), ("git status && x", "none"), ("git status | sh", "none"), ("git status & x", "none"), ("git status `x`", "none"),
        ("git status $(x)", "none"), ("git diff > a", "none"), ("git diff --output=a", "none"), ("git diff -- --output=a", "none"), ("git diff --ext-diff", "none"),
        ("git branch -D x", "none"), ("git -c core.pager=x log", "none"), ("git log -p --output a", "none"), ("ls -l; x", "none"), ("ls ~", "none"),
        ("A=1 ls", "none"), ("ls 'a b'", "none"), ("", "none"), ("git push", "none"), ("ls {a,b}", "none"), ("ls *", "none"),
    ],
)  # fmt: skip
def test_a_question_is_answered_only_if_the_whole_line_only_looks(command: str, expected: str) -> None:
    path = EXAMPLES["approvals"].folder / "permission_rules.py"

    outcome = run_script(path, "PermissionRequest", tool_name="Bash", tool_input={"command": command})

    assert outcome.decision == expected


# notifications


class _Chat(http.server.BaseHTTPRequestHandler):
    heard: list[str] = []  # noqa: RUF012 - one chat for all requests

    def do_POST(self) -> None:
        self.heard.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_a_chat_is_told_in_letters_that_mean_nothing(project: Path) -> None:
    _Chat.heard.clear()
    path = EXAMPLES["notifications"].folder / "notify.sh"
    with http.server.HTTPServer(("127.0.0.1", 0), _Chat) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            env = {"NOTIFY_WEBHOOK": f"http://127.0.0.1:{server.server_port}/hook?key=1", "NO_PROXY": "127.0.0.1"}
            for message in ("All done!", "</b>`$(touch x)`"):
                run_script(path, "Notification", env, message=message, notification_type="x", cwd=str(project))
            run_script(
                path, "PermissionRequest", env, tool_name="Bash", tool_input={"command": "secret"}, cwd=str(project)
            )
            run_script(path, "Stop", {**env, "INTERPOSE_DOCTOR": "1"}, cwd=str(project))
        finally:
            server.shutdown()
            thread.join()

    assert [json.loads(text)["text"] for text in _Chat.heard] == [
        "The agent in project says: All done!",
        "The agent in project says: btouch x",
        "The agent in project has a question about Bash",
    ]
