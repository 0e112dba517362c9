"""What Python hooks print goes to the log: a host that speaks a protocol on its standard output needs it for itself."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from ..handlers import depth
from ..runtime.faults import log

__all__ = ["redirect_prints"]

_outside = depth.get()


class _HookPrints:
    """Stands in for standard output: passes on what the host writes, logs what hooks print."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if depth.get() <= _outside:
            return self._stream.write(text)
        for line in text.splitlines():
            if line.strip():
                log("info", "a hook printed: %s", line[:2000])
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def redirect_prints() -> None:
    """Put the stand-in in front of standard output, once."""
    if not isinstance(sys.stdout, _HookPrints):
        sys.stdout = _HookPrints(sys.stdout)
