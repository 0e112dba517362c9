"""Decoding: shows a text without its escapes, and finds texts in base64 and hex. All of it takes linear time."""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache

__all__ = ["DecodedText", "base64_parts", "decoded_runs", "encoded_words", "view_of", "without_escapes"]

_ESCAPE = (
    rb"(?s)\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|\r?\n|.)"  # JSON, C, and lines that go on
    rb"|%[0-9A-Fa-f]{2}"  # URLs
    rb"|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|quot|apos|amp|lt|gt);"  # HTML and XML
    # Characters of no width and other letters that look like those of ASCII.
    rb"|\xc2\xad|\xcd\x8f|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf"
    rb"|\xef\xbc[\x81-\xbf]|\xef\xbd[\x80-\x9e]|\xf0\x9d[\x90-\x9f][\x80-\xbf]|\xf3\xa0[\x80-\x87][\x80-\xbf]"
)
_MAY_ESCAPE = rb"[\\%&\xc2\xcd\xe2\xef\xf0\xf3]"
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"0": b"\0"}


class DecodedText:
    """A text without one level of escapes, and where each part of it is in the text before."""

    def __init__(self, data: bytes, starts: list[int], before: list[tuple[int, int]]) -> None:
        self.data = data
        self._starts = starts
        """Where each part begins here."""
        self._before = before
        """Where it begins and ends in the text before."""

    def span_before(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the text before that became a span of this one."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        part = bisect_right(self._starts, at) - 1
        begin, end = self._before[part]
        length = (self._starts[part + 1] if part + 1 < len(self._starts) else len(self.data)) - self._starts[part]
        if length == end - begin:  # the same text, or an escape that stands for itself
            offset = at - self._starts[part]
            return begin + offset, begin + offset + 1
        return begin, end


def view_of(data: bytes) -> DecodedText | None:
    """Return a text without one level of escapes, or None if it has none."""
    if re.search(_MAY_ESCAPE, data) is None:
        return None
    parts, starts, before = list[bytes](), list[int](), list[tuple[int, int]]()
    size = done = 0
    for found in re.finditer(_ESCAPE, data):
        begin, end = found.span()
        for text, span in ((data[done:begin], (done, begin)), (without_escapes(found[0]), (begin, end))):
            if text:
                parts.append(text)
                starts.append(size)
                before.append(span)
                size += len(text)
        done = end
    if not done:
        return None
    if done < len(data):
        parts.append(data[done:])
        starts.append(size)
        before.append((done, len(data)))
    return DecodedText(b"".join(parts), starts, before) if parts else None


@lru_cache(maxsize=4096)
def without_escapes(escape: bytes) -> bytes:
    """Return what one escape stands for."""
    if escape[:1] == b"\\":
        if len(escape) > 2 and escape[1:2] in b"ux":
            return chr(int.from_bytes(bytes.fromhex(escape[2:].decode()))).encode("utf-8", "surrogatepass")
        return b"" if escape.endswith(b"\n") else _LETTERS.get(escape[1:], escape[1:])
    if escape[:1] == b"%":
        return bytes.fromhex(escape[1:].decode())
    if escape[:1] == b"&":
        from html import unescape

        return unescape(escape.decode()).encode("utf-8", "surrogatepass")
    import unicodedata

    letter = escape.decode("utf-8", "replace")
    return b"" if unicodedata.category(letter) in ("Cf", "Mn") else unicodedata.normalize("NFKC", letter).encode()


# Base64 and hex.

_RUN = rb"(?:[A-Za-z0-9+/_-]{60,}\r?\n)*[A-Za-z0-9+/_-]{16,}={0,2}"  # lines of base64, or one word
_HEX = rb"(?:[0-9A-Fa-f]{2}){8,}"
_STANDARD = bytes.maketrans(b"-_", b"+/")
_LONGEST_RUN = 1 << 20


def decoded_runs(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield every part of a text that may be base64 or hex: where it is, and what it says."""
    for found in re.finditer(_HEX, data):
        yield (*found.span(), bytes.fromhex(found[0].decode()))
    for found in re.finditer(_RUN, data):
        digits = re.sub(rb"[=\r\n]", b"", found[0][:_LONGEST_RUN]).translate(_STANDARD)
        if len(digits) % 4 == 1:
            digits = digits[:-1]
        try:
            yield (*found.span(), binascii.a2b_base64(digits + b"=" * (-len(digits) % 4)))
        except binascii.Error:
            continue


def base64_parts(text: bytes) -> set[bytes]:
    """Return what every text in base64 has in it if its content has a text in it: one part per position modulo three.

    The first and the last digits also depend on what is around the text, so they are left out.
    """
    found = set()
    for shift in range(3):
        digits = binascii.b2a_base64(b"\0" * shift + text, newline=False)
        known = digits[(shift * 8 + 5) // 6 : (shift + len(text)) * 8 // 6]
        found |= {known, known.translate(bytes.maketrans(b"+/", b"-_"))}
    return found


def encoded_words(words: Iterable[str], shortest: int = 4) -> set[bytes]:
    """Return how words begin to look in base64 and hex, in small letters and capitals."""
    found = set()
    for word in words:
        for spelled in {word, word.upper(), word.lower(), word.title()}:
            text = spelled.encode()
            found |= {part for part in base64_parts(text) if len(part) >= shortest}
            found |= {text.hex().encode(), text.hex().upper().encode()}
    return found
