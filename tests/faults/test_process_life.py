"""Forks, the end of the interpreter, and interpreters that are set up in unusual ways."""

import os

import pytest
from tests.faults.hosts import BUSY, program, within

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")

# The end of the interpreter.


@pytest.mark.parametrize(
    "kind", ["function", "function, no loop", "coroutine, no loop", "deaf coroutine", "side by side"]
)
def test_the_interpreter_ends_at_once_although_a_hook_hangs(kind: str) -> None:
    """Fault 130: nobody waits for a thread or a task that a hook keeps."""
    text = f"""
        import asyncio, threading
        from interpose import Hooks

        def stuck(event):
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()

        async def deaf(event):
            while True:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    pass

        kind = {kind!r}
        hooks = Hooks()
        if kind == "side by side":
            hooks.register("PreToolUse", stuck, timeout=0.05, on_error="abort", parallel=True)
            hooks.register("PreToolUse", deaf, timeout=0.05, on_error="abort", parallel=True)
        else:
            hooks.register("PreToolUse", deaf if "coroutine" in kind else stuck, timeout=0.05, on_error="abort")
        if "no loop" in kind:
            outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")
        else:
            outcome = asyncio.run(hooks.fire("PreToolUse", tool_name="Bash"))
        print(outcome.decision)
    """

    with within(BUSY):
        ended = program(text)

    assert (ended.returncode, ended.stdout) == (0, "deny\n")
    assert "Fatal Python error" not in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("used_before", [False, True], ids=["", "used before"])
@pytest.mark.parametrize("kind", ["function", "coroutine", "inline", "side by side"])
@pytest.mark.parametrize("host", ["fire_sync", "asyncio.run"])
def test_a_firing_while_the_interpreter_shuts_down_denies_what_a_guard_denies(
    kind: str, used_before: bool, host: str
) -> None:
    """Fault 148: the guard runs, or it fails and denies; there may be no new threads any more."""
    text = f"""
        import asyncio, atexit
        from interpose import Hooks, deny

        def function(event):
            return deny("no")

        async def coroutine(event):
            await asyncio.sleep(0)
            return deny("no")

        kind = {kind!r}
        hooks = Hooks()
        for name in ("one", "two"):
            hooks.register("PreToolUse", coroutine if kind == "coroutine" else function, name=name, on_error="abort",
                           timeout=2, inline=kind == "inline", parallel=kind == "side by side")

        def fire():
            if {host!r} == "fire_sync":
                return hooks.fire_sync("PreToolUse", tool_name="Bash")
            return asyncio.run(hooks.fire("PreToolUse", tool_name="Bash"))

        atexit.register(lambda: print(fire().decision, flush=True))
        if {used_before!r}:
            fire()
    """

    with within(BUSY):
        ended = program(text)

    assert (ended.stdout, ended.stderr.count("Traceback")) == ("deny\n", 0), ended.stderr


def test_the_interpreter_ends_while_another_thread_fires() -> None:
    """Fault 148: the main thread is done; a daemon thread is in the middle of a firing."""
    text = """
        import asyncio, threading
        from interpose import Hooks

        began = threading.Event()
        hooks = Hooks()

        @hooks.on("PreToolUse")
        def function(event):
            began.set()
            threading.Event().wait(30)

        @hooks.on("Stop")
        async def coroutine(event):
            await asyncio.sleep(30)

        threading.Thread(target=hooks.fire_sync, args=("PreToolUse",), daemon=True).start()
        threading.Thread(target=hooks.fire_sync, args=("Stop",), daemon=True).start()
        began.wait()
        print("done")
    """

    with within(BUSY):
        ended = program(text)

    assert (ended.returncode, ended.stdout) == (0, "done\n")
    assert "Fatal Python error" not in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_observer_does_not_hold_up_the_end_of_the_interpreter() -> None:
    """Fault 148: one that blocks for ever, with messages waiting."""
    text = """
        import threading
        from interpose import Hooks

        hooks = Hooks()
        hooks.register("PreToolUse", lambda event: None)
        hooks.observe(lambda message: threading.Event().wait())
        for _ in range(100):
            hooks.fire_sync("PreToolUse", tool_name="Bash")
        print("done")
    """

    with within(BUSY):
        ended = program(text)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


# Forks.

FORK = """
import asyncio, os, signal, sys, threading, warnings
from interpose import Hooks, context, deny

warnings.simplefilter("ignore")  # that a process with threads forks is the subject
hooks = Hooks()

@hooks.on("PreToolUse")
def function(event):
    return context("function")

@hooks.on("PreToolUse")
async def coroutine(event):
    await asyncio.sleep(0)
    return context("coroutine")

def fire_in_all_ways():
    said = [
        hooks.fire_sync("PreToolUse", tool_name="Bash").context,
        asyncio.run(hooks.fire("PreToolUse", tool_name="Bash")).context,
    ]
    return said == [["function", "coroutine"]] * 2

def in_a_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(8)  # a child that hangs dies
        try:
            os._exit(0 if work() else 3)
        finally:
            os._exit(4)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""


@needs_fork
@pytest.mark.parametrize("used_before", [False, True], ids=["", "used before"])
def test_an_engine_made_before_a_fork_works_in_the_child(used_before: bool) -> None:
    """Fault 147: the parent's threads and loop are not in the child, and nobody waits for them there."""
    ended = program(f"""{FORK}
if {used_before!r}:
    assert fire_in_all_ways()
print("child", in_a_child(fire_in_all_ways))
print("parent", fire_in_all_ways())
""")

    assert (ended.stdout, ended.stderr) == ("child 0\nparent True\n", "")


@needs_fork
def test_a_child_forked_in_the_middle_of_a_firing_works() -> None:
    """Fault 147: the hook itself forks, in its thread; a hung hook of the parent is not counted in the child."""
    ended = program(f"""{FORK}
from interpose.executors.base import kept
release, codes = threading.Event(), []
hooks.register("Stop", lambda event: release.wait(20), timeout=0.05, on_error="skip")
hooks.fire_sync("Stop")
assert kept.count == 1

@hooks.on("SessionStart")
def forks(event):
    codes.append(in_a_child(lambda: kept.count == 0 and fire_in_all_ways()))

hooks.fire_sync("SessionStart")
release.set()
print(codes, fire_in_all_ways())
""")

    assert (ended.stdout, ended.stderr) == ("[0] True\n", "")


@needs_fork
def test_a_child_can_register_although_the_parent_was_registering() -> None:
    """Fault 147: a lock that another thread of the parent held at the fork is nobody's in the child."""
    ended = program(f"""{FORK}
inside, release = threading.Event(), threading.Event()

class Slow(str):
    "A name that is slow to be looked up: whoever registers it holds the registry's lock meanwhile."
    def __hash__(self):
        inside.set()
        release.wait(20)
        return str.__hash__(self)

registering = threading.Thread(
    target=hooks.register, args=("PreToolUse", lambda event: None), kwargs=dict(name=Slow("slow")), daemon=True
)
registering.start()
inside.wait()

def registers():
    hooks.register("Stop", lambda event: None, name="new")
    hooks.disable("new")
    return fire_in_all_ways()

print(in_a_child(registers))
release.set()
registering.join()
""")

    assert (ended.stdout, ended.stderr) == ("0\n", "")


@needs_fork
def test_an_observer_of_the_parent_does_not_stop_the_child() -> None:
    """Fault 147: its thread is not there, its lock may be held; the child's firings go on."""
    ended = program(f"""{FORK}
inside, release = threading.Event(), threading.Event()

def observer(message):
    inside.set()
    release.wait(20)

subscription = hooks.observe(observer)
hooks.fire_sync("PreToolUse", tool_name="Bash")
inside.wait()
stuck = threading.Event()

def holds_the_lock():
    with subscription._news:
        stuck.set()
        release.wait(20)

holder = threading.Thread(target=holds_the_lock, daemon=True)
holder.start()
stuck.wait()
print(in_a_child(fire_in_all_ways))
release.set()
holder.join()
subscription.close()
""")

    assert (ended.stdout, ended.stderr) == ("0\n", "")


# Interpreters that are set up in unusual ways.

ODD_HOST = """
import asyncio, logging, sys
sys.path.insert(0, {path!r})
from interpose import Hooks, deny, modify

logging.basicConfig(level=logging.DEBUG)
hooks = Hooks()

@hooks.on("PreToolUse", on_error="abort")
def guard(event):
    if "\\u00e9" in event.tool_input["command"]:
        return deny("nein: \\u00c4, \\u4f60\\u597d, \\U0001f600, \\ud800")

@hooks.on("PreToolUse")
def breaks(event):
    raise ValueError("\\u4f60\\u597d")

@hooks.on("PreToolUse")
async def changes(event):
    await asyncio.sleep(0)
    return modify(tool_input={{"command": "\\u00e9"}})

outcome = asyncio.run(hooks.fire("PreToolUse", tool_name="Bash", tool_input={{"command": "ls"}}))
again = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={{"command": "ls"}})
print(outcome.decision, again.decision, [r.status for r in outcome.results], outcome.reason == again.reason)
"""


def odd_host(*flags: str, **env: str) -> tuple[str, str]:
    import interpose  # its place, for interpreters that do not look for it

    path = os.path.dirname(os.path.dirname(interpose.__file__))
    ended = program(ODD_HOST.format(path=path), *flags, env=env)
    return ended.stdout, ended.stderr


EXPECTED = "deny deny ['ok', 'failed', 'ok', 'ok'] True\n"


@pytest.mark.slow
@pytest.mark.parametrize("flags", ["-O", "-OO", "-I", "-S", "-s -E -B", "-I -S -OO", "-X dev -W error", "-X utf8=0"])
def test_the_engine_does_the_same_whatever_the_interpreters_flags(flags: str) -> None:
    """Fault 239: no assertion carries logic, nothing needs site-packages."""
    stdout, stderr = odd_host(*flags.split())

    assert stdout == EXPECTED, stderr


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "ascii:strict"},
        {"LANG": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["C", "POSIX", "ascii", "none"],
)
def test_the_engine_does_the_same_whatever_the_locale(env: dict[str, str]) -> None:
    """Fault 241: a reason that the terminal cannot show is still a reason."""
    stdout, stderr = odd_host(**env)

    assert stdout == EXPECTED, stderr


def test_without_standard_streams_a_failing_hook_is_still_only_a_failing_hook() -> None:
    """Fault 239: a host without a console has no standard error to complain to."""
    ended = program("""
        import os, sys
        from interpose import Hooks

        def breaks(event):
            raise ValueError("boom")

        hooks = Hooks()
        hooks.register("PreToolUse", breaks)
        sys.stderr = sys.stdout = None
        outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")
        os.write(1, outcome.results[0].status.encode())
    """)

    assert (ended.returncode, ended.stdout) == (0, "failed")
