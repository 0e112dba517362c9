"""What is true of every path and every search: a file that opens under a denied name is seen, whatever it was called."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from tests.properties.examples import tries

from interpose.matching import compile_condition
from interpose.matching.globs import glob_to_regex, overlap
from interpose.matching.names import linear

STEPS = [
    "secrets/", "link/", "src/link/", "src/in/", "src/out/", "src/../", "secrets/out/out/", "deep/", "deep/../", "../", "../project/", "../way/", "./", "/", "src/", "new/../", "round/", "KEY/",
]  # fmt: skip
paths = st.builds(
    lambda begin, steps, end: begin + "".join(steps) + end,
    st.sampled_from(["", "", "", "/", "./", "/proc/self/cwd/", "/proc/self/root/{root}/", "{root}/", "{root}/../way/", "/dev/fd/"]),
    st.lists(st.sampled_from(STEPS), max_size=4),
    st.sampled_from(["key", "key", "key", "key/", "a", "hard", "", "key "]),
)  # fmt: skip
# Rules, and the files that each of them denies.
BOTH = ("secrets/key", "secrets/deep/key")
DENIED = {
    "secrets/**": BOTH, "./secrets/**": BOTH, "secrets": BOTH, "secrets/": BOTH, "key": BOTH, "**/key": BOTH, "link/**": BOTH, "s*/**": BOTH, "secrets/{key,deep/**}": BOTH,
    "src/in/**": ("secrets/deep/key",), "/{root}/secrets/*": ("secrets/key",),
}  # fmt: skip
rules = st.sampled_from(sorted(DENIED))


@pytest.fixture(scope="module")
def project() -> Iterator[Path]:
    """A project with links in every direction; the tests run in it."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        root = Path(os.path.realpath(place)) / "project"
        for name in ("secrets/key", "secrets/deep/key", "src/a", "a"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(name)
        (root / "link").symlink_to("secrets")
        (root / "src/in").symlink_to("../secrets/deep")
        (root / "src/link").symlink_to("../link")
        (root / "src/out").symlink_to("..")
        (root / "secrets/out").symlink_to("../src")
        (root / "round").symlink_to("src/round")
        (root / "src/round").symlink_to("../round")
        (root.parent / "way").symlink_to("project")
        os.link(root / "secrets/key", root / "src/hard")
        os.chdir(root)
        yield root
        os.chdir(before)


def judged(rule: str, path: str, project: Path, cwd: str) -> Any:
    condition = compile_condition(f"Read({rule})".replace("{root}", str(project)))
    assert condition is not None
    return condition, {
        "tool_name": "Read",
        "tool_input": {"file_path": path.replace("{root}", str(project))},
        "cwd": cwd,
    }


def opened(path: str, project: Path) -> tuple[int, int] | None:
    """Open a path as tools do, as it is or with links resolved first; return which file it is."""
    for name in (path.replace("{root}", str(project)), os.path.realpath(path.replace("{root}", str(project)))):
        try:
            found = os.stat(name)
        except (OSError, ValueError):
            continue
        return found.st_dev, found.st_ino
    return None


@tries(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths, rules, st.booleans())
@example("src/out/secrets/key", "secrets/**", False)
@example("src/in/../key", "secrets/**", True)
@example("/proc/self/cwd/src/link/key", "link/**", True)
def test_a_denied_file_is_seen_whatever_it_is_called(project: Path, path: str, rule: str, through_link: bool) -> None:
    cwd = str(project.parent / "way") if through_link else str(project)
    condition, call = judged(rule, path, project, cwd)
    file = opened(path, project)
    # A second name of a file cannot be told from a wildcard: the other one would have to be looked for.
    is_hard_link = os.path.realpath(path.replace("{root}", str(project))) == str(project / "src/hard")

    if not is_hard_link and file in {opened(name, project) for name in DENIED[rule]}:
        assert condition.grade(call) is not None


@tries(100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths, st.sampled_from(["src/**", "src/*", "**", "a", "./a", "**/a"]))
@example("new/../src/in/../key", "src/**")
def test_what_is_allowed_is_below_the_directory_and_matched(project: Path, path: str, rule: str) -> None:
    condition, call = judged(rule, path, project, str(project))

    if condition.covers(call):
        assert condition.grade(call) == "certain"
        below = "/src/" if rule.startswith("src") else "/"
        assert f"{os.path.realpath(path.replace('{root}', str(project)))}/".startswith(f"{project}{below}")


pieces = st.sampled_from(["a", "b", "/", "*", "**/", "**", "?", "[ab]", "[!a]", "{a,b}", "{b/,}"])
globs = st.lists(pieces, max_size=6).map("".join)
names = st.lists(st.sampled_from("ab/"), max_size=6).map("".join)


@given(globs, globs, st.lists(names, max_size=20))
@example("**/a", "*/a", ["b/a"])
@example("a/**", "**/b", ["a/b"])
def test_two_globs_that_match_one_path_overlap(one: str, other: str, found: list[str]) -> None:
    first, second = (linear(glob_to_regex(glob)) for glob in (one, other))

    if any(first(name) and second(name) for name in found):
        assert overlap(one, other)
        assert overlap(other, one)
