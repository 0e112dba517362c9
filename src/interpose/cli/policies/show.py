"""One policy, or the recommended set, as text of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from unicodedata import category
from unicodedata import name as name_of

from ...policies import GROUPS, Policy, find_policy
from ...policies.cases import PolicyCase, cases_of
from ...policies.parameters import written
from ...policies.reading import COMMON, HOOK_OPTIONS
from ...runtime.regex import regex
from ..render import cut, flat, paint, short_path
from .facts import PolicyFacts

__all__ = ["RESULTS", "as_dict", "examples_of", "print_policy", "print_set", "visible", "yaml_of"]

_MIXED = regex(r"\w*[A-Za-z]\w*")
_WIDTH = 80
_MOST = 4
"""How many examples of each result are shown."""

RESULTS = {"deny": "denied", "ask": "asked", "change": "changed", "pass": "passes"}
"""The results of cases, and the words for each."""
_COLOURS = {"deny": "red", "ask": "yellow", "change": "blue", "pass": "green"}


def visible(text: str) -> str:
    """Return text on one line in which every character can be seen.

    Marks and control characters are escaped, and letters that look like those of the word around them.
    """
    shown = "".join(
        one if (one.isascii() and one.isprintable()) or category(one)[0] in "LNPS" else ascii(one)[1:-1] for one in text
    )
    return _MIXED.sub(lambda found: "".join(map(_latin, found[0])), shown)


def _latin(letter: str) -> str:
    return letter if letter.isascii() or name_of(letter, "").startswith("LATIN") else ascii(letter)[1:-1]


def yaml_of(policy: Policy) -> str:
    """Return what switches a policy on: alone, with its first parameters, and observed."""
    given: dict[str, Any] = {}
    for one in policy.parameters:
        more = {**given, one.name: one.default}
        if one.default not in (None, (), {}, "") and len(f"  # - {policy.name}: {written(more)}") <= _WIDTH - 2:
            given = more
    if any(one.default in (None, "") for one in policy.parameters):  # without a value it does nothing
        given = next((dict(case.options) for case in _with_options(policy)), given)
    lines = ["policies:", f"  - {policy.name}"]
    lines += [f"  # - {policy.name}: {written(given)}"] if given else []
    return "\n".join([*lines, f"  # - {policy.name}: observe"])


def _with_options(policy: Policy) -> list[PolicyCase]:
    return sorted((case for case in cases_of(policy.name) if case.options), key=lambda case: case.result != "ask")


def examples_of(policy: Policy, most: int = _MOST) -> Iterator[PolicyCase]:
    """Yield the first cases of each result: first those without parameters of their own."""
    cases = cases_of(policy.name)
    for result in RESULTS:
        of_result = sorted((case for case in cases if case.result == result), key=lambda case: bool(case.options))
        yield from of_result[:most]


def as_dict(facts: PolicyFacts) -> dict[str, Any]:
    """Return everything about a policy as JSON."""
    policy = facts.policy
    return {
        **facts.to_dict(),
        "parameters": [
            {"name": one.name, "default": one.default, "expects": one.expects, "purpose": one.purpose}
            for one in policy.parameters
        ],
        "events": list(policy.events),
        "common": COMMON,
        "yaml": yaml_of(policy),
        "examples": [
            {"result": case.result, "text": case.text, "event": case.event, "with": dict(case.options),
             "changed": dict(case.changed), "note": case.note}
            for case in cases_of(policy.name)
        ],
        "notes": policy.notes,
    }  # fmt: skip


def print_policy(facts: PolicyFacts) -> None:
    """Print a policy: its sentence, state, parameters, examples and notes."""
    policy = facts.policy
    in_set = "" if policy.recommended is None else ", recommended"
    print(f"{paint(policy.name, 'bold', 'cyan')}  {paint(f'{facts.group}{in_set}', 'dim')}")
    _print_text(policy.prevents)
    _print_state(facts)
    if policy.parameters:
        _print_heading("Parameters")
        for one in policy.parameters:
            _print_parameter(one.name, written(one.default), one.purpose, one.expects, policy.recommended or {})
    _print_heading("Every policy also takes")
    for name, purpose in COMMON.items():
        _print_item(name, purpose)
    _print_text(f"and of a hook: {', '.join(HOOK_OPTIONS)}.", indent=2)
    _print_heading("Switch it on")
    for line in yaml_of(policy).splitlines():
        print(f"  {cut(line, _WIDTH - 2)}")
    _print_heading("Examples")
    for case in examples_of(policy):
        _print_case(case)
    if policy.notes:
        _print_heading("Notes")
        for paragraph in policy.notes.split("\n\n"):
            _print_text(" ".join(paragraph.split()), indent=2)


def print_set(all_facts: Iterable[PolicyFacts]) -> None:
    """Print the recommended policies, each with the parameters that it has in the set."""
    print(f"{paint('recommended', 'bold', 'cyan')}  {paint('a set of policies', 'dim')}")
    _print_text("Policies that a person can work with all day: they stop what cannot be undone, and ask seldom.")
    facts = {one.policy.name: one for one in all_facts}
    for group, names in GROUPS.items():
        of_group = [facts[name] for name in names if find_policy(name).recommended is not None]
        if of_group:
            _print_heading(group)
        for one in of_group:
            given = one.policy.recommended or {}
            print(f"  {paint(one.policy.name, 'cyan')}")
            _print_text(one.policy.prevents, indent=4)
            if given:
                _print_text(f"with {written(given)}", indent=4)
    _print_heading("Switch it on")
    print("  policies: recommended")
    _print_heading("Change a policy of it")
    for line in ("policies:", "  - recommended", "  - NAME: {PARAMETER: VALUE}     # the other parameters stay",
                 "  - NAME: observe                # only record what it would do", "  - NAME: off"):  # fmt: skip
        print(f"  {line}")


def _print_state(facts: PolicyFacts) -> None:
    colour = {"on": "green", "observed": "yellow", "off": "dim"}[facts.state]
    places = list(dict.fromkeys(short_path(hook.source) for hook in facts.hooks if hook.source))
    where = f", {', '.join(map(flat, places))}" if places else ""
    print(f"{paint(facts.state, colour)}{where}")
    _print_text(f"at {', '.join(facts.policy.events)}")


def _print_heading(text: str) -> None:
    print(f"\n{paint(text, 'bold')}")


def _print_text(text: str, indent: int = 0) -> None:
    blank = " " * indent
    print(textwrap.fill(text, _WIDTH, initial_indent=blank, subsequent_indent=blank, break_on_hyphens=False))


def _print_parameter(name: str, default: str, purpose: str, expects: str, recommended: Mapping[str, Any]) -> None:
    _print_item(name, f"{purpose} ({expects})" if expects else purpose)
    also = f"; recommended: {written(recommended[name])}" if name in recommended else ""
    _print_text(f"default: {default}{also}", indent=15)


def _print_item(name: str, text: str) -> None:
    head = f"  {paint(name, 'cyan')}{' ' * (12 - len(name))} "
    lines = textwrap.wrap(text, _WIDTH - 15, break_on_hyphens=False) or [""]
    if len(name) > 12:
        print(f"  {paint(name, 'cyan')}")
        head = " " * 15
    print(head + lines[0])
    for line in lines[1:]:
        print(" " * 15 + line)


def _print_case(case: PolicyCase) -> None:
    """Print a case on one line; a second one has its parameters."""
    word = RESULTS[case.result]
    text = visible(case.text)
    print(f"  {paint(f'{word:<8}', _COLOURS[case.result])} {cut(text, _WIDTH - 11)}")
    if case.changed:
        print(f"           {paint(cut(visible(f'to {written(case.changed)}'), _WIDTH - 11), 'dim')}")
    if case.options:
        print(f"           {paint(cut(f'with {written(case.options)}', _WIDTH - 11), 'dim')}")
