"""What Interpose raises. A failure of a hook is never raised: it is in the outcome.

    InterposeError
    ├── UsageError            a mistake of the host
    │   ├── UnknownEvent      no row of the table has that name
    │   ├── UnknownHook       no hook of that name that the caller may touch
    │   ├── BadEvent          a field of the event cannot be used as it is
    │   ├── BadHook           a hook that could never work: refused at registration
    │   ├── TooManyHooks      the limit of hooks at one event is reached
    │   └── CallChanged       a tool call that was written down is not the same any more
    └── ConfigError           a configuration with one or more problems; nothing of it was armed

Every error has a stable ``code`` and reads as *where: what is wrong (what to do)*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .records import Record

__all__ = ["BadEvent", "BadHook", "CallChanged", "ConfigError", "InterposeError", "Problem", "TooManyHooks",
           "UnknownEvent", "UnknownHook", "UsageError", "nearest"]  # fmt: skip


class Problem(Record, kw_only=False):
    """One thing that is wrong: where, what, and what to do about it."""

    what: str
    where: str = ""
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.what} ({self.hint})" if self.hint else place + self.what


class InterposeError(Exception):
    """The base class of every exception that Interpose raises on purpose."""

    code = "interpose"

    def __init_subclass__(cls, code: str | None = None) -> None:
        cls.code = code or cls.code

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.problem = Problem(what, where=where, hint=hint)
        super().__init__(str(self.problem))


class UsageError(InterposeError, code="usage"):
    """A mistake of the host."""


class UnknownEvent(UsageError, LookupError, code="unknown_event"):
    """An event that no row of the table has."""


class UnknownHook(UsageError, LookupError, code="unknown_hook"):
    """No hook that the caller may change has this name."""


class BadEvent(UsageError, TypeError, code="bad_event"):
    """An event that cannot be fired as it was given."""


class BadHook(UsageError, ValueError, code="bad_hook"):
    """A hook that is refused at registration."""


class TooManyHooks(UsageError, code="too_many_hooks"):
    """One hook more than the limit at one event."""


class CallChanged(UsageError, code="call_changed"):
    """A tool call that was written down and cannot be resumed: it has to be begun again."""


class ConfigError(InterposeError, ValueError, code="config"):
    """A configuration that was refused as a whole; ``problems`` has every reason."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        Exception.__init__(self, "\n".join(map(str, self.problems)))
        self.problem = self.problems[0] if self.problems else Problem("nothing is wrong")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint such as ``did you mean PreToolUse?``, or nothing."""
    from difflib import get_close_matches  # only on the way to an error

    folded = {name.lower(): name for name in sorted(known)}
    close = get_close_matches(word.lower(), list(folded), n=1, cutoff=0.6)
    return f"did you mean {folded[close[0]]}?" if close else ""
