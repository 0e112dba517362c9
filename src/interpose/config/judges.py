"""The options of a hook that asks a model, of type ``prompt`` or ``agent``: checked, and made into its target."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..dialects import dialect as find_dialect
from ..dialects.verdicts import verdict_reader
from ..errors import BadHook
from ..events import EventSpec
from ..handlers.projects import project_directory
from ..handlers.prompt import TIMEOUTS, Judge
from ..matching.written import as_written
from ..model import Binding

__all__ = ["TIMEOUTS", "make_judge"]


def make_judge(
    kind: str,
    row: EventSpec,
    *,
    prompt: Any = None,
    model: Any = None,
    continue_on_block: Any = None,
    cache: Any = None,
    dialect: str = "native",
    project_dir: str = "",
) -> Binding:
    """Return what a hook asks, and how its answer is read; raise BadHook with what is wrong."""
    if not isinstance(prompt, str) or not prompt.strip():
        raise BadHook(f"prompt: {as_written(prompt)} where text is expected",
                      hint="say what to judge; $ARGUMENTS is the event")  # fmt: skip
    if model is not None and (not isinstance(model, str) or not model.strip()):
        raise BadHook(f"model: {as_written(model)} where text is expected", hint="a name from models:")
    for option, value in (("continueOnBlock", continue_on_block), ("cache", cache)):
        if value is not None and not isinstance(value, bool):
            raise BadHook(f"{option}: {as_written(value)} where true or false is expected")
    is_agent = kind == "agent"
    if is_agent and cache is not None:
        raise BadHook("cache: an agent looks at files, which change", hint="leave it out")
    native = dialect != "claude"
    if continue_on_block is not None and is_agent:
        raise BadHook("continueOnBlock: after a hook of type agent the turn goes on", hint="leave it out")
    if native and continue_on_block is False and "keep going" in row.can:
        raise BadHook(f"continueOnBlock: at {row.name} ok: false keeps the agent going", hint="leave it out")
    judge = Judge(
        prompt=prompt,
        model=(model or "").strip(),
        continues=native or is_agent if continue_on_block is None else continue_on_block,
        cache=False if is_agent else cache is not False,
        timeout=TIMEOUTS[kind] if is_agent else None,
        dialect=dialect,
        write=find_dialect(dialect).write,
        project=partial(project_directory, project_dir),
    )
    return Binding(target=judge, read=verdict_reader(dialect))
