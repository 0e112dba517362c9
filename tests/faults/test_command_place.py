"""Where a command runs, and what it is found by: directories, search paths, names that a shell would read."""

import os
from pathlib import Path

import pytest
from tests.faults.commands import (
    Host,
    on_both_hosts,
    register,
    script,
)
from tests.faults.hosts import CALL, program

from interpose import Hooks

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


# Where it runs.


@on_both_hosts
@pytest.mark.parametrize("whose", ["the hook's", "the event's"])
def test_a_working_directory_that_is_gone_is_named(host: Host, whose: str, tmp_path: Path) -> None:
    """Fault 11: and not taken for a missing command."""
    gone = str(tmp_path / "gone")
    fields = {**CALL, "cwd": gone} if whose == "the event's" else CALL

    result = host.fails(
        "true", code="cwd_missing", cwd=gone if whose == "the hook's" else None, fields=fields
    )  # fmt: skip

    assert gone in str(result.error)


def test_a_host_whose_own_directory_is_gone_gets_an_answer() -> None:
    """Fault 11: somebody has deleted it while the host ran."""
    ended = program("""
        import asyncio, os, tempfile
        from interpose import Hooks

        folder = tempfile.mkdtemp()
        os.chdir(folder)
        hooks = Hooks()
        hooks.register("PreToolUse", command="exit 2", timeout=5)
        os.rmdir(folder)
        print(hooks.fire_sync("PreToolUse", tool_name="Bash").decision)
        print(asyncio.run(hooks.fire("PreToolUse", tool_name="Bash")).decision)
    """)

    assert ended.stdout.split() == ["deny", "deny"], ended.stderr


@on_both_hosts
def test_a_working_directory_that_leads_elsewhere_since_is_refused(host: Host, tmp_path: Path) -> None:
    """Fault 12: a link, swapped after the hook was declared."""
    for name in ("trusted", "other"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "trusted")
    hooks = Hooks()
    register(hooks, "pwd > here", cwd=str(link), on_error="abort")
    assert host.fire(hooks).allowed
    assert (tmp_path / "trusted/here").read_text().strip() == str(tmp_path / "trusted")

    link.unlink()
    link.symlink_to(tmp_path / "other")
    outcome = host.fire(hooks)

    assert outcome.denied
    assert outcome.results[0].error is not None
    assert outcome.results[0].error.code == "cwd_changed"
    assert not (tmp_path / "other/here").exists()


@on_both_hosts
def test_a_relative_path_does_not_follow_the_host_about(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 15: it was resolved when the hook was declared, neither the host's directory nor the event's counts."""
    for name, status in (("home", 2), ("away", 0)):
        (tmp_path / name).mkdir()
        script(tmp_path / name, f"#!/bin/sh\nexit {status}\n", name="guard")
    monkeypatch.chdir(tmp_path / "home")
    hooks = Hooks()
    register(hooks, handler="./guard")
    monkeypatch.chdir(tmp_path / "away")

    assert host.fire(hooks).denied
    assert host.fire(hooks, **CALL, cwd=str(tmp_path / "away")).denied


# What it is found by.


@on_both_hosts
@pytest.mark.parametrize("path", [None, ""], ids=["unset", "empty"])
def test_a_host_that_loses_its_path_still_finds_its_programs(
    host: Host, path: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 13: they were found when they were declared."""
    hooks = Hooks()
    register(hooks, handler="sh -c 'exit 2'")
    if path is None:
        monkeypatch.delenv("PATH")
    else:
        monkeypatch.setenv("PATH", path)

    assert host.fire(hooks).denied


@on_both_hosts
def test_a_shell_without_a_path_gets_one(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 13."""
    monkeypatch.delenv("PATH")

    assert host.outcome("cat > /dev/null; exit 2").denied


@on_both_hosts
def test_a_program_of_the_same_name_that_turns_up_later_is_not_run(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 14: a repository's ``./jq``, and a path that has it first."""
    for name, status in (("good", 2), ("evil", 0)):
        (tmp_path / name).mkdir()
        script(tmp_path / name, f"#!/bin/sh\nexit {status}\n", name="judge")
    monkeypatch.setenv("PATH", f"{tmp_path}/good:{os.environ['PATH']}")
    hooks = Hooks()
    register(hooks, handler="judge", on_error="abort")
    monkeypatch.setenv("PATH", f"{tmp_path}/evil:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path / "evil")

    assert host.fire(hooks).denied


NASTY = ["a b", "a'b", 'a"b', "$(touch P)", "`touch P`", "; touch P;", "a\nb", "a\\b", "*", "-n", "é\u202e", "$IFS&|<>"]


@on_both_hosts
def test_a_path_is_not_read_by_a_shell(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 16: neither here nor where the command runs in another directory, which is as nasty."""
    monkeypatch.chdir(tmp_path)
    for cwd in (None, str(tmp_path)):
        for name in NASTY:
            folder = tmp_path / f"{name}.d"
            folder.mkdir(exist_ok=True)
            path = script(folder, "#!/bin/sh\nexit 2\n", name=name)
            outcome = host.outcome(handler=[path], cwd=cwd and str(folder))
            assert outcome.denied, (name, outcome.results)

    assert not list(tmp_path.rglob("P"))


@on_both_hosts
@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "in another directory"])
def test_arguments_are_passed_as_they_are(host: Host, elsewhere: bool, tmp_path: Path) -> None:
    """Fault 16: whatever is in them."""
    seen = tmp_path / "seen"
    path = script(tmp_path, f'#!/bin/sh\nprintf "%s\\0" "$@" > "{seen}"\n')

    outcome = host.outcome(handler=[path, *NASTY, ""], cwd=str(tmp_path) if elsewhere else None)

    assert outcome.results[0].status == "ok"
    assert seen.read_text().split("\0")[:-1] == [*NASTY, ""]


@on_both_hosts
def test_what_an_event_says_is_never_part_of_a_command_line(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 17: no placeholder is filled in; what a hook is told, it is told in variables and as JSON."""
    monkeypatch.chdir(tmp_path)
    hooks = Hooks()
    line = """cat > input; printf '%s\\n' "$INTERPOSE_TOOL_NAME" >> names; : ${tool_name} {tool_name} $1"""
    register(hooks, line)
    register(hooks, handler=[script(tmp_path, "#!/bin/sh\nexit 0\n"), "${tool_name}", "{tool_name}"], name="other")
    for value in NASTY:
        outcome = host.fire(hooks, tool_name=value, tool_input={value: value}, session_id=value, agent_id=value)
        assert [result.status for result in outcome.results] == ["ok", "ok"]

    assert (tmp_path / "names").read_text().split("\n")[:3] == NASTY[:3]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hook.sh", "input", "names", "temporary"]
