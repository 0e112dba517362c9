"""Python callables as hooks: how to call one, and how to import one that is named by text."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import CodeType, FunctionType
from typing import Any

from ..errors import BadHook
from ..event import Event
from ..model import Seal
from ..records import Record
from ..replies import HookFailed
from ..runtime.coroutines import is_coroutine_function
from ..runtime.faults import said
from . import hold_to_trust

__all__ = ["LazyFunction", "ModulePlace", "is_async", "label_of", "source_of", "unified"]

Call = Callable[[Event], Any]


def unified(function: Callable[..., Any], what: str = "the hook") -> Call:
    """Return a callable of one event for a function of either signature."""
    count = _required_parameters(function)
    if count is None or count == 1:
        return function
    if count == 3:
        return lambda event: function(dict(event), event.get("tool_use_id"), {"signal": None})
    raise BadHook(
        f"{what} takes {count} arguments",
        hint="a hook takes (event), or (input, tool_use_id, context) as in the Claude Agent SDK",
    )


def _required_parameters(function: Callable[..., Any]) -> int | None:
    """Count the required positional parameters; None if they are unknown."""
    plain = _required_by_plain(function)
    if plain is not None:
        return plain
    import inspect

    try:
        parameters = inspect.signature(function).parameters.values()
    except Exception:  # some functions written in C, and objects that break
        return None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        raise BadHook("the hook has keyword arguments without a default", hint="a hook is called with the event alone")
    if required == 0 and (positional or any(p.kind is p.VAR_POSITIONAL for p in parameters)):
        return 1
    return required


def _required_by_plain(function: Callable[..., Any]) -> int | None:
    """Count the required parameters without loading ``inspect``; None if it takes that to know them."""
    run = _plain_function(function)
    if run is None:
        return None
    code, bound = run.__code__, int(run is not function)
    if code.co_kwonlyargcount or code.co_flags & (_VARARGS | _VARKEYWORDS) or not vars(run).keys().isdisjoint(_MARKS):
        return None
    positional = code.co_argcount - bound
    required = positional - len(run.__defaults__ or ())
    return 1 if required <= 0 and positional else required


def _plain_function(function: Any) -> FunctionType | None:
    """Return the function that a call runs: itself, or the method of an object that has only slots."""
    if type(function) is FunctionType:
        return function
    call = next((vars(kind)["__call__"] for kind in type(function).__mro__ if "__call__" in vars(kind)), None)
    try:
        is_plain = type(call) is FunctionType and not any(hasattr(function, name) for name in ("__dict__", *_MARKS))
    except Exception:  # an object that breaks
        return None
    return call if is_plain else None


_MARKS = ("__wrapped__", "__signature__")


_VARARGS, _VARKEYWORDS = 0x04, 0x08  # as inspect calls them


def is_async(function: Any) -> bool:
    """Return whether a call returns a coroutine, as far as that is known before."""
    function = _innermost(function)
    run = _plain_function(function)
    if run is not None and not vars(run):
        return is_coroutine_function(run)
    import inspect

    try:
        if inspect.iscoroutinefunction(function):
            return True
        return inspect.iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004 - not called
    except Exception:  # unknown until it is called
        return False


def label_of(function: Any) -> str:
    """Return a name to show, whatever attributes the callable has."""
    function = _innermost(function)
    try:
        name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    except Exception:
        name = None
    if type(name) is not str:
        name = str(type.__dict__["__qualname__"].__get__(type(function)))
    return name.replace("<locals>.", "")


def source_of(function: Any) -> str:
    """Return the file and line of a callable, if they are known."""
    try:
        inner = _innermost(function)
        code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    except Exception:
        return ""
    return f"{code.co_filename}:{code.co_firstlineno}" if type(code) is CodeType else ""


def _innermost(function: Any) -> Any:
    while type(function) is partial:
        function = function.func
    return function


class ModulePlace(Record, kw_only=False):
    """Where modules are imported from: the directory of a configuration."""

    directory: str = ""
    first: bool = False
    """Whether its modules come before installed ones: those of a snapshot do."""


class LazyFunction:
    """A callable named ``module.function`` or ``module:function``, imported when it is first called."""

    __slots__ = ("_call", "awaits", "path", "seal", "where")

    def __init__(self, path: str, where: ModulePlace = ModulePlace()) -> None:  # noqa: B008 - it never changes
        module, name = _split(path)
        if not module or not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
            raise BadHook(
                f"handler {path!r} is not the name of a Python function",
                hint="write module.function",
            )
        self.path = path
        self.where = where
        self.seal: Seal | None = None
        """Checks that the snapshot exists; None if there is none."""
        self._call: Call | None = None
        self.awaits = False
        """Whether it is async; known after the import."""

    def __call__(self, event: Event) -> Any:
        """Call the function; import it first if that has not happened."""
        call = self._call or self.load()
        return call(event)

    def load(self) -> Call:
        """Import the function; raise HookFailed if that fails."""
        from ._importing import imported

        hold_to_trust(self.seal)
        module_name, name = _split(self.path)
        try:
            found: Any = imported(module_name, self.where.directory, first=self.where.first)
            for part in name.split("."):
                found = getattr(found, part)
        except BaseException as error:
            if issubclass(type(error), KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
                raise  # Ctrl-C during the import
            raise HookFailed("import_failed", f"cannot import {self.path}: {said(error, 500)}") from error
        if not callable(found):
            raise HookFailed("bad_handler", f"{self.path} is {type(found).__name__}, which cannot be called")
        try:
            self._call = unified(found, self.path)
            self.awaits = is_async(found)
        except BadHook as error:
            raise HookFailed("bad_handler", str(error)) from None
        return self._call


def _split(path: str) -> tuple[str, str]:
    module, _, name = path.partition(":") if ":" in path else path.rpartition(".")
    return module, name
