"""The seams of the engine that later parts stand on: each is shown from the start."""

import asyncio
import subprocess
import sys
import time
from typing import Any

import pytest

from interpose import BadHook, Hooks, Outcome, deny

CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def test_sync_hooks_are_fired_without_loading_asyncio():
    program = (
        "import sys\n"
        "from interpose import Hooks, deny\n"
        "hooks = Hooks()\n"
        "hooks.register('PreToolUse', lambda event: deny('no'))\n"
        "print(hooks.fire_sync('PreToolUse', tool_name='Bash').reason, 'asyncio' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "no False\n"


class Recorder:
    """Keeps outcomes; waits for a gate if it has one."""

    def __init__(self, gate: asyncio.Event | None = None) -> None:
        self.gate = gate
        self.outcomes: list[Outcome] = []

    def __call__(self, outcome: Outcome) -> Any:
        self.outcomes.append(outcome)
        return self.gate.wait() if self.gate else None


def test_the_recorder_gets_every_outcome_also_of_firings_that_no_hook_wants():
    hooks, recorder = Hooks(), Recorder()
    hooks.register("PreToolUse", lambda event: deny("no"), matcher="Bash")
    hooks.record(recorder)

    given = [hooks.fire_sync("PreToolUse", **CALL), hooks.fire_sync("Stop"), asyncio.run(hooks.fire("Stop"))]

    assert recorder.outcomes == given


def test_a_recorder_gets_outcomes_of_events_that_were_fired_before_it_was_there():
    async def host():
        await hooks.fire("PreToolUse", **CALL)
        hooks.record(recorder)
        return await hooks.fire("PreToolUse", **CALL)

    hooks, recorder = Hooks(), Recorder()

    assert recorder.outcomes == [asyncio.run(host())]


def test_a_firing_waits_for_its_recorder():
    async def main() -> list[bool]:
        gate = asyncio.Event()
        hooks = Hooks()
        hooks.record(Recorder(gate))
        firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
        done, _ = await asyncio.wait([firing], timeout=0.05)
        waited = not done
        gate.set()
        await firing
        return [waited, firing.done()]

    assert asyncio.run(main()) == [True, True]


@pytest.mark.parametrize(("required", "decision"), [(False, "none"), (True, "deny")])
def test_a_record_that_is_lost_shows_in_the_outcome_and_denies_if_it_is_required(required, decision):
    class Broken:
        def __call__(self, outcome: Outcome) -> None:
            raise OSError("disk full")

    broken = Broken()
    broken.required = required  # type: ignore[attr-defined]
    hooks = Hooks()
    hooks.record(broken)

    outcome = hooks.fire_sync("PreToolUse", **CALL)

    assert outcome.decision == decision
    assert [(one.hook, one.status, str(one.error)) for one in outcome.results] == [
        ("recorder", "failed", "raised OSError: disk full")
    ]


def test_a_recorder_that_fails_keeps_the_outcome_as_it_was_given_to_it():
    kept: list[Any] = []

    def broken(outcome):
        kept.append((outcome, outcome.results))
        raise OSError("disk full")

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, name="quiet")
    hooks.record(broken)

    given = hooks.fire_sync("PreToolUse", tool_name="Bash")

    [(outcome, results)] = kept
    assert [result.hook for result in given.results] == ["quiet", "recorder"]
    assert outcome.results == results
    assert [result.hook for result in results] == ["quiet"]


def test_a_host_without_a_loop_waits_by_the_recorders_own_way_if_it_has_one():
    class Written:
        """As a recorder returns it: waited for on a loop, or else blocked on."""

        def __await__(self):
            waited.append("on a loop")
            yield from ()

        def block(self):
            waited.append("here")

    waited: list[str] = []
    hooks = Hooks()
    hooks.record(lambda outcome: Written())

    hooks.fire_sync("PreToolUse", **CALL)
    asyncio.run(hooks.fire("PreToolUse", **CALL))

    assert waited == ["here", "on a loop"]


def test_what_hooks_print_goes_to_the_log_if_the_host_wants_its_output_for_itself():
    program = (
        "import logging, sys\n"
        "logging.basicConfig(level='INFO', stream=sys.stderr, format='%(message)s')\n"
        "from interpose import Hooks\n"
        "hooks = Hooks(redirect_output=True)\n"
        "hooks.register('Stop', lambda event: print('from a thread'))\n"
        "hooks.register('Stop', lambda event: print('inline'), inline=True)\n"
        "hooks.fire_sync('Stop')\n"
        "print('protocol')\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("protocol\n", "a hook printed: from a thread\na hook printed: inline\n")


@pytest.mark.parametrize(("given", "denied"), [("7", False), ("8", True), ("rubbish", False)])
def test_depth_is_counted_across_processes(given, denied, monkeypatch):
    monkeypatch.setenv("INTERPOSE_DEPTH", given)
    program = (
        "from interpose import Hooks\n"
        "hooks = Hooks()\n"
        "hooks.register('PreToolUse', lambda event: None)\n"
        "print(hooks.fire_sync('PreToolUse', tool_name='Bash').denied)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == f"{denied}\n"


def test_a_handler_is_one_coroutine_of_the_hook_its_event_and_its_deadline():
    seen: list[Any] = []

    async def shout(hook, event, deadline):
        seen.append((hook.handler, event.tool_name, 0 < deadline - time.monotonic() <= 5))
        return {"decision": "deny", "reason": hook.handler.upper()}

    hooks = Hooks()
    hooks.add_handler("shout", shout)
    hooks.register("PreToolUse", "no", type="shout", timeout=5)

    outcomes = [asyncio.run(hooks.fire("PreToolUse", **CALL)), hooks.fire_sync("PreToolUse", **CALL)]

    assert [(one.reason, one.results[0].type) for one in outcomes] == [("NO", "shout")] * 2
    assert seen == [("no", "Bash", True)] * 2


def test_a_type_that_nobody_added_is_refused_with_the_nearest_name():
    hooks = Hooks()
    hooks.add_handler("shout", lambda hook, event, deadline: asyncio.sleep(0))

    with pytest.raises(BadHook, match="did you mean shout"):
        hooks.register("PreToolUse", "no", type="shuot")
