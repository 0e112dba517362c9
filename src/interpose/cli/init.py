"""``interpose init``: a configuration to start from, and examples to go on with. Never overwrites anything."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Annotated

import typer

from ..errors import Problem, UsageError
from ..replies import clean
from .bring import Choice, add_to, begin, choose, configuration_in, examples
from .options import AsJson
from .placing import Placed, place
from .starter import CASES, FILES
from .weave import CannotWeave
from .words import complain_of, paint

__all__ = ["FILES", "run"]

FOLDER = ".interpose"

With = Annotated[
    list[str] | None,
    typer.Option(
        "--with", metavar="NAME[,NAME]…",
        help="Bring in examples, also into a configuration that is there; NAME:node is the one for Node. May be given "
             "more than once.",
    ),
]  # fmt: skip
List = Annotated[bool, typer.Option("--list", help="Only list the examples.")]
Dir = Annotated[str, typer.Option("--dir", metavar="DIR", help="The project; the current directory if not given.")]


def run(dir: Dir = ".", with_: With = None, list_: List = False, as_json: AsJson = False) -> int:
    """Writes a folder `.interpose`. Nothing that is there is overwritten, and either everything is written or nothing.

    `--with` adds examples: their hooks to the configuration, which is begun if there is none, what they run beside it,
    and their cases to the cases. What was added arms after `interpose trust`, like everything.

    \b
    Examples:
      interpose init
      interpose init --list
      interpose init --with destructive-commands,secrets-in-results
    """  # noqa: D301 - the mark keeps the lines below it apart in the help
    if list_:
        _list(as_json)
        return 0
    choices = choose(with_ or [])
    if not os.path.isdir(dir):
        what, hint = ("a file", "name a directory") if os.path.exists(dir) else ("no such directory", "make it first")
        raise UsageError(f"--dir {dir}: {what}", hint=hint)
    folder = os.path.normpath(os.path.join(dir, FOLDER))
    present = configuration_in(folder) if choices else None
    try:
        files = add_to(folder, present, choices) if present else begin(choices)
    except CannotWeave as why:
        _say_what_to_paste(folder, why, choices, as_json)
        return 1
    place(folder, files)
    if as_json:
        said = [{"path": os.path.join(folder, file.name), "new": file.before is None} for file in files]
        print(json.dumps({"files": said}))
        return 0
    _show(folder, files)
    print(_next(dir))
    return 0


def _list(as_json: bool) -> None:
    known = examples().values()
    if as_json:
        print(json.dumps({"examples": [example.to_dict() for example in known]}))
        return
    width = max(len(example.name) for example in known)
    for example in known:
        also = f" (also {', '.join(f'{example.name}:{variant}' for variant in example.variants)})"
        print(f"{paint(f'{example.name:<{width}}', 'cyan')}  {example.purpose}{also if example.variants else ''}")


def _show(folder: str, files: Sequence[Placed]) -> None:
    shown = [(os.path.join(folder, file.name), file) for file in files]
    width = max(len(path) for path, _ in shown)
    for path, file in shown:
        print(f"{paint(f'{clean(path):<{width}}', 'bold')}  {file.purpose}")


def _next(directory: str) -> str:
    cd = "" if directory == "." else f"  cd {clean(directory)}\n"
    return f"""
Next:
{cd}  interpose check     # is everything in order?
  interpose trust     # files that are found arm only after you have looked at them
  interpose test      # do the hooks do what the cases expect?
  interpose fire PreToolUse --tool Bash --tool-input '{{"command": "rm -rf /"}}'"""


def _say_what_to_paste(folder: str, why: CannotWeave, choices: Sequence[Choice], as_json: bool) -> None:
    """Say how to do by hand what could not be done."""
    complain_of(Problem(f"{why.text}; nothing was written", where=why.where, hint="add it by hand, as shown"), "init")
    scripts = [str(path) for choice in choices for path in choice.files()]
    hooks = [choice.hooks() for choice in choices]
    cases = [str(choice.example.folder / CASES) for choice in choices]
    if as_json:
        print(json.dumps({"files": [], "by_hand": {"copy": scripts, "hooks": hooks, "cases": cases}}))
        return
    print(f"1. Copy into {clean(folder)}:\n")
    print("".join(f"  {clean(path)}\n" for path in scripts))
    print("2. Add to the configuration, each hook to those of its event:\n")
    for text in hooks:
        print("\n".join(f"  {line}".rstrip() for line in text.splitlines()) + "\n")
    print("3. Add to the cases what is in:\n")
    print("\n".join(f"  {clean(path)}" for path in cases))
