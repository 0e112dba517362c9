"""Questions in a world that misbehaves: stores that go away, processes that are killed, clocks, forgers and floods."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.asking import PUSH, WHO, Asking, answer, configure, firing, stored, waiting

from interpose import AuditStore, Questions, Retention, UsageError
from interpose.audit.questions import MAX_WAITING_OF_SESSION, digest_of
from interpose.audit.verify import verify_store
from interpose.records import replace

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


def commit(path: Path, *statements: str) -> None:
    """Write to the store as any program with sqlite3 can."""
    base = sqlite3.connect(path, timeout=30)
    with base:
        for statement in statements:
            base.execute(statement)
    base.close()


class TestTheStore:
    def test_a_store_that_cannot_be_written_denies(self, tmp_path: Path) -> None:
        (tmp_path / "audit.db").write_text("the notes of somebody else, which are no store at all")

        with AuditStore(tmp_path / "audit.db", patience=10) as store:
            approval = Questions(store, wait=60)(PUSH).block()

        assert (approval.approved, approval.by) == (False, "nobody")
        assert "the question could not be written" in approval.reason
        assert "is a file, but not an audit store" in approval.reason

    def test_a_store_that_is_locked_denies(self, path: Path) -> None:
        with AuditStore(path, patience=0.3) as store:
            Questions(store, wait=0.01)(PUSH).block()
            base = sqlite3.connect(path)
            base.execute("BEGIN IMMEDIATE")
            try:
                approval = Questions(store, wait=60)(PUSH).block()
            finally:
                base.rollback()
                base.close()

        assert (approval.approved, approval.by) == (False, "nobody")
        assert approval.reason.startswith("the question could not be written")

    def test_a_full_disk_denies_what_waits_and_what_is_asked_then(self, path: Path) -> None:
        """On a busy machine a question is asked again, with more time: it must still wait when the disk is full."""
        program = (
            "import resource\nfrom tests.asking import *\n"
            f"path = Path({str(path)!r})\nstore = AuditStore(path, patience=10)\n"
            "def asked():\n    try:\n        return stored(path)[count:]\n    except NotAStore:\n        return []\n"
            "for count, wait in enumerate((1, 5, 25)):\n"
            "    asking = Asking(Questions(store, wait=wait))\n"
            "    question = until(asked)[0]\n"
            "    if question.state == 'waiting' and question.left > wait / 2:\n        break\n"
            "    asking.approval\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))\n"
            "print(json.dumps([wait, asking.approval.reason, Questions(store, wait=60)(PUSH).block().reason]))\n"
            "os._exit(0)\n"
        )
        root = Path(__file__).parent.parent.parent
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60, check=False
        )

        wait, expired, refused = json.loads(done.stdout)
        assert expired.startswith(f"no person has answered within {wait} s, and that could not be recorded")
        assert refused.startswith("the question could not be written")

    def test_a_store_that_is_removed_while_a_question_waits_denies(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            waiting(path)
            path.unlink()

            assert asking.approval.approved is False
            assert "the question cannot be answered any more" in asking.approval.reason

    def test_a_question_that_is_removed_from_the_store_denies(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            waiting(path)
            commit(path, "DELETE FROM questions")

            assert asking.approval.approved is False
            assert "it is not in the record" in asking.approval.reason

    def test_retention_deletes_questions_with_their_records(self, path: Path) -> None:
        with AuditStore(path) as store:
            Questions(store, wait=0.02)(PUSH).block()
        with AuditStore(path, retention=Retention(age=0.001)) as store:
            for _ in range(2):  # the first write deletes what is old, the second goes on behind it
                Questions(store, wait=0.02)(PUSH).block()

        assert len(stored(path)) < 3
        assert verify_store(str(path)).verdict == "consistent"


class TestForgers:
    def forged(self, path: Path, **changes: Any) -> None:
        """Write an answer as an agent would: with sqlite3, and without a key."""
        (question,) = waiting(path)
        body = {"question": question.id, "digest": question.digest, "state": "approved", **WHO, **changes}
        commit(
            path,
            "INSERT INTO records SELECT max(id) + 1, process, 8, time, mono, event, session, subject, decision, took, "
            "hash FROM records",
            f"INSERT INTO bodies SELECT max(id), '{json.dumps(body)}' FROM records",
            "UPDATE questions SET answer = (SELECT max(id) FROM records) WHERE answer IS NULL",
        )

    def test_with_a_key_a_forged_answer_is_not_believed(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "key").write_text(KEY)
        with AuditStore(path, key=str(tmp_path / "key")) as store:
            asking = Asking(Questions(store, wait=60))
            self.forged(path)

            assert (asking.approval.approved, asking.approval.by) == (False, "nobody")
            assert "it is not sealed with the key of the record" in asking.approval.reason
        assert verify_store(str(path), key=KEY.encode()).verdict == "broken"

    def test_with_a_key_an_answer_with_an_invented_seal_is_not_believed(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "key").write_text(KEY)
        with AuditStore(path, key=str(tmp_path / "key")) as store:
            asking = Asking(Questions(store, wait=60))
            self.forged(path, seal="00" * 32)

            assert asking.approval.approved is False

    def test_without_a_key_a_forged_answer_is_found_by_verifying(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            self.forged(path)

            assert asking.approval.approved is True  # docs/questions.md says so
        assert verify_store(str(path)).verdict == "broken"

    def test_the_answer_of_another_question_does_not_count(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            self.forged(path, digest=digest_of("something harmless"))

            assert asking.approval.approved is False
            assert "it is the answer to another question" in asking.approval.reason

    def test_a_question_whose_input_was_swapped_cannot_be_approved(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (before,) = waiting(path)
            commit(
                path, f"UPDATE bodies SET body = replace(body, 'git push', 'git pull') WHERE record = {before.record}"
            )
            (swapped,) = waiting(path)

            assert (swapped.input, swapped.is_intact) == ({"command": "git pull"}, False)
            with pytest.raises(UsageError, match="was changed in the store since it was asked"):
                answer(store, swapped)
            answer(store, before, approved=False)
            assert asking.approval.approved is False

    def test_an_answer_to_a_swapped_question_does_not_count(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            # As if the person's command had been shown another content, and had taken it for intact.
            store.answer({"question": question.id, "digest": digest_of("another"), "state": "approved"}).block()

            assert asking.approval.approved is False

    def test_a_person_without_the_key_is_told_before_anything_is_written(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "key").write_text(KEY)
        with AuditStore(path, key=str(tmp_path / "key")) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            asker = {**question.asker, "key": "another"}

            with pytest.raises(UsageError, match="another key"):
                answer(store, replace(question, body={**question.body, "asker": asker}))
            answer(store, question)
            assert asking.approval.approved is True
        assert verify_store(str(path), key=KEY.encode()).verdict == "complete"

    def test_a_changed_table_of_questions_is_found(self, path: Path) -> None:
        with AuditStore(path) as store:
            Questions(store, wait=0.02)(PUSH).block()
        commit(path, "UPDATE questions SET answer = NULL")

        found = verify_store(str(path))

        assert found.verdict == "broken"
        assert any("the table of questions does not agree" in flaw.what for flaw in found.flaws)


class TestFloods:
    def test_a_session_cannot_ask_without_end(self, path: Path) -> None:
        with AuditStore(path) as store:
            questions = Questions(store, wait=60)
            asking = [Asking(questions) for _ in range(MAX_WAITING_OF_SESSION)]
            found = waiting(path, MAX_WAITING_OF_SESSION)

            refused = questions(PUSH).block()
            another = Asking(questions, replace(PUSH, session_id="s2"))

            for one in [*found, *[one for one in waiting(path, len(found) + 1) if one.id not in {q.id for q in found}]]:
                answer(store, one)
            assert all(one.approval.approved for one in [*asking, another])
        assert refused.approved is False
        assert refused.reason == "the question was not asked: 20 questions of this session wait for an answer already"

    def test_an_input_that_a_person_cannot_see_whole_is_denied(self, path: Path) -> None:
        with AuditStore(path) as store:
            long = Questions(store, wait=60)(replace(PUSH, tool_input={"command": "x" * 2_000_000})).block()
            strange = Questions(store, wait=60)(replace(PUSH, tool_input={"command": object()})).block()

        assert (long.approved, strange.approved) == (False, False)
        assert "a person cannot see the whole of it" in long.reason
        assert "a person cannot see the whole of it" in strange.reason

    def test_two_questions_about_the_same_call_have_two_ids(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = [Asking(Questions(store, wait=60)) for _ in range(2)]
            first, second = waiting(path, 2)
            answer(store, first)
            answer(store, second, approved=False)

            assert sorted(one.approval.approved for one in asking) == [False, True]

    def test_a_second_question_with_the_same_id_is_refused(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            body = {name: value for name, value in question.body.items() if name not in ("config", "asker")}
            again = store.ask(body)
            again.block()

            assert again.refused == "there is a question with the same id already"
            answer(store, question)
            assert asking.approval.approved is True


class TestProcesses:
    def test_the_question_of_a_killed_process_is_withdrawn_and_cannot_be_answered(self, tmp_path: Path) -> None:
        path = configure(tmp_path)
        with firing(tmp_path) as asker:
            (question,) = waiting(path)
            asker.send_signal(signal.SIGKILL)
            asker.wait(60)

        (left,) = stored(path)
        assert left.state == "withdrawn"
        with AuditStore(path) as store, pytest.raises(UsageError, match="the process that asked has ended"):
            answer(store, question)
        assert stored(path)[0].answer is None

    def test_a_process_with_the_same_number_is_not_the_one_that_asked(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            older = {**question.asker, "started": "1"}
            elsewhere = {**question.asker, "host": "another-machine"}

            assert replace(question, body={**question.body, "asker": older}).state == "withdrawn"
            assert replace(question, body={**question.body, "asker": elsewhere}).state == "waiting"
            answer(store, question, approved=False)
            assert asking.approval.approved is False

    @pytest.mark.more
    def test_a_person_whose_command_is_killed_has_answered_or_not(self, path: Path) -> None:
        """A process that is killed while it answers leaves a whole answer or none."""
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            program = (
                "import os, sys\nfrom tests.asking import *\n"
                f"store = AuditStore({str(path)!r})\n"
                f"question = next(one for one in waiting(Path({str(path)!r})))\n"
                "threading.Timer(0.0, lambda: os.kill(os.getpid(), 9)).start()\n"
                "answer(store, question)\n"
            )
            root = Path(__file__).parent.parent.parent
            subprocess.run([sys.executable, "-c", program], cwd=root, check=False, timeout=60)
            if stored(path)[0].state == "waiting":
                answer(store, question)

            assert asking.approval.approved is True
        assert verify_store(str(path)).verdict == "consistent"

    def test_an_interrupted_host_withdraws_its_question(self, path: Path) -> None:
        program = (
            "from tests.asking import *\n"
            f"store = AuditStore({str(path)!r})\n"
            "try:\n    Questions(store, wait=60)(PUSH).block()\n"
            "except KeyboardInterrupt:\n    store.close()\n    print('interrupted')\n"
        )
        root = Path(__file__).parent.parent.parent
        with subprocess.Popen([sys.executable, "-c", program], cwd=root, stdout=subprocess.PIPE, text=True) as asker:
            waiting(path)
            asker.send_signal(signal.SIGINT)
            assert asker.communicate(timeout=60)[0] == "interrupted\n"

        (question,) = stored(path)
        assert (question.state, question.answer is not None) == ("withdrawn", True)


class TestClocks:
    @pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
    def test_a_clock_that_jumps_changes_no_deadline(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, jump: float
    ) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            now = time.time
            monkeypatch.setattr("interpose.questions.approver.time", lambda: now() + jump)
            monkeypatch.setattr("interpose.audit.questions.time", lambda: now() + jump)

            assert (question.state, 0 < question.left <= 60) == ("waiting", True)
            answer(store, question)
            assert asking.approval.approved is True


def test_waiting_is_cheap(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that nobody writes to is not read again."""
    with AuditStore(path) as store:
        reads: list[str] = []
        questions = Questions(store, wait=60)
        asking = Asking(questions)
        (question,) = waiting(path)
        with store.read() as opened:
            reader = type(opened)
        look, change = reader.question, reader.change
        looked = threading.Event()
        changes: list[object] = []

        def counted(self: Any, id: str) -> Any:
            reads.append(id)
            return look(self, id)

        def counted_changes(self: Any) -> object:
            changes.append(None)
            if len(changes) == 5:
                looked.set()
            return change(self)

        monkeypatch.setattr(reader, "question", counted)
        monkeypatch.setattr(reader, "change", counted_changes)

        assert looked.wait(60)
        assert len(reads) <= 1
        monkeypatch.undo()
        answer(store, question)
        assert asking.approval.approved is True


class TestFire:
    def test_an_approved_call_is_allowed(self, tmp_path: Path) -> None:
        path = configure(tmp_path)
        with firing(tmp_path) as hook:
            (question,) = waiting(path)
            with AuditStore(path) as store:
                answer(store, question, reason="reviewed")
            out, err = hook.communicate(timeout=60)

        said = json.loads(out)["hookSpecificOutput"]
        assert hook.returncode == 0
        assert said["permissionDecision"] == "allow"
        assert said["permissionDecisionReason"] == "a push?; approved by alice (/dev/pts/3): reviewed"
        assert f"interpose approve {question.id}" in err

    def test_a_question_without_an_answer_is_denied_within_the_deadline_of_the_hook(self, tmp_path: Path) -> None:
        """On a busy machine the time is over before the question is asked: then it denies too, and has more time."""
        path = configure(tmp_path)
        out = err = ""
        for deadline in ("3", "10", "30"):
            with firing(tmp_path, "--deadline", deadline) as hook:
                out, err = hook.communicate(timeout=60)
            assert hook.returncode == 2
            if out:
                break

        assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert "no person has answered within" in err
        assert [one.state for one in stored(path)][-1:] == ["expired"]

    @pytest.mark.more  # tests/end_to_end/questions.txt shows it too
    def test_an_answer_for_the_session_holds_for_the_next_process(self, tmp_path: Path) -> None:
        path = configure(tmp_path)
        with firing(tmp_path) as hook:
            with AuditStore(path) as store:
                answer(store, waiting(path)[0], remembered="session")
            assert hook.wait(60) == 0

        with firing(tmp_path) as again:
            out, _ = again.communicate(timeout=60)

        assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "allow"
        assert len(stored(path)) == 1

    @pytest.mark.more
    def test_an_answer_for_the_session_ends_with_the_configuration(self, tmp_path: Path) -> None:
        path = configure(tmp_path)
        with firing(tmp_path) as hook:
            with AuditStore(path) as store:
                answer(store, waiting(path)[0], remembered="session")
            assert hook.wait(60) == 0
        with (tmp_path / "hooks.yaml").open("a") as opened:
            opened.write("# changed\n")

        with firing(tmp_path) as again:
            (question,) = waiting(path)
            with AuditStore(path) as store:
                answer(store, question, approved=False)
            assert again.wait(60) == 2
