"""How certain a rule's match is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

__all__ = ["GRADES", "Grade", "surest"]

Grade = Literal["certain", "possible", "opaque"]
"""``certain``: the call was read, and the rule matches it. ``possible``: the rule's words stand where they may be run.

``opaque``: the call runs something that cannot be read. None in place of a grade means that the rule does not match.
"""

GRADES: tuple[Grade, ...] = ("certain", "possible", "opaque")


def surest(grades: Iterable[Grade | None]) -> Grade | None:
    """Return the surest of several grades; None if there is none."""
    found = {grade for grade in grades if grade is not None}
    return next((grade for grade in GRADES if grade in found), None)
