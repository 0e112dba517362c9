"""Findings about configuration files: their mistakes, whether they are trusted, and the rules over their hooks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field

from ..config.armed import Armed
from ..config.load import Loaded, Origin, Source
from ..config.mapping import settings_from
from ..config.reload import ConfigFiles
from ..engine import Engine
from ..errors import ConfigError, InterposeError, Problem, TooManyHooks
from ..events import TABLE
from ..model import Hook, Settings
from ..policies import PolicyHook
from ..records import replace
from ..registry import Registry
from .declared_tools import check_tools
from .rules import Finding, check_hooks, suggest_rule

__all__ = ["FileReport", "check_files"]


@dataclass(slots=True)
class FileReport:
    """The findings about one set of files that are loaded together."""

    origins: list[Origin] = field(default_factory=list)
    errors: list[Finding] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Warnings and notes."""
    hooks: int = 0
    """How many hooks the files declare, without those of policies."""
    policies: int = 0
    """How many policies they switch on."""
    declared: list[Hook] = field(default_factory=list)
    """The hooks of the files, with those of policies."""

    def count(self, severity: str) -> int:
        """Return the number of findings of one severity."""
        return sum(finding.severity == severity for finding in (*self.errors, *self.findings))


def check_files(sources: Sequence[Source]) -> FileReport:
    """Load files and arm them as a host does, then check every hook in them, trusted or not.

    What loading refuses is an error here, and what it warns of is a warning.
    """
    report = FileReport()
    try:
        loaded = _files_of(sources).read(TABLE)
        # The hooks of untrusted files are not loaded above; they are if the same files are named.
        files = _files_of([replace(source, found=False) for source in sources if os.path.lexists(source.path)])
        named = files.read(TABLE)
        settings = settings_from(**named.settings)
    except InterposeError as error:
        report.errors = _errors_of(error)
        return report
    report.errors = _arm(files, named, settings)
    untrusted = {origin.source.path for origin in loaded.origins if not origin.trusted}
    report.origins, report.declared = loaded.origins, list(named.hooks)
    policies = [hook for hook in named.hooks if isinstance(hook.handler, PolicyHook)]
    report.hooks = len(named.hooks) - len(policies)
    report.policies = len({(hook.label, hook.layer, hook.scope) for hook in policies})
    report.findings = [
        Finding("warning", _code(problem, untrusted, loaded), problem)
        for problem in dict.fromkeys([*loaded.warnings, *named.warnings])
    ]
    declared = [tool for group in named.tools for tool in group]
    rules = check_hooks(named.hooks, settings, declared)
    known = {finding.problem for finding in rules}
    report.findings = [finding for finding in report.findings if finding.problem not in known]
    report.findings += [
        *_find_live(loaded), *_find_idle(named), *_find_dead_rules(named), *check_tools(declared, named), *rules
    ]  # fmt: skip
    return report


def _code(problem: Problem, untrusted: set[str], loaded: Loaded) -> str:
    if problem in loaded.changed:
        return "changed"
    return "untrusted" if problem.where in untrusted else "config"


def _files_of(sources: Sequence[Source]) -> ConfigFiles:
    project = os.getcwd() if any(source.found for source in sources) else None
    return ConfigFiles(lambda: sources, project, None, lines=True)


def _errors_of(error: InterposeError) -> list[Finding]:
    problems = error.problems if isinstance(error, ConfigError) else (error.problem,)
    return [Finding("error", "config", problem) for problem in problems]


def _arm(files: ConfigFiles, loaded: Loaded, settings: Settings) -> list[Finding]:
    """Arm hooks in an engine of their own; return what it refuses, for every event that has too many hooks."""
    errors: list[Finding] = []
    fitting = copy(loaded)
    fitting.hooks = []
    for event in dict.fromkeys(hook.event for hook in loaded.hooks):
        hooks = [hook for hook in loaded.hooks if hook.event == event]
        try:
            Registry(settings.max_hooks_per_point, lambda: None).add(hooks)
        except TooManyHooks as error:
            errors += _errors_of(error)
        else:
            fitting.hooks += hooks
    try:
        Armed(Engine(settings, TABLE), lambda text: None).take_files(files, fitting, {})
    except InterposeError as error:
        errors += _errors_of(error)
    return errors


def _find_live(loaded: Loaded) -> Iterator[Finding]:
    """Find what trusted hooks use that is no part of what was trusted."""
    for origin in loaded.origins:
        for entry in origin.live:
            problem = Problem(f"{entry['hook']}: {entry['what']} is live: {entry['why']}", where=origin.source.path,
                              hint="put what hooks run below .interpose")  # fmt: skip
            yield Finding("warning", "live", problem)


def _find_dead_rules(loaded: Loaded) -> Iterator[Finding]:
    """Find rules of ``permissions`` about a tool that is nearly a known one; a name without a pattern may be any."""
    declared = tuple(tool for group in loaded.tools for tool in group)
    for path, found in loaded.parts:
        for rule in found.permissions:
            if "(" in rule and "|" not in rule and (hint := suggest_rule(rule, declared)):
                problem = Problem(f"permissions: {rule} matches no known tool", where=path, hint=hint)
                yield Finding("warning", "never_matches", problem)


def _find_idle(loaded: Loaded) -> Iterator[Finding]:
    """Find files that arm nothing."""
    for path, found in loaded.parts:
        overrides = any(scope.overrides for scope in found.scopes.values())
        if any(hook.enabled for hook in found.hooks) or found.permissions or found.harmless or overrides:
            continue
        settled = found.settings or found.audit or found.questions or found.tools or found.models
        if len(loaded.parts) > 1 and settled:
            continue  # they hold for the hooks of the other files
        if found.hooks:
            problem = Problem("all its hooks are switched off, so it arms nothing", where=path, hint="enabled: true")
        else:
            problem = Problem("it has no hooks, no policies and no rules, so it arms nothing", where=path,
                              hint="policies: recommended, or hooks: with events and their hooks")  # fmt: skip
        yield Finding("warning", "arms_nothing", problem)
