"""What is true of every rule that lets calls through: a shell that runs a covered line runs nothing else."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from tests.properties.examples import tries

from interpose.matching import compile_condition
from interpose.matching.shell import CommandPattern

PUSH = "git push *"
PARTS = [
    "git push", "git", "push", " origin", " ", "\n", ";", "&&", "||", "|", "&", "(", ")", "{ ", "; }", "$(", "`", '"', "'", "\\", "$PATH", "<(",
    ">f", "<f", "#", "if ", "; then ", "; fi", "!", "time ", "*", "A=1", "PATH=evil", "PATH[0]=evil", "=", "[", "]", "\r", "\t", "\x0b", "evil", "./evil",
    "evil/git", "sh -c", "eval ", "command ", "function git ", "alias git=evil", "'a b'", '"c;d"', "~", "%", "é", "\u00a0", "\0", "echo ", "export ",
]  # fmt: skip
lines = st.lists(st.just("git push") | st.sampled_from(PARTS), min_size=1, max_size=9).map("".join)
# Lines that are mostly harmless, with something odd in one place.
plain = st.sampled_from(["git push", "git push x", "git push 'a b'", "'git' push", "time git push", "! git push"])
odd = st.one_of(st.just(""), st.just(""), st.just(""), st.sampled_from(PARTS))
links = st.sampled_from(["; ", " && ", " | ", "\n", " & ", " || "])
mostly = st.builds(
    lambda before, first, link, second, after: f"{before}{first}{link}{second}{after}", odd, plain, links, plain, odd
)

SHELLS = [shell for shell in ("bash", "dash", "zsh") if shutil.which(shell)]


@pytest.fixture(scope="module")
def world() -> Iterator[Path]:
    """A directory in which every program says that it was run, and nothing else can be run."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        said = f'#!/bin/sh\nprintf "%s\\n" "${{0##*/}} $1" >> {root}/ran\n'
        for name in ("bin/git", "bin/evil", "bin/push", "bin/origin", "work/evil/git", "work/evil/push"):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(said.replace("${0##*/}", "${0##*/}" if name == "bin/git" else name))
            path.chmod(0o755)
        yield root


def run(shell: str, line: str, world: Path) -> tuple[set[str], set[str]]:
    """Run a line; return what ran, and which files there are afterwards."""
    ran = world / "ran"
    ran.unlink(missing_ok=True)
    subprocess.run(
        [shutil.which(shell) or shell, "-c", line], cwd=world / "work", env={"PATH": str(world / "bin"), "HOME": str(world)},
        stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False,
    )  # fmt: skip
    said = set(ran.read_text().splitlines()) if ran.exists() else set()
    return said, {os.path.join(folder, name) for folder, _, names in os.walk(world / "work") for name in names}


@tries(60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(mostly | lines)
@example("PATH[0]=evil; git push")
@example("git push&git push\n")
@example("function git if evil; then evil; fi; git push")
def test_a_shell_that_runs_a_covered_line_runs_nothing_else(world: Path, line: str) -> None:
    if not CommandPattern(PUSH).covers_line(line):
        return
    for shell in SHELLS:
        said, files = run(shell, line, world)

        assert said <= {"git push"}, (shell, line)
        assert {os.path.relpath(name, world) for name in files} == {"work/evil/git", "work/evil/push"}, (shell, line)


@given(lines | mostly, st.sampled_from([PUSH, "git *", "git push", "* x", "git push 'a b'"]))
def test_what_is_covered_is_matched(line: str, pattern: str) -> None:
    if CommandPattern(pattern).covers_line(line):
        assert CommandPattern(pattern).grade_line(line) == "certain"


@given(lines | mostly)
def test_another_command_on_a_line_of_its_own_is_never_covered(line: str) -> None:
    covers = CommandPattern(PUSH).covers_line

    assert not covers(f"evil\n{line}")
    assert not covers(f"{line}\nevil")


paths = st.lists(
    st.sampled_from(["src", "a", "..", ".", "", "~", "~root", "b.py", "/", "etc", "\0", "link"]), max_size=6
)


@given(paths.map("/".join), st.sampled_from(["src/**", "*.py", "**", "./src/*", "**/a"]))
def test_a_path_that_is_covered_is_below_the_directory(path: str, pattern: str) -> None:
    condition = compile_condition(f"Write({pattern})")
    assert condition is not None
    call = {"tool_name": "Write", "tool_input": {"file_path": path}, "cwd": "/project"}

    if condition.covers(call):
        assert condition(call)
        assert os.path.realpath(os.path.join("/project", path)).startswith("/project")
        assert not path.startswith("~")
