"""What find deletes, writes and changes, and what it gives to xargs."""

from __future__ import annotations

import pytest

from interpose.matching.shell import read_line
from interpose.policies.effects import effects_of_line
from interpose.policies.effects.find import SELECTED


def found(line: str) -> list[tuple[str, str]]:
    """Return kind and target of what a line does to files other than reading them."""
    effects = effects_of_line(read_line(line), "/p", "/home/ana")
    return [(one.kind, one.target) for one in effects if one.kind not in ("read-files", "use-files")]


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("find a -delete", ["/p/a"]),
        ("find -delete", ["/p/."]),
        ("find -L a b -type f -delete", ["/p/a", "/p/b"]),
        ("find a -name x -delete", [f"/p/a/{SELECTED}"]),
        ("find a -name '*' -delete", ["/p/a"]),
        ("find a -delete -name x", ["/p/a"]),
        ("find a -not -name x -delete", ["/p/a"]),
        ("find a ! ! -name x -delete", [f"/p/a/{SELECTED}"]),
        (r"find a \( -name x -o -name y \) -delete", [f"/p/a/{SELECTED}"]),
        (r"find a \( -name x -o -type f \) -delete", ["/p/a"]),
        ("find a -name x -o -delete", ["/p/a"]),
        ("find a -name x -prune -o -name y -delete", [f"/p/a/{SELECTED}"]),
        ("find a -name -delete", []),
        ("find a -print", []),
        ("find a -exec rm {} +", ["/p/a"]),
        (r"find a -mtime +7 -exec rm -rf {} \;", [f"/p/a/{SELECTED}"]),
        (r"find a -exec rm b \;", ["/p/b"]),
        (r"find a -exec echo {} \; -delete", ["/p/a"]),
    ],
)
def test_find_deletes_directories_or_what_tests_select(line: str, targets: list[str]) -> None:
    assert [target for kind, target in found(line) if kind == "delete-files"] == targets


def test_find_writes_lists_and_changes_modes() -> None:
    assert ("write-files", "/p/list") in found("find a -fprint list")
    assert ("write-files", "/p/list") in found("find a -fprintf list '%p'")
    assert ("change-tree", "/home/ana") in found("find ~ -exec chown root {} +")
    assert ("change-tree", "/home/ana") not in found("find ~ -name x -exec chown root {} +")


def test_very_deep_parentheses_count_as_a_deletion_of_everything() -> None:
    assert ("delete-files", "/p/a") in found(r"find a -name x " + r"\( " * 5_000)


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("find a -name x | xargs rm", [f"/p/a/{SELECTED}"]),
        ("find a -name x -o -name y | xargs rm", [f"/p/a/{SELECTED}"]),
        ("find a -print0 | sort -z | xargs -0 rm -f", ["/p/a"]),
        ("find a | grep x | xargs rm", [f"/p/a/{SELECTED}"]),
        ("ls *.o | xargs rm", ["/p/\1.o"]),
        ("ls | xargs rm", ["/p/./\1"]),
        ("ls a | xargs rm", ["\0"]),
        ("cat list | xargs rm", ["\0"]),
        (r"find a -exec echo {} \; | xargs rm", ["\0"]),
        ("cd b && find a | xargs rm", ["/p/b/a"]),
        ("(cd b && find a) | xargs rm", ["\0"]),
        ("find a -name x | xargs -I{} rm {}", [f"/p/a/{SELECTED}"]),
    ],
)
def test_xargs_gives_what_find_and_ls_print(line: str, targets: list[str]) -> None:
    assert [target for kind, target in found(line) if kind == "delete-files"] == targets
