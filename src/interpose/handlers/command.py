"""Commands as hooks: the event as JSON on standard input, the answer on standard output, no process left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..event import Event
from ..model import Hook
from ..records import Record, made_by
from ..replies import Ended, Failure, HookFailed, clean
from ..runtime.coroutines import drive
from . import depth, hold_to_trust, progress
from ._encoded import check_text, encoded_event
from ._environment import environment, withheld
from ._process import Start, encoded
from ._runner import PreparedCommand, run_in_this_thread, run_on_loop

__all__ = [
    "ISOLATIONS",
    "Command",
    "CommandHandler",
    "can_be_passed",
    "command_of",
    "current_interpreter",
    "program_of",
    "supervisor_error",
]

ISOLATIONS = ("group", "tree", "namespace")


class Command(Record):
    """The command of a hook, as declared; its paths were resolved then."""

    path: str
    argv: Sequence[str]
    given: tuple[str, ...] = ()
    """The line for the shell, or the words, as they were written."""
    is_line: bool = False
    dialect: str
    write: Callable[[Event], Mapping[str, Any]]
    """Writes an event in the command's dialect."""
    variables: Callable[[Event], Mapping[str, str]]
    """Returns the environment variables for an event."""
    env: Mapping[str, str] = made_by(factory=dict)
    passed: tuple[str, ...] = ()
    inherit: bool = False
    without: tuple[str, ...] = ()
    """Prefixes of the variables that are not inherited."""
    all_given: bool = False
    """Whether it may get variables that only the settings of an agent have set; a guard does not."""
    cwd: str | None = None
    real_cwd: str | None = None
    """The real path of ``cwd`` when the hook was declared; it must not change."""
    project: Callable[[object], str] = str
    """Returns the project of an event in this directory."""
    placed: Callable[[str], tuple[str, Sequence[str]]] | None = None
    """Returns the path and the words for a project; None if they do not name it."""
    fallback_cwds: tuple[str, ...] = ()
    """Where to run, after the project, if the event's directory is gone; if empty, the hook fails then."""
    isolation: str | None = None
    keep: bool = False
    warm: bool = False

    def directory(self, event: Event) -> str | None:
        """Return the directory to run in, or None for the host's own."""
        if self.cwd is not None:
            if os.path.isdir(self.cwd) and os.path.realpath(self.cwd) != self.real_cwd:
                raise HookFailed("cwd_changed", f"the directory to run in has changed since the hook was "
                                                f"declared: {self.cwd!a}")  # fmt: skip
            return self.real_cwd
        given = dict.get(event, "cwd")
        if not isinstance(given, str) or not given:
            return None  # the host has named none
        if self.fallback_cwds and not os.path.isdir(given):
            return next(filter(os.path.isdir, (self.project(given), *self.fallback_cwds)), "/")
        try:
            if can_be_passed(given):
                return os.path.abspath(given)
        except OSError:  # a relative path, and the host's own directory is gone
            pass
        raise HookFailed("cwd_missing", f"the directory to run in does not exist: {given[:200]!a}")

    def words(self, cwd: object) -> tuple[str, Sequence[str]]:
        """Return the path and the words to run for an event in this directory."""
        return (self.path, self.argv) if self.placed is None else self.placed(self.project(cwd))

    def encoded(self, event: Event) -> bytes:
        """Return the event as bytes for this command."""
        return encoded_event(event, self.dialect, self.write)


def command_of(hook: Hook) -> Command | None:
    """Return the command of a hook; None if it runs something else."""
    target = hook.binding.target
    return target if isinstance(target, Command) else None


def program_of(hook: Hook) -> Command | None:
    """Return the program that a hook starts: its command, or that of its MCP server."""
    target = hook.binding.target
    found = getattr(target, "program", target)
    return found if isinstance(found, Command) else None


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


def current_interpreter() -> str:
    """Return the interpreter for scripts that name none."""
    return sys.executable or "python3"


def supervisor_error() -> str:
    """Return why no supervisor can be started here; empty if one can."""
    from .supervisors import pool

    return pool.why_not()


def can_be_passed(text: str) -> bool:
    """Say whether text can be an argument or a variable of a process: without NUL and lone surrogates."""
    try:
        return b"\0" not in encoded(text)
    except UnicodeEncodeError:
        return False
