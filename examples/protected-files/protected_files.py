"""Deny changes to files that are not the agent's: keys, settings, the files of git and of the hooks themselves."""

import os
import re
from fnmatch import fnmatchcase

from interpose import ask, deny

NAMES = [
    ".env", ".env.*", "*.pem", "?*.key", "*.p12", "id_rsa*", "id_ed25519*", ".npmrc", ".pypirc", ".netrc", "*.tfstate",
]  # fmt: skip
"""Files by their names, in small letters."""

FOLDERS = [".git", ".interpose", ".claude", ".ssh", ".aws", ".gnupg", ".kube"]
"""Folders in which nothing is changed, wherever they are."""

FREE = [".env.example", ".env.sample", ".env.template"]
"""Names that are free although they look like the others."""

_KEYS = ("file_path", "notebook_path", "path")
_BETWEEN_WORDS = re.compile(r"[\s;&|<>()`={},:@]+")


def check(event):
    """Look at the file that a tool would write."""
    paths = [event.tool_input[key] for key in _KEYS if key in event.tool_input]
    if not paths:
        return deny(f"{event.tool_name} names no file that could be looked at")
    for path in paths:
        if found := _protected(path, event.cwd):
            return deny(f"{path} is protected ({found})")


def check_command(event):
    """Look for such a file in a command line: as a word, and as a target of > or of an option."""
    # Quotes and backslashes may stand anywhere within a word.
    plain = re.sub(r"[\"'\\]", "", event.tool_input["command"])
    for word in _BETWEEN_WORDS.split(plain):
        if word and (found := _protected(word, event.cwd)):
            return ask(f"This names {word}, which is protected ({found}). Is it only read?")


def _protected(path, cwd):
    """Return what protects a path, if anything does: as it is named, and as what links make of it."""
    named = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    for form in dict.fromkeys((named, os.path.realpath(named))):
        # Many file systems take .ENV for .env, so we do everywhere.
        *folders, name = form.casefold().split(os.sep)
        if folder := next((part for part in (*folders, name) if part in FOLDERS), None):
            return folder
        if name not in FREE and (pattern := next((one for one in NAMES if fnmatchcase(name, one)), None)):
            return pattern
    return None
