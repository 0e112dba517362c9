"""What is known of a callable before it is called: how many arguments it takes, and whether its call is awaited."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from interpose import BadHook
from interpose.handlers.python import is_async, unified
from interpose.records import Record


class Slots:
    __slots__ = ()

    def __call__(self, event: Any) -> Any:
        return event


class SlotsAsync:
    __slots__ = ()

    async def __call__(self, event: Any) -> Any:
        return event


class Inherited(Slots):
    __slots__ = ()


class AsRecord(Record):
    part: int = 1

    def __call__(self, event: Any, more: Any = None) -> Any:
        return event


class Attributes:
    def __init__(self) -> None:
        self.state = 1

    def __call__(self, event: Any) -> Any:
        return event

    def method(self, event: Any) -> Any:
        return event

    async def method_async(self, event: Any) -> Any:
        return event


class Three:
    __slots__ = ()

    def __call__(self, event: Any, tool_use_id: Any, context: Any) -> Any:
        return event


class Two:
    __slots__ = ()

    def __call__(self, event: Any, other: Any) -> Any:
        return event


class Nothing:
    __slots__ = ()

    def __call__(self) -> Any:
        return None


class Optional:
    __slots__ = ()

    def __call__(self, event: Any = None) -> Any:
        return event


class Keyword:
    __slots__ = ()

    def __call__(self, event: Any, *, more: Any) -> Any:
        return event


class Many:
    __slots__ = ()

    def __call__(self, *events: Any) -> Any:
        return events[0]


class Breaks:
    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __call__(self, event: Any) -> Any:
        return event


class Signed:
    __slots__ = ()
    __signature__ = inspect.signature(lambda event, tool_use_id, context: None)

    def __call__(self, *given: Any) -> Any:
        return given[0]


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*given: Any) -> Any:
        return function(*given)

    return call


def plain(event: Any) -> Any:
    return event


async def plain_async(event: Any) -> Any:
    return event


def three(event: Any, tool_use_id: Any, context: Any) -> Any:
    return event


GOOD: dict[str, tuple[Any, bool]] = {
    "function": (plain, False),
    "coroutine function": (plain_async, True),
    "function of three": (three, False),
    "lambda with a default": (lambda event=None: event, False),
    "decorated function of three": (decorated(three), False),
    "partial": (functools.partial(three, tool_use_id=1, context=2), False),
    "partial of a coroutine function": (functools.partial(plain_async), True),
    "object with slots": (Slots(), False),
    "object with slots, async": (SlotsAsync(), True),
    "object with an inherited call": (Inherited(), False),
    "record": (AsRecord(), False),
    "object with attributes": (Attributes(), False),
    "method": (Attributes().method, False),
    "coroutine method": (Attributes().method_async, True),
    "object of three": (Three(), False),
    "object of an optional event": (Optional(), False),
    "object of any number": (Many(), False),
    "object that breaks": (Breaks(), False),
    "object with a signature": (Signed(), False),
    "class": (dict, False),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_callable_is_called_with_the_event_and_what_else_it_takes(name: str) -> None:
    function, awaits = GOOD[name]
    event = {"tool_name": "Bash"}

    answer = unified(function)(event)  # type: ignore[arg-type]
    if awaits:
        answer.close()
    else:
        assert answer == event
    assert is_async(function) is awaits


@pytest.mark.parametrize(
    ("function", "why"),
    [(Two(), "takes 2 arguments"), (Nothing(), "takes 0 arguments"), (Keyword(), "keyword arguments without a default"),
     (lambda: None, "takes 0 arguments"), (lambda a, b: None, "takes 2 arguments")],
    ids=["object of two", "object of none", "object of a keyword", "function of none", "function of two"],
)  # fmt: skip
def test_a_callable_that_cannot_be_called_so_is_refused(function: Any, why: str) -> None:
    with pytest.raises(BadHook, match=why):
        unified(function)


def test_a_plain_function_and_an_object_with_slots_are_known_without_inspect(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes 8 ms to load, and policies are such objects."""
    monkeypatch.setattr(inspect, "signature", None)
    monkeypatch.setattr(inspect, "iscoroutinefunction", None)
    for function in (plain, plain_async, three, Slots(), SlotsAsync(), Inherited(), AsRecord(), Three()):
        unified(function)
        is_async(function)
