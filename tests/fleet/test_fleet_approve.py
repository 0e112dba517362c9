"""A call that waits on one machine and is answered on another, with real processes of both."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.asking import configure, firing, until, waiting
from tests.fleet.nats_servers import NatsServer, a_nats_server
from tests.fleet.test_fleet_questions import a_question

from interpose.audit.questions import digest_of, id_of
from interpose.config.fleet import FleetSettings
from interpose.fleet.keys import make_key
from interpose.fleet.setup import create_all
from interpose.handlers.nats_client import NatsOptions, connect

pytestmark = pytest.mark.slow


class Machines:
    """A node with its own home, and the machine of those who answer."""

    def __init__(self, folder: Path, server: NatsServer, program: Path) -> None:
        self.node_home, self.desk = folder / "node", folder / "desk"
        self.node_home.mkdir()
        self.desk.mkdir()
        self._program = program
        keys = {name: make_key(str(self.desk / f"{name}.key")) for name in ("alice", "bob", "mallory")}
        approvers = json.dumps({name: keys[name] for name in ("alice", "bob")})
        self.settings = FleetSettings(nats=NatsOptions(servers=(server.url,)), team="payments", node="laptop")
        self.store = configure(self.node_home)
        config = self.node_home / "hooks.yaml"
        fleet = f"fleet: {{servers: '{server.url}', team: payments, approvers: {approvers}"
        config.write_text(f"{config.read_text()}{fleet}, node: laptop}}\n")
        (self.desk / "fleet.yaml").write_text(f"{fleet}, node: desk}}\n")
        asyncio.run(self._create())

    async def _create(self) -> None:
        client = await connect(self.settings.nats, name="setup")
        await create_all(client, self.settings)
        await client.close()

    def node(self) -> "subprocess.Popen[bytes]":
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.node_home), "LANG": "C.UTF-8"}
        # The process that runs the tests fires too, so it is an agent to a node below it, which a service is not.
        command = [str(self._program / "interpose"), "fleet", "node", "--config", "hooks.yaml"]
        return subprocess.Popen(command, cwd=self.node_home, env=environment, stderr=subprocess.DEVNULL)

    def desk_runs(self, *arguments: str, program: str | Path = "") -> "subprocess.CompletedProcess[str]":
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.desk), "LANG": "C.UTF-8"}
        command = [str(program or self._program / "interpose"), *arguments, "--config", "fleet.yaml"]
        return subprocess.run(command, cwd=self.desk, env=environment, capture_output=True, text=True, timeout=60,
                              check=False, stdin=subprocess.DEVNULL)  # fmt: skip

    def posted(self) -> dict[str, Any]:
        """The question that waits in the fleet."""

        def look() -> Any:
            found = self.desk_runs("questions", "--fleet", "--json")
            return json.loads(found.stdout)["questions"] if found.returncode == 0 else []

        [question] = until(look)
        made: dict[str, Any] = question
        return made


@pytest.fixture
def machines(tmp_path: Path, persons_program: Path) -> Iterator[Machines]:
    with a_nats_server(tmp_path / "nats") as server:
        made = Machines(tmp_path, server, persons_program)
        node = made.node()
        try:
            yield made
        finally:
            node.terminate()
            node.wait(60)


def said(fired: "subprocess.Popen[str]") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fired.communicate(timeout=60)[0])["hookSpecificOutput"]
    return found


def test_a_call_that_waits_on_one_machine_is_approved_on_another(machines: Machines) -> None:
    with firing(machines.node_home) as fired:
        question = machines.posted()
        approved = machines.desk_runs("approve", question["id"], "--fleet", "--key", "alice.key", "--reason", "fine")
        answer = said(fired)

    assert (question["node"], question["tool"], question["input"]) == ("laptop", "Bash", {"command": "git push"})
    assert (approved.returncode, approved.stderr) == (0, "")
    assert approved.stdout.startswith("approved: node laptop has it")
    assert answer["permissionDecision"] == "allow"


def test_of_two_people_at_once_one_wins_and_the_other_is_told(machines: Machines) -> None:
    ended: dict[str, subprocess.CompletedProcess[str]] = {}

    def answer(name: str, verb: str, id: str) -> None:
        ended[name] = machines.desk_runs(verb, id, "--fleet", "--node", "laptop", "--key", f"{name}.key", "--json")

    with firing(machines.node_home) as fired:
        wanted = machines.posted()["id"]
        people = [
            threading.Thread(target=answer, args=("alice", "approve", wanted)),
            threading.Thread(target=answer, args=("bob", "refuse", wanted)),
        ]
        for one in people:
            one.start()
        for one in people:
            one.join()
        decision = said(fired)["permissionDecision"]

    how = {name: json.loads(one.stdout)["how"] for name, one in ended.items()}
    won = "alice" if decision == "allow" else "bob"
    lost = "bob" if won == "alice" else "alice"
    assert how == {won: "confirmed", lost: "other"}
    assert json.loads(ended[lost].stdout)["other"].startswith(f"{won} (fleet, ")
    assert [ended[won].returncode, ended[lost].returncode] == [0, 1]


def test_only_a_person_with_a_key_that_the_node_knows_is_heard(machines: Machines) -> None:
    installed = Path(sys.executable).parent / "interpose"
    with firing(machines.node_home) as fired:
        wanted = machines.posted()["id"]
        agent = machines.desk_runs("approve", wanted, "--fleet", "--key", "alice.key", program=installed)
        keyless = machines.desk_runs("approve", wanted, "--fleet")
        mallory = machines.desk_runs("approve", wanted, "--fleet", "--key", "mallory.key")
        listed = machines.desk_runs("questions", "--fleet")
        refused = machines.desk_runs("refuse", wanted, "--fleet", "--key", "bob.key")
        decision = said(fired)["permissionDecision"]

    assert (agent.returncode, "takes a person" in agent.stderr) == (1, True)
    assert (keyless.returncode, "the key cannot be read" in keyless.stderr) == (1, True)
    assert (mallory.returncode, mallory.stdout.startswith("ignored: node laptop does not take this answer")) == (
        1,
        True,
    )
    assert "an answer was ignored" in listed.stdout
    assert (refused.returncode, decision) == (0, "deny")


def test_a_node_that_has_died_is_silent_and_the_question_can_be_answered_there(
    tmp_path: Path, persons_program: Path
) -> None:
    with a_nats_server(tmp_path / "nats") as server:
        machines = Machines(tmp_path, server, persons_program)
        node = machines.node()
        try:
            with firing(machines.node_home):
                wanted = machines.posted()["id"]
                node.kill()
                node.wait()
                sent = machines.desk_runs("approve", wanted, "--fleet", "--key", "alice.key")
                [local] = waiting(machines.store)
        finally:
            node.kill()
            node.wait()

    assert (sent.returncode, sent.stdout.startswith("sent: node laptop is silent")) == (1, True)
    assert local.id == wanted


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["approve", "k7mq-2xtd", "--node", "x"], "--node and --key are for questions of the fleet"),
        (["refuse", "k7mq-2xtd", "--key", "x"], "--node and --key are for questions of the fleet"),
        (["questions", "--node", "x"], "--node and --key are for questions of the fleet"),
        (["questions", "--fleet", "--watch"], "--watch follows the questions of this machine"),
        (["approve", "no-such", "--fleet", "--key", "alice.key"], "no-such is not the id of a question"),
        (["approve", "aaaa-bbbb", "--fleet", "--key", "alice.key"], "there is no question aaaa-bbbb in the fleet"),
    ],
)
def test_a_mistake_in_use_is_said(arguments: list[str], what: str, machines: Machines) -> None:
    ended = machines.desk_runs(*arguments)

    assert (ended.returncode, what in ended.stderr) == (1, True), ended.stderr


def test_what_hostile_nodes_post_hides_nothing_and_pushes_nothing_out_of_sight(machines: Machines) -> None:
    text = json.dumps({
        "tool_name": "Bash\x1b[2J", "tool_input": {"command": "ls\n" * 5000 + "\x1b[1A\u202ersh"}, "reason": "\n" * 9000,
        "hook": "\x07" * 3000, "agent_id": "a" * 5000, "session_id": "\x1b]0;x\x07",
    })  # fmt: skip
    hostile = a_question(
        team="payments", node="evil", text=text, id=id_of(digest_of(text)), ignored=("", "\x1b[2J" * 1000),
        asked=5.0,
    )  # fmt: skip
    honest = a_question(team="payments", node="good", asked=9.0)

    async def post() -> None:
        client = await connect(machines.settings.nats, name="nodes")
        for one in (hostile, honest):
            await client.jetstream().publish(f"$KV.interpose_payments_questions.{one.key}", one.written())
        await client.jetstream().publish("$KV.interpose_payments_questions.evil.junk", b"\x1b[2J" * 1000)
        await client.close()

    asyncio.run(post())
    listed = machines.desk_runs("questions", "--fleet")
    shown = machines.desk_runs("questions", "show", hostile.id, "--fleet")

    for printed in (listed, shown):
        assert all(letter.isprintable() or letter == "\n" for letter in printed.stdout + printed.stderr)
    assert len(listed.stdout) < 5000
    assert len(listed.stdout.splitlines()) < 20
    assert f"interpose approve {honest.id} --fleet --node good" in listed.stdout
    assert "1 entry cannot be read" in listed.stderr


def test_a_question_that_is_exchanged_for_another_with_its_id_is_not_approved(machines: Machines) -> None:
    """Two contents with one id are found within seconds."""
    shown, exchanged = (
        f'{{"tool_name":"Bash","tool_input":{{"command":"{command}"}},"tool_use_id":"{number}"}}'
        for command, number in (("git status", 74405), ("rm -rf /", 654436))
    )
    wanted = id_of(digest_of(shown))
    assert wanted == id_of(digest_of(exchanged))

    def post(text: str) -> None:
        async def publish() -> None:
            one = a_question(team="payments", node="evil", text=text, id=wanted)
            client = await connect(machines.settings.nats, name="evil")
            await client.jetstream().publish(f"$KV.interpose_payments_questions.{one.key}", one.written())
            await client.close()

        asyncio.run(publish())

    post(shown)
    assert "git status" in machines.desk_runs("questions", "--fleet").stdout
    post(exchanged)
    refused = machines.desk_runs("approve", wanted, "--fleet", "--key", "alice.key")
    machines.desk_runs("questions", "show", wanted, "--fleet")
    sent = machines.desk_runs("approve", wanted, "--fleet", "--key", "alice.key")

    assert (refused.returncode, "is not the question any more that was shown" in refused.stderr) == (1, True)
    assert "read it again: interpose questions show" in refused.stderr
    assert sent.stdout.startswith("sent: node evil is silent")
