"""Redaction: replaces secrets in texts and JSON values.

A secret becomes ``[redacted:kind:hash]``. The hash is keyed: equal secrets have equal hashes, and without the key a
guess cannot be verified. A secret without a known shape and a telling name is not found; custom rules are for those.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .secret_patterns import HINTS, NAMED, TOKENS, is_secret_name, shape

__all__ = ["Redactor", "is_redacted", "secrets_of"]

_SHORTEST = 8
"""The minimum length of a secret from the environment: shorter values occur in texts by accident."""

_DEEPEST = 200
_FEW = 20
"""Up to so many secrets are looked for one after the other."""
_MOST_TRIES = 20
_LONG_KINDS = ("pem", "putty")
_MOST_LENGTHS = 32
"""How many lengths are tried for secrets that begin alike, so that the work stays in proportion to the text."""


def is_redacted(text: str) -> bool:
    """Say whether a secret was replaced in this text."""
    return "[redacted:" in text


def secrets_of(environ: Mapping[str, str]) -> set[str]:
    """Return the values of variables whose names mean secrets or keys, except paths of existing files."""
    found = set()
    for name, value in environ.items():
        if len(value) < _SHORTEST or not (is_secret_name(name) or _is_key(name)):
            continue
        if not (os.path.isabs(value) and os.path.exists(value)):
            found.add(value)
    return found


def _is_key(name: str) -> bool:
    words = name.upper().split("_")
    return not {"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "CREDENTIALS", "PASS"}.isdisjoint(words)


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
        self._own = [(kind, _compiled(pattern, of_bytes=False)) for kind, pattern in rules]
        self._environ = environ
        self._values: frozenset[str] = frozenset()
        self._tokens: Any = None
        self._seen: dict[Any, Any] | None = None
        self.refresh()

    def rekey(self, key: bytes) -> None:
        """Set another key for the hashes."""
        self._key = key

    def refresh(self) -> None:
        """Read the environment again, which may have new secrets."""
        environ = os.environ if self._environ is None else self._environ
        now = dict(getattr(environ, "_data", environ))  # the raw mapping, which need not be decoded
        if now == self._seen:
            return
        self._seen = now
        found = secrets_of(environ)
        if self._tokens is None or not found <= self._values:
            self._values = self._values | found
            self._compile()

    def _compile(self) -> None:
        forms = sorted({form for value in self._values for form in _forms(value)}, key=len, reverse=True)
        shapes = [(kind, shape(kind, pattern)) for kind, pattern, _ in TOKENS if kind not in _LONG_KINDS]
        hints = HINTS
        if forms:
            shapes.insert(0, ("environment", f"({_any_of(forms)})"))
            hints += "|" + _any_of({deeper for form in forms for deeper in _forms(form)})
        self._hints = _compiled(hints)
        self._tokens = _compiled("|".join(pattern for _, pattern in shapes))
        self._kinds = [kind for kind, _ in shapes]  # the groups are in this order
        keys = {kind: shape(kind, pattern) for kind, pattern, _ in TOKENS}
        self._keys = _compiled("|".join(keys[kind] for kind in _LONG_KINDS))

    # Redacting.

    def suspects(self, data: bytes) -> bool:
        """Say whether this text or JSON may have a secret in it; False is certain."""
        # A custom rule may match text that is escaped in JSON: then every text is suspect.
        return bool(self._own) or self._hints.search(data) is not None

    def __call__(self, text: str) -> str:
        """Return the text without secrets."""
        return self._text(text, set())

    def value(self, value: Any) -> Any:
        """Return JSON data without secrets in its texts, in its keys, and under telling names.

        A secret that is found by its name is replaced in the whole value.
        """
        found: set[str] = set()
        made = self._value(value, found, 0)
        secrets = {secret for secret in found if len(secret) >= _SHORTEST}
        return self._without(made, _Found(secrets)) if secrets else made

    def _text(self, text: str, found: set[str]) -> str:
        data = text.encode("utf-8", "surrogatepass")
        if not self.suspects(data):
            return text
        return self._named(self._shaped(self._by_custom_rules(data)), found).decode("utf-8", "surrogatepass")

    def _value(self, value: Any, found: set[str], depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, found)
        if depth > _DEEPEST:
            return "[nested too deep to be redacted]" if isinstance(value, (dict, list)) else value
        if isinstance(value, dict):
            made = {}
            for key, item in value.items():
                name = str(key)
                take = self._whole if is_secret_name(name) else self._value
                made[self._text(name, found)] = take(item, found, depth + 1)
            return made
        if isinstance(value, (list, tuple)):
            return [self._value(item, found, depth + 1) for item in value]
        return value

    def _whole(self, value: Any, found: set[str], depth: int) -> Any:
        """Replace every text and number in a value whose name means a secret."""
        if isinstance(value, dict) and depth <= _DEEPEST:
            return {self._text(str(key), found): self._whole(item, found, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple)) and depth <= _DEEPEST:
            return [self._whole(item, found, depth + 1) for item in value]
        if value is None or isinstance(value, bool) or value == "" or (isinstance(value, str) and is_redacted(value)):
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
        parts, done, at, last = list[str](), 0, 0, len(text) - _SHORTEST
        while at <= last:
            lengths = secrets.lengths.get(text[at : at + _SHORTEST], ())
            secret = next((one for size in lengths if (one := text[at : at + size]) in secrets.texts), "")
            if secret:
                parts += [text[done:at], self._repeated(secret)]
                done = at + len(secret)
            at += len(secret) or 1
        return "".join([*parts, text[done:]]) if parts else text

    def _repeated(self, secret: str) -> str:
        return self.mark("repeated", secret.encode("utf-8", "surrogatepass"))

    def _leaves(self, kind: str, before: bytes, secret: bytes) -> bool:
        """Return whether a secret is left as it is."""
        return self._ignore is not None and self._ignore(
            kind, before.decode("utf-8", "replace"), secret.decode("utf-8", "replace")
        )

    def mark(self, kind: str, secret: bytes) -> str:
        """Return the replacement of a secret."""
        import hmac

        return f"[redacted:{kind}:{hmac.digest(self._key, secret, 'sha256').hex()[:8]}]"

    # One pass per kind of rule.

    def _shaped(self, data: bytes) -> bytes:
        """Replace secrets that are known by their shape; private keys first, since they may reach to the end."""
        if b"PRIVATE KEY-----" in data or b"PRIVATE KEY BLOCK-----" in data or b"Private-Lines: " in data:
            data = self._replaced(data, self._keys, _LONG_KINDS)
        return self._replaced(data, self._tokens, self._kinds)

    def _replaced(self, data: bytes, pattern: Any, kinds: Sequence[str]) -> bytes:
        """Replace what a pattern finds; its groups are these kinds."""
        parts, done, at, tries = list[bytes](), 0, 0, _Tries()
        while (found := pattern.search(data, at)) is not None:
            kind, begin, end = next(
                (kind, *span) for group, kind in enumerate(kinds, 1) if (span := found.span(group))[0] >= 0
            )
            if self._leaves(kind, b"", data[begin:end]):
                at = min(end, begin + _SHORTEST)  # another secret may begin inside the text that is left
                if tries.are_enough(end):
                    # A key goes from the last line that begins one to its end.
                    last = data.rfind(b"-----BEGIN ", at, end) if kind == "pem" else -1
                    at = last if last >= 0 else end
                continue
            parts += [data[done:begin], self.mark(kind, data[begin:end]).encode()]
            done = at = end
        return b"".join([*parts, data[done:]]) if parts else data

    def _by_custom_rules(self, data: bytes) -> bytes:
        for kind, pattern in self._own:
            parts, at = list[bytes](), 0
            for found in pattern.finditer(data):
                begin, end = _first_group(found, pattern.groups)
                if (
                    begin >= at
                    and begin < end
                    and not data.startswith(b"[redacted:", begin)
                    and not self._leaves(kind, b"", data[begin:end])
                ):
                    parts += [data[at:begin], self.mark(kind, data[begin:end]).encode()]
                    at = end
            data = b"".join([*parts, data[at:]]) if parts else data
        return data

    def _named(self, data: bytes, seen: set[str]) -> bytes:
        """Replace secrets that are known by the text before them."""
        marks: dict[tuple[int, bytes, bytes], bytes] = {}  # a text may have the same line very often
        for rule, (kind, pattern, groups, check) in enumerate(_named()):
            parts, done, at, tries = list[bytes](), 0, 0, _Tries()
            while (found := pattern.search(data, at)) is not None:
                begin, end = _first_group(found, groups)
                start = found.start()
                before, secret = data[start:begin], data[begin:end]
                if _is_marked(data, begin):
                    at = max(end, start + 1)
                    continue
                key = (rule, before, secret)
                if key not in marks:
                    is_one = self._is_secret(kind, check, before, secret)
                    marks[key] = self.mark(kind, secret).encode() if is_one else b""
                if marks[key]:
                    parts += [data[done:begin], marks[key]]
                    seen.add(secret.decode("utf-8", "surrogatepass"))
                    done = at = end
                else:
                    # Another secret may begin inside the text that was not one.
                    at = end if tries.are_enough(end) else max(begin, start + 1)
            data = b"".join([*parts, data[done:]]) if parts else data
        return data

    def _is_secret(self, kind: str, check: Callable[[str, str], bool], before: bytes, secret: bytes) -> bool:
        is_one = check(before.decode("utf-8", "replace"), secret.decode("utf-8", "replace"))
        return is_one and not self._leaves(kind, before, secret)


class _Tries:
    """Counts how often a search went on inside the same text: many names in one word would take very long."""

    def __init__(self) -> None:
        self._end = -1
        self._number = 0

    def are_enough(self, end: int) -> bool:
        """Note one more search in the text that ends at a place; say whether there were enough."""
        self._number = self._number + 1 if end == self._end else 1
        self._end = end
        return self._number > _MOST_TRIES


class _Found:
    """The secrets that were found in a value, to be looked for in all of it."""

    def __init__(self, secrets: set[str]) -> None:
        self.texts = secrets
        self.lengths: dict[str, list[int]] = {}
        """How long the secrets are that begin with the same characters, the longest first."""
        sizes: dict[str, set[int]] = {}
        for secret in secrets:
            sizes.setdefault(secret[:_SHORTEST], set()).add(len(secret))
        for beginning, found in sizes.items():
            self.lengths[beginning] = sorted(found, reverse=True)[:_MOST_LENGTHS]


def _forms(value: str) -> set[str]:
    """Return the forms that a value may have in a text: plain, escaped in JSON, and quoted in a URL."""
    import json
    from urllib.parse import quote

    try:
        return {value, json.dumps(value)[1:-1], json.dumps(json.dumps(value)[1:-1])[1:-1], quote(value, safe="")}
    except UnicodeEncodeError:  # bytes of the environment that are not UTF-8
        return {json.dumps(value)[1:-1]}


def _any_of(values: Iterable[str]) -> str:
    escape = _re2().escape
    return "|".join(escape(value) for value in values)


def _is_marked(data: bytes, at: int) -> bool:
    """Say whether this position is inside the replacement of a secret."""
    mark = data.rfind(b"[redacted:", max(0, at - 100), at)
    return mark >= 0 and data.find(b"]", mark, at) < 0


def _first_group(found: Any, groups: int) -> tuple[int, int]:
    """Return the span of the first group that matched; the whole span if none did."""
    for at in range(1, groups + 1):
        span: tuple[int, int] = found.span(at)
        if span[0] >= 0:
            return span
    whole: tuple[int, int] = found.span()
    return whole


_patterns: list[tuple[str, Any, int, Callable[[str, str], bool]]] = []
"""Of each rule: its kind, its pattern, how many groups that has, and its check."""


def _named() -> list[tuple[str, Any, int, Callable[[str, str], bool]]]:
    if not _patterns:
        compiled = [(rule, _compiled(rule.pattern)) for rule in NAMED]
        _patterns[:] = [(rule.kind, pattern, pattern.groups, rule.check) for rule, pattern in compiled]
    return _patterns


def _compiled(pattern: str, *, of_bytes: bool = True) -> Any:
    """Compile a pattern for UTF-8 text; built-in ones match bytes, so that no partial character ends a secret."""
    re2 = _re2()
    options = re2.Options()
    options.max_mem = 64 << 20  # for the states of all kinds of secrets
    options.log_errors = False
    if of_bytes:
        options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode("utf-8", "surrogateescape"), options)


def _re2() -> Any:
    import re2

    return re2
