"""Connections to NATS, for hooks of type ``nats`` and for the fleet. nats-py is imported when one is opened."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..records import Record

if TYPE_CHECKING:
    from nats.aio.client import Client

__all__ = ["NatsOptions", "NatsUnavailable", "connect", "explain", "settle"]

_RECONNECT_WAIT = 1
_CLOSING = 1.0
_PING_INTERVAL = 10
"""Seconds between two pings; two without an answer end a connection that only seems to be one."""


class NatsUnavailable(UsageError):
    """NATS cannot be asked: the package is missing, no server answers, or the server refuses the credentials."""

    code = "nats_unavailable"


class NatsOptions(Record):
    """Where NATS is, and what proves to it who connects."""

    servers: tuple[str, ...]
    """URLs with the scheme ``nats``, ``tls``, ``ws`` or ``wss``."""
    credentials: str = ""
    """A file with a JWT and a seed, as ``nsc`` writes it."""
    nkey: str = ""
    """A file with the seed of an nkey."""
    ca: str = ""
    """A file with the certificates of the authorities to believe; the system's by default."""
    cert: str = ""
    """A file with the certificate of this client, and in ``key`` one with its key."""
    key: str = ""

    @property
    def shown(self) -> str:
        """The servers without what may be secret: user and password."""
        return ", ".join(_without_user(server) for server in self.servers)


def _without_user(server: str) -> str:
    scheme, mark, rest = server.rpartition("://")
    return scheme + mark + rest.rpartition("@")[2]


async def connect(
    options: NatsOptions, *, name: str, patience: float = 5.0, forever: bool = False,
    on_change: Callable[[str], Awaitable[None]] | None = None,
) -> Client:  # fmt: skip
    """Return a connection; raise NatsUnavailable if there is none within ``patience`` seconds.

    With ``forever`` a connection that is lost is made again without end; otherwise a lost one is closed. ``on_change``
    is told ``connected``, ``disconnected``, ``closed``, or the text of an error.
    """
    from asyncio import timeout

    try:
        from nats.aio.client import Client
    except ImportError:
        raise NatsUnavailable("the package nats-py is not installed", hint="pip install 'interpose[fleet]'") from None

    def teller(text: str = "") -> Callable[..., Awaitable[None]]:
        async def tell(*errors: BaseException) -> None:  # nats-py takes nothing but coroutine functions
            if on_change is not None:
                await on_change(text or explain(errors[0]))

        return tell

    client = Client()
    try:
        async with timeout(patience):
            await client.connect(
                servers=list(options.servers), name=name, connect_timeout=max(1, int(patience)),
                allow_reconnect=forever, max_reconnect_attempts=-1 if forever else 1,
                reconnect_time_wait=_RECONNECT_WAIT if forever else 0, ping_interval=_PING_INTERVAL,
                disconnected_cb=teller("disconnected"), reconnected_cb=teller("connected"),
                closed_cb=teller("closed"), error_cb=teller(), **_proof(options),
            )  # fmt: skip
    except BaseException as error:
        await _abandon(client)
        if not isinstance(error, Exception):
            raise
        raise NatsUnavailable(explain(error), where=options.shown, hint="see docs/fleet.md") from None
    return client


async def settle(client: Client) -> None:
    """Wait until the server has all that was sent, subscriptions included.

    nats-py sends the first ping before what waits to be written, so only the answer to a second one says so.
    """
    await client.flush()
    await client.flush()


def _proof(options: NatsOptions) -> dict[str, Any]:
    """Return what proves to the server who connects; raise NatsUnavailable if a file cannot be read."""
    made: dict[str, Any] = {}
    for place in (options.credentials, options.nkey, options.ca, options.cert, options.key):
        if place and not os.access(place, os.R_OK):
            raise NatsUnavailable("the file cannot be read", where=place, hint="the keys of fleet: name it")
    if options.credentials:
        made["user_credentials"] = options.credentials
    if options.nkey:
        made["nkeys_seed"] = options.nkey
    if public := _public_nkey(options):
        made["inbox_prefix"] = f"_INBOX_{public}"
    if options.ca or options.cert or any(server.startswith(("tls:", "wss:")) for server in options.servers):
        import ssl

        context = ssl.create_default_context(cafile=options.ca or None)
        if options.cert:
            context.load_cert_chain(options.cert, options.key or None)
        made["tls"] = context
    return made


def _public_nkey(options: NatsOptions) -> str:
    """Return the public key of who connects: its inbox has this name, so that no other user may read its answers."""
    try:
        if options.nkey:
            import nkeys

            with open(options.nkey, "rb") as opened:
                return bytes(nkeys.from_seed(bytearray(opened.read(1000).strip())).public_key).decode()
        if options.credentials:
            return _subject_of_jwt(options.credentials)
    except NatsUnavailable:
        raise
    except Exception as error:
        place = options.nkey or options.credentials
        raise NatsUnavailable(f"the key cannot be read: {error}", where=place, hint="fleet: names it") from None
    return ""


def _subject_of_jwt(path: str) -> str:
    import base64
    import json
    import re

    with open(path, encoding="utf-8") as opened:
        found = re.search(r"-----BEGIN NATS USER JWT-----\s*([\w.=-]+)\s*-", opened.read(100_000))
    if found is None:
        raise NatsUnavailable("is no credentials file", where=path, hint="nsc writes one: nsc generate creds")
    body = found[1].split(".")[1]
    subject = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))["sub"]
    return subject if re.fullmatch(r"U[A-Z0-9]{20,80}", subject) else ""


async def _abandon(client: Client) -> None:
    """Close a client that has no connection. Over TLS, nats-py can wait without end for one that was refused."""
    from asyncio import timeout

    try:
        async with timeout(_CLOSING):
            await client.close()
    except Exception:  # it was never open
        return


def explain(error: BaseException) -> str:
    """Return what an error of NATS says, in one line."""
    name = type(error).__name__
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ConnectionRefusedError) or name == "NoServersError":
        return "no server answers"
    text = " ".join(str(error).split())
    return text[:500] or name
