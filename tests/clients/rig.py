"""Runs a real coding agent in a scratch home and project, headless and offline, against a scripted model.

    client = CLIENTS["codex"]
    with Box(client) as box, ModelServer({"main": [[client.shell("touch $BOX/ran")], "done"]}) as server:
        client.add_hook(box, "PreToolUse", "exit 2")
        run = client.play(box, server, "[main] go")

One module per agent says how it is installed, configured and started, and how its tools are called.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from .install import find_node, package_directory
from .model_server import Call, ModelServer, Turn

__all__ = ["MCP_SERVER", "Box", "Client", "Run"]

MCP_SERVER = [sys.executable, str(Path(__file__).parent / "mcp_server.py")]
"""An MCP server with one tool, ``note``, that writes its text to ``$BOX/noted``."""


class Run(NamedTuple):
    """How the agent's program ended."""

    status: int | None
    """None if it was ended by the rig's own deadline."""
    stdout: str
    stderr: str
    seconds: float


class Box:
    """A scratch directory with a home, a project and a place for marks; it goes when it is left."""

    server: ModelServer
    """The model of its sessions, for those that keep it here."""

    def __init__(self, client: Client, keep: bool = False) -> None:
        self._client, self._keep = client, keep
        self.has_mcp = self.has_raw_hooks = False

    def __enter__(self) -> Self:
        self.root = Path(tempfile.mkdtemp(prefix=f"{self._client.name}-"))
        self.home, self.project, self.marks = (self.root / name for name in ("home", "project", "box"))
        for one in (self.home, self.project, self.marks):
            one.mkdir()
        git = ["git", "-c", "init.defaultBranch=main", "init", "-q", str(self.project)]
        subprocess.run(git, check=True, env={**os.environ, "HOME": str(self.home)})
        return self

    def __exit__(self, *_: object) -> None:
        if not self._keep:
            shutil.rmtree(self.root, ignore_errors=True)

    def write(self, name: str, content: str | Mapping[str, Any]) -> Path:
        """Write a file, named from the root of the box, and return it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
        return path

    def merge(self, name: str, content: Mapping[str, Any]) -> Path:
        """Merge into a JSON file: objects by their keys, lists by appending."""
        path = self.root / name
        there = json.loads(path.read_text()) if path.exists() else {}
        return self.write(name, _merged(there, content))

    def has(self, mark: str) -> bool:
        """Whether a command made a mark: ``touch $BOX/mark``."""
        return (self.marks / mark).exists()


def _merged(there: Any, new: Any) -> Any:
    if isinstance(there, dict) and isinstance(new, Mapping):
        return {**there, **{key: _merged(there[key], new[key]) if key in there else new[key] for key in new}}
    if isinstance(there, list) and isinstance(new, list):
        return there + new
    return new


class Client(ABC):
    """How one agent is installed, configured and started."""

    name: ClassVar[str]
    package: ClassVar[str]
    """Its npm package."""
    version: ClassVar[str]
    program: ClassVar[str]
    """Where its program is in ``node_modules``; ``*`` stands for the platform."""
    needs_node: ClassVar[bool] = False
    """Whether the program is JavaScript that a newer Node runs."""
    events: ClassVar[Sequence[str]]
    """The events that it has, in its own words."""
    has_subagents: ClassVar[bool] = True
    """Whether it starts subagents headless and offline."""
    can_read: ClassVar[bool] = True
    """Whether it has a tool that reads a file; Codex reads with its shell."""
    before_tool: ClassVar[str] = "PreToolUse"
    after_tool: ClassVar[str] = "PostToolUse"
    at_prompt: ClassVar[str] = "UserPromptSubmit"
    at_start: ClassVar[str] = "SessionStart"
    at_stop: ClassVar[str] = "Stop"
    limit: ClassVar[float] = 90.0
    """How many seconds a session may take."""

    def argv(self) -> list[str]:
        """Return the start of the command line."""
        directory = package_directory(self.package, self.version)
        found = sorted((directory / "node_modules").glob(self.program))
        if not found:
            raise FileNotFoundError(f"{self.package} {self.version} has no {self.program}")
        return [str(find_node()), str(found[0])] if self.needs_node else [str(found[0])]

    @abstractmethod
    def configure(self, box: Box, url: str) -> None:
        """Write the settings of a person who uses the scripted model and trusts the project."""

    @abstractmethod
    def command(self, box: Box, prompt: str) -> list[str]:
        """Return the arguments that start one headless session."""

    def environ(self, box: Box, url: str) -> dict[str, str]:
        """Return what it needs in its environment."""
        return {}

    @abstractmethod
    def add_hook(self, box: Box, event: str, command: str, seconds: float | None = None) -> None:
        """Register a shell line for an event, in the project's settings."""

    @abstractmethod
    def add_mcp_server(self, box: Box) -> None:
        """Register ``MCP_SERVER`` under the name ``house``."""

    @abstractmethod
    def shell(self, command: str) -> Call:
        """Return a call of its tool that runs a command."""

    def rewritten(self, command: str) -> dict[str, Any]:
        """Return the input of the shell tool with another command, as a hook would give it."""
        given = self.shell(command).input
        assert isinstance(given, Mapping)
        return dict(given)

    @abstractmethod
    def write(self, path: str, content: str) -> Call:
        """Return a call of its tool that creates a file."""

    def read(self, path: str) -> Call:
        """Return a call of its tool that reads a file; an agent without one says so with ``can_read``."""
        raise NotImplementedError(f"{self.name} has no tool that reads a file")

    @abstractmethod
    def subagent(self, prompt: str) -> Sequence[Turn]:
        """Return the turns that start a subagent and wait for it."""

    @abstractmethod
    def mcp_call(self, text: str) -> Call:
        """Return a call of the tool ``note`` of the server ``house``."""

    def play(
        self, box: Box, server: ModelServer, prompt: str, *, environ: Mapping[str, str] | None = None, limit: float = 0
    ) -> Run:
        """Run one session to its end."""
        env = {
            "PATH": os.environ["PATH"], "HOME": str(box.home), "LANG": "C.UTF-8", "TERM": "dumb", "CI": "1",
            "XDG_CONFIG_HOME": str(box.home / ".config"), "XDG_DATA_HOME": str(box.home / ".local/share"),
            "XDG_STATE_HOME": str(box.home / ".local/state"), "XDG_CACHE_HOME": str(box.home / ".cache"),
            "BOX": str(box.marks), "SHELL": "/bin/bash", "USER": "someone",
            **server.offline, **self.environ(box, server.url), **(environ or {}),
        }  # fmt: skip
        began = time.monotonic()
        child = subprocess.Popen(
            [*self.argv(), *self.command(box, prompt)],
            cwd=box.project, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        status: int | None
        try:
            stdout, stderr = child.communicate(timeout=limit or self.limit)
            status = child.returncode
        except subprocess.TimeoutExpired:
            _end(child)
            stdout, stderr = child.communicate()
            status = None
        _end(child)  # what it left running
        return Run(status, stdout, stderr, time.monotonic() - began)


def _end(child: subprocess.Popen[str]) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
