"""The sessions that are played with every agent, attached as a person attaches it: the same rules, the same wishes.

    python -m tests.clients.situations codex deny rewrite

prints what happened.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from .agents import CLIENTS
from .install import install
from .model_server import ModelServer, Turn
from .rig import Box, Client, Run

__all__ = ["SITUATIONS", "Seen", "attached", "play"]

HERE = Path(__file__).parent
PERSON = HERE.parent / "people.py"
MARKS = ("TOKREASON", "TOKINPUT", "TOKSECRET", "[redacted]", "TOKREMARK", "TOKCTXRESULT", "TOKCTXPROMPT",
         "TOKCTXSTART", "TOKMORE", "TOKRAN1", "TOKNOTED", "Interpose", "TOKINNER")  # fmt: skip
RAN = "touch $BOX/ran; printf 'TOK%s' RAN1"


class Seen(NamedTuple):
    """What happened in a session."""

    marks: frozenset[str]
    """What commands and tools have left in the box: ``ran``, ``rewritten``, ``noted``."""
    model_sees: frozenset[str]
    model_calls: int
    seconds: float
    run: Run


class Person:
    """A person at a terminal, in the home and the project of a box."""

    def __init__(self, box: Box, python: str = sys.executable) -> None:
        self.box, self.python = box, python
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(box.home), "LANG": "C.UTF-8"}

    def run(self, *words: str, path: str = "", ok: bool = True) -> str:
        """Run a command of ours and return what it prints."""
        environ = {**self.environ, **({"PATH": path} if path else {})}
        done = subprocess.run(
            [self.python, str(PERSON), *words],
            cwd=self.box.project,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        if ok and done.returncode:
            raise AssertionError(
                f"interpose {' '.join(words)} exits with {done.returncode}:\n{(done.stdout + done.stderr)[-1500:]}"
            )
        return done.stdout + done.stderr


@contextmanager
def attached(
    client: Client, *scope: str, keep: bool = False, mcp: bool = False, policies: Sequence[str] = ()
) -> Iterator[tuple[Box, Person]]:
    """Give a box in which the house's rules are trusted and the agent is attached."""
    with Box(client, keep) as box, ModelServer({"main": ["done"], "inner": ["done"]}) as server:
        box.server = server
        person = Person(box)
        folder = box.project / ".interpose"
        folder.mkdir()
        rules = f"policies: [{', '.join(policies)}]\n" if policies else ""
        (folder / "hooks.yaml").write_text(rules + (HERE / "house/hooks.yaml").read_text())
        house = (HERE / "house/house.py").read_text().replace("@BOX@", str(box.marks))
        (folder / "house.py").write_text(house)
        if mcp:
            client.add_mcp_server(box)
        client.configure(box, server.url)
        person.run("trust", "--yes")
        person.run("attach", client.name, "--yes", *scope)
        yield box, person


def session(client: Client, box: Box, turns: list[Turn], prompt: str = "go", inner: Sequence[Turn] = ("done",)) -> Seen:
    """Play one session, and say what happened."""
    server = box.server
    for word, script in (("main", [*turns, "done"]), ("inner", inner)):
        server.script(word, script)
    run = client.play(box, server, f"[main] {prompt}")
    texts = server.seen("main") + server.seen("inner")
    marks = frozenset(one.name for one in box.marks.iterdir())
    seen = frozenset(mark for mark in MARKS if mark in texts)
    return Seen(marks, seen, len(server.requests["main"]), run.seconds, run)


# ---------------------------------------------------------------------------------------------------------------


def shell(word: str) -> Callable[[Client], Seen]:
    """Return a situation in which the model runs a command with a word in it."""

    def played(client: Client) -> Seen:
        with attached(client) as (box, _):
            return session(client, box, [[client.shell(f": {word}; {RAN}")]])

    return played


def prints(text: str) -> Callable[[Client], Seen]:
    """Return a situation in which a command prints a mark, which is not in its own line."""

    def played(client: Client) -> Seen:
        with attached(client) as (box, _):
            return session(client, box, [[client.shell(f"printf 'TOK%s' {text}")]])

    return played


def prompted(words: str) -> Callable[[Client], Seen]:
    """Return a situation in which a person says something."""

    def played(client: Client) -> Seen:
        with attached(client) as (box, _):
            return session(client, box, [[client.shell(RAN)]], words)

    return played


def unfinished(client: Client) -> Seen:
    """The house does not let the agent stop once."""
    with attached(client) as (box, _):
        box.write("box/unfinished", "")
        return session(client, box, ["half done"])


def subagent(client: Client) -> Seen:
    """A subagent runs what is denied."""
    with attached(client) as (box, _):
        inner: list[Turn] = [[client.shell(f": danger; {RAN}")], "inner is done"]
        return session(client, box, list(client.subagent("[inner] go")), inner=inner)


def mcp(client: Client) -> Seen:
    """An MCP tool is called with what is denied."""
    with attached(client, mcp=True) as (box, _):
        return session(client, box, [[client.mcp_call("danger")]])


def broken(client: Client) -> Seen:
    """What was trusted is not whole any more."""
    with attached(client) as (box, _):
        for snapshot in (box.home / ".local/state/interpose/snapshots").glob("*/files/.interpose/hooks.yaml"):
            snapshot.chmod(0o600)
            snapshot.write_text("hooks: [\n")
        return session(client, box, [[client.shell(RAN)]])


def changed(client: Client) -> Seen:
    """The project's rules were emptied, and nobody has trusted that."""
    with attached(client) as (box, _):
        (box.project / ".interpose/hooks.yaml").write_text("hooks: {}\n")
        return session(client, box, [[client.shell(f": danger; {RAN}")]])


def missing_program(client: Client) -> Seen:
    """The program that the entry starts is gone."""
    with attached(client) as (box, _):
        shutil.rmtree(box.home / ".local/state/interpose/clients")
        return session(client, box, [[client.shell(RAN)]])


def missing_interpreter(client: Client) -> Seen:
    """The interpreter of the Python client is gone."""
    with attached(client) as (box, _):
        environment = box.root / "env"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
        packages = next((environment / "lib").glob("python*/site-packages"))
        paths = [one for one in sys.path if one.endswith(("site-packages", "/src"))] + [str(HERE.parents[1] / "src")]
        (packages / "rig.pth").write_text("\n".join(paths))
        tools = box.root / "tools"  # without a compiler, so that the entry starts Python
        tools.mkdir()
        for name in ("git", "sh", "env"):
            (tools / name).symlink_to(str(shutil.which(name)))
        other = Person(box, str(environment / "bin/python"))
        other.run("attach", client.name, "--yes", path=str(tools))
        shutil.rmtree(environment)
        return session(client, box, [[client.shell(RAN)]])


def engine_killed(client: Client) -> Seen:
    """The resident engine is killed while it decides."""
    with attached(client) as (box, person):
        engine = subprocess.Popen(
            [sys.executable, str(PERSON), "serve", "--quiet"], cwd=box.project, env=person.environ,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            socket = box.home / ".local/state/interpose/serve/socket"
            while not socket.exists():
                assert engine.poll() is None, "the engine does not start"
            (box.marks / "engine").write_text(str(engine.pid))
            return session(client, box, [[client.shell(f": killed; {RAN}")]])
        finally:
            engine.kill()
            engine.wait()


SITUATIONS: Mapping[str, Callable[[Client], Seen]] = {
    "ordinary": shell("ordinary"),
    "deny": shell("danger"),
    "ask": shell("question"),
    "rewrite": shell("rewrite"),
    "redact": prints("SECRET"),
    "context at a result": prints("REMARK"),
    "context at the prompt and the start": prompted("helpful"),
    "refuse a prompt": prompted("forbidden"),
    "keep going": unfinished,
    "subagent": subagent,
    "mcp": mcp,
    "broken configuration": broken,
    "changed configuration": changed,
    "a hook that hangs": shell("hang"),
    "missing program": missing_program,
    "missing interpreter": missing_interpreter,
    "engine killed": engine_killed,
}


def play(client: Client, name: str) -> Seen:
    """Play a situation with an agent, installed if it is missing."""
    install(client.package, client.version)
    return SITUATIONS[name](client)


if __name__ == "__main__":
    agent = CLIENTS[sys.argv[1]]
    for one in sys.argv[2:] or SITUATIONS:
        try:
            seen = play(agent, one)
            print(f"{one}: {sorted(seen.marks)} {seen.model_calls} calls {sorted(seen.model_sees)} {seen.seconds:.1f} s",
                  flush=True)  # fmt: skip
            if os.environ.get("SHOW"):
                print(seen.run.stdout[-3000:], seen.run.stderr[-3000:])
        except Exception as error:
            print(f"{one}: {type(error).__name__} {error}", flush=True)
