"""The names of what a team keeps in NATS. A node's own parts end in its name, so that permissions can be given by name.

Subjects below ``interpose.TEAM`` carry the record; buckets carry rules, reports, questions and answers.
"""

from __future__ import annotations

from ..records import Record

__all__ = ["TeamNames"]


class TeamNames(Record, kw_only=False):
    """The streams, subjects and buckets of one team."""

    team: str

    # The record: a stream with one subject per node.

    @property
    def record_stream(self) -> str:
        """The stream that keeps the records of all nodes until they are collected."""
        return f"INTERPOSE_{self.team}_RECORD"

    @property
    def record_subjects(self) -> str:
        """The subjects of that stream."""
        return f"interpose.{self.team}.record.*"

    def record_subject(self, node: str) -> str:
        """Return the subject on which one node publishes its record."""
        return f"interpose.{self.team}.record.{node}"

    # Rules: the bundles by their digest, and which one each ring runs.

    @property
    def bundles(self) -> str:
        """The object bucket of bundles, by their digest."""
        return f"interpose_{self.team}_bundles"

    @property
    def rings(self) -> str:
        """The key-value bucket of rings: the signed description of the bundle that each runs."""
        return f"interpose_{self.team}_rings"

    @property
    def ring_changes(self) -> str:
        """Where a statement is published once more when the bucket of rings has stored it, followed by the ring."""
        return f"interpose.{self.team}.rings"

    # Reports, questions, answers: key-value buckets; the keys of a node begin with its name.

    @property
    def nodes(self) -> str:
        """The bucket of reports: what each node runs."""
        return f"interpose_{self.team}_nodes"

    @property
    def questions(self) -> str:
        """The bucket of questions that wait, and of what became of them: ``NODE.ID``."""
        return f"interpose_{self.team}_questions"

    @property
    def answers(self) -> str:
        """The bucket of answers, each written once: ``NODE.ID``."""
        return f"interpose_{self.team}_answers"

    @property
    def answer_changes(self) -> str:
        """Where an answer is published once more when the bucket of answers has stored it: ``NODE.ID``."""
        return f"interpose.{self.team}.answers"
