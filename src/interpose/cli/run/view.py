"""How a run of the agent is shown: as plain lines, or on a terminal with a status line below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

from ...replies import clean
from ..render import cut, escape, flat, paint

__all__ = ["LiveView", "PlainView", "SilentView", "frame_lines"]

_MOST_LINES = 4
_WIDEST = 160


def frame_lines(view: str, data: Any) -> Iterator[str]:
    """Return a frame as lines; data that a hook has replaced by another type is shown as text."""
    if not isinstance(data, Mapping):
        yield from (f"  {line}" for line in clean(str(data)).splitlines())
        return
    text = clean(str(data.get("text", "")))
    agent = f"{paint(clean(str(data['agent'])), 'cyan')} " if data.get("agent") else ""
    match view:
        case "prompt":
            yield from _block(paint("› ", "bold"), "  ", text)
        case "assistant":
            yield from _block(f"{paint('●', 'cyan')} {agent}", "  ", text)
        case "call":
            yield from _call(data, agent)
        case "agent":
            task = f": {clean(str(data.get('task')))}" if data.get("task") else ""
            yield f"  {paint('↳', 'cyan')} {clean(str(data.get('name', '')))} {clean(str(data.get('state', '')))}{task}"
        case _:
            yield from _block(f"  {paint('·', 'yellow')} {agent}", "    ", text)


def _call(data: Mapping[str, Any], agent: str) -> Iterator[str]:
    sign = paint("✗", "red") if data.get("denied") else paint("✓", "green") if data.get("ok") else paint("!", "yellow")
    given, became = _brief(data.get("given")), _brief(data.get("input"))
    yield f"  {sign} {agent}{paint(clean(str(data.get('tool', ''))), 'bold')} {became}"
    if given != became:
        yield paint(f"      was {given}", "dim")
    if data.get("denied"):
        reason = clean(str(data.get("reason", ""))).removeprefix("denied ")
        yield from _block(f"      {paint('denied:', 'red')} ", "      ", reason)
        if decided := clean(str(data.get("decided", ""))):
            yield paint(f"      {flat(decided)}", "dim")
        return
    lines = clean(str(data.get("content", ""))).splitlines()
    for line in lines[:_MOST_LINES]:
        yield paint(f"      {cut(line, _WIDEST)}", "dim")
    if len(lines) > _MOST_LINES:
        yield paint(f"      … {len(lines) - _MOST_LINES} more lines", "dim")


def _brief(given: Any) -> str:
    """Return the values of a tool's input on one line."""
    if isinstance(given, Mapping):
        given = "  ".join(str(value) for value in given.values())
    return cut(flat(escape(str(given))), _WIDEST)


def _block(first: str, rest: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines() or [""]):
        yield (rest if number else first) + line


class PlainView:
    """Prints every frame: for logs and for terminals without cursor control."""

    shows_prompts = True
    """Whether to print prompts; not those that were typed at this terminal."""

    _held: list[str] | None = None

    def draw(self, view: str, data: Any) -> None:
        """Print one frame."""
        if view != "prompt" or self.shows_prompts:
            for line in frame_lines(view, data):
                self.put(line)

    def put(self, line: str) -> None:
        """Print one line, or keep it between ``hold`` and ``release``."""
        if self._held is None:
            self._print(line)
        else:
            self._held.append(line)

    def hold(self) -> None:
        """Keep lines until ``release``, so that no line appears between a question and its answer."""
        self._held = []
        self.pause()

    def release(self) -> None:
        """Print the lines that were kept."""
        self.resume()
        held, self._held = self._held or [], None
        for line in held:
            self._print(line)

    def _print(self, line: str) -> None:
        print(line, flush=True)

    def stream(self, agent: str, text: str) -> None:
        """Ignore parts of a message: the whole message is printed later."""

    def busy(self, agent: str, what: str) -> None:
        """Ignore what an agent is doing: the result is printed later."""

    def message(self, message: Mapping[str, Any]) -> None:
        """Ignore the engine's messages about running hooks: the timeline has the results."""

    def pause(self) -> None:
        """Do nothing: there is no status line to remove during a question."""

    def resume(self) -> None:
        """Do nothing: there is no status line to draw again."""

    def close(self) -> None:
        """Do nothing: there is no status line to remove."""


class SilentView(PlainView):
    """Prints nothing: for programs, which get one JSON document at the end."""

    def _print(self, line: str) -> None:
        """Print nothing."""


class LiveView(PlainView):
    """Prints frames above a status line: what each agent does, and which hook runs for how long."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive
        from rich.spinner import Spinner

        self._agents: dict[str, str] = {}
        self._hooks: dict[str, tuple[str, float]] = {}
        self._messages: dict[str, str] = {}
        self._spinner = Spinner("dots")
        self._console = Console(highlight=False, markup=False, soft_wrap=True)
        self._live = RichLive(
            get_renderable=self._line, console=self._console, refresh_per_second=12, transient=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def _print(self, line: str) -> None:
        """Print a line above the status line."""
        from rich.text import Text

        self._messages.clear()
        self._console.print(Text.from_ansi(line))

    def stream(self, agent: str, text: str) -> None:
        """Show the end of the message that an agent is writing."""
        self._messages[agent] = (self._messages.get(agent, "") + clean(text))[-200:]

    def busy(self, agent: str, what: str) -> None:
        """Show what an agent is doing."""
        if what:
            self._agents[agent] = what
        else:
            self._agents.pop(agent, None)

    def message(self, message: Mapping[str, Any]) -> None:
        """Show which hooks are running, from the engine's messages."""
        run = str(message.get("hook_id"))
        if message.get("subtype") == "hook_started":
            self._hooks[run] = (clean(str(message.get("hook_name"))), monotonic())
        elif message.get("subtype") == "hook_response":
            self._hooks.pop(run, None)

    def close(self) -> None:
        """Remove the status line."""
        self._live.stop()

    def pause(self) -> None:
        """Remove the status line during a question."""
        self._live.stop()

    def resume(self) -> None:
        """Draw the status line again."""
        self._live.start()

    def _line(self) -> Any:
        now = monotonic()
        doing = [f"{clean(agent)} {what}" for agent, what in list(self._agents.items())]
        doing += [f"hook {name} {now - began:.1f} s" for name, began in list(self._hooks.values()) if now - began > 0.1]
        doing += [" ".join(text.split())[-60:] for text in list(self._messages.values())]
        self._spinner.update(text=" · ".join(doing)[: max(10, self._console.width - 4)])
        return self._spinner if doing else ""
