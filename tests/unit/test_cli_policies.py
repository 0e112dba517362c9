"""`interpose policies`: which are on, what they stopped, and what each of them is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks
from interpose.cli import main
from interpose.cli.run.timeline import print_timeline
from interpose.policies import POLICIES, find_policy
from interpose.policies.parameters import written

RECOMMENDED = [name for name in POLICIES if find_policy(name).recommended is not None]
WIPE = {"command": "wipefs -a /dev/sda"}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    said = capsys.readouterr()
    return status, said.out, said.err


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, Any]]:
    status, out, _ = run(capsys, "policies", "--json", *words)
    assert status == 0
    return {policy["name"]: policy for policy in json.loads(out)["policies"]}


def configuration(project: Path, text: str) -> str:
    (project / "hooks.yaml").write_text(text)
    return "hooks.yaml"


def test_without_a_configuration_all_are_listed_and_off(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "policies")

    assert status == 0
    assert [name for name in POLICIES if f"  {name} " not in out] == []
    assert f"0 of {len(POLICIES)} are on" in out
    assert "`policies: recommended` in a configuration" in err


def test_the_states_of_policies(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = configuration(
        project, "policies:\n  - recommended: observe\n  - disks-and-devices: {enforce: true, locked: true}\n"
    )

    found = listed(capsys, "-c", file)

    assert {name: policy["state"] for name, policy in found.items()} == {
        **dict.fromkeys(POLICIES, "off"), **dict.fromkeys(RECOMMENDED, "observed"), "disks-and-devices": "on",
    }  # fmt: skip
    assert "on, locked" in run(capsys, "policies", "-c", file)[1]


def test_what_was_stopped_is_counted_also_where_it_was_only_observed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "audit: {{path: audit.db}}\npolicies:\n  - disks-and-devices{}\n"
    file = "hooks.yaml"
    for word in ("", ": observe", ": {format: ask}"):
        hooks = Hooks.load(configuration(project, text.format(word)))
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input=WIPE)
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
        hooks.close()

    found = listed(capsys, "-c", file)["disks-and-devices"]
    assert found["stopped"] == {"denied": 2, "asked": 1, "observed": 1}
    assert "2 (1)" in run(capsys, "policies", "-c", file)[1]


def test_recorded_calls_are_judged_with_policies_that_are_off(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = configuration(project, "audit: {path: audit.db}\n")
    hooks = Hooks.load(file)
    hooks.register("PreToolUse", lambda event: None, name="nothing")
    for command in (WIPE, WIPE, {"command": "ls"}):
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input=command)
    hooks.close()

    found = listed(capsys, "--try", "-c", file)

    assert found["disks-and-devices"]["would_stop"] == {"denied": 2, "asked": 0, "observed": 0}
    assert "tried on 3 recorded calls" in run(capsys, "policies", "--try", "-c", file)[1]


def test_nothing_can_be_tried_without_a_record(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "policies", "--try")

    assert (status, out) == (1, "")
    assert "nothing is recorded" in err


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_shown_in_80_columns(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "policies", "show", name)

    policy = find_policy(name)
    assert status == 0
    assert " ".join(policy.prevents.split()) in " ".join(out.split())
    assert [one.name for one in policy.parameters if one.name not in out] == []
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert f"    - {name}\n" in out


@pytest.mark.parametrize("name", POLICIES)
def test_what_is_shown_as_yaml_can_be_used(name: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = json.loads(run(capsys, "policies", "show", name, "--json")[1])

    assert {one["name"] for one in shown["parameters"]} == {one.name for one in find_policy(name).parameters}
    assert {"deny", "ask", "change", "pass"} >= {one["result"] for one in shown["examples"]}
    for line in shown["yaml"].splitlines()[1:]:
        hooks = Hooks.load(configuration(project, f"policies:\n{line.replace('# ', '', 1)}\n"))
        assert {hook.label for hook in hooks} == {name}


def test_the_recommended_set_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "policies", "show", "recommended")

    assert status == 0
    assert [name for name in RECOMMENDED if f"  {name}" not in out] == []
    assert [line for line in out.splitlines() if len(line) > 80] == []
    shown = json.loads(run(capsys, "policies", "show", "recommended", "--json")[1])
    assert [policy["name"] for policy in shown["policies"]] == RECOMMENDED


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "disk-and-devices"], "there is no policy disk-and-devices (did you mean disks-and-devices?)"),
        (["show", "disks_and_devices"], "there is no policy disks_and_devices (did you mean disks-and-devices?)"),
        (["show", "recomended"], "there is no policy recomended (did you mean recommended?)"),
        (["show", "xyzzy"], "there is no policy xyzzy (`interpose policies` lists them)"),
        (["--json", "show", "recommended"], "--json stands before show (write it after that)"),
        (["--try", "show", "recommended"], "--try stands before show (write it after that)"),
    ],
)
def test_what_is_misspelt_gets_a_hint(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "policies", *words)

    assert status == 1
    assert said in err


def test_a_policy_is_shown_although_the_configuration_is_wrong(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "policies", "show", POLICIES[0], "-c", configuration(project, "policies: [x]\n"))

    assert status == 0
    assert POLICIES[0] in out
    assert "there is no policy x" in err


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"), (True, "true"), (5, "5"), ("deny", "deny"), ("release/*", '"release/*"'), ("", '""'),
        (("main", "a b"), "[main, a b]"), ({"a": ["b"]}, "{a: [b]}"), ("say: \"x\"", '"say: \\"x\\""'), ("-x", '"-x"'),
        ("true", '"true"'), ("5", '"5"'), ("off", "off"), ("null", '"null"'),
    ],
)  # fmt: skip
def test_a_value_is_written_as_yaml_would_read_it(value: Any, text: str) -> None:
    from interpose.config.text import parse

    assert written(value) == text
    read = parse(f"a: {text}\n".encode(), "x", format="yaml").value["a"]
    assert read == (list(value) if isinstance(value, tuple) else value)


# What explain says of policies.


def test_a_line_is_explained_with_its_effects_and_what_policies_say(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = configuration(project, "policies:\n  - disks-and-devices: {hint: Ask Ana.}\n")

    _, out, _ = run(capsys, "explain", "-c", file, "--line", "ls && wipefs -a /dev/sda")

    assert "  effect   wipefs -a /dev/sda: erases /dev/sda\n" in out
    assert out.endswith("deny disks-and-devices\n    `wipefs -a /dev/sda` erases /dev/sda. Ask Ana.\n")


def test_policies_that_are_not_switched_on_are_marked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, without, _ = run(capsys, "explain", "--line", "wipefs -a /dev/sda")
    file = configuration(project, "hooks: {}\n")
    _, plain, _ = run(capsys, "explain", "-c", file, "--line", "wipefs -a /dev/sda")
    _, asked, _ = run(capsys, "explain", "-c", file, "--policies", "--line", "wipefs -a /dev/sda")

    assert "deny disks-and-devices, not switched on\n" in without
    assert "disks-and-devices" not in plain
    assert "deny disks-and-devices, not switched on\n" in asked


def test_what_policies_say_is_in_the_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = configuration(project, "policies:\n  - disks-and-devices: observe\n")

    said = json.loads(run(capsys, "explain", "-c", file, "--line", "wipefs -a /dev/sda", "--json")[1])

    assert {"kind": "format-disk", "target": "/dev/sda", "command": "wipefs -a /dev/sda", "grade": "certain"} in (
        said["effects"]
    )
    assert said["policies"] == [{
        "policy": "disks-and-devices", "name": "disks-and-devices", "state": "observed", "decision": "deny",
        "reason": "`wipefs -a /dev/sda` erases /dev/sda",
    }]  # fmt: skip


def test_an_event_is_explained_with_the_answer_of_a_policy(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = configuration(project, "policies: [disks-and-devices]\n")
    words = ["explain", "PreToolUse", "-c", file, "--tool", "Bash", "--tool-input"]

    _, denied, _ = run(capsys, *words, json.dumps(WIPE))
    _, free, _ = run(capsys, *words, '{"command": "ls"}')

    assert "answers  deny: disks-and-devices: `wipefs -a /dev/sda` erases /dev/sda" in denied
    assert "answers  nothing: it does not object" in free


def test_policies_are_only_explained_for_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "explain", "PreToolUse", "--policies")

    assert status == 1
    assert "--policies is about a command line" in err


# Reports stay short although many policies run.


def test_hooks_that_said_nothing_are_counted_in_a_report(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    uses = "".join(f"  - disks-and-devices: {{name: n{number}}}\n" for number in range(20))
    file = configuration(project, f"policies:\n{uses}")
    words = ["fire", "PreToolUse", "-c", file, "--tool", "Bash", "--tool-input"]

    _, free, _ = run(capsys, *words, '{"command": "ls"}')
    _, denied, _ = run(capsys, *words, json.dumps(WIPE))

    assert [line.partition(" in ")[0] for line in free.splitlines()] == [
        "GO ON  PreToolUse Bash", "  20 more: no objection",
    ]  # fmt: skip
    assert denied.splitlines()[2].startswith("  n0  ok       deny")
    assert denied.splitlines()[3:] == ["  19 more: not reached"]


def test_of_many_hooks_a_timeline_names_those_that_said_something(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = [{"hook": f"n{number}", "status": "ok", "decision": "none", "round": 1} for number in range(20)]
    hooks[7] |= {"decision": "deny"}
    hooks[9] |= {"changed": True}

    print_timeline([{"event": "PreToolUse", "subject": "Bash", "hooks": hooks, "decision": "deny", "ms": 1.0}])

    assert "n7 (deny), n9, 18 more" in capsys.readouterr().out


@pytest.mark.usefixtures("person")
def test_a_review_lists_policies_with_what_is_different_about_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".interpose").mkdir()
    entries = [
        "disks-and-devices", "disks-and-devices: {name: own, write: ask}", "disks-and-devices: {name: seen, enforce: false}",
        "disks-and-devices: {name: of-ana, scope: ana, onMatch: ask, allow: Bash(ls *)}",
    ]  # fmt: skip
    text = "policies:\n" + "".join(f"  - {entry}\n" for entry in entries)
    (project / ".interpose" / "hooks.yaml").write_text(text)

    _, out, _ = run(capsys, "trust", "--yes")

    assert out.splitlines()[1:-1] == [
        "  it arms 4 policies:",
        "    policies disks-and-devices",
        "    policy own: disks-and-devices with write: ask  line 3",
        "    policy seen: disks-and-devices (not enforced)  line 4",
        '    policy of-ana: disks-and-devices with onMatch: ask; allow: "Bash(ls *)" for agent ana  line 5',
    ]


def test_policies_need_no_cases_of_the_person(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = configuration(project, "policies: recommended\n")
    (project / "own.cases.yaml").write_text(
        "- name: wiping\n  given: {event: PreToolUse, tool_name: Bash, tool_input: {command: wipefs -a /dev/sda}}\n"
        "  expect: {decision: deny}\n"
    )

    status, out, _ = run(capsys, "test", "-c", file, "own.cases.yaml", "--json")

    assert status == 0
    assert json.loads(out)["coverage"]["never"] == []


@pytest.mark.usefixtures("person")
def test_a_person_switches_a_policy_off_and_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".interpose").mkdir()
    (project / ".interpose" / "hooks.yaml").write_text("policies: recommended\n")
    run(capsys, "trust", "--yes")

    assert run(capsys, "disable", "disks-and-devices")[0] == 0
    assert listed(capsys)["disks-and-devices"]["state"] == "off"
    assert run(capsys, "enable", "disks-and-devices")[0] == 0
    assert listed(capsys)["disks-and-devices"]["state"] == "on"


def test_parameters_are_shown_as_they_are_written() -> None:
    hooks = Hooks()
    [hosts] = hooks.use("hosts", hosts=["*.example.com"], unreadable="allow")
    [branches] = hooks.use("protected-branches", branches=["main", "master"], push="deny")
    assert str(hosts.handler) == 'the policy hosts with hosts: ["*.example.com"]; unreadable: allow'
    assert repr(branches.handler) == "<the policy protected-branches with push: deny>"


def test_a_check_counts_policies_apart_from_hooks(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / "counted.yaml"
    file.write_text("policies: [secrets, hosts]\nhooks: {Stop: [{command: 'true'}]}\n")
    assert main(["check", str(file), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["hooks"], report["policies"]) == (1, 2)
