"""``interpose init``: a configuration to start from, with a guard that works. Never overwrites anything."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Annotated

import typer

from ..errors import UsageError
from ..replies import clean
from .words import paint

__all__ = ["FILES", "run"]

FOLDER = ".interpose"
_PLAIN, _EXECUTABLE = 0o644, 0o755

_HOOKS = """\
# yaml-language-server: $schema=./hooks.schema.json
#
# Hooks of this project. `interpose events` lists the events, `interpose check` says what is wrong here, and
# `interpose explain PreToolUse --tool Bash` which hooks would run. After every change: `interpose trust`.

hooks:
  defaultTimeout: 10s           # for hooks without a timeout: of their own

  PreToolUse:                   # before a tool runs
    # A guard: its answer is waited for, and if it breaks, hangs or is missing, the tool does not run.
    - name: no-destruction
      description: Nobody deletes everything.
      matcher: Bash             # the tool's name; names and globs, such as "Write|Edit" or "mcp__*"
      type: command
      handler: ./guard.py       # reads the event on standard input; exit status 2 denies
      onError: abort

    # One line can be a hook too: `if` looks into pipes, lists and `sh -c`.
    - name: ask-before-push
      if: Bash(git push *)
      type: script
      handler: /ask "Push to a remote?"

  # UserPromptSubmit:           # when a person sends a prompt; what is printed as context reaches the model
  #   - name: house-rules
  #     type: script
  #     handler: /context "Answer in one sentence."
"""

_GUARD = '''\
#!/usr/bin/env python3
"""Deny shell commands that delete everything. A hook reads its event as JSON; exit status 2 denies."""

import json
import re
import sys

event = json.load(sys.stdin)
command = event["tool_input"].get("command", "")

if re.search(r"\\brm\\s+(-\\w+\\s+)*-\\w*[rR]\\w*\\s+(-\\w+\\s+)*(/|~|\\$HOME|\\*)(\\s|$)", command):
    print(f"Destructive command blocked: {command}", file=sys.stderr)
    sys.exit(2)
'''

_CASES = """\
# What the hooks are expected to do. `interpose test` runs these cases through the real hooks.

- name: deleting everything is denied
  given: {event: PreToolUse, tool_name: Bash, tool_input: {command: rm -rf /}}
  expect: {decision: deny, reason: "Destructive command blocked: rm -rf /"}

- name: other commands go on
  given: {event: PreToolUse, tool_name: Bash, tool_input: {command: ls -l}}
  expect: {decision: none}

- name: a push is asked for, also at the end of a list
  given: {event: PreToolUse, tool_name: Bash, tool_input: {command: "make test && git push origin main"}}
  expect: {decision: ask, reason: "Push to a remote?"}
"""


def _schema() -> str:
    from ..config.schema import schema

    return json.dumps(schema(), indent=2) + "\n"


FILES: dict[str, tuple[Callable[[], str], int, str]] = {
    "hooks.yaml": (lambda: _HOOKS, _PLAIN, "the configuration"),
    "guard.py": (lambda: _GUARD, _EXECUTABLE, "a guard: change it to what you want to keep from happening"),
    "cases.yaml": (lambda: _CASES, _PLAIN, "what you expect of the hooks"),
    "hooks.schema.json": (_schema, _PLAIN, "so that editors complete and check the configuration"),
}
"""What is written: its text, its mode, and what it is for."""


def run(
    dir: Annotated[
        str, typer.Option("--dir", metavar="DIR", help="The project; the current directory if not given.")
    ] = ".",
) -> None:
    """Writes a folder `.interpose`. If any of its files is there already, it says so and writes nothing.

    Example: interpose init
    """
    folder = os.path.join(dir, FOLDER)
    if there := [name for name in FILES if os.path.lexists(os.path.join(folder, name))]:
        raise UsageError("it is there already, and nothing was written",
                         where=os.path.normpath(os.path.join(folder, there[0])),
                         hint="`interpose check` looks at it; remove it to begin anew")  # fmt: skip
    try:
        if not os.path.isdir(dir):
            raise UsageError(f"--dir {dir}: no such directory", hint="make it first")
        os.makedirs(folder, mode=_EXECUTABLE, exist_ok=True)
        for name, (text, mode, _) in FILES.items():
            _write(os.path.join(folder, name), text(), mode)
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", where=error.filename or folder) from None
    for name, (_, _, purpose) in FILES.items():
        print(f"{paint(clean(os.path.normpath(os.path.join(folder, name))), 'bold'):<30}  {purpose}")
    print(_next(dir))


def _write(path: str, text: str, mode: int) -> None:
    """Write a new file that nobody else may write to, whatever this shell's umask allows."""
    # O_EXCL: what has turned up since we looked is not ours to overwrite, be it a file or a link.
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    with os.fdopen(opened, "w", encoding="utf-8") as file:
        os.fchmod(opened, mode)
        file.write(text)


def _next(directory: str) -> str:
    cd = "" if directory == "." else f"  cd {clean(directory)}\n"
    return f"""
Next:
{cd}  interpose check     # is everything in order?
  interpose trust     # files that are found arm only after you have looked at them
  interpose test      # do the hooks do what the cases expect?
  interpose fire PreToolUse --tool Bash --tool-input '{{"command": "rm -rf /"}}'"""
