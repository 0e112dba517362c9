"""Firings run the rules that the machine has taken over, above the person's own, and never go on without them."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.rule_nodes import bundle_folder

from interpose import Hooks
from interpose.config.fleet_rules import FLEET_RULES
from interpose.config.state import state_path
from interpose.config.trust import trust
from interpose.errors import ConfigError, UnknownHook
from interpose.fleet.bundles import BadBundle, digest_of, pack
from interpose.fleet.statements import Statement
from interpose.fleet.take_over import RulesFolder, RulesRefused

RM = {"tool_name": "Bash", "tool_input": {"command": "rm x"}}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with a project in it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, below in (("STATE", "state"), ("CONFIG", "config"), ("CACHE", "cache")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home" / below))
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    return tmp_path / "home"


def take_over(packed: bytes, version: int = 1, **changed: object) -> RulesFolder:
    """Take over a bundle as the node process of this user does."""
    now = int(time.time())
    facts: dict[str, Any] = {
        "team": "payments", "ring": "prod", "version": version, "digest": digest_of(packed), "created": now,
        "expires": now + 1000, "observe": False, "note": "", "signer": "ed25519:" + "A" * 43 + "=", **changed,
    }  # fmt: skip
    folder = RulesFolder(os.path.dirname(state_path(FLEET_RULES)))
    folder.take_over(Statement(**facts), packed)
    return folder


def packed(folder: Path, **files: str) -> bytes:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name.replace("__", ".")
        path.write_text(text)
        if path.suffix == ".sh":
            path.chmod(0o755)
    return pack(str(folder))


def test_the_rules_of_the_fleet_hold_in_every_directory(home: Path) -> None:
    take_over(pack(str(bundle_folder(home / "bundle", "no"))))

    outcome = Hooks.discover(".").fire_sync("PreToolUse", **RM)

    assert (outcome.decision, outcome.reason) == ("deny", "the fleet says no")
    assert [hook.layer for hook in Hooks.discover(".")] == ["fleet"]


def test_what_runs_is_the_snapshot_and_not_the_unpacked_files(home: Path) -> None:
    folder = take_over(pack(str(bundle_folder(home / "bundle", "no"))))
    for path in Path(folder.folder, "bundles").rglob("guard.py"):
        path.write_text("def judge(event): pass\n")

    assert Hooks.discover(".").fire_sync("PreToolUse", **RM).decision == "deny"


def test_a_command_of_a_bundle_runs_from_the_snapshot(home: Path) -> None:
    take_over(
        packed(
            home / "bundle",
            hooks__yaml="hooks: {PreToolUse: [{name: g, command: guard.sh, args: [x], onError: abort}]}",
            guard__sh="#!/bin/sh\n. \"$(dirname \"$0\")/words.sh\"\necho \"$word in $INTERPOSE_HOOKS_DIR\" >&2\nexit 2\n",
            words__sh="word=stop\n",
        )
    )  # fmt: skip

    outcome = Hooks.discover(".").fire_sync("PreToolUse", **RM)

    assert outcome.decision == "deny"
    assert outcome.reason.startswith("stop in " + str(home / "state/interpose/fleet/snapshots"))


def test_observed_rules_are_run_and_not_enforced(home: Path) -> None:
    take_over(packed(bundle_folder(home / "bundle")), observe=True)

    outcome = Hooks.discover(".").fire_sync("PreToolUse", **RM)

    assert outcome.decision == "none"
    assert [result.decision for result in outcome.results] == ["deny"]


def test_calls_that_observed_rules_allow_are_asked_about_as_without_them(home: Path) -> None:
    bundle = packed(home / "bundle", hooks__yaml="dialect: claude\npermissions: {allow: ['Bash(ls)']}\n")
    take_over(bundle, observe=True)

    loaded = Hooks.discover(".")._armed.harmless
    take_over(bundle, version=2)

    assert loaded == ()
    assert Hooks.discover(".")._armed.harmless == ("Bash(ls)",)


def test_permission_rules_of_observed_rules_do_not_hold(home: Path) -> None:
    bundle = packed(home / "bundle", hooks__yaml="permissions: {'Bash(rm *)': deny}\n")
    take_over(bundle, observe=True)

    loaded = Hooks.discover(".")._armed.permissions
    take_over(bundle, version=2)

    assert loaded == {}
    assert Hooks.discover(".")._armed.permissions == {"Bash(rm *)": "deny"}


def test_a_person_cannot_switch_off_a_hook_of_the_fleet(home: Path) -> None:
    from interpose.config.load import find_sources, load_sources
    from interpose.config.switches import OBSERVE, Switches, switch
    from interpose.events import TABLE

    take_over(pack(str(bundle_folder(home / "bundle"))))
    loaded = load_sources(TABLE, find_sources("."))

    for to in (False, OBSERVE):
        with pytest.raises(UnknownHook, match=r"belongs to the fleet layer.*fleet push"):
            switch(os.getcwd(), "no-rm", to, loaded)
    Switches().set(os.getcwd(), "no-rm", False)  # as a program writes it that can write the state directory
    assert Hooks.discover(".").fire_sync("PreToolUse", **RM).decision == "deny"


def test_a_file_of_the_person_cannot_replace_override_or_drop_a_hook_of_the_fleet(home: Path) -> None:
    take_over(pack(str(bundle_folder(home / "bundle"))))
    own = home / "config" / "interpose" / "hooks.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(
        "hooks:\n  enforce: false\n  PreToolUse: [{name: no-rm, handler: 'os:getpid', enabled: false}]\n"
        "agents: [{id: main, backend: {hooks: {PreToolUse: {override: true, hooks: []}}}}]\n"
    )
    trust(own)

    hooks = Hooks.discover(".")

    assert hooks.fire_sync("PreToolUse", **RM).decision == "deny"
    assert hooks.fire_sync("PreToolUse", agent_id="main", **RM).decision == "deny"
    hooks.disable("no-rm", layer="user")  # the person's own hook of that name
    assert hooks.fire_sync("PreToolUse", **RM).decision == "deny"


@pytest.mark.parametrize("damage", ["snapshots", "file", "record", "empty", "other"])
def test_rules_that_are_missing_or_damaged_are_a_refusal(home: Path, damage: str) -> None:
    import shutil

    folder = take_over(pack(str(bundle_folder(home / "bundle"))))
    record = Path(folder.place)
    if damage == "snapshots":
        shutil.rmtree(Path(folder.folder) / "snapshots")
    elif damage == "file":
        (path,) = Path(folder.folder, "snapshots").rglob("files/.interpose/guard.py")
        path.chmod(0o600)
        path.write_text("def judge(event): pass\n")
    elif damage == "record":
        record.write_text("{")
    elif damage == "empty":
        record.write_text("{}")
    else:
        record.write_text(json.dumps({**json.loads(record.read_text()), "armed": {"digest": "../../x"}}))

    with pytest.raises(ConfigError, match="interpose fleet node"):
        Hooks.discover(".")


def test_a_running_engine_takes_over_newer_rules_when_it_reloads(home: Path) -> None:
    take_over(pack(str(bundle_folder(home / "bundle", "one"))))
    hooks = Hooks.discover(".")
    take_over(pack(str(bundle_folder(home / "bundle", "two"))), version=2)

    before, taken, after = hooks.fire_sync("PreToolUse", **RM), hooks.reload(), hooks.fire_sync("PreToolUse", **RM)

    assert before.reason == "the fleet says one"
    assert taken is not False
    assert after.reason == "the fleet says two"


def test_a_running_engine_keeps_the_rules_if_their_record_disappears(home: Path) -> None:
    folder = take_over(pack(str(bundle_folder(home / "bundle", "one"))))
    hooks = Hooks.discover(".")
    Path(folder.place).unlink()
    hooks.reload()

    assert hooks.fire_sync("PreToolUse", **RM).decision == "deny"


def test_after_leaving_the_fleet_no_rules_hold_and_an_old_version_is_still_refused(home: Path) -> None:
    bundle = pack(str(bundle_folder(home / "bundle")))
    folder = take_over(bundle, version=5)

    assert folder.leave()
    assert not folder.leave()
    assert list(Hooks.discover(".")) == []
    now = int(time.time())
    old = Statement(team="payments", ring="prod", version=4, digest=digest_of(bundle), created=now, expires=now + 9,
                    observe=False, note="", signer="x")  # fmt: skip
    with pytest.raises(RulesRefused, match="older than 5"):
        folder.check(old, time.time())


def test_a_configuration_of_the_fleet_cannot_say_which_fleet_the_machine_belongs_to(home: Path) -> None:
    take_over(
        packed(
            home / "bundle", hooks__yaml="fleet: {servers: 'nats://evil:4222', team: evil}\npermissions: {Bash: ask}\n"
        )
    )

    hooks = Hooks.discover(".")

    assert any("fleet has no effect" in problem.what for problem in hooks.warnings)


def test_the_same_files_give_the_same_bundle_and_a_link_out_of_the_directory_is_refused(home: Path) -> None:
    one, two = bundle_folder(home / "one"), bundle_folder(home / "two")
    (two / "__pycache__").mkdir()
    (two / "__pycache__" / "guard.pyc").write_bytes(b"x")
    os.utime(two / "guard.py", (1, 1))

    assert pack(str(one)) == pack(str(two))
    (one / "inside.py").symlink_to("guard.py")
    assert b"inside.py" in pack(str(one))
    (one / "outside.py").symlink_to("/etc/passwd")
    with pytest.raises(BadBundle, match="a link out of the directory"):
        pack(str(one))


def test_a_directory_with_a_device_a_large_file_or_the_signing_key_is_not_packed(home: Path) -> None:
    folder = bundle_folder(home / "bundle")
    (folder / "my.key").write_text("secret")
    with pytest.raises(BadBundle, match="private key"):
        pack(str(folder), without=(str(folder / "my.key"),))
    os.mkfifo(folder / "pipe")
    with pytest.raises(BadBundle, match="not a plain file"):
        pack(str(folder))
    (folder / "pipe").unlink()
    with (folder / "big").open("wb") as opened:
        opened.truncate(11 * 1024 * 1024)
    with pytest.raises(BadBundle, match="10 MiB"):
        pack(str(folder))


def test_a_damaged_record_stops_neither_trusting_nor_the_node_that_repairs_it(home: Path) -> None:
    from interpose.cli.fleet import fleet_of
    from interpose.errors import UsageError

    folder = take_over(pack(str(bundle_folder(home / "bundle"))))
    Path(folder.place).write_text("{")
    own = home / "config" / "interpose" / "hooks.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("fleet: {servers: 'nats://127.0.0.1:4222', team: payments, node: one}\n")

    with pytest.raises(UsageError, match="interpose trust"):
        fleet_of(None)
    trust(own)
    assert fleet_of(None).node == "one"
    with pytest.raises(ConfigError, match="damaged"):
        Hooks.discover(".")
    take_over(pack(str(bundle_folder(home / "bundle"))))
    assert Hooks.discover(".").fire_sync("PreToolUse", **RM).decision == "deny"
