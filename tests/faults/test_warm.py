"""Warm interpreters: a script that is forked cannot tell, and what has changed since then is noticed."""

import os
import re
import select
import signal
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.faults.commands import living, zombies
from tests.faults.hosts import BUSY, PROMISE, Program, eventually, within

if sys.platform != "linux":
    pytest.skip("warm scripts need Linux", allow_module_level=True)

from interpose import BadHook, Hooks
from interpose.handlers import _warm_pool
from interpose.handlers._process import Start
from interpose.handlers._runner import PreparedCommand, run_in_this_thread
from interpose.handlers._warm_pool import MOST_EACH, MOST_KEYS, WarmInterpreter, python_command, warm_pool
from interpose.handlers.supervisors import pool
from interpose.replies import Ended

pytestmark = pytest.mark.slow

PYTHON = sys.executable
ENVIRONMENT = {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": "/nonexistent"}


@pytest.fixture(autouse=True)
def fresh_pools(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No interpreter of one test serves another, and none is left afterwards."""
    monkeypatch.setattr(_warm_pool, "PAUSE", 0.0)
    monkeypatch.setattr(_warm_pool, "BUSY", 0.0)
    before = set(zombies())
    yield
    for kept in (warm_pool, pool):
        kept.close()
        assert not [*kept._all, *kept._leaving]
        kept._reset()
    assert set(zombies()) <= before


class Script:
    """A script, and the two ways to run it."""

    def __init__(self, folder: Path, text: str, *arguments: str, name: str = "hook.py", **options: Any) -> None:
        self.path = folder / name
        self.path.write_text(textwrap.dedent(text))
        self.command = options.pop("command", [PYTHON, str(self.path), *arguments])
        self.env: dict[str, str] = {**ENVIRONMENT, **options.pop("env", {})}
        self.cwd: str = options.pop("cwd", str(folder))
        self.stdin: bytes = options.pop("stdin", b"")
        self.options = options

    def start(self, **more: str) -> Start:
        env = {os.fsencode(name): os.fsencode(value) for name, value in {**self.env, **more}.items()}
        return Start(self.command[0], self.command, env, self.cwd, **self.options)

    def run(self, **more: Any) -> Ended:
        """Run it as a hook is run, warm if it can be; what is not an option is a variable."""
        warm, isolation, limit = more.pop("warm", True), more.pop("isolation", None), more.pop("limit", 8.0)
        job = PreparedCommand(self.start(**more), self.stdin, isolation, warm)
        running = run_in_this_thread(lambda: job, time.monotonic() + limit, None)
        try:
            running.send(None)
        except StopIteration as end:
            ended: Ended = end.value
            return ended
        raise AssertionError("it waited for an event loop")

    def get_ready(self, **more: str) -> WarmInterpreter:
        """Wait until there is an interpreter for it."""
        found: list[WarmInterpreter] = []

        def is_ready() -> bool:
            taken = warm_pool.take_for(self.start(**more))
            if taken is not None:
                warm_pool.give_back(taken[0])
                found.append(taken[0])
            return taken is not None

        assert eventually(is_ready), "it does not get warm"
        return found[0]

    def warm(self, **more: str) -> Ended:
        """Run it in an interpreter that is ready."""
        self.get_ready(**more)
        ended = self.run(**more)
        assert ended.evidence["warm"] is True, ended.failure
        assert ended.evidence["isolation"] == "tree"
        return ended

    def is_cold(self, **more: Any) -> Ended:
        """Run it several times; it must never be warm, however long it had."""
        runs = []
        for _ in range(3):
            runs.append(self.run(**more))
            assert eventually(lambda: not any(map(still_starts, warm_pool._all)))
        assert [ended.evidence["warm"] for ended in runs] == [False] * 3
        return runs[-1]


def still_starts(interpreter: Any) -> bool:
    return bool(interpreter.is_usable() and not interpreter.prepared)


def shown(ended: Ended) -> tuple[Any, ...]:
    """What came of a run, without the addresses of objects."""
    said, complained = (re.sub("0x[0-9a-f]+", "0x", text) for text in (ended.stdout.decode("latin-1"), ended.stderr))
    return ended.status, said, complained, ended.failure and ended.failure.code


# The same, forked or started.

SAME: dict[str, str] = {
    "json": "import json, sys\njson.dump(json.load(sys.stdin), sys.stdout)",
    "nothing": "",
    "exit status": "import sys\nprint('said')\nsys.exit(3)",
    "exit with text": "import sys\nsys.exit('no: ö')",
    "exit with an object": "import sys\nsys.exit(['a'])",
    "exit with true": "import sys\nsys.exit(True)",
    "exit status out of range": "import sys\nsys.exit(-1)",
    "exit in a function": "def f():\n    raise SystemExit(7)\nf()",
    "exit in the middle": "import os\nprint('lost')\nos._exit(9)",
    "exception": "def f():\n    return 1 / 0\nprint('before')\nf()",
    "exception with a cause": "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('b') from e",
    "exception in another exception": "try:\n    {}['a']\nexcept KeyError:\n    1 / 0",
    "syntax error in a text": "exec('a b')",
    "name error": "import sys\nprnt(1)",
    "missing module": "import no_such_module",
    "excepthook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0], a[2].tb_lineno, a[2].tb_next)\n1 / 0",
    "excepthook that exits": "import sys\nsys.excepthook = lambda *a: sys.exit(5)\n1 / 0",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "killed by a signal": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
    "interrupted": "import os, signal\nos.kill(os.getpid(), signal.SIGINT)",
    "arguments": "import sys\nprint(sys.argv, getattr(sys, 'orig_argv', 0), sys.executable, sys.flags, sys.prefix)",
    "environment": "import os\nprint(os.environ, dict(os.environb))\nos.system('env')",
    "directory": "import os\nprint(os.getcwd())",
    "main": "import sys\nprint({n: v for n, v in globals().items() if n != '__loader__'}, sys.modules['__main__'].__dict__ is globals(), type(__loader__), __loader__.path)",
    "main guard": "if __name__ == '__main__':\n    print(__file__)",
    "docstring and annotations": "'''Text.'''\na: int = 1\nprint(__doc__, __annotations__)",
    "path": "import sys\nprint(sys.path)",
    "streams": "import sys\nfor s in (sys.stdin, sys.stdout, sys.stderr):\n    print(s, s.encoding, s.errors, s.line_buffering, s.write_through, s.seekable(), s.isatty(), s.mode, s.buffer)",
    "order of streams": "import sys\nprint('a')\nprint('b', file=sys.stderr)\nsys.stdout.flush()\nprint('c')",
    "reads twice": "import sys\nprint(repr(sys.stdin.read(3)), repr(sys.stdin.read()), repr(sys.stdin.read()))",
    "reads lines": "for line in open(0):\n    print(repr(line))",
    "input": "print(input('? '))\nprint(input())\ninput()",
    "does not read": "print(1)",
    "bytes": "import sys\nsys.stdout.buffer.write(bytes(range(256)))",
    "large output": "print('x' * 900_000)",
    "closes its output": "import os, sys\nprint(1, flush=True)\nos.close(1)\nos.close(2)",
    "cannot flush": "import os, sys\nprint(1)\nos.close(1)",
    "another stdout": "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, 'latin-1')\nprint('ö')",
    "redirected": "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    print(1)\nprint(2)",
    "atexit": "import atexit\natexit.register(print, 'first')\natexit.register(lambda: print('last', globals().get('__file__')))\nprint('ends')",
    "atexit after exit": "import atexit, sys\natexit.register(lambda: print('file' if '__file__' in globals() else 'none'))\nsys.exit(4)",
    "atexit that breaks": "import atexit\natexit.register(lambda: 1 / 0)",
    "atexit that exits": "import atexit, os\natexit.register(os._exit, 6)",
    "a thread": "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()\nprint('main')",
    "a daemon thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(9,), daemon=True).start()\nprint(threading.active_count(), threading.main_thread() is threading.current_thread())",
    "an executor": "from concurrent.futures import ThreadPoolExecutor\nprint(list(ThreadPoolExecutor(2).map(abs, [-1, -2])))",
    "asyncio": "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    return 'done'\nprint(asyncio.run(main()))",
    "a child": "import subprocess, sys\nprint(subprocess.run(['cat'], input=b'a', capture_output=True).stdout)",
    "fork": "import os\nif os.fork() == 0:\n    print('child', flush=True)\n    os._exit(3)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
    "fork that ends as a script": "import os, sys\nif os.fork():\n    os.wait()\n    print('parent')\nelse:\n    print('child')",
    "multiprocessing": "import multiprocessing\nif __name__ == '__main__':\n    c = multiprocessing.get_context('fork')\n    p = c.Process(target=print, args=('x',), kwargs={'flush': True})\n    p.start()\n    p.join()\n    print(p.exitcode)",
    "a file that is not closed": "f = open('out.txt', 'w')\nf.write('kept')\nimport os\nos.system('wc -c < out.txt')",
    "__del__ of a global": "class A:\n    def __del__(self):\n        print('gone', A is not None)\na = A()\nb = a",
    "__del__ in a cycle": "class A:\n    def __del__(self):\n        print('gone')\na = A()\na.a = a",
    "__del__ held by a module": "import json\nclass A:\n    def __del__(self):\n        print('gone')\njson.kept = A()",
    "__del__ after exit": "import sys\nclass A:\n    def __del__(self):\n        print('gone')\na = A()\nsys.exit(1)",
    "__del__ that breaks": "class A:\n    def __del__(self):\n        raise ValueError('x')\na = A()",
    "a file held by a module": "import json\njson.kept = open('/dev/stdout', 'w')\njson.kept.write('kept')",
    "a generator at its end": "def g():\n    try:\n        yield\n    finally:\n        print('closed')\na = g()\nnext(a)",
    "a callback of a weak reference": "import os, weakref\nclass A: pass\na = A()\nr = weakref.ref(a, lambda _, write=os.write: write(1, b'gone'))",
    "weakref.finalize": "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'finalized')",
    "a temporary directory": "import tempfile, os\nd = tempfile.TemporaryDirectory(dir='.')\nprint(os.path.isdir(d.name))",
    "logging": "import logging\nlogging.basicConfig(format='%(relativeCreated)d %(levelname)s %(name)s %(module)s %(message)s')\nr = logging.makeLogRecord({}).relativeCreated\nprint(0 <= r < 5000)\nlogging.Formatter()\nlogging.getLogger().handlers[0].setFormatter(logging.Formatter('%(levelname)s'))\nlogging.warning('w')",
    "warnings": "import warnings\nwarnings.warn('w')\nwarnings.warn('d', DeprecationWarning)",
    "signals": "import signal\nprint([(s, signal.getsignal(s)) for s in (2, 10, 13, 15, 17, 25)], signal.pthread_sigmask(signal.SIG_BLOCK, ()))",
    "group": "import os\nprint(os.getpgrp() == os.getpid(), os.getsid(0) == os.getppid(), os.getppid() != 1)",
    "limits": "import resource, os\nprint(resource.getrlimit(resource.RLIMIT_CORE), os.nice(0))\nos.umask(0o22)",
    "first descriptor": "import os\nprint(os.open('/dev/null', 0), os.get_inheritable(0), os.get_inheritable(1))",
    "garbage collection": "import gc\nprint(gc.isenabled(), gc.get_threshold(), gc.garbage)",
    "recursion": "import sys\nprint(sys.getrecursionlimit())\ndef f(): f()\ntry: f()\nexcept RecursionError as e: print(e)",
    "exec": "import os\nos.execv('/bin/echo', ['echo', 'other'])",
    "from future": "from __future__ import annotations\ndef f(a: b): ...\nprint(f.__annotations__)",
    "coding": "# -*- coding: latin-1 -*-\nprint(ascii('\\xe9'))",
    "pickles its classes": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))))",
    "inspects itself": "import inspect\ndef f(): ...\nprint(inspect.getsource(f))",
    "random": "import random\nrandom.seed(1)\nprint(random.random())",
}
"""Scripts by what they try out. They get three lines on standard input, the first of which is JSON."""


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_a_script_cannot_tell(text: str, tmp_path: Path) -> None:
    stdin = b"[1, 2]" if text.startswith("import json") else b'{"a": 1}\nsecond\nthird'
    script = Script(tmp_path, text, "-x", "a b", stdin=stdin, env={"A": "b\udcff", "B": ""})

    cold = script.run(warm=False, isolation="tree", INTERPOSE_TOOL_NAME="Bash")
    script.get_ready(INTERPOSE_TOOL_NAME="Read")

    assert shown(script.warm(INTERPOSE_TOOL_NAME="Bash")) == shown(cold)


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "latin-1:replace"},
        {"PYTHONUNBUFFERED": "1"},
        {"PYTHONUTF8": "1", "LC_ALL": "C"},
        {"LC_ALL": "C", "LANG": ""},
        {"PYTHONCOERCECLOCALE": "0", "LC_ALL": "POSIX", "PYTHONUTF8": "0"},
        {"PYTHONSAFEPATH": "1"},
        {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "7", "PYTHONOPTIMIZE": "1"},
        {"PYTHONDEVMODE": "1"},
        {"PYTHONPATH": "/nonexistent:/usr/share"},
        {"TZ": "Asia/Tokyo"},
    ],
    ids=str,
)
def test_variables_for_the_interpreter_act(env: dict[str, str], tmp_path: Path) -> None:
    text = """
        import os, sys, time
        for s in (sys.stdin, sys.stdout, sys.stderr):
            print(s.encoding, s.errors, s.line_buffering, s.write_through, s.buffer)
        print(sys.flags, sys.path, hash("a") if sys.flags.hash_randomization == 0 else "", time.tzname, os.environ)
        assert False
    """
    script = Script(tmp_path, text, env=env)

    assert shown(script.warm()) == shown(script.run(warm=False, isolation="tree"))


COMMANDS = {
    "shebang": f"#!{PYTHON}",
    "shebang with options": f"#!{PYTHON} -uE",
    "env": "#!/usr/bin/env python3",
}


@pytest.mark.parametrize("first_line", COMMANDS.values(), ids=COMMANDS)
def test_an_executable_script_names_its_interpreter(first_line: str, tmp_path: Path) -> None:
    path = f"{Path(PYTHON).parent}:{os.defpath}"
    text = f"{first_line}\nimport sys\nprint(sys.argv, sys.executable, sys.flags, sys.path, __file__)\n1 / 0"
    script = Script(tmp_path, text, name="hook", command=[str(tmp_path / "hook"), "a"], env={"PATH": path})
    script.path.chmod(0o755)

    assert shown(script.warm()) == shown(script.run(warm=False, isolation="tree"))


@pytest.mark.parametrize("word", ["hook.py", "./hook.py", "../link/hook.py", "linked.py"])
def test_a_script_may_be_named_from_where_it_runs(word: str, tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    (folder / "linked.py").symlink_to("other/hook.py")
    (folder / "other").mkdir()
    text = "import sys\nprint(sys.argv, sys.path, __file__)\n1 / 0"
    script, _ = Script(folder, text), Script(folder / "other", text)
    script.command, script.cwd = [PYTHON, word], str(tmp_path / "link")

    assert shown(script.warm()) == shown(script.run(warm=False, isolation="tree"))


OTHERS = sorted((Path.home() / ".pyenv" / "versions").glob("3.*/bin/python3"))


def test_a_database_that_a_script_leaves_open_is_closed(tmp_path: Path) -> None:
    text = """
        import sqlite3
        kept = sqlite3.connect("data.db")
        kept.execute("pragma journal_mode=wal")
        kept.execute("create table if not exists t(a)")
        kept.commit()
    """

    assert shown(Script(tmp_path, text).warm()) == (0, "", "", None)
    assert not list(tmp_path.glob("data.db-*")), "its log is still there, as if the process had been killed"


LEAVES = {
    "an exception": "1 / 0",
    "nothing": "",
    "an object with a finaliser": "class A:\n    def __del__(self):\n        print('gone')\na = A()",
    "a file": "kept = open('/dev/stdout', 'w')\nkept.write('kept')",
    "a file in a module": "json.kept = open('/dev/stdout', 'w')\njson.kept.write('kept')",
    "a generator": "def g():\n    try:\n        yield\n    finally:\n        print('closed')\na = g()\nnext(a)",
}
"""What a script may have left when it ends, of which some must not be lost without the interpreter's shutdown."""


@pytest.mark.parametrize("leaves", LEAVES.values(), ids=LEAVES)
@pytest.mark.parametrize("python", OTHERS or [Path("/usr/bin/python3")], ids=lambda path: path.parts[-3])
def test_any_interpreter_runs_its_scripts(python: Path, leaves: str, tmp_path: Path) -> None:
    """Warm from Python 3.8 on; an older one refuses, and the script runs all the same."""
    if not python.exists():
        pytest.skip("no other Python here")
    text = f"import json, sys\nprint(sys.version_info[:2], sys.path, __file__, json.load(sys.stdin))\n{leaves}"
    script = Script(tmp_path, text, command=[str(python), str(tmp_path / "hook.py")], stdin=b"{}")
    cold = script.run(warm=False, isolation="tree")

    if cold.stdout.startswith((b"(3, 6)", b"(3, 7)")):
        assert shown(script.is_cold()) == shown(cold)
    else:
        assert shown(script.warm()) == shown(cold)


# What is noticed.


def test_every_event_has_a_world_of_its_own(tmp_path: Path) -> None:
    text = """
        import json, os, sys, random
        print(os.environ["INTERPOSE_SESSION_ID"], "seen" in vars(json), os.environ.get("LEFT"), os.getcwd(), sys.argv)
        json.seen = 1
        os.environ["LEFT"] = "x"
        os.chdir("/")
        sys.argv.append("more")
        print(random.random(), file=sys.stderr)
    """
    script = Script(tmp_path, text)
    both = [script.warm(INTERPOSE_SESSION_ID=name) for name in ("one", "two")]

    words = f"False None {tmp_path} {[str(script.path)]}\n"
    assert [ended.stdout.decode() for ended in both] == [f"one {words}", f"two {words}"]
    assert both[0].stderr != both[1].stderr


def test_a_script_that_has_changed_is_noticed_at_once(tmp_path: Path) -> None:
    script = Script(tmp_path, "print(1)")
    assert script.warm().stdout == b"1\n"
    script.path.write_text("print(2)")  # as long as it was before

    assert script.run().stdout == b"2\n"
    assert script.warm().stdout == b"2\n"


def test_a_module_beside_the_script_is_loaded_anew_every_time(tmp_path: Path) -> None:
    script = Script(tmp_path, "import sys\nsys.dont_write_bytecode = True\nimport beside\nprint(beside.A)")
    for number in (1, 2, 3):
        (tmp_path / "beside.py").write_text(f"A = {number}")
        assert script.warm().stdout == b"%d\n" % number


@pytest.mark.parametrize("place", ["current/hook.py", "hook.py"], ids=["a folder", "a script"])
def test_a_link_that_leads_elsewhere_is_noticed(place: str, tmp_path: Path) -> None:
    """Even if it leads to the very same file: what lies beside it is another."""
    script = Script(
        tmp_path, "import beside\nprint(beside.A)", name="original.py", env={"PYTHONDONTWRITEBYTECODE": "1"}
    )
    for release in ("one", "two"):
        (tmp_path / release).mkdir()
        (tmp_path / release / "hook.py").hardlink_to(script.path)
        (tmp_path / release / "beside.py").write_text(f"A = {release!r}")
    script.command = [PYTHON, str(tmp_path / place)]
    for release in ("one", "two"):
        link = tmp_path / place.partition("/")[0]
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / release / ("hook.py" if place == "hook.py" else ""))

        assert script.run().stdout.decode() == f"{release}\n"
        assert script.warm().stdout.decode() == f"{release}\n"


@pytest.mark.parametrize("name", ["json", "struct"], ids=["one the script needs", "one that only we need"])
def test_a_module_beside_the_script_takes_the_place_of_one_of_the_standard_library(name: str, tmp_path: Path) -> None:
    script = Script(tmp_path, f"import {name}\nprint({name}.__file__)")
    assert script.warm().stdout.startswith(sys.base_prefix.encode())
    beside = tmp_path / f"{name}.py"
    beside.touch()

    assert script.run().stdout.decode() == f"{beside}\n"
    if name == "json":  # it is not loaded ahead then
        assert script.warm().stdout.decode() == f"{beside}\n"
    else:
        assert script.is_cold().stdout.decode() == f"{beside}\n"


def test_a_module_on_the_python_path_takes_the_place_of_one_of_the_standard_library(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    script = Script(tmp_path, "import json\nprint(json.__file__)", env={"PYTHONPATH": str(tmp_path / "lib")})
    assert script.warm().stdout.startswith(sys.base_prefix.encode())
    (tmp_path / "lib" / "json.py").touch()

    assert script.run().stdout.decode() == f"{tmp_path}/lib/json.py\n"


def test_another_virtual_environment_is_another_interpreter(tmp_path: Path) -> None:
    """One is made by hand, then changed in place: its packages, and then where it finds its standard library."""
    binary = tmp_path / "env" / "bin" / "python3"
    packages = tmp_path / "env" / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    binary.parent.mkdir(parents=True)
    packages.mkdir(parents=True)
    binary.symlink_to(os.path.realpath(PYTHON))
    settings = tmp_path / "env" / "pyvenv.cfg"
    settings.write_text(f"home = {Path(os.path.realpath(PYTHON)).parent}\ninclude-system-site-packages = false\n")
    script = Script(tmp_path, "import sys\nprint(sys.prefix, sys.path[-1], 'there' in sys.modules)")
    script.command = [str(binary), str(script.path)]
    assert script.warm().stdout.decode() == f"{tmp_path}/env {packages} False\n"

    (packages / "there.py").touch()
    (packages / "there.pth").write_text("import there\n")
    assert script.run().stdout.endswith(b"True\n")
    assert script.warm().stdout.endswith(b"True\n")
    settings.unlink()
    assert script.run().stdout.startswith(os.path.realpath(sys.base_prefix).encode())


def test_other_variables_need_another_interpreter(tmp_path: Path) -> None:
    script = Script(tmp_path, "import sys\nprint(sys.stdout.encoding)")
    assert script.warm().stdout == b"utf-8\n"

    assert script.run(PYTHONIOENCODING="latin-1").stdout == b"iso8859-1\n"
    assert script.warm(PYTHONIOENCODING="latin-1").stdout == b"iso8859-1\n"
    assert script.warm().stdout == b"utf-8\n"


# What runs cold.

COLD: dict[str, tuple[str, dict[str, Any]]] = {
    "does not compile": ("print(", {}),
    "warns when it is compiled": ("'\\d'\nprint(1 is 1)", {}),
    "is not Python": ("\0", {}),
    "says something at its start": ("print(1)", {"env": {"PYTHONWARNINGS": "nonsense"}}),
    "goes on after its script": ("print(1)", {"env": {"PYTHONINSPECT": "1"}}),
    "a relative path for modules": ("print(1)", {"env": {"PYTHONPATH": "lib"}}),
    "options with a value": ("print(1)", {"command": [PYTHON, "-X", "dev", "hook.py"]}),
    "a module": ("print(1)", {"command": [PYTHON, "-m", "hook"]}),
    "no script": ("print(1)", {"command": [PYTHON]}),
    "a shell": ("print(1)", {"command": ["/bin/sh", "-c", "echo 1"]}),
    "missing": ("print(1)", {"command": [PYTHON, "/nonexistent.py"]}),
    "a missing interpreter": ("print(1)", {"command": ["/nonexistent/python3", "hook.py"]}),
    "a wrapper": ("print(1)", {"command": ["wrapper"]}),
    "env with words": ("#!/usr/bin/env -S python3 -u\nprint(1)", {"command": ["hook.py"]}),
    "a line that ends in CR": (f"#!{PYTHON}\r\nprint(1)", {"command": ["hook.py"]}),
    "another interpreter": ("#!/bin/sh\necho 1", {"command": ["hook.py"]}),
}


@pytest.mark.parametrize(("text", "options"), COLD.values(), ids=COLD)
def test_what_cannot_be_warm_runs_as_ever(text: str, options: dict[str, Any], tmp_path: Path) -> None:
    wrapper = tmp_path / "python3"
    wrapper.write_text(f'#!/bin/sh\nexec {PYTHON} "$@"\n')
    script = Script(tmp_path, text, **options)
    for path in (wrapper, script.path):
        path.chmod(0o755)
    if script.command == ["wrapper"]:
        script.command = [str(wrapper), str(script.path)]
    elif script.command == ["hook.py"]:
        script.command = [str(script.path)]

    cold = script.run(warm=False, isolation="tree")

    assert shown(script.is_cold()) == shown(cold)


@pytest.mark.parametrize("isolation", ["group", "namespace"])
def test_who_asks_for_another_isolation_gets_that(isolation: str, tmp_path: Path) -> None:
    ended = Script(tmp_path, "print(1)").is_cold(isolation=isolation)

    assert ended.evidence["isolation"] == isolation or ended.failure is not None
    assert not warm_pool._all


def test_a_folder_that_is_gone_is_a_failure_as_ever(tmp_path: Path) -> None:
    script = Script(tmp_path, "print(1)", cwd=str(tmp_path / "gone"))
    (tmp_path / "gone").mkdir()
    script.get_ready()
    (tmp_path / "gone").rmdir()

    ended = script.run()
    assert ended.failure is not None
    assert ended.failure.code == "cwd_missing"


def test_a_line_for_the_shell_cannot_be_warm() -> None:
    with pytest.raises(BadHook, match=r"warm: .*shell.*\(handler:"):
        Hooks().register("PreToolUse", command="python3 x.py", warm=True)


def test_only_paths_of_interpreters_are_taken_for_one() -> None:
    assert python_command(Start("/bin/python3", ["/bin/python3", "-uB", "x.py", "-v"], {})) == (
        "/bin/python3", "/bin/python3", ("-uB",), ("x.py", "-v"),
    )  # fmt: skip
    for words in (["/bin/python3-config", "x.py"], ["/bin/python2", "x.py"], ["/bin/python3", "-"], ["python3", "x"]):
        assert python_command(Start(words[0], words, {})) is None


# How it ends.

HANG = """
    import os, signal, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        os.fork()
        time.sleep(600)
    print("started", flush=True)
    time.sleep(600)
"""


def test_what_hangs_is_ended_in_time_with_all_it_has_started(tmp_path: Path) -> None:
    script = Script(tmp_path, HANG)
    interpreter = script.get_ready()
    with within(0.3 + PROMISE + BUSY):
        ended = script.run(limit=0.3)

    assert ended.failure is not None
    assert ended.failure.code == "timeout"
    assert ended.evidence["warm"] is True
    assert ended.stdout == b"started\n"
    assert below(interpreter.pid) <= 1, "more is left than the child that waits for the next run"
    assert Script(tmp_path, "print(1)").warm().stdout == b"1\n"


def test_what_is_left_behind_is_ended_and_the_interpreter_goes_on(tmp_path: Path) -> None:
    script = Script(tmp_path, HANG.replace('print("started", flush=True)\n    time.sleep(600)', "sys.exit(3)"))
    interpreter = script.get_ready()

    assert script.run().status == 3
    assert below(interpreter.pid) <= 1
    assert script.get_ready() is interpreter
    assert script.warm().evidence["survivors"] is True


def test_a_term_is_asked_for_first(tmp_path: Path) -> None:
    text = """
        import os, signal, time
        signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"tidied up\\n"))
        time.sleep(600)
    """
    script = Script(tmp_path, text)
    script.get_ready()

    # A tenth of a second is not much on a busy machine; that it is given at all is what counts.
    assert b"tidied up\n" in [script.run(limit=0.5).stdout for _ in range(3)]


def below(pid: int) -> int:
    """How many processes live below this one."""
    children = [int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(name) == pid]
    return len(children) + sum(map(below, children))


def parent_of(name: str) -> int:
    try:
        state, parent = Path(f"/proc/{name}/stat").read_text().rpartition(") ")[2].split()[:2]
    except (OSError, ValueError):
        return -1
    return int(parent) if state != "Z" else -1


HOST = """
    import asyncio, os, signal, sys
    from interpose import Hooks
    from interpose.handlers._warm_pool import warm_pool
    hooks = Hooks()
    hooks.register("Stop", {script!r}, type="command", warm=True, env={{"MARK": {mark!r}}})
    async def main():
        while not (await hooks.fire("Stop")).results[0].evidence["warm"]:
            await asyncio.sleep(0.01)
        os.environ["LC_HANG"] = "yes"
        open({hang!r}, "w").close()
        print("warm", flush=True)
        await hooks.fire("Stop")
    asyncio.run(main())
"""


def test_a_host_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    hang, fifo, mark = tmp_path / "hang", tmp_path / "fifo", f"warm{os.getpid()}{time.monotonic_ns()}"
    os.mkfifo(fifo)
    text = f"""
        import os, time
        if os.path.exists({str(hang)!r}):
            if os.fork() == 0:
                os.setsid()
            kept = open({str(fifo)!r}, "w")
            time.sleep(600)
    """
    script = Script(tmp_path, text)
    with Program(HOST.format(script=str(script.path), hang=str(hang), mark=mark)) as host:
        assert host.line() == "warm"
        with fifo.open("rb") as alive:
            os.set_blocking(alive.fileno(), False)
            assert select.select([alive], [], [], 0)[0] == []
            host.send(signal.SIGKILL)

            assert eventually(lambda: alive.read() == b""), "the script outlives its host"
    assert eventually(lambda: not living(mark)), living(mark)


def test_a_host_that_ends_takes_its_interpreters_along(tmp_path: Path) -> None:
    script, mark = Script(tmp_path, "print()"), f"warm{os.getpid()}{time.monotonic_ns()}"
    text = HOST.format(script=str(script.path), hang=str(tmp_path / "hang"), mark=mark)
    with within(BUSY), Program(text) as host:
        assert host.line() == "warm"
        assert host.end() == (0, "", "")
    assert eventually(lambda: not living(mark)), living(mark)


def test_an_interpreter_that_is_killed_during_a_run_is_a_failure_and_not_a_second_run(tmp_path: Path) -> None:
    text = "import os, signal\nprint('x', end='', file=open('ran', 'a'), flush=True)\nos.kill(os.getppid(), signal.SIGKILL)\nsignal.pause()"
    script, before = Script(tmp_path, text), below(os.getpid())
    script.get_ready()
    ended = script.run()

    assert ended.failure is not None
    assert ended.failure.code == "supervisor_lost"
    assert (tmp_path / "ran").read_text() == "x"
    assert below(os.getpid()) <= before


def test_a_child_that_is_killed_while_it_waits_is_replaced(tmp_path: Path) -> None:
    script = Script(tmp_path, "print(1)")
    interpreter = script.get_ready()
    assert eventually(lambda: below(interpreter.pid) == 1)
    (child,) = (int(name) for name in os.listdir("/proc") if name.isdigit() and parent_of(name) == interpreter.pid)
    os.kill(child, signal.SIGKILL)
    assert eventually(lambda: parent_of(str(child)) == -1)

    assert script.run().stdout == b"1\n"
    assert script.get_ready() is interpreter


# The pool.


def test_many_runs_leave_neither_descriptors_nor_zombies(tmp_path: Path) -> None:
    script = Script(tmp_path, "print(1)")
    interpreter = script.get_ready()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        assert script.run().stdout == b"1\n"

    more = len(warm_pool._all) - 1
    assert more < MOST_EACH
    assert eventually(lambda: len(os.listdir("/proc/self/fd")) <= before + 2 * more + 2 * len(pool._all))
    assert eventually(lambda: len(os.listdir(f"/proc/{interpreter.pid}/fd")) == 6)  # three, host, socket, child
    assert eventually(lambda: below(interpreter.pid) == 1)  # the last one may still be taking leave


def test_a_busy_script_gets_a_second_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_warm_pool, "BUSY", 60.0)
    script = Script(tmp_path, "print(1)")
    first = script.get_ready()
    assert eventually(lambda: script.get_ready() is not first)
    for _ in range(5):
        assert script.run().evidence["warm"]

    assert len(warm_pool._all) == MOST_EACH


def test_those_not_used_for_longest_make_room(tmp_path: Path) -> None:
    scripts = [Script(tmp_path, f"print({number})", name=f"{number}.py") for number in range(MOST_KEYS + 1)]
    for script in scripts:
        warm_pool.take_for(script.start())

    assert len(warm_pool._all) == MOST_KEYS
    assert scripts[-1].get_ready() in warm_pool._all


def test_variables_that_always_change_do_not_start_one_interpreter_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_warm_pool, "PAUSE", 60.0)
    script = Script(tmp_path, "print(1)")
    for number in range(5):
        script.run(TURN=str(number))

    assert len(warm_pool._all) == 1


def test_a_forked_child_has_interpreters_of_its_own(tmp_path: Path) -> None:
    script = Script(tmp_path, "print(1)")
    interpreter = script.get_ready()
    child = os.fork()
    if not child:
        good = False
        try:
            good = not warm_pool._all and interpreter.fileno() == -1 and script.run().stdout == b"1\n"
            warm_pool.close()
            pool.close()
        finally:
            os._exit(0 if good else 1)

    assert os.waitpid(child, 0)[1] == 0
    assert script.warm().stdout == b"1\n"


def test_a_hook_says_whether_it_was_warm(tmp_path: Path) -> None:
    script = Script(tmp_path, 'print(\'{"decision": "deny", "reason": "warm"}\')')
    hooks = Hooks()
    hooks.register("PreToolUse", str(script.path), type="command", warm=True)
    seen: list[Mapping[str, Any]] = []

    def is_warm() -> bool:
        outcome = hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={})
        assert outcome.decision == "deny"
        seen.append(outcome.results[0].evidence)
        return bool(seen[-1]["warm"])

    assert eventually(is_warm)
    assert seen[0]["warm"] is False
