"""Who may switch what: the person at the terminal has the rights of the user layer."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.people import somebody

from interpose import UnknownHook
from interpose.cli import main
from interpose.config.load import Loaded
from interpose.config.switches import ENFORCE, OBSERVE, Switch, Switches, switch, switched
from interpose.events import TABLE
from interpose.model import Hook


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return str(tmp_path)


def loaded(*hooks: dict[str, Any]) -> Loaded:
    return Loaded(
        hooks=[Hook(row=TABLE["Stop"], handler=None, **{"name": "it", "label": "it", **facts}) for facts in hooks]
    )


@pytest.mark.parametrize("layer", ["user", "project", "local"])
def test_what_files_say_can_be_switched(project: str, layer: str) -> None:
    switch(project, "it", False, loaded({"layer": layer}))

    assert Switches().of(project) == {"it": False}


@pytest.mark.parametrize("layer", ["user", "project", "local"])
def test_a_locked_hook_is_switched_on_and_never_off(project: str, layer: str) -> None:
    with pytest.raises(UnknownHook, match=f"it belongs to the {layer} layer and is locked there"):
        switch(project, "it", False, loaded({"layer": layer, "locked": True}))
    assert Switches().of(project) == {}

    switch(project, "it", True, loaded({"layer": layer, "locked": True, "enabled": False}))
    assert Switches().of(project) == {"it": True}


@pytest.mark.parametrize(("locked", "said"), [(True, "is locked there"), (False, "is set there")])
def test_what_a_layer_above_has_set_stays(project: str, locked: bool, said: str) -> None:
    with pytest.raises(UnknownHook, match=f"it belongs to the code layer and {said}: it cannot be switched from here"):
        switch(project, "it", False, loaded({"layer": "code", "locked": locked}))

    assert Switches().of(project) == {}


def test_a_switch_that_says_what_the_file_says_is_none(project: str) -> None:
    switch(project, "it", False, loaded({"layer": "project"}))
    switch(project, "it", True, loaded({"layer": "project"}))

    assert Switches().of(project) == {}


def test_a_hook_that_is_off_in_one_of_two_files_is_switched_on(project: str) -> None:
    switch(project, "it", True, loaded({"layer": "user"}, {"layer": "project", "enabled": False}))

    assert Switches().of(project) == {"it": True}


@pytest.mark.parametrize(("to", "enforced"), [(OBSERVE, False), (ENFORCE, True)])
@pytest.mark.parametrize("written", [False, True])
def test_a_hook_that_is_off_in_its_file_runs_if_it_is_to_observe_or_to_be_enforced(
    project: str, to: Switch, enforced: bool, written: bool
) -> None:
    found = loaded({"layer": "project", "enabled": False, "enforce": written})

    switch(project, "it", to, found)

    [hook] = switched(found.hooks, Switches().of(project))
    assert (hook.enabled, hook.enforce) == (True, enforced)


def test_a_switch_whose_hook_is_gone_can_be_taken_back(project: str) -> None:
    Switches().set(project, "it", False)

    switch(project, "it", True, loaded())

    assert Switches().of(project) == {}


def test_a_hook_without_a_name_cannot_be_switched(project: str) -> None:
    with pytest.raises(UnknownHook, match="the hook has no `name:`"):
        switch(project, "./guard.sh", False, loaded({"layer": "project", "name": None, "label": "./guard.sh"}))


@pytest.mark.usefixtures("person")
def test_disable_refuses_a_locked_hook_with_the_reason_also_for_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".interpose").mkdir()
    (tmp_path / ".interpose" / "hooks.yaml").write_text("hooks: {Stop: [{name: it, command: 'true', locked: true}]}\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert main(["trust", "--yes"]) == 0

    status = main(["disable", "it"])

    assert status == 1
    assert (
        "it belongs to the project layer and is locked there: it cannot be switched from here"
        in capsys.readouterr().err
    )
    assert Switches().of(str(tmp_path)) == {}


def test_a_hook_that_observes_runs_and_is_not_enforced_and_the_record_says_who(project, capsys, monkeypatch) -> None:
    monkeypatch.setattr("interpose.person.processes.read_processes", somebody)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", project)
    folder = Path(project) / ".interpose"
    folder.mkdir(exist_ok=True)
    (folder / "hooks.yaml").write_text(
        "audit: {path: audit.db}\nhooks:\n  PreToolUse:\n"
        "    - {name: strict, type: script, handler: '/deny \"no\"'}\n"
        "    - {name: tried, type: script, enforce: false, handler: '/deny \"no\"'}\n"
        "    - {name: kept, type: script, locked: true, handler: '/context \"seen\"'}\n"
    )
    assert main(["trust", "--yes"]) == 0

    assert main(["disable", "strict", "--observe"]) == 0
    assert main(["enable", "tried", "--enforce"]) == 0
    assert main(["disable", "kept", "--observe"]) == 1
    capsys.readouterr()
    assert main(["list", "--json"]) == 0
    states = {row["name"]: (row["enabled"], row["enforced"]) for row in json.loads(capsys.readouterr().out)["hooks"]}
    assert main(["log", "changes", "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)["changes"]

    assert states == {"strict": (True, False), "tried": (True, True), "kept": (True, True)}
    assert [(one["hook"], one["to"], one["user"] != "") for one in changes] == [
        ("tried", "enforce", True),
        ("strict", "observe", True),
    ]
    assert main(["enable", "strict"]) == 0
    assert main(["enable", "--list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "enforced  tried"
    assert main(["log", "changes"]) == 0
    assert "observe" in capsys.readouterr().out
