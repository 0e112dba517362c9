"""`python -m benchmarks.clients`: what a hook adds to a tool call in the real agents, offline, with a scripted model.

Each round plays one session per kind of hook, in turn: none, `exit 0`, our entry with the Python client, our entry with
the compiled client; a resident engine decides. The time of a call is that from the request of the model in which it
asks for the call to the next request, so it is the agent's own time too: what a hook adds is the difference to none.

Exit status 0: every limit is met; 1: some are not; 2: it could not be measured.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

from tests.clients.agents import CLIENTS
from tests.clients.install import CannotInstall, cache, install
from tests.clients.model_server import ModelServer
from tests.clients.rig import Box, Client
from tests.clients.situations import HERE, PERSON, Person

from benchmarks.command import parser, run, unmeasured
from benchmarks.measure import Check, Idle, Row
from interpose.attach.agents import find_agent
from interpose.attach.entry import make_entries
from interpose.dialects.agents import agent_dialect
from interpose.server.build import NoCompiler, build_client, client_command

AGENTS = ("claude", "codex")
CALLS = 20
"""Calls of one session."""
SESSIONS, QUICK = 5, 2
"""Sessions of each kind."""
PYTHON = [sys.executable, "-I", "-S", "-c", "pass"]
KINDS = ("none", "exit 0", "python", "compiled")


def measured(client: Client, sessions: int) -> dict[str, float]:
    """Return the seconds of a call with each kind of hook, and of a bare interpreter start.

    They are lower quartiles: what else runs on the machine makes a call only slower.
    """
    install(client.package, client.version)
    taken: dict[str, list[float]] = {kind: [] for kind in (*KINDS, "interpreter")}
    for number in range(sessions):
        for kind in KINDS[number % len(KINDS) :] + KINDS[: number % len(KINDS)]:
            taken[kind] += _session(client, kind)
            taken["interpreter"] += [_started(PYTHON) for _ in range(5)]
    return {kind: statistics.quantiles(all_of_it)[0] for kind, all_of_it in taken.items()}


def _session(client: Client, kind: str) -> list[float]:
    """Play one session, and return the seconds of each call but the first, which warms up what it needs."""
    with Box(client) as box, ModelServer({"main": [*[[client.shell(":")]] * CALLS, "done"]}) as server, _at_home(box):
        client.configure(box, server.url)
        with _engine(box):
            if kind != "none":
                client.add_hook(box, client.before_tool, _line(client, kind), 60)
            client.play(box, server, "[main] go")
        if len(server.arrivals) != CALLS + 1:
            raise Idle(f"{client.name} has called the model {len(server.arrivals)} times, not {CALLS + 1}")
        times = server.arrivals
        return [after - before for before, after in pairwise(times[1:])]


def _line(client: Client, kind: str) -> str:
    if kind == "exit 0":
        return "exit 0"
    words = client_command() if kind == "python" else [build_client()]
    dialect, agent = agent_dialect(client.name), find_agent(client.name)
    event = {client.before_tool: "PreToolUse"}
    entries = make_entries(
        client.name, event, dialect.write_failure, agent.deadlines, words, in_posix_shell=agent.in_posix_shell
    )
    return entries[0].command


@contextmanager
def _at_home(box: Box) -> Iterator[None]:
    """Be the person whose home is in the box."""
    before = dict(os.environ)
    os.environ |= {"INTERPOSE_CLIENTS": str(cache()), "HOME": str(box.home)}
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        del os.environ[name]
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _engine(box: Box) -> Iterator[None]:
    """Trust the house's rules, and keep an engine in memory."""
    folder = box.project / ".interpose"
    folder.mkdir()
    (folder / "hooks.yaml").write_text((HERE / "house/hooks.yaml").read_text())
    (folder / "house.py").write_text((HERE / "house/house.py").read_text().replace("@BOX@", str(box.marks)))
    person = Person(box)
    person.run("trust", "--yes")
    command = [sys.executable, str(PERSON), "serve"]
    with subprocess.Popen(
        command, cwd=box.project, env=person.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as engine:
        try:
            assert engine.stdout is not None
            if b"ready" not in engine.stdout.readline():
                raise Idle("the engine does not start")
            yield
        finally:
            engine.terminate()


def _started(command: Sequence[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - began


def row(client: Client, sessions: int) -> Row:
    """Return the figures of an agent as a row whose limits are checks."""
    figures = measured(client, sessions)
    added = {kind: figures[kind] - figures["none"] for kind in KINDS[1:]}
    most = {"python": added["exit 0"] + 1.5 * figures["interpreter"], "compiled": 2.5 * added["exit 0"]}
    told = ", ".join(f"{kind} adds {seconds * 1e3:.1f} ms" for kind, seconds in added.items())
    title = (
        f"{client.name} {client.version}, a call without a hook {figures['none'] * 1e3:.1f} ms: {told};"
        f" a bare interpreter start {figures['interpreter'] * 1e3:.1f} ms"
    )

    def late(kind: str) -> str:
        over = added[kind] > most[kind]
        return f"{added[kind] * 1e3:.1f} ms, at most {most[kind] * 1e3:.1f}" if over else ""

    checks = [
        Check("the Python client adds at most `exit 0` + 1.5 × an interpreter start", partial(late, "python")),
        Check("the compiled client adds at most 2.5 × `exit 0`", partial(late, "compiled")),
    ]
    return Row(client.name, title, [], checks=checks)


def main(arguments: Sequence[str]) -> int:
    options = parser("clients", "What a hook adds to a tool call in real coding agents.").parse_args(arguments)
    sessions = QUICK if options.quick else options.rounds or SESSIONS
    try:
        return run(options, {name: partial(row, CLIENTS[name], sessions) for name in AGENTS}, {})
    except (CannotInstall, NoCompiler) as problem:
        return unmeasured(str(problem))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.exit(main(sys.argv[1:]))
