"""What is wrong with each hook: first without running it, then from the result of its probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..errors import Problem
from ..model import Hook, Outcome, Result, Settings
from .executables import isolation_of
from .missing_programs import missing_programs
from .probe import SLOW, TIMEOUT, Probe
from .rules import Finding, check_hooks, fails_open

__all__ = ["HookReport", "add_probe", "inspect_hooks"]

_KINDS_OF_FINDINGS = {
    "missing": "missing",
    "not_executable": "not executable",
    "cannot_import": "import error",
    "fails_open": "fails open",
    "unlisted_variable": "variable",
    "unset_variable": "variable",
}
_KINDS_OF_ERRORS = {
    "spawn_not_found": "missing",
    "launch_error": "missing",
    "spawn_permission": "not executable",
    "spawn_format": "not executable",
    "import_failed": "import error",
    "bad_handler": "import error",
    "handler_type": "cannot run",
    "isolation_unavailable": "no isolation",
    "bad_output": "bad output",
    "bad_decision": "bad reply",
    "bad_reply": "bad reply",
    "timeout": "too slow",
    "http_refused": "not reachable",
    "http_name": "not reachable",
    "http_unreachable": "not reachable",
    "http_tls": "not trusted",
    "mcp_package": "missing",
    "mcp_server": "missing",
    "mcp_connection": "not reachable",
}
_CANNOT_START = {"missing", "not executable", "import error"}
_HINTS = {
    "missing": "check the path, and that it is installed",
    "not executable": "chmod +x, and begin it with #!",
    "bad output": "print one JSON object or nothing to standard output; print the rest to standard error",
    "not reachable": "start the server, or correct its address",
    "not trusted": "SSL_CERT_FILE names the certificates of an authority of your own",
    "too slow": f"a probe may take {TIMEOUT:g} s",
}
_EXIT_STATUS = "0 means that the answer is read, 2 denies; any other status is a failure"
_STATES = ("ok", "warning", "wrong")


@dataclass(slots=True)
class HookReport:
    """One hook: its isolation, its probe if it ran, and the findings; each finding's code is a kind for people."""

    hook: Hook
    isolation: str
    findings: list[Finding] = field(default_factory=list)
    probe: Probe | None = None

    @property
    def state(self) -> str:
        """``ok``, ``warning``, ``wrong``; ``off`` for a hook that is switched off."""
        if not self.hook.enabled:
            return "off"
        return max((finding.severity for finding in self.findings), default="ok", key=_STATES.index)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON."""
        probe = self.probe
        return {
            "hook": self.hook.label,
            "event": self.hook.event,
            "type": self.hook.type,
            "source": self.hook.source,
            "state": self.state,
            "isolation": self.isolation,
            "ran": probe is not None,
            "status": probe.result.status if probe else None,
            "decision": probe.result.decision if probe else None,
            "duration_ms": round(probe.seconds * 1000, 3) if probe else None,
            "findings": [
                {"severity": one.severity, "kind": one.code, "text": one.problem.what, "hint": one.problem.hint}
                for one in self.findings
            ],
        }


def inspect_hooks(hooks: Iterable[Hook], settings: Settings) -> list[HookReport]:
    """Check every hook without running it."""
    return [HookReport(hook, isolation_of(hook), list(_inspect(hook, settings))) for hook in hooks]


def _inspect(hook: Hook, settings: Settings) -> Iterator[Finding]:
    for finding in check_hooks([hook], settings):
        if finding.code in _KINDS_OF_FINDINGS:
            what = finding.problem.what.removeprefix(f"{hook.label}: ")
            yield _finding("wrong", _KINDS_OF_FINDINGS[finding.code], what, finding.problem.hint)


def add_probe(report: HookReport, probe: Probe, settings: Settings) -> None:
    """Add the result of a probe, and the findings that follow from it, to a hook's report."""
    report.probe = probe
    report.isolation = str(probe.result.evidence.get("isolation") or report.isolation)
    known = {finding.code for finding in report.findings}
    if known & _CANNOT_START:
        known |= _CANNOT_START  # the report says already why the hook cannot start
    for finding in _judge(report.hook, probe, settings):
        if finding.code not in known:  # both events may show the same
            report.findings.append(finding)
            known.add(finding.code)


def _judge(hook: Hook, probe: Probe, settings: Settings) -> Iterator[Finding]:
    result = probe.result
    yield from _judge_answer(hook, probe.outcome, "every")
    if probe.suspicious is not None:
        yield from _judge_answer(hook, probe.suspicious, "such a")
    if result.error is not None:
        return
    if result.decision in ("deny", "ask") and fails_open(hook, settings):
        what = f"it decides, and {hook.event} goes on if it fails"
        yield _finding("warning", "fails open", what, "onError: abort makes it a guard")
    if probe.seconds > SLOW:
        what = f"takes {probe.seconds * 1000:.0f} ms, the median of three runs"
        yield _finding("warning", "slow", what, "the agent waits for it at every such event")
    if probe.printed.strip():
        first = probe.printed.strip().splitlines()[0][:80]
        what = f"writes to the host's standard output: {first}"
        yield _finding("warning", "prints", what, "this breaks a host that speaks a protocol there: use a log instead")


def _judge_answer(hook: Hook, outcome: Outcome, which: str) -> Iterator[Finding]:
    """Find what is wrong with one answer; ``which`` says to which events that applies."""
    [result] = outcome.results
    if result.error is not None:
        kind = _KINDS_OF_ERRORS.get(result.error.code, "fails")
        hint = _EXIT_STATUS if kind == "fails" and result.evidence.get("exit") else _HINTS.get(kind, "")
        where = "" if which == "every" else "for an input that looks dangerous: "
        yield _finding("wrong", kind, f"{where}{_describe_failure(result)}{_consequence(hook, outcome, which)}", hint)
    elif names := missing_programs(str(result.evidence.get("stderr", ""))):
        what = f"does not find {', '.join(names[:5])}, and goes on: its answer may not be the one it was written for"
        hint = "install it, or write its full path; with `set -e` the script fails instead of going on"
        yield _finding("warning", "not found", what, hint)
    unknown = [item.wish.partition(":")[0] for item in outcome.ignored if item.wish.endswith(": not known here")]
    if unknown:
        yield _finding("warning", "unknown key", f"answers with {', '.join(unknown)}, which is not a key of an answer",
                       "correct the name; a key of your own goes below extra, or begins with x-")  # fmt: skip
    if others := [item.wish for item in outcome.ignored if not item.wish.endswith(": not known here")]:
        yield _finding("warning", "no effect", f"part of its answer has no effect: {'; '.join(others)}", "")


def _consequence(hook: Hook, outcome: Outcome, which: str) -> str:
    """Return what becomes of an event whose hook has failed as this one did."""
    if "deny" not in hook.row.can:
        return ""
    if outcome.decision in ("deny", "ask"):
        return f"; {which} {hook.event} is denied" if outcome.denied else ""
    return f"; {hook.event} goes on without it"


def _describe_failure(result: Result) -> str:
    """Return the error and the last line on standard error, where an interpreter writes its own error."""
    last = str(result.evidence.get("stderr", "")).strip().rpartition("\n")[2].strip()
    return f"{result.error}: {last}" if last and last not in str(result.error) else str(result.error)


def _finding(severity: str, kind: str, what: str, hint: str) -> Finding:
    return Finding(severity, kind, Problem(what, hint=hint))
