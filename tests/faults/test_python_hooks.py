"""Python hooks that raise, in every way in which one can be run."""

import asyncio
import functools
import gc
import logging
import operator
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from tests.faults.hosts import BUSY, CALL, WAYS, Way, program, run, within
from tests.tables import rows

from interpose import BadHook, Hooks, UnknownEvent, context, deny

every_way = rows("way", WAYS)


def raising(error: BaseException) -> Callable[[Any], NoReturn]:
    """A body that raises this very exception."""

    def body(event: Any) -> NoReturn:
        raise error

    return body


class NobodyKnows(BaseException):
    """An exception that ``except Exception`` does not catch."""


RAISED = {
    "120 Exception": ValueError("boom"),
    "120 TimeoutError is no deadline": TimeoutError("boom"),
    "120 StopAsyncIteration": StopAsyncIteration("boom"),
    "121 SystemExit": SystemExit(0),
    "122 KeyboardInterrupt": KeyboardInterrupt(),
    "123 CancelledError": asyncio.CancelledError(),
    "124 GeneratorExit": GeneratorExit(),
    "124 BaseException": NobodyKnows("boom"),
    "125 ExceptionGroup": ExceptionGroup("several", [ValueError("one"), KeyError("two")]),
    "125 BaseExceptionGroup": BaseExceptionGroup("several", [SystemExit(1), KeyboardInterrupt()]),
    "153 MemoryError": MemoryError(),
    "154 RecursionError": RecursionError("too deep"),
}
every_exception = rows("error", RAISED.values(), ids=RAISED.keys())


@every_way
@every_exception
def test_a_hook_that_raises_has_failed_and_the_next_one_runs(way: Way, error: BaseException) -> None:
    """Faults 120 to 125, 153, 154: the hook failed, and nothing of it reaches the host."""
    hooks = Hooks()
    way.register(hooks, raising(error), name="broken")
    way.register(hooks, lambda event: context("still here"), name="next")

    with within(BUSY):
        outcome = way.fire(hooks)

    assert [(result.hook, result.status) for result in outcome.results] == [("broken", "failed"), ("next", "ok")]
    assert outcome.results[0].error is not None
    assert outcome.results[0].error.code == "hook_crash"
    assert type(error).__name__ in outcome.results[0].error
    assert (outcome.decision, outcome.context) == ("none", ["still here"])


@every_way
@every_exception
def test_a_guard_that_raises_denies_and_ends_the_firing(way: Way, error: BaseException) -> None:
    """Faults 120 to 125, 153, 154: with ``onError: abort`` a failure is a deny."""
    hooks = Hooks()
    way.register(hooks, raising(error), name="guard", on_error="abort")
    way.register(hooks, lambda event: None, name="next")

    with within(BUSY):
        outcome = way.fire(hooks)

    assert (outcome.decision, outcome.allowed, outcome.granted) == ("deny", False, False)
    assert outcome.reason.startswith("guard failed: ")
    assert [result.status for result in outcome.results] == ["failed", "skipped"]


@pytest.mark.parametrize("way", [way for way in WAYS if not way.awaits], ids=str)
def test_a_function_that_raises_stop_iteration_does_not_end_the_chain(way: Way) -> None:
    """Fault 120: the one exception that generators and coroutines treat as their own."""
    hooks = Hooks()
    way.register(hooks, raising(StopIteration("boom")))
    way.register(hooks, lambda event: deny("seen"))

    outcome = way.fire(hooks)

    assert [result.status for result in outcome.results] == ["failed", "ok"]
    assert outcome.reason == "seen"


@every_way
def test_sys_exit_in_a_hook_does_not_end_the_host(way: Way) -> None:
    """Fault 121: ``sys.exit(0)`` looks like success and is none."""
    outcome = way.outcome(lambda event: sys.exit(0), on_error="abort")

    assert outcome.denied
    assert outcome.results[0].error == "raised SystemExit: 0"


def test_a_memory_hog_has_failed() -> None:
    """Fault 153: what one process can show of it. The allocation itself is refused."""
    outcome = WAYS[1].outcome(lambda event: bytearray(1 << 62), on_error="abort")

    assert outcome.denied
    assert "MemoryError" in outcome.reason


@every_way
def test_deep_recursion_has_failed(way: Way) -> None:
    """Fault 154: a hook that calls itself for ever ends at the interpreter's limit, and the host lives."""

    def deeper(event: Any) -> Any:
        return deeper(event)

    outcome = way.outcome(deeper, on_error="abort")

    assert outcome.denied
    assert "RecursionError" in outcome.reason


# What is shown of an exception.


def test_the_text_of_a_failure_has_no_traceback_and_the_trace_has() -> None:
    """Fault 120: the traceback is for the record, not for the model."""

    def hook_with_a_name(event: Any) -> NoReturn:
        raise ValueError("boom")

    error = WAYS[1].outcome(hook_with_a_name).results[0].error

    assert error == "raised ValueError: boom"
    assert "hook_with_a_name" in error.trace
    assert "hook_with_a_name" not in error


def test_all_members_of_a_group_are_shown_up_to_a_cap() -> None:
    """Fault 125: ten of a thousand."""
    group = ExceptionGroup("many", [ValueError(f"number {n}.") for n in range(1000)])

    error = WAYS[1].outcome(raising(group)).results[0].error

    assert error is not None
    assert "number 0." in error
    assert "number 9." in error
    assert "number 999." not in error


def test_a_text_of_ten_megabytes_is_cut() -> None:
    """Fault 127: capped in the error, in the trace, in the reason and in the log."""
    huge = ValueError("x" * 10_000_000)

    with within(BUSY):
        outcome = WAYS[1].outcome(raising(huge), on_error="abort")

    error = outcome.results[0].error
    assert error is not None
    assert len(error) <= 2000
    assert len(error.trace) <= 8000
    assert len(outcome.reason) < 3000


def test_control_characters_of_an_exception_are_not_shown() -> None:
    """Fault 120: a message may hold terminal escapes, and a log is read in a terminal."""
    nasty = ValueError("a\x1b[2Jb\x00c\u202ed\ud800e")

    outcome = WAYS[1].outcome(raising(nasty), on_error="abort")

    assert outcome.results[0].error == "raised ValueError: abcd?e"
    assert "\x1b" not in outcome.results[0].error.trace


def hostile(**methods: Any) -> BaseException:
    """An exception with methods of its own."""
    made: BaseException = type("Hostile", (Exception,), methods)()
    return made


def breaks(*_: object) -> NoReturn:
    raise RuntimeError("broken method")


def escapes(*_: object) -> NoReturn:
    raise NobodyKnows("broken method")


class HostileText(str):
    """Text whose every method breaks."""

    __slots__ = ()
    __bool__ = __len__ = __getitem__ = __format__ = __iter__ = __str__ = __repr__ = breaks


class Nameless(type):
    """A class of classes that will not say its name."""

    @property
    def __name__(cls) -> NoReturn:  # type: ignore[override]
        raise RuntimeError("no name")


class WithoutName(Exception, metaclass=Nameless):
    pass


class HostileGroup(ExceptionGroup[ValueError]):
    exceptions = property(breaks)


def chained(cause: BaseException) -> BaseException:
    error = ValueError("boom")
    error.__cause__ = cause
    return error


def cycle() -> BaseException:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    return first


def deep_chain(links: int) -> BaseException:
    error = ValueError("the first of all")
    for number in range(links):
        link = ValueError(f"link {number}")
        link.__cause__, error = error, link
    return error


HOSTILE: dict[str, Callable[[], BaseException]] = {
    "126 __str__ and __repr__ raise": lambda: hostile(__str__=breaks, __repr__=breaks),
    "126 __str__ raises a BaseException": lambda: hostile(__str__=escapes, __repr__=escapes),
    "126 __str__ gives no text": lambda: hostile(__str__=lambda self: 5),
    "126 __str__ gives text that breaks": lambda: hostile(__str__=lambda self: HostileText("x")),
    "126 every attribute raises": lambda: hostile(__getattribute__=breaks),
    "126 every attribute raises a BaseException": lambda: hostile(__getattribute__=escapes),
    "126 the class has no name": WithoutName,
    "126 a cause with a raising __bool__": lambda: chained(hostile(__bool__=breaks)),
    "126 a cause with a raising __len__": lambda: chained(hostile(__len__=escapes)),
    "125 a group that hides its members": lambda: HostileGroup("several", [ValueError()]),
    "128 a cycle of causes": cycle,
    "128 ten thousand causes": lambda: deep_chain(10_000),
}


@every_way
@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE.keys())
def test_an_exception_that_fights_being_shown_is_a_failure_like_any_other(
    way: Way, make: Callable[[], BaseException]
) -> None:
    """Faults 125, 126, 128: no code of the exception can break the firing."""
    with within(BUSY):
        outcome = way.outcome(raising(make()), on_error="abort")

    assert outcome.denied
    assert outcome.results[0].error is not None
    assert outcome.results[0].error.code == "hook_crash"
    assert len(outcome.results[0].error.trace) <= 8000


def test_an_exception_without_a_usable_text_is_shown_by_its_class() -> None:
    """Fault 126."""
    error = WAYS[1].outcome(raising(hostile(__str__=breaks, __repr__=breaks))).results[0].error

    assert error == "raised Hostile"


# What a hook may be.


def function(event: Any) -> Any:
    return deny("seen")


async def coroutine_function(event: Any) -> Any:
    return deny("seen")


class Callables:
    """Things that can be called."""

    def __call__(self, event: Any) -> Any:
        return deny("seen")

    def method(self, event: Any) -> Any:
        return deny("seen")

    async def async_method(self, event: Any) -> Any:
        return deny("seen")

    @classmethod
    def class_method(cls, event: Any) -> Any:
        return deny("seen")

    @staticmethod
    def static_method(event: Any) -> Any:
        return deny("seen")


class AsyncCallable:
    async def __call__(self, event: Any) -> Any:
        return deny("seen")


class LikeADict(dict[str, Any]):
    """A class is called to make an instance: here, one that is a reply."""

    def __init__(self, event: Any) -> None:
        super().__init__(decision="deny", reason="seen")


class Unfriendly:
    """A callable that answers no question about itself."""

    def __getattr__(self, name: str) -> NoReturn:
        raise RuntimeError("ask me nothing")

    __repr__ = __str__ = breaks

    def __call__(self, event: Any) -> Any:
        return deny("seen")


def of_two(word: str, event: Any) -> Any:
    return deny(word)


def sdk_style(given: Any, tool_use_id: Any, context: Any) -> Any:
    return deny("seen") if given["tool_name"] == "Bash" and tool_use_id and "signal" in context else None


async def sdk_style_async(given: Any, tool_use_id: Any, context: Any) -> Any:
    return sdk_style(given, tool_use_id, context)


async def partly(word: str, event: Any) -> Any:
    return deny(word)


CALLABLES: dict[str, Callable[..., Any]] = {
    "function": function,
    "coroutine function": coroutine_function,
    "lambda": lambda event: deny("seen"),
    "partial": functools.partial(of_two, "seen"),
    "partial of a coroutine function": functools.partial(partly, "seen"),
    "bound method": Callables().method,
    "bound coroutine method": Callables().async_method,
    "class method": Callables.class_method,
    "static method": Callables.static_method,
    "object with __call__": Callables(),
    "object with async __call__": AsyncCallable(),
    "class": LikeADict,
    "C function": operator.itemgetter("tool_input"),
    "wrapped function": functools.wraps(function)(functools.partial(function)),
    "any arguments": lambda *given: deny("seen"),
    "any keywords too": lambda event, *more, **options: deny("seen"),
    "with defaults": lambda event=None, more=5: deny("seen"),
    "the style of the Claude Agent SDK": sdk_style,
    "the style of the Claude Agent SDK, async": sdk_style_async,
    "an object that answers no question": Unfriendly(),
}


@pytest.mark.parametrize("loop", [True, False], ids=["with a loop", "without"])
@pytest.mark.parametrize("handler", CALLABLES.values(), ids=CALLABLES.keys())
def test_whatever_can_be_called_is_accepted(handler: Callable[..., Any], loop: bool) -> None:
    """Fault 157."""
    hooks = Hooks()
    hooks.register("PreToolUse", handler, name="hook")
    call = {"tool_name": "Bash", "tool_input": {"decision": "deny", "reason": "seen"}}

    outcome = run(hooks.fire("PreToolUse", **call)) if loop else hooks.fire_sync("PreToolUse", **call)

    assert (outcome.decision, outcome.reason) == ("deny", "seen")


def test_a_callable_gets_a_name_without_being_asked_for_its_representation() -> None:
    """Fault 157: a name for the record is never made by code of the callable."""
    hooks = Hooks()

    names = [hooks.register("PreToolUse", handler).label for handler in (Unfriendly(), Callables().method, len)]

    assert names == ["Unfriendly", "Callables.method", "len"]


WRONG_SIGNATURES: dict[str, Callable[..., Any]] = {
    "no argument": lambda: None,
    "two arguments": lambda event, other: None,
    "four arguments": lambda event, tool_use_id, context, more: None,
    "a keyword that nobody gives": lambda event, *, needed: None,
    "only keywords": lambda **fields: None,
}


@pytest.mark.parametrize("handler", WRONG_SIGNATURES.values(), ids=WRONG_SIGNATURES.keys())
def test_a_wrong_signature_is_refused_at_registration(handler: Callable[..., Any]) -> None:
    """Fault 158: not at the first firing, when it would be too late."""
    hooks = Hooks()

    with pytest.raises(BadHook):
        hooks.register("PreToolUse", handler)

    assert list(hooks) == []


@pytest.mark.parametrize("handler", [None, 5, {}, [], "not a name", "rm -rf /", "./script.py", ""], ids=repr)
def test_what_cannot_be_called_is_refused_at_registration(handler: object) -> None:
    """Fault 158."""
    hooks = Hooks()

    with pytest.raises(BadHook):
        hooks.register("PreToolUse", handler)


# Coroutines where none was expected.


async def answers(event: Any) -> Any:
    await asyncio.sleep(0)
    return deny("awaited")


class GivesCoroutines:
    def __call__(self, event: Any) -> Any:
        return answers(event)

    def method(self, event: Any) -> Any:
        return answers(event)


class Awaitable:
    """Neither a coroutine nor a future, and can be awaited all the same."""

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return deny("awaited")


def gives_a_coroutine(event: Any) -> Any:
    return answers(event)


def gives_second(word: str, event: Any) -> Any:
    return answers(event)


SURPRISES: dict[str, Callable[[Any], Any]] = {
    "function": gives_a_coroutine,
    "lambda": lambda event: answers(dict(event)),
    "partial": functools.partial(gives_second, "word"),
    "callable object": GivesCoroutines(),
    "bound method": GivesCoroutines().method,
    "awaitable object": lambda event: Awaitable(),
}


@pytest.mark.parametrize("inline", [False, True], ids=["", "inline"])
@pytest.mark.parametrize("loop", [True, False], ids=["with a loop", "without"])
@pytest.mark.parametrize("handler", SURPRISES.values(), ids=SURPRISES.keys())
def test_a_coroutine_that_comes_back_from_a_plain_call_is_awaited(
    handler: Callable[[Any], Any], loop: bool, inline: bool
) -> None:
    """Fault 135: a guard that looks synchronous and is not would otherwise never wake up."""
    hooks = Hooks()
    hooks.register("PreToolUse", handler, inline=inline)

    for _ in range(2):  # the second time the engine knows
        outcome = run(hooks.fire("PreToolUse", **CALL)) if loop else hooks.fire_sync("PreToolUse", **CALL)

        assert (outcome.decision, outcome.reason) == ("deny", "awaited")
        assert [result.status for result in outcome.results] == ["ok"]


@pytest.mark.parametrize("loop", [True, False], ids=["with a loop", "without"])
def test_a_coroutine_from_a_plain_call_has_the_deadline_of_its_hook(loop: bool) -> None:
    """Fault 135."""

    async def hangs(event: Any) -> None:
        await asyncio.get_running_loop().create_future()

    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: hangs(dict(event)), timeout=0.1, on_error="abort")

    with within(0.1 + BUSY):
        outcome = run(hooks.fire("PreToolUse", **CALL)) if loop else hooks.fire_sync("PreToolUse", **CALL)

    assert outcome.denied
    assert [result.status for result in outcome.results] == ["timeout"]


@every_way
def test_a_coroutine_inside_a_coroutine_is_no_answer_and_no_warning(way: Way) -> None:
    """Fault 135: awaited, or a failure that denies; never a coroutine that nobody awaits."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = way.outcome(gives_a_coroutine)
        gc.collect()

    assert outcome.denied
    assert [str(warning.message) for warning in caught] == []


def test_a_hook_that_is_an_async_generator_is_no_answer() -> None:
    """Fault 138: a ``yield`` too many turns a guard into something that never runs."""

    async def guard(event: Any) -> Any:
        yield deny("never seen")

    outcome = WAYS[1].outcome(guard)

    assert outcome.denied
    assert outcome.results[0].error is not None
    assert outcome.results[0].error.code == "bad_reply"


# What a hook does to its surroundings.


def test_what_a_hook_prints_can_be_kept_out_of_the_hosts_standard_output() -> None:
    """Fault 155: a host that speaks a protocol on its standard output asks for ``redirect_output``."""
    ended = program("""
        import asyncio, logging, sys
        from interpose import Hooks

        logging.basicConfig(stream=sys.stderr, level=logging.DEBUG)
        hooks = Hooks(redirect_output=True)

        @hooks.on("PreToolUse")
        def in_a_thread(event):
            print("stray one")

        @hooks.on("PreToolUse")
        async def in_a_task(event):
            print("stray two")
            await asyncio.sleep(0)
            print("stray three")

        asyncio.run(hooks.fire("PreToolUse", tool_name="Bash"))
        hooks.fire_sync("PreToolUse", tool_name="Bash")
        print("protocol")
    """)

    assert ended.stdout == "protocol\n"
    assert all(word in ended.stderr for word in ("stray one", "stray two", "stray three"))


def test_a_failure_is_logged_once_and_skip_is_quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Fault 120: ``onError: skip`` is ``log`` without the log line."""
    with caplog.at_level(logging.INFO, logger="interpose"):
        WAYS[1].outcome(raising(ValueError("boom")), name="loud")
        WAYS[1].outcome(raising(ValueError("boom")), name="quiet", on_error="skip")

    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert lines == [("ERROR", "hook loud at PreToolUse failed (hook_crash): raised ValueError: boom")]


def test_a_mistake_of_the_host_and_the_failure_of_a_hook_have_no_context_of_the_engine() -> None:
    """Fault 120: the first firing of an event looks for its route in vain; no traceback begins with that."""
    hooks = Hooks()
    found: list[BaseException | None] = []

    def body(event: Any) -> None:
        found.append(sys.exc_info()[1])

    hooks.register("PreToolUse", body, inline=True)
    mistakes = [
        lambda: run(hooks.fire("PreToolUze")),
        lambda: hooks.fire_sync("PreToolUze"),
        lambda: hooks.wants("PreToolUze"),
    ]
    for make in mistakes:
        with pytest.raises(UnknownEvent) as mistake:
            make()
        assert mistake.value.__context__ is None
    run(hooks.fire("PreToolUse", **CALL))

    assert found == [None]
