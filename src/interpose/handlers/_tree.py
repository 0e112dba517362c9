"""Run a command under a supervisor, which owns everything that the command starts: nothing outlives the run."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Any

from ..replies import Failure, HookFailed
from ._process import Start, encoded, explain
from .supervisors import SupervisorConnection, pool, why_unavailable

__all__ = ["SupervisedTree", "start_in_tree", "why_no_tree"]

_refused: list[str] = []
_LACKS = {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
"""Errors that may pass; after any other, the next supervisor will not start either."""


def why_no_tree() -> str:
    """Return why supervisors do not work here, as far as that is known; nothing if they may."""
    return why_unavailable() or (_refused[0] if _refused else "")


def start_in_tree(start: Start, namespace: bool, descriptors: Sequence[int]) -> SupervisedTree:
    """Start a command under a supervisor."""
    if why := why_no_tree():
        raise HookFailed("isolation_unavailable", why)
    path, *argv = start.words
    try:
        connection = pool.take()
    except OSError as error:
        lacking = error.errno in _LACKS
        code = "spawn_resource" if lacking else "isolation_unavailable"
        raise HookFailed(code, f"no supervisor can be started: {error.strerror}") from None
    try:
        cwd = encoded(start.cwd) if start.cwd is not None else None
        connection.run(path, argv, start.env, cwd, descriptors, namespace)
    except ValueError:
        pool.give_back(connection)
        start.check()
        raise HookFailed("bad_input", "the command has arguments that no system can pass on") from None
    except OSError as error:
        pool.discard(connection)
        raise HookFailed("isolation_unavailable", f"the supervisor does not answer: {error}") from None
    return SupervisedTree(start, connection, namespace)


class SupervisedTree:
    """A command that runs under a supervisor."""

    def __init__(self, start: Start, connection: SupervisorConnection, namespace: bool) -> None:
        self._start = start
        self._connection = connection
        self._unusable = self._killing = False
        self.exited = self.ended = self.final = False
        self.status = 0
        self.failure: Failure | None = None
        self.evidence: dict[str, Any] = {"isolation": "namespace" if namespace else "tree"}

    def fileno(self) -> int:
        """Return the descriptor that is readable when the supervisor has sent something."""
        return self._connection.fileno()

    def update(self) -> None:
        """Read what the supervisor has sent."""
        try:
            frames = self._connection.receive()
        except ConnectionRefusedError as error:
            _refused.append(f"a supervisor cannot be used: {error}")
            self._fail("isolation_unavailable", f"a supervisor cannot be used here: {error}")
            return
        except OSError:
            # A supervisor that has said hello may have started the command; one that never did has not.
            code = "supervisor_lost" if self._connection.greeted else "isolation_unavailable"
            self._fail(code, "the supervisor of the command was ended")
            return
        for kind, *facts in frames:
            match kind:
                case "started":
                    continue
                case "exited":
                    self.exited = True
                    self.status, survivors = facts
                    self.ended = not survivors and not self._killing  # then the answer to kill() is still to come
                    if survivors:
                        self.evidence["survivors"] = True
                case "gone" if self._killing and self.exited:
                    self.ended = True
                case "failed":
                    self._not_started(*facts)
                case "stuck":
                    self.evidence["unkillable"] = True
                    self._unusable = self.ended = self.exited = True
                case _:
                    self._fail("status_lost", "the supervisor lost the command's exit status")

    def _not_started(self, number: int, step: str) -> None:
        self.ended = self.exited = True
        try:
            self._start.check()
        except HookFailed as error:
            self.failure = error.failure
            return
        if step == "unshare":
            self.failure = Failure("isolation_unavailable", f"no namespace can be created here: {os.strerror(number)}")
        elif step == "chdir":
            self.failure = Failure("cwd_missing", f"{self._start.cwd!a}: {os.strerror(number)}")
        else:
            self.failure = Failure(*explain(number, self._start))

    def _fail(self, code: str, text: str) -> None:
        self._unusable = self.ended = self.exited = True
        self.failure = Failure(code, text)

    def term(self) -> None:
        """Send SIGTERM to the whole tree."""
        self._tell(self._connection.term)

    def kill(self) -> None:
        """Kill what is left of the tree, unless the command may leave processes running."""
        if self.ended:
            return
        if self._start.keep and self.exited:
            self.evidence["background"] = "kept"
            self.ended = self._unusable = True
            self._tell(self._connection.keep)
        elif not self._killing:
            self._killing = True
            self._tell(self._connection.kill)

    def _tell(self, say: Any) -> None:
        try:
            say()
        except OSError:  # it has ended, and its tree with it
            self._fail("supervisor_lost", "the supervisor of the command was ended")

    def close(self) -> None:
        """Return the supervisor to the pool, or close it: then it kills what it still runs."""
        if self._unusable or not self.ended:
            pool.discard(self._connection)
        else:
            pool.give_back(self._connection)
