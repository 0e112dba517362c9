"""Ask when a session has used what it may use: calls, tokens, dollars, time, writes, requests."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..errors import BadHook
from ..matching.written import as_written
from ..replies import Reply, ask, context
from ..runtime.named_tuples import NamedTuple
from ..state.locked import session_state
from .call import Call
from .model_usage import PRICES, Usage, read_transcript, usage_of_event
from .parameters import Parameter, count, duration
from .policy import Options, Policy
from .session_calls import fingerprint, project_of, session_of, written

__all__ = ["POLICY"]

_PART = "budgets"
_WARNED_AT = 0.8
_MORE = 0.2
"""How much of a limit a person's yes adds to it."""
_MOST_FILES = 2_000
_MOST_IDS = 50
_WEB = frozenset({"WebFetch", "WebSearch", "web_fetch", "web_search"})
_REQUESTS = ("request", "send", "clone", "run-downloaded")
_RUNNING = 60.0
"""How many seconds a call counts that has begun and not ended: it may have been denied."""
_PAUSES = frozenset({"Stop", "SessionEnd", "PermissionRequest"})


class _Limit(NamedTuple):
    """A limit, what was used of it, and how to say so."""

    key: str
    """Its name and value: two policies may have limits of one name."""
    used: float
    most: float
    said: str


def _before_call(event: Any, options: Options) -> Reply | None:
    """Count a call; ask if a limit is reached, and tell the model once if one is near."""
    call = Call(event, project_of(event, options))
    number = str(call.fields.get("tool_use_id") or "")
    with _counts(event, options, needed=True) as state:
        limits = list(_limits(call, options, state))
        if over := [one for one in limits if one.used >= one.most]:
            asked = state.setdefault("asked", {})
            for one in over:
                asked[one.key] = [*asked.get(one.key, []), number][-_MOST_IDS:]
            return ask(f"{_PART}: {'; '.join(one.said for one in over)}. A yes adds {_MORE:.0%} to the limit")
        if _is_first(state, "counted", number):
            state["calls"] = state.get("calls", 0) + 1
        _begin(call, number, state)
        warned = state.setdefault("warned", [])
        near = [one for one in limits if one.used >= one.most * _WARNED_AT and one.key not in warned]
        warned += [one.key for one in near]
        return context(f"{_PART}: {'; '.join(one.said for one in near)}. Finish with what is left.") if near else None


def _after_call(event: Any, options: Options) -> None:
    """Count what a call has done; one that was asked about and then ran was granted."""
    call = Call(event, project_of(event, options))
    number = str(call.fields.get("tool_use_id") or "")
    with _counts(event, options) as state:
        asked = state.get("asked", {})
        for key in [key for key, ids in asked.items() if number in ids]:
            del asked[key]
            raised = state.setdefault("raised", {})
            raised[key] = raised.get(key, 0) + 1
        if not _is_first(state, "done", number):
            return
        state.get("running", {}).pop(number, None)
        if paths := written(call):
            state["writes"] = state.get("writes", 0) + 1
            _count_files(state.setdefault("files", {}), paths)
        if _is_request(call):
            state["requests"] = state.get("requests", 0) + 1


def _begin(call: Call, number: str, state: dict[str, Any]) -> None:
    """Note a call that writes or asks the web until it ends: calls that are made at once all count."""
    paths = [fingerprint(path) for path in written(call)[:_MOST_IDS]]
    if number and (paths or _is_request(call)):
        running = state.setdefault("running", {})
        running[number] = [time.time(), paths, _is_request(call)]
        for old in [one for one, (began, *_) in running.items() if time.time() - began > _RUNNING]:
            del running[old]  # another hook has denied it


def _is_request(call: Call) -> bool:
    return call.tool in _WEB or any(True for _ in call.of(*_REQUESTS))


def _is_first(state: dict[str, Any], what: str, number: str) -> bool:
    """Return whether a call is not counted yet: a guard may be asked twice, and there may be two such policies."""
    ids = state.setdefault(what, [])
    if number and number in ids:
        return False
    state[what] = [*ids, number][-_MOST_IDS:]
    return True


def _count_files(files: dict[str, int], paths: list[str]) -> None:
    for name in map(fingerprint, paths):
        if name in files or len(files) < _MOST_FILES:
            files[name] = files.get(name, 0) + 1


def _keep_count(event: Any, options: Options) -> None:
    """Count the tokens and the time up to an event that is no call."""
    with _counts(event, options) as state:
        if event.get("hook_event_name") in ("Stop", "UserPromptSubmit"):
            state.pop("running", None)  # calls that have not ended were denied


def _after_answer(event: Any, options: Options) -> None:
    """Count what an answer of the model has used."""
    with _counts(event, options) as state:
        _spend(state, usage_of_event(event, options["prices"]))


@contextmanager
def _counts(event: Any, options: Options, *, needed: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the counts after an event; if they cannot be kept, the next call is denied."""
    with session_state(session_of(event), _PART, needed=needed) as state:
        _go_on(event, options, state)
        yield state


def _go_on(event: Any, options: Options, state: dict[str, Any]) -> None:
    """Add the time since the last event, unless the agent was waiting, and what the transcripts say."""
    now = time.time()
    began = state.pop("since", None)
    if isinstance(began, (int, float)) and now > began:
        state["seconds"] = state.get("seconds", 0.0) + now - began
    if event.get("hook_event_name") not in _PAUSES:
        state["since"] = now
    if options["tokens"] is not None or options["cost"] is not None:
        for key in ("transcript_path", "agent_transcript_path"):
            _spend(state, read_transcript(event.get(key), state.setdefault("transcripts", {}), options["prices"]))


def _spend(state: dict[str, Any], usage: Usage) -> None:
    state["tokens"] = state.get("tokens", 0) + usage.tokens
    state["dollars"] = state.get("dollars", 0.0) + usage.dollars


def _limits(call: Call, options: Options, state: dict[str, Any]) -> Iterator[_Limit]:
    """Yield the limits that are set, with what is used of each before this call."""
    files = Counter(state.get("files", {}))
    running = [one for number, one in state.get("running", {}).items() if number != call.fields.get("tool_use_id")]
    for _, paths, _ in running:
        files.update(paths)
    writes = state.get("writes", 0) + sum(bool(paths) for _, paths, _ in running)
    requests = state.get("requests", 0) + sum(asks for *_, asks in running)
    per_file = max(((files[fingerprint(path)], path) for path in written(call)), default=(0, ""))
    is_write, is_request = bool(per_file[1]), _is_request(call)
    rows: tuple[tuple[str, float, str, bool], ...] = (
        ("calls", state.get("calls", 0), "{used:,.0f} of {most:,.0f} tool calls", True),
        ("tokens", state.get("tokens", 0), "{used:,.0f} of {most:,.0f} tokens", True),
        ("cost", state.get("dollars", 0.0), "{used:.2f} of {most:.2f} US dollars", True),
        ("time", state.get("seconds", 0.0), "{minutes:,.0f} of {most_minutes:,.0f} minutes", True),
        ("writes", writes, "{used:,.0f} of {most:,.0f} writes", is_write),
        ("perFile", per_file[0], "{used:,.0f} of {most:,.0f} writes to " + _braced(per_file[1]), is_write),
        ("requests", requests, "{used:,.0f} of {most:,.0f} requests to the web", is_request),
    )
    raised = state.get("raised", {})
    for name, used, text, applies in rows:
        if applies and options[name] is not None:
            key = f"{name} {options[name]}"
            most = options[name] * (1 + _MORE * raised.get(key, 0))
            said = text.format(used=used, most=most, minutes=used / 60, most_minutes=most / 60)
            yield _Limit(key, used, most, f"the session has used {said}")


def _braced(path: str) -> str:
    return path.replace("{", "{{").replace("}", "}}")


def _prices(value: Any) -> Mapping[str, tuple[float, float]]:
    """Read prices; those that are given come before the others."""
    found: dict[str, tuple[float, float]] = {}
    for name, pair in value.items() if isinstance(value, Mapping) else [("", value)]:
        is_pair = isinstance(pair, (list, tuple)) and len(pair) == 2
        if not name or not is_pair or not all(type(one) in (int, float) and one >= 0 for one in pair):
            hint = 'write {"*sonnet*": [3, 15]}: dollars for a million tokens, input and output'
            raise BadHook(f"{as_written(pair)} is not a price", hint=hint)
        found[str(name)] = (float(pair[0]), float(pair[1]))
    return {**found, **{name: price for name, price in PRICES.items() if name not in found}}


POLICY = Policy(
    name="budgets",
    prevents="A session without end: more calls, tokens, dollars, time, writes or requests than it may use.",
    hooks={
        "PreToolUse": _before_call,
        "PostToolUse": _after_call,
        "PostToolUseFailure": _after_call,
        "PermissionRequest": _keep_count,
        "UserPromptSubmit": _keep_count,
        "SubagentStop": _keep_count,
        "Stop": _keep_count,
        "post:message": _after_answer,
    },
    parameters=(
        count("calls", None, "tool calls in a session"),
        count("tokens", None, "tokens in a session, those of caches too"),
        count("cost", None, "US dollars in a session", fraction=True),
        duration("time", None, "the time in which the agent works; while it waits for a person, none passes"),
        count("writes", None, "calls that change files"),
        count("perFile", None, "calls that change the same file"),
        count("requests", None, "calls that ask the web"),
        Parameter(
            "prices", _prices, {}, "dollars for a million tokens by model, input and output",
            'names and pairs, such as {"*sonnet*": [3, 15]}',
        ),
    ),
    notes=(
        "Without a limit it does nothing. At 80 % of a limit the model is told once. At the limit every further call "
        "is asked about; if the person says yes and the call runs, the limit is raised by a fifth. With `onMatch: "
        "deny` the limit is final.\n\n"
        "Counts are kept per session, over all its processes and subagents, and when a session is resumed. Tokens are "
        "read from the transcripts of Claude Code, and from `usage` and `cost_usd` of `post:message`; a host that "
        "gives neither is estimated by the length of its messages, and a host without `post:message` has no tokens. A "
        "model without a price costs nothing: set `tokens` too. The answer that exceeds a limit has been paid for.\n\n"
        "A call that writes or asks the web counts when it begins, so that calls that are made at once all count; if "
        "it does not run, it counts for a minute, or until the next prompt.\n\n"
        "An event without a `session_id` is not counted."
    ),
)  # fmt: skip
