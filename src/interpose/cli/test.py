"""``interpose test``: run files of cases against the configuration."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ..config.load import Origin, Source, load_sources
from ..errors import ConfigError, Problem, UsageError
from ..events import TABLE
from ..hooks import Hooks
from ..replay.answers import answer_from_record
from ..replies import clean
from ..testing.cases import Case
from ..testing.comparison import CaseResult
from ..testing.suites import Suite, case_files, junit, load_all, run_all
from .loading import change_directory, current_directory, load_hooks
from .options import AsJson, Config, Cwd, Dialect
from .render import paint
from .render.streams import silence_log, stdout_to_stderr

__all__ = ["run"]

Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE|DIR]…", show_default=False,
        help="Files of cases, or directories with *.cases.yaml files. Default: .interpose/*cases*.yaml (or .json).",
    ),
]  # fmt: skip
FailUnder = Annotated[
    float | None,
    typer.Option(
        "--fail-under", metavar="PERCENT", min=0, max=100, help="Fail if the cases run a smaller part of the hooks."
    ),
]
Junit = Annotated[str | None, typer.Option("--junit", metavar="FILE", help="Also write the results as JUnit XML.")]

Live = Annotated[
    bool,
    typer.Option(
        "--live", help="Ask models, HTTP servers and MCP servers for real; without it, such hooks are not asked."
    ),
]


def run(
    files: Files = None,
    config: Config = None,
    dialect: Dialect = None,
    cwd: Cwd = None,
    fail_under: FailUnder = None,
    junit: Junit = None,
    live: Live = False,
    as_json: AsJson = False,
) -> int:
    """A case is an event and the outcome that it should have:

    \b
      - name: rm is denied
        given: {event: PreToolUse, tool: Bash, args: {command: rm -rf /}}
        expect: {decision: deny, reason: Destructive}

    `expect` may have: decision, allowed, reason, input, context, messages, keep_going, hooks. A text must be contained
    in the actual text, or match as `re:…`; `input` lists the fields of the final input to compare; `hooks` maps a hook
    to its status (ok, failed, timeout, skipped, absent). A hook that fails unexpectedly makes its case fail.

    A file may also be a mapping with `config:` (the files to test) and `cases:`. The hooks really run, except for those
    that ask a model, an HTTP server or an MCP server: these are not asked unless you say --live. A scripted model is.

    Exit status: 0 if all cases passed, 1 if not, or if a file has mistakes.
    """  # noqa: D301 - \b keeps the lines below it apart in the help
    named = [os.path.abspath(path) if cwd is not None else path for path in files or []]
    target = os.path.abspath(junit) if junit is not None else None
    engines = _Engines([os.path.abspath(path) for path in config or []], dialect, trusted=bool(named), live=live)
    change_directory(cwd)
    found = case_files(named, current_directory())
    if not found:
        raise UsageError("no file of cases was found", hint="write .interpose/cases.yaml: `interpose test --help`")
    cases = load_all(found)
    silence_log()
    started = time.perf_counter()
    shown = None if as_json else _Printer()
    suite = run_all(cases, engines.of, shown, around=stdout_to_stderr)
    enough = fail_under is None or suite.percent >= fail_under
    if target is not None:
        _write(target, suite)
    if as_json:
        said = {"ok": not suite.failed and enough, **suite.to_dict()}
        print(json.dumps(said, default=repr))
    else:
        _summary(suite, time.perf_counter() - started, fail_under if not enough else None)
    return 1 if suite.failed or not enough else 0


class _Engines:
    """The hooks for each case: one engine for all cases that share a configuration."""

    def __init__(self, config: list[str], dialect: str | None, *, trusted: bool, live: bool) -> None:
        self._live = live
        self._config = tuple(config)
        self._dialect = dialect
        self._trusted = trusted
        """Whether the user named the files of cases, and so trusts the configuration that these name."""
        self._made: dict[tuple[str, ...], Hooks] = {}

    def of(self, case: Case) -> Hooks:
        key = self._config or case.config
        if key not in self._made:
            self._made[key] = self._make(key)
            self._made[key].record(None)  # a case is no real event, and is not recorded
            if not self._live:
                answer_from_record(self._made[key])  # and no record answers for a case
        return self._made[key]

    def _make(self, files: tuple[str, ...]) -> Hooks:
        if not files:
            hooks = load_hooks([], self._dialect, None)
            if not hooks.origins:
                raise UsageError("no configuration was found here", hint="`interpose init` writes one; or use --config")
            _require_trust(hooks.origins)
            return hooks
        if not self._config and not self._trusted:
            # The user has not named these: the file of cases that names them was found.
            sources = [Source(path, "project", self._dialect, found=True) for path in files]
            _require_trust(load_sources(TABLE, sources).origins)
        return load_hooks(list(files), self._dialect, None)


def _require_trust(origins: Iterable[Origin]) -> None:
    """Raise ConfigError for files that are not trusted: without their hooks the cases test nothing."""
    problems = [
        Problem("not trusted, so its hooks cannot be tested", where=origin.source.path,
                hint=f"review it, then: interpose trust {origin.source.path}")
        for origin in origins
        if not origin.trusted or origin.changes
    ]  # fmt: skip
    if problems:
        raise ConfigError(problems)


class _Printer:
    """Prints each result below the name of its file."""

    def __init__(self) -> None:
        self._file = ""

    def __call__(self, result: CaseResult) -> None:
        file, line, _ = result.case.source.rsplit(":", 2)
        if file != self._file:
            print(paint(clean(file), "bold"))
            self._file = file
        name = clean(result.case.name)
        if result.passed:
            print(f"  {paint('ok', 'green')}    {name}", flush=True)
            return
        print(f"  {paint('FAIL', 'red', 'bold')}  {name}  {paint(f'line {line}', 'dim')}")
        for text in result.lines():
            print(f"          {_paint_line(clean(text))}".rstrip())
        sys.stdout.flush()


def _paint_line(text: str) -> str:
    if text.startswith(("  expected", "  - ")):
        return paint(text, "green")
    return paint(text, "red") if text.startswith(("  got", "  + ")) else text


def _summary(suite: Suite, seconds: float, too_low_for: float | None) -> None:
    count = len(suite.results)
    passed = count - suite.failed
    said = f"{count} case{'' if count == 1 else 's'}: {passed} passed"
    said += f", {suite.failed} failed" if suite.failed else ""
    print(f"\n{paint(said, 'red' if suite.failed else 'green', 'bold')} in {seconds:.2f} s")
    for name in suite.not_asked:
        hint = paint("it asks a model or a server; --live does", "dim")
        print(f"  {paint('not asked', 'yellow')}  {clean(name)}  {hint}")
    if not suite.hooks:
        return
    run = len(suite.hooks) - len(suite.never)
    print(f"hooks: {run} of {len(suite.hooks)} were run ({suite.percent:.0f} %)")
    for hook in suite.never:
        print(f"  {paint('never run', 'yellow')}  {clean(hook.label)}  {paint(f'{hook.event}, {hook.source}', 'dim')}")
    if too_low_for is not None:
        print(paint(f"fewer hooks were run than --fail-under {too_low_for:g} %", "red"))


def _write(path: str, suite: Suite) -> None:
    try:
        Path(path).write_bytes(junit(suite))
    except OSError as error:
        raise UsageError(f"--junit {path}: {error.strerror}", hint="check the path") from None
