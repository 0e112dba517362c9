"""Find calls after which fewer tests run: tests that are deleted, renamed, skipped or removed from a file."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from ..runtime.regex import regex
from .call import Call
from .changes import Change, changes_of, in_project, label_of
from .effects import Edit, say
from .effects.rows import written
from .file_table import FileTable

__all__ = ["is_deleted_test", "weakened_tests"]

_TESTS = FileTable({
    "tests": """
        test_*.py *_test.py *_tests.py conftest.py *.test.* *.spec.* *_test.go *_test.rs *_spec.rb *_test.rb
        *_test.exs *_test.dart *test.java *tests.java *test.kt *tests.cs *test.cs *test.php *test.swift *tests.swift
        *spec.scala *test.scala tests/ test/ __tests__/ spec/ specs/ testing/ *.cy.ts *.cy.js test_*.c *_test.cc
        *_test.cpp *_unittest.cc
    """
})  # fmt: skip
_NAMED_TESTS = FileTable({
    "tests": " ".join(
        ("test_*.py *_test.py *_test.go *_test.rs *_spec.rb *_test.rb *test.java *tests.java *test.kt *tests.cs",
         "*test.php *test.swift *tests.swift *_test.exs *_test.dart *_test.cc *_test.cpp",
         *(f"*.{kind}.{ending}" for kind in ("test", "spec", "cy") for ending in ("js", "ts", "jsx", "tsx", "mjs")))
    )
})  # fmt: skip
_NO_TESTS = FileTable({
    "no tests": """
        __pycache__/ .pytest_cache/ .cache/ node_modules/ coverage/ htmlcov/ tmp/ temp/ results/ report/ reports/
        output/ screenshots/ videos/ snapshots/ __snapshots__/ *.pyc *.pyo *.log *.tmp *.txt *.out *.orig *.bak
        *.snap *.swp *.db *.sqlite *.coverage .ds_store
    """
})  # fmt: skip
"""What lies in folders of tests and is none."""
_FOLDERS = frozenset({"tests", "test", "__tests__", "spec", "specs"})
_LONGEST_TEST = 1_000_000

_SKIPS = regex(
    r"@?\bpytest\.mark\.(?:skip|skipif|xfail)\b|@?\bunittest\.(?:skip|skipIf|skipUnless|expectedFailure)\b"
    r"|\bpytest\.(?:skip|xfail|importorskip)\(|\bself\.skipTest\("
    r"|\b(?:it|test|describe|context|suite)\.(?:skip|todo|failing|fixme)\b"
    r"|\b(?:xit|xtest|xdescribe|xcontext|xspecify)\(|\bt\.Skip(?:f|Now)?\(|@(?:Disabled|Ignore)\b|#\[ignore\b"
    r"|\[(?:Ignore|Skip)\b|\bSkip\s*=\s*\"|\bmarkTest(?:Skipped|Incomplete)\(|@tag :skip\b|\bGTEST_SKIP\(|\bDISABLED_\w"
)
_DEFINITIONS = regex(
    r"^\s*(?:async\s+)?def test_?\w*|\b(?:it|test)\(\s*['\"`]|^\s*func Test\w+|@Test\b|#\[(?:tokio::)?test\]"
    r"|\[(?:Fact|Theory|Test|TestMethod)\]|^\s*public function test\w+|\bTEST(?:_F|_P)?\(",
    re.MULTILINE,
)


def is_deleted_test(change: Change, call: Call) -> bool:
    """Return whether a file or folder that is deleted holds tests."""
    seen = change._replace(names=tuple(in_project(name, call) for name in change.names))
    return bool(label_of(seen, _TESTS, call)) and not label_of(seen, _NO_TESTS, call)


def weakened_tests(call: Call) -> Iterator[str]:
    """Yield a reason for each test that does not run any more after a call, and whose file stays."""
    yield from _renamed(call)
    for edit in (*call.edits, *_here_documents(call)):
        path = call.names_of(os.path.expanduser(edit.path))[-1] if edit.path else ""
        if not path or not _TESTS.label_of(in_project(path, call), call.home):
            continue
        before = _before(edit, path)
        if before is None:
            continue
        if _number(_SKIPS, edit.new) > _number(_SKIPS, before):
            yield f"`{call.tool}` skips tests in {edit.path}"
        elif _number(_DEFINITIONS, edit.new) < _number(_DEFINITIONS, before):
            yield f"`{call.tool}` removes tests from {edit.path}"


def _renamed(call: Call) -> Iterator[str]:
    """Yield a reason for each test file, or folder of tests, whose new name is that of no test."""
    for change in changes_of(call, "rename-files"):
        target = change.effect.values[0].rstrip("/") if change.effect.values else ""
        old, new = os.path.basename(change.path.rstrip("/")), os.path.basename(target)
        if not target or os.path.isdir(os.path.join(change.effect.directory or call.cwd, target)):
            continue
        if _NAMED_TESTS.label_of(f"/{old}", call.home) and not _NAMED_TESTS.label_of(f"/{new}", call.home):
            yield f"{say(change.effect)}, by which it is no test any more"
        elif old.lower() in _FOLDERS and new.lower() not in _FOLDERS:
            yield f"{say(change.effect)}, by which its tests may not be found any more"


def _here_documents(call: Call) -> Iterator[Edit]:
    """Yield the files that ``cat > FILE <<EOF`` writes."""
    for line in call.lines:
        for command in line.commands:
            texts = [one.text for one in command.redirections if one.text]
            if command.name in ("cat", "tee") and texts:
                files = [written(one.target) for one in command.redirections if one.operator == ">"]
                files += [written(word) for word in command.parts[1:] if command.name == "tee" and word[:1] != "-"]
                yield from (Edit(path, texts[-1], "", True) for path in files)


def _before(edit: Edit, path: str) -> str | None:
    """Return the text that an edit replaces; None for a new file."""
    if not edit.whole:
        return edit.old
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, encoding="utf-8", errors="replace") as opened:
            return opened.read(_LONGEST_TEST)
    except (OSError, ValueError):
        return None


def _number(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))
