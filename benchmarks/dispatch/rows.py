"""The table: what is promised of firing and importing, who is measured for it, and the limit.

Runs in the environment that `benchmarks.dispatch` makes.
"""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.command import parser, run
from benchmarks.dispatch import ours, peers
from benchmarks.dispatch.contestants import (
    ASYNC,
    STRANDS,
    SYNC,
    Adapter,
    contestant,
    contestants,
    numbered,
    versions,
)
from benchmarks.environment import HOME, ROOT
from benchmarks.measure import Check, Contestant, Limit, Row, clean_environment, in_event_loop, in_process

HAS_EAGER_TASKS = sys.version_info >= (3, 12)
"""A task that begins at once, without a turn of the event loop, costs a fraction of one that does not."""


def nothing(runner: asyncio.Runner) -> Row:
    unmatched = ours.Unmatched()
    bodies = {
        "fire": unmatched.run,
        "a call that does nothing": peers.Nothing().run,
        "wants": unmatched.ask,
        "an empty coroutine": peers.EmptyCoroutine().run,
    }
    return Row(
        "nothing",
        "Nothing matches",
        [Contestant(name, in_event_loop(runner, body)) for name, body in bodies.items()],
        [
            Limit("fire(), outcome with its input", "fire", "a call that does nothing", 2),
            Limit("wants()", "wants", "an empty coroutine", 1),
        ],
        [Check("outcome and answer are right", lambda: runner.run(unmatched.problem()))],
    )


def async_hooks(runner: asyncio.Runner) -> Row:
    one, ten = (2.0, 1.6) if HAS_EAGER_TASKS else (3.0, 2.2)
    return Row(
        "async",
        "Async hooks with deadlines, not inline",
        contestants(runner, {"ours": ours.Interpose, **ASYNC}, (1, 10)),
        [
            *_limits("one hook", 1, {"Strands": one, "pydantic-ai": 0.5, "MassGen": 0.3}),
            *_limits("ten hooks", 10, {"Strands": ten, "pydantic-ai": 0.15, "MassGen": 0.1}),
            *_limits("one hook", 1, {"Strands, its own event": None}),
            *_limits("ten hooks", 10, {"Strands, its own event": None}),
        ],
    )


def inline_hooks(runner: asyncio.Runner) -> Row:
    return Row(
        "inline",
        "Inline async hooks with deadlines",
        contestants(runner, {"ours": ours.InterposeInline, **STRANDS}, (1, 10)),
        [*_limits("one hook", 1, {"Strands": 2.0}), *_limits("ten hooks", 10, {"Strands": 1.7})],
    )


def sync_hooks(runner: asyncio.Runner) -> Row:
    return Row(
        "sync",
        "Sync hook with a deadline, in its thread",
        contestants(runner, {"ours": ours.InterposeSync, **SYNC}, (1,)),
        _limits("one hook", 1, {"MassGen": 0.5, "pydantic-ai": None}),
    )


def importing(_: asyncio.Runner) -> Row:
    subject, baseline = "from interpose import Hooks, deny", "import asyncio, dataclasses, json, logging"
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(ROOT / "src" / "interpose")], check=True)
    env = clean_environment(PYTHONPATH=str(ROOT / "src"))

    def process(code: str) -> Contestant:
        return Contestant(code, in_process([sys.executable, "-c", code], cwd=HOME, env=env), minimum=0.1)

    def loaded(code: str) -> set[str]:
        command = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
        said = subprocess.run(command, cwd=HOME, env=env, check=True, capture_output=True, text=True).stdout
        return {module.partition(".")[0] for module in said.split()}

    def foreign() -> str:
        found = loaded(subject) - loaded("pass") - set(sys.stdlib_module_names) - {"interpose"}
        return f"loads {', '.join(sorted(found))}" if found else ""

    return Row(
        "import",
        "Import, bytecode compiled",
        [process(subject), process(baseline), process("pass")],
        [
            Limit("Hooks and deny, bare start taken off", subject, baseline, 1.3, minus="pass"),
            Limit("Hooks and deny, whole process", subject, baseline),
        ],
        [Check("no third-party package is loaded", foreign)],
    )


def linear(runner: asyncio.Runner) -> Row:
    few, many = 10, 1000
    engines: dict[str, type[Adapter]] = {
        "async hooks": ours.Interpose,
        "inline hooks": ours.InterposeInline,
        "sync hooks": ours.InterposeSync,
    }
    crowds: dict[str, Callable[[int], ours.AtOnce | peers.AtOnce]] = {
        "firings at once": ours.AtOnce,
        "bare coroutines at once": peers.AtOnce,
    }
    return Row(
        "linear",
        "A thousand: the cost of one of them against one of ten",
        [
            Contestant(numbered(name, count), in_event_loop(runner, crowd(count).run), units=count)
            for name, crowd in crowds.items()
            for count in (many, few)
        ]
        + [
            contestant(runner, name, kind, count, units=count)
            for name, kind in engines.items()
            for count in (many, few)
        ],
        [
            Limit(f"{many} {name}", numbered(name, many), numbered(name, few), limit)
            for name, limit in {
                "firings at once": 1.5,
                **dict.fromkeys(engines, 1.5),
                "bare coroutines at once": None,
            }.items()
        ],
    )


def _limits(what: str, count: int, at_most: Mapping[str, float | None]) -> list[Limit]:
    """One limit per peer, with the same number of hooks on both sides."""
    return [Limit(what, numbered("ours", count), numbered(peer, count), limit) for peer, limit in at_most.items()]


ROWS: dict[str, Callable[[asyncio.Runner], Row]] = {
    "nothing": nothing,
    "async": async_hooks,
    "inline": inline_hooks,
    "sync": sync_hooks,
    "import": importing,
    "linear": linear,
}


def main() -> int:
    options = parser("dispatch", "What firing an event costs.").parse_args()
    with asyncio.Runner() as runner:
        return run(options, {key: partial(row, runner) for key, row in ROWS.items()}, versions())


if __name__ == "__main__":
    sys.exit(main())
