"""Whether a person has started a command: judged from processes alone, so that it can be tried on made-up ones.

A person counts if the command's terminal is one in which a person types, if the command was typed there, and if no
process above the command, the terminal or the programs between them is an agent. What cannot be seen is refused, with
the exception of a container, into which a person has come from outside.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from .processes import Process, Processes
from .programs import AGENT_VARIABLES, AGENTS, EDITORS, INTERPRETERS, LOGINS, MULTIPLEXERS, TERMINALS, is_editor_server

__all__ = ["agent_above", "why_no_person", "why_not_typed"]

_DEEPEST = 8
"""How many terminals may be inside one another."""
_SETTLED = 86_400.0
"""Seconds after which a program in the person's home counts as what its name says."""


class _Doubt(Exception):
    """Why no person is known to be there."""


def why_no_person(processes: Processes) -> str:
    """Return why a person cannot have started the process that asks; empty if a person has."""
    own = processes.get(processes.own)
    if own is None:
        return "this system does not show its own processes"
    if agent := agent_above(processes):
        return f"it runs below an agent: {agent}"
    if not own.terminal:
        return "it has no terminal"
    if not own.is_foreground:
        return "it runs in the background of its terminal"
    try:
        _check_terminal(processes, own, typed=True, depth=0)
    except _Doubt as doubt:
        return str(doubt)
    return ""


def why_not_typed(processes: Processes, pid: int) -> str:
    """Return why a person cannot have typed the command that a process runs, such as an agent; empty if a person has.

    An agent can start another one: below itself, or left behind without a terminal.
    """
    process = processes.get(pid)
    if process is None:
        return "its process cannot be seen"
    parent = processes.get(process.parent)
    if parent is not None and (agent := _agent(processes, parent)):
        return f"it was started below an agent: {agent}"
    if variable := next(filter(process.variables.get, AGENT_VARIABLES), ""):
        return f"an agent has started it: {variable} is set"
    if not process.terminal:
        return "it has no terminal"
    try:
        _check_terminal(processes, process, typed=True, depth=0)
    except _Doubt as doubt:
        return str(doubt)
    return ""


def agent_above(processes: Processes) -> str:
    """Return the agent that the process that asks runs below, described in some words; empty if none is known."""
    own = processes.get(processes.own)
    return _agent(processes, own) if own is not None else ""


def _agent(processes: Processes, process: Process) -> str:
    registered = processes.agents
    for one in processes.chain(process):
        if one.pid in registered and one.pid != processes.own:
            return f"{_describe(one)} has called hooks"
        if name := next(filter(AGENTS.__contains__, _names(one)), ""):
            return f"{name} (process {one.pid})"
        if variable := next(filter(one.variables.get, AGENT_VARIABLES), ""):
            return f"{variable} is set for {_describe(one)}"
        if one.variables.get("AGENT") in AGENTS:  # others use this name too
            return f"AGENT is set for {_describe(one)}"
    return ""


def _names(process: Process) -> Iterator[str]:
    """Return what a program may be called: by its file, and by the script that an interpreter runs."""
    yield process.name
    yield os.path.basename(process.program)
    if os.path.basename(process.program).startswith(INTERPRETERS):  # of other programs it may be a folder
        script = next((word for word in process.arguments[1:] if not word.startswith("-")), "")
        yield os.path.basename(script).removesuffix(".js").removesuffix(".py")


def _describe(process: Process) -> str:
    return f"{os.path.basename(process.program) or process.name or 'a program'} (process {process.pid})"


def _check_terminal(processes: Processes, process: Process, *, typed: bool, depth: int) -> None:
    """Raise _Doubt unless the terminal of a process is one in which a person types.

    ``typed`` asks for a command that was typed at a shell. A program can open a window that runs another command.
    """
    if depth > _DEEPEST:
        raise _Doubt("its terminal is inside too many others")
    if process.session not in {one.pid for one in processes.chain(process)}:
        raise _Doubt(f"{_describe(process)} was left behind by the shell that started it")
    if process.terminal.startswith("console "):
        return  # of the machine itself: no program can make one
    holders = processes.holders(process.terminal)
    if holders is None:
        holders = _starter(processes, process)
    for holder in holders:
        if agent := _agent(processes, holder):
            raise _Doubt(f"its terminal is that of {_describe(holder)}, below an agent: {agent}")
        _check_holder(processes, holder, process, typed=typed, depth=depth)


def _starter(processes: Processes, process: Process) -> list[Process]:
    """Return the program that has started the first process on a terminal, if the one that holds it cannot be seen.

    In a container there is none: a process that comes from outside has no parent.
    """
    first = process
    for one in processes.chain(process):
        if one.terminal != process.terminal:
            break
        first = one
    if first.parent == 0:
        if processes.has_own_users:
            raise _Doubt("the program that holds its terminal cannot be seen from this container")
        return []
    starter = processes.get(first.parent)
    if starter is None or starter.pid == 1:
        raise _Doubt("the program that holds its terminal cannot be seen")
    return [starter]


def _check_holder(processes: Processes, holder: Process, process: Process, *, typed: bool, depth: int) -> None:
    """Raise _Doubt unless a program that holds a terminal is one in which a person types, or has such a terminal."""
    name = _certain_name(processes, holder)
    if name in LOGINS:
        _check_login(processes, process)
        return
    if name in TERMINALS | EDITORS | MULTIPLEXERS | {"init"} or (
        name and is_editor_server(holder.program, holder.arguments)
    ):
        if typed and process.group == process.session and name != "init":
            raise _Doubt(f"it was not typed at a shell: {_describe(holder)} started it")
        if name in MULTIPLEXERS:
            _check_clients(processes, holder, process.terminal, depth)
        return
    if not holder.terminal or holder.terminal == process.terminal:
        raise _Doubt(f"its terminal is that of {_describe(holder)}, which is not known as a terminal of a person")
    # Such as script and sudo: it passes on what is typed.
    _check_terminal(processes, holder, typed=typed, depth=depth + 1)


def _certain_name(processes: Processes, process: Process) -> str:
    """Return the name of a program if an agent cannot have chosen it, else nothing.

    A file that only root can change has its own name. Another one, such as a terminal in the person's home, counts
    after a day: an agent can copy a program and name it. If the file cannot be seen, the process must have rights that
    a person's program cannot have.
    """
    if process.program:
        if not process.is_installed and process.program_age < _SETTLED:
            return ""
        name = os.path.basename(process.program)
        return "iTermServer" if name.startswith("iTermServer-") else name.removeprefix(".").removesuffix("-wrapped")
    parent = processes.get(process.parent)
    if process.is_root or (parent is not None and parent.is_root and parent.pid != 1 and parent.name == process.name):
        return "init" if process.name.startswith(("Relay(", "SessionLeader")) else process.name
    return "screen" if process.is_privileged and process.name.lower() == "screen" else ""


def _check_login(processes: Processes, process: Process) -> None:
    """Raise _Doubt if a person has not come from another machine: an agent can log in to its own."""
    for one in reversed(list(processes.chain(process))):  # the first one has the variable from the daemon itself
        words = one.variables.get("SSH_CONNECTION", "").split()
        if len(words) == 4:
            client, server = (words[0], words[1]), (words[2], words[3])
            if not processes.is_connected(client, server):
                raise _Doubt("it comes over ssh from this machine itself, or from one that is not connected")
            return
    raise _Doubt("SSH_CONNECTION is not set, so it is not known from which machine it comes")


def _check_clients(processes: Processes, server: Process, terminal: str, depth: int) -> None:
    """Raise _Doubt unless a person sees a terminal of a multiplexer: a client is on a person's terminal."""
    why = "no client is attached in which something was typed just now"
    for client in processes.clients(server, terminal):
        if agent := _agent(processes, client):
            why = f"its client runs below an agent: {agent}"
            continue
        if not client.terminal:
            continue
        try:
            _check_terminal(processes, client, typed=False, depth=depth + 1)
        except _Doubt as doubt:
            why = f"of its client, {doubt}"
        else:
            return
    raise _Doubt(f"a person does not see this terminal of {_describe(server)}: {why}")
