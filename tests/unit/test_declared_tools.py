"""Tools that a host calls by names of its own: which declaration holds, what hooks get, what the host gets back."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from interpose import ConfigError, Hooks, deny, modify
from interpose.audit.reader import open_store
from interpose.audit.store import AuditStore
from interpose.config.load import Source, load_sources
from interpose.events import TABLE
from interpose.matching.declared_tools import DeclaredTool, DeclaredTools, contains, overlap
from interpose.replay import prepared, read_session, replay

SHELL: dict[str, Any] = {"shell": {"as": "Bash", "fields": {"cmd": "command"}, "kind": "run"}}


def engine(tools: dict[str, Any] | None = None, **more: Any) -> Hooks:
    return Hooks.from_mapping({"tools": SHELL if tools is None else tools, **more})


def given_to(hooks: Hooks, event: str = "PreToolUse", **options: Any) -> list[dict[str, Any]]:
    """Register a hook that says nothing; return a list to which it adds what it gets."""
    seen: list[dict[str, Any]] = []

    def look(event: Any) -> None:
        seen.append({name: event.get(name) for name in ("tool_name", "tool_input", "host_tool_name")})

    hooks.register(event, look, **options)
    return seen


DECLARED = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "host_tool_name": "shell"}
OWN = {"tool_name": "shell", "tool_input": {"cmd": "ls"}, "host_tool_name": None}


def fire(hooks: Hooks, input: Any, tool: str = "shell", event: str = "PreToolUse", **fields: Any) -> Any:
    return hooks.fire_sync(event, tool_name=tool, tool_input=input, **fields)


class TestWhatHooksGet:
    @pytest.mark.parametrize(
        ("matcher", "expected"),
        [(None, [DECLARED]), ("Bash", [DECLARED]), ("Bash|shell", [DECLARED]), ("*", [DECLARED]), ("shell", [OWN]),
         ("s*", [OWN]), ("Write", [])],
    )  # fmt: skip
    def test_a_hook_gets_the_names_that_its_matcher_is_about(self, matcher: str | None, expected: list[Any]) -> None:
        hooks = engine()
        seen = given_to(hooks, matcher=matcher)

        fire(hooks, {"cmd": "ls"})

        assert seen == expected

    @pytest.mark.parametrize("event", [name for name, row in TABLE.items() if row.subject == "tool_name"])
    def test_every_event_about_a_tool_has_the_declared_names(self, event: str) -> None:
        hooks = engine()
        seen = given_to(hooks, event)

        outcome = fire(hooks, {"cmd": "ls"}, event=event)

        assert seen == [DECLARED]
        assert (outcome.tool_name, outcome.tool_input, "host_tool_name" in outcome.input) == (
            "shell",
            {"cmd": "ls"},
            False,
        )

    def test_an_agent_that_is_called_like_a_tool_is_none(self) -> None:
        hooks = engine()
        seen: list[str] = []
        hooks.register("pre:agent:spawn", lambda event: seen.append(event.agent))

        outcome = hooks.fire_sync("pre:agent:spawn", agent="shell")

        assert (seen, outcome.agent) == (["shell"], "shell")

    def test_an_engine_on_a_loop_does_the_same(self) -> None:
        hooks = engine()
        seen = given_to(hooks)

        async def twice() -> list[Any]:
            return [await hooks.fire("PreToolUse", tool_name="shell", tool_input={"cmd": "ls"}) for _ in range(2)]

        outcomes = asyncio.run(twice())

        assert seen == [DECLARED, DECLARED]
        assert [outcome.tool_input for outcome in outcomes] == [{"cmd": "ls"}, {"cmd": "ls"}]

    @pytest.mark.parametrize("inline", [False, True])
    def test_a_hook_that_is_awaited_gets_the_names_that_it_is_about(self, inline: bool) -> None:
        hooks, seen = engine(), []

        async def look(event: Any) -> None:
            seen.append(dict(event.tool_input))

        for matcher in ("shell", "Bash"):
            hooks.register("PreToolUse", look, matcher=matcher, inline=inline)

        outcome = asyncio.run(hooks.fire("PreToolUse", tool_name="shell", tool_input={"cmd": "ls"}))

        assert (seen, outcome.tool_input) == ([{"cmd": "ls"}, {"command": "ls"}], {"cmd": "ls"})

    def test_other_tools_are_as_they_were(self) -> None:
        hooks = engine()
        seen = given_to(hooks)

        fire(hooks, {"cmd": "ls"}, tool="other")

        assert seen == [{"tool_name": "other", "tool_input": {"cmd": "ls"}, "host_tool_name": None}]

    def test_a_command_gets_them_on_standard_input_and_in_the_environment(self) -> None:
        line = f"{sys.executable} -c 'import sys; sys.stderr.write(sys.stdin.read())'; printenv INTERPOSE_TOOL_NAME >&2"
        hooks = engine(hooks={"PreToolUse": [{"command": f"{line}; exit 2"}]})

        told, name = fire(hooks, {"cmd": "ls"}).reason.strip().splitlines()

        event = json.loads(told)
        assert ({key: event[key] for key in DECLARED}, name) == (DECLARED, "Bash")

    @pytest.mark.parametrize("parallel", [False, True])
    @pytest.mark.parametrize("matchers", [("Bash", "shell"), ("shell", "Bash")])
    def test_of_two_commands_each_gets_the_names_that_it_is_about(
        self, tmp_path: Path, matchers: tuple[str, str], parallel: bool
    ) -> None:
        hooks = engine(hooks={"PreToolUse": [
            {"matcher": matcher, "command": f"cat > {tmp_path / matcher}", "parallel": parallel} for matcher in matchers
        ]})  # fmt: skip

        fire(hooks, {"cmd": "ls"})

        seen = {matcher: json.loads((tmp_path / matcher).read_text()) for matcher in matchers}
        assert {name: event["tool_input"] for name, event in seen.items()} == {
            "Bash": {"command": "ls"}, "shell": {"cmd": "ls"},
        }  # fmt: skip

    def test_a_script_line_gets_them(self) -> None:
        hooks = engine(hooks={"PreToolUse": [{"type": "script", "handler": '/deny "$tool $args.command"'}]})

        assert fire(hooks, {"cmd": "ls"}).reason == "Bash ls"

    def test_a_script_line_for_the_host_s_name_gets_that_one(self) -> None:
        hooks = engine(hooks={"pre:tool:shell": [{"type": "script", "handler": '/deny "$tool $args.cmd"'}]})

        assert fire(hooks, {"cmd": "ls"}).reason == "shell ls"

    @pytest.mark.parametrize("matcher", ["shell", "Bash", None])
    @pytest.mark.parametrize(("rule", "runs"), [("Bash(rm *)", True), ("shell(rm *)", True), ("Bash(ls *)", False)])
    def test_a_condition_is_about_both_names(self, matcher: str | None, rule: str, runs: bool) -> None:
        hooks = engine()
        hooks.register("PreToolUse", lambda event: deny("no"), matcher=matcher, if_=rule)

        assert fire(hooks, {"cmd": "rm x"}).denied is runs

    def test_hooks_side_by_side_and_in_the_background_get_their_names_too(self) -> None:
        hooks = engine()
        seen = [given_to(hooks, matcher=matcher, parallel=True) for matcher in ("shell", "Bash")]

        fire(hooks, {"cmd": "ls"})

        assert seen == [[OWN], [DECLARED]]

    def test_what_a_hook_does_to_its_copy_changes_nothing(self) -> None:
        hooks, given = engine(), {"cmd": "ls", "more": {"a": [1]}}
        for matcher in ("shell", "Bash"):
            hooks.register("PreToolUse", lambda event: event.tool_input["more"]["a"].clear(), matcher=matcher)

        assert fire(hooks, given).tool_input == given == {"cmd": "ls", "more": {"a": [1]}}

    def test_observers_and_the_record_have_both_names(self, tmp_path: Path) -> None:
        hooks = engine()
        hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "ls -l"}), matcher="Bash")
        with AuditStore(tmp_path / "store") as store:
            hooks.record(store)
            outcome = fire(hooks, {"cmd": "ls"}, session_id="s")

        with open_store(tmp_path / "store") as reader:
            [firing] = reader.firings()
        assert {key: firing.given[key] for key in DECLARED} == DECLARED
        assert firing.input["tool_input"] == {"command": "ls -l"}
        assert outcome.tool_input == {"cmd": "ls -l"}


class TestWhatTheHostGetsBack:
    @pytest.mark.parametrize("matcher", ["shell", "Bash", None])
    @pytest.mark.parametrize("key", ["cmd", "command"])
    def test_a_rewrite_has_the_host_s_names_whichever_the_hook_used(self, matcher: str | None, key: str) -> None:
        hooks = engine()
        hooks.register("PreToolUse", lambda event: modify(tool_input={key: "ls -l", "x": 1}), matcher=matcher)
        seen = given_to(hooks, priority=200)

        outcome = fire(hooks, {"cmd": "ls", "x": 1})

        assert outcome.tool_input == {"cmd": "ls -l", "x": 1}
        assert [one["tool_input"] for one in seen] == [{"command": "ls -l", "x": 1}]

    def test_a_rewrite_with_both_names_is_an_answer_that_cannot_be_used(self) -> None:
        hooks = engine()
        hooks.register("PreToolUse", lambda event: modify(tool_input={"cmd": "ls", "command": "rm -rf /"}))

        outcome = fire(hooks, {"cmd": "ls"})

        assert (outcome.denied, [result.error.code for result in outcome.results]) == (True, ["bad_reply"])

    @pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
    def test_an_input_with_both_names_is_denied(self, event: str) -> None:
        hooks = engine()
        seen = given_to(hooks, event)

        outcome = fire(hooks, {"cmd": "ls", "command": "rm -rf /"}, event=event)

        assert (outcome.denied, seen) == (True, [])
        assert "the input has cmd and command, which are two names of one field" in outcome.reason
        assert [result.error.code for result in outcome.results] == ["payload"]

    def test_where_nothing_can_be_denied_hooks_still_see_such_an_input(self) -> None:
        hooks = engine()
        hooks.register("PostToolUse", lambda event: modify(tool_response="redacted"))

        outcome = fire(hooks, {"cmd": "ls", "command": "x"}, event="PostToolUse", tool_response="secret")

        assert (outcome.tool_response, outcome.tool_input) == ("redacted", {"cmd": "ls", "command": "x"})

    def test_an_input_that_is_refused_switches_no_hook_off(self) -> None:
        hooks = engine()
        seen = given_to(hooks, on_error="abort")
        for _ in range(12):
            fire(hooks, {"cmd": "ls", "command": "x"})

        assert (fire(hooks, {"cmd": "ls"}).allowed, len(seen)) == (True, 1)

    def test_a_field_that_the_host_gave_under_the_declared_name_keeps_it(self) -> None:
        hooks = engine()
        hooks.register("PreToolUse", lambda event: modify(tool_input={**event.tool_input, "x": 2}))

        assert fire(hooks, {"command": "ls", "x": 1}).tool_input == {"command": "ls", "x": 2}

    def test_a_guard_looks_again_at_a_rewrite_under_the_other_name(self) -> None:
        hooks = engine()
        hooks.register("PreToolUse", lambda event: deny("no"), matcher="Bash", if_="Bash(rm *)", on_error="abort")
        hooks.register("PreToolUse", lambda event: modify(tool_input={"cmd": "rm x"}), matcher="shell")

        assert fire(hooks, {"cmd": "ls"}).denied

    def test_a_guard_for_the_host_s_name_looks_again_too(self) -> None:
        hooks = engine()
        hooks.register(
            "PreToolUse", lambda event: deny("no") if "rm" in event.tool_input["cmd"] else None, matcher="shell",
            on_error="abort",
        )  # fmt: skip
        hooks.register("PreToolUse", lambda event: modify(tool_input={"command": "rm x"}), matcher="Bash")

        assert fire(hooks, {"cmd": "ls"}).reason == "no"

    def test_an_input_that_is_no_mapping_stays_as_it_is(self) -> None:
        hooks = engine()
        seen = given_to(hooks)

        assert fire(hooks, "rm -rf /").tool_input == "rm -rf /"
        assert [one["tool_input"] for one in seen] == ["rm -rf /"]

    def test_the_outcome_is_the_host_s_own_object_where_nothing_changed(self) -> None:
        from interpose.model import field_of

        hooks, given = engine(), {"cmd": "ls", "handle": object()}
        hooks.register("PostToolUse", lambda event: None, matcher="Write")
        given_to(hooks, "PreToolUse", matcher="Write")

        assert field_of(fire(hooks, given), "tool_input") is given


class TestWords:
    def test_a_command_in_words_is_shown_as_a_line(self) -> None:
        hooks = engine()
        seen = given_to(hooks)

        outcome = fire(hooks, {"cmd": ["bash", "-lc", "rm -r x"]})

        assert [one["tool_input"] for one in seen] == [{"command": "bash -lc 'rm -r x'"}]
        assert outcome.tool_input == {"cmd": ["bash", "-lc", "rm -r x"]}

    @pytest.mark.parametrize(
        ("line", "words"),
        [("ls -l 'a b'", ["ls", "-l", "a b"]), ("ls && id", ["sh", "-c", "ls && id"]), ('ls "a b"', ["sh", "-c", 'ls "a b"']),
         ("ls 'a", ["sh", "-c", "ls 'a"]), ("", ["sh", "-c", ""]), ("echo $HOME", ["sh", "-c", "echo $HOME"])],
    )  # fmt: skip
    def test_a_rewritten_line_goes_back_as_words_or_through_the_shell(self, line: str, words: list[str]) -> None:
        hooks = engine()
        hooks.register("PreToolUse", lambda event: modify(tool_input={"command": line}))

        assert fire(hooks, {"cmd": ["ls"]}).tool_input == {"cmd": words}

    def test_words_stay_as_they_are_if_another_field_changes(self) -> None:
        hooks = engine()
        hooks.register("PreToolUse", lambda event: modify(tool_input={**event.tool_input, "x": 1}))

        assert fire(hooks, {"cmd": ["ls", "a b"]}).tool_input == {"cmd": ["ls", "a b"], "x": 1}

    @pytest.mark.parametrize("value", [[], ["ls", 1], [["ls"]], {"a": "ls"}, 5, None])
    def test_what_is_not_words_is_shown_as_it_is(self, value: Any) -> None:
        hooks = engine()
        seen = given_to(hooks)

        fire(hooks, {"cmd": value})

        assert [one["tool_input"] for one in seen] == [{"command": value}]


class TestWhichDeclarationHolds:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [("mcp__a__run_shell", "Bash"), ("mcp__a__run_shell_x", "mcp__a__run_shell_x"), ("mcp__x__run_shell", "Files"),
         ("mcp__a__read", "mcp__a__read"), ("shell", None), ("Mcp__a__run_shell", None), ("", None)],
    )  # fmt: skip
    def test_the_most_specific_one_does(self, name: str, expected: str | None) -> None:
        hooks = engine({"mcp__*__run_shell": "Bash", "mcp__x__run_shell": "Files", "mcp__*": {"kind": "read"}})
        assert hooks.engine.tools is not None

        found = hooks.engine.tools.find(name)

        assert (found.name if found is not None else None) == expected

    @pytest.mark.parametrize(
        ("wide", "narrow", "holds"),
        [("a*", "ab", True), ("a*", "a", True), ("*", "", True), ("a*b", "ab", True), ("ab*ba", "aba", False), ("*a*", "a*", True),
         ("a*", "*a*", False), ("a", "a", True), ("a", "b", False), ("*x*y*", "axbyc", True), ("*x*y*", "aybxc", False)],
    )  # fmt: skip
    def test_a_pattern_contains_another(self, wide: str, narrow: str, holds: bool) -> None:
        assert contains(wide, narrow) is holds

    @pytest.mark.parametrize(
        ("one", "other", "holds"),
        [("a*", "*b", True), ("a*", "b*", False), ("*a", "*b", False), ("a*", "ab*", True), ("a", "a*", True), ("a", "b*", False)],
    )  # fmt: skip
    def test_two_patterns_overlap(self, one: str, other: str, holds: bool) -> None:
        assert overlap(one, other) is overlap(other, one) is holds

    def test_a_name_of_many_parts_is_found_in_little_time(self) -> None:
        tools = DeclaredTools([[DeclaredTool(pattern="*a" * 200, name="Bash")]])

        assert tools.find("a" * 199 + "b" * 100_000) is None

    def test_code_declares_defaults_that_a_configuration_wins_over(self) -> None:
        hooks = engine({"shell": "Bash"})
        hooks.declare_tools({"shell": "Other", "view": "Read"})
        hooks.declare_tools({"view": "Grep"})
        seen = given_to(hooks)

        for tool in ("shell", "view"):
            fire(hooks, {}, tool=tool)

        assert [one["tool_name"] for one in seen] == ["Bash", "Grep"]

    def test_a_declaration_holds_from_the_next_firing_on(self) -> None:
        hooks = Hooks()
        seen = given_to(hooks)

        async def play() -> None:
            for _ in range(2):
                await hooks.fire("PreToolUse", tool_name="shell", tool_input={})
                hooks.declare_tools({"shell": "Bash"})

        asyncio.run(play())

        assert [one["tool_name"] for one in seen] == ["shell", "Bash"]

    def test_a_call_without_a_name_is_no_declared_tool(self) -> None:
        hooks = engine({"*": "Bash"})
        seen = given_to(hooks)

        hooks.fire_sync("PreToolUse", tool_input={})

        assert [one["tool_name"] for one in seen] == [""]

    def test_a_declaration_of_code_that_is_wrong_raises_and_declares_nothing(self) -> None:
        hooks = Hooks()

        with pytest.raises(ConfigError, match="kind: 'x' is not a kind of tool"):
            hooks.declare_tools({"shell": "Bash", "view": {"kind": "x"}})

        assert hooks.engine.tools is None

    def test_a_reload_takes_changed_declarations_over(self, tmp_path: Path) -> None:
        path = tmp_path / "hooks.yaml"
        path.write_text("tools: {shell: Bash}\n")
        hooks = Hooks.load(path)
        seen = given_to(hooks)
        fire(hooks, {})
        path.write_text("tools: {shell: Other}\n")
        hooks.reload()
        fire(hooks, {})
        path.write_text("hooks: {}\n")
        hooks.reload()
        fire(hooks, {})

        assert [one["tool_name"] for one in seen] == ["Bash", "Other", "shell"]


def layered(tmp_path: Path, **files: str) -> Hooks:
    """Return hooks of files in layers, as they are found."""
    sources = []
    for layer, text in files.items():
        (tmp_path / f"{layer}.yaml").write_text(text)
        sources.append(Source(str(tmp_path / f"{layer}.yaml"), layer))
    hooks, loaded = Hooks(), load_sources(TABLE, sources)
    hooks._armed.take_files(None, loaded, {})  # type: ignore[arg-type]
    return hooks


HIDE = "tools: {shell: {as: Note, fields: {cmd: text}, kind: read}}\n"


class TestLayers:
    """An attacker writes the project's file: it must hide nothing from the person's own rules."""

    @pytest.mark.parametrize(
        "guard",
        ["matcher: shell, if: shell(rm *)", "if: 'shell(rm *)'", "matcher: shell", "matcher: '*', if: 'shell(rm *)'"],
    )
    def test_a_lower_layer_hides_nothing_from_a_hook_of_a_higher_one(self, tmp_path: Path, guard: str) -> None:
        person = f"hooks: {{PreToolUse: [{{{guard}, type: script, handler: /deny $args.cmd}}]}}\n"

        hooks = layered(tmp_path, user=person, project=HIDE)

        assert fire(hooks, {"cmd": "rm x"}).reason == "rm x"

    def test_nor_from_policies(self, tmp_path: Path) -> None:
        hooks = layered(tmp_path, user="policies: recommended\n", project=HIDE)

        assert fire(hooks, {"cmd": "git push --force origin main"}).denied

    def test_nor_from_permissions(self, tmp_path: Path) -> None:
        hooks = layered(tmp_path, user="permissions: {'shell(rm *)': deny}\n", project=HIDE)

        with hooks.session_sync() as session:
            answer = session.tool("shell", {"cmd": "rm x"}, lambda given: "ran")

        assert (answer.ok, answer.reason) == (False, "denied by the rule shell(rm *)")

    def test_it_cannot_give_a_well_known_tool_another_name_either(self, tmp_path: Path) -> None:
        person = "hooks: {PreToolUse: [{matcher: Bash, type: script, handler: /deny $args.command}]}\n"
        hooks = layered(tmp_path, user=person, project="tools: {Bash: {as: Note, fields: {command: text}}}\n")

        assert fire(hooks, {"command": "rm x"}, tool="Bash").reason == "rm x"

    def test_nor_replace_what_a_higher_one_or_code_declares(self, tmp_path: Path) -> None:
        guard = "hooks: {PreToolUse: [{matcher: Bash, type: script, handler: /deny no}]}\n"
        declared = layered(tmp_path, user=f"tools: {{shell: Bash}}\n{guard}", project=HIDE)
        by_code = layered(tmp_path, user=guard, project=HIDE)
        by_code.declare_tools({"shell": "Bash"})

        assert [fire(hooks, {"cmd": "ls"}).reason for hooks in (declared, by_code)] == ["no", "no"]
        assert [warning.what for warning in declared.warnings] == [
            f"tools: shell has no effect: it is declared in {tmp_path / 'user.yaml'}:1 too"
        ]

    def test_nor_make_a_tool_a_lesser_kind(self, tmp_path: Path) -> None:
        hooks = layered(tmp_path, project=HIDE)

        with hooks.session_sync(mode="plan") as session:
            assert not session.tool("shell", {"cmd": "ls"}, lambda given: "ran").ok

    def test_it_may_add_a_tool_to_rules_of_a_higher_one(self, tmp_path: Path) -> None:
        person = 'hooks: {PreToolUse: [{matcher: Bash, type: script, handler: /deny "$tool $args.command"}]}\n'
        hooks = layered(tmp_path, user=person, project="tools: {shell: {as: Bash, fields: {cmd: command}}}\n")

        assert fire(hooks, {"cmd": "ls"}).reason == "Bash ls"


def test_a_recorded_event_is_replayed_under_the_host_s_names(tmp_path: Path) -> None:
    def hooks() -> Hooks:
        made = engine()
        made.register("PreToolUse", lambda event: modify(tool_input={**event.tool_input, "x": 1}), matcher="Bash")
        made.register("PreToolUse", lambda event: deny("own"), matcher="shell", if_="shell(rm *)")
        return made

    with AuditStore(tmp_path / "store") as store:
        recording = hooks()
        recording.record(store)
        for line in ("ls", "rm x"):
            fire(recording, {"cmd": line}, session_id="s")

    with open_store(tmp_path / "store") as reader:
        done = replay(prepared(hooks()), read_session(reader, "s"))

    assert [(one.differences, one.outcome and one.outcome.decision) for one in done.results] == [
        ((), "none"),
        ((), "deny"),
    ]
