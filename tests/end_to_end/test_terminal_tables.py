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
