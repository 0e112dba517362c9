"""The names that hooks of type ``nats`` and workers share."""

from __future__ import annotations

__all__ = ["FAILURE_HEADER", "WORKER_HEADER", "subject_of_worker"]

FAILURE_HEADER = "Interpose-Failure"
"""The header in which a worker gives the code of a function's failure."""
WORKER_HEADER = "Interpose-Worker"
"""The header in which a worker gives its id."""


def subject_of_worker(subject: str, worker: str) -> str:
    """Return the subject on which one worker takes requests for a subject, beside its group."""
    return f"{subject}.{worker}"
