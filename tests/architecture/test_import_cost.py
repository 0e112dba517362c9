"""Importing the public names costs the standard library and nothing more."""

import subprocess
import sys

# What the interpreter loads on its own, before our import, is not ours.
REPORT_NEW_MODULES = """
import sys
before = set(sys.modules)
{statement}
print(*sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
"""


def packages_loaded_by(statement: str) -> set[str]:
    """The top-level packages that a fresh interpreter loads to run ``statement``."""
    report = subprocess.run(
        [sys.executable, "-c", REPORT_NEW_MODULES.format(statement=statement)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert report.returncode == 0, report.stderr
    return set(report.stdout.split())


def test_importing_the_public_names_loads_no_third_party_package() -> None:
    loaded = packages_loaded_by("from interpose import Hooks, deny")

    assert "interpose" in loaded
    assert loaded - sys.stdlib_module_names == {"interpose"}
