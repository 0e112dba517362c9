"""``interpose explain --line``: how a command line was read, what it does, which rules match it, what policies say.

Runs nothing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass

from ..hooks import Hooks
from ..matching import compile_matcher
from ..matching.grades import Grade
from ..matching.shell import CommandPattern, Line, ShellCommand, Suspect, read_line
from ..model import Hook
from ..policies import POLICIES, Call, Effect, PolicyHook, read_policies
from ..policies.effects import phrase_of, shown
from ..runtime.regex import regex
from .render import cut, escape, paint, short_path

__all__ = ["PolicySays", "RuleMatch", "explain_line", "policies_on", "print_line", "rules_of"]

_WIDTH = 80
_LONGEST = 200
_COLOURS = {"certain": "green", "possible": "yellow", "opaque": "red", "no match": "dim"}
_RULE = regex(r"([^()]+)\((.*)\)\s*\Z", re.DOTALL)
_BETWEEN_RULES = regex(r"(?<=\)) or (?=\w)")


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule that is configured, and the grade at which it matches a line."""

    rule: str
    where: str
    grade: Grade | None


@dataclass(frozen=True, slots=True)
class PolicySays:
    """What one policy says about a line."""

    policy: str
    name: str
    """The name of its hook."""
    state: str
    """``on``, ``observed`` or ``off``: not switched on, judged with its defaults."""
    decision: str
    """``deny``, ``ask``, ``change`` (it changes the input) or ``none``."""
    reason: str


def explain_line(text: str, hooks: Hooks, *, policies: bool = False, as_json: bool) -> None:
    """Print how a line was read, what it does, the rules of the hooks and permissions, and what policies say.

    The policies are those of the configuration; all of them if there is no configuration, or if that is asked for.
    """
    line, matches = read_line(text), rules_of(hooks, text)
    call = Call(_event(text))
    said = policies_on(text, hooks, every=policies or not any(one.trusted for one in hooks.origins))
    if as_json:
        effects = [{"kind": one.kind, "target": shown(one.target), "command": shown(one.command), "grade": one.grade}
                   for one in call.effects]  # fmt: skip
        rules = [asdict(match) for match in matches]
        print(json.dumps({
            **line.to_dict(), "effects": effects, "rules": rules, "policies": [asdict(one) for one in said],
        }))  # fmt: skip
        return
    print_line(line, call.effects, matches)
    _print_said(said)


def _event(text: str) -> dict[str, object]:
    return {"tool_name": "Bash", "tool_input": {"command": text}, "cwd": os.getcwd()}


def policies_on(text: str, hooks: Hooks, *, every: bool) -> list[PolicySays]:
    """Return what the policies of the configuration say about a line, and with ``every`` those that are off too."""
    event = _event(text)
    said = []
    configured = set()
    for hook in hooks:
        policy_hook = hook.handler
        if not isinstance(policy_hook, PolicyHook):
            continue
        configured.add(policy_hook.policy.name)
        if _judges(policy_hook) and _would_run(hook, event):
            state = "on" if hook.enforce and hooks.settings.enforce else "observed"
            said.append(_says(policy_hook, state, event))
    if every:
        uses = [use.hook for use in read_policies(list(POLICIES), lambda *_: None)]
        said += [_says(hook, "off", event) for hook in uses if _judges(hook) and hook.policy.name not in configured]
    return said


def _judges(hook: PolicyHook) -> bool:
    return hook.function is None


def _would_run(hook: Hook, event: dict[str, object]) -> bool:
    matches = hook.matches is None or hook.matches("Bash")
    return hook.enabled and matches and (hook.judge is None or hook.judge(event) is not None)


def _says(hook: PolicyHook, state: str, event: dict[str, object]) -> PolicySays:
    reply = hook(event)
    decision, reason = ("none", "") if reply is None else (reply.decision or "change", reply.reason)
    return PolicySays(hook.policy.name, hook.name, state, decision, reason.removeprefix(f"{hook.name}: "))


def rules_of(hooks: Hooks, text: str) -> list[RuleMatch]:
    """Return every rule on command lines that is configured, with its grade."""
    named = [(hook.condition or "", _place(hook.label, hook.source)) for hook in hooks]
    named += [(rule, f"permissions: {decision}") for rule, decision in hooks.permissions.items()]
    rules = [(rule, where) for texts, where in named for rule in _BETWEEN_RULES.split(texts) if _is_about_lines(rule)]
    return [RuleMatch(rule, where, _grade(rule, text)) for rule, where in rules]


def _place(label: str, source: str) -> str:
    return f"{label}, {short_path(source)}" if source else label


def _is_about_lines(rule: str) -> bool:
    tool = rule.partition("(")[0].strip()
    matcher = compile_matcher(tool)
    return bool(tool) and (matcher is None or matcher("Bash"))


def _grade(rule: str, text: str) -> Grade | None:
    found = _RULE.match(rule)
    if found is None or found.group(2).strip() in ("", "*"):
        return "certain"
    return CommandPattern(found.group(2).strip()).grade_line(text)


def print_line(line: Line, effects: Iterable[Effect], matches: Iterable[RuleMatch]) -> None:
    """Print a line: its commands, what may be run, what cannot be read, what it does, and the rules."""
    for part in textwrap.wrap(_shown(line.text), _WIDTH, break_on_hyphens=False):
        print(paint(part, "bold"))
    for command in line.commands:
        if command.parts or command.redirections:
            _print_entry(command.grade, _words(command.parts), _notes(command))
    for suspect in line.suspects:
        _print_entry("possible", *_suspect(suspect))
    for reason in line.opaque:
        _print_entry("opaque", reason, ())
    if not (any(command.parts or command.redirections for command in line.commands) or line.opaque):
        print("  runs nothing")
    for effect in effects:
        _print_effect(effect)
    for match in matches:
        _print_match(match)


def _print_match(match: RuleMatch) -> None:
    mark = paint("✓", "green") if match.grade else paint("✗", "dim")
    grade = match.grade or "no match"
    rule, where = cut(_shown(match.rule), _WIDTH - 4 - len(grade)), cut(_shown(match.where), _WIDTH - 4)
    fits = len(rule) + len(grade) + len(where) + 6 <= _WIDTH
    print(f"{mark} {rule}: {paint(grade, _COLOURS[grade])}" + (f"  {paint(where, 'dim')}" if fits else ""))
    if not fits:
        print(f"    {paint(where, 'dim')}")


_DECISIONS = {"deny": "red", "ask": "yellow", "change": "blue"}
_STATES = {"on": "", "observed": ", only recorded", "off": ", not switched on"}


def _print_effect(effect: Effect) -> None:
    phrase = phrase_of(effect._replace(target=shown(short_path(effect.target))))
    text = f"{shown(effect.command)}: {phrase}" if effect.command else phrase
    first, *more = textwrap.wrap(_shown(text), _WIDTH - 11, break_on_hyphens=False) or [""]
    print(f"  {paint('effect  ', 'blue')} {first}")
    for part in more:
        print(" " * 11 + part)


def _print_said(said: list[PolicySays]) -> None:
    """Print the policies that object, each with its reason, and the number of the others."""
    objecting = [one for one in said if one.decision != "none"]
    for one in objecting:
        mark = paint(one.decision, _DECISIONS.get(one.decision, ""))
        print(f"{mark} {paint(one.name, 'bold')}{paint(_STATES[one.state], 'dim')}")
        print(textwrap.fill(_shown(one.reason), _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4,
                            break_on_hyphens=False))  # fmt: skip
    if said:
        others = len(said) - len(objecting)
        more = "other " if objecting else ""
        what = "policy has" if others == 1 else "policies have"
        if others:
            print(paint(f"{others} {more}{what} nothing against it", "dim"))


def _print_entry(grade: Grade, text: str, notes: Iterable[str]) -> None:
    first, *more = textwrap.wrap(_shown(text), _WIDTH - 11, break_on_hyphens=False) or [""]
    print(f"  {paint(f'{grade:<8}', _COLOURS[grade])} {first}")
    for part in more:
        print(" " * 11 + part)
    for note in notes:
        print(textwrap.fill(_shown(note), _WIDTH, initial_indent=" " * 13, subsequent_indent=" " * 13))


def _notes(command: ShellCommand) -> Iterator[str]:
    if command.via:
        yield f"reached through {', then '.join(command.via)}"
    if command.why:
        yield f"because {command.why}"
    if command.redirections:
        yield "with " + " ".join(f"{one.operator} {_word(one.target)}" for one in command.redirections)


def _suspect(suspect: Suspect) -> tuple[str, list[str]]:
    if suspect.text:
        return suspect.text.replace("\0", "…").replace("\1", "…"), [f"a text that {suspect.program} may run"]
    runs = "runs one of these words" if suspect.runs else "is not known, and may run one of these words"
    return _words(suspect.words), [f"{suspect.program} {runs}"]


def _words(parts: Iterable[str]) -> str:
    return " ".join(map(_word, parts))


def _word(part: str) -> str:
    """Return a word as it could be typed; an ellipsis stands for what is unknown."""
    if "\0" in part or "\1" in part:
        return part.replace("\0", "…").replace("\1", "…")
    return shlex.quote(part)


def _shown(text: str) -> str:
    return cut(escape(text).replace("\n", "\\n").replace("\t", "\\t"), _LONGEST)
