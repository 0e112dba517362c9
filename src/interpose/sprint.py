"""The short way through the hooks: as long as nobody has anything to say, nothing is kept of them but the time.

Most hooks are silent most of the time, and every action waits for them. So a firing begins as a sprint, which is no
more than the outcome that it will be. When a hook speaks, fails, is late or has to be waited for, a Firing takes over
where the sprint stands. A sprint must not do what a Firing would not: it only leaves out what nobody would notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from .decide import Rest, Silent, spelled_out
from .event import Copiers, copiers, flat_copy
from .handlers import depth
from .model import Outcome, Result
from .step import Route, Stretch

if TYPE_CHECKING:
    from .firing import Firing

__all__ = ["Sprint", "begin_sprint"]


class Sprint(Outcome):
    """The outcome of a firing in which nobody has said anything so far, and the run through its hooks.

    It is what the host gets, and the event's fields are attributes of that: its own names begin with an underscore.
    """

    __slots__ = ("_cancelling", "_copiers", "_depth", "_firing", "_input", "_rest", "_results", "_route", "_task",
                 "_times", "_token")  # fmt: skip
    _route: Route
    _copiers: Copiers
    _depth: int
    _times: list[float]
    """When each step began, and when the last one ended."""
    _firing: Firing | None
    """What has taken over, if it has, or what this is a part of."""
    _token: int
    """Which of the firing's chains this is."""
    _task: Any
    """The task that it runs in, and how often that was to be cancelled before, if it is the host's."""
    _cancelling: int
    _rest: dict[str, str] | None
    _input: dict[str, Any] | None
    _results: tuple[Result, ...]

    async def _run(self, stretch: Stretch, soon: float, rest: Rest) -> None:
        """Run plain hooks as long as they are silent and in time, which is what most do; then let others do the rest.

        Every line here is on the way of every action: nothing is done that a plain and silent hook does not need. Until
        ``soon`` no hook can be late.
        """
        fields, copiers_, make, times = self._given, self._copiers, self._template.event_type, self._times
        flat: str = ""
        flat_value: Any = None
        if len(copiers_) == 1 and copiers_[0][1] is flat_copy:  # as most are
            flat, _, flat_value = copiers_[0]
        depth.set(self._depth)  # in a context of the chain's own: the lanes see to that
        try:
            for step in stretch.steps:
                if step.health.failures:
                    return await self._taken_over().walk(self._token, times[-1])
                try:
                    event = make()
                    event |= fields
                    event._rest = rest
                    if flat:
                        event[flat] = flat_value.copy()
                    else:
                        for name, copy, value in copiers_:
                            event[name] = copy(value)
                    value = step.call(event)
                    if type(value) is CoroutineType:
                        value = await value
                except BaseException as error:
                    value = self._taken_over()._caught(error, self._token)
                now = monotonic()
                if value is not None or now > soon or (self._firing is not None and self._firing.disturbed):
                    return await self._taken_over().walk(self._token, now, value)
                times.append(now)
            if not stretch.whole:
                await self._taken_over().walk(self._token, times[-1])
            elif self._firing is not None:
                self._firing.catch_up()
        finally:
            if self._firing is not None:
                self._firing.wake(self._token)

    def _taken_over(self) -> Firing:
        """Return the firing that goes on from here."""
        if self._firing is None:
            self._firing = self._route.engine.take_over(self)
        return self._firing

    def _as_firing(self) -> Firing:
        """Return the firing that this was, after it has come to its end."""
        firing = self._taken_over()
        firing.catch_up()
        return firing

    def __call__(self) -> dict[str, str]:
        """Return the fields that the host did not give and that cost something to find out: made once, when read."""
        if self._rest is None:
            self._rest = self._template.rest(self._given)
        return self._rest

    @property
    def input(self) -> dict[str, Any]:
        """The final fields of the event."""
        if self._input is None:
            self._input = {**self._given, **self()}
        return self._input

    @property
    def _ran(self) -> list[Silent]:
        """What became of each hook, as a firing keeps it."""
        times = self._times
        return [(step, ended - began) for step, began, ended in zip(self._route.steps, times, times[1:], strict=False)]

    @property
    def results(self) -> Sequence[Result]:
        """Every hook's fate, in the order they ran."""
        try:
            return self._results
        except AttributeError:
            self._results = tuple(spelled_out(ran).result() for ran in self._ran)
            return self._results


def begin_sprint(route: Route, given: Mapping[str, Any], level: int) -> Sprint:
    """Return a firing that has not run any hook yet."""
    sprint = Sprint()
    sprint._route = route
    sprint._template = template = route.template
    sprint._given = template.begin(given)
    sprint._copiers = copiers(given)  # what the host did not give cannot be changed from outside
    # Not left unset: to find that out would cost more than most of what is done here.
    sprint._firing = sprint._rest = sprint._input = None
    sprint._depth = level
    sprint._token = 0
    sprint._times = [monotonic()]
    return sprint
