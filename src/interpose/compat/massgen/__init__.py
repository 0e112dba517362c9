"""MassGen's names: ``HookType``, ``HookEvent``, ``HookResult``, hooks as classes, and the two managers.

``types`` has the arguments and results of hooks, ``hooks`` the classes to write hooks with, ``managers`` the
registration for all agents and for single ones. ``firing`` translates to the engine and back.
"""

from .hooks import FunctionHook, PatternHook, PythonCallableHook
from .managers import FunctionHookManager, GeneralHookManager
from .types import HookEvent, HookResult, HookType

__all__ = [
    "FunctionHook",
    "FunctionHookManager",
    "GeneralHookManager",
    "HookEvent",
    "HookResult",
    "HookType",
    "PatternHook",
    "PythonCallableHook",
]
