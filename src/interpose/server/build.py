"""Build the compiled client of this installation, where there is a compiler; keep it in the user's state directory."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

from ..state.directories import make_private, state_path
from .installation import this_installation

__all__ = ["NoCompiler", "build_client", "client_command"]

_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.c")
_PATIENCE = 60


class NoCompiler(Exception):
    """The client cannot be compiled here; the Python one does the same."""


def client_command() -> list[str]:
    """Return the words that start the thin client in Python; the arguments of ``interpose fire`` follow."""
    return [sys.executable, "-I", "-S", os.path.join(os.path.dirname(_SOURCE), "client.py")]


def build_client() -> str:
    """Return the path of the compiled client; compile it if that has not happened. Raise NoCompiler if it cannot be."""
    with open(_SOURCE, "rb") as opened:
        source = opened.read()
    _, package = this_installation()
    named = f"{sys.executable}\0{package}".encode("utf-8", "surrogateescape")
    path = state_path(os.path.join("clients", hashlib.sha256(source + named).hexdigest()[:16], "interpose-fire"))
    if _is_own(path):
        return path
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise NoCompiler("there is no C compiler (cc, gcc or clang)")
    folder = os.path.dirname(path)
    try:
        make_private(folder)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            made = os.path.join(scratch, "client")
            _compile(compiler, made, package)
            os.chmod(made, 0o700)
            os.replace(made, path)
    except OSError as error:
        raise NoCompiler(f"{folder}: {error.strerror or error}") from None
    return path


def _compile(compiler: str, made: str, package: str) -> None:
    names = [f"-DINTERPOSE_PYTHON={_quoted(sys.executable)}", f"-DINTERPOSE_CLIENT={_quoted(package)}"]
    said = ""
    for linking in (["-static"], []):  # a static program starts sooner; some systems have no static library
        command = [compiler, "-O2", *linking, *names, "-o", made, _SOURCE]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoCompiler(f"{compiler}: {error}") from None
        if done.returncode == 0:
            return
        said = done.stderr.decode("utf-8", "replace").strip()
    raise NoCompiler(f"{compiler} failed: {said[-500:]}")


def _quoted(text: str) -> str:
    """Return a text as a C string."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in os.fsencode(text)
    )
    return f'"{plain}"'


def _is_own(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and found.st_mode & 0o170777 == 0o100700
