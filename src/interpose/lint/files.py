"""Findings about configuration files: their mistakes, whether they are trusted, and the rules over their hooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..config.load import Origin, Source, load_sources
from ..config.mapping import settings_from
from ..errors import ConfigError
from ..events import TABLE
from ..records import replace
from .rules import Finding, check_hooks

__all__ = ["FileReport", "check_files"]


@dataclass(slots=True)
class FileReport:
    """The findings about one set of files that are loaded together."""

    origins: list[Origin] = field(default_factory=list)
    errors: list[Finding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Warnings and notes."""
    hooks: int = 0
    """How many hooks the files declare."""

    def count(self, severity: str) -> int:
        """Return the number of findings of one severity."""
        return sum(finding.severity == severity for finding in (*self.errors, *self.findings))


def check_files(sources: Sequence[Source]) -> FileReport:
    """Load files as a host does, then check every hook in them, trusted or not."""
    report = FileReport()
    try:
        loaded = load_sources(TABLE, sources)
        # The hooks of untrusted files are not loaded above; they are if the same files are named.
        named = load_sources(TABLE, [replace(source, found=False) for source in sources])
        settings = settings_from(**named.settings)
    except ConfigError as error:
        report.errors = [Finding("error", "config", problem) for problem in error.problems]
        return report
    untrusted = {origin.source.path for origin in loaded.origins if not origin.trusted}
    report.origins = loaded.origins
    report.hooks = len(named.hooks)
    report.findings = [
        Finding("warning", "untrusted" if problem.where in untrusted else "config", problem)
        for problem in dict.fromkeys([*loaded.warnings, *named.warnings])
    ]
    report.findings += check_hooks(named.hooks, settings)
    return report
