"""Lines of scripts as they are read: what each means, and every mistake that is told."""

from typing import Any

import pytest
from tests.tables import rows
from tests.unit.script_lines import QUOTE_IT, SEED, problems, read, read_line

from interpose.events import TABLE
from interpose.scripts import Commands, Reference, ScriptLine, doubts
from interpose.scripts.parse import LONGEST_LINE, MOST_BYTES, MOST_LINES, MOST_PROBLEMS

SHAPE = "a line is: hook POINT[:SUBJECT] /command arguments"

SUBJECTS = "a subject is a name, names with |, a glob, or re: and a regular expression"


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
