"""``interpose agents status``: whether hooks were asked about what coding agents did. Only reads."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Annotated

import typer

from ..attach.status import AgentStatus, shown_call, statuses
from ..dialects.agents import AGENTS
from ..errors import UsageError, nearest
from . import options
from .audit_store import parse_since
from .render import clock_time, cut, flat, on_one_line, paint, plural, time_since
from .render.table import terminal_width, wrap_text

__all__ = ["status"]

_PERIOD = "7d"
_MOST_SESSIONS, _MOST_CALLS = 5, 3

Agents = Annotated[
    list[str] | None, typer.Argument(metavar="[AGENT]…", show_default=False, help="Coding agents, such as codex.")
]
Since = Annotated[str, typer.Option("--since", metavar="WHEN", help="Sessions from then on: 90m, 2h, 3d, or a date.")]
Stores = Annotated[
    list[str] | None,
    typer.Option("--store", metavar="FILE", show_default=False,
                 help="An audit store; may be repeated. Default: those that the configurations of the sessions' "
                      "projects name, and your own."),
]  # fmt: skip


def status(agents: Agents = None, since: Since = _PERIOD, store: Stores = None, as_json: options.AsJson = False) -> int:
    """Compare what coding agents did with what their hooks were asked: every agent writes a transcript, also with its
    hooks switched off.

    For each agent: the files that attach has written and whether they are as they were, the versions that were seen,
    when each event was last recorded, and the calls of recent sessions that no hook has seen.

    Exit status: 0 if every call was seen where an agent is attached, 1 if not.

    Example: interpose agents status codex --since 24h
    """
    for name in agents or ():
        if name not in AGENTS:
            raise UsageError(f"there is no agent {name}", hint=nearest(name, AGENTS) or ", ".join(AGENTS))
    moment = parse_since(since) or 0.0
    found = statuses(agents or [], moment, store or [])
    wrong = any(one.gaps for one in found)
    if as_json:
        print(json.dumps({"ok": not wrong, "since": moment, "agents": [one.to_dict() for one in found]}))
        return int(wrong)
    for one in found:
        print("\n".join(_lines(one, since)))
    if not found:
        print("no coding agent is attached, and none has left a transcript here")
    return int(wrong)


def _lines(one: AgentStatus, since: str) -> Iterator[str]:
    version = f" {', '.join(map(flat, one.versions))}" if one.versions else ""
    mark = paint("✗", "red") if one.gaps else paint("✓", "green") if one.attached or one.seen else paint("·", "dim")
    yield f"{mark} {paint(one.agent, 'bold')}  {flat(one.title)}{version}"
    if not one.attached:
        asked = "; its hooks are asked all the same" if one.seen else ""
        yield f"    not attached: `interpose attach {one.agent}` does it{asked}"
    for attached, states in one.attached:
        where = f" in {flat(attached['project'])}" if attached["scope"] in ("local", "shared") else ""
        yield f"    attached ({attached['scope']}{where}) {clock_time(attached['at'])}"
        for state in states:
            colour = "green" if state.holds else "red"
            what = f": {flat('; '.join(state.what))}" if state.what else ""
            yield f"      {flat(state.path)}  {paint(state.state, colour)}{what}"
    if one.calls:
        yield f"    {one.seen:,} of {plural(one.calls, 'tool call')} since {flat(since)} were seen by a hook"
    if one.elsewhere:
        yield f"    {plural(one.elsewhere, 'call')} since {flat(since)} where it is not attached"
    yield from _session_lines(one)
    yield from _event_lines(one)
    for each in one.uncovered:
        yield f"    {paint('warning', 'yellow')}: no contract covers version {flat(each)}"
    for gap in one.gaps:
        yield f"    {paint('gap', 'red')}: {flat(gap)}"


def _event_lines(one: AgentStatus) -> Iterator[str]:
    """Yield when events were last recorded, and which never were."""
    now, width = time.time(), (terminal_width() or 100) - 6
    fired = [f"{name} {time_since(at, now)}" for name, at in one.last.items() if at is not None]
    never = [name for name, at in one.last.items() if at is None]
    if one.attached and not one.has_store:
        text = "no audit log is found, so it is unknown what hooks were asked: add `audit: {path: audit.db}`"
        yield from (f"    {line}" for line in wrap_text(text, width))
    elif one.attached and not fired:
        yield "    no event was recorded yet"
    elif fired:
        yield from (f"    {line}" for line in wrap_text(f"last events: {', '.join(fired)}", width))
        if never:
            yield from (f"    {line}" for line in wrap_text(f"never fired: {', '.join(never)}", width))


def _session_lines(one: AgentStatus) -> Iterator[str]:
    gaps = [each for each in one.sessions if each.seen < each.calls or each.not_in_transcript]
    for each in sorted(gaps, key=lambda each: -each.last)[:_MOST_SESSIONS]:
        name = f" “{cut(flat(each.name), 40)}”" if each.name else ""
        yield (f"    session {flat(each.session)[:8]}{name} {clock_time(each.last)}: {each.seen:,} of "
               f"{plural(each.calls, 'tool call')} of that session were seen by a hook")  # fmt: skip
        for call in each.unseen[:_MOST_CALLS]:
            why = f" ({call.why})" if call.why else ""
            yield f"      {flat(call.tool)} {cut(on_one_line(shown_call(call)), 70)}{why}"
        if each.not_in_transcript:
            yield (f"      {plural(each.not_in_transcript, 'recorded call')} not in the transcript: it was edited, "
                   "or the agent has removed a part of it")  # fmt: skip
    if len(gaps) > _MOST_SESSIONS:
        yield f"    and {len(gaps) - _MOST_SESSIONS:,} more sessions: --json lists them"
