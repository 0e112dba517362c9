"""`interpose mcp-proxy`: what is wrong is said before anything is served. Real servers are in tests/adapters."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from interpose.cli import main
from interpose.cli.mcp_proxy import _backend
from interpose.errors import UsageError
from interpose.handlers.mcp_servers import HttpServer, StdioServer


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("TOKEN", "s3")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hooks.yaml").write_text("hooks: {PreToolUse: [{type: script, handler: /deny no}]}")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "there is no server"),
        (["--", "no-such-program"], "the program no-such-program was not found"),
        (["http://localhost/mcp", "more"], "more: nothing is expected after a URL"),
        (["--header", "no header", "http://localhost/mcp"], "'no header' is not a header"),
        (["--header", "A: ${NOT_SET}", "http://localhost/mcp"], "the variable NOT_SET is not set"),
        (["--header", "A: b", "--", "sh"], "--header is for a URL"),
        (["--server", "a b", "--", "sh"], "'a b' cannot be a part of a tool's name"),
        (["--", "sh"], "no trusted configuration was found"),
        (["--config", "missing.yaml", "--", "sh"], "missing.yaml"),
    ],
)
def test_a_proxy_that_cannot_work_says_why(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["mcp-proxy", *words])

    out, err = capsys.readouterr()
    assert (status, out) == (1, "")
    assert said in err


def test_hooks_that_are_not_trusted_are_no_hooks(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".interpose").mkdir()
    (project / "hooks.yaml").rename(project / ".interpose" / "hooks.yaml")

    status = main(["mcp-proxy", "--", "sh"])

    assert status == 1
    assert "no trusted configuration was found" in capsys.readouterr().err


def test_without_the_package_the_way_out_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "fastmcp", None)

    status = main(["mcp-proxy", "--config", "hooks.yaml", "--", "sh"])

    assert status == 1
    assert "pip install 'interpose[fastmcp]'" in capsys.readouterr().err


def test_a_header_may_name_a_variable() -> None:
    found = _backend(["https://example.org/mcp"], ["Authorization: Bearer ${TOKEN}"])

    assert found == HttpServer("https://example.org/mcp", {"Authorization": "Bearer s3"})


def test_words_after_the_dashes_belong_to_the_server(project: Path) -> None:
    (project / "server").write_text("#!/bin/sh\n")
    (project / "server").chmod(0o755)

    found = _backend(["./server", "--config", "x"], [])

    assert found == StdioServer(str(project / "server"), ("--config", "x"), cwd=str(project))


def test_a_program_that_is_not_executable_is_not_found(project: Path) -> None:
    (project / "server").write_text("#!/bin/sh\n")

    with pytest.raises(UsageError, match=r"\./server was not found"):
        _backend(["./server"], [])
