"""Grep: search the content of files by a regular expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .file_search import Walk, compiled, path_pattern, walked
from .files import load
from .glob import newest_first
from .paths import inside, shown
from .tool import ToolFailed, Workplace, make_tool

__all__ = ["GREP"]

_MAX_LINES = 250
_MAX_LINE = 500
_MAX_CHARACTERS = 30_000


async def _grep(given: dict[str, Any], workplace: Workplace) -> str:
    start = inside(workplace, given.get("path") or ".")
    if not start.exists():
        raise ToolFailed(f"{shown(workplace, start)} does not exist")
    expression = compiled(given["pattern"], ignore_case=given.get("-i", False), lines=True)
    matches = _name_filter(given.get("glob"))
    most = int(given.get("head_limit", _MAX_LINES))
    walk = Walk(workplace.cwd, left_out=workplace.left_out)

    def files() -> Iterator[tuple[Path, bytes]]:
        for path in walk.files(start):
            if matches(str(path.relative_to(start if start.is_dir() else start.parent))):
                data = _text(path, walk)
                if data is not None and expression.search(data):
                    yield path, data

    def work() -> list[str]:
        match given.get("output_mode", "files_with_matches"):
            case "content":
                return _first(most, (line for path, data in files() for line in _hits(expression, path, data)))
            case "count":
                counts = ((path, sum(1 for _ in _lines(expression, data))) for path, data in files())
                return _first(most, (f"{shown(workplace, path)}:{count}" for path, count in counts))
            case _:
                found = sorted((path for path, _ in files()), key=newest_first)
                return _first(most, (shown(workplace, path) for path in found))

    def _hits(expression: Any, path: Path, data: bytes) -> Iterator[str]:
        for number, line in _lines(expression, data):
            place_in_file = f":{number}" if given.get("-n", True) else ""
            yield f"{shown(workplace, path)}{place_in_file}:{line}"

    lines = await walked(walk, work)
    return "\n".join([*(lines or ["(nothing found)"]), *walk.remarks()])


def _name_filter(pattern: str | None) -> Callable[[str], bool]:
    """Return a function that says whether to search a file; a pattern without a slash matches file names."""
    if not pattern:
        return lambda _: True
    return path_pattern(pattern.removeprefix("/") if "/" in pattern else f"**/{pattern}")


def _text(path: Path, walk: Walk) -> bytes | None:
    try:
        real = path.resolve() if path.is_symlink() else path
        data = load(real, "") if real == path or walk.may_read(real) else None
    except (ToolFailed, OSError, RuntimeError):
        walk.unreadable += 1
        return None
    return None if data is None or b"\0" in data[:8_192] else data


def _lines(expression: Any, data: bytes) -> Iterator[tuple[int, str]]:
    """Yield each line with a match in it, and its number."""
    number, counted, at = 1, 0, 0
    while at <= len(data) and (match := expression.search(data, at)):
        start = data.rfind(b"\n", 0, match.start()) + 1
        end = data.find(b"\n", match.start())
        end = len(data) if end < 0 else end
        if start == len(data) and data:
            return  # after the last line ending there is no line
        number += data.count(b"\n", counted, start)
        counted, at = start, end + 1
        line = data[start:end].decode("utf-8", "replace").removesuffix("\r")
        yield number, line if len(line) <= _MAX_LINE else f"{line[:_MAX_LINE]} …"


def _first(most: int, lines: Iterator[str]) -> list[str]:
    """Return the first lines, limited in number and length, with a note if there are more."""
    result: list[str] = []
    room = _MAX_CHARACTERS
    for line in lines:
        room -= len(line)
        if len(result) == most or room < 0:
            return [*result, "… and more: narrow the search, or raise head_limit"]
        result.append(line)
    return result


GREP = make_tool(
    "Grep",
    "read",
    "Search files for a regular expression (RE2). Lists the files it is in, the last changed first; with output_mode "
    "content the lines themselves, with count how many there are in each file. Binary files are skipped.",
    {
        "pattern": {"type": "string", "minLength": 1},
        "path": {
            "type": "string",
            "description": "The file or directory to look in; the working directory if left out",
        },
        "glob": {"type": "string", "description": "Only files whose path matches, such as *.py or src/**/*.{ts,tsx}"},
        "output_mode": {"enum": ["content", "files_with_matches", "count"]},
        "-i": {"type": "boolean", "description": "Ignore case"},
        "-n": {"type": "boolean", "description": "Show line numbers (output_mode content; default true)"},
        "head_limit": {"type": "integer", "minimum": 1, "maximum": 2_000, "description": "Maximum number of lines"},
    },
    ("pattern",),
    _grep,
    leaves_out=True,
)
