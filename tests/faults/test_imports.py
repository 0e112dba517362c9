"""Handlers named by text, whose modules cannot be loaded, or do more than being loaded."""

import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import BUSY, CALL, eventually, kept_now, run, unharmed, within

from interpose import Hooks, Outcome


class Modules:
    """A directory of modules for one test, forgotten afterwards."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.names: list[str] = []

    def write(self, text: str, name: str = "") -> str:
        """Write a module and return its name, which nobody has used before."""
        name = name or f"hooks_of_{self.directory.name.replace('-', '_')}_{len(self.names)}"
        (self.directory / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        self.names.append(name)
        return name


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = Modules(tmp_path)
    yield made
    for name in made.names:
        sys.modules.pop(name, None)


def outcome(handler: str, *, loop: bool = True, **options: Any) -> Outcome:
    """What comes out if the only hook is this handler."""
    hooks = Hooks()
    hooks.register("PreToolUse", handler, name="guard", **options)
    if loop:
        return unharmed(lambda: run(hooks.fire("PreToolUse", **CALL)))
    return unharmed(lambda: hooks.fire_sync("PreToolUse", **CALL))


with_and_without_a_loop = pytest.mark.parametrize("loop", [True, False], ids=["with a loop", "without"])

UNLOADABLE = {
    "a syntax error": "def hook(event:\n",
    "an import error": "import a_module_that_nobody_has\ndef hook(event): pass\n",
    "Exception": "raise ValueError('boom')\n",
    "SystemExit": "raise SystemExit(0)\n",
    "sys.exit": "import sys\nsys.exit()\n",
    "KeyboardInterrupt": "raise KeyboardInterrupt\n",
    "GeneratorExit": "raise GeneratorExit\n",
    "CancelledError": "import asyncio\nraise asyncio.CancelledError\n",
    "BaseException": "class Mine(BaseException): pass\nraise Mine\n",
    "an exception that cannot be shown": """\
        class Mine(BaseException):
            def __str__(self):
                raise Mine
        raise Mine
        """,
    "deep recursion": "def deeper(): deeper()\ndeeper()\n",
    "no such function": "def another(event): pass\n",
    "an attribute that raises": "def __getattr__(name): raise SystemExit(1)\n",
    "not text": "\x00",
}


@with_and_without_a_loop
@pytest.mark.parametrize("text", UNLOADABLE.values(), ids=UNLOADABLE.keys())
def test_a_handler_that_cannot_be_loaded_denies(modules: Modules, text: str, loop: bool) -> None:
    """Faults 120 to 126 at import: nobody knows what it would have said."""
    with within(BUSY):
        result = outcome(f"{modules.write(text)}.hook", loop=loop)

    assert result.denied
    assert result.results[0].error is not None
    assert result.results[0].error.code == "import_failed"


@pytest.mark.parametrize("path", ["no_such_module.hook", "json:no_such_function", "os.path.no.such.thing"])
def test_a_handler_that_is_not_there_denies(path: str) -> None:
    """Fault 120 at import."""
    assert outcome(path).denied


@pytest.mark.parametrize("on_error", ["log", "skip"])
def test_the_hooks_own_word_opens_what_cannot_be_loaded(on_error: str) -> None:
    """Fault 120 at import: written on the hook itself, and only there."""
    assert outcome("no_such_module.hook", on_error=on_error).allowed
    assert outcome("no_such_module.hook", on_error="abort").denied


@pytest.mark.parametrize(
    "text", ["hook = 5", "hook = None", "def hook(): pass", "def hook(a, b): pass", "def hook(a, *, b): pass"]
)
def test_what_was_loaded_and_can_never_work_denies(modules: Modules, text: str) -> None:
    """Fault 158 at import: it could not be looked at earlier."""
    result = outcome(f"{modules.write(text)}.hook")

    assert result.denied
    assert result.results[0].error is not None
    assert result.results[0].error.code == "bad_handler"


@with_and_without_a_loop
def test_a_module_that_hangs_while_it_is_loaded_has_the_deadline_of_its_hook(modules: Modules, loop: bool) -> None:
    """Fault 130 at import: it keeps its thread, and the next firing does not wait for it either."""
    name = modules.write(
        """
        import sys
        sys.release.wait(20)

        def hook(event):
            return {"decision": "deny", "reason": "loaded"}
        """
    )
    release = threading.Event()
    sys.release = release  # type: ignore[attr-defined]
    hooks = Hooks()
    hooks.register("PreToolUse", f"{name}.hook", timeout=0.1, on_error="abort")
    try:
        for _ in range(2):
            with within(0.1 + BUSY):
                result = run(hooks.fire("PreToolUse", **CALL)) if loop else hooks.fire_sync("PreToolUse", **CALL)
            assert [item.status for item in result.results] == ["timeout"]
            assert result.denied
    finally:
        release.set()

    assert eventually(lambda: kept_now() == 0)
    assert hooks.fire_sync("PreToolUse", **CALL).reason == "loaded"
    del sys.release  # type: ignore[attr-defined]


def test_a_handler_is_not_loaded_before_it_is_called(modules: Modules) -> None:
    """Fault 120 at import: registering is not running."""
    hooks = Hooks()

    hooks.register("PreToolUse", f"{modules.write('raise SystemExit')}.hook", matcher="Bash")

    assert run(hooks.fire("PreToolUse", tool_name="Edit")).allowed


def test_a_module_that_was_put_right_is_loaded_at_the_next_firing(modules: Modules) -> None:
    """Fault 120 at import: a failure is not remembered for ever."""
    name = modules.write("raise ValueError('not yet')\n")
    hooks = Hooks()
    hooks.register("PreToolUse", f"{name}.hook")
    first = run(hooks.fire("PreToolUse", **CALL))

    modules.write("def hook(event): return {'decision': 'deny', 'reason': 'loaded now'}\n# another size\n", name)
    second = run(hooks.fire("PreToolUse", **CALL))

    assert first.denied
    assert second.reason == "loaded now"


@with_and_without_a_loop
@pytest.mark.parametrize("inline", [False, True], ids=["", "inline"])
def test_a_coroutine_function_named_by_text_is_awaited(modules: Modules, loop: bool, inline: bool) -> None:
    """Fault 135 at import: only when it is loaded can it be seen what it is."""
    name = modules.write(
        """
        import asyncio

        async def hook(event):
            await asyncio.sleep(0)
            return {"decision": "deny", "reason": "awaited"}
        """
    )
    hooks = Hooks()
    hooks.register("PreToolUse", f"{name}:hook", inline=inline)

    for _ in range(3):
        result = run(hooks.fire("PreToolUse", **CALL)) if loop else hooks.fire_sync("PreToolUse", **CALL)
        assert result.reason == "awaited"


def test_sixteen_threads_load_a_handler_once(modules: Modules) -> None:
    """Fault 144 at import: the first firings come at the same time."""
    name = modules.write(
        """
        loaded = []
        loaded.append(1)

        def hook(event):
            return {"decision": "deny", "reason": str(len(loaded))}
        """
    )
    hooks, start, reasons = Hooks(), threading.Barrier(16, timeout=10), []
    hooks.register("PreToolUse", f"{name}.hook")

    def work() -> None:
        start.wait()
        reasons.append(hooks.fire_sync("PreToolUse", **CALL).reason)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert reasons == ["1"] * 16


def test_a_module_that_fires_while_it_is_loaded_comes_to_an_end(modules: Modules) -> None:
    """Fault 143 at import: the inner firing needs the module that is just being loaded, in another thread."""
    name = modules.write(
        """
        import sys

        inner = sys.hooks.fire_sync("PreToolUse", tool_name="Bash")

        def hook(event):
            return {"decision": "deny", "reason": f"inner {inner.decision}"}
        """
    )
    hooks = Hooks()
    sys.hooks = hooks  # type: ignore[attr-defined]
    hooks.register("PreToolUse", f"{name}.hook", timeout=0.3)

    with within(0.3 * 8 + 2 * BUSY):
        result = hooks.fire_sync("PreToolUse", **CALL)

    del sys.hooks  # type: ignore[attr-defined]
    assert result.results[0].status in ("ok", "timeout", "failed")
    assert eventually(lambda: kept_now() == 0)


def test_two_configurations_with_modules_of_one_name_get_each_their_own(tmp_path: Path) -> None:
    for project in ("one", "two", "three"):
        place = tmp_path / project
        (place / "packaged_guards").mkdir(parents=True)
        (place / "hooks.yaml").write_text(
            "hooks: {Stop: [{handler: namesake_guards.stop}, {handler: packaged_guards.inner.stop}]}"
        )
        (place / "namesake_guards.py").write_text(
            f"def stop(event): return {{'decision': 'block', 'reason': '{project}'}}"
        )
        (place / "packaged_guards" / "__init__.py").write_text("")
        (place / "packaged_guards" / "inner.py").write_text("from .words import stop")
        (place / "packaged_guards" / "words.py").write_text(
            f"def stop(event): return {{'decision': 'block', 'reason': 'package {project}'}}"
        )

    loaded = [Hooks.load(tmp_path / project / "hooks.yaml") for project in ("one", "two", "three")]
    said = [hooks.fire_sync("Stop").reason for hooks in (*loaded, *loaded)]

    assert said == [f"{project}\npackage {project}" for project in ("one", "two", "three")] * 2


def test_what_is_installed_goes_before_a_module_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "hooks.yaml").write_text("hooks: {Stop: [{handler: json.dumps}]}")
    (tmp_path / "json.py").write_text("raise RuntimeError('this is not the one')")

    result = Hooks.load(tmp_path / "hooks.yaml").fire_sync("Stop").results[0]

    assert result.error is None or "this is not the one" not in str(result.error)
