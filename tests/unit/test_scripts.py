"""The ``.arma`` language: what a line means, what is wrong with a bad one, and what its command answers."""

import asyncio
import logging
import threading
import time
from collections.abc import Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any

import pytest
from tests.tables import rows

from interpose import BadHook, ConfigError, Hooks, Outcome, Reply, ask, context, deny, inject
from interpose.config.script_hooks import PRIORITY
from interpose.event import Event, event_of
from interpose.events import TABLE, EventSpec
from interpose.model import Hook, Template
from interpose.records import replace
from interpose.replies import HookFailed
from interpose.scripts import Commands, Reference, ScriptHandler, ScriptHost, ScriptLine, doubts, fill, parse
from interpose.scripts import handler as handler_module
from interpose.scripts.parse import LONGEST_LINE, MOST_BYTES, MOST_LINES, MOST_PROBLEMS

SEED = """\
hook pre:message /log debug "Sending: $prompt"
hook pre:tool:shell /perms check shellExec
hook post:agent:complete /notify "Agent $agent finished"
"""

SHAPE = "a line is: hook POINT[:SUBJECT] /command arguments"
QUOTE_IT = "put text with blanks in quotes"
SUBJECTS = "a subject is a name, names with |, a glob, or re: and a regular expression"


def read(text: str, commands: Commands | None = None) -> list[ScriptLine]:
    return parse(text, source="my.arma", table=TABLE, commands=commands or Commands())


def read_line(text: str, commands: Commands | None = None) -> ScriptLine:
    [line] = read(text, commands)
    return line


def problems(text: str, commands: Commands | None = None) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        read(text, commands)
    return [str(problem) for problem in refused.value.problems]


def make_event(name: str, /, **fields: Any) -> Event:
    template = Template(TABLE[name], "session-1")
    return event_of(template.row, template.complete(fields))


def hook_of(handler: Any) -> Hook:
    return Hook(row=TABLE["pre:tool"], handler=handler, type="script")


def answer(text: str, event: Event, commands: Commands | None = None, **world: Any) -> Any:
    """What a line answers at an event, run without an event loop."""
    commands = commands or Commands()
    handler = ScriptHandler(commands, ScriptHost(**world))
    return handler.blocking(hook_of(read_line(text, commands)), event, 0.0)


def shell(**fields: Any) -> Event:
    return make_event("pre:tool", tool_name="shell", tool_input={"command": "ls", "paths": ["/a", "/b"]}, **fields)


# Reading.


def test_the_three_lines_of_the_seed_are_read_as_they_stand() -> None:
    """S0-81, S0-84: a line is a point, a command and its arguments; quotes keep blanks together."""
    assert read(SEED) == [
        ScriptLine("pre:message", "log", (("debug",), ("Sending: ", Reference("prompt")))),
        ScriptLine("pre:tool:shell", "perms", (("check",), ("shellExec",))),
        ScriptLine("post:agent:complete", "notify", (("Agent ", Reference("agent"), " finished"),)),
    ]


def test_a_line_knows_its_place_and_its_text() -> None:
    line = read("# a guard\r\n\n\thook pre:tool /deny no  # never\r\n")[0]

    assert (line.line, line.column, line.source, line.where) == (3, 2, "my.arma", "my.arma:3:2")
    assert str(line) == line.text == "hook pre:tool /deny no  # never"


def test_a_line_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        read(SEED)[0].event = "post:tool"  # type: ignore[misc]


@rows(
    ("arguments", "expected"),
    [
        ("a", [("a",)]),
        ("a  b\tc", [("a",), ("b",), ("c",)]),
        ("'a b'", [("a b",)]),
        ('""', [()]),
        ("''", [()]),
        ("'$tool \\n \"'", [('$tool \\n "',)]),
        (r'"\" \\ \$ \n \t"', [('" \\ $ \n \t',)]),
        (r"\"\'\\\$\#\ x", [("\"'\\$# x",)]),
        ("a\"b c\"'d e'f", [("ab cd ef",)]),
        ("$tool", [(Reference("tool"),)]),
        ("$tool.", [(Reference("tool"), ".")]),
        ("${tool}.md", [(Reference("tool"), ".md")]),
        ("$args.command", [(Reference("args", ("command",)),)]),
        ("$args.paths.0/x", [(Reference("args", ("paths", "0")), "/x")]),
        ("${args.file-path}", [(Reference("args", ("file-path",)),)]),
        ('"is $tool, $tool_name"', [("is ", Reference("tool"), ", ", Reference("tool_name"))]),
        ("$$", [("$",)]),
        ("$$tool", [("$tool",)]),
        ('"$$$tool"', [("$", Reference("tool"))]),
        ("a#b", [("a#b",)]),
        ("a #b", [("a",)]),
        ("a# b", [("a#",), ("b",)]),
        ('"a # b" # c "', [("a # b",)]),
        ("'#'", [("#",)]),
        ("/deny hook", [("/deny",), ("hook",)]),
        ("你 好", [("你",), ("好",)]),
        ("", []),
    ],
)
def test_arguments_are_words_with_quotes_and_names_in_them(arguments: str, expected: list[Any]) -> None:
    """S0-84: a quoted argument with blanks is one argument."""
    commands = Commands()
    commands.add("any", lambda arguments, event: None)

    assert list(read_line(f"hook pre:tool /any {arguments}", commands).arguments) == expected


@rows(
    "text",
    [
        "",
        "\n\n",
        "   \t  ",
        "# hook nonsense /x",
        "\t# 'unclosed",
        "\ufeff# a mark that some editors write",
        "#\r\n\r\n",
    ],
)
def test_comments_and_empty_lines_are_no_lines(text: str) -> None:
    assert read(text) == []


def test_the_mark_that_some_editors_write_first_moves_no_column() -> None:
    assert read("\ufeffhook pre:tool /deny no")[0].column == 1


@rows("event", ["PreToolUse", "pre:tool", "pre:tool:shell", "pre:tool:mcp__*|Bash", "pre:tool:re:a$", "Stop"])
def test_every_spelling_of_an_event_is_taken_as_it_stands(event: str) -> None:
    assert read_line(f"hook {event} /deny no").event == event


ERRORS = [
    # The head.
    ("hok pre:tool /deny x", "1:1: a line begins with hook, not hok (did you mean hook?)"),
    ("deny x", f"1:1: a line begins with hook, not deny ({SHAPE})"),
    ("hook", f"1:5: an event is missing here ({SHAPE})"),
    ("hook # later", f"1:6: an event is missing here ({SHAPE})"),
    ("hook /deny x", f"1:6: an event is missing here ({SHAPE})"),
    ("hook pre:tol /deny x", "1:6: pre:tol is not an event (did you mean pre:tool?)"),
    ("hook pre:tol:shell /deny x", "1:6: pre:tol:shell is not an event (did you mean pre:tool?)"),
    ("hook pre:message:x /deny x", "1:6: pre:message:x is not an event (did you mean pre:message?)"),
    ("hook pre:tool: /deny x", "1:6: pre:tool: is not an event (did you mean pre:tool?)"),
    ("hook qqq /deny x", "1:6: qqq is not an event (`interpose events` lists them)"),
    ("hook " + "q" * 99 + " /deny x", f"1:6: {'q' * 60}… is not an event (`interpose events` lists them)"),
    ('hook pre:tool:"a" /deny x', f'1:15: " has no meaning in a subject ({SUBJECTS})'),
    ("hook pre:tool:a$b /deny x", f"1:16: $ has no meaning in a subject ({SUBJECTS})"),
    ("hook pre:tool:| /deny x", "1:15: matcher '|' names nothing (use \"*\" for everything)"),
    (
        "hook pre:tool:re:( /deny x",
        "1:15: matcher re:'(' is not a regular expression: missing ): ( (RE2 syntax: no look-around, no back-references)",
    ),
    # The command.
    ("hook pre:tool", f"1:14: a command is missing here ({SHAPE})"),
    ("hook pre:tool  # x", f"1:16: a command is missing here ({SHAPE})"),
    ("hook pre:tool deny x", "1:15: a command begins with /, and deny does not (write /deny)"),
    (
        "hook pre:tool priority=5 /deny x",
        "1:15: a command begins with /, and priority=5 does not (nothing goes between an event and its command)",
    ),
    ("hook pre:tool /dny x", "1:15: /dny is not a command (did you mean /deny?)"),
    ('hook pre:tool "/deny" x', '1:15: a command begins with /, and "/deny" does not (nothing goes between an event and its command)'),
    (
        "hook pre:tool /$tool x",
        "1:15: /$tool is not a command (there are /log, /notify, /perms, /deny, /ask, /context, /inject)",
    ),
    # Its arguments.
    ("hook pre:tool /deny", f"1:15: /deny takes 1 argument, and here is none (write /deny TEXT; {QUOTE_IT})"),
    ("hook pre:tool /deny no rm", f"1:24: /deny takes 1 argument, and here are 2 (write /deny TEXT; {QUOTE_IT})"),
    ("hook pre:tool /log debug", f"1:15: /log takes 2 arguments, and here is 1 (write /log LEVEL TEXT; {QUOTE_IT})"),
    (
        "hook post:tool /inject a b c",
        f"1:28: /inject takes 1 to 2 arguments, and here are 3 (write /inject [STRATEGY] TEXT; {QUOTE_IT})",
    ),
    ("hook pre:tool /log dbug x", "1:20: 'dbug' is not a level (did you mean debug?)"),
    ('hook pre:tool /log "" x', "1:20: '' is not a level (levels are debug, info, warning, error)"),
    ("hook pre:tool /perms chek x", "1:22: /perms can only check (write /perms check NAME)"),
    ("hook pre:tool /perms $tool x", "1:22: /perms can only check (write /perms check NAME)"),
    ("hook post:tool /inject user_mesage x", "1:24: 'user_mesage' is not a strategy (did you mean user_message?)"),
    # Quotes, escapes and names.
    ('hook pre:tool /deny "no', '1:21: this double quote is never closed (end the text with ")'),
    ('hook pre:tool /deny a"no', '1:22: this double quote is never closed (end the text with ")'),
    ("hook pre:tool /deny 'no", "1:21: this single quote is never closed (end the text with ')"),
    (r'hook pre:tool /deny "\d"', r"1:22: \d is not an escape (write \\ for a backslash)"),
    (r'hook pre:tool /deny "\""x\n', r"1:26: \n is not an escape (write \\ for a backslash)"),
    ("hook pre:tool /deny a\\", r"1:22: a backslash at the end of the line (write \\ for a backslash)"),
    ("hook pre:tool /deny $5", "1:21: a $ without a name (write $$ for a dollar)"),
    ('hook pre:tool /deny "a$"', "1:23: a $ without a name (write $$ for a dollar)"),
    ("hook pre:tool /deny $(id)", "1:21: a $ without a name (write $$ for a dollar)"),
    ("hook pre:tool /deny ${}", "1:21: ${} names no field (write ${name} or ${name.field})"),
    ('hook pre:tool /deny "${tool"', "1:22: ${tool names no field (write ${name} or ${name.field})"),
    ("hook pre:tool /deny ${tool.}", "1:21: ${tool.} names no field (write ${name} or ${name.field})"),
    ("hook pre:tool /deny ${args.你}", "1:21: ${args.你} names no field (write ${name} or ${name.field})"),
    ("hook pre:message /deny $promt", "1:24: pre:message has no field promt (did you mean prompt?)"),
    (
        "hook pre:message /deny $tool",
        "1:24: pre:message has no field tool (did you mean tools?)",
    ),
    ("hook pre:message /deny $prompt.txt", "1:24: prompt is text and has no fields (write ${prompt}.txt for text after it)"),
    ("hook pre:tool /deny $tool.a.b", "1:21: tool is text and has no fields (write ${tool}.a.b for text after it)"),
    ("hook Stop /deny $stop_hook_active.x",
     "1:17: stop_hook_active is true or false and has no fields (write ${stop_hook_active}.x for text after it)"),
    # What cannot be seen.
    ("hook pre:tool /deny a\rhook", "1:22: the invisible character U+000D (remove it)"),
    ("hook pre:tool /deny '\x1b[2K'", "1:22: the invisible character U+001B (remove it)"),
    ("# \u202e", "1:3: the invisible character U+202E (remove it)"),
    ("# \ud800", "1:3: the invisible character U+D800 (remove it)"),
    ("hook\xa0pre:tool /deny x", "1:5: the invisible character U+00A0 (remove it)"),
    ("hook pre:tool:shell\u200b /deny x", "1:20: the invisible character U+200B (remove it)"),
]  # fmt: skip


@rows(("text", "expected"), ERRORS)
def test_a_bad_line_is_reported_with_its_place_and_what_to_do(text: str, expected: str) -> None:
    assert problems(text) == [f"my.arma:{expected}"]


def test_every_problem_of_a_file_is_reported_at_once_in_its_order_and_nothing_is_registered() -> None:
    """S0-81: a bad line refuses the whole file, the good lines of it too."""
    text = 'hook pre:message /deny ok\r\nhook pre:tol /dny "\\q\r\n\n  hook pre:message /log loud "$promt"\r\n'

    assert [problem.partition(" (")[0] for problem in problems(text)] == [
        "my.arma:2:6: pre:tol is not an event",
        "my.arma:2:14: /dny is not a command",
        "my.arma:2:19: this double quote is never closed",
        "my.arma:2:20: \\q is not an escape",
        "my.arma:4:25: 'loud' is not a level",
        "my.arma:4:31: pre:message has no field promt",
    ]


def test_a_file_a_line_and_their_number_are_bounded() -> None:
    longest = "#" + "x" * (LONGEST_LINE - 1)

    assert read(longest) == []
    assert read("#\n" * MOST_LINES) == []
    assert problems(f"\n{longest}x") == [
        f"my.arma:2:10001: the line has more than {LONGEST_LINE} characters (shorten it)"
    ]
    assert problems("\n" * MOST_LINES + "#") == [f"my.arma:10001:1: has more than {MOST_LINES} lines (split it)"]
    assert problems("#" * (MOST_BYTES + 1)) == [f"my.arma: has more than {MOST_BYTES} bytes (split it)"]
    assert problems("#é\n" * (MOST_BYTES // 4 + 1)) == [f"my.arma: has more than {MOST_BYTES} bytes (split it)"]


def test_a_file_that_is_no_script_at_all_is_not_complained_about_forever() -> None:
    found = problems("x\n" * (MOST_PROBLEMS + 500))

    assert len(found) == MOST_PROBLEMS + 1
    assert found[-1] == f"my.arma:{MOST_PROBLEMS}:1: too many problems to go on ({SHAPE})"


@rows(
    ("text", "expected"),
    [
        (
            "hook post:tool /deny x",
            "/deny cannot take effect at PostToolUse (a hook may context, inject, suppress there)",
        ),
        ("hook SessionEnd /context x", "/context cannot take effect at SessionEnd (a hook can only observe there)"),
        (
            "hook post:message /perms check x",
            "/perms cannot take effect at post:message (a hook can only observe there)",
        ),
        ("hook Stop /ask x", "/ask cannot take effect at Stop (a hook may context, keep going there)"),
        (
            "hook pre:tool /inject x",
            "/inject cannot take effect at PreToolUse (a hook may allow, ask, context, deny there)",
        ),
    ],
)
def test_a_command_that_its_event_gives_no_right_to_is_warned_of(text: str, expected: str) -> None:
    assert [str(doubt) for doubt in doubts(read(text), table=TABLE, commands=Commands())] == [
        f"my.arma:1:1: {expected}"
    ]


@rows(
    "text",
    [
        SEED,
        "hook Stop /deny x",
        "hook pre:message /ask x",
        "hook pre:tool /context x",
        "hook post:tool /inject x",
        "hook SessionEnd /log info x",
    ],
)
def test_nothing_is_warned_of_where_a_command_has_its_effect(text: str) -> None:
    assert doubts(read(text), table=TABLE, commands=Commands()) == []


# Filling in.


@rows(
    ("argument", "expected"),
    [
        ("$tool", "shell"),
        ("$tool_name", "shell"),
        ("$args", '{"command":"ls","paths":["/a","/b"],"你":[true,null,1.5]}'),
        ("$args.command", "ls"),
        ("$args.paths", '["/a","/b"]'),
        ("$args.paths.1", "/b"),
        ("[$args.paths.2]", "[]"),
        ("[$args.paths.x]", "[]"),
        ("[$args.paths." + "9" * 5000 + "]", "[]"),
        ("[$args.command.x]", "[]"),
        ("[$args.none]", "[]"),
        ("[$args.nothing.at.all]", "[]"),
        ("[$permission_mode]", "[]"),
        ("$session_id", "session-1"),
        ("'$tool'", "$tool"),
    ],
)
def test_a_name_is_the_events_field_when_the_hook_runs(argument: str, expected: str) -> None:
    """S0-83: a value is filled in when the hook runs; text as it is, the rest as JSON, what is missing as nothing."""
    tool_input = {"command": "ls", "paths": ["/a", "/b"], "你": [True, None, 1.5]}
    event = make_event("pre:tool", tool_name="shell", tool_input=tool_input)

    assert fill(read_line(f"hook pre:tool /deny {argument}").arguments[0], event) == expected


def test_an_empty_argument_is_the_empty_text() -> None:
    assert fill((), shell()) == ""


def test_the_result_of_a_tool_is_called_result() -> None:
    event = make_event("post:tool", tool_name="shell", tool_response={"lines": [{"text": "a\nb"}]})
    line = read_line('hook post:tool /context "$result.lines.0.text|$result"')

    assert fill(line.arguments[0], event) == 'a\nb|{"lines":[{"text":"a\\nb"}]}'


@rows("value", ['"; /deny x', "$tool ${tool}", "a b\nhook pre:tool /log", "# x", "\\", "'"])
def test_what_is_filled_in_is_never_read_again(value: str) -> None:
    """S0-83: no value adds an argument, a quote or a command."""
    seen: list[Any] = []
    commands = Commands()
    commands.add("see", lambda arguments, event: seen.append(arguments))
    line = read_line('hook pre:message /see $prompt "<$prompt>" end', commands)
    handler = ScriptHandler(commands, ScriptHost())

    asyncio.run(handler(hook_of(line), make_event("pre:message", prompt=value), 0.0))

    assert seen == [[value, f"<{value}>", "end"]]


class Odd(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError(key)

    def __iter__(self) -> Any:
        raise RuntimeError

    def __len__(self) -> int:
        return 1


@rows("value", [{"x": {1, 2}}, {"x": float("nan")}, {"x": Odd()}, Odd(), object()])
def test_a_value_that_cannot_be_written_fails_a_hosts_command_and_never_keeps_ours_from_denying(value: Any) -> None:
    event = make_event("pre:tool", tool_name="shell", tool_input=value)
    line = read_line('hook pre:tool /deny "no: $args.x$args"')

    with pytest.raises(HookFailed) as failed:
        fill(line.arguments[0], event)
    reply = ScriptHandler(Commands(), ScriptHost()).run(line, event)

    assert failed.value.failure.code == "payload"
    assert (reply.decision, reply.reason[:9]) == ("deny", "no: <args")


# The commands.


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_log_writes_the_text_with_the_current_value_at_its_level(level: str, caplog: pytest.LogCaptureFixture) -> None:
    """S0-82, S0-83: ``Sending: `` and the prompt of this firing, at the level that the line names."""
    caplog.set_level("DEBUG", "interpose.script")
    text = f'hook pre:message /log {level} "Sending: $prompt"'

    assert answer(text, make_event("pre:message", prompt="100% %s\x1b[2K")) is None
    assert answer(text, make_event("pre:message", prompt="then")) is None

    expected = getattr(logging, level.upper())
    assert caplog.record_tuples == [
        ("interpose.script", expected, "Sending: 100% %s"),
        ("interpose.script", expected, "Sending: then"),
    ]


def test_a_level_that_is_filled_in_is_looked_at_when_the_hook_runs() -> None:
    with pytest.raises(HookFailed, match="/log: 'loud' is not a level; there are debug, info, warning, error"):
        answer("hook pre:message /log $prompt x", make_event("pre:message", prompt="loud"))


@rows(
    ("line", "permissions", "expected"),
    [
        ("shellExec", {"shellExec": "allow"}, None),
        ("shellExec", {"shellExec": "ask"}, ask("permission shellExec must be asked for")),
        ("shellExec", {"shellExec": "deny"}, deny("permission shellExec is denied")),
        ("shellExec", {}, deny("permission shellExec is not known")),
        ("shellExec", {"shellExec": "Allow"}, deny("permission shellExec is 'Allow', which is not allow, ask or deny")),
        ("shellExec", {"shellExec": True}, deny("permission shellExec is True, which is not allow, ask or deny")),
        ("$tool", {"shell": "allow"}, None),
        ("$tool", {"$tool": "allow"}, deny("permission shell is not known")),
        ("$permission_mode", {}, deny("permission  is not known")),
    ],
)
def test_perms_denies_what_is_not_allowed_and_grants_nothing(line: str, permissions: Any, expected: Any) -> None:
    """S0-86: a permission that is denied, or that nobody knows, is a deny."""
    assert answer(f"hook pre:tool /perms check {line}", shell(), permissions=permissions) == expected


@rows(
    ("line", "expected"),
    [
        ('/deny "no $tool"', deny("no shell")),
        ('/deny ""', deny("")),
        ('/ask "may $tool run?"', ask("may shell run?")),
        ('/context "it runs $args.command"', context("it runs ls")),
        ("/inject hello", inject("hello")),
        ("/inject user_message", inject("user_message")),
        ("/inject user_message $tool", inject("shell", "user_message")),
        ("/inject tool_result x", inject("x", "tool_result")),
        ("/inject system_context x", inject("x", "system_context")),
    ],
)
def test_a_guard_can_be_one_line(line: str, expected: Reply) -> None:
    assert answer(f"hook pre:tool {line}", shell()) == expected


def test_a_strategy_that_is_filled_in_is_looked_at_when_the_hook_runs() -> None:
    with pytest.raises(HookFailed, match="/inject: 'shell'; strategies are tool_result, user_message, system_context"):
        answer("hook pre:tool /inject $tool x", shell())


class Fired:
    """A host that takes note of what is fired."""

    def __init__(self, said: Any = None) -> None:
        self.events: list[Any] = []
        self.said = said

    def __call__(self, event: str, /, **fields: Any) -> Any:
        self.events.append((event, fields))
        return self.said

    async def later(self, event: str, /, **fields: Any) -> Any:
        return self(event, **fields)


NOTIFY = 'hook post:agent:complete /notify "Agent $agent finished"'


def test_notify_fires_a_notification_with_the_agents_name_and_shows_it() -> None:
    """S0-87: the notification has the agent's name in it."""
    fired, shown = Fired(), list[str]()
    event = make_event("post:agent:complete", agent="scout\x07", result=None, agent_id="main")

    assert answer(NOTIFY, event, fire=fired, show=shown.append) is None
    assert shown == ["Agent scout finished"]
    assert fired.events == [(
        "Notification",
        {"message": "Agent scout\x07 finished", "notification_type": "script",
         "session_id": "session-1", "agent_id": "main"},
    )]  # fmt: skip


def test_notify_waits_for_a_host_that_fires_asynchronously() -> None:
    fired = Fired()
    handler = ScriptHandler(Commands(), ScriptHost(fire=fired.later))
    event = make_event("post:agent:complete", agent="scout")

    assert asyncio.run(handler(hook_of(read_line(NOTIFY)), event, 0.0)) is None
    assert len(fired.events) == 1


def test_notify_at_a_notification_is_shown_and_not_fired_again() -> None:
    fired, shown = Fired(), list[str]()

    answer('hook Notification /notify "seen: $message"', make_event("Notification", message="m"),
           fire=fired, show=shown.append)  # fmt: skip

    assert (fired.events, shown) == ([], ["seen: m"])


def test_notify_without_anybody_to_tell_is_silent() -> None:
    assert answer(NOTIFY, make_event("post:agent:complete", agent="scout")) is None


def test_what_the_hooks_of_the_notification_say_is_passed_on() -> None:
    said = Reply(context=("look",), messages=("hey",))

    assert answer(NOTIFY, make_event("post:agent:complete", agent="a"), fire=Fired(said)) == said


def test_a_terminal_that_is_gone_keeps_no_notification_from_being_fired_and_is_reported() -> None:
    def show(text: str) -> None:
        raise BrokenPipeError

    fired = Fired()

    with pytest.raises(BrokenPipeError):
        answer(NOTIFY, make_event("post:agent:complete", agent="a"), fire=fired, show=show)

    assert len(fired.events) == 1


# Commands of a host.


def test_a_host_adds_commands_with_and_without_the_slash() -> None:
    commands = Commands()
    commands.add("deploy", lambda arguments, event: None)
    commands.add("/team:review.now", lambda arguments, event: None)

    assert list(commands)[-2:] == ["deploy", "team:review.now"]
    assert "deploy" in commands
    assert "deploy" not in Commands()


@rows(
    ("name", "function", "bounds", "expected"),
    [
        ("deny", print, {}, "there is a command /deny already (choose another name)"),
        ("a b", print, {}, "'a b' cannot be the name of a command (letters, digits, _ - . and :)"),
        ("", print, {}, "'' cannot be the name of a command (letters, digits, _ - . and :)"),
        (5, print, {}, "5 cannot be the name of a command (letters, digits, _ - . and :)"),
        ("x", 5, {}, "/x: int cannot be called (give a function)"),
        ("x", print, {"fewest": 2, "most": 1}, "/x: no line has 2 to 1 arguments (fewest is at most most)"),
    ],
)
def test_a_command_that_could_not_work_is_refused(name: Any, function: Any, bounds: Any, expected: str) -> None:
    commands = Commands()

    with pytest.raises(BadHook) as refused:
        commands.add(name, function, **bounds)

    assert str(refused.value) == expected
    assert list(commands) == list(Commands())


def test_the_arguments_of_a_hosts_command_are_counted_as_it_says() -> None:
    commands = Commands()
    commands.add("deploy", lambda arguments, event: None, usage="WHERE [HOW …]", fewest=1)

    assert problems("hook pre:tool /deploy", commands) == [
        f"my.arma:1:15: /deploy takes at least 1 argument, and here is none (write /deploy WHERE [HOW …]; {QUOTE_IT})"
    ]
    assert len(read_line("hook pre:tool /deploy a b c d", commands).arguments) == 4


class CallableObject:
    async def __call__(self, arguments: list[str], event: Event) -> Reply:
        return deny(f"{arguments[0]} at {event.row.name}")


async def async_command(arguments: list[str], event: Event) -> Reply:
    return deny(f"{arguments[0]} at {event.row.name}")


def sync_command_that_gives_a_coroutine(arguments: list[str], event: Event) -> Any:
    return async_command(arguments, event)


def sync_command(arguments: list[str], event: Event) -> Reply:
    return deny(f"{arguments[0]} at {event.row.name}")


@rows(
    "function",
    [sync_command, async_command, CallableObject(), partial(sync_command_that_gives_a_coroutine)],
)
def test_a_hosts_command_is_sync_or_async_and_answers_as_any_hook_does(function: Any) -> None:
    commands = Commands()
    commands.add("stop", function)
    hooks = armed('hook pre:tool /stop "$tool"', commands)

    outcomes = [asyncio.run(hooks.fire("pre:tool", tool="shell")), hooks.fire_sync("pre:tool", tool="shell")]

    assert [outcome.reason for outcome in outcomes] == ["shell at PreToolUse"] * 2


def test_a_hosts_sync_command_runs_in_a_daemon_thread_and_sees_the_callers_context() -> None:
    seen: list[Any] = []
    request: ContextVar[str] = ContextVar("request")
    request.set("r-1")
    commands = Commands()
    commands.add("look", lambda arguments, event: seen.extend([threading.current_thread(), request.get()]))

    asyncio.run(armed("hook pre:message /look", commands).fire("pre:message"))

    thread, number = seen
    assert thread is not threading.main_thread()
    assert thread.daemon
    assert number == "r-1"


@rows("error", [ValueError("bad"), SystemExit(1), KeyboardInterrupt(), StopIteration()])
def test_a_hosts_command_that_raises_has_failed_and_nothing_else(error: BaseException) -> None:
    def fail(arguments: list[str], event: Event) -> None:
        raise error

    commands = Commands()
    commands.add("fail", fail)

    outcome = asyncio.run(armed("hook pre:tool /fail", commands).fire("pre:tool", tool="shell"))

    assert [(result.status, result.error and result.error.code) for result in outcome.results] == [
        ("failed", "hook_crash")
    ]


def test_a_hosts_command_that_hangs_is_given_up_at_its_deadline_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler_module, "_MOST_KEPT", 1)
    monkeypatch.setattr(handler_module, "_kept", [])
    go_on = threading.Event()
    commands = Commands()
    commands.add("hang", lambda arguments, event: go_on.wait(20))
    hooks = armed("hook pre:tool /hang", commands, timeout=0.2)
    began = time.monotonic()

    first = hooks.fire_sync("pre:tool", tool="shell")
    second = asyncio.run(hooks.fire("pre:tool", tool="shell"))
    go_on.set()
    handler_module._kept[0].join(10)
    third = hooks.fire_sync("pre:tool", tool="shell")

    assert time.monotonic() - began < 15
    assert [first.results[0].status, second.results[0].error, third.results[0].status] == [
        "timeout", "1 threads are kept by script commands that hang", "failed"]  # fmt: skip
    assert third.results[0].error is not None
    assert third.results[0].error.code == "bad_reply"  # wait() answers true, which is not an answer of a hook


# As a handler of the engine.


def armed(text: str, commands: Commands | None = None, *, timeout: float = 10, **world: Any) -> Hooks:
    """Hooks with the lines of a script in them, as a host arms them."""
    commands = commands or Commands()
    hooks = Hooks()
    hooks.add_handler("script", ScriptHandler(commands, ScriptHost(**{"fire": hooks.fire, **world})))
    for line in read(text, commands):
        hooks.register(line.event, line, type="script", priority=PRIORITY, timeout=timeout, source=line.where)
    return hooks


def fired_both_ways(hooks: Hooks, event: str, **fields: Any) -> list[Outcome]:
    return [asyncio.run(hooks.fire(event, **fields)), hooks.fire_sync(event, **fields)]


def test_the_lines_of_the_seed_run_in_the_engine(caplog: pytest.LogCaptureFixture) -> None:
    """S0-81 … S0-87: the script as it stands, at a host with and without an event loop."""
    caplog.set_level("DEBUG", "interpose.script")
    shown: list[str] = []
    hooks = armed(SEED, permissions={"shellExec": "deny"}, show=shown.append)
    told: list[str] = []
    hooks.register("Notification", lambda event: told.append(event.message), matcher="script")

    sent = fired_both_ways(hooks, "pre:message", prompt="hello")
    stopped = fired_both_ways(hooks, "pre:tool", tool="shell", args={})
    others = fired_both_ways(hooks, "pre:tool", tool="reader", args={})
    completed = fired_both_ways(hooks, "post:agent:complete", agent="scout", result=1)

    assert caplog.messages == ["Sending: hello"] * 2
    assert [(outcome.denied, outcome.reason) for outcome in stopped] == [(True, "permission shellExec is denied")] * 2
    assert [(outcome.allowed, len(outcome.results)) for outcome in others] == [(True, 0)] * 2
    assert shown == told == ["Agent scout finished"] * 2
    assert [[result.status for result in outcome.results] for outcome in sent + completed] == [["ok"]] * 4


def test_a_permission_that_is_allowed_is_no_objection_and_no_grant() -> None:
    """S0-85, S0-86"""
    hooks = armed(SEED, permissions={"shellExec": "allow"})

    for outcome in fired_both_ways(hooks, "pre:tool", tool="shell"):
        assert (outcome.allowed, outcome.granted, outcome.decision) == (True, False, "none")


def test_script_lines_run_after_priority_10_and_before_the_default() -> None:
    """S0-66: a hook from a script has priority 50."""
    order: list[str] = []
    commands = Commands()
    commands.add("mark", lambda arguments, event: order.append("script"))
    hooks = Hooks()
    hooks.register("pre:message", lambda event: order.append("default"))
    hooks.add_handler("script", ScriptHandler(commands, ScriptHost()))
    line = read_line("hook pre:message /mark", commands)
    hooks.register(line.event, line, type="script", priority=PRIORITY)
    hooks.register("pre:message", lambda event: order.append("early"), priority=10)

    hooks.fire_sync("pre:message")

    assert order == ["early", "script", "default"]


def test_notifications_about_notifications_end() -> None:
    shown: list[str] = []
    hooks = armed('hook Notification /notify "again: $message"\n' + NOTIFY, show=shown.append)

    asyncio.run(hooks.fire("post:agent:complete", agent="scout"))

    assert shown == ["Agent scout finished", "again: Agent scout finished"]


def test_a_hook_is_shown_as_its_line() -> None:
    hooks = armed("hook pre:tool /deny no")

    outcome = hooks.fire_sync("pre:tool", tool="x")

    assert (outcome.results[0].hook, outcome.results[0].source) == ("hook pre:tool /deny no", "my.arma:1:1")


@rows(
    ("line", "expected"),
    [
        ("hook pre:tool /deny no", "a hook of type script runs a line, not str"),
        (None, "a hook of type script runs a line, not NoneType"),
        (replace(read_line("hook pre:tool /deny no"), command="gone"), "my.arma:1:1: /gone is not a command"),
    ],
)
def test_a_hook_without_a_line_that_can_be_run_cannot_be_loaded_which_denies(line: Any, expected: str) -> None:
    hooks = Hooks()
    hooks.add_handler("script", ScriptHandler(Commands(), ScriptHost()))
    hooks.register("pre:tool", line, type="script")

    outcome = hooks.fire_sync("pre:tool", tool="x")

    assert outcome.denied
    assert outcome.results[0].error == expected


def test_a_hosts_own_event_is_known_to_a_script() -> None:
    table = TABLE.with_row(EventSpec("pre:deploy", "before a deployment", subject="place", can="deny", fields="place"))

    [line] = parse("hook pre:deploy:prod* /deny 'not $place'", source="x", table=table, commands=Commands())

    assert line.event == "pre:deploy:prod*"
