"""A person at a terminal, for tests of what only a person may do: made-up processes in which one is there.

Run as a program, this file is the installed command for such a person: ``python tests/people.py trust --yes``.
"""

import sys
from pathlib import Path
from typing import Any

from interpose.person.processes import Process, Processes

BIN = Path(sys.executable).parent


class MadeUp(Processes):
    """Processes that a test writes down. The last one is the command; ``holds`` says who holds which terminal."""

    def __init__(
        self,
        *processes: Process,
        holds: dict[str, int | None] | None = None,
        agents: tuple[int, ...] = (),
        clients: tuple[int, ...] = (),
        has_own_users: bool = False,
    ) -> None:
        self._all = {one.pid: one for one in processes}
        self.own = processes[-1].pid
        self._holds, self._clients = holds or {}, clients
        self.agents = frozenset(agents)
        self.has_own_users = has_own_users

    def get(self, pid: int) -> Process | None:
        return self._all.get(pid)

    def holders(self, terminal: str) -> list[Process] | None:
        pid = self._holds.get(terminal)
        return None if pid is None else [self._all[pid]]

    def is_connected(self, client: tuple[str, str], server: tuple[str, str]) -> bool:
        return (client, server) == (("192.0.2.7", "50000"), ("192.0.2.1", "22"))

    def clients(self, server: Process, terminal: str) -> list[Process]:
        return [self._all[pid] for pid in self._clients]


def process(pid: int, parent: int, program: str, **facts: Any) -> Process:
    """A process whose program was installed by root, in a session and a process group of its own."""
    name = program.rpartition("/")[2]
    usual = {"group": pid, "session": pid, "name": name, "program": program, "is_installed": True}
    return Process(pid=pid, parent=parent, **{**usual, **facts})


def somebody() -> MadeUp:
    """A person who has typed a command at a shell in a window."""
    return MadeUp(
        process(1, 0, "/usr/lib/systemd/systemd"),
        process(10, 1, "/usr/bin/xterm"),
        process(11, 10, "/usr/bin/bash", terminal="pts/0"),
        process(12, 11, "/usr/bin/python3", session=11, terminal="pts/0"),
        holds={"pts/0": 10},
    )


def be_a_person() -> None:
    """Make this process one that a person has started, as far as Interpose can see."""
    import interpose.person.processes

    interpose.person.processes.read_processes = somebody


def write_program(folder: Path) -> Path:
    """Write the program ``interpose`` of a person into a folder for PATH, and return the folder."""
    program = folder / "interpose"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" "$@"\n')
    program.chmod(0o755)
    return folder


if __name__ == "__main__":
    from interpose.cli import main

    be_a_person()
    sys.argv[0] = str(BIN / "interpose")
    sys.path[0] = str(BIN)
    sys.exit(main())
