"""The tables of programs by family; each is loaded when one of its programs is first seen."""

from __future__ import annotations

import fnmatch
from functools import cache
from importlib import import_module

from ....matching.shell.options import program_of
from ..rows import Program

__all__ = ["FAMILIES", "find_programs"]

Entry = tuple[str, Program]

FAMILIES: tuple[str, ...] = (
    "clouds",
    "clusters",
    "containers",
    "databases",
    "disks",
    "readers",
    "secrets",
    "files",
    "git",
    "github",
    "interpreters",
    "machine",
    "privilege",
    "services",
    "changes",
    "guards",
    "persistence",
    "sizes",
    "network",
    "packages",
    "outputs",
)
"""The modules of this package, each with a dict ``PROGRAMS``. A program may be in several: all its entries apply."""


@cache
def _programs() -> tuple[dict[str, list[Entry]], list[tuple[str, Entry]]]:
    exact: dict[str, list[Entry]] = {}
    globs: list[tuple[str, Entry]] = []
    for family in FAMILIES:
        table: dict[str, Program] = import_module(f".{family}", __name__).PROGRAMS
        for name, program in table.items():
            for spelling in (name, *program.aka.split()):
                if "*" in spelling:
                    globs.append((spelling, (name, program)))
                else:
                    exact.setdefault(spelling, []).append((name, program))
    return exact, globs


@cache
def find_programs(name: str) -> tuple[Entry, ...]:
    """Return the entries of a program, each with the name that it stands under; case and a version are ignored."""
    exact, globs = _programs()
    plain = program_of(name.lower().rpartition("\\")[2].removesuffix(".exe"))
    return (*exact.get(plain, ()), *(entry for glob, entry in globs if fnmatch.fnmatchcase(plain, glob)))
