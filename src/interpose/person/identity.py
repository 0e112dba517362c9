"""Who types at this terminal: for the record of what a person did."""

from __future__ import annotations

import os

__all__ = ["this_person"]


def this_person() -> dict[str, str]:
    """Return the user of this process, the terminal and the machine. Variables such as USER have no part in it."""
    return {"user": _user(), "terminal": _terminal(), "host": os.uname().nodename}


def _user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _terminal() -> str:
    for descriptor in (0, 1, 2):
        try:
            return os.ttyname(descriptor)
        except OSError:
            continue
    return ""
