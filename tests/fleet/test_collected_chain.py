"""Which records of a store are there, in whatever order and however often batches come; and where a chain breaks."""

from hypothesis import given, settings
from hypothesis import strategies as st

from interpose.audit.chain import begin, genesis, link
from interpose.audit.collected import ChainFlaw, Stretch, take_in
from interpose.audit.raw import RawBatch, RawProcess, RawRecord
from interpose.records import replace

STORE = "a-store"
PROCESS = RawProcess(1, "u", "{}")


def chain_of(count: int, *, before: bytes | None = None, first: int = 1, body: str = "{}") -> list[RawRecord]:
    made = []
    digest = genesis(STORE) if before is None else before
    for number in range(first, first + count):
        if number == 1:
            digest = begin(digest, PROCESS.uuid, PROCESS.about)
        digest = link(digest, number, 1, 0, 5, 6, body.encode())
        made.append(RawRecord(number, 1, 0, 5, 6, digest, body))
    return made


RECORDS = chain_of(20)


def batch(first: int, last: int, records: list[RawRecord] = RECORDS) -> RawBatch:
    before = genesis(STORE) if first == 1 else records[first - 2].hash
    return RawBatch(store=STORE, before=before, records=tuple(records[first - 1 : last]), processes=(PROCESS,))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), max_size=12))
def test_every_record_is_new_once_and_an_unchanged_chain_has_no_flaw(parts: list[tuple[int, int]]) -> None:
    known: tuple[Stretch, ...] = ()
    seen: list[int] = []

    for one, other in [*parts, (1, 20)]:
        taken = take_in(known, batch(min(one, other), max(one, other)))
        assert taken.flaws == ()
        seen += [record.number for record in taken.new]
        known = taken.stretches

    assert sorted(seen) == list(range(1, 21))
    assert known == (Stretch(1, 20, genesis(STORE), RECORDS[-1].hash),)


def test_a_changed_body_breaks_the_chain_where_it_is() -> None:
    changed = [*RECORDS[:4], replace(RECORDS[4], body='{"a":1}'), *RECORDS[5:]]

    assert take_in((), batch(1, 20, changed)).flaws == (ChainFlaw(5, "was changed, or the one before it"),)


def test_a_record_that_was_removed_and_renumbered_breaks_the_chain() -> None:
    cut = [*RECORDS[:4], *(replace(one, number=one.number - 1) for one in RECORDS[5:])]

    assert take_in((), batch(1, 10, cut)).flaws[0].number == 5


def test_stretches_that_do_not_meet_are_reported_when_they_meet() -> None:
    other = chain_of(10, before=b"x" * 32, first=11)
    later = RawBatch(store=STORE, before=b"x" * 32, records=tuple(other))
    first = take_in((), later)

    second = take_in(first.stretches, batch(1, 10))

    assert first.flaws == ()
    assert [flaw.number for flaw in second.flaws] == [11]
    assert [(one.first, one.last) for one in second.stretches] == [(1, 20)]


def test_a_chain_that_begins_as_another_store_is_reported() -> None:
    forged = RawBatch(store="another", before=genesis(STORE), records=tuple(RECORDS[:3]), processes=(PROCESS,))

    assert [flaw.number for flaw in take_in((), forged).flaws] == [1]


def test_a_process_without_its_description_is_reported() -> None:
    bare = replace(batch(1, 3), processes=())

    assert take_in((), bare).flaws == (ChainFlaw(1, "the description of its process is missing"),)


def test_a_record_that_is_left_out_is_a_flaw_and_the_chain_goes_on_behind_it() -> None:
    left_out = [*RECORDS[:4], replace(RECORDS[4], body=""), *RECORDS[5:]]

    taken = take_in((), replace(batch(1, 20, left_out), left_out=frozenset([5])))

    assert [flaw.number for flaw in taken.flaws] == [5]
