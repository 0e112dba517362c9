"""Load a Python script for a warm interpreter; a part of the program ``_warm_interpreter.py``.

A script is refused if it could tell a warm interpreter from a fresh one. A loaded script is valid while the watched
files do not change and no new module shadows one that is loaded. This module imports nothing of this package and runs
on Python 3.8 and later.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Stamp = tuple[int, ...]
    Watched = list[tuple[bytes, Stamp | None]]

SAFE_PATH = bool(sys.flags.isolated or getattr(sys.flags, "safe_path", False))
STDLIB = os.path.dirname(os.__file__)
NEVER = frozenset({
    "__main__", "antigravity", "curses", "idlelib", "lib2to3", "readline", "rlcompleter", "site", "test", "this",
    "tkinter", "turtle", "turtledemo",
})  # fmt: skip
"""Modules that act when they are loaded, or that need a terminal."""
ONLY_AST = 0x400
SETTLED = 0.02  # seconds after which a further change of a file gets another timestamp


class CannotRunWarm(Exception):
    """The script cannot run warm; the text says why."""


class LoadedScript:
    """A script that is compiled, with its modules of the standard library loaded."""

    def __init__(self, request: dict[str, Any], at_start: frozenset[str], fresh: dict[str, Any]) -> None:
        self.fresh = fresh
        self.words = [os.fsdecode(word) for word in request["words"]]  # interpreter and options, as in a cold start
        self.path = os.fsdecode(request["script"])
        self.file = self.path if sys.version_info >= (3, 9) else os.fsdecode(request["word"])
        self.folder = os.path.dirname(os.path.realpath(self.path))
        source, self.stamp = settled(self.path)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                tree: Any = compile(source, self.file, "exec", ONLY_AST, dont_inherit=True)
                self.code = compile(source, self.file, "exec", dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise CannotRunWarm(f"cannot be compiled: {error}") from None
            self.folders = ([] if SAFE_PATH else [self.folder]) + folders_in_front()
            if not any(in_stdlib(name) for name in modules_in(self.folders) - at_start - NEVER):
                load(tree.body)
        if warned:
            raise CannotRunWarm(f"warns: {warned[0].message}")
        self.names = {name.partition(".")[0] for name in sys.modules.keys() - at_start}
        self.started, self.dropped = changes_at_start()

    def main(self) -> ModuleType:
        """Return the module to execute it in, with the names that a fresh interpreter gives it."""
        module = ModuleType("__main__")
        names = vars(module)
        names.clear()
        names.update(self.fresh, __doc__=None, __file__=self.file)
        names["__loader__"] = type(names["__loader__"])("__main__", self.file)
        if "__annotations__" in names:
            names["__annotations__"] = {}
        return module

    def watched(self) -> Watched:
        """Return the files that decide how a fresh interpreter starts, each with its stamp."""
        executable = os.path.abspath(sys.executable)
        beside = os.path.dirname(executable)
        paths = {os.path.realpath(executable), os.__file__, os.path.join(beside, "pyvenv.cfg"),
                 os.path.join(os.path.dirname(beside), "pyvenv.cfg"), executable}  # fmt: skip
        for folder in site_folders():
            paths.add(folder)
            paths.update(os.path.join(folder, name) for name in listed(folder) if name.endswith(".pth"))
        for module in list(sys.modules.values()):
            if not is_from_stdlib(module):
                paths.add(module.__file__ or "")
        stamps: Watched = [(os.fsencode(path), stamp_of(path)) for path in sorted(paths) if path]
        return [(os.fsencode(self.path), self.stamp), *stamps]


def settled(path: str) -> tuple[bytes, Stamp]:
    """Return a file's content and stamp, once a further change would get another stamp."""
    while True:
        try:
            with open(path, "rb", 0) as file:
                source, status = file.read(), os.fstat(file.fileno())
        except OSError as error:
            raise CannotRunWarm(str(error)) from None
        if abs(time.time() - max(status.st_mtime, status.st_ctime)) > SETTLED:
            return source, stamp(status)
        time.sleep(SETTLED)


def stamp(status: os.stat_result) -> Stamp:
    """Return what changes when a file does."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, status.st_size, status.st_mode)


def stamp_of(path: str) -> Stamp | None:
    """Return the stamp of a file, or nothing if there is none."""
    try:
        return stamp(os.stat(path))
    except OSError:
        return None


def listed(folder: str) -> list[str]:
    """Return the names in a folder, if there is one."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def modules_in(folders: list[str]) -> set[str]:
    """Return the names of all modules that these folders may contain."""
    return {name.partition(".")[0] for folder in folders for name in listed(folder)}


def folders_in_front() -> list[str]:
    """Return the folders of sys.path before the standard library, without the script's own."""
    front: list[str] = []
    for entry in sys.path:
        if entry == STDLIB or os.path.basename(entry) == f"python{sys.version_info[0]}{sys.version_info[1]}.zip":
            return front
        if not os.path.isabs(entry) or os.path.isfile(entry):
            raise CannotRunWarm(f"sys.path has {entry!r}")
        front.append(entry)
    raise CannotRunWarm("the standard library is not on sys.path")


def site_folders() -> list[str]:
    """Return the folders in which files may change an interpreter's start."""
    site: Any = sys.modules.get("site")
    if site is None:
        return []
    return list(site.getsitepackages()) + ([site.getusersitepackages()] if site.ENABLE_USER_SITE else [])


def in_stdlib(name: str) -> bool:
    """Return whether the standard library has a module of this name."""
    known = getattr(sys, "stdlib_module_names", None)
    if known is not None:
        return name in known
    places = (os.path.join(STDLIB, name), os.path.join(STDLIB, f"{name}.py"))
    return name in sys.builtin_module_names or any(map(os.path.exists, places))


def is_from_stdlib(module: Any) -> bool:
    """Return whether a module is of the standard library or built in."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return True
    return file.startswith(STDLIB + os.sep) and "-packages" + os.sep not in file


def load(statements: list[Any]) -> None:
    """Load the modules of the standard library that the top level of a script imports."""
    for statement in statements:
        kind = type(statement).__name__
        if kind == "Try":
            load(statement.body)
        elif kind == "Import":
            for alias in statement.names:
                load_module(alias.name, [])
        elif kind == "ImportFrom" and not statement.level:
            load_module(statement.module, [alias.name for alias in statement.names if alias.name != "*"])


def load_module(name: str, members: list[str]) -> None:
    """Load a module of the standard library, and those of its members that are modules too."""
    top = name.partition(".")[0]
    if top in NEVER or not in_stdlib(top):
        return
    try:
        __import__(name, None, None, members)
    except Exception:  # the script meets the same error
        return


def changes_at_start() -> tuple[dict[bytes, bytes], set[bytes]]:
    """Return the variables that the interpreter has set at its start, and those that it has removed."""
    with open("/proc/self/environ", "rb") as file:
        given = dict(entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry)
    found = dict(os.environb)
    return {name: value for name, value in found.items() if given.get(name) != value}, given.keys() - found.keys()


def check_interpreter(at_start: frozenset[str]) -> None:
    """Refuse if the interpreter's start has done something that a fork does not copy."""
    if sys.implementation.name != "cpython":
        raise CannotRunWarm(f"{sys.implementation.name} is not supported")
    if sys.flags.inspect:
        raise CannotRunWarm("it goes on after the script")
    if len(os.listdir("/proc/self/task")) > 1:
        raise CannotRunWarm("there are threads")
    for name in sys.modules.keys() - at_start - {"__mp_main__"}:
        if not is_from_stdlib(sys.modules[name]):
            raise CannotRunWarm(f"the module {name} is not the standard library's")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os.set_blocking(0, False)  # the pipe whose other end are standard output and standard error
    try:
        said = os.read(0, 200)
    except BlockingIOError:
        return
    raise CannotRunWarm(f"the interpreter says {said!r} when it starts")
