#!/usr/bin/env python3
"""Format a file that was just written, and tell the model if the formatter changed it."""

import json
import subprocess
import sys
from pathlib import Path

FORMATTERS = {".py": ["ruff", "format"], ".go": ["gofmt", "-w"], ".ts": ["prettier", "--write"]}

event = json.load(sys.stdin)
project = Path(event["cwd"]).resolve()
file = (project / event["tool_input"]["file_path"]).resolve()
formatter = FORMATTERS.get(file.suffix)
if formatter is None or not file.is_file() or not file.is_relative_to(project):
    sys.exit()

before, said = file.read_bytes(), ""
try:
    done = subprocess.run([*formatter, str(file)], cwd=project, capture_output=True, text=True, check=False)
except FileNotFoundError:
    sys.exit()  # the formatter is not installed
if done.returncode != 0:
    said = f"{formatter[0]} cannot format {file.name}: {done.stderr.strip()[-500:]}"
elif file.read_bytes() != before:
    said = f"{file.name} was formatted by {formatter[0]} after you wrote it: read it before you edit it again."
if said:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": said}}))
