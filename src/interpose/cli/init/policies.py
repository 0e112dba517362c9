"""Policies that ``interpose init --policy`` adds to a configuration. Writes no file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...config.text import parse
from ...errors import UsageError, nearest
from ...policies import POLICIES, RECOMMENDED, find_policy
from ...runtime.regex import regex
from .merge_yaml import CannotMerge, merge_yaml

__all__ = ["add_policies", "choose_policies", "only_policies", "policies_yaml"]

_KEY = "policies"
_ONE = regex(rf"^{_KEY}:[ ]+([\w-]+)[ ]*(#.*)?$", re.MULTILINE)
"""The line of a configuration that names one policy, or the set."""


def choose_policies(words: Iterable[str]) -> list[str]:
    """Parse names and lists of them with commas; return each once, in order."""
    known = [RECOMMENDED, *POLICIES]
    chosen: dict[str, None] = {}
    for name in (part.strip() for text in words for part in text.split(",")):
        if name not in known:
            hint = nearest(name.replace("_", "-"), known) or "`interpose policies` lists them"
            raise UsageError(f"--policy: there is no policy {name!r}", hint=hint)
        chosen[name] = None
    return list(chosen)


def policies_yaml(names: Sequence[str]) -> str:
    """Return the entries of a configuration."""
    return f"{_KEY}:\n" + "".join(f"  - {name}\n" for name in names)


def only_policies(text: str, names: Sequence[str]) -> str:
    """Return the starter configuration with these policies in the place of its own."""
    return _ONE.sub(lambda _: policies_yaml(names).rstrip("\n"), text, count=1)


def add_policies(text: str, names: Sequence[str], path: str) -> str:
    """Return the text of a configuration with policies added; raise CannotMerge if it has to be done by hand."""
    value = parse(text.encode(), path, format="yaml").value
    given = value.get(_KEY) if isinstance(value, dict) else None
    present = set(_names(given))
    if there := next((name for name in names if name in present), None):
        raise UsageError(f"it has the policy {there} already; nothing was written", where=path,
                         hint=f"leave {there} out")  # fmt: skip
    if RECOMMENDED in present:
        of_set = [name for name in names if find_policy(name).recommended is not None]
        if of_set:
            raise UsageError(f"{of_set[0]} is among the recommended policies, which it has; nothing was written",
                             where=path, hint="to change its parameters, name it there by hand")  # fmt: skip
    if isinstance(given, str):
        text = _ONE.sub(lambda found: f"{_KEY}:{_comment(found[2])}\n  - {found[1]}", text, count=1)
    try:
        return merge_yaml(text, policies_yaml(names), "added by interpose init")
    except CannotMerge as error:
        raise CannotMerge(error.text, where=path) from None


def _comment(text: str | None) -> str:
    return f" {text}" if text else ""


def _names(given: Any) -> Iterator[str]:
    """Yield the names of the policies that a configuration has."""
    for entry in [given] if isinstance(given, str) else given if isinstance(given, list) else ():
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, dict):
            yield from (name for name in entry if isinstance(name, str))
