"""The files of a starter configuration: the configuration, a guard, its cases, and the JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable

__all__ = ["CASES", "CONFIGURATION", "FILES"]

CONFIGURATION, CASES = "hooks.yaml", "cases.yaml"

_HOOKS = """\
# yaml-language-server: $schema=./hooks.schema.json
#
# Hooks of this project. `interpose events` lists the events, `interpose check` finds mistakes here, and
# `interpose explain PreToolUse --tool Bash` shows which hooks would run. After every change: `interpose trust`.

hooks:
  defaultTimeout: 10s           # for hooks without a timeout: of their own

  PreToolUse:                   # before a tool runs
    # A guard: if it fails, hangs or is missing, the tool does not run.
    - name: no-destruction
      description: Deny commands that delete everything.
      matcher: Bash             # the tool's name; names and globs, such as "Write|Edit" or "mcp__*"
      type: command
      handler: ./guard.py       # reads the event on standard input; exit status 2 denies
      onError: abort

    # One line can be a hook too: `if` also matches inside pipes, lists and `sh -c`.
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
# The expected outcomes. `interpose test` runs these cases through the real hooks.

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
    from ...config.schema import schema

    return json.dumps(schema(), indent=2) + "\n"


FILES: dict[str, tuple[Callable[[], str], str]] = {
    CONFIGURATION: (lambda: _HOOKS, "the configuration"),
    "guard.py": (lambda: _GUARD, "a guard: change it to what you want to prevent"),
    CASES: (lambda: _CASES, "the cases: what the hooks should do"),
    "hooks.schema.json": (_schema, "lets editors complete and check the configuration"),
}
"""The text and the purpose of each file."""
