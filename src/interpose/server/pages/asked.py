"""What a request asks for: the parts of its address, and files that a browser keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from ...errors import UsageError

__all__ = ["KeptFiles", "Missing", "answer_in", "id_of", "number_of", "place_after", "record_of"]


class Missing(Exception):
    """There is no such page."""


class KeptFiles(StaticFiles):
    """Files that a browser keeps. They are below the path that is drawn at each start: another one has others."""

    def file_response(self, full_path: Any, stat_result: Any, scope: Any, status_code: int = 200) -> Response:
        """Return a file; without a session, as on the first page, it is not kept."""
        reply = super().file_response(full_path, stat_result, scope, status_code)
        if scope.get("browser") is not None:
            reply.headers["cache-control"] = "private, max-age=86400, immutable"
        return reply


def id_of(request: Request) -> str:
    """Return the id in the path."""
    return str(request.path_params["id"])


def place_after(to: str) -> str:
    """Return the page to open after signing in, below our path; what is no page of ours is the first one."""
    path, _, query = to.partition("?")
    if not path.startswith("/") or path.startswith("//"):
        return "/now"
    asked = urlencode(parse_qsl(query, keep_blank_values=True))
    return quote(path, safe="/") + (f"?{asked}" if asked else "")


def number_of(request: Request, name: str) -> int | None:
    """Return a number of the query; None if it is missing, or none."""
    given = request.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 19 else None


def record_of(request: Request) -> int:
    """Return the record in the path."""
    number: int = request.path_params["id"]
    if number >= 1 << 63:
        raise Missing("there is no event with a number of so many digits")
    return number


def answer_in(form: Mapping[str, str], digest: str) -> dict[str, Any]:
    """Return the answer that a form gives to the question with this hash; raise UsageError if it gives none."""
    if form.get("digest") != digest:
        raise UsageError("the question was not the one that you were shown: read it again")
    verdict = form.get("answer", "")
    if verdict not in ("allow", "session", "deny", "edit"):
        raise UsageError("say allow, session, deny or edit")
    try:
        edited = json.loads(form.get("input", "")) if verdict == "edit" else None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the edited input is not JSON: {error}") from None
    return {"approved": verdict != "deny", "remembered": "session" if verdict == "session" else "",
            "reason": form.get("reason", "").strip()[:2000], "tool_input": edited}  # fmt: skip
