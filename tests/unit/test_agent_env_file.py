"""The file in which hooks set variables for the agent's tools: read as a shell would, and never run."""

import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpose.agent.env_file import EnvFile, read_assignments

BASE = {"PATH": "/usr/bin:/bin", "HOME": "/home/me", "OLD": "old"}


def read(text: str) -> tuple[dict[str, str], list[str]]:
    variables: dict[str, str] = {}
    problems = read_assignments(text, variables, lambda: BASE)
    return variables, problems


def by_bash(text: str, names: list[str]) -> dict[str, str]:
    """Return what a shell that runs the text has in these variables."""
    shown = "; ".join(f'printf "%s\\0" "${name}"' for name in names)
    done = subprocess.run(["bash", "-c", f"{text}\n{shown}"], env=BASE, capture_output=True, check=True)
    return dict(
        zip(names, (value.decode("utf-8", "surrogateescape") for value in done.stdout.split(b"\0")), strict=False)
    )


@pytest.mark.parametrize(
    "text",
    [
        "export A=b",
        "A=b",
        "export A=b C=d",
        "export A=b; export C=d",
        "declare -x A=\"b c\"",
        "typeset -x A='b c'",
        "export A=",
        "export A=''\"\"",
        'export A="$OLD/x:${OLD}y"',
        "export A=$OLD:${OLD}",
        "export A='$OLD'",
        'export A="\\$OLD \\"q\\" \\\\ \\n"',
        "export A=b\\ c",
        "export A=$'one\\ntwo\\t\\x41\\101\\'\\\\ \\303\\251'",
        'export A="one\ntwo"',
        "export A='one\ntwo'",
        "export A=one\\\ntwo",
        'export A="one\\\ntwo"',
        "export A=~/bin:~/lib:x~",
        "export A=~",
        "export A=\"~/bin\"",
        "# a comment\n\n   export A=b   # another\n\texport C=d",
        "export A=b#c",
        "export A=a=b,c-d/e@f%g+h^i",
        "export A=1\nexport C=\"$A$A\"",
        "export A=$NOWHERE.x",
        "A=100% C=50$",
        "export PATH=\"$PATH:./node_modules/.bin\"\nexport A=$PATH",
        "export A=b\r\nexport C=d",
        "export -- A=b",
        "export A",
    ],
)  # fmt: skip
def test_an_assignment_means_what_it_means_to_a_shell(text: str) -> None:
    variables, problems = read(text)

    assert problems == []
    names = sorted({"A", "C"} | set(variables))
    assert {name: variables.get(name, BASE.get(name, "")) for name in names} == by_bash(
        text.replace("\r\n", "\n"), names
    )


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=40))
def test_every_value_that_is_quoted_for_a_shell_is_read(value: str) -> None:
    assert read(f"export A={shlex.quote(value)}\nexport B=1") == ({"A": value, "B": "1"}, [])


def test_what_a_shell_prints_of_its_variables_is_read() -> None:
    values = {"A": "a b", "B": 'it\'s "x" $HOME `id` \\', "C": "one\ntwo", "D": "\x01\x1b", "E": "é", "F": ""}
    printed = subprocess.run(
        ["bash", "-c", "export -p"], env={**BASE, **values}, capture_output=True, text=True, check=True
    ).stdout

    variables, problems = read(printed)

    assert problems == []
    assert {name: variables[name] for name in values} == values


@pytest.mark.parametrize(
    "line",
    [
        "ls() { git push; }",
        "alias ls='git push'",
        "export A=$(touch ran)",
        'export A="$(touch ran)"',
        "export A=`touch ran`",
        'export A="`touch ran`"',
        "export A=$((1+1))",
        "export A=${B:=c}",
        "export A=${B:-$(touch ran)}",
        "export A=b && touch ran",
        "export A=b | touch ran",
        "export A=b > ran",
        "export A=b & touch ran",
        "export A=<(touch ran)",
        "export A=(b c)",
        "A[$(touch ran)]=b",
        "export A+=b",
        "touch ran",
        "A=b touch ran",
        "source ran",
        ". ran",
        "unset A",
        "export -f ls",
        "export -n A",
        "eval A=b",
        "export A=*",
        "export A=~root/x",
        "export A={b,c}",
        "1A=b",
        "export A='b",
        "export A=\"b",
        "export A=$'b",
        "export A=$'b\\0c'",
        "export A=$1",
        "export A=$$",
        'export A=$"b"',
        "if true; then export A=b; fi",
    ],
)  # fmt: skip
def test_what_is_no_plain_assignment_is_left_out_and_named(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    variables, problems = read(f"export BEFORE=1\n{line}")

    assert variables == {"BEFORE": "1"}
    assert len(problems) >= 1
    assert problems[0].startswith("CLAUDE_ENV_FILE, line 2: ")
    assert list(tmp_path.iterdir()) == []


def test_the_lines_after_one_that_is_not_understood_count() -> None:
    assert read("eval x\nexport A=b")[0] == {"A": "b"}


def test_what_follows_an_open_quote_is_part_of_the_value_and_not_read() -> None:
    variables, problems = read('export A="$(cat\nexport B=c\n)"\nexport D=e\n')

    assert variables == {}
    assert len(problems) == 1
    assert "the rest is not read" in problems[0]


@given(st.text(st.sampled_from("AB=$(){}`'\"\\;&|<>#~ \t\n\0exportdeclare-x"), max_size=60))
def test_any_text_is_read_to_its_end_and_gives_only_names_and_values(text: str) -> None:
    variables, _ = read(text)

    assert all(name.isidentifier() and "\0" not in value for name, value in variables.items())


def test_the_file_is_private_and_gone_once_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    variables: dict[str, str] = {}
    file = EnvFile(variables, lambda: BASE)

    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (file.path.parent, file.path)]
    file.path.write_text("export A=b\n")
    problems = file.take()

    assert (modes, problems, variables) == ([0o700, 0o600], [], {"A": "b"})
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_a_hook_removed_or_filled_is_a_problem_and_no_error() -> None:
    variables: dict[str, str] = {}
    gone, full = EnvFile(variables, lambda: BASE), EnvFile(variables, lambda: BASE)
    gone.path.unlink()
    full.path.write_text("export A=b\n" * 200_000)

    problems = [*gone.take(), *full.take()]

    assert [problem.partition(",")[0] for problem in problems] == [
        "CLAUDE_ENV_FILE cannot be read", "CLAUDE_ENV_FILE has more than 1048576 bytes",
    ]  # fmt: skip
    assert variables == {}


def test_a_file_without_any_sense_is_given_up_after_some_lines() -> None:
    variables, problems = read("eval x\n" * 100_000 + "export A=b\n")

    assert variables == {}
    assert len(problems) == 10
    assert "line 10:" in problems[9]
    assert "the rest is not read" in problems[9]
