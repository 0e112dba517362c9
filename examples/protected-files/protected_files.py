"""Deny changes to protected files: keys, settings, and the files of git and of the hooks themselves."""

import os
import re
from fnmatch import fnmatchcase

from interpose import ask, deny

NAMES = [
    ".env", ".env.*", "*.pem", "?*.key", "*.p12", "id_rsa*", "id_ed25519*", ".npmrc", ".pypirc", ".netrc", "*.tfstate",
]  # fmt: skip
"""Names of protected files, in lower case."""

FOLDERS = [".git", ".interpose", ".claude", ".ssh", ".aws", ".gnupg", ".kube"]
"""Names of folders in which all files are protected."""

FREE = [".env.example", ".env.sample", ".env.template"]
"""Names that are not protected although they match NAMES."""

_KEYS = ("file_path", "notebook_path", "path")
_BETWEEN_WORDS = re.compile(r"[\s;&|<>()`={},:@]+")


def check(event):
    """Deny a tool that would write a protected file."""
    paths = [event.tool_input[key] for key in _KEYS if key in event.tool_input]
    if not paths:
        return deny(f"{event.tool_name} names no file that could be looked at")
    for path in paths:
        if found := _protected(path, event.cwd):
            return deny(f"{path} is protected ({found})")


def check_command(event):
    """Ask about a command line that names a protected file: as a word, or as the target of > or of an option."""
    # Quotes and backslashes can be anywhere within a word.
    plain = re.sub(r"[\"'\\]", "", event.tool_input["command"])
    for word in _BETWEEN_WORDS.split(plain):
        if word and (found := _protected(word, event.cwd)):
            return ask(f"This names {word}, which is protected ({found}). Is it only read?")


def _protected(path, cwd):
    """Return the name or folder that protects a path, as written or with links resolved; None if there is none."""
    named = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
    for form in dict.fromkeys((named, os.path.realpath(named))):
        # Many file systems treat .ENV as .env, so case is ignored everywhere.
        *folders, name = form.casefold().split(os.sep)
        if folder := next((part for part in (*folders, name) if part in FOLDERS), None):
            return folder
        if name not in FREE and (pattern := next((one for one in NAMES if fnmatchcase(name, one)), None)):
            return pattern
    return None
