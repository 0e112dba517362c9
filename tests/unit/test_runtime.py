"""What can be said about code that broke."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interpose
from interpose.replies import HookFailed, describe
from interpose.runtime.faults import log
from interpose.runtime.named_tuples import NamedTuple
from interpose.runtime.regex import regex
from interpose.runtime.signals import raised_by_signal


def caught(action: Callable[[], Any]) -> BaseException:
    """What an action raises."""
    try:
        action()
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


def fail_with(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("boom"), "raised ValueError: boom"),
        (ValueError(), "raised ValueError"),
        (SystemExit(3), "raised SystemExit: 3"),
        (KeyError("x"), "raised KeyError: 'x'"),
        (ExceptionGroup("two", [ValueError("a"), KeyError("b")]),
         "raised ExceptionGroup: two (2 sub-exceptions): ValueError: a; KeyError: 'b'"),
    ],
)  # fmt: skip
def test_an_exception_is_described_by_its_class_and_its_text(error: BaseException, text: str) -> None:
    failure = describe(error)

    assert (failure.code, failure.text) == ("hook_crash", text)


def test_a_failure_that_was_raised_is_that_failure() -> None:
    error = HookFailed("payload", "no copy")

    assert describe(error) is error.failure


def test_the_trace_has_the_functions_and_the_causes_in_the_order_they_happened() -> None:
    def first() -> None:
        raise KeyError("the cause")

    def second() -> None:
        try:
            first()
        except KeyError as error:
            raise ValueError("the effect") from error

    trace = describe(caught(second)).trace

    assert trace.index("in first") < trace.index("KeyError: 'the cause'") < trace.index("ValueError: the effect")


def test_a_context_that_was_hidden_stays_hidden() -> None:
    def hides() -> None:
        try:
            fail_with(KeyError("secret"))
        except KeyError:
            raise ValueError("shown") from None

    assert "secret" not in describe(caught(hides)).trace


def test_long_texts_long_traces_and_long_chains_are_cut() -> None:
    error: BaseException = ValueError("x" * 100_000)
    for _ in range(1000):
        link = ValueError("y" * 1000)
        link.__cause__, error = error, link

    failure = describe(error)

    assert len(failure.text) <= 2000
    assert len(failure.trace) <= 8000


def test_a_group_of_exceptions_names_each_however_long_another_is() -> None:
    failure = describe(ExceptionGroup("both", [ValueError("x" * 100_000), KeyError("y")]))

    assert failure.text.endswith("; KeyError: 'y'")


# Who raised it.


def interrupted_by_a_signal() -> None:
    import signal

    signal.raise_signal(signal.SIGINT)
    for _ in range(1000):
        pass


def test_a_raise_statement_is_on_purpose() -> None:
    def again() -> None:
        try:
            fail_with(KeyboardInterrupt())
        except KeyboardInterrupt:
            seen.append("caught")
            raise

    seen: list[str] = []

    assert not raised_by_signal(caught(lambda: fail_with(KeyboardInterrupt())))
    assert not raised_by_signal(caught(again))
    assert not raised_by_signal(KeyboardInterrupt())  # never raised at all


def test_a_signal_is_not_on_purpose() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert raised_by_signal(caught(interrupted_by_a_signal))
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_no_statement_raises_in_another_thread_is_made_by_no_signal() -> None:
    """Signals strike the main thread: there, an exception out of compiled code looks as if a signal had made it."""
    failed = asyncio.new_event_loop()
    future = failed.create_future()
    future.set_exception(KeyboardInterrupt())
    failed.close()

    with ThreadPoolExecutor(1) as pool:
        assert not pool.submit(lambda: raised_by_signal(caught(future.result))).result()


def test_no_signal_has_ended_a_coroutine() -> None:
    seen: list[BaseException] = []

    def generator() -> Any:
        try:
            yield
        except GeneratorExit as error:
            seen.append(error)
            raise

    running = generator()
    next(running)
    running.close()

    assert not raised_by_signal(seen[0])


# The log.


def test_a_line_goes_to_the_logger_of_the_package(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="interpose"):
        log("warning", "%s is %d", "that", 5, trace="where it was")

    assert [(record.name, record.levelname, record.getMessage()) for record in caplog.records] == [
        ("interpose", "WARNING", "that is 5"),
        ("interpose", "DEBUG", "where it was"),
    ]


def test_a_handler_that_breaks_is_complained_of_and_breaks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise OSError("disk full")

    logger, handler = logging.getLogger("interpose"), Broken()
    logger.addHandler(handler)
    try:
        log("error", "lost")
    finally:
        logger.removeHandler(handler)

    assert capsys.readouterr().err == "interpose: logging failed: OSError\n"


# What takes long to make is made when it is first used.


def test_an_expression_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def compile_and_record(text: str, flags: int) -> re.Pattern[str]:
        compiled.append(text)
        return compile_now(text, flags)

    monkeypatch.setattr(re, "compile", compile_and_record)
    word = regex(r"[a-z]+", re.IGNORECASE)
    before = list(compiled)
    found = [word.match("Word and more"), word.match("1"), word.fullmatch("WORD")]

    assert before == []
    assert [match and match[0] for match in found] == ["Word", None, "WORD"]
    assert compiled == ["[a-z]+", "[a-z]+"]  # once for each method


EVERY_EXPRESSION = """
import contextlib, gc, importlib, sys
from interpose.runtime.regex import regex
for name in sys.argv[1:]:
    with contextlib.suppress(ImportError):  # of a package that is not installed everywhere
        importlib.import_module(name)
lazy = [found for found in gc.get_objects() if type(found) is type(regex(""))]  # also those in tables
print(len([expression.pattern for expression in lazy]))
"""


def test_every_expression_of_the_package_can_be_compiled() -> None:
    """A mistake in one would be found when it is first used."""
    package = Path(interpose.__file__).parent
    users = [path.relative_to(package) for path in package.rglob("*.py") if "import regex\n" in path.read_text()]
    names = [".".join(("interpose", *path.with_suffix("").parts)).removesuffix(".__init__") for path in users]
    ended = subprocess.run(
        [sys.executable, "-c", EVERY_EXPRESSION, *names], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 200


if TYPE_CHECKING:
    from pathlib import PurePath as Place


class Point(NamedTuple):
    x: int
    names: tuple[str, ...] = ()
    where: Place | None = None

    @property
    def is_named(self) -> bool:
        """Whether it has a name."""
        return bool(self.names)


def test_a_named_tuple_is_one() -> None:
    point = Point(1, names=("a",))
    x, names, where = point

    assert [x, names, where] == [1, ("a",), None] == list(point)
    assert point.is_named
    assert point._replace(x=2) == Point(2, ("a",))
    assert type(point._replace(x=2)) is Point
    assert repr(point) == "Point(x=1, names=('a',), where=None)"
    assert [pickle.loads(pickle.dumps(point)), copy.deepcopy(point)] == [point, point]
    assert Point._fields == ("x", "names", "where")
    with pytest.raises(AttributeError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        point.other = 2  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
