"""Suites of cases: find their files, run them in order, and report hooks that no case has run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as ET

from ..errors import ConfigError, Problem
from ..hooks import Hooks
from ..model import Hook
from ..policies import PolicyHook
from ..replies import clean
from .cases import SUFFIXES, Case, load_cases
from .comparison import CaseResult, run_case

__all__ = ["Suite", "case_files", "junit", "load_all", "run_all"]

_PROJECT = ".interpose"
_SKIPPED = ("node_modules", "__pycache__", "venv", "build", "dist")


def case_files(named: Sequence[str], start: str) -> list[str]:
    """Return the named files of cases and those in named directories, or those of the nearest project."""
    if not named:
        return _of_nearest_project(start)
    found: list[str] = []
    for path in named:
        found.extend(_inside(path) if os.path.isdir(path) else [path])
    return list(dict.fromkeys(found))


def _of_nearest_project(start: str) -> list[str]:
    """Return the files of cases of the nearest directory, upwards, that has some."""
    directory = os.path.abspath(start)
    while not (found := _of_project(directory)):
        above = os.path.dirname(directory)
        if above == directory:
            return []
        directory = above
    return found


def _of_project(directory: str) -> list[str]:
    folder = directory if os.path.basename(directory) == _PROJECT else os.path.join(directory, _PROJECT)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    # Relative if they are below the current directory.
    shown = os.path.relpath(folder)
    folder = folder if shown.startswith("..") else shown
    return [os.path.join(folder, name) for name in names if "cases" in name and name.endswith(SUFFIXES)]


def _inside(directory: str) -> list[str]:
    found = _of_project(directory)
    endings = tuple(f".cases{suffix}" for suffix in SUFFIXES)
    for folder, inner, names in os.walk(directory):
        inner[:] = sorted(name for name in inner if not name.startswith(".") and name not in _SKIPPED)
        found.extend(os.path.join(folder, name) for name in sorted(names) if name.endswith(endings))
    if not found:
        raise ConfigError([Problem("no file of cases is in this directory", where=directory,
                                   hint="they are named *.cases.yaml, or are in .interpose")])  # fmt: skip
    return found


def load_all(files: Iterable[str]) -> list[Case]:
    """Read files of cases; raise ConfigError with every mistake in any of them."""
    cases: list[Case] = []
    problems: list[Problem] = []
    for path in files:
        try:
            cases.extend(load_cases(path))
        except ConfigError as error:
            problems.extend(error.problems)
    if problems:
        raise ConfigError(problems)
    return cases


@dataclass(slots=True)
class Suite:
    """The results of many cases, and which hooks they ran."""

    results: list[CaseResult] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    never: list[Hook] = field(default_factory=list)
    """Enabled hooks that no case has run."""

    @property
    def failed(self) -> int:
        """How many cases failed."""
        return sum(not result.passed for result in self.results)

    @property
    def not_asked(self) -> list[str]:
        """The hooks that ask a model or a server, and were not asked."""
        return sorted({hook for result in self.results for hook in result.not_asked})

    @property
    def percent(self) -> float:
        """The percentage of hooks that ran."""
        return 100.0 * (len(self.hooks) - len(self.never)) / len(self.hooks) if self.hooks else 100.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        never = [{"hook": hook.label, "event": hook.event, "source": hook.source} for hook in self.never]
        return {
            "passed": len(self.results) - self.failed,
            "failed": self.failed,
            "not_asked": self.not_asked,
            "coverage": {
                "hooks": len(self.hooks),
                "run": len(self.hooks) - len(never),
                "percent": round(self.percent, 1),
                "never": never,
            },
            "cases": [result.to_dict() for result in self.results],
        }


def run_all(
    cases: Iterable[Case],
    engine_of: Callable[[Case], Hooks],
    told: Callable[[CaseResult], None] | None = None,
    around: Callable[[], AbstractContextManager[Any]] = nullcontext,
) -> Suite:
    """Run cases in order, each on its engine and inside of a context; ``told`` is called with each result."""
    suite = Suite()
    engines: dict[int, Hooks] = {}
    ran: set[tuple[str, str]] = set()
    for case in cases:
        hooks = engine_of(case)
        engines[id(hooks)] = hooks
        with around():
            result = run_case(hooks, case)
        suite.results.append(result)
        outcomes = result.outcome.results if result.outcome is not None else ()
        silent = result.not_asked
        ran.update((one.hook, one.source) for one in outcomes if one.status != "skipped" and one.hook not in silent)
        if told is not None:
            told(result)
    # Several engines may load the same file: its hooks count once.
    known = {(hook.label, hook.source, hook.event): hook for hooks in engines.values() for hook in _enabled(hooks)}
    suite.hooks = list(known.values())
    suite.never = [hook for hook in suite.hooks if (hook.label, hook.source) not in ran]
    return suite


def _enabled(hooks: Hooks) -> Iterator[Hook]:
    """Yield the hooks that are on and that cases should run; policies have cases of their own."""
    return (hook for hook in hooks if hook.enabled and not isinstance(hook.handler, PolicyHook))


def junit(suite: Suite) -> bytes:
    """Return the results as JUnit XML, which most CI servers can show."""
    top = ET.Element("testsuites", name="interpose")
    files: dict[str, list[CaseResult]] = {}
    for result in suite.results:
        files.setdefault(result.case.source.rsplit(":", 2)[0], []).append(result)
    for file, results in files.items():
        errors = sum(bool(result.error) for result in results)
        failures = sum(not result.passed for result in results) - errors
        one = ET.SubElement(
            top, "testsuite", name=clean(file), tests=str(len(results)), failures=str(failures), errors=str(errors),
            time=f"{sum(result.duration for result in results):.3f}",
        )  # fmt: skip
        for result in results:
            _testcase(one, file, result)
    ET.indent(top)
    text: bytes = ET.tostring(top, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _testcase(parent: ET.Element, file: str, result: CaseResult) -> None:
    line = result.case.source.rsplit(":", 2)[1]
    made = ET.SubElement(parent, "testcase", name=clean(result.case.name), classname=clean(file), file=clean(file),
                         line=line, time=f"{result.duration:.3f}")  # fmt: skip
    if not result.passed:
        lines = [clean(text) for text in result.lines()]
        failure = ET.SubElement(made, "error" if result.error else "failure", message=lines[0])
        failure.text = "\n".join(lines)
