"""``audit:`` in a configuration: what it may say, what arms a store, and what a mistake is answered with."""

import json
import os
import re
import shutil

import jsonschema
import pytest

from interpose import ConfigError, Hooks, UsageError
from interpose.audit.reader import open_store
from interpose.audit.retention import Retention
from interpose.audit.store import AuditStore, configured_store
from interpose.audit.verify import verify_store
from interpose.config.schema import schema


@pytest.fixture(autouse=True)
def at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home"))


def written(tmp_path, audit, hooks=None):
    path = tmp_path / "hooks.json"
    path.write_text(json.dumps({"audit": audit, "hooks": hooks or {}}))
    return path


def test_a_file_arms_a_store_beside_it(tmp_path):
    script = tmp_path / "guard.sh"
    script.write_text("#!/bin/sh\nexit 0\n")
    script.chmod(0o755)
    hooks = Hooks.load(
        written(tmp_path, {"path": "audit.db"}, {"Stop": [{"type": "command", "handler": "./guard.sh"}]})
    )

    hooks.fire_sync("Stop", session_id="s")
    hooks.close()

    with open_store(tmp_path / "audit.db") as reader:
        [found] = reader.firings()
        configuration = reader.configuration(found.configuration)
    assert configuration is not None
    [file] = configuration["files"]
    assert (file["path"], file["layer"], len(file["sha256"])) == (str(tmp_path / "hooks.json"), "code", 64)
    assert list(file["references"]) == [str(script)]
    assert not verify_store(str(tmp_path / "audit.db")).flaws


def test_the_hashes_are_recorded_also_where_lines_are_not_asked_for(tmp_path):
    (tmp_path / "guard.py").write_text("def look(event): ...\n")
    hooks = Hooks.load(written(tmp_path, {"path": "audit.db"}, {"Stop": [{"handler": "guard.look"}]}), lines=False)

    assert [list(origin.references) for origin in hooks.origins] == [[str(tmp_path / "guard.py")]]


@pytest.mark.parametrize(
    ("audit", "required"), [(True, False), ({}, False), ("required", True), ({"required": True}, True)], ids=str
)
def test_without_a_path_the_store_is_the_persons_own(audit, required, tmp_path):
    hooks = Hooks.load(written(tmp_path, audit))

    assert hooks.audit is not None
    assert (hooks.audit.path, hooks.audit.required) == (str(tmp_path / "home" / "interpose" / "audit.db"), required)
    assert hooks.engine.recorder is hooks.audit


@pytest.mark.parametrize("audit", [None, False])
def test_nothing_is_recorded_unless_it_is_asked_for(audit, tmp_path):
    hooks = Hooks.load(written(tmp_path, audit))

    assert (hooks.audit, hooks.engine.recorder) == (None, None)


def test_a_host_can_do_without(tmp_path):
    hooks = Hooks.load(written(tmp_path, True), audit=False)

    assert (hooks.audit, hooks.engine.recorder) == (None, None)


def test_nothing_is_made_before_something_is_recorded(tmp_path):
    Hooks.load(written(tmp_path, {"path": "state/audit.db"}))

    assert not (tmp_path / "state").exists()


def test_a_mapping_in_code_may_ask_for_it_too(tmp_path):
    hooks = Hooks.from_mapping({"audit": {"path": str(tmp_path / "audit.db"), "durable": True}})

    hooks.fire_sync("Stop")
    hooks.close()

    assert not verify_store(str(tmp_path / "audit.db")).flaws


def test_everything_that_can_be_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "key").write_text("0123456789abcdef")
    audit = {
        "path": "a.db", "required": True, "durable": True, "retention": {"age": "30d", "size": "2GiB"},
        "redact": {"badge": "EMP-[0-9]{6}"}, "key": "key", "anchor": "sub/anchor", "x-note": "free",
    }  # fmt: skip

    hooks = Hooks.load(written(tmp_path, audit))

    store = hooks.audit
    assert store is not None
    assert (store.path, store.required, store.durable) == (str(tmp_path / "a.db"), True, True)
    assert store._options.retention == Retention(age=30 * 86_400.0, size=2 << 30)
    assert store._options.rules == (("badge", "EMP-[0-9]{6}"),)
    assert (store._options.key, store._options.anchor) == (b"0123456789abcdef", str(tmp_path / "sub" / "anchor"))


def test_only_a_key_is_taken_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("WORD", "0123456789abcdef")

    store = Hooks.load(written(tmp_path, dict.fromkeys(("path", "anchor", "key"), "env:WORD"))).audit

    assert store is not None
    assert (store.path, store._options.anchor) == (str(tmp_path / "env:WORD"), str(tmp_path / "env:WORD"))
    assert store._options.key == b"0123456789abcdef"


@pytest.mark.parametrize(
    ("given", "retention"),
    [("30d", {"age": 2_592_000.0}), ("1.5h", {"age": 5400.0}), ("500MB", {"size": 500_000_000}),
     ("2 gib", {"size": 2 << 30}), ({"age": "1w"}, {"age": 604_800.0}), ({}, {})],
    ids=str,
)  # fmt: skip
def test_how_long_and_how_much(given, retention, tmp_path):
    hooks = Hooks.load(written(tmp_path, {"retention": given}))

    assert hooks.audit is not None
    assert hooks.audit._options.retention == Retention(**retention)


MISTAKES = [
    ([], "a mapping is expected"),
    ("yes", "a mapping is expected"),
    ({"pth": "x"}, "did you mean path"),
    ({"path": 3}, "not the path"),
    ({"path": ""}, "not the path"),
    ({"required": "yes"}, "true or false"),
    ({"durable": 1}, "true or false"),
    ({"retention": 30}, "not a limit"),
    ({"retention": "30"}, "not a limit"),
    ({"retention": "0d"}, "not a limit"),
    ({"retention": "1KB"}, "too small"),
    ({"retention": {"age": "30MB"}}, "not an age"),
    ({"retention": {"size": "30d"}}, "not a size"),
    ({"retention": {"years": 3}}, "not a key of retention"),
    ({"redact": ["x"]}, "kinds and patterns"),
    ({"redact": {"A B": "x"}}, "cannot name"),
    ({"redact": {"a": ""}}, "not a pattern"),
    ({"redact": {"a": "(?=x)"}}, "not a regular expression"),
    ({"anchor": []}, "not the path"),
]


@pytest.mark.parametrize(("audit", "words"), MISTAKES, ids=str)
def test_a_mistake_is_said_with_its_place(audit, words, tmp_path):
    path = written(tmp_path, audit)

    with pytest.raises(ConfigError, match=words) as caught:
        Hooks.load(path)

    assert all(problem.where.startswith(f"{path}:1:") for problem in caught.value.problems)


def test_a_key_that_is_not_there_arms_nothing(tmp_path):
    with pytest.raises(Exception, match="key cannot be read"):
        Hooks.load(written(tmp_path, {"key": "nothing"}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "audit", [True, "required", {}, {"path": "x", "retention": "30d"}, {"retention": {"size": "1GB"}}], ids=str
)
def test_the_schema_takes_what_the_reader_takes(audit):
    jsonschema.validate({"audit": audit}, schema())


@pytest.mark.parametrize("audit", [{"pth": "x"}, "yes", {"retention": "30"}, {"required": 1}], ids=str)
def test_the_schema_refuses_what_the_reader_refuses(audit):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"audit": audit}, schema())


def test_the_first_file_decides_and_another_is_told_that_it_does_not(tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    first.write_text('{"audit": {"path": "one.db"}}')
    second.write_text('{"audit": {"path": "two.db"}}')

    hooks = Hooks.load(first, second)

    assert hooks.audit is not None
    assert hooks.audit.path == str(tmp_path / "one.db")
    assert [problem.where for problem in hooks.warnings if "audit has no effect" in problem.what] == [str(second)]


def test_a_reload_keeps_the_store_or_exchanges_it(tmp_path):
    path = written(tmp_path, {"path": "one.db"})
    hooks = Hooks.load(path)
    hooks.fire_sync("Stop")
    before = hooks.audit

    path.write_text('{"audit": {"path": "one.db"}, "hooks": {"enforce": false}}')
    kept = hooks.reload() and hooks.audit is before
    hooks.fire_sync("Stop")
    path.write_text('{"audit": {"path": "two.db"}}')
    exchanged = hooks.reload() and hooks.audit is not before
    hooks.fire_sync("Stop")
    path.write_text("{}")
    hooks.reload()

    assert (kept, exchanged, hooks.audit, hooks.engine.recorder) == (True, True, None, None)
    with open_store(tmp_path / "one.db") as reader:
        found = list(reader.firings())
    assert len({one.configuration for one in found}) == len(found) == 2
    assert not verify_store(str(tmp_path / "two.db")).flaws


def test_a_reload_that_fails_keeps_the_store(tmp_path):
    path = written(tmp_path, {"path": "one.db"})
    hooks = Hooks.load(path)
    before = hooks.audit

    path.write_text('{"audit": {"path": 3}}')

    assert not hooks.reload()
    assert hooks.audit is hooks.engine.recorder is before


def test_another_recorder_takes_the_place_of_the_files_store(tmp_path):
    hooks = Hooks.load(written(tmp_path, True))
    seen: list[object] = []

    hooks.record(seen.append)
    hooks.fire_sync("Stop")

    assert len(seen) == 1
    assert not os.path.exists(hooks.audit.path if hooks.audit else "")


def test_a_store_can_be_made_from_what_was_read(tmp_path):
    store = configured_store({"path": str(tmp_path / "a.db"), "retention": {"age": 5.0}})

    assert store._options.retention == Retention(age=5.0)
    shutil.rmtree(tmp_path / "home", ignore_errors=True)


@pytest.mark.parametrize(
    ("given", "retention"),
    [
        ("30d", Retention(age=30 * 86_400.0)),
        ("500MB", Retention(size=500_000_000)),
        ({"age": "12h", "size": "1GiB"}, Retention(age=43_200.0, size=1 << 30)),
        (Retention(age=5), Retention(age=5)),
        (None, Retention()),
    ],
)
def test_a_store_made_in_code_understands_retention_as_a_configuration_does(given, retention, tmp_path):
    assert AuditStore(tmp_path / "audit.db", retention=given)._options.retention == retention


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("30", "'30' is not a limit (write 30d, 12h or 1y, or 500MB or 2GiB)"),
        ("a while", "'a while' is not a limit"),
        (30, "30 is not a limit"),
        ({"agee": "30d"}, "agee is not a key of retention (age and size are)"),
        ({"age": "500MB"}, "'500MB' is not an age"),
        ("10KB", "'10KB' is too small for a store (at least 1MB)"),
    ],
)
def test_a_retention_that_is_none_is_refused(given, complaint, tmp_path):
    with pytest.raises(UsageError, match=re.escape(complaint)):
        AuditStore(tmp_path / "audit.db", retention=given)

    assert not (tmp_path / "audit.db").exists()
