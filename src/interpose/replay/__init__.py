"""Recorded sessions, decided again with another configuration: what would have been decided differently.

    from interpose import Hooks
    from interpose.replay import prepared, read_file, replay

    done = replay(prepared(Hooks.load("new.yaml")), read_file("session.jsonl"))
    assert done.different == 0

Hooks run; tools do not. What was redacted before it was written down stays so: a hook that looks for a secret
in an input will not find it.
"""

from .again import MARK, Replay, Replayed, prepared, replay
from .recorded import Recorded, Recording
from .stored import read_file, read_session
from .transcripts import read_transcript

__all__ = [
    "MARK",
    "Recorded",
    "Recording",
    "Replay",
    "Replayed",
    "prepared",
    "read_file",
    "read_session",
    "read_transcript",
    "replay",
]
