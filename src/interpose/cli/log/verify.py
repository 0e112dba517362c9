"""``interpose log verify``: check that a store was not changed."""

from __future__ import annotations

import json as json_text
import sys
from typing import Any

from ...audit.chain import load_key
from ...audit.places import is_url, shown_url
from ...audit.verify import Flaw, Verification, verify_store
from ...errors import InterposeError
from ..render import clock_time, flat, paint, plural, print_error, short_path

__all__ = ["verify"]

NOT_A_STORE = 2
_COLOURS = {"broken": "red", "consistent": "yellow", "complete": "green"}
_MEANINGS = {
    "broken": "it was changed",
    "consistent": "nothing was changed; only a key or an anchor can show whether its end is missing",
    "complete": "nothing was changed, and nothing is missing",
}


def verify(store: str, *, key: str | None, anchor: str | None, json: bool) -> int:
    """Verify a store, print the result, and return the exit status: 0 intact, 1 changed, 2 not a store."""
    try:
        found = verify_store(store, key=load_key(key), anchor=anchor)
    except InterposeError as error:
        print_error(error, "log verify")
        return NOT_A_STORE
    if json:
        print(json_text.dumps(_as_json(found)))
    else:
        _print_verdict(store, found)
    return 1 if found.flaws else 0


def _as_json(found: Verification) -> dict[str, Any]:
    return {
        "ok": not found.flaws,
        "verdict": found.verdict,
        "records": found.records,
        "processes": found.processes,
        "problems": [
            {"what": flaw.what, "id": flaw.id, "process": flaw.process, "time": flaw.time} for flaw in found.flaws
        ],
        "more_problems": found.more_flaws,
        "gaps": list(found.gaps),
        "notes": list(found.notes),
    }


def _print_verdict(store: str, found: Verification) -> None:
    for flaw in found.flaws:
        print(f"{paint(flat(_place(flaw)), 'bold')}: {paint(flat(flaw.what), 'red')}")
    if found.more_flaws:
        print(f"… and {found.more_flaws} more")
    for gap in found.gaps:
        print(f"{paint(flat(_place_of_gap(gap)), 'bold')}: {flat(_describe_gap(gap))}")
    for note in found.notes:
        print(f"{paint('note', 'blue')}: {flat(note)}")
    parts = plural(found.processes, "store") if is_url(store) else plural(found.processes, "process", "processes")
    count = f"{plural(found.records, 'record')} of {parts}"
    verdict = paint(found.verdict, _COLOURS[found.verdict])
    place = shown_url(store) if is_url(store) else short_path(store)
    print(f"{flat(place)}: {verdict}: {_MEANINGS[found.verdict]} ({count})", flush=True)
    sys.stdout.flush()


def _place(flaw: Flaw) -> str:
    parts = [f"record {flaw.id}"] if flaw.id is not None else []
    if flaw.process is not None:
        parts.append(f"process {flaw.process}")
    if flaw.time is not None:
        parts.append(clock_time(flaw.time, full=True))
    return ", ".join(parts) or "the store"


def _place_of_gap(gap: dict[str, Any]) -> str:
    return f"record {gap['id']}, process {gap['process']}, {clock_time(gap['time'], full=True)}"


def _describe_gap(gap: dict[str, Any]) -> str:
    match gap["kind"]:
        case "gap":
            parts = []
            for name, one, many in (
                ("lost", "is not in the store", "are not in the store"),
                (
                    "denied",
                    "was denied because it could not be recorded",
                    "were denied because they could not be recorded",
                ),
            ):
                if count := _number(gap.get(name)):
                    parts.append(f"{plural(count, 'firing')} {one if count == 1 else many}")
            return f"{' and '.join(parts) or 'a gap'}: {gap.get('why', '')}"
        case "retention":
            count = _number(gap.get("records"))
            return f"{plural(count, 'record')} {'was' if count == 1 else 'were'} deleted by retention"
        case _:
            why = f" ({gap['why']})" if gap.get("why") else ""
            return f"the store before this one was moved aside{why}, and is now {gap.get('moved', '?')}"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
