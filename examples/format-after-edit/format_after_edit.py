#!/usr/bin/env python3
"""Format a file that was just written, and tell the model if the formatter changed it."""

import json
import os
import subprocess
import sys
from pathlib import Path

WEB = ".css .html .js .json .jsx .md .ts .tsx .yaml"
FORMATTERS = {
    ".py": ["ruff", "format"],
    ".go": ["gofmt", "-w"],
    ".rs": ["rustfmt"],
    ".sh": ["shfmt", "-w"],
    ".tf": ["terraform", "fmt"],
    **{ending: ["prettier", "--write"] for ending in WEB.split()},
}
PLACES = [".venv/bin", "node_modules/.bin"]
"""Directories with the project's own programs; they come before PATH."""


def main():
    """Read the event, format the file, and add context if the file changed or could not be formatted."""
    event = json.load(sys.stdin)
    project = Path(event["cwd"]).resolve()
    file = (project / event["tool_input"]["file_path"]).resolve()
    formatter = FORMATTERS.get(file.suffix.lower())
    if formatter is None or not file.is_file() or not file.is_relative_to(project):
        return
    before = file.read_bytes()
    path = os.pathsep.join([*(str(project / place) for place in PLACES), os.environ["PATH"]])
    try:
        done = subprocess.run(
            [*formatter, str(file)], cwd=project, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
    except FileNotFoundError:
        return  # the formatter is not installed
    if done.returncode != 0:
        say(event, f"{formatter[0]} cannot format {file.name}: {(done.stderr or done.stdout).strip()[-500:]}")
    elif file.read_bytes() != before:
        say(event, f"{file.name} was formatted by {formatter[0]} after you wrote it: read it before you edit it again.")


def say(event, text):
    """Answer with context for the model."""
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event["hook_event_name"], "additionalContext": text}}))


main()
