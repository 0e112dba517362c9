"""MassGen's names: ``HookType``, ``HookEvent``, ``HookResult``, hooks as classes, and the two managers.

``nouns`` has what hooks are told and answer, ``hooks`` the classes to write hooks with, ``managers`` the registration
for all and for single agents. ``firing`` is the way through the engine and back.
"""

from .hooks import FunctionHook, PatternHook, PythonCallableHook
from .managers import FunctionHookManager, GeneralHookManager
from .nouns import HookEvent, HookResult, HookType

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
