"""The pytest plugin: collects files of cases, one item per case.

``*.cases.yaml`` and ``*.cases.json`` are found like test files; other files of cases, such as
``.interpose/cases.yaml``, are collected if they are named. The hooks are those of the files that ``config:`` names, or
those of the project's configuration; the configuration of the user is not loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ..errors import InterposeError
from ..hooks import Hooks
from .cases import SUFFIXES, Case, load_cases
from .comparison import CaseResult, run_case

__all__ = ["pytest_collect_file"]

_FOUND = tuple(f".cases{suffix}" for suffix in SUFFIXES)
_engines = pytest.StashKey[dict[tuple[str, ...], Hooks]]()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file of cases."""
    name = file_path.name
    named = name.endswith(SUFFIXES) and "cases" in name and parent.session.isinitpath(file_path)
    if name.endswith(_FOUND) or named:
        file: CaseFile = CaseFile.from_parent(parent, path=file_path)
        return file
    return None


class CaseFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield an item for every case; mistakes in the file are reported with their place."""
        try:
            cases = load_cases(self.path)
            config = cases[0].config or self._found()
            if not config:
                raise self.CollectError(f"{self.path}: no configuration was found for these cases (say which: "
                                        "config: [hooks.yaml] at the top, cases: below it)")  # fmt: skip
            self._load(config)
        except InterposeError as error:
            raise self.CollectError(str(error)) from None
        for case in cases:
            item: CaseItem = CaseItem.from_parent(self, name=case.name, case=case, files=config)
            yield item

    def _found(self) -> tuple[str, ...]:
        """Return the configuration of the file's project; running its tests means trusting it."""
        from ..config.load import find_sources

        directory = self.path.parent
        start = directory.parent if directory.name == ".interpose" else directory
        return tuple(source.path for source in find_sources(os.fspath(start)) if source.layer in ("project", "local"))

    def _load(self, config: tuple[str, ...]) -> None:
        engines = self.session.stash.setdefault(_engines, {})
        if config not in engines:
            engines[config] = Hooks.load(*config)
            engines[config].record(None)  # as in `interpose test`: a case is not recorded


class CaseFailed(Exception):
    """The outcome of a case is not as expected."""

    def __init__(self, result: CaseResult) -> None:
        super().__init__(result.case.name)
        self.result = result


class CaseItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: Case, files: tuple[str, ...], **rest: Any) -> None:
        super().__init__(**rest)
        self.case = case
        self._files = files

    def runtest(self) -> None:
        """Run the case."""
        result = run_case(self.session.stash[_engines][self._files], self.case)
        if not result.passed:
            raise CaseFailed(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the differences in place of a traceback."""
        if isinstance(excinfo.value, CaseFailed):
            result = excinfo.value.result
            return "\n".join([f"{self.case.source}: {self.case.name}", *(f"  {line}" for line in result.lines())])
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the case."""
        line = int(self.case.source.rsplit(":", 2)[1])
        return self.path, line - 1, self.case.name
