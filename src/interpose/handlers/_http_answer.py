"""Read an answer of an HTTP server, piece by piece. Pure: bytes go in, and the answer comes out or BadAnswer is raised.

The reader is strict: an answer whose length can be understood in two ways is refused, and every part has a limit.
"""

from __future__ import annotations

from typing import NoReturn

from ..runtime.regex import regex

__all__ = ["LARGEST_BODY", "AnswerReader", "BadResponse"]

LARGEST_BODY = 1024 * 1024
"""How many bytes the body of an answer may have: as many as the standard output of a command."""
_LARGEST_HEAD = 64 * 1024
_LONGEST_CHUNK_LINE = 4096
_MOST_INTERIM = 10

_STATUS_LINE = regex(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: [^\r\n]*)?")
_HEADER = regex(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_CHUNK_SIZE = regex(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")


class BadResponse(Exception):
    """An answer that cannot be read: a code of a failure, and why."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code


class AnswerReader:
    """The answer to one request."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.complete = False
        self.keeps = False
        """Whether the server keeps the connection after this answer."""
        self._rest = bytearray()
        self._interim = 0
        self._left: int | None = None  # bytes that are left of the body or the chunk; None: until the end
        self._chunked = False
        self._expected = "size"  # what the next line between chunks is: a size, the end of a chunk, or a trailer

    def feed(self, data: bytes) -> None:
        """Take the next bytes that the server sent."""
        self._rest += data
        while not self.status:
            if not self._read_head():
                return
        if self._chunked:
            self._read_chunks()
        elif not self.complete:
            self._take(len(self._rest) if self._left is None else self._left)
            self.complete = self._left == 0
        if self.complete and self._rest:
            self.keeps = False  # it sent more than an answer

    def end(self) -> None:
        """Take the end of the connection; raise BadAnswer if the answer is not complete."""
        if self.status and not self._chunked and self._left is None:
            self.complete = True
        if not self.complete:
            where = "in the middle of its answer" if self._rest or self.status else "before it answered"
            raise BadResponse("http_cut_off", f"the server closed the connection {where}")

    def _read_head(self) -> bool:
        """Read the status line and the headers; say whether they are there."""
        head, mark, rest = bytes(self._rest).partition(b"\r\n\r\n")
        if not mark:
            if len(self._rest) > _LARGEST_HEAD:
                raise BadResponse("http_too_large", f"the headers have more than {_LARGEST_HEAD} bytes")
            if not b"HTTP/1.".startswith(self._rest[:7]):
                _refuse("it does not begin with HTTP/1")
            return False
        first, *lines = head.split(b"\r\n")
        found = _STATUS_LINE.fullmatch(first)
        if found is None or len(head) > _LARGEST_HEAD:
            _refuse("it does not begin with a status line of HTTP/1")
        self._rest = bytearray(rest)
        status = int(found[2])
        if status < 200:  # something before the answer
            self._interim += 1
            if self._interim > _MOST_INTERIM or status == 101:
                _refuse(f"status {status} was not asked for")
            return True
        self.status, self.headers = status, _headers(lines)
        self._frame(is_1_1=found[1] == b"1")
        return True

    def _frame(self, *, is_1_1: bool) -> None:
        """Find out how long the body is, and whether the connection is kept."""
        connection = {word.strip().lower() for word in self.headers.get("connection", "").split(",")}
        self.keeps = "close" not in connection and (is_1_1 or "keep-alive" in connection)
        coding, length = self.headers.get("transfer-encoding"), self.headers.get("content-length")
        if coding is not None and (coding.lower() != "chunked" or length is not None or not is_1_1):
            _refuse("its length can be understood in two ways")
        if self.status in (204, 304):
            self.complete, self._left = True, 0
        elif coding is not None:
            self._chunked = True
            self._left = 0
        elif length is not None:
            if not (length.isascii() and length.isdigit() and len(length) < 16):
                _refuse(f"its length is {length[:40]!a}")
            self._left = int(length)
            _check_size(self._left)
        else:
            self.keeps = False  # it ends with the connection

    def _read_chunks(self) -> None:
        while not self.complete:
            if self._left:
                self._take(self._left)
                if self._left:
                    return
            line = self._line()
            if line is None:
                return
            if self._expected == "trailer":
                self.complete = not line
            elif self._expected == "end":
                if line:
                    _refuse("a chunk is longer than its size")
                self._expected = "size"
            else:
                found = _CHUNK_SIZE.fullmatch(line)
                if found is None:
                    _refuse("the size of a chunk is not a number")
                self._left = int(found[1], 16)
                self._expected = "end" if self._left else "trailer"
                _check_size(len(self.body) + self._left)

    def _line(self) -> bytes | None:
        line, mark, _ = bytes(self._rest[: _LONGEST_CHUNK_LINE + 2]).partition(b"\r\n")
        if not mark:
            if len(self._rest) > _LONGEST_CHUNK_LINE:
                _refuse("a line between its chunks is too long")
            return None
        del self._rest[: len(line) + 2]
        return line

    def _take(self, most: int) -> None:
        """Move bytes of the body from what was received."""
        piece = self._rest[:most]
        _check_size(len(self.body) + len(piece))
        self.body += piece
        del self._rest[:most]
        if self._left is not None:
            self._left -= len(piece)


def _headers(lines: list[bytes]) -> dict[str, str]:
    made: dict[str, str] = {}
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None:
            _refuse(f"it has a header that is none: {line[:80].decode('ascii', 'replace')!a}")
        name, value = found[1].decode("ascii").lower(), found[2].decode("latin-1").strip()
        if name in ("content-length", "transfer-encoding") and made.get(name, value) != value:
            _refuse("its length can be understood in two ways")
        made[name] = value if name not in made or made[name] == value else f"{made[name]}, {value}"
    return made


def _check_size(size: int) -> None:
    if size > LARGEST_BODY:
        raise BadResponse("http_too_large", f"the answer has more than {LARGEST_BODY} bytes")


def _refuse(why: str) -> NoReturn:
    raise BadResponse("http_bad_answer", f"the answer is not HTTP/1.1 as it should be: {why}")
