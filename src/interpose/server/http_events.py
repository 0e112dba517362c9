"""What a request over HTTP fires: the arguments of ``interpose fire``, the directory and the environment."""

from __future__ import annotations

import json
import os
from math import inf
from urllib.parse import unquote

from ..person.caller import UNKNOWN
from .deadlines import seconds_of
from .frames import FireRequest, variables_part, with_data
from .http_requests import HttpProblem, HttpRequest
from .installation import this_installation

__all__ = ["FIRE", "HEADERS", "HttpEvent", "HttpEvents", "event_in"]

FIRE = "/v1/fire"
HEADERS = ("interpose-reply", "interpose-deadline", "interpose-dialect", "interpose-require", "interpose-project")
"""The headers that say what is fired."""
_MOST_KNOWN = 64
_decoder = json.JSONDecoder()


def event_in(request: HttpRequest) -> str:
    """Return the event that the path of a request names; nothing if its body has the name."""
    return unquote(request.path.partition("?")[0][len(FIRE) + 1 :])


class HttpEvent:
    """What the first line and the headers of a request say about its event."""

    def __init__(self, request: HttpRequest) -> None:
        """Read them; raise HttpProblem for what ``interpose fire`` cannot be given."""
        headers = request.headers
        event, reply = event_in(request), headers.get("interpose-reply", "")
        if event.startswith("-") or "\0" in event:
            raise HttpProblem(400, "this is no event")
        self.arguments = [event] if event else []
        self.arguments += ["--reply", reply] if reply else ["--json", "--input", "-"]
        deadline = headers.get("interpose-deadline", "")
        self.seconds = seconds_of(deadline)
        """How long the client waits."""
        if deadline and self.seconds == inf:
            raise HttpProblem(400, "Interpose-Deadline is no number of seconds")
        if deadline and reply:
            self.arguments += ["--deadline", deadline]
        if dialect := headers.get("interpose-dialect", ""):
            self.arguments += ["--dialect", dialect]
        if headers.get("interpose-require", "").lower() in ("1", "true", "yes"):
            self.arguments.append("--require")
        self.project = headers.get("interpose-project", "").encode("latin-1").decode("utf-8", "surrogateescape")
        """The directory that the request names; nothing if it is that of the event."""
        if self.project and reply:
            self.arguments += ["--cwd", self.project]
        self.known: dict[str, tuple[FireRequest, bytes]] = {}
        """By directory: the request without its data, and its first parts."""


class HttpEvents:
    """Makes the requests of events: with the environment of this process, and its directory if an event has none."""

    def __init__(self) -> None:
        self._environment = dict(os.environb)
        self._variables = variables_part(self._environment)
        self._directory = os.getcwd()

    def request(self, event: HttpEvent, body: bytes) -> tuple[FireRequest, bytes]:
        """Return the request without its data, and the whole of it as bytes; raise HttpProblem if it cannot be made."""
        directory = event.project
        if not directory:
            directory = _directory_of(body) or self._directory
        elif not os.path.isabs(directory) or not os.path.isdir(directory):
            raise HttpProblem(400, "Interpose-Project is no absolute path of a directory")
        known = event.known.get(directory)
        if known is None:
            made = FireRequest(this_installation(), UNKNOWN, UNKNOWN, 0o077, directory, event.arguments,
                           self._environment, b"")  # fmt: skip
            if len(event.known) >= _MOST_KNOWN:
                event.known.clear()
            known = event.known[directory] = made, made.first_parts(self._variables)
        return known[0], with_data(known[1], body)


def _directory_of(body: bytes) -> str:
    """Return the directory of an event, if it names one that exists.

    This need not be strict: a body that is not strict JSON is refused by the engine process, whatever its directory.
    """
    try:
        fields = _decoder.raw_decode(body.decode())[0] if b"cwd" in body else None
    except (ValueError, RecursionError):
        return ""
    found = fields.get("cwd") if isinstance(fields, dict) else None
    if isinstance(found, str) and os.path.isabs(found) and "\0" not in found:
        try:
            return found if os.path.isdir(found) else ""
        except ValueError:  # letters that no path can have
            return ""
    return ""
