"""Test the adapters, each in an environment of its own with the framework that it adapts.

python -m tools.adapters                  all of them
python -m tools.adapters langchain mcp    only these
python -m tools.adapters --light          those whose framework is small: what .ci/run does
python -m tools.adapters --keep           write the results to tests/adapters/results, for docs/frameworks.md
python -m tools.adapters --env langchain  print the interpreter of an environment, made if it is missing
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.environment import ROOT, Unavailable, environment, own_requirements

TESTS = ROOT / "tests" / "adapters"
RESULTS = TESTS / "results"

LIGHT = ("functions", "pydantic_ai", "mcp", "fastmcp", "langchain", "openai_agents")
"""Adapters whose environments .ci/run makes."""

IN_ONE_PROCESS = ("litellm",)
"""Adapters whose framework takes so long to load that several processes are slower than one."""


def adapters() -> list[str]:
    """Return the names of all adapters that have tests."""
    return sorted(path.stem.removeprefix("test_") for path in TESTS.glob("test_*.py"))


def requirements(name: str) -> list[str]:
    """Return what the environment of an adapter needs: the extra of its name, and what its tests need besides."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras: dict[str, list[str]] = tomllib.load(file)["project"]["optional-dependencies"]
    also = extras.get(f"test-{name.replace('_', '-')}", [])
    return [*own_requirements(), *extras["test"], *extras.get(name.replace("_", "-"), []), *also]


def interpreter(name: str, python: str = sys.executable) -> Path:
    """Return the interpreter of an adapter's environment, which is made with another one."""
    return environment(f"adapters/{name}", python, requirements(name))


def run(name: str, *, keep: bool, arguments: list[str]) -> tuple[bool, str]:
    """Run the tests of one adapter; return whether they pass, and what they print."""
    python = interpreter(name)
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        command = [
            str(python),
            "-m",
            "pytest",
            f"tests/adapters/test_{name}.py",
            "-q",
            "-n0",  # a worker would import the framework once more; the adapters themselves run beside each other
            f"--junitxml={report}",
            "-o",
            "junit_family=xunit1",  # the newer form has no properties of a test
            *(["-n0"] if name in IN_ONE_PROCESS else []),
            *arguments,
        ]
        ended = subprocess.run(
            command,
            cwd=ROOT,
            check=False,
            env=_variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        passed = ended.returncode == 0
        if keep and passed:
            _keep(name, python, report)
    return passed, ended.stdout


def _variables() -> dict[str, str]:
    from benchmarks.measure import clean_environment

    return {**clean_environment(), "PYTHONPATH": str(ROOT / "src")}


def _keep(name: str, python: Path, report: Path) -> None:
    places: dict[str, dict[str, str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):  # noqa: S314 - written by pytest just now
        properties = {one.get("name"): one.get("value") or "" for one in case.iter("property")}
        if row := properties.get("row"):
            said = f"cannot: {properties['cannot']}" if properties.get("cannot") else "holds"
            places.setdefault(properties.get("place", ""), {})[row] = said
    code = "import importlib.metadata as m, sys; print('\\n'.join(f'{p} {m.version(p)}' for p in sys.argv[1:]))"
    extras = [one.split(">")[0].split("[")[0].split("=")[0] for one in requirements(name)]
    packages = sorted(set(extras) - {one.split(">")[0].split("[")[0] for one in _common()})
    versions = subprocess.run([str(python), "-c", code, *packages], capture_output=True, text=True, check=True).stdout
    # An adapter with one place has the rows of it, one with several has those of each.
    found = {"rows": places[""]} if places.keys() == {""} else {"places": places}
    result = {"tested": versions.split("\n")[:-1], **found}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def _common() -> list[str]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return [*own_requirements(), *tomllib.load(file)["project"]["optional-dependencies"]["test"]]


def main(arguments: list[str]) -> int:
    """Do what the options say; return 1 if a test fails, 2 if an environment cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m tools.adapters", description="Test adapters.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--env", metavar="NAME")
    options, rest = parser.parse_known_args(arguments)
    try:
        if options.env:
            print(interpreter(options.env))
            return 0
        known = adapters()
        if unknown := [name for name in options.names if name not in known]:
            parser.error(f"no adapter {', '.join(unknown)}; there are {', '.join(known)}")
        chosen = options.names or [name for name in known if not options.light or name in LIGHT]
        failed = []
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = pool.map(partial(run, keep=options.keep, arguments=rest), chosen)
            for name, (passed, said) in zip(chosen, results, strict=True):
                print(f"--- {name}\n{said}", end="", flush=True)
                if not passed:
                    failed.append(name)
    except Unavailable as error:
        print(error, file=sys.stderr)
        return 2
    print(
        f"{len(chosen) - len(failed)} of {len(chosen)} adapters pass"
        + (f"; not: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
