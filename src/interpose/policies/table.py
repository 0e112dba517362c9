"""The table of policies: a policy is a module of this package and a name here. Imports no policy."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from .policy import Policy

__all__ = ["GROUPS", "POLICIES", "RECOMMENDED", "find_policy"]

RECOMMENDED = "recommended"
"""The name of the set that is recommended."""

GROUPS: dict[str, tuple[str, ...]] = {
    "Files and git": (
        "destructive-commands",
        "protected-branches",
        "force-pushes",
        "skipped-checks",
        "outside-project",
        "protected-files",
        "large-writes",
        "case-renames",
    ),
    "Machine": (
        "disks-and-devices",
        "machine-state",
        "privilege",
        "persistence",
        "self-protection",
    ),
    "Code and network": (
        "downloaded-code",
        "unreadable-commands",
        "unsafe-sources",
        "foreign-packages",
        "publishing",
        "network-shells",
        "metadata-addresses",
        "hosts",
    ),
    "Secrets and text": (
        "hidden-text",  # before secrets, which it makes visible
        "secret-files",
        "environment",
        "secrets",
        "sending-secrets",
    ),
    "Infrastructure": (
        "infrastructure",
        "containers",
        "databases",
    ),
    "Sessions": (
        "budgets",
        "repeated-calls",
        "checks-before-stop",
        "mcp-tools",
    ),
}
"""The names by group, in the order in which they are listed. The module of ``secret-files`` is ``secret_files``."""

POLICIES: tuple[str, ...] = tuple(name for names in GROUPS.values() for name in names)


@cache
def find_policy(name: str) -> Policy:
    """Return a policy of the table."""
    found: Policy = import_module(f".{name.replace('-', '_')}", __package__).POLICY
    return found
