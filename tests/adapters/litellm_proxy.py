"""The real proxy of LiteLLM on loopback, and a server behind it that speaks OpenAI's protocol from scripts."""

import json
import os
import socket
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from secrets import token_hex
from typing import Any

from tests.adapters.driver import Turn

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import litellm
    import uvicorn
    from litellm.proxy.proxy_server import app

KEY = f"sk-{token_hex(32)}"
"""The key of the proxy, which does not start without one."""

__all__ = ["KEY", "Script", "Upstream", "config_file", "litellm", "proxy"]


class Script:
    """A model that says its turns one after another and writes down what it is asked."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)
        self.requests: list[str] = []
        self.results: list[str] = []
        self.bodies: list[Any] = []

    def answer(self, body: Any) -> dict[str, Any]:
        self.bodies.append(body)
        self.requests.append("\n".join(str(one.get("content") or "") for one in body["messages"]))
        self.results[:] = [str(one["content"]) for one in body["messages"] if one["role"] == "tool"]
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            return {"role": "assistant", "content": turn}
        calls = [
            {"id": f"call-{len(self.requests)}-{at}", "type": "function", "index": at,
             "function": {"name": "shell", "arguments": json.dumps({"cmd": one})}}
            for at, one in enumerate(turn)
        ]  # fmt: skip
        return {"role": "assistant", "content": None, "tool_calls": calls}


class Upstream:
    """The server of the models: each script is a model of its own name."""

    def __init__(self) -> None:
        self.scripts: dict[str, Script] = {}
        handler = type("Handler", (_Handler,), {"upstream": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def add(self, script: Script) -> str:
        name = f"script-{len(self.scripts)}"
        self.scripts[name] = script
        return name

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    upstream: Upstream

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = self.upstream.scripts[body["model"].rsplit("/", 1)[-1]].answer(body)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        about = {"id": "made", "created": 1, "model": body["model"]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if body.get("stream"):
            kind = {**about, "object": "chat.completion.chunk"}
            parts = [{"delta": message, "finish_reason": None}, {"delta": {}, "finish_reason": reason}]
            events = [json.dumps({**kind, "choices": [{"index": 0, **part}]}) for part in parts]
            self._send("text/event-stream", "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]))
            return
        choice = {"index": 0, "message": message, "finish_reason": reason}
        self._send(
            "application/json", json.dumps({**about, "object": "chat.completion", "choices": [choice], "usage": usage})
        )

    def _send(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        pass


def config_file(folder: Path, upstream: Upstream, hooks: Path) -> Path:
    """Write the configuration of a proxy, with the guardrail as its page says."""
    model = {"model_name": "*", "litellm_params": {"model": "openai/*", "api_base": upstream.url, "api_key": "none"}}
    params = {
        "guardrail": "interpose.adapters.litellm.Guardrail", "mode": ["pre_call", "post_call"], "default_on": True,
        "hooks": str(hooks),
    }  # fmt: skip
    guardrail = {"guardrail_name": "interpose", "litellm_params": params}
    path = folder / "config.yaml"
    config = {"model_list": [model], "guardrails": [guardrail], "general_settings": {"master_key": KEY}}
    path.write_text(json.dumps(config), "utf-8")
    return path


@contextmanager
def proxy(config: Path) -> Iterator[str]:
    """Run the proxy in a thread; yield its address."""
    os.environ["CONFIG_FILE_PATH"] = str(config)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise RuntimeError("the proxy has not started")
            thread.join(0.05)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)
