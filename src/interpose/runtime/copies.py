"""Copies that share nothing changeable with the original. Most values are JSON, for which deepcopy() is slow."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

__all__ = ["ATOMS", "Uncopyable", "copied", "copied_if_possible", "own_copy", "plain_copy"]

ATOMS = frozenset({str, int, float, bool, type(None), bytes})
"""The types of values that need no copy."""


class Uncopyable(Exception):
    """A value that cannot be copied."""


def copied(value: Any) -> Any:
    """Return a copy that shares nothing changeable with the original."""
    kind = type(value)
    if kind in ATOMS:
        return value
    if kind is dict:
        return {key: item if type(item) in ATOMS else copied(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in ATOMS else copied(item) for item in value]
    return deepcopy(value)


def copied_if_possible(value: Any) -> Any:
    """Return a copy that shares nothing changeable with the original, or the original if it cannot be copied."""
    try:
        return copied(value)
    except Exception:  # the host's own object, which no hook was given either
        return value


def own_copy(value: Any) -> Any:
    """Return a copy that shares nothing changeable with the original, or raise Uncopyable."""
    try:
        return copied(value)
    except Exception as error:
        raise Uncopyable(type(error).__name__) from None


def plain_copy(value: Any) -> Any:
    """Return a copy whose containers and texts are plain ones, without the methods that a subclass may have."""
    if type(value) in ATOMS:
        return value
    if isinstance(value, dict):
        return {plain_copy(key): plain_copy(item) for key, item in dict.items(value)}
    if isinstance(value, list):
        return [plain_copy(item) for item in list.__iter__(value)]
    if isinstance(value, str):
        return str.__str__(value)
    return deepcopy(value)
