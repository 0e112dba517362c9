"""Configuration files, loaded as they stand: the two of the seeds, the lines of a script, and layers that meet."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interpose import BadHook, ConfigError, Hooks, Outcome, TooManyHooks
from interpose.routes import deadline

OF_S4 = """\
# Global hooks - apply to ALL agents
hooks:
  PreToolUse:
    - matcher: "*"
      handler: "massgen.hooks.audit_all_tools"
      type: "python"

agents:
  - id: "agent1"
    backend:
      # Per-agent hooks - extend global by default
      hooks:
        PreToolUse:
          - matcher: "Write"
            handler: "custom_write_hook.py"
            type: "command"
        PostToolUse:
          override: true  # Only use per-agent hooks, disable global
          hooks:
            - handler: "agent1_logging.py"
              type: "command"
"""

OF_S0 = """\
hooks:
  errorBehavior: log    # skip | abort | log
  timeout: 5000         # Max hook execution time (ms)
  maxHooksPerPoint: 50  # Safety limit
"""

LINES_OF_S0 = """\
hook pre:message /log debug "Sending: $prompt"
hook pre:tool:shell /perms check shellExec
hook post:agent:complete /notify "Agent $agent finished"
"""

NOTES_ITS_NAME = """\
import json, pathlib, sys
here = pathlib.Path(__file__)
event = json.load(sys.stdin)
with open(here.with_name("calls.txt"), "a") as calls:
    calls.write(f"{here.stem} {event['tool_name']}\\n")
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A person of their own, and imports that are forgotten afterwards."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "INTERPOSE_TRUST", "INTERPOSE_OFF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    known, mask = set(sys.modules), os.umask(0o022)
    yield
    os.umask(mask)
    for name in set(sys.modules) - known:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def fire(hooks: Hooks, event: str = "PreToolUse", **fields: Any) -> Outcome:
    return asyncio.run(hooks.fire(event, **fields))


def ran(outcome: Outcome) -> list[str]:
    return [result.hook for result in outcome.results]


# ----------------------------------------------------------------------------------------------------------------
# The YAML of the seeds


@pytest.fixture
def massgen(tmp_path: Path) -> Path:
    """A project as S4 has it, with the programs that its configuration names."""
    write(tmp_path / "massgen" / "__init__.py", "")
    write(
        tmp_path / "massgen" / "hooks.py", "seen = []\ndef audit_all_tools(event):\n    seen.append(event.tool_name)\n"
    )
    write(tmp_path / "custom_write_hook.py", NOTES_ITS_NAME)
    write(tmp_path / "agent1_logging.py", NOTES_ITS_NAME)
    return write(tmp_path / "config.yaml", OF_S4)


def calls(config: Path) -> list[str]:
    noted = config.with_name("calls.txt")
    return noted.read_text().splitlines() if noted.exists() else []


# fmt: off
LEVELS = [
    ("S4-29 S1-8 S1-9", "PreToolUse", "agent1", "Read", ["massgen.hooks.audit_all_tools"]),
    ("S4-29 S1-8 S1-13", "PreToolUse", "agent2", "Write", ["massgen.hooks.audit_all_tools"]),
    ("S4-30 S4-32 S1-11 S1-12 S1-10", "PreToolUse", "agent1", "Write",
     ["massgen.hooks.audit_all_tools", "custom_write_hook.py"]),
    ("S4-31 S4-33 S1-14 S1-21", "PostToolUse", "agent1", "Bash", ["agent1_logging.py"]),
    ("S4-31 S1-16", "PostToolUse", "agent2", "Bash", []),
]
# fmt: on


@pytest.mark.parametrize(
    ("event", "agent", "tool", "expected"), [pytest.param(*row, id=f"{ids} {row[1]} {row[2]}") for ids, *row in LEVELS]
)
def test_the_yaml_of_massgen_runs_the_programs_that_it_names(
    massgen: Path, event: str, agent: str, tool: str, expected: list[str]
) -> None:
    outcome = fire(Hooks.load(massgen), event, tool_name=tool, agent_id=agent)

    assert ran(outcome) == expected
    assert [result.status for result in outcome.results] == ["ok"] * len(expected)
    assert outcome.allowed
    assert calls(massgen) == [f"{name.removesuffix('.py')} {tool}" for name in expected if name.endswith(".py")]


def test_the_yaml_of_massgen_says_in_which_line_each_hook_was_written(massgen: Path) -> None:
    """S4-29 S4-30 S4-31"""
    assert {(hook.label, hook.source) for hook in Hooks.load(massgen)} == {
        ("massgen.hooks.audit_all_tools", f"{massgen}:4"),
        ("custom_write_hook.py", f"{massgen}:14"),
        ("agent1_logging.py", f"{massgen}:20"),
    }


def test_programs_are_found_beside_the_file_wherever_the_host_stands(
    massgen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1-10 S1-9"""
    monkeypatch.chdir("/")
    outcome = fire(Hooks.load(massgen), tool_name="Write", agent_id="agent1")

    assert [result.status for result in outcome.results] == ["ok", "ok"]


def test_an_override_drops_the_shared_hooks_of_its_event_for_its_agent_alone(massgen: Path) -> None:
    """S1-14 S1-15 S1-16 S4-31"""
    massgen.write_text(OF_S4.replace("agents:", "  PostToolUse: [{name: shared, command: 'true'}]\nagents:"))
    hooks = Hooks.load(massgen)

    assert ran(fire(hooks, "PostToolUse", tool_name="Bash", agent_id="agent1")) == ["agent1_logging.py"]
    assert ran(fire(hooks, "PostToolUse", tool_name="Bash", agent_id="agent2")) == ["shared"]
    assert ran(fire(hooks, "PreToolUse", tool_name="Bash", agent_id="agent1")) == ["massgen.hooks.audit_all_tools"]


def test_a_locked_hook_of_a_file_survives_an_override(tmp_path: Path) -> None:
    """S1-14, C-14"""
    config = write(
        tmp_path / "hooks.yaml",
        """\
hooks:
  PreToolUse:
    - {name: locked, command: "true", locked: true}
    - {name: plain, command: "true"}
agents: [{id: a, backend: {hooks: {PreToolUse: {override: true, hooks: []}}}}]
""",
    )

    assert ran(fire(Hooks.load(config), tool_name="Bash", agent_id="a")) == ["locked"]


def test_the_yaml_of_armament_sets_behaviour_ceiling_and_limit(tmp_path: Path) -> None:
    """S0-88 S0-89 S0-90"""
    settings = Hooks.load(write(tmp_path / "armament.yaml", OF_S0)).settings

    assert (settings.error_behavior, settings.timeout_ceiling, settings.max_hooks_per_point) == ("log", 5.0, 50)


def test_what_code_says_of_settings_holds_over_the_file(tmp_path: Path) -> None:
    """S0-88"""
    config = write(tmp_path / "armament.yaml", OF_S0)

    settings = Hooks.load(config, error_behavior="abort", timeout_ceiling=1.0).settings

    assert (settings.error_behavior, settings.timeout_ceiling, settings.max_hooks_per_point) == ("abort", 1.0, 50)


@pytest.mark.parametrize(("own", "allowed"), [("", False), ("onError: log", True)], ids=["its file's", "its own"])
def test_a_hook_that_fails_does_what_the_file_says_unless_it_says_so_itself(
    tmp_path: Path, own: str, allowed: bool
) -> None:
    """S0-88 S0-91"""
    config = write(
        tmp_path / "hooks.yaml",
        f"hooks:\n  errorBehavior: abort\n  pre:tool:\n  - command: exit 1\n    {own}\n",
    )

    assert fire(Hooks.load(config), "pre:tool", tool_name="Bash").allowed is allowed


def test_the_ceiling_of_a_file_is_in_milliseconds_and_holds_over_a_hooks_own_timeout(tmp_path: Path) -> None:
    """S0-89, C-8"""
    config = write(
        tmp_path / "hooks.yaml", "hooks:\n  timeout: 150\n  pre:tool:\n  - {command: sleep 30, timeout: 20}\n"
    )

    (result,) = fire(Hooks.load(config), "pre:tool", tool_name="Bash").results

    assert result.status == "timeout"
    assert result.duration < 5


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("defaultTimeout: 250ms", 0.25),
        ("default_timeout: 2m", 120.0),
        ("defaultTimeout: 5s", 5.0),
        ("defaultTimeout: 7", 7.0),
    ],
)
def test_durations_have_units(tmp_path: Path, written: str, seconds: float) -> None:
    config = write(tmp_path / "hooks.yaml", f"hooks:\n  {written}\n")

    assert Hooks.load(config).settings.default_timeout == pytest.approx(seconds)


def test_a_file_with_more_hooks_than_its_limit_is_refused(tmp_path: Path) -> None:
    """S0-90, C-35: never dropped in silence."""
    hooks = "".join("    - {command: 'true'}\n" for _ in range(4))
    config = write(tmp_path / "hooks.yaml", f"hooks:\n  maxHooksPerPoint: 3\n  PreToolUse:\n{hooks}")

    with pytest.raises(TooManyHooks, match="PreToolUse has 3 hooks already"):
        Hooks.load(config)

    config.write_text(config.read_text().replace("maxHooksPerPoint: 3", "maxHooksPerPoint: 4"))
    hooks_of_it = Hooks.load(config)
    assert len(list(hooks_of_it)) == 4
    with pytest.raises(TooManyHooks):
        hooks_of_it.register("PreToolUse", lambda event: None)


# ----------------------------------------------------------------------------------------------------------------
# How things are written


def test_a_group_gives_its_matcher_and_timeout_to_its_members_and_commands_come_last(tmp_path: Path) -> None:
    """S3-16, S1-17"""
    config = write(
        tmp_path / "hooks.yaml",
        """\
hooks:
  PreToolUse:
    - matcher: Write|Edit
      timeout: 4
      commands:
        - "true"
        - {command: "exit 0", name: second, timeout: 2}
      hooks:
        - {command: "exit 0", name: first}
        - {handler: json.dumps, name: lazy, enabled: false}
""",
    )
    hooks = Hooks.load(config)

    assert ran(fire(hooks, tool_name="Edit")) == ["first", "true", "second"]
    assert ran(fire(hooks, tool_name="Read")) == []
    assert {hook.label: hook.timeout for hook in hooks} == {"first": 4.0, "lazy": 4.0, "true": 4.0, "second": 2.0}


def test_a_hook_without_a_matcher_is_for_every_tool(tmp_path: Path) -> None:
    """S1-18 S1-21 S4-33"""
    config = write(
        tmp_path / "hooks.yaml",
        'hooks:\n  PreToolUse:\n    - {name: without, command: "true"}\n    - {name: star, matcher: "*", command: "true"}\n',
    )

    assert ran(fire(Hooks.load(config), tool_name="mcp__x__y")) == ["without", "star"]


@pytest.mark.parametrize(
    ("tool", "expected"),
    [("Write", ["exact", "glob"]), ("Edit", ["exact"]), ("WriteFile", ["glob"]), ("MultiEdit", []), ("write", [])],
)
def test_matchers_of_a_file(tmp_path: Path, tool: str, expected: list[str]) -> None:
    """S1-17 S1-19 S1-20 S4-34 S4-35"""
    config = write(
        tmp_path / "hooks.yaml",
        'hooks:\n  PreToolUse:\n    - {name: exact, matcher: "Write|Edit", command: "true"}\n'
        '    - {name: glob, matcher: "[VW]ri?e*", command: "true"}\n',
    )

    assert ran(fire(Hooks.load(config), tool_name=tool)) == expected


CAMEL = """\
hooks:
  errorBehavior: abort
  defaultTimeout: 3s
  totalTimeout: 9s
  maxHooksPerPoint: 7
  PreToolUse:
    - {name: one, onError: skip, passEnv: [A], inheritEnv: false, command: "true"}
"""


def facts(hooks: Hooks) -> object:
    return hooks.settings, [
        (hook.event, hook.label, hook.on_error, hook.timeout, hook.binding.target.passed) for hook in hooks
    ]


def test_snake_case_means_the_same_as_camel_case(tmp_path: Path) -> None:
    snake = CAMEL
    for camel, plain in {
        "errorBehavior": "error_behavior", "defaultTimeout": "default_timeout", "totalTimeout": "total_timeout",
        "maxHooksPerPoint": "max_hooks_per_point", "onError": "on_error", "passEnv": "pass_env", "inheritEnv": "inherit_env",
    }.items():  # fmt: skip
        snake = snake.replace(camel, plain)

    one, other = Hooks.load(write(tmp_path / "a.yaml", CAMEL)), Hooks.load(write(tmp_path / "b.yaml", snake))

    assert snake != CAMEL
    assert facts(one) == facts(other)
    assert one.settings.error_behavior == "abort"


def test_json_means_the_same_as_yaml(tmp_path: Path) -> None:
    given = {
        "hooks": {
            "errorBehavior": "abort", "defaultTimeout": "3s", "totalTimeout": "9s", "maxHooksPerPoint": 7,
            "PreToolUse": [{"name": "one", "onError": "skip", "passEnv": ["A"], "inheritEnv": False, "command": "true"}],
        }
    }  # fmt: skip

    as_json = Hooks.load(write(tmp_path / "hooks.json", json.dumps(given, indent=2)))

    assert facts(as_json) == facts(Hooks.load(write(tmp_path / "hooks.yaml", CAMEL)))


def test_keys_of_others_are_left_alone_and_near_misses_are_warned_of(tmp_path: Path) -> None:
    config = write(tmp_path / "all.yaml", "model: m\nx-note: 1\nhook: {}\nhooks:\n  x-free: anything\n  Stop: []\n")

    hooks = Hooks.load(config)

    assert [str(problem) for problem in hooks.warnings] == [f"{config}:3:1: hook is not read (did you mean hooks?)"]


# ----------------------------------------------------------------------------------------------------------------
# Scripts


@pytest.fixture
def armament(tmp_path: Path) -> Callable[[str], Hooks]:
    """Return a function that loads the three lines of the seed, with a permission."""

    def load(shell_exec: str) -> Hooks:
        write(tmp_path / "hooks.arma", LINES_OF_S0)
        return Hooks.load(
            write(
                tmp_path / "armament.yaml", f"{OF_S0}scripts: [hooks.arma]\npermissions: {{shellExec: {shell_exec}}}\n"
            )
        )

    return load


def test_a_line_of_the_seed_logs_the_prompt_of_the_moment(
    armament: Callable[[str], Hooks], caplog: pytest.LogCaptureFixture
) -> None:
    """S0-81 S0-82 S0-83 S0-84"""
    hooks = armament("allow")
    caplog.set_level(logging.DEBUG, "interpose")

    for prompt in ("first question", "second; $agent `ls`"):
        assert fire(hooks, "pre:message", prompt=prompt).allowed

    said = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "interpose.script"]
    assert said == [("DEBUG", "Sending: first question"), ("DEBUG", "Sending: second; $agent `ls`")]


@pytest.mark.parametrize(("answer", "decision"), [("allow", "none"), ("ask", "ask"), ("deny", "deny")])
def test_a_line_of_the_seed_asks_for_a_permission_before_the_shell_alone(
    armament: Callable[[str], Hooks], answer: str, decision: str
) -> None:
    """S0-81 S0-85 S0-86"""
    hooks = armament(answer)

    outcome = fire(hooks, "pre:tool", tool="shell", args={"command": "ls"})

    assert outcome.decision == decision
    assert outcome.allowed is (answer == "allow")
    assert "shellExec" in (outcome.reason or "shellExec")
    assert ran(fire(hooks, "pre:tool", tool="read")) == []


def test_a_permission_that_no_file_names_is_denied(tmp_path: Path) -> None:
    """S0-86: what cannot be understood is no allow."""
    write(tmp_path / "hooks.arma", LINES_OF_S0)
    hooks = Hooks.load(write(tmp_path / "hooks.yaml", "scripts: [hooks.arma]\n"))

    assert fire(hooks, "pre:tool", tool="shell").denied


def test_a_line_of_the_seed_notifies_of_the_agent_by_name(armament: Callable[[str], Hooks]) -> None:
    """S0-87"""
    hooks = armament("allow")
    shown: list[str] = []
    told: list[str] = []
    hooks.register("Notification", lambda event: told.append(event.message))

    hooks.show = shown.append
    outcome = fire(hooks, "post:agent:complete", agent="explorer")

    assert (shown, told) == (["Agent explorer finished"], ["Agent explorer finished"])
    assert [result.status for result in outcome.results] == ["ok"]


def test_a_host_that_sets_show_after_loading_gets_what_scripts_say(armament: Callable[[str], Hooks]) -> None:
    """S0-87: it is a public attribute, and no argument of load()."""
    hooks = armament("allow")
    shown: list[str] = []
    hooks.show = shown.append

    fire(hooks, "post:agent:complete", agent="explorer")

    assert shown == ["Agent explorer finished"]


def test_lines_of_scripts_have_priority_50_and_know_their_place(tmp_path: Path) -> None:
    """S0-67 S0-81: user scripts run after security and before the rest."""
    script = write(tmp_path / "hooks.arma", "# mine\nhook pre:tool /context script\n")
    config = write(
        tmp_path / "hooks.yaml",
        """\
hooks:
  pre:tool:
    - {name: default, command: "true"}
    - {name: security, command: "true", priority: 10}
    - {name: inside, type: script, handler: /context inside}
scripts: [hooks.arma]
""",
    )
    hooks = Hooks.load(config)

    assert [(hook.priority, hook.source) for hook in hooks if hook.type == "script"] == [
        (50, f"{config}:5"),
        (50, f"{script}:2:1"),
    ]
    outcome = fire(hooks, "pre:tool", tool="Bash")
    assert ran(outcome)[0] == "security"
    assert ran(outcome)[-1] == "default"
    assert outcome.context == ["inside", "script"]


def test_a_host_adds_commands_for_scripts(tmp_path: Path) -> None:
    from interpose.scripts import Commands

    commands = Commands()
    commands.add("/stop", lambda arguments, event: {"decision": "deny", "reason": arguments[0]}, fewest=1, most=1)
    write(tmp_path / "hooks.arma", 'hook pre:tool /stop "no $tool"\n')
    config = write(tmp_path / "hooks.yaml", "scripts: [hooks.arma]\n")

    assert fire(Hooks.load(config, commands=commands), "pre:tool", tool="shell").reason == "no shell"
    with pytest.raises(ConfigError, match=r"hooks\.arma:1:15: /stop is not a command"):
        Hooks.load(config)


def test_a_bad_line_of_a_script_keeps_everything_from_being_armed(tmp_path: Path) -> None:
    """Contract 7: with its own file, line and column."""
    script = write(
        tmp_path / "hooks.arma", "hook pre:tool /context fine\nhook pre:tool /deyn no\nhook pre:toll /deny no\n"
    )
    config = write(tmp_path / "hooks.yaml", "hooks: {Stop: [{}]}\nscripts: [hooks.arma]\n")

    with pytest.raises(ConfigError) as refused:
        Hooks.load(config)

    assert [problem.where for problem in refused.value.problems] == [
        f"{config}:1:16",
        f"{script}:2:15",
        f"{script}:3:6",
    ]


def test_a_script_that_is_not_there_is_named_as_what_is_not_there(tmp_path: Path) -> None:
    config = write(tmp_path / "hooks.yaml", "hooks: {}\nscripts: [none.arma]\n")

    with pytest.raises(ConfigError) as refused:
        Hooks.load(config)

    assert str(refused.value) == f"{tmp_path / 'none.arma'}:1:1: there is no such file (check the path)"


# ----------------------------------------------------------------------------------------------------------------
# Layers


class Layers:
    """A person with a file of their own, and a project with two."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.user_file = folder / "home" / ".config" / "interpose" / "hooks.yaml"
        self.project_file = self.project / ".interpose" / "hooks.yaml"
        self.local_file = self.project / ".interpose" / "hooks.local.yaml"

    def load(self, *, user: str = "", project: str = "", local: str = "") -> Hooks:
        for path, text in ((self.user_file, user), (self.project_file, project), (self.local_file, local)):
            write(path, text)
        return Hooks.discover(self.project)


@pytest.fixture
def layers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layers:
    monkeypatch.setenv("INTERPOSE_TRUST", "all")
    return Layers(tmp_path)


def hook(name: str, command: str = "true", **more: Any) -> str:
    return json.dumps({"hooks": {"PreToolUse": [{"name": name, "command": command, **more}]}})


DENIES = "echo no >&2; exit 2"


def test_the_files_of_all_layers_hold_together_in_their_order(layers: Layers) -> None:
    hooks = layers.load(user=hook("u"), project=hook("p"), local=hook("l"))

    assert [(hook.name, hook.layer) for hook in hooks] == [("u", "user"), ("p", "project"), ("l", "local")]
    assert ran(fire(hooks, tool_name="Bash")) == ["u", "p", "l"]


def test_files_are_found_from_anywhere_inside_the_project(layers: Layers) -> None:
    layers.load(project=hook("p"))
    (layers.project / "src" / "deep" / ".interpose").mkdir(parents=True)  # empty: it hides nothing

    assert [hook.name for hook in Hooks.discover(layers.project / "src" / "deep")] == ["p"]


def test_a_lower_layer_cannot_replace_or_disable_a_hook_above_it(layers: Layers) -> None:
    """Fault 199: a name is unique within its layer, so both are there, and the higher one runs."""
    hooks = layers.load(
        user=hook("guard", DENIES), project=hook("guard", enabled=False), local=hook("guard", enforce=False)
    )

    assert fire(hooks, tool_name="Bash").denied
    with pytest.raises(LookupError, match="may not touch"):
        layers.load(user=hook("guard")).disable("guard", layer="project")


def test_a_project_that_overrides_for_an_agent_leaves_the_persons_hooks_alone(layers: Layers) -> None:
    """Contract 3.1, fault 199"""
    override = {"id": "a", "backend": {"hooks": {"PreToolUse": {"override": True, "hooks": []}}}}
    hooks = layers.load(
        user=hook("u"), project=json.dumps({**json.loads(hook("p")), "agents": [override]}), local=hook("l")
    )

    assert ran(fire(hooks, tool_name="Bash", agent_id="a")) == ["u"]
    assert ran(fire(hooks, tool_name="Bash", agent_id="b")) == ["u", "p", "l"]


def test_a_project_that_speaks_of_an_agent_leaves_the_persons_override_for_it_alone(layers: Layers) -> None:
    """Contract 3.1: what the person dropped does not come back because a lower file names the same agent."""
    override = {"id": "a", "backend": {"hooks": {"PreToolUse": {"override": True, "hooks": []}}}}
    own = {"id": "a", "backend": {"hooks": {"PostToolUse": [{"command": "true"}]}}}
    hooks = layers.load(user=json.dumps({"agents": [override]}),
                        project=json.dumps({**json.loads(hook("p")), "agents": [own]}))  # fmt: skip

    assert ran(fire(hooks, tool_name="Bash", agent_id="a")) == []
    assert ran(fire(hooks, "PostToolUse", tool_name="Bash", agent_id="a")) == ["true"]


def test_what_the_person_dropped_for_an_agent_does_not_come_back_because_a_project_drops_its_own(
    layers: Layers,
) -> None:
    """Contract 3.1"""
    agents = [{"id": "a", "backend": {"hooks": {"PreToolUse": {"override": True, "hooks": []}}}}]
    user, project = (json.dumps({**json.loads(hook(name)), "agents": agents}) for name in ("u", "p"))

    hooks = layers.load(user=user, project=project)

    assert ran(fire(hooks, tool_name="Bash", agent_id="a")) == []
    assert ran(fire(hooks, tool_name="Bash", agent_id="b")) == ["u", "p"]


@pytest.mark.parametrize(
    ("user", "project", "decision"),
    [("deny", "allow", "deny"), ("ask", "allow", "ask"), ("allow", "deny", "deny"), ("allow", "allow", "none")],
)
def test_of_two_permissions_the_stricter_holds(layers: Layers, user: str, project: str, decision: str) -> None:
    script = "{hooks: {pre:tool: [{type: script, handler: /perms check shellExec}]}, permissions: {shellExec: %s}}"
    hooks = layers.load(user=script % user, project="permissions: {shellExec: %s}" % project)  # noqa: UP031 - braces

    assert fire(hooks, "pre:tool", tool="shell").decision == decision


def test_a_project_that_is_only_tried_out_switches_off_nothing_but_itself(layers: Layers) -> None:
    project = json.loads(hook("p", DENIES))
    project["hooks"]["enforce"] = False

    tried = layers.load(user=hook("u"), project=json.dumps(project))
    held = layers.load(user=hook("u", DENIES), project=json.dumps(project))

    outcome = fire(tried, tool_name="Bash")
    assert (outcome.allowed, [result.enforced for result in outcome.results]) == (True, [True, False])
    assert fire(held, tool_name="Bash").denied


def test_what_a_higher_file_sets_holds(layers: Layers) -> None:
    """S0-88"""
    hooks = layers.load(
        user="hooks: {errorBehavior: abort, timeout: 8000}",
        project="hooks: {errorBehavior: skip, timeout: 200, maxHooksPerPoint: 9}",
    )

    assert hooks.settings.error_behavior == "abort"
    assert hooks.settings.timeout_ceiling == 8.0
    assert hooks.settings.max_hooks_per_point == 9


@pytest.mark.parametrize("setting", ["timeout: 200", "defaultTimeout: 200ms", "totalTimeout: 200ms"])
def test_a_project_cannot_cut_the_time_of_a_persons_guard(layers: Layers, setting: str) -> None:
    """A guard that runs out of time lets the action through: shortening it from below would loosen it."""
    hooks = layers.load(user=hook("u", f"sleep 0.5; {DENIES}"), project=f"hooks: {{{setting}}}")

    assert fire(hooks, tool_name="Bash").denied
    assert ("totalTimeout" in setting) is any("totalTimeout has no effect" in str(said) for said in hooks.warnings)


@pytest.mark.parametrize("setting", ["timeout: 200", "defaultTimeout: 200ms"])
def test_a_projects_time_holds_for_its_own_hooks(layers: Layers, setting: str) -> None:
    """S0-89"""
    slow = '{hooks: {%s, PreToolUse: [{name: p, command: "sleep 30"}]}}' % setting  # noqa: UP031 - braces
    outcome = fire(layers.load(user=hook("u"), project=slow), tool_name="Bash")

    assert [(result.hook, result.status) for result in outcome.results] == [("u", "ok"), ("p", "timeout")]


def test_a_persons_time_holds_for_a_projects_hooks_whatever_the_project_says(layers: Layers) -> None:
    hooks = layers.load(
        user='{hooks: {timeout: 8000, PreToolUse: [{name: u, command: "true"}]}}',
        project='{hooks: {timeout: 200, PreToolUse: [{name: p, command: "true"}]}}',
    )

    assert {hook.name: deadline(hook, hooks.settings) for hook in hooks} == {"u": 8.0, "p": 8.0}


def test_a_hook_in_code_stands_above_every_file(layers: Layers) -> None:
    hooks = layers.load(user=hook("u"), local=hook("l"))
    hooks.register("PreToolUse", lambda event: None, name="code", locked=True)

    for layer in ("user", "project", "local"):
        with pytest.raises(LookupError):
            hooks.unregister("code", layer=layer)
    hooks.disable("u")

    assert ran(fire(hooks, tool_name="Bash")) == ["l", "code"]


def test_named_files_hold_together_and_all_their_problems_come_at_once(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.yaml", "hooks: {Stpo: []}\n"), write(tmp_path / "b.yaml", "hooks:\n  Stop: 5\n")

    with pytest.raises(ConfigError) as refused:
        Hooks.load(one, two)
    assert [problem.where for problem in refused.value.problems] == [f"{one}:1:9", f"{two}:2:3"]

    one.write_text(hook("a"))
    two.write_text(hook("b"))
    assert [hook.name for hook in Hooks.load(one, two)] == ["a", "b"]


def test_a_mistake_in_the_settings_of_code_is_not_the_files(tmp_path: Path) -> None:
    with pytest.raises(BadHook, match="errorBehavior: 'never' is not a choice"):
        Hooks.load(write(tmp_path / "hooks.yaml", OF_S0), error_behavior="never")  # type: ignore[arg-type]
