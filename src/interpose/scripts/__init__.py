"""The ``.arma`` language: a hook is a line, ``hook POINT[:SUBJECT] /command arguments``.

``parse`` reads a file's text into lines, ``Commands`` knows what a line may run, and ``ScriptHandler`` runs one. What
an event says is filled into an argument when the hook runs, and is never read as part of the language.
"""

from .commands import Commands, ScriptCommand, ScriptHost
from .handler import ScriptHandler
from .lines import Line, Reference, Template, fill
from .parse import doubts, parse

__all__ = [
    "Commands",
    "Line",
    "Reference",
    "ScriptCommand",
    "ScriptHandler",
    "ScriptHost",
    "Template",
    "doubts",
    "fill",
    "parse",
]
