"""Questions that wait in the record: what is asked, who answers, what is remembered, and what the record says."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.asking import PATIENCE, PUSH, WHO, Asking, answer, configure, firing, stored, until, waiting

from interpose import Approval, AuditStore, ConfigError, Hooks, Question, Questions, UsageError, ask
from interpose.audit import open_store
from interpose.audit.protocol import StoredPermission
from interpose.audit.questions import digest_of, id_of, read_id
from interpose.audit.verify import verify_store
from interpose.config.schema import schema
from interpose.questions import answer_question

ASKS = {"PreToolUse": [{"name": "guard", "handler": lambda event: ask("a push?"), "matcher": "Bash"}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


def test_an_approved_call_runs_and_the_record_says_who_and_when(path: Path) -> None:
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        (question,) = waiting(path)
        found = answer(store, question, reason="it is reviewed")

        assert asking.approval == Approval(
            approved=True, reason="approved by alice (/dev/pts/3): it is reviewed", person="alice (/dev/pts/3)",
            question=question.id,
        )  # fmt: skip

    assert found.state == "approved"
    assert (question.tool, question.input, question.text("reason")) == ("Bash", {"command": "git push"}, "a push?")
    assert (question.text("session_id"), question.text("agent_id"), question.asked_by) == ("s1", "main", "hook guard")
    assert verify_store(str(path)).verdict == "consistent"


def test_a_refused_call_is_denied_with_the_reason(path: Path) -> None:
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        answer(store, waiting(path)[0], approved=False, reason="not on a Friday")

        assert asking.approval.approved is False
        assert asking.approval.reason == "refused by alice (/dev/pts/3): not on a Friday"


def test_a_question_without_an_answer_is_denied_at_its_deadline_and_the_record_says_so(path: Path) -> None:
    with AuditStore(path) as store:
        approval = Questions(store, wait=0.05)(PUSH).block()

    assert approval == Approval(
        approved=False, reason="no person has answered within 0.05 s", by="nobody", question=stored(path)[0].id
    )
    assert [one.state for one in stored(path)] == ["expired"]
    assert verify_store(str(path)).verdict == "consistent"


def test_the_second_answer_has_no_effect_and_is_told_the_first(path: Path) -> None:
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        (question,) = waiting(path)
        answer(store, question, approved=False)
        late = answer_question(store, question, approved=True, who={"user": "bob"})

        assert late.answer is not None
        assert (late.answer.state, late.answer.text("user")) == ("refused", "alice")
        assert asking.approval.approved is False


def test_an_async_host_waits_without_stopping_its_loop(path: Path) -> None:
    with AuditStore(path) as store:

        async def scenario() -> Approval:
            waits = asyncio.ensure_future(_awaited(Questions(store, wait=60)))
            (question,) = await asyncio.to_thread(waiting, path)
            await asyncio.to_thread(answer, store, question)
            return await waits

        assert asyncio.run(scenario()).approved is True


async def _awaited(questions: Questions) -> Approval:
    return await questions(PUSH)


def test_a_cancelled_session_withdraws_its_question(path: Path) -> None:
    with AuditStore(path) as store:

        async def scenario() -> None:
            waits = asyncio.ensure_future(_awaited(Questions(store, wait=60)))
            await asyncio.to_thread(waiting, path)
            waits.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waits

        asyncio.run(scenario())
        store.flush()

        (question,) = stored(path)
        assert question.state == "withdrawn"
        late = answer(store, question)
        assert late.state == "withdrawn"


class TestSessions:
    @pytest.mark.parametrize("mode", ["sync", "async"])
    def test_a_session_waits_as_the_configuration_says(self, tmp_path: Path, mode: str) -> None:
        configure(tmp_path)
        hooks = Hooks.load(tmp_path / "hooks.yaml")
        answers = _Answers(hooks, approved=True)

        made = _sync_calls(hooks, 1) if mode == "sync" else asyncio.run(_async_calls(hooks, 1))

        answers.end()
        assert [one.ok for one in made] == [True]
        permission = made[0].permission
        assert (permission.verdict, permission.by, permission.person) == ("allowed", "person", "alice (/dev/pts/3)")
        assert (permission.hook, permission.question) == ("guard", stored(tmp_path / "audit.db")[0].id)
        hooks.close()

    def test_an_answer_for_the_session_is_not_asked_again(self, tmp_path: Path) -> None:
        path = configure(tmp_path)
        hooks = Hooks.load(tmp_path / "hooks.yaml")
        answers = _Answers(hooks, approved=True, remembered="session")

        made = _sync_calls(hooks, 3)

        answers.end()
        hooks.close()
        assert [one.permission.remembered for one in made] == ["session"] * 3
        assert len(stored(path)) == 1
        with open_store(path) as reader:
            kept = [one for one in reader.entries() if isinstance(one, StoredPermission)]
        assert [one.text("remembered") for one in kept] == ["session"] * 3

    def test_an_answer_for_once_is_asked_again(self, tmp_path: Path) -> None:
        path = configure(tmp_path)
        hooks = Hooks.load(tmp_path / "hooks.yaml")
        answers = _Answers(hooks, approved=True)

        made = _sync_calls(hooks, 2)

        answers.end()
        hooks.close()
        assert [one.permission.remembered for one in made] == ["", ""]
        assert len(stored(path)) == 2

    def test_an_answer_for_the_session_ends_with_the_hooks_that_asked(self, path: Path) -> None:
        hooks = Hooks.from_mapping({"hooks": ASKS})
        asked: list[Question] = []

        def approver(question: Question) -> Approval:
            asked.append(question)
            return Approval(approved=True, remembered="session")

        with hooks.session_sync(approver=approver) as session:
            session.tool("Bash", {"command": "a"}, str)
            session.tool("Bash", {"command": "b"}, str)
            session.tool("Other", {"command": "b"}, str)
            hooks.register("PreToolUse", lambda event: ask("another?"), name="second", priority=200)
            session.tool("Bash", {"command": "c"}, str)

        assert [one.tool_input["command"] for one in asked] == ["a", "c"]

    def test_without_questions_nothing_waits(self) -> None:
        hooks = Hooks.from_mapping({"hooks": ASKS})

        assert hooks.questions is None
        with hooks.session_sync() as session:
            assert session.tool("Bash", {}, str).reason == "a push? (there is no approver)"


class _Answers:
    """A person who answers every question that a configuration's store gets, until the end."""

    def __init__(self, hooks: Hooks, **answered: Any) -> None:
        import threading

        assert hooks.audit is not None
        self._store, self._answered, self._over = hooks.audit, answered, False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._over:
            found = until(self._look)
            for one in found if isinstance(found, list) else ():
                answer(self._store, one, **self._answered)

    def _look(self) -> Any:
        if self._over:
            return True
        try:
            with open_store(self._store.path) as reader:
                return [one for one in reader.questions() if one.state == "waiting"]
        except UsageError:
            return None

    def end(self) -> None:
        self._over = True
        self._thread.join(60)


def _sync_calls(hooks: Hooks, count: int) -> list[Any]:
    with hooks.session_sync(session_id="s1") as session:
        return [session.tool("Bash", {"command": f"push {number}"}, str) for number in range(count)]


async def _async_calls(hooks: Hooks, count: int) -> list[Any]:
    async with hooks.session(session_id="s1") as session:
        return [await session.tool("Bash", {"command": f"push {number}"}, str) for number in range(count)]


class TestIds:
    def test_an_id_is_made_from_the_content(self) -> None:
        digest = digest_of("a question")

        assert id_of(digest) == id_of(digest_of("a question"))
        assert id_of(digest) != id_of(digest_of("another question"))
        assert read_id(id_of(digest)) == id_of(digest)

    @pytest.mark.parametrize(
        ("typed", "read"),
        [
            ("k7mq-2xtd", "k7mq-2xtd"),
            ("K7MQ2XTD", "k7mq-2xtd"),
            (" k7mq-2xtd ", "k7mq-2xtd"),
            ("oil0-0000", "0110-0000"),
            ("--session", ""),
            ("-1", ""),
            ("", ""),
            ("1042", ""),
            ("k7mq-2xtd9", ""),
            ("k7mq-2xt\x1b", ""),
        ],
    )
    def test_what_a_person_types_is_an_id_or_none(self, typed: str, read: str) -> None:
        assert read_id(typed) == read


class TestConfiguration:
    @pytest.mark.parametrize(
        ("written", "wait"),
        [
            ("{}", 300),
            ("{wait: 30s, default: deny}", 30),
            ("true", 300),
            ("{wait: 2h}", 7200),
            ("{x-mine: 1}", 300),
            ("{wait: 1s}", 1),
            ("{wait: 24h}", 86_400),
        ],
    )
    def test_what_is_read(self, tmp_path: Path, written: str, wait: float) -> None:
        (tmp_path / "hooks.yaml").write_text(f"audit: {{path: a.db}}\nquestions: {written}\n")

        questions = Hooks.load(tmp_path / "hooks.yaml").questions

        assert questions is not None
        assert (questions.wait, questions.store.path) == (wait, str(tmp_path / "a.db"))

    @pytest.mark.parametrize(
        ("written", "problem"),
        [
            ("{wait: soon}", "2:13: wait: 'soon' is not a duration (write 5s, 250ms or 2m)"),
            ("{wait: 0}", "2:13: 0 is not between 1s and 24h (such as 5m)"),
            ("{wait: 48h}", "2:13: '48h' is not between 1s and 24h (such as 5m)"),
            ("{default: allow}", "2:13: 'allow': a question without an answer can only be denied (deny)"),
            ("{waits: 5m}", "2:13: waits is not a key of questions (did you mean wait?)"),
            ("5m", "2:1: '5m' where a mapping is expected (questions: {wait: 5m, default: deny})"),
        ],
    )
    def test_what_is_wrong(self, tmp_path: Path, written: str, problem: str) -> None:
        (tmp_path / "hooks.yaml").write_text(f"audit: {{path: a.db}}\nquestions: {written}\n")

        with pytest.raises(ConfigError) as error:
            Hooks.load(tmp_path / "hooks.yaml")

        assert [str(one) for one in error.value.problems] == [f"{tmp_path}/hooks.yaml:{problem}"]

    @pytest.mark.parametrize(
        ("given", "fits"),
        [
            ({"wait": "5m", "default": "deny"}, True),
            ({}, True),
            (True, True),
            ({"default": "allow"}, False),
            ({"waits": "5m"}, False),
            ({"wait": "soon"}, False),
            ("5m", False),
        ],
    )
    def test_the_schema_says_the_same(self, given: Any, fits: bool) -> None:
        from jsonschema import Draft202012Validator

        assert Draft202012Validator(schema()).is_valid({"questions": given}) is fits

    def test_questions_need_a_record(self, tmp_path: Path) -> None:
        (tmp_path / "hooks.yaml").write_text("hooks: {}\nquestions: {wait: 5m}\n")

        with pytest.raises(ConfigError, match=r"hooks.yaml:2: questions wait in the record, and there is none"):
            Hooks.load(tmp_path / "hooks.yaml")
        with pytest.raises(ConfigError, match="questions wait in the record, and there is none"):
            Hooks.from_mapping({"questions": {"wait": "5m"}})

    def test_a_second_file_with_questions_is_told_that_it_has_no_effect(self, tmp_path: Path) -> None:
        for name, wait in (("one.yaml", "5m"), ("two.yaml", "9m")):
            (tmp_path / name).write_text(f"audit: {{path: a.db}}\nquestions: {{wait: {wait}}}\n")

        hooks = Hooks.load(tmp_path / "one.yaml", tmp_path / "two.yaml")

        assert hooks.questions is not None
        assert hooks.questions.wait == 300
        assert f"{tmp_path}/two.yaml:2: questions has no effect" in str(hooks.warnings[0])


class TestDocuments:
    def test_a_question_is_one_json_document(self, path: Path) -> None:
        with AuditStore(path) as store:
            asking = Asking(Questions(store, wait=60))
            (question,) = waiting(path)
            open_document = question.to_dict()
            document = answer(store, question, remembered="session").to_dict()
            assert asking.approval.remembered == "session"

        assert open_document["state"] == "waiting"
        assert 0 < open_document["left"] <= 60
        assert json.loads(json.dumps(document)) == document
        assert document["state"] == "approved"
        assert document["answer"] | WHO == document["answer"]
        assert document["answer"]["remembered"] == "session"

    def test_secrets_are_redacted_as_in_the_record(self, path: Path) -> None:
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        with AuditStore(path) as store:
            asking = Asking(
                Questions(store, wait=60), Question(tool_name="Bash", tool_input={"command": f"x {secret}"})
            )
            (question,) = waiting(path)
            answer(store, question, reason=f"the token {secret} is old")

            assert asking.approval.approved is True
        assert secret not in str(question.input)
        assert secret.encode() not in path.read_bytes()

    def test_questions_are_counted_by_state(self, path: Path) -> None:
        with AuditStore(path) as store:
            Questions(store, wait=0.02)(PUSH).block()
            asking = Asking(Questions(store, wait=60))
            answer(store, waiting(path)[0])
            assert asking.approval.approved

        with open_store(path) as reader:
            assert reader.question_counts() == {"expired": 1, "approved": 1}


def test_an_edited_input_is_for_one_call_and_is_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    with AuditStore(path) as store:
        questions = Questions(store, wait=60)
        asking = Asking(questions)
        (question,) = waiting(path)
        with pytest.raises(UsageError, match="an edited input is for one call"):
            answer(store, question, remembered="session", tool_input={"command": "git push --dry-run"})
        with pytest.raises(UsageError, match="an edited input is for one call"):
            answer(store, question, approved=False, tool_input={"command": "git push --dry-run"})

        answer(store, question, tool_input={"command": "git push --dry-run"})

        assert asking.approval.tool_input == {"command": "git push --dry-run"}
        assert "with an edited input" in asking.approval.reason
        assert questions.remembered(PUSH) is None


def test_an_edited_input_whose_secret_the_record_hides_is_denied(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    with AuditStore(path) as store:
        asking = Asking(Questions(store, wait=60))
        (question,) = waiting(path)

        answer(
            store,
            question,
            tool_input={"command": "curl -H 'Authorization: Bearer ghp_16C7e42F292c6912E7710c838347Ae178B4a'"},
        )

        assert not asking.approval.approved
        assert "secrets in it were redacted" in asking.approval.reason


def test_a_call_of_a_coding_agent_runs_with_the_edited_input_unless_a_hook_denies_it(tmp_path: Path) -> None:
    path = configure(tmp_path)
    with (tmp_path / "hooks.yaml").open("a") as file:
        file.write("    - {name: no-force, if: 'Bash(git push --force *)', type: script, handler: '/deny \"never\"'}\n")
    replies = []
    for edited in ("git push --dry-run", "git push --force origin"):
        with firing(tmp_path) as started:
            (question,) = waiting(path)
            with AuditStore(path) as store:
                answer(store, question, tool_input={"command": edited})
            replies.append(json.loads(started.communicate(timeout=PATIENCE)[0])["hookSpecificOutput"])

    assert (replies[0]["permissionDecision"], replies[0]["updatedInput"]) == (
        "allow",
        {"command": "git push --dry-run"},
    )
    assert replies[1]["permissionDecision"] == "deny"
    assert "never" in replies[1]["permissionDecisionReason"]
