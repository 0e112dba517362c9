"""`replay` and `test` ask no model and no server, unless they are told to: the record answers, or the hook is not asked."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks
from interpose.cli import main
from interpose.replay import Recorded, Recording, prepared, replay

JUDGED = {"type": "http", "hook": "judge", "status": "ok", "decision": "deny", "reason": "as it said then"}
FIELDS = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.fixture
def asked() -> Iterator[tuple[str, list[bytes]]]:
    """A server that allows, and what it was asked."""
    requests: list[bytes] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def config(folder: Path, url: str) -> Path:
    script = folder / "says.json"
    script.write_text("[]")
    hooks = [
        {"name": "judge", "url": url, "onError": "abort"},
        {"name": "model", "matcher": "Write", "type": "prompt", "prompt": "fine? $ARGUMENTS"},
        {"name": "server", "matcher": "Write", "server": {"command": str(folder / "ran.sh")}, "tool": "scan"},
    ]
    (folder / "ran.sh").write_text(f"#!/bin/sh\ntouch {folder}/ran\n")
    (folder / "ran.sh").chmod(0o755)
    path = folder / "hooks.yaml"
    path.write_text(json.dumps({"models": {"default": "anthropic:none"}, "hooks": {"PreToolUse": hooks}}))
    return path


def recording(*runs: dict[str, Any], **more: Any) -> Recording:
    event = Recorded(id="1", event="PreToolUse", fields=FIELDS, runs=runs, **more)
    return Recording("session", "store", [event])


def test_the_record_answers_for_a_server(tmp_path: Path, asked: tuple[str, list[bytes]]) -> None:
    hooks = prepared(Hooks.load(config(tmp_path, asked[0])))

    done = replay(hooks, recording(JUDGED, decision="deny", reason="as it said then"))

    assert (done.different, done.notes) == (0, [])
    assert done.results[0].outcome is not None
    assert done.results[0].outcome.reason == "as it said then"
    assert asked[1] == []


def test_what_failed_then_fails_again(tmp_path: Path, asked: tuple[str, list[bytes]]) -> None:
    hooks = prepared(Hooks.load(config(tmp_path, asked[0])))
    failed = {
        **JUDGED,
        "status": "failed",
        "decision": "none",
        "error": {"code": "http_refused", "text": "no one there"},
    }

    done = replay(hooks, recording(failed, decision="deny"))

    assert done.different == 0, "it is a guard"
    assert done.results[0].broken == ["judge: http_refused: no one there"]
    assert asked[1] == []


@pytest.mark.parametrize(
    "runs", [[], [{**JUDGED, "hook": "other"}], [{**JUDGED, "type": "command"}], [{**JUDGED, "round": 2}]]
)
def test_a_hook_whose_answer_is_not_in_the_record_is_not_asked(
    tmp_path: Path, asked: tuple[str, list[bytes]], runs: list[dict[str, Any]]
) -> None:
    done = replay(prepared(Hooks.load(config(tmp_path, asked[0]))), recording(*runs))

    assert done.results[0].not_asked == ["judge"]
    assert done.notes == ["judge was not asked about 1 event: its answer is not in the record; --live asks it"]
    assert done.to_dict()["not_asked"] == 1
    assert asked[1] == []


def test_live_asks_again(tmp_path: Path, asked: tuple[str, list[bytes]]) -> None:
    hooks = prepared(Hooks.load(config(tmp_path, asked[0])), live=True)
    try:
        done = replay(hooks, recording(JUDGED, decision="deny", reason="as it said then"))
    finally:
        hooks.close()

    assert done.different == 1
    assert len(asked[1]) == 1


CASES = """
- name: ls
  given: {event: PreToolUse, tool: Bash, args: {command: ls}}
  expect: {decision: none}
- name: a file
  given: {event: PreToolUse, tool: Write, args: {}}
  expect: {decision: none}
- name: the judge has answered
  given: {event: PreToolUse, tool: Bash, args: {}}
  expect: {hooks: {judge: ok}}
"""


def test_cases_ask_no_model_and_no_server(
    tmp_path: Path, asked: tuple[str, list[bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    file = config(tmp_path, asked[0])
    cases = tmp_path / "some.cases.yaml"
    cases.write_text(CASES)

    status = main(["test", str(cases), "--config", str(file), "--json"])
    said = json.loads(capsys.readouterr().out)
    main(["test", str(cases), "--config", str(file)])
    shown = capsys.readouterr().out

    assert status == 1
    assert [case["passed"] for case in said["cases"]] == [True, True, False], "what was not asked has not answered"
    assert said["not_asked"] == ["judge", "model", "server"]
    assert said["coverage"]["run"] == 0
    assert "not asked  judge" in shown
    assert "--live asks it" in shown
    assert asked[1] == []
    assert not (tmp_path / "ran").exists()


def test_cases_ask_if_they_are_told_to(
    tmp_path: Path, asked: tuple[str, list[bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    cases = tmp_path / "some.cases.yaml"
    cases.write_text(CASES.partition("- name: a file")[0])

    status = main(["test", str(cases), "--config", str(config(tmp_path, asked[0])), "--live", "--json"])

    assert (status, json.loads(capsys.readouterr().out)["not_asked"]) == (0, [])
    assert len(asked[1]) == 1


def test_a_scripted_model_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "model.json"
    script.write_text(json.dumps([{"tools": [{"name": "verdict", "input": {"ok": False, "reason": "no"}}]}]))
    file = tmp_path / "hooks.yaml"
    hook = {"name": "model", "type": "prompt", "prompt": "fine? $ARGUMENTS", "model": f"scripted:{script}"}
    file.write_text(json.dumps({"hooks": {"PreToolUse": [hook]}}))
    cases = tmp_path / "some.cases.yaml"
    cases.write_text(CASES.partition("- name: a file")[0])

    main(["test", str(cases), "--config", str(file), "--json"])

    assert json.loads(capsys.readouterr().out)["not_asked"] == []
