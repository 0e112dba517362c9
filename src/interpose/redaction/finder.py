"""Finds secrets in a text: by their shape, by the form of the text before them, and in texts that are encoded.

A text is searched as it is, and again without its escapes, a few levels deep. Everything is found in the text as it
is given, so what is replaced is a part of that text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from ..runtime.named_tuples import NamedTuple
from .decoding import DecodedText, decoded_runs, encoded_words, view_of
from .forms import BLOCK, ENCODED_WORDS, ESCAPE_HINTS, FORM_HINTS, FORMS, TABLE_HEAD, Form
from .names import STRONG, name_strength
from .tokens import LONG_KINDS, TOKEN_HINTS, TOKENS, shape
from .values import follows_a_secret_name, is_cell

__all__ = ["Finder", "Secret", "compile_pattern", "first_group"]

_MOST_TRIES = 20
_MOST_LEVELS = 3
"""How often escapes are taken out of a text."""
_MOST_ENCODINGS = 2
"""How deep texts in base64 or hex are looked into."""
_LEAST, _SIGNS = 3, b" \t\r\n.,;:!?)]}'\""
"""So many characters beside the mark of a secret are a secret themselves, except signs at its ends."""

_LINES_BEFORE, _LINES_AFTER = 2, 3
"""So many lines around a hint are searched: a name and its value may be on two lines."""
_RUN = rb"[A-Za-z0-9+/_-]{16}"
_MOST_COLUMNS = 100

Leaves = Callable[[str, str, str], bool]
Rule = tuple[str, Any]


class Secret(NamedTuple):
    """Where a secret is in a text, its kind, and what it says where it was found."""

    start: int
    end: int
    kind: str
    text: bytes
    named: bool
    """Whether it was found by the text before it."""

    def moved(self, by: int) -> Secret:
        """Return the secret at another place."""
        return self._replace(start=self.start + by, end=self.end + by)


class Finder:
    """Finds secrets. ``spellings`` are those of the secrets of the environment; ``rules`` are custom ones."""

    def __init__(self, spellings: Iterable[bytes], rules: Sequence[Rule], leaves: Leaves | None) -> None:
        self._rules = rules
        self._leaves = leaves
        self._written = sorted(spellings, key=len, reverse=True)
        hints = [
            TOKEN_HINTS,
            FORM_HINTS,
            ESCAPE_HINTS,
            _any_of(_encoded_hints()),
            *sorted(set(map(_hint_of, self._written))),
        ]
        self._hints = compile_pattern("|".join(hints))

    @cached_property
    def _marks(self) -> re.Pattern[bytes]:
        """The pattern of marks. Only the kinds of rules are in marks: a secret is not."""
        kinds = {"named", "repeated", "environment", "encoded", *(kind for kind, _ in self._rules)}
        kinds |= {kind for kind, _, _ in TOKENS} | {form.kind for form in FORMS}
        known = "|".join(re.escape(kind) for kind in sorted(kinds))
        return re.compile(rb"\[redacted:(?:%b):[0-9a-f]{8}\]" % known.encode())

    def is_mark(self, text: str) -> bool:
        """Say whether a text is one mark and nothing else."""
        return self._marks.fullmatch(text.encode("utf-8", "surrogatepass")) is not None

    @cached_property
    def _tokens(self) -> tuple[Any, list[str]]:
        """The pattern of all tokens and secrets of the environment, and the kinds of its groups."""
        shapes = {kind: shape(kind, pattern) for kind, pattern, _ in TOKENS if kind not in LONG_KINDS}
        if self._written:
            shapes = {"environment": f"({_any_of(self._written)})", **shapes}
        return compile_pattern("|".join(shapes.values())), list(shapes)

    def suspects(self, data: bytes) -> bool:
        """Say whether this text or JSON may have a secret in it; False is certain."""
        # A custom rule may match text that is escaped in JSON: then every text is suspect.
        return bool(self._rules) or self._hints.search(data) is not None

    def secrets(self, data: bytes, depth: int = 0) -> list[Secret]:
        """Return all secrets in a text, in their order; none of them overlap."""
        if b"[redacted:" in data:
            data = self._marks.sub(_blank, data)
        found = list(self._by_custom_rules(data)) if self._rules else []
        windows = list(self._windows(data))
        if windows:
            found += self._over_lines(data, windows, depth)
        for start, end in windows:
            found += [one.moved(start) for one in self._in_window(data[start:end], depth)]
        return _merged([one for one in found if len(one.text.replace(b"\0", b"").strip(_SIGNS)) >= _LEAST])

    def _windows(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield the parts of a text that have hints: their lines, and a few lines before and after."""
        begin = end = at = 0
        while (found := self._hints.search(data, at)) is not None:
            start, at = found.start(), _line_end(data, found.end(), 0)
            for _ in range(_LINES_BEFORE + 1):
                start = data.rfind(b"\n", begin, start)
                if start < 0:
                    break
            if start > end:
                if end:
                    yield begin, end
                begin = start + 1
            end = _line_end(data, at, _LINES_AFTER)
            if at >= len(data):
                break
        if end:
            yield begin, end

    def _in_window(self, data: bytes, depth: int) -> Iterator[Secret]:
        """Yield the secrets of some lines as they are, and without their escapes."""
        yield from self._in_lines(data)
        views, view = list[DecodedText](), data
        for _ in range(_MOST_LEVELS):
            made = view_of(view)
            if made is None:
                return
            views.append(made)
            view = made.data
            for one in (*self._over_lines(view, [(0, len(view))], depth), *self._in_lines(view)):
                start, end = one.start, one.end
                for above in reversed(views):
                    start, end = above.span_before(start, end)
                yield one._replace(start=start, end=end)

    def _in_lines(self, data: bytes) -> Iterator[Secret]:
        yield from self._shaped(data, *self._tokens)
        for form, pattern in _rows().forms_in(data):
            yield from self._formed(data, form, pattern)

    def _over_lines(self, data: bytes, windows: list[tuple[int, int]], depth: int) -> Iterator[Secret]:
        """Yield secrets that may have many lines: private keys, texts in base64 or hex, blocks of YAML, tables.

        They begin in the windows.
        """
        if b"PRIVATE KEY-----" in data or b"PRIVATE KEY BLOCK-----" in data or b"Private-Lines: " in data:
            yield from self._shaped(data, _rows().long, LONG_KINDS)
        if depth < _MOST_ENCODINGS and any(_has_encoded(data[start:end]) for start, end in windows):
            for start, end, inner in decoded_runs(data):
                if self.secrets(inner, depth + 1):
                    yield Secret(start, end, "encoded", data[start:end], named=False)
        for start, end in windows:
            if b"\n" in data[start:end]:
                yield from self._blocks(data, start, end)
                yield from self._cells(data, start, end)

    # One function per kind of rule.

    def _by_custom_rules(self, data: bytes) -> Iterator[Secret]:
        for kind, pattern in self._rules:
            for found in pattern.finditer(data):
                begin, end = first_group(found, pattern.groups)
                if begin < end and not self._is_left(kind, b"", data[begin:end]):
                    yield Secret(begin, end, kind, data[begin:end], named=False)

    def _shaped(self, data: bytes, pattern: Any, kinds: Sequence[str]) -> Iterator[Secret]:
        """Yield what a pattern finds; its groups are these kinds."""
        at, tries = 0, _Tries()
        while (found := pattern.search(data, at)) is not None:
            kind, begin, end = next(
                (kind, *span) for group, kind in enumerate(kinds, 1) if (span := found.span(group))[0] >= 0
            )
            if self._is_left(kind, b"", data[begin:end]):
                at = min(end, begin + 8)  # another secret may begin inside the text that is left
                if tries.are_enough(end):
                    # A key goes from the last line that begins one to its end.
                    last = data.rfind(b"-----BEGIN ", at, end) if kind == "pem" else -1
                    at = last if last >= 0 else end
                continue
            yield Secret(begin, end, kind, data[begin:end], named=False)
            at = end

    def _formed(self, data: bytes, form: Form, pattern: Any) -> Iterator[Secret]:
        """Yield the secrets of one form."""
        groups = pattern.groups
        known: dict[tuple[bytes, bytes], bool] = {}  # a text may have the same line very often
        at, tries = 0, _Tries()
        while (found := pattern.search(data, at)) is not None:
            begin, end = first_group(found, groups)
            start = found.start()
            before, text = data[start:begin], data[begin:end]
            key = (before, text)
            if key not in known:
                known[key] = self._is_secret(form.kind, form.check, before, text)
            if known[key]:
                yield Secret(begin, end, form.kind, text, named=True)
                at = max(end, start + 1)
            else:
                # Another secret may begin inside the text that was not one.
                at = max(end if tries.are_enough(end) else begin, start + 1)

    def _is_secret(self, kind: str, check: Callable[[str, str], bool], before: bytes, text: bytes) -> bool:
        text = text.replace(b"\0", b"").replace(b"[redacted:", b"")  # what only looks like a mark is a text
        is_one = check(before.decode("utf-8", "replace"), text.decode("utf-8", "replace"))
        return is_one and not self._is_left(kind, before, text)

    def _blocks(self, data: bytes, at: int, until: int) -> Iterator[Secret]:
        """Yield the blocks of YAML whose names mean secrets: the lines that are indented more than the name."""
        while (found := _rows().block.search(data, at, until)) is not None:
            begin = end = at = found.end()
            indent = found.span(1)[1] - found.span(1)[0]
            while end < len(data):
                stop = data.find(b"\n", end)
                line = data[end : stop if stop >= 0 else len(data)]
                if line.strip() and len(line) - len(line.lstrip()) <= indent:
                    break
                end = stop + 1 if stop >= 0 else len(data)
            text = data[begin:end]
            begin += len(text) - len(text.lstrip())
            text = text.strip()
            if self._is_secret("assignment", _is_block, found.group().lstrip(b" \t-\"'"), text):
                yield Secret(begin, begin + len(text), "assignment", text, named=True)
                at = end

    def _cells(self, data: bytes, at: int, until: int) -> Iterator[Secret]:
        """Yield the cells of a table below a name that means a secret."""
        while at < until and (head := _rows().table.search(data, at, until)) is not None:
            at = head.end()
            line = head.group().rstrip(b"\r\n")
            sign = next(sign for sign in (b"|", b"\t", b";", b",") if sign in line) if _has_cells(line) else b""
            names = [cell.strip(b" \t\"'").decode() for cell in line.split(sign)] if sign else []
            columns = [number for number, name in enumerate(names[:_MOST_COLUMNS]) if name_strength(name) == STRONG]
            while columns and at < len(data):
                end = _line_end(data, at, 0)
                cells = data[at:end].rstrip(b"\r\n").split(sign)
                if len(cells) != len(names):
                    break
                for number in columns:
                    text = cells[number].strip(b" \t\"'")
                    start = at + sum(len(cell) + 1 for cell in cells[:number]) + cells[number].find(text)
                    if self._is_secret("named", is_cell, names[number].encode(), text):
                        yield Secret(start, start + len(text), "named", text, named=True)
                at = end

    def _is_left(self, kind: str, before: bytes, secret: bytes) -> bool:
        """Return whether a secret is left as it is."""
        return self._leaves is not None and self._leaves(
            kind, before.decode("utf-8", "replace"), secret.decode("utf-8", "replace")
        )


def _has_encoded(data: bytes) -> bool:
    return re.search(_RUN, data) is not None and _rows().encoded.search(data) is not None


def _has_cells(line: bytes) -> bool:
    return re.search(rb"[,;\t|]", line) is not None


def _line_end(data: bytes, at: int, more: int) -> int:
    """Return where the line at a place ends, or one of the next lines."""
    for _ in range(more + 1):
        end = data.find(b"\n", at)
        if end < 0:
            return len(data)
        at = end + 1
    return at


def _blank(mark: re.Match[bytes]) -> bytes:
    return b"\0" * len(mark[0])


def _is_block(before: str, value: str) -> bool:
    return follows_a_secret_name(before.partition(":")[0] + '="', value.split("\n", 1)[0])


def _merged(found: list[Secret]) -> list[Secret]:
    """Return secrets in their order; of those that overlap, one over all of them with the kind that was found first."""
    made, order = list[Secret](), list[int]()
    for number, one in sorted(enumerate(found), key=lambda item: (item[1].start, -item[1].end)):
        if not made or one.start >= made[-1].end:
            made.append(one)
            order.append(number)
            continue
        last = made[-1]
        first = last if order[-1] < number else one
        text = last.text if one.end <= last.end else b""
        made[-1] = first._replace(start=last.start, end=max(last.end, one.end), text=text)
        order[-1] = min(order[-1], number)
    return made


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


class _Rows:
    """The patterns of all forms, compiled when they are first needed, and a set that tells which of them to search."""

    def __init__(self) -> None:
        by_hint: dict[str, list[Form]] = {}
        for form in FORMS:
            by_hint.setdefault(form.hint, []).append(form)
        self._hints = _set_of(by_hint)
        self._forms = list(by_hint.values())
        self._sets: dict[int, Any] = {}
        self._patterns: dict[str, Any] = {}

    def forms_in(self, data: bytes) -> Iterator[tuple[Form, Any]]:
        """Yield the forms that a text may have, and their patterns."""
        for hint in self._hints.Match(data) or ():
            forms = self._forms[hint]
            if len(forms) > 1 and len(data) <= _SHORT:
                if hint not in self._sets:
                    self._sets[hint] = _set_of(form.pattern for form in forms)
                forms = [forms[row] for row in sorted(self._sets[hint].Match(data) or ())]
            for form in forms:
                if form.pattern not in self._patterns:
                    self._patterns[form.pattern] = compile_pattern(form.pattern)
                yield form, self._patterns[form.pattern]

    @cached_property
    def long(self) -> Any:
        """The pattern of private keys."""
        keys = {kind: shape(kind, pattern) for kind, pattern, _ in TOKENS}
        return compile_pattern("|".join(keys[kind] for kind in LONG_KINDS))

    @cached_property
    def block(self) -> Any:
        """The pattern of the first line of a block of YAML."""
        return compile_pattern(BLOCK)

    @cached_property
    def table(self) -> Any:
        """The pattern of the first line of a table with secrets."""
        return compile_pattern(TABLE_HEAD)

    @cached_property
    def encoded(self) -> Any:
        """The pattern of words in base64 and hex."""
        return compile_pattern(_any_of(_encoded_hints()))


_made: list[_Rows] = []


def _rows() -> _Rows:
    if not _made:
        _made.append(_Rows())
    return _made[0]


_SHORT = 8192
"""In a longer text, each form is searched by itself: a set of all of them could need very many states."""


def _set_of(patterns: Iterable[str]) -> Any:
    """Return a set that tells which of the patterns a text has."""
    import re2

    made = re2.Set.SearchSet(_options())
    for pattern in patterns:
        made.Add(pattern.encode("latin-1"))
    made.Compile()
    return made


def _encoded_hints() -> list[bytes]:
    return sorted(encoded_words(ENCODED_WORDS))


def _hint_of(text: bytes) -> str:
    """Return a pattern that matches a text however its signs are escaped."""
    parts = [part for part in re.split(rb"[^A-Za-z0-9]+", text) if part]
    return _GAP.join(part.decode() for part in parts) or _any_of([text])


_GAP = r"(?:[^A-Za-z0-9]|u[0-9A-Fa-f]{4}|[0-9A-F]{2})+"
"""What may be between the words of a text that is escaped."""


def _any_of(values: Iterable[bytes]) -> str:
    import re2

    return "|".join(str(re2.escape(value), "latin-1") for value in values)


def first_group(found: Any, groups: int) -> tuple[int, int]:
    """Return the span of the first group that matched; the whole span if none did."""
    for at in range(1, groups + 1):
        span: tuple[int, int] = found.span(at)
        if span[0] >= 0:
            return span
    whole: tuple[int, int] = found.span()
    return whole


def _options(*, of_bytes: bool = True) -> Any:
    import re2

    options = re2.Options()
    options.max_mem = 64 << 20  # for the states of all kinds of secrets
    options.log_errors = False
    if of_bytes:
        options.encoding = re2.Options.Encoding.LATIN1
    return options


def compile_pattern(pattern: str, *, of_bytes: bool = True) -> Any:
    """Compile a pattern for UTF-8 text; built-in ones match bytes, so that no partial character ends a secret."""
    import re2

    encoded = pattern.encode("latin-1") if of_bytes else pattern.encode("utf-8", "surrogateescape")
    return re2.compile(encoded, _options(of_bytes=of_bytes))
