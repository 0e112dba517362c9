"""Programs that write files of a given size, or without end."""

from __future__ import annotations

from collections.abc import Iterator

from ..rows import Arguments, Found, Program

__all__ = ["ENDLESS", "PROGRAMS", "bytes_of", "is_endless"]

ENDLESS = "inf"
"""The size of what has no end."""

_SOURCES = frozenset({"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"})
_READERS = frozenset({"cat", "base64", "base32", "xxd", "od", "hexdump", "tr", "gzip", "strings", "sed", "awk", "pv"})
_POWERS = "kmgtpe"
_LONGEST_NUMBER = 30


def bytes_of(text: str) -> int | None:
    """Return the number of bytes that a text such as ``10G``, ``1MiB`` or ``500kB`` means; None if it is none."""
    plain = text.strip().lower().lstrip("+<>/%~=")
    digits = plain[: next((at for at, mark in enumerate(plain) if mark not in "0123456789."), len(plain))]
    unit = plain[len(digits) :]
    try:
        number = float(digits[:_LONGEST_NUMBER])
    except ValueError:
        return None
    if unit in ("", "b", "c"):
        return int(number * (512 if unit == "b" else 1))
    if unit[0] not in _POWERS or unit[1:] not in ("", "b", "ib"):
        return None
    return int(number * (1000 if unit[1:] == "b" else 1024) ** (_POWERS.index(unit[0]) + 1))


def is_endless(name: str, words: tuple[str, ...], inputs: Iterator[str] | tuple[str, ...] = ()) -> bool:
    """Return whether a command writes to its output without end."""
    if name == "yes":
        return True
    if name == "dd":
        return any(f"if={one}" in words for one in _SOURCES) and not any(word.startswith("count=") for word in words)
    return name in _READERS and bool(_SOURCES & {*words, *inputs})


def _option(arguments: Arguments) -> Iterator[Found]:
    """Read ``fallocate -l SIZE FILE``, ``truncate -s SIZE FILE`` and ``mkfile SIZE FILE``."""
    given = arguments.value("l") or arguments.value("s")
    operands = arguments.operands
    if given is None and arguments.program == "mkfile" and operands:
        given, *operands = operands
    size = bytes_of(given or "")
    if size is not None:
        yield from (Found("fill-disk", word, (str(size),)) for word in operands)


def _dd(arguments: Arguments) -> Iterator[Found]:
    given = dict(word.partition("=")[::2] for word in arguments.words)
    target = given.get("of", "")
    if not target or target.startswith("/dev/"):
        return
    if is_endless("dd", arguments.words):
        yield Found("fill-disk", target, (ENDLESS,))
    block, count = bytes_of(given.get("obs") or given.get("bs") or "512"), bytes_of(given.get("count", ""))
    if block is not None and count is not None and given.get("if", "") in _SOURCES:
        yield Found("fill-disk", target, (str(block * count),))


def _head(arguments: Arguments) -> Iterator[Found]:
    size = bytes_of(arguments.value("c") or "")
    if size is not None:
        for one in arguments.command.redirections:
            if one.is_output:
                yield Found("fill-disk", one.target, (str(size),))


def _stream(arguments: Arguments) -> Iterator[Found]:
    """Read ``yes > FILE`` and ``cat /dev/zero > FILE``."""
    redirections = arguments.command.redirections
    inputs = tuple(one.target for one in redirections if one.is_input)
    if is_endless(arguments.program, arguments.words, inputs) and "timeout" not in arguments.command.via:
        for one in redirections:
            if one.is_output and not one.target.startswith("/dev/"):
                yield Found("fill-disk", one.target, (ENDLESS,))


def _copy(arguments: Arguments) -> Iterator[Found]:
    *sources, target = arguments.operands or [""]
    if _SOURCES & set(sources):
        yield Found("fill-disk", target, (ENDLESS,))


PROGRAMS = {
    "fallocate": Program(effects=_option, options="l=,length= o=,offset= n p z c d i v"),
    "truncate": Program(effects=_option, options="s=,size= r=,reference= c o"),
    "mkfile": Program(effects=_option, options="n v"),
    "xfs_mkfile": Program(effects=_option, options="n v"),
    "dd": Program(effects=_dd),
    "head": Program(effects=_head, options="c=,bytes= n=,lines= q v z"),
    "yes": Program(effects=_stream),
    "cp": Program(effects=_copy),
    **{name: Program(effects=_stream) for name in sorted(_READERS)},
}
