"""The record of an outcome: one JSON text, made before the firing returns, because the host may change its objects.

``json_values`` converts what a host or a hook put into an event and JSON cannot represent.
"""

from __future__ import annotations

from collections.abc import Callable
from json import JSONEncoder
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from time import monotonic_ns, time_ns
from typing import TYPE_CHECKING, Any

from ..decide import HookRun
from ..model import NOTHING_SAID, Decision, HookEffect, Outcome, facts_of
from ..person.caller import caller, client
from ..person.permission import Permission
from ..runtime.signals import not_by_signal
from .columns import (
    DECISIONS,
    FIRING,
    NO_COLUMNS,
    PERMISSION,
    Columns,
    RunColumns,
    columns_of,
    permission_columns,
    storable,
    what_of,
)
from .json_values import plain, shortened

if TYPE_CHECKING:
    from .completion import Completion

__all__ = ["LONGEST", "PendingRecord", "encode", "entry_of", "permission_entry"]

LONGEST = 1024 * 1024
"""The maximum length of a record in characters; the texts of a longer one are cut."""

_ENCODER = JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":"))


def _quick_encoder() -> Callable[[Any], str]:
    """Return an encoder that is made once; ``json`` makes one for every text."""
    make = c_make_encoder
    if make is None:
        return _ENCODER.encode
    pieces = make(None, _ENCODER.default, encode_basestring_ascii, None, ":", ",", False, False, False)

    def encode(value: Any) -> str:
        return "".join(pieces(value, 0))

    try:
        agrees = encode({"a": [1, "é"]}) == _ENCODER.encode({"a": [1, "é"]})
    except Exception:  # another version of Python may differ
        agrees = False
    return encode if agrees else _ENCODER.encode


encode = _quick_encoder()
"""Makes strict JSON in ASCII, without control characters and line breaks."""


class PendingRecord:
    """One record on its way to the store: its text, and the columns that follow from it."""

    __slots__ = ("call", "columns", "completion", "kind", "mono", "redacted", "refused", "size", "text", "time")

    def __init__(self, text: str, columns: Columns = NO_COLUMNS, kind: int = FIRING, call: str = "") -> None:
        self.kind = kind
        self.call = call
        """The tool_use_id of the call that a permission is about."""
        self.text = text
        self.columns = columns
        self.time = time_ns()
        self.mono = monotonic_ns()
        self.completion: Completion | None = None
        self.redacted = False
        self.refused = ""
        """Why a question or an answer was not written although the store is up."""
        self.size = 0
        """Its length, if it counts towards the queue's limit of characters."""

    def replace(self, body: dict[str, Any]) -> None:
        """Replace the body of the record."""
        self.text = encode(body)
        if self.kind == PERMISSION:
            self.columns, self.call = permission_columns(body), storable(body.get("tool_use_id"))
        else:
            self.columns = columns_of(body) if self.kind == FIRING else NO_COLUMNS


def entry_of(outcome: Outcome, configuration: str, redact: Callable[[str], str]) -> PendingRecord:
    """Return the record of an outcome."""
    row, fields, entries, verdict, given, depth, background = facts_of(outcome)
    document: dict[str, Any] = {"event": row.name, "input": fields}
    subject = fields.get(row.subject) if row.subject else None
    if subject:
        document["subject"] = subject
    session = fields.get("session_id")
    if configuration:
        document["config"] = configuration
    if depth > 1:
        document["depth"] = depth
    if background:
        document["background"] = True
    _add_who_asked(document)
    runs: list[RunColumns] = []
    if entries:
        _add_runs(document, entries, runs)
    if verdict is not NOTHING_SAID:
        _add_what_was_said(document, verdict)
    decision = DECISIONS.index(verdict.decision)
    if given is not None:
        before = {name: value for name, value in given.items() if fields.get(name) is not value}
        if before:
            document["given"] = before
    try:
        text = encode(document)
    except BaseException as error:
        not_by_signal(error)
    else:
        if len(text) <= LONGEST and (subject is None or type(subject) is str) and type(session) is str:
            us = document.get("us", 0)
            return PendingRecord(text, (row.name, storable(session), storable(subject), decision, us, runs))
    document = plain(document)
    text = encode(document)
    if len(text) > LONGEST:
        document = shortened(document, encode, redact, LONGEST)
        text = encode(document)
    return PendingRecord(text, columns_of(document))


def _add_who_asked(document: dict[str, Any]) -> None:
    """Add the process that asked, and the coding agent whose hook it was."""
    if (asked := caller()[0]) > 0:
        document["caller"] = asked
    if (agent := client()) is not None:
        document["client"] = agent


def permission_entry(permission: Permission, redact: Callable[[str], str]) -> PendingRecord:
    """Return the record of a permission: its fields that are not empty."""
    fields = {name: getattr(permission, name) for name in Permission._parts}
    body = plain({name: value for name, value in fields.items() if value not in ("", None)})
    text = encode(body)
    if len(text) > LONGEST:
        body = shortened(body, encode, redact, LONGEST)
        text = encode(body)
    return PendingRecord(text, permission_columns(body), PERMISSION, storable(body.get("tool_use_id")))


def _add_runs(document: dict[str, Any], entries: Any, runs: list[RunColumns]) -> None:
    """Add every hook's fate, and the time that the hooks took: of those side by side, the longest."""
    listed = document["runs"] = []
    took = beside = 0
    for step, run in entries:
        if isinstance(run, HookRun):
            hook, us = run.hook, int(run.duration * 1e6)
            shown: dict[str, Any] = {"hook": hook.label, "us": us}
            what = _add_fate(shown, run)
        else:
            hook, us = step.hook, int(run * 1e6)
            shown = {"hook": hook.label, "us": us}
            what = 0
            if not step.enforced:
                shown["enforced"], what = False, 16
        if hook.type != "python":
            shown["type"] = hook.type
        listed.append(shown)
        runs.append((storable(hook.label), what, us))
        if hook.parallel:
            beside = max(beside, us)
        else:
            took += us
    document["us"] = took + beside


def _add_fate(shown: dict[str, Any], run: HookRun) -> int:
    decision: Decision = "none"
    if run.status != "ok":
        shown["status"] = run.status
    if run.effect is not None:
        decision = run.effect.decision or "none"
        if decision != "none":
            shown["decision"] = decision
        if run.effect.reason:
            shown["reason"] = run.effect.reason
    if run.error is not None:
        shown["error"] = {"code": run.error.code, "text": str(run.error)}
    if run.round != 1:
        shown["round"] = run.round
    if not run.enforced:
        shown["enforced"] = False
    if run.evidence:
        shown["evidence"] = dict(run.evidence)
    return what_of(run.status, decision, run.round, run.enforced)


_FLAGS = ("granted", "keep_going", "suppress_output", "interrupt")
_TEXTS = ("reason", "stop_reason", "context", "messages", "extra")


def _add_what_was_said(document: dict[str, Any], verdict: HookEffect) -> None:
    """Add every part of the verdict that differs from a verdict without replies."""
    if verdict.decision != "none":
        document["decision"] = verdict.decision
    for name in _FLAGS:
        if getattr(verdict, name):
            document[name] = True
    for name in _TEXTS:
        value = getattr(verdict, name)
        if value:
            document[name] = value
    if not verdict.continue_:
        document["continue"] = False
    if verdict.inject:
        document["inject"] = [item.to_dict() for item in verdict.inject]
    if verdict.ignored:
        document["ignored"] = [item.to_dict() for item in verdict.ignored]
    if verdict.shadow is not None:
        document["shadow"] = {"decision": verdict.shadow.decision, "reason": verdict.shadow.reason}
