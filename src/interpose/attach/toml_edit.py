"""Edit TOML as text: a marked block at the end of the file, which is taken out again; the rest stays as it is."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from ..runtime.regex import regex
from .errors import BadSettings

__all__ = ["add_block", "parse_toml", "remove_block", "set_trust", "toml_text"]

_BEGIN = "# interpose attach: begin; `interpose detach` takes this block out"
_END = "# interpose attach: end"
_BLOCK = regex(rf"(?:\r?\n)?{re.escape(_BEGIN)}\r?\n(?s:.*?){re.escape(_END)}(?:\r?\n|\Z)")


def toml_text(text: str) -> str:
    """Return a text as TOML writes it."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(one, one if one >= " " and one != "\x7f" else f"\\u{ord(one):04x}")
                         for one in text) + '"'  # fmt: skip


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the document; raise BadSettings with the place of a mistake."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        place = f"{where}:{found[1]}:{found[2]}" if found else where
        raise BadSettings(f"not TOML: {str(error).partition(' (at ')[0]}", where=place) from None


def add_block(text: str, lines: list[str], where: str) -> str:
    """Return the text with a block of lines at its end."""
    before = parse_toml(text, where)
    end = "\r\n" if "\r\n" in text else "\n"
    joint = end if text.removeprefix("\ufeff") else ""
    if text and not text.endswith("\n"):
        joint = end * 2
    made = text + joint + end.join([_BEGIN, *lines, _END]) + end
    try:
        after = tomllib.loads(made.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        raise BadSettings(
            "hooks are written inline here, so that no table can be added", where=where,
            hint="write them as [[hooks.EVENT]] tables",
        ) from None  # fmt: skip
    if any(after.get(name) != value for name, value in before.items() if name != "hooks"):
        raise BadSettings("a table cannot be added without a change of another one", where=where)
    return made


def remove_block(text: str) -> str:
    """Return the text without our blocks."""
    return _BLOCK.sub("", text)


def set_trust(text: str, trusted: dict[str, str], where: str) -> tuple[str, dict[str, str]]:
    """Return the text of Codex's config with the hash of each hook that a person has trusted.

    A hash that was there for the same place is replaced; those are returned too, to give them back.
    """
    state = parse_toml(text, where).get("hooks", {})
    known = state.get("state", {}) if isinstance(state, dict) else {}
    replaced: dict[str, str] = {}
    lines: list[str] = []
    for key, digest in trusted.items():
        old = known.get(key) if isinstance(known, dict) else None
        if not isinstance(old, dict):
            lines += [f"[hooks.state.{toml_text(key)}]", f"trusted_hash = {toml_text(digest)}"]
        elif old.get("trusted_hash") != digest or old.get("enabled") is False:
            replaced[key] = str(old.get("trusted_hash", ""))
            text = _replace_hash(text, key, digest, where)
    return (add_block(text, lines, where) if lines else text), replaced


def _replace_hash(text: str, key: str, digest: str, where: str) -> str:
    header = re.compile(
        rf"^[ \t]*\[[ \t]*hooks[ \t]*\.[ \t]*state[ \t]*\.[ \t]*(?:{re.escape(toml_text(key))}|'{re.escape(key)}')"
        r"[ \t]*\](?P<body>(?:(?!^[ \t]*\[)(?s:.))*)",
        re.MULTILINE,
    )
    found = header.search(text)
    if found is None:
        raise BadSettings(f"the trust of {key} is written inline", where=where, hint="write it as a table")
    body = re.sub(r"(?m)^[ \t]*enabled[ \t]*=[ \t]*false[^\r\n]*\r?\n?", "", found["body"])
    line = f"trusted_hash = {toml_text(digest)}"
    changed, count = re.subn(r"(?m)^[ \t]*trusted_hash[ \t]*=[^\r\n]*", lambda _: line, body, count=1)
    if not count:
        end = "\r\n" if "\r\n" in text else "\n"
        changed = f"{end}{line}{body}"
    return text[: found.start("body")] + changed + text[found.end("body") :]
