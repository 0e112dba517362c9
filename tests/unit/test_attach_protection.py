"""An agent that edits its own settings: every attack that was seen, on files, without the client."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic
from typing import Any

import pytest

from interpose.attach.agents import find_agent
from interpose.attach.attachment import detach, plan, states_of, write
from interpose.attach.entry import CANARY, MARK
from interpose.attach.protect import put_back
from interpose.attach.record import attachments
from interpose.attach.verify import canary_payload, verify
from interpose.attach.watch import changed_since
from interpose.cli.attach import entries_of
from interpose.config.read import Source
from interpose.config.review import review
from interpose.config.trust import TrustStore
from interpose.events import TABLE

pytestmark = pytest.mark.slow

RULES = """\
hooks:
  PreToolUse:
    - {name: no-rm, matcher: Bash, if: "Bash(rm *)", command: "echo not here >&2; exit 2", onError: abort}
audit: {path: %s}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a trusted rule that denies ``rm``."""
    for name in list(os.environ):
        if name.startswith(("XDG_", "INTERPOSE_", "CLAUDE", "CODEX")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    folder = tmp_path / "project"
    (folder / ".interpose").mkdir(parents=True)
    rules = folder / ".interpose" / "hooks.yaml"
    rules.write_text(RULES % (tmp_path / "audit.db"))
    TrustStore().trust(review(TABLE, Source(str(rules), "project", None, found=True)))
    return folder


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The compiled client, where there is a compiler: one for all tests."""
    from interpose.server.build import NoCompiler, build_client, client_command

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("client")))
        try:
            return [build_client()]
        except NoCompiler:
            return client_command()


@pytest.fixture(autouse=True)
def built_once(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile nothing again."""
    if len(compiled) == 1:
        monkeypatch.setattr("interpose.server.build.build_client", lambda: compiled[0])


def attach(name: str, project: Path, scope: Any = "local") -> str:
    agent = find_agent(name)
    made = plan(agent, scope, str(project), entries_of(agent, shared=False))
    write(made)
    return made.key


def call(name: str, key: str, event: str, payload: dict[str, Any], **variables: str) -> tuple[int, str, str]:
    """Start the entry of an event as the agent does."""
    one = attachments()[key]
    line = next(command for own, _, command, _ in one["entries"] if own == event)
    done = subprocess.run(["/bin/sh", "-c", line], input=json.dumps(payload), capture_output=True, text=True,
                          cwd=one["project"], env={**os.environ, **variables}, check=False)  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def tool(project: Path, command: str, event: str = "PreToolUse") -> dict[str, Any]:
    return {"hook_event_name": event, "session_id": "s", "cwd": str(project), "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": "t"}  # fmt: skip


def strip(text: str) -> str:
    """What an agent does that takes our hooks out of its settings."""
    value = json.loads(text)
    value.pop("hooks")
    return json.dumps(value)


def member(key: str, value: object) -> Callable[[str], str]:
    return lambda text: json.dumps({**json.loads(text), key: value})


def one_event(text: str) -> str:
    value = json.loads(text)
    del value["hooks"]["PreToolUse"]
    return json.dumps(value)


def matched(text: str) -> str:
    value = json.loads(text)
    value["hooks"]["PreToolUse"][0]["matcher"] = "Never"
    return json.dumps(value)


ATTACKS: dict[str, Callable[[str], str | None]] = {
    "the hooks are stripped": strip,
    "one hook is stripped": one_event,
    "the line is replaced": lambda text: text.replace("o=$(", "o=$(true "),
    "the file is emptied": lambda text: "",
    "the file is removed": lambda text: None,
    "the file is broken": lambda text: text[:-20],
    "a comment makes the client drop the file": lambda text: "// x\n" + text,
    "disableAllHooks": member("disableAllHooks", True),
    "a list of permissions is none": member("permissions", {"allow": 5}),
    "permissions are none": member("permissions", 5),
    "a mode that there is not": member("permissions", {"defaultMode": "free"}),
    "the model has no name": member("model", 5),
    "variables are none": member("env", 5),
    "the hooks are there twice": lambda text: text.rstrip()[:-1] + ', "hooks": {}}',
    "INTERPOSE_OFF in env": member("env", {"INTERPOSE_OFF": "1"}),
    "INTERPOSE_TRUST in env": member("env", {"INTERPOSE_TRUST": "all"}),
    "the entry only matches what never happens": matched,
    "the agent waits for a second only": lambda text: text.replace('"timeout": 300', '"timeout": 1'),
    "the entry runs in the background": lambda text: text.replace('"onFailure"', '"async": true, "onFailure"'),
}


@pytest.mark.parametrize("scope", ["local", "user"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_what_an_agent_does_to_its_settings_is_undone_at_the_next_event(attack: str, scope: str, project: Path) -> None:
    key = attach("claude", project, scope)
    file = Path(attachments()[key]["files"][0]["path"])
    attached = file.read_bytes()
    changed = ATTACKS[attack](file.read_text())
    if changed is None:
        file.unlink()
    else:
        file.write_text(changed)
    assert changed_since("claude") == [key]
    found = put_back(key)
    assert [one.restored for one in found] == [True]
    assert json.loads(file.read_text()) == json.loads(attached)
    assert all(state.holds for state in states_of(attachments()[key]))
    assert changed_since("claude") == []
    detach(key)
    assert not file.exists() or MARK not in file.read_text()


def test_what_a_person_changed_elsewhere_stays(project: Path) -> None:
    key = attach("claude", project)
    file = Path(attachments()[key]["files"][0]["path"])
    value = json.loads(file.read_text())
    file.write_text(json.dumps({**value, "model": "opus"}, indent=4))
    assert put_back(key) == []
    assert json.loads(file.read_text())["model"] == "opus"
    file.write_text(json.dumps({"model": "opus", "disableAllHooks": True}))
    assert len(put_back(key)) == 1
    assert json.loads(file.read_text()) == {**value, "model": "opus"}
    detach(key)
    assert json.loads(file.read_text()) == {"model": "opus"}


def test_a_switch_that_was_off_before_is_set_back_and_not_removed(project: Path) -> None:
    file = project / ".claude" / "settings.local.json"
    file.parent.mkdir()
    file.write_text('{"disableAllHooks": false}')
    key = attach("claude", project)
    file.write_text(file.read_text().replace("false", "true"))
    put_back(key)
    assert json.loads(file.read_text())["disableAllHooks"] is False


def test_an_entry_notices_it_puts_it_back_and_records_it(project: Path) -> None:
    key = attach("claude", project)
    file = project / ".claude" / "settings.local.json"
    attached = file.read_bytes()
    file.write_text("{}")
    status, said, _ = call("claude", key, "PostToolUse", tool(project, "sed -i /hooks/d", "PostToolUse"))
    assert status == 0
    assert file.read_bytes() == attached
    assert "our hooks were put back" in json.loads(said)["systemMessage"]
    log = subprocess.run(["interpose", "log", "--json"], capture_output=True, text=True, cwd=project, check=True,
                         env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"})  # fmt: skip
    assert "interpose:settings" in log.stdout


def test_the_resident_engine_notices_it_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = Path(mkdtemp(prefix="ip-", dir="/tmp"))  # the path of a socket has a limit
    monkeypatch.setenv("XDG_STATE_HOME", str(short))
    rules = Source(str(project / ".interpose" / "hooks.yaml"), "project", None, found=True)
    TrustStore().trust(review(TABLE, rules))
    key = attach("claude", project)
    file = project / ".claude" / "settings.local.json"
    attached = file.read_bytes()
    with subprocess.Popen(
        [sys.executable, "-m", "interpose.cli", "serve"], cwd=project, stdout=subprocess.PIPE
    ) as engine:
        try:
            assert engine.stdout is not None
            assert b"ready" in engine.stdout.readline()
            file.write_text("{}")
            status, said, problem = call("claude", key, "PreToolUse", tool(project, "ls"))
            assert (status, problem) == (0, "")
            assert "our hooks were put back" in json.loads(said)["systemMessage"]
            assert file.read_bytes() == attached
            assert call("claude", key, "PreToolUse", tool(project, "ls")) == (0, "", "")
            assert call("claude", key, "PreToolUse", tool(project, "rm x"))[0] == 2
        finally:
            engine.terminate()
            shutil.rmtree(short, ignore_errors=True)


def test_a_change_of_settings_is_refused_while_the_session_runs(project: Path) -> None:
    key = attach("claude", project)
    file = project / ".claude" / "settings.local.json"
    attached = file.read_bytes()
    file.write_text("{}")
    event = {"hook_event_name": "ConfigChange", "session_id": "s", "cwd": str(project), "source": "local_settings",
             "file_path": str(file)}  # fmt: skip
    status, said, problem = call("claude", key, "ConfigChange", event)
    assert status == 2 or json.loads(said)["decision"] == "block", (status, said, problem)
    assert file.read_bytes() == attached


def test_the_end_of_a_session_puts_it_back_for_the_next_one(project: Path) -> None:
    key = attach("claude", project)
    file = project / ".claude" / "settings.local.json"
    attached = file.read_bytes()
    file.write_text('{"disableAllHooks": true}')
    event = {"hook_event_name": "SessionEnd", "session_id": "s", "cwd": str(project), "reason": "other"}
    call("claude", key, "SessionEnd", event)
    assert file.read_bytes() == attached


@pytest.mark.parametrize(
    "variables",
    [
        {"INTERPOSE_OFF": "because"},
        {"INTERPOSE_TRUST": "all"},
        {"PYTHONPATH": "evil"},
        {"PATH": "evil"},
        {"HOME": "/nonexistent"},
        {"XDG_STATE_HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"},
        {"INTERPOSE_REPLAY": "1"},
    ],
    ids=",".join,
)
def test_variables_of_a_projects_settings_do_not_disarm(variables: dict[str, str], project: Path) -> None:
    evil = project / "evil"
    evil.mkdir()
    (evil / "interpose.py").write_text("import os; os._exit(0)\n")
    (evil / "json.py").write_text("import os; os._exit(0)\n")
    for name in ("interpose", "printf", "python3", "sh"):
        (evil / name).write_text("#!/bin/sh\nexit 0\n")
        (evil / name).chmod(0o755)
    given = {name: str(evil) if value == "evil" else value for name, value in variables.items()}
    key = attach("claude", project)
    status, said, problem = call("claude", key, "PreToolUse", tool(project, "rm -r x"), **given)
    assert (status, "not here" in said + problem) == (2, True), (status, said, problem)


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "cursor", "copilot", "qwen", "droid"])
def test_the_entry_denies_by_itself_if_its_program_is_gone(name: str, project: Path) -> None:
    from interpose.dialects.agents import agent_dialect
    from interpose.dialects.agents.contract import HookExit

    dialect = agent_dialect(name)
    key = attach(name, project)
    one = attachments()[key]
    payload = canary_payload(name, "PreToolUse", f"{CANARY}1", str(project))
    for event, ours, command, _ in one["entries"]:
        broken = command.replace("interpose-fire", "interpose-gone").replace("client.py", "gone.py")
        done = subprocess.run(["/bin/sh", "-c", broken], input=json.dumps(payload), capture_output=True, text=True,
                              cwd=project, check=False)  # fmt: skip
        seen = dialect.predict(event, HookExit(done.stdout, done.stderr, done.returncode))
        if ours == "PreToolUse":
            assert not seen.tool_ran, (event, done)
        if ours in ("Stop", "SubagentStop"):
            assert done.returncode == 1, (event, done)
            assert seen.model_calls < 3


@pytest.mark.parametrize("ending", ["kill -9 $$", "kill -11 $$", "exit 1", "exit 7", "printf '{\"half'; kill -9 $$"])
def test_the_entry_denies_by_itself_if_its_program_fails(ending: str, project: Path) -> None:
    from interpose.attach.entry import make_entries
    from interpose.dialects.agents import agent_dialect

    program = project / "a client"
    program.write_text(f"#!/bin/sh\n{ending}\n")
    program.chmod(0o755)
    for name in ("claude", "gemini"):
        dialect = agent_dialect(name)
        entries = make_entries(name, dialect.EVENTS, dialect.write_failure, find_agent(name).deadlines, [str(program)])
        entry = next(entry for entry in entries if entry.event == "PreToolUse")
        done = subprocess.run(["/bin/sh", "-c", entry.command], input="{}", capture_output=True, text=True, check=False)
        assert "half" not in done.stdout
        assert "program is missing, was killed or failed" in done.stdout + done.stderr
        assert done.returncode == dialect.write_failure(entry.name, "x").status


@pytest.mark.parametrize("program", ["python", "compiled"])
def test_an_engine_that_never_answers_does_not_outlast_the_agents_deadline(
    program: str, compiled: list[str], project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from interpose.server.build import client_command

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    folder = tmp_path / "s" / "interpose" / "serve"
    folder.mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    words = client_command() if program == "python" else compiled
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "socket"))
        (folder / "socket").chmod(0o600)
        server.listen()
        began = monotonic()
        with subprocess.Popen([*words, "PreToolUse", "--reply", "claude", "--deadline", "3"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as client:  # fmt: skip
            assert client.stdin is not None
            client.stdin.close()
            server.settimeout(60)
            engine, _ = server.accept()
            with engine, suppress(OSError):  # it is gone
                engine.sendall(b"A")
                while client.poll() is None and monotonic() - began < 60:
                    engine.sendall(b".")
                    select.select([engine], [], [], 0.05)
        assert client.returncode == -signal.SIGALRM


def test_verify_says_that_nothing_is_trusted(project: Path) -> None:
    key = attach("claude", project)
    assert verify(attachments()[key]).holds
    TrustStore().forget(str(project / ".interpose" / "hooks.yaml"))
    (found,) = verify(attachments()[key]).problems
    assert found.startswith("PreToolUse: it denies, but everything: ")
    assert "interpose trust" in found


def test_verify_says_that_an_entry_was_replaced(project: Path) -> None:
    key = attach("claude", project)
    file = project / ".claude" / "settings.local.json"
    file.write_text(file.read_text().replace("o=$(", "exit 0; o=$("))
    found = verify(attachments()[key]).problems
    assert any("not as attached" in one for one in found)
    assert any("Claude Code would run the tool: exit status 0" in one for one in found)


def test_verifying_does_not_make_an_agent_of_the_persons_shell(project: Path) -> None:
    from interpose.person.agents import registered_files

    key = attach("claude", project)
    before = registered_files()
    assert verify(attachments()[key]).holds
    assert registered_files() == before


# Codex: hooks of a person can be stripped, switched off, and disarmed by their position.


def codex_group_in_front(hooks: Path, config: Path) -> None:
    value = json.loads(hooks.read_text())
    value["hooks"]["PreToolUse"].insert(0, {"hooks": [{"type": "command", "command": "true"}]})
    hooks.write_text(json.dumps(value))


CODEX: dict[str, Callable[[Path, Path], Any]] = {
    "stripped": lambda hooks, config: hooks.write_text("{}"),
    "removed": lambda hooks, config: hooks.unlink(),
    "switched off": lambda hooks, config: config.write_text(
        config.read_text().replace("trusted_hash", "enabled = false\ntrusted_hash")
    ),
    "not trusted": lambda hooks, config: config.write_text('model = "o9"\n'),
    "another hash": lambda hooks, config: config.write_text(config.read_text().replace("sha256:", "sha256:0")),
    "a group in front of ours": codex_group_in_front,
}


@pytest.mark.parametrize("attack", CODEX)
def test_hooks_of_codex_are_armed_again(attack: str, project: Path) -> None:
    key = attach("codex", project, "user")
    hooks, config = (Path(file["path"]) for file in attachments()[key]["files"])
    CODEX[attack](hooks, config)
    assert changed_since("codex") == [key]
    found = put_back(key)
    assert found
    assert all(one.restored for one in found)
    assert all(state.holds for state in states_of(attachments()[key]))
    detach(key)
    left = hooks.read_text() + config.read_text() if hooks.exists() and config.exists() else ""
    assert MARK not in left


@pytest.mark.parametrize("name", ["copilot", "gemini", "qwen", "cline", "droid", "cursor", "opencode", "kiro"])
def test_files_of_every_agent_are_put_back(name: str, project: Path) -> None:
    key = attach(name, project)
    for written in attachments()[key]["files"]:
        file = Path(written["path"])
        if written["kind"] == "entries":
            attached = file.read_bytes()
            file.write_text("" if file.suffix != ".json" else "{}")
            assert put_back(key)
            assert file.read_bytes() == attached
            file.unlink()
            assert put_back(key)
            assert file.read_bytes() == attached


def test_managed_settings_that_cannot_be_written_are_reported(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = attach("claude", project)
    file = project / ".claude" / "settings.local.json"
    file.write_text("{}")

    def refuse(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("interpose.attach.protect.replace_file", refuse)
    (found,) = put_back(key)
    assert not found.restored
    assert "could not be put back" in str(found)
    assert changed_since("claude") == [key]  # the next event looks again


def test_what_is_being_taken_off_is_not_put_back(project: Path) -> None:
    key = attach("claude", project)
    file = project / ".claude" / "settings.local.json"
    detach(key)
    assert not file.exists()
    assert changed_since("claude") == []


def test_a_damaged_record_stops_nothing(project: Path) -> None:
    attach("claude", project)
    for record in (Path(os.environ["HOME"]) / ".local/state/interpose/attach").glob("*.json"):
        record.write_text('{"claude": 1}')
    assert changed_since("claude") == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace('{\n  "hooks"', '{\n  "colour": 1,\n  "hooks"', 1),
        lambda text: text.replace('{\n  "hooks"', '{\n  "env": {"INTERPOSE_OFF": "1"},\n  "hooks"', 1),
        lambda text: text.replace('"hooks": {', '"hooks": {\n    "Other": "x",', 1),
        lambda text: text.replace('"hooks": {', '"hooks": {\n    "Other": [{"hooks": [{"type": "other"}]}],', 1),
        lambda text: text.rstrip()[:-1] + ', "hooks": {}}',
        lambda text: "\ufeff" + text,
    ],
    ids=["a key", "env", "no list", "a type", "twice", "a mark"],
)
def test_codex_gets_its_hooks_back_when_a_change_makes_it_drop_the_whole_file(
    project: Path, spoil: Callable[[str], str]
) -> None:
    key = attach("codex", project)
    settings = project / ".codex/hooks.json"
    attached = settings.read_text()
    settings.write_text(spoil(attached))
    assert settings.read_text() != attached

    found = put_back(key)

    assert [(one.path, one.restored) for one in found] == [(str(settings), True)]
    assert settings.read_text() == attached


def test_codex_keeps_what_a_person_adds_to_its_hooks(project: Path) -> None:
    key = attach("codex", project)
    settings = project / ".codex/hooks.json"
    own = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}], "Other": []}
    given = json.loads(settings.read_text())
    given["hooks"] = {name: given["hooks"].get(name, []) + own.get(name, []) for name in {**given["hooks"], **own}}
    settings.write_text(json.dumps({"description": "mine", **given}))
    edited = settings.read_text()

    found = put_back(key)

    assert found == []
    assert settings.read_text() == edited


@pytest.mark.parametrize(
    "name", ["claude", "codex", "copilot", "gemini", "qwen", "cline", "droid", "cursor", "opencode"]
)
def test_a_client_that_could_not_decide_is_the_agents_deny(name: str, project: Path) -> None:
    from interpose.attach.entry import make_entries
    from interpose.dialects.agents import agent_dialect
    from interpose.dialects.agents.contract import HookExit

    program = project / "client"  # as the thin client ends if the engine is killed while it decides
    program.write_text("#!/bin/sh\necho 'interpose fire: the engine did not answer' >&2; exit 2\n")
    program.chmod(0o755)
    dialect = agent_dialect(name)
    entries = make_entries(name, dialect.EVENTS, dialect.write_failure, find_agent(name).deadlines, [str(program)])

    for entry in entries:
        done = subprocess.run(["/bin/sh", "-c", entry.command], input="{}", capture_output=True, text=True, check=False)
        seen = dialect.predict(entry.name, HookExit(done.stdout, done.stderr, done.returncode))
        if entry.event == "PreToolUse":
            assert not seen.tool_ran, (entry.name, done)
        assert seen.model_calls < 3, (entry.name, done)
