"""A tool of an MCP server whose name can be read in several ways: one decision, one record, and every rule holds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

RULES = """\
hooks:
  PreToolUse:
    - {name: counts, command: "echo ran >> '%(folder)s/counted'"}
%(rule)s
audit: {path: %(folder)s/audit.db}
"""
DENIES = "command: 'echo not here >&2; exit 2', onError: abort"
NAMED = "    - {name: guard, %s, " + DENIES + "}"


def fire(folder: Path, rules: str, tool: str = "my-files-read") -> subprocess.CompletedProcess[str]:
    config = folder / "hooks.yaml"
    config.write_text(rules)
    event = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(folder), "tool_name": tool,
             "tool_input": {"path": "a"}, "tool_use_id": "t"}  # fmt: skip
    words = ["fire", "PreToolUse", "--reply", "copilot", "--config", str(config)]
    return run(folder, *words, told=json.dumps(event))


def run(folder: Path, *words: str, told: str = "") -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
    return subprocess.run([sys.executable, "-P", "-m", "interpose.cli", *words], input=told, capture_output=True,
                          text=True, cwd=folder, env=environ, check=False)  # fmt: skip


def records(folder: Path) -> list[str]:
    done = run(folder, "log", "--json", "--config", str(folder / "hooks.yaml"))
    return [one["decision"] for one in json.loads(done.stdout)["firings"]]


@pytest.mark.parametrize(
    "rule",
    [
        "matcher: mcp__my__files-read", "matcher: mcp__my-files__read", "matcher: my-files-read",
        "if: mcp__my__files-read", "if: mcp__my-files__read", 'if: "mcp__my-files__read(a)"',
    ],
)  # fmt: skip
def test_a_rule_about_any_reading_holds(rule: str, tmp_path: Path) -> None:
    done = fire(tmp_path, RULES % {"folder": tmp_path, "rule": NAMED % rule})

    assert json.loads(done.stdout)["permissionDecision"] == "deny", done
    assert (tmp_path / "counted").read_text() == "ran\n"
    assert records(tmp_path) == ["deny"]


def test_a_policy_judges_every_reading(tmp_path: Path) -> None:
    rules = RULES % {"folder": tmp_path, "rule": ""} + "policies:\n  - mcp-tools: {tools: [mcp__my__files-read]}\n"

    done = fire(tmp_path, rules)

    assert json.loads(done.stdout)["permissionDecision"] in ("deny", "ask"), done


def test_what_no_rule_is_about_goes_on_with_one_record(tmp_path: Path) -> None:
    rule = NAMED % "matcher: mcp__other__read"

    done = fire(tmp_path, RULES % {"folder": tmp_path, "rule": rule})

    assert (done.returncode, done.stdout) == (0, ""), done
    assert (tmp_path / "counted").read_text() == "ran\n"
    assert records(tmp_path) == ["none"]


def test_a_guard_of_another_reading_looks_again_at_an_input_that_was_changed(tmp_path: Path) -> None:
    guard = "    - {name: guard, matcher: mcp__my-files__read, command: 'grep -q secret && exit 2; exit 0', onError: abort}\n"
    answer = json.dumps({"modify": {"tool_input": {"path": "secret"}}})
    change = f"    - {{name: change, command: {json.dumps(f'echo {json.dumps(answer)}')}, priority: 200}}"

    done = fire(tmp_path, RULES % {"folder": tmp_path, "rule": guard + change})

    assert json.loads(done.stdout)["permissionDecision"] == "deny", done
