"""Keep an agent going until the checks of the project pass: tests, formatter, types, a commit, a push."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..errors import BadHook
from ..matching.written import as_written
from ..replies import Reply, clean, deny
from ..state.locked import DRY_RUNS, session_state
from .call import Call
from .check_commands import Checked, git, run_check
from .parameters import Parameter, count, duration, flag, names, text
from .policy import Options, Policy
from .session_calls import agent_of, looks_only, project_of, session_of, written

__all__ = ["POLICY"]

_PART = "checks-before-stop"
_MOST_AGENTS = 1_000
_SECONDS = 840.0
"""The longest that all commands may take together; the hook has a minute more."""
_ALL = "*"
"""All agents of a session; the first in the order."""


def _begin(event: Any, options: Options) -> None:
    """Remember when the session began, and at which commit."""
    with session_state(session_of(event), _PART, needed=False) as state:
        _begun(state, project_of(event, options))


def _after_call(event: Any, options: Options) -> None:
    """Remember the files that a call has changed."""
    project = project_of(event, options)
    call = Call(event, project)
    seen = any(_fits(path, project, options["paths"]) for path in written(call))
    unseen = bool(call.lines) and not looks_only(call)
    if not seen and not unseen:
        return
    with session_state(session_of(event), _PART, needed=False) as state:
        _begun(state, project)
        for key in [*(["seen"] if seen else []), *(["unseen"] if unseen else [])]:
            state[key] = sorted({*state.get(key, []), agent_of(event), _ALL})[:_MOST_AGENTS]


def _begun(state: dict[str, Any], project: str) -> None:
    if "began" not in state:
        state["began"] = time.time() - 1  # times of files are coarse
        state["project"] = project
        state["head"] = git(project, "rev-parse", "HEAD")


def _before_stop(event: Any, options: Options) -> Reply | None:
    """Keep the agent going while a check fails, but not more often than it may be."""
    if any(os.environ.get(name) for name in DRY_RUNS):
        return None  # nothing is run for an event that is only tried
    is_subagent = event.get("hook_event_name") == "SubagentStop"
    if is_subagent and not options["subagents"]:
        return None
    session, agent = session_of(event), agent_of(event) if is_subagent else _ALL
    state = _read(session)
    project = state.get("project") or project_of(event, options)
    if options["onlyAfterChanges"] and session and not _changed(state, agent, project, options["paths"]):
        return None
    kept = state.get("kept", {}).get(agent, 0) if event.get("stop_hook_active") is True else 0
    if options["atMost"] is not None and kept >= options["atMost"]:
        _note(session, agent, kept=0)
        return Reply(messages=(f"{_PART}: the agent stops although checks fail; it was kept going {kept} times",))
    failed = list(_failed_commands(project, options))
    if not is_subagent:
        failed += _unfinished(state, project, options)
    if not failed:
        _note(session, agent, kept=0, passed=project)
        return None
    _note(session, agent, kept=kept + 1)
    return deny(f"{_PART}: " + "\n".join(failed))


def _read(session: str) -> dict[str, Any]:
    with session_state(session, _PART) as state:
        return dict(state)


def _note(session: str, agent: str, *, kept: int, passed: str = "") -> None:
    """Remember how often in a row an agent was kept going, or that all checks have passed."""
    with session_state(session, _PART) as state:
        state.setdefault("kept", {})[agent] = kept
        if passed and agent == _ALL:
            for key in ("began", "head", "seen", "unseen"):
                state.pop(key, None)
            _begun(state, passed)
        elif passed:
            for key in ("seen", "unseen"):
                state[key] = [one for one in state.get(key, []) if one != agent]


def _changed(state: Mapping[str, Any], agent: str, project: str, patterns: tuple[str, ...]) -> bool:
    """Return whether files of these patterns have changed since the session began or the checks passed."""
    if agent in state.get("seen", []):
        return True
    if agent not in state.get("unseen", []):
        return False
    if not git(project, "rev-parse", "--git-dir"):
        return True  # without git, only running the checks can tell
    return any(_fits(path, project, patterns) for path in _found_by_git(state, project))


def _fits(path: str, project: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a file is in the project and has one of the patterns; all have if there are none."""
    below = os.path.relpath(os.path.realpath(path), os.path.realpath(project))
    if below.split(os.sep)[0] in (os.pardir, ".git"):
        return False
    return not patterns or any(fnmatchcase(name, one) for one in patterns for name in (below, os.path.basename(below)))


def _found_by_git(state: Mapping[str, Any], project: str) -> Iterator[str]:
    """Yield the files that differ from the last commit and are newer than the session, and those of its commits."""
    head, began = git(project, "rev-parse", "HEAD"), state.get("began", 0.0)
    if head and state.get("head") and head != state["head"]:
        for name in git(project, "diff", "--name-only", "-z", str(state["head"]), head).split("\0"):
            if name:
                yield os.path.join(project, name)
    yield from _uncommitted(project, began)


def _uncommitted(project: str, since: float) -> Iterator[str]:
    """Yield the files that differ from the last commit and were changed or deleted since a time."""
    entries = iter(git(project, "status", "--porcelain=v1", "-z", "--untracked-files=all").split("\0"))
    root = git(project, "rev-parse", "--show-toplevel") or project
    for entry in entries:
        if entry[:1] in ("R", "C"):
            next(entries, "")  # the old name
        path = os.path.join(root, entry[3:])
        if entry[3:] and _time_of(path) >= since:
            yield path


def _time_of(path: str) -> float:
    """Return when a file was changed last; for one that does not exist, when its folder was."""
    while True:
        try:
            found = os.lstat(path)
        except OSError:
            if path == os.path.dirname(path):
                return 0.0
            path = os.path.dirname(path)
            continue
        return max(found.st_mtime, found.st_ctime)


def _failed_commands(project: str, options: Options) -> Iterator[str]:
    """Run the commands; yield what the agent is told about each that fails."""
    end = time.monotonic() + (options["deadline"] or _SECONDS)
    for name, command in _commands(options):
        checked = run_check(command, project, end - time.monotonic())
        if not checked.passed:
            yield _told(name, command, checked)


def _unfinished(state: Mapping[str, Any], project: str, options: Options) -> Iterator[str]:
    """Yield what the agent is told about work that is not committed or pushed."""
    if options["commit"] and (files := list(_uncommitted(project, state.get("began", 0.0)))):
        shown = ", ".join(os.path.relpath(path, project) for path in files[:10])
        more = f" and {len(files) - 10} more" if len(files) > 10 else ""
        yield f"There are changes without a commit: {shown}{more}. Commit them, then stop."
    if options["push"] and (ahead := _unpushed(state, project)):
        yield f"{ahead}. Push, then stop."


def _commands(options: Options) -> Iterator[tuple[str, str]]:
    for name in ("format", "types", "test"):
        if options[name].strip():
            yield name, options[name]
    yield from options["commands"]


def _told(name: str, command: str, checked: Checked) -> str:
    said = clean(checked.tail).strip()
    return f"{name}: `{command}` {checked.how}. Fix this, then stop." + (f"\n{said}" if said else "")


def _unpushed(state: Mapping[str, Any], project: str) -> str:
    """Return that there are commits of this session which the remote lacks; empty if there are none."""
    head = git(project, "rev-parse", "HEAD")
    if not head or head == state.get("head"):
        return ""
    if not git(project, "rev-parse", "--abbrev-ref", "@{upstream}"):
        return "The branch has commits and no upstream" if git(project, "remote") else ""
    number = git(project, "rev-list", "--count", "@{upstream}..HEAD")
    return f"{number} commits are not pushed" if number not in ("", "0") else ""


def _named_commands(value: Any) -> tuple[tuple[str, str], ...]:
    """Read further commands: a list, or a mapping of names to commands."""
    given = list(value.items()) if isinstance(value, Mapping) else value
    if isinstance(given, str):
        given = [given]
    if isinstance(given, (list, tuple)):
        pairs = tuple(("check", one) if isinstance(one, str) else tuple(one) for one in given)
        if all(len(pair) == 2 and all(map(_is_text, pair)) for pair in pairs):
            return pairs
    raise BadHook(f"{as_written(value)} where commands are expected", hint="write [make lint], or lint: make lint")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _deadline() -> Parameter:
    given = duration("deadline", "5m", "how long all commands together may take")

    def read(value: Any) -> Any:
        seconds = given.read(value)
        if seconds is not None and seconds > _SECONDS:
            raise BadHook(f"{as_written(value)} is too long", hint=f"at most {_SECONDS / 60:.0f}m")
        return seconds

    return Parameter(given.name, read, given.default, given.purpose, given.expects)


POLICY = Policy(
    name="checks-before-stop",
    prevents="Stopping while the tests fail, the formatter has something to change, or work is not committed.",
    hooks={
        "SessionStart": _begin,
        "PostToolUse": _after_call,
        "PostToolUseFailure": _after_call,
        "Stop": _before_stop,
        "SubagentStop": _before_stop,
    },
    parameters=(
        text("test", "", "the command that runs the tests"),
        text("format", "", "the command that checks the format, such as ruff format --check ."),
        text("types", "", "the command that checks types or lints"),
        Parameter("commands", _named_commands, (), "further commands", "a list of commands, or names and commands"),
        flag("commit", False, "whether changes of the session must be committed"),
        flag("push", False, "whether commits of the session must be pushed"),
        names("paths", (), "files whose change makes the checks necessary; all if there are none", "patterns of paths"),
        flag("onlyAfterChanges", True, "whether the checks run only if the session has changed files"),
        flag("subagents", True, "whether the checks run too when a subagent that has changed files stops"),
        count("atMost", 3, "how often in a row the agent is kept going"),
        _deadline(),
    ),
    guard=False,
    timeout=_SECONDS + 60,
    notes=(
        "The commands are those of the configuration, run by `sh` in the project; nothing of an event becomes part of "
        "them. All of them run, and the agent reads the end of the output of each that fails. A command that is "
        "missing or takes too long fails.\n\n"
        "They run only if the session has changed files since it began or since they last passed: files that its tools "
        "and commands name, and, after a command that may have changed others, those that git finds; "
        "without git, they run after any such command.\n\n"
        "It does not keep the agent from deleting or changing tests."
    ),
)
