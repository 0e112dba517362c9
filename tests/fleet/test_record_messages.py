"""Messages of records: what is packed is read again, and what is none is refused with the reason."""

import json
import zlib
from typing import Any

import pytest
from tests.fleet.test_collected_chain import batch

from interpose.fleet.messages import LARGEST, BadMessage, message_id, pack, unpack


def document(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(zlib.decompress(pack("t", "n", batch(1, 3))))
    return {**found, **changes}


def packed(value: Any) -> bytes:
    return zlib.compress(json.dumps(value).encode())


def changed_record(place: int, value: Any) -> dict[str, Any]:
    found = document()
    found["records"][1][place] = value
    return found


def test_a_batch_is_the_same_after_its_way() -> None:
    made = batch(2, 9)

    assert unpack("t", "n", pack("t", "n", made)) == made


def test_the_id_of_a_message_names_its_records_and_their_content() -> None:
    assert message_id(batch(1, 3)) == message_id(batch(1, 3))
    assert len({message_id(batch(1, 3)), message_id(batch(1, 4)), message_id(batch(2, 3))}) == 3


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"hello", "not compressed"),
        (b"", "was cut"),
        (zlib.compress(b"[1"), "not JSON"),
        (zlib.compress(b"[" * 100_000), "not JSON"),
        (zlib.compress(b'{"version": NaN}'), "NaN is not JSON"),
        (zlib.compress(b"[]"), "not a document"),
        (zlib.compress(b"\xff\xfe"), "not JSON"),
        (zlib.compress(b" " * (LARGEST + 1)), "more than"),
        (pack("t", "n", batch(1, 3))[:-5], "was cut"),
        (packed(document(version=2)), "version 2"),
        (packed(document(team="u")), "it says team 'u'"),
        (packed(document(node="m")), "it says node 'm', and came on the subject of n"),
        (packed(document(node=["n"])), "it says node"),
        (packed(document(store="a b")), "store"),
        (packed(document(store="x" * 65)), "store"),
        (packed(document(before="00")), "before"),
        (packed(document(records=[])), "0 records"),
        (packed(document(records={})), "not a list"),
        (packed(document(records=document()["records"] * 400)), "records"),
        (packed(document(records=document()["records"][::2])), "not consecutive"),
        (packed(document(processes=[[1, "u"]])), "process"),
        (packed(document(processes=[[0, "u", "{}"]])), "process"),
        (packed(document(processes=[[1, "u\0", "{}"]])), "control characters"),
        (packed(document(configurations={"x": "y"})), "configuration"),
        (packed(document(left_out=[1])), "left out"),
        (packed(document(left_out=[99])), "left out"),
        (packed(changed_record(0, 1 << 70)), "number"),
        (packed(changed_record(0, True)), "other parts"),
        (packed(changed_record(0, 2.5)), "other parts"),
        (packed(changed_record(1, 0)), "number"),
        (packed(changed_record(2, -1)), "too large"),
        (packed(changed_record(3, 10**30)), "too large"),
        (packed(changed_record(4, -(10**30))), "too large"),
        (packed(changed_record(5, "zz")), "hash"),
        (packed(changed_record(6, "a\0b")), "control characters"),
        (packed(changed_record(6, "\ud800")), "lone surrogates"),
        (packed(changed_record(6, None)), "other parts"),
    ],
)
def test_what_is_no_message_of_records_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(BadMessage, match=why):
        unpack("t", "n", data)


def test_a_huge_number_in_a_message_is_refused() -> None:
    text = json.dumps(document()).replace('"version": 1', '"version": ' + "9" * 5000)

    with pytest.raises(BadMessage, match="not JSON"):
        unpack("t", "n", zlib.compress(text.encode()))
