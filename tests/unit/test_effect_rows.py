"""Tables of programs: how options, subcommands, conditions and targets of a row are read."""

from __future__ import annotations

import pytest

from interpose.matching.shell import ShellCommand, read_line
from interpose.matching.shell.words import MANY, ONE
from interpose.policies.effects.rows import Arguments, Found, Program, Row, apply_rows, parse


def found(program: Program, line: str, name: str = "prog") -> list[tuple[str, str]]:
    """Return kind and target of what a program is found to do in a line."""
    (command,) = read_line(line).commands
    return [(one.kind, one.target) for one in apply_rows(name, program, command)]


def parsed(text: str, spec: str) -> Arguments:
    words = text.split()
    return parse("prog", words, spec, ShellCommand(("prog", *words)))


@pytest.mark.parametrize(
    ("text", "spec", "options", "operands"),
    [
        ("-rf x", "r,recursive f,force", {"r": [""], "f": [""]}, ["x"]),
        ("--recursive x", "r,recursive", {"r": [""]}, ["x"]),
        ("--rec x", "r,recursive", {"r": [""]}, ["x"]),
        ("--h", "help,h hard", {"help": [""]}, []),
        ("-m text x", "m=,message=", {"m": ["text"]}, ["x"]),
        ("-mtext x", "m=,message=", {"m": ["text"]}, ["x"]),
        ("--message=text --message more", "m=,message=", {"m": ["text", "more"]}, []),
        ("-am text", "a m=", {"a": [""], "m": ["text"]}, []),
        ("-i.bak x", "i=?", {"i": [".bak"]}, ["x"]),
        ("--color x", "color=?", {"color": [""]}, ["x"]),
        ("x -f y", "f", {"f": [""]}, ["x", "y"]),
        ("-- -f", "f", {}, ["-f"]),
        ("- x", "f", {}, ["-", "x"]),
        ("-delete", "delete", {"delete": [""]}, []),
        ("-f --no-force", "f,force", {"no-force": [""]}, []),
        ("--no-force -f", "f,force", {"no-force": [""], "f": [""]}, []),
        ("--no-verify", "v,verify no-verify", {"no-verify": [""]}, []),
        ("--unknown=1", "", {"unknown": ["1"]}, []),
    ],
)
def test_words_are_parsed_as_getopt_would(
    text: str, spec: str, options: dict[str, list[str]], operands: list[str]
) -> None:
    arguments = parsed(text, spec)

    assert (arguments.options, arguments.operands) == (options, operands)


def test_operands_before_the_dashes_are_counted() -> None:
    assert parsed("a -- b c", "").dashes == 1
    assert parsed("a b", "").dashes is None


@pytest.mark.parametrize(
    ("when", "line", "holds"),
    [
        ("-f", "prog --force", True),
        ("-f", "prog -n", False),
        ("!-n", "prog x", True),
        ("!-n", "prog -n", False),
        ("-f !-n", "prog -fn", False),
        (("-f", "-n"), "prog -n", True),
        ("--size=0", "prog --size 0", True),
        ("--size=0|1*", "prog --size=17", True),
        ("--size=0", "prog --size=5", False),
        ("--size=0", 'prog --size="$x"', True),
        ("#>=2", "prog a b", True),
        ("#==0", "prog -f", True),
        ("#<=1", "prog a b", False),
        ("1:a*", "prog abc x", True),
        ("1:a*", "prog x abc", False),
        ("*:a*", "prog x abc", True),
        ("*:--wipe*", "prog --wipe-all", True),
        ("--", "prog -- x", True),
        ("--", "prog x", False),
    ],
)
def test_a_condition_holds_or_not(when: str | tuple[str, ...], line: str, holds: bool) -> None:
    program = Program((Row("power", when),), options="f,force n,dry-run size=")

    assert found(program, line) == ([("power", "")] if holds else [])


@pytest.mark.parametrize(
    ("does", "targets"),
    [
        ("read-files:all", ["a", "b", "c"]),
        ("read-files:first", ["a"]),
        ("read-files:last", ["c"]),
        ("read-files:notfirst", ["b", "c"]),
        ("read-files:notlast", ["a", "b"]),
        ("read-files:after-dashes", ["c"]),
        ("read-files:value:o", ["out"]),
        ("read-files:here", ["."]),
        ("read-files", [""]),
    ],
)
def test_the_targets_of_a_row_are_words_of_the_command(does: str, targets: list[str]) -> None:
    program = Program((Row(does),), options="o=,output=")

    assert found(program, "prog -o out a b -- c") == [("read-files", target) for target in targets]


def test_each_is_all_operands_or_one_effect_without_a_target() -> None:
    program = Program((Row("stop-service:each"),))

    assert found(program, "prog a b") == [("stop-service", "a"), ("stop-service", "b")]
    assert found(program, "prog") == [("stop-service", "")]


def test_the_first_row_that_holds_wins_unless_it_says_also() -> None:
    first = Program((Row("power", "-f"), Row("kill")), options="f")
    both = Program((Row("power", "-f", also=True), Row("kill")), options="f")

    assert found(first, "prog -f") == [("power", "")]
    assert found(first, "prog") == [("kill", "")]
    assert found(both, "prog -f") == [("power", ""), ("kill", "")]


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("prog stack rm x", [("kill", "x")]),
        ("prog --quiet stack rm x", [("kill", "x")]),
        ("prog --context rm stack rm x", [("kill", "x")]),
        ("prog stack --file f rm x", [("kill", "x")]),
        ("prog stack list", []),
        ("prog rm stack", []),
        ("prog stack", []),
        ('prog stack "$sub" x', []),
    ],
)
def test_a_subcommand_is_found_behind_options_and_their_values(line: str, result: list[tuple[str, str]]) -> None:
    program = Program((Row("kill:all", (), "stack rm|stack delete", "file="),), globals="context= quiet")

    assert found(program, line) == result


def test_an_unknown_subcommand_counts_only_with_an_option_or_a_word_of_the_row() -> None:
    program = Program((Row("power", "--hard", "reset", "hard"), Row("kill", (), "stop"), Row("kill", "#>=1", "end")))

    assert found(program, 'prog "$x" --hard') == [("power", "")]
    assert found(program, 'prog "$x" more') == []


@pytest.mark.parametrize(
    ("line", "is_help"),
    [
        ("prog --help", True),
        ("prog sub --help", True),
        ("prog help sub", True),
        ("prog --version", True),
        ("prog sub -f --help", True),
        ("prog sub x --help", True),
        ("prog sub -m --help", False),
        ("prog sub --other --help", False),
        ("prog sub -- --help", False),
    ],
)
def test_a_question_for_help_has_no_effect_but_a_value_is_no_question(line: str, is_help: bool) -> None:
    program = Program((Row("power", (), "sub", "f m="),), globals="v,version")

    assert (found(program, line) == []) is is_help


def test_a_function_reads_what_rows_cannot_say() -> None:
    program = Program(
        (Row(lambda arguments: [Found("kill", one.upper()) for one in arguments.operands], (), "end"),),
        effects=lambda arguments: [Found("power", arguments.words[0])],
    )

    assert found(program, "prog end a") == [("kill", "A"), ("power", "end")]


def test_a_dashed_name_is_the_subcommand() -> None:
    program = Program((Row("kill:all", (), "end"),), aka="prog-*", dashed=True)

    assert found(program, "/usr/lib/prog-end a") == [("kill", "a")]


def test_the_directory_of_a_program_is_kept() -> None:
    program = Program((Row("kill"),), globals="C=", directory=lambda arguments: arguments.value("C") or "")
    (command,) = read_line("prog -C sub end").commands

    assert [one.directory for one in apply_rows("prog", program, command)] == ["sub"]


@pytest.mark.parametrize(
    ("word", "target"),
    [
        ("~/x", "~/x"),
        ("'~/x'", "./~/x"),
        ("build/*", f"build/{MANY}"),
        ("'*'", "*"),
        ('"$x/y"', f"{ONE}/y"),
        ("$x", ONE),
    ],
)
def test_a_target_tells_a_wildcard_from_what_is_unknown(word: str, target: str) -> None:
    assert found(Program((Row("kill:all"),)), f"prog {word}") == [("kill", target)]
