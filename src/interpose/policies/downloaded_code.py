"""Object to running what a line downloads or decodes."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import BadHook
from ..matching.hosts import HostPattern
from .call import Call
from .effects import Effect, say, unread
from .effects.downloads import covers, is_download_and_run, is_well_known
from .effects.tables.installers import INSTALLERS
from .parameters import Parameter, action, names
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_WELL_KNOWN = "well-known"
_PARAMETERS = {
    "run-downloaded": "run",
    "run-extracted": "archives",
    "run-decoded": "decoded",
    "apply-downloaded": "manifests",
}
_INSTEAD = {
    "run-downloaded": "download it to a file, read it, then run it in a second step",
    "run-extracted": "unpack it, look at it, then run it in a second step",
    "run-decoded": "write the commands as they are",
    "apply-downloaded": "download it to a file and read it first",
}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        if effect.kind == "run-downloaded" and _is_allowed(call, effect, options):
            continue
        yield Objection(options[_PARAMETERS[effect.kind]], say(effect, _INSTEAD[effect.kind]), effect.grade)
    for line in call.lines:
        urls = is_download_and_run(line) if line.opaque else ()
        if line.opaque and not (urls and all(_is_listed(url, options) for url in urls)):
            for reason in unread(line):
                yield Objection("ask", f"the command line cannot be read: {reason}", "opaque")


def _is_allowed(call: Call, effect: Effect, options: Options) -> bool:
    """Return whether the URL is listed and the line does nothing with what it downloads but to run it."""
    if not _is_listed(effect.target, options):
        return False
    lines = [line for line in call.lines if effect.target in line.text]
    return bool(lines) and all(effect.target in is_download_and_run(line) for line in lines)


def _is_listed(url: str, options: Options) -> bool:
    return any(is_well_known(url) if one == _WELL_KNOWN else covers(one, url) for one in options["hosts"])


def _installers(name: str, default: tuple[str, ...], purpose: str) -> Parameter:
    """Return a parameter that is a list of hosts, with paths or without; ``well-known`` stands for the table."""
    expects = (
        f"{_WELL_KNOWN} for about {round(len(INSTALLERS), -1)} installers, get.example.com, or get.example.com/tool/"
    )
    texts = names(name, default, purpose, expects)

    def read(value: object) -> tuple[str, ...]:
        found: tuple[str, ...] = texts.read(value)
        for entry in found:
            try:
                HostPattern(entry.removeprefix("https://").partition("/")[0])
            except ValueError:
                raise BadHook(f"{entry} names no host", hint=expects) from None
        return found

    return Parameter(name, read, default, purpose, expects)


POLICY = Policy(
    name="downloaded-code",
    prevents="Running what was just downloaded or decoded: pipes, substitutions, eval, and files between two steps.",
    judge=_judge,
    parameters=(
        _installers("hosts", (_WELL_KNOWN,), "installers that may be run, over https"),
        action("run", "ask", "running a download"),
        action("archives", "ask", "running a program of an archive that the same line downloads"),
        action("decoded", "ask", "running a text that the line decodes, such as base64 -d | sh"),
        action("manifests", "ask", "applying a manifest from a URL to a cluster"),
    ),
    recommended={"manifests": "allow"},
    notes="A download and the run of its file are seen if both stand in one line; a file that an earlier call wrote is "
    "not known. Pages that code fetches by itself are seen if the code has the URL and evaluates what comes back.",
)  # fmt: skip
