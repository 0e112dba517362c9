"""What the table needs of a framework: a driver that plays a scripted model's turns through the framework's own agent."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NoReturn

HOOKS = Path(__file__).with_name("hooks.yaml")

Turn = str | Sequence[str]
"""One answer of the model: a text, which ends the run; or the commands of the ``shell`` calls that it makes at once."""


@dataclass
class Played:
    """What became of one run."""

    ran: list[str] = field(default_factory=list)
    """The commands that the tool has really run, in the order in which they began."""
    results: list[str] = field(default_factory=list)
    """The results of tool calls as the model has seen them."""
    requests: list[str] = field(default_factory=list)
    """Each request to the model as one text: instructions, prompts and results."""
    final: str = ""
    """What the caller of the agent gets."""
    paused: bool = False
    """Whether the run has ended with a question of the framework's own kind."""


class Shell:
    """The body of the tool that every framework gets: ``shell(cmd: str) -> str``."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def __call__(self, cmd: str) -> str:
        self.ran.append(cmd)
        if cmd.startswith("boom"):
            raise ValueError("the tool broke")
        return f"ran: {cmd}"


class Driver(ABC):
    """Plays turns through one framework. A driver overrides what its framework can do; ``cannot`` says why it cannot."""

    place: ClassVar[str] = ""
    """Where hooks are put, if an adapter has several places: each is a column of the table."""
    cannot: ClassVar[Mapping[str, str]] = {}
    """Row to the reason why this framework cannot do what the row asks."""

    @abstractmethod
    async def play(
        self, turns: Sequence[Turn], *, prompt: str = "go", ask: Any = None, conversation: str = "one",
        streamed: bool = False, hooks: Path = HOOKS,
    ) -> Played:  # fmt: skip
        """Run an agent with the tool ``shell`` on the framework's fake model. ``ask`` is the adapter's ``ask=``."""

    def play_sync(self, turns: Sequence[Turn]) -> Played:
        """The same from code without an event loop."""
        self.lacks("interface without an event loop")

    async def play_question(self, turns: Sequence[Turn], answer: bool | Mapping[str, Any]) -> Played:
        """Run until the framework itself pauses with the question, answer in its way, and run to the end.

        ``answer`` is yes, no, or the changed input: the framework's own field names.
        """
        self.lacks("pause with a question of its own")

    async def play_cancelled(self, begun: Callable[[], None]) -> Played:
        """Run a tool that calls ``begun`` and never ends, and cancel the run then."""
        self.lacks("runs that can be cancelled")

    async def play_subagent(self, agent: str, command: str) -> Played:
        """Run an agent that calls another agent, named ``agent``, which runs the command. ``ran`` is what it ran."""
        self.lacks("agents that call agents")

    async def play_handoff(self, to_agent: str, command: str) -> Played:
        """Run an agent that hands the conversation to ``to_agent``, which runs the command."""
        self.lacks("handoffs")

    async def play_object(self) -> Any:
        """Call a tool with an argument that the framework turns into a datetime and a model; return what the tool got."""
        self.lacks("arguments that it turns into objects")

    def lacks(self, what: str) -> NoReturn:
        """Fail a row because the framework does not have what the row needs."""
        raise NotImplementedError(f"{type(self).__name__} has no {what}")
