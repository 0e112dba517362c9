"""Commands as hooks: the event as JSON on standard input, the answer on standard output, no process left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..event import Event
from ..model import Hook
from ..replies import Ended, Failure, HookFailed, clean
from ..runtime.coroutines import drive
from . import depth, hold_to_trust, progress
from ._encoded import check_text
from ._environment import environment, withheld
from ._process import Start
from ._runner import PreparedCommand, run_in_this_thread, run_on_loop
from .declared_command import Command, command_of

__all__ = ["CommandHandler", "supervisor_error"]


class CommandHandler:
    """Runs the command of a hook for one event and returns how it ended."""

    ends_itself = True
    only_reads = True

    async def __call__(self, hook: Hook, event: Event, deadline: float) -> Ended:
        """Run it on the current event loop."""
        return await self._run(hook, event, deadline, run_on_loop)

    def blocking(self, hook: Hook, event: Event, deadline: float) -> Ended:
        """Run it in the calling thread."""
        return drive(self._run(hook, event, deadline, run_in_this_thread))

    async def _run(self, hook: Hook, event: Event, deadline: float, run: Callable[..., Any]) -> Ended:
        command = command_of(hook)
        if command is None:
            raise TypeError(f"{hook.label} has no command")
        evidence: dict[str, Any] = {}
        if command.dialect != "native":
            evidence["tool_name"] = event.get("tool_name", "")
        env: dict[bytes, bytes] = {}

        def prepare() -> PreparedCommand:
            hold_to_trust(hook.binding.seal)
            directory = command.directory(event)  # before encoding, which completes the event
            stdin = command.encoded(event)
            env.update(_environment_of(command, event))
            check_text(hook, stdin)
            start = Start(*command.words(event.get("cwd")), env, directory, keep=command.keep)
            return PreparedCommand(start, stdin, command.isolation, command.warm)

        try:
            outcome = await run(prepare, deadline, progress.get())
        except HookFailed as error:
            outcome = Ended(failure=error.failure)
        return _finished(hook, outcome, env, evidence)


def _environment_of(command: Command, event: Event) -> dict[bytes, bytes]:
    variables = dict(command.variables(event))
    variables["INTERPOSE_DEPTH"] = str(depth.get())
    if "async_phase" in event and event["async_phase"] == 2:
        variables["INTERPOSE_ASYNC_PHASE"] = "2"
    return environment(
        inherit=command.inherit,
        without=command.without,
        passed=command.passed,
        fixed=command.env,
        event_variables=variables,
        all_given=command.all_given,
    )


def _finished(hook: Hook, ended: Ended, env: Mapping[bytes, bytes], notes: dict[str, Any]) -> Ended:
    """Add evidence: the isolation, the end of standard error, and for a failure which variables were withheld."""
    evidence = {**notes, **ended.evidence}
    failure = ended.failure
    if ended.stderr:
        evidence["stderr"] = clean(ended.stderr[-2000:])
    if failure is None and ended.status == 0:
        return Ended(status=0, stdout=ended.stdout, stderr=ended.stderr, evidence=evidence)
    evidence["exit"] = ended.status if failure is None else None
    if env and (hidden := withheld(env)):
        evidence["withheld"] = hidden
    if failure is not None:
        failure = Failure(failure.code, failure.text, trace=ended.stderr, evidence=evidence)
    elif not ended.stderr and ended.status == 2:
        evidence["suspicious_exit2"] = True
    return Ended(
        status=ended.status,
        stdout=ended.stdout,
        stderr=ended.stderr,
        failure=failure,
        evidence={"hook": hook.label, **evidence},
    )


def supervisor_error() -> str:
    """Return why no supervisor can be started here; empty if one can."""
    from .supervisors import pool

    return pool.why_not()
