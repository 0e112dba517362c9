"""The table of events as a page: when each fires, what a hook may do, its fields, what Claude Code makes of it."""

from __future__ import annotations

from interpose.cli.events import BASE_NAMES, KINDS, groups, rights_of
from interpose.events import BASE_FIELDS, EventSpec, Field, NotOk

from .markdown import code, listed, table

__all__ = ["base_fields", "events"]

_EXIT_2 = {
    "deny": "denies",
    "keep going": "keeps it going",
    "context": "gives standard error to the model",
    "user": "shows standard error to the person",
    "ignored": "has no effect",
}


def events() -> str:
    """Return a section for every event, in the groups that the table has."""
    parts = []
    for title, rows in groups():
        parts += [f"## {title}\n", _overview(rows), *map(_section, rows)]
    return "\n".join(parts)


def base_fields() -> str:
    """Return the fields that every event has."""
    return table(
        ("field", "value", ""),
        [(code(one.name), KINDS[one.kind], "" if one.always else "may be absent") for one in BASE_FIELDS],
    )


def _overview(rows: list[EventSpec]) -> str:
    return table(
        ("event", "fires", "a matcher is compared with"),
        [
            (f"[{code(row.name)}](#{_anchor(row)})", row.meaning, code(row.subject) if row.subject else "–")
            for row in rows
        ],
    )


def _anchor(row: EventSpec) -> str:
    return row.name.lower().replace(":", "")


def _section(row: EventSpec) -> str:
    facts = [
        ("fires", row.meaning),
        ("also called", ", ".join(map(code, row.aliases))),
        ("a matcher is compared with", _subject(row)),
        ("a hook may", _may(row)),
        ("its fields", "; ".join(_field(row, one) for one in _own(row)) or "those of every event"),
        ("in Claude Code", "" if ":" in row.name else _claude(row)),
    ]
    return f"### {row.name}\n\n" + table(("", ""), [fact for fact in facts if fact[1]])


def _subject(row: EventSpec) -> str:
    if row.subject is None:
        return "nothing: leave it out"
    return code(row.subject) + (", the last part of the path" if row.subject_is_path_end else "")


def _may(row: EventSpec) -> str:
    rights = [_as_code(right) for right in rights_of(row)]
    if row.changes_need_allow:
        rights[-1] += " (together with an allow that grants)"
    return ", ".join(rights) or "only look"


def _as_code(right: str) -> str:
    verb, _, name = right.partition(" ")
    return f"{verb} {code(name)}" if verb == "modify" else right


def _own(row: EventSpec) -> list[Field]:
    base = {one.name: one.always for one in BASE_FIELDS}
    return [one for one in row.fields.values() if one.name not in BASE_NAMES or one.always != base[one.name]]


def _field(row: EventSpec, one: Field) -> str:
    words = [word for word, name in row.words.items() if name == one.name]
    facts = [KINDS[one.kind], *([] if one.always else ["may be absent"]), *(f"also {code(word)}" for word in words)]
    return f"{code(one.name)} ({', '.join(facts)})"


def _claude(row: EventSpec) -> str:
    """Say what a settings file of Claude Code may expect here."""
    facts = row.claude
    said = [f"exit status 2 {_EXIT_2[facts.exit2]}", f"the deadline is {facts.timeout:g} s"]
    if facts.stdout_is_context:
        said.append("plain text on standard output is context")
    if facts.any_failure_denies:
        said.append("every failure denies")
    if facts.timeout_denies:
        said.append("running past the deadline denies")
    if not facts.failure_blocks:
        said.append("`onFailure: block` has no effect")
    names = sorted(facts.discards.split())
    if names == ["all"]:
        said.append("what a hook answers is discarded")
    elif names:
        said.append(f"{' and '.join(map(code, names))} {'are' if len(names) > 1 else 'is'} discarded")
    if facts.not_ok is not None:
        said.append(_not_ok(facts.not_ok))
    if not facts.http:
        said.append("hooks of type `http` do not run")
    if facts.mcp_tool_at != "*":
        only = listed([code(one) for one in facts.mcp_tool_at.split()], "and")
        said.append(f"hooks of type `mcp_tool` {f'run only at {only}' if only else 'do not run'}")
    if facts.env_file:
        said.append("`CLAUDE_ENV_FILE` names a file for variables")
    return "; ".join(said)


def _not_ok(facts: NotOk) -> str:
    """Say what the verdict of a model does."""
    said = f"`ok: false` of a hook that asks a model: {facts.effects}"
    if facts.continued:
        said += f"; {facts.continued} with `continueOnBlock` and for `agent`"
    return said if facts.agents else f"{said}; `agent` does not run"
