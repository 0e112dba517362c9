"""Teams with keys and bundles on a real server, and simulated nodes: the real code of the node, each with its folder."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from tests.fleet.node_tasks import a_node

from interpose.config.fleet import FleetSettings
from interpose.fleet.bundles import pack
from interpose.fleet.keys import PrivateKey, load_private, make_key, public_of
from interpose.fleet.node import Node
from interpose.fleet.rings import Rings
from interpose.fleet.rules import follow_rules
from interpose.fleet.setup import create_all
from interpose.fleet.statements import Statement
from interpose.handlers.nats_client import NatsOptions, connect
from interpose.records import replace

GUARD = """
hooks:
  PreToolUse:
    - {name: no-rm, handler: 'guard:judge', onError: abort}
"""
JUDGE = """
def judge(event):
    if 'rm ' in str(event.tool_input):
        return {'decision': 'deny', 'reason': 'the fleet says {word}'}
"""
DAY = 24 * 3600.0


def bundle_folder(folder: Path, word: str = "no") -> Path:
    """A configuration directory with a guard."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hooks.yaml").write_text(GUARD)
    (folder / "guard.py").write_text(JUDGE.replace("{word}", word))
    return folder


class Team:
    """A team on one server: its settings, one who signs, and bundles."""

    def __init__(self, folder: Path, url: str, name: str = "payments") -> None:
        self.folder = folder
        self.key = self.new_key("alice")
        self.settings = FleetSettings(
            nats=NatsOptions(servers=(url,)), team=name, node="one", signers=(("alice", public_of(self.key)),)
        )

    def new_key(self, name: str) -> PrivateKey:
        path = self.folder / f"{name}.key"
        make_key(str(path))
        return load_private(str(path))

    def bundle(self, word: str = "no") -> bytes:
        return pack(str(bundle_folder(self.folder / f"bundle-{word}", word)))

    @contextlib.asynccontextmanager
    async def connected(self, key: PrivateKey | None = None) -> AsyncIterator[Rings]:
        """A connection of one who may sign, after everything is created."""
        client = await connect(self.settings.nats, name="pusher")
        try:
            await create_all(client, self.settings)
            yield Rings(client, self.settings, key or self.key)
        finally:
            await client.close()

    async def push(self, word: str = "no", ring: str = "prod", **more: object) -> Statement:
        async with self.connected() as rings:
            return await rings.push(ring, self.bundle(word), expires=DAY, **more)  # type: ignore[arg-type]

    def node_folder(self, name: str = "one") -> Path:
        return self.folder / "nodes" / name

    @contextlib.asynccontextmanager
    async def node(self, name: str = "one", **changed: object) -> AsyncIterator[Node]:
        """A node that follows its ring while this is open."""
        settings = replace(self.settings, node=name, **changed)
        folder = self.node_folder(name)
        folder.mkdir(parents=True, exist_ok=True)
        async with a_node(settings, follow_rules, str(folder)) as node:
            yield node


async def until(holds: Callable[[], object], seconds: float = 60.0) -> bool:
    """Whether something holds before the time is over."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        await asyncio.sleep(0.02)
    return bool(holds())


def version_of(node: Node) -> int:
    return int(node.report.get("rules", {}).get("version", -1))


def refusal_of(node: Node) -> str:
    return str(node.report.get("rules", {}).get("refused", ""))


def run(work: Awaitable[None]) -> None:
    async def main() -> None:
        async with asyncio.timeout(300):
            await work

    asyncio.run(main())
