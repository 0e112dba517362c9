"""Functions that a text defines: which of them it calls, and whether one starts itself again and again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from ...runtime.named_tuples import NamedTuple
from .parsed import CLOSER_OF, CLOSERS, ParsedLine
from .words import RawCommand, is_known

__all__ = ["ANYTHING", "is_fork_bomb", "text_of", "uncalled"]

ANYTHING = "\0"
"""Stands for a text in which every name occurs."""

# Shells call these by themselves.
_CALLED_BY_THE_SHELL = ("command_not_found", "TRAP", "precmd", "preexec", "chpwd", "periodic", "zsh", "PROMPT", "fish_")
_ENDLESS: tuple[list[str], ...] = (
    ["true"], [":"], ["false"], ["1"], [], ["[", "1", "]"], ["[", "true", "]"], ["[[", "1", "]]"], ["test", "1"],
    ["[[", "true", "]]"], ["[", "1", "-eq", "1", "]"],
)  # fmt: skip
_MOST_FUNCTIONS = 50
_WAITS = (["wait"], ["sleep"], ["read"], ["break"], ["exit"], ["return"], ["timeout"], ["inotifywait"], ["usleep"])


class _Body(NamedTuple):
    name: str
    first: int
    last: int
    """The range of its commands."""
    splits: bool
    """Whether it has a pipe, or starts something in the background."""


def uncalled(parsed: ParsedLine) -> frozenset[int]:
    """Return the numbers of the commands that stand in functions which the text does not call."""
    bodies = list(_bodies(parsed))
    if not bodies or len(bodies) > _MOST_FUNCTIONS:
        return frozenset()
    waiting = bodies
    inside = {at for body in bodies for at in range(body.first, body.last)}
    running = [raw for at, raw in enumerate(parsed.commands) if at not in inside]
    while running and waiting:
        texts = [_text(raw) for raw in running]
        anything = any(raw.words and not is_known(raw.words[0]) for raw in running)
        found = [body for body in waiting if anything or _is_mentioned(body.name, texts)]
        waiting = [body for body in waiting if body not in found]
        running = [raw for body in found for raw in parsed.commands[body.first : body.last]]
    return frozenset(at for body in waiting for at in range(body.first, body.last))


def is_fork_bomb(parsed: ParsedLine) -> bool:
    """Return whether a function that is called starts itself more than once, or a loop without end starts jobs."""
    idle = uncalled(parsed) if parsed.functions else frozenset()
    bodies = {body.name: body for body in _bodies(parsed) if body.first not in idle}
    if any(_starts_itself(body, bodies, parsed) for body in bodies.values()):
        return True
    return "&" in parsed.steps and any(_has_endless_jobs(parsed, at) for at in _loops(parsed))


def _starts_itself(body: _Body, bodies: Mapping[str, _Body], parsed: ParsedLine) -> bool:
    """Return whether a function calls itself twice, or again in a pipe or in the background, also through others."""
    seen, waiting, splits = set[str](), [body], body.splits
    while waiting:
        one = waiting.pop()
        calls = [raw.words[0] for raw in parsed.commands[one.first : one.last] if raw.words]
        splits |= one.splits or (one is body and calls.count(body.name) > 1)
        if body.name in calls and splits:
            return True
        waiting += [bodies[name] for name in {*calls} & bodies.keys() - seen]
        seen.update(calls)
    return False


def text_of(commands: Iterable[RawCommand]) -> str:
    """Return the text of commands, in which a name that they may use occurs; ``ANYTHING`` if a program is computed."""
    running = list(commands)
    if any(raw.words and not is_known(raw.words[0]) for raw in running):
        return ANYTHING
    return "\n".join(map(_text, running))


def _is_mentioned(name: str, texts: Sequence[str]) -> bool:
    return not name or name.startswith(_CALLED_BY_THE_SHELL) or any(name in text for text in texts)


def _text(raw: RawCommand) -> str:
    return "\n".join([
        *raw.words, *(value for _, value in raw.assigned),
        *(part for one in raw.redirections for part in (one.target, one.text)),
    ])  # fmt: skip


def _bodies(parsed: ParsedLine) -> Iterator[_Body]:
    if not parsed.functions:
        return
    steps, seen, count = parsed.steps, 0, 0
    for at, step in enumerate(steps):
        if isinstance(step, int):
            seen = step + 1
        elif count > _MOST_FUNCTIONS:
            return
        elif step.startswith("function "):
            count += 1
            end = _end_of_body(steps, at + 1)
            numbers = [one for one in steps[at + 1 : end] if isinstance(one, int)]
            splits = any(one in ("|", "&") for one in steps[at + 1 : end])
            yield _Body(step.removeprefix("function "), seen, max(numbers, default=seen - 1) + 1, splits)


def _end_of_body(steps: Sequence[int | str], at: int) -> int:
    """Return where the compound command ends that begins at a step; without one, the next command is the body."""
    while at < len(steps) and steps[at] == ";":
        at += 1
    depth = 0
    for place in range(at, len(steps)):
        step = steps[place]
        depth += isinstance(step, str) and step in CLOSER_OF
        depth -= isinstance(step, str) and step in CLOSERS
        if depth <= 0:
            return place + 1
    return len(steps)


def _loops(parsed: ParsedLine) -> Iterator[int]:
    found = (at for at, step in enumerate(parsed.steps) if step in ("while", "until", "for"))
    return islice(found, _MOST_FUNCTIONS)


def _has_endless_jobs(parsed: ParsedLine, at: int) -> bool:
    """Return whether a loop without a condition starts jobs and waits for nothing, or not for these jobs."""
    steps = parsed.steps
    end = _end_of_body(steps, at)
    if "do" not in steps[at:end] or "&" not in steps[at:end]:
        return False
    head = steps[at : steps.index("do", at)]
    conditions = [parsed.commands[one] for one in head if isinstance(one, int)]
    if any(raw.loops or raw.words not in _ENDLESS for raw in conditions if not raw.doubt):
        return False
    depth, waits, slows, forgets = 0, False, False, False
    for place in range(steps.index("do", at) + 1, end):
        step = steps[place]
        if isinstance(step, str):
            depth += (step in CLOSER_OF) - (step in CLOSERS)
            forgets |= step == "&" and depth > 0
        elif parsed.commands[step].words[:1] == ["disown"]:
            forgets = True
        elif depth == 0 and steps[place + 1 : place + 2] != ["&"]:
            first = parsed.commands[step].words[:1]
            waits |= first == ["wait"]
            slows |= first in _WAITS and first != ["wait"]
    return not slows and (forgets or not waits)
