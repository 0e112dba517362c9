"""Values: which texts in the place of a secret look like one, and which are code, placeholders or words."""

from __future__ import annotations

import re
from collections.abc import Callable

# Patterns are texts here, which Python compiles and keeps when they are first used: most processes never need them.
from .names import LIKELY, STRONG, name_strength

__all__ = [
    "follows_a_secret_name",
    "has_secret_name",
    "is_argument",
    "is_cell",
    "is_cookie",
    "is_credential",
    "is_element",
    "is_no_value",
    "is_set_value",
    "is_url_password",
    "is_user_password",
    "is_words",
    "looks_random",
    "looks_said",
    "looks_secret",
]

_LONGEST = 500
_KINDS = ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]")
_CODE = (
    r"[A-Za-z_][\w.]*[(\[]|[(\[]|\$|<|\{|%[({]|[A-Za-z_][\w.]*\.(?:environ|env|getenv)\b|"
    r"self\.|this\.|[&*!]?[A-Za-z_]\w*(?:->|::)"
)
_WORDS_OF_CODE = frozenset({
    "", "str", "string", "text", "int", "integer", "number", "bool", "boolean", "none", "null", "nil", "undefined",
    "true", "false", "optional", "required", "bytes", "any", "object", "secretstr", "self", "return", "and", "the",
    "yes", "not", "===", "==", "=", "is", "of", "for", "in", "bearer", "basic", "digest", "var", "let", "const", "new",
    "await", "default", "unset", "empty", "invalid", "missing", "disabled", "enabled", "include", "omit", "same-origin",
    "no", "on", "off", "to", "function", "void", "char", "binary", "token", "password", "passwd", "secret", "key",
})  # fmt: skip
"""What often follows the name of a secret and is none."""
_PLACEHOLDER = (
    r"(?i)[\W_]*(?:x{3,}|\*{3,}|\.{3,}|…|-{3,}|_{3,}|change[-_ ]?me|redacted|placeholder|todo|tbd|"
    r"(?:your|my|the|some|an?|insert|enter|put|replace|example|sample|dummy|fake|test)[-_ ]?"
    r"(?:own|super|very|really|new|old|real|secure|strong|random|long|here|api|access|auth|client|app|user|db|database|"
    r"secret|private|public|service|account|admin|root|personal|github|openai|aws|azure|value|bot|"
    r"token|password|passwd|pass|key|pwd|string|id|name|[-_ ])*[0-9]{0,3}|"
    r"(?:api|access|auth|client|user|db|secret|private|super|[-_ ])*(?:password|passwd|secret|token|key))[\W_]*"
)
_ABOUT_SECRETS = r"(?i)passw|passp|token|secret|credential|api_?key"
_NAME_IN_CODE = r"(?i)[a-z_.-]*(?:passw|passp|token|secret|credential|api_?key)[a-z_.-]*[0-9]?"
_CHUNK = r"[A-Za-z]*[0-9]{0,4}|[0-9]{1,8}"
_PIECE = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_VOWEL = "(?i)[aeiouy]"
_PATH = r"(?:[./~]|[A-Za-z]:\\)[\w./\\~-]*|https?:.*"
_NAME = r"[A-Za-z_$][A-Za-z0-9_.$-]*"
_IDENTIFIER = r"[A-Za-z_$][\w$]*(?:[.-][A-Za-z_$][\w$]*)*"
_ENV_ASSIGNMENT = r"[A-Z][A-Z0-9_]*=[\"']?"
_FIELD_LINE = r"[\w.-]+:[ \t]+"


def looks_random(before: str, value: str) -> bool:
    """Say whether a text looks like a key and not like words: long enough, and of mixed characters."""
    if len(value) < 8 or re.match(_CODE, value):
        return False
    kinds = sum(bool(re.search(kind, value)) for kind in _KINDS)
    return kinds >= 3 or (len(value) >= 16 and kinds >= 2 and len(set(value)) >= 8)


def is_words(value: str) -> bool:
    """Return whether a text consists of words and numbers: ``oauth-2025-04``, ``Ed25519PublicKey``."""
    chunks = [chunk for chunk in re.split(r"[^A-Za-z0-9]+", value) if chunk]
    if all(re.fullmatch(_CHUNK, chunk) for chunk in chunks) and _has_vowels(value):
        return True
    pieces = re.findall(_PIECE, value)
    return bool(pieces) and sum(map(len, pieces)) / len(pieces) >= 3.5 and _has_vowels(value) and "_" not in value


def _has_vowels(value: str) -> bool:
    """Return whether the longer parts of a text can be spoken; those in capitals need not."""
    return all(len(piece) < 4 or piece.isupper() or re.search(_VOWEL, piece) for piece in re.findall(_PIECE, value))


def is_no_value(value: str) -> bool:
    """Say whether a text in the place of a secret is a type, a word of code, a variable or a placeholder."""
    text = value[:_LONGEST]
    return (
        len(text) < 3
        or text.lower().rstrip(".?!)]},:;") in _WORDS_OF_CODE
        or re.match(_CODE, text) is not None
        or re.fullmatch(_PLACEHOLDER, text) is not None
    )


def looks_secret(before: str, value: str) -> bool:
    """Say whether a text is no word: it looks random, or has letters and digits or signs in one word."""
    if is_no_value(value) or re.fullmatch(_PATH, value[:_LONGEST]):
        return False
    return looks_random(before, value) and not is_words(value[:_LONGEST])


def _is_no_word(value: str) -> bool:
    """Say whether a text has no space, and has a digit or a sign."""
    return len(value) >= 4 and not value.isalpha() and not re.search(r"\s", value) and not _is_identifier(value)


def _is_identifier(value: str) -> bool:
    """Say whether a text is a name in code: words of letters with dots, hyphens or underscores between."""
    return re.fullmatch(_IDENTIFIER, value) is not None and not re.search("[0-9]", value)


def follows_a_secret_name(before: str, value: str) -> bool:
    """Say whether the text after a name is a secret: by the name, how it is written, and what it looks like."""
    name = re.search(_NAME, before)
    strength = name_strength(name[0].lstrip("-")) if name is not None else 0
    if not strength or value.isspace():
        return False
    if strength < LIKELY:
        return looks_secret(before, value)
    is_variable = re.fullmatch(_ENV_ASSIGNMENT, before.lstrip()) is not None
    if is_variable and not value.startswith(("$", "`", "<", "{")) and not is_no_value(value.replace("(", " ")):
        return True
    if is_no_value(value) or re.fullmatch(_PATH, value[:_LONGEST]):
        return False
    is_quoted = before.rstrip("\\ \t\r\n").endswith(('"', "'", "`"))
    return _is_quoted_secret(value, strength) if is_quoted else _is_bare_secret(before, value, strength)


def _is_quoted_secret(value: str, strength: int) -> bool:
    if _is_no_word(value):
        return True
    if re.search(r"\s", value):
        return re.search("[0-9]", value) is not None and value.count(" ") < 4
    is_word = value.isalpha() and not value.isupper()  # a constant is in capitals
    return strength == STRONG and is_word and re.search(_ABOUT_SECRETS, value) is None


def _is_bare_secret(before: str, value: str, strength: int) -> bool:
    value = value.rstrip(")]},;")
    if _is_no_word(value):
        if re.fullmatch(_NAME_IN_CODE, value):
            return False
        if before.endswith((" ", "\t")) and ("_" in value or "." in value) and is_words(value.rstrip(",;)")):
            return False
        return not value.isdigit() or len(value) >= 4
    if strength < STRONG or re.search(_ABOUT_SECRETS, value):
        return False
    # A word of letters: a line of YAML, or what code says.
    return (
        value.isalpha()
        and value.islower()
        and len(value) > 5
        and re.fullmatch(_FIELD_LINE, before.lstrip()) is not None
    )


def is_argument(before: str, value: str) -> bool:
    """Say whether the argument of an option for a secret is the secret."""
    return not is_no_value(value) and not value.startswith(("-", "@")) and not re.fullmatch(_PATH, value[:_LONGEST])


def is_credential(before: str, value: str) -> bool:
    """Say whether the text after an authorization scheme is a credential."""
    return not is_no_value(value) and (_is_no_word(value) or len(value) >= 20)


_COOKIE = r"([^=;\s]+)=([^;]*)"
_SESSION = r"(?i)sess|sid|auth|token|jwt|csrf|xsrf|login|remember|user"


def is_cookie(before: str, value: str) -> bool:
    """Say whether a cookie has the value of a session, or another value that is no word."""
    return any(
        len(text) >= 4 and not is_no_value(text) and (re.search(_SESSION, name) or not is_words(text))
        for name, text in re.findall(_COOKIE, value[: 8 * _LONGEST])
    )


_PORT = r"[0-9]{1,5}(?:[/?#]|$)"


def is_url_password(before: str, value: str) -> bool:
    """Say whether the text between a colon and an @ in a URL is a password, and not a port with a path after it."""
    return not re.match(_PORT, value) and not value.startswith(("$", "<", "{", "%s"))


def is_user_password(before: str, value: str) -> bool:
    """Say whether the text after ``-u user:`` is a password, and not a group."""
    return is_argument(before, value) and not value.isdigit()


def is_set_value(before: str, value: str) -> bool:
    """Say whether the word after ``set NAME`` is a secret: prose goes on with a word of letters."""
    return is_argument(before, value) and _is_no_word(value)


def is_element(before: str, value: str) -> bool:
    """Say whether the text of an XML element is a secret by the name of the element."""
    name = re.match(_NAME, before[1:])
    return name is not None and follows_a_secret_name(f'{name[0]}="', value.strip())


def is_cell(before: str, value: str) -> bool:
    """Say whether a cell of a column for secrets is one."""
    return not is_no_value(value) and _is_no_word(value) and re.search("[0-9]", value) is not None


def looks_said(before: str, value: str) -> bool:
    """Say whether a sentence about a secret goes on with it."""
    text = value.rstrip(".!?)")
    if " is " in f"{before} " or before.endswith(("'", '"', "`")):
        return _is_no_word(text) and re.search("[0-9]", text) is not None and not is_no_value(text)
    return looks_secret(before, text)


def has_secret_name(check: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Return a check that also looks for a name of a secret in the text before."""

    def checked(before: str, value: str) -> bool:
        names = [name_strength(name.lstrip("-")) for name in re.findall(_NAMES, before)]
        return max(names, default=0) >= LIKELY and check(before, value)

    return checked


_NAMES = r"[A-Za-z0-9_.$-]+"
