"""Every table of programs uses known kinds, roles and options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

import pytest

from interpose.policies.effects.effect import KINDS
from interpose.policies.effects.rows import RUNS, Program, Row
from interpose.policies.effects.tables import FAMILIES

ROLES = {"", "all", "words", "first", "last", "notfirst", "notlast", "after-dashes", "each", "here"}
TERM = re.compile(r"!?(--|#(>=|==|<=)\d+|[1*]:\S+|--?[^-=\s][^=\s]*(=\S+)?)")


def rows(family: str) -> Iterator[tuple[str, Program, Row]]:
    """Yield each row of a family, with its program and the program's name."""
    table: dict[str, Program] = import_module(f"interpose.policies.effects.tables.{family}").PROGRAMS
    for name, program in table.items():
        for row in program.rows:
            yield name, program, row


def conditions(row: Row) -> tuple[str, ...]:
    return (row.when,) if isinstance(row.when, str) else row.when


def options_with_values(program: Program, row: Row) -> set[str]:
    text = f"{row.options} {program.options} {program.globals}"
    return {one.rstrip("=?") for entry in text.split() for one in entry.split(",") if one.endswith(("=", "=?"))}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_kinds_and_roles_of_a_row_are_known(family: str) -> None:
    wrong = []
    for name, _, row in rows(family):
        for entry in row.does.split() if isinstance(row.does, str) else ():
            kind, _, role = entry.partition(":")
            if (kind not in KINDS and kind != RUNS) or not (role in ROLES or role.startswith("value:")):
                wrong.append(f"{name}: {entry}")

    assert wrong == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_conditions_of_a_row_can_be_read_and_compare_values_of_options_that_have_one(family: str) -> None:
    wrong = []
    for name, program, row in rows(family):
        valued = options_with_values(program, row)
        for term in (term.removeprefix("!") for condition in conditions(row) for term in condition.split()):
            option, equals, _ = term.lstrip("-").partition("=")
            if TERM.fullmatch(term) is None or (term.startswith("-") and equals and option not in valued):
                wrong.append(f"{name} {row.sub}: {term}")

    assert wrong == []
