"""A ready configuration of nats-server: TLS, accounts of teams and nodes, a user with an nkey for every role and node.

The folder keeps what was made, so that a node can be added later: seeds and certificates that are there stay.
"""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..config.fleet import TOKEN
from ..errors import UsageError
from ..records import Record
from ..runtime.regex import regex
from ..state.directories import make_private, write_privately
from .permissions import ROLES, Permissions, account_of, exports_of, imports_of, permissions_of

__all__ = ["ServerFolder", "ServerOptions"]

_SUBJECT = regex(r"[A-Za-z0-9_.*>-]{1,200}")
_RECORD = "fleet.json"
_DAYS = 825


class ServerOptions(Record):
    """Where the server listens."""

    port: int = 4222
    listen: str = "0.0.0.0"  # noqa: S104 - nodes are on other machines
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1")
    """The names and addresses that its certificate holds for; nodes connect to the first."""
    tls: bool = True


class ServerFolder:
    """The folder with the configuration of a server, its certificates, and the seeds of its users."""

    def __init__(self, folder: str, options: ServerOptions | None = None) -> None:
        self.folder = os.path.abspath(folder)
        self.options = options or ServerOptions()
        self.config = os.path.join(self.folder, "nats.conf")

    def add(self, team: str, nodes: Sequence[str], hooks: Sequence[str] = ()) -> dict[str, str]:
        """Add a team, or nodes to one, and write the configuration; return the file of each user's seed, by user."""
        for name in (team, *nodes):
            if TOKEN.fullmatch(name) is None:
                raise UsageError(f"{name[:80]!a} is not a name", hint="up to 64 letters, digits, hyphens, underscores")
        for subject in hooks:
            if _SUBJECT.fullmatch(subject) is None or subject.startswith((">", "*", "$", "_INBOX", "interpose.")):
                raise UsageError(f"{subject[:80]!a} is not a subject of hooks", hint="such as checks.>")
        make_private(self.folder)
        teams = self._read()
        known = teams.setdefault(team, {"nodes": [], "hooks": []})
        known["nodes"] = sorted({*known["nodes"], *nodes})
        known["hooks"] = sorted({*known["hooks"], *hooks})
        if self.options.tls:
            self._make_certificates()
        users = {one: self._users(one, facts) for one, facts in teams.items()}
        write_privately(os.path.join(self.folder, _RECORD), json.dumps(teams, indent=1).encode())
        write_privately(self.config, self._text(teams, users).encode())
        for node in teams[team]["nodes"]:
            self._write_node(team, node)
        return {f"{role} {node}".strip(): self.seed(team, role, node) for role, node, _ in users[team]}

    def seed(self, team: str, role: str, node: str = "") -> str:
        """Return the file of a user's seed."""
        return os.path.join(self.folder, "seeds", team, f"{role}-{node}.key" if node else f"{role}.key")

    @property
    def ca(self) -> str:
        """The certificate of the authority, which every node has to believe."""
        return os.path.join(self.folder, "tls", "ca.pem") if self.options.tls else ""

    @property
    def url(self) -> str:
        """The address that nodes connect to."""
        host = self.options.hosts[0]
        return f"{'tls' if self.options.tls else 'nats'}://{f'[{host}]' if ':' in host else host}:{self.options.port}"

    def _read(self) -> dict[str, Any]:
        try:
            with open(os.path.join(self.folder, _RECORD), "rb") as opened:
                found = json.load(opened)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot be read: {error}", where=os.path.join(self.folder, _RECORD)) from None
        return found if isinstance(found, dict) else {}

    def _users(self, team: str, facts: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        """Return the users of a team: role, node, and the public key of the seed, which is made if it is missing."""
        wanted = [(role, "") for role in ROLES if role != "node"] + [("node", node) for node in facts["nodes"]]
        return [(role, node, _public(self.seed(team, role, node))) for role, node in wanted]

    def _text(self, teams: Mapping[str, Any], users: Mapping[str, list[tuple[str, str, str]]]) -> str:
        options = self.options
        lines = [
            "# Written by `interpose fleet server-config`; it is written again when a team or a node is added.",
            f'listen: "{options.listen}:{options.port}"',
            f'jetstream {{ store_dir: "{os.path.join(self.folder, "store")}", sync_interval: always }}',
        ]
        if options.tls:
            tls = os.path.join(self.folder, "tls")
            lines.append(f'tls {{ cert_file: "{tls}/server.pem", key_file: "{tls}/server.key", timeout: 5 }}')
        lines.append("accounts {")
        for team, listed in users.items():
            lines += _accounts(team, listed, tuple(teams[team]["hooks"]))
        return "\n".join([*lines, "}", ""])

    def _write_node(self, team: str, node: str) -> None:
        """Write what the configuration of a node says about the fleet."""
        tls = f"\n  tls: {{ca: {json.dumps(self.ca)}}}" if self.ca else ""
        text = (
            f"# Copy this into ~/.config/interpose/hooks.yaml of {node}, with the files that it names.\n"
            f"fleet:\n  servers: {self.url}\n  team: {team}\n  node: {node}\n"
            f"  nkey: {json.dumps(self.seed(team, 'node', node))}{tls}\n"
            f"  signers: {{}}  # NAME: ed25519:…, from `interpose fleet key`\n"
        )
        path = os.path.join(self.folder, "nodes", team, f"{node}.yaml")
        make_private(os.path.dirname(path))
        if not os.path.exists(path):
            write_privately(path, text.encode())

    def _make_certificates(self) -> None:
        folder = os.path.join(self.folder, "tls")
        if not os.path.exists(os.path.join(folder, "server.pem")):
            make_private(folder)
            _certificates(folder, self.options.hosts)


def _accounts(team: str, users: Sequence[tuple[str, str, str]], hooks: tuple[str, ...]) -> list[str]:
    """Return the accounts of a team: its own, one for approvers, one for workers, and one for each node."""
    members: dict[str, list[tuple[str, str, str]]] = {}
    for role, node, public in users:
        members.setdefault(account_of(role, team, node), []).append((role, node, public))
    lines: list[str] = []
    for account, listed in members.items():
        role, node, _ = listed[0]
        lines.append(f"  {json.dumps(account)} {{")
        if account == team:
            lines.append("    jetstream: enabled")
        lines.append("    users: [")
        for user, name, public in listed:
            may = permissions_of(user, team, public, node=name, hooks=hooks)
            lines += [f"      # {user} {name}".rstrip(), f'      {{ nkey: "{public}", permissions: {_written(may)} }}']
        lines += ["    ]", *_shared(role, team, node, hooks), "  }"]
    return lines


def _shared(role: str, team: str, node: str, hooks: tuple[str, ...]) -> list[str]:
    """Return what an account lets others import, and what it imports itself."""
    own = exports_of(role, team, hooks)
    exports = [f"{{ service: {json.dumps(subject)} }}" for subject in own.services]
    exports += [f'{{ service: {json.dumps(subject)}, response_type: "stream" }}' for subject in own.pages]
    exports += [f"{{ stream: {json.dumps(subject)} }}" for subject in own.streams]
    imports = []
    for one in imports_of(role, team, node=node, hooks=hooks):
        for kind, subjects in (("service", one.services), ("stream", one.streams)):
            imports += [f"{{ {kind}: {json.dumps({'account': one.account, 'subject': subject})} }}"
                        for subject in subjects]  # fmt: skip
    made: list[str] = []
    for word, listed in (("exports", exports), ("imports", imports)):
        if listed:
            made += [f"    {word}: [", *(f"      {line}" for line in listed), "    ]"]
    return made


def _written(may: Permissions) -> str:
    replies = ", allow_responses: true" if may.replies else ""
    return f"{{ publish: {json.dumps(list(may.publish))}, subscribe: {json.dumps(list(may.subscribe))}{replies} }}"


def _public(path: str) -> str:
    """Return the public nkey of a seed; make the seed if the file is missing."""
    try:
        import nkeys
    except ImportError:
        raise UsageError("the package nkeys is not installed", hint="pip install 'interpose[fleet]'") from None
    if not os.path.exists(path):
        make_private(os.path.dirname(path))
        write_privately(path, bytes(nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)))
    try:
        with open(path, "rb") as opened:
            return bytes(nkeys.from_seed(bytearray(opened.read().strip())).public_key).decode()
    except Exception as error:
        raise UsageError(f"is not the seed of an nkey: {error}", where=path, hint="remove it, and run this again"
                         ) from None  # fmt: skip


def _certificates(folder: str, hosts: Sequence[str]) -> None:
    """Write an authority and a certificate of the server that it has signed."""
    import datetime

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    def name(text: str) -> x509.Name:
        return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

    def begin(subject: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        made = x509.CertificateBuilder().subject_name(name(subject)).issuer_name(name("interpose fleet authority"))
        made = made.public_key(key.public_key()).serial_number(x509.random_serial_number())
        made = made.not_valid_before(now - datetime.timedelta(hours=1))
        return made.not_valid_after(now + datetime.timedelta(days=_DAYS))

    def write(path: str, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        write_privately(os.path.join(folder, f"{path}.key"), data)
        write_privately(os.path.join(folder, f"{path}.pem"), certificate.public_bytes(Encoding.PEM))

    above, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    signs = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    authority = begin("interpose fleet authority", above).add_extension(x509.BasicConstraints(True, 0), critical=True)
    authority = authority.add_extension(signs, critical=True)
    identifier = x509.SubjectKeyIdentifier.from_public_key(above.public_key())
    authority = authority.add_extension(identifier, critical=False)
    write("ca", above, authority.sign(above, hashes.SHA256()))
    server = begin(hosts[0], own).add_extension(x509.BasicConstraints(False, None), critical=True)
    server = server.add_extension(x509.SubjectAlternativeName([_general_name(host) for host in hosts]), critical=False)
    server = server.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    of_authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(above.public_key())
    server = server.add_extension(of_authority, critical=False)
    write("server", own, server.sign(above, hashes.SHA256()))


def _general_name(host: str) -> Any:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
