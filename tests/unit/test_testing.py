"""What authors of hooks use in their own tests, and files of cases."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from interpose import BadEvent, ConfigError, Hooks, Outcome, UnknownEvent, allow, ask, context, deny, modify
from interpose.testing import (
    Case,
    OutcomeCapture,
    assert_allowed,
    assert_asked,
    assert_changed,
    assert_context,
    assert_denied,
    assert_keeps_going,
    assert_no_opinion,
    event,
    fire,
    load_cases,
    report,
    run_case,
)
from interpose.testing.suites import case_files, junit, load_all, run_all


def no_rm(event: Any) -> Any:
    return deny("Destructive command") if "rm -rf" in event.tool_input["command"] else None


def breaks(event: Any) -> Any:
    raise ValueError("oh no")


def bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


def fired(answer: Any, name: str = "PreToolUse", **fields: Any) -> Outcome:
    return fire(lambda event: answer, name, **(fields or bash("ls")))


def complaint(assertion: Callable[..., None], *arguments: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        assertion(*arguments, **options)
    return str(caught.value)


class TestFire:
    def test_a_function_is_fired(self) -> None:
        assert fire(no_rm, "PreToolUse", **bash("rm -rf /")).denied
        assert not fire(no_rm, "PreToolUse", **bash("ls")).denied

    def test_an_async_function_is_fired_from_a_plain_test(self) -> None:
        async def hook(event: Any) -> Any:
            return deny("no")

        assert fire(hook, "PreToolUse", **bash("ls")).reason == "no"

    def test_a_hook_is_fired_with_its_own_matcher(self) -> None:
        hook = Hooks().register("PreToolUse", no_rm, matcher="Bash", name="guard")

        assert [result.hook for result in fire(hook, "pre:tool", **bash("ls")).results] == ["guard"]
        assert list(fire(hook, "PreToolUse", tool_name="Write").results) == []

    def test_a_hook_of_another_event_is_a_mistake(self) -> None:
        hook = Hooks().register("PreToolUse", no_rm)

        with pytest.raises(BadEvent, match="no_rm is a hook of PreToolUse, not of Stop"):
            fire(hook, "Stop")

    def test_a_script_is_fired_by_its_path(self, tmp_path: Path) -> None:
        script = tmp_path / "a guard.py"
        script.write_text("import sys\nprint('not today', file=sys.stderr)\nsys.exit(2)\n")

        outcome = fire(script, "PreToolUse", **bash("ls"))

        assert (outcome.decision, outcome.reason) == ("deny", "not today")

    def test_a_program_is_fired_with_its_words(self) -> None:
        assert_denied(fire("sh -c 'echo no >&2; exit 2'", "PreToolUse", **bash("ls")), reason="no")
        assert_denied(fire(["sh", "-c", "echo no >&2; exit 2"], "PreToolUse", **bash("ls")), reason="no")

    def test_all_hooks_of_an_engine_are_fired(self) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", no_rm, name="one")
        hooks.register("PreToolUse", no_rm, name="two")

        assert [result.hook for result in fire(hooks, "PreToolUse", **bash("ls")).results] == ["one", "two"]

    def test_an_event_can_be_fired_and_added_to(self) -> None:
        made = event("PreToolUse", tool="Bash", args={"command": "ls"})

        assert fire(no_rm, made).tool_input == {"command": "ls"}
        assert fire(no_rm, made, tool_input={"command": "rm -rf /"}).denied


class TestEvent:
    def test_an_event_is_what_a_hook_gets(self) -> None:
        made = event("PreToolUse", **bash("rm -rf /"))

        assert made.tool == made.tool_name == made["tool_name"] == "Bash"
        assert made.hook_event_name == "PreToolUse"
        assert made.cwd == str(Path.cwd())
        assert made.agent_id is None
        assert no_rm(made) == deny("Destructive command")

    def test_an_event_needs_a_name_that_can_be_fired(self) -> None:
        with pytest.raises(UnknownEvent, match="did you mean PreToolUse"):
            event("PreToolUes")
        with pytest.raises(UnknownEvent, match="make PreToolUse with tool_name='shell'"):
            event("pre:tool:shell")


class TestAsserts:
    def test_what_holds_is_said_in_silence(self) -> None:
        assert_denied(fired(deny("because of rm")), reason="of rm")
        assert_denied(fired(deny("because of rm")), reason="re:^because .* rm$")
        assert_asked(fired(ask("sure?")), reason="sure?")
        assert_allowed(fired(None), granted=False)
        assert_allowed(fired(allow("fine")), granted=True)
        assert_no_opinion(fired(None))
        assert_changed(fired(modify(tool_input={"command": "pwd"})), tool_input={"command": "pwd"})
        assert_changed(fired(modify(tool_input={"command": "pwd"})), args={"command": "pwd"})
        assert_changed(fired(modify(tool_input={"command": "pwd"})))
        assert_context(fired(context("Be brief.")), "brief", "re:^Be")
        assert_context(fired(context("Be brief.")))
        assert_keeps_going(fired({"decision": "block", "reason": "tests"}, "Stop", stop_hook_active=False), "tests")

    @pytest.mark.parametrize(
        ("assertion", "answer", "first_line"),
        [
            (assert_denied, None, "expected deny, got none"),
            (assert_denied, ask("sure?"), "expected deny, got ask (sure?)"),
            (assert_asked, deny("no"), "expected ask, got deny (no)"),
            (assert_allowed, deny("no"), "expected that the action may run, got deny (no)"),
            (assert_no_opinion, deny("no"), "expected none, got deny (no)"),
            (assert_keeps_going, None, "expected that the agent keeps going, got that it may stop"),
            (assert_changed, None, "expected that a hook changes a field, got no change"),
            (assert_context, None, "expected a context for the model, got none"),
        ],
    )
    def test_what_does_not_hold_is_said_in_one_line(self, assertion: Any, answer: Any, first_line: str) -> None:
        assert complaint(assertion, fired(answer)).splitlines()[0] == first_line

    def test_details_that_do_not_hold(self) -> None:
        changed = fired(modify(tool_input={"command": "pwd"}))

        assert "expected 'x'\n    got      'no'" in complaint(assert_denied, fired(deny("no")), reason="x")
        assert "expected {'command': 'ls'}\n    got      {'command': 'pwd'}" in complaint(
            assert_changed, changed, tool_input={"command": "ls"}
        )
        assert "expected 'b' in a context for the model, got ['a']" in complaint(
            assert_context, fired(context("a")), "b"
        )
        assert "expected that a hook grants it" in complaint(assert_allowed, fired(None), granted=True)
        assert "expected a change of tool_input, got none" in complaint(
            assert_changed, fired(None), tool_input={"command": "ls"}
        )

    def test_a_failure_says_what_every_hook_did(self) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "pwd"}), name="rewrites")
        hooks.register("PreToolUse", lambda event: deny("no"), name="denies")
        hooks.register("PreToolUse", lambda event: None, name="late")

        said = complaint(assert_allowed, fire(hooks, "PreToolUse", **bash("ls")))

        assert said.splitlines() == [
            "expected that the action may run, got deny (no)",
            "  event     PreToolUse: tool_name='Bash', tool_input={'command': 'pwd'}",
            "  decision  deny: no",
            "  hooks     rewrites  ok       none   tool_input := {'command': 'pwd'}",
            "            denies    ok       deny   no",
            "            late      skipped  none",
        ]

    def test_a_failure_says_that_no_hook_was_asked(self) -> None:
        assert "no hook ran" in complaint(assert_denied, fire(Hooks(), "PreToolUse", **bash("ls")))

    def test_a_guard_that_is_not_there_does_not_pass_for_one_that_denies(self, tmp_path: Path) -> None:
        outcome = fire(tmp_path / "gaurd.sh", "PreToolUse", **bash("rm -rf /"))

        assert outcome.denied
        assert complaint(assert_denied, outcome).startswith("gaurd.sh failed, and has not answered")
        assert_denied(outcome, despite_failures=True)

    def test_a_hook_that_breaks_does_not_pass_for_one_that_allows(self) -> None:
        outcome = fire(breaks, "PreToolUse", **bash("ls"))

        assert outcome.allowed
        assert "hook_crash: raised ValueError: oh no" in complaint(assert_allowed, outcome)
        assert_allowed(outcome, despite_failures=True)

    def test_a_report_tells_of_wishes_without_effect(self) -> None:
        told = report(fire(lambda event: deny("no"), "post:message", prompt="a", output="b"))

        assert "no effect" in told


class TestOutcomeCapture:
    def test_a_recorder_collects_outcomes_and_messages_as_long_as_its_block_runs(self) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", no_rm, name="guard")

        with OutcomeCapture(hooks) as seen:
            hooks.fire_sync("PreToolUse", **bash("rm -rf /"))
            hooks.fire_sync("Stop")
        hooks.fire_sync("PreToolUse", **bash("ls"))

        assert [outcome.event for outcome in seen.outcomes] == ["PreToolUse", "Stop"]
        assert [outcome.denied for outcome in seen.of("pre:tool")] == [True]
        assert [(told["subtype"], told["hook_name"]) for told in seen.messages] == [
            ("hook_started", "guard"),
            ("hook_response", "guard"),
        ]

    def test_the_hosts_own_recorder_goes_on(self) -> None:
        hooks = Hooks()
        kept: list[Outcome] = []
        hooks.record(kept.append)

        with OutcomeCapture(hooks) as seen:
            hooks.fire_sync("Stop")
        hooks.fire_sync("Stop")

        assert (len(kept), len(seen.outcomes)) == (2, 1)


GOOD = """
config: [hooks.yaml, ../other.json]
cases:
  - name: rm is denied
    given: {event: PreToolUse, tool_name: Bash, tool_input: {command: rm -rf /}}
    expect: {decision: deny}
  - given: {event: pre:tool, tool: Bash}
    expect: {keepGoing: false, context: brief}
    x-note: ours
"""


class TestLoadCases:
    def test_a_file_with_its_configuration(self, tmp_path: Path) -> None:
        file = tmp_path / "x.cases.yaml"
        file.write_text(GOOD)

        config = (str(tmp_path / "hooks.yaml"), str(tmp_path / "../other.json"))
        assert load_cases(file) == [
            Case(
                name="rm is denied",
                event="PreToolUse",
                fields=bash("rm -rf /"),
                expect={"decision": "deny"},
                source=f"{file}:4:5",
                config=config,
            ),
            Case(
                name="pre:tool in line 7",
                event="pre:tool",
                fields={"tool": "Bash"},
                expect={"keep_going": False, "context": ["brief"]},
                source=f"{file}:7:5",
                config=config,
            ),
        ]

    def test_a_file_that_is_a_list_in_json(self, tmp_path: Path) -> None:
        file = tmp_path / "cases.json"
        file.write_text(json.dumps([{"name": "x", "given": {"event": "Stop"}, "expect": {"allowed": True}}]))

        assert [(case.name, case.config) for case in load_cases(file)] == [("x", ())]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("- given: {event: Stop}", ["1:3: a case without expect: (say what should come of it: decision, allowed, reason, input, context, messages, keep_going, hooks)"]),
            ("- given: {event: Stop}\n  expect: {}", ["2:11: expect: says nothing (say what should come of it: decision, allowed, reason, input, context, messages, keep_going, hooks)"]),
            ("- expect: {decision: deny}", ["1:3: a case without given: (say which event is fired: {event: …, and its fields})"]),
            ("- given: {prompt: x}\n  expect: {decision: deny}", ["1:3: given: names no event (event: is the name of one; `interpose events` lists them)"]),
            ("- given: {event: Stp}\n  expect: {decision: deny}", ["1:18: Stp is not an event (did you mean Stop?)"]),
            ("- given: {event: pre:tool:sh}\n  expect: {decision: deny}", ["1:11: pre:tool:sh cannot be fired (say PreToolUse with tool_name: sh)"]),
            ("- given: {event: Stop}\n  expekt: {a: 1}\n  expect: {allowed: true}", ["2:3: expekt is not a key of a case (did you mean expect?)"]),
            ("- given: {event: Stop}\n  expect: {desicion: deny}", ["2:12: desicion is not a key of expect (did you mean decision?)"]),
            ("- given: {event: Stop}\n  expect: {decision: Deny}", ["2:22: decision: 'Deny' is not a decision (did you mean deny?)"]),
            ("- given: {event: Stop}\n  expect: {reason: 're:('}", ["2:20: reason: 're:(' is not a regular expression: missing ), unterminated subpattern at position 0"]),
            ("- given: {event: Stop}\n  expect: {hooks: {a: good}}", ["2:19: hooks: a: 'good' is not how a hook ends (one of ok, failed, timeout, skipped, absent)"]),
            ("- given: {event: PreToolUse, tool_nmae: Bash}\n  expect: {allowed: true}", ["1:30: tool_nmae is not a field of PreToolUse (did you mean tool_name?)"]),
            ("- given: {event: PreToolUse, tool_name: 5}\n  expect: {allowed: true}", ["1:41: tool_name is a number where text is expected (quote it)"]),
            ("- name: a\n  given: {event: Stop}\n  expect: {allowed: true}\n" * 2, ["4:3: there are two cases named 'a' (give each its own name)"]),
            ("cases: 5\nconfig: {}", ["1:1: a number where a list of cases is expected (each with given: and expect:)", "2:9: config: a mapping where a list of files is expected"]),
            ("[]", ["1:1: a list without cases (each has given: and expect:)"]),
            ("- 5", ["1:3: a number where a case is expected (a mapping with given: and expect:)"]),
        ],
    )  # fmt: skip
    def test_a_mistake_is_told_with_its_place(self, tmp_path: Path, text: str, said: list[str]) -> None:
        file = tmp_path / "cases.yaml"
        file.write_text(text)

        with pytest.raises(ConfigError) as caught:
            load_cases(file)

        assert [str(problem).removeprefix(f"{file}:") for problem in caught.value.problems] == said

    def test_a_file_of_another_kind(self, tmp_path: Path) -> None:
        (tmp_path / "cases.txt").touch()

        with pytest.raises(ConfigError, match="neither YAML nor JSON"):
            load_cases(tmp_path / "cases.txt")
        with pytest.raises(ConfigError, match="there is no such file"):
            load_cases(tmp_path / "cases.yaml")


def guarded() -> Hooks:
    hooks = Hooks()
    hooks.register("PreToolUse", no_rm, matcher="Bash", name="guard", on_error="abort")
    hooks.register(
        "PreToolUse", lambda event: modify(tool_input={"command": "pwd", "n": [1]}), matcher="Bash", name="pwd"
    )
    hooks.register("PreToolUse", breaks, matcher="Read", name="breaks")
    hooks.register("UserPromptSubmit", lambda event: context("Be brief."), name="rules")
    return hooks


def differences(expect: dict[str, Any], name: str = "PreToolUse", **fields: Any) -> list[tuple[str, Any, Any]]:
    result = run_case(guarded(), Case(name="x", event=name, fields=fields or bash("ls"), expect=expect))
    return [(found.what, found.expected, found.got) for found in result.differences]


class TestRunCase:
    @pytest.mark.parametrize(
        "expect",
        [
            {"decision": "none", "allowed": True, "reason": "", "context": [], "messages": [], "keep_going": False},
            {"input": {"tool_input": {"command": "pwd"}}},
            {"input": {"args": {"n": [1]}, "tool_name": "Bash"}},
            {"hooks": {"guard": "ok", "pwd": "ok", "rules": "absent"}},
        ],
    )
    def test_what_is_as_expected(self, expect: dict[str, Any]) -> None:
        assert differences(expect) == []

    @pytest.mark.parametrize(
        ("expect", "found"),
        [
            ({"decision": "deny"}, [("decision", "deny", "none")]),
            ({"allowed": False}, [("allowed", False, True)]),
            ({"reason": "x"}, [("reason", "x", "")]),
            ({"input": {"tool_input": {"command": "ls"}}}, [("input.tool_input.command", "ls", "pwd")]),
            ({"input": {"tool_input": {"gone": 1}}}, [("input.tool_input.gone", 1, None)]),
            ({"context": ["x", "y"]}, [("context", "x", []), ("context", "y", [])]),
            ({"keep_going": True}, [("keep_going", True, False)]),
            ({"hooks": {"guard": "skipped", "rules": "ok"}}, [("hooks.guard", "skipped", "ok"), ("hooks.rules", "ok", "absent")]),
        ],
    )  # fmt: skip
    def test_what_is_not(self, expect: dict[str, Any], found: list[Any]) -> None:
        assert differences(expect) == found

    def test_a_context_where_there_should_be_none(self) -> None:
        assert differences({"context": []}, "UserPromptSubmit", prompt="x") == [("context", [], ["Be brief."])]

    def test_a_hook_that_breaks_makes_its_case_fail_unless_that_is_expected(self) -> None:
        read = {"tool_name": "Read"}

        assert differences({"allowed": True}, **read) == [("hooks.breaks", "ok", "failed")]
        assert differences({"allowed": True, "hooks": {"breaks": "failed"}}, **read) == []

    def test_a_hook_of_a_wrong_name_is_told_with_the_nearest(self) -> None:
        case = Case(name="x", event="PreToolUse", fields=bash("ls"), expect={"hooks": {"gaurd": "ok"}})

        [found] = run_case(guarded(), case).differences

        assert found.hint == "no hook has that name; did you mean guard?"

    def test_an_event_that_cannot_be_fired_is_an_error_of_the_case(self) -> None:
        result = run_case(guarded(), Case(name="x", event="Stp", expect={"allowed": True}))

        assert not result.passed
        assert result.lines() == ["Stp is not an event (did you mean Stop?)"]

    def test_long_texts_are_compared_line_by_line(self) -> None:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: modify(tool_input={"text": "a\nb\n"}), name="w")
        case = Case(name="x", event="PreToolUse", fields=bash("ls"), expect={"input": {"args": {"text": "a\nc\n"}}})

        assert run_case(hooks, case).lines()[:4] == [
            "input.tool_input.text  - expected  + got",
            "    a",
            "  - c",
            "  + b",
        ]


class TestSuites:
    def cases(self) -> list[Case]:
        return [
            Case(name="good", event="PreToolUse", fields=bash("rm -rf /"), expect={"decision": "deny"}, source="a.yaml:1:3"),
            Case(name="bad\x1b[31m", event="PreToolUse", fields=bash("ls"), expect={"decision": "deny"}, source="a.yaml:5:3"),
            Case(name="worse", event="Stp", expect={"decision": "deny"}, source="b.yaml:1:3"),
        ]  # fmt: skip

    def test_a_hook_that_no_case_has_run_is_known(self) -> None:
        hooks = guarded()
        hooks.register("Stop", no_rm, name="off", enabled=False)

        suite = run_all(self.cases(), lambda case: hooks)

        assert (suite.failed, suite.percent) == (2, 50.0)
        assert [hook.label for hook in suite.never] == ["breaks", "rules"]
        assert suite.to_dict()["coverage"]["run"] == 2

    def test_results_as_junit(self) -> None:
        hooks = guarded()

        top = ET.fromstring(junit(run_all(self.cases(), lambda case: hooks)))

        assert [
            (suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")) for suite in top
        ] == [
            ("a.yaml", "2", "1", "0"),
            ("b.yaml", "1", "0", "1"),
        ]
        assert [(case.get("name"), [part.tag for part in case]) for case in top.iter("testcase")] == [
            ("good", []),
            ("bad", ["failure"]),
            ("worse", ["error"]),
        ]

    def test_files_are_found_where_people_put_them(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in (".interpose/cases.yaml", ".interpose/more-cases.json", ".interpose/hooks.yaml", "tests/a.cases.yml",
                     "node_modules/b.cases.yaml", "sub/deep/x.txt"):  # fmt: skip
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        monkeypatch.chdir(tmp_path)
        project = [".interpose/cases.yaml", ".interpose/more-cases.json"]

        assert case_files([], ".") == project
        assert case_files([], "sub/deep") == project
        assert case_files(["."], ".") == [*project, "./tests/a.cases.yml"]
        assert case_files(["any.yaml", "any.yaml"], ".") == ["any.yaml"]
        with pytest.raises(ConfigError, match="sub: no file of cases is in this directory"):
            case_files(["sub"], ".")

    def test_mistakes_of_all_files_are_told_at_once(self, tmp_path: Path) -> None:
        for name in ("a.yaml", "b.yaml"):
            (tmp_path / name).write_text("[]")

        with pytest.raises(ConfigError) as caught:
            load_all([str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml")])

        assert len(caught.value.problems) == 2


@pytest.mark.slow
class TestPlugin:
    """The installed plugin, in a session of its own."""

    def pytest(self, directory: Path, *arguments: str) -> str:
        # Plugins of others are not loaded, since that takes most of a second: but for ours, found as it is installed.
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p",
                 "no:hypothesispytest", "-p", "no:anyio", *arguments]  # fmt: skip
        return subprocess.run(words, check=False, cwd=directory, capture_output=True, text=True, timeout=60).stdout

    def project(self, directory: Path) -> Path:
        (directory / ".interpose").mkdir()
        (directory / ".interpose" / "hooks.yaml").write_text(
            "hooks:\n  PreToolUse:\n    - {name: guard, matcher: Bash, command: 'echo no >&2; exit 2'}\n"
        )
        (directory / ".interpose" / "cases.yaml").write_text(
            "- name: found\n  given: {event: PreToolUse, tool_name: Bash}\n  expect: {decision: deny}\n"
        )
        return directory

    def test_cases_are_collected_beside_other_tests(self, tmp_path: Path) -> None:
        self.project(tmp_path)
        (tmp_path / "x.cases.yaml").write_text(
            "- name: good\n  given: {event: PreToolUse, tool_name: Bash}\n  expect: {decision: deny, reason: 'no'}\n"
            "- name: bad\n  given: {event: PreToolUse, tool_name: Bash}\n  expect: {decision: ask}\n"
        )
        (tmp_path / "test_x.py").write_text("def test_x(): pass\n")

        said = self.pytest(tmp_path)

        assert "1 failed, 2 passed" in said
        assert "x.cases.yaml:4:3: bad\n  decision  (no)\n    expected  ask\n    got       deny\n" in said
        assert "Traceback" not in said

    def test_the_cases_of_a_project_run_when_they_are_named(self, tmp_path: Path) -> None:
        self.project(tmp_path)

        assert "no tests ran" in self.pytest(tmp_path)
        assert "1 passed" in self.pytest(tmp_path, ".interpose/cases.yaml")

    def test_cases_are_not_recorded(self, tmp_path: Path) -> None:
        self.project(tmp_path)
        hooks = tmp_path / ".interpose" / "hooks.yaml"
        hooks.write_text(f"audit: {{path: audit.db}}\n{hooks.read_text()}")

        assert "1 passed" in self.pytest(tmp_path, ".interpose/cases.yaml")
        assert sorted(os.listdir(hooks.parent)) == ["cases.yaml", "hooks.yaml"]

    def test_mistakes_are_told_with_their_place(self, tmp_path: Path) -> None:
        (tmp_path / "a.cases.yaml").write_text("- given: {event: Stop}\n")
        (tmp_path / "b.cases.json").write_text('[{"given": {"event": "Stop"}, "expect": {"allowed": true}}]')

        said = self.pytest(tmp_path)

        assert "a.cases.yaml:1:3: a case without expect:" in said
        assert "no configuration was found for these cases (say which: config: [hooks.yaml] at the top" in said
        assert "Traceback" not in said


def test_the_old_name_of_the_capture_is_read_with_a_warning() -> None:
    import interpose.testing

    with pytest.warns(DeprecationWarning, match=r"is called interpose\.testing\.OutcomeCapture now"):
        assert interpose.testing.Recorder is OutcomeCapture
