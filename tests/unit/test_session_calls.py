"""One tool call: the input that hooks rewrote, and what the model gets to see of the result."""

import socket
from typing import Any

import pytest
from tests.unit.session_hosts import Collector, Tool, both, saying

from interpose import Hooks, deny, inject, modify
from interpose.session.results import WITHHELD
from interpose.session.schemas import schema_error

LS = {"command": "ls"}
SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
    "required": ["command"],
    "additionalProperties": False,
}


class TestSchema:
    def make(self, play: Any, rewritten: Any, schema: Any = SCHEMA, given: Any = LS) -> tuple[Any, list[Any]]:
        hooks = Hooks() if rewritten is None else saying("PreToolUse", modify(tool_input=rewritten))
        tool = Tool()

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", given, tool, schema=schema)

        return play(hooks, scenario), tool.calls

    @both
    @pytest.mark.parametrize(
        ("rewritten", "wrong"),
        [
            ({"command": 5}, "command: 5 is not of type 'string'"),
            ({}, "'command' is a required property"),
            ({"command": "ls", "cwd": "/"}, "Additional properties are not allowed ('cwd' was unexpected)"),
            ("ls", "'ls' is not of type 'object'"),
            ({"command": "ls", "timeout": True}, "timeout: True is not of type 'integer'"),
        ],
    )
    def test_a_rewritten_input_that_misfits_is_not_run(self, play: Any, rewritten: Any, wrong: str) -> None:
        answer, calls = self.make(play, rewritten)

        reason = f"a hook changed the input into one that Bash cannot take: {wrong}"
        assert (answer.ok, answer.denied, answer.reason, calls) == (False, True, reason, [])
        assert answer.content == f"Bash was not run: {reason}"
        assert answer.input == rewritten

    @both
    def test_what_misfits_is_not_even_asked_about(self, play: Any) -> None:
        hooks = saying("PreToolUse", modify(tool_input={}))
        heard = Collector(hooks)

        async def scenario(session: Any) -> None:
            await session.tool("Bash", LS, Tool(), schema=SCHEMA)

        play(hooks, scenario, default="ask", approver=lambda question: True)

        assert heard.names == ["SessionStart", "Setup", "PreToolUse", "SessionEnd"]

    @both
    def test_a_rewritten_input_that_fits_is_run(self, play: Any) -> None:
        answer, calls = self.make(play, {"command": "ls -l"})

        assert (answer.ok, calls) == (True, [{"command": "ls -l"}])

    @both
    @pytest.mark.parametrize("rewritten", [None, {"command": 5}], ids=["nothing said", "the same said"])
    def test_what_no_hook_changed_is_the_hosts_business(self, play: Any, rewritten: Any) -> None:
        answer, calls = self.make(play, rewritten, given={"command": 5})

        assert (answer.ok, calls) == (True, [{"command": 5}])

    @both
    @pytest.mark.parametrize(
        ("given", "rewritten"), [({"command": "ls", "timeout": 1}, {"command": "ls", "timeout": True})]
    )
    def test_what_only_equals_the_input_is_a_change(self, play: Any, given: Any, rewritten: Any) -> None:
        answer, calls = self.make(play, rewritten, given=given)

        assert (answer.denied, calls) == (True, [])

    @both
    def test_without_a_schema_everything_fits(self, play: Any) -> None:
        answer, calls = self.make(play, {"any": ["thing"]}, schema=None)

        assert (answer.ok, calls) == (True, [{"any": ["thing"]}])

    @both
    @pytest.mark.parametrize(
        ("schema", "wrong"),
        [
            ({"type": "nothing"}, "its schema is not valid: 'nothing' is not valid under any of the given schemas"),
            ({"$ref": "http://127.0.0.1:1/x.json"}, "its schema has a reference that cannot be resolved: "),
            ({"$ref": "#/$defs/none"}, "its schema has a reference that cannot be resolved: "),
            ({"properties": {"command": {"pattern": "("}}}, "its schema "),
            ({"$ref": "#"}, "its schema cannot be used: RecursionError"),
        ],
        ids=["bad type", "elsewhere", "nowhere", "bad pattern", "a circle"],
    )
    def test_a_schema_that_cannot_be_used_lets_no_change_through(self, play: Any, schema: Any, wrong: str) -> None:
        answer, calls = self.make(play, {"command": "ls -l"}, schema=schema)

        assert (answer.denied, calls) == (True, [])
        assert f"cannot take: {wrong}" in answer.reason

    @pytest.mark.filterwarnings("ignore")  # whoever fetches is warned first, and would stop at that
    def test_nothing_is_fetched_for_a_schema(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(0)
            address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
            socket.setdefaulttimeout(2)  # whoever fetched it would wait for an answer
            try:
                wrong = schema_error({}, {"$schema": address, "allOf": [{"$ref": f"{address}#/x"}]})
            finally:
                socket.setdefaulttimeout(None)

            assert wrong.startswith("its schema has a reference that cannot be resolved: ")
            with pytest.raises(BlockingIOError):
                server.accept()

    def test_a_message_does_not_repeat_a_long_input(self) -> None:
        assert len(schema_error({"command": ["x" * 100_000]}, SCHEMA)) < 600

    def test_a_schema_of_an_older_draft_is_read_as_such(self) -> None:
        old = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"n": {"maximum": 3}}}

        assert schema_error({"n": 5}, old) == "n: 5 is greater than the maximum of 3"
        assert schema_error({"n": 3}, old) == ""


BLOCKS = [{"type": "text", "text": "a"}, {"type": "image", "source": {}}]
NOTE = {"type": "text", "text": "note"}


class TestResults:
    def shown(self, play: Any, result: Any, *answers: Any) -> Any:
        hooks = Hooks()
        for says in answers:
            hooks.register("PostToolUse", lambda event, says=says: says, inline=True)

        async def scenario(session: Any) -> Any:
            answer = await session.tool("Bash", LS, Tool(result))
            return answer, session.pending_context

        return play(hooks, scenario)

    @both
    @pytest.mark.parametrize("result", ["text", "", None, 5, BLOCKS, {"a": [1]}, ["a", "b"], b"x"], ids=repr)
    def test_a_result_that_nobody_touches_stays_as_it_is(self, play: Any, result: Any) -> None:
        answer, _ = self.shown(play, result)

        assert (answer.ok, answer.content, answer.raw, answer.input) == (True, result, result, LS)
        assert answer.content is result

    @both
    def test_a_changed_result_is_what_the_model_sees(self, play: Any) -> None:
        answer, _ = self.shown(play, "key=123", modify(tool_response="key=[redacted]"))

        assert (answer.content, answer.raw) == ("key=[redacted]", "key=123")

    @both
    def test_changes_of_several_hooks_chain(self, play: Any) -> None:
        hooks = Hooks()
        hooks.register("PostToolUse", lambda e: modify(tool_response=f"{e.tool_response}b") + inject("x"), inline=True)
        hooks.register("PostToolUse", lambda e: modify(result=f"{e.result}c") + inject("y"), inline=True)

        async def scenario(session: Any) -> Any:
            return (await session.tool("Bash", LS, Tool("a"))).content

        assert play(hooks, scenario) == "abc\nx\ny"

    @both
    @pytest.mark.parametrize(
        ("result", "content"),
        [
            ("text", "text\nnote"),
            ("", "\nnote"),
            (None, "note"),
            (BLOCKS, [*BLOCKS, NOTE]),
            ([], [NOTE]),
            ({"ok": True, "è": None}, '{"ok": true, "è": null}\nnote'),
            (["a", "b"], '["a", "b"]\nnote'),
            (5, "5\nnote"),
            ({("a", 1): 2}, "{('a', 1): 2}\nnote"),
        ],
        ids=repr,
    )
    def test_an_injection_stands_in_the_result_whatever_that_is(self, play: Any, result: Any, content: Any) -> None:
        answer, pending = self.shown(play, result, inject("note"))

        assert (answer.content, answer.raw, answer.user_messages, pending) == (content, result, (), ())

    @both
    def test_an_injection_does_not_change_what_the_tool_returned(self, play: Any) -> None:
        result = list(BLOCKS)

        self.shown(play, result, inject("note"))

        assert result == BLOCKS

    @both
    def test_each_channel_gets_its_own_in_order(self, play: Any) -> None:
        answer, pending = self.shown(
            play, "text",
            inject("r1"), inject("u1", "user_message"), inject("s1", "system_context"),
            inject("s2", "system_context") + inject("r2"), inject("u2", "user_message"),
        )  # fmt: skip

        assert answer.content == "text\nr1\nr2"
        assert answer.user_messages == ("u1", "u2")
        assert pending == ("s1", "s2")

    @both
    def test_what_is_injected_into_a_result_of_mcp_is_a_block_of_its_content(self, play: Any) -> None:
        answer, _ = self.shown(play, {"content": BLOCKS, "structuredContent": {"n": 1}}, inject("more"))

        more = {"type": "text", "text": "more"}
        assert answer.content == {"content": [*BLOCKS, more], "structuredContent": {"n": 1}}

    @both
    @pytest.mark.parametrize("channel", ["tool_result", "user_message", "system_context"])
    def test_an_empty_injection_adds_nothing(self, play: Any, channel: str) -> None:
        answer, pending = self.shown(play, "text", inject("", channel))

        assert (answer.content, answer.user_messages, pending) == ("text", (), ())

    @both
    def test_a_result_that_is_withheld_is_kept_for_the_host(self, play: Any) -> None:
        answer, _ = self.shown(play, "secret", {"suppressOutput": True})

        assert (answer.ok, answer.content, answer.raw) == (True, WITHHELD, "secret")

    @both
    def test_what_is_injected_is_seen_although_the_result_is_withheld(self, play: Any) -> None:
        answer, _ = self.shown(play, BLOCKS, {"suppressOutput": True}, inject("ask for less"))

        assert (answer.content, answer.raw) == (f"{WITHHELD}\nask for less", BLOCKS)

    @both
    def test_a_tool_that_fails_is_no_denied_call(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)
        error = OSError("no \x1b[31mdisk")

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, Tool(error), tool_use_id="t1")

        answer = play(hooks, scenario)

        assert (answer.ok, answer.denied, answer.error) == (False, False, error)
        assert (answer.content, answer.reason) == ("no disk", "no disk")
        [event] = heard.of("PostToolUseFailure")
        assert (event.error, event.is_interrupt, event.tool_use_id, event.tool_input) == ("no disk", False, "t1", LS)
        assert event.duration_ms >= 0
        assert "PostToolUse" not in heard.names

    @both
    def test_the_model_gets_the_error_as_hooks_left_it(self, play: Any) -> None:
        hooks = saying("PostToolUseFailure", modify(error="exit status 1\nAWS_KEY=[removed]"))
        error = OSError("exit status 1\nAWS_KEY=AKIA")

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", {"command": "env; false"}, Tool(error))

        answer = play(hooks, scenario)

        assert (answer.ok, answer.content) == (False, "exit status 1\nAWS_KEY=[removed]")
        assert "AKIA" not in answer.reason
        assert answer.error is error

    @both
    def test_an_error_that_is_changed_into_something_else_than_text_stays(self, play: Any) -> None:
        hooks = saying("PostToolUseFailure", {"modify": {"error": 5}})

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, Tool(OSError("no disk")))

        answer = play(hooks, scenario)

        assert answer.content == "no disk"
        assert answer.outcomes[-1].results[0].status == "failed"

    @both
    def test_an_error_without_words_goes_by_its_name(self, play: Any) -> None:
        async def scenario(session: Any) -> Any:
            return (await session.tool("Bash", LS, Tool(KeyboardError()))).content

        class KeyboardError(Exception):
            def __str__(self) -> str:
                raise ValueError

        assert play(Hooks(), scenario) == "KeyboardError"

    @both
    def test_a_denied_call_has_no_event_after_it(self, play: Any) -> None:
        hooks = saying("PreToolUse", deny("no"))
        heard = Collector(hooks)

        async def scenario(session: Any) -> Any:
            return await session.tool("Bash", LS, Tool())

        answer = play(hooks, scenario)

        assert heard.names == ["SessionStart", "Setup", "PreToolUse", "SessionEnd"]
        assert (answer.outcome.event, len(answer.outcomes)) == ("PreToolUse", 1)

    @both
    def test_one_call_has_one_id(self, play: Any) -> None:
        hooks = Hooks()
        heard = Collector(hooks)

        async def scenario(session: Any) -> None:
            for given in (None, None, "t1"):
                await session.tool("Bash", LS, Tool(), tool_use_id=given)

        play(hooks, scenario)

        before = [event.tool_use_id for event in heard.of("PreToolUse")]
        assert before == [event.tool_use_id for event in heard.of("PostToolUse")]
        assert len(set(before)) == 3
        assert before[2] == "t1"
