"""What is amiss with hooks and with the machine they run on: looked at first, then tried."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..config.state import state_path
from ..handlers.command import ISOLATIONS
from ..hooks import Hooks
from ..model import Hook, Result
from ..plan import error_policy
from .canary import LONGEST, SLOW, Run, run_once
from .doubts import doubts_about
from .reasons import isolation_of

__all__ = ["Finding", "HookReport", "Part", "examine", "look_over", "machine"]

_KINDS = {
    "spawn_not_found": "missing",
    "launch_error": "missing",
    "spawn_permission": "not executable",
    "spawn_format": "not executable",
    "import_failed": "import error",
    "bad_handler": "import error",
    "handler_type": "cannot run",
    "isolation_unavailable": "no isolation",
    "bad_output": "rubbish on stdout",
    "bad_decision": "answer not understood",
    "bad_reply": "answer not understood",
    "timeout": "too slow",
}
_NOT_THERE = {"missing", "not executable", "import error"}
_HINTS = {
    "missing": "check the path, and that it is installed",
    "not executable": "chmod +x, and begin it with #!",
    "rubbish on stdout": "print one JSON object or nothing there; the rest belongs on standard error",
    "too slow": f"here it has {LONGEST:g} s at most, for an event that means nothing",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is amiss with a hook: ``wrong`` if it has to be put right, else a ``warning``."""

    severity: str
    kind: str
    text: str
    hint: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return {"severity": self.severity, "kind": self.kind, "text": self.text, "hint": self.hint}


@dataclass(slots=True)
class HookReport:
    """One hook: how it ran, in which isolation, and what is amiss."""

    hook: Hook
    isolation: str
    findings: list[Finding] = field(default_factory=list)
    run: Run | None = None

    @property
    def state(self) -> str:
        """``ok``, ``warning``, ``wrong``; ``off`` for one that is switched off and was left alone."""
        if not self.hook.enabled:
            return "off"
        return max((finding.severity for finding in self.findings), default="ok", key=["ok", "warning", "wrong"].index)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        run = self.run
        return {
            "hook": self.hook.label,
            "event": self.hook.event,
            "type": self.hook.type,
            "source": self.hook.source,
            "state": self.state,
            "isolation": self.isolation,
            "ran": run is not None,
            "status": run.result.status if run else None,
            "decision": run.result.decision if run else None,
            "duration_ms": round(run.seconds * 1000, 3) if run else None,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def look_over(hooks: Hooks) -> list[HookReport]:
    """Look at every hook without running it."""
    reports = [HookReport(hook, isolation_of(hook)) for hook in hooks]
    for report in reports:
        report.findings += _seen(report.hook, hooks)
    return reports


def _seen(hook: Hook, hooks: Hooks) -> Iterator[Finding]:
    kinds = {"missing": "missing", "not_executable": "not executable", "cannot_import": "import error",
             "fails_open": "fails open"}  # fmt: skip
    for doubt in doubts_about([hook], hooks.settings):
        if doubt.code in kinds:
            what = doubt.problem.what.removeprefix(f"{hook.label}: ")
            yield Finding("wrong", kinds[doubt.code], what, doubt.problem.hint)
    if hook.locked and hook.on_error is None and _may_fail_open(hook, hooks):
        yield Finding("wrong", "fails open", f"it is locked, and {hook.event} goes on if it breaks", "onError: abort")


def _may_fail_open(hook: Hook, hooks: Hooks) -> bool:
    # The lines of a script are ours to run, and Claude Code's hooks fail open by their own rules.
    if hook.type == "script" or hook.dialect == "claude":
        return False
    return "deny" in hook.row.can and error_policy(hook, hooks.settings) != "abort"


def examine(hooks: Hooks, report: HookReport) -> None:
    """Run a hook once with a harmless event, and add what came of it to its report."""
    hook = report.hook
    run = report.run = run_once(hooks, hook)
    report.isolation = str(run.result.evidence.get("isolation") or report.isolation)
    known = {finding.kind for finding in report.findings}
    if known & _NOT_THERE:
        known |= _NOT_THERE  # it was seen already that it is not there; that it cannot be loaded is no news
    report.findings += [finding for finding in _tried(hook, hooks, run) if finding.kind not in known]


def _tried(hook: Hook, hooks: Hooks, run: Run) -> Iterator[Finding]:
    result = run.result
    if result.error is not None:
        kind = _KINDS.get(result.error.code, "fails")
        passes = "deny" in hook.row.can and not run.outcome.denied
        yield Finding("wrong", kind, _failure_of(result) + (f"; {hook.event} goes on without it" if passes else ""),
                      _HINTS.get(kind, ""))  # fmt: skip
    elif result.decision in ("deny", "ask") and _may_fail_open(hook, hooks):
        yield Finding("warning", "fails open", f"it decides, and {hook.event} goes on if it breaks",
                      "onError: abort makes it a guard")  # fmt: skip
    if result.error is None and run.seconds > SLOW:
        yield Finding("warning", "slow", f"takes {run.seconds * 1000:.0f} ms, the median of three runs",
                      "the agent waits for it at every such event")  # fmt: skip
    if run.printed.strip():
        first = run.printed.strip().splitlines()[0][:80]
        yield Finding("warning", "prints", f"writes on the host's standard output: {first}",
                      "a host that speaks a protocol there would break: log it instead")  # fmt: skip


def _failure_of(result: Result) -> str:
    """Return why a hook failed, with its last word on standard error, which is where Python says what is wrong."""
    last = str(result.evidence.get("stderr", "")).strip().rpartition("\n")[2].strip()
    return f"{result.error}: {last}" if last and last not in str(result.error) else str(result.error)


@dataclass(frozen=True, slots=True)
class Part:
    """One thing about the machine: how it is, and whether that is ``ok``, a ``warning`` or ``wrong``."""

    name: str
    state: str
    text: str

    def to_dict(self) -> dict[str, str]:
        """Return it as JSON has it."""
        return {"name": self.name, "state": self.state, "text": self.text}


def machine(hooks: Hooks | None) -> list[Part]:
    """Return what hooks can count on here; each isolation is really tried."""
    version = ".".join(map(str, sys.version_info[:3]))
    parts = [Part("python", "ok", f"{version} at {sys.executable or 'an unknown place'}")]
    parts += [_isolation(level) for level in ISOLATIONS]
    parts += [_supervisors(), _state_directory()]
    if os.environ.get("INTERPOSE_OFF"):
        parts.append(Part("enforcement", "wrong", f"INTERPOSE_OFF={os.environ['INTERPOSE_OFF']}: nothing is enforced"))
    return [*parts, *_files(hooks), *_audit(hooks)]


def _isolation(level: str) -> Part:
    engine = Hooks()
    engine.register(
        "Notification", ["/bin/sh", "-c", ":"], type="command", name=level, isolation=level, timeout=LONGEST
    )
    [result] = engine.fire_sync("Notification", message="", cwd="/").results
    name = f"isolation: {level}"
    if result.status == "ok":
        return Part(name, "ok", f"works ({result.duration * 1000:.0f} ms)")
    # A namespace is a luxury; without a tree, what a hook has left behind may outlive it.
    state = {"group": "wrong", "tree": "warning" if sys.platform == "linux" else "ok"}.get(level, "ok")
    return Part(name, state, f"not to be had: {result.error}")


def _supervisors() -> Part:
    from ..handlers.supervisors import pool

    why_not = pool.why_not()
    state = "ok" if not why_not or sys.platform != "linux" else "warning"
    return Part("supervisors", state, why_not or "can be started")


def _state_directory() -> Part:
    """Try to write where trust and switches are kept; make nothing that is not there."""
    directory = os.path.dirname(state_path("trust.json"))
    if why_not := _unwritable(directory):
        return Part("state", "wrong", f"{directory}: {why_not}: nothing can be trusted or switched")
    return Part("state", "ok", directory if os.path.isdir(directory) else f"{directory} (will be made)")


def _audit(hooks: Hooks | None) -> Iterator[Part]:
    """Look whether firings can be recorded where the configuration says."""
    store = hooks.audit if hooks is not None else None
    if store is None:
        return
    why_not = _unwritable(os.path.dirname(store.path))
    if not why_not and os.path.exists(store.path) and not os.access(store.path, os.R_OK | os.W_OK):
        why_not = "it may not be written to"
    if why_not:
        comes_of_it = "every firing is denied" if store.required else "nothing is recorded"
        yield Part("audit", "wrong", f"{store.path}: {why_not}: {comes_of_it}")
    else:
        yield Part("audit", "ok", store.path if os.path.exists(store.path) else f"{store.path} (will be made)")


def _unwritable(directory: str) -> str:
    """Return why nothing can be put into a directory, which may have to be made first; nothing if it can."""
    existing = directory
    while not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        return f"{existing} is not a directory"
    if existing != directory:
        return "" if os.access(existing, os.W_OK | os.X_OK) else f"{existing} cannot be written to"
    try:
        tempfile.TemporaryFile(dir=directory).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _files(hooks: Hooks | None) -> Iterable[Part]:
    for origin in hooks.origins if hooks is not None else ():
        if not origin.source.found:
            yield Part("file", "ok", f"{origin.source.path}: named, and so trusted")
        elif origin.trusted:
            yield Part("file", "ok", f"{origin.source.path}: trusted")
        else:
            yield Part("file", "wrong", f"{origin.source.path}: not trusted, so its hooks are not armed "
                                        f"(interpose trust {origin.source.path})")  # fmt: skip
