"""The server publishes an answer to any reply subject: nothing of others can be written that way."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nats.aio.client import Client
from tests.fleet.nats_servers import NatsServer, free_ports

from interpose.config.fleet import FleetSettings
from interpose.fleet.permissions import exports_of, imports_of
from interpose.fleet.server_config import ServerFolder, ServerOptions
from interpose.fleet.setup import create_all
from interpose.handlers.nats_client import NatsOptions, connect, settle

pytestmark = pytest.mark.slow
OTHERS = ("interpose.payments.record.two", "$KV.interpose_payments_nodes.two", "$KV.interpose_payments_rings.prod",
          "$KV.interpose_payments_answers.two.aaaa-aaaa", "$KV.interpose_payments_questions.two.aaaa-aaaa")  # fmt: skip
"""What belongs to another node, or to who signs and who answers."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerFolder]:
    port = free_ports(1)[0]
    made = ServerFolder(str(tmp_path / "server"), ServerOptions(port=port, listen="127.0.0.1", tls=False))
    made.add("payments", ["one", "two"], ["checks.>", "checks.licences"])
    running = NatsServer(tmp_path / "nats", port)
    running.config = Path(made.config)
    running.start()
    try:
        yield made
    finally:
        running.stop()


async def user(server: ServerFolder, role: str, node: str = "") -> Client:
    nkey = server.seed("payments", role, node)
    return await connect(NatsOptions(servers=(server.url,), nkey=nkey), name=role)


async def stored_subjects(admin: Client) -> set[str]:
    """The subjects of everything that the streams of the team have."""
    context = admin.jetstream()
    found: set[str] = set()
    for stream in await context.streams_info():
        info = await context.stream_info(str(stream.config.name), subjects_filter=">")
        found |= set(info.state.subjects or {})
    return found


async def prepared(server: ServerFolder) -> Client:
    admin = await user(server, "admin")
    await create_all(admin, FleetSettings(nats=NatsOptions(servers=(server.url,)), team="payments", node="x"))
    return admin


def test_a_node_writes_nothing_of_others_by_having_the_server_answer_there(server: ServerFolder) -> None:
    own = "$KV.interpose_payments_questions.one.aaaa-aaaa"

    async def work() -> None:
        admin, node = await prepared(server), await user(server, "node", "one")
        await node.jetstream().publish(own, b"content of its choice")
        for target in OTHERS:
            await node.publish(f"$JS.API.DIRECT.GET.KV_interpose_payments_questions.{own}", reply=target)
            await node.publish(own, b"stored, and acknowledged there", reply=target)
        await node.jetstream().publish("interpose.payments.record.one", b"last")

        assert await stored_subjects(admin) == {own, "interpose.payments.record.one"}
        for client in (admin, node):
            await client.close()

    asyncio.run(work())


def test_an_approver_writes_nothing_but_answers(server: ServerFolder) -> None:
    own = "$KV.interpose_payments_answers.one.aaaa-aaaa"

    async def work() -> None:
        admin, approver = await prepared(server), await user(server, "approver")
        await approver.jetstream().publish(own, b"content of its choice")
        for target in OTHERS[:3]:
            await approver.publish(f"$JS.API.DIRECT.GET.KV_interpose_payments_answers.{own}", reply=target)
        await approver.jetstream().publish(own, b"last")

        assert await stored_subjects(admin) == {own}
        for client in (admin, approver):
            await client.close()

    asyncio.run(work())


def test_a_worker_writes_nothing_by_answering_a_request_of_its_own(server: ServerFolder) -> None:
    async def work() -> None:
        admin, worker = await prepared(server), await user(server, "worker")
        answered = asyncio.Event()

        async def take(message: Any) -> None:
            await worker.publish(message.reply, b"content of its choice")
            answered.set()

        await worker.subscribe("$SRV.PING", cb=take)
        for target in OTHERS:
            answered.clear()
            await worker.publish("$SRV.PING", reply=target)
            await answered.wait()
        await settle(worker)

        assert await stored_subjects(admin) == set()
        for client in (admin, worker):
            await client.close()

    asyncio.run(work())


def test_a_worker_gets_a_request_once_where_two_subjects_of_hooks_overlap(server: ServerFolder) -> None:
    async def work() -> None:
        worker, node = await user(server, "worker"), await user(server, "node", "one")
        taken: list[bytes] = []

        async def take(message: Any) -> None:
            taken.append(message.data)
            await message.respond(b"fine")

        await worker.subscribe("checks.licences", "workers", cb=take)
        await settle(worker)
        for number in (b"1", b"2"):
            assert (await node.request("checks.licences", number, timeout=30)).data == b"fine"

        assert taken == [b"1", b"2"]
        for client in (worker, node):
            await client.close()

    asyncio.run(work())


def test_no_worker_is_known_at_once_from_another_account(server: ServerFolder) -> None:
    from nats.errors import NoRespondersError

    async def work() -> None:
        node = await user(server, "node", "one")
        with pytest.raises(NoRespondersError):
            await node.request("checks.licences", b"", timeout=60)
        await node.close()

    asyncio.run(work())


def test_an_account_imports_no_more_than_its_own_subjects() -> None:
    [rules, hooks] = imports_of("node", "payments", node="one", hooks=("checks.>", "checks.x", "gpu.*", "gpu.a"))

    assert not [
        subject for subject in (*rules.services, *rules.streams) if "two" in subject or subject.endswith(".record.*")
    ]
    assert hooks.services == exports_of("worker", "payments", ("checks.>", "gpu.*")).services == ("checks.>", "gpu.*")
    assert imports_of("worker", "payments", hooks=("checks.>",)) == imports_of("admin", "payments") == []
