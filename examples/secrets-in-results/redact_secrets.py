"""Replace secrets in the result of a tool, or in its error, before the model sees it."""

import re

from interpose import modify

SECRETS = {
    "AWS key": r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b",
    "GitHub token": r"\b(?:gh[oprsu]_[0-9A-Za-z]{36,}|github_pat_\w{50,})",
    "GitLab token": r"\bglpat-[\w-]{20,}",
    "npm token": r"\bnpm_[0-9A-Za-z]{36,}",
    "PyPI token": r"\bpypi-[\w-]{50,}",
    "Anthropic key": r"\bsk-ant-[\w-]{24,}",
    "OpenAI key": r"\bsk-(?:[0-9A-Za-z]{32,}|(?:admin|proj|svcacct)-[\w-]{32,})",
    "Stripe key": r"\b[rs]k_live_[0-9A-Za-z]{24,}",
    "Slack token": r"\bxox[abeprs]-[0-9A-Za-z-]{20,}",
    "Google key": r"\bAIza[\w-]{35,}",
    "JSON web token": r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}",
    "private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)",
    "password": r"(?<=://)[^\s/:@]+:[^\s/:@]{4,}(?=@)",
}
"""Patterns of secrets, by kind. Use unmistakable patterns: text that is replaced by mistake is lost to the model."""

_KINDS = list(SECRETS)
_ANY = re.compile("|".join(f"({pattern})" for pattern in SECRETS.values()), re.DOTALL | re.ASCII)


def redact(event):
    """Replace the result, or the error of a tool that failed, if it contains secrets."""
    name = "error" if event.hook_event_name == "PostToolUseFailure" else "tool_response"
    redacted = _without(event[name])
    return modify({name: redacted}) if redacted != event[name] else None


def _without(value):
    if isinstance(value, str):
        return _ANY.sub(lambda found: f"[{_KINDS[found.lastindex - 1]} removed]", value)
    if isinstance(value, dict):
        return {_without(key): _without(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item) for item in value]
    return value
