"""LiteLLM: its real proxy, a client that runs tools, and a server behind it with scripted models."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import openai
import pytest
from tests.adapters.driver import HOOKS, Driver, Played, Shell, Turn
from tests.adapters.litellm_proxy import KEY, Script, Upstream, config_file, litellm, proxy
from tests.adapters.pages import assert_page_shows
from tests.adapters.rows import count, house, rows_of

from interpose import Hooks, UsageError, modify
from interpose.adapters.litellm import Guardrail

pytestmark = pytest.mark.filterwarnings("ignore")  # the proxy has warnings of its own

PARAMETERS = {"type": "object", "properties": {"cmd": {"type": "string"}}, "required": ["cmd"]}
TOOLS: Any = [{"type": "function", "function": {"name": "shell", "parameters": PARAMETERS}}]
OPTIONS: Any = {"guardrail_name": "interpose", "event_hook": ["pre_call", "post_call"], "default_on": True}


class Proxy:
    """The proxy of all tests. Each test, or play, puts a guardrail of its own into it."""

    url: ClassVar[str]
    upstream: ClassVar[Upstream]
    loaded: ClassVar[Any]
    """The guardrail that the proxy has made by its configuration."""
    _for: ClassVar[Any] = None

    @classmethod
    def govern(cls, hooks: Any = HOOKS, ask: Any = None) -> None:
        """Replace the guardrail, unless another play of the same test has done so."""
        wanted = (asyncio.get_running_loop(), ask) if _in_loop() else object()
        if wanted != cls._for:
            cls._for = wanted
            others = [one for one in litellm.callbacks if not isinstance(one, Guardrail)]
            litellm.callbacks[:] = [*others, Guardrail(hooks, ask=ask, **OPTIONS)]


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@pytest.fixture(scope="module", autouse=True)
def _proxy() -> Iterator[None]:
    Proxy.upstream = Upstream()
    with tempfile.TemporaryDirectory() as folder, proxy(config_file(Path(folder), Proxy.upstream, HOOKS)) as url:
        Proxy.url = url
        [Proxy.loaded] = [one for one in litellm.callbacks if isinstance(one, Guardrail)]
        yield
    Proxy.upstream.close()


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    house.seen.clear()


class Client:
    """An agent in the client: it asks the proxy, runs the tools and sends what they return, until there is a text."""

    def __init__(self, turns: Sequence[Turn], conversation: str | None = "one") -> None:
        self.script, self.shell = Script(turns), Shell()
        self.model = Proxy.upstream.add(self.script)
        self.messages: list[Any] = []
        self.more: Any = {"metadata": {"session_id": conversation}} if conversation else {}

    def request(self, stream: bool = False) -> dict[str, Any]:
        about = {"model": self.model, "messages": self.messages, "tools": TOOLS, "extra_body": self.more}
        return {**about, "stream": True} if stream else about

    def take(self, message: Any) -> bool:
        """Take an answer, and run its calls; say whether there were any."""
        calls = message.get("tool_calls") or []
        self.messages.append(message)
        for call in calls:
            result = self.shell(**json.loads(call["function"]["arguments"]))
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        return bool(calls)

    async def run(self, prompt: str = "go", stream: bool = False) -> Played:
        self.messages.append({"role": "user", "content": prompt})
        async with openai.AsyncOpenAI(base_url=Proxy.url, api_key=KEY, max_retries=0) as client:
            while True:
                answer = await client.chat.completions.create(**self.request(stream))
                message = _joined([one async for one in answer]) if stream else _plain(answer.choices[0].message)
                if not self.take(message):
                    return self.played(message)

    def run_sync(self) -> Played:
        self.messages.append({"role": "user", "content": "go"})
        with openai.OpenAI(base_url=Proxy.url, api_key=KEY, max_retries=0) as client:
            while True:
                message = _plain(client.chat.completions.create(**self.request()).choices[0].message)
                if not self.take(message):
                    return self.played(message)

    def played(self, message: Any) -> Played:
        return Played(self.shell.ran, self.script.results, self.script.requests, message.get("content") or "")


def _plain(message: Any) -> Any:
    kept = message.model_dump(exclude_none=True)
    return {key: kept[key] for key in ("role", "content", "tool_calls") if kept.get(key)}


def _joined(chunks: list[Any]) -> Any:
    """Return the message of a stream, joined as a client does: by the index of each call."""
    deltas = [one.choices[0].delta for one in chunks if one.choices]
    calls: dict[int, Any] = {}
    for one in (call for delta in deltas for call in delta.tool_calls or []):
        known = calls.setdefault(
            one.index, {"id": one.id, "type": "function", "function": {"name": "", "arguments": ""}}
        )
        known["function"]["name"] += one.function.name or ""
        known["function"]["arguments"] += one.function.arguments or ""
    message: Any = {"role": "assistant", "content": "".join(delta.content or "" for delta in deltas)}
    return {**message, "tool_calls": list(calls.values())} if calls else message


class LiteLLM(Driver):
    cannot: ClassVar[Mapping[str, str]] = {
        "failure": "tools run in the client, and a result has no mark for an error",
        "pause_yes": "a proxy cannot wait for a person",
        "pause_no": "a proxy cannot wait for a person",
        "pause_edited": "a proxy cannot wait for a person",
        "cancelled": "tools run in the client",
        "subagent": "agents run in the client",
        "subagent_denied": "agents run in the client",
        "handoff": "agents run in the client",
        "handoff_denied": "agents run in the client",
        "framework_object": "its calls are JSON: there are no objects",
    }

    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        Proxy.govern(hooks, ask)
        return await Client(turns, conversation).run(prompt, streamed)

    def play_sync(self, turns: Sequence[Turn]) -> Played:
        Proxy.govern()
        return Client(turns).run_sync()


test_the_same_hooks_hold = rows_of(LiteLLM)


def _run(client: Client, prompt: str = "go", **more: Any) -> Played:
    return asyncio.run(client.run(prompt, **more))


def test_the_page_shows_what_its_program_prints() -> None:
    assert_page_shows("litellm", LITELLM_LOCAL_MODEL_COST_MAP="True")


def test_the_configuration_of_the_proxy_makes_the_guardrail() -> None:
    assert Proxy.loaded.guardrail_name == "interpose"
    assert Proxy.loaded.adapter.hooks.wants("PreToolUse")


def test_the_model_is_told_of_refused_calls_in_all_later_requests() -> None:
    Proxy.govern()
    client = Client([["rm -rf /"], ["rm -rf /x", "ls"], ["ls"], "done"])
    _run(client)
    roles = [one["role"] for one in client.script.bodies[-1]["messages"]]

    assert roles == ["user", "assistant", "tool", "assistant", "tool", "tool", "assistant", "tool"]
    assert sum("rm is not allowed here" in one for one in client.script.results) == 2
    assert [one["role"] for one in client.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]


def test_a_redacted_result_stays_redacted_in_later_requests() -> None:
    Proxy.govern()
    client = Client([["echo secret"], ["ls"], "done"])
    _run(client)

    assert client.script.results == ["ran: echo ***", "ran: ls -la"]
    assert count("PostToolUse") == 2
    assert "secret" in str(client.messages)  # the client has its own


def test_a_call_that_is_not_known_is_judged_with_its_result() -> None:
    Proxy.govern()
    client = Client(["done"], conversation=None)
    call = {"id": "old", "type": "function", "function": {"name": "shell", "arguments": '{"cmd": "rm -rf /"}'}}
    client.messages = [
        {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "old", "content": "ran"},
    ]  # fmt: skip
    _run(client)

    assert "rm is not allowed here" in client.script.results[0]


def test_requests_without_a_session_are_sessions_of_their_own() -> None:
    Proxy.govern()
    client = Client([["ls"], "done"], conversation=None)
    _run(client)

    assert client.shell.ran == ["ls -la"]
    assert len({one["session_id"] for one in house.seen if one["hook_event_name"] == "pre:message"}) == 2


def test_a_streamed_answer_is_held_back_until_hooks_have_seen_it() -> None:
    Proxy.govern()
    played = _run(Client(["the password is"]), stream=True)

    assert played.final == "the [redacted] is"


def test_streamed_parallel_calls_are_each_governed() -> None:
    Proxy.govern()
    client = Client([["ls", "rm -rf /", "echo two"], "done"])
    _run(client, stream=True)

    assert client.shell.ran == ["ls -la", "echo two"]


def test_hooks_hide_tools_from_the_model() -> None:
    hooks = Hooks()
    hooks.register("pre:message", lambda event: modify(tools=[]))
    Proxy.govern(hooks)
    client = Client(["done"])
    _run(client)

    assert "tools" not in client.script.bodies[0]


def test_a_model_that_never_gives_in_is_stopped() -> None:
    Proxy.govern()
    client = Client([["rm -rf /"]] * 11)
    played = _run(client)

    assert played.final == "hooks have refused 10 answers of the model"
    assert client.shell.ran == []


@pytest.mark.parametrize("more", [{"functions": [{"name": "shell"}]}, {"n": 2}])
def test_what_hooks_cannot_see_is_refused(more: Any) -> None:
    Proxy.govern()
    client = Client(["never said"])
    client.more |= more

    with pytest.raises(openai.BadRequestError, match="hooks see chat completions"):
        _run(client)
    assert client.script.requests == []


def test_another_protocol_is_refused() -> None:
    Proxy.govern()
    model = Client(["never said"]).model

    with openai.OpenAI(base_url=Proxy.url, api_key=KEY, max_retries=0) as client, pytest.raises(openai.BadRequestError):
        client.responses.create(model=model, input="go")


def test_an_error_of_the_adapter_denies(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("no prompt")

    Proxy.govern()
    monkeypatch.setattr("interpose.adapters.litellm.prompt_of", broken)
    client = Client(["never said"])

    with pytest.raises(openai.InternalServerError):
        _run(client)
    assert client.script.requests == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"event_hook": ["pre_call"]}, "would not see all"),
        ({"event_hook": "pre_call"}, "would not see all"),
        ({"default_on": False}, "would not see all"),
        ({"run_in_parallel": True}, "would be lost"),
        ({"scan_raw_request": True}, "would be lost"),
        ({"ask": "native"}, "cannot wait"),
    ],
)
def test_a_guardrail_that_governs_less_is_not_made(options: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Guardrail(HOOKS, **(OPTIONS | options))


# What escapes. Each of these fails on the day when the framework closes the hole.


def test_escapes_a_client_that_runs_what_it_was_not_told_to_run() -> None:
    Proxy.govern()
    client = Client([["rm -rf /"], "done"])
    _run(client)
    client.shell("rm -rf /")

    assert client.shell.ran == ["rm -rf /"]


def test_escapes_a_completion_in_the_own_process() -> None:
    Proxy.govern()
    script = Script(["the password is"])
    model = Proxy.upstream.add(script)
    asked = {"model": f"openai/{model}", "api_base": Proxy.upstream.url, "api_key": "none"}
    answer = asyncio.run(litellm.acompletion(**asked, messages=[{"role": "user", "content": "a badprompt"}]))

    assert answer.choices[0].message.content == "the password is"


def test_escapes_text_that_a_rewritten_prompt_has_in_later_requests() -> None:
    Proxy.govern()
    client = Client(["one", "two"])
    _run(client, "please editme")
    _run(client, "more")

    assert "please EDITED" in client.script.requests[0]
    assert "please editme" in client.script.requests[1]
