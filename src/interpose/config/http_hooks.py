"""Make the Endpoint of a hook from its options: ``url``, ``headers`` and ``allowedEnvVars``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dialects import dialect as find_dialect
from ..errors import BadHook
from ..handlers.http import OWN_HEADERS, Endpoint, is_header_name, parse_url
from ..matching.written import as_written
from .kinds import ConfigPlace

__all__ = ["make_endpoint"]


def make_endpoint(place: ConfigPlace, *, url: Any, headers: Any, allowed_env_vars: Any) -> tuple[Endpoint, str]:
    """Return the endpoint that these options describe, and how it is shown; raise BadHook if they are wrong."""
    if not isinstance(url, str) or not url:
        raise BadHook(
            f"url: {as_written(url)} where a URL is expected", hint="such as https://hooks.example.com/events"
        )
    try:
        address = parse_url(url)
    except ValueError as error:
        raise BadHook(f"url: it cannot be used: {error}", hint="write http:// or https://, a host and a path") from None
    allowed = _names(allowed_env_vars)
    made = Endpoint(
        address=address, headers=_headers(headers), allowed=frozenset(allowed), dialect=place.dialect,
        write=find_dialect(place.dialect).write,
    )  # fmt: skip
    return made, address.shown


def _headers(given: Any) -> tuple[tuple[str, str], ...]:
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise BadHook(f"headers: {as_written(given)} where names and values are expected")
    seen: set[str] = set()
    for name, value in given.items():
        if not is_header_name(name):
            raise BadHook(f"headers: {name!a} is not the name of a header")
        if name.lower() in OWN_HEADERS:
            raise BadHook(f"headers: {name} is set by the request itself", hint="leave it out")
        if name.lower() in seen:
            raise BadHook(f"headers: {name} is there twice", hint="names of headers are the same in any case")
        seen.add(name.lower())
        if not isinstance(value, str):
            raise BadHook(f"headers: {name} is {as_written(value)} where text is expected", hint="quote it")
        if any(not char.isprintable() and char != "\t" for char in value):
            raise BadHook(f"headers: {name} has a control character in it", hint="write it on one line")
    return tuple(given.items())


def _names(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, (list, tuple)) or not all(isinstance(n, str) for n in given):
        raise BadHook(f"allowedEnvVars: {as_written(given)} where a list of names is expected")
    return tuple(given)
