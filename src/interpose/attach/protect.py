"""Notice that the settings of an attached agent were changed, and put our entries back.

``watch`` compares stamps at every event; this module is loaded only if one differs. What a person changed elsewhere in
the file stays. A person takes an agent off with ``interpose detach``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import BadSettings
from .files import backup, read_backup, read_bytes, replace_file, text_of
from .record import Attached, WrittenFile, attachments, changing_attachments
from .watch import Stamp, stamp_of

__all__ = ["PutBack", "put_back"]


@dataclass(slots=True)
class PutBack:
    """A file that was not as it was attached."""

    agent: str
    scope: str
    path: str
    what: str
    """What was found."""
    restored: bool
    """Whether our entries are there again."""
    problem: str = ""
    """Why they are not."""

    def __str__(self) -> str:
        end = "our hooks were put back" if self.restored else f"our hooks could not be put back: {self.problem}"
        return f"{self.path}: {self.what}; {end} (`interpose detach {self.agent}` takes them off)"


def put_back(key: str) -> list[PutBack]:
    """Put our entries back where they are missing or switched off; return what was found. An edit elsewhere is none."""
    from .attachment import states_of

    one = attachments().get(key)
    if one is None:
        return []
    done = []
    for state in states_of(one):
        file = next(file for file in one["files"] if file["path"] == state.path)
        if state.holds:
            file["stamp"] = stamp_of(file["path"])
            continue
        found = PutBack(one["agent"], one["scope"], state.path, "; ".join(state.what), restored=False)
        try:
            _restore(one, file)
            found.restored = True
        except (BadSettings, OSError) as error:
            found.problem = str(error)
        file["stamp"] = stamp_of(file["path"]) if found.restored else _never()
        done.append(found)
    with changing_attachments() as record:
        if key in record and not record[key].get("leaving"):
            record[key]["files"] = one["files"]
    return done


def _never() -> Stamp:
    """Return a stamp that no file has, so that the next event looks again."""
    return [0]


def _restore(one: Attached, file: WrittenFile) -> None:
    now = read_bytes(file["path"])
    if now is not None:
        backup(now)  # what another program wrote is not lost
    after = read_backup(file["after"])
    if after is None:
        raise BadSettings("the copy of what was attached is gone", where=file["path"], hint="attach it again")
    new, made = _as_attached(one, file, now, after)
    replace_file(file["path"], new, expected=now, mode=0o755 if new.startswith(b"#!") else 0o644)
    if new != after:
        file["before"], file["made"] = _before(one, file, new, made), made
    file["after"] = backup(new)


def _as_attached(one: Attached, file: WrittenFile, now: bytes | None, after: bytes) -> tuple[bytes, list[list[str]]]:
    """Return what a file becomes: what is there now, with our entries and without what switches them off."""
    from .agents import find_agent
    from .codex import trust_of
    from .entry import SettingsEntry
    from .shapes import JsonHooks
    from .toml_edit import set_trust

    path = file["path"]
    shape: Any = find_agent(one["agent"]).shape_of(one["scope"])  # type: ignore[arg-type]
    if now is None or (file["kind"] == "entries" and shape.is_own):
        return after, file["made"]
    try:
        text = text_of(now, path)
        if file["kind"] == "trust":
            hooks = next(other["path"] for other in one["files"] if other["kind"] == "entries")
            text, _ = set_trust(text, trust_of(text_of(read_bytes(hooks) or b"", hooks), hooks), path)
            return text.encode(), file["made"]
        entries = [SettingsEntry(*given) for given in one["entries"]]
        if not shape.lost(text, entries, path):
            made = file["made"]  # they are there, and only switched off
        else:
            text, made = shape.write(text, entries, path)
            made = [*file["made"], *(one for one in made if one not in file["made"])]
        if isinstance(shape, JsonHooks):
            text = shape.without_switches(text, after.decode(), path)
            if shape.strict and any("strict JSON" in doubt for doubt in shape.doubts(text, path)):
                return after, file["made"]  # a comment was put in, which makes the agent drop the file
            if shape.is_same(text, after.decode(), path):
                return after, file["made"]
        return text.encode(), made
    except BadSettings:
        return after, file["made"]  # nothing in it can be kept: it cannot be read


def _before(one: Attached, file: WrittenFile, new: bytes, made: list[list[str]]) -> str | None:
    """Return the name of the copy that detaching gives back for a file that others have changed too."""
    from .agents import find_agent

    if file["kind"] != "entries":
        return file["before"]
    shape = find_agent(one["agent"]).shape_of(one["scope"])  # type: ignore[arg-type]
    left = shape.remove(text_of(new, file["path"]), made, file["path"])
    if file["before"] is None and left.strip("\ufeff \t\r\n") in ("", "{}"):
        return None
    return backup(left.encode())
