"""What goes over the socket: requests, answers, and how long they may be. ``client.py`` and ``client.c`` know the same.

A request is ``IPF1``, the length of its body, and six parts with their lengths. The server says one letter after the
other: ``A`` it has accepted the request, ``.`` it still works on it; and then one text with its length: ``=`` the
answer, ``D`` it declines and the client decides by itself, ``R`` it refuses, which denies. Numbers have four bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ..runtime.named_tuples import NamedTuple

__all__ = [
    "ACCEPTED",
    "ANSWER",
    "DECLINED",
    "LONGEST",
    "MAGIC",
    "REFUSED",
    "WORKING",
    "BadFrame",
    "FireAnswer",
    "FireRequest",
    "python_variables",
    "tagged",
    "variables_part",
    "with_data",
]  # fmt: skip

MAGIC = b"IPF1"
LONGEST = 24 * 1024 * 1024
"""Bytes of a request. A longer one is fired by its client."""

ACCEPTED, WORKING, ANSWER, DECLINED, REFUSED = b"A", b".", b"=", b"D", b"R"

_PARTS = 6
_LONGEST_KEPT = 64 * 1024
"""Bytes of what is kept: a client may send megabytes."""


class BadFrame(Exception):
    """Bytes that are no request."""


def tagged(kind: bytes, text: bytes) -> bytes:
    """Return a text of the server with its letter and its length."""
    return kind + len(text).to_bytes(4, "big") + text


class FireRequest(NamedTuple):
    """What one call of ``interpose fire`` is given."""

    installation: tuple[str, str]
    """The directory of the interpreter, and that of this package."""
    pid: int
    parent: int
    umask: int
    directory: str
    arguments: list[str]
    environment: dict[bytes, bytes]
    data: bytes
    """Standard input."""

    @classmethod
    def read(cls, body: bytes) -> FireRequest:
        """Return the request in these bytes; raise BadFrame if there is none."""
        at = 0
        for _ in range(_PARTS - 1):
            at += 4 + int.from_bytes(body[at : at + 4], "big")
        first = body[:at]
        read = _kept_first_parts if at <= _LONGEST_KEPT else _first_parts
        data = body[at + 4 :]
        if int.from_bytes(body[at : at + 4], "big") != len(data) or len(body) < at + 4:
            raise BadFrame("a part is cut off, or there is more after the last part")
        return cls(*read(first), data)

    def write(self) -> bytes:
        """Return the body of the request."""
        return with_data(self.first_parts(variables_part(self.environment)), self.data)

    def first_parts(self, variables: bytes) -> bytes:
        """Return the body of the request without its data, with a part that has its environment already."""
        about = f"{self.pid} {self.parent} {self.umask}".encode()
        parts = (_joined(self.installation), about, self.directory.encode("utf-8", "surrogateescape"),
                 _joined(self.arguments), variables)  # fmt: skip
        return b"".join([len(part).to_bytes(4, "big") + part for part in parts])


def with_data(first_parts: bytes, data: bytes) -> bytes:
    """Return the body of a request."""
    return b"".join((first_parts, len(data).to_bytes(4, "big"), data))


def _first_parts(first: bytes) -> tuple[tuple[str, str], int, int, int, str, list[str], dict[bytes, bytes]]:
    """Return what a request has before its data."""
    parts, at = [], 0
    try:
        for _ in range(_PARTS - 1):
            size = int.from_bytes(first[at : at + 4], "big")
            parts.append(first[at + 4 : at + 4 + size])
            if len(parts[-1]) != size or at + 4 > len(first):
                raise BadFrame("a part is cut off")
            at += 4 + size
        installation = _words(parts[0])
        pid, parent, umask = (int(word) for word in parts[1].split())
        directory = parts[2].decode("utf-8", "surrogateescape")
        read = _kept_environment if len(parts[4]) <= _LONGEST_KEPT else _environment
        return ((installation[0], installation[1]), pid, parent, umask & 0o777, directory, _words(parts[3]),
                read(parts[4]))  # fmt: skip
    except (ValueError, IndexError) as error:
        raise BadFrame(str(error)) from None


def _environment(part: bytes) -> dict[bytes, bytes]:
    """Return the variables in a part."""
    entries = (entry.partition(b"=") for entry in part.split(b"\0") if entry)
    return {name: value for name, equals, value in entries if name and equals}


# Callers say the same event after event, and none changes what is returned.
_kept_first_parts = lru_cache(maxsize=64)(_first_parts)
_kept_environment = lru_cache(maxsize=16)(_environment)


class FireAnswer(NamedTuple):
    """What one call of ``interpose fire`` leaves behind."""

    status: int
    output: bytes
    errors: bytes

    def write(self) -> bytes:
        """Return the text of the answer."""
        return bytes([self.status & 0xFF]) + len(self.output).to_bytes(4, "big") + self.output + self.errors

    @classmethod
    def read(cls, text: bytes) -> FireAnswer:
        """Return the answer in a text."""
        end = 5 + int.from_bytes(text[1:5], "big")
        if len(text) < end:
            raise BadFrame("the answer is cut off")
        return cls(text[0], text[5:end], text[end:])


def variables_part(environment: Mapping[bytes, bytes]) -> bytes:
    """Return the part of a request that has an environment."""
    return b"\0".join(name + b"=" + value for name, value in environment.items())


def _joined(words: Sequence[str]) -> bytes:
    return b"\0".join(word.encode("utf-8", "surrogateescape") for word in words)


def _words(part: bytes) -> list[str]:
    return [word.decode("utf-8", "surrogateescape") for word in part.split(b"\0")] if part else []


def python_variables(environment: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the variables that say how Python itself works: an engine cannot take these over from a caller."""
    return {name: value for name, value in environment.items() if name.startswith(b"PYTHON")}
