"""Import the modules that hooks name: installed ones, and those in the directory of a configuration.

Installed modules come first, as if the configuration's directory were last on the path. Two configurations may have
modules of the same name; each gets its own, so that a guard of one project never replaces that of another.

Modules of a snapshot come before installed ones, also where they import one another: a module of the same name in the
project, or elsewhere on the path, never replaces what was trusted.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

__all__ = ["imported"]

_directories: dict[str, None] = {}
"""The directories of configurations from which modules were imported."""

_aliases: dict[str, tuple[str, str]] = {}
"""Alias to directory and module name, for modules whose name another configuration has taken."""


_snapshot_aliases: dict[str, tuple[str, str]] = {}
"""The same for modules of snapshots."""


def imported(name: str, directory: str, *, first: bool = False) -> Any:
    """Import a module; ``first`` takes it from the directory of the configuration if it is there.

    In the directory of a configuration it is compiled from its source.
    """
    if not directory:
        return importlib.import_module(name)
    if directory not in sys.path:
        sys.path.append(directory)
    if first:
        return importlib.import_module(_name_in(name, directory) or name)
    _directories[directory] = None
    before = sys.pycache_prefix
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    # A compiled file in the project could differ from its source.
    sys.pycache_prefix = os.path.join(cache, "interpose", "pycache")
    try:
        return importlib.import_module(_name_for(name, directory))
    finally:
        sys.pycache_prefix = before


def _name_for(name: str, directory: str) -> str:
    """Return the name to import a module under: an alias if its own name leads to another configuration."""
    top, dot, rest = name.partition(".")
    elsewhere = [path for path in sys.path if path not in _directories]
    loaded = sys.modules.get(top)
    if loaded is not None:
        taken = _directory_of(loaded)
    elif top in sys.builtin_module_names or PathFinder.find_spec(top, elsewhere) is not None:
        return name
    else:
        taken = next((path for path in sys.path if path in _directories and PathFinder.find_spec(top, [path])), "")
    if taken in ("", directory) or taken not in _directories or PathFinder.find_spec(top, [directory]) is None:
        return name
    alias = f"{top}@{directory}".replace(".", "·")  # a dot would mean a package
    _aliases[alias] = (directory, top)
    if _Aliased not in sys.meta_path:
        sys.meta_path.append(_Aliased)
    return alias + dot + rest


def _directory_of(module: ModuleType) -> str:
    """Return the directory of a top-level module."""
    origin = getattr(getattr(module, "__spec__", None), "origin", None) or ""
    folder = os.path.dirname(origin)
    return os.path.dirname(folder) if os.path.basename(origin) == "__init__.py" else folder


def _name_in(name: str, directory: str) -> str:
    """Return the name under which a module of a snapshot is imported; nothing if the snapshot does not have it."""
    top, dot, rest = name.partition(".")
    if top in sys.stdlib_module_names:
        return ""
    alias = f"{top}@{directory}".replace(".", "·")
    if alias not in _snapshot_aliases:
        if PathFinder.find_spec(top, [directory]) is None:
            return ""
        _snapshot_aliases[alias] = (directory, top)
        if _Snapshots not in sys.meta_path:
            sys.meta_path.insert(0, _Snapshots)
    return alias + dot + rest


class _Snapshots:
    """Finds the modules of snapshots."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module of a snapshot; None for every other module."""
        alias, dot, _ = name.partition(".")
        if alias not in _snapshot_aliases:
            return None
        directory, top = _snapshot_aliases[alias]
        found = PathFinder.find_spec(name, path) if dot else PathFinder.find_spec(top, [directory])
        if found is not None and found.origin is None:  # a folder without __init__.py
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = list(found.submodule_search_locations or ())
            return spec
        if found is None or not isinstance(found.loader, SourceFileLoader) or found.origin is None:
            return found if dot else None
        from importlib.util import spec_from_file_location

        return spec_from_file_location(
            name, found.origin, loader=_SnapshotLoader(name, found.origin, directory),
            submodule_search_locations=found.submodule_search_locations,
        )  # fmt: skip


class _SnapshotLoader(SourceFileLoader):
    """Loads a module of a snapshot, whose imports look into the snapshot first."""

    def __init__(self, name: str, path: str, directory: str) -> None:
        super().__init__(name, path)
        self._directory = directory

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source: bytecode beside it could be another's."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with an import function of its own."""
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": partial(_import, self._directory)}
        super().exec_module(module)


def _import(
    directory: str,
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """Do what ``import`` does, for a module of a snapshot."""
    wanted = _name_in(name, directory) or name if level == 0 else name
    found = builtins.__import__(wanted, globals, locals, fromlist or (), level)
    return _own_importlib(directory) if found is importlib else found


def _own_importlib(directory: str) -> ModuleType:
    """Return importlib for a module of a snapshot: its import_module looks into the snapshot first."""
    made = ModuleType(importlib.__name__, importlib.__doc__)
    vars(made).update(vars(importlib), import_module=partial(_import_module, directory))
    return made


def _import_module(directory: str, name: str, package: str | None = None) -> ModuleType:
    """Do what ``importlib.import_module`` does, for a module of a snapshot."""
    return importlib.import_module(name if name.startswith(".") else _name_in(name, directory) or name, package)


class _Aliased:
    """Finds the modules that have an alias."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module with an alias; the import system finds the modules inside a package itself."""
        if name not in _aliases:
            return None
        directory, top = _aliases[name]
        found = PathFinder.find_spec(top, [directory])
        if found is None or found.origin is None:
            return None
        from importlib.util import spec_from_file_location

        return spec_from_file_location(name, found.origin, submodule_search_locations=found.submodule_search_locations)
