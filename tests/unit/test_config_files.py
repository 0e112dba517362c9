"""Configuration files: a plain file is read, anything else is a problem; a file that was found must be the person's."""

import errno
import hashlib
import os
import socket
from pathlib import Path

import pytest

from interpose import ConfigError
from interpose.config import files
from interpose.config.files import read


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    return tmp_path


@pytest.fixture
def config(home: Path) -> Path:
    path = home / "hooks.yaml"
    path.write_bytes(b"hooks: {}\n")
    path.chmod(0o644)
    return path


def problem(path: Path | str, *, found: bool = False) -> str:
    with pytest.raises(ConfigError) as refused:
        read(path, found=found)
    assert len(refused.value.problems) == 1
    assert refused.value.problem.where == os.path.abspath(path)
    return str(refused.value.problem).removeprefix(f"{os.path.abspath(path)}: ")


@pytest.mark.parametrize("found", [False, True])
def test_a_plain_file_is_read_with_what_identifies_it(config: Path, found: bool) -> None:
    taken = read(config, found=found)
    info = config.stat()

    assert taken.data == b"hooks: {}\n"
    assert (taken.path, taken.real_path) == (str(config), os.path.realpath(config))
    assert taken.identity == (info.st_dev, info.st_ino)
    assert taken.sha256 == hashlib.sha256(taken.data).hexdigest()


def test_a_path_counts_from_the_working_directory(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(config.parent)

    assert read("hooks.yaml", found=True).path == str(config)


# 173, 174: a file that cannot be read is a problem, never a file without hooks.


@pytest.mark.parametrize("found", [False, True])
def test_a_file_that_is_not_there(home: Path, found: bool) -> None:
    assert problem(home / "none.yaml", found=found) == "there is no such file (check the path)"
    assert problem(home / "none" / "x.yaml", found=found) == "there is no such file (check the path)"


def test_a_file_below_a_file(config: Path) -> None:
    said = "there is no such file: a part of its path is not a directory (check the path)"

    assert problem(config / "x") == problem(config / "x", found=True) == said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(config: Path) -> None:
    config.chmod(0)

    assert problem(config).startswith("may not be read (check the permissions")


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EACCES, "may not be read (check the permissions of the file and of the directories above it)"),
        (errno.EIO, f"cannot be read: {os.strerror(errno.EIO)}"),
        (errno.ELOOP, "a symbolic link that leads back to itself, or was put there just now (check the path)"),
    ],
)
def test_a_file_that_the_system_does_not_give(
    config: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def fails(*_: object) -> bytes:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files, "_all_of", fails)

    assert problem(config) == said


def test_a_path_that_no_file_can_have() -> None:
    assert problem("a\x00b") == "no file can have this name"


# 191: nothing but a plain file.


@pytest.mark.parametrize("found", [False, True])
def test_a_directory(home: Path, found: bool) -> None:
    assert problem(home, found=found) == "a directory, not a file (a configuration is a plain file)"
    assert problem("/").startswith("a directory, not a file")


@pytest.mark.parametrize("found", [False, True])
def test_a_fifo_is_not_waited_for(home: Path, found: bool) -> None:
    os.mkfifo(home / "pipe.yaml")

    assert problem(home / "pipe.yaml", found=found) == "a FIFO, not a file (a configuration is a plain file)"


def test_a_fifo_that_takes_the_place_of_a_file_is_not_waited_for(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look = files._plain_file

    def swap(info: os.stat_result, asked: str) -> None:
        look(info, asked)
        config.unlink()
        os.mkfifo(config)

    monkeypatch.setattr(files, "_plain_file", swap)
    opened = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None

    assert problem(config) == "a FIFO, not a file (a configuration is a plain file)"
    if opened is not None:
        assert len(os.listdir("/proc/self/fd")) == opened


def test_a_link_that_takes_the_place_of_a_file_is_not_followed(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def swap(info: os.stat_result, asked: str) -> None:
        config.unlink()
        config.symlink_to("/etc/passwd")

    monkeypatch.setattr(files, "_plain_file", swap)

    assert problem(config).startswith("a symbolic link that leads back to itself, or was put there just now")


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device(device: str) -> None:
    assert problem(device) == problem(device, found=True) == "a device, not a file (a configuration is a plain file)"


def test_a_socket(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)  # the path of a socket has to be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s.yaml")
        assert problem("s.yaml") == "a socket, not a file (a configuration is a plain file)"


def test_a_link_may_be_named(config: Path, home: Path) -> None:
    link = home / "link.yaml"
    link.symlink_to(config)

    taken = read(link, found=False)

    assert (taken.path, taken.real_path) == (str(link), os.path.realpath(config))
    assert problem(link, found=True) == (
        "a symbolic link that was not named explicitly (put the file itself there, or name the file yourself)"
    )


def test_a_link_to_what_is_no_file(home: Path) -> None:
    (home / "zero.yaml").symlink_to("/dev/zero")
    (home / "gone.yaml").symlink_to("nothing")
    (home / "loop.yaml").symlink_to("loop.yaml")

    assert problem(home / "zero.yaml").startswith("a device, not a file")
    assert problem(home / "gone.yaml").startswith("there is no such file")
    assert problem(home / "loop.yaml").startswith("a symbolic link that leads back to itself")
    for name in ("zero.yaml", "gone.yaml", "loop.yaml"):
        assert problem(home / name, found=True).startswith("a symbolic link that was not named explicitly")


# 192: what was found must be something that nobody else could have written.


@pytest.mark.parametrize(
    ("mode", "who"), [(0o666, "every user"), (0o646, "every user"), (0o664, "its group"), (0o1666, "every user")]
)
def test_a_file_that_others_can_write_to(config: Path, mode: int, who: str) -> None:
    config.chmod(mode)

    assert read(config, found=False).data
    assert problem(config, found=True) == (
        f"can be written to by {who} (mode {mode:04o}) (chmod go-w {config}, or name the file yourself)"
    )


@pytest.mark.parametrize(("mode", "who"), [(0o777, "every user"), (0o775, "its group")])
def test_a_file_in_a_directory_that_others_can_write_to(config: Path, home: Path, mode: int, who: str) -> None:
    home.chmod(mode)

    assert read(config, found=False).data
    assert problem(config, found=True) == (
        f"its directory can be written to by {who} (mode {mode:04o}) (chmod go-w {home}, or name the file yourself)"
    )


def test_a_file_in_a_sticky_directory(config: Path, home: Path) -> None:
    home.chmod(0o1777)

    assert read(config, found=True).data == b"hooks: {}\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user(config: Path, home: Path) -> None:
    os.chown(config, 12345, -1)
    assert problem(config, found=True) == ("belongs to another user (uid 12345) (chown it, or name the file yourself)")
    assert read(config, found=False).data

    os.chown(config, 0, -1)
    os.chown(home, 12345, -1)
    assert problem(config, found=True).startswith("its directory belongs to another user (uid 12345)")


def test_a_file_of_root_is_everybodys(config: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = config.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: 54321)

    if owner == 0:
        assert read(config, found=True).data
    else:
        assert problem(config, found=True).startswith(f"belongs to another user (uid {owner})")


# 183, and what is being written.


def test_a_file_that_is_too_large(config: Path) -> None:
    assert read(config, found=False, limit=10).data == b"hooks: {}\n"
    with pytest.raises(ConfigError, match="has more than 9 bytes"):
        read(config, found=False, limit=9)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs a file that hides its size")
def test_a_file_that_hides_how_large_it_is() -> None:
    with pytest.raises(ConfigError, match="has more than 9 bytes"):
        read("/proc/self/status", found=False, limit=9)


@pytest.mark.parametrize("change", [b"hooks: {PreToolUse: []}\n", b"hooks: []\n"], ids=["longer", "as long"])
def test_a_file_that_changes_while_it_is_read(change: bytes, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_too(opened: int, *_: object) -> bytes:
        config.write_bytes(change)
        os.utime(config, ns=(0, 0))
        return os.read(opened, 5)

    monkeypatch.setattr(files, "_all_of", write_too)

    assert problem(config) == "was written to while it was being read (try again)"


def test_a_file_whose_time_was_set_back_is_seen_to_be_another(config: Path) -> None:
    was, before = config.stat(), files.seen(str(config))

    def set_back() -> bool:
        os.utime(config, ns=(was.st_atime_ns, was.st_mtime_ns))
        return files.seen(str(config)) != before

    assert any(set_back() for _ in range(100_000))  # the clock of a file system is coarse
