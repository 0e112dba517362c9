"""The reader of HTTP answers: the same answer however it is cut, and nothing that can be understood in two ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from interpose.handlers._http_answer import LARGEST_BODY, AnswerReader, BadResponse

WHOLE = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", b"{}", True),
    (b"HTTP/1.1 200\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", b"", False),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", b"{}", False),
    (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\n{}", b"{}", True),
    (b"HTTP/1.1 204 No\r\n\r\n", b"", True),
    (b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", b"x", True),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n",
        b"abc0123456789",
        True,
    ),
    (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1", b"x", False),
]


@given(some.sampled_from(WHOLE), some.lists(some.integers(1, 100), max_size=20))
def test_an_answer_is_the_same_however_it_arrives(answer, cuts):
    data, body, keeps = answer
    reader, rest = AnswerReader(), data
    for cut in [*cuts, len(data)]:
        piece, rest = rest[:cut], rest[cut:]
        if piece:
            reader.feed(piece)

    assert (reader.complete, bytes(reader.body), reader.keeps) == (True, body, keeps)


@given(some.binary(max_size=300))
def test_any_bytes_are_an_answer_or_refused(data):
    reader, refused = AnswerReader(), ""
    try:
        reader.feed(data)
        reader.end()
    except BadResponse as error:
        refused = error.code

    assert reader.complete or refused in ("http_bad_answer", "http_cut_off", "http_too_large")


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 99 No\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 100 Go\r\n\r\n" * 11,
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nName : x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 5000,
    ],
)
def test_what_is_no_answer_is_refused(data):
    with pytest.raises(BadResponse) as error:
        AnswerReader().feed(data)

    assert error.value.code == "http_bad_answer"


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (LARGEST_BODY + 1),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % (LARGEST_BODY + 1),
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (LARGEST_BODY + 1),
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000,
    ],
)
def test_every_part_has_a_limit(data):
    with pytest.raises(BadResponse) as error:
        AnswerReader().feed(data)

    assert error.value.code == "http_too_large"
