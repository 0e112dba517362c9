"""The project as people have it: installed from a wheel, with its bytecode, in an environment with nothing else."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from benchmarks.environment import ROOT, Unavailable, environment, own_requirements
from benchmarks.measure import clean_environment


def installed(python: str) -> Path:
    """The interpreter of an environment that has the project as it stands in `src` now."""
    inside = environment("cli", python, own_requirements())
    stamp = inside.parent.parent / "source.txt"
    wanted = _digest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return inside
    stamp.unlink(missing_ok=True)
    if shutil.which("uv"):
        tool = ["uv", "pip"]
        options = ["--quiet", "--python", str(inside)]
        _run([*tool, "install", *options, "--compile-bytecode", "--no-deps", "--reinstall", "--no-cache", str(ROOT)])
    else:
        tool = [str(inside), "-m", "pip", "--disable-pip-version-check"]
        _run([*tool, "install", "-qq", "--no-deps", "--force-reinstall", str(ROOT)])
        # Where venv brings setuptools, that runs code at every start of Python: the floor would be higher than it is.
        _run([*tool, "uninstall", "-qq", "--yes", "setuptools"])
    stamp.write_text(wanted, encoding="utf-8")
    return inside


def _digest() -> str:
    """What changes with anything that is installed."""
    files = [ROOT / "pyproject.toml", *sorted((ROOT / "src").rglob("*.py"))]
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _run(command: list[str]) -> None:
    # Without PYTHONDONTWRITEBYTECODE and the like, which clean_environment leaves out.
    if subprocess.run(command, check=False, env=clean_environment()).returncode:
        raise Unavailable(f"this failed: {' '.join(command)}")
