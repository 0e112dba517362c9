"""The table of commands: each command is a module of this package and a line here. Imports no command."""

from __future__ import annotations

from ..runtime.named_tuples import NamedTuple

__all__ = ["COMMANDS", "GROUPS", "Subcommand", "names"]


class Subcommand(NamedTuple):
    """One command: its name, its group in the help, its purpose, and its function.

    ``place`` is ``module`` or ``module:function`` in this package; the function is ``run`` by default. typer calls the
    function, which returns an exit status or None; a command with subcommands names a typer app instead. A module must
    not have the name of a builtin, which it would replace in this package once it is imported.
    """

    name: str
    group: str
    purpose: str
    place: str


BEGIN, LOOK, TRY, DECIDE = "Begin", "Look", "Try", "Decide"

GROUPS = (BEGIN, LOOK, TRY, DECIDE)
"""The groups of the help, in order."""

COMMANDS = (
    Subcommand("demo", BEGIN, "See hooks at work.", "demo"),
    Subcommand("init", BEGIN, "Write a starter configuration with a guard that works.", "init"),
    Subcommand("scan", BEGIN, "Show what policies would have stopped in your agents' past sessions.", "scan"),
    Subcommand("run", BEGIN, "Run a small coding agent whose every action goes through your hooks.", "run"),
    Subcommand(
        "attach", BEGIN, "Guard the coding agents that you run: Claude Code, Codex and others.", "attach:attach"
    ),
    Subcommand("mcp-proxy", BEGIN, "Put hooks in front of an MCP server, for any client.", "mcp_proxy"),
    Subcommand("serve", BEGIN, "Keep the engine in memory, so that hooks answer sooner.", "serve"),
    Subcommand("fleet", BEGIN, "Give many machines the same rules, one record and one place to ask.", "fleet:app"),
    Subcommand("worker", BEGIN, "Serve functions to the hooks of other machines, over NATS.", "worker"),
    Subcommand("check", LOOK, "Report everything that is wrong or doubtful in a configuration.", "check"),
    Subcommand("list", LOOK, "List the hooks: where each comes from, on or off.", "list_hooks"),
    Subcommand("policies", LOOK, "List the policies: on or off, and what each has stopped.", "policies:app"),
    Subcommand(
        "agents", LOOK, "Show what hooks can do in each coding agent, and whether they are asked.", "agents:app"
    ),
    Subcommand("events", LOOK, "Show the events, and what a hook may do at each.", "events"),
    Subcommand("schema", LOOK, "Print the JSON Schema of the configuration, for editors.", "schema"),
    Subcommand("log", LOOK, "Show what was decided and why, from the audit store.", "log:app"),
    Subcommand("tail", LOOK, "Follow the record as it is written, and answer questions in place.", "tail"),
    Subcommand("stats", LOOK, "Show which hooks are slow, which fail, and which never run.", "stats"),
    Subcommand("ui", LOOK, "Open the pages: what runs, what was stopped, what waits for you.", "ui"),
    Subcommand("report", LOOK, "Write a report as one HTML file, for people without the tool.", "report"),
    Subcommand("explain", TRY, "Show for every hook why it would run or not; run nothing.", "explain"),
    Subcommand("fire", TRY, "Fire one event through the hooks, or act as a hook.", "app:fire_help"),
    Subcommand("test", TRY, "Run files of cases: given an event, expect an outcome.", "test"),
    Subcommand("replay", TRY, "Decide a recorded session again with another configuration.", "replay"),
    Subcommand("doctor", TRY, "Run each hook with made-up events, and report problems.", "doctor"),
    Subcommand("trust", DECIDE, "Review a configuration that was found, and arm it.", "trust"),
    Subcommand("enable", DECIDE, "Switch a hook on in this project.", "switch:enable"),
    Subcommand("disable", DECIDE, "Switch a hook off in this project.", "switch:disable"),
    Subcommand("questions", DECIDE, "List the calls that wait for a person's answer.", "questions:app"),
    Subcommand("approve", DECIDE, "Let a call run that waits for an answer.", "answer:approve"),
    Subcommand("refuse", DECIDE, "Deny a call that waits for an answer.", "answer:refuse"),
    Subcommand("detach", DECIDE, "Take Interpose off an agent, and give its settings back.", "attach:detach"),
    Subcommand("undo", DECIDE, "Restore the files that an agent's last writes changed.", "undo"),
)


def names() -> tuple[str, ...]:
    """Return the names of all commands."""
    return tuple(command.name for command in COMMANDS)
