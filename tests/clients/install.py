"""Installs coding agents by the names and versions of their npm packages, once, outside the repository.

    python -m tests.clients.install claude codex

They go to ``~/.cache/interpose-clients``, or where ``INTERPOSE_CLIENTS`` says.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["CannotInstall", "cache", "find_node", "install", "package_directory"]

NODE = ("node", "24")
"""The Node that runs the agents which are JavaScript; the package holds a whole Node."""


class CannotInstall(Exception):
    """What a client needs is missing here."""


def cache() -> Path:
    """Return the directory of all installations."""
    return Path(os.environ.get("INTERPOSE_CLIENTS") or Path.home() / ".cache/interpose-clients")


def package_directory(package: str, version: str) -> Path:
    """Return where a version of a package is installed."""
    return cache() / f"{re.sub('[@/]', '-', package).strip('-')}-{version}"


def install(package: str, version: str) -> Path:
    """Install a version of a package unless it is there, and return its directory."""
    directory = package_directory(package, version)
    if (directory / "complete").exists():
        return directory
    npm = shutil.which("npm")
    if npm is None:
        raise CannotInstall(f"npm is not on PATH: {package} {version} cannot be installed")
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    # Programs of the packages themselves are not run to install them: each brings what it needs as a dependency.
    flags = ["--no-audit", "--no-fund", "--no-update-notifier", "--prefix", str(directory)]
    if package != "node":
        flags.append("--ignore-scripts")
    done = subprocess.run(
        [npm, "install", *flags, f"{package}@{version}"], capture_output=True, text=True, cwd=directory, check=False
    )
    if done.returncode:
        raise CannotInstall(f"npm cannot install {package} {version}:\n{done.stderr.strip()}")
    (directory / "complete").touch()
    return directory


def find_node() -> Path:
    """Return the newer Node, installed if it is missing."""
    directory = install(*NODE)
    found = sorted(directory.glob("node_modules/node/node_modules/node-*/bin/node"))
    found += sorted(directory.glob("node_modules/node-*/bin/node")) + sorted(
        directory.glob("node_modules/node/bin/node")
    )
    if not found:
        raise CannotInstall(f"the npm package node {NODE[1]} holds no program for this platform")
    return found[0]


if __name__ == "__main__":
    from .agents import CLIENTS

    for name in sys.argv[1:] or CLIENTS:
        print(install(CLIENTS[name].package, CLIENTS[name].version))
        if CLIENTS[name].needs_node:
            print(find_node())
