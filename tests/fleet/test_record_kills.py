"""Servers, nodes and the collector are killed at random moments: every record is collected once, and all chains verify.

``make test-more ARGS='-k twenty_nodes'`` plays the large one.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nats.errors import Error as NatsError
from tests.faults.hosts import eventually
from tests.fleet.nats_servers import NatsServer, a_nats_cluster, a_nats_server
from tests.fleet.postgres_servers import needs_postgres
from tests.fleet.records import TEAM, count_records, create_stream, in_process, numbers, rows, settings_of

from interpose.audit import open_store
from interpose.audit.postgres.verify import verify_stores
from interpose.handlers.nats_client import connect

pytestmark = needs_postgres

NODE = Path(__file__).with_name("recording_node.py")


class Play:
    """Some nodes, servers and one collector, each a process, and the kills that they survive."""

    def __init__(
        self, folder: Path, servers: list[NatsServer], database: str, nodes: int, records: int, seconds: float
    ) -> None:
        self._folder, self._servers, self.database = folder, servers, database
        self.urls = [one.url for one in servers]
        self.count, self.seconds = records // nodes, seconds
        self.nodes = {f"node{number}": self._start_node(f"node{number}") for number in range(nodes)}
        self._config = folder / "fleet.yaml"
        self._config.write_text(f"fleet:\n  servers: {self.urls}\n  team: {TEAM}\n")
        self.collector = self._start_collector()
        self.kills: list[str] = []

    def _start_node(self, name: str) -> "subprocess.Popen[bytes]":
        home = self._folder / name
        home.mkdir(exist_ok=True)
        environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        with (home / "log.txt").open("ab") as log:
            return subprocess.Popen([sys.executable, str(NODE), name, str(self.count), str(self.seconds), *self.urls], env=environment,
                                    stdout=log, stderr=log, cwd=home)  # fmt: skip

    def _start_collector(self) -> "subprocess.Popen[bytes]":
        return in_process(self._folder, "fleet", "collect", "--to", self.database, "--config", str(self._config))

    def kill_node(self, choice: random.Random) -> None:
        running = [name for name, process in self.nodes.items() if process.poll() is None]
        if running:
            name = choice.choice(running)
            self.nodes[name].kill()
            self.nodes[name].wait()
            self.nodes[name] = self._start_node(name)
            self.kills.append(name)

    def kill_collector(self) -> None:
        self.collector.kill()
        self.collector.wait()
        self.collector = self._start_collector()
        self.kills.append("collector")

    def kill_leader(self) -> None:
        leader = asyncio.run(self._leader())
        for server in self._servers:
            if server.name == leader or len(self._servers) == 1:
                server.kill()
                self.kills.append(f"server {server.name}")
                time.sleep(1.0)  # it is away for a while
                server.start()

    async def _leader(self) -> str:
        """The server that leads the stream; asked again while one is being elected, when requests have no answer."""
        client = await connect(settings_of(self.urls).nats, name="test", patience=30, forever=True)
        try:
            async with asyncio.timeout(120):
                while True:
                    try:
                        info = await client.jetstream(timeout=2).stream_info(f"INTERPOSE_{TEAM}_RECORD")
                    except (NatsError, TimeoutError):
                        await asyncio.sleep(0.2)
                        continue
                    if info.cluster is None or info.cluster.leader or len(self._servers) == 1:
                        return str(info.cluster.leader) if info.cluster is not None else ""
                    await asyncio.sleep(0.2)
        finally:
            await client.close()

    def is_enough(self) -> None:
        """Let the nodes end when they have recorded what they have to."""
        (self._folder / "enough").touch()

    def all_forwarded(self) -> bool:
        for name, process in self.nodes.items():
            if process.poll() not in (None, 0):
                raise AssertionError((self._folder / name / "log.txt").read_text()[-2000:])
        return all(process.poll() == 0 for process in self.nodes.values())

    def stores(self) -> dict[str, int]:
        """The last record of each node's store."""
        found = {}
        for name in self.nodes:
            with open_store(self._folder / name / "state" / "interpose" / "audit.db") as reader:
                found[name] = reader.last_id()
        return found

    def stop(self) -> None:
        for process in (*self.nodes.values(), self.collector):
            if process.poll() is None:
                process.kill()
            process.wait()


def play(
    folder: Path, servers: list[NatsServer], database: str, *, nodes: int, records: int, kills: list[str], pace: float,
    seed: int,
) -> None:  # fmt: skip
    """Kill what ``kills`` names, in a random order, and see what is in the database in the end."""
    settings = settings_of([one.url for one in servers], replicas=len(servers))
    asyncio.run(create_stream(settings))
    choice = random.Random(seed)
    choice.shuffle(kills)
    began = time.monotonic()
    game = Play(folder, servers, database, nodes, records, 1.3 * pace * len(kills))
    try:
        for kill in kills:
            time.sleep(choice.uniform(0.2, 1.8) * pace)
            {"node": lambda: game.kill_node(choice), "collector": game.kill_collector, "leader": game.kill_leader}[
                kill
            ]()
        assert len(game.kills) == len(kills)  # none came too late
        game.is_enough()
        assert eventually(game.all_forwarded, 1800)
        written = game.stores()
        total = sum(written.values())
        assert total >= records

        def arrived() -> bool:
            time.sleep(0.2)
            return count_records(database) >= total

        assert eventually(arrived, 1800), (folder / "collect.log").read_text()[-2000:]
    finally:
        game.stop()
    assert {node: len(found) for node, found in numbers(database).items()} == written
    assert numbers(database) == {node: list(range(1, last + 1)) for node, last in written.items()}
    assert rows(database, "SELECT count(*) FROM quarantine")[0][0] == 0
    assert [(one.flaws, one.state.flaws, one.state.missing) for one in verify_stores(database)] == [
        ((), (), ())
    ] * nodes
    print(f"{total} records of {nodes} nodes in {time.monotonic() - began:.0f} s; {len(game.kills)} kills: "
          f"{', '.join(game.kills)}")  # fmt: skip


@pytest.mark.slow
def test_three_nodes_and_one_server_lose_nothing_when_they_are_killed(tmp_path: Path, database: str) -> None:
    with a_nats_server(tmp_path / "nats") as server:
        play(tmp_path, [server], database, nodes=3, records=3000, kills=["node", "node", "collector", "leader"], pace=0.6,
             seed=1)  # fmt: skip


@pytest.mark.more
@pytest.mark.slow
def test_twenty_nodes_and_three_servers_lose_nothing_when_they_are_killed(tmp_path: Path, database: str) -> None:
    kills = ["node"] * 20 + ["collector"] * 6 + ["leader"] * 4
    with a_nats_cluster(tmp_path / "nats") as servers:
        play(tmp_path, servers, database, nodes=20, records=200_000, kills=kills, pace=3.0, seed=20)


def cut_off(tmp_path: Path, database: str, seconds: float) -> None:
    with a_nats_server(tmp_path / "nats") as server:
        asyncio.run(create_stream(settings_of(server.url)))
        game = Play(tmp_path, [server], database, nodes=1, records=20_000, seconds=seconds / 2)
        try:
            assert eventually(lambda: count_records(database) > 0, 120)
            server.kill(signal.SIGSTOP)
            time.sleep(seconds)
            server.kill(signal.SIGCONT)
            game.is_enough()
            assert eventually(game.all_forwarded, 600)
            written = game.stores()
            assert eventually(lambda: count_records(database) >= written["node0"], 600)
        finally:
            game.stop()
    assert numbers(database) == {"node0": list(range(1, written["node0"] + 1))}


@pytest.mark.slow
def test_a_node_that_is_cut_off_for_a_moment_loses_nothing(tmp_path: Path, database: str) -> None:
    cut_off(tmp_path, database, 6)


@pytest.mark.more
@pytest.mark.slow
def test_a_node_that_is_cut_off_for_a_minute_loses_nothing(tmp_path: Path, database: str) -> None:
    cut_off(tmp_path, database, 60)
