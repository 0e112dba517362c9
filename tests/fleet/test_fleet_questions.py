"""Questions of a node that are answered elsewhere: a real server, the real part of the node, and people with keys."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.asking import PATIENCE, stored, waiting
from tests.asking import WHO as LOCAL
from tests.asking import answer as answer_here
from tests.fleet.nats_servers import NatsServer, a_nats_server
from tests.fleet.question_nodes import CALL, WHO, QuestionTeam, eventually

from interpose.audit import open_store
from interpose.audit.questions import digest_of, id_of
from interpose.errors import UsageError
from interpose.fleet.answers import BadAnswer, BadQuestion, PostedQuestion, read_answer, read_posted
from interpose.records import replace


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with a_nats_server(tmp_path_factory.mktemp("nats")) as made:
        yield made


@pytest.fixture
def team(server: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> QuestionTeam:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = QuestionTeam(tmp_path, server.url)
    made.settings = replace(made.settings, team=f"t{id(made)}")  # buckets of its own
    return made


pytestmark = pytest.mark.slow

TO_BE_POSTED = 8.0
"""Seconds within which a question is posted, also on a busy machine: one that has expired before is not."""


def problem_of(node: Any) -> str:
    return str(node.report["problems"].get("questions", ""))


def changes(team: QuestionTeam) -> list[str]:
    with open_store(team.store_path) as reader:
        return [one.text("to") for one in reader.changes()]


# The way of a question and its answer.


def test_an_answer_from_elsewhere_is_written_as_one_that_is_given_here(team: QuestionTeam) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.node(), team.fleet() as fleet:
                asking = team.ask(store)
                question = await team.posted(fleet)
                given = await fleet.answer(question, team.alice, approved=True, who=WHO, reason="go", wait=PATIENCE)
                approval = await asyncio.to_thread(lambda: asking.approval)

                assert (question.node, question.question.tool, question.question.input) == (
                    "one",
                    "Bash",
                    CALL.tool_input,
                )
                assert (given.how, given.question.state, given.question.reason) == ("confirmed", "approved", "go")
                assert (approval.approved, approval.person) == (True, "alice (fleet, ann@desk)")
        [local] = stored(team.store_path)
        assert local.answer is not None
        assert local.answer.body["approver"] == dict(team.settings.approvers)["alice"]

    asyncio.run(main())


@pytest.mark.parametrize("state", ["refused", "session", "edited"])
def test_an_answer_can_refuse_hold_for_the_session_or_edit_the_input(state: str, team: QuestionTeam) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.node(), team.fleet() as fleet:
                asking = team.ask(store)
                more: dict[str, Any] = {
                    "session": {"remembered": "session"},
                    "edited": {"tool_input": {"command": "ls"}},
                }
                given = await fleet.answer(
                    await team.posted(fleet), team.bob, approved=state != "refused", who=WHO, wait=PATIENCE,
                    **more.get(state, {}),
                )  # fmt: skip
                approval = await asyncio.to_thread(lambda: asking.approval)

                assert given.how == "confirmed"
                assert approval.approved is (state != "refused")
                assert approval.remembered == ("session" if state == "session" else "")
                assert approval.tool_input == ({"command": "ls"} if state == "edited" else None)

    asyncio.run(main())


def test_of_two_people_at_once_one_wins_and_the_other_is_told_who(team: QuestionTeam) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.node(), team.fleet() as first, team.fleet() as second:
                asking = team.ask(store)
                question = await team.posted(first)
                given = await asyncio.gather(
                    first.answer(question, team.alice, approved=True, who=WHO, wait=PATIENCE),
                    second.answer(question, team.bob, approved=False, who=WHO, wait=PATIENCE),
                )
                approval = await asyncio.to_thread(lambda: asking.approval)

                assert sorted(one.how for one in given) == ["confirmed", "other"]
                won = "alice" if given[0].how == "confirmed" else "bob"
                assert approval.approved is (won == "alice")
                assert {one.other for one in given} == {f"{won} (fleet, ann@desk)"}

    asyncio.run(main())


def test_an_answer_that_was_given_here_first_counts(team: QuestionTeam) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.fleet() as fleet:
                async with team.node():
                    asking = team.ask(store)
                    question = await team.posted(fleet)
                [local] = waiting(team.store_path)
                answer_here(store, local, approved=False)
                late = asyncio.create_task(fleet.answer(question, team.alice, approved=True, who=WHO, wait=PATIENCE))
                async with team.node():
                    given = await late
                approval = await asyncio.to_thread(lambda: asking.approval)

                assert (given.how, given.question.state) == ("other", "refused")
                assert given.other == f"{LOCAL['user']} ({LOCAL['terminal']})"
                assert approval.approved is False

    asyncio.run(main())


@pytest.mark.parametrize("fate", ["expired", "withdrawn"])
def test_what_becomes_of_a_question_is_posted(fate: str, team: QuestionTeam) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.node(), team.fleet() as fleet:
                asking = team.ask(store, wait=TO_BE_POSTED if fate == "expired" else PATIENCE)
                question = await team.posted(fleet)
                if fate == "withdrawn":
                    store.answer({"question": question.id, "digest": question.digest, "state": "withdrawn"}).block()
                assert not (await asyncio.to_thread(lambda: asking.approval)).approved
                async with asyncio.timeout(30):
                    while (await team.stored_question(question.key))["state"] == "waiting":  # noqa: ASYNC110 - elsewhere
                        await asyncio.sleep(0.05)

                assert (await team.stored_question(question.key))["state"] == fate
                with pytest.raises(UsageError, match=f"it was {fate}"):
                    await fleet.answer(await fleet.find(question.id), team.alice, approved=True, who=WHO)

    asyncio.run(main())


def test_a_node_that_is_silent_is_said_to_be_and_takes_the_answer_when_it_is_back(team: QuestionTeam) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.fleet() as fleet:
                async with team.node():
                    asking = team.ask(store)
                    question = await team.posted(fleet)
                given = await fleet.answer(question, team.alice, approved=True, who=WHO, wait=0.3)
                async with team.node():
                    approval = await asyncio.to_thread(lambda: asking.approval)

                assert (given.how, approval.approved) == ("silent", True)

    asyncio.run(main())


def test_a_question_waits_here_as_before_while_there_is_no_server(team: QuestionTeam, tmp_path: Path) -> None:
    async def main() -> None:
        with a_nats_server(tmp_path / "own") as own, team.store() as store:
            team.settings = replace(team.settings, nats=replace(team.settings.nats, servers=(own.url,)))
            async with team.node() as node:
                own.kill()
                first = team.ask(store)
                [local] = await asyncio.to_thread(waiting, team.store_path)
                answer_here(store, local)
                assert (await asyncio.to_thread(lambda: first.approval)).approved
                second = team.ask(store)
                own.start()
                async with team.fleet() as fleet:
                    given = await fleet.answer(
                        await team.posted(fleet), team.alice, approved=True, who=WHO, wait=PATIENCE
                    )
                assert (await asyncio.to_thread(lambda: second.approval)).approved
                assert given.how == "confirmed"
                assert await eventually(lambda: not problem_of(node), 60) is True

    asyncio.run(main())


def test_a_question_that_the_server_does_not_take_waits_here_and_holds_up_no_other(
    team: QuestionTeam, tmp_path: Path
) -> None:
    async def main() -> None:
        with a_nats_server(tmp_path / "own", "max_payload: 100000") as own, team.store() as store:
            team.settings = replace(team.settings, nats=replace(team.settings.nats, servers=(own.url,)))
            large = replace(CALL, tool_input={"command": "x" * 120_000}, session_id="s2")
            async with team.node() as node, team.fleet() as fleet:
                first = team.ask(store, question=large)
                await eventually(lambda: "too much for the fleet" in problem_of(node))
                second = team.ask(store)
                given = await fleet.answer(await team.posted(fleet), team.alice, approved=True, who=WHO, wait=PATIENCE)
                assert given.how == "confirmed"
                assert (await asyncio.to_thread(lambda: second.approval)).approved
                [local] = await asyncio.to_thread(waiting, team.store_path)
                answer_here(store, local)
                assert (await asyncio.to_thread(lambda: first.approval)).approved

    asyncio.run(main())


def test_without_approvers_questions_are_not_shown_to_others(team: QuestionTeam) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.node(approvers=()), team.fleet() as fleet:
                asking = team.ask(store, wait=1.5)
                await asyncio.to_thread(lambda: asking.approval)
                assert (await fleet.listed(everything=True)).questions == ()

    asyncio.run(main())


# Answers that do not count.


async def _ignored(team: QuestionTeam, forge: Any, said: str) -> None:
    with team.store() as store:
        async with team.node() as node, team.fleet() as fleet:
            asking = team.ask(store)
            question = await team.posted(fleet)
            await team.put_answer(question, forge(team, question))
            await eventually(lambda: said in problem_of(node))
            assert [one.state for one in stored(team.store_path)] == ["waiting"]
            await eventually(lambda: any(said in text for text in changes(team)))
            # What counts nowhere does not keep the place: a person can still answer.
            given = await fleet.answer(await team.posted(fleet), team.alice, approved=False, who=WHO, wait=PATIENCE)
            assert given.how == "confirmed"
            assert not (await asyncio.to_thread(lambda: asking.approval)).approved


def _edited_after_signing(team: QuestionTeam, question: PostedQuestion) -> bytes:
    found = json.loads(team.answer(question, team.alice, state="refused"))
    found["answer"] = found["answer"].replace('"refused"', '"approved"')
    return json.dumps(found).encode()


def _unsigned(team: QuestionTeam, question: PostedQuestion) -> bytes:
    return json.dumps({"answer": json.loads(team.answer(question, team.alice))["answer"], "signature": ""}).encode()


FORGED: dict[str, tuple[Any, str]] = {
    "not JSON": (lambda team, question: b"yes", "cannot be read"),
    "no answer": (lambda team, question: b'{"state": "approved"}', "is not an answer with a signature"),
    "not signed": (_unsigned, "a signature that does not fit"),
    "edited after it was signed": (_edited_after_signing, "a signature that does not fit"),
    "an unknown key": (lambda team, question: team.answer(question, team.mallory), "not one of the approvers"),
    "another key than it names": (
        lambda team, question: json.dumps({
            **json.loads(team.answer(question, team.alice)),
            "signature": json.loads(team.answer(question, team.mallory))["signature"],
        }).encode(), "a signature that does not fit"),
    "another content": (lambda team, question: team.answer(question, team.alice, digest="0" * 64), "another content"),
    "another question": (lambda team, question: team.answer(question, team.alice, question="aaaa-bbbb"), "not to"),
    "another node": (lambda team, question: team.answer(question, team.alice, node="two"), "for the node two"),
    "another team": (lambda team, question: team.answer(question, team.alice, team="other"), "for the team other"),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGED)
def test_an_answer_that_does_not_count_is_ignored_reported_and_recorded(what: str, team: QuestionTeam) -> None:
    forge, said = FORGED[what]

    asyncio.run(_ignored(team, forge, said))


def test_an_answer_that_comes_too_late_is_ignored_and_reported(team: QuestionTeam) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.node() as node, team.fleet() as fleet:
                asking = team.ask(store, wait=TO_BE_POSTED)
                question = await team.posted(fleet)
                assert not (await asyncio.to_thread(lambda: asking.approval)).approved
                await eventually(lambda: [one.state for one in stored(team.store_path)] == ["expired"])
                await team.put_answer(question, team.answer(question, team.alice))
                await eventually(lambda: "too late" in problem_of(node))
                assert [one.state for one in stored(team.store_path)] == ["expired"]
                other = team.answer(question, team.alice, question="aaaa-bbbb")
                await team.put_answer(question, other, key="one.aaaa-bbbb")
                await eventually(lambda: "not here" in problem_of(node))

    asyncio.run(main())


def test_an_answer_of_the_approver_who_was_removed_is_ignored_and_keeps_no_other_from_answering(
    team: QuestionTeam,
) -> None:
    async def main() -> None:
        with team.store() as store:
            async with team.node(approvers=team.settings.approvers[:1]), team.fleet() as fleet:
                team.ask(store)
                given = await fleet.answer(await team.posted(fleet), team.bob, approved=True, who=WHO, wait=PATIENCE)
                assert (given.how, "not one of the approvers" in given.other) == ("ignored", True)
                again = await fleet.answer(await team.posted(fleet), team.alice, approved=False, who=WHO, wait=20)
                assert (again.how, again.question.state) == ("confirmed", "refused")

    asyncio.run(main())


# What a node posts.


def a_question(**changed: Any) -> PostedQuestion:
    text = json.dumps({"tool_name": "Bash", "tool_input": {"command": "ls"}, "reason": "r"})
    made = PostedQuestion(team="t", node="one", id=id_of(digest_of(text)), text=text, asked=1.0, expires=9e9)
    return replace(made, **changed)


def test_a_posted_question_is_read_as_it_was_written() -> None:
    question = a_question(by="x", ignored=("s", "why"))

    assert read_posted(question.written(), team="t", key=question.key) == question


@pytest.mark.parametrize(
    "changed",
    [{"node": "two"}, {"team": "u"}, {"state": "fine"}, {"text": "[]"}, {"text": "{"}, {"asked": True}, {"by": 5}],
)
def test_a_posted_question_that_is_not_one_cannot_be_read(changed: dict[str, Any]) -> None:
    with pytest.raises(BadQuestion):
        read_posted(a_question(**changed).written(), team="t", key=a_question().key)


def test_a_question_whose_content_was_changed_on_the_way_is_not_answered(team: QuestionTeam) -> None:
    async def main() -> None:
        async with team.fleet() as fleet:
            changed = a_question(text=a_question().text.replace("ls", "rm -rf /"))
            with pytest.raises(UsageError, match="content has been changed"):
                await fleet.answer(changed, team.alice, approved=True, who=WHO)

    asyncio.run(main())


def test_an_answer_signed_as_something_else_is_none(team: QuestionTeam) -> None:
    from interpose.fleet.keys import sign

    stored_answer = json.loads(team.answer(a_question(), team.alice))
    stored_answer["signature"] = sign(team.alice, "rules", stored_answer["answer"].encode())

    with pytest.raises(BadAnswer, match="does not fit"):
        read_answer(json.dumps(stored_answer).encode(), replace(team.settings, team="t"), node="one")


# The list.


def test_a_list_is_read_whole_page_by_page_and_leaves_nothing_on_the_server(team: QuestionTeam) -> None:
    async def main() -> None:
        async with team.fleet() as fleet:
            client = fleet._client
            texts = [json.dumps({"tool_name": "Bash", "tool_input": {"command": f"{n}"}}) for n in range(450)]
            for text in texts:
                question = a_question(text=text, id=id_of(digest_of(text)), team=team.settings.team)
                await client.jetstream().publish(f"$KV.{fleet._names.questions}.{question.key}", question.written())
            await client.jetstream().publish(f"$KV.{fleet._names.questions}.one.junk", b"\x1b[2J")
            listed = await fleet.listed(node="one")
            info = await client.jetstream().stream_info(f"KV_{fleet._names.questions}")

            assert sorted(one.text for one in listed.questions) == sorted(texts)
            assert len(listed.unreadable) == 1
            assert info.state.consumer_count == 0

    asyncio.run(main())


def test_a_bucket_that_is_not_there_is_said_to_be_missing(team: QuestionTeam) -> None:
    async def main() -> None:
        async with team.fleet(team="never-created") as fleet:
            with pytest.raises(UsageError, match="is not there"):
                await fleet.listed()

    asyncio.run(main())
