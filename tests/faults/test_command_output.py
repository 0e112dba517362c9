"""What comes back from a command: exit statuses, answers that cannot be read, and far too much of either."""

import json
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.commands import DENY, HOSTS, SHORT, Host, on_both_hosts, register
from tests.faults.hosts import BUSY, CALL, within

from interpose import Hooks, Outcome

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


LOOP, NO_LOOP = HOSTS
"""What is read is read the same way on either; only what is written and drained there is tried on both."""


def answers(folder: Path, data: bytes | str, status: int = 0) -> str:
    """Return a line that writes these bytes and exits."""
    path = folder / "answer"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return f"cat '{path}'; exit {status}"


def said(outcome: Outcome) -> tuple[str, str, str | None]:
    result = outcome.results[0]
    return outcome.decision, result.status, result.error and result.error.code


# Exit statuses.


@on_both_hosts
@pytest.mark.parametrize("line", ["true", "echo", "printf ' \\n\\t'", "echo null", "echo '{}'"])
def test_a_command_with_nothing_to_say_has_no_opinion(host: Host, line: str) -> None:
    """Faults 42, 64: ``null`` is no opinion either (not adopted)."""
    assert said(host.outcome(line, on_error="abort")) == ("none", "ok", None)


@on_both_hosts
@pytest.mark.parametrize("status", [1, 3, 125, 255])
def test_a_command_that_exits_with_another_status_has_failed(host: Host, status: int) -> None:
    """Fault 43."""
    result = host.fails(f"echo oh no >&2; exit {status}", code="hook_crash")

    assert "oh no" in str(result.error)
    assert result.evidence["exit"] == status


@on_both_hosts
@pytest.mark.parametrize("answer", ["", """echo '{"decision": "deny", "reason": "no"}'; """])
def test_what_a_command_that_succeeds_writes_to_standard_error_is_kept(host: Host, answer: str) -> None:
    result = host.outcome(f"{answer}no-such-jq .; echo second >&2; exit 0").results[0]

    assert (result.status, result.error) == ("ok", None)
    assert result.evidence["stderr"].splitlines()[-1] == "second"
    assert "no-such-jq: not found" in result.evidence["stderr"]
    assert result.to_dict()["evidence"]["stderr"] == result.evidence["stderr"]


@pytest.mark.parametrize("status", [0, 3])
def test_of_a_long_standard_error_the_end_is_kept(status: int) -> None:
    line = f"head -c 50000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit {status}"

    [result] = NO_LOOP.outcome(line).results

    assert len(result.evidence["stderr"]) == 2000
    assert result.evidence["stderr"].endswith("xend\n")


def test_a_command_that_writes_nothing_to_standard_error_has_none_in_its_evidence() -> None:
    assert "stderr" not in NO_LOOP.outcome("echo '{}'").results[0].evidence


@on_both_hosts
def test_exit_2_denies_with_what_stands_on_standard_error(host: Host) -> None:
    """Fault 44: without what a terminal would obey."""
    outcome = host.outcome(r"printf 'not \033[31mhere\033[0m\007\n' >&2; exit 2")

    assert (outcome.decision, outcome.reason, outcome.results[0].status) == ("deny", "not here", "ok")


@on_both_hosts
def test_exit_2_without_a_word_denies_and_names_the_hook(host: Host) -> None:
    """Fault 45."""
    outcome = host.outcome("exit 2", name="my guard")

    assert (outcome.decision, outcome.reason) == ("deny", "my guard exited with status 2")


@pytest.mark.parametrize(
    "answer",
    [
        '{"decision":"allow"}',
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}',
        '{"continue":true,"allowed":true}',
        '{"decision":"deny"}{',
        '{"decision":"maybe"}',
        '{"decision":',
        "[]",
        '{"async":true}',
    ],
)
@pytest.mark.parametrize("on_error", [None, "log", "skip", "abort"])
def test_exit_2_denies_whatever_the_answer_says(answer: str, on_error: str | None, tmp_path: Path) -> None:
    """Faults 46, 47: it is never overridden."""
    outcome = NO_LOOP.outcome(answers(tmp_path, answer, status=2), on_error=on_error)

    assert outcome.denied
    assert not outcome.granted


@pytest.mark.parametrize("status", [1, 3, 125, 141])
def test_a_deny_or_an_ask_counts_with_any_status(status: int, tmp_path: Path) -> None:
    """Fault 48 (contract, §4)."""
    for decision in ("deny", "ask"):
        outcome = NO_LOOP.outcome(answers(tmp_path, json.dumps({"decision": decision, "reason": "no"}), status))
        assert (outcome.decision, outcome.reason) == (decision, "no")


@pytest.mark.parametrize("status", [1, 3, 125])
def test_an_allow_does_not_count_with_another_status(status: int, tmp_path: Path) -> None:
    """Fault 49: it has failed, and nothing that it said is taken over."""
    answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
                                     "updatedInput": {"command": "other"}}}  # fmt: skip
    line = answers(tmp_path, json.dumps(answer), status)

    NO_LOOP.fails(line, code="hook_crash")
    outcome = NO_LOOP.outcome(line)
    assert not outcome.granted
    assert outcome.tool_input == CALL["tool_input"]


@on_both_hosts
@pytest.mark.parametrize(("status", "code"), [(126, "spawn_permission"), (127, "spawn_not_found")])
def test_statuses_of_a_shell_that_found_nothing_to_run_are_no_answer(host: Host, status: int, code: str) -> None:
    """Fault 50: nor is a deny that comes with them lost."""
    host.fails(f"exit {status}", code=code, loads=False)


@on_both_hosts
@pytest.mark.parametrize("name", ["SEGV", "KILL", "PIPE", "TERM"])
@pytest.mark.parametrize("how", ["itself", "by a shell around it"])
def test_a_command_that_a_signal_ends_has_failed(host: Host, name: str, how: str) -> None:
    """Faults 51, 234: a shell around it exits with 128 and the signal's number."""
    line = f"kill -{name} $$" if how == "itself" else f"sh -c 'kill -{name} $$' 2> /dev/null; exit $?"

    host.fails(line, code=f"signal:{name}")


@on_both_hosts
@pytest.mark.parametrize("isolation", ["tree", "namespace"])
def test_a_command_that_crashes_leaves_no_core(host: Host, isolation: str) -> None:
    """Fault 52."""
    outcome = host.outcome("ulimit -c >&2; exit 2", isolation=isolation)

    assert outcome.reason == "0"


# Answers that cannot be read.

UNREADABLE: dict[str, bytes] = {
    "a part of one": b'{"decision":"bl',
    "two": b"{}{}",
    "two lines": b'{"decision":"allow"}\n{"decision":"allow"}\n',
    "a text before it": b'hello\n{"decision":"allow"}',
    "a text after it": b'{"decision":"allow"}\nDone',
    "a plain text": b"all is well\n",
    "two marks of the byte order": b"\xef\xbb\xbf\xef\xbb\xbf{}",
    "UTF-16": '{"decision":"deny"}'.encode("utf-16"),
    "UTF-16 without a mark": '{"decision":"deny"}'.encode("utf-16-le"),
    "UTF-32": '{"decision":"deny"}'.encode("utf-32"),
    "bytes that are no UTF-8": b'{"reason":"\xff\xfe"}',
    "a surrogate as UTF-8": b'{"reason":"\xed\xa0\x80"}',
    "NaN": b'{"x":NaN}',
    "infinity": b'{"x":-Infinity}',
    "a number that is too large": b'{"x":1e400}',
    "a key twice": b'{"decision":"deny","decision":"allow"}',
    "a key twice further in": b'{"x":[{"a":1,"a":2}]}',
    "100,000 levels": b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "200 levels": b'{"x":' + b"[" * 200 + b"]" * 200 + b"}",
    "a number with 5,000 digits": b'{"x":' + b"1" * 5000 + b"}",
    "a list": b"[]",
    "a text in quotes": b'"deny"',
    "a number": b"0",
    "true": b"true",
    "NUL": b"\0\0\0\0",
    "NUL after it": b'{"decision":"allow"}\0',
    "noise": bytes(range(128, 228)),
    "a control character in a text": b'{"reason":"a\x1bb"}',
    "a comment": b'{"decision":"allow"} // fine',
    "a comma too many": b'{"decision":"allow",}',
    "single quotes": b"{'decision':'allow'}",
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_an_answer_that_is_not_one_json_object_cannot_be_read(what: str, tmp_path: Path) -> None:
    """Faults 53 to 56, 58 to 64, 78: the hook has failed, and a guard denies; so does any hook that has begun an object."""
    begun = UNREADABLE[what].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe").startswith(b"{")

    result = NO_LOOP.fails(answers(tmp_path, UNREADABLE[what]), code="bad_output", loads=not begun)

    assert result.error is not None
    assert str(result.error).isprintable()
    assert "UTF-16" not in what or "UTF-16" in str(result.error)


def test_what_cannot_be_read_is_the_same_on_a_loop(tmp_path: Path) -> None:
    """Fault 53."""
    LOOP.fails(answers(tmp_path, b'{"decision":"bl'), code="bad_output", loads=False)


@pytest.mark.parametrize(
    "data", ['\ufeff{"decision":"deny"}', ' \r\n{"decision":"deny"}\r\n\n'], ids=["mark", "spaces"]
)
def test_a_mark_of_the_byte_order_or_space_around_an_answer_does_no_harm(data: str, tmp_path: Path) -> None:
    """Fault 57."""
    assert said(NO_LOOP.outcome(answers(tmp_path, data))) == ("deny", "ok", None)


def test_a_noise_of_random_bytes_never_reaches_the_host(tmp_path: Path) -> None:
    """Fault 78: neither as an exception nor as an answer."""
    import random

    dice = random.Random(78)
    for _ in range(20):
        NO_LOOP.fails(answers(tmp_path, b"\x01" + dice.randbytes(100)), code="bad_output")


# Answers that say something odd.


def test_fields_that_nobody_knows_are_kept_aside(tmp_path: Path) -> None:
    """Faults 65, 83: they decide nothing; who a hook is, the engine knows."""
    outcome = NO_LOOP.outcome(answers(tmp_path, '{"feedback":1,"hook":"admin","pid":1}'), name="me")

    assert said(outcome) == ("none", "ok", None)
    assert outcome.extra == {"feedback": 1, "hook": "admin", "pid": 1}
    assert outcome.results[0].hook == "me"


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "DENY"},
        {"decision": "Deny"},
        {"decision": "no"},
        {"decision": 5},
        {"decision": True},
        {"decision": ["deny"]},
        {"abort": "false"},
        {"allowed": "true"},
        {"allowed": 1},
        {"continue": "false"},
        {"continue": 0},
        {"hookSpecificOutput": []},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ALLOW"}},
    ],
    ids=str,
)
def test_a_decision_that_cannot_be_understood_denies(answer: dict[str, Any], tmp_path: Path) -> None:
    """Faults 66, 69, 84: for an observer too (contract, §4)."""
    NO_LOOP.fails(answers(tmp_path, json.dumps(answer)), code="bad_decision", loads=False)


@pytest.mark.parametrize("word", ["deny", "block", "ask"])
def test_a_decision_in_the_wrong_place_counts_if_it_is_strict(word: str, tmp_path: Path) -> None:
    """Fault 67, as the contract has it (§11): a deny or an ask counts wherever it is spelled."""
    outcome = NO_LOOP.outcome(answers(tmp_path, json.dumps({"permissionDecision": word})))

    assert outcome.decision == ("ask" if word == "ask" else "deny")


def test_an_allow_in_the_wrong_place_does_not_count(tmp_path: Path) -> None:
    """Fault 67 (contract, §11): and its author is told."""
    outcome = NO_LOOP.outcome(answers(tmp_path, '{"permissionDecision":"allow"}'))

    assert (outcome.decision, outcome.granted, len(outcome.ignored)) == ("none", False, 1)


@pytest.mark.parametrize("named", [None, "PostToolUse", 5])
def test_an_answer_for_another_event_only_denies(named: Any, tmp_path: Path) -> None:
    """Fault 68: its allow and its changes are dropped, and it has failed."""
    for word in ("deny", "allow"):
        specific = {"hookEventName": named, "permissionDecision": word, "updatedInput": {"command": "other"}}
        line = answers(tmp_path, json.dumps({"hookSpecificOutput": specific}))
        outcome = NO_LOOP.outcome(line)
        assert outcome.decision == ("deny" if word == "deny" else "none")
        assert outcome.tool_input == CALL["tool_input"]
        assert outcome.results[0].error is not None
        assert outcome.results[0].error.code == "bad_output"
        assert NO_LOOP.outcome(line, on_error="abort").denied


@pytest.mark.parametrize(
    "answer",
    [
        {"reason": 5},
        {"systemMessage": ["x"]},
        {"updatedInput": "x"},
        {"updated_input": []},
        {"modify": "x"},
        {"inject": "x"},
        {"suppressOutput": "no"},
        {"async": 1},
        {"async": True, "asyncTimeout": "5s"},
        {"stopReason": 1},
    ],
    ids=str,
)
def test_values_of_the_wrong_type_are_not_turned_into_others(answer: dict[str, Any], tmp_path: Path) -> None:
    """Faults 69, 84."""
    NO_LOOP.fails(answers(tmp_path, json.dumps(answer)), code="bad_output")


def test_a_rewritten_input_is_seen_by_the_guards_that_had_passed_it(tmp_path: Path) -> None:
    """Fault 71 (contract, §3.7): commands too are asked again."""
    hooks = Hooks()
    register(hooks, "! grep -q passwd || exit 2", name="guard", on_error="abort", priority=1)
    register(hooks, answers(tmp_path, '{"updated_input":{"command":"cat /etc/passwd"}}'), name="rewriter")

    outcome = NO_LOOP.fire(hooks)

    assert [(result.hook, result.round, result.decision) for result in outcome.results][-1] == ("guard", 2, "deny")


def test_a_rewritten_input_goes_with_an_ask_and_not_with_a_deny(tmp_path: Path) -> None:
    """Fault 72."""
    for word, command in (("ask", "other"), ("deny", "ls")):
        line = answers(tmp_path, json.dumps({"decision": word, "updated_input": {"command": "other"}}))
        assert NO_LOOP.outcome(line).tool_input == {"command": command}


@on_both_hosts
@pytest.mark.parametrize("lines", [("exit 2", "true"), ("true", "exit 2"), ("sleep 0.05; exit 2", "true")])
def test_a_deny_counts_whoever_else_allows_and_whoever_is_first(
    host: Host, lines: tuple[str, str], tmp_path: Path
) -> None:
    """Fault 73: side by side as well as one after another."""
    allow = answers(tmp_path, '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}')
    for parallel in (False, True):
        hooks = Hooks()
        for index, line in enumerate(lines):
            register(hooks, allow if line == "true" else line, name=str(index), parallel=parallel)
        outcome = host.fire(hooks)
        assert outcome.denied
        assert not outcome.granted


# Too much.


@on_both_hosts
@pytest.mark.parametrize("line", ["yes", "yes & wait", "trap '' TERM PIPE; while :; do cat /dev/zero; done"])
def test_an_answer_without_end_is_cut_off_and_its_writer_ended(host: Host, line: str) -> None:
    """Fault 74: long before the deadline."""
    with within(3 * BUSY):
        host.fails(line, code="stdout_limit", loads=False)  # its exit status may have been 2


@on_both_hosts
@pytest.mark.parametrize("dialect", ["native", "claude"])
@pytest.mark.parametrize("isolation", ["group", None])
def test_a_command_that_prints_a_long_event_still_denies_by_its_exit_status(
    host: Host, dialect: str, isolation: str | None
) -> None:
    """A model chooses how long the text is that such a command prints before it exits."""
    line = "head -c 3000000 /dev/zero | tr '\\0' x; echo no >&2; exit 2"

    outcome = host.outcome(line, dialect=dialect, isolation=isolation)

    assert (outcome.decision, outcome.reason) == ("deny", "no")


def test_a_long_text_that_is_no_answer_goes_on() -> None:
    NO_LOOP.fails("head -c 3000000 /dev/zero | tr '\\0' x", code="stdout_limit")


def test_an_answer_without_end_costs_no_memory() -> None:
    """Fault 74: nor does a complaint without end."""
    for line in ("head -c 100000000 /dev/zero", "head -c 100000000 /dev/zero >&2"):
        NO_LOOP.outcome(line)
        tracemalloc.start()
        try:
            NO_LOOP.outcome(line)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 8_000_000


@on_both_hosts
def test_an_answer_of_just_a_mebibyte_is_read(host: Host) -> None:
    """Fault 74."""
    line = f"head -c {1024 * 1024 - 41} /dev/zero | tr '\\0' ' '; {DENY}"

    assert host.outcome(line).reason == "not here"
    host.fails(f"head -c {1024 * 1024} /dev/zero | tr '\\0' ' '; {DENY}", code="stdout_limit")


@on_both_hosts
def test_a_long_complaint_is_cut_and_its_deny_counts(host: Host) -> None:
    """Fault 75: the first 64 KiB are kept, the rest is counted."""
    outcome = host.outcome("head -c 50000000 /dev/zero | tr '\\0' 'x' >&2; exit 2")

    assert outcome.denied
    assert outcome.reason.startswith("x" * 1000)
    assert outcome.reason.endswith(f"[{50_000_000 - 65_536} bytes more]")
    assert len(outcome.reason) < 70_000


@on_both_hosts
@pytest.mark.parametrize("stream", [1, 2])
def test_a_drip_without_end_is_ended_at_the_deadline(host: Host, stream: int) -> None:
    """Fault 76: every byte is a sign of life, and none prolongs it."""
    host.fails(f"while :; do printf ' ' >&{stream}; sleep 0.02; done", code="timeout", timeout=SHORT)


@on_both_hosts
@pytest.mark.parametrize("before", ["", f"{DENY}; "], ids=["nothing said", "a deny said"])
def test_a_command_that_closes_its_output_and_stays_is_late(host: Host, before: str) -> None:
    """Fault 77: its exit ends the wait, not the end of what it says; until then nothing is final."""
    host.fails(f"{before}exec >&- 2>&-; sleep 30", code="timeout", timeout=SHORT)


# What people and models get to see.

ESCAPES = {
    "a title": "\x1b]0;gotcha\x07",
    "a clipboard": "\x1b]52;c;Z290Y2hh\x1b\\",
    "a cleared screen": "\x1b[2J\x1b[H",
    "a bell": "\x07",
    "8-bit controls": "\x9b2J\x9d0;gotcha\x9c",
    "text turned around": "\u202egotcha\u2066",
    "a backspace": "gotcha\x08\x08",
    "a carriage return": "gotcha\rfine",
    "a line separator": "\u2028\u2029",
    "DEL": "\x7f",
}


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from texts(key)
            yield from texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def is_safe(text: str) -> bool:
    return all(mark in "\n\t" or mark.isprintable() for mark in text)


@pytest.mark.parametrize("what", ESCAPES)
def test_what_a_terminal_would_obey_is_taken_out_of_an_answer(what: str, tmp_path: Path) -> None:
    """Fault 79: out of reasons, messages and context."""
    text = f"a{ESCAPES[what]}b"
    answer = {"decision": "deny", "reason": text, "systemMessage": text, "stopReason": text,
              "hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": text}}  # fmt: skip

    outcome = NO_LOOP.outcome(answers(tmp_path, json.dumps(answer)))

    assert outcome.denied
    shown = outcome.to_dict()
    assert all(map(is_safe, texts(shown))), shown


@pytest.mark.parametrize("what", ESCAPES)
@pytest.mark.parametrize("status", [0, 1, 2])
def test_what_a_terminal_would_obey_is_taken_out_of_a_complaint(
    what: str, status: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Fault 79: wherever it is shown: reason, error, evidence, log."""
    caplog.set_level("DEBUG", "interpose")
    (tmp_path / "complaint").write_text(f"a{ESCAPES[what]}b")
    line = f"cat '{tmp_path}/complaint' >&2; echo '{{'; exit {status}"

    outcome = NO_LOOP.outcome(line, name=f"me{ESCAPES[what]}")

    shown = outcome.to_dict()
    assert all(map(is_safe, texts(shown))), shown
    assert all(is_safe(record.getMessage()) for record in caplog.records)
    assert outcome.results[0].error is None or is_safe(outcome.results[0].error.trace)


def test_a_context_beyond_the_limit_is_a_failure_and_not_cut_in_silence() -> None:
    """Fault 81: an answer may have a mebibyte, which is the explicit limit here; what was cut off may have been a deny."""
    code = "import json; print(json.dumps({'systemMessage': 'x' * 2_000_000}))"

    NO_LOOP.fails(handler=[sys.executable, "-S", "-c", code], code="stdout_limit", loads=False)


def test_a_command_that_shows_its_environment_shows_no_secret_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 82, as far as the contract goes: it was never told one."""
    monkeypatch.setenv("MY_TOKEN", "sk-secret")

    outcome = NO_LOOP.outcome("env >&2; exit 2")

    assert "INTERPOSE_TOOL_NAME=Bash" in outcome.reason
    assert "sk-secret" not in str(outcome.to_dict())
