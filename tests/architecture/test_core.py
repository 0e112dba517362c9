"""The core can be read in an hour: few lines, few calls, nothing private across modules, and nouns that stay as they are."""

import ast
import asyncio
import copy
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import interpose
from interpose import Hooks, Reply, deny, model, modify, replies
from interpose.model import Binding, Hook, HookEffect, HookError, Ignored, Injection, Outcome, Result, Settings
from interpose.person.permission import Permission
from interpose.records import Record, replace
from interpose.replies import Ended, Failure

PACKAGE = Path(interpose.__file__).parent
CORE = sorted([*PACKAGE.glob("*.py"), *PACKAGE.glob("executors/*.py")])
RUNTIME = sorted(PACKAGE.glob("runtime/*.py"))

# asyncio documents four functions for other implementations of tasks, and has no public name for them. The two
# attributes are those of a task that a stand-in for it needs.
PRIVATE_OF_ASYNCIO = {
    "runtime/eager_tasks.py": frozenset({
        "_register_task", "_unregister_task", "_enter_task", "_leave_task",
        "_callbacks", "_log_destroy_pending",
    }),
}  # fmt: skip

MOST_LINES = 3_800
MOST_CALLS = 45
MOST_MODULES = 8


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def defined_in(tree: ast.Module) -> set[str]:
    """The private names that a module defines: functions, classes, variables, attributes of self, and slots."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store())
            ):
                found.add(name)
            case ast.Assign(targets=[ast.Name(id="__slots__")], value=slots):
                found |= {text for item in ast.walk(slots) if isinstance(text := getattr(item, "value", None), str)}
            case _:
                pass
    return found


def private_crossings(source: str, excepted: frozenset[str] = frozenset()) -> list[str]:
    """Every use of a private name that another module defines."""
    tree = ast.parse(source)
    own = defined_in(tree) | excepted
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case (
                ast.Attribute(value=ast.Name(id="self" | "cls"))
                | ast.Attribute(value=ast.Call(func=ast.Name(id="super")))
            ):
                pass
            case ast.Attribute(attr=name) if is_private(name) and name not in own:
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr" | "hasattr"), args=[_, ast.Constant(str(name)), *_]
            ) if is_private(name) and name not in own:
                found.append(f"line {node.lineno}: {ast.unparse(node)}")
            case ast.ImportFrom(names=names):
                taken = [alias.name for alias in names if is_private(alias.name) and alias.name not in excepted]
                found += [f"line {node.lineno}: import of {name}" for name in taken]
            case _:
                pass
    return found


@pytest.mark.parametrize("path", [*CORE, *RUNTIME], ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_private_crosses_a_module_of_the_core(path: Path) -> None:
    excepted = PRIVATE_OF_ASYNCIO.get(path.relative_to(PACKAGE).as_posix(), frozenset())

    assert private_crossings(path.read_text(), excepted) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from .model import _remake", ["line 1: import of _remake"]),
        ("from . import _process", ["line 1: import of _process"]),
        ("def f(run):\n    return run._pending", ["line 2: run._pending"]),
        ("def f(run):\n    run._pending = 1", ["line 2: run._pending"]),
        ("import asyncio\nasyncio._enter_task(loop, task)", ["line 2: asyncio._enter_task"]),
        ("getattr(run, '_pending', None)", ["line 1: getattr(run, '_pending', None)"]),
        ("f()._next()", ["line 1: f()._next"]),
        ("class Run:\n    __slots__ = ('_sure',)\n\ndef f(part):\n    part._sure = 0", []),
        ("class Run:\n    def __init__(self):\n        self._sure = 1\n\ndef f(part):\n    part._sure = 0", []),
        ("class Run:\n    def _next(self): ...\n\ndef f(part):\n    part._next()", []),
        ("class Run(Base):\n    def f(self):\n        self._next()\n        super()._next()", []),
        ("def f(x):\n    return x.__class__", []),
    ],
)
def test_a_private_name_of_another_module_is_found(source: str, found: list[str]) -> None:
    assert private_crossings(source) == found


def test_the_exceptions_are_still_needed() -> None:
    for name, excepted in PRIVATE_OF_ASYNCIO.items():
        source = (PACKAGE / name).read_text()

        assert [word for word in sorted(excepted) if word not in source] == []


def calls_of_a_traced_deny() -> list[tuple[str, str]]:
    """The module and the name of every function of the package that a deny by one asynchronous hook calls."""
    hooks, calls = Hooks(), []

    @hooks.on("PreToolUse", matcher="Bash", name="guard")
    async def guard(event: Any) -> Reply:
        return deny("no")

    def profile(frame: Any, what: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if what == "call" and path.is_relative_to(PACKAGE):
            calls.append((path.relative_to(PACKAGE).as_posix(), frame.f_code.co_qualname))

    async def main() -> Outcome:
        for _ in range(2):  # the first ones import, find the route and make the executor
            await hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
            await asyncio.sleep(0)
        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            return await hooks.fire("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
        finally:
            sys.setprofile(before)

    assert asyncio.run(main()).denied
    return calls


def test_a_deny_by_one_hook_passes_few_calls_in_few_modules() -> None:
    calls = calls_of_a_traced_deny()

    modules = {module for module, _ in calls}
    listed = "\n".join(f"{module} {name}" for module, name in calls)
    assert len(calls) <= MOST_CALLS, f"{len(calls)} calls:\n{listed}"
    assert len(modules) <= MOST_MODULES, f"{len(modules)} modules: {', '.join(sorted(modules))}"


def test_the_core_can_be_read_in_an_hour() -> None:
    lines = {path.relative_to(PACKAGE).as_posix(): len(path.read_text().splitlines()) for path in CORE}

    assert sum(lines.values()) <= MOST_LINES, lines


# Nouns.

FAILED = HookError("raised ValueError", "hook_crash", "Traceback")
HOOK = Hooks().register("PreToolUse", print, name="guard", matcher="Bash")
RECORDS: list[Record] = [
    Binding(call=print),
    Settings(default_timeout=1.5),
    Injection("text", "user_message"),
    Ignored("guard", "deny"),
    Result("guard", "python", "failed", "deny", "no", FAILED, reply=deny("no"), evidence={"exit": [1]}),
    Failure("hook_crash", "raised ValueError", evidence={"exit": [1]}),
    Ended(status=2, stdout=b"{}", stderr="no", evidence={"exit": [1]}),
    modify(tool_input={"command": ["ls"]}) + deny("no"),
    Permission(verdict="denied", by="rule", rule="Bash(rm *)", place="hooks.yaml:3:5"),
]


def test_every_public_record_is_among_those_that_are_tested() -> None:
    public = [getattr(module, name) for module in (model, replies) for name in module.__all__]

    records = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Record)}
    records.remove(HookEffect)  # a part of a run until its outcome is made, which gives out copies
    assert records - {type(record) for record in [*RECORDS, HOOK]} == set()


def parts(record: Record) -> Iterator[str]:
    return (name for name in dir(record) if not name.startswith("_"))


@pytest.mark.parametrize("record", [*RECORDS, HOOK], ids=lambda record: type(record).__name__)
def test_a_record_cannot_be_changed(record: Record) -> None:
    for name in [*parts(record), "nonsense"]:
        before = getattr(record, name, None)

        with pytest.raises(AttributeError):
            setattr(record, name, "changed")
        with pytest.raises(AttributeError):
            delattr(record, name)
        assert getattr(record, name, None) == before


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_is_compared_copied_and_pickled_by_its_parts(record: Record) -> None:
    for same in (copy.copy(record), copy.deepcopy(record), pickle.loads(pickle.dumps(record)), replace(record)):
        assert same == record
        assert type(same) is type(record)
        assert repr(same) == repr(record)
    for other in RECORDS:
        assert (other == record) is (other is record)


def test_a_hook_is_compared_by_identity_and_copied_part_by_part() -> None:
    same = copy.copy(HOOK)

    assert isinstance(same, Hook)
    assert same != HOOK
    assert [name for name in parts(HOOK) if getattr(same, name) != getattr(HOOK, name)] == []


def test_an_error_of_a_hook_is_compared_copied_and_pickled_as_its_text() -> None:
    for same in (copy.copy(FAILED), copy.deepcopy(FAILED), pickle.loads(pickle.dumps(FAILED))):
        assert (same, same.code, same.trace) == ("raised ValueError", "hook_crash", "Traceback")
        assert type(same) is HookError
