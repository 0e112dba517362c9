"""Translate errors of a model's server or its package into a ModelError with a hint.

The official packages raise errors of the same shape: a ``status_code`` if the server answered, a ``body`` if it could
be parsed, and the same class names. Nothing else of them is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex
from . import ModelError

__all__ = ["ModelServer", "cut_off", "explain", "located", "missing_package", "usable_key"]

# Messages for a context that is too long: of the two APIs, of gateways, and of local servers.
_TOO_LONG = regex(
    r"prompt is too long|input is too long|too many (?:input )?tokens|exceeds? (?:the |your |this )?(?:model'?s? )?"
    r"(?:available )?(?:maximum )?context|maximum context length|context[ _](?:length|window|limit|size)",
    re.IGNORECASE,
)
_BUSY = {"overloaded_error", "rate_limit_error", "api_error", "timeout_error", "server_error", "rate_limit_exceeded"}
_LONGEST = 500


class ModelServer(NamedTuple):
    """A server: its name for messages, the model, the variables with key and address, and the package."""

    who: str
    model: str
    key: str
    address: str
    package: str


def missing_package(server: ModelServer) -> ModelError:
    """Return the error for a package that is not installed."""
    hint = f"pip install 'interpose[{server.package}]'"
    return ModelError(f"the package {server.package} is not installed", code="no_package", hint=hint)


def usable_key(key: str, server: ModelServer, hint: str = "") -> str:
    """Return the key without surrounding white space; raise ModelError if it is missing or not valid."""
    key = key.strip()
    if not key:
        raise ModelError(f"there is no key for {server.who}", code="no_key", hint=hint or f"set {server.key}")
    if not (key.isascii() and key.isprintable()):  # otherwise the error when it is sent would contain the key
        what = f"the key for {server.who} has characters that a key cannot have"
        raise ModelError(what, code="no_key", hint=f"check {server.key}")
    return key


def located(server: ModelServer, environ: Mapping[str, str]) -> ModelServer:
    """Return the server with the name of the address in the environment, if there is one.

    A malformed address is refused here: the error of the package would contain a password in it.
    """
    address = environ.get(server.address, "")
    if not address:
        return server
    try:
        parts = urlsplit(address)
        if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return server._replace(who=f"the server at {parts.netloc.rpartition('@')[2]}")
    except ValueError:
        pass
    hint = f"set {server.address} to https://host/path, or not at all"
    raise ModelError(f"{server.address} is not a URL", code="unreachable", hint=hint)


def cut_off(server: ModelServer) -> ModelError:
    """Return the error for an answer that ends in the middle."""
    return ModelError(f"the answer of {server.who} broke off in the middle", code="cut_off", hint="ask again")


def explain(error: Exception, server: ModelServer, *, began: bool) -> ModelError:
    """Return the ModelError for an error of a package or a connection; ``began`` if a part of the answer arrived."""
    names = {kind.__name__ for kind in type(error).__mro__}
    if "APIError" in names and not names & {"APIConnectionError", "APIResponseValidationError"}:
        return _refused(error, server)
    if names & {"APIConnectionError", "HTTPError", "OSError"}:
        if began:
            return cut_off(server)
        if "APITimeoutError" in names:
            return ModelError(f"{server.who} did not answer in time", code="unreachable", hint="try again later")
        what = f"{server.who} cannot be reached: {_cause(error)}"
        return ModelError(what, code="unreachable", hint=f"is the network up, and {server.address} right if it is set?")
    what = f"{server.who} gave an answer that cannot be read: {type(error).__name__}: {_short(str(error))}"
    return ModelError(what, code="unreadable", hint=f"does what {server.address} names speak this protocol?")


def _refused(error: Exception, server: ModelServer) -> ModelError:
    """Return the ModelError for an error that the server reported, as its status or in the stream."""
    status: int = getattr(error, "status_code", 0)
    inside = _inside(getattr(error, "body", None))
    kind = {str(inside.get("type")), str(inside.get("code"))}
    said = _short(str(inside.get("message") or getattr(error, "message", "") or error))
    who = server.who
    if status == 413 or "context_length_exceeded" in kind or (status in {0, 200, 400, 422} and _TOO_LONG.search(said)):
        what = f"the conversation is too long for {server.model}: {said}"
        return ModelError(what, code="context_too_long", hint="compact it, or begin a new session")
    if status == 401 or "authentication_error" in kind:
        return ModelError(f"{who} does not accept the key: {said}", code="not_allowed", hint=f"check {server.key}")
    if kind & {"insufficient_quota", "billing_error"} or status == 402:
        return ModelError(f"{who} requires payment: {said}", code="not_allowed", hint="check the account of the key")
    if status == 403 or "permission_error" in kind:
        hint = f"choose another model, or check {server.key}"
        return ModelError(f"the key may not do this: {said}", code="not_allowed", hint=hint)
    if status == 404 or kind & {"not_found_error", "model_not_found"}:
        hint = f"check the model's name, and {server.address} if it is set"
        return ModelError(f"{who} has no model {server.model}: {said}", code="no_model", hint=hint)
    if status == 429 or status >= 500 or kind & _BUSY:
        return ModelError(f"{who} is too busy: {said}", code="overloaded", hint="try again later")
    if inside.get("param") == "reasoning_effort":
        hint = "it takes tools through another API only: choose another model"
        return ModelError(f"{who} refused: {said}", code="rejected", hint=hint)
    return ModelError(f"{who} refused: {said}", code="rejected", hint=f"is {server.model} a model for tools and text?")


def _inside(body: object) -> dict[str, Any]:
    """Return the error object of a body; one package passes the whole document, the other its content."""
    if not isinstance(body, dict):
        return {}
    inside = body.get("error")
    return inside if isinstance(inside, dict) else body


def _cause(error: BaseException) -> str:
    """Return the text of the first cause: the packages only say ``Connection error.``"""
    while error.__cause__ is not None:
        error = error.__cause__
    return _short(str(error) or type(error).__name__)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
