"""Stores for the tests of verification: written, changed as an attacker would, and looked at."""

import sqlite3

from interpose import Hooks, deny
from interpose.audit.chain import begin, genesis, link
from interpose.audit.entries import PendingRecord
from interpose.audit.protocol import StoreOptions
from interpose.audit.sqlite.committer import Committer
from interpose.audit.store import AuditStore
from interpose.audit.verify import verify_store
from interpose.cli.log.verify import verify

KEY = "a key of more than sixteen bytes"
SEALED = KEY.encode()


def write(path, count=5, **options):
    """Be a process that fires so many events."""
    hooks = Hooks(session_id="s-1")
    hooks.register("PreToolUse", lambda event: deny("no") if event.tool_input.get("n") == 2 else None, name="guard")
    with AuditStore(path, **options) as store:
        hooks.record(store)
        for number in range(count):
            hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={"n": number})
        assert store.flush()
    return path


def change(path, *statements):
    base = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        assert base.execute(statement).rowcount != 0, statement
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.close()
    path.with_name(f"{path.name}-sum").unlink(missing_ok=True)  # so that it is the records that give it away


def status(path, key=None, anchor=None):
    return verify(str(path), key=key and str(key), anchor=anchor and str(anchor), json=True)


def said(path, key=None, anchor=None):
    """What is wrong with a store, as texts."""
    found = verify_store(str(path), key=key, anchor=anchor and str(anchor))
    return [flaw.what for flaw in found.flaws]


def without_process(path, process):
    """Remove a process, and whatever says that it was there."""
    change(path, f"DELETE FROM bodies WHERE record IN (SELECT id FROM records WHERE process = {process})",
           f"DELETE FROM runs WHERE record IN (SELECT id FROM records WHERE process = {process})",
           f"DELETE FROM records WHERE process = {process}", f"DELETE FROM processes WHERE id = {process}",
           "UPDATE head SET (record, hash) = (SELECT id, hash FROM records ORDER BY id DESC LIMIT 1)")  # fmt: skip


def rechained(path):
    """Compute every hash again, as an attacker without the key can, and make the head that of the last record."""
    base = sqlite3.connect(path, isolation_level=None)
    store = base.execute("SELECT value FROM meta WHERE name = 'store'").fetchone()[0]
    digest = genesis(store)
    rows = base.execute(
        "SELECT r.id, r.process, r.kind, r.time, r.mono, b.body, p.uuid, p.about FROM records r JOIN bodies b "
        "ON b.record = r.id LEFT JOIN processes p ON p.id = r.id ORDER BY r.id"
    ).fetchall()
    for number, process, kind, at, mono, body, uuid, about in rows:
        before = digest if uuid is None else begin(digest, uuid, about)
        digest = link(before, number, process, kind, at, mono, body.encode())
        base.execute("UPDATE records SET hash = ? WHERE id = ?", (digest, number))
    base.execute("UPDATE head SET record = ?, hash = ?", (rows[-1][0], digest))
    base.execute("UPDATE processes SET last = (SELECT max(id) FROM records WHERE process = processes.id)")
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    base.close()
    path.with_name(f"{path.name}-sum").unlink(missing_ok=True)


def cut_after(path, last):
    change(path, *(f"DELETE FROM {table} WHERE {column} > {last}" for table, column in
                   (("records", "id"), ("bodies", "record"), ("runs", "record"))),
           f"UPDATE head SET (record, hash) = (SELECT id, hash FROM records WHERE id = {last})",
           f"UPDATE processes SET last = min(last, {last})")  # fmt: skip


def removed(path):
    for beside in ("", "-wal", "-shm", "-salt", "-sum"):
        path.with_name(path.name + beside).unlink(missing_ok=True)


def killed(path, anchor):
    """Be a process that is killed after its first record."""
    committer = Committer(StoreOptions(path=str(path), anchor=str(anchor)))
    committer.write([PendingRecord("{}")], {})
    assert committer._base is not None
    committer._base.close()
