"""``interpose init``: write a starter configuration, or add policies and examples to one. Overwrites no file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Annotated

import typer

from ...errors import Problem, UsageError
from ...replies import clean
from ..options import AsJson
from ..render import print_problem
from ..render.table import Column, print_table
from .examples import Choice, add_examples, choose_examples, configuration_in, examples, new_configuration
from .merge_yaml import CannotMerge
from .policies import choose_policies, policies_yaml
from .starter import CASES, FILES
from .write_files import FileToWrite, write_files

__all__ = ["FILES", "run"]

FOLDER = ".interpose"

With = Annotated[
    list[str] | None,
    typer.Option(
        "--with", metavar="NAME[,NAME]…",
        help="Add examples, also to an existing configuration; NAME:node is the variant for Node. May be repeated.",
    ),
]  # fmt: skip
WithPolicies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy", metavar="NAME[,NAME]…",
        help="Switch on policies, also in an existing configuration; a new one has the recommended ones otherwise. May "
             "be repeated.",
    ),
]  # fmt: skip
List = Annotated[bool, typer.Option("--list", help="List the examples.")]
Dir = Annotated[str, typer.Option("--dir", metavar="DIR", help="The project. Default: the current directory.")]


def run(
    dir: Dir = ".", with_: With = None, policy: WithPolicies = None, list_: List = False, as_json: AsJson = False
) -> int:
    """Writes a folder `.interpose`. No file is overwritten, and either all files are written or none. The configuration
    switches on the recommended policies (`interpose policies show recommended`) and has a guard of your own.

    `--with` adds examples: their hooks to the configuration, which is created if there is none, the files that they run
    beside it, and their cases to the cases. Added hooks are armed after `interpose trust`, as all hooks.

    \b
    Examples:
      interpose init
      interpose init --list
      interpose init --policy protected-branches,secrets
      interpose init --with tests-before-stop
    """  # noqa: D301 - \b keeps the lines below it apart in the help
    if list_:
        _list(as_json)
        return 0
    choices, policies = choose_examples(with_ or []), choose_policies(policy or [])
    if not os.path.isdir(dir):
        what, hint = ("a file", "name a directory") if os.path.exists(dir) else ("no such directory", "create it first")
        raise UsageError(f"--dir {dir}: {what}", hint=hint)
    folder = os.path.normpath(os.path.join(dir, FOLDER))
    present = configuration_in(folder) if choices or policies else None
    try:
        files = add_examples(folder, present, choices, policies) if present else new_configuration(choices, policies)
    except CannotMerge as why:
        _print_manual_steps(folder, why, choices, policies, as_json)
        return 1
    write_files(folder, files)
    if as_json:
        said = [{"path": os.path.join(folder, file.name), "new": file.before is None} for file in files]
        print(json.dumps({"files": said}))
        return 0
    _print_files(folder, files)
    print(_next_steps(dir))
    return 0


def _list(as_json: bool) -> None:
    known = examples().values()
    if as_json:
        print(json.dumps({"examples": [example.to_dict() for example in known]}))
        return
    rows = []
    for example in known:
        also = f" (also {', '.join(f'{example.name}:{variant}' for variant in example.variants)})"
        rows.append((example.name, f"{example.purpose}{also if example.variants else ''}"))
    print_table((Column("", "cyan"), Column("")), rows, heading=False)


def _print_files(folder: str, files: Sequence[FileToWrite]) -> None:
    rows = [(os.path.join(folder, file.name), file.purpose) for file in files]
    print_table((Column("", "bold"), Column("")), rows, heading=False)


def _next_steps(directory: str) -> str:
    cd = "" if directory == "." else f"  cd {clean(directory)}\n"
    return f"""
Next:
{cd}  interpose check     # find mistakes in the configuration
  interpose trust     # a file that was found is armed after you have reviewed it
  interpose test      # run the cases through the hooks
  interpose fire PreToolUse --tool Bash --tool-input '{{"command": "rm -rf /"}}'"""


def _print_manual_steps(
    folder: str, why: CannotMerge, choices: Sequence[Choice], policies: Sequence[str], as_json: bool
) -> None:
    """Print how to add the examples and policies by hand."""
    print_problem(Problem(f"{why.text}; nothing was written", where=why.where, hint="add it by hand, as shown"), "init")
    scripts = [str(path) for choice in choices for path in choice.files()]
    hooks = [choice.hooks() for choice in choices]
    cases = [str(choice.example.folder / CASES) for choice in choices]
    if as_json:
        by_hand = {"copy": scripts, "hooks": hooks, "cases": cases, "policies": list(policies)}
        print(json.dumps({"files": [], "by_hand": by_hand}))
        return
    steps = []
    if scripts:
        steps.append(f"Copy into {clean(folder)}:\n\n" + "".join(f"  {clean(path)}\n" for path in scripts))
    if hooks:
        texts = ("\n".join(f"  {line}".rstrip() for line in text.splitlines()) + "\n" for text in hooks)
        steps.append("Add to the configuration, each hook to those of its event:\n\n" + "\n".join(texts))
    if policies:
        lines = "".join(f"  {line}\n" for line in policies_yaml(policies).splitlines())
        steps.append("Add to the configuration, to the policies that it has:\n\n" + lines)
    if cases:
        steps.append("Add to the cases those of:\n\n" + "\n".join(f"  {clean(path)}" for path in cases))
    for number, step in enumerate(steps, 1):
        print(f"{number}. {step}")
