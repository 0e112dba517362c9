"""``interpose tail`` at a real terminal: records as they come, and questions that are answered in place."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.asking import Asking, stored, waiting
from tests.terminals import Terminal

from interpose import AuditStore, Hooks, Question, Questions

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fire(tmp_path / "audit.db", "ls")
    return tmp_path / "audit.db"


def fire(path: Path, command: str, **more: str) -> None:
    hooks = Hooks()
    hooks.register(
        "PreToolUse", lambda event: {"decision": "deny", "reason": "no"} if "rm" in command else None, name="guard"
    )
    with AuditStore(path) as store:
        hooks.record(store)
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command}, session_id="s1", **more)


def tail(path: Path, *more: str) -> Terminal:
    environment = {"PATH": os.environ["PATH"], "HOME": str(path.parent), "LANG": "C.UTF-8", "TERM": "xterm"}
    return Terminal("tail", "--store", str(path), *more, environment=environment, cwd=path.parent)


def ask(store: AuditStore, command: str) -> Asking:
    return Asking(
        Questions(store, wait=60),
        Question(tool_name="Bash", tool_input={"command": command}, session_id="s1", reason="sure?"),
    )


def test_records_are_printed_as_they_come_and_filters_hold(path: Path) -> None:
    with tail(path, "--decision", "deny") as terminal:
        fire(path, "echo passes")
        fire(path, "rm -rf build")
        terminal.until("rm -rf build")

        assert "echo passes" not in terminal.seen
        assert "deny" in terminal.seen


def test_a_question_is_answered_where_it_is_shown(path: Path) -> None:
    with tail(path) as terminal, AuditStore(path) as store:
        first = ask(store, "git push \x1b[2K")
        terminal.until("y: let it run")
        assert "Bash(command='git push \\x1b[2K')" in terminal.seen
        terminal.type("maybe\n")
        terminal.until("y, s, or n and a reason")
        terminal.type("y\n")
        terminal.until("approved")
        assert first.approval.approved
        second = ask(store, "git push --force")
        terminal.until("y: let it run")
        terminal.type("n not on a Friday\n")
        terminal.until("refused")

        assert second.approval.reason.endswith("not on a Friday")
        assert [one.answer.text("user") != "" for one in stored(path) if one.answer is not None] == [True, True]


def test_what_was_typed_for_one_question_does_not_answer_the_next(path: Path) -> None:
    with tail(path) as terminal, AuditStore(path) as store:
        first = ask(store, "harmless")
        terminal.until("y: let it run")
        ask(store, "dangerous")
        questions = waiting(path, 2)
        terminal.type("y")  # and no Enter yet: meanwhile it is answered elsewhere
        harmless = next(one for one in questions if one.input["command"] == "harmless")
        from tests.asking import answer

        answer(store, harmless, approved=False)
        terminal.until("dangerous")
        terminal.until("y: let it run")
        terminal.type("\n")
        terminal.until("y, s, or n and a reason")

        assert not first.approval.approved
        assert [one.input["command"] for one in waiting(path)] == ["dangerous"]


def test_without_a_person_questions_are_shown_and_not_answered(path: Path) -> None:
    with AuditStore(path) as store:
        ask(store, "git push")
        waiting(path)
        program = Path(sys.executable).parent / "interpose"
        running = subprocess.Popen(
            [program, "tail", "--store", path, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        assert running.stdout is not None
        lines = [json.loads(running.stdout.readline()) for _ in range(2)]
        running.terminate()
        running.communicate(timeout=60)

    assert [line["kind"] for line in lines] == ["firing", "question"]
    assert lines[1]["input"] == {"command": "git push"}
