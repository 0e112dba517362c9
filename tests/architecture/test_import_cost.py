"""Importing the public names costs the standard library and nothing more."""

import subprocess
import sys
from pathlib import Path

import pytest

# What the interpreter loads on its own, before our import, is not ours.
REPORT_NEW_MODULES = """
import sys
before = set(sys.modules)
{statement}
print(*sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
"""
REPORT_AFTER_PRELOAD = """
import sys
from interpose.cli import main
from interpose.cli.serve import preload
preload()
before = set(sys.modules)
main({fire})
print(*sorted(name for name in set(sys.modules) - before if name.startswith("interpose")))
"""


def packages_loaded_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter loads to run ``statement``."""
    report = subprocess.run(
        [sys.executable, "-c", REPORT_NEW_MODULES.format(statement=statement)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.returncode == 0, report.stderr
    return set(report.stdout.splitlines()[-1].split())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "hooks.yaml").write_text("hooks:\n  PreToolUse:\n    - {matcher: Bash, command: 'true'}\n")
    (tmp_path / "python.yaml").write_text("hooks:\n  PreToolUse:\n    - {matcher: Bash, handler: own.look}\n")
    (tmp_path / "policies.yaml").write_text("policies: recommended\n")
    (tmp_path / "own.py").write_text("def look(event):\n    return None\n")
    return tmp_path


def test_importing_the_public_names_loads_no_third_party_package() -> None:
    loaded = packages_loaded_by("from interpose import Hooks, deny")

    assert "interpose" in loaded
    assert loaded - sys.stdlib_module_names == {"interpose"}


HEAVY = {
    "ast", "asyncio", "dataclasses", "dis", "hashlib", "inspect", "logging", "pathlib", "rich", "subprocess", "tokenize",
    "typer", "yaml",
}  # fmt: skip
"""Each takes milliseconds to load, where a whole ``interpose fire`` takes some tens."""


@pytest.mark.parametrize("file", ["hooks.yaml", "python.yaml", "policies.yaml"])
def test_firing_an_event_loads_nothing_that_takes_long(file: str, home: Path) -> None:
    fire = ["fire", "PreToolUse", "--tool", "Bash", "--config", str(home / file)]
    statement = f"from interpose.cli import main; main({fire})"

    packages_loaded_by(statement)  # parses the file, and keeps what it says
    loaded = packages_loaded_by(statement)

    assert "interpose" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("file", ["hooks.yaml", "python.yaml"])
@pytest.mark.parametrize("reply", ["native", "claude", "codex"])
def test_an_engine_process_has_loaded_what_an_event_needs(file: str, reply: str, home: Path) -> None:
    """It would be loaded again in every engine process, and looked at again at every event."""
    event = '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
    fire = ["fire", "--reply", reply, "--config", str(home / file)]
    report = subprocess.run(
        [sys.executable, "-c", REPORT_AFTER_PRELOAD.format(fire=fire)],
        input=event, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert report.returncode == 0, report.stderr
    assert report.stdout.splitlines()[-1].split() == []


REPORT_COMPILED = """
import builtins, re, sys
compiled = []
builtins_compile, re_compile = builtins.compile, re._compiler.compile

def compile_source(source, *given, **named):
    if isinstance(source, str):  # an annotation; the hook's own module is bytes
        compiled.append("source " + repr(source)[:80])
    return builtins_compile(source, *given, **named)

def compile_expression(text, *given):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].startswith("re"):
        frame = frame.f_back
    if frame.f_code.co_name == "<module>" and frame.f_globals["__name__"].startswith("interpose"):
        compiled.append("expression " + repr(text)[:80] + " of " + frame.f_globals["__name__"])
    return re_compile(text, *given)

builtins.compile, re._compiler.compile = compile_source, compile_expression
from interpose.cli import main
main({fire})
print(*compiled, sep="\\n")
"""


@pytest.mark.parametrize("policies", ["[]", "[recommended]"])
@pytest.mark.parametrize("reply", ["native", "claude", "codex"])
def test_firing_an_event_compiles_no_annotation_and_no_expression_that_is_not_used(
    reply: str, policies: str, home: Path
) -> None:
    """What ``typing`` makes of annotations that are text, and 100 expressions, took a fifth of a firing."""
    file = home / "both.yaml"
    file.write_text(
        "hooks:\n  PreToolUse:\n    - {if: Bash(git push *), command: 'true'}\n    - {handler: own.look}\n"
        f"policies: {policies}\n"
    )
    event = '{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls src && cat a"}}'
    fire = ["fire", "--reply", reply, "--config", str(file)]
    first, second = [
        subprocess.run(
            [sys.executable, "-c", REPORT_COMPILED.format(fire=fire)],
            input=event, capture_output=True, text=True, check=False,
        )
        for _ in range(2)
    ]  # fmt: skip

    assert (first.returncode, second.returncode) == (0, 0), second.stderr  # the first one parses the file
    assert [line for line in second.stdout.splitlines() if line.startswith(("source ", "expression "))] == []
