"""Servers on loopback that speak the streaming protocols of two APIs from a list of turns, and misbehave when told to.

    with AnthropicServer([{"say": "Hello."}, Fails(529, "busy"), {"call": {"Bash": {"command": "ls"}}}]) as server:
        model = find_model("anthropic", environ=server.environ)
        ...
    assert server.requests[0]["messages"] == ...

A turn is what a scripted model plays. A request that the real API would refuse is refused here too: calls without
results, empty text, thoughts that are not as they were sent.
"""

from __future__ import annotations

import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import zip_longest
from typing import Any, ClassVar, Self, TypeAlias

from interpose.models import ModelError
from interpose.models.script import read_script

__all__ = ["KEY", "AnthropicServer", "Cuts", "Fails", "ModelServer", "OpenAIServer", "Played", "Raw", "Thinks"]

KEY = "key-for-tests"
STOPS = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "refusal": "content_filter"}
Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Fails:
    """An error in place of an answer: as the status, or with ``in_stream`` after the answer has begun."""

    status: int
    message: str
    kind: str = "api_error"
    param: str | None = None
    in_stream: bool = False
    retry: bool = True


@dataclass(frozen=True)
class Cuts:
    """A turn that ends after so many events; ``clean``: as if that were all, else with the connection broken."""

    turn: Mapping[str, Any]
    after: int
    clean: bool = False


@dataclass(frozen=True)
class Thinks:
    """A turn with a signed thought before it (Anthropic's only); ``redacted``: as data that nobody can read."""

    turn: Mapping[str, Any]
    thought: str
    signature: str
    redacted: bool = False


@dataclass(frozen=True)
class Raw:
    """Exactly this body."""

    body: str


Played: TypeAlias = Mapping[str, Any] | Fails | Cuts | Thinks | Raw


@dataclass(frozen=True)
class Answer:
    """What is to be said in the words of a protocol; a call is its id, its name and the text of its input."""

    pieces: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    stop_reason: str = "end_turn"
    tokens: int = 1
    thought: Thinks | None = None


class Refused(Exception):
    """What the real API would not take either."""


class ModelServer(ABC):
    """What both servers share: a thread that listens, one for each request, and a record of what was asked."""

    kind: ClassVar[str]
    path: ClassVar[str]

    def __init__(self, turns: Sequence[Played]) -> None:
        self._turns = list(turns)
        self._calls = 0
        self._lock = threading.Lock()
        self.requests: list[Json] = []
        """The bodies of the requests, in the order in which they came."""
        self.keys: list[str] = []
        self.hung_up = threading.Event()
        """Set once a client left before its answer was complete."""
        self.stopping = threading.Event()

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._http.daemon_threads = False  # so that closing waits for them
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), name="model-server")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def next_turn(self, body: Json, key: str) -> Played:
        """Return what is to be played for a request; each is recorded, each turn is played once."""
        with self._lock:
            self.requests.append(body)
            self.keys.append(key)
            if key != KEY:
                return Fails(401, "invalid key", "authentication_error")
            try:
                self.check(body)
            except Refused as error:
                return Fails(400, str(error), "invalid_request_error")
            return (
                self._turns.pop(0) if self._turns else Fails(400, "the script is at its end", "invalid_request_error")
            )

    def call_id(self) -> str:
        with self._lock:
            self._calls += 1
            return f"toolu_{self._calls}"

    def events(self, played: Played, body: Json) -> Iterator[tuple[bytes, float]]:
        """Yield the events of an answer, and how long to wait after each."""
        if isinstance(played, Fails):
            for event in (self.said(body, Answer())[0], self.failure(played)):
                yield self.framed(event), 0.0
            return
        if isinstance(played, Cuts):
            yield from list(self.events(played.turn, body))[: played.after]
            return
        thought = played if isinstance(played, Thinks) else None
        written = played.turn if isinstance(played, Thinks) else played
        assert isinstance(written, Mapping)
        turn = read_script([written]).turns["main"][0].after(self.sent(body))
        pieces = re.findall(r"\s*\S+\s*|\s+", turn.say)
        calls = [
            (self.call_id(), name, made if isinstance(made, str) else json.dumps(made)) for name, made in turn.calls
        ]
        tokens = len(json.dumps(body)) // 4 if turn.tokens is None else turn.tokens
        for event in self.said(body, Answer(pieces, calls, turn.stop_reason, tokens, thought)):
            yield self.framed(event), turn.pause / (len(pieces) or 1)

    # What the protocols say differently.

    @property
    @abstractmethod
    def environ(self) -> dict[str, str]:
        """What to have in the environment to ask this server."""

    @abstractmethod
    def key_of(self, headers: Message) -> str: ...
    @abstractmethod
    def check(self, body: Json) -> None: ...
    @abstractmethod
    def sent(self, body: Json) -> str: ...
    @abstractmethod
    def framed(self, event: Json) -> bytes: ...
    @abstractmethod
    def failure(self, played: Fails) -> Json: ...
    @abstractmethod
    def said(self, body: Json, answer: Answer) -> list[Json]: ...


class AnthropicServer(ModelServer):
    """Anthropic's Messages API."""

    kind = "anthropic"
    path = "/v1/messages"

    def __init__(self, turns: Sequence[Played]) -> None:
        super().__init__(turns)
        self._thoughts: list[Json] = []

    @property
    def environ(self) -> dict[str, str]:
        return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": self.url}

    def key_of(self, headers: Message) -> str:
        return headers.get("x-api-key") or (headers.get("authorization") or "").removeprefix("Bearer ")

    def check(self, body: Json) -> None:
        open_calls: list[str] = []
        for message in body["messages"]:
            blocks = message["content"]
            if not blocks:
                raise Refused("messages: content must not be empty")
            if [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"] != open_calls:
                raise Refused("tool_use ids were found without tool_result blocks immediately after")
            open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            for block in blocks:
                if block["type"] == "text" and not block["text"].strip():
                    raise Refused("text content blocks must contain non-whitespace text")
                if block["type"].endswith("thinking") and block not in self._thoughts:
                    raise Refused("Invalid `signature` in `thinking` block")
                if block["type"] == "tool_use" and block["name"] not in {
                    tool["name"] for tool in body.get("tools", ())
                }:
                    raise Refused(f"tools: {block['name']} is used and not defined")
        if open_calls or body["messages"][-1]["role"] != "user":
            raise Refused("the last message must be the user's")

    def sent(self, body: Json) -> str:
        parts = []
        for message in reversed(body["messages"]):
            if message["role"] == "assistant":
                break
            parts.append("\n".join(block.get("text") or block.get("content") or "" for block in message["content"]))
        return "\n".join([body.get("system", ""), *reversed(parts)])

    def framed(self, event: Json) -> bytes:
        return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

    def failure(self, played: Fails) -> Json:
        return {"type": "error", "error": {"type": played.kind, "message": played.message}}

    def said(self, body: Json, answer: Answer) -> list[Json]:
        usage = {"input_tokens": answer.tokens, "cache_read_input_tokens": 0, "output_tokens": 0}
        start = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
        nothing_yet = {"stop_reason": None, "stop_sequence": None, "usage": usage}
        events: list[Json] = [{"type": "message_start", "message": {**start, **nothing_yet}}, {"type": "ping"}]
        for index, (block, deltas) in enumerate(self._blocks(answer)):
            events.append({"type": "content_block_start", "index": index, "content_block": block})
            events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
            events.append({"type": "content_block_stop", "index": index})
        delta = {"stop_reason": answer.stop_reason, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 0}})
        return [*events, {"type": "message_stop"}]

    def _blocks(self, answer: Answer) -> Iterator[tuple[Json, list[Json]]]:
        """Yield each block as it begins, and what is added to it."""
        if answer.thought:
            yield self._thought(answer.thought)
        if answer.pieces:
            yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in answer.pieces]
        for call_id, name, text in answer.calls:
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in fragments(text)]
            yield {"type": "tool_use", "id": call_id, "name": name, "input": {}}, deltas

    def _thought(self, thought: Thinks) -> tuple[Json, list[Json]]:
        if thought.redacted:
            block = {"type": "redacted_thinking", "data": thought.signature}
            self._thoughts.append(block)
            return block, []
        whole = {"type": "thinking", "thinking": thought.thought, "signature": thought.signature}
        self._thoughts.append(whole)
        deltas: list[Json] = [{"type": "thinking_delta", "thinking": part} for part in fragments(thought.thought)]
        return {**whole, "thinking": "", "signature": ""}, [
            *deltas,
            {"type": "signature_delta", "signature": thought.signature},
        ]

    def forget_thoughts(self) -> None:
        """Accept no thought from before any more, as after a change of the conversation."""
        self._thoughts.clear()


class OpenAIServer(ModelServer):
    """OpenAI's chat completions."""

    kind = "openai"
    path = "/v1/chat/completions"

    @property
    def environ(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{self.url}/v1"}

    def key_of(self, headers: Message) -> str:
        return (headers.get("authorization") or "").removeprefix("Bearer ")

    def check(self, body: Json) -> None:
        open_calls: list[str] = []
        for message in body["messages"]:
            if message["role"] == "tool":
                if message["tool_call_id"] not in open_calls:
                    raise Refused("a tool message must follow a message with its tool_calls")
                open_calls.remove(message["tool_call_id"])
                continue
            if open_calls:
                raise Refused("tool_calls must be followed by tool messages")
            for call in message.get("tool_calls", ()):
                json.loads(call["function"]["arguments"])
                open_calls.append(call["id"])
        if open_calls:
            raise Refused("tool_calls must be followed by tool messages")

    def sent(self, body: Json) -> str:
        parts = []
        for message in reversed(body["messages"]):
            if message["role"] == "assistant":
                break
            parts.append(message["content"])
        system = [message["content"] for message in body["messages"] if message["role"] == "system"]
        return "\n".join([*system, *reversed(parts)])

    def framed(self, event: Json) -> bytes:
        return f"data: {event['done'] if 'done' in event else json.dumps(event)}\n\n".encode()

    def failure(self, played: Fails) -> Json:
        kind = {"type": played.kind, "code": played.kind, "param": played.param}
        return {"error": {"message": played.message, **kind}}

    def said(self, body: Json, answer: Answer) -> list[Json]:
        events = [_chunk({"role": "assistant", "content": ""})]
        events += [_chunk({"content": piece}) for piece in answer.pieces]
        for index, (call_id, name, _) in enumerate(answer.calls):
            call = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
            events.append(_chunk({"tool_calls": [call]}))
        # Parallel calls come in together: fragments of one between those of the other.
        for parts in zip_longest(*(fragments(text) for _, _, text in answer.calls)):
            for index, part in enumerate(parts):
                if part is not None:
                    events.append(_chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]}))
        events.append(_chunk({}, STOPS.get(answer.stop_reason, answer.stop_reason)))
        usage = {"prompt_tokens": answer.tokens, "completion_tokens": 0, "total_tokens": answer.tokens}
        return [*events, {**_chunk({}), "choices": [], "usage": usage}, {"done": "[DONE]"}]


def fragments(text: str) -> list[str]:
    """Return a text in the small pieces in which it is streamed."""
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def _chunk(delta: Json, reason: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


class _Handler(BaseHTTPRequestHandler):
    """One request, one answer, one connection."""

    protocol_version = "HTTP/1.1"
    owner: ModelServer

    def do_POST(self) -> None:
        self.close_connection = True
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != self.owner.path:
            return self._fail(Fails(404, f"no {self.path} here", "not_found_error"))
        played = self.owner.next_turn(body, self.owner.key_of(self.headers))
        if isinstance(played, Fails) and not played.in_stream:
            return self._fail(played)
        try:
            self._stream(played, body)
        except ModelError as error:  # the turn needs what was not sent
            self._fail(Fails(400, str(error), "invalid_request_error"))
        except OSError:
            self.owner.hung_up.set()

    def _fail(self, fails: Fails) -> None:
        content = json.dumps(self.owner.failure(fails)).encode()
        self.send_response(fails.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.send_header("connection", "close")
        self.send_header("retry-after-ms", "1")
        self.send_header("x-should-retry", "true" if fails.retry and fails.status in {429, 500, 503, 529} else "false")
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, played: Played, body: Json) -> None:
        # All of it before the first byte: what a turn lacks is still a status then.
        events = [(played.body.encode(), 0.0)] if isinstance(played, Raw) else list(self.owner.events(played, body))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        for content, wait in events:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(content), content))
            self.wfile.flush()
            if wait and self.owner.stopping.wait(wait):
                return
        if not isinstance(played, Cuts) or played.clean:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
