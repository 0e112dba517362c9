"""Where coding agents keep their transcripts: the files of a home, newest first. Follows no link to a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ...runtime.named_tuples import NamedTuple

__all__ = ["PLACES", "FoundTranscript", "Search", "TranscriptFolder", "find_transcripts", "transcript_of_session"]


class TranscriptFolder(NamedTuple):
    """A folder in which an agent keeps transcripts."""

    agent: str
    variable: str
    """The environment variable that names another folder in place of ``home``."""
    home: str
    """The agent's own folder in the home of a person."""
    below: str
    pattern: str
    """Which paths below it are transcripts; ``*`` stands for any part, with slashes too."""


PLACES = (
    TranscriptFolder("claude", "CLAUDE_CONFIG_DIR", ".claude", "projects", "*.jsonl"),
    TranscriptFolder("codex", "CODEX_HOME", ".codex", "sessions", "*rollout-*.jsonl*"),
    TranscriptFolder("codex", "CODEX_HOME", ".codex", "archived_sessions", "*rollout-*.jsonl*"),
    TranscriptFolder("copilot", "COPILOT_HOME", ".copilot", "session-state", "*/events.jsonl"),
    TranscriptFolder("gemini", "", ".gemini", "tmp", "*/chats/session-*.jsonl"),
    TranscriptFolder("droid", "", ".factory", "sessions", "*.jsonl"),
    TranscriptFolder("qwen", "", ".qwen", "projects", "*/chats/*.jsonl"),
)


class FoundTranscript(NamedTuple):
    """A transcript that was found."""

    agent: str
    path: str
    changed: float
    """When it was last written, in seconds since 1970."""
    size: int

    @property
    def is_compressed(self) -> bool:
        """Whether it is compressed, so that it is not read."""
        return self.path.endswith(".zst")


@dataclass(slots=True)
class Search:
    """What a search found, and what it could not look at."""

    found: list[FoundTranscript] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Paths, each with the reason."""
    looked: list[str] = field(default_factory=list)
    """The folders that exist."""


def find_transcripts(
    home: str, agents: Iterable[str] = (), environment: Mapping[str, str] | None = None, since: float | None = None
) -> Search:
    """Return the transcripts in a home, newest first; of one file that is reachable by two names, one."""
    wanted, search = set(agents), Search()
    seen: set[tuple[int, int]] = set()
    for place in PLACES:
        if wanted and place.agent not in wanted:
            continue
        own = (environment or {}).get(place.variable, "") if place.variable else ""
        roots = [os.path.join(home, place.home), *([own] if os.path.isabs(own) else [])]
        for root in dict.fromkeys(os.path.join(one, place.below) for one in roots):
            if os.path.isdir(root):
                search.looked.append(root)
                search.found.extend(_below(place, root, seen, search, since))
    search.found.sort(key=lambda one: -one.changed)
    return search


def _below(
    place: TranscriptFolder, root: str, seen: set[tuple[int, int]], search: Search, since: float | None
) -> Iterator[FoundTranscript]:
    for folder, _, names in os.walk(root, onerror=_noting(search)):
        for name in names:
            path = os.path.join(folder, name)
            if not fnmatchcase(os.path.relpath(path, root), place.pattern):
                continue
            try:
                facts = os.stat(path)
            except OSError as error:
                search.unreadable.append((path, error.strerror or str(error)))
                continue
            if not stat.S_ISREG(facts.st_mode) or (facts.st_dev, facts.st_ino) in seen:
                continue
            seen.add((facts.st_dev, facts.st_ino))
            if since is None or facts.st_mtime >= since:
                yield FoundTranscript(place.agent, path, facts.st_mtime, facts.st_size)


def _noting(search: Search) -> Callable[[OSError], None]:
    def note(error: OSError) -> None:
        search.unreadable.append((str(error.filename), error.strerror or str(error)))

    return note


def transcript_of_session(agent: str, session: str, home: str, environment: Mapping[str, str]) -> str:
    """Return the transcript of a session whose agent names it after the session; empty if there is none."""
    if not session or os.sep in session or session.startswith("."):
        return ""
    names = {"copilot": ("session-state", session, "events.jsonl")}
    for place in PLACES:
        if place.agent == agent in names:
            own = environment.get(place.variable, "")
            path = os.path.join(own if os.path.isabs(own) else os.path.join(home, place.home), *names[agent])
            return path if os.path.isfile(path) else ""
    return ""
