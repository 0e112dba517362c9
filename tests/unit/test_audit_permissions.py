"""Permissions in the record: written, redacted, chained, read, counted and shown."""

import json

import pytest
from tests.databases import database

from interpose import Hooks, ask, deny
from interpose.audit import Selection, open_store
from interpose.audit.protocol import PermissionCount, StoredPermission
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store
from interpose.cli import main
from interpose.person.permission import Permission
from interpose.replay import prepared, read_file, read_session, replay

SECRET = "ghp_" + "a1" * 18
BY_RULE = Permission(
    verdict="denied", by="rule", rule="Bash(rm *)", place="/etc/hooks.yaml:3:5", reason="rm is not allowed",
    tool_name="Bash", tool_use_id="call-1", session_id="s-1", agent_id="main",
)  # fmt: skip
BY_PERSON = Permission(
    verdict="allowed", by="person", hook="careful", asked_at=1000.0, answered_at=1002.5, remembered="session",
    tool_name="Write", tool_use_id="call-2", session_id="s-1",
)  # fmt: skip
BY_NOBODY = Permission(
    verdict="denied", by="nobody", asked_at=1000.0, reason="there is no approver", tool_name="Bash",
    tool_use_id="call-3", session_id="s-2",
)  # fmt: skip


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "audit.db"


@pytest.fixture
def recorded(path):
    """A store of two sessions with a firing for each call, and what became of it."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: ask("sure?"), matcher="Write", name="careful")
    hooks.register("PreToolUse", lambda event: deny("not so"), matcher="Edit", name="strict")
    with AuditStore(path) as store:
        hooks.record(store)
        for number, (session, tool, given, permission) in enumerate([
            ("s-1", "Bash", {"command": "rm -r x"}, BY_RULE),
            ("s-1", "Write", {"file_path": "a.txt"}, BY_PERSON),
            ("s-2", "Bash", {"command": "make"}, BY_NOBODY),
            ("s-2", "Edit", {"file_path": "b.txt"}, None),
        ], 1):  # fmt: skip
            hooks.fire_sync("PreToolUse", session_id=session, tool_name=tool, tool_input=given,
                            tool_use_id=f"call-{number}", agent_id="main")  # fmt: skip
            if permission is not None:
                store.record_permission(permission)
        assert store.flush()
    return path


def said(capsys, *arguments, status=0):
    assert main(arguments) == status, capsys.readouterr().err
    return capsys.readouterr().out


def permissions(path, **filters):
    with open_store(path) as reader:
        return [one for one in reader.entries(Selection(**filters)) if isinstance(one, StoredPermission)]


def test_every_part_of_a_permission_is_recorded_and_linked_to_its_call(recorded):
    found = permissions(recorded, sessions=("s-1",))[-1]

    document = found.to_dict()
    assert (document["verdict"], document["by"], document["decision"], document["call"]) == (
        "denied", "rule", "deny", "call-1",
    )  # fmt: skip
    assert (document["rule"], document["place"], document["reason"], document["agent"]) == (
        "Bash(rm *)", "/etc/hooks.yaml:3:5", "rm is not allowed", "main",
    )  # fmt: skip
    assert (document["asked_at"], document["answered_at"]) == (None, None)
    with open_store(recorded) as reader:
        of_calls = reader.permissions_of(["call-1", "call-2", "call-4"])
    assert {call: [one.id for one in some] for call, some in of_calls.items()} == {"call-1": [2], "call-2": [4]}


def test_permissions_are_redacted(path):
    with AuditStore(path) as store:
        store.record_permission(
            Permission(verdict="denied", by="rule", rule=f"Bash(curl {SECRET})", tool_use_id=SECRET, session_id=SECRET)
        )

    [found] = permissions(path)
    assert found.text("rule").startswith("Bash(curl [redacted:")
    assert (found.call, found.session) == (found.text("tool_use_id"), found.text("session_id"))
    assert SECRET.encode() not in path.read_bytes()
    assert verify_store(str(path)).flaws == ()


TAMPERING = {
    "its rule": "UPDATE bodies SET body = replace(body, 'rm *', 'ls *') WHERE record = 2",
    "its verdict in lists": "UPDATE records SET decision = 1 WHERE id = 2",
    "its tool in lists": "UPDATE records SET subject = 'Read' WHERE id = 2",
    "its call": "UPDATE permissions SET call = 'call-9' WHERE record = 2",
    "its link to the call": "DELETE FROM permissions WHERE record = 2",
}


@pytest.mark.parametrize("what", TAMPERING)
def test_a_permission_that_was_changed_is_found(what, recorded):
    assert verify_store(str(recorded)).flaws == ()

    with database(recorded) as base:
        base.execute(TAMPERING[what])
    base.close()
    recorded.with_name("audit.db-sum").unlink()

    assert verify_store(str(recorded)).flaws[0].id == 2


def test_they_are_found_by_the_filters_of_the_log(recorded):
    def found(**filters):
        return [one.id for one in permissions(recorded, **filters)]

    assert found() == [6, 4, 2]
    assert found(tools=("Bash",)) == [6, 2]
    assert found(agents=("main",)) == [2]
    assert found(decisions=("allow",)) == [4]
    assert found(sessions=("s-2",)) == [6]
    assert found(texts=("RM *",)) == [2]
    assert found(hooks=("careful",)) == []


def test_the_list_says_who_decided_with_the_text_and_the_place_of_the_rule(recorded, capsys):
    lines = said(capsys, "log", "--store", str(recorded)).splitlines()

    by_id = {line.split()[2]: " ".join(line.split()[3:]) for line in lines[1:]}
    assert by_id["2"] == "s-1 permission Bash deny rule Bash(rm *) (/etc/hooks.yaml:3:5); rm is not allowed"
    assert by_id["4"] == "s-1 permission Write allow 2.5 s person remembered for session"
    assert by_id["6"] == "s-2 permission Bash deny nobody there is no approver"


def test_a_firing_is_shown_with_the_permission_of_its_call(recorded, capsys):
    shown = said(capsys, "log", "show", "1", "--store", str(recorded))
    document = json.loads(said(capsys, "log", "show", "1", "--store", str(recorded), "--json"))

    line = "permission: denied by rule: Bash(rm *) (/etc/hooks.yaml:3:5); rm is not allowed (record 2)"
    assert line in shown
    assert [one["id"] for one in document["permissions"]] == [2]


def test_a_permission_is_shown_in_full(recorded, capsys):
    shown = said(capsys, "log", "show", "4", "--store", str(recorded))
    document = json.loads(said(capsys, "log", "show", "4", "--store", str(recorded), "--json"))

    assert shown.startswith("ALLOWED  permission Write\n  id: 4 (process 1)\n")
    for line in ("session: s-1", "call: call-2", "by: person", "hook: careful", "asked: 1970-", "answered: 1970-",
                 "remembered for: session"):  # fmt: skip
        assert line in shown
    assert (document["kind"], document["by"], document["asked_at"]) == ("permission", "person", 1000.0)


def test_programs_get_permissions_beside_firings(recorded, capsys):
    document = json.loads(said(capsys, "log", "--store", str(recorded), "--json"))

    assert [one["id"] for one in document["firings"]] == [7, 5, 3, 1]
    assert [one["id"] for one in document["permissions"]] == [6, 4, 2]


def test_the_latest_firing_is_a_case_and_a_permission_is_none(recorded, capsys):
    assert said(capsys, "log", "case", "latest", "--store", str(recorded)).startswith('- name: "deny: PreToolUse Edit')
    assert main(["log", "case", "2", "--store", str(recorded)]) == 1
    assert "2 is a permission (only a firing can be a case)" in capsys.readouterr().err


def test_they_are_counted_by_verdict_and_by_decider(recorded, capsys):
    with open_store(recorded) as reader:
        counts = reader.permission_counts()
        none = reader.permission_counts(since=9e9)

    assert counts == [
        PermissionCount(verdict="allowed", by="person", count=1),
        PermissionCount(verdict="denied", by="nobody", count=1),
        PermissionCount(verdict="denied", by="rule", count=1),
    ]
    assert none == []
    shown = said(capsys, "stats", "--store", str(recorded))
    assert "allowed  1 call: 1 by person\ndenied  2 calls: 1 by nobody, 1 by rule\n" in shown
    document = json.loads(said(capsys, "stats", "--store", str(recorded), "--json"))
    assert document["permissions"][0] == {"verdict": "allowed", "by": "person", "count": 1}


def test_sessions_count_what_rules_and_people_decided_and_nothing_twice(recorded, capsys):
    with open_store(recorded) as reader:
        second, first = reader.sessions()

    assert (first.id, first.agents, first.calls, first.firings) == ("s-1", ("main",), 2, 2)
    assert (first.denies, first.asks, first.failures) == (1, 1, 0)
    assert (second.id, second.calls, second.denies, second.asks) == ("s-2", 2, 2, 1)


@pytest.mark.parametrize("source", ["store", "export"])
def test_a_replay_has_the_recorded_permission_beside_the_new_decision(source, recorded, capsys, tmp_path):
    if source == "store":
        with open_store(recorded) as reader:
            recording = read_session(reader, "s-1")
    else:
        said(capsys, "log", "export", "--store", str(recorded), "--session", "s-1", "-o", "s.jsonl")
        recording = read_file(str(tmp_path / "s.jsonl"))
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("never"), matcher="Bash", name="new")

    done = replay(prepared(hooks), recording)

    first, second = done.to_dict()["results"]
    assert [one["by"] for one in first["was"]["permissions"]] == ["rule"]
    assert [one["by"] for one in second["was"]["permissions"]] == ["person"]
    assert (len(recording.events), recording.events[0].id) == (2, "1")


def test_a_replay_prints_the_recorded_permission(recorded, capsys, tmp_path):
    (tmp_path / "new.yaml").write_text("hooks: {PreToolUse: [{matcher: Bash, command: 'exit 2', name: new}]}\n")

    shown = said(capsys, "replay", "s-1", "--store", str(recorded), "--against", "new.yaml", status=1)

    assert "- was: go on\n       and the call was denied by rule: Bash(rm *) (/etc/hooks.yaml:3:5); rm is not" in shown


def test_an_export_for_spreadsheets_has_them(recorded, capsys):
    lines = said(capsys, "log", "export", "--format", "csv", "--store", str(recorded)).splitlines()

    assert lines[2].split(",")[2:9] == ["s-1", "main", "permission", "Bash", "deny", "rm is not allowed", ""]
    assert '""rule"": ""Bash(rm *)""' in lines[2]


def test_a_permission_that_is_hostile_drives_no_terminal(path, capsys):
    hostile = "ev\x1b[2Jil\n\u202esecond"
    with AuditStore(path) as store:
        store.record_permission(
            Permission(verdict="denied", by="hook", hook=hostile, rule=hostile, reason=hostile, tool_name=hostile)
        )

    for arguments in (("log",), ("log", "show", "1"), ("stats",), ("log", "export", "--format", "csv")):
        shown = said(capsys, *arguments, "--store", str(path))
        assert not set(shown) & set("\x1b\u202e")


def test_a_store_that_is_down_does_not_hold_up_a_permission(tmp_path):
    (tmp_path / "audit.db").mkdir()
    with AuditStore(tmp_path / "audit.db", most_waiting=1, patience=0.05) as store:
        for _ in range(5):
            store.record_permission(BY_RULE)
        store.flush(0.2)

        assert store.health.state == "down"
