"""What a policy is: a name, one sentence, parameters, and a function that objects to calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from ..matching.grades import Grade
from ..records import Record, made_by
from ..replies import Reply
from ..runtime.named_tuples import NamedTuple
from .call import Call
from .parameters import Parameter

__all__ = ["Action", "Judge", "Objection", "Options", "Policy"]

Action = Literal["deny", "ask", "allow"]
Options = Mapping[str, Any]
"""The values of a policy's parameters, all of them, by name; ``project`` is the directory that is configured."""


class Objection(NamedTuple):
    """What a policy has against a call."""

    action: Action
    """``allow`` is no objection: a parameter may say so."""
    reason: str
    """What the call does, as a sentence without a full stop, and what to do instead if there is a way."""
    grade: Grade = "certain"


Judge = Callable[[Call, Options], Iterable[Objection]]


class Policy(Record):
    """A ready-made hook. It is a guard unless it says otherwise."""

    name: str
    prevents: str
    """One sentence on what it prevents."""
    judge: Judge | None = None
    """Objects to tool calls before they are made."""
    change: Callable[[Call, Options], Reply | None] | None = None
    """Changes calls to which it does not object: a function of the call and the options returns a reply or None."""
    hooks: Mapping[str, Callable[[Any, Options], Any]] = made_by(factory=dict)
    """Further hooks by the name of their event: a function of the event and the options returns a reply or None."""
    parameters: tuple[Parameter, ...] = ()
    reads_lines: bool = False
    """Whether it judges command lines: then it asks about a line that cannot be read."""
    recommended: Mapping[str, Any] | None = None
    """Its parameters in the set ``recommended``; None if it is not in it."""
    guard: bool = True
    """Whether a failure of the policy denies."""
    locked: bool = False
    """Whether its hooks are locked unless the configuration says otherwise: no other file replaces them."""
    timeout: float | None = None
    notes: str = ""
    """Paragraphs for the page: what it does not see, and where it differs from what a reader may expect."""

    @property
    def events(self) -> tuple[str, ...]:
        """The events at which it has a hook."""
        return tuple(dict.fromkeys((*(("PreToolUse",) if self.judge is not None else ()), *self.hooks)))
