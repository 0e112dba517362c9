"""A command and everything that it starts, owned by a supervisor: nothing of it outlives the run, or the host."""

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
"""What may be over in a moment; anything else will not start a supervisor the next time either."""


def why_no_tree() -> str:
    """Say why no supervisor is to be had here, as far as that is known."""
    return why_unavailable() or (_refused[0] if _refused else "")


def start_in_tree(start: Start, namespace: bool, descriptors: Sequence[int]) -> SupervisedTree:
    """Have a supervisor start a command."""
    if why := why_no_tree():
        raise HookFailed("isolation_unavailable", why)
    try:
        supervised = pool.take()
    except OSError as error:
        lacking = error.errno in _LACKS
        code = "spawn_resource" if lacking else "isolation_unavailable"
        raise HookFailed(code, f"no supervisor can be started: {error.strerror}") from None
    try:
        path, *argv = start.words
        cwd = encoded(start.cwd) if start.cwd is not None else None
        supervised.run(path, argv, start.env, cwd, descriptors, namespace)
    except ValueError:
        pool.give_back(supervised)
        start.check()
        raise HookFailed("bad_input", "the command has words that no system can start") from None
    except OSError as error:
        pool.discard(supervised)
        raise HookFailed("isolation_unavailable", f"the supervisor does not listen: {error}") from None
    return SupervisedTree(start, supervised, namespace)


class SupervisedTree:
    """A run that a supervisor has in hand."""

    def __init__(self, start: Start, supervised: SupervisorConnection, namespace: bool) -> None:
        self._start = start
        self._supervised = supervised
        self._spoilt = self._killing = False
        self.exited = self.ended = self.heard_out = False
        self.status = 0
        self.failure: Failure | None = None
        self.evidence: dict[str, Any] = {"isolation": "namespace" if namespace else "tree"}

    def fileno(self) -> int:
        """Return what becomes readable when the supervisor has news."""
        return self._supervised.fileno()

    def news(self) -> None:
        """Take in what the supervisor says."""
        try:
            frames = self._supervised.receive()
        except ConnectionRefusedError as error:
            _refused.append(f"a supervisor cannot be used: {error}")
            self._fail("isolation_unavailable", f"a supervisor cannot be used here: {error}")
            return
        except OSError:
            # One that has greeted us may have started the command; only one that never came up has surely not.
            code = "supervisor_lost" if self._supervised.greeted else "isolation_unavailable"
            self._fail(code, "the supervisor of the command was ended")
            return
        for kind, *facts in frames:
            match kind:
                case "started":
                    continue
                case "exited":
                    self.exited = True
                    self.status, survivors = facts
                    self.ended = not survivors and not self._killing  # then the answer to that is still to come
                    if survivors:
                        self.evidence["survivors"] = True
                case "gone" if self._killing and self.exited:
                    self.ended = True
                case "failed":
                    self._not_started(*facts)
                case "stuck":
                    self.evidence["unkillable"] = True
                    self._spoilt = self.ended = self.exited = True
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
            self.failure = Failure("isolation_unavailable", f"no namespace is to be had here: {os.strerror(number)}")
        elif step == "chdir":
            self.failure = Failure("cwd_missing", f"{self._start.cwd!a}: {os.strerror(number)}")
        else:
            self.failure = Failure(*explain(number, self._start))

    def _fail(self, code: str, text: str) -> None:
        self._spoilt = self.ended = self.exited = True
        self.failure = Failure(code, text)

    def term(self) -> None:
        """Ask the whole tree to end."""
        self._tell(self._supervised.term)

    def kill(self) -> None:
        """End what is left of the tree; what a command was allowed to leave running goes on without us."""
        if self.ended:
            return
        if self._start.keep and self.exited:
            self.evidence["background"] = "kept"
            self.ended = self._spoilt = True
            self._tell(self._supervised.keep)
        elif not self._killing:
            self._killing = True
            self._tell(self._supervised.kill)

    def _tell(self, say: Any) -> None:
        try:
            say()
        except OSError:  # it is gone, and with it what it had in hand
            self._fail("supervisor_lost", "the supervisor of the command was ended")

    def close(self) -> None:
        """Give the supervisor back, or close it: then it ends what it still has in hand."""
        if self._spoilt or not self.ended:
            pool.discard(self._supervised)
        else:
            pool.give_back(self._supervised)
