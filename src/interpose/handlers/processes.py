"""Processes of a host's own tools: run as commands of hooks are, so that nothing outlives them and no secret leaks in.

``ProcessTree`` starts a program on the running event loop and ends it with everything that it has started.
``tool_environment`` returns the variables that a command may have.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence

from ..replies import HookFailed
from ._environment import environment
from ._process import Start, encoded
from ._runner import starters
from .supervisors import pool

__all__ = ["ProcessTree", "tool_environment"]


def tool_environment(pass_env: Iterable[str] = (), variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a tool: the variables that every command may have, and those that are named or given.

    Keys and tokens of the host are not among them. This is no sandbox: a process can read what its user can read.
    """
    made = environment(inherit=False, without=(), passed=pass_env, fixed=variables or {}, event_variables={})
    return {os.fsdecode(name): os.fsdecode(value) for name, value in made.items()}


class ProcessTree:
    """A program and everything that it starts. ``descriptors`` are its standard streams; the caller closes its own.

    On Linux a supervisor owns the tree: a process that has made a session of its own ends with it. Elsewhere, and if
    no supervisor can be started, the process group is ended. Raises OSError if the program cannot be started.
    """

    exited: asyncio.Future[None]
    """Done when the program itself has ended."""
    ended: asyncio.Future[None]
    """Done when nothing of the tree is left."""
    failure: str
    """Why it was not started, or why its status is not known; empty otherwise."""

    def __init__(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str | os.PathLike[str], descriptors: Sequence[int]
    ) -> None:
        loop = asyncio.get_running_loop()
        self.exited = loop.create_future()
        self.ended = loop.create_future()
        self.failure = ""
        self._loop = loop
        self._is_closed = False
        variables = {encoded(name): encoded(value) for name, value in env.items()}
        directory = os.path.abspath(cwd)
        try:
            start = Start(_program(argv[0], env, directory), argv, variables, directory)
            start.words  # noqa: B018 - raises for text that cannot be passed on
            in_tree = not pool.why_not()
            self._handle = starters("tree" if in_tree else "group", start)[0](list(descriptors))
        except HookFailed as error:
            raise OSError(None, error.failure.text) from None
        self._descriptor = self._handle.fileno()
        loop.add_reader(self._descriptor, self._update)

    @property
    def status(self) -> int:
        """The exit status; a negative one is the number of the signal that ended it."""
        return self._handle.status

    def terminate(self) -> None:
        """Send SIGTERM to the whole tree."""
        if not self.ended.done():
            self._handle.term()

    def kill(self) -> None:
        """Kill the whole tree."""
        if not self.ended.done():
            self._handle.kill()
            self._note()

    def close(self) -> None:
        """Release the program; kill what still runs, without waiting for its end."""
        if not self._is_closed:
            self._is_closed = True
            self._loop.remove_reader(self._descriptor)
            self._handle.close()
            self._settle(self.exited, self.ended)

    def _update(self) -> None:
        self._handle.update()
        if self._handle.final:
            self._loop.remove_reader(self._descriptor)  # it stays readable
        self._note()

    def _note(self) -> None:
        """Settle the futures that what is known by now settles."""
        handle = self._handle
        if handle.failure is not None:
            self.failure = handle.failure.text
            self._settle(self.exited, self.ended)
        if handle.exited:
            self._settle(self.exited)
        if handle.ended:
            self._settle(self.exited, self.ended)

    @staticmethod
    def _settle(*futures: asyncio.Future[None]) -> None:
        for future in futures:
            if not future.done():
                future.set_result(None)


def _program(name: str, env: Mapping[str, str], cwd: str) -> str:
    """Return the path of a program: of a name without a slash, on the absolute entries of PATH only."""
    if os.sep in name:
        return os.path.join(cwd, name)
    entries = filter(os.path.isabs, env.get("PATH", os.defpath).split(os.pathsep))
    found = shutil.which(name, path=os.pathsep.join(entries))
    if found is None:
        raise FileNotFoundError(None, f"{name} was not found on PATH")
    return found
