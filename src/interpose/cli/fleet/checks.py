"""Check a bundle before it is pushed: it is taken over in a scratch directory as a node does, and its cases are run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

from ...config.fleet_rules import armed_source
from ...errors import ConfigError, Problem
from ...fleet.bundles import digest_of
from ...fleet.statements import Statement
from ...fleet.take_over import RulesFolder, RulesRefused
from ...lint.files import check_files
from ...records import Record
from ...testing.suites import case_files

__all__ = ["CheckedBundle", "check_bundle"]

_PATIENCE = 600.0
_SHOWN = 10
_NO_SIGNER = "ed25519:" + "A" * 43 + "="


class CheckedBundle(Record):
    """A bundle that may be pushed."""

    cases: int
    """How many cases have passed."""
    warnings: tuple[Problem, ...]


def check_bundle(packed: bytes, *, observe: bool = False) -> CheckedBundle:
    """Take over, check and test a bundle; raise ConfigError with every reason why it must not be pushed."""
    with tempfile.TemporaryDirectory(prefix="interpose-push-") as scratch:
        state = os.path.join(os.path.realpath(scratch), "state")
        rules = RulesFolder(os.path.join(state, "interpose", "fleet"))
        try:
            armed = rules.take_over(_statement(packed), packed)
        except RulesRefused as error:
            raise ConfigError([_shown(error.problem, rules.folder)]) from None
        source = armed_source(rules.folder, armed)
        folder = os.path.dirname(source.path)
        report = check_files([source])
        if report.errors:
            raise ConfigError([_shown(finding.problem, folder) for finding in report.errors])
        cases = _run_cases(scratch, state, folder)
        warnings = [finding.problem for finding in report.findings if finding.severity == "warning"]
        return CheckedBundle(cases=cases, warnings=tuple(_shown(problem, folder) for problem in warnings))


def _statement(packed: bytes) -> Statement:
    now = int(time.time())
    return Statement(team="check", ring="check", version=1, digest=digest_of(packed), created=now, expires=now + 60,
                     observe=False, note="", signer=_NO_SIGNER)  # fmt: skip


def _shown(problem: Problem, folder: str) -> Problem:
    """Return a problem with the paths of the directory that is pushed, not of the scratch directory."""
    parts = [text.replace(folder + os.sep, "") for text in (problem.what, problem.where, problem.hint)]
    return Problem(*parts)


def _run_cases(scratch: str, state: str, folder: str) -> int:
    """Run the cases of a bundle in a process whose only configuration it is; return how many there are."""
    try:
        files = case_files([os.path.dirname(folder)], folder)
    except ConfigError:  # there are none
        return 0
    project = os.path.join(scratch, "project")
    os.mkdir(project)
    environment = {**os.environ, "XDG_STATE_HOME": state, "XDG_CONFIG_HOME": os.path.join(scratch, "config")}
    for name in ("INTERPOSE_OFF", "CLAUDE_PROJECT_DIR"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "interpose.cli", "test", "--json", *map(os.path.abspath, files)]
    try:
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, timeout=_PATIENCE,
                              check=False, stdin=subprocess.DEVNULL)  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ConfigError([Problem(f"the cases take longer than {_PATIENCE:g} s")]) from None
    try:
        said = json.loads(done.stdout)
        failed = [case for case in said["cases"] if not case.get("passed")]
    except (ValueError, KeyError, TypeError, AttributeError):
        text = done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}"
        raise ConfigError([_shown(Problem(f"the cases cannot be run: {text[-2000:]}"), folder)]) from None
    if failed or done.returncode != 0:
        raise ConfigError([_failure(case, folder) for case in failed[:_SHOWN]] or [Problem("the cases do not pass")])
    return len(said["cases"])


def _failure(case: dict[str, object], folder: str) -> Problem:
    name, where = str(case.get("name") or case.get("case") or "a case"), str(case.get("source") or "")
    return _shown(Problem(f"the case {name!r} fails", where=where, hint="`interpose test` shows why"), folder)
