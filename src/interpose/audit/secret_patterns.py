"""Patterns of secrets, for redaction. They are RE2 patterns over bytes.

A match of a ``TOKENS`` pattern is a secret by its shape. A match of a ``NAMED`` pattern is a secret by the text before
it: its group is replaced if its check returns True. A hint is a short pattern that matches every text in which the
pattern of its line can match: a text without a hint has no secret in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

__all__ = ["HINTS", "NAMED", "TOKENS", "NamedSecret", "is_secret_name", "looks_random", "shape"]

_BEGIN = r"(?:\b|\\[a-z0-9]{1,5})"
"""The beginning of a word; also after an escape such as ``\\n``, in JSON inside of a text."""

_ANYWHERE = frozenset({"pem", "azure_signature"})
"""Kinds that do not start at the beginning of a word."""

_PEM = "[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_SERVICES = (
    r"dckr_pat_|gl(?:sa|c)_|lin_api_|ntn_|PMAK-|NRAK-|sntry[su]_|gsk_|r8_|pplx-|xai-|sbp_|tskey-|figd_|"
    r"dp\.(?:pt|st|ct|sa)\.|rubygems_|pul-|CFPAT-|nvapi-|fw_|tvly-|lsv2_|phc_|phx_|rdme_|cio_|FlyV1 |"
    r"pcsk_|sb_secret_|HRKU-|nfp_|pscale_(?:tkn|pw|oauth)_|bkua_|dt0c01\.|pnu_"
)
TOKENS: tuple[tuple[str, str, str], ...] = (
    # kind, pattern, hint
    ("pem", rf"-----BEGIN {_PEM}(?s:.*?)(?:-----END {_PEM}|\z)", r"PRIVATE KEY"),
    ("putty", r"Private-Lines: (?s:.*?)(?:Private-MAC: [0-9a-f]+|\z)", r"Private-Lines"),
    ("aws", r"(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ANVA|AIPA|ABIA|ACCA)[A-Z2-7]{16}\b",
     r"AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ANVA|AIPA|ABIA|ACCA"),
    ("github", r"(?:gh[opusr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})", r"gh[opusr]_|github_pat_"),
    ("gitlab", r"gl(?:pat|ptt|dt|rt|rtr|cbt|soat|ft|agent|oas|imt)-[A-Za-z0-9_.\-]{16,}", r"gl[a-z]+-"),
    ("slack", r"(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})", r"xox[a-z]|xapp-"),
    ("slack_webhook", r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{16,}",
     r"hooks\.slack"),
    ("discord_webhook", r"discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/[A-Za-z0-9_-]{20,}", r"/webhooks/"),
    ("stripe", r"(?:(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{16,})",
     r"[sr]k_(?:live|test)_|whsec_"),
    ("google_api", r"AIza[A-Za-z0-9_\-]{30,}", r"AIza"),
    ("google_oauth", r"(?:ya29\.[A-Za-z0-9_\-.]{16,}|GOCSPX-[A-Za-z0-9_\-]{16,}|1//0[A-Za-z0-9_\-]{20,})",
     r"ya29\.|GOCSPX-|1//0"),
    ("anthropic", r"sk-ant-[A-Za-z0-9_\-]{16,}", "sk-"),
    ("openai", r"sk-(?:(?:proj|svcacct|admin|or-v1|None)-[A-Za-z0-9_\-]{16,}|[A-Za-z0-9]{20,})", "sk-"),
    ("npm", r"npm_[A-Za-z0-9]{30,}", r"npm_"),
    ("pypi", r"pypi-[A-Za-z0-9_\-]{32,}", r"pypi-"),
    ("jwt", r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*){0,3}", r"eyJ"),
    ("sendgrid", r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}", r"SG\."),
    ("twilio", r"SK[0-9a-f]{32}\b", "SK[0-9a-f]"),
    ("telegram", r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{30,}", r":AA"),
    ("huggingface", r"(?:hf|api_org)_[A-Za-z0-9]{20,}", r"hf_|api_org_"),
    ("digitalocean", r"do[opr]_v1_[a-f0-9]{32,}", r"do[opr]_v1_"),
    ("databricks", r"dapi[a-f0-9]{32}(?:-[0-9]+)?", r"dapi[a-f0-9]"),
    ("vault", r"hv[sbr]\.[A-Za-z0-9_\-]{20,}", r"hv[sbr]\."),
    ("age", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}", r"AGE-SECRET-KEY"),
    ("discord", r"[MNO][A-Za-z0-9]{22,28}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,}",
     r"\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27}"),
    ("shopify", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}", r"shp(?:at|ca|pa|ss)_"),
    ("square", r"(?:sq0[a-z]{3}-[A-Za-z0-9_\-]{22,}|EAAA[A-Za-z0-9_\-]{60})", r"sq0|EAAA"),
    ("mailgun", r"key-[0-9a-f]{32}\b", "key-[0-9a-f]"),
    ("atlassian", r"(?:ATATT3[A-Za-z0-9_\-=]{20,}|ATBB[A-Za-z0-9]{20,})", r"ATATT3|ATBB"),
    ("terraform", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{40,}", r"\.atlasv1\."),
    ("azure_signature", r"[?&]sig=[A-Za-z0-9%+/=]{20,}", r"[?&]sig="),
    ("service", rf"(?:{_SERVICES})[A-Za-z0-9_.\-]{{20,}}", _SERVICES),
)  # fmt: skip
"""Secrets by their shape, each from the beginning of a word."""


def shape(kind: str, pattern: str) -> str:
    """Return the whole pattern of a token, with the secret in a group."""
    return f"({pattern})" if kind in _ANYWHERE else f"{_BEGIN}({pattern})"


_STRONG = (
    r"pass[_-]?words?|passwd|pass[_-]?phrase|pwd|secrets?|tokens?|api[_-]?keys?|access[_-]?keys?|private[_-]?keys?|"
    r"account[_-]?keys?|auth[_-]?keys?|shared[_-]?keys?|signing[_-]?keys?|encryption[_-]?keys?|secret[_-]?keys?|"
    r"connection[_-]?strings?|credentials?"
)
_WEAK = r"key|auth|pass|creds?|signature"
_TO = r"""["'\\]{0,4}\s{0,4}(?::=|=>|:|=)\s{0,4}"""
_QUOTED = r"""\\{0,3}"([^"\\]+)|\\{0,3}'([^'\\]+)"""


def _value(shortest: int) -> str:
    """Return the pattern of a quoted or bare value. One that is too short for its check is not even matched."""
    size = f"{{{shortest},}}"
    return rf"""(?:\\{{0,3}}"([^"\\]{size})|\\{{0,3}}'([^'\\]{size})|([^\s"'`,;&|<>\\]{size}))"""


_ARGUMENT = r"""([^\s"'`;&|<>\-][^\s"'`;&|<>]*)"""


class NamedSecret(NamedTuple):
    """A secret that is known by the text before it; the first group that matched is the secret."""

    kind: str
    pattern: str
    check: Callable[[str, str], bool]
    """Is called with the text before the secret, and the secret."""


def looks_random(before: str, value: str) -> bool:
    """Say whether a text looks like a key and not like words: long enough, and of mixed characters."""
    if len(value) < 8 or _CODE.match(value):
        return False
    kinds = sum(bool(found.search(value)) for found in _KINDS)
    return kinds >= 3 or (len(value) >= 16 and kinds >= 2 and len(set(value)) >= 8)


_KINDS = tuple(re.compile(kind) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]"))


def _is_value(before: str, value: str) -> bool:
    """Say whether the text after a secret's name is the secret, and not a type, a number or code."""
    if value.lower().rstrip(".?!)]}") in _NO_VALUES or _CODE.match(value):
        return False
    if value.isdigit() and "tokens" in before.lower():
        return False  # a number of tokens
    return len(value) >= 3


_CODE = re.compile(r"[A-Za-z_][A-Za-z_.]*[(\[]|\$|\[redacted:|<|\{|%\(|os\.environ|process\.env|self\.")
_NO_VALUES = frozenset({
    "", "str", "string", "text", "int", "integer", "number", "bool", "boolean", "none", "null", "nil", "undefined",
    "true", "false", "optional", "required", "bytes", "any", "object", "secretstr", "self", "return", "and", "the",
    "yes", "not", "===", "==", "=", "is", "of", "for", "in", "bearer", "basic", "digest",
})  # fmt: skip


def _always(before: str, value: str) -> bool:
    return not value.startswith(("[redacted:", "$"))


_SCHEME = r"(?:[A-Za-z][A-Za-z0-9-]{1,20}\s+)?"
_HEADER = r"""([^\s"'\\,;]+(?:,\s*[a-z]+=[^\s,]+)*)"""
NAMED: tuple[NamedSecret, ...] = (
    NamedSecret("authorization", rf"(?i:\b(?:proxy-)?authorization){_TO}\\{{0,3}}[\"']?{_SCHEME}{_HEADER}", _always),
    NamedSecret("authorization", r"(?i:\b(?:bearer|basic))\s+([A-Za-z0-9+/=._~\-]{8,})", looks_random),
    NamedSecret("cookie", r"""(?i:\b(?:set-)?cookie)["']?:\s*([^\r\n"'\\]{4,})""", _always),
    NamedSecret("url", r"""://[^\s/?#:@"'\\]*:([^\s/?#@"'\\]+)@""", _always),
    NamedSecret("url", r"""://([^\s/?#:@"'\\]{16,})@""", looks_random),
    NamedSecret(
        "flag",
        rf"(?:^|[^A-Za-z0-9])(?i:--?[a-z0-9-]{{0,30}}(?:{_STRONG}|pass))(?:=|\s+)(?:{_QUOTED}|{_ARGUMENT})",
        _is_value,
    ),
    NamedSecret("flag", r"""(?:^|\s)(?:-u|--(?:proxy-)?user)[=\s]?\s*["']?[^\s:"'/]+:([^\s"']+)""", _always),
    NamedSecret("flag", r"""\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]*?\s-p["']?([^\s"']{3,})""", _always),
    NamedSecret("flag", r"""\bsshpass\s+-p\s*["']?([^\s"']+)""", _always),
    NamedSecret("assignment", rf"(?m:^)\s*(?:export\s+)?\w*(?i:{_STRONG})\w*=([^\s\"'`\\]+)", _is_value),
    NamedSecret("assignment", rf"(?i:(?:{_STRONG})[A-Za-z0-9_.\-]{{0,30}}?){_TO}{_value(3)}", _is_value),
    NamedSecret("assignment", rf"(?i:(?:{_WEAK})[A-Za-z0-9_.\-]{{0,30}}?){_TO}{_value(8)}", looks_random),
)
"""Secrets by the text before them; searched in this order after those by their shape are replaced."""

_NAMES = "pass|pwd|secret|token|key|cred|connection|auth|cookie|bearer|basic|signature"
HINTS = "|".join((
    *(f"(?:{hint})" if kind in _ANYWHERE else f"{_BEGIN}(?:{hint})" for kind, _, hint in TOKENS),
    rf"(?i:{_NAMES})[A-Za-z0-9_.\-]*[\s\"'\\:=]",
    r"://[^\s/]*@",
    r"-u|--(?:proxy-)?user",
    r"sshpass|mysql|mariadb",
))  # fmt: skip
"""Matches texts that may have a secret in them, also as encoded JSON."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SECRETS = frozenset({
    "password", "passwords", "passwd", "passphrase", "pwd", "secret", "secrets", "token", "credential", "credentials",
    "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "authorization", "cookie", "cookies", "bearer",
})  # fmt: skip
_KEYS = frozenset({
    "api", "access", "private", "secret", "auth", "account", "encryption", "signing", "shared", "master", "ssh",
    "license",
})  # fmt: skip
_ABOUT = frozenset({
    "count", "length", "limit", "type", "name", "names", "id", "ids", "policy", "url", "uri", "path", "file", "dir",
    "expires", "expiry", "at", "in", "ttl", "budget", "usage", "field", "fields", "max", "min", "used", "tokens",
    "required", "enabled", "exists", "valid", "age", "version", "status",
})  # fmt: skip


def is_secret_name(name: str) -> bool:
    """Say whether a name means a secret: ``password``, ``apiKey``; not ``max_tokens``."""
    words = [word.lower() for word in _WORDS.findall(name[:200])]
    if not words or words[-1] in _ABOUT:
        return False
    if not _SECRETS.isdisjoint(words):
        return True
    return any(key in ("key", "keys") and before in _KEYS for before, key in pairwise(words))
