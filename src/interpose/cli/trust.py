"""``interpose trust``: look at what a configuration makes run, and let it arm."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..config.load import Origin, Source, find_sources, load_sources
from ..config.trust import TrustStore
from ..errors import ConfigError, InterposeError, Problem, UsageError, nearest
from ..events import TABLE
from ..handlers.command import command_of
from ..model import Hook
from ..records import replace
from ..replies import clean
from .asking import confirm, somebody_is_there
from .loading import enter, here
from .options import AsJson, Cwd, Dialect
from .words import complain, complain_of, paint, visible

__all__ = ["run"]

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]…", show_default=False, help="Configuration files. Otherwise: those that are found."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask: for scripts, after somebody has looked.")]
Diff = Annotated[bool, typer.Option("--diff", help="Only show what has changed since a file was trusted.")]
Forget = Annotated[
    list[str] | None, typer.Option("--forget", metavar="FILE", help="Take trust back; may be given more than once.")
]
List = Annotated[bool, typer.Option("--list", help="Only list what was trusted, and whether that still holds.")]


def run(
    files: Files = None,
    yes: Yes = False,
    diff: Diff = False,
    forget: Forget = None,
    list_: List = False,
    dialect: Dialect = None,
    cwd: Cwd = None,
    as_json: AsJson = False,
) -> int:
    """A file that is found by itself (such as `.interpose/hooks.yaml`) arms only after you have said so, for exactly
    what is in it and in the local scripts and modules that it names. If any of these changes, it has to be trusted
    again. Your answer is kept outside the project.

    Exit status: 1 if a file was not trusted in the end, or is unsafe (others may write to it).
    """
    named = [os.path.abspath(path) for path in files or []]
    if forget:
        return _forget([os.path.abspath(path) for path in forget], as_json)
    if list_:
        return _list(as_json)
    enter(cwd)
    looked, mistakes = _look(_sources(named, dialect))
    if diff:
        if not as_json:
            _show_diffs(looked)
    else:
        _decide(looked, yes=yes, quiet=as_json)
    if as_json:
        _print_json(looked, mistakes)
    for error in mistakes:
        complain(error, "trust")
    return 1 if mistakes or not (diff or all(one.trusted for one in looked)) else 0


@dataclass(slots=True)
class _Looked:
    """A file, the hooks that it would arm, and what is not as it was trusted."""

    origin: Origin
    hooks: list[Hook]
    changes: list[tuple[str, str]]
    before: dict[str, Any]
    """What was recorded when it was trusted; empty if it never was."""
    trusted: bool
    permissions: dict[str, str]
    """What it answers before a person is asked."""
    audit: str
    """Where it has firings recorded, if it says so."""


def _sources(named: list[str], dialect: str | None) -> list[Source]:
    found = find_sources(here(), dialect)
    if not named:
        if not found:
            raise UsageError("no configuration was found here", hint="`interpose init` writes one, or name a file")
        return found
    known = {os.path.realpath(source.path): source for source in found}
    return [known.get(os.path.realpath(path)) or Source(path, "project", dialect, found=True) for path in named]


def _look(sources: Iterable[Source]) -> tuple[list[_Looked], list[InterposeError]]:
    """Read each file as one that was found, so that an unsafe one is refused; go on after mistakes."""
    looked: list[_Looked] = []
    mistakes: list[InterposeError] = []
    for source in sources:
        try:
            looked.append(_look_at(source))
        except InterposeError as error:
            mistakes.append(error)
    return looked, mistakes


def _look_at(source: Source) -> _Looked:
    [origin] = load_sources(TABLE, [source]).origins
    # What is not trusted yet shows no hooks; named, the same file shows them. It must be the same file, of course.
    loaded = load_sources(TABLE, [replace(source, found=False)])
    if loaded.origins[0].digest != origin.digest:
        raise ConfigError([Problem("was changed while it was being read", where=source.path, hint="try again")])
    store = TrustStore()
    before = store.recorded().get(origin.real_path)
    changes = store.difference(origin) if isinstance(before, dict) else []
    known = before if isinstance(before, dict) else {}
    audit = str(loaded.audit.get("path", "")) if loaded.audit else ""
    return _Looked(origin, loaded.hooks, changes, known, origin.trusted, loaded.permissions, audit)


def _decide(looked: list[_Looked], *, yes: bool, quiet: bool) -> None:
    """Show each file and trust it, if somebody says so."""
    for one in looked:
        path = clean(one.origin.source.path)
        if one.trusted:
            if not quiet:
                print(f"{paint(path, 'bold')} is trusted as it is")
            continue
        if not quiet:
            _show(one)
        if not yes and (quiet or not somebody_is_there()):
            if not quiet:
                complain_of(
                    Problem("not trusted: there is nobody to ask", where=path, hint="--yes if you have looked"), ""
                )
            continue
        if yes or confirm(f"Trust {path} with {_hooks(one)}?"):
            # What was shown is what is trusted: a file that has changed since then does not match.
            TrustStore().trust(one.origin)
            one.trusted = True
        if not quiet:
            print(f"{paint('trusted', 'green')}  {path}" if one.trusted else f"{paint('not trusted', 'red')}  {path}")


def _hooks(one: _Looked) -> str:
    return f"{len(one.hooks)} hook{'' if len(one.hooks) == 1 else 's'}"


def _show(one: _Looked) -> None:
    origin = one.origin
    print(f"{paint(clean(origin.source.path), 'bold')}  {paint(f'{origin.source.layer} layer', 'dim')}  "
          f"{_short(origin.sha256)}")  # fmt: skip
    if one.before:
        print(f"  {paint('it was trusted before, and has changed since', 'yellow')} (--diff shows more):")
        for path, change in one.changes:
            print(f"    {change:<8} {clean(path)}")
    print(f"  it arms {_hooks(one)}:")
    width = max((len(_event(hook)) for hook in one.hooks), default=0)
    for hook in one.hooks:
        state = paint("" if hook.enabled and hook.enforce else "  (not enforced)" if hook.enabled else "  (off)", "dim")
        agent = f" for agent {clean(hook.scope)}" if hook.scope else ""
        line = paint(_line(hook, origin), "dim")
        print(f"    {_event(hook):<{width}}  {_runs(hook)}{_given(hook)}{agent}{state}  {line}".rstrip())
    if origin.references:
        print("  which run these local files, trusted with their content:")
    for path, digest in origin.references.items():
        print(f"    {_short(digest) if digest else paint('missing', 'red') + '     '}  {_on_a_line(path)}")
    if one.permissions:
        print("  it answers before you are asked:")
    for rule, answer in one.permissions.items():
        print(f"    {paint(f'{answer:<5}', 'yellow' if answer == 'allow' else 'dim')}  {_on_a_line(rule)}")
    if one.audit:
        print(f"  it has firings recorded in {_on_a_line(one.audit)}")


def _event(hook: Hook) -> str:
    return _on_a_line(f"{hook.event} {hook.matcher}".rstrip())


def _runs(hook: Hook) -> str:
    what = _on_a_line(str(hook.handler))
    return f"{_on_a_line(hook.name)}: {what}" if hook.name and hook.name != what else what


def _given(hook: Hook) -> str:
    """Say what a command gets of the environment, beside what every command gets: a variable can name what is run."""
    command = command_of(hook)
    if command is None:
        return ""
    given = [f"{name}={value!r}" for name, value in command.env.items()]
    given += ["your whole environment"] if command.inherit else [f"your {name}" for name in command.passed]
    return _on_a_line(f" with {', '.join(given)}") if given else ""


def _on_a_line(text: str) -> str:
    """Return text that cannot look like more or less than it is; a line end in a command is not a blank."""
    return visible(text).replace("\n", "⏎")


def _line(hook: Hook, origin: Origin) -> str:
    """Say where a hook is written: in which line of its file, or in which script that the file names."""
    file, _, line = hook.source.rpartition(":")
    if file == origin.source.path:
        return f"line {line}"
    return "" if hook.source == origin.source.path else os.path.basename(hook.source)


def _short(digest: str) -> str:
    return digest[:12]


def _show_diffs(looked: list[_Looked]) -> None:
    for one in looked:
        path = clean(one.origin.source.path)
        if not one.before:
            print(f"{paint(path, 'bold')}: {'trusted by INTERPOSE_TRUST' if one.trusted else 'was never trusted'}")
            continue
        if not one.changes:
            print(f"{paint(path, 'bold')}: nothing has changed")
            continue
        print(f"{paint(path, 'bold')}:")
        for changed, how in one.changes:
            print(f"  {paint(f'{how:<8}', 'yellow')} {clean(changed)}  {_hashes(one, changed)}")
        for line in _text_diff(one):
            print(f"  {line}")


def _hashes(one: _Looked, path: str) -> str:
    if path == one.origin.real_path:
        before, now = one.before.get("sha256", ""), one.origin.sha256
    else:
        before, now = one.before.get("references", {}).get(path, ""), one.origin.references.get(path, "")
    return f"{_short(before) or 'nothing'} → {_short(now) or 'nothing'}"


def _text_diff(one: _Looked) -> list[str]:
    """Compare the text that was trusted with today's; of the files that it names only the hashes are kept."""
    before = one.before.get("text")
    if not isinstance(before, str) or one.before.get("sha256") == one.origin.sha256:
        return []
    try:
        now = Path(one.origin.real_path).read_text("utf-8", "replace")
    except OSError:
        return []
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), "trusted", "now", lineterm="")
    colours = {"+": "green", "-": "red", "@": "cyan"}
    return [paint(clean(line), *filter(None, [colours.get(line[:1])])) for line in lines]


def _forget(paths: list[str], as_json: bool) -> int:
    store = TrustStore()
    recorded = store.recorded()
    forgotten = []
    for path in paths:
        if store.forget(path):
            forgotten.append(path)
            if not as_json:
                print(f"{clean(path)} is not trusted any more")
        else:
            hint = nearest(os.path.realpath(path), recorded) or "`interpose trust --list` shows what is"
            complain_of(Problem("was not trusted", where=path, hint=hint), "trust")
    if as_json:
        print(json.dumps({"forgotten": forgotten}))
    return 0 if len(forgotten) == len(paths) else 1


def _list(as_json: bool) -> int:
    states = {path: _state(path) for path in TrustStore().recorded()}
    if as_json:
        listed = [{"path": path, "state": state} for path, state in states.items()]
        print(json.dumps({"files": listed}))
        return 0
    if not states:
        print("nothing was trusted yet")
    for path, state in states.items():
        print(f"{paint(f'{state:<8}', 'green' if state == 'trusted' else 'yellow')}  {clean(path)}")
    return 0


def _state(path: str) -> str:
    if not os.path.lexists(path):
        return "gone"
    try:
        [origin] = load_sources(TABLE, [Source(path, "project", None, found=True)]).origins
    except InterposeError:
        return "refused"
    return "trusted" if origin.trusted else "changed"


def _print_json(looked: list[_Looked], mistakes: list[InterposeError]) -> None:
    files = [
        {
            "path": one.origin.source.path,
            "layer": one.origin.source.layer,
            "trusted": one.trusted,
            "sha256": one.origin.sha256,
            "digest": one.origin.digest,
            "references": dict(one.origin.references),
            "permissions": one.permissions,
            "audit": one.audit,
            "changes": [{"path": path, "change": change} for path, change in one.changes],
            "hooks": [
                {"hook": hook.label, "event": hook.event, "matcher": hook.matcher, "type": hook.type,
                 "runs": str(hook.handler), "source": hook.source}
                for hook in one.hooks
            ],
        }
        for one in looked
    ]  # fmt: skip
    said = {"files": files, "mistakes": [str(error) for error in mistakes]}
    print(json.dumps(said))
