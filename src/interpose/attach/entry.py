"""The entry of an event: a shell line that starts the thin client, and that denies by itself if this fails.

The client's standard output is kept until its exit status is known: half an answer of a program that was killed is
never read as one. Where an agent starts hooks with another shell than a POSIX one, or with none, the line is one
command of ``/bin/sh``; elsewhere that would cost the start of another shell.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ..dialects.agents.contract import HookOutput
from ..events import TABLE
from ..runtime.named_tuples import NamedTuple
from .errors import BadSettings

__all__ = ["CANARY", "MARK", "Deadlines", "SettingsEntry", "is_line_of_ours", "make_entries", "own_deadline"]

MARK = "# interpose attach"
"""The end of every line of ours, by which it is known again."""

CANARY = "interpose-canary-"
"""The beginning of a command that ``interpose fire`` denies by itself, so that a person can see that it does."""

_FORGOTTEN = ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_LIBRARY_PATH",
              "DYLD_FRAMEWORK_PATH", "GLIBC_TUNABLES", "GCONV_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE",
              "PYTHONPYCACHEPREFIX", "INTERPOSE_REPLAY", "INTERPOSE_DOCTOR", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
              "XDG_CACHE_HOME")  # fmt: skip
"""Variables that a project's settings can set for hooks, and that would move what was trusted, or load other code. Of
the shell itself they are beyond this line."""
_KEPT = ("HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
"""Those that the line sets as they were when a person attached: some interpreters do not start without a library."""


class Deadlines(NamedTuple):
    """Seconds that an agent gives to the hook of an event."""

    tool: int = 300
    """Before a tool runs, where a question may wait for a person."""
    other: int = 60
    events: Mapping[str, int] = {}
    """Of single events, by the agent's names: what the agent caps."""


class SettingsEntry(NamedTuple):
    """The hook of one event in the settings of an agent."""

    name: str
    """The agent's name of the event."""
    event: str
    """Our name of it."""
    command: str
    timeout: int
    """The agent's deadline in seconds; ours is shorter."""

    @property
    def is_about_tool(self) -> bool:
        """Whether the event has a tool as its subject."""
        row = TABLE.get(self.event)
        return row is not None and row.subject == "tool_name"


def is_line_of_ours(command: object) -> bool:
    """Return whether a command in settings is a line that attach has written."""
    return isinstance(command, str) and MARK in command and " --reply " in command


def own_deadline(timeout: int) -> float:
    """Return our deadline for an agent's: it leaves time to say so."""
    return timeout - 10 if timeout >= 40 else round(timeout * 0.7, 1)


def make_entries(
    agent: str,
    events: Mapping[str, str],
    failure: Callable[[str, str], HookOutput],
    deadlines: Deadlines,
    client: Sequence[str],
    *,
    in_posix_shell: bool = False,
) -> list[SettingsEntry]:
    """Return the entries of an agent's events. ``client`` are the words that start the thin client on this machine;
    without them an entry names no path of this machine, so that it can be shared. ``in_posix_shell``: the agent
    starts hooks with sh, bash or zsh.
    """
    made = []
    for name, event in events.items():
        about_tool = event in ("PreToolUse", "PermissionRequest")
        timeout = deadlines.events.get(name, deadlines.tool if about_tool else deadlines.other)
        arguments = [name, "--reply", agent, "--require", "--deadline", f"{own_deadline(timeout):g}"]
        line = _line(client, arguments, partial(failure, name))
        command = line if in_posix_shell else f"/bin/sh -c {shlex.quote(line)}"
        made.append(SettingsEntry(name, event, f"{command} {MARK}", timeout))
    return made


def _line(words: Sequence[str], arguments: Sequence[str], failure: Callable[[str], HookOutput]) -> str:
    """Return the line of an event: start the client, pass on its answer, else print the agent's deny."""
    broken = failure("Interpose's program is missing, was killed or failed; `interpose attach --verify` says more")
    # The client exits with 2 if it cannot decide. That counts where it is this agent's deny: Cline runs the tool then,
    # and at Stop it would send others back to work.
    accepted = "0|2" if broken.status == 2 else "0"
    call = shlex.join([*words, *arguments]) if words else shlex.join(["interpose", "fire", *arguments])
    parts = [f"unset {' '.join(_FORGOTTEN)}"]
    if words:
        parts += _kept_variables()
    else:
        absent = failure("this project is guarded by Interpose, which is not installed here; install the package "
                         "`interpose`, then run `interpose trust`")  # fmt: skip
        parts.append(f"command -v interpose >/dev/null || {{ {_said(absent)}; }}")
    parts += [
        f"o=$({call}); s=$?",
        f'case $s in {accepted}) printf %s "$o"; exit $s;; esac',
        _said(broken),
    ]
    line = "; ".join(parts)
    if "\n" in line or "\r" in line or "\0" in line:
        raise BadSettings("a path of this installation has a line break in it", where=" ".join(words))
    return line


def _kept_variables() -> list[str]:
    """Return assignments of the variables that say where trust and configuration of this person are."""
    kept = [f"{name}={shlex.quote(value)}" for name in _KEPT if (value := _absolute(name))]
    return [*kept, f"export {' '.join(one.partition('=')[0] for one in kept)}"] if kept else []


def _absolute(name: str) -> str:
    """Return the value of a variable if it has absolute paths alone; else nothing."""
    value = os.path.expanduser("~") if name == "HOME" else os.environ.get(name, "")
    paths = value.split(os.pathsep) if name.endswith("LIBRARY_PATH") else [value]
    return value if all(map(os.path.isabs, paths)) else ""


def _said(answer: HookOutput) -> str:
    """Return shell commands that answer, and end with the status."""
    said = [f"printf %s {shlex.quote(answer.stdout.strip())}"] if answer.stdout else []
    said += [f"printf '%s\\n' {shlex.quote(' '.join(answer.stderr.split()))} >&2"] if answer.stderr else []
    return "; ".join([*said, f"exit {answer.status}"])
