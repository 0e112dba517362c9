"""Policies as hooks: what an entry means, what is wrong with one, and what holds for every policy."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interpose import BadHook, ConfigError, Hooks, deny, modify
from interpose.config.trust import trust
from interpose.policies import POLICIES, RECOMMENDED, Call, Objection, Policy, PolicyHook, find_policy, reading
from interpose.policies import parameters as read
from interpose.policies.policy import Options


def _objects(call: Call, options: Options) -> Iterator[Objection]:
    for line in call.lines:
        for command in line.commands:
            if command.name == "frobnicate":
                yield Objection(options["frob"], f"it frobnicates {' '.join(command.parts[1:])}", command.grade)


def _refuses(event: Any, options: Options) -> Any:
    return deny(f"no {options['word']}") if options["word"] in event.get("prompt", event.get("error", "")) else None


def _unreadable(call: Call, options: Options) -> Iterator[Objection]:
    for reason in call.unreadable:
        yield Objection("ask", f"nobody can read it: {reason}", "opaque")


FAKES = {
    "frobs": Policy(
        name="frobs", prevents="Frobnicating.", judge=_objects, reads_lines=True, recommended={"frob": "ask"},
        parameters=(read.action("frob", "deny", "frobnicating"), read.names("kinds", ("a", "b"), "which kinds")),
    ),
    "words": Policy(
        name="words", prevents="Words.", hooks={"UserPromptSubmit": _refuses, "PostToolUseFailure": _refuses},
        recommended={}, parameters=(read.text("word", "fudge", "the word"),), guard=False, timeout=2,
    ),
    "seldom": Policy(name="seldom", prevents="Little.", judge=lambda call, options: (), recommended=None),
    "unreadable-commands": Policy(name="unreadable-commands", prevents="Riddles.", judge=_unreadable, recommended={}),
}  # fmt: skip


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Policies that do nothing but show what the frame does."""
    monkeypatch.setattr(reading, "POLICIES", tuple(FAKES))
    monkeypatch.setattr(reading, "find_policy", FAKES.__getitem__)


pytestmark = pytest.mark.usefixtures("fakes")


def hooks_of(policies: Any, **more: Any) -> Hooks:
    return Hooks.from_mapping({"policies": policies, **more})


def decided(hooks: Hooks, command: str, **fields: Any) -> tuple[str, str]:
    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command}, **fields)
    assert [result.error for result in outcome.results if result.error] == []
    return outcome.decision, outcome.reason


def armed(hooks: Hooks) -> dict[str, list[str]]:
    """The names of the hooks by event."""
    found: dict[str, list[str]] = {}
    for hook in hooks:
        found.setdefault(hook.event, []).append(hook.label)
    return found


# Entries.


@pytest.mark.parametrize("given", [None, [], ()])
def test_no_entry_arms_nothing(given: Any) -> None:
    assert list(hooks_of(given)) == []


@pytest.mark.parametrize("given", ["frobs", ["frobs"], [{"frobs": None}], [{"frobs": {}}], [{"frobs": "enforce"}]])
def test_a_name_switches_a_policy_on_with_its_defaults(given: Any) -> None:
    hooks = hooks_of(given)

    assert armed(hooks) == {"PreToolUse": ["frobs"]}
    assert decided(hooks, "ls; frobnicate now") == ("deny", "frobs: it frobnicates now")
    assert decided(hooks, "echo frobnicate") == ("none", "")


def test_a_policy_is_a_guard_unless_it_says_otherwise() -> None:
    hooks = {hook.label: hook for hook in hooks_of(["frobs", "words"])}

    assert (hooks["frobs"].on_error, hooks["frobs"].timeout) == ("abort", None)
    assert (hooks["words"].on_error, hooks["words"].timeout) == (None, 2)
    assert hooks["frobs"].description == "Frobnicating."


def test_a_policy_that_fails_denies(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(call: Call, options: Options) -> Iterator[Objection]:
        raise RuntimeError("broken")

    monkeypatch.setitem(FAKES, "seldom", Policy(name="seldom", prevents="Little.", judge=fails))

    outcome = hooks_of(["seldom"]).fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})

    assert outcome.denied


def test_parameters_are_given_and_the_others_have_their_defaults() -> None:
    [hook] = hooks_of([{"frobs": {"frob": "ask"}}])

    assert isinstance(hook.handler, PolicyHook)
    assert hook.handler.options == {"frob": "ask", "kinds": ("a", "b"), "project": ""}
    assert str(hook.handler) == "the policy frobs with frob: ask"


def test_allow_as_an_action_is_no_objection() -> None:
    assert decided(hooks_of([{"frobs": {"frob": "allow"}}]), "frobnicate") == ("none", "")


def test_observe_records_and_off_arms_nothing() -> None:
    hooks = hooks_of([{"frobs": "observe"}])

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": "frobnicate"})

    assert outcome.decision == "none"
    assert outcome.shadow is not None
    assert outcome.shadow.decision == "deny"
    for off in ("off", False):
        assert list(hooks_of([{"frobs": off}])) == []


def test_a_policy_can_be_used_twice_under_two_names() -> None:
    hooks = hooks_of(["frobs", {"frobs": {"name": "of-ana", "frob": "ask", "scope": "ana"}}])

    assert {(hook.label, hook.scope) for hook in hooks} == {("frobs", None), ("of-ana", "ana")}
    assert decided(hooks, "frobnicate", agent_id="bo") == ("deny", "frobs: it frobnicates ")


def test_options_of_a_hook_hold_for_a_policy() -> None:
    options = {"priority": 5, "timeout": 3, "onError": "log", "enabled": False, "description": "mine", "locked": True}
    [hook] = hooks_of([{"frobs": {**options, "if": "Bash(make *)", "x-owner": "me"}}])

    assert (hook.priority, hook.timeout, hook.on_error, hook.enabled, hook.description, hook.locked) == (
        5, 3, "log", False, "mine", True,
    )  # fmt: skip
    assert hook.condition == "Bash(make *)"


# The set.


def test_the_set_has_the_recommended_policies_with_their_parameters() -> None:
    hooks = hooks_of("recommended")

    assert armed(hooks)["PreToolUse"] == ["frobs", "unreadable-commands"]
    assert decided(hooks, "frobnicate")[0] == "ask"


@pytest.mark.parametrize("before", [True, False])
def test_beside_the_set_an_entry_changes_only_what_it_names(before: bool) -> None:
    entry = {"frobs": {"kinds": ["z"], "hint": "Ask Ana."}}
    hooks = hooks_of([entry, "recommended"] if before else ["recommended", entry])

    [hook] = [hook for hook in hooks if hook.label == "frobs"]
    assert isinstance(hook.handler, PolicyHook)
    assert hook.handler.options == {"frob": "ask", "kinds": ("z",), "project": ""}
    assert decided(hooks, "frobnicate x") == ("ask", "frobs: it frobnicates x. Ask Ana.")


def test_one_policy_of_an_observed_set_can_be_enforced_and_another_switched_off() -> None:
    hooks = hooks_of([{"recommended": "observe"}, {"frobs": "enforce"}, {"words": "off"}, "seldom"])

    assert {hook.label: hook.enforce for hook in hooks} == {
        "frobs": True, "unreadable-commands": False, "seldom": True,
    }  # fmt: skip


def test_the_set_takes_what_holds_for_all_of_it() -> None:
    hooks = hooks_of([{"recommended": {"onMatch": "deny", "hint": "No.", "locked": True}}])

    assert decided(hooks, "frobnicate x") == ("deny", "frobs: it frobnicates x. No.")
    assert all(hook.locked for hook in hooks)


# What every policy takes.


def test_on_match_decides_for_the_whole_policy() -> None:
    assert decided(hooks_of([{"frobs": {"onMatch": "ask"}}]), "frobnicate")[0] == "ask"
    asked = hooks_of([{"words": {"onMatch": "ask"}}]).fire_sync("UserPromptSubmit", prompt="fudge")
    assert asked.denied, "nobody can be asked about a prompt"


def test_the_hint_is_in_every_reason_and_a_function_has_it_too() -> None:
    outcome = hooks_of([{"words": {"hint": "Use sugar."}}]).fire_sync("UserPromptSubmit", prompt="fudge")

    assert outcome.reason == "no fudge. Use sugar."


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("frobnicate docs", "none"), ("frobnicate docs && ls", "deny"), ("frobnicate other", "deny"),
        ("sudo frobnicate docs", "deny"), ("frobnicate docs; frobnicate docs", "none"), ("frobnicate $X", "deny"),
    ],
)  # fmt: skip
def test_what_a_rule_covers_wholly_is_allowed(command: str, expected: str) -> None:
    hooks = hooks_of([{"frobs": {"allow": ["Bash(frobnicate docs)", "Write(docs/**)"]}}])

    assert decided(hooks, command)[0] == expected


def test_a_reply_that_only_changes_something_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = Policy(name="words", prevents="W.", hooks={"pre:message": lambda event, options: modify(prompt="x")})
    monkeypatch.setitem(FAKES, "words", changes)

    outcome = hooks_of([{"words": {"onMatch": "deny", "hint": "no"}}]).fire_sync("pre:message", prompt="fudge")

    assert (outcome.decision, outcome.input["prompt"]) == ("none", "x")


def test_many_reasons_are_counted_and_a_long_one_is_cut() -> None:
    hooks = hooks_of(["frobs"])

    _, several = decided(hooks, "; ".join(f"frobnicate {number}" for number in range(9)))
    _, long = decided(hooks, f"frobnicate {'x' * 5_000}")

    assert several == "frobs: it frobnicates 0; it frobnicates 1; it frobnicates 2; and 6 more"
    assert len(long) < 1_100


# Lines that cannot be read.


@pytest.mark.parametrize(
    ("policies", "expected"),
    [
        (["frobs"], ("ask", "frobs: the command line cannot be read: eval runs a text that is computed")),
        ([{"frobs": {"unreadable": "allow"}}], ("none", "")),
        (["seldom"], ("none", "")),
        (["frobs", "unreadable-commands"], ("ask", "unreadable-commands: nobody can read it: eval runs a text that is computed")),
        (["frobs", {"unreadable-commands": "observe"}], ("ask", "frobs: the command line cannot be read: eval runs a text that is computed")),
        (["frobs", {"unreadable-commands": {"if": "Bash(make *)"}}], ("ask", "frobs: the command line cannot be read: eval runs a text that is computed")),
        (["recommended"], ("ask", "unreadable-commands: nobody can read it: eval runs a text that is computed")),
        (["recommended", {"unreadable-commands": {"allow": "Bash"}}], ("none", "")),
        ([{"recommended": {"scope": "ana"}}], ("ask", "unreadable-commands: nobody can read it: eval runs a text that is computed")),
        (["frobs", {"unreadable-commands": {"scope": "ana"}}], ("ask", "frobs: the command line cannot be read: eval runs a text that is computed")),
    ],
)  # fmt: skip
def test_one_policy_asks_about_a_line_that_cannot_be_read(policies: Any, expected: tuple[str, str]) -> None:
    decision, reason = decided(hooks_of(policies), 'eval "$x"')

    assert (decision, reason.partition("\n")[0]) == expected


def test_a_set_that_is_observed_records_one_question_about_such_a_line() -> None:
    hooks = hooks_of([{"recommended": "observe"}])

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": 'eval "$x"'})

    assert outcome.decision == "none"
    assert [result.hook for result in outcome.results if result.decision == "ask"] == ["unreadable-commands"]
    enforced = hooks_of([{"recommended": "observe"}, {"frobs": "enforce"}])
    assert decided(enforced, 'eval "$x"')[0] == "ask"


def test_what_can_be_read_of_such_a_line_is_judged() -> None:
    assert decided(hooks_of(["frobs", "unreadable-commands"]), 'eval "$x"; frobnicate y') == (
        "deny", "frobs: it frobnicates y",
    )  # fmt: skip


# What is wrong.


@pytest.mark.parametrize(
    ("text", "place", "what", "hint"),
    [
        ("policies: frbs", "1:1", "there is no policy frbs", "did you mean frobs?"),
        ("policies:\n  - recomended", "2:5", "there is no policy recomended", "did you mean recommended?"),
        ("policies:\n  - unreadable_commands", "2:5", "there is no policy unreadable_commands", "did you mean unreadable-commands?"),
        ("policies:\n  - xylophone", "2:5", "there is no policy xylophone", "`interpose policies` lists them"),
        ("policies:\n  - frobs:\n      knids: a", "3:7", "knids is not a parameter of frobs", "did you mean kinds?"),
        ("policies:\n  - frobs: {zzz: 1}", "2:13", "zzz is not a parameter of frobs", "its parameters are frob, kinds, onMatch, allow, hint, unreadable"),
        ("policies:\n  - frobs: {frob: denny}", "2:13", "frob: 'denny' is not a choice", "did you mean deny?"),
        ("policies:\n  - frobs: {kinds: 5}", "2:13", "kinds: 5 where a list of texts is expected", "a list of names; * stands for any text"),
        ("policies:\n  - frobs: {kinds: }", "2:13", "kinds: nothing where a list of texts is expected", "a list of names; * stands for any text"),
        ("policies:\n  - frobs: {priority: x}", "2:13", "priority: 'x' is not a whole number", "lower runs earlier; the default is 100"),
        ("policies:\n  - words: {priority: x}", "2:13", "priority: 'x' is not a whole number", "lower runs earlier; the default is 100"),
        ("policies:\n  - recommended: {priority: x}", "2:19", "priority: 'x' is not a whole number", "lower runs earlier; the default is 100"),
        ("policies:\n  - recommended: {frob: ask}", "2:19", "frob is not an option of a set", "name the policy itself, beside the set, to give it parameters"),
        ("policies:\n  - recommended: {enforc: false}", "2:19", "enforc is not an option of a set", "did you mean enforce?"),
        ("policies:\n  - recommended: {matcher: Bash}", "2:19", "matcher is not an option of a set", "name the policy itself, beside the set, to give it parameters"),
        ("policies: [recommended, frobs, recommended]", "1:32", "recommended is there twice", "leave one out"),
        ("policies:\n  - frobs\n  - frobs: {frob: ask}", "3:5", "there are two policies frobs", "give one of them a name: of its own"),
        ("policies:\n  - frobs: {name: words}\n  - words", "3:5", "there are two policies words", "give one of them a name: of its own"),
        ("policies:\n  - frobs: {name: 5}", "2:13", "name: 5 where text is expected", ""),
        ("policies:\n  - frobs: obsrve", "2:5", "'obsrve' is not what a policy can be", "did you mean observe?"),
        ("policies:\n  - frobs: 0", "2:5", "0 is not what a policy can be", "enforce, observe, off, or its parameters"),
        ("policies:\n  - frobs: [a]", "2:5", "a list is not what a policy can be", "enforce, observe, off, or its parameters"),
        ("policies: 5", "1:1", "5 where a list of policies is expected", "write policies: recommended, or a list of names"),
        ("policies: {frobs: }", "1:1", "a mapping where a list of policies is expected", "begin each policy with a dash: - frobs"),
        ("policies:\n  - frobs: true", "2:5", "true is not what a policy can be", "its name alone switches it on"),
        ("policies:\n  - frobs:\n    frob: ask", "2:5", "an entry with 2 keys: frobs, frob", "set the parameters of frobs in by two more spaces, or begin each policy with -"),
        ("policies:\n  - [frobs]", "2:5", "a list where a policy is expected", "a name, or a name: with its parameters"),
        ("policies:\n  - frobs: {allow: [5]}", "2:13", "allow: 5 where a rule is expected", "write it like Bash(git push *) or Write(src/**)"),
        ("policies:\n  - frobs: {onMatch: block}", "2:13", "onMatch: 'block' is not a choice", "choose deny or ask"),
        ("policies:\n  - frobs: {unreadable: deny}", "2:13", "unreadable: 'deny' is not a choice", "choose ask or allow"),
        ("policies:\n  - frobs: {hint: 4}", "2:13", "hint: 4 where text is expected", ""),
        ("policies:\n  - words: {matcher: Bash}", "2:5", "UserPromptSubmit has nothing that a matcher could be compared with", "leave matcher out"),
        ("hooks: {policies: recommended}", "1:9", "policies is neither an event nor a setting", "policies: belongs beside hooks:, not below it"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, text: str, place: str, what: str, hint: str) -> None:
    file = tmp_path / "hooks.yaml"
    file.write_text(text)

    with pytest.raises(ConfigError) as refused:
        Hooks.load(file)

    [problem] = refused.value.problems
    assert (problem.where.removeprefix(f"{file}:"), problem.what, problem.hint) == (place, what, hint)


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    file = tmp_path / "hooks.yaml"
    file.write_text("policies:\n  - frbs\n  - frobs: {frob: x, hint: 4}\n  - words: {timeout: -1, priority: x}\n")

    with pytest.raises(ConfigError) as refused:
        Hooks.load(file)

    assert [problem.where.rpartition("hooks.yaml:")[2] for problem in refused.value.problems] == [
        "2:5", "3:13", "3:22", "4:26", "4:13",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("made", "value", "expected"),
    [
        (read.names("p", (), ""), "one", ("one",)),
        (read.names("p", (), ""), ["one", "two"], ("one", "two")),
        (read.text("p", "", ""), "text", "text"),
        (read.flag("p", False, ""), True, True),
        (read.count("p", 1, ""), 5, 5),
        (read.count("p", 1, ""), None, None),
        (read.count("p", 1, "", fraction=True), 0.5, 0.5),
        (read.size("p", None, ""), "1MiB", 1_048_576),
        (read.size("p", None, ""), "1.5 kB", 1_500),
        (read.size("p", None, ""), 12, 12),
        (read.duration("p", None, ""), "2h", 7_200.0),
        (read.duration("p", None, ""), "250ms", 0.25),
        (read.duration("p", None, ""), 3, 3.0),
        (read.one_of("p", ("a", "b"), "a", ""), "b", "b"),
        (read.texts_by_name("p", "", ""), {"a": "b"}, {"a": "b"}),
    ],
)
def test_a_parameter_reads_its_value(made: read.Parameter, value: Any, expected: Any) -> None:
    assert made.read(value) == expected


@pytest.mark.parametrize(
    ("made", "values"),
    [
        (read.names("p", (), ""), [5, None, [""], [5], {"a": 1}]),
        (read.text("p", "", ""), [5, None, ["a"]]),
        (read.flag("p", False, ""), ["yes", 1, None]),
        (read.count("p", 1, ""), [0, -1, True, 0.5, "5", 1e20]),
        (read.size("p", None, ""), ["big", "1 parsec", True, -1, [], "1e9"]),
        (read.duration("p", None, ""), ["soon", 0, True, "1d", -5]),
        (read.one_of("p", ("a", "b"), "a", ""), ["c", None, ["a"], {"a": "b"}, True]),
        (read.patterns("p", ""), ["x", {"a": "("}, {"a": 5}, {5: "a"}]),
        (read.texts_by_name("p", "", ""), ["x", {"a": 5}]),
    ],
)
def test_a_parameter_refuses_another_value(made: read.Parameter, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(BadHook):
            made.read(value)


# In Python.


def test_a_program_uses_a_policy() -> None:
    hooks = Hooks()

    [made] = hooks.use("frobs", frob="ask", allow=["Bash(frobnicate docs)"])

    assert (made.name, made.layer, made.on_error) == ("frobs", "code", "abort")
    assert decided(hooks, "frobnicate x") == ("ask", "frobs: it frobnicates x")
    assert decided(hooks, "frobnicate docs") == ("none", "")


def test_a_policy_that_is_used_again_replaces_the_one_before() -> None:
    hooks = Hooks()
    hooks.use("recommended")

    hooks.use("frobs", frob="deny")

    assert armed(hooks)["PreToolUse"] == ["frobs", "unreadable-commands"]
    assert decided(hooks, "frobnicate x")[0] == "deny"


def test_options_of_a_hook_can_be_spelt_as_in_python() -> None:
    [made] = Hooks().use("frobs", if_="Bash(make *)", on_error="log", priority=7)

    assert (made.condition, made.on_error, made.priority) == ("Bash(make *)", "log", 7)


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("frbs", {}, "there is no policy frbs (did you mean frobs?)"),
        ("frobs", {"knids": 1}, "knids is not a parameter of frobs (did you mean kinds?)"),
        ("frobs", {"frob": "no"}, "frob: 'no' is not a choice (choose deny, ask, allow)"),
        ("frobs", {"timeout": -1}, "timeout: -1 is not a time in seconds (a number without a unit, such as 5; 0 means not set)"),
        ("recommended", {"frob": "ask"}, "frob is not an option of a set (name the policy itself, beside the set, to give it parameters)"),
        (5, {}, "5 where the name of a policy is expected"),
    ],
)  # fmt: skip
def test_a_mistake_of_a_program_is_raised_and_nothing_is_armed(name: Any, options: dict[str, Any], text: str) -> None:
    hooks = Hooks()

    with pytest.raises(BadHook) as refused:
        hooks.use(name, **options)

    assert str(refused.value) == text
    assert list(hooks) == []


def test_it_works_in_an_event_loop_too() -> None:
    hooks = Hooks()
    hooks.use("recommended")

    outcome = asyncio.run(hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": "frobnicate"}))

    assert outcome.decision == "ask"


# Files: layers, trust, reload.


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, folder in (("HOME", "home"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def test_a_file_that_is_only_found_arms_no_policy_until_it_is_trusted(project: Path) -> None:
    file = write(project / ".interpose" / "hooks.yaml", "policies: [frobs]\n")
    assert list(Hooks.discover(project)) == []

    trust(file)

    [hook] = Hooks.discover(project)
    assert (hook.label, hook.layer, hook.source) == ("frobs", "project", f"{file}:1")
    assert isinstance(hook.handler, PolicyHook)
    assert hook.handler.project == str(project)


def test_a_lower_layer_adds_to_a_policy_and_does_not_loosen_it(project: Path, tmp_path: Path) -> None:
    for path, frob in (
        (tmp_path / "config" / "interpose" / "hooks.yaml", "deny"),
        (project / ".interpose" / "hooks.yaml", "allow"),
    ):
        trust(write(path, f"policies:\n  - frobs: {{frob: {frob}}}\n"))

    hooks = Hooks.discover(project)

    assert [(hook.label, hook.layer) for hook in hooks] == [("frobs", "user"), ("frobs", "project")]
    assert decided(hooks, "frobnicate")[0] == "deny"


def test_two_layers_may_have_all_policies(project: Path, tmp_path: Path) -> None:
    uses = "".join(f"  - frobs: {{name: n{number}}}\n" for number in range(40))
    for path in (tmp_path / "config" / "interpose" / "hooks.yaml", project / ".interpose" / "hooks.yaml"):
        trust(write(path, f"policies:\n{uses}"))

    assert len(list(Hooks.discover(project))) == 80


def test_a_locked_policy_cannot_be_replaced_by_a_hook_of_its_name(tmp_path: Path) -> None:
    first = write(tmp_path / "first.yaml", "policies:\n  - frobs: {locked: true}\n")
    second = write(tmp_path / "second.yaml", "policies:\n  - frobs: {frob: allow}\n")

    with pytest.raises(ConfigError, match="is locked, and cannot be replaced"):
        Hooks.load(first, second)


def test_a_hook_that_a_policy_replaces_is_warned_of(tmp_path: Path) -> None:
    text = "hooks:\n  PreToolUse:\n    - {name: frobs, handler: os.getcwd}\npolicies: [frobs]\n"

    hooks = Hooks.load(write(tmp_path / "hooks.yaml", text))

    [warning] = hooks.warnings
    assert "frobs: replaced by the hook of the same name" in warning.what


def test_changed_policies_are_taken_over_on_reload_and_wrong_ones_are_not(tmp_path: Path) -> None:
    file = write(tmp_path / "hooks.yaml", "policies: [frobs]\n")
    hooks = Hooks.load(file)

    file.write_text("policies:\n  - frobs: {frob: ask}\n  - words\n")
    assert hooks.reload()
    assert decided(hooks, "frobnicate")[0] == "ask"

    file.write_text("policies:\n  - frobs: {frob: alow}\n")
    assert not hooks.reload()
    assert decided(hooks, "frobnicate")[0] == "ask"

    file.write_text("policies: []\n")
    assert hooks.reload()
    assert list(hooks) == []


# The real table.


def test_every_policy_of_the_table_can_be_found_and_used() -> None:
    assert RECOMMENDED not in POLICIES
    assert len(set(POLICIES)) == len(POLICIES)
    for name in POLICIES:
        policy = find_policy(name)
        assert policy.name == name
        for one in policy.parameters:
            assert one.default is None or one.read(one.default) is not None
            assert one.name not in reading.HOOK_OPTIONS


def test_a_rule_about_tools_says_nothing_of_a_prompt() -> None:
    hooks = hooks_of([{"words": {"allow": ["Bash", "Bash(ls)", "*"]}}])

    assert hooks.fire_sync("UserPromptSubmit", prompt="fudge").denied
