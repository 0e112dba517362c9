"""What is true of every session, whatever hooks say and whatever the host does."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from interpose import Hooks, allow, ask, context, deny, inject, modify

TURNED_AROUND = {"continue": False, "stopReason": "enough"}
ANSWERS = [
    None, None, None, allow(), ask("sure?"), deny("no"), {"decision": "allow"}, {"decision": "Deny"}, 5,
    modify(tool_input={"command": "other"}), modify(tool_response="other"), inject("r"), inject("u", "user_message"),
    {"suppressOutput": True}, TURNED_AROUND, {"continue": True},
]  # fmt: skip
EVENTS = [
    "SessionStart", "UserPromptSubmit", "pre:message", "post:message", "PreToolUse", "PermissionRequest", "PostToolUse",
    "PostToolUseFailure", "Stop", "SubagentStop", "pre:agent:spawn",
]  # fmt: skip
STEPS = ["prompt", "message", "broken message", "tool", "broken tool", "spawn", "broken spawn", "stop"]

said = st.dictionaries(st.sampled_from(EVENTS), st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=4))
steps = st.lists(st.sampled_from(STEPS), max_size=8)
modes = st.sampled_from(["default", "acceptEdits", "plan", "bypass"])


class World:
    """A host that does as it is told, and keeps what happened."""

    def __init__(self, said: dict[str, list[Any]]) -> None:
        self.hooks = Hooks(max_hooks_per_point=0)
        self.heard: list[Any] = []
        self.ran: list[Any] = []
        self.added: list[str] = []
        self.seen: list[str] = []
        for event in self.hooks.events:
            self.hooks.register(event, self.hear, inline=True, priority=1)
            if "context" in self.hooks.events[event].can:
                self.hooks.register(event, self.add, inline=True, priority=2)
        for event, answers in said.items():
            self.hooks.register(event, self.say(list(answers)), inline=True)

    def hear(self, event: Any) -> None:
        self.heard.append((event.row.name, event.get("tool_use_id")))

    def add(self, event: Any) -> Any:
        if event.agent_id != "main":  # what a subagent was told ends with it
            return None
        self.added.append(f"{event.row.name} {len(self.added)}")
        return context(self.added[-1])

    @staticmethod
    def say(answers: list[Any]) -> Any:
        return lambda event: answers.pop() if answers else None

    def of_add(self, texts: Iterable[str]) -> list[str]:
        """What ``add`` said among other context, such as the reason of a deny where nothing can be denied."""
        return [text for text in texts if text.partition(" ")[0] in self.hooks.events]

    def send(self, prompt: str, system: str) -> str:
        self.seen += self.of_add(system.split("\n"))
        return "answer"

    def run(self, given: Any) -> str:
        self.ran.append(given)
        return "result"

    def breaks(self, *given: Any) -> Any:
        if len(given) == 1:
            self.ran.append(given[0])
        raise OSError("broken")

    def do(self, session: Any, step: str) -> None:
        try:
            match step:
                case "prompt":
                    session.prompt("hi")
                case "message":
                    session.message("hi", self.send)
                case "broken message":
                    session.message("hi", self.breaks)
                case "tool":
                    session.tool("Bash", {"command": "ls"}, self.run)
                case "broken tool":
                    session.tool("Bash", {"command": "ls"}, self.breaks)
                case "spawn":
                    session.spawn("explorer", lambda child, config: self.do(child, "tool"))
                case "broken spawn":
                    session.spawn("explorer", self.breaks)
                case _:
                    session.stop()
        except OSError:
            assert step == "broken message"


def names(world: World, *wanted: str) -> list[str]:
    return [name for name, _ in world.heard if name in wanted]


@given(said, steps, modes, st.sampled_from(["allow", "ask"]), st.sampled_from([None, True, False]))
def test_a_session_keeps_its_order_and_loses_nothing(
    said: dict[str, list[Any]], steps: list[str], mode: str, default: Any, yes: bool | None
) -> None:
    world = World(said)
    approver = None if yes is None else lambda question: yes

    with world.hooks.session_sync(mode=mode, default=default, approver=approver, show=lambda text: None) as session:
        for step in steps:
            world.do(session, step)
        left = world.of_add(session.pending_context)

    assert world.heard[0][0] == "SessionStart"
    assert world.heard[-1][0] == "SessionEnd"
    assert len(names(world, "SessionEnd")) == 1
    # Context is seen by one model call, in its order, or is still pending.
    assert world.seen + left == world.added
    # A tool that ran has one event before it and one after it; one that was refused has none after it.
    before = [call for name, call in world.heard if name == "PreToolUse"]
    after = [call for name, call in world.heard if name in ("PostToolUse", "PostToolUseFailure")]
    assert len(set(before)) == len(before)
    assert len(after) == len(world.ran)
    assert set(after) <= set(before)
    if mode == "plan":
        assert not world.ran
    # Whoever was started was stopped, and is gone.
    spawned = names(world, "SubagentStart", "post:agent:complete")
    assert spawned == ["SubagentStart", "post:agent:complete"] * (len(spawned) // 2)
    assert not world.hooks.engine.registry.snapshot.scopes
