"""The coding agent behind a recorded session: its name, its transcript, and what it calls the session."""

from __future__ import annotations

import os

from ..audit.protocol import Selection, StoredFiring, StoreReader
from ..redaction import Redactor
from ..runtime.named_tuples import NamedTuple
from .transcripts import session_name, transcript_of_session

__all__ = ["SessionClient", "client_of", "transcript_of"]

_MOST = 50
"""How many records of a session are looked at for one that names the transcript."""


class SessionClient(NamedTuple):
    """The coding agent of a session."""

    client: str = ""
    version: str = ""
    transcript: str = ""
    name: str = ""
    """What the agent calls the session, with secrets redacted."""


def client_of(reader: StoreReader, session: str) -> SessionClient:
    """Return what the newest records of a session say of its coding agent."""
    found = SessionClient()
    if not session:
        return found
    for firing in reader.firings(Selection(sessions=(session,)), limit=_MOST):
        if firing.session == session:
            found = found._replace(
                client=found.client or firing.client, version=found.version or firing.client_version,
                transcript=found.transcript or transcript_of(firing),
            )  # fmt: skip
        if found.client and found.transcript:
            break
    if found.transcript:
        found = found._replace(name=Redactor()(session_name(found.transcript)))
    return found


def transcript_of(firing: StoredFiring) -> str:
    """Return the transcript of a firing's session: the one that the agent named, else where that agent keeps it."""
    if firing.transcript or not firing.client:
        return firing.transcript
    return transcript_of_session(firing.client, firing.session, os.path.expanduser("~"), os.environ)
