"""Who has started a command: a person at a terminal, or an agent. Judged on processes that each test writes down."""

import os
import sys
from typing import Any

import pytest
from tests.people import MadeUp, process, somebody

from interpose.errors import UsageError
from interpose.person import require_person
from interpose.person import why_no_person as person_check
from interpose.person.evidence import agent_above, why_no_person
from interpose.person.processes import LinuxProcesses, Process

SYSTEMD = process(1, 0, "/usr/lib/systemd/systemd", is_root=True, is_privileged=True)
DESKTOP = process(2, 1, "/usr/lib/systemd/systemd")
XTERM = process(10, 2, "/usr/bin/xterm")
BASH = process(11, 10, "/usr/bin/bash", terminal="pts/0")
IN_XTERM = (SYSTEMD, DESKTOP, XTERM, BASH)


def shell(parent: int, terminal: str = "pts/0") -> Process:
    """The first process on a terminal: a shell."""
    return process(parent + 1, parent, "/usr/bin/bash", terminal=terminal)


def typed(at: Process, **facts: Any) -> Process:
    """The command, typed at a shell that controls jobs."""
    return process(99, at.pid, "/usr/bin/python3", **{"session": at.session, "terminal": at.terminal, **facts})


def started_by(parent: Process, terminal: str) -> Process:
    """The command, as what a program starts on a terminal of its own."""
    return process(99, parent.pid, "/usr/bin/python3", terminal=terminal)


def held_by(holder: Process, *, above: tuple[Process, ...] = (SYSTEMD, DESKTOP), **facts: Any) -> MadeUp:
    """A command that was typed at a shell in the terminal of a program."""
    first = shell(holder.pid)
    return MadeUp(*above, holder, first, typed(first), holds={"pts/0": holder.pid}, **facts)


def over_ssh(connection: str | None, **facts: Any) -> MadeUp:
    """A command over ssh, as a user sees it: the daemon's processes cannot be looked into."""
    listening = process(20, 1, "", name="sshd", is_root=True, is_privileged=True)
    monitor = process(21, 20, "", name="sshd", is_root=True, is_privileged=True)
    mine = process(22, 21, "", name="sshd", **facts)
    first = process(23, 22, "/usr/bin/bash", terminal="pts/0", variables={"SSH_CONNECTION": connection or ""})
    return MadeUp(SYSTEMD, listening, monitor, mine, first, typed(first))


def in_tmux(*clients: Process, first: Process | None = None, **facts: Any) -> MadeUp:
    server = process(30, 2, "/usr/bin/tmux")
    pane = process(31, 30, "/usr/bin/bash", terminal="pts/1")
    return MadeUp(
        *IN_XTERM, server, pane, *clients, first or typed(pane),
        holds={"pts/0": 10, "pts/1": 30, "pts/7": 71}, clients=tuple(one.pid for one in clients), **facts,
    )  # fmt: skip


CLIENT = process(40, 11, "/usr/bin/tmux", session=11, terminal="pts/0")
IN_SCRIPT = process(70, 11, "/usr/bin/script", session=11, terminal="pts/0")

# fmt: off
PERSONS = {
    "a window": somebody(),
    "GNOME's terminal": held_by(process(10, 2, "/usr/libexec/gnome-terminal-server")),
    "a terminal of NixOS": held_by(process(10, 2, "/nix/store/1-kitty/bin/.kitty-wrapped")),
    "a make target": MadeUp(
        *IN_XTERM, process(50, 11, "/usr/bin/make", session=11, terminal="pts/0"),
        process(99, 50, "/usr/bin/python3", group=50, session=11, terminal="pts/0"), holds={"pts/0": 10},
    ),
    "VS Code": held_by(process(61, 60, "/usr/share/code/code"), above=(SYSTEMD, DESKTOP, process(60, 2, "/usr/share/code/code"))),
    "VS Code on another machine": held_by(
        process(61, 60, "/home/me/.vscode-server/bin/1/node", is_installed=False, program_age=90_000.0,
                arguments=("node", "fork.js", "--type=ptyHost")),
        above=(SYSTEMD, process(60, 1, "/home/me/.vscode-server/bin/1/node")),
    ),
    "a JetBrains editor": held_by(process(60, 2, "/home/me/.local/share/JetBrains/idea/jbr/bin/java", is_installed=False, program_age=90_000.0)),
    "a terminal in the person's home": held_by(process(60, 2, "/home/me/kitty", is_installed=False, program_age=90_000.0)),
    "tmux": in_tmux(CLIENT),
    "tmux as what a window starts": in_tmux(process(40, 10, "/usr/bin/tmux", terminal="pts/0")),
    "screen with the rights of a group": MadeUp(
        *IN_XTERM, process(30, 1, "", name="screen", is_privileged=True),
        process(31, 30, "/usr/bin/bash", terminal="pts/1"),
        process(40, 11, "", name="screen", is_privileged=True, session=11, terminal="pts/0"),
        typed(process(31, 30, "/usr/bin/bash", terminal="pts/1")), holds={"pts/0": 10}, clients=(40,),
    ),
    "script in a window": MadeUp(
        *IN_XTERM, IN_SCRIPT, shell(70, "pts/1"), typed(shell(70, "pts/1")), holds={"pts/0": 10, "pts/1": 70}
    ),
    "sudo with a terminal of its own": MadeUp(
        *IN_XTERM, process(70, 11, "/usr/bin/sudo", session=11, terminal="pts/0"),
        process(71, 70, "/usr/bin/sudo", terminal="pts/1"),
        process(99, 71, "/usr/bin/python3", session=71, terminal="pts/1"), holds={"pts/0": 10, "pts/1": 70},
    ),
    "ssh": over_ssh("192.0.2.7 50000 192.0.2.1 22"),
    "the machine's own console": MadeUp(
        SYSTEMD, process(10, 1, "", name="login", is_root=True), process(11, 10, "/usr/bin/bash", terminal="console 4:1"),
        process(99, 11, "/usr/bin/python3", session=11, terminal="console 4:1"),
    ),
    "docker exec": MadeUp(process(1, 0, "/usr/bin/sleep"), process(99, 0, "/usr/bin/python3", terminal="pts/0")),
    "a shell of docker exec": MadeUp(
        process(1, 0, "/usr/bin/sleep"), process(11, 0, "/usr/bin/bash", terminal="pts/0"),
        typed(process(11, 0, "/usr/bin/bash", terminal="pts/0")),
    ),
    "WSL": MadeUp(
        process(1, 0, "", name="init", is_root=True), process(10, 1, "", name="SessionLeader", is_root=True),
        process(11, 10, "", name="Relay(12)", is_root=True), shell(11), typed(shell(11)),
    ),
    "a window beside an agent": MadeUp(
        *IN_XTERM, process(500, 2, "/usr/bin/claude"), typed(BASH), holds={"pts/0": 10}, agents=(500,)
    ),
    "an editor in a folder that has the name of an agent": held_by(
        process(61, 2, "/usr/share/code/code", arguments=("/usr/share/code/code", "/home/me/codex"))
    ),
    "another use of the variable AGENT": MadeUp(*IN_XTERM, typed(BASH, variables={"AGENT": "builder-7"}), holds={"pts/0": 10}),
    "a person who has configured an agent": MadeUp(
        *IN_XTERM, typed(BASH, variables={"CODEX_HOME": "/x", "CLAUDE_CODE_USE_BEDROCK": "1", "AGENT": ""}), holds={"pts/0": 10}
    ),
}
# fmt: on


@pytest.mark.parametrize("processes", PERSONS.values(), ids=PERSONS)
def test_a_person_is_let_through(processes: MadeUp) -> None:
    assert why_no_person(processes) == ""


CLAUDE = process(50, 11, "/usr/bin/node", session=11, terminal="pts/0", arguments=("node", "/usr/bin/claude"))
HOST = process(50, 11, "/usr/bin/python3", session=11, terminal="pts/0")
TOOL = process(51, 50, "/usr/bin/bash")
"""The shell of a tool, which agents start in a session of its own, without a terminal."""
ORPHAN = process(70, 1, "/usr/bin/script")

# fmt: off
AGENTS = {
    "without a terminal": (MadeUp(*IN_XTERM, TOOL, typed(TOOL)), "it has no terminal"),
    "below a coding agent": (
        MadeUp(*IN_XTERM, CLAUDE, typed(CLAUDE), holds={"pts/0": 10}), "it runs below an agent: claude (process 50)",
    ),
    "below a coding agent that Python runs": (
        MadeUp(*IN_XTERM, process(50, 11, "/usr/bin/python3.11", session=11, terminal="pts/0", arguments=("python3", "-m", "aider")),
               typed(HOST), holds={"pts/0": 10}),
        "it runs below an agent: aider (process 50)",
    ),
    "with the variable AGENT": (
        MadeUp(*IN_XTERM, typed(BASH, variables={"AGENT": "goose"}), holds={"pts/0": 10}),
        "it runs below an agent: AGENT is set for python3 (process 99)",
    ),
    "below a registered host": (
        MadeUp(*IN_XTERM, HOST, typed(HOST), holds={"pts/0": 10}, agents=(50,)),
        "it runs below an agent: python3 (process 50) has called hooks",
    ),
    "with a variable of an agent": (
        MadeUp(*IN_XTERM, typed(BASH, variables={"CLAUDECODE": "1"}), holds={"pts/0": 10}),
        "it runs below an agent: CLAUDECODE is set for python3 (process 99)",
    ),
    "below a program with a variable of an agent": (
        MadeUp(*IN_XTERM, process(50, 11, "/usr/bin/x", session=11, terminal="pts/0", variables={"CODEX_SANDBOX": "seatbelt"}),
               typed(HOST), holds={"pts/0": 10}),
        "it runs below an agent: CODEX_SANDBOX is set for x (process 50)",
    ),
    "script below an agent": (
        MadeUp(*IN_XTERM, HOST, process(70, 50, "/usr/bin/script"), started_by(process(70, 50, "x"), "pts/1"),
               holds={"pts/1": 70}, agents=(50,)),
        "it runs below an agent: python3 (process 50) has called hooks",
    ),
    "script, left behind": (
        MadeUp(SYSTEMD, ORPHAN, started_by(ORPHAN, "pts/1"), holds={"pts/1": 70}),
        "its terminal is that of script (process 70), which is not known as a terminal of a person",
    ),
    "script below another program of no terminal": (
        MadeUp(SYSTEMD, process(69, 1, "/usr/bin/sh"), process(70, 69, "/usr/bin/script"),
               started_by(ORPHAN, "pts/1"), holds={"pts/1": 70}),
        "its terminal is that of script (process 70), which is not known as a terminal of a person",
    ),
    "script, left behind on the person's terminal": (
        MadeUp(*IN_XTERM, process(70, 2, "/usr/bin/script", session=11, terminal="pts/0"), shell(70, "pts/1"),
               typed(shell(70, "pts/1")), holds={"pts/0": 10, "pts/1": 70}),
        "script (process 70) was left behind by the shell that started it",
    ),
    "left behind on the person's terminal": (
        MadeUp(*IN_XTERM, process(99, 2, "/usr/bin/python3", session=11, terminal="pts/0"), holds={"pts/0": 10}),
        "python3 (process 99) was left behind by the shell that started it",
    ),
    "a terminal whose holder is elsewhere below an agent": (
        MadeUp(*IN_XTERM, HOST, process(70, 50, "/usr/bin/socat"), process(99, 2, "/usr/bin/python3", terminal="pts/1"),
               holds={"pts/0": 10, "pts/1": 70}, agents=(50,)),
        "its terminal is that of socat (process 70), below an agent: python3 (process 50) has called hooks",
    ),
    "left behind by an agent in a container whose first process is the person's shell": (
        MadeUp(process(1, 0, "/usr/bin/bash", terminal="pts/0"),
               process(99, 1, "/usr/bin/python3", session=1, terminal="pts/0", is_foreground=False)),
        "it runs in the background of its terminal",
    ),
    "a holder that hides, below nothing": (
        MadeUp(SYSTEMD, process(70, 1, "", name="sshd"), process(99, 70, "/usr/bin/python3", terminal="pts/1")),
        "its terminal is that of sshd (process 70), which is not known as a terminal of a person",
    ),
    "a holder that hides, and has ended what was between": (
        MadeUp(SYSTEMD, process(99, 1, "/usr/bin/python3", terminal="pts/1")), "the program that holds its terminal cannot be seen",
    ),
    "a copy of script that is called xterm": (
        held_by(process(70, 2, "/home/me/xterm", is_installed=False, program_age=80_000.0)),
        "its terminal is that of xterm (process 70), which is not known as a terminal of a person",
    ),
    "a program that calls itself xterm": (
        held_by(process(70, 2, "/usr/bin/python3", name="xterm", arguments=("xterm",))),
        "its terminal is that of python3 (process 70), which is not known as a terminal of a person",
    ),
    "an extension of an editor on another machine": (
        held_by(process(61, 2, "/home/me/.vscode-server/bin/1/node", is_installed=False, program_age=90_000.0, arguments=("node", "--type=extensionHost"))),
        "its terminal is that of node (process 61), which is not known as a terminal of a person",
    ),
    "a window that is opened for the command": (
        MadeUp(SYSTEMD, XTERM, started_by(XTERM, "pts/0"), holds={"pts/0": 10}),
        "it was not typed at a shell: xterm (process 10) started it",
    ),
    "a window that is opened for a line of shell": (
        MadeUp(SYSTEMD, XTERM, BASH, process(99, 11, "/usr/bin/python3", group=11, session=11, terminal="pts/0"), holds={"pts/0": 10}),
        "it was not typed at a shell: xterm (process 10) started it",
    ),
    "an editor that is an agent": (
        held_by(process(61, 60, "/usr/share/code/code"), above=(SYSTEMD, process(60, 1, "/usr/share/code/code")), agents=(60,)),
        "it runs below an agent: code (process 60) has called hooks",
    ),
    "tmux without a client": (
        in_tmux(),
        "a person does not see this terminal of tmux (process 30): no client is attached in which something was typed just now",
    ),
    "a window of tmux that is opened for the command": (
        in_tmux(CLIENT, first=started_by(process(30, 1, "x"), "pts/1")), "it was not typed at a shell: tmux (process 30) started it",
    ),
    "tmux with a client below an agent": (
        in_tmux(process(40, 50, "/usr/bin/tmux", session=11, terminal="pts/0"), HOST, agents=(50,)),
        "a person does not see this terminal of tmux (process 30): its client runs below an agent: python3 (process 50) has called hooks",
    ),
    "tmux with a client in script, left behind": (
        in_tmux(process(72, 71, "/usr/bin/tmux", terminal="pts/7"), process(71, 1, "/usr/bin/script")),
        "a person does not see this terminal of tmux (process 30): of its client, its terminal is that of script (process 71), which is not known as a terminal of a person",
    ),
    "tmux that an agent has started": (
        MadeUp(*IN_XTERM, process(30, 1, "/usr/bin/tmux", variables={"CLAUDECODE": "1"}), shell(30), typed(shell(30)),
               holds={"pts/0": 30}, clients=(11,)),
        "it runs below an agent: CLAUDECODE is set for tmux (process 30)",
    ),
    "ssh from the machine itself": (
        over_ssh("::1 50000 ::1 22"), "it comes over ssh from this machine itself, or from one that is not connected",
    ),
    "ssh from nowhere": (over_ssh(None), "SSH_CONNECTION is not set, so it is not known from which machine it comes"),
    "a container that any user can make": (
        MadeUp(process(99, 0, "/usr/bin/python3", terminal="pts/0"), has_own_users=True),
        "the program that holds its terminal cannot be seen from this container",
    ),
    "a daemon of scheduled commands": (
        MadeUp(SYSTEMD, process(70, 1, "/usr/sbin/cron", is_root=True), shell(70, ""), typed(shell(70, ""))), "it has no terminal",
    ),
}
# fmt: on


@pytest.mark.parametrize(("processes", "why"), AGENTS.values(), ids=AGENTS)
def test_an_agent_is_refused_with_the_reason(processes: MadeUp, why: str) -> None:
    assert why_no_person(processes) == why


def test_terminals_inside_one_another_come_to_an_end() -> None:
    first, second = (process(pid, 1, "/usr/bin/x", terminal=f"pts/{pid}") for pid in (70, 71))

    processes = MadeUp(SYSTEMD, first, second, started_by(first, "pts/71"), holds={"pts/70": 71, "pts/71": 70})

    assert why_no_person(processes) == "its terminal is inside too many others"


def test_a_host_that_asks_for_itself_is_not_below_itself() -> None:
    processes = MadeUp(*IN_XTERM, typed(BASH), holds={"pts/0": 10}, agents=(99,))

    assert agent_above(processes) == why_no_person(processes) == ""


def test_the_error_says_what_is_needed_and_the_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    refused, why = AGENTS["below a coding agent"]
    monkeypatch.setattr("interpose.person.processes.read_processes", lambda: refused)

    with pytest.raises(UsageError) as raised:
        require_person("trusting a file", or_else="send a letter")

    assert str(raised.value) == (
        f"trusting a file takes a person, and no person has started this command: {why} "
        "(run it in a terminal that you have opened yourself, outside of any agent, or send a letter)"
    )


def test_a_system_that_shows_no_processes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpose.person.processes.read_processes", lambda: None)

    with pytest.raises(UsageError, match="this system does not show which programs run"):
        require_person("trusting a file")


def test_answers_from_another_terminal_do_not_count(person: None) -> None:
    ours, theirs = os.openpty()
    try:
        assert person_check(typing_at=theirs) == "answers would come from another terminal"
    finally:
        os.close(ours)
        os.close(theirs)


LISTENS = "  0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1\n"
ENDS = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   1: 010200C0:0016 070200C0:C350 01 00000000:00000000 02:00000000 00000000     0        0 2
   2: 0000000000000000FFFF0000010200C0:0016 0000000000000000FFFF0000080200C0:C350 01 00000000:00000000 02:0 0     0        0 3
   3: 0100007F:0016 0100007F:C351 01 00000000:00000000 02:00000000 00000000     0        0 4
   4: 0100007F:C351 0100007F:0016 01 00000000:00000000 02:00000000 00000000  1000        0 5
"""


@pytest.mark.skipif(sys.byteorder != "little", reason="the table is written down for another machine")
@pytest.mark.parametrize(
    ("table", "client", "is_connected"),
    [
        (LISTENS + ENDS, ("192.0.2.7", "50000"), True),
        (LISTENS + ENDS, ("192.0.2.8", "50000"), True),
        (LISTENS + ENDS, ("192.0.2.9", "50000"), False),
        (LISTENS + ENDS, ("127.0.0.1", "50001"), False),
        (ENDS, ("192.0.2.7", "50000"), False),
        (LISTENS.replace("     0        0 1", "  1000        0 1") + ENDS, ("192.0.2.7", "50000"), False),
        ("", ("192.0.2.7", "50000"), False),
    ],
)
def test_a_connection_counts_if_the_system_has_it_with_a_server_of_root_and_from_another_machine(
    table: str, client: tuple[str, str], is_connected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = LinuxProcesses()
    monkeypatch.setattr("interpose.person.processes._text", lambda path: table if path == "net/tcp" else "")

    server = "127.0.0.1" if client[0] == "127.0.0.1" else "192.0.2.1"

    assert processes.is_connected(client, (server, "22")) == is_connected
