"""The resident engine fires with new rules of the fleet as soon as they are armed."""

import time
from pathlib import Path

import pytest
from tests.fleet.rule_nodes import bundle_folder
from tests.fleet.test_armed_rules import RM, home, take_over

from interpose.fleet.bundles import pack
from interpose.server.kept_hooks import KeptHooks

__all__ = ["home"]


def decided(kept: KeptHooks) -> str:
    hooks = kept.discover(str(Path.cwd()), dialect=None, lines=False, changed="keep", required=False)
    outcome = hooks.fire_sync("PreToolUse", **RM)
    return outcome.reason or outcome.decision


def test_newer_rules_and_an_observed_version_of_the_same_bundle_are_noticed(home: Path) -> None:
    kept = KeptHooks()
    found = [decided(kept)]
    for version, (word, observe) in enumerate([("one", False), ("two", False), ("two", True), ("two", False)], 1):
        take_over(pack(str(bundle_folder(home / "bundle", word))), version=version, observe=observe)
        found.append(decided(kept))
        time.sleep(0.15)  # what was read just after a change is read again
        found.append(decided(kept))

    assert found == ["none", *["the fleet says one"] * 2, *["the fleet says two"] * 2, *["none"] * 2,
                     *["the fleet says two"] * 2]  # fmt: skip


def test_events_of_two_projects_are_of_one_process_as_far_as_the_fleet_is_concerned(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take_over(pack(str(bundle_folder(home / "bundle", "no"))))
    kept = KeptHooks()
    decided(kept)
    (home / "other").mkdir()
    monkeypatch.chdir(home / "other")

    assert decided(kept) == "the fleet says no"
