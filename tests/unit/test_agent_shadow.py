"""The shadow git: every write of an agent is recorded before it happens, and can be taken back."""

import asyncio
import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interpose.agent.shadow import ShadowError, ShadowGit, Undone
from interpose.agent.shadow import git as plumbing
from interpose.agent.tools import replace_file

pytestmark = pytest.mark.slow


def write(shadow: ShadowGit, name: str, content: str, **facts: str) -> str:
    """What the agent does for a write."""
    commit = asyncio.run(shadow.commit(Path(name), content, **facts))
    replace_file(shadow.root / name, content.encode())
    return commit


def git(shadow: ShadowGit, *words: str) -> str:
    """Ask the repository as a person would."""
    command = ["git", f"--git-dir={shadow.directory}", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def brought_back(undone: list[Undone]) -> list[tuple[str, str]]:
    return [(each.what, each.write.path) for each in undone]


@pytest.fixture
def shadow(tmp_path: Path) -> ShadowGit:
    (tmp_path / "work").mkdir()
    return ShadowGit(tmp_path / "work")


# Recording


def test_a_write_is_a_commit_beside_what_was_there_before(shadow):
    (shadow.root / "a.txt").write_text("mine\n")

    commit = asyncio.run(shadow.commit(shadow.root / "a.txt", "theirs\n", session="s1", note="because"))

    assert (shadow.root / "a.txt").read_text() == "mine\n"
    assert git(shadow, "rev-parse", "main").strip() == commit
    assert git(shadow, "log", "--format=%an <%ae> %s", "main").splitlines() == [
        "Interpose <interpose@localhost> write a.txt",
        "Interpose <interpose@localhost> before a.txt",
    ]
    assert [git(shadow, "show", f"{name}:a.txt") for name in ("main", "main~1")] == ["theirs\n", "mine\n"]
    assert git(shadow, "fsck") == ""


def test_what_the_record_has_already_is_not_recorded_again(shadow):
    write(shadow, "a", "one")
    write(shadow, "a", "two")
    (shadow.root / "a").write_text("by hand")
    write(shadow, "a", "three")
    (shadow.root / "a").unlink()
    write(shadow, "a", "four")

    assert git(shadow, "log", "--format=%s", "--reverse", "main").split("\n")[:-1] == [
        "write a", "write a", "before a", "write a", "before a", "write a",
    ]  # fmt: skip


def test_the_history_tells_of_each_write_the_last_one_first(shadow):
    began = int(time.time())
    (shadow.root / "a").write_text("there")
    first = write(shadow, "a", "one", session="s1", note="why")
    second = write(shadow, "b/c", "two")
    shadow.undo()

    last, before = shadow.history()

    assert (before.commit, before.path, before.session, before.note, before.undone) == (first, "a", "s1", "why", False)
    assert (last.commit, last.path, last.before, last.made, last.undone) == (second, "b/c", None, 1, True)
    assert before.before is not None
    assert began <= before.time <= time.time()
    assert shadow.history(1) == [last]


@pytest.mark.parametrize(
    "name",
    ["a b", 'qu"ote', "back\\slash", "new\nline", "ümlaut", "tab\t", "-rf", ":(glob)*", "\udcff", " a ", "a" * 200],
)
def test_a_file_of_any_name_is_recorded_and_brought_back(shadow, name):
    (shadow.root / name).write_text("mine")

    write(shadow, name, "theirs")

    assert brought_back(shadow.undo()) == [("restored", name)]
    assert (shadow.root / name).read_text() == "mine"
    assert not shadow.undo()


@pytest.mark.parametrize("path", ["../a", "/etc/a", ".git/config", ".interpose/shadow.git/HEAD", "out/a", "", "loop"])
def test_a_file_that_is_none_of_the_work_is_refused(shadow, path):
    (shadow.root / "out").symlink_to("..")
    (shadow.root / "loop").symlink_to("loop")

    with pytest.raises(ShadowError):
        asyncio.run(shadow.commit(Path(path), "x"))

    assert not shadow.directory.exists()


def test_half_a_character_is_refused(shadow):
    with pytest.raises(ShadowError, match="lone surrogate"):
        asyncio.run(shadow.commit(Path("a"), "\ud800"))


def test_the_projects_own_git_sees_nothing_of_it(shadow):
    subprocess.run(["git", "init", "--quiet", shadow.root], check=True)

    write(shadow, "a", "x")

    seen = subprocess.run(
        ["git", "status", "--short", "-uall"], cwd=shadow.root, capture_output=True, text=True, check=True
    )
    assert seen.stdout == "?? a\n"


def test_rules_for_git_that_are_there_stay(shadow):
    rules = shadow.root / ".interpose" / ".gitignore"
    rules.parent.mkdir()
    rules.write_text("mine")

    write(shadow, "a", "x")
    write(shadow, "a", "y")

    assert rules.read_text() == "mine\n/shadow.git/\n"


def test_nothing_of_the_persons_git_has_a_say(shadow, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\nexit 1\n")
    trap.chmod(0o755)
    (tmp_path / "hooks").mkdir()
    for hook in ("reference-transaction", "post-commit", "pre-commit", "post-update"):
        (tmp_path / "hooks" / hook).symlink_to(trap)
    settings = (
        f"[core]\nhooksPath = {tmp_path}/hooks\nfsmonitor = {trap}\n[user]\nname = Me\n[commit]\ngpgSign = true\n"
    )
    settings += f"[gpg]\nprogram = {trap}\n[log]\nshowSignature = true\n[init]\ndefaultObjectFormat = sha256\n"
    (home / ".gitconfig").write_text(settings)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "elsewhere"))

    write(shadow, "a", "x")
    (shadow.directory / "config").write_text(settings)  # as if it had come with the project
    (shadow.directory / "hooks").symlink_to(tmp_path / "hooks")
    write(shadow, "a", "y")

    assert brought_back(shadow.undo(2)) == [("restored", "a"), ("removed", "a")]
    assert not (tmp_path / "sprung").exists()
    assert not (tmp_path / "elsewhere").exists()
    assert (shadow.directory / "config").read_text() == plumbing._CONFIG


# Taking back


def test_the_last_writes_are_taken_back_one_after_the_other(shadow):
    (shadow.root / "a").write_text("mine")
    write(shadow, "a", "one")
    write(shadow, "deep/er/b", "new")
    write(shadow, "a", "two")

    assert brought_back(shadow.undo()) == [("restored", "a")]
    assert (shadow.root / "a").read_text() == "one"
    assert brought_back(shadow.undo(5)) == [("removed", "deep/er/b"), ("restored", "a")]
    assert sorted(path.name for path in shadow.root.iterdir()) == [".interpose", "a"]
    assert (shadow.root / "a").read_text() == "mine"
    assert shadow.undo() == []


def test_directories_that_were_there_or_are_in_use_stay(shadow):
    (shadow.root / "there").mkdir()
    write(shadow, "there/a", "x")
    write(shadow, "made/a", "x")
    (shadow.root / "made" / "mine").touch()

    shadow.undo(2)

    assert sorted(path.name for path in shadow.root.rglob("*") if ".interpose" not in path.parts) == [
        "made",
        "mine",
        "there",
    ]


def test_a_file_that_somebody_has_changed_since_stays_and_so_does_everything_else(shadow):
    write(shadow, "a", "one")
    write(shadow, "b", "two")
    (shadow.root / "a").write_text("by hand")

    with pytest.raises(ShadowError, match=r"^a: has been changed since an agent wrote it") as caught:
        shadow.undo(2)

    assert "--force" in caught.value.problem.hint
    assert [(shadow.root / name).read_text() for name in "ab"] == ["by hand", "two"]
    assert brought_back(shadow.undo()) == [("removed", "b")]


def test_a_file_that_somebody_has_removed_since_stays_so(shadow):
    (shadow.root / "a").write_text("mine")
    write(shadow, "a", "one")
    (shadow.root / "a").unlink()

    with pytest.raises(ShadowError, match="has been changed"):
        shadow.undo()

    assert not (shadow.root / "a").exists()
    assert brought_back(shadow.undo(force=True)) == [("restored", "a")]
    assert (shadow.root / "a").read_text() == "mine"


def test_what_is_overwritten_by_force_is_in_the_record(shadow):
    write(shadow, "a", "one")
    (shadow.root / "a").write_text("by hand")

    assert brought_back(shadow.undo(force=True)) == [("removed", "a")]
    assert git(shadow, "show", "main~1:a") == "by hand"


def test_undoing_can_be_undone_and_undone_again(shadow):
    (shadow.root / "a").write_text("mine")
    for content in ("one", "two", "three"):
        write(shadow, "a", content)
    seen = []

    for step in (
        shadow.undo,
        shadow.undo,
        shadow.redo,
        shadow.undo,
        shadow.undo,
        shadow.redo,
        shadow.redo,
        shadow.redo,
    ):
        assert brought_back(step()) == [("restored", "a")]
        seen.append((shadow.root / "a").read_text())

    assert seen == ["two", "one", "two", "one", "mine", "one", "two", "three"]
    assert shadow.redo() == []


def test_after_a_new_write_nothing_is_done_again(shadow):
    write(shadow, "a", "one")
    shadow.undo()
    write(shadow, "b", "two")

    assert shadow.redo() == []
    assert brought_back(shadow.undo(2)) == [("removed", "b")]


def test_a_file_that_is_made_again_has_its_permissions(shadow):
    script = shadow.root / "script"
    script.write_text("mine")
    script.chmod(0o755)
    write(shadow, "script", "theirs")
    script.unlink()

    shadow.undo(force=True)

    assert script.stat().st_mode & 0o111 == 0o111 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_write_that_was_recorded_and_did_not_happen_is_taken_back_without_a_touch(shadow):
    (shadow.root / "a").write_text("mine")
    asyncio.run(shadow.commit(Path("a"), "theirs"))
    before = (shadow.root / "a").stat()

    assert brought_back(shadow.undo()) == [("unchanged", "a")]
    assert (shadow.root / "a").stat().st_ino == before.st_ino
    assert shadow.undo() == []


@pytest.mark.parametrize("path", ["../outside", "/outside", ".git/hooks/x", "link/x"])
def test_a_record_that_was_forged_cannot_write_elsewhere(shadow, tmp_path, path):
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    (shadow.root / "link").symlink_to(outside)
    write(shadow, "a", "x")
    text = git(shadow, "log", "-1", "--format=%B", "main").replace('"path": "a"', f'"path": "{path}"')
    forged = git(
        shadow, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "main^{tree}", "-p", "main", "-m", text
    )
    git(shadow, "update-ref", "refs/heads/main", forged.strip())

    with pytest.raises(ShadowError, match="is not a file of the work"):
        shadow.undo(force=True)

    assert list(outside.iterdir()) == []


def test_a_commit_that_is_not_ours_is_passed_over(shadow):
    write(shadow, "a", "x")
    for text in ("hello", '{"kind": "write"}', "[1]", '{"kind": "undo", "of": []}', "[" * 50_000):
        strange = git(
            shadow, "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "main^{tree}", "-p", "main", "-m", text
        )
        git(shadow, "update-ref", "refs/heads/main", strange.strip())

    assert [write_.path for write_ in shadow.history()] == ["a"]
    assert brought_back(shadow.undo(9)) == [("removed", "a")]


# Trouble


def test_without_git_the_error_says_what_to_do(shadow, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(ShadowError, match="git is not installed \\(install git"):
        asyncio.run(shadow.commit(Path("a"), "x"))


def test_a_repository_that_is_damaged_is_named(shadow):
    write(shadow, "a", "x")
    (shadow.directory / "refs" / "heads" / "main").write_text("nonsense")

    with pytest.raises(ShadowError, match=r"shadow\.git: git .* failed: .* \(if it is damaged, move it away"):
        asyncio.run(shadow.commit(Path("a"), "y"))


def test_a_repository_behind_a_link_is_refused(shadow, tmp_path):
    other = tmp_path / "other.git"
    subprocess.run(["git", "init", "--quiet", "--bare", other], check=True)
    shadow.directory.parent.mkdir()
    shadow.directory.symlink_to(other)

    with pytest.raises(ShadowError, match="symbolic link"):
        asyncio.run(shadow.commit(Path("a"), "x"))


def test_a_lock_that_git_left_behind_does_no_harm(shadow):
    write(shadow, "a", "one")
    (shadow.directory / "refs" / "heads" / "main.lock").touch()

    write(shadow, "a", "two")

    assert brought_back(shadow.undo()) == [("restored", "a")]


def test_somebody_who_does_not_let_go_is_not_waited_for_without_end(shadow, monkeypatch):
    monkeypatch.setattr(plumbing, "_LOCK_SECONDS", 0.05)
    write(shadow, "a", "one")

    with (shadow.directory / "interpose.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ShadowError, match=r"another process has held the lock for 0\.05 s"):
            shadow.undo()

    assert brought_back(shadow.undo()) == [("removed", "a")]


def test_it_is_found_from_below_and_not_where_it_is_not(shadow, tmp_path):
    write(shadow, "deep/a", "x")

    found = ShadowGit.find(shadow.root / "deep")

    assert found is not None
    assert found.root == shadow.root
    assert ShadowGit.find(tmp_path) is None


AGENT = """
import asyncio, sys
from pathlib import Path
from interpose.agent.shadow import ShadowGit
from interpose.agent.tools import replace_file

root, me, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
shadow = ShadowGit(root)

async def write(number):
    name = f"{me}-{number % 3}"
    await shadow.commit(Path(name), f"{me} {number}", session=me)
    replace_file(root / name, f"{me} {number}".encode())
    print(number, flush=True)

async def main():
    for number in range(count):
        await write(number)

asyncio.run(main())
"""


def agent(shadow: ShadowGit, me: str, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", AGENT, str(shadow.root), me, str(count)], stdout=subprocess.PIPE, start_new_session=True
    )


def test_agents_that_write_at_once_lose_nothing(shadow):
    agents = [agent(shadow, me, 8) for me in "xyz"]
    for each in agents:
        each.communicate()

    assert [each.returncode for each in agents] == [0, 0, 0]
    history = shadow.history()
    assert sorted((write_.session, write_.path) for write_ in history) == sorted(
        (me, f"{me}-{number % 3}") for me in "xyz" for number in range(8)
    )
    assert git(shadow, "fsck") == ""
    assert len(shadow.undo(24)) == 24
    assert [path.name for path in shadow.root.iterdir()] == [".interpose"]


def test_calls_at_once_in_one_process_lose_nothing(shadow):
    async def host():
        return await asyncio.gather(*(shadow.commit(Path(f"f{number}"), "x") for number in range(10)))

    commits = asyncio.run(host())

    assert {write_.commit for write_ in shadow.history()} == set(commits)


@pytest.mark.parametrize("writes", [0, 1, 3])
def test_an_agent_that_is_killed_at_any_point_leaves_nothing_half(shadow, writes):
    (shadow.root / "x-0").write_text("mine")
    killed = agent(shadow, "x", 1_000)
    assert killed.stdout is not None
    for _ in range(writes):
        killed.stdout.readline()
    time.sleep(0.007 * writes)  # somewhere in the midst of the next one
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()

    write(shadow, "afterwards", "x")

    assert git(shadow, "fsck") == ""
    undone = shadow.undo(1_000)
    assert len(undone) >= writes + 1
    left = {path.name: path for path in shadow.root.iterdir() if path.is_file()}
    assert left.pop("x-0").read_text() == "mine"
    # A kill may leave the scratch file of the one write that was not done, and never a file half written.
    assert [name for name in left if not re.fullmatch(r"\.[0-9a-f]{16}\.tmp", name)] == []
    assert len(left) <= 1
