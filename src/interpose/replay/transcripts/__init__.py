"""Transcripts that coding agents leave, read as the events that their hooks got. The one place that knows the formats.

``read_transcript`` returns a whole session for a replay. ``stream`` reads a transcript of any size without keeping it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..recording import Recording
from .base import NOT_TOLD, RAN, REFUSED, REFUSED_BY_PERSON, Fate, Read, TranscriptReader, text_of
from .claude import ClaudeReader, subagent_transcripts
from .codex import CodexReader
from .find import FoundTranscript, Search, find_transcripts, transcript_of_session
from .lines import Damage, open_transcript, read_entries
from .others import CopilotReader, DroidReader, GeminiReader, QwenReader

__all__ = [
    "NOT_TOLD", "RAN", "READERS", "REFUSED", "REFUSED_BY_PERSON", "Damage", "Fate", "FoundTranscript", "Read", "Search",
    "TranscriptReader", "find_transcripts", "first_directory", "format_of", "is_transcript_entry", "read_transcript",
    "session_name", "stream", "transcript_of_session",
]  # fmt: skip

READERS: dict[str, type[TranscriptReader]] = {
    reader.AGENT: reader for reader in (QwenReader, ClaudeReader, CodexReader, CopilotReader, GeminiReader, DroidReader)
}
"""The formats by the name of the agent, in the order in which an entry is compared with them."""

_MOST_FOR_NAME = 512 * 1024
"""Bytes of a transcript that are read for its name."""


def format_of(entry: Any) -> type[TranscriptReader] | None:
    """Return the format that a JSON value is an entry of; None if it is of none."""
    if not isinstance(entry, Mapping):
        return None
    return next((reader for reader in READERS.values() if reader.knows(entry)), None)


def is_transcript_entry(entry: Any) -> bool:
    """Say whether a JSON value looks like an entry of a transcript."""
    return format_of(entry) is not None


def stream(path: str, reader: TranscriptReader, damage: Damage) -> Iterator[Read]:
    """Yield the events of one file and the fate of each call, in the order of the file; raise OSError."""
    with open_transcript(path) as file:
        for entry in read_entries(file, damage):
            yield from reader.take(entry)


def read_transcript(path: str) -> Recording:
    """Return the events of a transcript, with those of its subagents' transcripts."""
    recording = Recording(os.path.basename(path), "transcript")
    fates: list[Fate] = []
    reader = _format_in(path)(path)
    for entry in _in_time([path, *subagent_transcripts(path)], recording.notes):
        for read in reader.take(entry):
            if isinstance(read, Fate):
                fates.append(read)
            else:
                recording.events.append(read)
    places = {event.id: at for at, event in enumerate(recording.events)}
    for fate in fates:
        event = recording.events[places[fate.call]]
        told = replace(event, decision=fate.decision, derived=fate.derived, reason=fate.reason)
        recording.events[places[fate.call]] = told
    return recording


def session_name(path: str) -> str:
    """Return what the agent calls a session, from the beginning of its transcript; empty if that cannot be read."""
    try:
        reader = _format_in(path)(path)
        with open_transcript(path) as file:
            for entry in read_entries(file, Damage(), _MOST_FOR_NAME):
                for _ in reader.take(entry):
                    pass
    except OSError:
        return ""
    return reader.name


def first_directory(found: FoundTranscript) -> str:
    """Return the directory that a session was begun in; empty if the transcript does not tell."""
    reader = READERS[found.agent](found.path)
    try:
        with open_transcript(found.path) as file:
            for entry in read_entries(file, Damage(), _MOST_FOR_NAME):
                for _ in reader.take(entry):
                    pass
                if reader.cwd:
                    break
    except OSError:
        return ""
    return reader.cwd


def _format_in(path: str) -> type[TranscriptReader]:
    """Return the format of a file, by the first entry that is known; Claude Code's if there is none."""
    with open_transcript(path) as file:
        known = (format_of(entry) for entry in read_entries(file, Damage(), _MOST_FOR_NAME))
        return next((found for found in known if found is not None), ClaudeReader)


def _in_time(paths: list[str], notes: list[str]) -> Iterable[Mapping[str, Any]]:
    """Yield the entries of several files ordered by time; the entries of one file keep their order."""
    if len(paths) == 1:
        yield from _entries(paths[0], notes)
        return
    timed: list[tuple[str, Mapping[str, Any]]] = []
    for path in paths:
        last = ""
        for entry in _entries(path, notes):
            last = max(last, text_of(entry.get("timestamp")))  # some entries have no time of their own
            timed.append((last, entry))
    for _, entry in sorted(timed, key=lambda pair: pair[0]):
        yield entry


def _entries(path: str, notes: list[str]) -> Iterator[Mapping[str, Any]]:
    damage = Damage()
    with open_transcript(path) as file:
        yield from read_entries(file, damage)
    if damage.lines:
        notes.append(
            f"{os.path.basename(path)}: {damage.lines} line{'s' if damage.lines > 1 else ''} could not be read"
        )
