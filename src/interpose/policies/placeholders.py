"""Tell what only looks like a secret: placeholders, code, paths and words in the place of one."""

from __future__ import annotations

import re

from ..redaction.names import is_secret_name, is_secret_variable
from ..redaction.values import is_words, looks_random
from ..runtime.regex import regex

__all__ = ["is_no_secret"]

_LONGEST = 500
_SHORTEST = 8

_PLACEHOLDER = regex(
    r"(?i)example|sample|your|change[-_]?me|replace|placeholder|dummy|fake|insert|redacted|xxxx|\*\*\*|\.\.\.|…|1234567|"
    r"abcdef|deadbeef|foobar|not[-_]?a[-_]?real|put[-_]|my[-_]"
)
_CODE = regex(r"[$<>{}()\[\]`|*\s]|::|->|%[a-z(]")
_PATH = regex(r"(?:[./~]|[A-Za-z]:\\)[\w./\\~-]*|[\w.-]+(?:/[\w.-]+)+|https?:.*")
_DOTTED_NAME = regex(r"[A-Za-z_]\w*(?:\.\w+)*")
_NAME = regex(r"[A-Za-z_][A-Za-z0-9_.-]*")
_BASE64 = regex(r"[A-Za-z0-9+/=]{16}")
_BY_NAME = frozenset({"assignment", "flag", "authorization", "url", "named", "repeated", "environment"})
_COMMON = frozenset({
    "password", "passwd", "pass", "secret", "postgres", "root", "admin", "user", "test", "guest", "mysql", "redis",
    "rabbitmq", "pw", "pwd", "token", "minio123", "minioadmin", "username", "x", "xxx", "app", "dev", "demo", "123",
    "1234", "12345", "123456", "pass123", "admin123", "password123", "secret123", "hunter2", "x-oauth-basic",
    "x-access-token", "oauth2",
})  # fmt: skip
"""Passwords of examples and of local services."""
_PASSWORD = regex(
    r"(?:super|very|our|the|long|some|test|admin|db|root|user|[-_ ])*(?:password|secret|pass)[-_]?[0-9oeisatl!]{0,4}"
)
_AS_LETTERS = str.maketrans("01345@$", "oleasas")


def is_no_secret(kind: str, before: str, value: str) -> bool:
    """Return whether a text is no secret, though it has the shape of one or follows the name of one.

    ``before`` is the text from the name to the value.
    """
    if kind == "pem":
        return not _is_key(value)
    if kind == "cookie":
        return True
    if len(value) < _SHORTEST and kind in _BY_NAME and kind != "url":
        return True
    text = value[:_LONGEST]
    body = text.partition("_")[2] or text
    if len(set(body[-24:])) <= 3 or _PLACEHOLDER.search(text):
        return True
    if kind not in _BY_NAME:
        return kind == "service" and is_words(text)
    if (
        text.lower() in _COMMON
        or _PASSWORD.fullmatch(text.lower().translate(_AS_LETTERS))
        or _CODE.search(text)
        or _PATH.fullmatch(text)
    ):
        return True
    if kind == "url":
        user = before.rpartition("://")[2].rstrip(":")
        return text.startswith(("%", ":")) or text == user or (not re.search("[0-9]", text) and is_words(text))
    return (kind == "assignment" and _is_assigned_code(before, text)) or is_words(text) or not looks_random("", text)


def _is_key(value: str) -> bool:
    """Return whether a text that begins like a private key goes on like one."""
    lines = value[:4_000].replace("\\r", "\n").replace("\\n", "\n").splitlines()[1:10]
    for line in lines:
        text = line.strip(" \t\"'+,\\")
        if text and ": " not in text:
            return _BASE64.match(text) is not None
    return False


def _is_assigned_code(before: str, value: str) -> bool:
    """Return whether a name does not mean a secret, or an unquoted value is a name of a program."""
    name = _NAME.search(before)
    if name is None or not (is_secret_name(name[0]) or is_secret_variable(name[0])):
        return True
    if "signature" in name[0].lower() or "pub" in name[0].lower():
        return True
    is_quoted = before.rstrip("\\").endswith(('"', "'"))
    return not is_quoted and ("_" in value or "." in value) and _DOTTED_NAME.fullmatch(value) is not None
