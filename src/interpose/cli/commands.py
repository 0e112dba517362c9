"""The table of commands: each is a file and a line here. Nothing is imported until a command is called."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "GROUPS", "Command", "names"]


class Command(NamedTuple):
    """One command: its name, the panel of the help that it stands in, what it is for, and where it is.

    ``place`` is ``module`` or ``module:function`` inside this package; the function is ``run`` unless it is named. It
    takes what typer makes of the command line, and returns an exit status or nothing; where a command has commands of
    its own, a typer app stands in its place. A module must not have the name of a builtin: once it is imported, it
    would stand in the builtin's place in this package.
    """

    name: str
    group: str
    purpose: str
    place: str


BEGIN, LOOK, TRY, DECIDE = "Begin", "Look", "Try", "Decide"

GROUPS = (BEGIN, LOOK, TRY, DECIDE)
"""The panels of the help, in their order."""

COMMANDS = (
    Command("demo", BEGIN, "See hooks at work.", "demo"),
    Command("init", BEGIN, "Write a starter configuration with a guard that works.", "init"),
    Command("run", BEGIN, "Run a small coding agent whose every action goes through your hooks.", "run"),
    Command("check", LOOK, "Say everything that is wrong or doubtful in a configuration.", "check"),
    Command("list", LOOK, "List the hooks: where each is from, on or off.", "listing"),
    Command("events", LOOK, "Show what fires when, and what a hook may do there.", "events"),
    Command("schema", LOOK, "Print the JSON Schema of the configuration, for editors.", "schema"),
    Command("log", LOOK, "Show what was decided and why, from the record.", "log:app"),
    Command("stats", LOOK, "Say which hooks are slow, which fail, and which never run.", "stats"),
    Command("explain", TRY, "Say for every hook why it would run or not; run nothing.", "explain"),
    Command("fire", TRY, "Fire one event through the hooks, or be a hook yourself.", "fire_help"),
    Command("test", TRY, "Run files of cases: given an event, expect an outcome.", "test"),
    Command("replay", TRY, "Decide a recorded session again with another configuration.", "replay"),
    Command("doctor", TRY, "Run each hook once with a harmless event and say what is amiss.", "doctor"),
    Command("trust", DECIDE, "Look at a configuration that was found, and let it arm.", "trust"),
    Command("enable", DECIDE, "Switch a hook on in this project.", "switch:enable"),
    Command("disable", DECIDE, "Switch a hook off in this project.", "switch:disable"),
    Command("undo", DECIDE, "Bring back what was there before an agent's last writes.", "undo"),
)


def names() -> tuple[str, ...]:
    """Return the names of all commands."""
    return tuple(command.name for command in COMMANDS)
