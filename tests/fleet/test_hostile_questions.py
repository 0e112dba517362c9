"""A node that posts whatever its permissions let it: the list stays whole, and a person signs what was shown."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.question_nodes import WHO, QuestionTeam
from tests.fleet.test_fleet_questions import a_question

from interpose.audit.questions import digest_of, id_of
from interpose.errors import UsageError
from interpose.fleet import bucket_pages
from interpose.fleet.answers import BadQuestion, PostedQuestion, read_posted
from interpose.fleet.approving import Approving
from interpose.fleet.reports import read_fleet_status
from interpose.handlers.nats_client import connect


@pytest.fixture
def team(tmp_path: Path) -> Iterator[QuestionTeam]:
    with a_nats_server(tmp_path / "nats") as server:
        yield QuestionTeam(tmp_path, server.url)


def numbered(number: int, **changed: Any) -> PostedQuestion:
    """One of many questions."""
    text = json.dumps({"tool_name": "Bash", "tool_input": {"command": f"ls {number}"}})
    return a_question(text=text, id=id_of(digest_of(text)), team="payments", **changed)


async def post(team: QuestionTeam, *questions: PostedQuestion, **headers: str) -> None:
    client = await connect(team.settings.nats, name="hostile")
    for one in questions:
        subject = f"$KV.interpose_payments_questions.{one.key}"
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        await client.jetstream().publish(subject, one.written(), headers=given or None)
    await client.close()


async def listed_nodes(fleet: Approving) -> list[str]:
    return [one.node for one in (await fleet.listed()).questions]


@pytest.mark.parametrize(
    "changed",
    [{"expires": 10**400}, {"asked": 10**400}, {"asked": -1}, {"id": "x;reboot"}, {"id": "$(reboot)"},
     {"node": "one.x"}, {"id": "aaaa-aaaa.b"}],
)  # fmt: skip
def test_a_question_with_a_time_or_an_id_that_no_question_has_cannot_be_read(changed: dict[str, Any]) -> None:
    hostile = a_question(**changed)

    with pytest.raises(BadQuestion):
        read_posted(hostile.written(), team="t", key=hostile.key)


def test_a_question_that_names_any_number_of_seconds_can_be_shown() -> None:
    text = '{"tool_name":"Bash","tool_input":{},"wait":' + "9" * 400 + "}"
    hostile = a_question(text=text, id=id_of(digest_of(text)))

    assert hostile.to_dict()["wait"] == 0.0


@pytest.mark.parametrize(
    "headers",
    [{"Status": "404"}, {"Status": "204", "Description": "EOB"}, {"Status": "503"}, {"Status": "500"},
     {"Nats_Sequence": "999999"}, {"Nats_Sequence": "x"}, {"Nats_Subject": "$KV.interpose_payments_questions.good.x"},
     {"Nats_Num_Pending": "0"}],
)  # fmt: skip
def test_headers_of_one_question_hide_no_other(team: QuestionTeam, headers: dict[str, str]) -> None:
    async def main() -> None:
        async with team.fleet() as fleet:
            await post(team, numbered(1, node="evil", asked=1.0), **headers)
            await post(team, numbered(2, node="good", asked=2.0))

            assert await listed_nodes(fleet) == ["evil", "good"]

    asyncio.run(main())


def test_a_node_with_very_many_questions_hides_none_of_another_and_the_list_says_so(team: QuestionTeam) -> None:
    async def main() -> None:
        async with team.fleet() as fleet:
            await post(team, *(numbered(number, node="evil", asked=1.0) for number in range(230)))
            await post(team, numbered(1, node="good", asked=2.0))
            found = await fleet.listed()

            assert [one.node for one in found.questions] == ["evil"] * 200 + ["good"]
            assert found.left_out == "node evil has 30 more questions: --node evil lists them"
            assert len((await fleet.listed(node="evil")).questions) == 230

    asyncio.run(main())


def test_a_bucket_with_more_entries_than_are_read_is_told_and_each_node_can_be_read(
    team: QuestionTeam, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bucket_pages, "_MOST", 200)

    async def main() -> None:
        async with team.fleet() as fleet:
            await post(team, *(numbered(number, node="evil") for number in range(230)))
            good = numbered(1, node="good")
            await post(team, good)
            found = await fleet.listed()

            assert (
                found.left_out == "there are more entries than 200, of which node evil has 200: name a node with --node"
            )
            assert (await fleet.listed(node="good")).questions == (good,)
            assert await fleet.find(good.id, "good") == good
            with pytest.raises(UsageError, match="is not the name of a node"):
                await fleet.listed(node="*")

    asyncio.run(main())


def test_what_was_signed_is_shown_although_the_node_posts_something_else_meanwhile(team: QuestionTeam) -> None:
    shown = numbered(1, node="evil")
    other = a_question(text='{"tool_name":"Read","tool_input":{}}', team="payments", node="evil", id=shown.id,
                       state="approved", by="me")  # fmt: skip

    async def main() -> None:
        async with team.fleet() as fleet:
            await post(team, other)
            given = await fleet.answer(shown, team.alice, approved=True, who=WHO, wait=0)

            assert (given.question.text, given.question.state) == (shown.text, "approved")

    asyncio.run(main())


def test_a_report_with_numbers_of_any_length_does_not_end_the_status(team: QuestionTeam) -> None:
    stores = ",".join(f'"{number}":{{"lag":{"9" * 4300}}}' for number in range(12))

    async def main() -> None:
        async with team.fleet() as fleet:
            client = fleet._client
            await client.jetstream().publish("$KV.interpose_payments_nodes.evil", f'{{"record":{{{stores}}}}}'.encode())
            await client.jetstream().publish("$KV.interpose_payments_nodes.good", b'{"record":{"1":{"lag":7}}}')
            found = await read_fleet_status(client, team.settings)

            assert {one.node: f"{one.lag:,}" for one in found.nodes} == {"evil": "0", "good": "7"}

    asyncio.run(main())


@pytest.mark.parametrize("stamp", ["", "x", "2026-02-30", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59"])
def test_a_report_with_a_time_of_its_own_is_as_old_as_the_server_says(team: QuestionTeam, stamp: str) -> None:
    async def main() -> None:
        async with team.fleet() as fleet:
            client, began = fleet._client, time.time()
            headers = {"Nats-Time-Stamp": stamp}
            await client.jetstream().publish("$KV.interpose_payments_nodes.evil", b"{}", headers=headers)
            [report] = (await read_fleet_status(client, team.settings)).nodes

            assert began - 1 < report.at < time.time() + 1

    asyncio.run(main())


def test_the_status_is_read_without_consumers(team: QuestionTeam) -> None:
    """The server has a limit of them. What a consumer delivers may also arrive after the client has stopped waiting."""

    async def main() -> None:
        async with team.fleet() as fleet:
            client = fleet._client
            await client.jetstream().publish("$KV.interpose_payments_nodes.good", b"{}")
            assert len((await read_fleet_status(client, team.settings)).nodes) == 1

            for bucket in ("rings", "nodes"):
                assert await client.jetstream().consumers_info(f"KV_interpose_payments_{bucket}") == []

    asyncio.run(main())
