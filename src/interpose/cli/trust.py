"""``interpose trust``: review what a configuration runs, and arm it."""

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
from ..policies import PolicyHook
from ..records import replace
from ..replies import clean
from .loading import change_directory, current_directory
from .options import AsJson, Cwd, Dialect
from .render import count_armed, escape, paint, print_error, print_problem
from .render.streams import confirm, is_interactive
from .render.table import display_width, terminal_width, wrap_text

__all__ = ["run"]

Files = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]…", show_default=False, help="Configuration files. Default: those that are found."),
]
Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask: for scripts, after a person has reviewed the file.")
]
Diff = Annotated[bool, typer.Option("--diff", help="Show what has changed since a file was trusted.")]
Forget = Annotated[list[str] | None, typer.Option("--forget", metavar="FILE", help="Revoke trust; may be repeated.")]
List = Annotated[bool, typer.Option("--list", help="List the trusted files, and whether they are unchanged.")]


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
    """A file that Interpose finds (such as `.interpose/hooks.yaml`) is armed only after you trust it: its content, and
    that of the local scripts and modules that it names. If any of these changes, you have to trust it again. Your
    answer is stored outside the project.

    Exit status: 1 if a file is not trusted at the end, or is unsafe (other users may write to it).
    """
    named = [os.path.abspath(path) for path in files or []]
    if forget:
        return _forget([os.path.abspath(path) for path in forget], as_json)
    if list_:
        return _list(as_json)
    change_directory(cwd)
    reviews, errors = _review_all(_sources(named, dialect))
    if diff:
        if not as_json:
            _print_diffs(reviews)
    else:
        _decide(reviews, yes=yes, quiet=as_json)
    if as_json:
        _print_json(reviews, errors)
    for error in errors:
        print_error(error, "trust")
    return 1 if errors or not (diff or all(one.trusted for one in reviews)) else 0


@dataclass(slots=True)
class _Review:
    """A file, the hooks that it declares, and what has changed since it was trusted."""

    origin: Origin
    hooks: list[Hook]
    changes: list[tuple[str, str]]
    before: dict[str, Any]
    """The record of its trust; empty if it was never trusted."""
    trusted: bool
    permissions: dict[str, str]
    """Its permission rules."""
    audit: str
    """The path of its audit store; empty if it has none."""


def _sources(named: list[str], dialect: str | None) -> list[Source]:
    found = find_sources(current_directory(), dialect)
    if not named:
        if not found:
            raise UsageError("no configuration was found here", hint="`interpose init` writes one, or name a file")
        return found
    known = {os.path.realpath(source.path): source for source in found}
    return [known.get(os.path.realpath(path)) or Source(path, "project", dialect, found=True) for path in named]


def _review_all(sources: Iterable[Source]) -> tuple[list[_Review], list[InterposeError]]:
    """Load each file as a found one, so that an unsafe file is an error; collect the errors."""
    reviews: list[_Review] = []
    errors: list[InterposeError] = []
    for source in sources:
        try:
            reviews.append(_review(source))
        except InterposeError as error:
            errors.append(error)
    return reviews, errors


def _review(source: Source) -> _Review:
    [origin] = load_sources(TABLE, [source]).origins
    # Loading an untrusted file gives no hooks; loading it as a named file does. Both must read the same content.
    loaded = load_sources(TABLE, [replace(source, found=False)])
    if loaded.origins[0].digest != origin.digest:
        raise ConfigError([Problem("was changed while it was being read", where=source.path, hint="try again")])
    store = TrustStore()
    before = store.recorded().get(origin.real_path)
    changes = store.difference(origin) if isinstance(before, dict) else []
    known = before if isinstance(before, dict) else {}
    audit = str(loaded.audit.get("path", "")) if loaded.audit else ""
    rules = {**dict.fromkeys(loaded.harmless, "allow"), **loaded.permissions}
    return _Review(origin, loaded.hooks, changes, known, origin.trusted, rules, audit)


def _decide(reviews: list[_Review], *, yes: bool, quiet: bool) -> None:
    """Print each file and trust it if the user agrees."""
    for one in reviews:
        path = clean(one.origin.source.path)
        if one.trusted:
            if not quiet:
                print(f"{paint(path, 'bold')} is trusted as it is")
            continue
        if not quiet:
            _print_review(one)
        if not yes and (quiet or not is_interactive()):
            if not quiet:
                print_problem(
                    Problem(
                        "not trusted: there is no terminal to ask on", where=path, hint="--yes if you have reviewed it"
                    ),
                    "",
                )
            continue
        if yes or confirm(f"Trust {path} with {_hooks(one)}?"):
            # The digest of the content that was shown is trusted; a later change does not match it.
            TrustStore().trust(one.origin)
            one.trusted = True
        if not quiet:
            print(f"{paint('trusted', 'green')}  {path}" if one.trusted else f"{paint('not trusted', 'red')}  {path}")


def _hooks(one: _Review) -> str:
    """Return how many hooks a file arms, and how many policies, which may be several hooks each."""
    return count_armed(len(_own(one)), len(_policies(one)))


def _own(one: _Review) -> list[Hook]:
    return [hook for hook in one.hooks if not isinstance(hook.handler, PolicyHook)]


def _policies(one: _Review) -> list[Hook]:
    """Return one hook of each policy."""
    found = {(hook.label, hook.scope): hook for hook in one.hooks if isinstance(hook.handler, PolicyHook)}
    return list(found.values())


def _print_review(one: _Review) -> None:
    origin = one.origin
    print(f"{paint(clean(origin.source.path), 'bold')}  {paint(f'{origin.source.layer} layer', 'dim')}  "
          f"{_abbreviate(origin.sha256)}")  # fmt: skip
    if one.before:
        print(f"  {paint('it was trusted, and has changed since', 'yellow')} (--diff shows more):")
        for path, change in one.changes:
            print(f"    {change:<8} {clean(path)}")
    print(f"  it arms {_hooks(one)}:")
    width = max((len(_event(hook)) for hook in _own(one)), default=0)
    for hook in _own(one):
        _print_hook(hook, _line(hook, origin), width)
    _print_policies(one)
    if origin.references:
        print("  which run these local files, whose content is trusted too:")
    for path, digest in origin.references.items():
        print(f"    {_abbreviate(digest) if digest else paint('missing', 'red') + '     '}  {_one_line(path)}")
    if one.permissions:
        print("  its permission rules:")
    for rule, answer in one.permissions.items():
        print(f"    {paint(f'{answer:<5}', 'yellow' if answer == 'allow' else 'dim')}  {_one_line(rule)}")
    if one.audit:
        print(f"  it records firings in {_one_line(one.audit)}")


def _print_policies(one: _Review) -> None:
    """Print the policies: those that are as they come in one list, each other one with what is different about it."""
    plain, others = [], []
    for hook in _policies(one):
        named = str(hook.handler).removeprefix("the policy ")
        state = "" if hook.enabled and hook.enforce else " (not enforced)" if hook.enabled else " (off)"
        more = (f" for agent {hook.scope}" if hook.scope else "") + (f" if {hook.condition}" if hook.condition else "")
        more += f" matcher {hook.matcher}" if hook.matcher else ""
        if named == hook.label and not state + more:
            plain.append(named)
        else:
            label = "" if named.partition(" ")[0] == hook.label else f"{hook.label}: "
            others.append((_one_line(f"{label}{named}{more}"), f"{state}  {_line(hook, one.origin)}"))
    if plain:
        listed = _one_line(f"policies {', '.join(plain)}")
        for text in wrap_text(listed, max((terminal_width() or 120) - 6, 20)):
            print(f"    {text}" if text.startswith("policies ") else f"      {text}")
    for text, rest in others:
        print(f"    policy {text}{paint(rest, 'dim')}".rstrip())


def _print_hook(hook: Hook, line: str, width: int) -> None:
    """Print a hook on one line, and below it when it runs; on a terminal that is too narrow also what it runs."""
    state = "" if hook.enabled and hook.enforce else "  (not enforced)" if hook.enabled else "  (off)"
    agent = f" for agent {clean(hook.scope)}" if hook.scope else ""
    event, runs, rest = f"    {_event(hook):<{width}}", f"{_runs(hook)}{_environment(hook)}{agent}", f"{state}  {line}"
    space = terminal_width()
    if space is None or display_width(f"{event}  {runs}{rest}") <= space:
        print(f"{event}  {runs}{paint(rest, 'dim')}".rstrip())
    else:
        print(f"{event.rstrip()}{paint(rest, 'dim')}\n      {runs}".rstrip())
    if hook.condition:
        print(f"      {paint('if', 'dim')} {_one_line(hook.condition)}")


def _event(hook: Hook) -> str:
    return _one_line(f"{hook.event} {hook.matcher}".rstrip())


def _runs(hook: Hook) -> str:
    what = _one_line(str(hook.handler))
    return f"{_one_line(hook.name)}: {what}" if hook.name and hook.name != what else what


def _environment(hook: Hook) -> str:
    """Return the environment variables that a command gets in addition; a variable can decide what is run."""
    command = command_of(hook)
    if command is None:
        return ""
    variables = [f"{name}={value!r}" for name, value in command.env.items()]
    variables += ["your whole environment"] if command.inherit else [f"your {name}" for name in command.passed]
    return _one_line(f" with {', '.join(variables)}") if variables else ""


def _one_line(text: str) -> str:
    """Return text on one line with every control character visible, also line ends."""
    return escape(text).replace("\n", "⏎")


def _line(hook: Hook, origin: Origin) -> str:
    """Return the line of a hook in its file, or the script that declares it."""
    file, _, line = hook.source.rpartition(":")
    if file == origin.source.path:
        return f"line {line}"
    return "" if hook.source == origin.source.path else os.path.basename(hook.source)


def _abbreviate(digest: str) -> str:
    return digest[:12]


def _print_diffs(reviews: list[_Review]) -> None:
    for one in reviews:
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


def _hashes(one: _Review, path: str) -> str:
    if path == one.origin.real_path:
        before, now = one.before.get("sha256", ""), one.origin.sha256
    else:
        before, now = one.before.get("references", {}).get(path, ""), one.origin.references.get(path, "")
    return f"{_abbreviate(before) or 'nothing'} → {_abbreviate(now) or 'nothing'}"


def _text_diff(one: _Review) -> list[str]:
    """Return a diff of the trusted text and the present one; of the files that it names only hashes are stored."""
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
            print_problem(Problem("was not trusted", where=path, hint=hint), "trust")
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


def _print_json(reviews: list[_Review], errors: list[InterposeError]) -> None:
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
                {"hook": hook.label, "event": hook.event, "matcher": hook.matcher, "if": hook.condition or "",
                 "type": hook.type, "runs": str(hook.handler), "source": hook.source}
                for hook in one.hooks
            ],
        }
        for one in reviews
    ]  # fmt: skip
    said = {"files": files, "mistakes": [str(error) for error in errors]}
    print(json.dumps(said))
