"""The ASGI middleware in front of every page: host, origin, session, the form's token, and the headers of the reply."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, quote

from .access import Access, Browser

__all__ = ["Guard"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

LONGEST_FORM = 3 * 1024 * 1024

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    b"base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]  # fmt: skip


class Guard:
    """Answers what may not reach a page, and hands on the rest: its form in ``scope["form"]``."""

    def __init__(
        self, app: Callable[[Scope, Receive, Send], Awaitable[None]], access: Access, hosts: Iterable[str]
    ) -> None:
        self._app, self._access = app, access
        self.hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        reply = _with_headers(send)
        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            headers[name] = value if name != b"cookie" or name not in headers else headers[name] + b"; " + value
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host not in self.hosts:
            await _refuse(reply, 421, "this server does not have that name")
            return
        path, start = scope["path"], f"/{self._access.prefix}"
        is_open = path in ("/", "/sign-in") or path.startswith("/static/")
        if not is_open and not (path == start or path.startswith(f"{start}/")):
            await _refuse(reply, 404, "there is no such page; the address has another beginning at each start")
            return
        origin, mode = headers.get(b"sec-fetch-site", b""), headers.get(b"sec-fetch-mode", b"")
        if origin in (b"cross-site", b"same-site") and mode != b"navigate":
            await _refuse(reply, 403, "another page has asked for this")
            return
        scope["browser"] = browser = self._access.browser(headers.get(b"cookie", b"").decode("latin-1"))
        if not is_open:
            if browser is None and origin == b"cross-site" and scope["method"] == "GET":
                await _send_again(reply)
                return
            if browser is None:
                asked = scope["query_string"].decode("latin-1")
                to = f"{path.removeprefix(start)}{'?' if asked else ''}{asked}"
                await _redirect(reply, f"/?to={quote(to, safe='')}" if scope["method"] == "GET" else "/")
                return
            scope["path"] = path = path.removeprefix(start) or "/now"
            scope["raw_path"] = path.encode()
        if scope["method"] not in ("GET", "HEAD"):
            receive_form = await self._form(scope, receive, reply, headers, host, browser)
            if receive_form is None:
                return
            receive = receive_form
        await self._app(scope, receive, reply)

    async def _form(
        self,
        scope: Scope,
        receive: Receive,
        reply: Send,
        headers: dict[bytes, bytes],
        host: str,
        browser: Browser | None,
    ) -> Receive | None:
        """Read the form of a change; refuse one that another page has sent, or that comes without our token."""
        if scope["method"] != "POST":
            await _refuse(reply, 405, "a page is changed with POST")
            return None
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if origin != f"http://{host}" or headers.get(b"sec-fetch-site", b"same-origin") != b"same-origin":
            await _refuse(reply, 403, "another page has sent this")
            return None
        body = b""
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            if len(body) > LONGEST_FORM:
                await _refuse(reply, 413, "that is too much text")
                return None
            if not message.get("more_body"):
                break
        try:
            form = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=50, errors="strict")
        except ValueError:
            await _refuse(reply, 400, "the form cannot be read")
            return None
        scope["form"] = {name: values[-1] for name, values in form.items()}
        if scope["path"] == "/sign-in":
            return _nothing
        sent = scope["form"].get("csrf", "").encode("utf-8", "replace")
        if browser is None or not hmac.compare_digest(sent, browser.csrf.encode()):
            await _refuse(reply, 403, "the form does not come from a page of this session; load the page again")
            return None
        if self._access.read_only and scope["path"] != "/sign-out":
            await _refuse(
                reply, 403, "the pages are read-only: start `interpose ui` without --read-only to change something"
            )
            return None
        return _nothing


async def _nothing() -> MutableMapping[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def _with_headers(send: Send) -> Send:
    async def reply(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            more = [*_HEADERS, *([] if b"cache-control" in given else [(b"cache-control", b"no-store")])]
            message["headers"] = [*message["headers"], *more]
        await send(message)

    return reply


async def _refuse(reply: Send, status: int, text: str) -> None:
    await reply({
        "type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain; charset=utf-8")],
    })  # fmt: skip
    await reply({"type": "http.response.body", "body": f"{text}\n".encode()})


_AGAIN = b"""<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0">
<title>Interpose</title><p><a href="">Open the page</a></html>"""


async def _send_again(reply: Send) -> None:
    """Have the browser ask again, as our own page: following a link of another site, it does not send the cookie."""
    await reply({
        "type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html; charset=utf-8")],
    })  # fmt: skip
    await reply({"type": "http.response.body", "body": _AGAIN})


async def _redirect(reply: Send, to: str) -> None:
    await reply({"type": "http.response.start", "status": 303, "headers": [(b"location", to.encode("latin-1"))]})
    await reply({"type": "http.response.body", "body": b""})
