"""The ``.arma`` language: a hook is a line, ``hook POINT[:SUBJECT] /command arguments``.

``parse`` reads the text of a file into lines, ``Commands`` has the commands, and ``ScriptHandler`` runs a line. Values
of an event are filled into arguments when the hook runs; they are never parsed.
"""

from .commands import Commands, ScriptCommand, ScriptHost
from .handler import ScriptHandler
from .lines import Reference, ScriptLine, Template, fill
from .parse import doubts, parse

__all__ = [
    "Commands",
    "Reference",
    "ScriptCommand",
    "ScriptHandler",
    "ScriptHost",
    "ScriptLine",
    "Template",
    "doubts",
    "fill",
    "parse",
]
