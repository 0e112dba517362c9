"""``interpose fleet status``: what each ring runs, and which nodes run it, are behind or silent."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...replies import clean
from ..options import AsJson
from ..render import paint, plural, time_since
from ..render.table import Column, print_table
from . import Config, app, connected, fleet_of

if TYPE_CHECKING:
    from ...fleet.reports import FleetStatus, NodeReport, RingReport

__all__: list[str] = []

_RINGS = (
    Column("ring", "bold"), Column("version", right=True), Column("bundle"), Column("how"), Column("signed by"),
    Column("when"), Column("note", fills=True),
)  # fmt: skip
_NODES = (
    Column("node", "bold"), Column("ring"), Column("version", right=True), Column("bundle", drop=3),
    Column("state", lambda text: "green" if text in ("ok", "observing") else "yellow"), Column("runs it since", drop=2),
    Column("last seen"), Column("not forwarded", right=True, drop=1), Column("package", drop=4),
)  # fmt: skip


@app.command("status")
def show_status(
    config: Config = None,
    only: Annotated[str | None, typer.Option("--ring", metavar="RING", help="Show the nodes of one ring only.")] = None,
    as_json: AsJson = False,
) -> int:
    """Show what each ring runs, and every node: what it runs and since when, whether it is behind or silent, what it
    has refused and why.

    A node is silent if it has not reported for a minute. It goes on to decide with its last good rules.

    Exit status: 0; 1 if a node is behind or silent, has refused rules, or has a problem.

    Example: interpose fleet status --ring prod
    """  # fmt: skip
    from ...fleet.reports import read_fleet_status

    settings = fleet_of(config)
    status = connected(settings, "status", lambda client: read_fleet_status(client, settings))
    rings = [ring for ring in status.rings if only in (None, ring.ring)]
    nodes = [node for node in status.nodes if only in (None, node.ring)]
    if as_json:
        print(json.dumps(_as_json(status.team, rings, nodes)))
    else:
        _print(status, rings, nodes)
    bad = any(node.states or node.problems for node in nodes) or any(ring.problem for ring in rings)
    return 1 if bad else 0


def _as_json(team: str, rings: list[RingReport], nodes: list[NodeReport]) -> dict[str, Any]:
    def of_ring(ring: RingReport) -> dict[str, Any]:
        made = ring.statement
        facts = {name: getattr(made, name) for name in ("version", "digest", "created", "expires", "observe", "note")
                 } if made is not None else {}  # fmt: skip
        return {"ring": ring.ring, **facts, "signer": ring.signer, "problem": ring.problem}

    def of_node(node: NodeReport) -> dict[str, Any]:
        return {"node": node.node, "ring": node.ring, "version": node.version, "digest": node.digest,
                "since": node.since, "observe": node.observe, "seen": node.at, "states": list(node.states),
                "refused": node.refused, "problems": dict(node.problems), "lag": node.lag,
                "package": node.package}  # fmt: skip

    return {"team": team, "rings": list(map(of_ring, rings)), "nodes": list(map(of_node, nodes))}


def _print(status: FleetStatus, rings: list[RingReport], nodes: list[NodeReport]) -> None:
    now = time.time()
    print(f"team {paint(clean(status.team), 'bold')}: {plural(len(rings), 'ring')}, {plural(len(nodes), 'node')}")
    if rings:
        print_table(_RINGS, [_ring_row(ring, now) for ring in rings])
    for ring in rings:
        if ring.problem:
            print(f"  {paint('not believed', 'red')}  what ring {clean(ring.ring)} runs {clean(ring.problem)}")
    if nodes:
        print()
        print_table(_NODES, [_node_row(node, now) for node in nodes])
    for node in nodes:
        for part, text in node.problems.items():
            print(f"  {paint(clean(node.node), 'bold')}: {paint(clean(part), 'yellow')}: {clean(text)}")


def _ring_row(ring: RingReport, now: float) -> tuple[str, ...]:
    made = ring.statement
    if made is None:
        return (ring.ring, "?", "", "", "", "", "")
    how = "observed" if made.observe else "enforced"
    how = f"{how}, expired" if now >= made.expires else how
    return (ring.ring, str(made.version), made.digest[:12], how, ring.signer, time_since(made.created, now), made.note)


def _node_row(node: NodeReport, now: float) -> tuple[str, ...]:
    state = ", ".join(node.states) or ("observing" if node.observe else "ok" if node.version else "no rules")
    since = time_since(node.since, now) if node.since else ""
    lag = "" if node.lag is None else f"{node.lag:,}"
    return (node.node, node.ring, str(node.version or ""), node.digest[:12], state, since, time_since(node.at, now),
            lag, node.package)  # fmt: skip
