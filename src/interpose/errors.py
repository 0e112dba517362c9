"""What Interpose raises. A hook's fault is never raised: it is in the outcome.

    InterposeError
    ├── UsageError            the host called us wrongly
    │   ├── UnknownEvent      no row of the table has that name
    │   ├── UnknownHook       no hook of that name that the caller may touch
    │   ├── BadEvent          a field of the event cannot be used as it is
    │   ├── BadHook           a hook that could never work: refused at registration
    │   └── TooManyHooks      the limit of hooks at one event is reached
    └── ConfigError           a configuration with one or more problems; nothing of it was armed

Every error has a stable ``code`` and reads as *where: what is wrong (what to do)*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["BadEvent", "BadHook", "ConfigError", "InterposeError", "Problem", "TooManyHooks", "UnknownEvent",
           "UnknownHook", "UsageError", "as_written", "nearest"]  # fmt: skip


class Problem:
    """One thing that is wrong: where, what, and what to do about it."""

    __slots__ = ("hint", "what", "where")

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" ({self.hint})" if self.hint else ""
        return f"{place}{self.what}{advice}"

    def __repr__(self) -> str:
        return f"Problem({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class InterposeError(Exception):
    """The root of everything raised here."""

    code = "interpose"

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        self.problem = Problem(what, where=where, hint=hint)
        super().__init__(str(self.problem))


class UsageError(InterposeError):
    """The host's mistake."""

    code = "usage"


class UnknownEvent(UsageError, LookupError):
    """An event that no row of the table has."""

    code = "unknown_event"


class UnknownHook(UsageError, LookupError):
    """A name that no hook has which the caller may touch."""

    code = "unknown_hook"


class BadEvent(UsageError, TypeError):
    """An event that cannot be fired as it was given."""

    code = "bad_event"


class BadHook(UsageError, ValueError):
    """A hook that is refused at registration."""

    code = "bad_hook"


class TooManyHooks(UsageError):
    """One hook more than the limit at one event."""

    code = "too_many_hooks"


class ConfigError(InterposeError, ValueError):
    """A configuration that was refused as a whole; ``problems`` has every reason."""

    code = "config"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        Exception.__init__(self, "\n".join(str(problem) for problem in self.problems))
        self.problem = self.problems[0] if self.problems else Problem("nothing is wrong")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint such as ``did you mean PreToolUse?``, or nothing."""
    from difflib import get_close_matches  # only on the way to an error

    names = sorted(known)
    folded = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), list(folded), n=1, cutoff=0.6)
    return f"did you mean {folded[close[0]]}?" if close else ""


def as_written(value: object) -> str:
    """Return a value as it stands in a configuration file: ``5``, ``'yes'``, ``a list``, ``nothing``."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, str)):
        return repr(value if not isinstance(value, str) or len(value) <= 40 else f"{value[:40]}…")
    if isinstance(value, (list, tuple)):
        return "a list"
    return "a mapping" if isinstance(value, dict) else type(value).__name__
