"""Import the modules that hooks name: installed ones, and those in the directory of a configuration.

Installed modules come first, as if the configuration's directory were last on the path. Two configurations may have
modules of the same name; each gets its own, so that a guard of one project never replaces that of another.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

__all__ = ["imported"]

_directories: dict[str, None] = {}
"""The directories of configurations from which modules were imported."""

_aliases: dict[str, tuple[str, str]] = {}
"""Alias to directory and module name, for modules whose name another configuration has taken."""


def imported(name: str, directory: str) -> Any:
    """Import a module. In the directory of a configuration it is compiled from its source, which was trusted."""
    if not directory:
        return importlib.import_module(name)
    if directory not in sys.path:
        sys.path.append(directory)
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
