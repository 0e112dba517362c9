"""The scripted model: what it plays, what it needs, and what is wrong with a script."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from interpose.models import (
    Assistant,
    Message,
    ModelError,
    Request,
    ToolCall,
    ToolResult,
    ToolResults,
    Turn,
    User,
)
from interpose.models.scripted import ScriptedModel


def play(model: ScriptedModel, *messages: Message, agent: str = "main", system: str = "", heard: Any = None) -> Turn:
    request = Request(system, messages or (User("Hello?"),), agent=agent)
    return asyncio.run(model.answer(request, heard.append) if heard is not None else model.answer(request))


# What it plays.


def test_turns_are_played_in_order_word_by_word() -> None:
    model = ScriptedModel(
        [{"say": "I look\n around."}, {"say": "Done.", "stop_reason": "max_tokens", "tokens": 90_000}]
    )
    heard: list[str] = []

    first, second = play(model, heard=heard), play(model)

    assert (first, second) == (Turn("I look\n around.", tokens=5), Turn("Done.", (), "max_tokens", 90_000))
    assert heard == ["I ", "look\n ", "around."]


def test_calls_have_ids_that_are_the_same_each_time_and_of_no_other_agent() -> None:
    script = {
        "turns": [{"calls": [{"Bash": {"command": "ls"}}, {"Read": {}}]}, {"call": {"Bash": {"command": "pwd"}}}],
        "agents": {"explorer": [{"call": {"Glob": {"pattern": "*"}}}]},
    }
    model = ScriptedModel(script)

    turns = [play(model), play(model, agent="explorer"), play(model)]

    assert [turn.calls for turn in turns] == [
        (ToolCall("call_1", "Bash", {"command": "ls"}), ToolCall("call_2", "Read", {})),
        (ToolCall("explorer_call_1", "Glob", {"pattern": "*"}),),
        (ToolCall("call_3", "Bash", {"command": "pwd"}),),
    ]
    assert [turn.stop_reason for turn in turns] == ["tool_use"] * 3


def test_input_that_is_text_is_what_the_model_writes() -> None:
    turn = play(ScriptedModel([{"calls": [{"Bash": '{"command": "ls"}'}, {"Bash": "ls"}]}]))

    assert [call.input for call in turn.calls] == [{"command": "ls"}, {}]
    assert [bool(call.problem) for call in turn.calls] == [False, True]


def test_what_a_turn_needs_fills_the_groups_of_its_text_and_input() -> None:
    needs = {
        "needs": "rule: (.*) (never)?",
        "say": "As told: $1, $2, $3, $$1.",
        "call": {"Bash": {"command": ["$1", {"deep": "$1"}], "count": 1}},
    }

    turn = play(ScriptedModel([needs]), User("one"), system="house rule: be kind \n")

    assert turn.text == "As told: be kind, , $3, $1."
    assert turn.calls[0].input == {"command": ["be kind", {"deep": "be kind"}], "count": 1}


def test_a_turn_that_needs_nothing_keeps_its_dollars() -> None:
    turn = play(ScriptedModel([{"say": "$1 $$1", "call": {"Bash": {"command": "echo $1"}}}]))

    assert (turn.text, turn.calls[0].input) == ("$1 $$1", {"command": "echo $1"})


def test_only_what_came_after_the_models_own_last_message_counts_as_sent() -> None:
    old, own = User("the secret"), Assistant("the secret", (ToolCall("a", "Bash", {}),))
    new = ToolResults((ToolResult("a", "the result"),))

    found = play(ScriptedModel([{"needs": "the (result)\nand", "say": "$1"}]), old, own, new, User("and"))
    with pytest.raises(ModelError, match="the turn needs 'secret', which the model was not sent") as raised:
        play(ScriptedModel([{"needs": "secret"}]), old, own, new)

    assert found.text == "result"
    assert raised.value.code == "off_script"
    assert str(raised.value).startswith("turns[0]: ")
    assert "the end of that was: the result" in str(raised.value)


def test_a_pause_is_the_time_that_a_turn_takes() -> None:
    model = ScriptedModel([{"say": "one two three", "pause": 0.3}, {"call": {"Bash": {}}, "pause": 0.3}])
    began = time.monotonic()

    play(model)
    middle = time.monotonic()
    play(model)

    assert middle - began >= 0.29
    assert time.monotonic() - middle >= 0.29


def test_a_pause_can_be_cancelled() -> None:
    async def run() -> None:
        model = ScriptedModel([{"say": "one two", "pause": 600}])
        await asyncio.wait_for(model.answer(Request("", [])), 0.05)

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_a_summary_without_a_script_is_made_of_what_was_said() -> None:
    model = ScriptedModel([])

    turn = play(model, User("first\nthing"), Assistant("x" * 300), agent="compactor")

    assert turn.text == f"So far: first thing {'x' * 188}…"
    assert play(model, User("short"), agent="compactor").text == "So far: short"


def test_a_summary_with_a_script_is_played() -> None:
    model = ScriptedModel({"turns": [], "agents": {"compactor": [{"say": "All is well."}]}})

    assert play(model, agent="compactor").text == "All is well."


def test_the_window_is_the_callers_or_the_scripts_or_a_usual_one() -> None:
    script = {"turns": [], "window": 1000}

    assert [ScriptedModel([]).window, ScriptedModel(script).window] == [200_000, 1000]
    assert ScriptedModel(script, window=50).window == 50


def test_closing_needs_nothing() -> None:
    asyncio.run(ScriptedModel([]).close())


# Off the script.


def test_a_script_at_its_end_says_whose_and_how_long_it_was() -> None:
    model = ScriptedModel([{"say": "One."}])
    play(model)

    with pytest.raises(ModelError, match="the agent main has 1 turns and was called once more") as raised:
        play(model)

    assert raised.value.code == "off_script"


@pytest.mark.parametrize(
    ("agent", "hint"),
    [("explorer", r"add agents: \{explorer: \[\{say: Hello.\}\]\}"), ("main", r"add turns: \[\{say: Hello.\}\]")],
)
def test_an_agent_without_turns_does_not_play_those_of_another(agent: str, hint: str) -> None:
    model = ScriptedModel({"agents": {"other": [{"say": "Mine."}]}})

    with pytest.raises(ModelError, match=rf"no turns for the agent {agent} \({hint}\)"):
        play(model, agent=agent)


# Files.

SCRIPT = """\
turns:
  - say: I'll look around.
    calls:
      - Bash: {command: ls}
  - needs: "rule: (.*)"
    say: "As told: $1"
agents:
  explorer:
    - say: Nothing.
"""


def test_a_file_is_played_as_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "turns.yaml").write_text(SCRIPT)
    (tmp_path / "turns.json").write_text(json.dumps([{"say": "In JSON."}], indent="\t"))
    model = ScriptedModel(tmp_path / "turns.yaml")

    turns = [play(model), play(model, User("rule: sing")), play(model, agent="explorer")]

    assert [turn.text for turn in turns] == ["I'll look around.", "As told: sing", "Nothing."]
    assert turns[0].calls == (ToolCall("call_1", "Bash", {"command": "ls"}),)
    assert play(ScriptedModel(str(tmp_path / "turns.json"))).text == "In JSON."


def test_a_turn_off_the_script_is_found_by_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "turns.yaml").write_text(SCRIPT)
    model = ScriptedModel(tmp_path / "turns.yaml")
    play(model)

    with pytest.raises(ModelError) as raised:
        play(model)

    assert str(raised.value).startswith(f"{tmp_path}/turns.yaml:5: turns[1]: the turn needs 'rule: (.*)'")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "FILE: a script is a mapping with turns in it (turns: [{say: Hello.}])"),
        ("just text", "FILE:1: a script is a mapping"),
        ("say: Hello.", "FILE:1: a script is a mapping"),
        ("turns: []\nturn: []", "FILE:2: turn: 'turn' means nothing here (use turns, agents, window)"),
        ("turns: {}", "FILE:1: turns: is not a list of turns"),
        ("turns:\n- hello", "FILE:2: turns[0]: is not a turn"),
        ("turns:\n- {}", "FILE:2: turns[0]: is not a turn"),
        ("turns:\n- say: a\n- says: b", "FILE:3: turns[1].says: 'says' means nothing here (use say, call, calls, "),
        ("turns:\n- say: no", "FILE:2: turns[0].say: False is not text (quote it)"),
        ("turns:\n- say: a\n  stop_reason: 5", "FILE:3: turns[0].stop_reason: 5 is not text (quote it)"),
        ("turns:\n- {call: {A: {}}, calls: []}", "FILE:2: turns[0]: has both call and calls"),
        ("turns:\n- calls: {A: {}}", "FILE:2: turns[0].calls: is not a list of calls"),
        ("turns:\n- calls:\n  - A: {}\n  - {}", "FILE:4: turns[0].calls[1]: is not one tool and its input"),
        ("turns:\n- calls:\n  - {A: {}, B: {}}", "FILE:3: turns[0].calls[0]: is not one tool and its input"),
        ("turns:\n- call: {A: [1]}", "FILE:2: turns[0].call: the input of A is not a mapping"),
        ("turns:\n- call: {A: {d: 2026-01-01}}", "FILE:2: turns[0].call: the input of A is not JSON data"),
        ("turns:\n- call: {A: {n: .nan}}", "FILE:2: turns[0].call: the input of A is not JSON data"),
        ("turns:\n- call: {A: {1: 2}}", "FILE:2: turns[0].call: the input of A is not JSON data (keys are text"),
        ("turns:\n- needs: '('", "FILE:2: turns[0].needs: is not a regular expression: missing )"),
        ("turns:\n- tokens: -1", "FILE:2: turns[0].tokens: -1 is not a number of tokens"),
        ("turns:\n- tokens: true", "FILE:2: turns[0].tokens: True is not a number of tokens"),
        ("turns:\n- pause: soon", "FILE:2: turns[0].pause: 'soon' is not a number of seconds"),
        ("turns:\n- pause: .inf", "FILE:2: turns[0].pause: inf is not a number of seconds"),
        ("turns: []\nagents: [a]", "FILE:2: agents: is not a mapping of agents to turns"),
        ("agents:\n  main: []", "FILE:2: agents.main: the main agent has its turns under turns"),
        ("agents:\n  a:\n  - say: x\n    say: y", "FILE:4: the key 'say' is there twice (remove one of them)"),
        ("turns: []\nwindow: wide", "FILE:2: window: 'wide' is not a number of tokens"),
        ("turns: [\n  {say: [}", "FILE:2: is not YAML: "),
        ("turns: !!python/object:os.system []", "FILE:1: is not YAML: "),
        ("turns: &a [*a]", "FILE:1: turns[0]: is not a turn"),
    ],
)
def test_what_is_wrong_with_a_script_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "turns.yaml"
    path.write_text(text)

    with pytest.raises(ModelError) as raised:
        ScriptedModel(path)

    assert raised.value.code == "bad_script"
    assert str(raised.value).replace(str(path), "FILE").startswith(said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{\n"turns": [}', ":2: is not JSON: Expecting value"),
        (b'{"turns": [{"say": 5}]}', ": turns[0].say: 5 is not text (quote it)"),
        (b"\xff", ": cannot be read: it is not UTF-8 text"),
        (None, ": cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_is_no_script_is_an_error(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "turns.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ModelError) as raised:
        ScriptedModel(path)

    assert str(raised.value).startswith(f"{path}{said}")


def test_a_script_in_python_is_copied() -> None:
    made = {"command": "ls"}
    model = ScriptedModel([{"call": {"Bash": made}}])
    made["command"] = "rm"

    assert play(model).calls[0].input == {"command": "ls"}
