"""Replay: decide recorded events again with another configuration, and report different decisions.

    from interpose import Hooks
    from interpose.replay import prepared, read_file, replay

    done = replay(prepared(Hooks.load("new.yaml")), read_file("session.jsonl"))
    assert done.different == 0

Hooks run; tools do not. Secrets that were redacted in the recording stay redacted: a hook that searches an input for a
secret does not find it.
"""

from .groups import Group, group_differences
from .recording import Recorded, Recording
from .runner import MARK, Replay, Replayed, prepared, replay
from .sources import read_file, read_period, read_session
from .transcripts import read_transcript

__all__ = [
    "MARK",
    "Group",
    "Recorded",
    "Recording",
    "Replay",
    "Replayed",
    "group_differences",
    "prepared",
    "read_file",
    "read_period",
    "read_session",
    "read_transcript",
    "replay",
]
