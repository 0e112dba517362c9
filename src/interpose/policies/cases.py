"""The cases of policies: what each denies, asks about, changes and lets pass. Read for the pages and by the tests.

A file ``cases/NAME.yaml`` has the lists ``deny``, ``ask``, ``change`` and ``pass``. An entry is a command line, or a
mapping: ``line`` or ``tool`` and ``input`` for a call, or ``event`` and ``fields`` for another event; ``with`` has the
parameters, ``changed`` what a reply changes, ``note`` a remark for the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from ..records import Record, made_by

__all__ = ["CWD", "HOME", "RESULTS", "Case", "cases_of"]

HOME = "/home/ana"
CWD = "/home/ana/project"
"""Where the cases happen; neither directory has to exist."""

RESULTS = ("deny", "ask", "change", "pass")

_KEYS = {"line", "tool", "input", "event", "fields", "with", "changed", "note"}


class Case(Record):
    """An event, and what a policy does about it."""

    result: str
    event: str = "PreToolUse"
    fields: Mapping[str, Any]
    options: Mapping[str, Any] = made_by(factory=dict)
    changed: Mapping[str, Any] = made_by(factory=dict)
    note: str = ""

    @property
    def text(self) -> str:
        """The case as one line: the command, or the tool and its input."""
        given = self.fields.get("tool_input", {})
        if "tool_name" in self.fields and list(given) == ["command"]:
            return str(given["command"])
        shown = given or {key: value for key, value in self.fields.items() if key != "cwd"}
        said = ", ".join(f"{key}: {value}" for key, value in shown.items())
        return f"{self.fields.get('tool_name', self.event)} {said}"


def cases_of(name: str) -> list[Case]:
    """Return the cases of a policy; raise ValueError if its file is wrong."""
    import yaml

    text = files(__package__).joinpath("cases", f"{name}.yaml").read_text(encoding="utf-8")
    given = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    if set(given) - set(RESULTS):
        raise ValueError(f"{name}: {sorted(set(given) - set(RESULTS))} where {RESULTS} are expected")
    return [case for result in RESULTS for case in _cases(result, given.get(result) or [])]


def _cases(result: str, entries: list[Any]) -> Iterator[Case]:
    for entry in entries:
        given: dict[str, Any] = {"line": entry} if isinstance(entry, str) else dict(entry)
        if unknown := set(given) - _KEYS:
            raise ValueError(f"{sorted(unknown)} in {entry!r}")
        fields = dict(given.get("fields", {}))
        if "line" in given:
            fields |= {"tool_name": "Bash", "tool_input": {"command": given["line"]}}
        elif "tool" in given:
            fields |= {"tool_name": given["tool"], "tool_input": given["input"]}
        fields.setdefault("cwd", CWD)
        yield Case(
            result=result, event=given.get("event", "PreToolUse"), fields=fields, options=given.get("with", {}),
            changed=given.get("changed", {}), note=given.get("note", ""),
        )  # fmt: skip
