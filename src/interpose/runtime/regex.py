"""Regular expressions that are compiled when they are first used.

To compile one takes longer than to import a small module. ``interpose fire`` starts a process for every event, imports
hundreds of expressions, and uses a few.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

__all__ = ["regex"]


class _LazyPattern:
    """A pattern that is compiled when one of its methods is first used; each method is looked up once."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self._text, self._flags), name)  # ``re`` keeps what it has compiled
        setattr(self, name, found)
        return found


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what ``re.compile`` returns, compiled when it is first used."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))
