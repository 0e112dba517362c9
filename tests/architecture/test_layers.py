"""Modules import downwards only, and every module has its place: the contract is in pyproject.toml."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def check_layers(source: Path) -> subprocess.CompletedProcess[str]:
    """What import-linter says about the package below ``source``."""
    check = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    config = str(ROOT / "pyproject.toml")
    return subprocess.run(
        [sys.executable, "-c", check, "--config", config, "--no-cache", "--no-logo"],
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_module_imports_downwards() -> None:
    report = check_layers(ROOT / "src")

    assert report.returncode == 0, report.stdout + report.stderr


def test_a_module_that_no_layer_names_fails(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src" / "interpose", tmp_path / "interpose")
    (tmp_path / "interpose" / "stray.py").touch()

    report = check_layers(tmp_path)

    assert report.returncode == 1
    assert "interpose.stray" in report.stdout
