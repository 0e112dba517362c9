"""Names: which names of fields, options and variables mean secrets."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

__all__ = ["LIKELY", "STRONG", "WEAK", "is_secret_name", "is_secret_variable", "name_strength"]

WEAK, LIKELY, STRONG = 1, 2, 3
"""How much a name says. STRONG: its value is a secret. LIKELY: one that is no word is. WEAK: one that is random is."""

_LONGEST = 200
_WORDS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_STRONG = frozenset({
    "password", "passwords", "passwd", "passphrase", "passcode", "pwd", "secret", "secrets", "token", "credential",
    "credentials", "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "authkey", "authorization", "cookie",
    "cookies", "bearer", "accesstoken", "authtoken", "clientsecret", "mnemonic", "storepass", "keypass",
    "pgpassword", "sshpass", "connectionstring", "userpassword", "rootpassword", "dbpassword",
})  # fmt: skip
_LIKELY = frozenset({"pass", "pw", "psk", "pin", "creds", "dbpass", "userpass", "passwort", "contraseña"})
_WEAK = frozenset({
    "key", "keys", "auth", "cred", "signature", "sig", "jwt", "pat", "sid", "session", "sessionid", "phpsessid",
    "jsessionid", "otp", "totp", "seed", "sas", "code", "tokens",
})  # fmt: skip
_KEYS = frozenset({
    "api", "access", "private", "secret", "auth", "account", "encryption", "signing", "shared", "master", "ssh",
    "license", "deploy", "service", "role", "subscription", "storage", "webhook", "hmac", "consumer",
})  # fmt: skip
"""A key with one of these words before it is a secret."""
_ABOUT = frozenset({
    "count", "length", "limit", "type", "name", "names", "id", "ids", "policy", "url", "uri", "path", "file", "dir",
    "expires", "expiry", "at", "in", "ttl", "budget", "usage", "field", "fields", "max", "min", "used", "tokens",
    "required", "enabled", "exists", "valid", "age", "version", "status", "files", "stdin", "prompt", "label",
    "placeholder", "hint", "error", "message", "reset", "source", "provider", "endpoint", "parser", "store", "manager",
    "header", "index", "size", "hash", "class", "mode", "method", "scheme", "format", "prefix", "suffix", "env", "ref",
    "arn", "vault", "scanning", "kind", "pattern", "regex", "column", "input", "validator", "rules",
})  # fmt: skip
"""Last words of names that are about a secret."""
_STRONG_ENDS = ("password", "passwd", "passphrase", "secret", "apikey", "token")
_NO_PASS = frozenset({"bypass", "compass", "encompass", "surpass", "trespass", "overpass", "underpass"})
_PUBLIC = frozenset({"public", "pub", "publishable"})


def name_strength(name: str) -> int:
    """Return how much a name says that its value is a secret; 0 means nothing."""
    return _strength(name[:_LONGEST])


@lru_cache(maxsize=4096)
def _strength(name: str) -> int:
    words = [word.lower() for word in re.findall(_WORDS, name)]
    if not words or words[-1] in _ABOUT or not _PUBLIC.isdisjoint(words):
        return 0
    if not _STRONG.isdisjoint(words) or words[-2:] == ["connection", "string"]:
        return STRONG
    if any(key in ("key", "keys") and before in _KEYS for before, key in pairwise(words)):
        return STRONG
    if words[-1].endswith(_STRONG_ENDS) or name.lower().endswith(_STRONG_ENDS):
        return STRONG
    if not _LIKELY.isdisjoint(words) or (words[-1].endswith("pass") and words[-1] not in _NO_PASS):
        return LIKELY
    return 0 if _WEAK.isdisjoint(words) else WEAK


def is_secret_name(name: str) -> bool:
    """Say whether a name means a secret: ``password``, ``apiKey``; not ``max_tokens``."""
    return name_strength(name) == STRONG


_SECRET_PARTS = frozenset({
    "KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE", "PWD", "CREDENTIAL", "CREDENTIALS",
    "CREDS", "AUTH", "PRIVATE", "SECRETS", "PAT",
})  # fmt: skip
_PLAIN_VARIABLES = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY"})
_ABOUT_VARIABLES = frozenset({
    "ID", "IDS", "FILE", "FILES", "PATH", "DIR", "NAME", "NAMES", "URL", "URI", "TYPE", "LENGTH", "LEN", "COUNT",
    "SIZE", "SOCK", "METHOD", "MODE", "HOST", "PORT", "USER", "EXPIRY", "EXPIRES", "TTL", "PUBLIC", "PUB", "VERSION",
    "SET", "FINGERPRINT", "ARN", "LIMIT", "MAX", "MIN", "SERVER", "DOMAIN", "ENABLED", "REGION", "ENDPOINT", "SOCKET",
    "PREFIX",
})  # fmt: skip


def is_secret_variable(name: str, parts: frozenset[str] = _SECRET_PARTS) -> bool:
    """Return whether a variable holds a secret by a whole part of its name: ``API_KEY``; not ``KEYBOARD``."""
    if name in _PLAIN_VARIABLES:
        return False
    words = [word.upper() for word in re.findall(_WORDS, name[:_LONGEST])]
    return not parts.isdisjoint(words) and words[-1] not in _ABOUT_VARIABLES and "PUBLIC" not in words
