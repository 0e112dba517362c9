"""Rules over hooks: what a configuration may say and is still likely to be a mistake.

A warning is a setting that does not do what it seems to do. A note is a fact that the author should know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..config.commands import imports_from_cwd
from ..config.kinds import JUDGES, KINDS
from ..config.replaced import find_replaced
from ..errors import Problem, nearest
from ..handlers.declared_command import command_of
from ..matching import AnyCondition, Condition
from ..matching.declared_tools import DeclaredTool, contains
from ..matching.names import is_glob
from ..model import Hook, Settings
from ..policies import PolicyHook
from ..registry import LAYERS
from ..routes import DEFAULT_TIMEOUT, DEFAULT_TOTAL, deadline, error_policy
from ..runtime.regex import regex
from .executables import find_flaws

__all__ = ["KNOWN_TOOLS", "Finding", "check_hooks", "fails_open", "suggest_rule"]

KNOWN_TOOLS = (
    "Agent", "AskUserQuestion", "Bash", "BashOutput", "Edit", "ExitPlanMode", "Glob", "Grep", "KillShell",
    "ListMcpResourcesTool", "MultiEdit", "NotebookEdit", "NotebookRead", "Read", "ReadMcpResourceTool", "Skill",
    "SlashCommand", "Task", "TodoWrite", "WebFetch", "WebSearch", "Write",
)  # fmt: skip
"""The tools of Claude Code and of agents that use the same names."""
Declared = Sequence[DeclaredTool]

_MCP_SERVER = regex(r"mcp__[^*?\[_]+(_[^*?\[_]+)*")


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check: its severity, a stable code, and the problem with its place and its hint."""

    severity: str
    code: str
    problem: Problem

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON."""
        return {"severity": self.severity, "code": self.code, "where": self.problem.where, "what": self.problem.what,
                "hint": self.problem.hint}  # fmt: skip


def check_hooks(hooks: Iterable[Hook], settings: Settings, declared: Declared = ()) -> list[Finding]:
    """Apply every rule to every hook and return the findings; ``declared`` are tools that matchers may name too."""
    listed = list(hooks)
    findings = [finding for hook in listed for rule in _RULES for finding in rule(hook, settings, declared)]
    return [*findings, *_find_repeated_names(listed)]


def fails_open(hook: Hook, settings: Settings) -> bool:
    """Return whether the event goes on if the hook breaks, although the event can be denied."""
    # Interpose runs script lines itself, and Claude Code's hooks fail open by the rules of their dialect.
    if hook.type == "script" or hook.dialect == "claude":
        return False
    return "deny" in hook.row.can and error_policy(hook, settings) != "abort"


def _warning(hook: Hook, code: str, what: str, hint: str) -> Finding:
    return Finding("warning", code, Problem(f"{hook.label}: {what}", where=hook.source, hint=hint))


def _note(hook: Hook, code: str, what: str, hint: str) -> Finding:
    return Finding("note", code, Problem(f"{hook.label}: {what}", where=hook.source, hint=hint))


def _find_fail_open(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find a hook whose failure lets the event through."""
    if "deny" not in hook.row.can or hook.dialect == "claude":
        return
    policy = error_policy(hook, settings)
    if hook.on_error in ("log", "skip") and hook.locked:
        yield _warning(hook, "no_effect", f"onError: {hook.on_error} has no effect: {hook.event} is denied if a locked "
                       "hook fails", "leave out one of them")  # fmt: skip
    elif hook.on_error in ("log", "skip"):
        yield _warning(
            hook, "fails_open", f"a guard that fails open: onError: {hook.on_error} lets {hook.event} through even if "
            "it cannot be started", "onError: abort, or leave it out",
        )  # fmt: skip
    elif policy != "abort" and hook.type in ("command", *KINDS) and not hook.background:
        fails = "the model does not answer, its budget is used up" if hook.type in JUDGES else "it crashes"
        yield _note(hook, "may_fail_open", f"if {fails} or it runs out of time, {hook.event} goes on",
                    "onError: abort makes it a guard")  # fmt: skip


def _find_idle_guard(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find a guard that decides nothing because it runs in the background, or only about the first event."""
    if "deny" not in hook.row.can or hook.dialect == "claude" or error_policy(hook, settings) != "abort":
        return
    if hook.background:
        yield _warning(hook, "no_effect", f"a guard that decides nothing: with async: true {hook.event} does not wait "
                       "for it", "leave out async")  # fmt: skip
    elif hook.once:
        yield _warning(hook, "no_effect", f"a guard that with once: true judges only the first {hook.event} of a "
                       "process", "leave out once")  # fmt: skip


def _find_dead_matcher(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find a matcher that is nearly the name of a known tool: `bash`, `Wirte`."""
    if hook.row.subject != "tool_name" or not hook.matcher or hook.matcher.startswith("re:"):
        return
    for part in (part.strip() for part in hook.matcher.split("|")):
        if hook.dialect != "claude" and _MCP_SERVER.fullmatch(part):
            yield _warning(hook, "never_matches", f"matcher {part} is a server and no tool of it", f"write {part}__*")
        if not part or _is_known(part, declared) or part.startswith("mcp__") or any(mark in part for mark in "^$(.+\\"):
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
            yield _warning(hook, "never_matches", f"matcher {part} matches no known tool", hint)


def _find_client_rules(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find where a hook of a Claude Code file holds in other cases than the same words in a file of ours."""
    if hook.dialect != "claude" or hook.row.subject != "tool_name":
        return
    if any(mark in hook.matcher for mark in "^$()\\+.*") and hook.matcher != "*":
        yield _note(hook, "client_rules", f"matcher {hook.matcher} is a regular expression that may match anywhere in "
                    "a tool's name, as in the client",
                    f"in a file of ours: re:{hook.matcher}, for the whole name")  # fmt: skip
    for rule in _rules_of(hook):
        wider = Condition(rule.text, rule.tool, rule.pattern).tools() - {rule.tool}
        if wider:
            yield _note(hook, "client_rules", f"if {rule.text} is about {rule.tool} alone, as in the client",
                        f"in a file of ours it is also about {', '.join(sorted(wider))}")  # fmt: skip


def _find_dead_condition(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find a condition about an unknown tool, or about tools that the matcher excludes."""
    for rule in _rules_of(hook):
        if hint := suggest_rule(rule.text, declared):
            yield _warning(hook, "never_matches", f"if {rule.text}: {rule.tool} is not a known tool", hint)
        elif hook.matches is not None and not is_glob(rule.tool) and not any(map(hook.matches, _named(rule, declared))):
            yield _warning(hook, "never_matches", f"if {rule.text} is never true: the matcher {hook.matcher} "
                           f"does not match {rule.tool}", "leave out one of them")  # fmt: skip


def _rules_of(hook: Hook) -> tuple[Condition, ...]:
    condition = getattr(hook.judge, "__self__", None)
    return condition.rules if isinstance(condition, (Condition, AnyCondition)) else ()


def _named(rule: Condition, declared: Declared) -> set[str]:
    """Return the tools that a rule is about; a declared tool has two names."""
    names = {name for tool in rule.tools() for name in tool.split("|")}
    return names.union(*({tool.name, tool.pattern} for tool in declared if names & {tool.name, tool.pattern}))


def _is_known(name: str, declared: Declared) -> bool:
    return name in KNOWN_TOOLS or any(name == tool.name or contains(tool.pattern, name) for tool in declared)


def suggest_rule(rule: str, declared: Declared = ()) -> str:
    """Return a suggestion for a rule about an unknown tool, such as `bash(rm *)` or `rm *`; empty if it is known."""
    tool = _tool_of(rule)
    if " " in tool.replace(" | ", "|"):
        return f"did you mean Bash({rule})?"
    for name in (part.strip() for part in tool.split("|")):
        if not _is_known(name, declared) and not is_glob(name) and not name.startswith("mcp__"):
            return nearest(name, KNOWN_TOOLS)
    return ""


def _tool_of(rule: str) -> str:
    return rule.partition("(")[0].strip()


def _find_broken_target(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find a missing or broken file or module that the hook runs."""
    for code, what, hint in find_flaws(hook):
        yield _warning(hook, code, what, hint)


def _find_imports_from_cwd(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find a guard in Python that imports modules from the directory it runs in, which an agent can write to."""
    command = command_of(hook)
    if command is None or error_policy(hook, settings) != "abort" or "PYTHONSAFEPATH" in command.env:
        return
    for option in sorted(imports_from_cwd(command.argv)):
        yield _warning(hook, "imports_from_cwd", f"python -{option} imports modules from the directory in which it "
                       "runs, and an agent can put one there", f"python3 -I -{option}")  # fmt: skip


def _find_script_without_effect(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find a script line whose command has no effect at its event."""
    if hook.type != "script":
        return
    from ..events import TABLE
    from ..scripts import Commands, doubts

    for problem in doubts([hook.handler], table=TABLE, commands=Commands()):
        yield _warning(hook, "no_effect", problem.what, problem.hint)


def _find_bad_timeout(hook: Hook, settings: Settings, declared: Declared) -> Iterator[Finding]:
    """Find a timeout above the ceiling or the total, and one that was probably meant in milliseconds."""
    if not hook.timeout or hook.dialect == "claude":
        return
    if settings.timeout_ceiling and hook.timeout > settings.timeout_ceiling:
        yield _warning(hook, "timeout", f"its timeout of {hook.timeout:g} s is above the ceiling, and "
                       f"{settings.timeout_ceiling:g} s apply", "hooks.timeout is in milliseconds")  # fmt: skip
    elif settings.total_timeout and hook.timeout > settings.total_timeout:
        yield _warning(hook, "timeout", f"its timeout of {hook.timeout:g} s is longer than a whole firing may take "
                       f"({settings.total_timeout:g} s)", "raise totalTimeout, or lower it")  # fmt: skip
    elif hook.timeout > 10 * max(DEFAULT_TOTAL, DEFAULT_TIMEOUT) and "deny" in hook.row.can:
        yield _warning(hook, "timeout", f"an agent may wait {deadline(hook, settings):g} s for it",
                       "a hook's timeout: is in seconds")  # fmt: skip


def _find_repeated_names(hooks: list[Hook]) -> Iterator[Finding]:
    """Find names that two hooks have: within a layer the last one replaces the first, in two layers both run."""
    yield from (Finding("warning", "replaced", problem) for problem in find_replaced(hooks))
    seen: dict[tuple[str, str, str | None], Hook] = {}
    for hook in sorted(hooks, key=lambda hook: -LAYERS.index(hook.layer)):
        if not hook.name or hook.dialect == "claude":  # whose names are made of their scripts
            continue
        if isinstance(hook.handler, PolicyHook):  # which is meant to be used in several layers
            continue
        first = seen.setdefault((hook.event, hook.name, hook.scope), hook)
        if first.layer != hook.layer:
            yield _warning(hook, "shadowed", f"the {first.layer} layer has a hook of this name too "
                           f"({first.source}); both run, and switching the name switches both",
                           "give it another name")  # fmt: skip


_RULES = (
    _find_fail_open, _find_idle_guard, _find_dead_matcher, _find_client_rules, _find_dead_condition,
    _find_broken_target, _find_imports_from_cwd, _find_script_without_effect, _find_bad_timeout,
)  # fmt: skip
