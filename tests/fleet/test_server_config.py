"""With the configuration that we write, each user of a server can do what its role needs, and nothing else."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client
from nats.errors import Error as NatsError
from tests.fleet.nats_servers import NatsServer, free_ports
from tests.fleet.rule_nodes import DAY, bundle_folder, until, version_of

from interpose.config.fleet import FleetSettings
from interpose.fleet.buckets import read_latest, read_object
from interpose.fleet.bundles import pack
from interpose.fleet.keys import load_private, make_key
from interpose.fleet.node import Node
from interpose.fleet.reports import publish_reports, read_fleet_status
from interpose.fleet.rings import Rings
from interpose.fleet.rules import follow_rules
from interpose.fleet.server_config import ServerFolder, ServerOptions
from interpose.fleet.setup import create_all
from interpose.handlers.nats_client import NatsOptions, NatsUnavailable, connect, settle
from interpose.runtime.tasks import end_tasks

pytestmark = pytest.mark.slow
PATIENCE = 60.0
TEAMS = {"payments": ("one", "two"), "search": ("three",)}


class Secured:
    """A server with our configuration, and connections as each of its users."""

    def __init__(self, server: ServerFolder, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.public = make_key(str(folder / "alice.key"))
        self.key = load_private(str(folder / "alice.key"))

    def settings(self, role: str, node: str = "", team: str = "payments") -> FleetSettings:
        nats = NatsOptions(servers=(self.server.url,), nkey=self.server.seed(team, role, node), ca=self.server.ca)
        return FleetSettings(nats=nats, team=team, node=node or "x", signers=(("alice", self.public),))

    @contextlib.asynccontextmanager
    async def user(self, role: str, node: str = "", team: str = "payments") -> AsyncIterator["User"]:
        violations: list[str] = []

        async def told(what: str) -> None:
            violations.append(what)

        client = await connect(self.settings(role, node, team).nats, name=f"{role} {node}", on_change=told)
        try:
            yield User(client, violations)
        finally:
            await client.close()


class User:
    def __init__(self, client: Client, violations: list[str]) -> None:
        self.client, self.violations = client, violations

    async def is_refused(self, subject: str, data: bytes = b"{}") -> bool:
        """Whether the server refuses a message on a subject; it says so before it answers what is sent later."""
        before = len(self.violations)
        await self.client.publish(subject, data, reply=self.client.new_inbox())
        await settle(self.client)
        return await until(lambda: any("permissions violation" in text for text in self.violations[before:]), 5)

    async def hears(self, subject: str, act: Callable[[], Awaitable[Any]], seconds: float = 0.7) -> bool:
        """Whether this user gets anything on a subject while something happens."""
        heard: list[str] = []

        async def note(message: Any) -> None:
            heard.append(message.subject)

        await self.client.subscribe(subject, cb=note)
        with contextlib.suppress(NatsError):
            await settle(self.client)
        await act()
        return await until(lambda: heard, seconds)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    port = free_ports(1)[0]
    made = ServerFolder(str(folder / "server"), ServerOptions(port=port, listen="127.0.0.1"))
    for team, nodes in TEAMS.items():
        made.add(team, nodes, ["checks.>"])
    server = NatsServer(folder / "nats", port)
    server.config = Path(made.config)
    server.start()
    try:
        found = Secured(made, folder)
        for team in TEAMS:
            asyncio.run(_set_up(found, team))
        yield found
    finally:
        server.stop()


async def _set_up(secured: Secured, team: str) -> None:
    async with secured.user("admin", team=team) as admin:
        await create_all(admin.client, secured.settings("admin", team=team))


def test_every_role_can_do_its_work(secured: Secured, tmp_path: Path) -> None:
    async def work() -> None:
        packed = pack(str(bundle_folder(tmp_path / "rules")))
        async with secured.user("pusher") as pusher, secured.user("node", "one") as user:
            settings = secured.settings("node", "one")
            (tmp_path / "node").mkdir()
            node = Node(settings, user.client, str(tmp_path / "node"))
            tasks = [asyncio.create_task(part(node)) for part in (follow_rules, publish_reports)]
            await asyncio.sleep(0)
            statement = await Rings(pusher.client, secured.settings("pusher"), secured.key).push(
                "prod", packed, expires=DAY
            )
            assert await until(lambda: version_of(node) == statement.version), (node.report, user.violations)
            await user.client.jetstream().publish("interpose.payments.record.one", b"x")
            async with secured.user("approver") as approver:
                await approver.client.jetstream().publish("$KV.interpose_payments_answers.one.q1", b"yes")
            entry = await read_latest(user.client, "interpose_payments_answers", "one.q1")
            assert entry is not None
            assert entry.value == b"yes"
            async with secured.user("collector") as collector:
                pull = await collector.client.jetstream().pull_subscribe(
                    "interpose.payments.record.*", durable="test", stream="INTERPOSE_payments_RECORD"
                )
                (message,) = await pull.fetch(1, timeout=PATIENCE)
                await message.ack()
            async with asyncio.timeout(PATIENCE):  # a node reports what it runs after it has taken it over
                while True:
                    status = await read_fleet_status(pusher.client, secured.settings("pusher"))
                    if [(one.node, one.version) for one in status.nodes] == [("one", statement.version)]:
                        break
                    await asyncio.sleep(0.05)
            await end_tasks(tasks)
            assert [text for text in user.violations if "violation" in text] == []

    asyncio.run(work())


FORBIDDEN = [
    "interpose.payments.record.two",
    "interpose.search.record.three",
    "$KV.interpose_payments_rings.prod",
    "$KV.interpose_payments_nodes.two",
    "$KV.interpose_payments_questions.two.q",
    "$KV.interpose_payments_answers.one.q",
    "$KV.interpose_payments_answers.two.q",
    "$O.interpose_payments_bundles.M.x",
    "$O.interpose_payments_bundles.C.x",
    "interpose.payments.rings.prod",
    "interpose.payments.answers.one.q",
    "$JS.API.STREAM.CREATE.X",
    "$JS.API.STREAM.DELETE.INTERPOSE_payments_RECORD",
    "$JS.API.STREAM.PURGE.INTERPOSE_payments_RECORD",
    "$JS.API.STREAM.INFO.INTERPOSE_payments_RECORD",
    "$JS.API.STREAM.MSG.GET.INTERPOSE_payments_RECORD",
    "$JS.API.STREAM.MSG.GET.KV_interpose_payments_answers",
    "$JS.API.STREAM.NAMES",
    "$JS.API.DIRECT.GET.INTERPOSE_payments_RECORD",
    "$JS.API.DIRECT.GET.INTERPOSE_payments_RECORD.interpose.payments.record.two",
    "$JS.API.DIRECT.GET.KV_interpose_payments_answers",
    "$JS.API.DIRECT.GET.KV_interpose_payments_answers.$KV.interpose_payments_answers.two.q1",
    "$JS.API.DIRECT.GET.KV_interpose_payments_questions.$KV.interpose_payments_questions.two.q1",
    "$JS.API.DIRECT.GET.KV_interpose_payments_nodes.$KV.interpose_payments_nodes.two",
    "$JS.API.CONSUMER.CREATE.KV_interpose_payments_answers",
    "$JS.API.CONSUMER.CREATE.KV_interpose_payments_rings",
    "$JS.API.CONSUMER.CREATE.KV_interpose_payments_answers.x.$KV.interpose_payments_answers.one.>",
    "$JS.API.CONSUMER.DURABLE.CREATE.INTERPOSE_payments_RECORD.x",
    "$JS.API.CONSUMER.MSG.NEXT.INTERPOSE_payments_RECORD.test",
    "$JS.ACK.INTERPOSE_payments_RECORD.test.1.1.1.1.1",
    "$JS.API.META.LEADER.STEPDOWN",
    "$SYS.REQ.SERVER.PING",
    "$SRV.PING",
]  # fmt: skip


def test_a_node_may_write_only_its_own_record_report_and_questions(secured: Secured) -> None:
    async def work() -> None:
        async with secured.user("node", "one") as node:
            assert [subject for subject in FORBIDDEN if not await node.is_refused(subject)] == []
            before = len(node.violations)
            await node.client.jetstream(timeout=PATIENCE).publish("$KV.interpose_payments_nodes.one", b"{}")
            assert node.violations[before:] == []

    asyncio.run(work())


def test_a_node_hears_neither_other_nodes_records_nor_their_answers_nor_their_inboxes(secured: Secured) -> None:
    async def work() -> None:
        async with (
            secured.user("node", "one") as one,
            secured.user("node", "two") as two,
            secured.user("approver") as who,
        ):

            async def record() -> None:
                await two.client.jetstream().publish("interpose.payments.record.two", b"secret")

            async def answer(node: str) -> None:
                await who.client.jetstream().publish(f"$KV.interpose_payments_answers.{node}.q9", b"yes")

            inbox = two.client.new_inbox().rpartition(".")[0]
            for subject in (
                "interpose.payments.record.*",
                "interpose.>",
                ">",
                "_INBOX.>",
                f"{inbox}.>",
                "$KV.>",
                "*.>",
            ):
                assert not await one.hears(subject, record), subject
            for subject in (
                "interpose.payments.answers.*.*",
                "interpose.payments.answers.two.*",
                "$KV.interpose_payments_answers.>",
            ):
                assert not await one.hears(subject, lambda: answer("two")), subject
            assert await one.hears("interpose.payments.answers.one.*", lambda: answer("one"), seconds=30)

    asyncio.run(work())


@pytest.mark.parametrize(
    "asked", [{"seq": 1}, {"next_by_subj": "$KV.interpose_payments_answers.>", "seq": 1},
              {"multi_last": ["$KV.interpose_payments_answers.two.>"]}, {"last_by_subj": "$KV.interpose_payments_answers.two.q1"}]
)  # fmt: skip
def test_a_request_that_names_the_nodes_own_key_cannot_ask_for_another_in_its_body(
    secured: Secured, asked: Any
) -> None:
    async def work() -> None:
        async with secured.user("approver") as who:
            await who.client.jetstream().publish("$KV.interpose_payments_answers.two.q1", b"secret")
        async with secured.user("node", "one") as node:
            subject = "$JS.API.DIRECT.GET.KV_interpose_payments_answers.$KV.interpose_payments_answers.one.zz"
            found = await node.client.request(subject, json.dumps(asked).encode(), timeout=PATIENCE)

            assert b"secret" not in found.data

    asyncio.run(work())


def test_a_node_cannot_empty_a_bucket_by_a_rollup_of_its_own_key(secured: Secured) -> None:
    async def work() -> None:
        async with secured.user("node", "two") as two:
            await two.client.jetstream().publish("$KV.interpose_payments_nodes.two", b'{"node": "two"}')
        async with secured.user("node", "one") as one:
            with pytest.raises(NatsError):
                await one.client.jetstream().publish(
                    "$KV.interpose_payments_nodes.one", b"{}", headers={"Nats-Rollup": "all"}
                )
        async with secured.user("pusher") as pusher:
            assert await read_latest(pusher.client, "interpose_payments_nodes", "two") is not None

    asyncio.run(work())


def test_a_node_of_another_team_reads_nothing_of_this_one(secured: Secured, tmp_path: Path) -> None:
    async def work() -> None:
        async with secured.user("node", "three", "search") as strange:
            for subject in ("interpose.payments.record.three", "$KV.interpose_payments_nodes.three"):
                assert await strange.is_refused(subject)
            assert await strange.is_refused(
                "$JS.API.DIRECT.GET.KV_interpose_payments_rings.$KV.interpose_payments_rings.prod"
            )
        async with secured.user("admin", team="search") as admin:  # another account: the same names are other streams
            names = await admin.client.jetstream().streams_info()
            assert {info.config.name for info in names if "payments" in str(info.config.name)} == set()

    asyncio.run(work())


def test_who_has_no_seed_or_does_not_believe_the_authority_does_not_connect(secured: Secured, tmp_path: Path) -> None:
    async def work() -> None:
        with pytest.raises(NatsUnavailable):
            await connect(NatsOptions(servers=(secured.server.url,), ca=secured.server.ca), name="x", patience=2)
        with pytest.raises(NatsUnavailable):
            await connect(NatsOptions(servers=(secured.server.url,), nkey=secured.server.seed("payments", "node", "one")),
                          name="x", patience=2)  # fmt: skip
        strange = ServerFolder(str(tmp_path / "other"))
        strange.add("payments", ["one"])
        nats = NatsOptions(
            servers=(secured.server.url,), ca=secured.server.ca, nkey=strange.seed("payments", "node", "one")
        )
        with pytest.raises(NatsUnavailable):
            await connect(nats, name="x", patience=2)

    asyncio.run(work())


def test_approvers_pushers_collectors_and_workers_may_not_do_each_others_work(secured: Secured) -> None:
    refused = {
        "approver": ["$KV.interpose_payments_rings.prod", "interpose.payments.record.one", "$O.interpose_payments_bundles.C.x",
                     "$JS.API.STREAM.INFO.INTERPOSE_payments_RECORD"],
        "pusher": ["$KV.interpose_payments_answers.one.q", "interpose.payments.record.one",
                   "$JS.API.STREAM.INFO.INTERPOSE_payments_RECORD", "$KV.interpose_payments_nodes.one"],
        "collector": ["$KV.interpose_payments_rings.prod", "$KV.interpose_payments_answers.one.q", "interpose.payments.record.one"],
        "worker": ["$KV.interpose_payments_rings.prod", "interpose.payments.record.one", "$JS.API.STREAM.NAMES", "checks.x"],
    }  # fmt: skip

    async def work() -> None:
        for role, subjects in refused.items():
            async with secured.user(role) as user:
                assert [subject for subject in subjects if not await user.is_refused(subject)] == [], role

    asyncio.run(work())


def test_a_node_asks_a_worker_and_gets_its_answer(secured: Secured) -> None:
    async def work() -> None:
        async with secured.user("worker") as worker, secured.user("node", "one") as node:

            async def serve(message: Any) -> None:
                await message.respond(b"fine")

            await worker.client.subscribe("checks.licences", "workers", cb=serve)
            await settle(worker.client)

            assert (await node.client.request("checks.licences", b"{}", timeout=PATIENCE)).data == b"fine"

    asyncio.run(work())


def test_a_node_that_is_added_later_keeps_the_keys_of_the_others(tmp_path: Path) -> None:
    server = ServerFolder(str(tmp_path), ServerOptions(tls=False))
    before = server.add("payments", ["one"])
    seed = Path(before["node one"]).read_bytes()
    after = server.add("payments", ["two"])

    assert set(after) == {*before, "node two"}
    assert Path(after["node one"]).read_bytes() == seed
    assert (Path(after["node one"]).stat().st_mode & 0o777) == 0o600
    assert "node two" in Path(server.config).read_text()


def test_reading_an_object_needs_no_consumer(secured: Secured, tmp_path: Path) -> None:
    async def work() -> None:
        data = b"x" * 400_000  # several chunks
        async with secured.user("pusher") as pusher:
            await (await pusher.client.jetstream().object_store("interpose_payments_bundles")).put("big", data)
        async with secured.user("node", "two") as node:
            assert await read_object(node.client, "interpose_payments_bundles", "big", 10**6) == data

    asyncio.run(work())
