"""Stop what takes the machine, its services, its processes or its network away."""

from __future__ import annotations

import os
from collections.abc import Iterator

from .call import Call
from .effects import say
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {
    "power": "power",
    "stop-service": "services",
    "kill-many": "kill",
    "fork-bomb": "forkBombs",
    "firewall-off": "firewall",
    "network-down": "network",
    "network-change": "networkChanges",
    "lose-crontab": "crontab",
    "lose-history": "history",
    "remove-packages": "packages",
    "kernel-change": "kernel",
    "change-users": "users",
}
_INSTEAD = {
    "kill-many": "end one process by its id",
    "lose-crontab": "crontab -e removes single jobs",
    "stop-service": "restart it, or ask the user to stop it",
}
_EVERY_PROCESS = ("-1", "1")


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_PARAMETERS):
        verdict = options[_PARAMETERS[effect.kind]]
        if effect.kind == "kill-many" and effect.target in _EVERY_PROCESS and verdict != "allow":
            verdict = "deny"
        yield Objection(verdict, say(effect, _INSTEAD.get(effect.kind, "")), effect.grade)
    for effect in call.of("write-files"):
        if os.path.normpath(effect.target) in ("/proc/sysrq-trigger", "/sys/power/state"):
            yield Objection(options["power"], say(effect._replace(kind="power")), effect.grade)


POLICY = Policy(
    name="machine-state",
    prevents="Stopping the machine, services, many processes or firewalls, fork bombs, and clearing the "
    "shell's history "
    "or all cron jobs.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("power", "ask", "shutting down, restarting or suspending the machine"),
        action("services", "ask", "stopping and disabling services"),
        action("kill", "ask", "ending many processes at once; ending all is denied"),
        action("forkBombs", "deny", "starting processes without end"),
        action("firewall", "ask", "switching firewalls and the like off"),
        action("network", "ask", "taking interfaces and routes down"),
        action("networkChanges", "allow", "other changes of the network"),
        action("crontab", "ask", "deleting all cron jobs"),
        action("history", "ask", "deleting the history of the shell"),
        action("packages", "ask", "removing packages of the system"),
        action("kernel", "ask", "settings and modules of the kernel"),
        action("users", "ask", "deleting users and changing passwords"),
    ),
    recommended={"services": "allow", "packages": "allow", "kernel": "allow", "users": "allow"},
    notes="Ending one process by its id, and `pkill -f` with a pattern, pass.",
)
