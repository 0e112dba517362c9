"""The user's own directories for state and caches, and files there that only the user can read."""

from __future__ import annotations

import os

__all__ = ["cache_directory", "make_private", "state_path", "user_directory", "write_privately"]

_NO_HOME = os.path.join(os.devnull, "no-home")
"""A directory that never exists, for a user without a home."""


def state_path(name: str) -> str:
    """Return the path of a file in the user's state directory."""
    return os.path.join(user_directory("XDG_STATE_HOME", ".local", "state"), "interpose", name)


def cache_directory() -> str:
    """Return the user's cache directory for Interpose."""
    return os.path.join(user_directory("XDG_CACHE_HOME", ".cache"), "interpose")


def user_directory(variable: str, *below_home: str) -> str:
    """Return a directory of the user, which never depends on the current directory.

    A variable that is not an absolute path is ignored, as the XDG specification says. Without a home, ``~`` would be a
    folder of the project, which could then contain its own record of trust.
    """
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), *below_home)
    return base if os.path.isabs(base) else _NO_HOME


def make_private(directory: str) -> None:
    """Create a directory, and those above it that are missing; only the user can open them."""
    if not os.path.isdir(directory):
        make_private(os.path.dirname(directory))
        try:
            os.mkdir(directory, 0o700)
        except FileExistsError:
            if not os.path.isdir(directory):
                raise


def write_privately(path: str, data: bytes) -> None:
    """Write a file that only its owner can read, atomically."""
    directory = os.path.dirname(path)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    import tempfile

    descriptor, scratch = tempfile.mkstemp(dir=directory)  # 0600
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
        os.replace(scratch, path)
    except BaseException:
        os.unlink(scratch)
        raise
