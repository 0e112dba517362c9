"""A clock that stands still until somebody moves it, so that half a minute costs no time."""

import importlib
import sys
import time
from collections.abc import Callable
from types import ModuleType


class Clock:
    """What the engine reads instead of the machine's clock."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def takes(self, seconds: float, answer: object = None) -> Callable[[object], object]:
        """Return what a hook says that takes its time and then answers."""

        def say(event: object) -> object:
            self.now += seconds
            return answer

        return say


def modules_with_a_clock() -> list[ModuleType]:
    """Return the engine's modules that read the time."""
    importlib.import_module("interpose.executors.asyncio")  # loaded at the first firing otherwise

    return [
        module
        for name, module in sorted(sys.modules.items())
        if name.partition(".")[0] == "interpose" and getattr(module, "monotonic", None) is time.monotonic
    ]
