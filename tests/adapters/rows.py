"""The table: what one hook file must do in every framework. A row is a test; a framework's file brings the ``driver``."""

import asyncio
import contextlib
import functools
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import pytest
from tests.adapters.driver import HOOKS, Driver

from interpose import Question, Reply, allow, modify

sys.path.insert(0, str(HOOKS.parent))
import house

__all__ = ["ROWS", "count", "house", "rows_of"]

Row = Callable[[Driver], Awaitable[None]]
ROWS: dict[str, Row] = {}
"""Every row by its name; the sentence of its test is its docstring."""


def row(function: Row) -> Row:
    ROWS[function.__name__] = function
    return function


def rows_of(driver: type[Driver]) -> Any:
    """Return the test of the whole table for one framework; a row that the framework cannot do must fail."""

    @pytest.mark.parametrize("name", ROWS)
    def test_the_same_hooks_hold(name: str, record_property: Callable[[str, object], None]) -> None:
        house.seen.clear()
        why = driver.cannot.get(name)
        record_property("row", name)
        record_property("place", driver.place)
        record_property("cannot", why or "")
        if why is None:
            asyncio.run(ROWS[name](driver()))
            return
        with pytest.raises((AssertionError, NotImplementedError)):  # else the framework has closed the hole: say so
            asyncio.run(ROWS[name](driver()))

    return test_the_same_hooks_hold


def count(event: str, **fields: object) -> int:
    found = [one for one in house.seen if one["hook_event_name"] == event]
    return sum(all(one.get(name) == value for name, value in fields.items()) for one in found)


def edited(command: str) -> Callable[[Question], Reply]:
    """Return a person who allows a call with another command, under the names that the question shows."""
    return lambda question: allow() + modify(tool_input=dict.fromkeys(question.tool_input, command))


def said(texts: list[str], part: str) -> bool:
    return any(part in text for text in texts)


@row
async def deny(driver: Driver) -> None:
    """A hook denies a call: the tool does not run, and the model sees the reason."""
    played = await driver.play([["rm -rf /"], "done"])

    assert played.ran == []
    assert said(played.results, "rm is not allowed here")
    assert count("PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf /"}) == 1


@row
async def deny_by_command(driver: Driver) -> None:
    """A shell command denies a call."""
    played = await driver.play([["viacommand x"], "done"])

    assert played.ran == []
    assert said(played.results, "a shell script denies it")


@row
async def crash(driver: Driver) -> None:
    """A guard that crashes denies."""
    played = await driver.play([["crash it"], "done"])

    assert played.ran == []
    assert said(played.results, "crashes failed")


@row
async def rewrite(driver: Driver) -> None:
    """A hook rewrites the input: the tool runs with the new one, under the framework's own name of the field."""
    played = await driver.play([["ls"], "done"])

    assert played.ran == ["ls -la"]


@row
async def misfit(driver: Driver) -> None:
    """A rewritten input that does not fit the tool's schema is refused."""
    played = await driver.play([["misfit"], "done"])

    assert played.ran == []
    assert len(played.results) == 1


@row
async def redact(driver: Driver) -> None:
    """A hook rewrites the result: the model sees the new one."""
    played = await driver.play([["echo secret"], "done"])

    assert played.ran == ["echo secret"]
    assert said(played.results, "***")
    assert not said(played.results, "secret")


@row
async def context(driver: Driver) -> None:
    """Context that a hook adds to a result reaches the model with its next request."""
    played = await driver.play([["addcontext"], "done"])

    assert said(played.requests[1:], "CONTEXT-OF-A-HOOK")


@row
async def failure(driver: Driver) -> None:
    """A tool that fails fires PostToolUseFailure; what becomes of the error is left to the framework."""
    with contextlib.suppress(ValueError):  # some frameworks tell the model, others end the run
        await driver.play([["boom"], "done"])

    assert count("PostToolUseFailure") == 1
    assert count("PostToolUse") == 0


@row
async def ask_yes(driver: Driver) -> None:
    """A person allows a call that a hook asks about: it runs, and PreToolUse fires once."""
    questions: list[Question] = []
    played = await driver.play([["askme x"], "done"], ask=lambda question: questions.append(question) or True)

    assert played.ran == ["askme x"]
    assert [question.reason for question in questions] == ["the file of hooks asks"]
    assert count("PreToolUse") == 1


@row
async def ask_no(driver: Driver) -> None:
    """A person denies a call that a hook asks about: it does not run."""
    played = await driver.play([["askme x"], "done"], ask=lambda question: False)

    assert played.ran == []
    assert len(played.results) == 1


@row
async def ask_edited(driver: Driver) -> None:
    """A person allows a call with another input: the tool runs with that one."""
    played = await driver.play([["askme x"], "done"], ask=edited("echo edited"))

    assert played.ran == ["echo edited"]


@row
async def ask_edited_badly(driver: Driver) -> None:
    """What a person has edited is judged again by the guards."""
    played = await driver.play([["askme x"], "done"], ask=edited("rm -rf /"))

    assert played.ran == []


@row
async def ask_nobody(driver: Driver) -> None:
    """Without an approver, a call that a hook asks about is denied."""
    played = await driver.play([["askme x"], "done"], ask=None)

    assert played.ran == []
    assert not played.paused


@row
async def pause_yes(driver: Driver) -> None:
    """The framework's own pause asks the question; after a yes the call runs, and PreToolUse has fired once."""
    played = await driver.play_question([["askme x"], "done"], True)

    assert played.ran == ["askme x"]
    assert count("PreToolUse") == 1


@row
async def pause_no(driver: Driver) -> None:
    """After a no to the framework's own question the call does not run."""
    played = await driver.play_question([["askme x"], "done"], False)

    assert played.ran == []
    assert count("PreToolUse") == 1


@row
async def pause_edited(driver: Driver) -> None:
    """An input that was edited in the framework's own pause is judged again, and runs."""
    played = await driver.play_question([["askme x"], "done"], {"cmd": "echo edited"})

    assert played.ran == ["echo edited"]


@row
async def halt(driver: Driver) -> None:
    """A hook ends the turn: the model is not asked again."""
    played = await driver.play([["halt"], "never said"])

    assert played.ran == ["halt"]
    assert len(played.requests) == 1
    assert "never said" not in played.final


@row
async def prompt_denied(driver: Driver) -> None:
    """A hook denies a prompt: the model never sees it."""
    played = await driver.play(["never said"], prompt="a badprompt")

    assert played.requests == []
    assert "never said" not in played.final
    assert count("UserPromptSubmit") == 1


@row
async def prompt_context(driver: Driver) -> None:
    """Context that a hook adds to a prompt reaches the model."""
    played = await driver.play(["done"], prompt="what are the rules")

    assert said(played.requests, "RULES-OF-THE-HOUSE")


@row
async def message(driver: Driver) -> None:
    """A hook rewrites what the model is asked, and what it answers."""
    played = await driver.play(["the password is"], prompt="please editme")

    assert said(played.requests, "please EDITED")
    assert not said(played.requests, "editme")
    assert played.final == "the [redacted] is"


@row
async def stop(driver: Driver) -> None:
    """A hook does not let the agent stop: the model is told why and asked again."""
    played = await driver.play(["early", "late"])

    assert played.final == "late"
    assert said(played.requests[1:], "not done yet, go on")


@row
async def parallel(driver: Driver) -> None:
    """Calls of one turn are each governed."""
    played = await driver.play([["ls", "rm -rf /", "echo secret"], "done"])

    assert sorted(played.ran) == ["echo secret", "ls -la"]
    assert said(played.results, "rm is not allowed here")
    assert not said(played.results, "secret")


@row
async def streamed(driver: Driver) -> None:
    """A streamed run is governed as another."""
    played = await driver.play([["rm -rf /"], ["ls"], "done"], streamed=True)

    assert played.ran == ["ls -la"]
    assert said(played.results, "rm is not allowed here")


@row
async def sync(driver: Driver) -> None:
    """Code without an event loop is governed too."""
    loop = asyncio.get_running_loop()
    played = await loop.run_in_executor(None, functools.partial(driver.play_sync, [["rm -rf /"], ["ls"], "done"]))

    assert played.ran == ["ls -la"]
    assert said(played.results, "rm is not allowed here")


@row
async def cancelled(driver: Driver) -> None:
    """A run that is cancelled while a tool runs fires PostToolUseFailure as an interruption, and leaves nothing behind."""
    begun = asyncio.Event()
    before = asyncio.all_tasks()
    await driver.play_cancelled(begun.set)

    for task in asyncio.all_tasks() - before:  # the framework may end the tool in a task of its own
        await asyncio.wait_for(asyncio.wait([task]), 60)
    assert begun.is_set()
    assert count("PostToolUseFailure", is_interrupt=True) == 1


@row
async def subagent(driver: Driver) -> None:
    """An agent inside of a tool is governed, and its start and end are events."""
    played = await driver.play_subagent("helper", "rm -rf /")

    assert played.ran == []
    assert count("pre:agent:spawn", agent="helper") == 1
    assert count("SubagentStart", agent_type="helper") == 1
    assert count("SubagentStop", agent_type="helper") == 1
    assert count("post:agent:complete", agent="helper") == 1


@row
async def subagent_denied(driver: Driver) -> None:
    """A hook denies a subagent: it does not start."""
    played = await driver.play_subagent("forbidden", "ls")

    assert played.ran == []
    assert count("SubagentStart") == 0
    assert said(played.results, "that agent is not started here")


@row
async def handoff(driver: Driver) -> None:
    """An agent that a conversation is handed to is governed, and the handoff is an event."""
    played = await driver.play_handoff("helper", "rm -rf /")

    assert played.ran == []
    assert count("pre:agent:handoff", to_agent="helper") == 1
    assert said(played.results, "rm is not allowed here")


@row
async def handoff_denied(driver: Driver) -> None:
    """A hook denies a handoff: the other agent does not get the conversation."""
    played = await driver.play_handoff("forbidden", "ls")

    assert played.ran == []
    assert count("pre:agent:handoff", to_agent="forbidden") == 1


@row
async def conversations(driver: Driver) -> None:
    """Two conversations at once have a session each."""
    await asyncio.gather(
        driver.play([["addcontext"], "done"], conversation="one"), driver.play([["ls"], "done"], conversation="two")
    )

    sessions = {str(one["session_id"]) for one in house.seen if one["hook_event_name"] == "PreToolUse"}
    assert len(sessions) == 2
    assert count("SessionStart") == 2


@row
async def framework_object(driver: Driver) -> None:
    """Hooks see JSON where the framework has objects, and the tool gets the framework's objects."""
    got = await driver.play_object()

    [event] = [one for one in house.seen if one["hook_event_name"] == "PreToolUse"]
    given: Any = event["tool_input"]
    assert datetime.fromisoformat(str(given["when"])).year == 2026
    assert given["place"]["city"] == "Oslo"
    assert got == "2026 Oslo"
