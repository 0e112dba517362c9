"""A Claude Code settings file to hooks: what cannot be read is passed over with a warning, the rest is armed."""

from typing import Any

import pytest

from interpose import ConfigError, deny, matching
from interpose.config.claude import read_settings, with_unique_names, without_copies
from interpose.config.declare import declare
from interpose.config.mapping import Configuration
from interpose.events import TABLE
from interpose.model import Hook


@pytest.fixture(autouse=True)
def _a_matcher(monkeypatch: pytest.MonkeyPatch) -> None:
    # How a matcher is compared is tested with matchers; here it only has to be there.
    if not hasattr(matching, "compile_claude_matcher"):
        monkeypatch.setattr(matching, "compile_claude_matcher", matching.compile_matcher, raising=False)


def read(hooks: Any, **more: Any) -> Configuration:
    options = {name: more.pop(name) for name in ("project_dir", "plugin_root") if name in more}
    return read_settings(
        TABLE, {"hooks": hooks, **more}, layer="project", source="s.json", directory="/conf", **options
    )


def one(handler: Any, event: str = "PreToolUse", **options: Any) -> Hook:
    found = read({event: [{"hooks": [handler]}]}, **options)
    assert len(found.hooks) == 1, found.warnings
    return found.hooks[0]


def warnings(hooks: Any, **more: Any) -> list[str]:
    return [str(problem) for problem in read(hooks, **more).warnings]


def command(line: str = "true", **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": line, **more}


@pytest.mark.parametrize("given", [{}, {"hooks": None}, {"hooks": {}}, {"model": "x", "hooks": {"Stop": []}}])
def test_settings_without_hooks_have_nothing_in_them(given):
    found = read_settings(TABLE, given, layer="project", source="", directory="", project_dir="")

    assert (found.hooks, found.warnings) == ([], [])


@pytest.mark.parametrize("given", [[], "x", None, {"hooks": []}, {"hooks": "x"}, {"hooks": 5}])
def test_settings_that_are_no_mapping_are_refused(given):
    with pytest.raises(ConfigError):
        read_settings(TABLE, given, layer="project", source="", directory="", project_dir="")


def test_a_group_gives_its_handlers_a_matcher():
    found = read({"PreToolUse": [{"matcher": "Bash", "hooks": [command("one"), command("two")]}]})

    assert [(hook.label, hook.matcher, hook.event) for hook in found.hooks] == [
        ("one", "Bash", "PreToolUse"),
        ("two", "Bash", "PreToolUse"),
    ]
    assert found.warnings == []


def test_a_hook_runs_beside_its_neighbours_and_fails_open():
    hook = one(command())

    assert (hook.type, hook.dialect, hook.parallel, hook.on_error) == ("command", "claude", True, "log")
    assert (hook.layer, hook.source, hook.name, hook.priority) == ("project", "s.json", None, 100)


def test_the_hooks_file_of_a_plugin_is_read():
    found = read({"Stop": [{"hooks": [command("'$CLAUDE_PLUGIN_ROOT'/x")]}]}, description="mine", plugin_root="/plug")

    assert found.hooks[0].binding.target.env == {"CLAUDE_PLUGIN_ROOT": "/plug"}
    assert found.warnings == []


# What a handler may say.


@pytest.mark.parametrize(
    ("event", "given", "seconds"),
    [
        ("PreToolUse", {}, 600), ("UserPromptSubmit", {}, 30), ("MessageDisplay", {}, 10), ("SessionEnd", {}, 1.5),
        ("PreToolUse", {"timeout": 5}, 5), ("SessionEnd", {"timeout": 0.5}, 0.5), ("Stop", {"timeout": 0}, 600),
    ],
)  # fmt: skip
def test_a_deadline_is_the_hooks_own_or_that_of_its_event(event, given, seconds):
    assert one(command(**given), event).timeout == seconds


@pytest.mark.parametrize(
    ("given", "on_error", "blocks"),
    [({}, "log", False), ({"onFailure": "continue"}, "log", False), ({"onFailure": "block"}, "abort", True),
     ({"onFailure": "stop"}, "abort", True), ({"onFailure": 5}, "abort", True)],
)  # fmt: skip
def test_any_word_on_failure_but_continue_is_block(given, on_error, blocks):
    hook = one(command(**given))
    read: Any = hook.binding.read

    assert (hook.on_error, read.keywords["blocks"]) == (on_error, blocks)


@pytest.mark.parametrize("key", ["async", "asyncRewake"])
def test_an_async_hook_is_not_waited_for(key):
    assert one({**command(), key: True}).background is True
    assert one({**command(), key: False}).background is False


def test_a_status_message_is_the_description():
    assert one(command(statusMessage="Looking…")).description == "Looking…"


def test_once_has_no_effect_and_is_reported():
    handler = command(once=True)

    assert one(handler).once is False
    assert len(warnings({"Stop": [{"hooks": [handler]}]})) == 1


def test_a_label_is_the_beginning_of_the_command_on_one_line():
    assert one(command("echo a\n  echo b")).label == "echo a echo b"
    assert one(command("x" * 200)).label == "x" * 60


def test_a_hook_with_a_script_is_named_by_its_file():
    hook = one(command('python3 "$CLAUDE_PROJECT_DIR"/.claude/hooks/check_bash.py --fast'))

    assert (hook.name, hook.label) == ("check_bash.py", "check_bash.py")
    assert one(command("${CLAUDE_PROJECT_DIR}/guard", args=["x"])).name == "guard"
    assert (one(command("echo a")).name, one(command("echo a")).label) == (None, "echo a")


def test_names_that_clash_are_numbered_within_an_event_and_a_layer():
    hooks = {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [command("./a.sh 1"), command("./a.sh 2"), command("x/a.sh")]},
            {"hooks": [command("./a.sh-2")]},
        ],
        "Stop": [{"hooks": [command("./a.sh")]}],
    }
    native = declare(TABLE, "Stop", None, command="x", name="a.sh", layer="project")

    named = with_unique_names([*read(hooks).hooks, native])

    assert [(hook.event, hook.name, hook.label) for hook in named] == [
        ("PreToolUse", "a.sh", "a.sh"),
        ("PreToolUse", "a.sh-2", "a.sh-2"),
        ("PreToolUse", "a.sh-3", "a.sh-3"),
        ("PreToolUse", "a.sh-2-2", "a.sh-2-2"),
        ("Stop", "a.sh-2", "a.sh-2"),
        ("Stop", "a.sh", "a.sh"),
    ]


# What is run.


def argv(handler: dict[str, Any], **options: Any) -> list[str]:
    return list(one(handler, **options).binding.target.argv)


def test_a_line_is_left_to_the_shell():
    line = 'cat "${CLAUDE_PROJECT_DIR}"/$(id)'

    assert argv(command(line), project_dir="/p")[-2:] == ["-c", line]
    assert argv(command(line, shell="bash"), project_dir="/p")[-2:] == ["-c", line]


def test_with_arguments_directories_are_put_in_as_plain_text():
    handler = command("${CLAUDE_PROJECT_DIR}/run", args=["${CLAUDE_PLUGIN_ROOT}/a b", "$HOME", "${OTHER}"])

    made = argv(handler, project_dir="/pro ject", plugin_root="/${CLAUDE_PROJECT_DIR}")
    assert made == ["/pro ject/run", "/${CLAUDE_PROJECT_DIR}/a b", "$HOME", "${OTHER}"]
    assert argv(command("/bin/x", args=[])) == ["/bin/x"]


def test_the_project_is_by_default_where_the_file_is():
    assert argv(command("/bin/x", args=["${CLAUDE_PROJECT_DIR}"])) == ["/bin/x", "/conf"]


def test_a_plugins_directory_outside_of_a_plugin_is_reported():
    handler = command("/bin/x", args=["${CLAUDE_PLUGIN_ROOT}"])

    assert argv(handler) == ["/bin/x", "${CLAUDE_PLUGIN_ROOT}"]
    assert len(warnings({"Stop": [{"hooks": [handler]}]})) == 1


@pytest.mark.parametrize(
    ("handler", "kind", "label"),
    [
        ({"type": "mcp_tool", "server": "s", "tool": "t"}, "mcp_tool", "s t"),
        (command("Get-Item x", shell="powershell"), "powershell", "Get-Item x"),
    ],
)
def test_a_handler_that_cannot_be_run_loads_with_a_warning(handler, kind, label):
    hook = one(handler)

    assert (hook.type, hook.label, hook.dialect) == (kind, label, "claude")
    assert len(warnings({"PreToolUse": [{"hooks": [handler]}]})) == 1


@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_a_handler_that_asks_a_model_loads(kind):
    handler = {"type": kind, "prompt": "Is it safe?"}
    hook = one(handler)

    assert (hook.type, hook.label, hook.dialect) == (kind, "Is it safe?", "claude")
    assert warnings({"PreToolUse": [{"hooks": [handler]}]}) == []


def test_a_hook_of_type_http_loads_without_a_word_and_its_secrets_are_not_its_name():
    handler = {
        "type": "http",
        "url": "http://ann:secret@localhost/x?key=secret",
        "headers": {"X": "$X"},
        "allowedEnvVars": ["X"],
    }

    hook = one(handler)

    assert (hook.type, hook.label, hook.timeout) == ("http", "http://localhost/x?…", 600)
    assert warnings({"PreToolUse": [{"hooks": [handler]}]}) == []


HTTP = {"type": "http", "url": "http://localhost/x"}
MCP_TOOL = {"type": "mcp_tool", "server": "s", "tool": "t"}


@pytest.mark.parametrize(
    ("event", "handler", "what"),
    [
        ("SessionStart", HTTP, "hooks of type http do not run at SessionStart"),
        ("Setup", HTTP, "hooks of type http do not run at Setup"),
        ("Setup", MCP_TOOL, "hooks of type mcp_tool do not run at Setup"),
        ("Stop", {"type": "http", "url": "ftp://localhost/"}, "url"),
        ("Stop", {"type": "http", "url": "http://a b/"}, "url"),
        ("Stop", {"type": "http", "headers": {}}, "url"),
        ("Stop", {**HTTP, "headers": {"X": "a\nb"}}, "headers"),
        ("Stop", {**HTTP, "headers": {"Content-Length": "1"}}, "headers"),
        ("Stop", {"type": "mcp_tool", "server": "s"}, "tool"),
        ("Stop", {**MCP_TOOL, "input": ["x"]}, "input"),
    ],
)
def test_what_the_client_does_not_run_is_skipped_with_a_warning(event, handler, what):
    settings = {event: [{"hooks": [handler]}]}

    assert read(settings).hooks == []
    assert [what in warning for warning in map(str, warnings(settings))][-1:] == [True]


def test_a_tool_runs_at_the_start_of_a_session_only_after_the_launch():
    matches = one(MCP_TOOL, event="SessionStart").matches

    assert matches is not None
    assert [source for source in ("startup", "resume", "fork", "clear", "compact") if matches(source)] == [
        "clear",
        "compact",
    ]


def test_http_has_no_async_and_a_tool_has_no_policy_for_failures():
    hook, tool = one({**HTTP, "async": True}), one({**MCP_TOOL, "onFailure": "block"})

    assert (hook.background, tool.on_error) == (False, "log")


def test_the_limits_of_a_settings_file_hold_for_its_requests():
    limits = {"allowedHttpHookUrls": ["http://localhost/*"], "httpHookAllowedEnvVars": ["A"]}
    hooks = [{**HTTP, "allowedEnvVars": ["A", "B"]}, {"type": "http", "url": "http://elsewhere/x"}]
    found = read_settings(TABLE, {**limits, "hooks": {"Stop": [{"hooks": hooks}]}})

    [hook] = found.hooks
    assert hook.binding.target.allowed == {"A"}
    assert "allowedHttpHookUrls" in str(found.warnings[-1])


def test_the_shell_does_not_matter_where_there_are_arguments():
    assert one(command("/bin/x", args=[], shell="powershell")).type == "command"


# What is passed over.


@pytest.mark.parametrize(
    ("hooks", "where"),
    [
        ({"PreToolUze": [{"hooks": [command()]}]}, "hooks.PreToolUze"),
        ({5: []}, "hooks.5"),
        ({"PreToolUse:Bash": []}, "hooks.PreToolUse:Bash"),
        ({"Stop": {}}, "hooks.Stop"),
        ({"Stop": [5]}, "hooks.Stop[0]"),
        ({"Stop": [{}]}, "hooks.Stop[0]"),
        ({"Stop": [{"hooks": {}}]}, "hooks.Stop[0]"),
        ({"PreToolUse": [{"matcher": 5, "hooks": [command()]}]}, "hooks.PreToolUse[0].matcher"),
        ({"Stop": [{"hooks": [5]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{}]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{"command": "x"}]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{"type": []}]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{"type": "webhook"}]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{"type": "command"}]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [command("  ")]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [command(args="x")]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [command(args=[5])]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [command(shell="fish")]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [command(timeout="5")]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [command(timeout=-1)]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{"type": "command", "command": "x", "async": "yes"}]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [command(statusMessage=5)]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{"type": "http"}]}]}, "hooks.Stop[0].hooks[0]"),
        ({"Stop": [{"hooks": [{**command(), "if": "Bash(x)"}]}]}, "hooks.Stop[0].hooks[0]"),
    ],
)
def test_what_cannot_be_read_is_passed_over_and_the_rest_stays(hooks, where):
    found = read({**hooks, "SessionEnd": [{"hooks": [command("stays")]}]})

    assert [hook.label for hook in found.hooks] == ["stays"]
    assert [problem.where for problem in found.warnings] == [where]


def test_a_misspelt_event_is_answered_with_the_nearest():
    assert "PreToolUse" in warnings({"PreToolUze": []})[0]


def test_a_bad_handler_does_not_take_its_neighbours_along():
    found = read({"Stop": [{"hooks": [5, command("one")]}, 7, {"hooks": [command("two")]}]})

    assert [hook.label for hook in found.hooks] == ["one", "two"]
    assert len(found.warnings) == 2


def test_a_matcher_where_there_is_nothing_to_match_is_not_looked_at():
    found = read({"Stop": [{"matcher": "Bash", "hooks": [command()]}, {"matcher": "*", "hooks": [command("x")]}]})

    assert [hook.matches for hook in found.hooks] == [None, None]
    assert [problem.where for problem in found.warnings] == ["hooks.Stop[0].matcher"]


@pytest.mark.parametrize("matcher", ["^(?!mcp__).*", "[", r"(a)\1", "|,"])
def test_a_matcher_that_cannot_be_read_leaves_hooks_that_always_run(matcher):
    found = read({"PreToolUse": [{"matcher": matcher, "hooks": [command("one"), command("two")]}]})

    assert [(hook.label, hook.matches) for hook in found.hooks] == [("one", None), ("two", None)]
    assert [problem.where for problem in found.warnings] == ["hooks.PreToolUse[0].matcher"]


def test_a_condition_holds_at_events_about_tools():
    hook = one({**command(), "if": "Bash(git *)"})

    assert hook.judge is not None
    assert hook.judge({"tool_name": "Bash", "tool_input": {"command": "git push"}}) == "certain"
    assert hook.judge({"tool_name": "Edit", "tool_input": {}}) is None


def test_a_condition_that_cannot_be_read_leaves_a_hook_that_always_runs():
    handler = {**command(), "if": "Bash(git"}

    assert one(handler).judge is None
    assert len(warnings({"PreToolUse": [{"hooks": [handler]}]})) == 1


def test_all_hooks_can_be_switched_off():
    found = read({"Stop": [{"hooks": [command()]}]}, disableAllHooks=True)

    assert found.hooks == []
    assert [problem.where for problem in found.warnings] == ["disableAllHooks"]
    assert len(read({"Stop": [{"hooks": [command()]}]}, disableAllHooks=False).hooks) == 1


def test_modules_of_a_plugin_are_reported():
    assert len(warnings({}, modules=["./x.js"])) == 1


# Copies.


def test_the_same_handler_runs_once():
    once = read({"PreToolUse": [{"matcher": "Bash", "hooks": [command(), command(timeout=5)]},
                                {"matcher": "Bash", "hooks": [command()]}]}).hooks  # fmt: skip
    again = read({"PreToolUse": [{"matcher": "Bash", "hooks": [command(), command("other")]}]}).hooks

    assert [hook.timeout for hook in once] == [600]
    assert [hook.label for hook in without_copies([*once, *again])] == ["true", "other"]


@pytest.mark.parametrize(
    "other",
    [
        {"PreToolUse": [{"matcher": "Edit", "hooks": [command()]}]},
        {"PostToolUse": [{"matcher": "Bash", "hooks": [command()]}]},
        {"PreToolUse": [{"matcher": "Bash", "hooks": [command("other")]}]},
        {"PreToolUse": [{"matcher": "Bash", "hooks": [command(args=[])]}]},
        {"PreToolUse": [{"matcher": "Bash", "hooks": [{**command(), "if": "Bash(x)"}]}]},
        {"PreToolUse": [{"matcher": "Bash", "hooks": [command(onFailure="block")]}]},
        {"PreToolUse": [{"matcher": "Bash", "hooks": [{**command(), "async": True}]}]},
        {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "true"}]}]},
    ],
)
def test_what_differs_is_no_copy(other):
    first = read({"PreToolUse": [{"matcher": "Bash", "hooks": [command()]}]}).hooks

    assert len(without_copies([*first, *read(other).hooks])) == 2


def test_copies_of_different_plugins_all_run():
    hooks = {"Stop": [{"hooks": [command("$CLAUDE_PLUGIN_ROOT/x")]}]}

    assert len(without_copies([*read(hooks, plugin_root="/a").hooks, *read(hooks, plugin_root="/b").hooks])) == 2


def test_hooks_that_were_not_written_for_the_client_are_left_alone():
    def guard(event: Any) -> Any:
        return deny("no")

    native = [declare(TABLE, "Stop", guard), declare(TABLE, "Stop", guard), declare(TABLE, "Stop", None, command="x"),
              declare(TABLE, "Stop", None, command="x")]  # fmt: skip

    assert without_copies(native) == native
