"""Environments for benchmarks: interpreters by version, and a virtual environment for each."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import clean_environment

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".bench"
"""Everything that benchmarks leave behind; ignored by git, safe to delete."""


class Unavailable(Exception):
    """No such interpreter here, or its environment cannot be made."""


def interpreter(wanted: str | None) -> str:
    """The interpreter for `3.12`, `python3.12` or a path; the running one if none is named."""
    if wanted is None:
        return sys.executable
    for candidate in _candidates(wanted):
        if version(candidate):
            return candidate
    raise Unavailable(f"no Python found for {wanted!r} (name another, or give the path of one)")


def _candidates(wanted: str) -> Iterator[str]:
    if not re.fullmatch(r"\d+(\.\d+)*", wanted):
        yield wanted
        return
    yield f"python{wanted}"
    # A name on PATH may be a shim with no interpreter behind it: ask the programs that install interpreters.
    if shutil.which("uv"):
        yield _answer("uv", "python", "find", wanted)
    if shutil.which("pyenv") and (latest := _answer("pyenv", "latest", wanted)):
        yield _answer("pyenv", "prefix", latest) + "/bin/python"


def version(python: str) -> str:
    """The version of an interpreter as `3.12`, or nothing if it does not run or is too old for us."""
    said = _answer(python, "-c", "import sys; print(*sys.version_info[:2], sep='.')")
    return said if said and tuple(map(int, said.split("."))) >= (3, 11) else ""


def _answer(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environment())
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def environment(name: str, python: str, requirements: Sequence[str], alone: Sequence[str] = ()) -> Path:
    """The interpreter of a virtual environment with the requirements, made if missing or outdated.

    `alone` are installed without what they depend on.
    """
    home = HOME / f"{name}-{version(python)}"
    inside = home / "bin" / "python"
    stamp = home / "installed.txt"
    wanted = "\n".join([*requirements, *(f"{requirement} (alone)" for requirement in alone), ""])
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return inside
    print(f"Making {home.relative_to(ROOT)} …", file=sys.stderr)
    HOME.mkdir(exist_ok=True)
    (HOME / ".gitignore").write_text("*\n", encoding="utf-8")
    shutil.rmtree(home, ignore_errors=True)
    if shutil.which("uv"):
        _run("uv", "venv", "--quiet", "--python", python, str(home))
        install = ["uv", "pip", "install", "--quiet", "--compile-bytecode", "--python", str(inside)]
    else:
        _run(python, "-m", "venv", str(home))
        install = [str(inside), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    _run(*install, *requirements)
    if alone:
        _run(*install, "--no-deps", *alone)
    stamp.write_text(wanted, encoding="utf-8")
    return inside


def _run(*command: str) -> None:
    if subprocess.run(command, check=False, env=clean_environment()).returncode:
        raise Unavailable(f"this failed: {' '.join(command)}")


def own_requirements() -> list[str]:
    """What the project itself depends on; its code is run from `src`, not installed."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: list[str] = tomllib.load(file)["project"]["dependencies"]
    return found
