"""Read SQL: statements that drop, delete or change all rows, or change the schema, and the commands of its clients.

The text is split into tokens as the databases do, so that a word in a string or a comment is no statement. Where the
databases differ (backslashes in strings, ``#``), the text is read in each way and the effects are added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from ...matching.shell.words import MANY, ONE
from ...runtime.named_tuples import NamedTuple
from .rows import RUNS, Found

__all__ = ["CLIENTS", "sql_effects"]

CLIENTS = frozenset(
    """
    psql pgcli usql mysql mariadb mycli sqlite3 sqlite litecli sqlcipher duckdb sqlcmd osql isql snowsql cqlsh trino
    presto clickhouse-client cockroach ysqlsh mongosh mongo redis-cli valkey-cli keydb-cli bq wp drush
    """.split()
)
"""Programs that run the statements that they read. The tables say how."""


class _Token(NamedTuple):
    kind: str
    """``word``, ``text``, ``number``, ``mark`` or ``client`` (a command of psql, mysql or sqlite3)."""
    text: str


_STARTS = frozenset({"BEGIN", "THEN", "ELSE", "LOOP", "DO"})
"""Words after which a statement begins."""
_ENDS_WHERE = frozenset({"RETURNING", "ORDER", "LIMIT", "OPTION"})
_CONSTANTS = frozenset({"TRUE", "NOT", "AND", "OR", "IS", "NULL", "LIKE", "BETWEEN", "IN", "FALSE"})
_SCHEMA = frozenset({"ALTER", "RENAME", "GRANT", "REVOKE", "REASSIGN", "SHUTDOWN", "DETACH"})
_SHELLS = {"!": 0, "shell": 0, "system": 0}
_RUN_FUNCTIONS = frozenset({"XP_CMDSHELL", "SYS_EXEC", "SYS_EVAL", "EXECUTE", "SP_EXECUTESQL", "EXEC"})
_FEW_WORDS = 12


@cache
def _scanner(backslash: bool, hashes: bool) -> re.Pattern[str]:
    inside = r"(?:[^'\\]|\\.|'')*+" if backslash else r"(?:[^']|'')*+"
    comment = r"--[^\n]*+|/\*(?!!)(?:[^*]|\*(?!/))*+(?:\*/|\Z)" + (r"|\#[^\n]*+" if hashes else "")
    return re.compile(
        rf"(?P<comment>{comment}|/\*!\d*+|\*/)|(?P<text>(?:\b[EeNnBbXx])?'{inside}(?:'|\Z))"
        r"|(?P<quoted>\"[^\"]*+(?:\"|\Z)|`[^`]*+(?:`|\Z)|\[[A-Za-z_][^\]\n]*+\])"
        r"|(?P<dollar>(?<![\w$])\$(?:[A-Za-z_]\w*+)?\$)"
        r"|(?P<client>\\(?!n\b)[^\n;]++|^\s*+\.[a-z]++[^\n]*+)"
        r"|(?P<number>[0-9][0-9.eE]*+)|(?P<word>[A-Za-z_\0\1@$][\w$\0\1@]*+)|(?P<space>\s++)|(?P<mark>.)",
        re.DOTALL | re.MULTILINE,
    )


def sql_effects(text: str) -> list[Found]:
    """Return what the statements of a text do, each once."""
    ways = {(backslash, hashes) for backslash in {False, "\\" in text} for hashes in {False, "#" in text}}
    found = [one for way in sorted(ways) for one in _effects(text, *way)]
    return list(dict.fromkeys(found))


def _effects(text: str, backslash: bool, hashes: bool) -> Iterator[Found]:
    statement: list[_Token] = []
    for token in _tokens(text, _scanner(backslash, hashes)):
        if token.kind == "client":
            yield from _client(token.text)
        elif token.text == ";" and token.kind == "mark":
            yield from _statement(statement)
            statement = []
        elif token.kind == "word" and token.text.upper() in _STARTS:
            yield from _statement(statement)
            statement = []
            # EXECUTE IMMEDIATE and DO take a text with statements.
            statement.append(token) if token.text.upper() == "DO" else None
        else:
            statement.append(token)
    yield from _statement(statement)


def _tokens(text: str, scanner: re.Pattern[str]) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = scanner.match(text, at)
        if found is None:
            break
        kind, part, at = found.lastgroup or "", found.group(), found.end()
        if kind == "dollar":
            end = text.find(part, at)
            inner = text[at:] if end < 0 else text[at:end]
            at = len(text) if end < 0 else end + len(part)
            yield _Token("text", inner)
        elif kind == "text":
            yield _Token("text", part[part.index("'") + 1 :].removesuffix("'").replace("''", "'"))
        elif kind == "quoted":
            yield _Token("word", part.strip('"`[]') or '""')
        elif kind in ("number", "word", "mark", "client"):
            yield _Token(kind, part)


def _client(text: str) -> Iterator[Found]:
    r"""Read a command of a client: ``\! cmd``, ``.shell cmd``, ``\g | cmd``, ``\copy … program 'cmd'``."""
    name, _, rest = text.strip().lstrip("\\.").partition(" ")
    rest = rest.strip()
    if text.strip().startswith("\\!"):
        yield Found(RUNS, text.strip()[2:].strip())
    elif name in ("shell", "system"):
        yield Found(RUNS, rest)
    elif name in ("g", "gx", "o", "out", "w", "output", "once", "import") and rest.startswith("|"):
        yield Found(RUNS, rest[1:].strip())
    elif name == "copy":
        yield from _program([_Token("word", "COPY"), *_tokens(rest, _scanner(False, False))])
    elif name in ("read", "i", "ir", "include") and rest.startswith("|"):
        yield Found(RUNS, rest[1:].strip())
    elif name == "restore":
        yield Found("db-drop", "what the database holds")


def _statement(tokens: Sequence[_Token]) -> Iterator[Found]:
    words = [token.text.upper() if token.kind == "word" else "" for token in tokens]
    at = _first(words)
    if at is None:
        return
    first = words[at]
    if first == "WITH":
        yield from _nested(tokens)
    elif first in ("EXPLAIN", "PREPARE", "CREATE") and not (first == "EXPLAIN" and "ANALYZE" not in words[:_FEW_WORDS]):
        yield from _wrapped(first, tokens[at + 1 :], words[at + 1 :])
    elif first == "DO" or first in _RUN_FUNCTIONS or (first in ("SELECT", "CALL") and _RUN_FUNCTIONS & set(words)):
        yield from _run(tokens[at:], words[at:])
    elif first == "COPY":
        yield from _program(tokens[at:])
    else:
        yield from _plain(first, tokens[at:], words[at:])


def _first(words: Sequence[str]) -> int | None:
    return next((at for at, word in enumerate(words) if word), None)


def _plain(first: str, tokens: Sequence[_Token], words: Sequence[str]) -> Iterator[Found]:
    """Read a statement by its first word."""
    if first == "DROP":
        if words[1:2] not in (["TEMPORARY"], ["TEMP"]) and len(tokens) > 1:
            yield Found("db-drop", _named(tokens[1:]))
    elif first == "TRUNCATE" and len(tokens) > 1 and tokens[1].text != "(":
        yield Found("db-drop", f"all rows of {_named(tokens[1:], ('TABLE',))}")
    elif first == "DELETE" and len(tokens) > 1:
        if ("FROM" in words or len(tokens) == 2) and not _has_where(tokens, words):
            yield Found("db-delete", f"of {_named(tokens[1:], ('FROM', 'ONLY', 'LOW_PRIORITY', 'QUICK', 'IGNORE'))}")
    elif first == "UPDATE" and "SET" in words:
        if not _has_where(tokens, words):
            yield Found("db-delete", f"of {_named(tokens[1:], ('ONLY', 'LOW_PRIORITY', 'IGNORE', 'OR', 'REPLACE'))}")
    elif first == "ALTER":
        yield Found("db-drop" if _drops_column(words) else "db-schema", _named(tokens[1:]))
    elif first in ("PURGE", "RESET") and words[1:2] in (["BINARY"], ["MASTER"]):
        yield Found("db-drop", "the binary logs")
    elif first in _SCHEMA and len(tokens) > 1:
        yield Found("db-schema", _named(tokens[1:]))


def _wrapped(first: str, tokens: Sequence[_Token], words: Sequence[str]) -> Iterator[Found]:
    """Read what stands in another statement: ``EXPLAIN ANALYZE DELETE …``, ``CREATE OR REPLACE …``."""
    if first == "CREATE":
        if list(words[:2]) == ["OR", "REPLACE"]:
            yield Found("db-schema", _named(tokens[2:]))
        return
    for at, word in enumerate(words[:_FEW_WORDS]):
        if word in ("DELETE", "UPDATE", "DROP", "TRUNCATE", "WITH"):
            yield from _statement(tokens[at:])
            return


def _nested(tokens: Sequence[_Token]) -> Iterator[Found]:
    """Read the statements in the brackets of WITH, and the one after them."""
    depth, start = 0, None
    for at, token in enumerate(tokens):
        if token.kind == "mark" and token.text == "(":
            depth += 1
            start = at + 1 if depth == 1 else start
        elif token.kind == "mark" and token.text == ")":
            depth -= 1
            if depth == 0 and start is not None:
                yield from _changing(tokens[start:at])
        elif depth == 0 and token.kind == "word" and token.text.upper() in ("DELETE", "UPDATE"):
            yield from _changing(tokens[at:])
            return


def _changing(tokens: Sequence[_Token]) -> Iterator[Found]:
    if tokens and tokens[0].kind == "word" and tokens[0].text.upper() in ("DELETE", "UPDATE"):
        yield from _statement(tokens)


def _run(tokens: Sequence[_Token], words: Sequence[str]) -> Iterator[Found]:
    """Read the texts of ``DO``, ``EXECUTE`` and functions that run commands."""
    runs = any(word in ("XP_CMDSHELL", "SYS_EXEC", "SYS_EVAL") for word in words)
    for token in tokens:
        if token.kind == "text":
            if runs:
                yield Found(RUNS, token.text)
            else:
                yield from sql_effects(token.text)


def _program(tokens: Sequence[_Token]) -> Iterator[Found]:
    """Read the command of ``COPY … PROGRAM 'cmd'``."""
    for at, token in enumerate(tokens[:-1]):
        if token.kind == "word" and token.text.upper() == "PROGRAM" and tokens[at + 1].kind == "text":
            yield Found(RUNS, tokens[at + 1].text)


def _named(tokens: Sequence[_Token], skipped: Sequence[str] = ()) -> str:
    """Return the kind and the name of what a statement is about, as it can be shown."""
    words = [
        token.text
        for token in tokens[:_FEW_WORDS]
        if not (token.kind == "word" and token.text.upper() in ("IF", "EXISTS", "CONCURRENTLY", *skipped))
    ]
    shown = ""
    for word in words:
        if shown and word != "." and not shown.endswith(".") and shown.count(" ") >= (0 if skipped else 1):
            break
        shown += word if word == "." or shown.endswith(".") or not shown else f" {word}"
    return shown


def _drops_column(words: Sequence[str]) -> bool:
    """Return whether ALTER drops a column or a partition, and not only a rule about it."""
    for at, word in enumerate(words):
        if word == "DROP":
            after = words[at + 1] if at + 1 < len(words) else ""
            if after not in (
                "CONSTRAINT",
                "DEFAULT",
                "NOT",
                "INDEX",
                "KEY",
                "FOREIGN",
                "PRIMARY",
                "EXPRESSION",
                "CHECK",
            ):
                return True
    return False


def _has_where(tokens: Sequence[_Token], words: Sequence[str]) -> bool:
    """Return whether there is a WHERE outside of brackets that chooses rows."""
    depth, start = 0, None
    for at, token in enumerate(tokens):
        if token.kind == "mark" and token.text in "()":
            depth += 1 if token.text == "(" else -1
        elif depth == 0 and words[at] == "WHERE":
            start = at + 1
        elif depth == 0 and words[at] in _ENDS_WHERE and start is not None:
            return _chooses(tokens[start:at])
    return start is not None and _chooses(tokens[start:])


def _chooses(tokens: Sequence[_Token]) -> bool:
    """Return whether a condition depends on the row: no arm of its ORs is always true."""
    arms: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == "word" and token.text.upper() == "OR":
            arms.append([])
        else:
            arms[-1].append(token)
    return not any(_is_constant(arm) for arm in arms)


def _is_constant(tokens: Sequence[_Token]) -> bool:
    texts = [token.text.upper() for token in tokens if token.text not in "()"]
    if len(texts) == 3 and texts[1] in ("=", "<=", ">=") and texts[0] == texts[2]:
        return True
    if texts in (["FALSE"], ["0"], ["1", "=", "0"], ["0", "=", "1"]):
        return False
    names = [
        token
        for token in tokens
        if token.kind == "word" and token.text.upper() not in _CONSTANTS and token.text not in (ONE, MANY)
    ]
    unknown = any(ONE in token.text or MANY in token.text for token in tokens)
    return not names and not unknown
