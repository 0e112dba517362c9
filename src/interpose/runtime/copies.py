"""Copies that share nothing changeable with the original, and a comparison that cannot break.

Most values are JSON, for which deepcopy() is slow.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from .faults import type_name
from .signals import not_by_signal

__all__ = ["ATOMS", "Uncopyable", "copied", "copied_if_possible", "differ", "own_copy", "plain_copy"]

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
    except BaseException as error:  # the host's own object, which no hook was given either; or one that breaks later
        not_by_signal(error)
        return value


def own_copy(value: Any) -> Any:
    """Return a copy that shares nothing changeable with the original, or raise Uncopyable."""
    try:
        return copied(value)
    except BaseException as error:
        raise Uncopyable(type_name(not_by_signal(error))) from None


def plain_copy(value: Any) -> Any:
    """Return a copy whose containers, texts and numbers are plain, without the methods that a subclass may have."""
    if type(value) in ATOMS:
        return value
    if isinstance(value, dict):
        return {plain_copy(key): plain_copy(item) for key, item in dict.items(value)}
    if isinstance(value, list):
        return [plain_copy(item) for item in list.__iter__(value)]
    if isinstance(value, str):
        return str.__str__(value)
    if type(value) is tuple:
        return tuple(map(plain_copy, value))
    kind: Any
    for kind in (int, float, bytes):
        if isinstance(value, kind):
            return kind.__getnewargs__(value)[0]
    return deepcopy(value)


def differ(one: object, other: object) -> bool:
    """Say whether two values differ; those whose comparison breaks do, such as two arrays of numbers."""
    try:
        return bool(one != other)
    except BaseException as error:
        not_by_signal(error)
        return True
