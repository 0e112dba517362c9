"""Values that no command can be given, and what a command gets to know of its host."""

from pathlib import Path
from typing import Any

import pytest
from tests.faults.commands import (
    DENY,
    Host,
    needs,
    on_both_hosts,
    register,
)
from tests.faults.hosts import CALL

from interpose import Hooks
from interpose.errors import BadHook

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("commands_leave_nothing")]


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
