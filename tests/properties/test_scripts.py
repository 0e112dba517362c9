"""Any text as a script, and any value in a line of one."""

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import ALPHABET, things

from interpose import ConfigError
from interpose.errors import Problem
from interpose.event import Event, event_of
from interpose.events import TABLE
from interpose.model import Template
from interpose.replies import HookFailed, clean
from interpose.scripts import Commands, Reference, ScriptHandler, ScriptHost, ScriptLine, fill, parse
from interpose.scripts.lines import joined

COMMANDS = Commands()
COMMANDS.add("any", lambda arguments, event: arguments)

events = st.sampled_from(["pre:tool", "PreToolUse", "pre:tool:shell", "pre:tool:a*|B", "pre:tool:re:x$"])
pieces = st.sampled_from([
    "hook", " ", " ", "\t", "\n", "\r\n", "pre:tool", "pre:message", ":shell", ":re:(", "/deny", "/log", "/any", "/", "debug",
    '"', "'", "\\", "$", "${", "}", "$$", "$tool", "$args.x", "$prompt.y", "#", "a", "你", "\ufeff", "\x1b", "\u202e", "\ud800",
])  # fmt: skip
almost_scripts = st.lists(pieces, max_size=30).map("".join)
scripts = almost_scripts | st.text(max_size=60) | st.text(ALPHABET + "\n#hok", max_size=60)

texts = st.text(ALPHABET + "$${}#/ \"'", max_size=12).map(clean)
references = st.builds(
    Reference,
    st.sampled_from(["args", "tool_input"]),
    st.lists(st.from_regex(r"[A-Za-z0-9_-]{1,4}", fullmatch=True), max_size=3).map(tuple),
)
templates = st.lists(texts | references, max_size=5).map(joined)
lines = st.builds(ScriptLine, events, st.just("any"), st.lists(templates, max_size=4).map(tuple))


def read(text: str) -> list[ScriptLine]:
    return parse(text, source="my.arma", table=TABLE, commands=COMMANDS)


def problems(text: str) -> tuple[Problem, ...]:
    """What is wrong with a script; nothing if it was taken."""
    try:
        read(text)
    except ConfigError as error:
        return error.problems
    return ()


def tool_event(tool_input: Any) -> Event:
    template = Template(TABLE["pre:tool"], "session")
    return event_of(template.row, template.complete({"tool_name": "shell", "tool_input": tool_input}))


@given(scripts)
def test_every_text_is_a_script_or_refused_with_places_in_it(text: str) -> None:
    """S0-81: the whole file or nothing, and never anything but a ConfigError."""
    rows = text.removeprefix("\ufeff").split("\n")

    for problem in problems(text):
        _, line, column = problem.where.split(":")
        assert 1 <= int(column) <= len(rows[int(line) - 1].removesuffix("\r")) + 1
        assert clean(str(problem)) == str(problem)


@given(st.lists(scripts, max_size=3), scripts)
def test_a_bad_line_is_found_wherever_it_stands(before: list[str], after: str) -> None:
    text = "\n".join([*before, "hook pre:tol /deny x", after])
    number = sum(part.count("\n") + 1 for part in before) + 1

    assert f"my.arma:{number}:6" in [problem.where for problem in problems(text)]


@given(lines)
def test_a_line_that_is_written_out_is_read_back(line: ScriptLine) -> None:
    """S0-84: whatever an argument holds, its quotes keep it one argument."""
    [found] = read(line.render())

    assert found == line
    assert found.render() == line.render()


@given(lines, st.sampled_from(["  # a comment", "\t", " #'", "\r", "\r\n"]))
def test_blanks_and_comments_after_a_line_change_nothing(line: ScriptLine, after: str) -> None:
    assert read(f"\t {line.render()}{after}") == [line]


@given(lines, texts | st.sampled_from(['"', "' x", "$tool", "${args}", "a\nb", "/deny", "# x", "a b", "\\"]))
def test_no_value_changes_the_number_of_arguments_or_is_read_again(line: ScriptLine, value: str) -> None:
    """S0-83: a text is filled in as it is, in its own argument."""
    event = tool_event(value)
    [found] = read(line.render())

    filled = [fill(argument, event) for argument in found.arguments]

    assert filled == [
        "".join(part if isinstance(part, str) else "" if part.path else value for part in argument)
        for argument in line.arguments
    ]


@given(templates, things)
def test_filling_in_gives_text_or_fails_the_hook_and_leniently_always_text(template: Any, value: Any) -> None:
    event = tool_event(value)

    assert isinstance(fill(template, event, lenient=True), str)
    with suppress(HookFailed):
        assert isinstance(fill(template, event), str)


@given(things)
def test_whatever_an_event_holds_a_line_that_denies_denies(value: Any) -> None:
    [line] = read('hook pre:tool /deny "no: $args $args.x.0"')

    assert ScriptHandler(COMMANDS, ScriptHost()).run(line, tool_event(value)).decision == "deny"


@given(st.dictionaries(texts, st.sampled_from(["allow", "ask", "deny"]) | things, max_size=3), texts)
def test_only_the_word_allow_lets_an_action_through(permissions: Any, name: str) -> None:
    """S0-86"""
    [line] = read(ScriptLine("pre:tool", "perms", (("check",), joined([name]))).render())

    reply = ScriptHandler(COMMANDS, ScriptHost(permissions=permissions)).run(line, tool_event({}))

    said = permissions.get(name)
    assert (None if reply is None else reply.decision) == {"allow": None, "ask": "ask"}.get(
        said if isinstance(said, str) else "", "deny"
    )
