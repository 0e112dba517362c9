"""The record on the command line: lists, single firings, exports, cases, and what a terminal must not obey."""

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.terminals import COMMAND, on_a_terminal

from interpose import Hooks, deny, modify
from interpose.audit.store import AuditStore
from interpose.cli import main
from interpose.cli.audit_store import parse_since
from interpose.cli.log.filters import FILTERS
from interpose.cli.render import clock_time, format_duration, time_since
from interpose.config.load import Source
from interpose.testing import load_cases

SESSIONS = ("aaaa1111-2222", "bbbb3333-4444")
HOSTILE = "ev\x1b[2Jil \x1b]0;owned\x07\u202e\nsecond line"


def guard(event):
    command = event.tool_input.get("command", "")
    if "rm -rf" in command:
        return deny(f"Destructive: {command}")
    return modify(tool_input={"command": "git push --dry-run"}) if command == "git push" else None


def crash(event):
    raise ValueError("boom")


def hooks_under_record() -> Hooks:
    hooks = Hooks()
    hooks.register("PreToolUse", guard, name="guard", matcher="Bash")
    hooks.register("PreToolUse", crash, name="lint", matcher="Write", on_error="abort")
    hooks.register("PreToolUse", lambda event: deny("one day"), name="later", matcher="Edit", enforce=False)
    hooks.register("Stop", lambda event: deny("tests are missing"), name="more")
    return hooks


FIRINGS: list[tuple[str, dict[str, Any]]] = [
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "git push"}}),
    ("PreToolUse", {"tool_name": "Write", "tool_input": {"file_path": "=cmd|' /C calc'!A0"}}),
    ("PreToolUse", {"tool_name": "Edit", "tool_input": {"file_path": "x"}}),
    ("Stop", {}),
    ("PreToolUse", {"tool_name": HOSTILE, "tool_input": {"command": HOSTILE}}),
]
LS, RM, PUSH, WRITE, EDIT, STOP, ODD = range(1, 8)
"""The ids of the first session's firings."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("audit") / "audit.db"
    hooks = hooks_under_record()
    with AuditStore(path) as recorder:
        hooks.record(recorder)
        for session in SESSIONS:
            for event, fields in FIRINGS:
                hooks.fire_sync(event, session_id=session, **fields)
    return str(path)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def said(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert main(arguments) == status, capsys.readouterr().err
    return capsys.readouterr().out


def ids(capsys: pytest.CaptureFixture[str], store: str, *filters: str) -> list[int]:
    found = json.loads(said(capsys, "log", "--store", store, "--json", *filters))
    return [firing["id"] for firing in found["firings"]]


# The list.


def test_the_newest_firing_is_first_and_each_has_a_line(store, capsys):
    heading, *lines = said(capsys, "log", "--store", store, "--session", "aaaa").splitlines()

    assert heading.split() == ["TIME", "ID", "SESSION", "EVENT", "DECIDED", "TOOK", "HOOKS", "CALL", "REASON"]
    assert [int(line.split()[2]) for line in lines] == [7, 6, 5, 4, 3, 2, 1]
    assert " ".join(lines[5].split()[3:7]) == "aaaa1111 PreToolUse Bash deny"
    assert " ".join(lines[5].split()[-8:]) == "guard rm -rf / Destructive: rm -rf /"


@pytest.mark.parametrize(
    ("id", "decided", "hooks"),
    [(LS, "none", "guard"), (WRITE, "deny", "lint!"), (EDIT, "(deny)", "later"), (STOP, "keep", "more")],
)
def test_a_line_says_what_was_enforced_what_failed_and_what_was_kept_going(store, capsys, id, decided, hooks):
    lines = said(capsys, "log", "--store", store, "--session", "aaaa").splitlines()

    (line,) = [line.split() for line in lines if line.split()[2] == str(id)]
    assert decided in line
    assert hooks in line


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (["--session", "bbbb", "-n", "2"], [14, 13]),
        (["--event", "Stop"], [13, 6]),
        (["--hook", "lint"], [11, 4]),
        (["--decision", "deny", "--session", "a"], [4, 2]),
        (["--since", "1h", "--limit", "1"], [14]),
        (["--since", "2100-01-01"], []),
        (["--limit", "0"], list(range(14, 0, -1))),
        (["--event", "Nothing"], []),
        (["--event", "Nothing", "--event", "Stop"], [13, 6]),
        (["--tool", "Write", "--tool", "Edit", "--session", "aaaa"], [5, 4]),
        (["--tool", "Bash", "--decision", "deny"], [9, 2]),
        (["--tool", "Nothing"], []),
        (["--hook", "lint", "--hook", "later", "--session", "a", "--session", "b", "-n", "3"], [12, 11, 5]),
        (["--decision", "deny", "--decision", "none", "--session", "aaaa", "--tool", "Bash"], [3, 2, 1]),
        (["--agent", "nobody"], []),
        (["--grep", "RM -RF", "--session", "aaaa"], [2]),
        (["--grep", "git push", "--grep", "one day", "--session", "aaaa"], [5, 3]),
        (["--grep", "no such text"], []),
    ],
)
def test_filters_choose(store, capsys, filters, found):
    assert ids(capsys, store, *filters) == found


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--decision", "denied"], "--decision: denied is not a decision (did you mean deny?)"),
        (["--hook", "gaurd"], "--hook: no run of a hook gaurd is recorded (did you mean guard?)"),
        (["export", "--hook", "x"], "--hook: no run of a hook x is recorded (`interpose stats` lists those"),
        (["--since", "yesterday"], "--since: yesterday is not a time (such as 90m, 2h, 3d or 2026-01-31T09:00)"),
        (["--limit", "-1"], "-1 is below 0"),
        (["--event", "Stop", "show", "1"], "--event stands before show (write it after that)"),
        (["--limit", "20", "show", "1"], "--limit stands before show (write it after that)"),
        (["show", "x"], "x is not an id (a number that `interpose log` shows, or `latest`)"),
        (["show", "999"], "there is no firing 999 (`interpose log` lists them)"),
        (["show", "9" * 30], "is not an id"),
        (["export", "--format", "xml"], "--format: there is no format xml (jsonl or csv)"),
        (["export", "--output", "no/such/place"], "--output no/such/place: No such file or directory"),
        (["nothing"], "no such command 'nothing'"),
    ],
)
def test_mistakes_are_told(store, capsys, arguments, complaint):
    assert main(["log", "--store", store, *arguments]) == 1

    assert complaint in capsys.readouterr().err.replace("No such command", "no such command")


def test_without_a_store_it_says_how_to_have_one(capsys, tmp_path):
    assert main(["log"]) == 1

    complaint = capsys.readouterr().err
    assert "nothing is recorded: there is no audit store at" in complaint
    assert "add `audit: {path: audit.db}` to the configuration" in complaint
    assert not list(tmp_path.rglob("*.db"))


def test_a_file_that_is_no_store_is_named(capsys, tmp_path):
    (tmp_path / "x.db").write_text("hello, I am a text")

    assert main(["log", "--store", "x.db"]) == 1

    assert "x.db: cannot be read as an audit store" in capsys.readouterr().err


def test_the_store_is_the_one_that_the_configuration_names(store, capsys, tmp_path):
    (tmp_path / "hooks.yaml").write_text(f"audit: {{path: {store}}}\nhooks: {{}}\n")

    assert len(json.loads(said(capsys, "log", "-c", "hooks.yaml", "--json"))["firings"]) == 14
    assert said(capsys, "log", "-c", "hooks.yaml", "show", "2").startswith("DENY  PreToolUse Bash\n")


def test_no_firing_that_matches_is_said(store, capsys):
    assert main(["log", "--store", store, "--event", "Nothing"]) == 0

    assert capsys.readouterr() == ("", "no record matches\n")


def test_an_event_goes_by_each_of_its_names_and_a_misspelt_name_is_noticed(store, capsys):
    by_name = said(capsys, "log", "--store", store, "--event", "PreToolUse", "--json")
    assert said(capsys, "log", "--store", store, "--event", "pre:tool", "--json") == by_name

    assert main(["log", "--store", store, "--event", "PreTolUse"]) == 0
    assert capsys.readouterr().err == "no record matches (did you mean PreToolUse?)\n"
    assert main(["log", "--store", store, "--agent", "codx"]) == 0
    assert capsys.readouterr().err == "no record matches (did you mean codex?)\n"


def test_a_line_has_the_command_of_the_call_escaped_and_cut(tmp_path, capsys):
    hooks = Hooks()
    with AuditStore(tmp_path / "audit.db") as recorder:
        hooks.record(recorder)
        for command in ("ls -l\nrm \x1b[2J\tx", "x" * 3000):
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command})

    long, short = said(capsys, "log", "--store", str(tmp_path / "audit.db")).splitlines()[1:]

    assert short.rstrip().endswith("ls -l\\nrm \\x1b[2J\\tx")
    assert len(long) < 250
    assert long.rstrip().endswith("xxx…")


def test_agents_are_filtered_by_their_id(tmp_path, capsys):
    hooks = Hooks()
    path = str(tmp_path / "audit.db")
    with AuditStore(path) as recorder:
        hooks.record(recorder)
        for agent in ("main", "helper", "other"):
            hooks.fire_sync("Stop", agent_id=agent)

    assert ids(capsys, path, "--agent", "main", "--agent", "helper") == [2, 1]


def test_sessions_are_listed(store, capsys):
    heading, *lines = said(capsys, "log", "sessions", "--store", store).splitlines()
    document = json.loads(said(capsys, "log", "sessions", "--store", store, "--json", "--limit", "1"))

    assert heading.split() == ["SESSION", "BEGIN", "END", "CALLS", "DENIED", "FAILED"]
    assert [(line.split()[0], line.split()[-3:]) for line in lines] == [
        (SESSIONS[1], ["6", "2", "1"]),
        (SESSIONS[0], ["6", "2", "1"]),
    ]
    [one] = document["sessions"]
    assert {name: one[name] for name in ("id", "agents", "firings", "calls", "denials", "asks", "failures")} == {
        "id": SESSIONS[1], "agents": [], "firings": 7, "calls": 6, "denials": 2, "asks": 0, "failures": 1,
    }  # fmt: skip
    assert one["begin"] <= one["end"]


def test_without_a_session_it_says_so(store, capsys):
    assert main(["log", "sessions", "--store", store, "--since", "2100-01-01"]) == 0
    assert capsys.readouterr().err == "no session is recorded\n"


CONFIGURED = "audit: {path: audit.db, key: key, anchor: anchor}\nhooks: {}\n"


def configured_store(tmp_path):
    (tmp_path / "key").write_text("a key of more than sixteen bytes")
    (tmp_path / "hooks.yaml").write_text(CONFIGURED)
    hooks = Hooks.load("hooks.yaml")
    for _ in range(3):
        hooks.fire_sync("Stop")
    hooks.close()


def test_verify_uses_the_key_and_the_anchor_of_the_configuration(tmp_path, capsys):
    configured_store(tmp_path)

    assert ": complete: " in said(capsys, "log", "verify", "-c", "hooks.yaml")
    assert ": complete: " in said(capsys, "log", "verify", "-c", "hooks.yaml", "--store", "audit.db")
    assert ": consistent: " in said(capsys, "log", "verify", "--store", "audit.db")
    (tmp_path / "other").write_text("another key of sixteen bytes")
    assert "another key" in said(capsys, "log", "verify", "-c", "hooks.yaml", "--key", "other", status=1)


def test_a_found_configuration_is_as_good_as_a_named_one(tmp_path, capsys, monkeypatch):
    configured_store(tmp_path)
    found = [Source(str(tmp_path / "hooks.yaml"), "code", None)]
    monkeypatch.setattr("interpose.cli.audit_store.find_sources", lambda directory, dialect: found)

    assert ": complete: " in said(capsys, "log", "verify")


def test_a_process_that_writes_without_the_configured_key_and_anchor_is_found(tmp_path, capsys):
    configured_store(tmp_path)
    with AuditStore("audit.db") as recorder:
        hooks = Hooks()
        hooks.record(recorder)
        hooks.fire_sync("Stop")

    shown = said(capsys, "log", "verify", "-c", "hooks.yaml", status=1)

    assert "process 5: this process wrote without a key" in shown
    assert "the anchor does not know this process" in shown


@pytest.mark.parametrize(("gone", "complaint"), [("key", "key cannot be read"), ("anchor", "anchor cannot be read")])
def test_a_configured_key_or_anchor_that_is_gone_is_no_success(tmp_path, capsys, gone, complaint):
    configured_store(tmp_path)
    (tmp_path / gone).unlink()

    assert main(["log", "verify", "-c", "hooks.yaml"]) == 1
    captured = capsys.readouterr()
    assert complaint in captured.out + captured.err


def test_a_broken_configuration_does_not_take_the_key_away(tmp_path, capsys):
    configured_store(tmp_path)
    (tmp_path / "hooks.yaml").write_text(CONFIGURED.replace("key: key", "kye: key"))

    assert main(["log", "verify", "-c", "hooks.yaml", "--store", "audit.db"]) == 1
    assert "kye is not a key of audit" in capsys.readouterr().err


def test_verify_has_two_statuses(store, capsys, tmp_path):
    (tmp_path / "text.db").write_text("hello, I am a text")

    statuses = [main(["log", "verify", "--store", path]) for path in (store, "text.db", "nowhere.db")]

    assert statuses == [0, 1, 1]
    assert json.loads(said(capsys, "log", "--store", store, "verify", "--json").splitlines()[-1])["ok"] is True


# A terminal.


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 200])
def test_lines_fit_the_terminal_and_nothing_in_them_is_obeyed(store, columns):
    lines = on_a_terminal("log", "--store", store, columns=columns, NO_COLOR="1")

    assert len(lines) == 15
    assert max(map(len, lines)) <= columns
    assert not [line for line in lines if "\x1b" in line or "\u202e" in line or "\x07" in line]
    assert all(any(word in line for word in ("deny", "none", "keep")) for line in lines[1:])


def test_a_terminal_gets_colours_and_they_are_ours(store):
    lines = on_a_terminal("log", "--store", store, "--session", "aaaa", columns=100)

    (denied,) = [line for line in lines if "Destructive" in line]
    assert "\x1b[31mdeny" in denied
    assert not [line for line in lines if "\x1b[2J" in line or "\x1b]0;" in line]


@pytest.mark.parametrize("arguments", [["show", "7"], ["show", "2"], ["case", "7"]])
def test_single_firings_are_safe_to_look_at(store, capsys, arguments):
    shown = said(capsys, "log", *arguments, "--store", store)

    assert not [letter for letter in shown if (letter < " " and letter != "\n") or letter in "\x7f\u202e"]


# One firing.


def test_show_has_everything_of_a_firing(store, capsys):
    shown = said(capsys, "log", "show", str(PUSH), "--store", store)

    assert "  session: aaaa1111-2222\n" in shown
    assert '    tool_input was changed:\n      - command: "git push"\n      + command: "git push --dry-run"\n' in shown
    assert "  hooks\n    guard  ok       none" in shown


def test_show_has_what_a_hook_failed_of(store, capsys):
    shown = said(capsys, "log", "show", str(WRITE), "--store", store)

    assert "      error: hook_crash: raised ValueError: boom\n" in shown


def test_the_latest_can_be_asked_for_and_programs_get_one_document(store, capsys):
    shown = json.loads(said(capsys, "log", "show", "latest", "--store", store, "--json"))

    assert (shown["id"], shown["session"], shown["input"]["tool_name"]) == (14, SESSIONS[1], HOSTILE)


# Exports.


def test_an_export_has_a_document_on_each_line_oldest_first(store, capsys, tmp_path):
    said(capsys, "log", "export", "--store", store, "--session", "aaaa", "-o", "out.jsonl")

    documents = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [document["id"] for document in documents] == [1, 2, 3, 4, 5, 6, 7]
    assert documents[2]["given"]["tool_input"] == {"command": "git push"}
    assert (tmp_path / "out.jsonl").stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl"]


def test_an_export_goes_into_a_pipe_or_through_a_link_and_replaces_neither(store, capsys, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("real.jsonl")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        said(capsys, "log", "export", "--store", store, "-o", "pipe", "--limit", "1")

        assert json.loads(os.read(reader, 65536))["id"] == 1
    finally:
        os.close(reader)
    said(capsys, "log", "export", "--store", store, "-o", "link", "--limit", "1")

    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "real.jsonl").read_text())["id"] == 1


def test_no_cell_of_a_table_is_a_formula_or_an_escape(tmp_path, capsys):
    hooks = Hooks(session_id="=1+1")
    hooks.register("PreToolUse", lambda event: deny(event.tool_input["why"]), name="@guard")
    reasons = ["=HYPERLINK(1)", "+1", "-1", "@x", "\t=1", "  =1", "\x1b[31m=1", "fine", 'a "quoted", one\nof two lines']
    with AuditStore(tmp_path / "a.db") as recorder:
        hooks.record(recorder)
        for reason in reasons:
            hooks.fire_sync("PreToolUse", tool_name="-tool", tool_input={"why": reason})

    out = said(capsys, "log", "export", "--format", "csv", "--store", "a.db")

    rows = list(csv.DictReader(out.splitlines(keepends=True)))
    assert [row["reason"] for row in rows][-2:] == ["fine", 'a "quoted", one\nof two lines']
    assert {(row["session"], row["subject"], row["hooks"]) for row in rows} == {("'=1+1", "'-tool", "'@guard")}
    assert not [cell for row in rows for cell in row.values() if cell.strip()[:1] in tuple("=+-@")]
    assert "\x1b" not in out


def test_an_export_that_breaks_off_leaves_nothing_behind(store, tmp_path, monkeypatch, capsys):
    from interpose.audit.protocol import StoredFiring

    def broken(self):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(StoredFiring, "to_dict", broken)
    (tmp_path / "out.jsonl").write_text("of last week")

    assert main(["log", "export", "--store", store, "-o", "out.jsonl"]) == 1

    assert "--output out.jsonl: No space left on device" in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.jsonl", "of last week")]


# Live.


def test_following_shows_what_is_recorded_meanwhile_and_ends_with_ctrl_c(tmp_path):
    path = tmp_path / "live.db"
    hooks = hooks_under_record()
    with AuditStore(path) as recorder:
        hooks.record(recorder)
        hooks.fire_sync("Stop", session_id="before")
        recorder.flush()
        following = subprocess.Popen(
            [COMMAND, "log", "--store", str(path), "--follow", "--event", "Stop", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            line = _next_line(following, lambda: (hooks.fire_sync("Stop", session_id="live"), recorder.flush()))
            following.send_signal(signal.SIGINT)
            _, complaint = following.communicate(timeout=30)
        finally:
            following.kill()
            following.wait()

    assert json.loads(line)["session"] == "live"
    assert (following.returncode, complaint) == (0, "")


def _next_line(process: Any, act: Any) -> str:
    """Act until the other process, which may still be starting, has seen it."""
    import select

    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        act()
        if select.select([process.stdout], [], [], 0.2)[0]:
            return str(process.stdout.readline())
    raise AssertionError("nothing was shown")


# Cases.


def test_a_recorded_firing_becomes_a_case_that_passes(store, capsys, tmp_path):
    (tmp_path / "cases.yaml").write_text(
        "# ours\n- name: by hand\n  given: {event: Stop}\n  expect: {keep_going: true}\n"
    )

    for number in (LS, RM, PUSH, WRITE, EDIT, STOP):
        said(capsys, "log", "case", str(number), "--store", store, "--append", "cases.yaml")

    from interpose.testing import run_case

    cases = load_cases("cases.yaml")
    results = [run_case(hooks_under_record(), case) for case in cases]
    assert [result.lines() for result in results if not result.passed] == []
    assert [case.expect["decision"] for case in cases[1:]] == ["none", "deny", "none", "deny", "none", "none"]
    assert cases[3].expect["input"] == {"tool_input": {"command": "git push --dry-run"}}
    assert cases[4].expect["hooks"] == {"lint": "failed"}
    assert (tmp_path / "cases.yaml").read_text().startswith("# ours\n- name: by hand\n")


def test_a_case_fails_where_the_hooks_decide_differently(store, capsys):
    from interpose.testing import run_case

    said(capsys, "log", "case", str(RM), "--store", store, "--append", "cases.yaml")

    (case,) = load_cases("cases.yaml")
    assert not run_case(Hooks(), case).passed


@pytest.mark.parametrize(
    ("name", "before", "count"),
    [
        ("new.yaml", None, 1),
        ("empty.yaml", "# nothing yet\n", 1),
        ("new.json", None, 1),
        ("list.yaml", "- given: {event: Stop}\n  expect: {allowed: true}", 2),
        ("indented.yaml", "cases:\n  -   name: a\n      given: {event: Stop}\n      expect: {allowed: true}\n", 2),
        ("between.yaml", "cases:\n- {given: {event: Stop}, expect: {allowed: true}}\nconfig: [hooks.yaml]\n", 2),
        ("list.json", '[{"given": {"event": "Stop"}, "expect": {"allowed": true}}]', 2),
        (
            "mapping.json",
            '{"config": "h.yaml", "cases": [{"given": {"event": "Stop"}, "expect": {"allowed": true}}]}',
            2,
        ),
    ],
)
def test_a_case_is_added_to_a_file_of_any_form(store, capsys, tmp_path, name, before, count):
    if before is not None:
        (tmp_path / name).write_text(before)

    said(capsys, "log", "case", str(RM), "--store", store, "--append", name)

    cases = load_cases(name)
    assert len(cases) == count
    assert (cases[-1].event, cases[-1].fields["tool_input"]) == ("PreToolUse", {"command": "rm -rf /"})
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "before", "complaint"),
    [
        ("cases.txt", None, "cases.txt: neither YAML nor JSON"),
        (
            "flow.yaml",
            "[{given: {event: Stop}, expect: {allowed: true}}]\n",
            "flow.yaml:1:2: its cases are not on lines",
        ),
        ("bad.yaml", "- {given: {event: Stpo}, expect: {allowed: true}}\n", "Stpo is not an event"),
        ("no/such.yaml", None, "no/such.yaml: No such file or directory"),
    ],
)
def test_a_file_that_cannot_take_a_case_stays_as_it_was(store, capsys, tmp_path, name, before, complaint):
    if before is not None:
        (tmp_path / name).write_text(before)

    assert main(["log", "case", str(RM), "--store", store, "--append", name]) == 1

    assert complaint in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ([before] if before is not None else [])


def test_the_same_case_is_not_added_twice(store, capsys):
    said(capsys, "log", "case", str(RM), "--store", store, "--append", "cases.yaml")

    assert main(["log", "case", str(RM), "--store", store, "--append", "cases.yaml"]) == 1

    assert "'deny: PreToolUse Bash, recorded as 2' is in the file already" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", [HOSTILE, "\ud800", "yes", "1e3", "2026-01-01", "a: b # c", "\u2028", "{x}\n\n  y\n", "😀"]
)
def test_whatever_was_recorded_can_be_written_as_a_case_and_read_again(tmp_path, capsys, command):
    hooks = Hooks()
    with AuditStore(tmp_path / "a.db") as recorder:
        hooks.record(recorder)
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": command})

    said(capsys, "log", "case", "1", "--store", "a.db", "--append", "cases.yaml")

    (case,) = load_cases("cases.yaml")
    assert case.fields["tool_input"]["command"] == command.replace("\ud800", "\ufffd")


def test_a_case_of_a_redacted_input_says_so(tmp_path, capsys):
    hooks = Hooks()
    with AuditStore(tmp_path / "a.db") as recorder:
        hooks.record(recorder)
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": f"login ghp_{'a1B2' * 9}"})

    assert main(["log", "case", "latest", "--store", "a.db"]) == 0

    out, err = capsys.readouterr()
    assert "[redacted:" in out
    assert "secrets were redacted when it was recorded" in err


# Words for times.


@pytest.mark.parametrize(
    ("text", "seconds"), [("90m", 5400), ("2h", 7200), ("3d", 259_200), ("1w", 604_800), ("1.5h", 5400), ("45 s", 45)]
)
def test_since_goes_back_from_now(text, seconds):
    moment = parse_since(text)

    assert moment is not None
    assert abs(time.time() - seconds - moment) < 5


def test_since_takes_a_date_with_or_without_a_zone():
    assert parse_since("2026-01-31T09:00:00Z") == 1769850000
    assert parse_since("2026-01-31T09:00:00+02:00") == 1769842800
    assert parse_since(None) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 ms"), (0.0000123, "0.012 ms"), (0.00123, "1.2 ms"), (0.0123, "12 ms"), (0.9994, "999 ms"), (1.23, "1.2 s"),
     (123.4, "123 s")],
)  # fmt: skip
def test_a_time_has_few_digits(seconds, text):
    assert format_duration(seconds) == text


def test_a_moment_that_no_clock_can_show_is_no_error():
    assert clock_time(1e300) == "?"
    assert [time_since(at, 1000.0) for at in (None, 2000.0, 990.0, 400.0)] == ["never", "0s ago", "10s ago", "10m ago"]


@pytest.mark.parametrize(("command", "without"), [(["log"], set()), (["log", "export"], set()), (["tail"], {"since"})])
def test_commands_that_print_records_select_them_by_the_same_options(command, without, capsys):
    assert main([*command, "--help"]) == 0

    said = capsys.readouterr().out
    assert {name for name in FILTERS if f"--{name} " not in said} == without
