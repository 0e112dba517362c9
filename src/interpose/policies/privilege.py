"""Ask before commands get the rights of root, and deny shells that have them."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..matching.shell.words import is_known
from ..runtime.regex import regex
from .call import Call
from .effects import Effect, say
from .parameters import action, names
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {
    "elevated-shell": "shells",
    "open-permissions": "open",
    "setuid": "setuid",
    "grant-root": "grants",
    "load-kernel-code": "grants",
    "host-root": "containers",
    "host-socket": "sockets",
    "host-capability": "capabilities",
    "host-files": "capabilities",
}
_INSTEAD = {
    "open-permissions": "give the rights to the owner or the group: 755, 750, g+w",
    "elevated-shell": "run the one command that needs it",
    "host-root": "mount only the directory that is needed",
}
_RIGHTS_FILES = regex(
    r"/(?:private/)?etc/(?:sudoers(?:\.d/.*)?|doas\.conf|passwd|shadow|group|gshadow|pam\.d/.*|security/.*|polkit-1/.*)"
)
_PACKAGES = (
    "apt",
    "apt-get",
    "aptitude",
    "dnf",
    "yum",
    "zypper",
    "pacman",
    "apk",
    "snap",
    "flatpak",
    "port",
    "emerge",
    "xbps-install",
    "pkg",
    "microdnf",
    "tdnf",
    "urpmi",
    "swupd",
    "softwareupdate",
    "update-alternatives",
    "ldconfig",
)
_SUDO_ALLOWED = (
    *(f"{name} *" for name in _PACKAGES),
    "systemctl status*",
    "systemctl is-*",
    "systemctl list-*",
    "systemctl show*",
    "systemctl cat *",
    "journalctl*",
    "dmesg*",
    "ls*",
    "id",
    "whoami",
    "true",
    "lsof*",
    "ss *",
    "netstat *",
    "ufw status*",
    "fdisk -l*",
    "docker ps*",
    "docker logs*",
    "docker images*",
    "git status*",
    "git log*",
    "git diff*",
    "pip list*",
    "pip show*",
    "pip freeze*",
    "mkdir *",
    "updatedb",
    "ldconfig",
    "apt-key list",
    "du *",
    "df *",
    "lsblk*",
    "blkid*",
    "stat *",
)
_RUNS_COMMANDS = regex(r"(?i)(?:^|\s)(?:-o|--option)|invoke|::|--hook|[;&|`$<>\n]")


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of("elevate", "elevate-user"):
        if not _is_allowed(effect, options["sudoAllow"]):
            yield Objection(options["sudo"], say(effect), effect.grade)
    for effect in call.of(*_PARAMETERS):
        yield Objection(options[_PARAMETERS[effect.kind]], say(effect, _INSTEAD.get(effect.kind, "")), effect.grade)
    for effect in call.of("write-files", "move-files", "delete-files"):
        if _RIGHTS_FILES.fullmatch(effect.target):
            yield Objection(options["grants"], f"{say(effect)}, which says who has the rights of root", effect.grade)


def _is_allowed(effect: Effect, patterns: tuple[str, ...]) -> bool:
    """Return whether a command may run as root: it matches a pattern, and is not made to run another one."""
    text = effect.target
    return is_known(text) and not _RUNS_COMMANDS.search(text) and any(fnmatchcase(text, one) for one in patterns)


POLICY = Policy(
    name="privilege",
    prevents="Becoming root, setuid and world-writable files, containers with the rights of the host's root.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("sudo", "ask", "a command as root or as another user: sudo, doas, su USER -c"),
        names(
            "sudoAllow",
            _SUDO_ALLOWED,
            "the commands that may run with sudo",
            "a list of commands; * stands for any text",
        ),
        action("shells", "deny", "a shell as root: sudo -i, su, pkexec bash"),
        action("open", "ask", "files that every user may write: chmod 777, o+w"),
        action("setuid", "ask", "programs that run as their owner: chmod u+s, setcap"),
        action("grants", "ask", "rights of root for users: groups sudo and docker, sudoers, passwords; kernel modules"),
        action(
            "containers", "ask", "containers with the rights of the host's root: --privileged, -v /:/host, --pid=host"
        ),
        action("sockets", "ask", "containers that control the host's containers: -v /var/run/docker.sock"),
        action(
            "capabilities",
            "ask",
            "containers with single further rights: --cap-add SYS_ADMIN, system directories read-only",
        ),
    ),
    recommended={"sudo": "allow", "sockets": "allow", "capabilities": "allow"},
    notes="The command after sudo is judged by all other policies as well.",
)
