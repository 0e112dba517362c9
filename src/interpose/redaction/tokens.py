"""Tokens: keys and tokens that are known by their shape. They are RE2 patterns over bytes.

A hint is a short pattern that matches every text in which the pattern of its line can match: a text without a hint has
no token in it.
"""

from __future__ import annotations

__all__ = ["LONG_KINDS", "TOKENS", "TOKEN_HINTS", "shape"]

LONG_KINDS = ("pem", "putty")
"""Kinds that go over many lines, perhaps to the end of a text."""

_BEGIN = r"(?:\b|\\[a-z0-9]{1,5})"
"""The beginning of a word; also after an escape such as ``\\n``, in JSON inside of a text."""

_ANYWHERE = frozenset({"pem", "azure_signature", "crypt"})
"""Kinds that do not start at the beginning of a word."""

_PEM = "[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_SERVICES = (
    r"dckr_pat_|gl(?:sa|c)_|lin_api_|ntn_|PMAK-|NRAK-|sntry[su]_|gsk_|r8_|pplx-|xai-|sbp_|tskey-|figd_|"
    r"dp\.(?:pt|st|ct|sa)\.|rubygems_|pul-|CFPAT-|nvapi-|fw_|tvly-|lsv2_|phc_|phx_|rdme_|cio_|FlyV1 |"
    r"pcsk_|sb_secret_|HRKU-|nfp_|pscale_(?:tkn|pw|oauth)_|bkua_|dt0c01\.|pnu_|ops_eyJ|p8e-|LTAI|AKCp|EZAK|EZTK|"
    r"duffel_(?:test|live)_|fo1_|fm[12][ar]?_|fio-u-|CLOJARS_|FLWSECK|glffct-|xkeysib-|shippo_(?:live|test)_|sgp_|"
    r"sm_[aps]at_|tfp_|ABSK|sha256~|dnkey-|access-(?:sandbox|production)-|A3-[A-Z0-9]{6}-|sk_prod_|rk_prod_|squ_|sqp_|"
    r"sqa_|apify_api_|sk-or-"
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
    ("crypt", r"\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2i?d?|scrypt)\$[./A-Za-z0-9$=,+-]{20,}",
     r"\$(?:1|2[abxy]|5|6|7|y|gy|apr1|argon2i?d?|scrypt)\$"),
    ("azure_secret", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}", r"Q~"),
    ("service", rf"(?:{_SERVICES})[A-Za-z0-9_.\-]{{20,}}", _SERVICES),
)  # fmt: skip
"""Secrets by their shape, each from the beginning of a word."""


def shape(kind: str, pattern: str) -> str:
    """Return the whole pattern of a token, with the secret in a group."""
    return f"({pattern})" if kind in _ANYWHERE else f"{_BEGIN}({pattern})"


TOKEN_HINTS = "|".join(f"(?:{hint})" if kind in _ANYWHERE else f"{_BEGIN}(?:{hint})" for kind, _, hint in TOKENS)
"""Matches texts that may have a token in them, also as encoded JSON."""
