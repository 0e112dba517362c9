"""With the server configuration that we write, questions are carried and answered, and workers are asked and listed."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.asking import PATIENCE
from tests.fleet.nats_servers import NatsServer, free_ports
from tests.fleet.question_nodes import WHO, QuestionTeam

from interpose import Hooks, deny
from interpose.config.fleet import FleetSettings
from interpose.fleet.approving import Approving
from interpose.fleet.node import Node
from interpose.fleet.questions import carry_questions
from interpose.fleet.served import ServedFunction
from interpose.fleet.server_config import ServerFolder, ServerOptions
from interpose.fleet.setup import create_all
from interpose.fleet.worker import Worker, find_workers
from interpose.handlers.nats_client import NatsOptions, connect
from interpose.records import replace
from interpose.runtime.tasks import end_tasks

pytestmark = pytest.mark.slow


class Secured:
    """A team with TLS and an nkey for every role."""

    def __init__(self, server: ServerFolder, team: QuestionTeam) -> None:
        self._server, self._team = server, team

    def settings(self, role: str, node: str = "") -> FleetSettings:
        nkey = self._server.seed("payments", role, node)
        nats = NatsOptions(servers=(self._server.url,), nkey=nkey, ca=self._server.ca)
        return replace(self._team.settings, nats=nats)


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> QuestionTeam:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return QuestionTeam(tmp_path, "nats://127.0.0.1:1")


@pytest.fixture
def secured(tmp_path: Path, team: QuestionTeam) -> Iterator[Secured]:
    port = free_ports(1)[0]
    folder = ServerFolder(str(tmp_path / "server"), ServerOptions(port=port, listen="127.0.0.1"))
    folder.add("payments", ["one"], ["checks.>"])
    server = NatsServer(tmp_path / "nats", port)
    server.config = Path(folder.config)
    server.start()
    try:
        yield Secured(folder, team)
    finally:
        server.stop()


def test_a_node_and_an_approver_need_no_more_than_their_roles_have(secured: Secured, team: QuestionTeam) -> None:
    told: list[str] = []

    async def tell(what: str) -> None:
        told.append(what)

    async def main() -> None:
        admin = await connect(secured.settings("admin").nats, name="admin")
        await create_all(admin, team.settings)
        await admin.close()
        client = await connect(secured.settings("node", "one").nats, name="node", forever=True, on_change=tell)
        node = Node(secured.settings("node", "one"), client, str(team.folder / "node"))
        task = asyncio.create_task(carry_questions(node))
        person = await connect(secured.settings("approver").nats, name="person", on_change=tell)
        fleet = Approving(person, secured.settings("approver"))
        with team.store() as store:
            asking = team.ask(store)
            given = await fleet.answer(await team.posted(fleet), team.alice, approved=True, who=WHO, wait=PATIENCE)
            approval = await asyncio.to_thread(lambda: asking.approval)
        await end_tasks([task])
        assert [text for text in told if "violation" in text] == []
        await person.close()
        await client.close()
        assert (given.how, approval.approved) == ("confirmed", True)

    asyncio.run(main())


def test_a_hook_of_a_node_asks_a_worker_that_has_its_role(secured: Secured) -> None:
    async def check(event: object) -> object:
        return deny("from a worker")

    async def main() -> None:
        worker = Worker(secured.settings("worker"))
        await worker.start([ServedFunction("checks:x", "checks.x", check, asyncio.Semaphore(4))])
        nats = secured.settings("node", "one").nats
        fleet = {"servers": list(nats.servers), "team": "payments", "nkey": nats.nkey, "tls": {"ca": nats.ca}}
        hooks = Hooks.from_mapping({"fleet": fleet})
        hooks.register("PreToolUse", subject="checks.x", timeout=PATIENCE)
        outcome = await hooks.fire("PreToolUse", tool_name="Bash", tool_input={})
        [found] = await find_workers(secured.settings("worker"), wait=PATIENCE)
        await asyncio.to_thread(hooks.close)
        await worker.stop()
        assert (outcome.reason, outcome.results[0].error) == ("from a worker", None)
        assert [one["num_requests"] for one in found["endpoints"]] == [1]

    asyncio.run(main())
