"""``interpose replay``: a recorded session, decided again with another configuration, without running tools."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

import typer

from ..errors import UsageError
from ..hooks import Hooks
from ..replay import Recording, prepared, read_file, read_session, replay
from . import options
from .audited import Store, opened
from .loading import enter, hooks_of
from .outputs import on_stderr, without_log
from .words import complain_of

__all__ = ["run"]

Session = Annotated[
    str,
    typer.Argument(
        metavar="SESSION", show_default=False,
        help="The id of a session in the store, its beginning, or `latest`; or a file: a transcript of Claude Code "
             "(.jsonl), or what `interpose log export` wrote.",
    ),
]  # fmt: skip
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against", "-a", metavar="FILE",
        help="The configuration that decides again, trusted by being named; may be given more than once. Otherwise: "
             "those that are found and trusted.",
    ),
]  # fmt: skip
Dry = Annotated[bool, typer.Option("--dry", help="Only say which hooks would run; run none.")]


def run(
    session: Session,
    against: Against = None,
    store: Store = None,
    dialect: options.Dialect = None,
    cwd: options.Cwd = None,
    dry: Dry = False,
    as_json: options.AsJson = False,
) -> int:
    """Every recorded event is fired again, in order, and what comes out is compared with what was decided then. No tool
    runs. The hooks do, commands too, with INTERPOSE_REPLAY=1 in their environment; --dry says which.

    A store has no secrets: a decision that rests on one may come out differently, and such events are marked. A
    transcript does not say what hooks decided; that is told from what became of each call.

    Exit status: 0 if everything would be decided the same, 1 if not.

    Example: interpose replay latest --against new.yaml
    """
    place = os.path.abspath(session)
    files = [os.path.abspath(path) for path in against or ()]
    named = os.path.abspath(store) if store is not None else None
    enter(cwd)
    recording = _recording(session, place, named)
    hooks = _engine(files, dialect)
    if dry:
        from .replay_dry import show_dry

        return show_dry(hooks, recording, as_json=as_json)
    without_log()
    from .replay_review import Review

    review = None if as_json else Review(recording)
    done = replay(hooks, recording, review, around=on_stderr)
    if review is not None:
        review.sum_up(done)
    else:
        print(json.dumps({"ok": not done.different, "against": files, **done.to_dict()}, default=repr))
    return 1 if done.different else 0


def _recording(session: str, place: str, store: str | None) -> Recording:
    """Return what is replayed: a file if there is one of that name, else a session of the store."""
    if os.path.isfile(place):
        return read_file(place)
    if os.sep in session or session.endswith(".jsonl"):
        raise UsageError("there is no such file", where=session, hint="check the path")
    with opened(store) as reader:
        return read_session(reader, session)


def _engine(files: list[str], dialect: str | None) -> Hooks:
    hooks = hooks_of(files, dialect, None)
    if not hooks.origins:
        raise UsageError("no configuration is found here", hint="name one with --against")
    for warning in hooks.warnings:
        complain_of(warning, "replay")
    if not any(origin.trusted for origin in hooks.origins):
        # Without hooks everything would be decided the same, or seem so.
        raise UsageError("no configuration that is found here is trusted", hint="name one with --against")
    if not list(hooks):
        print("interpose replay: this configuration has no hooks", file=sys.stderr)
    return prepared(hooks)
