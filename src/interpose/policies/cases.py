"""The cases of policies: what each denies, asks about, changes and lets pass. Read for the pages and by the tests.

A file ``cases/NAME.yaml`` has the lists ``deny``, ``ask``, ``change`` and ``pass``. An entry is a command line, or a
mapping: ``line`` or ``tool`` and ``input`` for a call, or ``event`` and ``fields`` for another event; ``with`` has the
parameters, ``changed`` what a reply changes, ``note`` a remark for the page. ``before`` has what happened earlier in
the session: entries like these, where a call has run, or failed with ``error``; ``times`` repeats one.

The first entries of a list are the examples that people see: the plainest and most frequent ones belong there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from ..records import Record, made_by

__all__ = ["CWD", "HOME", "RESULTS", "PolicyCase", "cases_of"]

HOME = "/home/ana"
CWD = "/home/ana/project"
"""Where the cases happen; neither directory has to exist."""

RESULTS = ("deny", "ask", "change", "pass")

_KEYS = {"line", "tool", "input", "event", "fields", "with", "changed", "note", "before"}
_NOT_SAID = ("cwd", "session_id", "agent_id", "tool_name", "tool_input", "tool_use_id")
_KEYS_BEFORE = {"line", "tool", "input", "event", "fields", "response", "error", "times"}


class PolicyCase(Record):
    """An event, and what a policy does about it."""

    result: str
    event: str = "PreToolUse"
    fields: Mapping[str, Any]
    options: Mapping[str, Any] = made_by(factory=dict)
    changed: Mapping[str, Any] = made_by(factory=dict)
    note: str = ""
    before: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """The events before it, each with its fields."""
    earlier: str = ""
    """What happened before it, in words."""

    @property
    def text(self) -> str:
        """The case as one line: the command, or the tool and its input."""
        said = _said(self.event, self.fields)
        return f"{said} (after {self.earlier})" if self.earlier else said


def cases_of(name: str) -> list[PolicyCase]:
    """Return the cases of a policy; raise ValueError if its file is wrong."""
    import yaml

    text = files(__package__).joinpath("cases", f"{name}.yaml").read_text(encoding="utf-8")
    given = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - both are safe
    if set(given) - set(RESULTS):
        raise ValueError(f"{name}: {sorted(set(given) - set(RESULTS))} where {RESULTS} are expected")
    return [case for result in RESULTS for case in _cases(result, given.get(result) or [])]


def _cases(result: str, entries: list[Any]) -> Iterator[PolicyCase]:
    for entry in entries:
        given: dict[str, Any] = {"line": entry} if isinstance(entry, str) else dict(entry)
        if unknown := set(given) - _KEYS:
            raise ValueError(f"{sorted(unknown)} in {entry!r}")
        before = [_earlier(one, f"earlier-{place}") for place, one in enumerate(given.get("before", []))]
        yield PolicyCase(
            result=result, event=given.get("event", "PreToolUse"), fields=_fields(given), options=given.get("with", {}),
            changed=given.get("changed", {}), note=given.get("note", ""),
            before=tuple(one for events, _ in before for one in events), earlier=", ".join(said for _, said in before),
        )  # fmt: skip


def _fields(given: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(given.get("fields", {}))
    if "line" in given:
        fields |= {"tool_name": "Bash", "tool_input": {"command": given["line"]}}
    elif "tool" in given:
        fields |= {"tool_name": given["tool"], "tool_input": given.get("input", {})}
    fields.setdefault("cwd", CWD)
    return fields


def _earlier(entry: Any, number: str) -> tuple[list[tuple[str, Mapping[str, Any]]], str]:
    """Return the events of an entry of ``before``, and what it is in words."""
    given: dict[str, Any] = {"line": entry} if isinstance(entry, str) else dict(entry)
    if unknown := set(given) - _KEYS_BEFORE:
        raise ValueError(f"{sorted(unknown)} in {entry!r}")
    fields, times = _fields(given), given.get("times", 1)
    events = [(given.get("event", "PreToolUse"), fields)]
    said = _said(*events[0])
    if "error" in given:
        events.append(("PostToolUseFailure", {**fields, "error": given["error"]}))
        said += f" failed with {given['error']!r}"
    elif "event" not in given:
        events.append(("PostToolUse", {**fields, "tool_response": given.get("response", "")}))
    made: list[tuple[str, Mapping[str, Any]]] = [
        (event, {"tool_use_id": f"{number}-{n}", **given}) for n in range(times) for event, given in events
    ]
    return made, said + (f", {times} times" if times > 1 else "")


def _said(event: str, fields: Mapping[str, Any]) -> str:
    """Return an event as one line: the command of a call, the tool and its input, or the event and its fields."""
    given = fields.get("tool_input", {})
    tool = str(fields.get("tool_name", ""))
    is_line = tool == "Bash" and list(given) == ["command"]
    call = str(given["command"]) if is_line else f"{tool} {_listed(given)}".strip()
    rest = _listed({key: value for key, value in fields.items() if key not in _NOT_SAID})
    if event == "PreToolUse":
        return f"{call}, {rest}" if rest else call
    return f"{event} {call + ', ' if call and rest else call}{rest}".rstrip()


def _listed(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in fields.items())
