"""A table at a real terminal: no word is torn, however narrow it is, and colours are left out if they are not wanted."""

from pathlib import Path

import pytest
from tests.terminals import Terminal

pytestmark = pytest.mark.slow

HOOKS = """\
hooks:
  PreToolUse:
    - {name: ask-before-push, if: Bash(git push *), type: script, handler: /ask "Push to a remote?"}
"""


def listed(tmp_path: Path, **environment: str) -> Terminal:
    (tmp_path / "hooks.yaml").write_text(HOOKS)
    around = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm", **environment}
    with Terminal("list", "-c", "hooks.yaml", environment=around, cwd=tmp_path) as terminal:
        assert terminal.wait() == 0
    return terminal


def test_a_wide_terminal_shows_a_row_on_a_line(tmp_path: Path) -> None:
    heading, row = listed(tmp_path, COLUMNS="140").seen.splitlines()

    assert heading.split() == [
        "EVENT",
        "ORDER",
        "NAME",
        "TYPE",
        "IF",
        "DEADLINE",
        "ON",
        "ERROR",
        "STATE",
        "LAYER",
        "SOURCE",
    ]
    assert row.split() == [
        "PreToolUse", "1", "ask-before-push", "script", "Bash(git", "push", "*)", "30", "s", "log", "on", "code",
        "hooks.yaml:3",
    ]  # fmt: skip


def test_a_narrower_one_breaks_a_cell_between_words(tmp_path: Path) -> None:
    _, first, second = listed(tmp_path, COLUMNS="100").seen.splitlines()

    assert "Bash(git" in first
    assert first.rstrip().endswith("hooks.yaml:3")
    assert second.split() == ["push", "*)"]


@pytest.mark.parametrize("columns", ["40", "80"])
def test_a_narrow_one_shows_a_row_as_a_block(tmp_path: Path, columns: str) -> None:
    first, *more = listed(tmp_path, COLUMNS=columns).seen.splitlines()

    assert first == "PreToolUse  1  ask-before-push"
    assert all(line.startswith("    ") and len(line) <= int(columns) for line in more)
    assert " ".join(" ".join(more).split()) == (
        "type script, if Bash(git push *), deadline 30 s, on error log, state on, layer code, source hooks.yaml:3"
    )


@pytest.mark.parametrize("columns", ["80", "140"])
def test_whoever_wants_no_colour_gets_none(tmp_path: Path, columns: str) -> None:
    assert "\x1b" in listed(tmp_path, COLUMNS=columns).raw
    assert "\x1b" not in listed(tmp_path, COLUMNS=columns, NO_COLOR="1").raw


def test_what_an_event_offers_is_folded_between_words(tmp_path: Path) -> None:
    around = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb", "COLUMNS": "70"}
    with Terminal("events", environment=around) as terminal:
        assert terminal.wait() == 0

    lines = terminal.seen.splitlines()[2:5]
    assert [line.strip() for line in lines] == [
        "a hook may deny, ask, allow, add context,",
        "modify tool_input; the matcher is compared",
        "with tool_name",
    ]


def helped(tmp_path: Path, *words: str) -> list[str]:
    around = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm", "COLUMNS": "80"}
    with Terminal(*words, "--help", environment=around) as terminal:
        assert terminal.wait() == 0
    return [line.strip() for line in terminal.seen.splitlines()]


def test_the_help_fits_into_80_columns(tmp_path: Path) -> None:
    lines = helped(tmp_path)

    assert max(map(len, lines)) <= 80
    assert lines[:2] == [
        "Interpose is a hook engine for AI agents: the agent fires an event, your hooks",
        "answer, and one outcome says what the agent may do.",
    ]


@pytest.mark.parametrize(
    ("command", "paragraph"),
    [
        (("trust",), [
            "A file that Interpose finds (such as `.interpose/hooks.yaml`) is armed only",
            "after you trust it. Its content and that of the files that it runs are copied,",
            "and hooks run from the copy; what changes afterwards has no effect until you",
            "trust it again. The copy and your answer are stored outside the project.",
        ]),
        (("log", "verify"), [
            "The key and the anchor are those that the configuration names for this store;",
            "--key and --anchor name others.",
        ]),
        (("fleet", "push"), [
            "Nothing is pushed if the configuration has mistakes, if a guard uses files",
            "outside of the directory, or if a case fails. Files of cases are named",
            "*cases*.yaml. Nodes that are connected run it within seconds, others when they",
            "connect again.",
        ]),
    ],
)  # fmt: skip
def test_a_paragraph_of_a_help_fills_the_lines_of_the_terminal(
    command: tuple[str, ...], paragraph: list[str], tmp_path: Path
) -> None:
    lines = helped(tmp_path, *command)

    assert paragraph[0] in lines
    begin = lines.index(paragraph[0])
    assert lines[begin : begin + len(paragraph)] == paragraph
