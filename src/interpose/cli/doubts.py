"""What is allowed in a configuration and still likely to be a mistake. Pure: looks at hooks, files and nothing else.

A warning is something that does not do what it seems to do. A note is something that a person should know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import Problem, nearest
from ..matching.names import is_glob
from ..model import Hook, Settings
from ..registry import LAYERS
from ..routes import DEFAULT_TIMEOUT, DEFAULT_TOTAL, deadline, error_policy
from .runnable import flaws_of

__all__ = ["KNOWN_TOOLS", "Doubt", "doubts_about", "misspelt"]

KNOWN_TOOLS = (
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "ExitPlanMode", "Glob", "Grep", "KillShell",
    "ListMcpResourcesTool", "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "ReadMcpResourceTool", "Skill",
    "SlashCommand", "Task", "TodoWrite", "WebFetch", "WebSearch", "Write",
)  # fmt: skip
"""Tools of Claude Code and of agents that took over its names; any other name is somebody's own tool."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """One thing that may not be meant so: a warning or a note, with a stable code."""

    severity: str
    code: str
    problem: Problem

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"severity": self.severity, "code": self.code, "where": self.problem.where, "what": self.problem.what,
                "hint": self.problem.hint}  # fmt: skip


def doubts_about(hooks: Iterable[Hook], settings: Settings) -> list[Doubt]:
    """Return everything that is doubtful, hook by hook."""
    everything = list(hooks)
    found: list[Doubt] = []
    for hook in everything:
        for look in (_fails_open, _never_matches, _never_holds, _cannot_run, _no_effect, _time_without_sense):
            found.extend(look(hook, settings))
    found.extend(_shadowed(everything))
    return found


def _warning(hook: Hook, code: str, what: str, hint: str) -> Doubt:
    return Doubt("warning", code, Problem(f"{hook.label}: {what}", where=hook.source, hint=hint))


def _note(hook: Hook, code: str, what: str, hint: str) -> Doubt:
    return Doubt("note", code, Problem(f"{hook.label}: {what}", where=hook.source, hint=hint))


def _fails_open(hook: Hook, settings: Settings) -> Iterator[Doubt]:
    """Look for a guard that lets everything through once it is broken."""
    if "deny" not in hook.row.can or hook.dialect == "claude":
        return
    policy = error_policy(hook, settings)
    if hook.on_error in ("log", "skip"):
        yield _warning(
            hook, "fails_open", f"a guard that fails open: onError: {hook.on_error} lets {hook.event} through even if "
            "it cannot be started", "onError: abort, or leave it out",
        )  # fmt: skip
    elif policy != "abort" and hook.type == "command" and not hook.background:
        yield _note(hook, "may_fail_open", f"if it crashes or runs out of time, {hook.event} goes on",
                    "onError: abort makes it a guard")  # fmt: skip


def _never_matches(hook: Hook, settings: Settings) -> Iterator[Doubt]:
    """Look for a name that is nearly that of a known tool: `bash`, `Wirte`."""
    if hook.row.subject != "tool_name" or not hook.matcher or hook.matcher.startswith("re:"):
        return
    for part in (part.strip() for part in hook.matcher.split("|")):
        if not part or part in KNOWN_TOOLS or part.startswith("mcp__") or any(mark in part for mark in "^$(.+\\"):
            continue
        if is_glob(part):
            folded = part.rstrip("*").lower()
            if not any(tool.startswith(part.rstrip("*")) for tool in KNOWN_TOOLS):
                near = [tool for tool in KNOWN_TOOLS if folded and tool.lower().startswith(folded)]
                hint = f"did you mean {near[0]}*? matchers are case-sensitive" if near else ""
            else:
                continue
        else:
            hint = nearest(part, KNOWN_TOOLS)
        if hint:
            yield _warning(hook, "never_matches", f"matcher {part} matches no tool that is known", hint)


def _never_holds(hook: Hook, settings: Settings) -> Iterator[Doubt]:
    """Look for a rule that is about no tool, or about one that the matcher keeps away."""
    if not hook.condition:
        return
    tool = _tool_of(hook.condition)
    if hint := misspelt(hook.condition):
        yield _warning(hook, "never_matches", f"if {hook.condition}: {tool} is no tool that is known", hint)
    elif hook.matches is not None and not is_glob(tool) and not hook.matches(tool):
        yield _warning(hook, "never_matches", f"if {hook.condition} can never hold: the matcher {hook.matcher} "
                       f"does not match {tool}", "leave out one of them")  # fmt: skip


def misspelt(rule: str) -> str:
    """Return what was meant by a rule about a tool that there is not: `bash(rm *)`, or `rm *` alone; else nothing."""
    tool = _tool_of(rule)
    if " " in tool:
        return f"did you mean Bash({rule})?"
    if tool in KNOWN_TOOLS or is_glob(tool) or tool.startswith("mcp__"):
        return ""
    return nearest(tool, KNOWN_TOOLS)


def _tool_of(rule: str) -> str:
    return rule.partition("(")[0].strip()


def _cannot_run(hook: Hook, settings: Settings) -> Iterator[Doubt]:
    """Look at what a hook runs, without running it."""
    for code, what, hint in flaws_of(hook):
        yield _warning(hook, code, what, hint)


def _no_effect(hook: Hook, settings: Settings) -> Iterator[Doubt]:
    """Look for a line of a script whose command its event gives no right to."""
    if hook.type != "script":
        return
    from ..events import TABLE
    from ..scripts import Commands, doubts

    for problem in doubts([hook.handler], table=TABLE, commands=Commands()):
        yield _warning(hook, "no_effect", problem.what, problem.hint)


def _time_without_sense(hook: Hook, settings: Settings) -> Iterator[Doubt]:
    if not hook.timeout or hook.dialect == "claude":
        return
    if settings.timeout_ceiling and hook.timeout > settings.timeout_ceiling:
        yield _warning(hook, "timeout", f"its timeout of {hook.timeout:g} s is above the ceiling of "
                       f"{settings.timeout_ceiling:g} s, which holds", "hooks.timeout is in milliseconds")  # fmt: skip
    elif settings.total_timeout and hook.timeout > settings.total_timeout:
        yield _warning(hook, "timeout", f"its timeout of {hook.timeout:g} s is longer than a whole firing may take "
                       f"({settings.total_timeout:g} s)", "raise totalTimeout, or lower it")  # fmt: skip
    elif hook.timeout > 10 * max(DEFAULT_TOTAL, DEFAULT_TIMEOUT) and "deny" in hook.row.can:
        yield _warning(hook, "timeout", f"an agent may wait {deadline(hook, settings):g} s for it",
                       "a hook's timeout: is in seconds")  # fmt: skip


def _shadowed(hooks: list[Hook]) -> Iterator[Doubt]:
    """Look for names that are used again: within a layer the last hook holds, in two layers both do."""
    seen: dict[tuple[str, str, str | None], Hook] = {}
    for hook in sorted(hooks, key=lambda hook: -LAYERS.index(hook.layer)):
        if not hook.name:
            continue
        key = (hook.event, hook.name, hook.scope)
        first = seen.setdefault(key, hook)
        if first.layer != hook.layer:
            yield _warning(hook, "shadowed", f"the {first.layer} layer has a hook of this name too "
                           f"({first.source}); both run, and switching the name switches both",
                           "give it another name")  # fmt: skip
        elif first is not hook:
            yield _warning(first, "replaced", f"replaced by the hook of the same name at {hook.source}",
                           "give one of them another name")  # fmt: skip
            seen[key] = hook
