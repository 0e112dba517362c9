"""Hooks in Python: functions that take the event and answer, or say nothing."""

import re

from interpose import allow, ask, context, deny, modify

SECRET = re.compile(r"(password\s*(?:is|=)\s*)(?!\[redacted\])[^\s,]+")


def house_rules(event):
    return context("House rule: say what you changed in one sentence.")


def redact_prompt(event):
    if SECRET.search(event.prompt):
        return modify(prompt=SECRET.sub(r"\1[redacted]", event.prompt))


def redact_result(event):
    if isinstance(event.tool_response, str) and SECRET.search(event.tool_response):
        return modify(tool_response=SECRET.sub(r"\1[redacted]", event.tool_response))


def redact_error(event):
    if SECRET.search(event.error):
        return modify(error=SECRET.sub(r"\1[redacted]", event.error))


def no_destruction(event):
    if "rm -rf" in event.tool_input["command"]:
        return deny("rm -rf is not done here")


def dry_run(event):
    command = event.tool_input["command"]
    if "--dry-run" not in command:
        return modify(tool_input={**event.tool_input, "command": f"{command} --dry-run"})


def ask_before_push(event):
    return ask("Push to a remote?")


def allow_dry_run(event):
    if "--dry-run" in event.tool_input["command"]:
        return allow("a dry run changes nothing")


def protected_files(event):
    if event.path.endswith(".ini"):
        return deny(f"{event.path} is protected")


def final_newline(event):
    if not event.content.endswith("\n"):
        return modify(content=event.content + "\n")


def no_secrets(event):
    if event.tool_input["file_path"].endswith(".ini"):
        return deny("the explorer does not read settings")
