"""The hooks that hooks.yaml names. They know no framework."""

import json

from interpose import Event, Reply, ask, context, deny, modify

seen: list[dict[str, object]] = []
"""The events of this process, as a command would get them."""


def note(event: Event) -> None:
    """Write an event down; raise if it holds anything that is not JSON."""
    seen.append(json.loads(json.dumps(dict(event))))


def no_rm(event: Event) -> Reply:
    return deny("rm is not allowed here")


def crashes(event: Event) -> None:
    raise RuntimeError("this hook is broken")


def rewrite(event: Event) -> Reply | None:
    given = event.tool_input
    return modify(tool_input={**given, "command": "ls -la"}) if given.get("command") == "ls" else None


def misfit(event: Event) -> Reply:
    return modify(tool_input={"command": 5})


def asks(event: Event) -> Reply:
    return ask("the file of hooks asks")


def redact(event: Event) -> Reply | None:
    changed = _redacted(event.tool_response)
    return modify(tool_response=changed) if changed != event.tool_response else None


def _redacted(value: object) -> object:
    if isinstance(value, str):
        return value.replace("secret", "***")
    if isinstance(value, dict):
        return {key: _redacted(item) for key, item in value.items()}
    return [_redacted(item) for item in value] if isinstance(value, list) else value


def halts(event: Event) -> dict[str, object]:
    return {"continue": False, "stopReason": "a hook ends the turn"}


def adds(event: Event) -> Reply:
    return context("CONTEXT-OF-A-HOOK")


def prompts(event: Event) -> Reply | None:
    if "badprompt" in event.prompt:
        return deny("such a prompt is not answered here")
    return context("RULES-OF-THE-HOUSE") if "rules" in event.prompt else None


def edit_prompt(event: Event) -> Reply | None:
    return modify(prompt=event.prompt.replace("editme", "EDITED")) if "editme" in event.prompt else None


def edit_output(event: Event) -> Reply | None:
    return modify(output=event.output.replace("password", "[redacted]")) if "password" in event.output else None


def not_yet(event: Event) -> Reply | None:
    return deny("not done yet, go on") if event.last_assistant_message == "early" else None


def no_spawn(event: Event) -> Reply | None:
    return deny("that agent is not started here") if event.agent == "forbidden" else None


def no_handoff(event: Event) -> Reply | None:
    return deny("nothing is handed to that agent") if event.to_agent == "forbidden" else None
