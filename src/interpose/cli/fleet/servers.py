"""``interpose fleet server-config`` and ``interpose fleet dev``."""

from __future__ import annotations

import json
import os
import re
from typing import Annotated

import typer

from ...errors import UsageError
from ...person import require_no_agent
from ...replies import clean
from ..options import AsJson
from ..render import short_path
from . import app, until_stopped

__all__: list[str] = []


@app.command("server-config")
def write_server_config(
    team: Annotated[str, typer.Option("--team", metavar="TEAM", help="The team to add.")],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The folder of the server's files.")],
    node: Annotated[
        list[str] | None, typer.Option("--node", metavar="NODE", help="A node of the team; may be repeated.")
    ] = None,
    host: Annotated[
        list[str] | None,
        typer.Option(
            "--host",
            metavar="HOST",
            help="A name or address of the server, for its certificate; nodes "
            "connect to the first. localhost by default.",
        ),
    ] = None,
    listen: Annotated[str, typer.Option("--listen", metavar="ADDRESS", help="Where it listens.")] = "0.0.0.0",  # noqa: S104
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Its port.")] = 4222,
    hooks: Annotated[
        list[str] | None,
        typer.Option(
            "--hooks", metavar="SUBJECT", help="Subjects of hooks of type nats, such as checks.>; may be repeated."
        ),
    ] = None,
    no_tls: Annotated[bool, typer.Option("--no-tls", help="Without TLS, for a server on loopback.")] = False,
    as_json: AsJson = False,
) -> int:
    """Write a configuration for nats-server: TLS, accounts for the team and for every node, and a user for every role.

    Each user has the least permissions that its commands need: a node writes its own record, report and questions, and
    reads the rules and its own answers. Call it again to add nodes or teams: keys and certificates that are there stay.
    Then: nats-server -c DIR/nats.conf, and `interpose fleet setup` as the admin of the team.

    Example: interpose fleet server-config --out nats/ --team payments --node laptop-1 --node ci-7 --host nats.corp
    """  # fmt: skip
    from ...fleet.server_config import ServerFolder, ServerOptions

    require_no_agent("writing the configuration of a server")
    if re.fullmatch(r"[0-9A-Za-z.:\[\]-]{1,253}", listen) is None:
        raise UsageError(f"--listen: {clean(listen)[:80]} is not an address")
    hosts = tuple(host or ("localhost", "127.0.0.1"))
    folder = ServerFolder(out, ServerOptions(port=port, listen=listen, hosts=hosts, tls=not no_tls))
    seeds = folder.add(team, node or (), hooks or ())
    if as_json:
        print(json.dumps({"config": folder.config, "url": folder.url, "ca": folder.ca or None, "seeds": seeds}))
        return 0
    print(f"wrote {short_path(folder.config)}; seeds are in {short_path(os.path.join(folder.folder, 'seeds', team))}, "
          f"configurations of nodes in {short_path(os.path.join(folder.folder, 'nodes', team))}")  # fmt: skip
    print("Keep the seeds and tls/ca.key to yourself: give each node its own seed and ca.pem.")
    return 0


@app.command("dev")
def try_it_all(
    directory: Annotated[
        str | None,
        typer.Option(
            "--dir",
            metavar="DIR",
            help="Where everything is kept; a new temporary folder by default, which is removed at the end.",
        ),
    ] = None,
) -> int:
    """Start a NATS server, two nodes and a page on this machine, push rules, and print what to try. Ctrl-C ends it all.

    Example: interpose fleet dev
    """  # fmt: skip
    from .dev import run_dev

    require_no_agent("starting a fleet")
    return until_stopped(run_dev(directory))
