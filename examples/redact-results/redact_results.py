"""Replace customer numbers in the result of a tool, or in its error, before the model sees it."""

import re

from interpose import modify

PATTERN = re.compile(r"\bC-\d{6}\b")


def redact(event):
    """Replace the result, or the error of a tool that failed, if it has a customer number."""
    name = "error" if event.hook_event_name == "PostToolUseFailure" else "tool_response"
    redacted = without(event[name])
    return modify({name: redacted}) if redacted != event[name] else None


def without(value):
    """Return a value of JSON without customer numbers."""
    if isinstance(value, str):
        return PATTERN.sub("[customer]", value)
    if isinstance(value, dict):
        return {without(key): without(item) for key, item in value.items()}
    return [without(item) for item in value] if isinstance(value, list) else value
