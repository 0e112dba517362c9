"""``interpose trust``: review what a configuration runs, and arm it."""

from __future__ import annotations

import difflib
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from ..config.load import Source, find_sources
from ..config.review import Review, review
from ..config.snapshots import Snapshot
from ..config.trust import TrustStore, granted
from ..errors import ConfigError, InterposeError, Problem, UsageError, nearest
from ..events import TABLE
from ..handlers.declared_command import program_of
from ..lint.declared_tools import describe_tool, tool_as_json
from ..lint.executables import runs_what
from ..matching.declared_tools import DeclaredTool
from ..model import Hook
from ..models.configured import ConfiguredModel
from ..person import require_person
from ..policies import PolicyHook
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
    bool,
    typer.Option(
        "--yes", "-y", help="Do not ask, after you have reviewed the file. It still takes a person at a terminal."
    ),
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
    """A file that Interpose finds (such as `.interpose/hooks.yaml`) is armed only after you trust it. Its content and
    that of the files that it runs are copied, and hooks run from the copy; what changes afterwards has no effect until
    you trust it again. The copy and your answer are stored outside the project.

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
        errors += _decide(reviews, yes=yes, quiet=as_json)
    if as_json:
        _print_json(reviews, errors)
    for error in errors:
        print_error(error, "trust")
    return 1 if errors or not (diff or all(one.trusted for one in reviews)) else 0


@dataclass(slots=True)
class _Reviewed:
    """A file as it is now, and what has changed since it was trusted."""

    review: Review
    before: Snapshot | None
    """What was trusted; None if nothing was, or nothing of it is left."""
    record: dict[str, Any]
    """The record of its trust; empty if it was never trusted."""
    trusted: bool
    by_environment: bool

    @property
    def path(self) -> str:
        """The path to show."""
        return clean(self.review.source.path)

    @property
    def hooks(self) -> list[Hook]:
        """The hooks that it declares."""
        return self.review.found.hooks

    @property
    def tools(self) -> list[DeclaredTool]:
        """The tools that it declares."""
        return self.review.found.tools

    @property
    def models(self) -> list[ConfiguredModel]:
        """The models that its hooks may ask."""
        return self.review.found.models

    @property
    def permissions(self) -> dict[str, str]:
        """Its permission rules."""
        return {**dict.fromkeys(self.review.found.harmless, "allow"), **self.review.found.permissions}

    @property
    def audit(self) -> str:
        """The path of its audit store; empty if it has none."""
        audit = self.review.found.audit
        return str(audit.get("path", "")) if audit else ""

    def changes(self) -> list[tuple[str, str]]:
        """Return the files that differ from what was trusted: each with ``changed``, ``new`` or ``gone``."""
        old = self.before.originals() if self.before is not None else _recorded_hashes(self.review, self.record)
        new = self.review.originals
        if not self.record:
            return []
        return [
            (path, "new" if path not in old else "gone" if path not in new else "changed")
            for path in sorted({*old, *new}, key=lambda path: (path != self.review.real_path, path))
            if old.get(path) != new.get(path)
        ]

    def text_before(self, path: str) -> bytes | None:
        """Return what was trusted of a file; None if it is not known."""
        if self.before is not None:
            return self.before.text_of(path) or b""
        text = self.record.get("text") if path == self.review.real_path else None
        return text.encode() if isinstance(text, str) else None

    def text_now(self, path: str) -> bytes:
        """Return the present content of a file, as it was read for the review."""
        return next((file.data for file in self.review.contents.files.values() if file.path == path), b"")


def _recorded_hashes(review: Review, record: dict[str, Any]) -> dict[str, str]:
    """Return the hashes in a record of version 0.1, which has no snapshot."""
    known = record.get("references")
    own = {review.real_path: record["sha256"]} if isinstance(record.get("sha256"), str) else {}
    return {**own, **known} if isinstance(known, dict) else own


def _sources(named: list[str], dialect: str | None) -> list[Source]:
    found = find_sources(current_directory(), dialect, fleet=False)
    if not named:
        if not found:
            raise UsageError("no configuration was found here", hint="`interpose init` writes one, or name a file")
        return found
    known = {os.path.realpath(source.path): source for source in found}
    return [known.get(os.path.realpath(path)) or Source(path, "project", dialect, found=True) for path in named]


def _review_all(sources: Iterable[Source]) -> tuple[list[_Reviewed], list[InterposeError]]:
    """Read each file with all that it runs; collect the errors."""
    reviews: list[_Reviewed] = []
    errors: list[InterposeError] = []
    for source in sources:
        try:
            reviews.append(_reviewed(source))
        except InterposeError as error:
            errors.append(error)
    return reviews, errors


def _reviewed(source: Source) -> _Reviewed:
    made = review(TABLE, source)
    store = TrustStore()
    try:
        record = store.entry(made.real_path) or {}
    except ConfigError:  # trusting says why
        record = {}
    try:
        before = store.snapshot(made.real_path) if record else None
    except ConfigError:
        before = None  # it is lost, or was trusted by version 0.1
    by_environment = granted(made)
    return _Reviewed(
        made, before, record, by_environment or (before is not None and before.digest == made.digest), by_environment
    )


def _decide(reviews: list[_Reviewed], *, yes: bool, quiet: bool) -> list[InterposeError]:
    """Print each file and trust it if the user agrees; return the errors."""
    errors: list[InterposeError] = []
    for one in reviews:
        if one.trusted:
            if not quiet:
                print(f"{paint(one.path, 'bold')} is trusted as it is")
            continue
        if not quiet:
            _print_review(one)
        if one.review.refused:
            errors.append(ConfigError(one.review.refused))
            continue
        if not yes and (quiet or not is_interactive()):
            if not quiet:
                hint = f"INTERPOSE_TRUST={one.review.digest} trusts it where there is no person"
                problem = Problem("not trusted: there is no terminal to ask on", where=one.path, hint=hint)
                print_problem(problem, "")
            continue
        require_person("trusting a file", or_else="give its digest from outside: INTERPOSE_TRUST")
        if yes or confirm(f"Trust {one.path} with {_hooks(one)}?"):
            _approve(one.review)
            one.trusted = True
        if not quiet:
            state = paint("trusted", "green") if one.trusted else paint("not trusted", "red")
            print(f"{state}  {one.path}")
    return errors


def _approve(made: Review) -> None:
    """Trust a file with the content that was shown."""
    TrustStore().trust(made)


def _withdraw(path: str) -> bool:
    """Forget a trusted file; return whether it was trusted."""
    return TrustStore().forget(path)


def _hooks(one: _Reviewed) -> str:
    """Return how many hooks a file arms, and how many policies, which may be several hooks each."""
    return count_armed(len(_own(one)), len(_policies(one)))


def _own(one: _Reviewed) -> list[Hook]:
    return [hook for hook in one.hooks if not isinstance(hook.handler, PolicyHook)]


def _policies(one: _Reviewed) -> list[Hook]:
    """Return one hook of each policy."""
    found = {(hook.label, hook.scope): hook for hook in one.hooks if isinstance(hook.handler, PolicyHook)}
    return list(found.values())


def _print_review(one: _Reviewed) -> None:
    made = one.review
    print(f"{paint(one.path, 'bold')}  {paint(f'{made.source.layer} layer', 'dim')}  {_abbreviate(made.digest)}")
    if one.record:
        print(f"  {paint('it was trusted, and has changed since:', 'yellow')}")
        _print_changes(one)
    print(f"  it arms {_hooks(one)}:")
    width = max((len(_event(hook)) for hook in _own(one)), default=0)
    for hook in _own(one):
        _print_hook(hook, _line(hook, made.source.path), width)
    _print_policies(one)
    others = {path: digest for path, digest in made.originals.items() if path != made.real_path}
    if others:
        print("  whose files are copied, and run from the copy:")
    for path, digest in others.items():
        print(f"    {_abbreviate(digest)}  {_one_line(path)}")
    _print_live(made.live)
    _print_beside(made.beside)
    if one.permissions:
        print("  its permission rules:")
    for rule, answer in one.permissions.items():
        print(f"    {paint(f'{answer:<5}', 'yellow' if answer == 'allow' else 'dim')}  {_one_line(rule)}")
    if one.tools:
        print("  the tools that it declares:")
    for tool in one.tools:
        print(f"    {_one_line(tool.pattern)}: {_one_line(describe_tool(tool))}")
    if one.models:
        print("  the models that its hooks ask, which are sent events:")
    for model in one.models:
        print(f"    {_one_line(model.name)}: {_one_line(model.describe())}")
    if one.audit:
        print(f"  it records firings in {_one_line(one.audit)}")


def _print_live(live: Iterable[Mapping[str, str]], indent: str = "  ") -> None:
    """Print what hooks use that is not copied."""
    found = list(live)
    if found:
        print(f"{indent}{paint('live', 'yellow')}: used as it is when a hook runs, and not copied:")
    for entry in found:
        why = paint(_one_line(f"{entry['hook']}: {entry['why']}"), "dim")
        print(f"{indent}  {_one_line(entry['what'])}  {why}")


def _print_beside(beside: Mapping[str, Mapping[str, str]]) -> None:
    """Print what lies beside the copied files: one line for each folder."""
    if beside:
        print(f"  {paint('live', 'yellow')} beside the copied files, for hooks that are not guards:")
    for folder, links in beside.items():
        names = [os.path.basename(path) for path in links.values()]
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        print(f"    {_one_line(folder)}  {paint(_one_line(shown), 'dim')}")


def _print_policies(one: _Reviewed) -> None:
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
            others.append((_one_line(f"{label}{named}{more}"), f"{state}  {_line(hook, one.review.source.path)}"))
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
    what = _one_line(runs_what(hook))
    return f"{_one_line(hook.name)}: {what}" if hook.name and hook.name != what else what


def _environment(hook: Hook) -> str:
    """Return the environment variables that a program gets in addition; a variable can decide what is run."""
    command = program_of(hook)
    if command is None:
        return ""
    variables = [f"{name}={value!r}" for name, value in command.env.items()]
    variables += (
        ["your whole environment"]
        if command.inherit and hook.type == "command"
        else [f"your {name}" for name in command.passed]
    )
    return _one_line(f" with {', '.join(variables)}") if variables else ""


def _one_line(text: str) -> str:
    """Return text on one line with every control character visible, also line ends."""
    return escape(text).replace("\n", "⏎")


def _line(hook: Hook, path: str) -> str:
    """Return the line of a hook in its file, or the script that declares it."""
    file, _, line = hook.source.rpartition(":")
    if file == path:
        return f"line {line}"
    return "" if hook.source == path else os.path.basename(hook.source)


def _abbreviate(digest: str) -> str:
    return digest[:12]


def _print_diffs(reviews: list[_Reviewed]) -> None:
    for one in reviews:
        path = paint(one.path, "bold")
        digest = paint(f"digest {one.review.digest}", "dim")
        if not one.record:
            print(f"{path}: {'trusted by INTERPOSE_TRUST' if one.by_environment else 'was never trusted'}  {digest}")
        elif not one.changes():
            print(f"{path}: nothing has changed  {digest}")
        else:
            print(f"{path}:  {digest}")
            _print_changes(one)


def _print_changes(one: _Reviewed) -> None:
    """Print the files that have changed, each with a diff of its text."""
    for path, how in one.changes():
        print(f"    {paint(f'{how:<8}', 'yellow')} {clean(path)}")
        for line in _text_diff(one.text_before(path), one.text_now(path)):
            print(f"      {line}")


def _text_diff(before: bytes | None, now: bytes) -> list[str]:
    """Return a diff of two texts; nothing if one is not known or is not text."""
    if before is None or b"\0" in before or b"\0" in now:
        return []
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, now))
    colours = {"+": "green", "-": "red", "@": "cyan"}
    lines = difflib.unified_diff(old, new, "trusted", "now", lineterm="")
    return [paint(_one_line(line), *filter(None, [colours.get(line[:1])])) for line in lines]


def _forget(paths: list[str], as_json: bool) -> int:
    require_person("revoking trust")
    recorded = TrustStore().recorded()
    forgotten = []
    for path in paths:
        if _withdraw(path):
            forgotten.append(path)
            if not as_json:
                print(f"{clean(path)} is not trusted any more")
        else:
            hint = nearest(os.path.realpath(path), recorded) or "`interpose trust --list` shows what is"
            print_problem(Problem("was not trusted", where=path, hint=hint), "trust")
    if as_json:
        print(json.dumps({"forgotten": forgotten}))
    return 0 if len(forgotten) == len(paths) else 1


@dataclass(slots=True)
class _Listed:
    """A file of the record."""

    path: str
    state: str
    """``trusted``, ``changed`` or ``gone`` (its copy is armed), ``lost`` (the copy is), or ``old``."""
    when: str
    snapshot: str
    live: list[dict[str, str]]


def _list(as_json: bool) -> int:
    store = TrustStore()
    listed = [_listed(path, store) for path in store.recorded()]
    if as_json:
        print(json.dumps({"files": [asdict(one) for one in listed]}))
        return 0
    if not listed:
        print("nothing was trusted yet")
    for one in listed:
        state = paint(f"{one.state:<8}", "green" if one.state == "trusted" else "yellow")
        about = paint(f"{one.when}  {_abbreviate(os.path.basename(one.snapshot))}".rstrip(), "dim")
        print(f"{state}  {clean(one.path)}  {about}".rstrip())
        _print_live(one.live, "          ")
    return 0


def _listed(path: str, store: TrustStore) -> _Listed:
    record = store.entry(path) or {}
    when = record.get("trusted")
    shown = time.strftime("%Y-%m-%d %H:%M", time.localtime(when)) if isinstance(when, int) else ""
    if "snapshot" not in record:
        return _Listed(path, "old", shown, "", [])
    try:
        snapshot = store.snapshot(path)
    except ConfigError:
        snapshot = None
    if snapshot is None:
        return _Listed(path, "lost", shown, "", [])
    changes = dict(snapshot.changes())
    state = "gone" if changes.get(path) == "gone" else "changed" if changes else "trusted"
    return _Listed(path, state, shown, snapshot.directory, snapshot.live)


def _print_json(reviews: list[_Reviewed], errors: list[InterposeError]) -> None:
    files = [
        {
            "path": one.review.source.path,
            "layer": one.review.source.layer,
            "trusted": one.trusted,
            "sha256": one.review.originals[one.review.real_path],
            "digest": one.review.digest,
            "references": {path: sha for path, sha in one.review.originals.items() if path != one.review.real_path},
            "live": one.review.live,
            "beside": {folder: sorted(links.values()) for folder, links in one.review.beside.items()},
            "permissions": one.permissions,
            "audit": one.audit,
            "tools": [tool_as_json(tool) for tool in one.tools],
            "models": {model.name: model.describe() for model in one.models},
            "changes": [{"path": path, "change": change} for path, change in one.changes()],
            "hooks": [
                {"hook": hook.label, "event": hook.event, "matcher": hook.matcher, "if": hook.condition or "",
                 "type": hook.type, "runs": runs_what(hook), "source": hook.source}
                for hook in one.hooks
            ],
        }
        for one in reviews
    ]  # fmt: skip
    said = {"files": files, "mistakes": [str(error) for error in errors]}
    print(json.dumps(said))
