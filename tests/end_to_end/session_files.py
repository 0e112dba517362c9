"""Whole sessions as text: what is configured, what the model says, and what must come of it.

A file of ``sessions/`` has a project (``files``), hooks (``hooks``, ``agents`` as in a configuration; ``python`` is the
module that their handlers are in), the model's turns (``turns``, ``subagents``), what the person types (``prompts``)
and answers (``answers``: yes or no), options of the session, and what is expected: every event that fired, in order, with
its subject and what was decided; and the conversation, as the transcript has it.

    python -m tests.end_to_end.session_files        plays every session and writes what came of it into its file
"""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from interpose import Hooks, Outcome, Question
from interpose.agent.agent_types import AgentType
from interpose.agent.run import open_run
from interpose.agent.runtime import Limits, Runtime
from interpose.agent.shadow import ShadowGit
from interpose.models import Model, Request, Turn, ignore_text
from interpose.models.scripted import ScriptedModel

HERE = Path(__file__).parent / "sessions"
SESSION_ID = "session-1"
EXPECTED = "\n# What must come of it.\n"


def session_files() -> list[Path]:
    return sorted(HERE.glob("*.yaml"))


@dataclass
class Played:
    """What came of a session."""

    events: list[str] = field(default_factory=list)
    transcript: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """As it stands in a file."""
        told = {"events": self.events, "transcript": self.transcript, "shown": self.shown, "files": self.files}
        shown = {key: value for key, value in told.items() if value}
        return str(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=110))


def expected_of(path: Path) -> dict[str, Any]:
    _, mark, expected = path.read_text("utf-8").partition(EXPECTED)
    assert mark, f"{path.name} says nothing of what must come of it"
    found: dict[str, Any] = yaml.safe_load(expected)
    return found


class Recording(ScriptedModel):
    """A scripted model that remembers the turns of all agents in the order in which they were asked for."""

    def __init__(self, session: dict[str, Any]) -> None:
        script = {"turns": session["turns"], "agents": session.get("subagents", {})}
        super().__init__(script, window=session.get("window"))
        self.played: list[dict[str, Any]] = []

    async def answer(self, request: Request, on_text: Callable[[str], None] = ignore_text) -> Turn:
        turn = await super().answer(request, on_text)
        self.played.append({
            "say": turn.text, "calls": [{call.name: call.input} for call in turn.calls], "tokens": turn.tokens
        })  # fmt: skip
        return turn


def session_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text("utf-8").partition(EXPECTED)[0])
    return found


def play(path: Path, scratch: Path, model: Model | None = None, policies: Any = None) -> Played:
    """Play a session in an empty directory, perhaps with policies beside its hooks."""
    session = session_of(path) | ({} if policies is None else {"policies": policies})
    scratch.mkdir(exist_ok=True)
    return asyncio.run(_play(session, scratch, model or Recording(session)))


async def _play(session: dict[str, Any], scratch: Path, model: Model) -> Played:
    project = scratch / "project"
    project.mkdir()
    for name, content in session.get("files", {}).items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(content, "utf-8")
    configuration = scratch / "configuration"
    configuration.mkdir()
    (configuration / "handlers.py").write_text(session.get("python", ""), "utf-8")
    (configuration / "hooks.yaml").write_text(
        yaml.safe_dump({key: session[key] for key in ("hooks", "policies", "agents", "permissions") if key in session}),
        "utf-8",
    )
    hooks = Hooks.load(configuration / "hooks.yaml")
    played = Played()
    hooks.show = lambda text: played.shown.append(neutral(text, scratch))
    runtime = Runtime(
        hooks=hooks, model=model, cwd=project, directory=scratch / "transcripts", shadow=ShadowGit(project),
        limits=Limits(**session.get("limits", {})),
    )  # fmt: skip
    if "kinds" in session:
        runtime.agent_types = {name: AgentType(**told) for name, told in session["kinds"].items()}
    answers = iter(session.get("answers", []))

    def ask(question: Question) -> bool:
        played.shown.append(f"asked: {neutral(str(question), scratch)}")
        return next(answers) is True

    options = {**session.get("options", {}), **({"approver": ask} if "answers" in session else {})}

    def heard(outcome: Outcome) -> None:
        played.outcomes.append(outcome)
        played.events.append(event_line(outcome, scratch))

    (scratch / "session.env").touch()
    async with open_run(runtime, session_id=SESSION_ID, on_outcome=heard, **options) as run:
        for prompt in session["prompts"]:
            await run.ask(prompt)
    await model.close()
    for transcript in sorted((scratch / "transcripts").iterdir()):
        played.transcript += transcript_lines(transcript, scratch)
    played.files = {
        name: (project / name).read_text("utf-8") for name in session.get("look_at", []) if (project / name).exists()
    }
    return played


def event_line(outcome: Outcome, scratch: Path) -> str:
    """The event, what it was about, and what was decided, in one line."""
    row = outcome._template.row
    about = outcome.input.get(row.subject) if row.subject else ""
    who = outcome.input.get("agent_id", "main")
    line = f"{outcome.event} {about or ''}".strip()
    if who != "main":
        line = f"{re.sub('-[0-9a-f]{8}$', '', str(who))}: {line}"
    if outcome.event in ("Stop", "SubagentStop") and outcome.input.get("stop_hook_active"):
        line += " (active)"
    if outcome.keep_going:
        line += " → keep going"
    elif outcome.interrupt:
        line += " → interrupt"
    elif outcome.decision != "none":
        line += f" → {'granted' if outcome.granted else outcome.decision}"
    return neutral(line, scratch)


def transcript_lines(path: Path, scratch: Path) -> list[str]:
    """A transcript as a person would tell it."""
    lines = [] if path.name == f"{SESSION_ID}.jsonl" else [f"--- {path.name.removeprefix(SESSION_ID + '-')}"]
    for text in path.read_text("utf-8").splitlines():
        entry = json.loads(text)
        if entry["type"] == "system":
            lines.append(f"[{entry['subtype']}] {entry['content']}")
            continue
        content = entry["message"]["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            match block["type"]:
                case "text":
                    lines.append(f"{entry['type']}: {block['text']}")
                case "tool_use":
                    lines.append(f"call: {block['name']} {json.dumps(block['input'], ensure_ascii=False)}")
                case _:
                    lines.append(f"{'failed' if block['is_error'] else 'result'}: {block['content']}")
    return [neutral(line, scratch) for line in lines]


def neutral(text: str, scratch: Path) -> str:
    """Text without what is different each time."""
    return text.replace(str(scratch.resolve()), "…").replace(str(scratch), "…")


def main() -> None:
    import tempfile

    for path in session_files():
        if sys.argv[1:] and path.stem not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            played = play(path, Path(scratch))
        told = path.read_text("utf-8").partition(EXPECTED)[0].rstrip() + "\n"
        path.write_text(told + EXPECTED + played.text(), "utf-8")
        print(f"{path.name}: {len(played.events)} events")


if __name__ == "__main__":
    main()
