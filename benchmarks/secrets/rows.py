"""The table: what redaction costs, against reading and writing the same record as JSON; and what it finds.

Runs in the environment that `benchmarks.secrets` makes.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.command import MET, MISSED, run
from benchmarks.environment import ROOT
from benchmarks.measure import Contestant, Limit, Row
from benchmarks.secrets.__main__ import options
from benchmarks.secrets.planted import Planted, is_held_out, planted
from benchmarks.secrets.survival import recorded, survives
from interpose.audit.entries import encode
from interpose.redaction import Redactor

MOST_SURVIVE, MOST_HARMED = 0.10, 0.001
"""The shares of planted secrets that may be left, and of ordinary lines that may lose a word."""
_CODE = (ROOT / "src" / "interpose" / "hooks.py").read_text()
_BASH = {"command": "cd src && pytest -q tests && git diff --stat", "description": "Run the tests"}


def redacted(text: str, times: int) -> float:
    """Redact a record as the audit log does: suspected first, then read, redacted and written if it has to be."""
    redactor = Redactor(b"benchmark", environ={})
    value = json.loads(text)
    recorded(value, redactor)
    began = time.perf_counter()
    for _ in range(times):
        recorded(value, redactor)
    return time.perf_counter() - began


def written(text: str, times: int) -> float:
    """Read and write a record as JSON."""
    began = time.perf_counter()
    for _ in range(times):
        encode(json.loads(text))
    return time.perf_counter() - began


def record(key: str, what: str, value: Any) -> Row:
    text = encode(value)
    return Row(
        key,
        f"Redaction of {what}",
        [Contestant("redaction", partial(redacted, text)), Contestant("JSON", partial(written, text))],
        [Limit("redaction", "redaction", "JSON")],
    )


def linear() -> Row:
    text = f"password: hunter2\n{_CODE}"
    return Row(
        "long",
        "Redaction of 400 kB and of 100 kB of code with names of secrets",
        [
            Contestant("400 kB", partial(redacted, encode({"x": (text * 60)[:400_000]}))),
            Contestant("100 kB", partial(redacted, encode({"x": (text * 60)[:100_000]}))),
        ],
        [Limit("four times as long", "400 kB", "100 kB", 6.0)],
        most_rounds=5,
    )


ROWS: dict[str, Callable[[], Row]] = {
    "call": partial(record, "call", "a Bash call", {"tool_name": "Bash", "tool_input": _BASH}),
    "write": partial(record, "write", "a file of 2 kB that is written", {"tool_input": {"content": _CODE[:2000]}}),
    "result": partial(record, "result", "a result of 20 kB", {"tool_response": (_CODE * 2)[:20_000]}),
    "long": linear,
}


def surviving(seed: int) -> dict[bool, tuple[int, list[Planted]]]:
    """Return how many secrets were planted, and which survive: of the forms to develop with, and of those held out."""
    counts, left = Counter[bool](), {False: list[Planted](), True: list[Planted]()}
    without = Redactor(b"benchmark", environ={})
    for one in planted(seed):
        held_out = is_held_out(one.form)
        counts[held_out] += 1
        redactor = Redactor(b"benchmark", environ=dict(one.environ)) if one.environ else without
        if survives(one, redactor):
            left[held_out].append(one)
    return {held_out: (counts[held_out], left[held_out]) for held_out in (False, True)}


def harmed(paths: Iterable[Path]) -> tuple[int, list[tuple[str, str]]]:
    """Return the number of lines, and those that redaction changes, with what it makes of them."""
    redactor = Redactor(b"benchmark", environ={})
    lines = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    texts = [line if isinstance(line, str) else line["line"] for line in lines]
    return len(texts), [(text, made) for text in texts if (made := redactor.value({"line": text})["line"]) != text]


def main() -> int:
    chosen = options().parse_args()
    status = run(chosen, ROWS, {})
    found = surviving(chosen.seed)
    count, left = (sum(number for number, _ in found.values()), [one for _, some in found.values() for one in some])
    is_met = len(left) <= MOST_SURVIVE * count
    verdict = "met" if is_met else "MISSED"
    print(f"\nplanted secrets: {len(left)} of {count} survive, at most {MOST_SURVIVE:.0%}: {verdict}")
    for held_out, (number, some) in found.items():
        print(f"  {'forms held out' if held_out else 'forms to develop with'}: {len(some)} of {number}")
    for one in left[: chosen.show]:
        print(f"    {one.form}: {str(one.value)[:110]!r}")
    status = max(status, MET if is_met else MISSED)
    if chosen.lines:
        count, lines = harmed(chosen.lines)
        is_met = len(lines) <= MOST_HARMED * count
        verdict = "met" if is_met else "MISSED unless they have secrets in them: read them"
        print(f"\nordinary lines: {len(lines)} of {count} are changed, at most {MOST_HARMED:.1%}: {verdict}")
        for text, made in lines[: chosen.show]:
            print(f"    {text.strip()[:110]!r}\n      {made.strip()[:110]!r}")
        status = max(status, MET if is_met else MISSED)
    return status


if __name__ == "__main__":
    sys.exit(main())
