#!/usr/bin/env python3
"""Answer questions about commands that only look, so that nobody has to. What no rule knows is left to the person.

A rule has to cover the whole line: letters that mean something to a shell are in none of them.
"""

import json
import re
import sys

WORD = r" [\w@%+:,./][\w@%+:,./~^=-]*"  # no option, nothing for the shell
PATHS = rf"(?:{WORD})*(?: --(?:{WORD})+)?"
ALLOWED = [
    rf"git (?:status|diff|log|show)(?: --(?:cached|oneline|short|stat|staged))*(?: -\d+)?{PATHS}",
    r"git branch --(?:list|show-current)",
    rf"ls(?: -[1AaFhlRrSt]+)*{PATHS}",
    r"pwd|date|whoami",
    r"(?:cargo|go|node|npm|python3?|uv) --version",
]

event = json.load(sys.stdin)
command = event["tool_input"].get("command", "")

if any(re.fullmatch(rule, command, re.ASCII) for rule in ALLOWED):
    decision = {"behavior": "allow"}
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "decision": decision}}))
