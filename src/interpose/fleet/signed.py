"""Documents that a key signs.

A document is written as canonical JSON, and travels as that text with its signature, so that what is checked is what
was signed, byte by byte.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from ..records import Record
from ..strict_json import BadJson, decode
from .keys import PrivateKey, sign, verify

__all__ = ["SignedForm", "json_object"]


class SignedForm(Record):
    """How one kind of document is written, signed and read."""

    name: str
    """What it is called, with its article: ``a statement``."""
    domain: str
    """What the signature is for; a signature for one domain is none for another."""
    types: Mapping[str, type]
    """The parts of a document with their types; ``object`` stands for any value of JSON."""
    longest: int
    error: type[UsageError]
    """What is raised for a document that does not count."""

    def write(self, document: Record) -> str:
        """Return a document as its canonical text."""
        parts = {name: getattr(document, name) for name in self.types}
        return json.dumps(parts, sort_keys=True, separators=(",", ":"))

    def sign(self, text: str, key: PrivateKey) -> tuple[bytes, str]:
        """Return a document as it is stored, and its signature."""
        signature = sign(key, self.domain, text.encode())
        return json.dumps({self._key: text, "signature": signature}).encode(), signature

    def open(self, stored: bytes) -> tuple[str, str]:
        """Return the text of a stored document and its signature, which is not checked yet."""
        found = json_object(stored, self.longest, self.error)
        text, signature = found.get(self._key), found.get("signature")
        if len(found) != 2 or not isinstance(text, str) or not isinstance(signature, str) or not text.isascii():
            raise self.error(f"is not {self.name} with a signature")
        return text, signature

    def parse(self, text: str) -> dict[str, Any]:
        """Return the parts of a text, each of its type."""
        found = json_object(text.encode(), self.longest, self.error)
        if set(found) != set(self.types):
            raise self.error(
                f"does not have the parts of {self.name}; another version of Interpose may have written it"
            )
        for name, kind in self.types.items():
            if kind is not object and type(found[name]) is not kind:
                raise self.error(f"its {name} is not {kind.__name__}")
        return found

    def require(self, document: Record, text: str, good: Mapping[str, object]) -> None:
        """Raise for a part that is not good, and for a text that is not the canonical one."""
        if wrong := [name for name, is_good in good.items() if not is_good]:
            raise self.error(f"its {' and '.join(wrong)} cannot be")
        if self.write(document) != text:
            raise self.error(f"is not written as {self.name} is")

    def verify(self, public: str, text: str, signature: str) -> None:
        """Raise if the signature of a text is not that of this key."""
        if not verify(public, self.domain, text.encode(), signature):
            raise self.error("has a signature that does not fit")

    @property
    def _key(self) -> str:
        return self.name.partition(" ")[2]


def json_object(data: bytes, longest: int, error: type[UsageError]) -> dict[str, Any]:
    """Return a JSON object that came from elsewhere; raise the error if it is none or too long."""
    if len(data) > longest:
        raise error(f"has more than {longest:,} bytes")
    try:
        found = decode(data)
    except BadJson as problem:
        raise error(f"cannot be read: {problem}") from None
    if not isinstance(found, dict):
        raise error("is not a JSON object")
    return found
