"""A server in operator mode: accounts and users as JWTs, and credentials files, as ``nsc`` writes them."""

import base64
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import nkeys

from interpose.fleet.permissions import account_of, exports_of, imports_of, permissions_of

UNLIMITED = {
    "subs": -1,
    "data": -1,
    "payload": -1,
    "imports": -1,
    "exports": -1,
    "wildcards": True,
    "conn": -1,
    "leaf": -1,
}
STORAGE = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}


class Key:
    """An nkey of an operator, an account or a user."""

    def __init__(self, kind: int) -> None:
        self.seed = bytes(nkeys.encode_seed(os.urandom(32), kind))
        self._pair = nkeys.from_seed(bytearray(self.seed))
        self.public = bytes(self._pair.public_key).decode()

    def token(self, subject: str, name: str, **claims: Any) -> str:
        """A JWT about a subject, signed by this key."""
        body: dict[str, Any] = {
            "iat": int(time.time()),
            "iss": self.public,
            "name": name,
            "sub": subject,
            "nats": {**claims, "version": 2},
        }
        body["jti"] = hashlib.sha256(json.dumps(body).encode()).hexdigest()
        parts = ({"typ": "JWT", "alg": "ed25519-nkey"}, body)
        signed = b".".join(_encoded(json.dumps(part).encode()) for part in parts)
        return (signed + b"." + _encoded(self._pair.sign(signed))).decode()


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class Operator:
    """An operator with the accounts of one team; ``options`` are for the configuration of a server."""

    def __init__(self, folder: Path, team: str, nodes: list[str], hooks: tuple[str, ...] = ()) -> None:
        self._folder, self._team, self._hooks = folder, team, hooks
        self._operator = Key(nkeys.PREFIX_BYTE_OPERATOR)
        roles = [("admin", ""), ("pusher", ""), ("approver", ""), ("worker", ""), *(("node", node) for node in nodes)]
        self._accounts = {account_of(role, team, node): Key(nkeys.PREFIX_BYTE_ACCOUNT) for role, node in roles}
        system = Key(nkeys.PREFIX_BYTE_ACCOUNT)
        tokens = {system.public: self._account_token(system, "SYS")}
        for role, node in roles:
            name = account_of(role, team, node)
            key = self._accounts[name]
            limits = {**UNLIMITED, **(STORAGE if name == team else {})}
            tokens[key.public] = self._account_token(key, name, limits, role, node)
        operator = self._operator.token(
            self._operator.public, "operator", type="operator", system_account=system.public
        )
        preload = "\n".join(f"  {public}: {token}" for public, token in tokens.items())
        self.options = f"operator: {operator}\nresolver: MEMORY\nresolver_preload: {{\n{preload}\n}}\n"

    def _account_token(self, key: Key, name: str, limits: Any = UNLIMITED, role: str = "", node: str = "") -> str:
        exports, imports = list[Any](), list[Any]()
        if role:
            own = exports_of(role, self._team, self._hooks)
            exports += [{"name": one, "subject": one, "type": "service"} for one in own.services]
            exports += [
                {"name": one, "subject": one, "type": "service", "response_type": "Stream"} for one in own.pages
            ]
            exports += [{"name": one, "subject": one, "type": "stream"} for one in own.streams]
            for found in imports_of(role, self._team, node=node, hooks=self._hooks):
                of = self._accounts[found.account].public
                for kind, subjects in (("service", found.services), ("stream", found.streams)):
                    imports += [{"name": one, "subject": one, "account": of, "type": kind} for one in subjects]
        return self._operator.token(key.public, name, type="account", limits=limits, exports=exports, imports=imports)

    def credentials(self, role: str, node: str = "") -> str:
        """The path of the credentials of a new user."""
        user = Key(nkeys.PREFIX_BYTE_USER)
        may = permissions_of(role, self._team, user.public, node=node, hooks=self._hooks)
        token = self._accounts[account_of(role, self._team, node)].token(
            user.public, f"{role}{node}", type="user", pub={"allow": list(may.publish)}, sub={"allow": list(may.subscribe)},
            subs=-1, data=-1, payload=-1,
        )  # fmt: skip
        path = self._folder / f"{role}{node}.creds"
        path.write_text(f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
                        f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n")  # fmt: skip
        path.chmod(0o600)
        return str(path)
