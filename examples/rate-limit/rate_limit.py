#!/usr/bin/env python3
"""Deny a tool that was called too often. Counts per session; any number of processes can run this at once."""

import fcntl
import hashlib
import json
import os
import sys
import time

MOST, SECONDS = 2, 3600

event = json.load(sys.stdin)
state = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
folder = os.path.join(state, "interpose", "rate-limit")
os.makedirs(folder, mode=0o700, exist_ok=True)
name = hashlib.sha256(event["session_id"].encode()).hexdigest()[:32]

now = time.time()
with open(os.path.join(folder, name), "a+", encoding="ascii") as file:
    fcntl.flock(file, fcntl.LOCK_EX)  # one process at a time reads and counts; closing the file releases the lock
    file.seek(0)
    recent = [at for at in map(float, file) if at > now - SECONDS]
    if len(recent) >= MOST:
        wait = recent[-MOST] + SECONDS - now
        print(f"{MOST} calls in {SECONDS} s are allowed; the next one in {wait:.0f} s.", file=sys.stderr)
        sys.exit(2)
    file.write(f"{now!r}\n")
