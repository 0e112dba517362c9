"""Files that change under an engine: taken over whole, or not at all, and every outcome says which."""

import asyncio
import gc
import json
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.hosts import eventually, run

from interpose import Hooks, Outcome, deny
from interpose.config import reload as config_reload
from interpose.config.load import find_sources
from interpose.config.switches import Switches
from interpose.config.trust import trust

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A person of their own, imports that are forgotten afterwards, and watchers that look often."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "INTERPOSE_TRUST", "INTERPOSE_OFF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(config_reload, "_INTERVAL", 0.01)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    tmp_path.chmod(0o755)
    known, mask = set(sys.modules), os.umask(0o022)
    yield
    os.umask(mask)
    for name in set(sys.modules) - known:
        if str(tmp_path) in (getattr(sys.modules[name], "__file__", None) or ""):
            del sys.modules[name]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "hooks.yaml", says("one"))


def write(path: Path, text: str) -> Path:
    """Replace a file whole, as an editor does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.new")
    scratch.write_text(text)
    scratch.replace(path)
    return path


def says(*names: str, **settings: Any) -> str:
    """Return a configuration whose hooks each put their name into the context."""
    hooks = [{"name": name, "type": "script", "handler": f"/context {name}"} for name in names]
    return json.dumps({"hooks": {**settings, "PreToolUse": hooks}})


def fire(hooks: Hooks, **fields: Any) -> Outcome:
    return hooks.fire_sync("PreToolUse", **{**CALL, **fields})


def note(hooks: Hooks) -> str:
    """What outcomes say about the last reload."""
    return str(fire(hooks).extra.get("reload", ""))


# Whole, or not at all.


def test_nothing_reloads_by_itself(file: Path) -> None:
    """Fault 196"""
    hooks = Hooks.load(file)
    write(file, says("two"))

    assert fire(hooks).context == ["one"]
    assert "reload" not in fire(hooks).extra


def test_a_changed_file_is_taken_over_whole(file: Path) -> None:
    """Fault 176"""
    hooks = Hooks.load(file)
    assert fire(hooks).context == ["one"]
    before = hooks.origins

    write(file, says("two", "three", errorBehavior="abort", timeout=700))

    assert hooks.reload()
    assert fire(hooks).context == ["two", "three"]
    assert (hooks.settings.error_behavior, hooks.settings.timeout_ceiling) == ("abort", 0.7)
    assert hooks.origins != before
    assert "reload" not in fire(hooks).extra


def test_a_setting_that_left_the_file_is_gone_and_one_of_the_code_stays(file: Path) -> None:
    write(file, says("one", errorBehavior="abort", timeout=700))
    hooks = Hooks.load(file, total_timeout=9.0)
    write(file, says("one", totalTimeout="1s"))

    assert hooks.reload()
    assert (hooks.settings.error_behavior, hooks.settings.timeout_ceiling, hooks.settings.total_timeout) == (
        "log",
        0,
        9,
    )


BAD = {
    "syntax": "hooks: [",
    "an unknown event": "hooks: {PreToolUze: []}",
    "one bad entry": '{"hooks": {"PreToolUse": [{"name": "new", "command": "true"}, {"matcher": {}}]}}',
    "too many": says("a", "b", "c", maxHooksPerPoint=2),
    "not UTF-8": "caf\udce9",
    "a missing script": "scripts: [none.arma]",
    "gone": "",
}


@pytest.mark.parametrize("how", BAD)
def test_a_file_that_cannot_be_taken_over_leaves_what_is_armed_and_every_outcome_says_so(file: Path, how: str) -> None:
    """Faults 174, 176, 177"""
    hooks = Hooks.load(file, max_hooks_per_point=2) if how == "too many" else Hooks.load(file)
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(BAD[how].encode("utf-8", "surrogateescape"))

    assert not hooks.reload()

    for outcome in (fire(hooks), asyncio.run(hooks.fire("PreToolUse", **CALL))):
        assert outcome.context == ["one"]
        assert outcome.extra["reload"].startswith("a changed configuration was not taken over: ")
    assert str(file.parent) in note(hooks)

    write(file, says("again"))
    assert hooks.reload()
    assert fire(hooks).context == ["again"]
    assert note(hooks) == ""


def test_an_event_without_hooks_says_it_too(file: Path) -> None:
    """Contract 6: outcomes say so, also those that had nothing to do."""
    hooks = Hooks.load(file)
    assert "reload" not in asyncio.run(hooks.fire("Stop")).extra
    file.write_text("hooks: [")
    hooks.reload()

    for _ in range(2):
        assert "reload" in asyncio.run(hooks.fire("Stop")).extra
        assert "reload" in hooks.fire_sync("Stop").extra


def test_of_several_files_all_are_taken_over_or_none(file: Path, tmp_path: Path) -> None:
    """Fault 176"""
    other = write(tmp_path / "other.yaml", says("x"))
    hooks = Hooks.load(file, other)
    write(file, says("two"))
    other.write_text("hooks: [")

    assert not hooks.reload()
    assert fire(hooks).context == ["one", "x"]
    assert str(other) in note(hooks)

    write(other, says("y"))
    assert hooks.reload()
    assert fire(hooks).context == ["two", "y"]


def test_settings_of_a_file_that_is_not_taken_over_are_not_taken_over_either(file: Path) -> None:
    """Contract 6: whole, or the old set stays."""
    hooks = Hooks.load(file, max_hooks_per_point=2)
    write(file, says("a", "b", "c", errorBehavior="abort", timeout=100))

    assert not hooks.reload()
    assert (hooks.settings.error_behavior, hooks.settings.timeout_ceiling) == ("log", 0)


def test_permissions_of_a_file_that_is_not_taken_over_are_not_taken_over_either(file: Path) -> None:
    """Contract 6"""
    ask = {"name": "perms", "type": "script", "handler": "/perms check shell"}
    write(file, json.dumps({"hooks": {"PreToolUse": [ask]}, "permissions": {"shell": "deny"}}))
    hooks = Hooks.load(file, max_hooks_per_point=1)
    write(file, json.dumps({"hooks": {"PreToolUse": [ask, {**ask, "name": "b"}]}, "permissions": {"shell": "allow"}}))

    assert not hooks.reload()
    assert fire(hooks).denied


def test_a_limit_that_was_raised_in_the_file_holds(file: Path) -> None:
    """S0-90"""
    write(file, says("a", maxHooksPerPoint=1))
    hooks = Hooks.load(file)
    write(file, says("a", "b", maxHooksPerPoint=2))

    assert hooks.reload()
    assert fire(hooks).context == ["a", "b"]


def test_an_override_that_left_the_file_is_gone(file: Path) -> None:
    """Fault 196: or the shared guards of that agent stay off for ever."""
    agents = [{"id": "a", "backend": {"hooks": {"PreToolUse": {"override": True, "hooks": []}}}}]
    write(file, json.dumps({**json.loads(says("guard")), "agents": agents}))
    hooks = Hooks.load(file)
    assert fire(hooks, agent_id="a").context == []
    write(file, says("guard"))

    assert hooks.reload()
    assert fire(hooks, agent_id="a").context == ["guard"]


def test_hooks_of_an_agent_that_left_the_file_are_gone(file: Path) -> None:
    agents = [{"id": "a", "backend": json.loads(says("own"))}]
    write(file, json.dumps({**json.loads(says("shared")), "agents": agents}))
    hooks = Hooks.load(file)
    assert fire(hooks, agent_id="a").context == ["shared", "own"]
    write(file, says("shared"))

    assert hooks.reload()
    assert fire(hooks, agent_id="a").context == ["shared"]


# What is not of the file.


def test_hooks_of_the_code_survive_a_reload_with_their_switches(file: Path) -> None:
    hooks = Hooks.load(file)
    hooks.register("PreToolUse", lambda event: {"additionalContext": "code"}, name="code")
    hooks.register("PreToolUse", lambda event: {"additionalContext": "off"}, name="off")
    hooks.register_scoped("a", {"PreToolUse": [lambda event: {"additionalContext": "scoped"}]})
    hooks.disable("off")
    write(file, says("two"))

    assert hooks.reload()
    assert [hook.label for hook in hooks if hook.source.startswith(str(file))] == ["two"]
    assert [result.hook for result in fire(hooks, agent_id="a").results][:2] == ["two", "code"]
    assert len(fire(hooks, agent_id="a").results) == 3
    assert not hooks.is_enabled("off")


def test_a_hook_of_the_file_that_the_host_unregistered_comes_back_with_its_file(file: Path) -> None:
    """What was taken out holds until files are read again; a reload is what the file says."""
    hooks = Hooks.load(file)
    hooks.unregister("one")
    assert fire(hooks).context == []

    assert hooks.reload()
    assert fire(hooks).context == ["one"]


def test_reloading_many_times_leaves_one_of_each(file: Path) -> None:
    hooks = Hooks.load(file)

    for _ in range(20):
        assert hooks.reload()

    assert [hook.name for hook in hooks] == ["one"]


def test_an_engine_without_files_has_nothing_to_reload() -> None:
    hooks = Hooks()
    hooks.register("PreToolUse", lambda event: None, name="code")

    assert hooks.reload()
    assert [hook.name for hook in hooks] == ["code"]


def test_the_persons_way_out_is_read_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Contract 6: INTERPOSE_OFF."""
    write(file, '{"hooks": {"PreToolUse": [{"type": "script", "handler": "/deny no"}]}}')
    hooks = Hooks.load(file)
    assert fire(hooks).denied

    monkeypatch.setenv("INTERPOSE_OFF", "locked out")
    assert fire(hooks).denied
    assert hooks.reload()
    outcome = fire(hooks)
    assert outcome.allowed
    assert "locked out" in str(outcome.extra)

    monkeypatch.delenv("INTERPOSE_OFF")
    assert hooks.reload()
    assert fire(hooks).denied


@pytest.mark.parametrize("how", ["a bad file", "no files"])
def test_the_persons_way_out_is_read_whatever_the_files_say(
    file: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Contract 11: read when the engine is made and on reload; whoever is locked out may have a broken file."""
    hooks = Hooks() if how == "no files" else Hooks.load(file)
    hooks.register("PreToolUse", lambda event: {"decision": "deny"})
    file.write_text("hooks: [")
    monkeypatch.setenv("INTERPOSE_OFF", "locked out")

    hooks.reload()

    assert fire(hooks).allowed


# A firing under way.


def test_a_firing_under_way_keeps_the_set_that_it_began_with(file: Path) -> None:
    """Fault 198"""
    script = {"type": "script", "handler": "/perms check shell", "priority": 200}
    write(file, json.dumps({"hooks": {"PreToolUse": [script]}, "permissions": {"shell": "deny"}}))
    hooks = Hooks.load(file)

    def reloads(event: Any) -> None:
        write(file, json.dumps({"hooks": {}, "permissions": {"shell": "allow"}}))
        assert hooks.reload()

    hooks.register("PreToolUse", reloads, name="reloads", priority=1)

    outcome = run(hooks.fire("PreToolUse", **CALL))

    assert (outcome.denied, len(outcome.results)) == (True, 2)
    assert len(run(hooks.fire("PreToolUse", **CALL)).results) == 1


def test_firings_from_other_threads_see_the_old_set_or_the_new_one_and_nothing_between(file: Path) -> None:
    """Fault 198"""
    write(file, says("a1", "a2", "a3"))
    hooks = Hooks.load(file)
    seen: set[tuple[str, ...]] = set()
    done = threading.Event()

    def fires() -> None:
        while not done.is_set():
            seen.add(tuple(fire(hooks).context))

    threads = [threading.Thread(target=fires) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(6):
            write(file, says("b1", "b2") if turn % 2 else says("a1", "a2", "a3"))
            assert hooks.reload()
    finally:
        done.set()
        for thread in threads:
            thread.join()

    assert seen <= {("a1", "a2", "a3"), ("b1", "b2")}


# Files that are found.


class Project:
    """A project whose file is found and trusted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = write(folder / ".interpose" / "hooks.yaml", says("one"))
        self.trust()

    def trust(self) -> None:
        for source in find_sources(str(self.folder)):
            trust(source.path)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


def test_content_that_nobody_has_trusted_is_not_taken_over(project: Project) -> None:
    """Faults 196, 201: the old set stays, and outcomes say so."""
    hooks = Hooks.discover(project.folder)
    write(project.file, says())

    assert not hooks.reload()
    assert fire(hooks).context == ["one"]
    assert f"{project.file}: not as it was trusted: hooks.yaml is changed" in note(hooks)

    project.trust()
    assert hooks.reload()
    assert fire(hooks).context == []


def test_a_script_that_has_changed_is_not_taken_over_until_it_is_trusted(project: Project) -> None:
    """Fault 196"""
    script = write(project.folder / ".interpose" / "lines.arma", "hook PreToolUse /context old\n")
    write(project.file, "scripts: [lines.arma]\n")
    project.trust()
    hooks = Hooks.discover(project.folder)
    write(script, "hook PreToolUse /context new\n")

    assert not hooks.reload()
    assert fire(hooks).context == ["old"]

    project.trust()
    assert hooks.reload()
    assert fire(hooks).context == ["new"]


@pytest.mark.parametrize("how", ["file", "folder"])
def test_an_armed_file_that_is_gone_disarms_nothing(project: Project, how: str) -> None:
    """Fault 196: a process that can remove a file could remove a guard."""
    hooks = Hooks.discover(project.folder)
    if how == "file":
        project.file.unlink()
    else:
        project.file.parent.rename(project.folder / "away")

    assert not hooks.reload()
    assert fire(hooks).context == ["one"]
    assert f"{project.file}: not as it was trusted: hooks.yaml is gone" in note(hooks)
    assert fire(Hooks.discover(project.folder, changed="keep")).context == ["one"]


def test_a_file_in_a_nearer_folder_hides_nothing(project: Project) -> None:
    """Fault 196: a process that can hide a file behind another could remove a guard."""
    deep = project.folder / "src"
    hooks = Hooks.discover(deep)
    nearer = write(deep / ".interpose" / "hooks.yaml", says("near"))

    assert hooks.reload()
    assert fire(hooks).context == ["one"]
    assert [problem.where for problem in hooks.warnings] == [str(nearer)]

    trust(nearer)
    assert hooks.reload()
    assert fire(hooks).context == ["one", "near"]


def test_what_was_trusted_stays_armed_and_every_outcome_says_what_has_changed(project: Project) -> None:
    """Contract 6: changed="keep"."""
    write(project.file, says())
    hooks = Hooks.discover(project.folder, changed="keep")

    assert fire(hooks).context == ["one"]
    assert fire(hooks).extra["changed"].startswith(f"{project.file}: not as it was trusted: hooks.yaml is changed")

    project.trust()
    assert hooks.reload()
    assert (fire(hooks).context, fire(hooks).extra) == ([], {})


def test_a_file_that_turns_up_is_taken_over_only_if_it_is_trusted(project: Project) -> None:
    """Fault 193"""
    hooks = Hooks.discover(project.folder)
    local = write(project.folder / ".interpose" / "hooks.local.yaml", says("local"))

    assert hooks.reload()
    assert fire(hooks).context == ["one"]
    assert [problem.where for problem in hooks.warnings] == [str(local)]

    project.trust()
    assert hooks.reload()
    assert fire(hooks).context == ["one", "local"]


def test_all_files_that_changed_are_named(project: Project) -> None:
    """Contract 6: all problems at once."""
    local = write(project.folder / ".interpose" / "hooks.local.yaml", says("local"))
    project.trust()
    hooks = Hooks.discover(project.folder)
    write(project.file, says("x"))
    write(local, says("y"))

    assert not hooks.reload()
    assert str(project.file) in note(hooks)
    assert str(local) in note(hooks)


# Switches.


def test_a_switch_holds_after_a_reload_and_ends_when_it_is_cleared(project: Project) -> None:
    Switches().set(str(project.folder), "one", False)
    hooks = Hooks.discover(project.folder)
    assert fire(hooks).context == []

    write(project.file, says("one", "two"))
    project.trust()
    assert hooks.reload()
    assert fire(hooks).context == ["two"]

    Switches().clear(str(project.folder), "one")
    assert hooks.reload()
    assert fire(hooks).context == ["one", "two"]


def test_a_switch_is_for_its_project_alone(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    Switches().set(str(other.folder), "one", False)

    assert fire(Hooks.discover(project.folder)).context == ["one"]
    assert fire(Hooks.discover(other.folder)).context == []


def test_a_switch_holds_from_inside_the_project_and_for_a_name_that_comes_later(project: Project) -> None:
    (project.folder / "src").mkdir()
    Switches().set(str(project.folder), "later", False)
    hooks = Hooks.discover(project.folder / "src")
    write(project.file, says("one", "later"))
    project.trust()

    assert hooks.reload()
    assert fire(hooks).context == ["one"]


def test_switches_do_not_touch_files_that_are_named(project: Project) -> None:
    """They are the host's, of the layer above."""
    Switches().set(str(project.folder), "one", False)

    assert fire(Hooks.load(project.file)).context == ["one"]


def test_a_hook_that_its_file_has_switched_off_can_be_switched_on(project: Project) -> None:
    off = {"name": "one", "type": "script", "handler": "/context one", "enabled": False}
    write(project.file, json.dumps({"hooks": {"PreToolUse": [off]}}))
    project.trust()
    assert fire(Hooks.discover(project.folder)).context == []

    Switches().set(str(project.folder), "one", True)

    assert fire(Hooks.discover(project.folder)).context == ["one"]


def test_a_switch_does_not_touch_a_hook_of_the_code(project: Project) -> None:
    """Fault 199: a hook of the layer above keeps running, and keeps no reload from being taken over whole."""
    Switches().set(str(project.folder), "code", False)
    hooks = Hooks.discover(project.folder)
    hooks.register("PreToolUse", lambda event: {"additionalContext": "code"}, name="code", locked=True)
    write(project.file, says("two"))
    project.trust()

    assert hooks.reload()
    assert hooks.is_enabled("code")
    assert [hook.name for hook in hooks] == ["code", "two"]


@pytest.mark.parametrize("damage", ["{", "[]", '{"x": 5}', "everybody"])
def test_switches_that_cannot_be_believed_are_said_before_anything_is_exchanged(
    project: Project, tmp_path: Path, damage: str
) -> None:
    """Contract 6: the old set stays whole."""
    hooks = Hooks.discover(project.folder)
    Switches().set(str(project.folder), "one", False)
    record = tmp_path / "home" / ".local" / "state" / "interpose" / "switches.json"
    if damage == "everybody":
        record.chmod(0o666)
    else:
        record.write_text(damage)
    write(project.file, says("two"))
    project.trust()

    taken = hooks.reload()

    assert taken is (damage == '{"x": 5}')  # nothing is wrong with what is somebody else's
    assert fire(hooks).context == (["two"] if taken else ["one"])
    assert (str(record) in note(hooks)) is not taken


# Watching.


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "interpose-watch"]


def test_a_watched_file_is_taken_over_when_it_changes(file: Path) -> None:
    hooks = Hooks.load(file, watch=True)

    write(file, says("two"))
    assert eventually(lambda: fire(hooks).context == ["two"])

    write(file, "hooks: [")
    assert eventually(lambda: "reload" in fire(hooks).extra)
    assert fire(hooks).context == ["two"]

    write(file, says("three"))
    assert eventually(lambda: fire(hooks).context == ["three"] and "reload" not in fire(hooks).extra)


def test_a_watched_file_that_is_being_written_is_taken_over_when_it_stays_as_it_is(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor that writes in place empties the file first: without hooks, everything would be allowed."""
    files = Hooks.load(file)._armed._files
    assert files is not None
    checks = iter([files.stamp(), "emptied", "half written", *["whole"] * 3])
    looked: list[Any] = []

    def stamp(self: Any) -> Any:
        looked.append(next(checks, "the end"))
        return looked[-1]

    monkeypatch.setattr(config_reload, "_INTERVAL", 0.001)
    monkeypatch.setattr(config_reload.ConfigFiles, "stamp", stamp)
    taken: list[list[Any]] = []
    ended = threading.Event()

    class Engine:
        def reload(self) -> None:
            taken.append(looked[1:])
            if looked[-1] == "the end":
                ended.set()

    engine = Engine()
    files.watch(engine.reload)

    assert ended.wait(30)
    assert taken[0] == ["emptied", "half written", "whole", "whole"]
    del engine  # and its watcher ends


@pytest.mark.parametrize("what", ["file", "script"])
def test_a_change_between_reading_and_watching_is_noticed(
    file: Path, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = write(tmp_path / "lines.arma", "hook PreToolUse /context old\n")
    write(file, "scripts: [lines.arma]\n")
    watch = config_reload.ConfigFiles.watch

    def late(files: config_reload.ConfigFiles, reload: Any) -> None:
        if what == "file":
            write(file, says("new"))
        else:
            write(script, "hook PreToolUse /context new\n")
        watch(files, reload)

    monkeypatch.setattr(config_reload.ConfigFiles, "watch", late)
    hooks = Hooks.load(file, watch=True)

    assert eventually(lambda: fire(hooks).context == ["new"])


def test_a_watched_file_that_vanishes_and_returns_is_taken_over_again(file: Path) -> None:
    """Fault 174"""
    hooks = Hooks.load(file, watch=True)
    assert watchers()

    file.unlink()
    assert eventually(lambda: "there is no such file" in note(hooks))
    assert fire(hooks).context == ["one"]

    write(file, says("back"))
    assert eventually(lambda: fire(hooks).context == ["back"] and note(hooks) == "")


def test_a_script_that_a_watched_file_names_is_watched_too(file: Path, tmp_path: Path) -> None:
    script = write(tmp_path / "lines.arma", "hook PreToolUse /context old\n")
    write(file, "scripts: [lines.arma]\n")
    hooks = Hooks.load(file, watch=True)
    assert fire(hooks).context == ["old"]

    write(script, "hook PreToolUse /context new\n")

    assert eventually(lambda: fire(hooks).context == ["new"])


def test_a_command_that_a_watched_file_names_is_watched_too(project: Project) -> None:
    """Fault 196: what was trusted is not what is there any more, and outcomes say so."""
    script = write(project.folder / ".interpose" / "check.sh", "exit 0\n")
    write(project.file, '{"hooks": {"PreToolUse": [{"name": "c", "type": "command", "handler": "sh check.sh"}]}}')
    project.trust()
    hooks = Hooks.discover(project.folder, watch=True)

    write(script, "exit 1\n")

    assert eventually(lambda: "reload" in hooks.fire_sync("Stop").extra)
    assert [hook.name for hook in hooks] == ["c"]


def test_what_is_trusted_or_switched_reaches_a_watched_project(project: Project) -> None:
    hooks = Hooks.discover(project.folder, watch=True)
    write(project.file, says("two", "three"))
    assert eventually(lambda: "not as it was trusted" in note(hooks))

    project.trust()
    assert eventually(lambda: fire(hooks).context == ["two", "three"] and note(hooks) == "")

    Switches().set(str(project.folder), "two", False)
    assert eventually(lambda: fire(hooks).context == ["three"])


def test_a_watcher_ends_with_its_engine(file: Path) -> None:
    hooks = Hooks.load(file, watch=True)
    gone = weakref.ref(hooks)
    assert len(watchers()) == 1

    del hooks
    gc.collect()

    assert gone() is None
    assert eventually(lambda: not watchers())


def test_a_watcher_survives_a_reload_that_breaks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug of ours must not end the watching without a word."""
    hooks = Hooks.load(file, watch=True)
    broke = threading.Event()
    read_again = config_reload.ConfigFiles.read_again

    def breaks(*_: object) -> None:
        broke.set()
        raise RuntimeError("bug")

    monkeypatch.setattr(config_reload.ConfigFiles, "read_again", breaks)
    write(file, says("two"))
    assert broke.wait(30)

    monkeypatch.setattr(config_reload.ConfigFiles, "read_again", read_again)
    write(file, says("three"))
    assert eventually(lambda: fire(hooks).context == ["three"])


def test_a_watcher_keeps_no_process_alive(file: Path) -> None:
    from tests.faults.hosts import program

    ran = program(f"""
        from interpose import Hooks
        hooks = Hooks.load({str(file)!r}, watch=True)
        print(len(list(hooks)))
    """)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "1\n", "")


@pytest.mark.parametrize("locked", [True, False])
def test_a_hook_of_the_code_stays_in_the_place_of_one_of_a_file(tmp_path: Path, locked: bool) -> None:
    file = tmp_path / "hooks.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"name": "guard", "command": "true"}]}}))
    hooks = Hooks.load(file)
    hooks.register("PreToolUse", lambda event: deny("code"), name="guard", locked=locked)

    assert [hooks.reload(), hooks.reload()] == [True, True]

    assert [result.reason for result in hooks.fire_sync("PreToolUse", **CALL).results] == ["code"]
    assert [warning.what for warning in hooks.warnings] == [
        "guard: replaced by a hook of the same name that code has registered"
    ]


def test_a_reload_that_failed_is_told_of_at_once_by_an_event_that_was_fired_before(tmp_path: Path) -> None:
    file = tmp_path / "hooks.json"
    file.write_text(json.dumps({"hooks": {}}))
    hooks = Hooks.load(file)

    async def host() -> list[bool]:
        outcomes = [await hooks.fire("PreToolUse", **CALL)]
        file.write_text("{")
        assert not hooks.reload()
        outcomes.append(await hooks.fire("PreToolUse", **CALL))
        return ["reload" in outcome.extra for outcome in outcomes]

    assert run(host()) == [False, True]


def test_a_locked_hook_of_a_file_takes_the_place_of_one_of_the_code(tmp_path: Path) -> None:
    file = tmp_path / "hooks.json"
    file.write_text(json.dumps({"hooks": {}}))
    hooks = Hooks.load(file)
    hooks.register("PreToolUse", lambda event: None, name="guard")
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"name": "guard", "command": "exit 2", "locked": True}]}}))

    assert hooks.reload()

    assert [(hook.name, hook.locked) for hook in hooks] == [("guard", True)]
    assert hooks.fire_sync("PreToolUse", **CALL).denied


def test_a_switched_hook_of_a_file_is_taken_back_on_reload(tmp_path: Path) -> None:
    file = tmp_path / "hooks.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"name": "guard", "command": "exit 2"}]}}))
    hooks = Hooks.load(file)
    hooks.disable("guard")

    assert hooks.reload()

    assert [(hook.name, hook.enabled) for hook in hooks] == [("guard", True)]
