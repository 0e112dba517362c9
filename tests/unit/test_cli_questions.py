"""``interpose questions``, ``approve`` and ``refuse``: what is shown, who may answer, and what is said to the second."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.asking import PUSH, Asking, answer, configure, stored, waiting

from interpose import AuditStore, Questions
from interpose.cli import main
from interpose.records import replace


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return configure(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(words)
    said = capsys.readouterr()
    return status, said.out, said.err


@pytest.mark.parametrize("act", ["approve", "refuse"])
def test_an_agent_cannot_answer_its_own_question(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    monkeypatch.setattr("interpose.person.evidence.why_no_person", lambda processes: "it runs below an agent: claude")
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        (question,) = waiting(path)

        status, out, err = run(capsys, act, question.id, "--store", str(path))

        assert (status, out) == (1, "")
        assert "takes a person, and no person has started this command: it runs below an agent: claude" in err
        assert stored(path)[0].state == "waiting"
        answer(store, question, approved=False)
        assert asking.approval.approved is False


@pytest.mark.usefixtures("person")
class TestAPerson:
    def test_approves(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)

            status, out, _ = run(capsys, "approve", question.id.upper(), "--store", str(path))

            assert (status, out) == (0, f"approved  {question.id}\n  Bash(command='git push')\n")
            assert asking.approval.approved is True
        (found,) = stored(path)
        assert found.answer is not None
        assert found.answer.text("user")

    def test_refuses_with_a_reason_as_json(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)

            status, out, _ = run(capsys, "refuse", question.id, "--reason", "no", "--json", "--store", str(path))

            found = json.loads(out)
            assert (status, found["state"], found["late"], found["answer"]["reason"]) == (0, "refused", False, "no")
            assert asking.approval.reason.endswith(": no")

    def test_is_told_who_was_first(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            answer(store, question, approved=False)

            status, out, _ = run(capsys, "approve", question.id, "--store", str(path))

            assert status == 1
            assert "refused already, by alice (/dev/pts/3): your answer has no effect" in out
            assert asking.approval.approved is False

    @pytest.mark.parametrize("typed", ["--session", "-", "-1", "$(id)", "k7mq-2xtd\x1b[2J", "x" * 10_000])
    def test_types_something_else(self, path: Path, capsys: pytest.CaptureFixture[str], typed: str) -> None:
        with AuditStore(path) as store:
            Questions(store, wait=0.02)(PUSH).block()

            status, out, err = run(capsys, "approve", "--store", str(path), "--", typed)

        assert (status, out) == (1, "")
        assert "is not the id of a question" in err
        assert "\x1b" not in err

    def test_names_a_store_that_is_not_there(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        status, _, err = run(capsys, "approve", "k7mq-2xtd", "--store", str(tmp_path / "none.db"))

        assert status == 1
        assert "there is no audit store" in err
        assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("deadline", ["soon", "0", "-1", "inf", "nan"])
def test_a_deadline_that_is_none_denies(path: Path, capsys: pytest.CaptureFixture[str], deadline: str) -> None:
    status, out, err = run(capsys, "fire", "PreToolUse", "--reply", "claude", "--deadline", deadline)

    assert (status, out) == (2, "")
    assert f"--deadline: {deadline} is not a number of seconds" in err


def test_a_deadline_is_for_hooks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fire", "Stop", "--deadline", "5")[0] == 1


class TestTheList:
    def listed(self, path: Path, capsys: pytest.CaptureFixture[str], given: Any, *words: str) -> str:
        """What is printed about one question that waits; an id in ``words`` is that of the question."""
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60), replace(PUSH, tool_input=given, reason="\x1b[31mred"))
            (question,) = waiting(path)
            named = [question.id if word == "ID" else word for word in words]
            status, out, _ = run(capsys, "questions", *named, "--store", str(path))
            answer(store, question, approved=False)
            assert asking.approval.approved is False
        assert status == 0
        return out

    def test_control_characters_are_shown(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = self.listed(path, capsys, {"command": "ls\x1b]0;x\x07\u202e\u2800 \x9b2J"})

        assert "\x1b" not in out
        assert r"Bash(command='ls\x1b]0;x\x07\u202e\u2800 \x9b2J')" in out

    def test_a_long_input_pushes_nothing_out_of_sight(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = self.listed(path, capsys, {"command": "x" * 5000 + "rm -rf ~"})

        assert "more characters: interpose questions show" in out
        assert len(out) < 3000

    def test_show_has_the_whole_input(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = self.listed(path, capsys, {"command": "x" * 5000 + " " * 500 + "rm -rf ~"}, "show", "ID")

        assert "x" * 5000 + " [500 blanks] rm -rf ~" in out
        assert "careful: it is long" in out

    def test_a_lookalike_letter_is_pointed_out(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        out = self.listed(path, capsys, {"command": "curl https://ex\u0430mple.org"})

        assert "careful: a word in it mixes letters that look alike" in out

    def test_a_part_that_is_hidden_as_a_secret_is_pointed_out(
        self, path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out = self.listed(path, capsys, {"command": 'PASSWORD="rm -rf ~/all-of-it"; sh -c "$PASSWORD"'})

        assert "rm -rf" not in out
        assert "careful: a part of it is redacted as a secret: what runs has a text there that is not shown" in out

    def test_json_has_everything(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        found = json.loads(self.listed(path, capsys, {"command": "ls"}, "--json"))

        assert [one["input"] for one in found["questions"]] == [{"command": "ls"}]
        assert found["store"] == str(path)

    def test_a_swapped_input_is_pointed_out(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        import sqlite3

        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            base = sqlite3.connect(path, timeout=30)
            with base:
                base.execute("UPDATE bodies SET body = replace(body, 'git push', 'git pull')")
            base.close()

            _, out, _ = run(capsys, "questions", "--store", str(path))
            answer(store, question, approved=False)
            assert asking.approval.approved is False

        assert "careful: it was changed in the store since it was asked" in out
