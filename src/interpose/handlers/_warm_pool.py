"""Which commands can run warm, and the pool of warm interpreters.

An interpreter (the program ``_warm_interpreter.py``) is prepared for one script in one environment, and reports the
files that it depends on. They are checked before every run. If one has changed, or a new module would shadow a loaded
one, the interpreter is closed and another one is started. A command never waits for an interpreter: without one it runs
cold.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from ..replies import Failure, HookFailed
from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex
from ._process import Start, first_line
from ._tree import SupervisedTree
from .supervisors import Frame, SupervisorConnection, SupervisorPool, framed

__all__ = ["PythonCommand", "WarmInterpreter", "WarmPool", "python_command", "start_warm", "warm_pool"]

PROGRAM = str(Path(__file__).with_name("_warm_interpreter.py"))
MOST_KEYS = 8  # pairs of script and environment that interpreters are kept for
MOST_EACH = 2  # interpreters for one of these pairs
PAUSE = 1.0  # seconds between the starts of two interpreters for the same script
BUSY = 0.02  # seconds until an interpreter can run again: for a run that comes sooner a second one is started
REFUSED = 60.0  # seconds until a script that was refused is tried again, unless it has changed
SETTLED = 0.02  # seconds after which a further change of a folder gets another timestamp

Stamp = tuple[int, ...]
Key = tuple[Any, ...]

_PYTHON = regex(r"python(3(\.\d+)?)?")
_FLAG = regex(r"-[BEIOPSbqsu]+")  # options without a value that only change how an interpreter starts
_SHEBANG = regex(rb"#![ \t]*(\S+)(?:[ \t]+(\S+))?[ \t]*\n")
_OF_THE_EVENT = (b"INTERPOSE_", b"MASSGEN_", b"CLAUDE_")
_OF_THE_MOMENT = frozenset({b"PWD", b"OLDPWD", b"SHLVL", b"_", b"TRACEPARENT", b"TRACESTATE"})


class PythonCommand(NamedTuple):
    """A command that runs a Python script: the interpreter, its argv[0], its options, and the words that follow."""

    interpreter: str
    name: str
    flags: tuple[str, ...]
    words: tuple[str, ...]
    """The script, as it was written in the command, and its arguments."""


def python_command(start: Start) -> PythonCommand | None:
    """Return the parts of a command that runs a Python script; None for any other command."""
    path, argv = start.path, start.argv
    if _PYTHON.fullmatch(os.path.basename(path)):
        return _of_words(path, argv[0], argv[1:])
    stamp = _stamp(path)
    if stamp is None:
        return None
    line = _shebang(path, stamp)
    if line is None:
        return None
    name, option = line
    if os.path.basename(name) == "env":
        if not _PYTHON.fullmatch(option):
            return None
        found = _found(option, os.fsdecode(start.env.get(b"PATH", b"")))
        return _of_words(found, option, (path, *argv[1:])) if found else None
    if not _PYTHON.fullmatch(os.path.basename(name)):
        return None
    return _of_words(name, name, (*((option,) if option else ()), path, *argv[1:]))


def _of_words(interpreter: str, name: str, words: Sequence[str]) -> PythonCommand | None:
    flags = 0
    while flags < len(words) and _FLAG.fullmatch(words[flags]):
        flags += 1
    if flags == len(words) or words[flags][:1] in {"", "-"} or not os.path.isabs(interpreter):
        return None
    return PythonCommand(interpreter, name, tuple(words[:flags]), tuple(words[flags:]))


@lru_cache(64)
def _shebang(path: str, stamp: Stamp) -> tuple[str, str] | None:
    """Return the interpreter and the option in the first line of an executable script."""
    line = _SHEBANG.fullmatch(first_line(path))
    if line is None or not os.access(path, os.X_OK):
        return None
    return os.fsdecode(line[1]), os.fsdecode(line[2] or b"")


@lru_cache(64)
def _found(name: str, path: str) -> str:
    """Return where PATH leads to a program; nothing if that depends on the directory of the run."""
    for folder in path.split(os.pathsep):
        if not os.path.isabs(folder):
            return ""
        candidate = os.path.join(folder, name)
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return ""


def _stamp(path: str | bytes) -> Stamp | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, status.st_size, status.st_mode)


class WarmInterpreter(SupervisorConnection):
    """A connection to one warm interpreter."""

    __slots__ = ("_checked", "_folders", "_names", "_watched", "key", "place", "prepared", "refused")

    def __init__(self, key: Key, how: PythonCommand, script: str, env: Mapping[bytes, bytes]) -> None:
        super().__init__(partial(_spawn, how, env))
        self.key, self.place = key, (how.interpreter, script)
        self.prepared = False
        self.refused = ""
        self._checked: dict[bytes, Stamp | None] = {}

    def prepare(self, how: PythonCommand) -> None:
        """Ask it to prepare its script; it sets ``prepared`` or ``refused``."""
        words = [os.fsencode(word) for word in (how.name, *how.flags)]
        script, word = os.fsencode(self.place[1]), os.fsencode(how.words[0])
        self._send(framed({"op": "prepare", "words": words, "script": script, "word": word}))

    def _note(self, frame: Frame, frames: list[Frame]) -> None:
        if frame[0] == "ready":
            self.prepared = True
            _, self._watched, names, self._folders = frame
            self._names = frozenset(names)
        elif frame[0] == "refused":
            self.refused = frame[1]
        else:
            super()._note(frame, frames)

    def is_usable(self) -> bool:
        """Return whether it can be used, now or when it is prepared."""
        try:
            return not self.receive() and not self.refused and (not self.prepared or self._is_current())
        except OSError as error:
            if not self.prepared:
                self.refused = self.refused or str(error)
            return False

    def _is_current(self) -> bool:
        """Return whether a fresh interpreter would load the same files."""
        for path, stamp in self._watched:
            if _stamp(path) != stamp:
                return False
        for folder in self._folders:
            stamp = _stamp(folder)
            if stamp == self._checked.get(folder, ()):
                continue
            if stamp is not None:
                if any(os.fsdecode(name).partition(".")[0] in self._names for name in os.listdir(folder)):
                    return False
                if time.time() - stamp[0] / 1e9 < SETTLED:
                    continue
            self._checked[folder] = stamp
        return True


def _spawn(how: PythonCommand, env: Mapping[bytes, bytes], theirs: int) -> int:
    """Start an interpreter like a cold start, but with our program.

    Its streams are the two ends of one pipe: of the same kind as a hook's, and what it writes at its start can be read.
    """
    with open(how.interpreter, "rb", 0) as file:
        if file.read(4) != b"\x7fELF":
            raise FileNotFoundError("a wrapper script may run different interpreters")
    reader, writer = os.pipe()
    ends: list[int] = []
    try:
        for descriptor in (reader, writer, theirs):  # above the numbers that they get there
            ends.append(fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10))  # noqa: PERF401 - all or those made
        signals = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
        order = zip((ends[0], ends[1], ends[1], ends[2]), range(4), strict=True)
        return os.posix_spawn(
            how.interpreter,
            [how.name, *how.flags, PROGRAM, "3"],
            env,
            file_actions=[(os.POSIX_SPAWN_DUP2, ours, number) for ours, number in order],
            setsid=True,
            setsigmask=signals,
            setsigdef=signals,
        )
    finally:
        for descriptor in (reader, writer, *ends):
            os.close(descriptor)


class WarmPool(SupervisorPool):
    """Keeps warm interpreters by script and environment; closes those of the pair that was unused for longest."""

    def _reset(self) -> None:
        super()._reset()
        self._waiting: dict[Key, list[WarmInterpreter]] = {}
        self._begun: dict[tuple[str, str], tuple[float, Stamp | None]] = {}

    def take_for(self, start: Start) -> tuple[WarmInterpreter, PythonCommand] | None:
        """Return an interpreter that is prepared for this command; if there is none, start one for the next time."""
        how = python_command(start)
        if how is None or not all(map(os.path.isabs, _python_path(start.env))):
            return None
        script = how.words[0]
        if not os.path.isabs(script):
            script = os.path.join(os.path.realpath(start.cwd or "."), script)
        link, folder = os.lstat(script), os.stat(os.path.dirname(script))  # where a symbolic link in the path leads
        way = (link.st_ino, link.st_dev, link.st_mtime_ns, folder.st_ino, folder.st_dev)
        key = (*how[:3], script, how.words[0], way, _lasting(start.env))
        self.reap()
        found = self._first(self._make_room(key))
        if found is None or time.monotonic() - found.since < BUSY:
            self._begin(key, how, script, start.env)
        return (found, how) if found is not None else None

    def _first(self, waiting: list[WarmInterpreter]) -> WarmInterpreter | None:
        """Take the interpreter that was idle for longest; close those that are not usable any more."""
        found: WarmInterpreter | None = None
        aside: list[WarmInterpreter] = []
        while found is None:
            with self._lock:
                if not waiting:
                    break
                interpreter = waiting.pop(0)
            if not interpreter.is_usable():
                if interpreter.refused:
                    self._begun[interpreter.place] = (time.monotonic(), _stamp(interpreter.place[1]))
                self.discard(interpreter)
            elif interpreter.prepared:
                found = interpreter
            else:
                aside.append(interpreter)
        for interpreter in aside:
            self.give_back(interpreter)
        return found

    def _make_room(self, key: Key) -> list[WarmInterpreter]:
        """Return the idle interpreters of a key; close those of the key that was unused for longest."""
        left_over: list[WarmInterpreter] = []
        with self._lock:
            waiting = self._waiting[key] = self._waiting.pop(key, [])
            while len(self._waiting) > MOST_KEYS:
                left_over += self._waiting.pop(next(iter(self._waiting)))
        for interpreter in left_over:
            self.discard(interpreter)
        return waiting

    def _begin(self, key: Key, how: PythonCommand, script: str, env: Mapping[bytes, bytes]) -> None:
        """Start an interpreter for the next time, unless there are enough, one was just started, or it was refused."""
        stamp, now, place = _stamp(script), time.monotonic(), (how.interpreter, script)
        with self._lock:
            began, refused = self._begun.get(place, (-REFUSED, None))
            if stamp is None or now < began + (REFUSED if refused == stamp else PAUSE):
                return
            alike = [one for one in self._all if isinstance(one, WarmInterpreter) and one.key == key]
            if len(alike) >= MOST_EACH or not all(one.prepared for one in alike):
                return
            self._begun.pop(place, None)
            self._begun[place] = (now, None)
            if len(self._begun) > MOST_KEYS * 4:
                del self._begun[next(iter(self._begun))]
        try:
            interpreter = WarmInterpreter(key, how, script, env)
        except (OSError, ValueError):
            self._begun[place] = (now, stamp)
            return
        with self._lock:
            self._all.add(interpreter)
        try:
            interpreter.prepare(how)
        except OSError:  # it has ended; the next call finds that
            pass
        self.give_back(interpreter)

    def give_back(self, supervisor: SupervisorConnection) -> None:
        """Keep it for the next run; close it if it still runs something, or if its key is not kept any more."""
        assert isinstance(supervisor, WarmInterpreter)  # noqa: S101 - for the type checker
        with self._lock:
            waiting = self._waiting.get(supervisor.key)
            if keeps := supervisor.idle and supervisor in self._all and waiting is not None:
                waiting.append(supervisor)
                supervisor.since = time.monotonic()
        if not keeps:
            self.discard(supervisor)

    def close(self) -> None:
        """Close all."""
        with self._lock:
            self._waiting.clear()
        super().close()


def _python_path(env: Mapping[bytes, bytes]) -> list[bytes]:
    path = env.get(b"PYTHONPATH")
    return path.split(b":") if path else []


def _lasting(env: Mapping[bytes, bytes]) -> frozenset[tuple[bytes, bytes]]:
    """Return the variables that may affect the start of an interpreter: all but those of an event."""
    return frozenset(
        item for item in env.items() if item[0] not in _OF_THE_MOMENT and not item[0].startswith(_OF_THE_EVENT)
    )


warm_pool = WarmPool()


def start_warm(start: Start, descriptors: Sequence[int]) -> WarmTree:
    """Run a command in a warm interpreter; raise HookFailed if none is prepared."""
    try:
        found = warm_pool.take_for(start)
    except (OSError, ValueError):  # not a path: a cold start reports what is wrong
        found = None
    if found is None:
        raise HookFailed("isolation_unavailable", "no warm interpreter is ready")
    interpreter, how = found
    try:
        interpreter.run(start.path, how.words, start.env, start.cwd, descriptors)
    except (OSError, ValueError) as error:
        warm_pool.discard(interpreter)
        raise HookFailed("isolation_unavailable", f"the warm interpreter does not answer: {error}") from None
    return WarmTree(start, interpreter)


class WarmTree(SupervisedTree):
    """A command that runs in a warm interpreter."""

    def __init__(self, start: Start, interpreter: WarmInterpreter) -> None:
        super().__init__(start, interpreter, False)
        self.evidence["warm"] = True

    def _not_started(self, number: int, step: str) -> None:
        super()._not_started(number, step)
        self._unusable = True
        if step == "warm":
            self.failure = Failure("isolation_unavailable", f"the run cannot be warm: {os.strerror(number)}")

    def close(self) -> None:
        """Return the interpreter to the pool, or close it: then it kills what it still runs."""
        if self._unusable or not self.ended:
            warm_pool.discard(self._connection)
        else:
            warm_pool.give_back(self._connection)
