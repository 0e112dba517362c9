"""The differences of a replay in groups: how many decisions of one kind become another, and about which calls."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..events import TABLE
from ..model import row_of
from ..runtime.regex import regex
from .recording import Recorded
from .runner import Replayed, deciders_of

__all__ = ["Group", "group_differences", "pattern_of"]

_EXAMPLES = 3
_LONGEST = 300
_WITH_SUBCOMMANDS = frozenset((
    "apt", "apt-get", "aws", "az", "brew", "bun", "bundle", "cargo", "conda", "deno", "docker", "dotnet", "gcloud",
    "gem", "gh", "git", "go", "gradle", "helm", "heroku", "just", "kubectl", "make", "mvn", "npm", "npx", "pip", "pip3",
    "pnpm", "podman", "poetry", "rails", "rustup", "systemctl", "task", "terraform", "twine", "uv", "vercel", "yarn",
))  # fmt: skip
_PASSED_OVER = frozenset(
    ("cd", "command", "doas", "env", "exec", "export", "nice", "nohup", "set", "sudo", "time", "timeout")
)
_SEPARATOR = regex(r"&&|\|\||[;|\n]")
_SUBCOMMAND = regex(r"[a-z][a-z0-9:-]*")
_ASSIGNMENT = regex(r"[A-Za-z_]\w*=")
_PATHS = ("file_path", "notebook_path", "path")

_WAS = {"none": ("event that went on", "events that went on"), "deny": ("deny", "denies"), "ask": ("ask", "asks"),
        "allow": ("allow", "allows")}  # fmt: skip
_NOW = {"none": ("goes on", "go on"), "deny": ("becomes a deny", "become denies"),
        "ask": ("becomes an ask", "become asks"), "allow": ("becomes an allow", "become allows")}  # fmt: skip


@dataclass(slots=True)
class Group:
    """Events whose decisions differ in the same way, by the same hooks."""

    was: str
    now: str
    pattern: str
    hooks: tuple[str, ...]
    differences: tuple[str, ...]
    reason: str
    count: int = 0
    examples: list[dict[str, str]] = field(default_factory=list)

    @property
    def title(self) -> str:
        """What happened to how many, such as ``36 asks become denies: Bash(npm publish *)``."""
        many = self.count != 1
        was = _WAS.get(self.was, (self.was, self.was))[many]
        if "decision" in self.differences:
            now = _NOW.get(self.now, (self.now, self.now))[many]
        else:
            now = f"with another {' and '.join(self.differences)}"
        return f"{self.count:,} {was} {now}: {self.pattern}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "title": self.title, "count": self.count, "was": self.was, "now": self.now, "pattern": self.pattern,
            "hooks": list(self.hooks), "differences": list(self.differences), "reason": self.reason,
            "examples": list(self.examples),
        }  # fmt: skip


def group_differences(results: Iterable[Replayed]) -> list[Group]:
    """Return the groups of all results that differ, the largest first."""
    groups: dict[tuple[Any, ...], Group] = {}
    for result in results:
        if not result.differences or result.outcome is None:
            continue
        then, now = result.recorded, result.outcome
        hooks = tuple(deciders_of(now)) or then.deciders
        # Which fields of an input differ tells apart changes, and not decisions.
        told = ("decision",) if "decision" in result.differences else result.differences
        key = (then.decision, now.decision, pattern_of(then), hooks, told)
        if key not in groups:
            groups[key] = Group(*key, reason=now.reason or then.reason)
        group = groups[key]
        group.count += 1
        if len(group.examples) < _EXAMPLES:
            group.examples.append({"id": then.id, "time": then.time, "call": _call(then, row_of(now).subject)})
    return sorted(groups.values(), key=lambda group: -group.count)


def pattern_of(recorded: Recorded) -> str:
    """Return what an event is about as a rule would name it: ``Bash(npm publish *)``, ``Write(src/**)``, ``Stop``."""
    row = TABLE.get(recorded.event)
    subject: Any = recorded.fields.get(row.subject) if row is not None and row.subject else ""
    name = subject if isinstance(subject, str) and subject else recorded.event
    given = recorded.fields.get("tool_input")
    if not isinstance(given, Mapping):
        return name
    if isinstance(command := given.get("command"), str) and command.strip():
        return f"{name}({_command(command)} *)"
    for part in _PATHS:
        if isinstance(path := given.get(part), str) and path:
            return f"{name}({_folder(path, recorded.fields.get('cwd'))}**)"
    return name


def _command(line: str) -> str:
    """Return the program of a line and its subcommand; what only leads to it is passed over."""
    first = ""
    for part in _SEPARATOR.split(line[:2000]):
        words = [word for word in part.split() if not _ASSIGNMENT.match(word)]
        while words and (os.path.basename(words[0]) in _PASSED_OVER or words[0].startswith("-")):
            if words[0] in ("cd", "export", "set"):
                words = []
                break
            words = words[1:]
        if not words:
            continue
        first = os.path.basename(words[0].strip("\"'(")) or words[0]
        if first in _WITH_SUBCOMMANDS:
            said = words[1] if len(words) > 1 else ""
            return f"{first} {said}" if _SUBCOMMAND.fullmatch(said) else first
        return first[:60]
    return first or line.split(maxsplit=1)[0][:60]


def _folder(path: str, cwd: object) -> str:
    """Return the first folder of a path, below the project if it is there."""
    if isinstance(cwd, str) and cwd and path.startswith(f"{cwd.rstrip('/')}/"):
        path = path[len(cwd.rstrip("/")) + 1 :]
    parts = path.split("/")
    if path.startswith("/"):
        return f"/{parts[1]}/" if len(parts) > 2 else "/"
    return f"{parts[0]}/" if len(parts) > 1 else ""


def _call(then: Recorded, subject: str | None) -> str:
    given = then.fields.get("tool_input")
    if isinstance(given, Mapping):
        for name in ("command", *_PATHS, "url", "pattern", "query", "prompt"):
            if isinstance(text := given.get(name), str) and text:
                return text[:_LONGEST]
        return str(dict(given))[:_LONGEST]
    found = then.fields.get("prompt") or (then.fields.get(subject) if subject else "")
    return str(found or then.event)[:_LONGEST]
