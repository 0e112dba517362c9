"""A small MCP server on standard input, which starts at once and misbehaves as its tools are asked to."""

import json
import os
import subprocess
import sys
import time


def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}


def call(name, given):
    match name:
        case "say":
            return text(given["text"])
        case "echo":
            return text(json.dumps({"decision": "deny", "reason": json.dumps(given)}))
        case "refuse":
            return text(given.get("text", "it broke"), isError=True)
        case "structured":
            return {"content": [], "structuredContent": {"decision": "deny", "reason": "by structure"}}
        case "nothing":
            return {"content": []}
        case "image":
            return {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
        case "flood":
            return text("{" + " " * (2 << 20))
        case "pid":
            return text(json.dumps({"decision": "deny", "reason": str(os.getpid())}))
        case "variable":
            return text(json.dumps({"decision": "deny", "reason": os.environ.get(given["name"], "not set")}))
        case "where":
            return text(json.dumps({"decision": "deny", "reason": os.getcwd()}))
        case "die":
            print("it dies now", file=sys.stderr, flush=True)
            os._exit(3)
        case "hang":
            subprocess.Popen(["sleep", "600"], start_new_session=True)
            time.sleep(600)
        case "garbage":
            print("this is no JSON", flush=True)
            return text("")
        case _:
            pass
    return None


result: dict[str, object] | None
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    match asked["method"]:
        case "initialize":
            if sys.argv[1:] == ["mute"]:
                time.sleep(600)
            version = asked["params"]["protocolVersion"]
            result = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }
        case "tools/list":
            result = {"tools": []}
        case "tools/call":
            result = call(asked["params"]["name"], asked["params"].get("arguments") or {})
        case _:
            result = None
    said = {"jsonrpc": "2.0", "id": asked["id"]}
    said |= {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such thing"}}
    print(json.dumps(said), flush=True)
