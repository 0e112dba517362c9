"""Deny the same call again and again, a call that keeps failing, and calls in a circle."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from ..replies import Reply, context, deny
from ..state.locked import session_state
from .call import Call
from .parameters import count, names
from .policy import Options, Policy
from .session_calls import agent_of, failure_of, fingerprint, looks_only, project_of, same_call, session_of

__all__ = ["POLICY"]

_PART = "repeated-calls"
_SECONDS = 1800.0
"""After this time without a call, earlier ones do not count."""
_MOST_AGENTS = 30
_MOST_CALLS = 200
_LONGEST_CIRCLE = 6
_ANYTHING = ""
"""The result of a call that has not ended, or was denied."""

_POLLING = (
    "*output*", "*wait*", "*poll*", "*status*", "*progress*", "*write_stdin*", "TaskList", "TaskGet", "task_list",
    "Monitor", "AskUserQuestion", "ExitPlanMode", "sleep", "watch", "inotifywait",
)  # fmt: skip


def _before_call(event: Any, options: Options) -> Reply | None:
    """Count a call; object if it is the same as others before it."""
    call = Call(event, project_of(event, options))
    with session_state(session_of(event), _PART, needed=False) as state:
        calls = _calls_of(state, agent_of(event))
        if _is_polling(call, options["polling"]):
            calls.clear()  # what has waited may look again
            return None
        key, number = same_call(call), call.fields.get("tool_use_id") or ""
        if number:
            calls[:] = [one for one in calls if one["id"] != number]  # a guard that is asked again
        calls.append({"key": key, "id": number, "looks": looks_only(call), "result": _ANYTHING, "failed": False})
        del calls[: -int(options["window"] or _MOST_CALLS)]
        return _objection(calls, options)


def _after_call(event: Any, options: Options) -> None:
    """Remember the result of a call."""
    error, response = event.get("error"), event.get("tool_response")
    if event.get("is_interrupt") is True:
        return _start_anew(event, options)
    result = response if error is None else error
    with session_state(session_of(event), _PART, needed=False) as state:
        calls = _calls_of(state, agent_of(event))
        number = event.get("tool_use_id") or ""
        key = "" if number else same_call(Call(event, project_of(event, options)))
        for one in reversed(calls):
            if one["id"] == number if number else one["key"] == key:
                one["result"] = fingerprint(result, without_digits=True)
                one["failed"] = error is not None or failure_of(response)
                return None
    return None


def _start_anew(event: Any, _options: Options) -> None:
    """Forget the calls: a person has said something, or the model has lost what it knew."""
    with session_state(session_of(event), _PART, needed=False) as state:
        state.clear()


def _calls_of(state: dict[str, Any], agent: str) -> list[dict[str, Any]]:
    """Return the remembered calls of an agent, the newest last."""
    now = time.time()
    agents = state.setdefault("agents", {})
    found = agents.get(agent)
    if not isinstance(found, dict) or now - found.get("at", 0) > _SECONDS:
        while len(agents) >= _MOST_AGENTS:
            del agents[min(agents, key=lambda one: agents[one]["at"])]
        found = agents[agent] = {"at": now, "calls": []}
    found["at"] = now
    calls: list[dict[str, Any]] = found["calls"]
    return calls


def _is_polling(call: Call, patterns: tuple[str, ...]) -> bool:
    """Return whether a call waits for something: a tool or a command of these names."""
    done = {call.tool, *(command.name for line in call.lines for command in line.commands)}
    return any(fnmatchcase(name.lower(), pattern.lower()) for name in done for pattern in patterns)


def _objection(calls: list[dict[str, Any]], options: Options) -> Reply | None:
    """Return what the newest call is answered: a denial at a limit, a remark one before it."""
    remark = None
    for times, most, what, instead in _repetitions(calls, options):
        if most is not None and times >= most:
            return deny(f"{_PART}: {what}: {instead}")
        if most is not None and times == most - 1 and times > 1:
            remark = remark or context(f"{_PART}: {what}. One more time is denied: {instead}.")
    return remark


def _repetitions(calls: list[dict[str, Any]], options: Options) -> Iterator[tuple[int, int | None, str, str]]:
    """Yield how often something was repeated, how often it may be, what it is, and what to do instead."""
    times = _failures(calls) + 1
    how = "change the input, or what it fails about; to wait for something, run sleep first"
    often = "once" if times == 2 else f"{times - 1} times with the same error"
    yield times, options["failing"], f"the same call has failed {often}", how
    times = _in_a_row(calls)
    how = "use the result that you have; to wait for another, run sleep first"
    yield times, options["same"], f"the same call was made {times} times in a row, with the same result", how
    length, times = _rounds(calls)
    how = "stop going round, and find out what does not work"
    what = f"the same {length} calls were made {times} times in turn, with the same results"
    yield times, options["cycle"], what, how


def _in_a_row(calls: list[dict[str, Any]]) -> int:
    """Return how many of the newest calls are the same as the newest, with the same result."""
    return _equal_rounds([one["key"] for one in calls], [one["result"] for one in calls], 1)


def _failures(calls: list[dict[str, Any]]) -> int:
    """Return how often the newest call has failed in the same way since something else may have changed anything."""
    newest, result, times = calls[-1]["key"], _ANYTHING, 0
    for one in reversed(calls[:-1]):
        if one["key"] == newest:
            if not one["failed"] or (result and one["result"] != result):
                break
            result, times = one["result"], times + 1
        elif not one["looks"] and not one["failed"]:
            break
    return times


def _rounds(calls: list[dict[str, Any]]) -> tuple[int, int]:
    """Return the length of the shortest circle that the newest calls make, and how often it was gone round."""
    keys, results = [one["key"] for one in calls], [one["result"] for one in calls]
    best = (0, 0)
    for length in range(2, _LONGEST_CIRCLE + 1):
        if len(set(keys[-length:])) > 1:
            rounds = _equal_rounds(keys, results, length)
            best = max(best, (length, rounds), key=lambda one: one[1])
    return best


def _equal_rounds(keys: list[str], results: list[str], length: int) -> int:
    """Return how many times the last ``length`` calls were made in turn; a result that is unknown equals any."""
    expected = list(results[-length:])
    rounds = 1
    while (end := len(keys) - rounds * length) >= length:
        if keys[end - length : end] != keys[-length:]:
            break
        for place, result in enumerate(results[end - length : end]):
            if result != _ANYTHING and expected[place] not in (_ANYTHING, result):
                return rounds
            expected[place] = expected[place] or result
        rounds += 1
    return rounds


POLICY = Policy(
    name="repeated-calls",
    prevents="The same call again and again with the same result, a call that keeps failing, and calls in a circle.",
    hooks={
        "PreToolUse": _before_call,
        "PostToolUse": _after_call,
        "PostToolUseFailure": _after_call,
        "UserPromptSubmit": _start_anew,
        "SessionStart": _start_anew,
    },
    parameters=(
        count("same", 5, "which of identical calls in a row with the same result is denied"),
        count("failing", 3, "which attempt of a call is denied that failed the same way each time before"),
        count("cycle", 3, "which round of the same calls in turn is denied"),
        count("window", 20, "how many calls are remembered"),
        names("polling", _POLLING, "tools and commands that wait; after one of them, any call may be made again"),
    ),
    recommended={},
    guard=False,
    notes=(
        "One call before the limit, the model is told that the next one is denied.\n\n"
        "Calls count per agent. A prompt, a compaction, half an hour without a call, and a call that waits start anew. "
        "A call that failed may be made again after anything that may have changed something: a write, an install, a "
        "build. "
        "Results are compared without numbers, so that times and durations do not hide a loop; percentages count.\n\n"
        "An event without a `session_id` is not counted."
    ),
)
