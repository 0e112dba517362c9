"""Whether a variable of the environment comes from a person, and not from settings that an agent has read.

Coding agents set variables for their hooks from files of a project: a cloned one could switch Interpose off, or send
the requests of a guard to a proxy. What the agent itself was started with is not changed by that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..runtime.set_aside import forget_variables, set_variable_aside
from .agents import hosts_above, nearest_host
from .programs import AGENTS, INTERPRETERS

__all__ = ["POWERS", "drop_variables_of_settings"]

_OFF = "INTERPOSE_OFF"
POWERS = (_OFF, "INTERPOSE_TRUST")
"""Variables that weaken what is enforced."""

_KEPT_PREFIXES = ("CLAUDE", "CLINE", "CODEX_", "COPILOT_", "CURSOR_", "FACTORY_", "GEMINI_", "OPENCODE", "QWEN_",
                  "VSCODE_", "XDG_")  # fmt: skip
_KEPT = frozenset(["AI_AGENT", "HOME", "INTERPOSE_DEPTH", "OLDPWD", "PWD", "SHLVL", "TRACEPARENT", "TRACESTATE", "_"])
"""Variables that an agent sets for each hook, such as CLAUDE_PROJECT_DIR, that a shell sets, or that the line of
``attach`` sets. No guard runs another program because of them."""


def drop_variables_of_settings() -> list[str]:
    """Remove variables that no person has set; return the names of those that weaken what is enforced.

    If an agent has called this hook itself, every other variable gets the value back that the agent was started with,
    and what the settings say is set aside.
    """
    forget_variables()
    dropped = _drop_powers()
    host = nearest_host()
    if host and AGENTS & _names(host):
        _set_aside(_environment(host))
    return dropped


def _set_aside(started_with: Mapping[str, str]) -> None:
    """Give variables the values back that the agent was started with; nothing changes if those cannot be seen."""
    if "PATH" not in started_with:
        return  # a program can write another text over its environment
    for name, value in list(os.environ.items()):
        before = started_with.get(name)
        if before == value or name in _KEPT or name.startswith(_KEPT_PREFIXES):
            continue
        set_variable_aside(os.fsencode(name), os.fsencode(value))
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _drop_powers() -> list[str]:
    """Remove variables that weaken what is enforced and that no person has set; return their names.

    A person has set one that the agent was started with, and one of a process that a person has started by hand. Of
    agents that have started one another, the first counts: a model can start another agent with any variable. It can
    also leave one behind that runs below none: so ``INTERPOSE_OFF`` counts only if the agent was typed at a terminal.
    """
    given = [name for name in POWERS if os.environ.get(name)]
    if not given:
        return []
    hosts = hosts_above()
    if hosts is None:
        return []  # started by hand, or over a connection whose server has the variable itself
    agent = _first_agent(hosts) if hosts else 0
    started_with = _environment(agent) if hosts else {}
    dropped = [name for name in given if started_with.get(name) != os.environ[name]]
    if _OFF in given and _OFF not in dropped and not _is_typed(agent):
        dropped.append(_OFF)
    for name in dropped:
        del os.environ[name]
    return dropped


def _first_agent(hosts: list[int]) -> int:
    """Return the highest program that is known as an agent; the nearest one if none is, such as in a build."""
    known = [pid for pid in hosts if AGENTS & _names(pid)]
    return known[-1] if known else hosts[0]


def _names(pid: int) -> set[str]:
    """Return what a program may be called: by its file, and by the script that an interpreter runs."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as opened:
            words = [os.fsdecode(word) for word in opened.read().split(b"\0")]
        names = [os.readlink(f"/proc/{pid}/exe"), *words[:1]]
    except OSError:
        return set()
    if os.path.basename(names[0]).startswith(INTERPRETERS):
        names += [word for word in words[1:] if not word.startswith("-")][:1]
    return {os.path.basename(name).removesuffix(".js").removesuffix(".py") for name in names}


def _is_typed(pid: int) -> bool:
    """Return whether a person has typed the command that a process runs."""
    from . import processes
    from .evidence import why_not_typed

    found = processes.read_processes()
    return found is not None and not why_not_typed(found, pid)


def _environment(pid: int) -> dict[str, str]:
    """Return the variables that a process was started with; none if that cannot be seen."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as opened:
            data = opened.read()
    except OSError:
        return {}
    pairs = (part.partition(b"=") for part in data.split(b"\0") if part)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
