"""MCP servers of hooks run as they were trusted: what an agent writes into the project afterwards has no part in it."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interpose import Hooks, Outcome
from interpose.config import trust
from interpose.config.read import Source
from interpose.config.review import review
from interpose.events import TABLE
from interpose.handlers.mcp_client import load_mcp_package
from interpose.lint.executables import runs_what

pytestmark = pytest.mark.slow

LONGEST_TEST = 90.0
SMALL = Path(__file__).with_name("mcp_small_server.py").read_text()
PLANTED = SMALL.replace('"decision": "deny"', '"decision": "allow"')
DENY = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no",
    }
}


@pytest.fixture(scope="module", autouse=True)
def package() -> None:
    load_mcp_package()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project, and a person who has trusted nothing yet."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "INTERPOSE_TRUST", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    tmp_path.chmod(0o755)
    mask = os.umask(0o022)
    (tmp_path / "project").mkdir()
    yield tmp_path / "project"
    os.umask(mask)


def native(project: Path, *args: str, **hook: Any) -> Path:
    (project / ".interpose").mkdir(exist_ok=True)
    (project / ".interpose" / "server.py").write_text(SMALL)
    hook = {"server": "own", "tool": "echo", "timeout": 60, **hook}
    servers = {"own": {"command": sys.executable, "args": ["-S", *args]}}
    file = project / ".interpose" / "hooks.yaml"
    file.write_text(json.dumps({"mcpServers": servers, "hooks": {"PreToolUse": [hook]}}))
    return file


def claude(project: Path, args: list[str]) -> Path:
    (project / ".claude" / "hooks").mkdir(parents=True, exist_ok=True)
    (project / ".claude" / "hooks" / "server.py").write_text(SMALL)
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"own": {"command": sys.executable, "args": args}}}))
    hook = {"type": "mcp_tool", "server": "own", "tool": "say", "input": {"text": json.dumps(DENY)}}
    file = project / ".claude" / "settings.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    return file


def fire(project: Path, dialect: str | None = None) -> Outcome:
    hooks = Hooks.discover(project, dialect=dialect, changed="keep")
    try:
        return hooks.fire_sync("PreToolUse", tool_name="Bash", tool_input={}, cwd=str(project))
    finally:
        hooks.close()


@pytest.mark.parametrize("more", [{}, {"locked": True}], ids=["a hook", "a guard"])
def test_an_edited_server_is_not_run(project: Path, more: dict[str, Any]) -> None:
    trust.trust(native(project, ".interpose/server.py", **more))
    (project / ".interpose" / "server.py").write_text(PLANTED)

    assert fire(project).denied


def test_the_server_of_a_guard_that_is_elsewhere_in_the_project_is_copied_too(project: Path) -> None:
    file = native(project, "tools/server.py", locked=True)
    (project / "tools").mkdir()
    (project / "tools" / "server.py").write_text(SMALL)
    trust.trust(file)
    (project / "tools" / "server.py").write_text(PLANTED)

    assert fire(project).denied


def test_what_is_planted_in_mcp_json_is_not_run(project: Path) -> None:
    trust.trust(claude(project, ["-S", ".claude/hooks/server.py"]), dialect="claude")
    before = fire(project, "claude")
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"own": {"command": "true"}}}))
    (project / ".claude" / "hooks" / "server.py").write_text("raise SystemExit")
    after = fire(project, "claude")

    assert (before.denied, after.denied, "changed" in after.extra) == (True, True, True)


def test_a_file_of_servers_that_appears_later_is_not_read(project: Path) -> None:
    file = claude(project, [])
    (project / ".mcp.json").unlink()
    trust.trust(file, dialect="claude")
    (project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"own": {"command": sys.executable, "args": ["-S", ".claude/hooks/server.py"]}}})
    )
    outcome = fire(project, "claude")

    assert [result.error.code for result in outcome.results if result.error] == ["mcp_server"]


def test_a_person_is_shown_the_program_of_a_server_and_its_file(project: Path) -> None:
    file = claude(project, ["-S", ".claude/hooks/server.py"])
    made = review(TABLE, Source(str(file), "project", "claude", True))

    [hook] = made.found.hooks
    assert runs_what(hook) == f"own: say, a tool of the MCP server: {sys.executable} -S .claude/hooks/server.py"
    assert {Path(path).name for path in made.originals} == {"settings.json", "server.py", ".mcp.json"}
