"""Parse a configuration file, YAML or JSON, to plain data with a line and a column for every part of it.

Both languages are read strictly, and alike: ambiguous text, values that would be lost, and anything but plain data are
refused with their position. All problems that can be found are reported at once.
"""

from __future__ import annotations

import re
from typing import Literal

from ..errors import ConfigError, Problem
from .files import MOST_BYTES
from .positions import Parsed, Position, SourceText, Stopped, spell

__all__ = ["MOST_BYTES", "Parsed", "parse", "spell"]

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def parse(data: bytes, source: str, *, format: Literal["yaml", "json"]) -> Parsed:
    """Parse a whole file; raise ConfigError with all problems, each with ``source:line:column``."""
    text = SourceText(source, _decoded(data, source))
    value: object = None
    root: Position = 0
    try:
        value, root = _read(text, format)
    except Stopped:
        pass
    text.refuse_if_wrong()
    return Parsed(value, text, root)


def _read(text: SourceText, format: str) -> tuple[object, Position]:
    if format == "json":
        from .json_text import read_json

        return read_json(text)
    from .yaml_text import read_yaml  # loads PyYAML, which only YAML files need

    return read_yaml(text)


def _decoded(data: bytes, source: str) -> str:
    if len(data) > MOST_BYTES:
        raise ConfigError([Problem(f"has more than {MOST_BYTES} bytes", where=f"{source}:1:1")])
    data = data.removeprefix(_BOM)
    if data.startswith(_UTF16) or b"\x00" in data[:4]:
        raise ConfigError([Problem("is UTF-16 or UTF-32 text", where=f"{source}:1:1", hint="save it as UTF-8")])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = re.split(r"\r\n|\r|\n", data[: error.start].decode("utf-8"))
        problem = Problem(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            where=f"{source}:{len(before)}:{len(before[-1]) + 1}", hint="save it as UTF-8",
        )  # fmt: skip
        raise ConfigError([problem]) from None
