"""What other packages know of an audit store: its nouns, and protocols for reading and for writing one.

SQLite is behind them (``interpose.audit.sqlite``), and for reading the record of a fleet PostgreSQL
(``interpose.audit.postgres``). A filter is a value, lists are read in pages by id, and aggregates are methods.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self

from ..errors import UsageError
from ..records import Record, made_by
from .columns import DECISIONS
from .questions import StoredQuestion
from .retention import Retention

if TYPE_CHECKING:
    from ..person.permission import Permission
    from .entries import PendingRecord

__all__ = ["DECISIONS", "EVERYTHING", "Flaw", "HookStats", "NotAStore", "PermissionCount", "QuestionStore",
           "SearchResult", "Selection", "SessionOverview", "StoreOptions", "StoreReader", "StoreReplaced",
           "StoreUnreadable", "StoreWriter", "StoredChange", "StoredFiring", "StoredPermission", "StoredQuestion",
           "StoredSession", "Submission", "Totals", "Verification"]  # fmt: skip


class NotAStore(UsageError):
    """There is no readable audit store at a path."""

    code = "not_a_store"


class StoreUnreadable(UsageError):
    """A store was opened and cannot be read."""

    code = "store_unreadable"


class StoreReplaced(StoreUnreadable):
    """The file of a store that was opened is not at its path any more."""

    code = "store_replaced"


class StoreOptions(Record):
    """The options that all users of a store in one process share."""

    path: str
    key: bytes | None = None
    anchor: str | None = None
    retention: Retention = made_by(factory=Retention)
    rules: tuple[tuple[str, str], ...] = ()


class Selection(Record):
    """Which records to read: those that match every filter; of several values of one filter, any is enough."""

    events: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    """Agents by their id, or coding agents by their name."""
    hooks: tuple[str, ...] = ()
    """Hooks that ran."""
    decisions: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """Ids of sessions, or prefixes of ids."""
    texts: tuple[str, ...] = ()
    """Texts that occur anywhere in the record; upper and lower case are the same."""
    nodes: tuple[str, ...] = ()
    """Nodes of a fleet; only a store that collects from several has them."""
    since: float | None = None
    """Seconds since 1970."""
    after: int | None = None
    """The id after which to begin, and in ``before`` the one before which to end."""
    before: int | None = None

    def check(self) -> None:
        """Raise UsageError for a decision that does not exist."""
        for decision in self.decisions:
            if decision not in DECISIONS:
                raise UsageError(f"{decision!r} is not a decision", hint=f"choose {', '.join(DECISIONS)}")


EVERYTHING = Selection()


class StoredFiring(Record):
    """One recorded firing. ``body`` has everything; the other fields are its most used parts."""

    id: int
    process: int
    time: float
    """Seconds since 1970, by the wall clock."""
    monotonic: float
    event: str
    subject: str
    session: str
    decision: str
    duration: float
    """Seconds that the hooks took."""
    body: dict[str, Any] = made_by(factory=dict)
    node: str = ""
    """The node of a fleet that recorded it; empty in a store of one machine."""

    @property
    def reason(self) -> str:
        """The reason of the decision."""
        return str(self.body.get("reason", ""))

    @property
    def agent(self) -> str:
        """The agent that it was fired for; empty if there was none."""
        return str(self.input.get("agent_id") or "")

    @property
    def client(self) -> str:
        """The coding agent whose hook fired it, such as ``codex``; empty if it was none's, and in older records."""
        said = self.input.get("client")  # a dialect of that agent says it to hooks too
        return self._of_client("name") or (said if isinstance(said, str) else "")

    @property
    def client_version(self) -> str:
        """The version of that coding agent; empty if it was not known."""
        return self._of_client("version")

    def _of_client(self, part: str) -> str:
        found = self.body.get("client")
        value = found.get(part) if isinstance(found, dict) else None
        return value if isinstance(value, str) else ""

    @property
    def transcript(self) -> str:
        """The transcript that the coding agent wrote of the session; empty if it named none."""
        found = self.input.get("transcript_path")
        return found if isinstance(found, str) else ""

    @property
    def call(self) -> str:
        """The id of the call of a tool that it is about; empty if it is about none."""
        found = self.input.get("tool_use_id")
        return found if isinstance(found, str) else ""

    @property
    def input(self) -> dict[str, Any]:
        """The final fields of the event, redacted."""
        found = self.body.get("input")
        return found if isinstance(found, dict) else {}

    @property
    def given(self) -> dict[str, Any]:
        """The fields of the event as the host gave them, before hooks changed them."""
        found = self.body.get("given")
        return {**self.input, **(found if isinstance(found, dict) else {})}

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The result of every hook in the order they ran, in the shape of ``Result.to_dict``."""
        found = self.body.get("runs")
        return [_run(run) for run in found if isinstance(run, dict)] if isinstance(found, list) else []

    @property
    def configuration(self) -> str:
        """The digest of the configuration at that time; ``StoreReader.configuration`` returns its description."""
        return str(self.body.get("config", ""))

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON document: the outcome as ``interpose fire --json`` prints it, and its place in the store."""
        body = self.body
        return {
            "id": self.id,
            "kind": "firing",
            **({"node": self.node} if self.node else {}),
            "time": self.time,
            "process": self.process,
            "session": self.session,
            "agent": self.agent,
            "client": self.client,
            "client_version": self.client_version,
            "transcript": self.transcript,
            "event": self.event,
            "subject": self.subject,
            "decision": self.decision,
            "allowed": self.decision not in ("deny", "ask"),
            "reason": self.reason,
            "duration_ms": round(self.duration * 1000, 3),
            "input": self.input,
            "given": self.given,
            "outcome": {name: value for name, value in body.items() if name not in _NOT_OUTCOME},
            "results": self.runs,
            "configuration": self.configuration,
        }


_NOT_OUTCOME = {"event", "subject", "decision", "reason", "input", "given", "runs", "config", "us", "client"}


def _run(run: dict[str, Any]) -> dict[str, Any]:
    took = run.get("us", 0)  # in a record that was changed it may be anything
    return {
        "hook": str(run.get("hook", "")),
        "type": run.get("type", "python"),
        "status": run.get("status", "ok"),
        "decision": run.get("decision", "none"),
        "reason": run.get("reason", ""),
        "error": run.get("error"),
        "duration_ms": took / 1000 if isinstance(took, int | float) else 0.0,
        "round": run.get("round", 1),
        "enforced": run.get("enforced", True),
        **({"evidence": run["evidence"]} if "evidence" in run else {}),
    }


class StoredPermission(Record):
    """One recorded permission. ``body`` has the fields of ``Permission`` that were not empty, redacted."""

    id: int
    process: int
    time: float
    """Seconds since 1970, by the wall clock."""
    session: str
    tool: str
    decision: str
    """The verdict as a decision: allow, deny or ask."""
    body: dict[str, Any] = made_by(factory=dict)
    node: str = ""
    """The node of a fleet that recorded it; empty in a store of one machine."""

    def text(self, name: str) -> str:
        """Return a field of the permission as text; empty if it was empty."""
        found = self.body.get(name, "")
        return found if isinstance(found, str) else str(found)

    @property
    def call(self) -> str:
        """The id of the call that it is about."""
        return self.text("tool_use_id")

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON document: every field of the permission, and its place in the store."""
        moments = {name: self.body.get(name) for name in ("asked_at", "answered_at")}
        return {
            "id": self.id,
            "kind": "permission",
            **({"node": self.node} if self.node else {}),
            "time": self.time,
            "process": self.process,
            "session": self.session,
            "agent": self.text("agent_id"),
            "tool": self.tool,
            "call": self.call,
            "decision": self.decision,
            "verdict": self.text("verdict"),
            **{
                name: self.text(name)
                for name in ("by", "person", "question", "rule", "place", "hook", "mode", "reason", "remembered")
            },
            **moments,
        }


class HookStats(Record):
    """What one hook did at one event. Times are seconds; hooks that were skipped did not run."""

    hook: str
    event: str
    runs: int = 0
    skipped: int = 0
    denies: int = 0
    asks: int = 0
    observed: int = 0
    """How many of the denies and asks were recorded and not enforced."""
    failures: int = 0
    timeouts: int = 0
    p50: float = 0.0
    p95: float = 0.0
    p99: float = 0.0
    total: float = 0.0
    sessions: int = 0
    last_fired: float | None = None
    """Seconds since 1970."""

    @property
    def per_session(self) -> float:
        """The seconds that it added to a session, on average."""
        return self.total / self.sessions if self.sessions else 0.0


class PermissionCount(Record):
    """How many permissions have one verdict, given by one kind of decider."""

    verdict: str
    by: str
    count: int


class StoredSession(Record):
    """One session: its time span, its agents, and its counts."""

    id: str
    first: float
    last: float
    agents: tuple[str, ...]
    firings: int
    calls: int
    """Calls of tools, each counted once."""
    denies: int
    asks: int
    failures: int
    """Runs of hooks that failed or ran past their deadline."""


class SessionOverview(Record):
    """One session, from the columns of its records: found in the same time in a store of any size."""

    id: str
    first: float
    last: float
    last_record: int
    last_event: str
    ended: bool
    """Whether its last event says that it is over."""
    firings: int
    asks: int
    denies: int
    failures: int
    took: float
    """Seconds that hooks took."""
    agents: tuple[str, ...]
    """Those of its latest records."""


class Totals(Record):
    """Sums of firings and of the runs in them; ``upto`` is the last record that was counted."""

    firings: int = 0
    asks: int = 0
    denies: int = 0
    failures: int = 0
    took: float = 0.0
    """Seconds that hooks took."""
    upto: int = 0


class SearchResult(Record):
    """The result of a search: entries, newest first."""

    entries: tuple[StoredFiring | StoredPermission, ...]
    searched: int | None = None
    """The id down to which was searched, if time or the limit ended the search before the beginning of the store."""
    late: bool = False
    """Whether time ended it."""


class StoredChange(Record):
    """A recorded act of a person that changes what hooks do, such as switching one to observing."""

    id: int
    time: float
    body: dict[str, Any] = made_by(factory=dict)

    def text(self, name: str) -> str:
        """Return a part of it as text; empty if it is empty."""
        found = self.body.get(name, "")
        return found if isinstance(found, str) else str(found)

    def to_dict(self) -> dict[str, Any]:
        """Return one JSON document."""
        return {**self.body, "id": self.id, "time": self.time}


class Flaw(Record):
    """Something that was changed or is missing, and where."""

    what: str
    id: int | None = None
    process: int | None = None
    time: float | None = None


class Verification(Record):
    """The result of verifying a store."""

    verdict: str
    """``broken``, ``consistent`` or ``complete``."""
    records: int = 0
    processes: int = 0
    flaws: tuple[Flaw, ...] = ()
    more_flaws: int = 0
    gaps: tuple[dict[str, Any], ...] = ()
    """What the store itself says was lost, deleted by retention, or moved aside."""
    notes: tuple[str, ...] = made_by(factory=tuple)


class StoreReader(Protocol):
    """Reads a store and changes nothing. Each call sees what was committed when it began."""

    @property
    def path(self) -> str:
        """Where the store is."""

    @property
    def has_nodes(self) -> bool:
        """Whether it has the records of several nodes of a fleet."""

    def firings(
        self, selection: Selection = EVERYTHING, *, limit: int | None = None, oldest_first: bool = False
    ) -> Iterator[StoredFiring]:
        """Yield the firings of a selection, newest first."""

    def entries(
        self, selection: Selection = EVERYTHING, *, limit: int | None = None, oldest_first: bool = False
    ) -> Iterator[StoredFiring | StoredPermission]:
        """Yield the firings and permissions of a selection, newest first."""

    def entry(self, id: int) -> StoredFiring | StoredPermission | None:
        """Return the firing or the permission with this id, or None."""

    def follow(self, selection: Selection = EVERYTHING) -> Iterator[StoredFiring | StoredPermission]:
        """Yield firings and permissions as they are written, oldest first, without end."""

    def permissions_of(self, calls: Iterable[str]) -> dict[str, list[StoredPermission]]:
        """Return the permissions of calls, by the id of the call, oldest first."""

    def last_id(self) -> int:
        """Return the id of the newest record; 0 if there is none."""

    def store_id(self) -> str:
        """Return the id that the store got when it was created."""

    def questions(
        self, *, session: str | None = None, answered: bool = False, limit: int = 1000
    ) -> list[StoredQuestion]:
        """Return questions, the newest first; without ``answered``, those that have no answer."""

    def question(self, id: str) -> StoredQuestion | None:
        """Return the question with this id, or None."""

    def question_counts(self, since: float | None = None) -> dict[str, int]:
        """Return how many questions there are, by their state now."""

    def change(self) -> object:
        """Return a value that is another one after a record was written; cheap enough to be polled.

        Raises StoreReplaced if the store is not the one that was opened any more.
        """

    def search(
        self, selection: Selection, *, limit: int, seconds: float, firings_only: bool = False
    ) -> SearchResult:  # fmt: skip
        """Return the newest entries of a selection; stop after some seconds, and say how far it came."""

    def totals(self, since: float | None = None, before: Totals | None = None) -> Totals:
        """Return the sums of all firings since a moment; ``before`` are sums for the same moment to go on from."""

    def recent_sessions(
        self, since: float | None = None, *, limit: int = 50, before: int | None = None
    ) -> list[SessionOverview]:
        """Return sessions, the most recently active first; with ``before``, those whose last record is older."""

    def session(self, id: str) -> SessionOverview | None:
        """Return the session with this id, or None."""

    def changes(self, *, limit: int = 50) -> list[StoredChange]:
        """Return what persons have changed about hooks, the newest first."""

    def hook_stats(self, since: float | None = None, *, sample: int | None = None) -> list[HookStats]:
        """Return what each hook did at each event; most runs first.

        With ``sample`` percentiles are those of so many of its latest runs, and its sessions are not counted.
        """

    def permission_counts(self, since: float | None = None) -> list[PermissionCount]:
        """Return how many permissions there are, by verdict and by decider; most first."""

    def last_fired(self) -> dict[tuple[str, str], float]:
        """Return when each hook last ran, by event and name; fast for a store of any size."""

    def session_ids(self) -> list[str]:
        """Return the ids of all sessions, the most recently active first."""

    def sessions(self, since: float | None = None, limit: int | None = None) -> list[StoredSession]:
        """Return sessions with their counts, the most recently active first."""

    def configuration(self, digest: str) -> dict[str, Any] | None:
        """Return the description of a configuration: ``files`` with their hashes and those of the scripts they name."""

    def gaps(self) -> list[dict[str, Any]]:
        """Return the records of lost firings, of deletions by retention, and of a store that was moved aside."""

    def close(self) -> None:
        """Close the store."""

    def __enter__(self) -> Self:
        """Return itself."""

    def __exit__(self, *_: object) -> None:
        """Close the store."""


class StoreWriter(Protocol):
    """Commits batches of records. One thread uses it; every exception means that the store is down."""

    @property
    def problem(self) -> str:
        """What is wrong although records are written, such as an anchor that cannot be written; empty if nothing is."""

    @property
    def moved(self) -> str:
        """The path that an earlier store was moved to, until the next record is written."""

    def write(self, entries: Sequence[PendingRecord], configurations: dict[str, str]) -> None:
        """Commit entries in their order, all or none.

        Of the answers to a question the first is written, and of questions no more than may wait: this is decided in
        the same transaction. ``refused`` of an entry says why it was left out, and is empty if it was not.
        """

    def idle(self) -> None:
        """Do what is due while there is nothing to write."""

    def set_durable(self, durable: bool) -> None:
        """Set whether every commit waits for the disk."""

    def finish(self) -> None:
        """Write the end record of this process, and close the store."""


class Submission(Protocol):
    """A question or an answer on its way to a store: awaited, or blocked on; raises StoreDown if it is not written."""

    def block(self) -> None:
        """Wait in this thread."""

    def __await__(self) -> Generator[Any, Any, None]:
        """Wait in a task."""

    @property
    def refused(self) -> str:
        """Why it was not written although the store is up, such as an answer that is not the first; else empty."""

    @property
    def digest(self) -> str:
        """The hash of what was written, to which an answer is bound."""

    @property
    def id(self) -> str:
        """The id of a question."""

    def withdraw(self, answer: Callable[[], Mapping[str, Any]]) -> None:
        """Write this answer once the question is written, if it has none then; do not wait for it."""


class QuestionStore(Protocol):
    """Where questions wait. ``AuditStore`` is one; of all answers to a question it takes the first."""

    @property
    def path(self) -> str:
        """Where the store is."""

    @property
    def key_name(self) -> str:
        """The name of the key that seals answers; empty without one."""

    @property
    def configuration(self) -> str:
        """The digest of the configuration under which questions are asked; empty if there is none."""

    def ask(self, question: Mapping[str, Any]) -> Submission:
        """Write a question."""

    def answer(self, answer: Mapping[str, Any]) -> Submission:
        """Write the answer to a question, if it has none."""

    def believes(self, answer: Mapping[str, Any], store_id: str) -> bool:
        """Say whether an answer was written by a process that may answer."""

    def read(self) -> StoreReader:
        """Return a reader of this store."""

    def record_permission(self, permission: Permission) -> None:
        """Record what was decided about a call."""
