"""A server on loopback that plays a scripted model to the real coding agents, in each of the APIs that they speak.

    with ModelServer({"main": [[Call("Bash", {"command": "ls"})], "done"]}) as server:
        ...  # start the agent with server.url and a prompt that has the word [main] in it
    assert "a.txt" in server.seen("main")

It speaks Anthropic's Messages, OpenAI's Responses and chat completions, and Gemini's generateContent, streamed or
whole. A request belongs to the script whose word in brackets comes first in what the user said; requests of the agent
for itself (a title, a check) name none, or offer no tools, and get a short answer. After its last turn a script
repeats it. The server is also the agent's proxy: each try to reach another host is refused and noted.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

from tests.end_to_end.model_servers import KEY, Answer, AnthropicServer, OpenAIServer

__all__ = ["KEY", "Call", "ModelServer", "Turn"]

Json: TypeAlias = dict[str, Any]


class Call(NamedTuple):
    """A call of a tool; an input that is a text is for a tool that takes free text.

    Codex's tools can be in a namespace: ``mcp__house/note``.
    """

    tool: str
    input: Mapping[str, Any] | str


Spoken: TypeAlias = str | Sequence[Call]
Turn: TypeAlias = Spoken | Callable[[Json], Spoken]
"""What the model says, or a function that makes it from the request."""


class ModelServer:
    """Listens while it is entered, and keeps what it was asked."""

    def __init__(self, scripts: Mapping[str, Sequence[Turn]]) -> None:
        self._scripts = {word: list(turns) for word, turns in scripts.items()}
        self._lock = threading.Lock()
        self._ids = 0
        self.requests: dict[str, list[Json]] = {word: [] for word in scripts}
        """The requests that belong to each script, in the order in which they came."""
        self.arrivals: list[float] = []
        """When each of these requests came, of all scripts."""
        self.others: list[tuple[str, Json]] = []
        """The path and the body of every other request."""
        self.refused: list[str] = []
        """The hosts that the agent tried to reach through the proxy."""

    def __enter__(self) -> Self:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), name="scripted-model")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def offline(self) -> dict[str, str]:
        """The environment in which a program reaches nothing but loopback."""
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        here = "127.0.0.1,localhost,::1"
        return dict.fromkeys(names, self.url) | {"NO_PROXY": here, "no_proxy": here}

    def seen(self, word: str = "main") -> str:
        """Return all that the model of a script was ever sent, as one text."""
        return "\n".join(json.dumps(body, ensure_ascii=False) for body in self.requests[word])

    def script(self, word: str, turns: Sequence[Turn]) -> None:
        """Set what a script plays from now on, and forget what it was asked."""
        self._scripts[word] = list(turns)
        self.requests[word] = []

    def turn_for(self, path: str, body: Json) -> Spoken:
        """Return what the model says now."""
        with self._lock:
            word = self._word_of(body)
            if word is None:
                self.others.append((path, body))
                return "ok"
            self.requests[word].append(body)
            self.arrivals.append(time.perf_counter())
            turns = self._scripts[word]
            turn = turns.pop(0) if len(turns) > 1 else turns[0]
            return turn(body) if callable(turn) else turn

    def _word_of(self, body: Json) -> str | None:
        if not body.get("tools"):
            return None
        text = json.dumps(body.get("messages") or body.get("input") or body.get("contents") or "")
        found = [(text.find(f"[{word}]"), word) for word in self._scripts if f"[{word}]" in text]
        return min(found)[1] if found else None

    def answer(self, turn: Spoken) -> Answer:
        """Return a turn with ids for its calls."""
        if isinstance(turn, str):
            return Answer([turn])
        calls = []
        for call in turn:
            with self._lock:
                self._ids += 1
            given = call.input if isinstance(call.input, str) else json.dumps(call.input)
            calls.append((f"call_{self._ids}", call.tool, given))
        return Answer([], calls, "tool_use")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: ClassVar[ModelServer]

    def do_CONNECT(self) -> None:
        self.owner.refused.append(self.path)
        self.close_connection = True
        self._send(403, b"only loopback", "text/plain")

    def do_GET(self) -> None:
        if self.path.startswith("http"):
            self.do_CONNECT()
            return
        models = [{"id": "scripted", "object": "model", "created": 1, "owned_by": "tests"}]
        self._send(200, json.dumps({"object": "list", "data": models, "models": []}).encode())

    def do_POST(self) -> None:
        if self.path.startswith("http"):
            self.do_CONNECT()
            return
        body = self._body()
        path = self.path.split("?")[0]
        if path.endswith(("count_tokens", ":countTokens")):
            self._send(200, json.dumps({"input_tokens": 1, "totalTokens": 1}).encode())
            return
        api = next((api for ending, api in _APIS.items() if path.endswith(ending)), None)
        if api is None:
            self.owner.others.append((path, body))
            self._send(404, b'{"error": {"message": "not here", "type": "not_found_error"}}')
            return
        answer = self.owner.answer(self.owner.turn_for(path, body))
        if body.get("stream", False) or ":stream" in path:
            self._send(200, b"".join(api.streamed(body, answer)), "text/event-stream")
        else:
            self._send(200, json.dumps(api.whole(body, answer)).encode())

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def _body(self) -> Json:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            content = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            found = json.loads(content or b"{}")
        except ValueError:  # compressed, or telemetry in a form of its own
            return {}
        return found if isinstance(found, dict) else {}

    def _send(self, status: int, content: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


class _Api(Protocol):
    """How an answer is said in an API."""

    def streamed(self, body: Json, answer: Answer) -> Iterator[bytes]: ...
    def whole(self, body: Json, answer: Answer) -> Json: ...


class _Messages:
    """Anthropic's Messages."""

    protocol = AnthropicServer([])

    def streamed(self, body: Json, answer: Answer) -> Iterator[bytes]:
        for event in self.protocol.said(body, answer):
            yield self.protocol.framed(event)

    def whole(self, body: Json, answer: Answer) -> Json:
        content: list[Json] = [{"type": "text", "text": text} for text in answer.pieces]
        for call_id, name, given in answer.calls:
            content.append({"type": "tool_use", "id": call_id, "name": name, "input": json.loads(given)})
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "scripted")}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {**head, "content": content, "stop_reason": answer.stop_reason, "stop_sequence": None, "usage": usage}


class _Chat:
    """OpenAI's chat completions."""

    protocol = OpenAIServer([])

    def streamed(self, body: Json, answer: Answer) -> Iterator[bytes]:
        for event in self.protocol.said(body, answer):
            yield self.protocol.framed(event)

    def whole(self, body: Json, answer: Answer) -> Json:
        message: Json = {"role": "assistant", "content": "".join(answer.pieces)}
        if answer.calls:
            message["tool_calls"] = [
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": given}}
                for call_id, name, given in answer.calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.calls else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "c1", "object": "chat.completion", "created": 1, "model": body.get("model", "scripted")}
        return {**head, "choices": [choice], "usage": usage}


class _Responses:
    """OpenAI's Responses."""

    def streamed(self, body: Json, answer: Answer) -> Iterator[bytes]:
        whole = self.whole(body, answer)
        events: list[Json] = [
            {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}}
        ]
        for index, item in enumerate(whole["output"]):
            events.append({"type": "response.output_item.added", "output_index": index, "item": item})
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        events.append({"type": "response.completed", "response": whole})
        for number, event in enumerate(events):
            event["sequence_number"] = number
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

    def whole(self, body: Json, answer: Answer) -> Json:
        free_text = {one.get("name") for one in body.get("tools", ()) if one.get("type") == "custom"}
        output: list[Json] = []
        for text in answer.pieces:
            content = [{"type": "output_text", "text": text, "annotations": []}]
            output.append(
                {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}
            )
        for call_id, name, given in answer.calls:
            space, _, tool = name.rpartition("/")
            head = {"id": f"i_{call_id}", "call_id": call_id, "name": tool, "status": "completed"}
            if space:
                head["namespace"] = space
            if name in free_text:
                output.append({"type": "custom_tool_call", **head, "input": given})
            else:
                output.append({"type": "function_call", **head, "arguments": given})
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}  # fmt: skip
        about: Json = {"id": "r1", "object": "response", "created_at": 1, "status": "completed"}
        return {**about, "model": body.get("model", "scripted"), "output": output, "usage": usage}


class _Gemini:
    """Gemini's generateContent."""

    def streamed(self, body: Json, answer: Answer) -> Iterator[bytes]:
        yield f"data: {json.dumps(self.whole(body, answer))}\r\n\r\n".encode()

    def whole(self, body: Json, answer: Answer) -> Json:
        parts: list[Json] = [{"text": text} for text in answer.pieces]
        parts += [{"functionCall": {"name": name, "args": json.loads(given)}} for _, name, given in answer.calls]
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
        return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}


_APIS: dict[str, _Api] = {
    "/messages": _Messages(),
    "/chat/completions": _Chat(),
    "/responses": _Responses(),
    ":generateContent": _Gemini(),
    ":streamGenerateContent": _Gemini(),
}
