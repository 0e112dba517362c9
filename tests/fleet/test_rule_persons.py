"""What changes the rules of a fleet is not for agents: each command is refused below an agent's process."""

from pathlib import Path

import pytest
from tests.unit.test_cli_attach import below_an_agent

from interpose.cli import main

COMMANDS = {
    "making a key": ["key", "--out", "new.key"],
    "setting up a fleet": ["setup"],
    "pushing rules": ["push", ".", "--to", "prod"],
    "promoting rules": ["promote", "canary", "prod"],
    "rolling rules back": ["rollback", "--to", "prod"],
    "writing the configuration of a server": ["server-config", "--out", "server", "--team", "payments"],
    "being a node of a fleet": ["node", "--config", "mine.yaml"],
    "collecting the record": ["collect", "--to", "postgresql://127.0.0.1:1/d", "--retention", "1d"],
    "starting a fleet": ["dev", "--dir", "dev"],
}


@pytest.mark.parametrize("act", COMMANDS)
def test_a_command_below_an_agent_changes_nothing(
    act: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("interpose.person.processes.read_processes", below_an_agent)

    assert main(["fleet", *COMMANDS[act]]) == 1
    assert f"{act} is not for agents, and this command runs below one: claude" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_an_agent_cannot_leave_the_fleet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("interpose.person.processes.read_processes", below_an_agent)

    assert main(["fleet", "leave"]) == 1
    assert "leaving a fleet takes a person" in capsys.readouterr().err
