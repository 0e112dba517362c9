#!/usr/bin/env python3
"""Deny a tool that was called too often. Counts per session; any number of processes can run this at once."""

import fcntl
import hashlib
import json
import os
import sys
import time
from fnmatch import fnmatchcase

LIMITS = {
    "mcp__mail__*": (2, 3600),
    "mcp__*": (60, 60),
    "Web*": (30, 60),
}
"""The maximum of calls, and in how many seconds. The first pattern that matches applies; its tools count together."""


def main():
    """Count this call, or deny it."""
    event = json.load(sys.stdin)
    tool = event["tool_name"]
    rule = next((pattern for pattern in LIMITS if fnmatchcase(tool, pattern)), None)
    if rule is None:
        return 0
    most, seconds = LIMITS[rule]
    now = time.time()
    with open(place_of(event["session_id"], rule), "a+", encoding="ascii") as file:
        # One process at a time reads and counts. Closing the file releases the lock.
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        recent = [at for at in map(float, file) if at > now - seconds]
        if len(recent) >= most:
            wait = recent[-most] + seconds - now
            print(f"{tool}: {most} calls in {seconds} s are allowed; the next one in {wait:.0f} s.", file=sys.stderr)
            return 2
        if not recent:
            file.truncate(0)  # older calls do not count
        file.write(f"{now!r}\n")
    return 0


def place_of(session, rule):
    """Return the file for the calls of one session and one pattern."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    folder = os.path.join(state, "interpose", "rate-limit")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, hashlib.sha256(f"{session}\n{rule}".encode()).hexdigest()[:32])


sys.exit(main())
