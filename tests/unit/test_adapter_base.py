"""What all adapters share, without a framework."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.session_hosts import Collector

from interpose import Hooks, deny
from interpose.adapters.base import Adapter, Refused, Unfinished, merge_input, unanswered

WHEN = datetime(2026, 11, 17, tzinfo=UTC)


class Paused(Exception):
    """Raised by a framework that asks for something and runs the tool again."""


def run_tool(adapter: Adapter, tool: Callable[[], Any]) -> Any:
    async def main() -> Any:
        session = await adapter.session("one")
        call = await adapter.begin(session, "helper", {"task": "go"}, id="1")
        result, answer = await adapter.run(call, session, tool)
        return result, answer.content, call.state

    return asyncio.run(main())


def raising(error: BaseException) -> Callable[[], Any]:
    def tool() -> None:
        raise error

    return tool


def test_what_hooks_left_alone_keeps_the_objects_of_the_framework() -> None:
    given = {"when": WHEN, "city": "Oslo"}

    assert merge_input(given, {"when": WHEN.isoformat(), "city": "Bergen"}) == {"when": WHEN, "city": "Bergen"}


def test_an_object_that_a_hook_rewrote_is_refused() -> None:
    with pytest.raises(Refused, match="a hook changed when"):
        merge_input({"when": WHEN}, {"when": "2027-01-01T00:00:00+00:00"})


@pytest.mark.parametrize(
    ("messages", "begin"), [([], 0), (["you"], 0), (["you", "me", "you", "you"], 2), (["you", "me"], 2)]
)
def test_messages_are_unanswered_from_the_last_answer_on(messages: list[str], begin: int) -> None:
    assert unanswered(messages, lambda one: one == "me") == begin


@pytest.mark.parametrize("error", [Unfinished("later"), Paused()])
def test_a_tool_that_pauses_has_not_failed(error: Exception) -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    with pytest.raises(type(error)):
        run_tool(Adapter(hooks, pauses=(Paused,)), raising(error))

    assert heard.of("PostToolUseFailure") == []


def test_a_tool_that_raises_has_failed() -> None:
    hooks = Hooks()
    heard = Collector(hooks)

    with pytest.raises(OSError, match="no disk"):
        run_tool(Adapter(hooks), raising(OSError("no disk")))

    assert [one.error for one in heard.of("PostToolUseFailure")] == ["no disk"]


def test_an_agent_in_a_tool_ends_with_it_although_a_hook_keeps_it_going() -> None:
    hooks = Hooks()
    hooks.register("SubagentStop", lambda event: deny("go on"))
    heard = Collector(hooks)
    adapter = Adapter(hooks, agents=["helper"])

    assert run_tool(adapter, lambda: "ok") == ("ok", "ok", "done")
    assert [len(heard.of(event)) for event in ("SubagentStart", "SubagentStop", "post:agent:complete")] == [1, 1, 1]


def test_an_answer_that_cannot_be_used_refuses() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: {"decision": "ask"})
    adapter = Adapter(hooks)

    def broken() -> Any:
        raise RuntimeError("no schema")

    async def main() -> None:
        session = await adapter.session("one")
        call = await adapter.begin(session, "shell", {"cmd": "ls"}, id="1", schema=broken)
        assert call.state == "asked"
        await adapter.answer(call, {"tool_input": {"cmd": "ls -la"}})

    with pytest.raises(Refused, match="the answer cannot be used: no schema"):
        asyncio.run(main())


def test_a_version_that_was_not_tested_warns_where_the_adapter_is_made() -> None:
    with pytest.warns(UserWarning, match="tested with pytest 1 and later, below 2"):
        Adapter(Hooks(), tested=("pytest", "1", "2"))
