"""What ``interpose doctor`` says about the resident engine: whether one runs, its version, and whether it answers."""

from __future__ import annotations

import os
import socket
import stat
import time
from collections.abc import Iterable
from typing import Any

from .. import __version__
from ..config.load import Origin
from ..errors import UsageError
from ..lint.machine import MachineCheck
from .frames import DECLINED, MAGIC
from .places import folder, server_facts, socket_path

__all__ = ["check_resident"]

_NAME = "resident engine"
_PATIENCE = 5.0
"""Seconds that a server has to say that an empty request is none: as many as a client waits for it."""


def check_resident(origins: Iterable[Origin]) -> MachineCheck:
    """Look at the server of this user."""
    is_asked_for = any(origin.resident for origin in origins)
    try:
        path = socket_path()
        _check_folder()
    except UsageError as error:
        what = f"cannot run: {error}; every event starts an interpreter"
        return MachineCheck(_NAME, "warning" if is_asked_for else "off", what)
    facts = server_facts()
    if facts is None:
        how = "the next event starts one" if is_asked_for else "`interpose serve` starts one"
        return MachineCheck(_NAME, "off", f"none runs; {how}")
    about = f"process {facts.get('pid', '?')}, version {facts.get('version', '?')}{_age(facts)}"
    if facts.get("version") not in (None, __version__):
        what = f"{about}: clients of version {__version__} decide by themselves; `interpose serve --stop` ends it"
        return MachineCheck(_NAME, "warning", what)
    if not _answers(path):
        what = f"{about}, does not answer: every event waits 5 s for it, and then decides by itself"
        return MachineCheck(_NAME, "wrong", f"{what}; end the process")
    return MachineCheck(_NAME, "ok", f"{about}, {facts.get('http') or 'on its socket only'}")


def _check_folder() -> None:
    try:
        found = os.lstat(folder())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{folder()}: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise UsageError(f"{folder()}: not a directory that only you can open", hint="remove it")


def _age(facts: dict[str, Any]) -> str:
    began = facts.get("began")
    minutes = (time.time() - began) / 60 if isinstance(began, int | float) else -1.0
    return f", for {minutes:.0f} min" if minutes >= 1 else ""


def _answers(path: str) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE)
            connection.connect(path)
            connection.sendall(MAGIC + bytes(4))
            return connection.recv(1) == DECLINED
    except OSError:
        return False
