"""One agent: its conversation, its tools, and its view of the world. It decides nothing; the loop does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interpose import Session
from interpose.models import Message, ToolSpec

from .tools import Tool, ToolFailed, Workplace
from .tools.files import replace_file
from .transcript import Transcript
from .world import World

__all__ = ["SYSTEM", "Agent"]

SYSTEM = """\
You are a coding agent. You work on the files in {cwd} with the tools that you have. Look before you change something,
make small changes, and say in the end what you did. Some actions are refused or changed by the rules of this place:
take what you are told about that as meant, and do not try to get around it."""


class Agent:
    """The main agent, a subagent or a teammate."""

    def __init__(
        self,
        world: World,
        session: Session,
        *,
        name: str = "main",
        system: str = "",
        tools: Sequence[Tool] = (),
        transcript: Transcript,
        depth: int = 0,
    ) -> None:
        self.world = world
        self.session = session
        self.name = name
        self.system = system or SYSTEM.format(cwd=world.cwd)
        self.tools = {tool.name: tool for tool in tools}
        self.transcript = transcript
        self.depth = depth
        self.called: set[str] = set()
        """The ids of the calls that it has made."""
        self.task = ""
        """What it was last asked to do."""
        self.messages: list[Message] = []
        self._written = 0
        self.tokens = 0
        """How much of the model's context is in use."""
        self.workplace = Workplace(
            world.cwd, self._write, is_kept=self._is_of_hooks, env_file=world.env_file, locks=world.locks
        )

    @property
    def specs(self) -> list[ToolSpec]:
        """Its tools, as the model is told of them."""
        return [ToolSpec(tool.name, tool.description, tool.schema) for tool in self.tools.values()]

    def say(self, message: Message) -> None:
        """Add to the conversation."""
        self.messages.append(message)

    def rewrite(self, messages: Sequence[Message]) -> None:
        """Put another conversation in the place of this one; what the transcript has stays there."""
        self.messages[:] = messages
        self._written = min(self._written, len(self.messages))

    def write_down(self) -> None:
        """Bring the transcript up to date: it has what the model was sent and what it said, after all changes."""
        for message in self.messages[self._written :]:
            self.transcript.add(message)
        self._written = len(self.messages)

    async def show(self, view: str, **data: Any) -> None:
        """Have something drawn, after hooks have had a look at it."""
        if self.depth:
            data["agent"] = self.name
        frame = await self.session.render(view, data)
        self.world.view.draw(view, frame.content)

    async def notify(self, text: str, kind: str = "info") -> None:
        """Tell the person something."""
        await self.session.notify(text, notification_type=kind)

    def hear(self, text: str) -> None:
        """Show a piece of what the model says, unless hooks want to see the whole first."""
        hooks = self.world.hooks
        if not hooks.wants("post:message") and not hooks.wants("pre:view:render", "assistant"):
            self.world.view.stream(self.name, text)

    def _is_of_hooks(self, path: Path) -> bool:
        """Say whether hooks come from a file, run it, or record in it: commands are run as they are at that moment."""
        hooks = self.world.hooks
        for origin in hooks.origins:
            folder = Path(origin.real_path).parent
            if folder.name in (".interpose", ".claude") and path.is_relative_to(folder):
                return True  # a module that turns up beside a guard can be run in its place
            if str(path) in (origin.real_path, *origin.references):
                return True
        # Beside a store lie files of SQLite's, whose names begin with its own.
        return hooks.audit is not None and str(path).startswith(os.path.realpath(hooks.audit.path))

    async def _write(self, path: Path, content: str) -> str:
        """Write a file as hooks allow it, the shadow git first; return what was written."""
        shadow = self.world.shadow

        async def commit(_: str, changed: str) -> str:
            made = await shadow.commit(path, changed, session=self.session.session_id)
            await asyncio.to_thread(replace_file, path, changed.encode())
            return made

        place = path.relative_to(self.world.cwd).as_posix()
        answer = await self.session.write(place, content, commit)
        if not answer.ok:
            raise ToolFailed(f"{place} was not written: {answer.reason}")
        return str(answer.input)
