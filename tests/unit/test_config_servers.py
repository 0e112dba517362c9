"""Hooks of type http and mcp_tool in native files: what is wrong is said with its place, and checks know them."""

import json
from pathlib import Path

import pytest

from interpose import BadHook, ConfigError, Hooks
from interpose.config.schema import schema
from interpose.lint.executables import isolation_of, runs_what
from interpose.lint.rules import check_hooks

URL = "http://localhost:1/x"


def problems(tmp_path: Path, hook: str, top: str = "") -> list[str]:
    file = tmp_path / "hooks.yaml"
    file.write_text(f"{top}hooks:\n  PreToolUse:\n    - {hook}\n")
    with pytest.raises(ConfigError) as error:
        Hooks.load(file)
    return [str(problem).removeprefix(f"{tmp_path}/") for problem in error.value.problems]


WRONG = {
    "{url: 'ftp://x/'}": "hooks.yaml:3:8: url: it cannot be used: it does not begin with http:// or https://",
    "{url: 'http:///x'}": "hooks.yaml:3:8: url: it cannot be used: it names no host",
    "{url: 'http://x:99999/'}": "hooks.yaml:3:8: url: it cannot be used: its host or port cannot be read",
    "{url: 5}": "hooks.yaml:3:8: url: 5 where a URL is expected",
    "{type: http}": "url: nothing where a URL is expected",
    "{url: 'http://x/', headers: {X: 5}}": "headers: X is 5 where text is expected",
    "{url: 'http://x/', headers: {'X y': z}}": "headers: 'X y' is not the name of a header",
    "{url: 'http://x/', headers: {Host: z}}": "headers: Host is set by the request itself",
    "{url: 'http://x/', allowedEnvVars: TOKEN}": "allowedEnvVars: 'TOKEN' where a list of names is expected",
    "{url: 'http://x/', handler: a.b}": "handler: a hook of type http has none",
    "{url: 'http://x/', command: ls}": "url: a command has no such option",
    "{url: 'http://x/', cwd: /}": "cwd: a hook of type http has no such option",
    "{url: 'http://x/', inline: true}": "inline: a hook of type http runs no function here",
    "{handler: a.b, headers: {}}": "headers: only a hook of type http has that",
    "{server: none, tool: t}": "server: there is no MCP server none",
    "{server: {command: x}}": "tool: nothing where the name of a tool is expected",
    "{server: {}, tool: t}": "where the name of an MCP server is expected",
    "{server: {command: x, colour: red}, tool: t}": "server: is not a key of a server",
    "{type: mcp_tool, tool: t}": "server: nothing where the name of an MCP server is expected",
    "{server: {command: x}, tool: t, input: 5}": "input: 5 where names and values are expected",
}


@pytest.mark.parametrize("hook", WRONG)
def test_what_is_wrong_is_said_with_its_place(hook: str, tmp_path: Path) -> None:
    found = problems(tmp_path, hook)

    assert len(found) == 1, found
    assert WRONG[hook].removeprefix("hooks.yaml:3:8: ") in found[0]
    assert found[0].startswith("hooks.yaml:3:")


@pytest.mark.parametrize(
    ("top", "what"),
    [
        ("mcpServers: 5\n", "hooks.yaml:1:1: 5 where names and servers are expected"),
        ("mcpServers: {a: {command: 5}}\n", "command"),
        ("mcpServers: {a: {type: sse, url: 'http://x'}}\n", "type"),
        ("mcpServers: {a: {command: x, colour: red}}\n", "is not a key of a server"),
    ],
)
def test_servers_are_read_strictly(top: str, what: str, tmp_path: Path) -> None:
    found = problems(tmp_path, "{handler: a.b}", top)

    assert len(found) == 1
    assert what in found[0]
    assert found[0].startswith("hooks.yaml:1:")


def test_a_url_means_http_and_a_server_means_a_tool(tmp_path: Path) -> None:
    (tmp_path / "hooks.yaml").write_text(
        f"mcpServers: {{own: {{command: sh, args: [server]}}}}\n"
        f"hooks:\n  Stop:\n    - {{url: '{URL}', headers: {{A: $B}}, allowed_env_vars: [B]}}\n    - {{server: own, tool: t, timeout: 3}}\n"
    )
    http, tool = Hooks.load(tmp_path / "hooks.yaml")

    assert (http.type, http.label, http.dialect, runs_what(http)) == ("http", URL, "native", f"POST {URL} with your B")
    assert (tool.type, tool.label, tool.timeout) == ("mcp_tool", "own: t", 3)
    assert runs_what(tool) == "own: t, a tool of the MCP server: sh server"
    assert (isolation_of(http), isolation_of(tool)) == (f"a request to {URL}", "a kept MCP server")


def test_code_registers_them_with_the_same_words() -> None:
    hooks = Hooks()
    hooks.register("Stop", url=URL, name="a")
    hooks.register("Stop", type="mcp_tool", server={"url": "http://u:secret@host/mcp?k=secret"}, tool="t")

    assert [(hook.label, hook.type) for hook in hooks] == [("a", "http"), ("host/mcp: t", "mcp_tool")]
    with pytest.raises(BadHook, match="headers"):
        hooks.register("Stop", url=URL, headers={"A": "b\nc"})


def test_check_finds_variables_that_are_not_listed_or_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GONE", raising=False)
    hooks = Hooks()
    hooks.register("PreToolUse", url=URL, headers={"A": "${SECRET}", "B": "$GONE"}, allowed_env_vars=["GONE"])

    found = {finding.code: str(finding.problem) for finding in check_hooks(hooks, hooks.settings)}

    assert set(found) == {"may_fail_open", "unlisted_variable", "unset_variable"}
    assert "$SECRET" in found["unlisted_variable"]
    assert "$GONE" in found["unset_variable"]


def test_check_finds_a_server_without_its_program_and_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    hooks = Hooks()
    hooks.register("PreToolUse", server={"command": "/not/there"}, tool="t", on_error="abort")

    found = [str(finding.problem) for finding in check_hooks(hooks, hooks.settings)]

    assert len(found) == 2
    assert "interpose[mcp]" in found[0]
    assert "/not/there does not exist" in found[1]


def test_the_schema_knows_them() -> None:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(json.loads(json.dumps(schema())))
    good = {
        "mcpServers": {"a": {"command": "x"}},
        "hooks": {
            "Stop": [
                {"url": URL, "headers": {"A": "b"}, "allowedEnvVars": ["B"]},
                {"server": "a", "tool": "t", "input": {"x": "${prompt}"}},
                {"server": {"url": URL}, "tool": "t"},
            ]
        },
    }
    bad = [
        {"hooks": {"Stop": [{"url": "ftp://x"}]}},
        {"hooks": {"Stop": [{"server": {"colour": "red"}, "tool": "t"}]}},
        {"mcpServers": {"a": {}}},
    ]

    assert validator.is_valid(good)
    assert [validator.is_valid(one) for one in bad] == [False, False, False]
