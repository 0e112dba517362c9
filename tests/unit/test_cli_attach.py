"""``interpose attach`` and ``interpose detach``: who may call them, what they print, and how they end."""

import json
from pathlib import Path

import pytest
from tests.people import MadeUp, process, somebody

from interpose.attach.record import attachments
from interpose.cli import main
from interpose.config.trust import TrustStore

OTHERS = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 0"}]}]}


def below_an_agent() -> MadeUp:
    return MadeUp(
        process(1, 0, "/usr/lib/systemd/systemd"),
        process(10, 1, "/usr/bin/xterm"),
        process(11, 10, "/usr/bin/bash", terminal="pts/0"),
        process(12, 11, "/usr/bin/claude", session=11, terminal="pts/0"),
        process(13, 12, "/usr/bin/python3", session=11, terminal="pts/0"),
        holds={"pts/0": 10},
    )


def in_a_script() -> MadeUp:
    """Such as the build of an image: neither an agent nor a person is seen."""
    return MadeUp(process(1, 0, "/bin/sh"), process(2, 1, "/usr/bin/python3", session=1))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "INTERPOSE_TRUST", "INTERPOSE_OFF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def no_compiler() -> str:
        from interpose.server.build import NoCompiler

        raise NoCompiler("none here")

    monkeypatch.setattr("interpose.server.build.build_client", no_compiler)
    monkeypatch.setattr("interpose.person.processes.read_processes", somebody)
    return folder


def test_an_agent_cannot_attach_and_cannot_detach(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["attach", "claude", "--yes"])
    before = (project / ".claude/settings.local.json").read_bytes()
    capsys.readouterr()
    monkeypatch.setattr("interpose.person.processes.read_processes", below_an_agent)
    assert main(["detach", "claude", "--yes"]) == 1
    assert (
        "taking an agent off takes a person, and no person has started this command: it runs below an agent: claude"
        in capsys.readouterr().err
    )
    assert main(["attach", "codex", "--yes"]) == 1
    assert "attaching an agent is not for agents, and this command runs below one: claude" in capsys.readouterr().err
    assert (project / ".claude/settings.local.json").read_bytes() == before
    assert not (project / ".codex").exists()
    assert main(["attach", "--verify"]) == 1  # looking is for everyone: here nothing is trusted
    assert "does not hold  Claude Code" in capsys.readouterr().out


def test_the_build_of_an_image_can_attach_and_cannot_detach(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("interpose.person.processes.read_processes", in_a_script)
    main(["attach", "claude", "--yes"])
    assert len(attachments()) == 1
    assert main(["detach", "claude", "--yes"]) == 1
    assert "takes a person, and no person has started this command: it has no terminal" in capsys.readouterr().err
    assert len(attachments()) == 1


def test_adopting_takes_a_person(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("interpose.person.processes.read_processes", in_a_script)
    assert main(["attach", "claude", "--adopt", "--yes"]) == 1
    assert "adopting hooks takes a person" in capsys.readouterr().err


def test_adopted_hooks_are_trusted_hold_and_come_back(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / ".claude" / "settings.local.json"
    file.parent.mkdir()
    text = json.dumps({"hooks": OTHERS})
    file.write_text(text)
    assert main(["attach", "claude", "--adopt", "--yes"]) == 0, capsys.readouterr()
    assert json.loads((project / ".interpose/hooks.local.json").read_text()) == {"dialect": "claude", "hooks": OTHERS}
    capsys.readouterr()
    assert main(["list", "--json"]) == 0
    assert "exit 0" in capsys.readouterr().out
    assert main(["detach", "claude", "--yes"]) == 0
    assert file.read_text() == text
    assert not (project / ".interpose").exists()
    assert TrustStore().recorded() == {}


def test_programs_get_one_document(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["attach", "claude", "kimi", "--yes", "--json"])
    told = json.loads(capsys.readouterr().out)["agents"]
    assert [(one["agent"], one["scope"], one["attached"]) for one in told] == [
        ("claude", "local", True), ("kimi", "user", True),
    ]  # fmt: skip
    assert all("nothing" not in one["problems"] and one["problems"] for one in told)  # nothing is trusted here
    main(["attach", "--verify", "--json"])
    assert {one["holds"] for one in json.loads(capsys.readouterr().out)["agents"]} == {False}
    assert main(["detach", "claude", "--yes", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["agents"]
    assert [file["what"] for file in told["files"]] == ["removed"]


def test_detach_leaves_what_holds_elsewhere_unless_it_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["attach", "claude", "--yes", "--user"])
    capsys.readouterr()
    assert main(["detach", "--yes"]) == 1
    assert "nothing is attached here (it is attached elsewhere: --user)" in capsys.readouterr().err
    assert main(["detach", "--user", "--yes"]) == 0
    assert attachments() == {}


def test_one_agent_that_cannot_be_attached_does_not_stop_the_others(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".claude").mkdir()
    (project / ".claude/settings.local.json").write_text("{broken")
    assert main(["attach", "claude", "gemini", "--yes"]) == 1
    assert "settings.local.json:1:2: not JSON" in capsys.readouterr().err
    assert [one["agent"] for one in attachments().values()] == ["gemini"]


def test_no_agent_is_found(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "")
    assert main(["attach", "--yes"]) == 1
    assert "no coding agent was found here (name one: claude, codex," in capsys.readouterr().err
