"""Run a case and compare the outcome with the expected one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import ndiff
from time import perf_counter
from typing import Any

from ..errors import InterposeError, nearest
from ..hooks import Hooks
from ..model import Outcome, row_of
from ..replay.answers import not_asked
from .asserts import says
from .cases import ABSENT, Case
from .reports import hook_lines, shown

__all__ = ["CaseResult", "Difference", "run_case"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between an outcome and what was expected."""

    what: str
    expected: Any
    got: Any
    hint: str = ""

    def lines(self) -> list[str]:
        """Return it as text for a person; long texts are compared line by line."""
        advice = f"  ({self.hint})" if self.hint else ""
        if isinstance(self.expected, str) and isinstance(self.got, str) and "\n" in self.expected + self.got:
            compared = ndiff(self.expected.splitlines(), self.got.splitlines())
            return [f"{self.what}{advice}  - expected  + got", *(f"  {line}".rstrip() for line in compared)]
        return [f"{self.what}{advice}", f"  expected  {_plain(self.expected)}", f"  got       {_plain(self.got)}"]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {"what": self.what, "expected": self.expected, "got": self.got, "hint": self.hint}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """The result of a case."""

    case: Case
    outcome: Outcome | None = None
    differences: Sequence[Difference] = ()
    error: str = ""
    """Why the case could not be run."""
    duration: float = 0.0
    hooks: Sequence[str] = field(default=(), repr=False)

    @property
    def not_asked(self) -> list[str]:
        """The hooks that ask a model or a server, and were not asked."""
        return not_asked(self.outcome.results) if self.outcome is not None else []

    @property
    def passed(self) -> bool:
        """Whether the outcome is as expected."""
        return not self.error and not self.differences

    def lines(self) -> list[str]:
        """Return what is wrong as text for a person: every difference, and what each hook did."""
        if self.passed:
            return []
        if self.error:
            return [self.error]
        lines = [line for difference in self.differences for line in difference.lines()]
        return [*lines, "what the hooks did", *(f"  {line}" for line in self.hooks)]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "name": self.case.name,
            "source": self.case.source,
            "passed": self.passed,
            "error": self.error,
            "differences": [difference.to_dict() for difference in self.differences],
            "not_asked": self.not_asked,
            "duration_ms": round(self.duration * 1000, 3),
            "outcome": None if self.outcome is None else self.outcome.to_dict(),
        }


def run_case(hooks: Hooks, case: Case) -> CaseResult:
    """Fire the event of a case and compare the outcome."""
    started = perf_counter()
    try:
        outcome = hooks.fire_sync(case.event, **case.fields)
    except InterposeError as error:
        return CaseResult(case=case, error=str(error), duration=perf_counter() - started)
    duration = perf_counter() - started
    found = list(_differences(case.expect, outcome, hooks))
    return CaseResult(case=case, outcome=outcome, differences=found, duration=duration,
                      hooks=hook_lines(outcome.results))  # fmt: skip


def _differences(expect: Mapping[str, Any], outcome: Outcome, hooks: Hooks) -> Iterator[Difference]:
    for what, compare in _COMPARISONS.items():
        if what in expect:
            yield from compare(what, expect[what], outcome)
    silent = not_asked(outcome.results)
    for name in set(silent) & set(expect.get("hooks", {})):
        yield Difference(f"hooks: {name}", expect["hooks"][name], "not asked", "--live asks it")
    yield from _hooks(expect.get("hooks", {}), outcome, hooks)


def _same(what: str, expected: Any, outcome: Outcome) -> Iterator[Difference]:
    got = getattr(outcome, what)
    if got != expected:
        yield Difference(what, expected, got, outcome.reason if what == "decision" else "")


def _text(what: str, expected: str, outcome: Outcome) -> Iterator[Difference]:
    got = getattr(outcome, what)
    if not says(expected, got):
        yield Difference(what, expected, got)


def _texts(what: str, expected: list[str], outcome: Outcome) -> Iterator[Difference]:
    got: list[str] = getattr(outcome, what)
    if not expected and got:
        yield Difference(what, [], got)
    for text in expected:
        if not any(says(text, said) for said in got):
            yield Difference(what, text, got)


def _input(what: str, expected: Mapping[str, Any], outcome: Outcome) -> Iterator[Difference]:
    words = row_of(outcome).words
    final = outcome.input
    yield from _part(what, {words.get(name, name): value for name, value in expected.items()}, final)


_NOTHING = object()


def _part(what: str, expected: Any, got: Any) -> Iterator[Difference]:
    """Compare the expected keys of a mapping; it may have others."""
    if isinstance(expected, Mapping) and expected and isinstance(got, Mapping):
        for key, value in expected.items():
            yield from _part(f"{what}.{key}", value, got.get(key, _NOTHING))
    elif got is _NOTHING:
        yield Difference(what, expected, None, "it is missing")
    elif type(got) is bool is not type(expected) or got != expected:  # 1 is not true
        yield Difference(what, expected, got)


_COMPARISONS: dict[str, Callable[[str, Any, Outcome], Iterator[Difference]]] = {
    "decision": _same,
    "allowed": _same,
    "reason": _text,
    "input": _input,
    "context": _texts,
    "messages": _texts,
    "keep_going": _same,
}


def _hooks(expected: Mapping[str, str], outcome: Outcome, hooks: Hooks) -> Iterator[Difference]:
    """Compare the statuses of hooks. A hook that fails unexpectedly is a difference, whatever the decision is."""
    ended: dict[str, list[str]] = {}
    errors: dict[str, str] = {}
    for result in outcome.results:
        ended.setdefault(result.hook, []).append(result.status)
        if result.error is not None:
            errors[result.hook] = f"{result.error.code}: {result.error}"
    for name, status in expected.items():
        got = ended.get(name, [ABSENT])
        if status not in got:
            yield Difference(f"hooks.{name}", status, got[-1], errors.get(name, "") or _unknown(name, hooks))
    for name, statuses in ended.items():
        broken = next((status for status in statuses if status in ("failed", "timeout")), None)
        if broken and name not in expected:
            yield Difference(f"hooks.{name}", "ok", broken, errors.get(name, ""))


def _unknown(name: str, hooks: Hooks) -> str:
    labels = {hook.label for hook in hooks}
    return "" if name in labels else f"no hook has that name{_also(nearest(name, labels))}"


def _also(hint: str) -> str:
    return f"; {hint}" if hint else ""


def _plain(value: Any) -> str:
    return value if isinstance(value, str) and value else shown(value)
