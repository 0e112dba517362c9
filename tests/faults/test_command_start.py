"""Commands that cannot be started, or not as it was meant; and what a command gets to know of its host."""

import asyncio
import contextlib
import inspect
import os
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.faults.commands import (
    DENY,
    HOSTS,
    LONG,
    SHORT,
    Host,
    mark,
    needs,
    nothing_lives,
    on_both_hosts,
    register,
    script,
    warm_up,
)
from tests.faults.hosts import BUSY, CALL, environment, eventually, program, until, within

from interpose import Hooks
from interpose.errors import BadHook

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def warmed_up() -> None:
    """What an engine keeps for its commands is there before anything is counted."""
    warm_up()


@pytest.fixture(autouse=True)
def no_process_left(warmed_up: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_lives(tmp_path, monkeypatch):
        yield


# Nothing there to run.


@on_both_hosts
@pytest.mark.parametrize("how", ["executed", "in a shell", "in another directory"])
def test_a_command_that_does_not_exist_cannot_be_loaded(host: Host, how: str, tmp_path: Path) -> None:
    """Faults 1, 2: the same code either way, and a deny also for an observer (contract, §4)."""
    what: dict[str, Any] = {"handler": ["/nonexistent/x"]}
    if how == "in a shell":
        what = {"command": "/nonexistent/x"}
    elif how == "in another directory":
        what["cwd"] = str(tmp_path)

    result = host.fails(code="spawn_not_found", loads=False, **what)

    assert "/nonexistent/x" in str(result.error)


def test_an_observer_that_does_not_exist_is_let_pass_if_its_hook_says_so() -> None:
    """Fault 1: ``log`` written on the hook itself opens this too (contract, §4)."""
    outcome = HOSTS[1].outcome(handler=["/nonexistent/x"], on_error="log")

    assert (outcome.decision, outcome.results[0].status) == ("none", "failed")


@on_both_hosts
@pytest.mark.parametrize("how", ["executed", "in a shell", "in another directory"])
@pytest.mark.parametrize("what", ["a file without the right to execute", "a directory"])
def test_what_cannot_be_executed_cannot_be_loaded(host: Host, how: str, what: str, tmp_path: Path) -> None:
    """Faults 3, 4."""
    path = str(tmp_path) if what == "a directory" else script(tmp_path, "#!/bin/sh\n", mode=0o644)
    options: dict[str, Any] = {"command": path} if how == "in a shell" else {"handler": [path]}
    if how == "in another directory":
        options["cwd"] = "/"

    host.fails(code="spawn_permission", loads=False, **options)


@on_both_hosts
@pytest.mark.parametrize("cwd", [None, "/"], ids=["here", "in another directory"])
def test_a_text_without_an_interpreter_is_not_run_by_a_shell(host: Host, cwd: str | None, tmp_path: Path) -> None:
    """Fault 5: a shell would take any text for its own."""
    trace = tmp_path / "it ran"
    path = script(tmp_path, f"touch '{trace}'\n")

    host.fails(handler=[path], cwd=cwd, code="spawn_format", loads=False)

    assert not trace.exists()


@on_both_hosts
@pytest.mark.parametrize("cwd", [None, "/"], ids=["here", "in another directory"])
def test_a_missing_interpreter_is_named(host: Host, cwd: str | None, tmp_path: Path) -> None:
    """Fault 6: the script is there; whoever reads the error must not look for it."""
    path = script(tmp_path, "#!/nonexistent/interpreter\n")

    result = host.fails(handler=[path], cwd=cwd, code="spawn_not_found", loads=False)

    assert "/nonexistent/interpreter" in str(result.error)


@on_both_hosts
@pytest.mark.parametrize("cwd", [None, "/"], ids=["here", "in another directory"])
def test_a_script_with_carriage_returns_fails_with_a_hint(host: Host, cwd: str | None, tmp_path: Path) -> None:
    """Fault 7: its interpreter is ``/bin/sh`` and a carriage return."""
    path = script(tmp_path, "#!/bin/sh\r\nexit 0\r\n")

    result = host.fails(handler=[path], cwd=cwd, code="spawn_not_found", loads=False)

    assert "carriage return" in str(result.error)


@on_both_hosts
@pytest.mark.parametrize(
    "line",
    [f"{sys.executable} /nonexistent.py", "sh /nonexistent.sh", pytest.param("perl /nonexistent.pl", marks=needs("perl"))],
    ids=["python", "sh", "perl"],
)  # fmt: skip
def test_an_interpreter_that_does_not_find_its_script_denies_nothing_deliberately(host: Host, line: str) -> None:
    """Fault 8: interpreters exit with 2 then, which would be the word of a guard."""
    host.fails(line, code="launch_error", loads=False)


@on_both_hosts
@pytest.mark.parametrize(("line", "reason"), [("sh -c 'if then'", "Syntax error"), ("exit 2", "hook exited with")])
def test_a_mistake_in_use_that_exits_with_2_denies(host: Host, line: str, reason: str) -> None:
    """Fault 9: nobody can tell it from a deny; one without a word is marked as suspicious."""
    outcome = host.outcome(line)

    assert outcome.denied
    assert reason.lower() in outcome.reason.lower()
    assert outcome.results[0].evidence.get("suspicious_exit2", False) is (line == "exit 2")


@on_both_hosts
def test_a_hook_whose_imports_fail_has_crashed(host: Host, tmp_path: Path) -> None:
    """Fault 10: before the hook's own handling of errors could begin."""
    path = script(tmp_path, "import a_module_that_is_not_there\n", name="hook.py", mode=0o644)

    result = host.fails(handler=[path], code="hook_crash")

    assert "a_module_that_is_not_there" in str(result.error)


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


# What is too much, or impossible.


@on_both_hosts
@pytest.mark.parametrize("what", ["a variable", "an argument", "all arguments", "the tool's name", "the shell's line"])
def test_what_is_too_long_for_the_system_fails(host: Host, what: str) -> None:
    """Fault 18."""
    long = "x" * 200_000
    cases: dict[str, dict[str, Any]] = {
        "a variable": {"command": "true", "env": {"LONG": long}},
        "an argument": {"handler": ["true", long]},
        "all arguments": {"handler": ["true", *["x" * 100_000] * 80]},
        "the tool's name": {"command": "true", "fields": {**CALL, "tool_name": long}},
        "the shell's line": {"command": f"true {long}"},
    }

    host.fails(code="spawn_too_big", **cases[what])


@on_both_hosts
@pytest.mark.parametrize("field", ["tool_name", "session_id", "agent_id", "orchestrator_id"])
def test_a_nul_in_what_goes_into_a_variable_fails_before_the_start(host: Host, field: str, tmp_path: Path) -> None:
    """Fault 19."""
    trace = tmp_path / "it ran"

    host.fails(f"touch '{trace}'", code="bad_input", fields={**CALL, field: "a\0b"})

    assert not trace.exists()


@on_both_hosts
def test_a_nul_elsewhere_in_the_event_does_no_harm(host: Host, tmp_path: Path) -> None:
    """Fault 19: it goes by standard input, where it is escaped; a directory cannot have one."""
    seen = tmp_path / "seen"

    outcome = host.outcome(f"cat > '{seen}'", fields={**CALL, "tool_input": {"command": "a\0b"}})

    assert outcome.results[0].status == "ok"
    assert r'"a\u0000b"' in seen.read_text()
    host.fails("true", code="cwd_missing", fields={**CALL, "cwd": "/tmp/a\0b"})


@pytest.mark.parametrize(
    "options",
    [
        {"command": "a\0b"},
        {"handler": ["a\0b"]},
        {"handler": ["true", "a\0b"]},
        {"command": "true", "args": ["a\0b"]},
        {"command": "true", "env": {"NAME": "a\0b"}},
        {"command": "true", "env": {"A\0B": "x"}},
        {"command": "true", "cwd": "a\0b"},
        {"command": "true", "env": {"A=B": "x"}},
        {"command": "true", "env": {"A=B\nLD_PRELOAD": "x"}},
        {"command": "true", "env": {"A\nB": "x"}},
        {"command": "true", "env": {"": "x"}},
        {"command": "true", "env": {"A": 1}},
        {"command": "true", "pass_env": "HOME"},
        {"command": ""},
        {"handler": []},
        {"handler": "an 'unclosed quote"},
    ],
    ids=str,
)
def test_what_no_system_could_start_is_refused_when_it_is_declared(options: dict[str, Any]) -> None:
    """Faults 19, 20: names of variables are constants of the configuration, and are looked at there."""
    hooks = Hooks()
    handler = options.pop("handler", None)

    with pytest.raises(BadHook):
        hooks.register("PreToolUse", handler, type="command", **options)
    assert not list(hooks)


@on_both_hosts
def test_a_lone_surrogate_in_a_result_does_no_harm(host: Host, tmp_path: Path) -> None:
    """Fault 21: it is escaped in JSON, for a filter that may read it."""
    seen, hooks = tmp_path / "seen", Hooks()
    register(hooks, f"cat > '{seen}'", event="PostToolUse")

    outcome = host.fire(hooks, "PostToolUse", tool_name="Bash", tool_response={"\udfff": "\ud800"})

    assert outcome.results[0].status == "ok"
    assert r'{"\udfff":"\ud800"}' in seen.read_text()


@on_both_hosts
@pytest.mark.parametrize("text", ["rm -rf x #\udcff", "\ud800", "\udc00\ud800", "\\\ud83d", "a\ud83d\\ude00"])
def test_a_lone_surrogate_in_what_is_to_be_judged_fails_before_the_start(host: Host, text: str) -> None:
    """Fault 21 (contract, §4): jq and other programs fail on it, and a model chooses it."""
    host.fails("jq -r .tool_input.command", code="payload", fields={**CALL, "tool_input": {"command": text}})


@on_both_hosts
@pytest.mark.parametrize("text", ["\U0001f600", "\\ud800", "\\\U0001f600", "\\\\udc00", "\U0010ffff\ue000"])
def test_text_that_looks_like_half_a_character_does_no_harm(host: Host, text: str) -> None:
    outcome = host.outcome("true", fields={**CALL, "tool_input": {"command": text}})

    assert outcome.results[0].status == "ok"


@on_both_hosts
def test_a_lone_surrogate_in_what_goes_into_a_variable_fails_before_the_start(host: Host, tmp_path: Path) -> None:
    """Fault 21 (contract, §4): a hook that looks at the variable would find nothing in it."""
    trace = tmp_path / "it ran"

    result = host.fails(f"touch '{trace}'", code="bad_input", fields={**CALL, "tool_name": "Bash\ud800"})

    assert "INTERPOSE_TOOL_NAME" in str(result.error) or "MASSGEN_TOOL_NAME" in str(result.error)
    assert not trace.exists()


@on_both_hosts
@pytest.mark.parametrize(
    "options",
    [
        {"command": "true \ud800"},
        {"handler": ["/bin/true", "\ud800"]},
        {"handler": ["/bin/\ud800"]},
        {"command": "true", "env": {"NAME": "\ud800"}},
        {"command": "true", "env": {"NAME\ud800": "x"}},
        {"command": "true", "pass_env": ["\ud800"]},
        {"command": "true", "cwd": "/tmp/\ud800"},
        {"command": "true", "name": "\ud800"},
    ],
    ids=ascii,
)
def test_a_lone_surrogate_in_what_was_declared_is_refused_or_fails_clearly(host: Host, options: dict[str, Any]) -> None:
    """Fault 21: never as an error of the encoding, neither from register() nor as a crash of the hook."""
    hooks = Hooks()
    try:
        register(hooks, **dict(options), on_error="abort")
    except BadHook:
        return
    outcome = host.fire(hooks)

    result = outcome.results[0]
    assert result.status == "ok" or outcome.denied
    assert result.error is None or result.error.code in ("bad_input", "cwd_missing", "spawn_not_found"), result.error


# What it gets to know.

SECRETS = {
    "LD_PRELOAD": "",
    "PYTHONPATH": "/evil",
    "NODE_OPTIONS": "--require /evil.js",
    "BASH_ENV": "/evil.sh",
    "ENV": "/evil.sh",
    "GIT_DIR": "/evil",
    "ANTHROPIC_API_KEY": "sk-secret-1",
    "AWS_SECRET_ACCESS_KEY": "sk-secret-2",
}


@on_both_hosts
def test_secrets_and_loader_variables_of_the_host_do_not_reach_a_command(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 22, 23: a list of names says what is passed; a failed hook's result names what was not, and no value."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HTTPS_PROXY", "http://user:sk-secret-3@proxy:8080/")
    seen = tmp_path / "seen"

    result = host.outcome(f"tr '\\0' '\\n' < /proc/self/environ > '{seen}'; exit 1").results[0]

    names = {line.partition("=")[0] for line in seen.read_text().splitlines()}
    assert not names & SECRETS.keys()
    assert {"PATH", "HTTPS_PROXY", "CLAUDE_PROJECT_DIR", "MASSGEN_HOOK_TYPE"} <= names
    assert "sk-secret" not in seen.read_text()
    assert set(result.evidence["withheld"]) >= SECRETS.keys()
    assert "sk-secret" not in str(result.to_dict())


@on_both_hosts
@pytest.mark.parametrize("options", [{"pass_env": ["ANTHROPIC_API_KEY"]}, {"inherit_env": True}], ids=str)
def test_what_a_hook_names_is_passed_on(
    host: Host, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault 23: the contract's ``passEnv`` and ``inheritEnv``."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "$(touch P)\n'\"")
    monkeypatch.chdir(tmp_path)

    host.outcome('printf %s "$ANTHROPIC_API_KEY" > seen', **options)

    assert (tmp_path / "seen").read_text() == "$(touch P)\n'\""
    assert not (tmp_path / "P").exists()


@on_both_hosts
@pytest.mark.parametrize("shell", ["sh", pytest.param("bash", marks=needs("bash"))])
def test_no_profile_of_a_shell_is_read(host: Host, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault 29: no shell is a login shell or an interactive one, and none is told of a file to begin with."""
    for name in (".profile", ".bashrc", ".bash_profile", ".zshenv", "started"):
        (tmp_path / name).write_text("echo Welcome; echo Welcome >&2\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("ENV", "BASH_ENV"):
        monkeypatch.setenv(name, str(tmp_path / "started"))

    outcome = host.outcome(DENY, shell=shell)

    assert (outcome.decision, outcome.reason, outcome.results[0].status) == ("deny", "not here", "ok")


# Lack of resources.

LACK_OF_PROCESSES = """
import asyncio, resource
from interpose import Hooks

hooks = Hooks()
hooks.register("PreToolUse", command="true", name="guard", on_error="abort", timeout=5, isolation="group")

async def fire():
    return await hooks.fire("PreToolUse", tool_name="Bash")

def show(outcome):
    result = outcome.results[0]
    print(result.status, result.error and result.error.code, outcome.decision)

most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
with asyncio.Runner() as runner:
    show(runner.run(fire()))
    resource.setrlimit(resource.RLIMIT_NPROC, (1, most))
    show(runner.run(fire()))
    show(hooks.fire_sync("PreToolUse", tool_name="Bash"))
    resource.setrlimit(resource.RLIMIT_NPROC, (most, most))
    show(runner.run(fire()))
    show(hooks.fire_sync("PreToolUse", tool_name="Bash"))
"""


@needs("setpriv", root=True)
def test_no_process_to_be_had_fails_and_is_over_when_there_is_one_again() -> None:
    """Faults 24, 233: the limit does not hold for root, so the host is somebody else here, who has no other process.

    He may have no right to run this interpreter once more, which a supervisor would be.
    """
    import subprocess

    unprivileged = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups"]
    ended = subprocess.run(
        [*unprivileged, sys.executable, "-c", LACK_OF_PROCESSES],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        cwd="/",
    )

    failed, ok = "failed spawn_resource deny", "ok None none"
    assert ended.stdout.splitlines() == [ok, failed, failed, ok, ok], ended.stderr


@contextmanager
def descriptors_left(number: int) -> Iterator[None]:
    """Let this process open so many more files and no more."""
    used = {int(name) for name in os.listdir("/proc/self/fd")}
    free = [number_ for number_ in range(max(used) + number + 2) if number_ not in used]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free[number], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@on_both_hosts
@pytest.mark.parametrize("number", range(8))
def test_no_descriptor_to_be_had_fails_and_leaves_none_open(host: Host, number: int) -> None:
    """Faults 25, 232: wherever on the way to a running command the last one is used up; later all is well again."""
    hooks = Hooks()
    register(hooks, "cat > /dev/null; exit 2", on_error="abort")
    before = os.listdir("/proc/self/fd")
    codes = []

    async def fire() -> None:
        with descriptors_left(number):
            outcome = await hooks.fire("PreToolUse", **CALL)
        codes.append(outcome.results[0].error and outcome.results[0].error.code)
        assert outcome.denied

    with within(BUSY):
        if host.loop:
            asyncio.run(fire())
        else:
            with descriptors_left(number):
                outcome = hooks.fire_sync("PreToolUse", **CALL)
            codes.append(outcome.results[0].error and outcome.results[0].error.code)

    assert codes == ["spawn_resource"] or (number >= 5 and codes == [None])
    assert len(os.listdir("/proc/self/fd")) <= len(before)  # fewer, if a descriptor of an earlier test was collected
    assert host.fire(hooks).denied
    assert host.fire(hooks).results[0].status == "ok"


@on_both_hosts
def test_a_program_that_is_being_written_fails_after_a_second_attempt(host: Host, tmp_path: Path) -> None:
    """Fault 26."""
    path = script(tmp_path, "#!/bin/sh\nexit 2\n")
    with open(path, "a"):
        began = time.monotonic()
        host.fails(handler=[path], code="spawn_busy", loads=False)
        assert time.monotonic() - began > 0.1, "two firings with a second attempt each"

    assert host.outcome(handler=[path]).denied


@on_both_hosts
def test_a_program_that_was_just_being_written_is_run_after_all(host: Host, tmp_path: Path) -> None:
    """Fault 26: the second attempt is worth it."""
    path = script(tmp_path, "#!/bin/sh\nexit 2\n")
    hooks = Hooks()
    register(hooks, handler=[path])
    writer = open(path, "a")  # noqa: SIM115 - closed in the middle

    async def fire() -> None:
        firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
        await asyncio.sleep(0.01)
        writer.close()
        assert (await firing).denied

    if host.loop:
        asyncio.run(fire())
        return
    import threading

    closer = threading.Timer(0.01, writer.close)
    closer.start()
    assert hooks.fire_sync("PreToolUse", **CALL).denied
    closer.join()


@pytest.mark.parametrize("isolation", ["group", "tree"])
def test_a_host_that_is_cancelled_before_the_second_attempt_starts_nothing(isolation: str, tmp_path: Path) -> None:
    """Faults 26, 149: what was not started yet is not started any more."""
    trace = tmp_path / "it ran"
    path = script(tmp_path, f"#!/bin/sh\ntouch '{trace}'\nsleep 3\n")
    hooks = Hooks()
    register(hooks, handler=[path], isolation=isolation)

    async def host() -> None:
        with open(path, "a"):  # noqa: ASYNC230 - a writer that holds it open
            firing = asyncio.create_task(hooks.fire("PreToolUse", **CALL))
            await asyncio.sleep(0.01)
            firing.cancel()
        with within(BUSY), pytest.raises(asyncio.CancelledError):
            await firing

    asyncio.run(host())
    assert not trace.exists()


@on_both_hosts
def test_a_program_that_hangs_before_its_first_line_is_ended(host: Host, tmp_path: Path) -> None:
    """Fault 28: it waits for a file that nobody opens."""
    os.mkfifo(tmp_path / "interpreter's library")

    host.fails(f"exec < '{tmp_path}/interpreter'\"'\"'s library'; exit 0", code="timeout", timeout=SHORT)


@on_both_hosts
def test_two_hooks_with_the_same_command_both_run(host: Host, tmp_path: Path) -> None:
    """Fault 30: they are two hooks; one of the same name takes the place of the first."""
    hooks = Hooks()
    for name in ("one", "two", "two"):
        register(hooks, f"echo >> '{tmp_path}/runs'", name=name)

    outcome = host.fire(hooks)

    assert [result.hook for result in outcome.results] == ["one", "two"]
    assert len((tmp_path / "runs").read_text()) == 2


# Odd hosts.


@pytest.mark.parametrize("closed", ["0", "1", "2", "01", "12", "02", "012"])
def test_a_host_without_standard_streams_runs_commands(closed: str, tmp_path: Path) -> None:
    """Faults 37, 232: what it opens gets their numbers, and the command its own streams all the same."""
    ended = program(f"""
        import os, sys
        from interpose import Hooks

        for number in map(int, {closed!r}):
            os.close(number)
        hooks = Hooks()
        hooks.register("PreToolUse", command='''cat > "{tmp_path}/seen"; echo no >&2; exit 2''', timeout=5)
        outcome = hooks.fire_sync("PreToolUse", tool_name="Bash")
        with open("{tmp_path}/outcome", "w") as file:
            print(outcome.decision, outcome.reason, file=file)
        os._exit(0)
    """)

    assert (tmp_path / "outcome").read_text() == "deny no\n", ended.stderr
    assert (tmp_path / "seen").read_text().startswith("{")


@pytest.mark.parametrize("flags", [["-O"], ["-OO", "-I", "-S"], ["-X", "dev"]], ids=" ".join)
def test_flags_of_the_interpreter_change_nothing(flags: list[str]) -> None:
    """Fault 239: no assertion carries logic, nothing is needed from site-packages."""
    where = environment()["PYTHONPATH"]
    ended = program(
        f"""
        import sys
        sys.path.insert(0, {where!r})
        from interpose import Hooks

        hooks = Hooks()
        hooks.register("PreToolUse", command="echo no >&2; exit 2", timeout=5)
        print(hooks.fire_sync("PreToolUse", tool_name="Bash").reason)
        """,
        *flags,
    )

    assert ended.stdout == "no\n", ended.stderr
    assert not ended.stderr


def test_a_host_in_a_locale_without_unicode_runs_commands_with_unicode() -> None:
    """Fault 241: what goes out is UTF-8, whatever the host's terminal has."""
    ended = program(
        r"""
        import sys
        from interpose import Hooks

        assert sys.getfilesystemencoding() != "utf-8"
        for what in ({"command": "printf %s 'caf\u00e9' >&2; exit 2"},
                     {"handler": ["/bin/sh", "-c", 'printf %s "$1" >&2; exit 2', "sh", "caf\u00e9"]},
                     {"command": 'printf %s "$WORD" >&2; exit 2', "env": {"WORD": "caf\u00e9"}},
                     {"command": 'printf %s "$INTERPOSE_TOOL_NAME" >&2; exit 2'}):
            hooks = Hooks()
            hooks.register("PreToolUse", what.pop("handler", None), type="command", timeout=5, **what)
            print(ascii(hooks.fire_sync("PreToolUse", tool_name="caf\u00e9").reason))
        """,
        env={
            "LC_ALL": "C",
            "PYTHONIOENCODING": "ascii",
            "PYTHONCOERCECLOCALE": "0",
            "PYTHONUTF8": "0",
        },
    )

    assert ended.stdout.split() == [r"'caf\xe9'"] * 4, ended.stderr


def test_a_host_that_is_process_1_leaves_no_zombie_of_its_hooks(tmp_path: Path) -> None:
    """Fault 237: what hooks leave behind becomes its child, and nobody else takes it."""
    import subprocess

    namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*namespace, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs unshare and the right to make a PID namespace")
    text = """
import os
from interpose import Hooks

assert os.getpid() == 1
other = os.posix_spawnp("sh", ["sh", "-c", "exit 7"], {"PATH": os.environ["PATH"]})
hooks = Hooks()
hooks.register("PreToolUse", command="sleep 0.01 & sleep 30 & exit 2", timeout=5)
print(hooks.fire_sync("PreToolUse", tool_name="Bash").decision, hooks.fire_sync("PreToolUse").decision)
print(os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]))
"""
    ended = subprocess.run(
        [*namespace, sys.executable, "-c", text], env=environment(), capture_output=True, text=True, timeout=20, check=False
    )  # fmt: skip

    assert ended.stdout.split() == ["deny", "deny", "7"], ended.stderr


@on_both_hosts
@pytest.mark.parametrize("what", ["a missing directory", "a file"])
def test_no_temporary_directory_is_needed(
    host: Host, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults 235, 236: nor a home that can be written to."""
    there = tmp_path / "there"
    if what == "a file":
        there.touch()
    for name in ("TMPDIR", "TEMP", "TMP", "HOME"):
        monkeypatch.setenv(name, str(there))

    assert host.outcome("exit 2").denied


@on_both_hosts
def test_more_commands_than_may_run_at_once_wait_for_their_turn(host: Host) -> None:
    """Fault 243: one after another, none is left out."""
    firings = 40
    hooks = Hooks()
    register(hooks, "exit 2")

    if host.loop:

        async def all_at_once() -> list[Any]:
            return await asyncio.gather(*(hooks.fire("PreToolUse", **CALL) for _ in range(firings)))

        outcomes = asyncio.run(all_at_once())
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(firings) as pool:
            outcomes = list(pool.map(lambda _: hooks.fire_sync("PreToolUse", **CALL), range(firings)))

    assert [outcome.decision for outcome in outcomes] == ["deny"] * firings


def test_a_command_whose_turn_does_not_come_in_time_fails() -> None:
    """Fault 243: a guard denies then, it is not skipped; and the next ones have their turn again."""
    hooks = Hooks()
    register(hooks, "sleep 60", name="hangs", timeout=60, matcher="Hang")
    register(hooks, "true", name="guard", timeout=SHORT, on_error="abort", matcher="Bash")
    register(hooks, "exit 2", name="next", timeout=30, matcher="Next")

    async def host() -> None:
        hanging = [asyncio.create_task(hooks.fire("PreToolUse", tool_name="Hang")) for _ in range(16)]
        await until(lambda: _running() == 16)
        outcome = await hooks.fire("PreToolUse", tool_name="Bash")
        assert outcome.denied
        assert outcome.results[0].status == "timeout"
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)
        assert (await hooks.fire("PreToolUse", tool_name="Next")).denied

    with within(SHORT + 4 * BUSY):
        asyncio.run(host())


def test_a_loop_that_is_closed_while_a_command_waits_for_its_turn_does_not_hold_up_others() -> None:
    """Faults 146, 243: the place in the queue is given up with it."""
    hooks = Hooks()
    register(hooks, "sleep 0.3", name="slow", matcher="Slow")
    register(hooks, "exit 2", name="guard", matcher="Bash")
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        slow = [pool.submit(hooks.fire_sync, "PreToolUse", tool_name="Slow") for _ in range(16)]
        assert eventually(lambda: _running() == 16)
        loop = asyncio.new_event_loop()
        firing = loop.create_task(hooks.fire("PreToolUse", tool_name="Bash"))
        loop.run_until_complete(asyncio.sleep(0.02))
        left = asyncio.all_tasks(loop)
        loop.close()
        assert all(one.result(LONG).allowed for one in slow)
    assert firing in left
    for task in left:
        _close(task)

    assert _running() == 0
    assert hooks.fire_sync("PreToolUse", tool_name="Bash").denied


def _close(task: asyncio.Task[Any]) -> None:
    """Close the coroutine of a task whose loop is closed; else it is closed, and fails, in a later test."""
    coroutine = task.get_coro()
    assert inspect.iscoroutine(coroutine)
    with contextlib.suppress(RuntimeError):  # the loop is closed
        coroutine.close()


def _running() -> int:
    from interpose.handlers._slots import slots

    return slots._running


def test_every_process_of_a_hook_is_found_by_its_mark() -> None:
    """The tests of this folder rely on it: what is looked for after each of them can be seen while it is there."""
    from tests.faults.commands import living, stop

    sleeper = os.posix_spawnp("sleep", ["sleep", "30"], {**os.environ, "FAULT_MARK": mark()})
    assert eventually(lambda: len(living()) == 1)
    stop(living()[0])
    os.waitpid(sleeper, 0)
