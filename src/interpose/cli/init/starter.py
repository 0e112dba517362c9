"""The files of a starter configuration: policies and hooks, a guard, its cases, and the JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable

__all__ = ["CASES", "CONFIGURATION", "FILES"]

CONFIGURATION, CASES = "hooks.yaml", "cases.yaml"

_HOOKS = """\
# yaml-language-server: $schema=./hooks.schema.json
#
# Policies and hooks of this project. `interpose check` finds mistakes here, and `interpose explain PreToolUse --tool
# Bash` shows which hooks would run. After every change: `interpose trust`.

# Rules that come with Interpose: `interpose policies` lists them, `interpose policies show NAME` explains one. A list
# can change some of them, or switch them off:
#   - recommended
#   - protected-branches: {branches: [main, "release/*"]}
#   - publishing: observe     # only record what it would decide
policies: recommended

# Your own hooks. `interpose events` lists the events.
hooks:
  defaultTimeout: 10s           # for hooks without a timeout: of their own

  PreToolUse:                   # before a tool runs
    # A guard: if it fails, hangs or is missing, the tool does not run.
    - name: no-long-sleep
      description: Deny commands that wait for more than a minute.
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
"""Deny shell commands that wait for more than a minute. A hook reads its event as JSON; exit status 2 denies."""

import json
import re
import sys

event = json.load(sys.stdin)
command = event["tool_input"].get("command", "")

for seconds in re.findall(r"\\bsleep\\s+(\\d+)", command):
    if int(seconds) > 60:
        print(f"{seconds} seconds are too long to wait: run it in the background and look again", file=sys.stderr)
        sys.exit(2)
'''

_CASES = """\
# The expected outcomes. `interpose test` runs these cases through the real hooks.

- name: a long sleep is denied
  given: {event: PreToolUse, tool_name: Bash, tool_input: {command: make; sleep 600}}
  expect: {decision: deny, reason: "600 seconds are too long to wait: run it in the background and look again"}

- name: a policy denies deleting everything
  given: {event: PreToolUse, tool_name: Bash, tool_input: {command: rm -rf /}}
  expect: {decision: deny}

- name: other commands go on
  given: {event: PreToolUse, tool_name: Bash, tool_input: {command: ls -l}}
  expect: {decision: none}

- name: a push is asked for, also at the end of a list
  given: {event: PreToolUse, tool_name: Bash, tool_input: {command: "make test && git push origin docs"}}
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
