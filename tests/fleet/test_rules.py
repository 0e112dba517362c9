"""A node takes over what a known key has signed for its team and ring, whole, and refuses everything else."""

import asyncio
import json
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.fleet.nats_servers import a_nats_server
from tests.fleet.rule_nodes import DAY, Team, refusal_of, run, until, version_of

from interpose.config.fleet_rules import read_record
from interpose.fleet import statements
from interpose.fleet.bundles import BundledFile, digest_of, pack_files
from interpose.fleet.keys import public_of
from interpose.fleet.node import Node
from interpose.fleet.rings import RingRefused, Rings
from interpose.fleet.statements import MOST_VERSION, Statement, signed_statement
from interpose.handlers.nats_client import connect
from interpose.records import replace

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with a_nats_server(tmp_path_factory.mktemp("nats")) as server:
        yield server.url


@pytest.fixture
def team(tmp_path: Path, server_url: str, request: pytest.FixtureRequest) -> Team:
    return Team(tmp_path, server_url, f"t{abs(hash(request.node.name))}")


async def write_raw(team: Team, ring: str, stored: bytes) -> None:
    client = await connect(team.settings.nats, name="writer")
    await client.jetstream().publish(f"$KV.interpose_{team.settings.team}_rings.{ring}", stored)
    await client.close()


async def write_object(team: Team, name: str, data: bytes) -> None:
    client = await connect(team.settings.nats, name="writer")
    await (await client.jetstream().object_store(f"interpose_{team.settings.team}_bundles")).put(name, data)
    await client.close()


def statement_for(by: Team, packed: bytes, **changed: object) -> Statement:
    now = int(time.time())
    made = Statement(
        team=by.settings.team, ring="prod", version=2, digest=digest_of(packed), created=now, expires=now + 1000,
        observe=False, note="", signer=public_of(by.key),
    )  # fmt: skip
    return replace(made, **changed)


def test_a_push_reaches_a_connected_node_and_a_rollback_too(team: Team) -> None:
    async def work() -> None:
        first = await team.push("one")
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1)
            await team.push("two")
            assert await until(lambda: version_of(node) == 2)
            async with team.connected() as rings:
                third = await rings.roll_back("prod", expires=DAY)
            assert await until(lambda: version_of(node) == 3)

            assert third.digest == first.digest
            assert node.report["rules"]["digest"] == first.digest
            assert refusal_of(node) == ""

    run(work())


async def refused(team: Team, stored: bytes) -> str:
    """Why a node that runs version 1 refuses a statement; it keeps version 1."""
    await team.push("good")
    async with team.node() as node:
        assert await until(lambda: version_of(node) == 1)
        before = read_record(f"{node.folder}/rules.json")
        await write_raw(team, "prod", stored)
        assert await until(lambda: refusal_of(node)), node.report
        assert version_of(node) == 1
        assert read_record(f"{node.folder}/rules.json") == before
        return refusal_of(node)


def check_refused(team: Team, stored: bytes, *words: str) -> None:
    async def work() -> None:
        why = await refused(team, stored)
        assert all(word in why for word in words), why

    run(work())


def test_a_tampered_statement_is_refused(team: Team) -> None:
    stored = signed_statement(statement_for(team, team.bundle("good")), team.key)

    check_refused(team, stored.replace(b'\\"version\\":2', b'\\"version\\":9'), "signature")


def test_a_statement_of_an_unknown_key_is_refused(team: Team) -> None:
    key = team.new_key("mallory")
    stored = signed_statement(statement_for(team, team.bundle("good"), signer=public_of(key)), key)

    check_refused(team, stored, "not one of the signers")


def test_a_statement_that_names_a_known_key_and_is_signed_by_another_is_refused(team: Team) -> None:
    key = team.new_key("mallory")
    made = statement_for(team, team.bundle("good"))
    text = statements._FORM.write(made)
    from interpose.fleet.keys import sign

    stored = json.dumps({"statement": text, "signature": sign(key, "rules", text.encode())}).encode()

    check_refused(team, stored, "signature")


def test_a_signature_of_another_kind_of_message_is_refused(team: Team) -> None:
    from interpose.fleet.keys import sign

    text = statements._FORM.write(statement_for(team, team.bundle("good")))
    stored = json.dumps({"statement": text, "signature": sign(team.key, "answer", text.encode())}).encode()

    check_refused(team, stored, "signature")


def test_a_statement_of_another_team_is_refused(team: Team) -> None:
    check_refused(team, signed_statement(statement_for(team, b"", team="other"), team.key), "for the team other")


def test_a_statement_of_another_ring_is_refused(team: Team) -> None:
    check_refused(team, signed_statement(statement_for(team, b"", ring="canary"), team.key), "for the ring canary")


def test_an_expired_statement_is_refused(team: Team) -> None:
    stored = signed_statement(statement_for(team, team.bundle("good"), created=1, expires=2), team.key)

    check_refused(team, stored, "expired")


@pytest.mark.parametrize("version", [0, -1, MOST_VERSION + 1, 2**64])
def test_a_version_that_cannot_be_is_refused(team: Team, version: int) -> None:
    check_refused(team, signed_statement(statement_for(team, b"", version=version), team.key), "version cannot be")


@pytest.mark.parametrize(
    "stored", [b"", b"{}", b"\xff", b"null", b"[" * 50_000, b'{"statement":1,"signature":2}', b"x" * 40_000]
)
def test_what_is_no_statement_is_refused(team: Team, stored: bytes) -> None:
    check_refused(team, stored)


def test_an_old_statement_that_is_stored_again_is_refused_also_after_a_restart(team: Team) -> None:
    async def work() -> None:
        await team.push("one")
        client = await connect(team.settings.nats, name="reader")
        bucket = await client.jetstream().key_value(f"interpose_{team.settings.team}_rings")
        old = (await bucket.get("prod")).value
        await client.close()
        await team.push("two")
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 2)
        assert old is not None
        await write_raw(team, "prod", old)

        async with team.node() as node:
            assert await until(lambda: refusal_of(node))

            assert version_of(node) == 2
            assert "older than 2" in refusal_of(node)

    run(work())


def test_another_statement_with_the_version_that_is_armed_is_refused(team: Team) -> None:
    async def work() -> None:
        packed = team.bundle("other")
        stored = signed_statement(statement_for(team, packed, version=1), team.key)
        why = await refused(team, stored)
        assert "said something else" in why

    run(work())


HOOKS = BundledFile("hooks.yaml", b"hooks: {}\npermissions: {Bash: ask}\n", False)


def raw_bundle(listed: object, content: bytes) -> bytes:
    return b"interpose-bundle 1\n" + json.dumps(listed, separators=(",", ":")).encode() + b"\n" + content


BROKEN = {
    "not a bundle": (b"PK\x03\x04" + b"\0" * 1000, "does not begin"),
    "../ in a path": (raw_bundle([["../evil.py", 1, False], ["hooks.yaml", 10, False]], b"xhooks: {}\n"), "plain path"),
    "an absolute path": (raw_bundle([["/etc/x", 0, False], ["hooks.yaml", 10, False]], b"hooks: {}\n"), "plain path"),
    "a size that is not there": (raw_bundle([["hooks.yaml", 10**15, False]], b"x"), "ends before"),
    "a negative size": (raw_bundle([["a", -5, False], ["hooks.yaml", 5, False]], b""), "path with a size"),
    "more bytes than listed": (raw_bundle([["hooks.yaml", 1, False]], b"xyz"), "more bytes"),
    "no configuration": (pack_files([BundledFile("a.py", b"", False)]), "no hooks.yaml"),
    "two configurations": (pack_files([HOOKS, BundledFile("hooks.json", b"{}", False)]), "only one"),
    "a broken configuration": (pack_files([BundledFile("hooks.yaml", b"hooks: [", False)]), "hooks.yaml"),
    "an unknown event": (pack_files([BundledFile("hooks.yaml", b"hooks: {PreToolUs: []}", False)]), "PreToolUs"),
    "bytecode": (pack_files([HOOKS, BundledFile("__pycache__/guard.pyc", b"", False)]), "never run"),
    "two files at one path": (pack_files([HOOKS, BundledFile("A.py", b"", False), BundledFile("a.py", b"", False)]), "one path"),
    "a file below a file": (pack_files([HOOKS, BundledFile("a", b"", False), BundledFile("a/b", b"", False)]), "below the file"),
    "too many files": (pack_files([HOOKS, *(BundledFile(f"f{n}", b"", False) for n in range(1001))]), "at most"),
    "a guard of a missing file": (
        pack_files([BundledFile("hooks.yaml", b"hooks: {PreToolUse: [{command: ./gone.sh --x, onError: abort}]}", False)]), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_signed_bundle_that_is_broken_is_refused(team: Team, name: str) -> None:
    packed, word = BROKEN[name]

    async def work() -> None:
        async with team.connected():
            await write_object(team, digest_of(packed), packed)
        why = await refused(team, signed_statement(statement_for(team, packed), team.key))
        assert word in why, why
        assert not (team.folder / "nodes" / "evil.py").exists()

    run(work())


def test_a_bundle_whose_content_was_exchanged_is_refused(team: Team) -> None:
    async def work() -> None:
        packed = team.bundle("other")
        async with team.connected():
            await write_object(team, digest_of(packed), team.bundle("evil"))
        why = await refused(team, signed_statement(statement_for(team, packed), team.key))
        assert "not the one that was signed" in why

    run(work())


def test_an_object_that_is_larger_than_a_bundle_can_be_is_not_fetched(team: Team) -> None:
    async def work() -> None:
        huge = b"\0" * (12 * 1024 * 1024)
        await team.push("good")
        await write_object(team, digest_of(huge), huge)
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1)
            await write_raw(team, "prod", signed_statement(statement_for(team, huge), team.key))

            assert await until(lambda: "the object has 12,582,912 bytes" in node.report["problems"].get("rules", ""))
            assert version_of(node) == 1

    run(work())


def test_rules_that_expire_while_they_are_armed_stay_armed_and_are_reported(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with team.connected() as rings:
            expires = (await rings.push("prod", team.bundle("good"), expires=1000)).expires
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1 and not node.report["problems"].get("rules"))
        monkeypatch.setattr("interpose.fleet.rules.time.time", lambda: expires + 1.0)
        async with team.node() as node:
            assert await until(lambda: "expired" in node.report["problems"].get("rules", ""))
            assert version_of(node) == 1

    run(work())


def test_a_clock_that_is_set_back_does_not_make_expired_rules_valid(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        await team.push("one")
        packed = team.bundle("two")
        now = int(time.time())
        async with team.connected():
            await write_object(team, digest_of(packed), packed)
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1)
        made = statement_for(team, packed, created=now - 2000, expires=now - 1000)
        await write_raw(team, "prod", signed_statement(made, team.key))
        monkeypatch.setattr("interpose.fleet.rules.time.time", lambda: now - 1500.0)

        async with team.node() as node:
            assert await until(lambda: "expired" in refusal_of(node))
            assert version_of(node) == 1

    run(work())


def test_after_a_signer_is_removed_what_is_armed_stays_and_new_rules_of_that_key_are_refused(team: Team) -> None:
    async def work() -> None:
        bob = team.new_key("bob")
        async with team.connected() as rings:
            await rings.push("prod", team.bundle("one"), expires=DAY)
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1)
        await team.push("two")
        async with team.node(signers=(("bob", public_of(bob)),)) as node:
            assert await until(lambda: "not one of the signers" in refusal_of(node))

            assert version_of(node) == 1
            assert "no longer one of the signers" in node.report["problems"]["rules"]

    run(work())


def test_either_of_two_signers_can_push(team: Team) -> None:
    async def work() -> None:
        bob = team.new_key("bob")
        team.settings = replace(team.settings, signers=(*team.settings.signers, ("bob", public_of(bob))))
        await team.push("one")
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1)
            async with team.connected(bob) as rings:
                await rings.push("prod", team.bundle("two"), expires=DAY)

            assert await until(lambda: version_of(node) == 2)
            assert node.report["rules"]["signer"] == "bob"

    run(work())


def test_of_two_pushes_at_once_one_wins_and_the_other_is_told(team: Team) -> None:
    async def work() -> None:
        await team.push("zero")
        async with team.connected() as one, team.connected() as two:
            made = await asyncio.gather(
                one.push("prod", team.bundle("a"), expires=DAY), two.push("prod", team.bundle("b"), expires=DAY),
                return_exceptions=True,
            )  # fmt: skip

        won = [each for each in made if isinstance(each, Statement)]
        lost = [each for each in made if isinstance(each, RingRefused)]
        assert {statement.version for statement in won} <= {2, 3}
        assert len(won) + len(lost) == 2
        if lost:
            assert "came first" in str(lost[0])

    run(work())


def test_a_push_over_a_ring_that_has_changed_since_it_was_read_is_refused(team: Team) -> None:
    async def work() -> None:
        async with team.connected() as rings:
            await rings.push("prod", team.bundle("a"), expires=DAY)
            before = await rings._ring("prod")
            await rings.push("prod", team.bundle("b"), expires=DAY)

            with pytest.raises(RingRefused, match="came first"):
                await rings._write(before, "0" * 64, expires=DAY, observe=False, note="")

    run(work())


def test_a_key_that_no_node_believes_is_refused_when_it_pushes(team: Team) -> None:
    with pytest.raises(RingRefused, match="not one of the signers"):
        Rings(None, team.settings, team.new_key("mallory"))  # type: ignore[arg-type]


def test_promoting_gives_another_ring_the_same_bundle(team: Team) -> None:
    async def work() -> None:
        first = await team.push("one", ring="canary")
        async with team.connected() as rings:
            promoted = await rings.promote("canary", "prod", expires=DAY)
            assert (promoted.ring, promoted.version, promoted.digest) == ("prod", 1, first.digest)
            with pytest.raises(RingRefused, match="runs nothing"):
                await rings.promote("nowhere", "prod", expires=DAY)

    run(work())


def test_after_the_last_version_that_there_can_be_no_push_is_possible(team: Team) -> None:
    async def work() -> None:
        assert (await team.push("one", at_least=MOST_VERSION)).version == MOST_VERSION
        async with team.node() as node:
            assert await until(lambda: version_of(node) == MOST_VERSION)
            with pytest.raises(RingRefused, match="the last that there can be"):
                await team.push("two")

    run(work())


def test_a_ring_of_which_nothing_can_be_believed_is_neither_promoted_nor_rolled_back(team: Team) -> None:
    async def work() -> None:
        async with team.connected() as rings:
            await write_raw(team, "prod", b"garbage")
            with pytest.raises(RingRefused, match="cannot be believed"):
                await rings.promote("prod", "canary", expires=DAY)
            with pytest.raises(RingRefused, match="no earlier version"):
                await rings.roll_back("prod", expires=DAY)

    run(work())


def test_rolling_back_needs_a_version_that_is_there(team: Team) -> None:
    async def work() -> None:
        await team.push("one")
        async with team.connected() as rings:
            with pytest.raises(RingRefused, match="no earlier version"):
                await rings.roll_back("prod", expires=DAY)
            with pytest.raises(RingRefused, match="no version 7"):
                await rings.roll_back("prod", version=7, expires=DAY)

    run(work())


def test_a_push_over_a_ring_with_garbage_goes_on_from_the_last_version_that_was_signed(team: Team) -> None:
    async def work() -> None:
        await team.push("one")
        await write_raw(team, "prod", b"garbage")

        assert (await team.push("two")).version == 2

    run(work())


def test_a_node_whose_armed_bundle_is_damaged_fetches_it_again(team: Team) -> None:
    import shutil

    async def work() -> None:
        await team.push("one")
        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1)
        shutil.rmtree(f"{node.folder}/snapshots")

        async with team.node() as node:
            assert await until(lambda: version_of(node) == 1 and not node.report["problems"].get("rules"))
            assert os.listdir(f"{node.folder}/snapshots")

    run(work())


def _runs(node: Node, version: int) -> bool:
    return version_of(node) == version


def test_a_node_that_moves_to_another_ring_and_back_runs_what_each_ring_runs(team: Team) -> None:
    async def work() -> None:
        for word in ("a", "b", "c"):
            await team.push(word, ring="canary")
        prod = await team.push("d")
        for ring, version in (("canary", 3), ("prod", 1), ("canary", 3), ("prod", 1)):
            async with team.node(ring=ring) as node:
                assert await until(partial(_runs, node, version)), node.report
                assert (node.report["rules"]["digest"] == prod.digest) is (ring == "prod")

    run(work())
