"""Events that keep a hook from being asked: what a model writes denies, and switches no hook off."""

import asyncio
import gc
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults import isolated_hooks
from tests.faults.commands import register, script, zombies
from tests.faults.hosts import CALL, WAYS, Way, eventually, kept_now
from tests.faults.late_hooks import stuck
from tests.faults.test_command_stdin import circular, nested

from interpose import Hooks, Outcome, deny
from interpose.handlers._warm_pool import warm_pool
from interpose.handlers.supervisors import pool
from interpose.model import Hook
from interpose.scripts import Commands

if sys.platform != "linux":
    pytest.skip("isolation and warm scripts need Linux", allow_module_level=True)

DENIES = "cat > /dev/null; echo seen >&2; exit 2"
"""A line of a hook that denies whatever it is asked, so that an event that goes on was not asked about."""


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    """What the engine keeps for the next event is closed after each test."""
    yield
    gc.collect()
    for kept in (warm_pool, pool):
        kept.close()
        kept._reset()
    assert zombies() == []


class OfTheHost:
    """A class that no worker process finds."""


def nonsense(folder: Path) -> dict[str, tuple[dict[str, Any], str]]:
    """Return events that no command can be asked about, and the code of the failure."""
    gone, file = folder / "gone", folder / "a file"
    file.touch()
    inputs = {
        "not a number": float("nan"), "infinity": float("-inf"), "5,000 digits": 10**5000, "a set": {1}, "bytes": b"1",
        "itself": circular(), "101 levels": nested(101), "100,000 levels": nested(100_000), "a key": {(1, 2): 3},
        "half a character": "rm -rf x #\udcff", "an object": OfTheHost(), "a lock": threading.Lock(),
    }  # fmt: skip
    names = {
        "a NUL": "Ba\0sh",
        "a lone surrogate": "Bash\ud800",
        "a long name": "x" * 200_000,
        "longer": "x" * 3_000_000,
    }
    directories = {
        "gone": str(gone), "a file": str(file), "with a NUL": "/tmp/a\0b", "with a surrogate": "/tmp/\ud800",
        "with half a character": "/tmp/\udcff", "too long": "/" + "x" * 300, "far too long": "/" + "x/" * 1_000_000,
        "relative": "no/such/directory",
    }  # fmt: skip
    made: dict[str, tuple[dict[str, Any], str]] = {}
    for what, value in inputs.items():
        made[f"input {what}"] = {"tool_input": {"x": value}}, "payload"
    for what, name in names.items():
        made[f"name with {what}"] = {"tool_name": name}, "spawn_too_big" if "long" in what else "bad_input"
    for what, directory in directories.items():
        made[f"directory {what}"] = {"cwd": directory}, "payload" if "half" in what else "cwd_missing"
    return {what: ({**CALL, **fields}, code) for what, (fields, code) in made.items()}


COMMANDS: dict[str, dict[str, Any]] = {
    "group": {"command": DENIES, "isolation": "group"},
    "tree": {"command": DENIES, "isolation": "tree"},
    "namespace": {"command": DENIES, "isolation": "namespace"},
    "without a shell": {"handler": ["/bin/sh", "-c", DENIES]},
    "warm": {"handler": "guard.py", "warm": True},
    "in the claude dialect": {"command": DENIES, "dialect": "claude"},
}
GUARD = "import sys\nsys.stdin.read()\nprint('seen', file=sys.stderr)\nsys.exit(2)\n"


def hook_of(hooks: Hooks) -> Hook:
    [hook] = hooks
    return hook


def command(kind: str, folder: Path, **options: Any) -> Hooks:
    hooks = Hooks()
    options = {**COMMANDS[kind], **options}
    if options.get("warm"):
        options["handler"] = [script(folder, GUARD, name="guard.py", mode=0o644)]
    register(hooks, **options)
    assert hooks.fire_sync("PreToolUse", **CALL).reason == "seen"
    return hooks


def judged(outcome: Outcome) -> tuple[bool, str | None]:
    [result] = outcome.results
    return outcome.denied, result.error and result.error.code


@pytest.mark.parametrize(
    ("kind", "on_error"), [*((kind, None) for kind in COMMANDS), ("group", "skip"), ("group", "abort")]
)
def test_an_event_that_no_command_can_be_asked_about_denies_and_does_not_count(
    kind: str, on_error: str | None, tmp_path: Path
) -> None:
    hooks = command(kind, tmp_path, on_error=on_error)
    hook_of(hooks).health.failures = 5
    wrong = {}
    for what, (fields, code) in nonsense(tmp_path).items():
        if kind == "in the claude dialect" and ("name" in what or "directory" in what):
            continue  # the client passes no tool's name in a variable, and has a directory to fall back on
        outcome = hooks.fire_sync("PreToolUse", **fields)
        if (judged(outcome), hook_of(hooks).health.failures) != ((True, code), 5):
            wrong[what] = judged(outcome), hook_of(hooks).health.failures

    assert wrong == {}


def test_an_event_that_is_too_large_denies_and_does_not_count(tmp_path: Path) -> None:
    hooks = command("group", tmp_path)

    outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"x": "x" * (51 * 1024 * 1024)})

    assert (judged(outcome), hook_of(hooks).health.failures) == ((True, "payload_too_big"), 0)


@pytest.mark.parametrize("kind", COMMANDS)
def test_twelve_calls_with_nonsense_switch_no_command_off(kind: str, tmp_path: Path) -> None:
    hooks = command(kind, tmp_path)
    unreadable = {**CALL, "tool_input": {"x": float("nan")}}

    outcomes = [hooks.fire_sync("PreToolUse", **unreadable) for _ in range(10)]
    outcomes += [asyncio.run(hooks.fire("PreToolUse", **unreadable)) for _ in range(2)]

    assert [judged(outcome) for outcome in outcomes] == [(True, "payload")] * 12
    assert hooks.fire_sync("PreToolUse", **CALL).reason == "seen"


def test_nonsense_does_not_close_a_breaker_either(tmp_path: Path) -> None:
    hooks = Hooks()
    register(hooks, "exit 1")
    for _ in range(10):
        hooks.fire_sync("PreToolUse", **CALL)

    hooks.fire_sync("PreToolUse", **{**CALL, "cwd": str(tmp_path / "gone")})

    assert judged(hooks.fire_sync("PreToolUse", **CALL)) == (False, "breaker_open")


def test_a_directory_that_is_deleted_between_two_calls_denies(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    hooks = command("tree", tmp_path)
    fields = {**CALL, "cwd": str(place)}
    assert hooks.fire_sync("PreToolUse", **fields).reason == "seen"

    place.rmdir()

    assert judged(hooks.fire_sync("PreToolUse", **fields)) == (True, "cwd_missing")


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user other than root")
@pytest.mark.parametrize("kind", ["group", "tree"])
def test_a_directory_that_cannot_be_entered_denies(kind: str, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    hooks = command(kind, tmp_path)

    assert judged(hooks.fire_sync("PreToolUse", **{**CALL, "cwd": str(closed)})) == (True, "cwd_missing")


def test_a_directory_of_the_hook_that_the_model_deletes_or_swaps_denies(tmp_path: Path) -> None:
    """The model has a shell; the hook's own directory is in its reach."""
    place, link = tmp_path / "place", tmp_path / "link"
    place.mkdir()
    link.symlink_to(place)
    hooks = Hooks()
    register(hooks, DENIES, cwd=str(link))
    assert hooks.fire_sync("PreToolUse", **CALL).reason == "seen"

    link.unlink()
    link.symlink_to("/")
    swapped = [judged(hooks.fire_sync("PreToolUse", **CALL)) for _ in range(12)]
    link.unlink()
    place.rmdir()
    deleted = [judged(hooks.fire_sync("PreToolUse", **CALL)) for _ in range(12)]

    assert (set(swapped), set(deleted)) == ({(True, "cwd_changed")}, {(True, "cwd_missing")})


def test_a_result_that_cannot_be_written_switches_no_filter_off(tmp_path: Path) -> None:
    """After the tool nothing can be denied; but the hook that redacts results must see the next one."""
    hooks = Hooks()
    register(hooks, """echo '{"modify": {"tool_response": "redacted"}}'""", event="PostToolUse")

    for response in ({1}, b"1", float("nan"), circular(), nested(500)) * 3:
        outcome = hooks.fire_sync("PostToolUse", **CALL, tool_response=response)
        assert outcome.results[0].error is not None
        assert outcome.results[0].error.code == "payload"

    assert hooks.fire_sync("PostToolUse", **CALL, tool_response="secret").tool_response == "redacted"


# Python hooks.


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_event_that_cannot_be_copied_denies_and_does_not_count(way: Way) -> None:
    hooks = Hooks()
    way.register(hooks, lambda event: deny("seen"))

    outcomes = [way.fire(hooks, tool_name="Bash", tool_input={"x": threading.Lock()}) for _ in range(12)]

    assert [judged(outcome) for outcome in outcomes] == [(True, "payload")] * 12
    assert hook_of(hooks).health.failures == 0
    assert way.fire(hooks).reason == "seen"


IN_A_WORKER: dict[str, tuple[Any, str]] = {
    "a lock": (threading.Lock(), "payload"),
    "an object": (OfTheHost(), "payload"),
    "100,000 levels": (nested(100_000), "payload"),
    "51 MiB": ("x" * (51 * 1024 * 1024), "payload_too_big"),
}


@pytest.mark.parametrize("what", IN_A_WORKER)
def test_an_event_that_no_worker_can_be_asked_about_denies_and_does_not_count(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OfTheHost, "__module__", "a_module_of_the_host")
    monkeypatch.setitem(sys.modules, "a_module_of_the_host", sys.modules[__name__])
    value, code = IN_A_WORKER[what]
    hooks = Hooks()
    hooks.register("PreToolUse", isolated_hooks.pid, isolate="process")

    outcomes = [hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"x": value}) for _ in range(2)]
    first = hooks.fire_sync("PreToolUse", **CALL)
    hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"x": value})

    assert [judged(outcome) for outcome in outcomes] == [(True, code)] * 2
    assert first.results[0].status == "ok"
    assert hooks.fire_sync("PreToolUse", **CALL).reason == first.reason, "the worker is another one"
    assert hook_of(hooks).health.failures == 0


# Script lines.


def test_a_script_line_that_an_event_cannot_fill_denies_and_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "lines.arma").write_text("hook pre:tool /judge $args\n")
    (tmp_path / "hooks.yaml").write_text("scripts: [lines.arma]\n")
    commands = Commands()
    commands.add("judge", lambda arguments, event: deny("seen"))
    hooks = Hooks.load(tmp_path / "hooks.yaml", commands=commands)

    outcomes = [hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"x": float("nan")}) for _ in range(12)]

    assert [judged(outcome) for outcome in outcomes] == [(True, "payload")] * 12
    assert hooks.fire_sync("PreToolUse", **CALL).reason == "seen"


def test_a_line_that_logs_is_not_switched_off_by_a_level_that_the_model_makes_up(tmp_path: Path) -> None:
    (tmp_path / "lines.arma").write_text("hook pre:tool /log $args.level text\n")
    (tmp_path / "hooks.yaml").write_text("scripts: [lines.arma]\n")
    hooks = Hooks.load(tmp_path / "hooks.yaml")

    outcomes = [hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"level": "loud"}) for _ in range(12)]

    assert [judged(outcome) for outcome in outcomes] == [(True, "bad_input")] * 12
    assert hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"level": "info"}).results[0].status == "ok"


# Hooks that could not begin because of others.


def test_a_hook_that_others_kept_from_beginning_is_not_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that makes one hook hang must not switch another off."""
    monkeypatch.setattr("interpose.run.MOST_KEPT", 1)
    monkeypatch.setattr("interpose.runtime.kept.MOST_KEPT", 1)
    with stuck() as release:
        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: release.wait(), matcher="Stuck", timeout=0.05)
        hooks.register("PreToolUse", lambda event: deny("seen"), matcher="Bash")
        hooks.fire_sync("PreToolUse", tool_name="Stuck")

        outcomes = [hooks.fire_sync("PreToolUse", **CALL) for _ in range(12)]

        assert {judged(outcome)[1] for outcome in outcomes} == {"kept_limit"}
    assert eventually(lambda: kept_now() == 0)
    assert hooks.fire_sync("PreToolUse", **CALL).reason == "seen"


def test_a_hook_whose_time_others_used_up_is_not_switched_off() -> None:
    with stuck() as release:
        hooks = Hooks(total_timeout=0.02)
        hooks.register("PreToolUse", lambda event: release.wait(), matcher="Slow", name="slow", timeout=0.02)
        hooks.register("PreToolUse", lambda event: deny("seen"), name="fine", priority=200)
        outcomes = [hooks.fire_sync("PreToolUse", tool_name="Slow") for _ in range(10)]

        assert {outcome.results[1].status for outcome in outcomes} == {"timeout"}
        # On a busy machine it may be late itself; one that is switched off would not be asked for half a minute.
        assert eventually(lambda: hooks.fire_sync("PreToolUse", **CALL).reason == "seen", 10)


# What is the hook's own failure.


def test_a_hook_that_an_input_makes_crash_has_failed_and_counts() -> None:
    """The contract: only what keeps a hook from being asked is the event's."""
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: event.tool_input["command"].strip())

    for _ in range(10):
        hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": 5})

    assert judged(hooks.fire_sync("PreToolUse", **CALL)) == (False, "breaker_open")


def test_a_condition_that_an_input_breaks_counts_as_true() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: deny("seen"), if_="Bash(git push *)")

    for value in (5, None, ["git", "push"], {"a": 1}, nested(100_000), "\ud800", "git push \0 x", b"git push"):
        outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"command": value})
        assert outcome.denied or outcome.results[0].status == "skipped", value
