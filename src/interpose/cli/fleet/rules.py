"""``interpose fleet key | setup | push | promote | rollback | leave``: what changes the rules of a fleet."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from ...config.fleet import TOKEN
from ...errors import Problem, UsageError
from ...person import require_no_agent, require_person
from ...replies import clean
from ..options import AsJson
from ..render import paint, plural, print_problem
from . import Config, app, connected, fleet_of

if TYPE_CHECKING:
    from ...fleet.keys import PrivateKey
    from ...fleet.statements import Statement

__all__: list[str] = []

_UNITS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_LONGEST = 5 * 366 * 86_400.0

Key = Annotated[
    str | None,
    typer.Option("--key", metavar="FILE", help="The private key that signs; the one of `fleet key` by default."),
]
Ring = Annotated[str, typer.Option("--to", "--ring", metavar="RING", help="The ring that gets it, such as prod.")]
Expires = Annotated[
    str, typer.Option("--expires", metavar="TIME", help="When nodes stop to take it over: 12h, 30d or 8w.")
]
Observe = Annotated[bool, typer.Option("--observe", help="Record what the hooks decide, and enforce nothing.")]
Note = Annotated[str, typer.Option("--note", metavar="TEXT", help="What has changed, for `fleet status`.")]


def _default_key() -> str:
    from ...state.directories import state_path

    return state_path(os.path.join("fleet", "signing.key"))


@app.command("key")
def make_signing_key(
    out: Annotated[str | None, typer.Option("--out", metavar="FILE", help="Where the private key is written.")] = None,
) -> int:
    """Make an Ed25519 key, and print its public half for `signers:` or `approvers:` of a configuration.

    The private key is written to a file that only you can read. A file that exists is not overwritten.

    Example: interpose fleet key --out ~/keys/alice.key
    """  # fmt: skip
    from ...fleet.keys import make_key

    require_no_agent("making a key")
    place = os.path.abspath(os.path.expanduser(out)) if out is not None else _default_key()
    public = make_key(place)
    print(public)
    print(f"the private key is in {clean(place)}; keep it to yourself", file=sys.stderr)
    return 0


@app.command("setup")
def create_streams(
    config: Config = None,
    record_bytes: Annotated[
        str | None,
        typer.Option(
            "--record-bytes", metavar="SIZE", help="The most that the stream of records may hold: 500MB, 20GB."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Create what the team keeps in NATS: the stream of records, and buckets for rules, reports and questions.

    What exists is left as it is, or changed to what it should be. `replicas:` of the configuration says on how many
    servers each is kept. When the stream of records is full, nodes keep their records until there is room.

    Example: interpose fleet setup --record-bytes 20GB
    """  # fmt: skip
    from ...fleet.setup import create_all

    require_no_agent("setting up a fleet")
    settings = fleet_of(config)
    limit = _bytes(record_bytes)
    made = connected(settings, "setup", lambda client: create_all(client, settings, record_bytes=limit))
    if as_json:
        print(json.dumps({"team": settings.team, "changes": made}))
    else:
        print("\n".join(map(clean, made)) or f"everything of the team {settings.team} is there")
    return 0


def _bytes(text: str | None) -> int:
    if text is None:
        return 0
    found = re.fullmatch(r"([0-9]{1,9})\s*([KMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if found is None or not int(found[1]):
        raise UsageError(f"--record-bytes: {text} is not a size", hint="such as 500MB or 20GB")
    return int(found[1] + "000" * " KMGT".index(found[2].upper() or " "))


@app.command("push")
def push_rules(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="The directory with hooks.yaml, and all it names.")],
    ring: Ring,
    observe: Observe = False,
    expires: Expires = "30d",
    note: Note = "",
    key: Key = None,
    at_least: Annotated[
        int, typer.Option("--version", metavar="N", min=1, help="The least number of the new version.")
    ] = 1,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Check a configuration directory, run its cases, sign it, and have a ring of nodes run it.

    Nothing is pushed if the configuration has mistakes, if a guard uses files outside of the directory, or if a case
    fails. Files of cases are named *cases*.yaml. Nodes that are connected run it within seconds, others when they
    connect again.

    Example: interpose fleet push rules/ --to canary --observe
    """  # fmt: skip
    from ...fleet.bundles import pack
    from ...fleet.rings import Rings
    from .checks import check_bundle

    require_no_agent("pushing rules")
    settings, seconds = fleet_of(config), _seconds(expires)
    private, place = _private(key), _ring_name(ring)
    packed = pack(directory, without=(private.place,))
    checked = check_bundle(packed, observe=observe)
    for warning in checked.warnings:
        print_problem(Problem(f"warning: {warning.what}", where=warning.where, hint=warning.hint), "fleet push")
    statement = connected(
        settings, "push",
        lambda client: Rings(client, settings, private).push(
            place, packed, expires=seconds, observe=observe, note=note, at_least=at_least
        ),
    )  # fmt: skip
    if not as_json:
        print(plural(checked.cases, "case") + " passed" if checked.cases else paint("there are no cases", "yellow"))
    _print(statement, as_json, cases=checked.cases)
    return 0


@app.command("promote")
def promote_rules(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The ring that runs it, such as canary.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The ring that gets it, such as prod.")],
    observe: Observe = False,
    expires: Expires = "30d",
    key: Key = None,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Have a ring run what another ring runs: the same bundle, enforced unless you say --observe.

    Example: interpose fleet promote canary prod
    """  # fmt: skip
    from ...fleet.rings import Rings

    require_no_agent("promoting rules")
    settings, seconds, private = fleet_of(config), _seconds(expires), _private(key)
    begin, end = _ring_name(source), _ring_name(target)
    statement = connected(
        settings, "promote",
        lambda client: Rings(client, settings, private).promote(begin, end, expires=seconds, observe=observe),
    )  # fmt: skip
    _print(statement, as_json)
    return 0


@app.command("rollback")
def roll_rules_back(
    ring: Ring,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", min=1, help="The version to go back to; the one before.")
    ] = None,
    expires: Expires = "30d",
    key: Key = None,
    config: Config = None,
    as_json: AsJson = False,
) -> int:
    """Have a ring run what it ran before. It is a new version with the bundle of the earlier one.

    Example: interpose fleet rollback --to prod --version 3
    """  # fmt: skip
    from ...fleet.rings import Rings

    require_no_agent("rolling rules back")
    settings, seconds, private, place = fleet_of(config), _seconds(expires), _private(key), _ring_name(ring)
    statement = connected(
        settings, "rollback",
        lambda client: Rings(client, settings, private).roll_back(place, version=version, expires=seconds),
    )  # fmt: skip
    _print(statement, as_json)
    return 0


@app.command("leave")
def leave_fleet() -> int:
    """Disarm the rules of the fleet on this machine, for a person who takes it out of the fleet.

    Stop `interpose fleet node` and remove `fleet:` from your configuration first: a node takes them over again.

    Example: interpose fleet leave
    """  # fmt: skip
    from ...fleet.node import node_lock
    from ...fleet.take_over import RulesFolder
    from ...state.directories import state_path

    require_person("leaving a fleet")
    with node_lock(hint="stop `interpose fleet node` first: it would take the rules over again"):
        left = RulesFolder(state_path("fleet")).leave()
    print("the rules of the fleet do not hold here any more" if left else "no rules of a fleet are armed here")
    return 0


def _private(key: str | None) -> PrivateKey:
    from ...fleet.keys import load_private

    return load_private(os.path.abspath(os.path.expanduser(key)) if key is not None else _default_key())


def _ring_name(ring: str) -> str:
    if TOKEN.fullmatch(ring) is None:
        raise UsageError(f"{clean(ring)[:80]} is not the name of a ring",
                         hint="up to 64 letters, digits, hyphens and underscores")  # fmt: skip
    return ring


def _seconds(text: str) -> float:
    found = re.fullmatch(r"([0-9]{1,6})([mhdw])", text.strip())
    seconds = int(found[1]) * _UNITS[found[2]] if found is not None else 0.0
    if not 60 <= seconds <= _LONGEST:
        raise UsageError(f"--expires: {clean(text)} is not a time", hint="such as 12h, 30d or 8w; at most 5 years")
    return seconds


def _print(statement: Statement, as_json: bool, **more: int) -> None:
    if as_json:
        parts = ("team", "ring", "version", "digest", "created", "expires", "observe", "note", "signer")
        print(json.dumps({**{name: getattr(statement, name) for name in parts}, **more}))
        return
    until = time.strftime("%Y-%m-%d", time.localtime(statement.expires))
    how = paint("observed", "yellow") if statement.observe else paint("enforced", "green")
    print(f"ring {paint(statement.ring, 'bold')} runs version {statement.version} ({statement.digest[:12]}), {how}, "
          f"until {until}")  # fmt: skip
