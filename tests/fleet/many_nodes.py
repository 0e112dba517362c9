"""A process with many simulated nodes: the real code that verifies and takes over, each with its own folder.

It is given its task as JSON, and writes a line of JSON for every version that a node runs or refuses.
"""

import asyncio
import json
import sys
import time
from typing import Any

from interpose.config.fleet import FleetSettings
from interpose.fleet.node import Node
from interpose.fleet.rules import follow_rules
from interpose.handlers.nats_client import NatsOptions, connect


async def follow(task: dict[str, Any], name: str) -> None:
    """Be a node until cancelled, and say what it runs."""
    settings = FleetSettings(
        nats=NatsOptions(servers=(task["url"],)),
        team=task["team"],
        node=name,
        signers=tuple(map(tuple, task["signers"])),
    )
    client = await connect(settings.nats, name=name, forever=True, patience=60)
    node = Node(settings, client, f"{task['folder']}/{name}")
    follower = asyncio.create_task(follow_rules(node))
    said: tuple[object, ...] = ()
    while not follower.done():
        rules = node.report.get("rules", {})
        now = (rules.get("version"), rules.get("refused", ""), node.report["problems"].get("rules", ""))
        if rules and now != said:
            said = now
            line = {"node": name, "version": now[0], "refused": now[1], "problem": now[2], "at": time.time()}
            print(json.dumps(line), flush=True)
        node.changed.clear()
        await node.changed.wait()
    await follower


async def main() -> None:
    task = json.loads(sys.argv[1])
    await asyncio.gather(*(follow(task, name) for name in task["nodes"]))


if __name__ == "__main__":
    asyncio.run(main())
