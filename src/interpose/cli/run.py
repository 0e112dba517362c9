"""``interpose run``: a small coding agent whose every action goes through the hooks."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InterposeError
from ..hooks import Hooks
from ..identity import new_id
from ..model import Outcome
from . import INTERRUPTED
from .frames import Lines, Live, Silence
from .loading import here, hooks_of
from .options import AsJson, Config, Cwd, Dialect
from .outputs import without_log
from .person import Person
from .timeline import Timeline, show_timeline
from .tracing import traced
from .words import complain, paint

if TYPE_CHECKING:
    from ..agent.run import Run

__all__ = ["Job", "run"]

HARMLESS = {"Read": "allow", "Glob": "allow", "Grep": "allow", "Task": "allow", "Team": "allow"}
"""What the agent may do without a question; what subagents do is asked about in its turn."""


def run(
    prompt: Annotated[str | None, typer.Argument(help="What to do. Without it: what is typed, or piped in.")] = None,
    config: Config = None,
    dialect: Dialect = None,
    cwd: Cwd = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="KIND:NAME",
            help="`anthropic:NAME`, `openai:NAME` or `scripted:FILE`. Otherwise by the key that is set: "
            "ANTHROPIC_API_KEY or OPENAI_API_KEY; without one a script is played.",
        ),
    ] = None,
    mode: Annotated[
        str, typer.Option("--mode", help="default, acceptEdits, plan or bypass: which calls are asked about.")
    ] = "default",
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="RULE", help="Do not ask about these: `Bash(git status *)`.")
    ] = None,
    deny: Annotated[
        list[str] | None, typer.Option("--deny", metavar="RULE", help="Never do these: `Write(/etc/**)`.")
    ] = None,
    mcp: Annotated[
        str | None, typer.Option("--mcp", metavar="FILE", help="MCP servers, as in .mcp.json; theirs are tools too.")
    ] = None,
    agents: Annotated[
        str | None, typer.Option("--agents", metavar="FILE", help="Kinds of subagents: description, system, tools.")
    ] = None,
    max_turns: Annotated[int, typer.Option("--max-turns", min=1, help="Model calls for one prompt, at most.")] = 100,
    window: Annotated[
        int | None, typer.Option("--window", min=1000, help="The model's context in tokens, if it is another.")
    ] = None,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="Show in the end at which events hooks ran, and what they said.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Lines only, for logs.")] = False,
    as_json: AsJson = False,
) -> int:
    """Every tool call, file, message and stop is an event, and your hooks decide. What no hook and no rule decides is
    asked.

    Files are written to a shadow git first: `interpose undo` brings them back. Transcripts are in .interpose/sessions.
    """  # fmt: skip
    hooks = hooks_of(config or [], dialect, cwd)
    without_log()
    for warning in hooks.warnings:
        print(f"{paint('warning', 'yellow', stream=sys.stderr)}: {warning}", file=sys.stderr)
    view: Lines = Silence() if as_json else Lines() if plain or not sys.stdout.isatty() else Live()
    job = Job(
        hooks, view, cwd=Path(here()), model=model, window=window, mcp=mcp, agents=agents, max_turns=max_turns,
        options={
            "mode": mode, "default": "ask",
            "rules": {
                **HARMLESS, **hooks.permissions, **dict.fromkeys(allow or (), "allow"),
                **dict.fromkeys(deny or (), "deny"),
            },
        },
    )  # fmt: skip
    status = job.run(prompt)
    if as_json:
        print(json.dumps(job.report(), indent=2))
    elif timeline:
        print()
        show_timeline(job.timeline.rows)
    return status


class Job:
    """One run of the agent from the command line: a session, Ctrl-C, and what is left to say in the end."""

    def __init__(
        self,
        hooks: Hooks,
        view: Lines,
        *,
        cwd: Path,
        model: str | None = None,
        window: int | None = None,
        mcp: str | None = None,
        agents: str | None = None,
        max_turns: int = 100,
        options: dict[str, Any],
    ) -> None:
        from ..agent.kinds import read_kinds
        from ..agent.models import find_model
        from ..agent.shadow import ShadowGit
        from ..agent.world import KINDS, Limits, World

        self.timeline = Timeline()
        self.session_id = new_id()
        self.said = ""
        self.error = ""
        self._view = view
        self._hooks = hooks
        self._mcp = mcp
        self._options = options
        self._model = find_model(model, window=window) or find_model(f"scripted:{_welcome()}")
        self._world = World(
            hooks=hooks, model=self._model, cwd=cwd, directory=cwd / ".interpose" / "sessions",
            shadow=ShadowGit(cwd), view=view, kinds={**KINDS, **(read_kinds(agents) if agents else {})},
            limits=Limits(turns=max_turns), env_file=cwd / ".interpose" / "sessions" / f"{self.session_id}.env",
        )  # fmt: skip
        hooks.show = lambda text: view.draw("notice", {"text": text})

    def run(self, prompt: str | None) -> int:
        """Work on a prompt, or on what is typed; return the exit status."""
        end_tracing = traced(self._hooks)
        try:
            with self._hooks.observe(self._view.message):
                return asyncio.run(self._run(prompt))
        except InterposeError as error:
            self.error = str(error)
            complain(error, "run")
            return 1
        except (KeyboardInterrupt, asyncio.CancelledError):
            return INTERRUPTED
        finally:
            self._view.close()
            self._hooks.close()
            end_tracing()

    def report(self) -> dict[str, Any]:
        """Return what a program wants to know."""
        return {
            "session_id": self.session_id, "model": self._model.name, "result": self.said, "error": self.error,
            "transcript": str(self._world.directory / f"{self.session_id}.jsonl"), "timeline": self.timeline.rows,
        }  # fmt: skip

    async def _run(self, prompt: str | None) -> int:
        from ..agent.run import begun

        person = Person(self._view)
        options = {**self._options}
        if sys.stdin.isatty():
            options.setdefault("asker", person.may)
        self._world.directory.mkdir(parents=True, exist_ok=True)
        (self._world.directory / ".gitignore").write_text("*\n")  # what was said is nobody else's business
        if self._world.env_file is not None:
            self._world.env_file.touch(mode=0o600)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._model.close)
            if self._mcp:
                await self._connect(stack)
            session = begun(self._world, session_id=self.session_id, on_outcome=self._heard, **options)
            run = await stack.enter_async_context(session)
            interrupted = _on_interrupt(run)
            typed = prompt is None and sys.stdin.isatty()
            self._view.shows_prompts = not typed
            if typed:
                self.said = await run.ask_all(person.prompts())
            else:
                self.said = await run.ask(prompt if prompt is not None else sys.stdin.read())
            frame = await run.session.render("timeline", self.timeline.rows)
            if isinstance(frame.content, list):
                self.timeline.rows = frame.content
            await run.session.end("prompt_input_exit" if typed else "other")
        return INTERRUPTED if interrupted() else 0

    def _heard(self, outcome: Outcome) -> None:
        """Keep an outcome for the timeline, and tell of hooks that failed at once."""
        self.timeline.add(outcome)
        for result in outcome.results:
            if result.error is not None:
                what = f"hook {result.hook} at {outcome.event}: {result.error}"
                self._view.draw("notice", {"text": what})

    async def _connect(self, stack: AsyncExitStack) -> None:
        from ..agent.tools.mcp import connect
        from ..agent.tools.mcp_servers import read_servers

        def complain_of(problem: str) -> None:
            self._view.draw("notice", {"text": problem})

        servers = connect(read_servers(Path(str(self._mcp))), on_problem=complain_of)
        tools = await stack.enter_async_context(servers)
        self._world.tools = (*self._world.tools, *tools)


def _on_interrupt(run: Run) -> Callable[[], int]:
    """Have Ctrl-C end what the agent is doing, and the session if it is doing nothing."""
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    times = [0]

    def interrupt() -> None:
        times[0] += 1
        if not run.interrupt() and this is not None:
            this.cancel()

    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
    except (NotImplementedError, RuntimeError, ValueError):
        pass  # not the main thread, or no such thing here: Ctrl-C ends everything, in order
    return lambda: times[0]


def _welcome() -> str:
    """Return the script that is played where no model is to be had."""
    return os.fspath(files("interpose.agent") / "welcome.yaml")  # type: ignore[call-overload,no-any-return]
