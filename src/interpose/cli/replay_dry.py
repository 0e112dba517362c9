"""Which hooks a replay would run, and how often. Runs none of them."""

from __future__ import annotations

import json
from collections import Counter

from ..errors import InterposeError
from ..hooks import Hooks
from ..replay import Recording
from .reasons import explain
from .words import nearby

__all__ = ["show_dry"]


def show_dry(hooks: Hooks, recording: Recording, *, as_json: bool) -> int:
    """Print which hooks the events of a recording would call for, the most called first."""
    counted: Counter[tuple[str, str, str, str]] = Counter()
    left_out = 0
    for recorded in recording.events:
        try:
            row, _ = hooks.events.find(recorded.event)
            facts = explain(hooks, row, recorded.fields).hooks
        except InterposeError:
            left_out += 1
            continue
        counted.update((row.name, fact.hook, fact.type, fact.source) for fact in facts if fact.would_run)
    if as_json:
        listed = [{"event": event, "hook": hook, "type": kind, "source": source, "runs": count}
                  for (event, hook, kind, source), count in counted.most_common()]  # fmt: skip
        print(json.dumps({"recording": recording.name, "kind": recording.kind, "events": len(recording.events),
                          "left_out": left_out, "notes": recording.notes, "hooks": listed}))  # fmt: skip
        return 0
    from .tables import show_table

    rows = [(event, hook, kind, str(count), nearby(source)) for (event, hook, kind, source), count
            in counted.most_common()]  # fmt: skip
    if rows:
        show_table(("EVENT", "HOOK", "TYPE", "RUNS", "SOURCE"), rows, colours=("bold", "cyan", "", "", "dim"))
    said = f"{len(recording.events)} events, {sum(counted.values())} runs of {len(counted)} hooks; nothing was run"
    print(said + (f"; {left_out} events are not known here" if left_out else ""))
    return 0
