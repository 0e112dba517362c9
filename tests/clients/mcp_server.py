"""An MCP server over standard input with one tool, ``note``, that writes its text to ``$BOX/noted`` and answers with it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "note",
    "description": "Keep a note.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request."""
    if method == "initialize":
        given = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}}
        return {**given, "serverInfo": {"name": "house", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        text = params["arguments"]["text"]
        (Path(os.environ["BOX"]) / "noted").write_text(text)
        return {"content": [{"type": "text", "text": f"TOKNOTED {text}"}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answer(request["method"], request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
