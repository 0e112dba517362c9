"""Read ``fleet:`` of a configuration: where NATS is, which node this is, and whose signatures count."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..audit.forwarding import LIMIT
from ..audit.retention import SMALLEST, Wrong, read_retention
from ..errors import nearest
from ..handlers.nats_client import NatsOptions
from ..matching.written import as_written
from ..records import Record
from ..runtime.regex import regex

__all__ = ["FLEET_KEYS", "PUBLIC_KEY", "TLS_KEYS", "TOKEN", "FleetSettings", "host_node", "read_fleet"]

FLEET_KEYS = {"servers", "team", "node", "ring", "credentials", "nkey", "tls", "signers", "approvers", "replicas",
              "outbox"}  # fmt: skip
TLS_KEYS = {"ca", "cert", "key"}
_REQUIRED = ("servers", "team")
TOKEN = regex(r"[A-Za-z0-9_-]{1,64}")
"""The name of a team, a node, a ring or a key: a part of a subject of NATS."""
_SERVER = regex(r"(nats|tls|ws|wss)://[^\s/]+/?")
PUBLIC_KEY = regex(r"ed25519:[A-Za-z0-9+/]{43}=")
_EXAMPLE = "fleet: {servers: nats://127.0.0.1:4222, team: payments}"


class FleetSettings(Record):
    """The fleet that this machine is a node of."""

    nats: NatsOptions
    team: str
    node: str
    ring: str = "prod"
    """The ring whose rules it takes."""
    signers: tuple[tuple[str, str], ...] = ()
    """Who may sign rules: names and public keys."""
    approvers: tuple[tuple[str, str], ...] = ()
    """Who may answer questions of this node: names and public keys."""
    replicas: int = 1
    """On how many servers NATS keeps what it stores, for the command that creates it."""
    outbox: int = LIMIT
    """Bytes that a store may have before retention deletes records that were not forwarded."""
    place: str = ""
    """Where it is written."""


def host_node() -> str:
    """Return the name of this host as the name of a node."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", os.uname().nodename)[:64] or "node"


def read_fleet(given: Any, directory: str, wrong: Wrong, place: str) -> FleetSettings | None:
    """Return the settings of the fleet; None if there are none, or if something is wrong."""
    if given is None or given is False:
        return None
    if not isinstance(given, Mapping):
        wrong("fleet", f"{as_written(given)} where a mapping is expected", _EXAMPLE)
        return None
    reader = _FleetReader(directory or os.getcwd(), wrong)
    made = reader.whole(given, place)
    return made if reader.good else None


class _FleetReader:
    def __init__(self, directory: str, wrong: Wrong) -> None:
        self._directory = directory
        self._wrong = wrong
        self.good = True

    def wrong(self, path: str, what: str, hint: str = "") -> None:
        self.good = False
        self._wrong(path, what, hint)

    def whole(self, given: Mapping[Any, Any], place: str) -> FleetSettings | None:
        self._check_keys(given, FLEET_KEYS, "fleet")
        for key in _REQUIRED:
            if given.get(key) is None:
                self.wrong("fleet", f"{key} is missing", _EXAMPLE)
        tls = given.get("tls") or {}
        if not isinstance(tls, Mapping):
            self.wrong("fleet.tls", f"{as_written(tls)} where a mapping is expected", "tls: {ca: ca.pem}")
            tls = {}
        self._check_keys(tls, TLS_KEYS, "fleet.tls")
        nats = NatsOptions(
            servers=self._servers(given.get("servers")),
            credentials=self._file(given, "credentials", "fleet"), nkey=self._file(given, "nkey", "fleet"),
            **{key: self._file(tls, key, "fleet.tls") for key in sorted(TLS_KEYS)},
        )  # fmt: skip
        if nats.credentials and nats.nkey:
            self.wrong("fleet.nkey", "credentials and nkey are both there", "leave one of them out")
        if nats.key and not nats.cert:
            self.wrong("fleet.tls.key", "a key without its certificate", "add cert:")
        return FleetSettings(
            nats=nats, team=self._token(given, "team", ""), node=self._token(given, "node", host_node()),
            ring=self._token(given, "ring", "prod"), signers=self._keys(given, "signers"),
            approvers=self._keys(given, "approvers"), replicas=self._replicas(given.get("replicas")),
            outbox=self._outbox(given.get("outbox")), place=place,
        )  # fmt: skip

    def _check_keys(self, given: Mapping[Any, Any], known: set[str], path: str) -> None:
        for key in given:
            if isinstance(key, str) and (key in known or key.startswith("x-")):
                continue
            hint = nearest(str(key), known) or f"keys are {', '.join(sorted(known))}"
            self.wrong(f"{path}.{key}", f"{key} is not a key of {path}", hint)

    def _servers(self, given: Any) -> tuple[str, ...]:
        servers = [given] if isinstance(given, str) else given
        if given is None:
            return ()
        if not isinstance(servers, list) or not servers:
            self.wrong("fleet.servers", f"{as_written(given)} where a URL or a list of URLs is expected",
                       "nats://host:4222 or tls://host:4222")  # fmt: skip
            return ()
        for server in servers:
            if not isinstance(server, str) or _SERVER.fullmatch(server) is None:
                self.wrong("fleet.servers", f"{as_written(server)} is not the URL of a NATS server",
                           "nats://host:4222 or tls://host:4222")  # fmt: skip
        return tuple(server for server in servers if isinstance(server, str))

    def _token(self, given: Mapping[Any, Any], key: str, default: str) -> str:
        found = given.get(key)
        if found is None:
            return default
        if not isinstance(found, str) or TOKEN.fullmatch(found) is None:
            self.wrong(f"fleet.{key}", f"{as_written(found)} is not a name",
                       "up to 64 letters, digits, hyphens and underscores")  # fmt: skip
            return default
        return found

    def _file(self, given: Mapping[Any, Any], key: str, path: str) -> str:
        found = given.get(key)
        if found is None:
            return ""
        if not isinstance(found, str) or not found.strip() or "\0" in found:
            self.wrong(f"{path}.{key}", f"{as_written(found)} is not the path of a file")
            return ""
        return os.path.join(self._directory, os.path.expanduser(found))

    def _keys(self, given: Mapping[Any, Any], key: str) -> tuple[tuple[str, str], ...]:
        found = given.get(key)
        if found is None:
            return ()
        if not isinstance(found, Mapping):
            self.wrong(f"fleet.{key}", f"{as_written(found)} where names and public keys are expected",
                       f"{key}: {{alice: 'ed25519:…'}}; `interpose fleet key` makes one")  # fmt: skip
            return ()
        good: Callable[[Any, Any], bool] = lambda name, value: (  # noqa: E731
            isinstance(name, str) and TOKEN.fullmatch(name) is not None
            and isinstance(value, str) and PUBLIC_KEY.fullmatch(value) is not None
        )  # fmt: skip
        for name, value in found.items():
            if not good(name, value):
                self.wrong(f"fleet.{key}.{name}", f"{as_written(value)} is not a public key with a name",
                           "a name, and ed25519: with 44 characters; `interpose fleet key` makes one")  # fmt: skip
        return tuple((name, value) for name, value in found.items() if good(name, value))

    def _outbox(self, given: Any) -> int:
        if given is None:
            return LIMIT
        size = read_retention({"size": given}, "fleet.outbox", lambda *_: None).get("size")
        if size is None or size < SMALLEST:
            self.wrong("fleet.outbox", f"{as_written(given)} is not a size", "500MB or 2GiB; at least 1MB")
            return LIMIT
        return int(size)

    def _replicas(self, given: Any) -> int:
        if given is None:
            return 1
        if type(given) is not int or given not in (1, 3, 5):
            self.wrong("fleet.replicas", f"{as_written(given)} is not a number of replicas", "1, 3 or 5")
            return 1
        return given
