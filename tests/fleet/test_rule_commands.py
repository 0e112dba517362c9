"""The commands of rules, as a person and a CI run them, against a real server and a real node process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import eventually
from tests.fleet.nats_servers import a_nats_server, program
from tests.fleet.rule_nodes import bundle_folder

pytestmark = pytest.mark.slow

PATIENCE = 180.0
"""Seconds; each look starts an interpreter, which takes its time on a busy machine."""

CASES = """
- name: rm is denied
  given: {event: PreToolUse, tool: Bash, args: {command: rm x}}
  expect: {decision: deny, reason: the fleet says}
- name: ls passes
  given: {event: PreToolUse, tool: Bash, args: {command: ls}}
  expect: {decision: none}
"""


class Machine:
    """A home with a configuration of a fleet."""

    def __init__(self, home: Path, url: str, team: str, node: str) -> None:
        self.home, self.url, self.team, self.node = home, url, team, node
        (home / "project").mkdir(parents=True)
        self.config = home / "fleet.yaml"
        self.signers: dict[str, str] = {}

    def write(self) -> None:
        fleet = {"servers": self.url, "team": self.team, "node": self.node, "signers": self.signers}
        self.config.write_text(json.dumps({"fleet": fleet}))

    @property
    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "INTERPOSE"))}
        return {**clean, "HOME": str(self.home), "NO_COLOR": "1"}

    def interpose(self, *words: str, config: bool = True) -> subprocess.CompletedProcess[str]:
        named = ["--config", str(self.config)] if config else []
        return subprocess.run(
            [sys.executable, "-m", "interpose.cli", *words, *named], env=self.environment, cwd=self.home / "project",
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def start_node(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "interpose.cli", "fleet", "node", "--config", str(self.config)]
        return subprocess.Popen(command, env=self.environment, cwd=self.home, stderr=subprocess.DEVNULL)

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.interpose("fleet", "status", "--json").stdout)
        return found

    def nodes(self) -> list[tuple[str, int, list[str]]]:
        return [(one["node"], one["version"], one["states"]) for one in self.status()["nodes"]]

    def fire(self, line: str) -> dict[str, object]:
        given = ("--tool", "Bash", "--tool-input", json.dumps({"command": line}), "--json")
        done = self.interpose("fire", "PreToolUse", *given, config=False)
        found: dict[str, object] = json.loads(done.stdout)
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with a_nats_server(tmp_path / "nats") as server:
        made = Machine(tmp_path / "home", server.url, "payments", "laptop")
        made.write()
        yield made


def test_from_a_key_to_a_rule_that_denies_on_a_node_and_back(machine: Machine, tmp_path: Path) -> None:
    rules = bundle_folder(tmp_path / "rules", "no")
    (rules / "cases.yaml").write_text(CASES)

    public = machine.interpose("fleet", "key", config=False).stdout.strip()
    machine.signers = {"alice": public}
    machine.write()
    assert machine.interpose("fleet", "setup").returncode == 0
    pushed = machine.interpose("fleet", "push", str(rules), "--to", "prod")
    assert "2 cases passed" in pushed.stdout, pushed
    assert "ring prod runs version 1" in pushed.stdout
    node = machine.start_node()
    try:
        assert eventually(lambda: machine.fire("rm x")["decision"] == "deny", PATIENCE)
        assert machine.fire("ls")["decision"] == "none"

        # a node reports what it runs after it has taken it over: a firing may see the rules first
        assert eventually(lambda: machine.nodes() == [("laptop", 1, [])], PATIENCE), machine.nodes()
        rings = machine.status()["rings"]
        assert [(ring["ring"], ring["version"], ring["signer"]) for ring in rings] == [("prod", 1, "alice")]

        bundle_folder(tmp_path / "rules", "not today")
        again = machine.interpose("fleet", "push", str(rules), "--ring", "prod", "--observe", "--json")
        assert json.loads(again.stdout)["version"] == 2
        assert eventually(lambda: machine.fire("rm x")["decision"] == "none", PATIENCE)
        back = machine.interpose("fleet", "rollback", "--to", "prod")
        assert "version 3" in back.stdout
        assert eventually(lambda: machine.fire("rm x")["decision"] == "deny", PATIENCE)
        assert "laptop" in machine.interpose("fleet", "status").stdout
    finally:
        node.send_signal(signal.SIGTERM)
        node.wait(60)
    assert machine.fire("rm x")["decision"] == "deny"  # without a node process and without a connection


def test_what_must_not_be_pushed_is_refused_with_the_reason(machine: Machine, tmp_path: Path) -> None:
    machine.interpose("fleet", "key", config=False)
    machine.interpose("fleet", "setup")
    rules = bundle_folder(tmp_path / "rules", "no")

    def refused(*words: str) -> str:
        done = machine.interpose("fleet", "push", str(rules), "--to", "prod", *words)
        assert done.returncode == 1, done
        return done.stderr

    (rules / "cases.yaml").write_text(CASES.replace("decision: none", "decision: deny"))
    assert "the case 'ls passes' fails" in refused()
    (rules / "cases.yaml").write_text("- nonsense")
    assert "cases" in refused()
    (rules / "cases.yaml").unlink()
    (rules / "hooks.yaml").write_text("hooks: {PreToolUs: []}")
    assert "hooks.yaml:1" in refused()
    (rules / "hooks.yaml").write_text("hooks: {PreToolUse: [{command: ../outside.sh, onError: abort, name: g}]}")
    assert "a guard cannot use" in refused()
    (rules / "hooks.yaml").unlink()
    assert "has no hooks.yaml" in refused()
    bundle_folder(rules)
    assert "is not a time" in refused("--expires", "soon")
    assert "cannot be read" in refused("--key", "/nowhere")
    assert json.loads(machine.interpose("fleet", "status", "--json").stdout)["rings"] == []


def test_a_person_cannot_disable_a_hook_of_the_fleet_and_trust_does_not_list_it(
    machine: Machine, tmp_path: Path
) -> None:
    public = machine.interpose("fleet", "key", config=False).stdout.strip()
    machine.signers = {"alice": public}
    machine.write()
    machine.interpose("fleet", "setup")
    machine.interpose("fleet", "push", str(bundle_folder(tmp_path / "rules")), "--to", "prod")
    node = machine.start_node()
    try:
        assert eventually(lambda: machine.fire("rm x")["decision"] == "deny", PATIENCE)
    finally:
        node.send_signal(signal.SIGTERM)
        node.wait(60)

    assert "no configuration was found" in machine.interpose("trust", config=False).stderr
    assert "fleet" in machine.interpose("list", config=False).stdout
    assert machine.interpose("check", config=False).returncode == 0


def test_a_second_key_is_not_written_over_the_first(machine: Machine) -> None:
    first = machine.interpose("fleet", "key", config=False)
    second = machine.interpose("fleet", "key", config=False)

    assert first.stdout.startswith("ed25519:")
    assert second.returncode == 1
    assert "not overwritten" in second.stderr


def test_without_a_server_the_commands_say_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", "nats://127.0.0.1:1", "payments", "laptop")
    machine.write()

    done = machine.interpose("fleet", "status")

    assert (done.returncode, "no server answers" in done.stderr) == (1, True)


def test_the_configuration_of_a_server_is_written_and_can_be_run(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", "nats://127.0.0.1:1", "payments", "laptop")
    words = (
        "fleet",
        "server-config",
        "--out",
        str(tmp_path / "server"),
        "--team",
        "payments",
        "--node",
        "laptop",
        "--json",
    )

    done = json.loads(machine.interpose(*words, config=False).stdout)
    bad = machine.interpose(*words[:-3], "--node", "../evil", config=False)
    stolen = machine.interpose(*words[:-3], "--hooks", ">", config=False)

    assert subprocess.run([program(), "-c", done["config"], "-t"], capture_output=True, check=False).returncode == 0
    assert (bad.returncode, "is not a name" in bad.stderr) == (1, True)
    assert (stolen.returncode, "is not a subject of hooks" in stolen.stderr) == (1, True)


def test_leaving_the_fleet_takes_a_person(machine: Machine) -> None:
    done = machine.interpose("fleet", "leave", config=False)

    assert done.returncode == 1
    assert "takes a person" in done.stderr


def test_without_a_fleet_the_file_is_named_that_it_belongs_in(tmp_path: Path) -> None:
    done = Machine(tmp_path / "home", "", "", "").interpose("fleet", "status", config=False)

    assert done.returncode == 1
    assert done.stderr.startswith(f"{tmp_path}/home/.config/interpose/hooks.yaml: no fleet is configured (write fleet:")
