"""One agent: its conversation, its tools and its session. The loop decides what it does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interpose import Session
from interpose.models import Message, ToolSpec

from .env_file import EnvFile
from .runtime import Runtime
from .tools import Tool, ToolFailed, Workplace
from .tools.files import replace_file
from .transcript import Transcript

__all__ = ["SYSTEM", "Agent"]

SYSTEM = """\
You are a coding agent. You work on the files in {cwd} with the tools that you have. Look before you change something,
make small changes, and say in the end what you did. Hooks may deny or change some actions: follow what you are told
about that, and do not try to get around it."""


class Agent:
    """The main agent, a subagent or a teammate."""

    def __init__(
        self,
        runtime: Runtime,
        session: Session,
        *,
        name: str = "main",
        system: str = "",
        tools: Sequence[Tool] = (),
        transcript: Transcript,
        depth: int = 0,
    ) -> None:
        self.runtime = runtime
        self.session = session
        self.name = name
        self.system = system or SYSTEM.format(cwd=runtime.cwd)
        self.tools = {tool.name: tool for tool in tools}
        self.transcript = transcript
        self.depth = depth
        self.called: set[str] = set()
        """The ids of the calls that it made."""
        self.task = ""
        """Its last prompt."""
        self.messages: list[Message] = []
        self._written = 0
        self.tokens = 0
        """How many tokens of the model's context are in use."""
        self.workplace = Workplace(
            runtime.cwd,
            self._write,
            is_protected=self._belongs_to_hooks,
            environment=runtime.environment,
            locks=runtime.locks,
        )

    @property
    def specs(self) -> list[ToolSpec]:
        """Its tools as they are described to the model."""
        return [ToolSpec(tool.name, tool.description, tool.schema) for tool in self.tools.values()]

    def say(self, message: Message) -> None:
        """Add a message to the conversation."""
        self.messages.append(message)

    def rewrite(self, messages: Sequence[Message]) -> None:
        """Replace the conversation; the transcript keeps what it has."""
        self.messages[:] = messages
        self._written = min(self._written, len(self.messages))

    def write_transcript(self) -> None:
        """Append new messages to the transcript, as hooks left them."""
        for message in self.messages[self._written :]:
            self.transcript.add(message)
        self._written = len(self.messages)

    async def show(self, view: str, **data: Any) -> None:
        """Draw a view, after the hooks of pre:view:render changed its data."""
        if self.depth:
            data["agent"] = self.name
        frame = await self.session.render(view, data)
        self.runtime.view.draw(view, frame.content)

    async def take_variables(self, env_file: EnvFile) -> None:
        """Set the variables that hooks have written for the session's tools; show what was not understood."""
        self.session.env_file = None  # the file is gone
        for problem in env_file.take():
            await self.show("notice", text=problem)

    async def notify(self, text: str, kind: str = "info") -> None:
        """Notify the person."""
        await self.session.notify(text, notification_type=kind)

    def on_text(self, text: str) -> None:
        """Show a piece of the model's text, unless a hook is to see the whole text first."""
        hooks = self.runtime.hooks
        if not hooks.wants("post:message") and not hooks.wants("pre:view:render", "assistant"):
            self.runtime.view.stream(self.name, text)

    def _belongs_to_hooks(self, path: Path) -> bool:
        """Say whether a file is a configuration, a script that a hook runs, or a part of the audit store."""
        hooks = self.runtime.hooks
        for origin in hooks.origins:
            folder = Path(origin.real_path).parent
            if folder.name in (".interpose", ".claude") and path.is_relative_to(folder):
                return True  # a new module beside a guard could be imported in its place
            if str(path) in (origin.real_path, *origin.references):
                return True
        # SQLite keeps files beside the store whose names start with the store's.
        return hooks.audit is not None and str(path).startswith(os.path.realpath(hooks.audit.path))

    async def _write(self, path: Path, content: str) -> str:
        """Write a file if hooks allow it, to the shadow git first; return what was written."""
        shadow = self.runtime.shadow

        async def commit(_: str, changed: str) -> str:
            made = await shadow.commit(path, changed, session=self.session.session_id)
            await asyncio.to_thread(replace_file, path, changed.encode())
            return made

        place = path.relative_to(self.runtime.cwd).as_posix()
        answer = await self.session.write(place, content, commit)
        if not answer.ok:
            raise ToolFailed(f"{place} was not written: {answer.reason}")
        return str(answer.input)
