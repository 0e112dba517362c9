"""``interpose check`` says what loading says: it refuses what loading refuses, and warns of what loading warns of."""

import copy
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.properties.examples import tries

from interpose import Hooks, InterposeError
from interpose.config.load import Source
from interpose.lint.files import check_files

NATIVE: dict[str, Any] = {
    "hooks": {
        "maxHooksPerPoint": 3,
        "defaultTimeout": "5s",
        "PreToolUse": [
            {"name": "a", "matcher": "Bash", "if": "Bash(rm *)", "command": "true", "onError": "abort"},
            {"name": "b", "type": "script", "handler": "/deny no", "locked": True},
            {"matcher": "Write", "timeout": 5, "hooks": [{"handler": "json.dumps"}], "commands": []},
        ],
        "Stop": [{"name": "a", "handler": ["/bin/true"], "type": "command", "env": {"A": "b"}}],
    },
    "permissions": {"Bash(git push *)": "ask", "net": "deny"},
    "agents": [{"id": "x", "backend": {"hooks": {"PreToolUse": {"override": True, "hooks": []}}}}],
    "audit": {"path": "audit.db", "retention": "30d"},
}
CLAUDE: dict[str, Any] = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5, "if": "Bash(x)"}]},
            {"hooks": [{"type": "command", "command": "/bin/true", "args": ["${CLAUDE_PROJECT_DIR}"]}]},
            {"matcher": "Edit.*", "hooks": [{"type": "prompt", "prompt": "ok?"}, {"type": "http", "url": "http://x"}]},
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "echo", "onFailure": "block"}]}],
    },
    "permissions": {"deny": ["Read(./.env)", "Bash(rm:*)"], "allow": ["Edit"], "defaultMode": "plan"},
    "model": "x",
}
WORDS = [
    "matchr", "comand", "hook", "PreTooluse", "PreToolUse", "name", "locked", "hooks", "permissions", "x-mine", "type",
    "deny", "a", "b", "override", "enabled", "maxHooksPerPoint", "dialect", "scripts", "audit", "key", "",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2, 5.5, "", "a", "b", "true", "webhook", "command", "Bash(", "(", "native", "claude",
    "*", "[", "re:(", [], {}, ["x"], {"x": 1}, [[]], [{}], {"hooks": []}, {"name": "b", "command": "true"},
    [{"command": "true"}] * 4, {"path": "audit.db", "key": "env:NO_SUCH_KEY"}, ["missing.arma"],
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value where there is a key or an item."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inside:
        yield (*path, key)
        yield from places(held, (*path, key))


@st.composite
def mutations(draw: st.DrawFn) -> tuple[bool, Any]:
    """A file with one to three mistakes: a key renamed, a value replaced, an item taken out, doubled or added."""
    claude = draw(st.booleans())
    made = copy.deepcopy(CLAUDE if claude else NATIVE)
    for _ in range(draw(st.integers(1, 3))):
        where = draw(st.sampled_from(list(places(made)) or [()]))
        if not where:
            return claude, made
        held = made
        for step in where[:-1]:
            held = held[step]
        key = where[-1]
        match draw(st.sampled_from(["rename", "replace", "remove", "double", "add"])):
            case "rename" if isinstance(held, dict):
                held[draw(st.sampled_from(WORDS))] = held.pop(key)
            case "remove":
                del held[key]
            case "double" if isinstance(held, list):
                held.extend(copy.deepcopy(held[key]) for _ in range(draw(st.integers(1, 3))))
            case "add" if isinstance(held, dict):
                held[draw(st.sampled_from(WORDS))] = copy.deepcopy(draw(st.sampled_from(VALUES)))
            case _:
                held[key] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    return claude, made


def said(content: str, name: str) -> tuple[list[str], list[str], list[str], list[str]]:
    """What loading refuses and warns of, and what checking does."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(content)
        report = check_files([Source(str(file))])
        refused = [str(finding.problem) for finding in report.errors]
        warned = [str(finding.problem) for finding in report.findings]
        try:
            hooks = Hooks.load(file)
        except InterposeError as error:
            return str(error).splitlines(), [], refused, warned
        return [], [str(warning) for warning in hooks.warnings], refused, warned


@given(mutations())
@example((False, {"hooks": {"Stop": [{"command": "true"}] * 51}}))
@example((True, {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"x{n}"} for n in range(51)]}]}}))
@example((False, {"hooks": {"maxHooksPerPoint": -1}}))
@example((False, {"audit": {"key": "env:NO_SUCH_KEY"}, "hooks": {}}))
@example(
    (
        False,
        {"hooks": {"PreToolUse": [{"name": "x", "command": "true", "locked": True}, {"name": "x", "command": ":"}]}},
    )
)
@example((False, {"permissions": {"Bash(git": "deny"}}))
@tries(50)
def test_a_file_is_valid_if_it_can_be_loaded(mutation: tuple[bool, Any]) -> None:
    claude, content = mutation

    refuses, warns, refused, warned = said(
        json.dumps(content), ".claude/settings.json" if claude else ".interpose/hooks.json"
    )

    assert bool(refused) is bool(refuses)
    assert set(refuses[:1]) <= set(refused)
    assert set(warns) <= set(warned)


MISTAKES: dict[str, tuple[str, str, str]] = {
    "a misspelt key of a group": (
        '{"hooks": {"PreToolUse": [\n  {"matchr": "Bash", "hooks": [{"type": "command", "command": "true"}]}]}}',
        ":2:4: ", "did you mean matcher?",
    ),
    "a misspelt key of a hook": (
        '{"hooks": {"PreToolUse": [\n  {"hooks": [\n   {"type": "command", "comand": "true"}]}]}}',
        ":3:", "did you mean command in place of comand?",
    ),
    "a misspelt list of hooks": (
        '{"hooks": {"PreToolUse": [\n  {"hook": [{"type": "command", "command": "true"}]}]}}',
        ":2:3: ", "did you mean hooks in place of hook?",
    ),
    "a misspelt event": ('{"hooks": {\n "PreTooluse": []}}', ":2:2: ", "did you mean PreToolUse?"),
    "a misspelt key at the top": ('{\n"hook": {"PreToolUse": []}}', ":2:1: ", "did you mean hooks?"),
    "an event at the top": ('{\n"PreToolUse": []}', ":2:1: ", "move it below hooks"),
    "an unknown type": (
        '{"hooks": {"Stop": [{"hooks": [\n{"type": "commnd", "command": "true"}]}]}}', ":2:2: ", "did you mean command?",
    ),
    "an empty group": ('{"hooks": {"Stop": [\n{"matcher": "", "hooks": []}]}}', ":2:17: ", "a group without hooks"),
    "a matcher that is no text": (
        '{"hooks": {"PreToolUse": [\n{"matcher": 5, "hooks": [{"type": "command", "command": "true"}]}]}}',
        ":2:2: ", "5 where text is expected",
    ),
    "all hooks off": ('{\n"disableAllHooks": true, "hooks": {}}', ":2:1: ", "all hooks of this file are switched off"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "place", "text"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_settings_file_is_warned_of_with_its_place(content: str, place: str, text: str) -> None:
    refuses, warns, refused, warned = said(content, ".claude/settings.json")

    assert (refuses, refused) == ([], [])
    assert any(f"settings.json{place}" in warning and text in warning for warning in warns), warns
    assert set(warns) <= set(warned)


IDLE = {
    "nothing": "{}",
    "no hooks": '{"hooks": {"Stop": []}}',
    "a wrong key at the top": '{"hook": {"Stop": [{"command": "true"}]}}',
    "only settings": '{"hooks": {"enforce": true}}',
    "only hooks that are off": '{"hooks": {"Stop": [{"command": "true", "enabled": false}]}}',
}


@pytest.mark.parametrize("content", IDLE.values(), ids=IDLE)
def test_a_file_that_arms_nothing_is_warned_of(content: str) -> None:
    *_, refused, warned = said(content, ".interpose/hooks.json")

    assert refused == []
    assert [warning for warning in warned if "arms nothing" in warning]


@pytest.mark.parametrize(
    "content",
    ['{"hooks": {"Stop": [{"command": "true"}]}}', '{"permissions": {"Bash": "deny"}}',
     '{"agents": [{"id": "x", "backend": {"hooks": {"Stop": {"override": true, "hooks": []}}}}]}'],
)  # fmt: skip
def test_a_file_that_has_an_effect_is_not(content: str) -> None:
    *_, warned = said(content, ".interpose/hooks.json")

    assert not [warning for warning in warned if "arms nothing" in warning]


def test_every_event_with_too_many_hooks_is_named() -> None:
    many = [{"command": "true"}] * 51

    *_, refused, _ = said(json.dumps({"hooks": {"Stop": many, "PreToolUse": many}}), ".interpose/hooks.json")

    assert [problem.split(": ", 1)[1].split(" has ")[0] for problem in refused] == ["Stop", "PreToolUse"]
