"""Probes: harmless, of the right shape, and such that the hook really sees them."""

from pathlib import Path
from typing import Any

import pytest
from tests.faults.http_servers import Server, answer

from interpose import Hooks, deny
from interpose.cli.doctor import run_isolated, run_probe
from interpose.events import TABLE
from interpose.lint.diagnosis import add_probe, inspect_hooks
from interpose.lint.machine import MachineCheck, check_machine
from interpose.lint.missing_programs import missing_programs
from interpose.lint.probe import MARK, probe_fields


def one(event: str, handler: Any = lambda event: None, **options: Any) -> tuple[Hooks, Any]:
    hooks = Hooks()
    return hooks, hooks.register(event, handler, name="it", **options)


@pytest.mark.parametrize("event", TABLE)
def test_a_probe_fits_its_row(event: str) -> None:
    row = TABLE[event]

    fields = probe_fields(one(event)[1])

    assert [name for name, value in fields.items() if not row.fields[name].fits(value)] == []


@pytest.mark.parametrize(
    ("matcher", "tool"),
    [("Bash", "Bash"), ("Write|Edit", "Write"), ("mcp__*", "Bash"), ("", "Bash"), ("*", "Bash"), ("re:^W", "Bash")],
)
def test_a_probe_goes_to_a_tool_that_the_hook_is_for(matcher: str, tool: str) -> None:
    assert probe_fields(one("PreToolUse", matcher=matcher)[1])["tool_name"] == tool


def test_a_probe_asks_for_nothing() -> None:
    assert probe_fields(one("PreToolUse", matcher="Bash")[1])["tool_input"]["command"] == "true"
    assert probe_fields(one("Stop")[1])["stop_hook_active"] is True


def test_a_hook_runs_whatever_its_matcher_and_condition_say() -> None:
    hooks, hook = one(
        "PreToolUse", lambda event: deny("no"), matcher="re:^W", if_="Write(x)", enabled=False, async_=True
    )

    assert run_probe(hooks, hook).result.decision == "deny"


def test_a_hook_knows_that_a_doctor_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MARK, raising=False)
    seen = []

    def look(event: Any) -> None:
        import os

        seen.append(os.environ.get(MARK))

    hooks, hook = one("Stop", look)
    run_probe(hooks, hook)
    hooks, hook = one("PreToolUse", None, command='test "$INTERPOSE_DOCTOR" = 1')

    assert run_probe(hooks, hook).result.status == "ok"
    assert seen == ["1"]


def findings(hooks: Hooks) -> list[tuple[str, str]]:
    [report] = inspect_hooks(hooks, hooks.settings)
    add_probe(report, run_probe(hooks, report.hook), hooks.settings)
    return [(finding.severity, finding.code) for finding in report.findings]


def checked(hooks: Hooks) -> list[MachineCheck]:
    return check_machine(run_isolated, hooks.origins, hooks.audit)


def raises(event: Any) -> None:
    raise ValueError("oh no")


def only_if_dangerous(answer: Any) -> Any:
    return lambda event: answer if "rm -rf" in event.tool_input["command"] else None


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"handler": lambda event: None}, []),
        ({"handler": raises, "on_error": "abort"}, [("wrong", "fails")]),
        ({"handler": lambda event: 5}, [("wrong", "bad reply")]),
        ({"handler": "no.such_module"}, [("wrong", "missing")]),
        ({"handler": "os.such_function"}, [("wrong", "import error")]),
        ({"handler": lambda event: deny("no")}, [("warning", "fails open")]),
        ({"handler": lambda event: deny("no"), "on_error": "abort"}, []),
        ({"handler": lambda event: None, "locked": True}, []),
        ({"handler": raises, "locked": True}, [("wrong", "fails")]),
        ({"command": "exit 3"}, [("wrong", "fails")]),
        ({"handler": lambda event: {"decison": "allow"}}, [("wrong", "bad reply")]),
        ({"handler": lambda event: {"feedback": 1}}, [("warning", "unknown key")]),
        ({"handler": lambda event: {"feedback": 1}, "on_error": "abort"}, [("wrong", "bad output")]),
        ({"handler": lambda event: {"permissionDecision": "allow"}}, [("warning", "no effect")]),
        ({"command": "echo '{'"}, [("wrong", "bad output")]),
        ({"command": "echo hello", "dialect": "claude"}, [("warning", "no effect")]),
        ({"command": """echo '{"denied": true}'""", "dialect": "claude"}, [("warning", "unknown key")]),
        ({"handler": only_if_dangerous({"decison": "deny"})}, [("wrong", "bad reply")]),
        ({"handler": only_if_dangerous({"denied": True})}, [("wrong", "bad reply")]),
        (
            {"handler": only_if_dangerous({"decision": "ask", "score": 1}), "on_error": "abort"},
            [("warning", "unknown key")],
        ),
        ({"handler": only_if_dangerous({"decision": "deny"}), "on_error": "abort"}, []),
        ({"handler": lambda event: print("hello")}, [("warning", "prints")]),
        ({"command": "echo hello"}, [("wrong", "bad output")]),
        ({"command": "no-such-program .x; exit 0"}, [("warning", "not found")]),
        ({"command": "echo note >&2"}, []),
        ({"command": "sleep 0.2"}, [("warning", "slow")]),
        ({"command": "sleep 60", "timeout": 0.3}, [("wrong", "too slow")]),
        ({"type": "command", "handler": "/no/such/guard"}, [("wrong", "missing")]),
    ],
)
def test_what_is_wrong_with_a_hook(options: dict[str, Any], found: list[tuple[str, str]]) -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", **options)

    assert findings(hooks) == found


@pytest.mark.parametrize(("required", "effect"), [("true", "every firing is denied"), ("false", "nothing is recorded")])
def test_an_audit_store_that_cannot_be_written_is_wrong(tmp_path: Path, required: str, effect: str) -> None:
    (tmp_path / "store").write_text("a file where a directory belongs")
    config = tmp_path / "hooks.yaml"
    config.write_text(f"audit: {{path: store/audit.db, required: {required}}}\nhooks: {{}}\n")

    (part,) = [part for part in checked(Hooks.load(config)) if part.name == "audit"]

    assert part.state == "wrong"
    assert part.text == f"{tmp_path}/store/audit.db: {tmp_path}/store is not a directory: {effect}"


def test_an_audit_store_that_will_be_made_is_fine(tmp_path: Path) -> None:
    config = tmp_path / "hooks.yaml"
    config.write_text("audit: {path: deep/down/audit.db}\nhooks: {}\n")

    (part,) = [part for part in checked(Hooks.load(config)) if part.name == "audit"]

    assert (part.state, part.text) == ("ok", f"{tmp_path}/deep/down/audit.db (will be created)")
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize(
    ("stderr", "names"),
    [
        ("guard.sh: line 3: jq: command not found\n", ["jq"]),
        ("/p/guard.sh: 3: jq: not found", ["jq"]),
        ("guard.sh: 2: exec: jq: not found", ["jq"]),
        ("/bin/sh: jq: not found", ["jq"]),
        ("guard.sh[3]: jq: not found [No such file or directory]", ["jq"]),
        ("zsh:1: command not found: jq", ["jq"]),
        ("fish: Unknown command: jq", ["jq"]),
        ("guard.sh: line 1: /opt/bin/check: No such file or directory", ["/opt/bin/check"]),
        ("/usr/bin/env: ‘node’: No such file or directory", ["node"]),
        ("env: 'node': No such file or directory", ["node"]),
        ("xargs: rg: No such file or directory", ["rg"]),
        ("timeout: failed to run command ‘jq’: No such file or directory", ["jq"]),
        ("Traceback …\nModuleNotFoundError: No module named 'yaml'", ["yaml"]),
        ("/usr/bin/python3: No module named guard", ["guard"]),
        ("Error: Cannot find module 'zod'\nRequire stack:", ["zod"]),
        ("a.sh: line 1: jq: command not found\na.sh: line 2: rg: command not found\na.sh: line 3: jq: command not found",
         ["jq", "rg"]),
        ("cat: notes.txt: No such file or directory", []),
        ("HTTP 404: Not Found", []),
        ("settings not found, using the defaults", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_program_that_was_not_found_is_named(stderr: str, names: list[str]) -> None:
    assert missing_programs(stderr) == names


def test_a_hook_that_goes_on_without_a_program_is_warned_of_by_name() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", None, name="guard", command="verdict=$(no-such-jq -r .x); exit 0", on_error="abort")
    [report] = inspect_hooks(hooks, hooks.settings)

    add_probe(report, run_probe(hooks, report.hook), hooks.settings)

    [finding] = report.findings
    assert (report.state, finding.code) == ("warning", "not found")
    assert "does not find no-such-jq, and goes on" in finding.problem.what
    assert "set -e" in finding.problem.hint


def test_a_server_that_is_not_there_is_named_and_one_that_is_gets_told_that_nothing_real_happens() -> None:
    with Server(answer()) as server:
        found = []
        for url in (server.url(), "http://127.0.0.1:9/"):
            hooks, hook = one("PreToolUse", None, url=url)
            [report] = inspect_hooks([hook], hooks.settings)
            add_probe(report, run_probe(hooks, hook), hooks.settings)
            found.append((report.state, [finding.code for finding in report.findings]))

    assert found == [("ok", []), ("wrong", ["not reachable"])]
    assert {visit.headers["interpose-doctor"] for visit in server.visits} == {"1"}
