"""Strict JSON: what is read, what is written, and why the rest is refused."""

from typing import Any

import pytest

from interpose import strict_json
from interpose.strict_json import DEEPEST, LONGEST, BadJson, Unencodable, decode, encode


def nested(levels: int) -> Any:
    """Return lists and objects in one another."""
    value: Any = {}
    for level in range(1, levels):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"{}", {}),
        (b' [1, 1.5, "a", null, true]\n', [1, 1.5, "a", None, True]),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        ('{"\u00e4": "\U0001f600"}'.encode(), {"\u00e4": "\U0001f600"}),
        (b'{"a": {"a": 1}}', {"a": {"a": 1}}),
        (b'{"a": "\\u0000 x\\"]"}', {"a": '\0 x"]'}),
        (b"5", 5),
    ],
)
def test_a_document_is_read(data: bytes, value: Any) -> None:
    assert decode(data) == value


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff\xfe{\x00}\x00", "it is UTF-16 or UTF-32 text; write UTF-8"),
        (b"\xfe\xff\x00{\x00}", "it is UTF-16 or UTF-32 text; write UTF-8"),
        (b"{\x00}\x00", "it is UTF-16 or UTF-32 text; write UTF-8"),
        (b'{"a": "\xff"}', "byte 7 is not UTF-8"),
        (b'{"a": 1}\n{}', "line 2, column 1: there is more text after the JSON document"),
        (b"yes", "line 1, column 1: it does not begin with a JSON document"),
        (b"", "line 1, column 1: it does not begin with a JSON document"),
        (b'{"a": }', "line 1, column 7: Expecting value"),
        (b'{"a": 1, "b": 2, "a": 1}', "the key 'a' stands there twice"),
        (b'{"' + b"a" * 100 + b'": 1, "' + b"a" * 100 + b'": 2}', f"the key '{'a' * 60}' stands there twice"),
        (b"[NaN]", "NaN is not JSON"),
        (b"[-Infinity]", "-Infinity is not JSON"),
        (b"[1e999]", "1e999 is too large a number"),
        (b"[" + b"9" * 30 + b"e999]", f"{'9' * 20} is too large a number"),
    ],
)
def test_what_is_not_one_strict_document_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(BadJson) as caught:
        decode(data)

    assert str(caught.value) == why


def test_an_integer_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(BadJson, match="digits"):
        decode(b"[" + b"9" * 10_000 + b"]")


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({}, b"{}\n"),
        ({"a": [1, None, True, 1.5]}, b'{"a":[1,null,true,1.5]}\n'),
        ({"\u00e4": "\ud800\n"}, b'{"\\u00e4":"\\ud800\\n"}\n'),
    ],
)
def test_a_value_is_written_on_one_line_of_ascii(value: Any, line: bytes) -> None:
    assert encode(value) == line


class Fights(dict[str, Any]):
    """A mapping that cannot be looked at."""

    def items(self) -> Any:
        raise RuntimeError("x" * 300)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({1, 2}, "the input cannot be written as JSON: TypeError: Object of type set is not JSON serializable"),
        ([float("nan")], "the input cannot be written as JSON: ValueError: Out of range float values"),
        (Fights(a=1), f"the input cannot be written as JSON: RuntimeError: {'x' * 200}"),
    ],
    ids=["set", "nan", "fights"],
)
def test_what_cannot_be_written_is_refused_with_the_reason(value: Any, why: str) -> None:
    with pytest.raises(Unencodable) as caught:
        encode(value)

    assert str(caught.value).startswith(why)
    assert len(str(caught.value)) <= len(why) + 40
    assert caught.value.code == "payload"


def test_an_input_may_have_so_many_bytes_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LONGEST == 50 * 1024 * 1024
    monkeypatch.setattr(strict_json, "LONGEST", 10)

    assert encode("a" * 8) == b'"aaaaaaaa"\n'
    with pytest.raises(Unencodable, match=r"^the input has 11 bytes, more than 10$") as caught:
        encode("a" * 9)
    assert caught.value.code == "payload_too_big"


def test_a_hundred_levels_may_be_nested_and_no_more() -> None:
    assert DEEPEST == 100
    value = [nested(99), [], {}]
    line = encode(value)
    assert decode(line) == value

    with pytest.raises(Unencodable, match=r"^the input is nested deeper than 100 levels$"):
        encode([value])
    with pytest.raises(BadJson, match=r"^it is nested deeper than 100 levels$"):
        decode(b"[" + line.strip() + b"]")
    with pytest.raises(BadJson, match=r"^it is nested deeper than 100 levels$"):
        decode("\u00e4".encode() + b"[" * 101)


def test_a_value_that_is_too_deep_for_the_encoder_is_refused_alike() -> None:
    with pytest.raises(Unencodable, match=r"^the input is nested deeper than 100 levels$"):
        encode(nested(100_000))


@pytest.mark.parametrize("value", [[[]] * 200, [{}] * 200, ["[" * 200], ['\\"{' * 200]], ids=range(4))
def test_brackets_beside_each_other_and_in_texts_nest_nothing(value: Any) -> None:
    assert decode(encode(value)) == value
