"""An MCP server without a package, which speaks the protocol as it was before 2026-07-28, and no more."""

import json
import sys

TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


def answer(method: str, params: dict) -> dict | None:
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params") or {})
        error = {"error": {"code": -32601, "message": "Method not found"}}
        print(
            json.dumps({"jsonrpc": "2.0", "id": request["id"], **(error if result is None else {"result": result})}),
            flush=True,
        )
