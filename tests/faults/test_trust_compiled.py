"""The compiled form of a configuration: it is only believed if the person alone could have written it."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.hosts import program
from tests.faults.trusted_projects import GUARD, Project

from interpose import ConfigError, Hooks
from interpose.config import parse_cache

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def cache(home: Path) -> Path:
    return home / ".cache" / "interpose"


REPORT = """
import sys
from interpose import Hooks
hooks = Hooks.load({file!r}, lines=False)
print([hook.name for hook in hooks], "yaml" in sys.modules)
"""


def second_load(file: Path, **env: str) -> str:
    loaded = program(REPORT.format(file=str(file)), env=env)
    assert loaded.returncode == 0, loaded.stderr
    return loaded.stdout.strip()


def test_a_second_load_needs_no_parser(project: Project, cache: Path) -> None:
    assert second_load(project.file) == "['guard'] True"
    assert second_load(project.file) == "['guard'] False"
    (kept,) = cache.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600

    project.file.write_text(GUARD.replace("guard", "other"))
    assert second_load(project.file) == "['other'] True"


def _poison(kept: Path) -> None:
    """Let a compiled form say that there are no hooks, as well as whoever knows how could."""
    import hashlib
    import marshal

    made = marshal.dumps((parse_cache._VERSION, {"hooks": {}}))
    kept.write_bytes(hashlib.sha256(made).digest() + made)


POISON: dict[str, Callable[[Path], object]] = {
    "writable by everybody": lambda kept: kept.chmod(0o666),
    "writable by a group": lambda kept: kept.chmod(0o620),
    "in an open folder": lambda kept: kept.parent.chmod(0o777),
    "a link": lambda kept: kept.rename(kept.with_name("x")).with_name(kept.name).symlink_to("x"),
}


@pytest.mark.parametrize("how", POISON)
def test_a_compiled_form_that_somebody_else_could_have_written_is_not_believed(
    project: Project, cache: Path, how: str
) -> None:
    """Fault 196"""
    Hooks.load(project.file)
    (kept,) = cache.iterdir()
    _poison(kept)
    assert list(Hooks.load(project.file)) == []  # it works like this

    POISON[how](kept)

    assert [hook.name for hook in Hooks.load(project.file)] == ["guard"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_compiled_form_of_another_user_is_not_believed(project: Project, cache: Path, what: str) -> None:
    """Fault 196"""
    Hooks.load(project.file)
    (kept,) = cache.iterdir()
    _poison(kept)
    os.chown(kept if what == "file" else cache, 12345, -1)

    assert [hook.name for hook in Hooks.load(project.file)] == ["guard"]


@pytest.mark.parametrize("how", ["empty", "garbage", "cut off", "one bit", "old version", "huge list", "no pair"])
def test_a_compiled_form_that_is_damaged_is_made_anew(project: Project, cache: Path, how: str) -> None:
    import hashlib
    import marshal

    def sealed(made: bytes) -> bytes:
        return hashlib.sha256(made).digest() + made

    Hooks.load(project.file)
    (kept,) = cache.iterdir()
    good = kept.read_bytes()
    at = good.index(b"exit 2") + 5
    damaged = {
        "empty": b"",
        "garbage": b"\xff" * 200,
        "cut off": good[:-5],
        "one bit": good[:at] + b"0" + good[at + 1 :],  # exit 0
        "old version": sealed(marshal.dumps((parse_cache._VERSION - 1, {"hooks": {}}))),
        "huge list": b"x" * 32 + b"[\xff\xff\xff\x7f",
        "no pair": sealed(marshal.dumps({"hooks": {}})),
    }
    kept.write_bytes(damaged[how])

    assert Hooks.load(project.file).fire_sync("PreToolUse", tool_name="Bash").denied
    assert kept.read_bytes() == good


def test_what_is_compiled_from_yaml_is_not_taken_for_json(project: Project, tmp_path: Path) -> None:
    """Fault 176: the same bytes, of which one language makes something and the other does not."""
    text = "{hooks: {Stop: [{command: 'true'}]}, " + "x: 1}" + " " * 1000
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "a.json").write_text(text)
    assert len(list(Hooks.load(tmp_path / "a.yaml"))) == 1

    with pytest.raises(ConfigError):
        Hooks.load(tmp_path / "a.json")


def test_a_compiled_file_says_every_time_where_its_problems_and_its_hooks_are(project: Project) -> None:
    project.file.write_text(GUARD + "  Stopp: []\n")

    for _ in range(2):
        with pytest.raises(ConfigError, match=r"hooks\.yaml:4:3: Stopp"):
            Hooks.load(project.file)

    project.file.write_text(GUARD)
    for _ in range(2):
        assert [hook.source for hook in Hooks.load(project.file)] == [f"{project.file}:3"]


def test_a_compiled_form_arms_nothing_that_is_not_trusted(project: Project) -> None:
    """Fault 193"""
    Hooks.load(project.file)

    assert project.armed == []
