"""Attaching writes hooks into settings as text, and detaching gives the file back byte for byte."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit import attach_files

from interpose.attach.agents import AGENTS, CodingAgent, Scope, find_agent, found_agents
from interpose.attach.attachment import detach, find_attachments, plan, states_of, write
from interpose.attach.codex import disarmed, hash_of
from interpose.attach.entry import MARK, SettingsEntry, make_entries
from interpose.attach.errors import BadSettings
from interpose.attach.json_edit import JsonText
from interpose.attach.record import attachments
from interpose.attach.shapes import JsonHooks, YamlHooks
from interpose.attach.status import statuses
from interpose.attach.verify import verify
from interpose.dialects.agents import agent_dialect
from interpose.errors import UsageError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, and an empty home beside it."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "a project").mkdir()
    return tmp_path / "a project"


def entries_for(name: str) -> list[SettingsEntry]:
    agent, dialect = find_agent(name), agent_dialect(name)
    return make_entries(name, dialect.EVENTS, dialect.write_failure, agent.deadlines, ["/opt/my tools/it's client"],
                        in_posix_shell=agent.in_posix_shell)  # fmt: skip


def attach(name: str, project: Path, scope: Scope = "local", **more: Any) -> str:
    made = plan(find_agent(name), scope, str(project), entries_for(name), **more)
    write(made)
    return made.key


def settings(agent: CodingAgent, project: Path, scope: Scope = "local") -> Path:
    return Path(agent.path(scope, str(project)))


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(folder.rglob("*")) if ".local" not in path.parts}  # fmt: skip


def scope_of(agent: CodingAgent) -> Scope:
    return "local" if "local" in agent.places else "user" if "user" in agent.places else "shared"


SHAPES = ["claude", "codex", "gemini", "cursor", "droid", "antigravity"]
"""Agents whose settings are JSON, each in another form."""


def test_each_form_of_json_is_tested() -> None:
    forms = {agent.shape_of(scope_of(agent)) for agent in AGENTS.values()}
    assert sum(isinstance(form, JsonHooks) for form in forms) >= len(SHAPES)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("text", {**attach_files.JSON, **attach_files.JSONC}.items(), ids=lambda item: item[0])
def test_a_json_file_comes_back_byte_for_byte(name: str, text: tuple[str, str], project: Path) -> None:
    agent = find_agent(name)
    file = settings(agent, project, scope_of(agent))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text[1].encode())
    before = tree(project.parent)
    key = attach(name, project, scope_of(agent))
    after = file.read_bytes().decode()
    document = JsonText(after)
    shape = agent.shape_of(scope_of(agent))
    assert set(shape.lines(after, "f")) == set(agent_dialect(name).EVENTS)
    if not JsonText(text[1]).notes:
        assert json.loads(after.removeprefix("\ufeff"))
    assert document.text.startswith("\ufeff") == text[1].startswith("\ufeff")
    detach(key)
    assert tree(project.parent) == before


@pytest.mark.parametrize("text", {**attach_files.JSON, **attach_files.JSONC}.items(), ids=lambda item: item[0])
def test_of_a_file_that_was_changed_only_our_entries_are_taken_out(text: tuple[str, str], project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.write_bytes(text[1].encode())
    key = attach("claude", project)
    changed = JsonText(file.read_bytes().decode())
    changed.set_member((), "added", "by a person")
    file.write_bytes(changed.text.encode())
    detach(key)
    expected = JsonText(text[1]).root
    left = JsonText(file.read_bytes().decode())
    assert left.root is not None
    assert left.root.plain() == {**(expected.plain() if expected is not None else {}), "added": "by a person"}
    comments = [line for line in text[1].splitlines() if line.strip().startswith("//")]
    assert all(line in left.text for line in comments)


@pytest.mark.parametrize("text", {**attach_files.JSON, **attach_files.JSONC}.items(), ids=lambda item: item[0])
def test_every_other_character_stays_where_it_was(text: tuple[str, str]) -> None:
    shape = find_agent("claude").shape
    after, _ = shape.write(text[1], entries_for("claude"), "f")
    rest = iter(after)
    assert all(letter in rest for letter in text[1] if not letter.isspace())


@pytest.mark.parametrize("text", {**attach_files.BROKEN, **attach_files.WRONG}.items(), ids=lambda item: item[0])
def test_a_file_that_cannot_be_edited_is_left_alone(text: tuple[str, str], project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.write_text(text[1])
    before = tree(project.parent)
    with pytest.raises(BadSettings, match=r"settings\.local\.json"):
        attach("claude", project)
    assert tree(project.parent) == before
    assert not attachments()


def test_the_error_says_where_the_mistake_is(project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.write_text('{\n  "a": 1\n  "b": 2\n}\n')
    with pytest.raises(BadSettings, match=r"settings\.local\.json:3:3: not JSON: a comma is missing"):
        attach("claude", project)


def test_a_file_that_is_not_utf8_is_left_alone(project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.write_bytes(b'{\n"a": "\xff"}')
    with pytest.raises(BadSettings, match=r":2: not UTF-8"):
        attach("claude", project)
    assert file.read_bytes() == b'{\n"a": "\xff"}'


@pytest.mark.parametrize("text", attach_files.TOML.items(), ids=lambda item: item[0])
def test_a_toml_file_comes_back_byte_for_byte(text: tuple[str, str], project: Path) -> None:
    file = settings(find_agent("kimi"), project, "user")
    file.parent.mkdir()
    file.write_bytes(text[1].encode())
    key = attach("kimi", project, "user")
    hooks = tomllib.loads(file.read_bytes().decode("utf-8-sig"))["hooks"]
    ours = [hook for hook in hooks if MARK in hook["command"]]
    assert {hook["event"] for hook in ours} == set(agent_dialect("kimi").EVENTS)
    detach(key)
    assert file.read_bytes() == text[1].encode()


@pytest.mark.parametrize("text", attach_files.TOML.items(), ids=lambda item: item[0])
def test_of_a_toml_file_that_was_changed_only_our_block_is_taken_out(text: tuple[str, str], project: Path) -> None:
    file = settings(find_agent("kimi"), project, "user")
    file.parent.mkdir()
    file.write_bytes(text[1].encode())
    key = attach("kimi", project, "user")
    file.write_bytes(file.read_bytes() + b"[added]\n")
    detach(key)
    assert tomllib.loads(file.read_text("utf-8-sig")) == {**tomllib.loads(text[1].removeprefix("\ufeff")), "added": {}}


def test_hooks_that_are_written_inline_in_toml_are_an_error(project: Path) -> None:
    file = settings(find_agent("kimi"), project, "user")
    file.parent.mkdir()
    file.write_text('hooks = [{event = "Stop", command = "theirs.sh"}]\n')
    with pytest.raises(BadSettings, match="inline"):
        attach("kimi", project, "user")


@pytest.mark.parametrize("text", attach_files.YAML.items(), ids=lambda item: item[0])
@pytest.mark.parametrize("changed", [False, True])
def test_a_yaml_file_comes_back(text: tuple[str, str], changed: bool, project: Path) -> None:
    file = settings(find_agent("hermes"), project, "user")
    file.parent.mkdir()
    file.write_bytes(text[1].encode())
    key = attach("hermes", project, "user")
    found = YamlHooks().lines(file.read_bytes().decode(), "f")
    assert set(found) == set(agent_dialect("hermes").EVENTS)
    if changed:
        file.write_bytes(b"added: 1\n" + file.read_bytes())
    detach(key)
    if not changed:
        assert file.read_bytes() == text[1].encode()
    else:
        rest, before = yaml.safe_load(file.read_text()), yaml.safe_load(text[1]) or {}
        assert rest in ({"added": 1, **before}, {"added": 1, **before, "hooks": None})


def test_hooks_in_braces_in_yaml_are_an_error(project: Path) -> None:
    file = settings(find_agent("hermes"), project, "user")
    file.parent.mkdir()
    file.write_text("hooks: {pre_tool_call: [{command: theirs.sh}]}\n")
    with pytest.raises(BadSettings, match=r"config\.yaml:1:8: hooks is written in braces"):
        attach("hermes", project, "user")


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("scope", ["local", "shared", "user"])
def test_what_was_made_goes_away_again(name: str, scope: Scope, project: Path) -> None:
    agent = find_agent(name)
    if scope not in agent.places:
        pytest.skip("the agent has no such settings")
    before = tree(project.parent)
    key = attach(name, project, scope)
    assert tree(project.parent) != before
    assert all(state.state == "intact" for state in states_of(attachments()[key]))
    detach(key)
    assert tree(project.parent) == before
    assert not attachments()


@pytest.mark.parametrize("name", AGENTS)
def test_attaching_twice_changes_nothing(name: str, project: Path) -> None:
    agent = find_agent(name)
    before = tree(project.parent)
    key = attach(name, project, scope_of(agent))
    after = tree(project.parent)
    again = plan(agent, scope_of(agent), str(project), entries_for(name))
    assert again.is_done
    write(again)
    assert tree(project.parent) == after
    detach(key)
    assert tree(project.parent) == before


def test_attaching_anew_replaces_our_entries_and_still_gives_the_first_file_back(project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.write_text(attach_files.JSON["hooks of others"])
    attach("claude", project)
    dialect = agent_dialect("claude")
    other = make_entries("claude", dialect.EVENTS, dialect.write_failure, find_agent("claude").deadlines, ["/new"])
    made = plan(find_agent("claude"), "local", str(project), other)
    write(made)
    assert file.read_text().count(MARK) == len(other)
    detach(made.key)
    assert file.read_text() == attach_files.JSON["hooks of others"]


def test_a_link_and_a_mode_stay(project: Path) -> None:
    target = project.parent / "dotfiles.json"
    target.write_text("{}")
    target.chmod(0o640)
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.symlink_to(target)
    key = attach("claude", project)
    assert file.is_symlink()
    assert MARK in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o640
    detach(key)
    assert file.is_symlink()
    assert target.read_text() == "{}"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_link_that_leads_nowhere_is_an_error(project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.symlink_to(project / "nowhere")
    with pytest.raises(BadSettings, match="leads nowhere"):
        attach("claude", project)


def test_a_directory_in_which_others_put_something_stays(project: Path) -> None:
    key = attach("claude", project)
    (project / ".claude" / "notes.md").write_text("mine")
    detach(key)
    assert [path.name for path in (project / ".claude").iterdir()] == ["notes.md"]


def test_if_one_file_cannot_be_written_none_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = plan(find_agent("cline"), "local", str(project), entries_for("cline"))
    made.files[3].now = b"it was this when it was planned"
    before = tree(project.parent)
    with pytest.raises(BadSettings, match="changed just now"):
        write(made)
    assert tree(project.parent) == before
    assert not attachments()


def test_a_file_of_others_with_the_name_of_ours_is_left_alone(project: Path) -> None:
    file = project / ".opencode" / "plugins" / "interpose.js"
    file.parent.mkdir(parents=True)
    file.write_text("export const Theirs = 1;\n")
    with pytest.raises(BadSettings, match="not ours"):
        attach("opencode", project)
    assert file.read_text() == "export const Theirs = 1;\n"


def test_a_script_of_others_stays_and_ours_has_another_ending(project: Path) -> None:
    folder = project / ".cline" / "hooks"
    folder.mkdir(parents=True)
    (folder / "PreToolUse").write_text("#!/bin/sh\nexit 0\n")
    key = attach("cline", project)
    assert (folder / "PreToolUse.sh").stat().st_mode & 0o777 == 0o755
    assert (folder / "PreToolUse").read_text() == "#!/bin/sh\nexit 0\n"
    detach(key)
    assert [path.name for path in folder.iterdir()] == ["PreToolUse"]


# Local, shared, and whose.


def git(project: Path, *arguments: str) -> str:
    import subprocess

    run = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(project), *arguments]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout


def test_local_files_are_not_committed(project: Path) -> None:
    git(project, "init", "-q")
    before = (project / ".git/info/exclude").read_bytes()
    key = attach("gemini", project)
    assert git(project, "status", "--porcelain") == ""
    detach(key)
    assert (project / ".git/info/exclude").read_bytes() == before


def test_a_file_that_is_committed_is_not_local(project: Path) -> None:
    git(project, "init", "-q")
    file = settings(find_agent("gemini"), project)
    file.parent.mkdir()
    file.write_text("{}")
    git(project, "add", "-A")
    with pytest.raises(UsageError, match=r"committed .* \(choose --shared or --user\)"):
        attach("gemini", project)
    attach("gemini", project, "shared")


@pytest.mark.parametrize("name", AGENTS)
def test_shared_entries_name_no_path_of_this_machine(name: str, project: Path) -> None:
    dialect = agent_dialect(name)
    for entry in make_entries(name, dialect.EVENTS, dialect.write_failure, find_agent(name).deadlines, []):
        assert str(project.parent) not in entry.command
        assert "not installed here" in entry.command


def test_settings_that_an_agent_does_not_have_are_an_error(project: Path) -> None:
    with pytest.raises(UsageError, match=r"Kimi CLI has no managed settings \(it has: --user\)"):
        find_agent("kimi").path("managed", str(project))
    with pytest.raises(UsageError, match="did you mean codex"):
        find_agent("codx")


def test_variables_that_move_a_folder_are_followed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(project / "codex"))
    assert find_agent("codex").path("user", str(project)) == str(project / "codex/hooks.json")
    assert find_agent("codex").path("managed", str(project)) == "/etc/codex/config.toml"


def test_agents_that_are_used_here_are_found(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project / "bin"))
    assert found_agents(str(project)) == []
    (project / ".claude").mkdir()
    (project / "bin").mkdir()
    (project / "bin" / "codex").write_text("#!/bin/sh\n")
    (project / "bin" / "codex").chmod(0o755)
    assert [agent.name for agent in found_agents(str(project))] == ["claude", "codex"]


def test_every_dialect_can_be_attached_and_the_other_way_round() -> None:
    from interpose.dialects.agents import AGENTS as DIALECTS

    assert set(AGENTS) == set(DIALECTS)
    assert {name: agent.title for name, agent in AGENTS.items()} == {n: agent_dialect(n).TITLE for n in DIALECTS}


def test_the_agents_deadline_is_longer_than_ours() -> None:
    for name in AGENTS:
        for entry in entries_for(name):
            words = entry.command.split()
            ours = float(words[words.index("--deadline") + 1].rstrip(");"))
            assert 0 < ours < entry.timeout, entry


# What agents make of a file.


def test_strict_agents_drop_a_file_with_comments_and_attach_says_so(project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.write_text('{\n  // mine\n  "a": 1\n}\n')
    made = plan(find_agent("claude"), "local", str(project), entries_for("claude"))
    assert made.doubts == [f"{file}:2:3: a comment: this agent reads strict JSON and drops the whole file"]


@pytest.mark.parametrize("switch", ['"disableAllHooks": true', '"env": {"INTERPOSE_OFF": "1"}'])
def test_a_switch_that_is_there_already_is_reported(switch: str, project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.write_text(f"{{{switch}}}")
    made = plan(find_agent("claude"), "local", str(project), entries_for("claude"))
    assert len(made.doubts) == 1
    assert "switches hooks off" in made.doubts[0]


@pytest.mark.parametrize("switch", ['"disableAllHooks": true', '"env": {"LD_PRELOAD": "./x.so"}'])
def test_a_switch_in_other_settings_of_the_agent_is_reported(switch: str, project: Path) -> None:
    other = settings(find_agent("claude"), project, "shared")
    other.parent.mkdir()
    other.write_text(f'{{{switch}, "model": 5}}')
    name = "env.LD_PRELOAD" if "LD_PRELOAD" in switch else "disableAllHooks"

    made = plan(find_agent("claude"), "local", str(project), entries_for("claude"))
    write(made)

    (said,) = made.doubts
    assert (said.startswith(f"{other}:1:"), said.endswith(f"{name} switches hooks off")) == (True, True)
    assert said in verify(attachments()[made.key]).problems
    assert said in statuses(["claude"], 0.0)[0].gaps


def test_a_cursor_file_has_no_slashes_that_it_takes_for_a_comment(project: Path) -> None:
    attach("cursor", project)
    assert "//" not in settings(find_agent("cursor"), project).read_text()


# Codex.

KNOWN = "sha256:9c3ce103f03f0b27a28bc4a30883f7e98a80b5df566b4572fcbb2955ebf5ba62"


def test_the_hash_of_codex_is_that_of_codex() -> None:
    command = "'/Applications/GWT.app/Contents/MacOS/gwtd' hook event PostToolUse"
    assert hash_of("PostToolUse", {"matcher": "*"}, {"type": "command", "command": command}) == KNOWN


def codex_files(project: Path) -> tuple[Path, Path]:
    hooks = settings(find_agent("codex"), project, "user")
    return hooks, hooks.parent / "config.toml"


def still_skipped(project: Path) -> list[str]:
    hooks, config = codex_files(project)
    return disarmed(hooks.read_text(), str(hooks), config.read_text(), str(config))


def test_attaching_trusts_our_hooks_in_codex_and_nothing_else(project: Path) -> None:
    hooks, config = codex_files(project)
    hooks.parent.mkdir()
    hooks.write_text('{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "theirs.sh"}]}]}}')
    config.write_text('model = "o9"\n[projects."/x"]\ntrust_level = "trusted"\n')
    before = tree(project.parent)
    key = attach("codex", project, "user")
    state = tomllib.loads(config.read_text())["hooks"]["state"]
    assert f"{hooks}:pre_tool_use:1:0" in state
    assert f"{hooks}:pre_tool_use:0:0" not in state
    assert still_skipped(project) == []
    detach(key)
    assert tree(project.parent) == before


def test_a_group_in_front_of_ours_disarms_it_and_is_noticed(project: Path) -> None:
    key = attach("codex", project, "user")
    hooks, _ = codex_files(project)
    value = json.loads(hooks.read_text())
    value["hooks"]["PreToolUse"].insert(0, {"hooks": [{"type": "command", "command": "true"}]})
    hooks.write_text(json.dumps(value))
    assert still_skipped(project) == ["pre_tool_use: Codex does not trust our hook at this position, and skips it"]
    assert [state.state for state in states_of(attachments()[key])] == ["edited", "disabled"]


def test_a_hook_that_is_switched_off_in_codex_is_noticed(project: Path) -> None:
    attach("codex", project, "user")
    _, config = codex_files(project)
    config.write_text(config.read_text().replace("trusted_hash", "enabled = false\ntrusted_hash", 1))
    assert len(still_skipped(project)) == 1


def test_managed_hooks_of_codex_need_no_trust(project: Path) -> None:
    made = plan(find_agent("codex"), "managed", str(project), entries_for("codex"))
    assert [file.path for file in made.files] == ["/etc/codex/config.toml"]
    assert "PreToolUse" in tomllib.loads(made.files[0].after.decode())["hooks"]


# Adopting.


def test_hooks_of_others_are_adopted_in_order_and_given_back(project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    groups = [{"matcher": "Bash", "hooks": [{"type": "command", "command": one}]} for one in ("a.sh", "b.sh")]
    file.write_text(json.dumps({"hooks": {"PreToolUse": groups}, "model": "opus"}, indent=2))
    before = tree(project.parent)
    into = str(project / ".interpose" / "hooks.local.json")
    key = attach("claude", project, adopt_into=into)
    assert json.loads(Path(into).read_text()) == {"dialect": "claude", "hooks": {"PreToolUse": groups}}
    left = json.loads(file.read_text())["hooks"]["PreToolUse"]
    assert [MARK in hook["command"] for group in left for hook in group["hooks"]] == [True]
    detach(key)
    assert tree(project.parent) == before


def test_hooks_in_another_dialect_are_not_adopted(project: Path) -> None:
    file = settings(find_agent("gemini"), project)
    file.parent.mkdir()
    file.write_text('{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "theirs.sh"}]}]}}')
    with pytest.raises(UsageError, match="do not speak Claude Code's dialect"):
        attach("gemini", project, adopt_into=str(project / ".interpose/hooks.local.json"))
    assert find_attachments() == {}


def test_the_copy_of_a_file_is_private(project: Path) -> None:
    file = settings(find_agent("claude"), project)
    file.parent.mkdir()
    file.write_text('{"env": {"TOKEN": "secret"}}')
    attach("claude", project)
    state = Path(os.environ["HOME"]) / ".local/state/interpose/attach"
    assert all(path.stat().st_mode & 0o077 == 0 for path in state.rglob("*"))


# What the policy that protects the guards knows.


@pytest.mark.parametrize("name", AGENTS)
def test_the_settings_that_are_written_are_guarded_files(name: str, project: Path) -> None:
    from interpose.policies.agent_files import AGENT_FILES

    agent = find_agent(name)
    for scope in agent.places:
        path = agent.path(scope, str(project))
        file = os.path.join(path, "PreToolUse") if name == "cline" else path
        assert AGENT_FILES.label_of(file, os.environ["HOME"]), file


@pytest.mark.parametrize(
    "line", ["interpose detach claude --yes", "interpose attach claude", "python -m interpose detach"]
)
def test_a_model_that_types_our_commands_is_denied(line: str) -> None:
    from interpose import Hooks

    hooks = Hooks()
    hooks.use("self-protection")
    assert hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": line}).denied
