"""Which files a configuration makes run."""

from pathlib import Path

import pytest

from interpose import Hooks


@pytest.mark.parametrize(
    ("name", "first_line", "is_python"),
    [
        ("check.py", "", True),
        ("check", "#!/usr/bin/env python3\n", True),
        ("check", "#!/bin/sh\n", False),
        ("check.sh", "", False),
    ],
)
def test_what_a_python_script_imports_from_its_folder_is_among_them(
    tmp_path: Path, name: str, first_line: str, is_python: bool
) -> None:
    script = tmp_path / name
    script.write_text(f"{first_line}import helper\n")
    for beside in ("helper.py", "helper.txt", "json.py", "unused.py"):
        (tmp_path / beside).touch()
    file = tmp_path / "hooks.yaml"
    file.write_text(f"hooks:\n  Stop:\n    - {{type: command, handler: /bin/sh {name}}}\n")

    [origin] = Hooks.load(file).origins

    beside_it = {str(tmp_path / "helper.py"), str(tmp_path / "json.py")} if is_python else set()
    assert set(origin.references) == {str(script)} | beside_it
