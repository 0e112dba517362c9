"""Read HTTP/1.1 requests strictly: what is doubtful is refused, and nothing is without a limit.

A body has a ``Content-Length``. Chunked bodies, folded headers, lines that end in a bare line feed and headers that are
there twice are refused: a gateway in front might read them in another way.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex

__all__ = ["LONGEST_HEAD", "HttpProblem", "HttpRequest", "read_head", "response"]

LONGEST_HEAD = 16 * 1024
"""Bytes of a request before its body."""

_LINE = regex(rb"([A-Z]{1,10}) (/[!-~]{0,2000}) HTTP/1\.1")
_HEADER = regex(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}):[ \t]*([\x20-\x7e\x80-\xff\t]*)")
_WORDS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 411: "Length Required", 413: "Content Too Large", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
}  # fmt: skip


class HttpProblem(Exception):
    """A request that is refused: the status and the reason."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


class HttpRequest(NamedTuple):
    """The first line and the headers of a request; names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    length: int

    @property
    def keeps(self) -> bool:
        """Whether the connection is kept for another request."""
        return self.headers.get("connection", "").lower() != "close"


@lru_cache(maxsize=256)
def read_head(head: bytes, longest: int) -> HttpRequest:
    """Return the request whose head is given, without the empty line at its end; raise HttpProblem if it is none.

    A client says the same again and again, and nothing changes what is returned.
    """
    if len(head) > LONGEST_HEAD:
        raise HttpProblem(431, "the head of the request is too long")
    lines = head.split(b"\r\n")
    found = _LINE.fullmatch(lines[0])
    if found is None:
        is_other = re.fullmatch(rb"[A-Z]+ \S+ HTTP/[0-9.]+", lines[0]) is not None
        raise HttpProblem(
            505 if is_other else 400, "HTTP/1.1 is spoken here" if is_other else "this is no HTTP request"
        )
    headers: dict[str, str] = {}
    for line in lines[1:]:
        pair = _HEADER.fullmatch(line)
        if pair is None:
            raise HttpProblem(400, "a header cannot be read")
        name = pair[1].decode("ascii").lower()
        if name in headers:
            raise HttpProblem(400, f"the header {name} is there twice")
        headers[name] = pair[2].decode("latin-1").strip()
    if "host" not in headers:
        raise HttpProblem(400, "there is no Host")
    if "transfer-encoding" in headers:
        raise HttpProblem(411, "send the body with a Content-Length")
    size = headers.get("content-length", "0")
    if not re.fullmatch(r"[0-9]{1,12}", size):
        raise HttpProblem(400, "Content-Length is no number")
    if int(size) > longest:
        raise HttpProblem(413, f"the body has {size} bytes, more than {longest}")
    method = found[1].decode("ascii")
    if method == "POST" and "content-length" not in headers:
        raise HttpProblem(411, "send the body with a Content-Length")
    return HttpRequest(method, found[2].decode("ascii"), headers, int(size))


def response(status: int, body: bytes | dict[str, Any], kind: str = "application/json", *, keeps: bool = True) -> bytes:
    """Return a response as bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = b"" if keeps else b"Connection: close\r\n"
    if status == 401:
        more += b"WWW-Authenticate: Bearer\r\n"
    head = f"HTTP/1.1 {status} {_WORDS[status]}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n"
    return head.encode() + b"Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n" + more + b"\r\n" + data
