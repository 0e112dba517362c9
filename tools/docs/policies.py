"""A section for every policy: its sentence, its parameters, and the first of its cases."""

from __future__ import annotations

from interpose.cli.policies.show import RESULTS, examples_of, visible
from interpose.policies import GROUPS, Policy, find_policy
from interpose.policies.cases import PolicyCase
from interpose.policies.parameters import written
from interpose.policies.reading import COMMON, HOOK_OPTIONS

from .markdown import code, listed, plain, table

__all__ = ["common", "policies"]

_MOST = 5
"""How many cases of each result are shown."""
_LONGEST = 140


def policies() -> str:
    """Return a section for every group, with one for every policy below it."""
    parts = []
    for group, names in GROUPS.items():
        of_group = [find_policy(name) for name in names]
        parts += [f"## {group}\n", _overview(of_group), *map(_section, of_group)]
    return "\n".join(parts)


def common() -> str:
    """Return a table of what every policy takes."""
    rows = [(code(name), plain(purpose)) for name, purpose in COMMON.items()]
    rows.append((", ".join(map(code, HOOK_OPTIONS)), "as of [any hook](configuration.md#a-hook)"))
    return table(("parameter", "what it does"), rows)


def _overview(of_group: list[Policy]) -> str:
    rows = [(f"[{code(one.name)}](#{one.name})", plain(one.prevents), _in_set(one)) for one in of_group]
    return table(("policy", "what it prevents", "recommended"), rows)


def _in_set(policy: Policy) -> str:
    if policy.recommended is None:
        return ""
    return f"with {code(written(policy.recommended))}" if policy.recommended else "yes"


def _section(policy: Policy) -> str:
    parts = [f"### {policy.name}\n", f"{plain(policy.prevents)} At {listed(list(map(code, policy.events)), 'and')}.\n"]
    if policy.parameters:
        parts.append(_parameters(policy))
    if policy.notes:
        parts += [f"{plain(' '.join(paragraph.split()))}\n" for paragraph in policy.notes.split("\n\n")]
    parts.append("```text\n" + "".join(map(_example, examples_of(policy, _MOST))) + "```\n")
    return "\n".join(parts)


def _parameters(policy: Policy) -> str:
    return table(
        ("parameter", "default", "what it is about", "values"),
        [
            (
                code(one.name),
                code(written(one.default)) if one.default is not None else "none",
                plain(one.purpose),
                plain(one.expects),
            )
            for one in policy.parameters
        ],
    )


def _example(case: PolicyCase) -> str:
    """Return a case as a line: the result, the command or call, and the parameters that it needs."""
    text = visible(case.text).replace("```", "'''")
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    changed = f"\n         to {visible(written(case.changed))}" if case.changed else ""
    given = f"    # with {written(case.options)}" if case.options else ""
    return f"{RESULTS[case.result]:<8} {text}{given}{changed}\n"
