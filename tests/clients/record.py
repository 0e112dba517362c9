"""Records what the real agents send to a hook, and what they do with its answers.

    python -m tests.clients.record events claude codex     # into recorded/<agent>.json
    python -m tests.clients.record answers claude codex    # into recorded/answers-<agent>.json

The tests of the dialects are made from these files. Paths, ids and times are replaced by ones that stay the same.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .agents import CLIENTS
from .install import install
from .model_server import ModelServer, Turn
from .rig import MCP_SERVER, Box, Client

RECORDED = Path(__file__).parent / "recorded"
PROJECT, HOME, MARKS = "/home/someone/project", "/home/someone", "/box"
RECORDER = 'f=$(mktemp "$BOX/%s.XXXXXX"); cat > "$f"; env > "$f.env"'
OUR_VARIABLES = frozenset({
    "PATH", "HOME", "LANG", "TERM", "CI", "BOX", "SHELL", "USER", "PWD", "OLDPWD", "SHLVL", "_", "NO_PROXY", "no_proxy",
    *(f"XDG_{one}_HOME" for one in ("CONFIG", "DATA", "STATE", "CACHE")),
    *(f"{one}_PROXY" for one in ("HTTP", "HTTPS", "ALL")), *(f"{one}_proxy" for one in ("http", "https", "all")),
})  # fmt: skip


def sessions(client: Client, box: Box) -> dict[str, Sequence[Turn]]:
    """Return the sessions that are played to see every event."""
    file = str(box.project / "note.txt")
    played: dict[str, Sequence[Turn]] = {
        "shell": [[client.shell("touch $BOX/ran; printf 'TOK%s' RAN1")]],
        "failing shell": [[client.shell("echo broken >&2; exit 3")]],
        "write": [[client.write(file, "one\ntwo\n")]],
        "mcp": [[client.mcp_call("hello")]],
        "subagent": client.subagent("[inner] go"),
    }
    if client.can_read:
        played["read"] = [[client.read(str(box.project / "there.txt"))]]
    return played


def record_events(client: Client) -> dict[str, Any]:
    """Play the sessions with a hook at every event that keeps its input."""
    events: dict[str, list[Any]] = {}
    shapes = set()
    variables: set[str] = set()
    given_by_rig: set[str] = set()
    for name in ("shell", "failing shell", "write", "read", "mcp", "subagent"):
        inner: list[Turn] = [[client.shell("printf 'TOK%s' INNER")], "inner done"]
        with Box(client) as box, ModelServer({"main": ["done"], "inner": inner}) as server:
            turns = sessions(client, box).get(name)
            if turns is None:
                continue
            server.script("main", [*turns, "done"])
            box.write("project/there.txt", "there\n")
            client.add_mcp_server(box)
            client.configure(box, server.url)
            given_by_rig = set(client.environ(box, server.url))
            for event in client.events:
                client.add_hook(box, event, RECORDER % event)
            run = client.play(box, server, "[main] go")
            print(f"  {name}: status {run.status}, {run.seconds:.1f} s, {len(server.requests['main'])} model calls")
            scrub = Scrubber(box)
            files = sorted(box.marks.glob("*.??????"), key=lambda one: one.stat().st_mtime_ns)
            for file in files:
                event = file.name[:-7]
                if event not in client.events:
                    continue
                payload = scrub(json.loads(file.read_text()))
                shape = (event, _tool_of(payload), tuple(sorted(payload)))
                if shape in shapes:
                    continue
                shapes.add(shape)
                events.setdefault(event, []).append({"session": name, "payload": payload})
                given = (line.split("=")[0] for line in Path(f"{file}.env").read_text().splitlines() if "=" in line)
                variables |= {one for one in given if re.fullmatch(r"\w+", one)}
    variables -= OUR_VARIABLES | given_by_rig
    return {
        "agent": client.name,
        "package": client.package,
        "version": client.version,
        "recorded": datetime.now(UTC).date().isoformat(),
        "variables": sorted(variables),
        "never_fired": [event for event in client.events if event not in events],
        "events": {event: events[event] for event in client.events if event in events},
    }


def _tool_of(payload: Any) -> str:
    found = re.search(r'"(?:tool_name|toolName|tool|name)": "([^"]+)"', json.dumps(payload))
    return found[1] if found else ""


class Scrubber:
    """Replaces what differs from run to run and from machine to machine."""

    def __init__(self, box: Box) -> None:
        self._paths = [(str(box.project), PROJECT), (str(box.home), HOME), (str(box.marks), MARKS)]
        for path, instead in list(self._paths):
            for form in {re.sub(r"[^A-Za-z0-9]", "-", path), re.sub("[/]", "-", path)}:
                self._paths.append((form, re.sub(r"[^A-Za-z0-9]", "-", instead)))
        self._paths += [(box.root.name, "box"), (MCP_SERVER[0], "python3"), (MCP_SERVER[1], "/opt/house/mcp_server.py")]
        self._ids: dict[str, str] = {}

    def __call__(self, value: Any, key: str = "") -> Any:
        if isinstance(value, Mapping):
            return {name: self(one, name) for name, one in value.items()}
        if isinstance(value, list):
            return [self(one, key) for one in value]
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 1_500_000_000:
            return 1767225600000 if value > 1_500_000_000_000 else 1767225600
        if key in {"pid", "duration_ms", "durationMs", "executionTimeMs"} and isinstance(value, int | float):
            return 1
        return value

    def _text(self, text: str) -> str:
        for path, instead in self._paths:
            text = text.replace(path, instead)
        text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", self._id, text)
        text = re.sub(r"\b(agent|conv|ses|msg|prt|toolu)_(?=\w*\d)\w{6,}", self._name, text)
        text = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d-\d\d-[0-9a-f]{8}\b", "2026-01-01T00-00-00000000", text)
        text = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z?", "2026-01-01T00:00:00.000Z", text)
        text = re.sub(r"\b(1[5-9]\d{11})(?!\d)(_\w+)?", "1767225600000", text)
        text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text)
        text = re.sub(r"\b20\d\d/\d\d/\d\d\b", "2026/01/01", text)
        return text if len(text) <= 400 else f"{text[:400]}…"

    def _id(self, found: re.Match[str]) -> str:
        return self._ids.setdefault(found[0], f"00000000-0000-4000-8000-{len(self._ids):012d}")

    def _name(self, found: re.Match[str]) -> str:
        return self._ids.setdefault(found[0], f"{found[1]}_{len(self._ids)}")


def main(what: str, names: Sequence[str]) -> None:
    """Record, and write the files."""
    for name in names or CLIENTS:
        client = CLIENTS[name]
        install(client.package, client.version)
        print(name)
        if what == "events":
            path, found = RECORDED / f"{name}.json", record_events(client)
        else:
            from .answers import record_answers

            path, found = RECORDED / f"answers-{name}.json", record_answers(client)
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
