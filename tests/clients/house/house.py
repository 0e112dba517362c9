"""The rules of the house. BOX is the directory of marks; the rig writes its path into this file."""

import json
import os
import signal
import time
from pathlib import Path

from interpose import ask, context, deny, modify

BOX = Path("@BOX@")


def command(event):
    """Judge a command by a word in it."""
    line = event.tool_input["command"]
    if "danger" in line:
        return deny("denied by the house: TOKREASON")
    if "question" in line:
        return ask("the house asks: TOKREASON")
    if "rewrite" in line:
        return modify(tool_input={**event.tool_input, "command": f"touch {BOX}/rewritten; printf 'TOK%s' INPUT"})
    if "hang" in line:
        time.sleep(600)
    if "killed" in line:
        os.kill(int((BOX / "engine").read_text()), signal.SIGKILL)
        time.sleep(600)
    return None


def note(event):
    """Refuse a call of an MCP tool."""
    if "danger" in event.tool_input["text"]:
        return deny("denied by the house: TOKREASON")
    return None


def result(event):
    """Redact a result, or say something about it."""
    text = json.dumps(event.tool_response)
    if "TOKSECRET" in text:
        return modify(tool_response=json.loads(text.replace("TOKSECRET", "[redacted]")))
    if "TOKREMARK" in text:
        return context("TOKCTXRESULT")
    return None


def prompt(event):
    """Refuse a prompt, or say something about it."""
    if "forbidden" in event.prompt:
        return deny("denied by the house: TOKREASON")
    return context("TOKCTXPROMPT") if "helpful" in event.prompt else None


def start(event):
    """Say something at the start."""
    return context("TOKCTXSTART")


def stop(event):
    """Send the agent back to work once, if there is a mark."""
    try:
        (BOX / "unfinished").unlink()
    except FileNotFoundError:
        return None
    return deny("TOKMORE is to be done")
