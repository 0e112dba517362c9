"""A locked hook holds: no file of its own layer or of one below replaces it, switches it off or overrides it."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from interpose import BadHook, ConfigError, Hooks, UnknownHook
from interpose.config.load import Source, load_sources
from interpose.config.switches import Switches, switched
from interpose.events import TABLE

GUARD = "hooks: {PreToolUse: [{name: guard, type: script, handler: /deny no, locked: true}]}\n"
LOOSE = {
    "another hook": "hooks: {PreToolUse: [{name: guard, type: script, handler: '/log info x'}]}\n",
    "the same hook, off": "hooks: {PreToolUse: [{name: guard, type: script, handler: /deny no, enabled: false}]}\n",
    "another locked hook": "hooks: {PreToolUse: [{name: guard, type: script, handler: '/log info x', locked: true}]}\n",
    "a copy that only records": "hooks: {PreToolUse: [{name: guard, type: script, handler: /deny no, enforce: false}]}\n",
}


def files(folder: Path, *texts: str) -> list[Path]:
    made = [folder / f"{number}.yaml" for number in range(len(texts))]
    for path, text in zip(made, texts, strict=True):
        path.write_text(text)
    return made


def denied(hooks: Hooks, **fields: Any) -> bool:
    return asyncio.run(hooks.fire("PreToolUse", tool_name="Bash", tool_input={}, **fields)).denied


@pytest.mark.parametrize("loose", LOOSE.values(), ids=LOOSE)
def test_a_second_file_does_not_replace_it(tmp_path: Path, loose: str) -> None:
    first, second = files(tmp_path, GUARD, loose)

    with pytest.raises(ConfigError, match=rf"{second}:1: guard: .* at {first}:1 is locked, and cannot be replaced"):
        Hooks.load(first, second)


@pytest.mark.parametrize("loose", LOOSE.values(), ids=LOOSE)
def test_neither_does_a_later_hook_of_its_own_file(tmp_path: Path, loose: str) -> None:
    (path,) = files(tmp_path, f"{GUARD[:-3]}, {loose.removeprefix('hooks: {PreToolUse: [')}")

    with pytest.raises(ConfigError, match="is locked, and cannot be replaced"):
        Hooks.load(path)


@pytest.mark.parametrize("layer", ["user", "project", "local"])
def test_two_files_of_one_found_layer_are_no_different(tmp_path: Path, layer: str) -> None:
    first, second = files(tmp_path, GUARD, LOOSE["another hook"])

    with pytest.raises(ConfigError):
        load_sources(TABLE, [Source(str(first), layer), Source(str(second), layer)])


def test_one_that_is_not_locked_is_replaced_with_a_warning(tmp_path: Path) -> None:
    first, second = files(tmp_path, GUARD.replace(", locked: true", ""), LOOSE["another hook"])

    hooks = Hooks.load(first, second)

    assert not denied(hooks)
    assert [str(warning) for warning in hooks.warnings] == [
        f"{first}:1: guard: replaced by the hook of the same name at {second}:1 (give one of them another name)"
    ]


def test_a_reload_that_would_replace_it_is_refused(tmp_path: Path) -> None:
    first, second = files(tmp_path, GUARD, "hooks: {}\n")
    hooks = Hooks.load(first, second)
    second.write_text(LOOSE["another hook"])

    assert not hooks.reload()
    assert denied(hooks)


def test_neither_an_override_of_another_file_drops_it(tmp_path: Path) -> None:
    override = "agents: [{id: a, backend: {hooks: {PreToolUse: {override: true, hooks: []}}}}]\n"

    assert denied(Hooks.load(*files(tmp_path, GUARD, override)), agent_id="a")
    assert denied(Hooks.load(*files(tmp_path, override, GUARD)), agent_id="a")


def test_enforcement_that_another_file_switches_off_stays_on_for_it(tmp_path: Path) -> None:
    assert denied(Hooks.load(*files(tmp_path, GUARD, "hooks: {enforce: false}\n")))


def test_calls_by_name_of_its_layer_and_below_do_not_touch_it(tmp_path: Path) -> None:
    hooks = Hooks.load(*files(tmp_path, GUARD))

    for layer in ("code", "user", "project", "local"):
        for act in (hooks.disable, hooks.unregister):
            with pytest.raises(UnknownHook):
                act("guard", layer=layer)
    with pytest.raises(BadHook, match="is locked, and cannot be replaced"):
        hooks.register("PreToolUse", lambda event: None, name="guard")
    hooks.enable("guard")

    assert denied(hooks)


def test_a_higher_layer_and_its_own_handle_may() -> None:
    hooks = Hooks()
    own = hooks.register("PreToolUse", lambda event: {"decision": "deny"}, name="own", locked=True)
    hooks.register("PreToolUse", lambda event: {"decision": "deny"}, name="low", locked=True, layer="project")

    hooks.disable("low", layer="user")
    hooks.unregister(own)

    assert not denied(hooks)


def test_one_that_is_off_can_be_switched_on() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: {"decision": "deny"}, name="own", locked=True, enabled=False)

    hooks.enable("own")

    assert denied(hooks)


def test_a_switch_of_the_person_does_not_switch_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("INTERPOSE_TRUST", "all")
    (tmp_path / ".interpose").mkdir()
    (tmp_path / ".interpose" / "hooks.yaml").write_text(GUARD)
    os.chmod(tmp_path / ".interpose", 0o755)
    os.chmod(tmp_path / ".interpose" / "hooks.yaml", 0o644)
    Switches().set(str(tmp_path), "guard", False)

    assert denied(Hooks.discover(tmp_path))


def test_a_switch_holds_for_other_hooks() -> None:
    hooks = load_hooks({"layer": "project"}, {"layer": "project", "locked": True}, {"layer": "code"})

    assert [hook.enabled for hook in switched(hooks, {"it": False})] == [False, True, True]


def load_hooks(*facts: dict[str, Any]) -> list[Any]:
    made = Hooks()
    return [made.register("Stop", lambda event: None, name="it", scope=str(at), **one) for at, one in enumerate(facts)]
