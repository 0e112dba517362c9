"""What the agent does, drawn: as lines that follow each other, or on a terminal with a line that lives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any

from ..replies import clean
from .words import cut, flat, paint, visible

__all__ = ["Lines", "Live", "Silence", "lines_of"]

_MOST_LINES = 4
_WIDEST = 160


def lines_of(view: str, data: Any) -> Iterator[str]:
    """Return a frame as lines; data that a hook has put into another shape is shown as it is."""
    if not isinstance(data, Mapping):
        yield from (f"  {line}" for line in clean(str(data)).splitlines())
        return
    text = clean(str(data.get("text", "")))
    who = f"{paint(clean(str(data['agent'])), 'cyan')} " if data.get("agent") else ""
    match view:
        case "prompt":
            yield from _block(paint("› ", "bold"), "  ", text)
        case "assistant":
            yield from _block(f"{paint('●', 'cyan')} {who}", "  ", text)
        case "call":
            yield from _call(data, who)
        case "agent":
            task = f": {clean(str(data.get('task')))}" if data.get("task") else ""
            yield f"  {paint('↳', 'cyan')} {clean(str(data.get('name', '')))} {clean(str(data.get('state', '')))}{task}"
        case _:
            yield from _block(f"  {paint('·', 'yellow')} {who}", "    ", text)


def _call(data: Mapping[str, Any], who: str) -> Iterator[str]:
    sign = paint("✗", "red") if data.get("denied") else paint("✓", "green") if data.get("ok") else paint("!", "yellow")
    given, became = _brief(data.get("given")), _brief(data.get("input"))
    yield f"  {sign} {who}{paint(clean(str(data.get('tool', ''))), 'bold')} {became}"
    if given != became:
        yield paint(f"      was {given}", "dim")
    if data.get("denied"):
        reason = clean(str(data.get("reason", ""))).removeprefix("denied ")
        yield from _block(f"      {paint('denied:', 'red')} ", "      ", reason)
        return
    lines = clean(str(data.get("content", ""))).splitlines()
    for line in lines[:_MOST_LINES]:
        yield paint(f"      {cut(line, _WIDEST)}", "dim")
    if len(lines) > _MOST_LINES:
        yield paint(f"      … {len(lines) - _MOST_LINES} more lines", "dim")


def _brief(given: Any) -> str:
    """Return a tool's input in one line: its values, which say more than its keys."""
    if isinstance(given, Mapping):
        given = "  ".join(str(value) for value in given.values())
    return cut(flat(visible(str(given))), _WIDEST)


def _block(first: str, rest: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines() or [""]):
        yield (rest if number else first) + line


class Lines:
    """Prints every frame as it comes: for logs, and for terminals that can do no more."""

    shows_prompts = True
    """Whether prompts are shown: a person who has typed them has seen them."""

    _held: list[str] | None = None

    def draw(self, view: str, data: Any) -> None:
        """Print one frame."""
        if view != "prompt" or self.shows_prompts:
            for line in lines_of(view, data):
                self.put(line)

    def put(self, line: str) -> None:
        """Print one line, or keep it as long as lines are held back."""
        if self._held is None:
            self._print(line)
        else:
            self._held.append(line)

    def hold(self) -> None:
        """Keep lines back: nothing that an agent says may stand between a question and its answer."""
        self._held = []
        self.pause()

    def release(self) -> None:
        """Go on, with what was held back."""
        self.resume()
        held, self._held = self._held or [], None
        for line in held:
            self._print(line)

    def _print(self, line: str) -> None:
        print(line, flush=True)

    def stream(self, agent: str, text: str) -> None:
        """Wait for the whole."""

    def busy(self, agent: str, what: str) -> None:
        """Say nothing: what comes of it is printed."""

    def message(self, message: Mapping[str, Any]) -> None:
        """Say nothing of hooks that run: what came of them is in the timeline."""

    def pause(self) -> None:
        """Stand aside while a person is asked: there is nothing to take away."""

    def resume(self) -> None:
        """Go on after a person was asked."""

    def close(self) -> None:
        """Leave everything as it is."""


class Silence(Lines):
    """Prints nothing: for programs, which get one document at the end."""

    def _print(self, line: str) -> None:
        """Print nothing."""


class Live(Lines):
    """Prints frames above one line that lives: who does what, which hook is running, and for how long."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive
        from rich.spinner import Spinner

        self._agents: dict[str, str] = {}
        self._hooks: dict[str, tuple[str, float]] = {}
        self._said: dict[str, str] = {}
        self._spinner = Spinner("dots")
        self._console = Console(highlight=False, markup=False, soft_wrap=True)
        self._live = RichLive(
            get_renderable=self._line, console=self._console, refresh_per_second=12, transient=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def _print(self, line: str) -> None:
        """Print a line above the one that lives."""
        from rich.text import Text

        self._said.clear()
        self._console.print(Text.from_ansi(line))

    def stream(self, agent: str, text: str) -> None:
        """Show the end of what is being said."""
        self._said[agent] = (self._said.get(agent, "") + clean(text))[-200:]

    def busy(self, agent: str, what: str) -> None:
        """Show what an agent is doing."""
        if what:
            self._agents[agent] = what
        else:
            self._agents.pop(agent, None)

    def message(self, message: Mapping[str, Any]) -> None:
        """Show which hooks are running, from the engine's own messages."""
        run = str(message.get("hook_id"))
        if message.get("subtype") == "hook_started":
            self._hooks[run] = (clean(str(message.get("hook_name"))), monotonic())
        elif message.get("subtype") == "hook_response":
            self._hooks.pop(run, None)

    def close(self) -> None:
        """Take the line away."""
        self._live.stop()

    def pause(self) -> None:
        """Take the line away while a person is asked."""
        self._live.stop()

    def resume(self) -> None:
        """Have the line again."""
        self._live.start()

    def _line(self) -> Any:
        now = monotonic()
        doing = [f"{clean(agent)} {what}" for agent, what in list(self._agents.items())]
        doing += [f"hook {name} {now - began:.1f} s" for name, began in list(self._hooks.values()) if now - began > 0.1]
        doing += [" ".join(text.split())[-60:] for text in list(self._said.values())]
        self._spinner.update(text=" · ".join(doing)[: max(10, self._console.width - 4)])
        return self._spinner if doing else ""
