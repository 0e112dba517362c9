"""Why a hook would run or not, without running it."""

import json

import pytest

from interpose import BadEvent, Hooks
from interpose.cli import main
from interpose.cli.engine import explain
from interpose.events import TABLE


def must_not_run(event):
    raise AssertionError("explaining runs nothing")


def facts(hooks, event="PreToolUse", **fields):
    return {fact.hook: fact for fact in explain(hooks, TABLE[event], fields).hooks}


def failing(fact):
    return [predicate.name for predicate in fact.predicates if not predicate.holds]


def test_each_predicate_is_judged_for_itself():
    hooks = Hooks()
    declared: dict[str, dict] = {
        "runs": {"matcher": "Bash", "if_": "Bash(git push *)"},
        "off": {"enabled": False, "matcher": "Write"},
        "other": {"matcher": "Write"},
        "condition": {"if_": "Bash(rm *)"},
        "scoped": {"scope": "reviewer"},
    }
    for name, options in declared.items():
        hooks.register("PreToolUse", must_not_run, name=name, **options)

    found = facts(hooks, tool_name="Bash", tool_input={"command": "git push"}, agent_id="main")

    assert {name: failing(fact) for name, fact in found.items()} == {
        "runs": [], "off": ["enabled", "matcher"], "other": ["matcher"], "condition": ["if"], "scoped": ["scope"],
    }  # fmt: skip
    assert [name for name, fact in found.items() if fact.would_run] == ["runs"]


def test_the_order_is_that_of_a_firing_and_neighbours_side_by_side_share_a_place():
    hooks = Hooks()
    hooks.register("PreToolUse", must_not_run, name="last")
    hooks.register("PreToolUse", must_not_run, name="a", priority=5, parallel=True)
    hooks.register("PreToolUse", must_not_run, name="b", priority=5, parallel=True)
    hooks.register("PreToolUse", must_not_run, name="first", priority=1)

    found = facts(hooks, tool_name="Bash")

    assert [(name, fact.order) for name, fact in found.items()] == [("first", 1), ("a", 2), ("b", 2), ("last", 3)]


def test_what_explain_says_is_what_a_firing_does():
    hooks = Hooks.from_mapping({
        "hooks": {"PreToolUse": [{"name": "shared", "handler": lambda event: None},
                                 {"name": "locked", "locked": True, "handler": lambda event: None}]},
        "agents": [{"id": "a", "backend": {"hooks": {"PreToolUse": {
            "override": True, "hooks": [{"name": "own", "handler": lambda event: None}]}}}}],
    })  # fmt: skip

    for agent in ({}, {"agent_id": "a"}, {"agent_id": "b"}):
        said = [name for name, fact in facts(hooks, tool_name="Bash", **agent).items() if fact.would_run]

        assert said == [result.hook for result in hooks.fire_sync("PreToolUse", tool_name="Bash", **agent).results]


@pytest.mark.parametrize(
    ("settings", "options", "deadline", "because"),
    [
        ({}, {}, 30, "the default"),
        ({"default_timeout": 3}, {}, 3, "defaultTimeout"),
        ({"default_timeout": 3}, {"timeout": 7}, 7, "its own or its group's timeout"),
        ({"timeout_ceiling": 2}, {"timeout": 7}, 2, "the ceiling hooks.timeout"),
    ],
)
def test_a_deadline_says_where_it_is_from(settings, options, deadline, because):
    hooks = Hooks(**settings)
    hooks.register("Stop", must_not_run, name="h", **options)

    found = facts(hooks, "Stop")["h"]

    assert (found.deadline, found.deadline_from) == (deadline, because)


def test_the_total_is_that_of_the_firing():
    hooks = Hooks()
    hooks.register("Stop", must_not_run, timeout=500)

    assert explain(hooks, TABLE["Stop"], {}).total_deadline == 500


def test_an_if_that_cannot_be_judged_counts_as_true_as_in_a_firing():
    hooks = Hooks()
    hooks.register("PreToolUse", must_not_run, name="h", if_="Bash(rm *)")

    assert facts(hooks, tool_name="Bash", tool_input="not an object")["h"].would_run


def test_a_once_that_is_used_up_does_not_hold():
    hooks = Hooks()
    hooks.register("Stop", lambda event: None, name="h", once=True)
    hooks.fire_sync("Stop")

    assert failing(facts(hooks, "Stop")["h"]) == ["once"]


def test_a_subject_that_is_not_text_is_refused_as_in_a_firing():
    with pytest.raises(BadEvent, match="tool_name is int, not text"):
        facts(Hooks(), tool_name=3)


def test_json_has_all_of_it():
    hooks = Hooks()
    hooks.register("Stop", must_not_run, name="h", on_error="abort", source="hooks.yaml:3")

    said = explain(hooks, TABLE["Stop"], {}).to_dict()

    assert said["hooks"][0]["source"] == "hooks.yaml:3"
    assert said["hooks"][0]["guard"] is True
    assert said["hooks"][0]["predicates"][0] == {"name": "enabled", "holds": True, "text": "switched on"}


def test_a_rule_that_has_nothing_to_be_judged_by_is_said_to_count_as_true():
    hooks = Hooks()
    hooks.register("PreToolUse", must_not_run, name="push", if_="Bash(git push *)")
    hooks.register("PreToolUse", must_not_run, name="any", if_="Bash")

    found = facts(hooks, tool_name="Bash")

    assert [fact.predicates[-1].text for fact in found.values()] == [
        "Bash(git push *) cannot be judged without a tool_input, so it counts as true",
        "Bash holds for this input",
    ]


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("secret", "Read(./secret) holds for this input"),
        ("file:///project/secret", "Read(./secret) may hold for this input (match: possible)"),
        ("/dev/fd/3", "Read(./secret) cannot be judged from this input, so it counts as true (match: opaque)"),
        ("other", "Read(./secret) does not hold for this input"),
    ],
)
def test_a_rule_is_explained_with_its_grade(path: str, says: str) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", print, if_="Read(./secret)")

    [fact] = explain(
        hooks, TABLE["PreToolUse"], {"tool_name": "Read", "tool_input": {"file_path": path}, "cwd": "/project"}
    ).hooks

    assert [predicate.text for predicate in fact.predicates if predicate.name == "if"] == [says]


class TestLines:
    def explain(self, line: str, capsys: pytest.CaptureFixture[str], *options: str) -> str:
        assert main(["explain", "--line", line, *options]) == 0
        return capsys.readouterr().out

    def test_each_command_has_its_grade_and_how_it_was_reached(self, capsys):
        printed = self.explain("sudo sh -c 'git push'; unknownrunner rm x; eval \"$x\"", capsys)

        assert "  certain  git push\n             reached through sudo, then sh -c\n" in printed
        assert "  possible rm x\n             unknownrunner is not known, and may run one of these words\n" in printed
        assert "  opaque   eval runs a text that is computed\n" in printed

    def test_the_rules_of_the_configuration_are_graded(self, capsys, tmp_path):
        config = tmp_path / "hooks.yaml"
        config.write_text(
            "hooks:\n  PreToolUse:\n"
            "    - {name: a, if: 'Bash(git push *)', command: 'true'}\n"
            "    - {name: b, if: 'Bash(rm *)', command: 'true'}\n"
            "    - {name: c, if: 'Write(x)', command: 'true'}\n"
            "permissions: {'Bash(curl *)': deny}\n"
        )

        printed = self.explain("git push; curl x | sh", capsys, "-c", str(config))
        rules = [line.split("  ")[0] for line in printed.splitlines() if line.startswith("✓")]

        assert rules == ["✓ Bash(git push *): certain", "✓ Bash(rm *): opaque", "✓ Bash(curl *): certain"]
        assert printed.endswith("permissions: deny\n")
        found = json.loads(self.explain("ls", capsys, "-c", str(config), "--json"))
        assert [rule["grade"] for rule in found["rules"]] == [None, None, None]
        assert found["commands"] == [{"words": ["ls"], "grade": "certain", "via": [], "why": "", "redirections": []}]

    @pytest.mark.parametrize("line", ["\x1b[31mls\r\n", "foo \x9b31m 'a\u202eb'", "echo " + "x" * 300, "a 'b c' " * 30])
    def test_nothing_on_the_line_reaches_the_terminal_raw_and_the_lines_are_short(self, line, capsys):
        printed = self.explain(line, capsys)

        assert all(letter == "\n" or letter.isprintable() for letter in printed)
        assert max(map(len, printed.splitlines())) <= 80

    def test_an_event_and_a_line_are_one_too_many(self, capsys):
        assert main(["explain", "PreToolUse", "--line", "ls"]) == 1
        assert "leave out PreToolUse, or --line" in capsys.readouterr().err
