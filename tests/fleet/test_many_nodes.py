"""A push reaches every connected node within seconds; what is not signed, old or broken reaches none."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from tests.faults.hosts import eventually
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.rule_nodes import DAY, Team

from interpose.fleet.bundles import BundledFile, digest_of, pack_files
from interpose.fleet.keys import public_of
from interpose.fleet.statements import Statement, signed_statement
from interpose.handlers.nats_client import connect


def _rarely() -> bool:
    """Leave the cores to the nodes between two looks."""
    time.sleep(0.05)
    return True


class Crowd:
    """Nodes in a few processes, and what each has said last."""

    def __init__(self, team: Team, count: int, processes: int) -> None:
        self.names = [f"n{number}" for number in range(count)]
        self._processes = []
        self._files: list[Path] = []
        for number in range(processes):
            task = {"url": team.settings.nats.servers[0], "team": team.settings.team, "signers": team.settings.signers,
                    "folder": str(team.folder / "crowd"), "nodes": self.names[number::processes]}  # fmt: skip
            path = team.folder / f"said{number}.txt"
            with path.open("wb") as out:
                self._processes.append(self._start(task, out, team.folder))
            self._files.append(path)

    def _start(self, task: dict[str, Any], out: IO[bytes], folder: Path) -> subprocess.Popen[bytes]:
        with (folder / "errors.txt").open("ab") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.fleet.many_nodes", json.dumps(task)], stdout=out, stderr=errors
            )

    def said(self) -> list[dict[str, Any]]:
        lines = [line for path in self._files for line in path.read_text().splitlines(keepends=True)]
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def versions(self) -> dict[str, int]:
        return {line["node"]: line["version"] for line in self.said()}

    def all_run(self, version: int) -> bool:
        return self.versions() == dict.fromkeys(self.names, version)

    def took(self, version: int, since: float) -> float:
        """Seconds until the last node ran a version."""
        return float(max(line["at"] for line in self.said() if line["version"] == version) - since)

    def cpu(self) -> float:
        """Seconds of processor time that the nodes have used."""
        stats = [
            Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split() for process in self._processes
        ]
        return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")

    def all_refuse(self, word: str) -> bool:
        last = {line["node"]: line for line in self.said()}
        return len(last) == len(self.names) and all(word in line["refused"] for line in last.values())

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


@contextmanager
def a_crowd(folder: Path, count: int, processes: int) -> Iterator[tuple[Team, Crowd]]:
    with a_nats_server(folder / "nats") as server:
        team = Team(folder, server.url)
        first = asyncio.run(team.push("one"))
        assert first.version == 1
        crowd = Crowd(team, count, processes)
        try:
            assert eventually(lambda: _rarely() and crowd.all_run(1), 120), (
                crowd.versions(),
                (folder / "errors.txt").read_text(),
            )
            yield team, crowd
        finally:
            crowd.stop()


async def _write(team: Team, stored: bytes, packed: bytes = b"") -> None:
    client = await connect(team.settings.nats, name="writer")
    if packed:
        store = await client.jetstream().object_store(f"interpose_{team.settings.team}_bundles")
        await store.put(digest_of(packed), packed)
    await client.jetstream().publish(f"$KV.interpose_{team.settings.team}_rings.prod", stored)
    await client.close()


def _statement(team: Team, packed: bytes, version: int, signer: str) -> Statement:
    now = int(time.time())
    return Statement(team=team.settings.team, ring="prod", version=version, digest=digest_of(packed), created=now,
                     expires=now + 1000, observe=False, note="", signer=signer)  # fmt: skip


def check_crowd(folder: Path, count: int, processes: int) -> tuple[float, float, float]:
    """Push, try what must be refused, and roll back.

    Return the seconds of the push and of the rollback, and the processor time that a node has used for the push.
    """
    with a_crowd(folder, count, processes) as (team, crowd):
        used = crowd.cpu()
        began = asyncio.run(_push(team))
        assert eventually(lambda: _rarely() and crowd.all_run(2), 60), crowd.versions()
        pushed, used = crowd.took(2, began), crowd.cpu() - used

        packed, mallory = team.bundle("three"), team.new_key("mallory")
        asyncio.run(_write(team, signed_statement(_statement(team, packed, 3, public_of(mallory)), mallory), packed))
        assert eventually(lambda: _rarely() and crowd.all_refuse("not one of the signers"), 60)
        asyncio.run(_write(team, signed_statement(_statement(team, packed, 1, public_of(team.key)), team.key)))
        assert eventually(lambda: _rarely() and crowd.all_refuse("older than 2"), 60)
        broken = pack_files([BundledFile("hooks.yaml", b"hooks: [", False)])
        asyncio.run(_write(team, signed_statement(_statement(team, broken, 3, public_of(team.key)), team.key), broken))
        assert eventually(lambda: _rarely() and crowd.all_refuse("hooks.yaml"), 60)
        assert crowd.all_run(2)

        began = asyncio.run(_roll_back(team))
        assert eventually(lambda: _rarely() and crowd.all_run(4), 60), crowd.versions()
        return pushed, crowd.took(4, began), used / count


async def _push(team: Team) -> float:
    """Push, and return when that began."""
    async with team.connected() as rings:
        began = time.time()
        await rings.push("prod", team.bundle("two"), expires=DAY)
        return began


async def _roll_back(team: Team) -> float:
    async with team.connected() as rings:
        began = time.time()
        assert (await rings.roll_back("prod", version=1, expires=DAY)).version == 4
        return began


@pytest.mark.slow
def test_a_push_and_a_rollback_reach_ten_nodes_and_what_is_bad_reaches_none(tmp_path: Path) -> None:
    check_crowd(tmp_path, 10, 2)


@pytest.mark.more
def test_a_push_and_a_rollback_reach_200_nodes_in_five_seconds_and_what_is_bad_reaches_none(tmp_path: Path) -> None:
    is_quiet = os.getloadavg()[0] < 2 * (os.cpu_count() or 1)

    pushed, back, used = check_crowd(tmp_path, 200, 4)

    print(f"push {pushed:.2f} s, rollback {back:.2f} s, {used * 1000:.0f} ms of processor time per node")
    assert max(pushed, back) < (5 if is_quiet else 60)
