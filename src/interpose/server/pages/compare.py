"""Comparisons of recorded sessions with another configuration: each runs ``interpose replay`` in a process of its own.

A hook of the other configuration may hang, crash or print: it cannot reach the pages.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections import OrderedDict
from time import time
from typing import Any

from ...ids import new_id

__all__ = ["Comparisons"]

_MOST = 20
_AT_ONCE = 2
_SECONDS = 600.0


class Comparisons:
    """The latest comparisons, in memory; each has an id."""

    def __init__(self) -> None:
        self._all: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._running: dict[str, subprocess.Popen[str]] = {}
        self._lock = threading.Lock()

    def begin(self, command: list[str], about: dict[str, str]) -> str:
        """Start one and return its id; empty if too many run."""
        name = new_id()[:12]
        with self._lock:
            if len(self._running) >= _AT_ONCE:
                return ""
            started = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                errors="replace", start_new_session=True,
            )  # fmt: skip
            self._running[name] = started
            self._all[name] = {"id": name, **about, "begun": time(), "state": "running", "problem": "", "result": None}
            while len(self._all) > _MOST:
                self._all.popitem(last=False)
        threading.Thread(target=self._wait, args=(name, started), daemon=True).start()
        return name

    def find(self, id: str) -> dict[str, Any] | None:
        """Return a comparison, or None."""
        with self._lock:
            return self._all.get(id)

    def latest(self) -> list[dict[str, Any]]:
        """Return all that are kept, the newest first, without their results."""
        with self._lock:
            return [{**one, "result": None} for one in reversed(self._all.values())]

    def stop(self) -> None:
        """End those that run."""
        with self._lock:
            running = list(self._running.values())
        for started in running:
            started.kill()

    def _wait(self, id: str, started: subprocess.Popen[str]) -> None:
        problem, result = "", None
        try:
            out, err = started.communicate(timeout=_SECONDS)
            if started.returncode in (0, 1) and out.strip():
                result = json.loads(out)
            else:
                problem = err.strip()[-2000:] or f"the comparison ended with status {started.returncode}"
        except subprocess.TimeoutExpired:
            started.kill()
            started.communicate()
            problem = f"it took longer than {_SECONDS:.0f} s"
        except ValueError:
            problem = "its result cannot be read"
        with self._lock:
            self._running.pop(id, None)
            if id in self._all:
                self._all[id] |= {"state": "failed" if problem else "done", "problem": problem, "result": result}
