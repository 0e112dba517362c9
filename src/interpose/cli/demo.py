"""``interpose demo``: a few events through a few hooks, and a table of what each hook did."""

from __future__ import annotations

import asyncio
from typing import Any

from .. import Hooks, Outcome, ask, context, deny, modify

__all__ = ["run"]


def make_hooks() -> Hooks:
    """Return the hooks of the demonstration."""
    hooks = Hooks()

    @hooks.on("PreToolUse", matcher="Bash", priority=10, name="safety-check", on_error="abort")
    def no_rm(event):  # type: ignore[no-untyped-def]
        if "rm -rf" in event.tool_input["command"]:
            return deny("Destructive command blocked by hook")
        return None

    @hooks.on("PreToolUse", matcher="Bash", name="dry-run")
    async def dry_run(event):  # type: ignore[no-untyped-def]
        command = event.tool_input["command"]
        if command.startswith("git push") and "--dry-run" not in command:
            return modify(tool_input={**event.tool_input, "command": command + " --dry-run"})
        return None

    @hooks.on("PreToolUse", matcher="Write|Edit", name="protected")
    def protected(event):  # type: ignore[no-untyped-def]
        return ask("pyproject.toml is protected") if event.tool_input["path"] == "pyproject.toml" else None

    @hooks.on("PreToolUse", matcher="WebFetch", name="slow-scanner", timeout=0.2)
    async def slow_scanner(event):  # type: ignore[no-untyped-def]
        await asyncio.sleep(3600)

    @hooks.on("PostToolUse", matcher="Bash", name="redact")
    def redact(event):  # type: ignore[no-untyped-def]
        return modify(tool_response=event.tool_response.replace("hunter2", "[redacted]"))

    @hooks.on("UserPromptSubmit", name="house-rules")
    def house_rules(event):  # type: ignore[no-untyped-def]
        return context("Answer in one sentence.")

    @hooks.on("Stop", name="tests-first")
    def tests_first(event):  # type: ignore[no-untyped-def]
        return None if event.stop_hook_active else {"decision": "block", "reason": "Run the tests before you stop."}

    return hooks


EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("UserPromptSubmit", {"prompt": "Clean up and publish."}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "rm -rf build /"}}),
    ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "git push origin main"}}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "env"}, "tool_response": "PASSWORD=hunter2"}),
    ("PreToolUse", {"tool_name": "Write", "tool_input": {"path": "pyproject.toml", "content": "…"}}),
    ("PreToolUse", {"tool_name": "WebFetch", "tool_input": {"url": "https://example.org"}}),
    ("Stop", {"stop_hook_active": False}),
]


def run() -> None:
    """Fires a few events of an imagined agent through real hooks, one of which hangs, and shows what each hook did."""
    asyncio.run(_play(make_hooks()))


async def _play(hooks: Hooks) -> None:
    for event, fields in EVENTS:
        outcome = await hooks.fire(event, **fields)
        print(_headline(event, fields, outcome))
        for result in outcome.results:
            told = result.error or result.reason
            print(f"    {result.hook:<14} {result.status:<8} {result.decision:<6} {_ms(result.duration)}  {told}")
        print()


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:7.1f} ms"


def _headline(event: str, fields: dict[str, Any], outcome: Outcome) -> str:
    shown = ", ".join(str(value) for value in fields.values())
    verdict = {"deny": "denied", "ask": "a person must be asked", "allow": "allowed", "none": "goes on"}
    said = [verdict[outcome.decision]]
    if outcome.keep_going:
        said = ["keeps going"]
    if outcome.reason:
        said.append(outcome.reason)
    said += [f"{name} = {outcome.input[name]}" for name, value in fields.items() if outcome.input[name] != value]
    said += [f"context: {text}" for text in outcome.context]
    return f"{event} ({shown})\n  → {'; '.join(said)}"
