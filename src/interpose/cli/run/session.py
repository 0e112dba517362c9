"""One session of the agent at a terminal or in a pipe: prompts, questions, Ctrl-C, and the report at the end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InterposeError, UsageError
from ...hooks import Hooks
from ...ids import new_id
from ...model import Outcome
from ...person import why_no_person
from .. import INTERRUPTED
from ..loading import trace_from_environment
from ..render import cut, flat, print_error
from ..render.outcome import unexpected_stderr
from .person import Person
from .timeline import Timeline
from .view import PlainView

if TYPE_CHECKING:
    from ...agent.run import AgentRun

__all__ = ["TerminalSession"]

_WIDEST = 160


class TerminalSession:
    """Runs the agent once; ``report`` returns the result afterwards."""

    def __init__(
        self,
        hooks: Hooks,
        view: PlainView,
        *,
        cwd: Path,
        model: str | None = None,
        window: int | None = None,
        mcp: str | None = None,
        agents: str | None = None,
        max_turns: int = 100,
        pass_env: Sequence[str] = (),
        options: dict[str, Any],
    ) -> None:
        from ...agent.agent_types import AGENT_TYPES, read_agent_types
        from ...agent.runtime import Limits, Runtime
        from ...agent.shadow import ShadowGit
        from ...models import find_model

        self.timeline = Timeline()
        self.session_id = new_id()
        self.said = ""
        self.error = ""
        self._view = view
        self._hooks = hooks
        self._mcp = mcp
        self._options = options
        self._model = find_model(model, window=window) or find_model(f"scripted:{_welcome()}")
        self._runtime = Runtime(
            hooks=hooks, model=self._model, cwd=cwd, directory=cwd / ".interpose" / "sessions",
            shadow=ShadowGit(cwd), view=view,
            agent_types={**AGENT_TYPES, **(read_agent_types(agents) if agents else {})},
            limits=Limits(turns=max_turns), pass_env=pass_env,
        )  # fmt: skip
        hooks.show = lambda text: view.draw("notice", {"text": text})

    def run(self, prompt: str | None) -> int:
        """Run one prompt, or those that are typed; return the exit status."""
        end_tracing = trace_from_environment(self._hooks)
        try:
            with self._hooks.observe(self._view.message):
                return asyncio.run(self._run(prompt))
        except InterposeError as error:
            self.error = str(error)
            print_error(error, "run")
            return 1
        except (KeyboardInterrupt, asyncio.CancelledError):
            return INTERRUPTED
        finally:
            self._view.close()
            self._hooks.close()
            end_tracing()

    def report(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "session_id": self.session_id, "model": self._model.name, "result": self.said, "error": self.error,
            "transcript": str(self._runtime.directory / f"{self.session_id}.jsonl"), "timeline": self.timeline.rows,
        }  # fmt: skip

    async def _run(self, prompt: str | None) -> int:
        from ...agent.run import open_run

        person = Person(self._view)
        options = {**self._options}
        if sys.stdin.isatty():
            if doubt := why_no_person(typing_at=sys.stdin.fileno()):
                fate = "wait for `interpose approve`" if self._hooks.questions is not None else "are denied"
                why = f"a yes takes a person, and no person has started this command: {doubt}"
                text = f"calls that need a yes {fate}, since {why}"
                self._view.draw("notice", {"text": text})
            else:
                options.setdefault("approver", person.may)
        _make_private(self._runtime.directory)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._model.close)
            if self._mcp:
                await self._connect(stack)
            session = open_run(self._runtime, session_id=self.session_id, on_outcome=self._on_outcome, **options)
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

    def _on_outcome(self, outcome: Outcome) -> None:
        """Add an outcome to the timeline; print failed hooks, and standard error of others, immediately."""
        self.timeline.add(outcome)
        for result in outcome.results:
            what = f"hook {result.hook} at {outcome.event}"
            if result.error is not None:
                self._view.draw("notice", {"text": f"{what}: {result.error}"})
            elif written := flat(unexpected_stderr(result, outcome)):
                self._view.draw("notice", {"text": f"{what} wrote to standard error: {cut(written, _WIDEST)}"})

    async def _connect(self, stack: AsyncExitStack) -> None:
        from ...agent.tools.mcp import connect
        from ...handlers.mcp_servers import read_servers

        def complain_of(problem: str) -> None:
            self._view.draw("notice", {"text": problem})

        servers = connect(read_servers(Path(str(self._mcp))), on_problem=complain_of)
        tools = await stack.enter_async_context(servers)
        self._runtime.tools = (*self._runtime.tools, *tools)


def _make_private(directory: Path) -> None:
    """Create the directory of transcripts, private to the user and ignored by the project's git.

    The project may bring its own directory, so a symbolic link is refused.
    """
    ignored = directory / ".gitignore"
    if directory.resolve() != directory or ignored.is_symlink():
        raise UsageError("is a symbolic link, or lies behind one", where=str(ignored), hint="remove the link")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    ignored.write_text("*\n")  # replaces any other content


def _on_interrupt(run: AgentRun) -> Callable[[], int]:
    """Make Ctrl-C interrupt the agent, or end the session if the agent is idle."""
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    times = [0]

    def interrupt() -> None:
        times[0] += 1
        if not run.interrupt() and this is not None:
            this.cancel()

    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
    except (NotImplementedError, RuntimeError, ValueError):
        pass  # not the main thread, or not supported: Ctrl-C raises KeyboardInterrupt
    return lambda: times[0]


def _welcome() -> str:
    """Return the script that is played if no model is configured."""
    return os.fspath(files("interpose.agent") / "welcome.yaml")  # type: ignore[call-overload,no-any-return]
