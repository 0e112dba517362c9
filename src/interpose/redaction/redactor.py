"""The redactor: replaces secrets in texts and JSON values.

A secret becomes ``[redacted:kind:hash]``. The hash is keyed: equal secrets have equal hashes, and without the key a
guess cannot be verified. A secret without a known shape and a telling name is not found; custom rules are for those.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..runtime.set_aside import variables_set_aside
from .environment import SHORTEST, secrets_of, spellings
from .finder import Finder, Secret, compile_pattern
from .names import STRONG, name_strength
from .values import follows_a_secret_name

__all__ = ["Redactor", "is_redacted"]

_DEEPEST = 200
_FEW = 20
"""Up to so many secrets are looked for one after the other."""
_MOST_LENGTHS = 32
"""How many lengths are tried for secrets that begin alike, so that the work stays in proportion to the text."""
_MOST_ARGUMENTS, _LONGEST_LINE = 1000, 16_384
"""A longer list is not one of arguments."""
_MOST_PASSES = 5
_MOST_PLAIN, _LONGEST_PLAIN = 4096, 100
"""How many short texts without secrets are remembered: names of fields and tools come again and again."""
_LEAST = 6
"""A shorter text has no secret in it, unless its name says so."""
_NAME_FIELDS = frozenset({"name", "key", "id", "variable", "parameter", "field", "header", "env", "option", "k"})
_VALUE_FIELDS = frozenset({"value", "val", "content", "data", "v", "stringvalue", "defaultvalue", "default", "text"})
"""Fields of mappings that are a name and its value."""


def is_redacted(text: str) -> bool:
    """Say whether a secret was replaced in this text."""
    return "[redacted:" in text


def has_redacted(value: Any) -> bool:
    """Say whether a value has redacted secrets in it."""
    return any(map(is_redacted, _texts(value)))


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting.extend(one.keys())
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple)):
            waiting.extend(one)


class Redactor:
    """Replaces secrets in texts and values. Threads may share it.

    ``key`` keys the hashes; without one they can be compared within this redactor only. ``rules`` are custom rules:
    pairs of a kind and a pattern in RE2's syntax, of which the first group is replaced if it has one. ``environ`` is
    read when this is made and at every ``refresh``; a value that was a secret once stays one. ``ignore`` is called with
    the kind, the text before and the secret; what it returns True for is left as it is.
    """

    def __init__(
        self,
        key: bytes | None = None,
        rules: Iterable[tuple[str, str]] = (),
        environ: Mapping[str, str] | None = None,
        ignore: Callable[[str, str, str], bool] | None = None,
    ) -> None:
        self._ignore = ignore
        self._key = key or os.urandom(32)
        self._rules = [(kind, compile_pattern(pattern, of_bytes=False)) for kind, pattern in rules]
        self._environ = environ
        self._values: frozenset[str] = frozenset()
        self._finder: Finder | None = None
        self._plain: set[str] = set()
        self._seen: object = None
        self.refresh()

    def rekey(self, key: bytes) -> None:
        """Set another key for the hashes."""
        self._key = key

    def refresh(self) -> None:
        """Read the environment again, which may have new secrets."""
        environ = os.environ if self._environ is None else self._environ
        aside = variables_set_aside() if self._environ is None else {}
        now = (dict(getattr(environ, "_data", environ)), dict(aside))  # the raw mapping, which need not be decoded
        if now == self._seen:
            return
        self._seen = now
        found = secrets_of(environ)
        if aside:
            found |= secrets_of({os.fsdecode(name): os.fsdecode(value) for name, value in aside.items()})
        if self._finder is None or not found <= self._values:
            self._values = self._values | found
            self._finder = Finder(spellings(self._values), self._rules, self._ignore)
            self._plain = set()

    @property
    def _find(self) -> Finder:
        if self._finder is None:
            raise RuntimeError("the environment was not read")
        return self._finder

    # Redacting.

    def suspects(self, data: bytes) -> bool:
        """Say whether this text or JSON may have a secret in it; False is certain."""
        return self._find.suspects(data)

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        return self._text(text, set())

    def value(self, value: Any) -> Any:
        """Return JSON data without secrets in its texts, in its keys, and under telling names.

        A secret that is found by its name is replaced in the whole value.
        """
        found: set[str] = set()
        made = self._value(value, found, 0)
        secrets = {secret for secret in found if len(secret) >= SHORTEST}
        return self._without(made, _Found(secrets)) if secrets else made

    def _text(self, text: str, found: set[str]) -> str:
        if len(text) < _LEAST or text in self._plain:
            return text
        find, given = self._find, text
        for _ in range(_MOST_PASSES):  # without a secret, what was around it may read as another
            data = text.encode("utf-8", "surrogatepass")
            secrets = find.secrets(data) if find.suspects(data) else ()
            if not secrets:
                break
            text = self._cut(data, secrets, found)
        if text is given and len(text) <= _LONGEST_PLAIN:
            if len(self._plain) >= _MOST_PLAIN:
                self._plain = set()
            self._plain.add(text)
        return text

    def _cut(self, data: bytes, secrets: Iterable[Secret], found: set[str]) -> str:
        """Return a text with marks in the place of its secrets."""
        parts, done = list[bytes](), 0
        for one in secrets:
            start, end = max(one.start, 0), min(one.end, len(data))
            parts += [data[done:start], self.mark(one.kind, data[start:end]).encode()]
            done = end
            if one.named and not one.text.isalpha():
                found.add(one.text.decode("utf-8", "replace"))
        return b"".join([*parts, data[done:]]).decode("utf-8", "surrogatepass")

    def _value(self, value: Any, found: set[str], depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, found)
        if depth > _DEEPEST:
            return "[nested too deep to be redacted]" if isinstance(value, (dict, list)) else value
        if isinstance(value, dict):
            named = _named_fields(value)
            return {
                self._text(str(key), found): self._item(str(key), item, found, depth, named)
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return self._items(value, found, depth)
        return value

    def _items(self, value: Sequence[Any], found: set[str], depth: int) -> list[Any]:
        """Redact a list: a pair of a name and a value, the arguments of a program, or any other."""
        texts = [item for item in value if isinstance(item, str)] if len(value) <= _MOST_ARGUMENTS else []
        if len(texts) != len(value):
            return [self._value(item, found, depth + 1) for item in value]
        if len(texts) == 2 and name_strength(texts[0]):
            return [self._text(texts[0], found), self._item(texts[0], texts[1], found, depth, 0)]
        return [self._text(text, found) for text in self._arguments(texts, found)]

    def _arguments(self, texts: list[str], found: set[str]) -> list[str]:
        """Replace the arguments that are secrets by the options before them: ``["--token", "…"]``."""
        if len(texts) < 2 or sum(map(len, texts)) > _LONGEST_LINE or not any(text.startswith("-") for text in texts):
            return texts
        items = [text.encode("utf-8", "surrogatepass") for text in texts]
        secrets = self._find.secrets(b" ".join(items))
        begin = 0
        for at, item in enumerate(items):
            end = begin + len(item)
            inside = [one for one in secrets if one.start < end and begin < one.end]
            if any(one.start <= begin and end <= one.end for one in inside) and item:
                texts[at] = self.mark(inside[0].kind, item)
                found.add(item.decode("utf-8", "replace"))
            elif inside:
                texts[at] = self._cut(item, [one.moved(-begin) for one in inside], found)
            begin = end + 1
        return texts

    def _item(self, name: str, item: Any, found: set[str], depth: int, named: int) -> Any:
        """Redact the value of a field, by its name or by the name that a field beside it says."""
        strength = name_strength(name)
        if named > strength and name.lower() in _VALUE_FIELDS:
            strength, name = named, "pass"
        if strength == STRONG:
            return self._whole(item, found, depth + 1)
        if strength and isinstance(item, str) and name.lower() not in _NAME_FIELDS and _is_likely(name, item):
            return self._whole(item, found, depth + 1)  # ``key`` alone is the name of something
        return self._value(item, found, depth + 1)

    def _whole(self, value: Any, found: set[str], depth: int) -> Any:
        """Replace every text and number in a value whose name means a secret."""
        if isinstance(value, dict) and depth <= _DEEPEST:
            return {self._text(str(key), found): self._whole(item, found, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)) and depth <= _DEEPEST:
            return [self._whole(item, found, depth + 1) for item in value]
        if value is None or isinstance(value, bool) or value == "":
            return value
        if isinstance(value, str) and self._find.is_mark(value):
            return value
        if self._ignore is not None and self._ignore("named", "", str(value)):
            return self._text(value, found) if isinstance(value, str) else value
        if isinstance(value, str):
            found.add(value)
        return self.mark("named", str(value).encode("utf-8", "surrogatepass"))

    def _without(self, value: Any, secrets: _Found) -> Any:
        """Replace secrets that were found in another place of the same value."""
        if isinstance(value, str):
            return self._without_secrets(value, secrets)
        if isinstance(value, dict):
            return {self._without(key, secrets): self._without(item, secrets) for key, item in value.items()}
        return [self._without(item, secrets) for item in value] if isinstance(value, list) else value

    def _without_secrets(self, text: str, secrets: _Found) -> str:
        """Replace secrets in a text, the longest first; in one pass if they are many."""
        if len(secrets.texts) <= _FEW:
            for secret in sorted(secrets.texts, key=len, reverse=True):
                if secret in text:
                    text = text.replace(secret, self._repeated(secret))
            return text
        parts, done, at, last = list[str](), 0, 0, len(text) - SHORTEST
        while at <= last:
            lengths = secrets.lengths.get(text[at : at + SHORTEST], ())
            secret = next((one for size in lengths if (one := text[at : at + size]) in secrets.texts), "")
            if secret:
                parts += [text[done:at], self._repeated(secret)]
                done = at + len(secret)
            at += len(secret) or 1
        return "".join([*parts, text[done:]]) if parts else text

    def _repeated(self, secret: str) -> str:
        return self.mark("repeated", secret.encode("utf-8", "surrogatepass"))

    def mark(self, kind: str, secret: bytes) -> str:
        """Return the replacement of a secret."""
        import hmac

        return f"[redacted:{kind}:{hmac.digest(self._key, secret, 'sha256').hex()[:8]}]"


class _Found:
    """The secrets that were found in a value, to be looked for in all of it."""

    def __init__(self, secrets: set[str]) -> None:
        self.texts = secrets
        self.lengths: dict[str, list[int]] = {}
        """How long the secrets are that begin with the same characters, the longest first."""
        sizes: dict[str, set[int]] = {}
        for secret in secrets:
            sizes.setdefault(secret[:SHORTEST], set()).add(len(secret))
        for beginning, found in sizes.items():
            self.lengths[beginning] = sorted(found, reverse=True)[:_MOST_LENGTHS]


def _named_fields(value: Mapping[Any, Any]) -> int:
    """Return how much the name that a mapping says of itself means a secret: ``{"name": "API_KEY", "value": …}``."""
    if len(value) > _FEW:
        return 0
    names = [item for key, item in value.items() if isinstance(item, str) and str(key).lower() in _NAME_FIELDS]
    return max((name_strength(name) for name in names if len(name) < 100 and " " not in name), default=0)


def _is_likely(name: str, value: str) -> bool:
    return follows_a_secret_name(f'{name}="', value)
