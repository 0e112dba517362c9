"""Tell by its names whether a command is about production."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from ..runtime.regex import regex
from .parameters import Parameter, names

__all__ = ["names_match", "production"]

_PARTS = regex(r"[^a-z0-9]+")


def production() -> Parameter:
    """Return the parameter with the names that say production."""
    return names(
        "production",
        ("prod", "production", "prd", "live"),
        "the names of production: of contexts, profiles, namespaces, hosts, databases, workspaces, environments",
        (
            "a list of names; a name is a whole part (prod is in shop-prod and prod2.eu, not in product), * "
            "stands for any text"
        ),
    )


def names_match(values: Iterable[str], patterns: Iterable[str]) -> bool:
    """Return whether one of the values has one of the names as a part, or matches it if it has a ``*``."""
    wanted = [pattern.lower() for pattern in patterns]
    for value in values:
        text = value.lower()
        parts = {part.rstrip("0123456789") or part for part in _PARTS.split(text)} | set(_PARTS.split(text))
        if any(fnmatchcase(text, one) if "*" in one else one in parts for one in wanted):
            return True
    return False
