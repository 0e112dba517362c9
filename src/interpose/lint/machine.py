"""What hooks need from the machine: Python, isolation, supervisors, writable directories, trusted files."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..audit.store import AuditStore
from ..config.load import Origin
from ..config.state import state_path
from ..handlers.command import supervisor_error
from ..handlers.declared_command import ISOLATIONS, Isolation
from ..handlers.prompt import judge_of
from ..model import Hook, Result

__all__ = ["MachineCheck", "check_machine", "check_models"]


@dataclass(frozen=True, slots=True)
class MachineCheck:
    """One property of the machine: its name, its state (``ok``, ``off``, ``warning``, ``wrong``) and a text."""

    name: str
    state: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """Return the check as JSON."""
        return {"name": self.name, "state": self.state, "text": self.text}


def check_models(hooks: Iterable[Hook]) -> list[MachineCheck]:
    """Check that the package and the key of each model that a hook asks are there; shows no key, and asks nothing."""
    found = []
    for model in dict.fromkeys(judge.configured for judge in map(judge_of, hooks) if judge is not None):
        what, hint = model.lacks()
        text = f"{model.describe()}: {what} ({hint})" if what else model.describe()
        found.append(MachineCheck(f"model: {model.name}", "warning" if what else "ok", text))
    return found


def check_machine(
    run_isolated: Callable[[Isolation], Result], origins: Iterable[Origin], audit: AuditStore | None
) -> list[MachineCheck]:
    """Check the machine; ``run_isolated`` runs a command that does nothing in an isolation and returns its result."""
    version = ".".join(map(str, sys.version_info[:3]))
    checks = [MachineCheck("python", "ok", f"{version} at {sys.executable or 'an unknown path'}")]
    checks += [_isolation(level, run_isolated(level)) for level in ISOLATIONS]
    checks += [_supervisors(), _state_directory()]
    if reason := os.environ.get("INTERPOSE_OFF"):
        checks.append(MachineCheck("enforcement", "wrong", f"INTERPOSE_OFF={reason}: nothing is enforced"))
    checks += [_file(origin) for origin in origins]
    return [*checks, *_audit(audit)]


def _isolation(level: str, result: Result) -> MachineCheck:
    name = f"isolation: {level}"
    if result.status == "ok":
        return MachineCheck(name, "ok", f"works ({result.duration * 1000:.0f} ms)")
    # Namespaces are optional; without a tree, processes that a hook started may outlive it.
    state = {"group": "wrong", "tree": "warning" if sys.platform == "linux" else "ok"}.get(level, "ok")
    return MachineCheck(name, state, f"not available: {result.error}")


def _supervisors() -> MachineCheck:
    error = supervisor_error()
    state = "ok" if not error or sys.platform != "linux" else "warning"
    return MachineCheck("supervisors", state, error or "can be started")


def _state_directory() -> MachineCheck:
    """Check that the directory of trust and switches is writable; create nothing."""
    directory = os.path.dirname(state_path("trust.json"))
    if error := _write_error(directory):
        return MachineCheck("state", "wrong", f"{directory}: {error}: nothing can be trusted or switched")
    return MachineCheck("state", "ok", directory if os.path.isdir(directory) else f"{directory} (will be created)")


def _file(origin: Origin) -> MachineCheck:
    path = origin.source.path
    if not origin.source.found:
        return MachineCheck("file", "ok", f"{path}: named, so it is trusted")
    if origin.changes:
        what = ", ".join(f"{os.path.basename(file)} is {how}" for file, how in origin.changes)
        return MachineCheck("file", "warning", f"{path}: armed as it was trusted, but {what} (interpose trust {path})")
    if origin.trusted and origin.live:
        what = ", ".join(entry["what"] for entry in origin.live)
        return MachineCheck("file", "warning", f"{path}: trusted; used as it is when a hook runs: {what}")
    if origin.trusted:
        return MachineCheck("file", "ok", f"{path}: trusted")
    return MachineCheck("file", "wrong", f"{path}: not trusted, so its hooks are not armed (interpose trust {path})")


def _audit(store: AuditStore | None) -> Iterator[MachineCheck]:
    """Check that the audit store of the configuration is writable."""
    if store is None:
        return
    exists = os.path.exists(store.path)
    error = _write_error(os.path.dirname(store.path))
    if not error and exists and not os.access(store.path, os.R_OK | os.W_OK):
        error = "the file is not writable"
    if error:
        effect = "every firing is denied" if store.required else "nothing is recorded"
        yield MachineCheck("audit", "wrong", f"{store.path}: {error}: {effect}")
    else:
        yield MachineCheck("audit", "ok", store.path if exists else f"{store.path} (will be created)")


def _write_error(directory: str) -> str:
    """Return why no file can be created in a directory, or in the parent that exists; empty if one can."""
    existing = directory
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        return f"{existing} is not a directory"
    if existing != directory:
        return "" if os.access(existing, os.W_OK | os.X_OK) else f"{existing} is not writable"
    try:
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""
