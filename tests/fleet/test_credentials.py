"""A fleet on a server in operator mode: users have credentials files with a JWT."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.nats_servers import NatsServer, free_ports
from tests.fleet.nats_tokens import Operator
from tests.fleet.rule_nodes import DAY, Team, until, version_of
from tests.fleet.test_reply_subjects import OTHERS, stored_subjects

from interpose.config.fleet import FleetSettings
from interpose.fleet.buckets import read_latest
from interpose.fleet.node import Node
from interpose.fleet.reports import publish_reports, read_fleet_status
from interpose.fleet.rings import Rings
from interpose.fleet.rules import follow_rules
from interpose.fleet.setup import create_all
from interpose.handlers.nats_client import NatsOptions, NatsUnavailable, connect
from interpose.records import replace
from interpose.runtime.tasks import end_tasks

pytestmark = pytest.mark.slow


class Credited:
    """A team whose users have credentials."""

    def __init__(self, folder: Path, server: NatsServer, operator: Operator) -> None:
        self.team, self._server, self._operator = Team(folder, server.url), server, operator

    def settings(self, role: str, node: str = "") -> FleetSettings:
        nats = NatsOptions(servers=(self._server.url,), credentials=self._operator.credentials(role, node))
        return replace(self.team.settings, nats=nats, node=node or "x")


@pytest.fixture
def credited(tmp_path: Path) -> Iterator[Credited]:
    operator = Operator(tmp_path, "payments", ["one", "two"], ("checks.>",))
    server = NatsServer(tmp_path / "nats", free_ports(1)[0], operator.options).start()
    try:
        yield Credited(tmp_path, server, operator)
    finally:
        server.stop()


def test_a_node_with_credentials_takes_over_rules_and_writes_nothing_of_others(
    credited: Credited, tmp_path: Path
) -> None:
    told: list[str] = []

    async def tell(what: str) -> None:
        told.append(what)

    async def work() -> None:
        admin = await connect(credited.settings("admin").nats, name="admin")
        await create_all(admin, credited.settings("admin"))
        pusher = await connect(credited.settings("pusher").nats, name="pusher")
        settings = credited.settings("node", "one")
        client = await connect(settings.nats, name="node", forever=True, on_change=tell)
        node = Node(settings, client, str(tmp_path / "node"))
        tasks = [asyncio.create_task(part(node)) for part in (follow_rules, publish_reports)]
        await Rings(pusher, credited.settings("pusher"), credited.team.key).push(
            "prod", credited.team.bundle(), expires=DAY
        )

        assert await until(lambda: version_of(node) == 1)
        as_pusher = credited.settings("pusher")
        async with asyncio.timeout(30):
            while not (status := await read_fleet_status(pusher, as_pusher)).nodes:  # noqa: ASYNC110 - it happens elsewhere
                await asyncio.sleep(0.05)
        assert [one.node for one in status.nodes] == ["one"]
        assert [text for text in told if "violation" in text] == []
        for target in OTHERS:
            await client.publish("$KV.interpose_payments_questions.one.q", b"x", reply=target)
        await client.jetstream().publish("interpose.payments.record.one", b"last")
        assert await stored_subjects(admin) & {*OTHERS} == {"$KV.interpose_payments_rings.prod"}
        ring = await read_latest(admin, "interpose_payments_rings", "prod")
        assert (ring is not None and ring.revision) == 1  # that of the push
        await end_tasks(tasks)
        for one in (admin, pusher, client):
            await one.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    "spoiled", ["", "no credentials", "-----BEGIN NATS USER JWT-----\na.b.c\n-----END NATS USER JWT-----\n"]
)
def test_a_file_that_has_no_credentials_is_named(credited: Credited, spoiled: str) -> None:
    settings = credited.settings("node", "one")
    Path(settings.nats.credentials).write_text(spoiled)

    with pytest.raises(NatsUnavailable) as refused:
        asyncio.run(connect(settings.nats, name="x"))

    assert settings.nats.credentials in str(refused.value)


def test_credentials_of_another_operator_are_refused(credited: Credited, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    strange = Operator(tmp_path / "other", "payments", ["one"]).credentials("node", "one")
    nats = replace(credited.settings("node", "one").nats, credentials=strange)

    with pytest.raises(NatsUnavailable, match=r"(?i)authorization"):
        asyncio.run(connect(nats, name="x"))
