"""The keywords of ``Hooks`` and its methods, for type checkers and people. They are loaded when they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from ..events import Table
    from ..scripts import Commands

__all__ = ["DiscoverOptions", "HookOptions", "LoadOptions", "SettingOptions"]


class HookOptions(TypedDict, total=False):
    """The options of a hook: keywords of ``hooks.register()`` and ``hooks.on()``."""

    name: str | None
    """Names it in results and messages; a hook of the same name, layer, scope and event is replaced."""
    matcher: str | None
    """Compared with the event's subject: ``Bash``, ``Edit|Write``, ``mcp__*``, ``re:^Notebook``."""
    if_: str | Sequence[str] | None
    """A rule such as ``Bash(git push *)``, or several: the hook runs only if one matches."""
    priority: int
    """Lower runs earlier; 100 if not given."""
    timeout: float | None
    """Seconds; the engine's if not given."""
    on_error: Literal["log", "skip", "abort"] | None
    """What a failure means: ``log``, ``skip`` or ``abort``; the engine's ``error_behavior`` if not given."""
    enabled: bool
    enforce: bool
    """False records what the hook would have decided and applies nothing."""
    locked: bool
    """Nothing replaces it, lower layers cannot switch it off or override it, and it is a guard: its failure denies."""
    parallel: bool
    """Runs side by side with its parallel neighbours of the same priority."""
    async_: bool
    """Runs in the background: it decides nothing, and its context reaches the next firing."""
    once: bool
    inline: bool
    """Runs a trusted function in the caller's own task or thread."""
    isolate: Literal["process"] | None
    """``process`` runs a function in a process of its own, which can be killed."""
    scope: str | None
    """The agent that it holds for."""
    layer: str
    """Where it was written: ``code``, ``user``, ``project`` or ``local``."""
    description: str
    source: str
    """Where it was written, as ``file:line``."""
    type: str | None
    """The kind of handler: ``python``, ``command``, ``script``, ``http``, ``mcp_tool``, ``nats``, ``prompt``,
    ``agent``, or one that was added."""
    dialect: str
    prompt: str | None
    """What a model is to judge, in the place of a handler; ``$ARGUMENTS`` is the event."""
    model: str | None
    """The model that is asked: a name from ``models:``, or ``anthropic:NAME``."""
    continue_on_block: bool | None
    """False ends the agent's turn if the model's verdict is not ok."""
    cache: bool | None
    """False asks the model again about what it has judged already."""
    command: str | None
    """A line for the shell, in the place of a handler."""
    args: Sequence[str] | None
    """Arguments of the command, which is then run without a shell."""
    shell: str | None
    env: Mapping[str, str] | None
    """Variables that the command is given beside those that every command gets."""
    pass_env: Sequence[str] | None
    """Variables of the host that the command gets too."""
    inherit_env: bool
    cwd: str | None
    """The directory that the command runs in; if not given, that of the project or the event (``event``)."""
    isolation: Literal["group", "tree", "namespace"] | None
    """How the command's processes are held together: ``group``, ``tree`` or ``namespace``."""
    background: Literal["keep"] | None
    """``keep`` leaves processes alone that the command leaves behind."""
    warm: bool
    """Starts a Python script from a process that has imported its modules."""
    url: str | None
    """Where the event is posted to, in the place of a handler: ``http://`` or ``https://``."""
    headers: Mapping[str, str] | None
    """Headers of the request; ``$NAME`` and ``${NAME}`` in a value stand for variables that are allowed."""
    allowed_env_vars: Sequence[str] | None
    """The variables that headers may name; others are empty."""
    server: str | Mapping[str, Any] | None
    """The MCP server of a tool: its name, or the server as in ``mcpServers``."""
    tool: str | None
    """The tool of the MCP server that is called, in the place of a handler."""
    input: Mapping[str, Any] | None
    """What the tool is given; ``${tool_input.file_path}`` in a text stands for a part of the event."""
    subject: str | None
    """The subject of NATS whose workers are asked, in the place of a handler."""


class SettingOptions(TypedDict, total=False):
    """The settings of an engine, as keywords of ``Hooks()`` and ``Hooks.load()``: they win over those of a file."""

    error_behavior: Literal["log", "skip", "abort"]
    """What a failure means for a hook without ``on_error``: ``log``, ``skip`` or ``abort``."""
    default_timeout: float
    """Seconds that a hook has; 0 means 30."""
    timeout_ceiling: float
    """Seconds that no hook may exceed; 0 means no ceiling."""
    total_timeout: float
    """Seconds that a firing has as a whole; 0 means 120, or the longest deadline in it."""
    max_hooks_per_point: int
    """How many hooks one layer may have at an event; 0 means no limit."""
    enforce: bool
    """False records what would have been decided and applies nothing."""
    redirect_output: bool
    """Sends what Python hooks print to the log."""


class LoadOptions(SettingOptions, total=False):
    """The options of ``Hooks.load()`` and ``Hooks.discover()``."""

    dialect: str | None
    """``claude`` reads every file as Claude Code would; None goes by the name of a file."""
    commands: Commands | None
    """The commands that script lines may use."""
    watch: bool
    """Takes changed files over as they change."""
    lines: bool
    """Keeps the line of every hook; true unless it is said otherwise."""
    audit: bool
    """False records nothing, whatever the files say."""
    events: Table
    """The table of events."""


class DiscoverOptions(LoadOptions, total=False):
    """The options of ``Hooks.discover()``."""

    required: bool
    """Finding no trusted file is an error."""
    changed: Literal["refuse", "keep"]
    """What a trusted file that has changed means: an error, or its last trusted content with a warning."""
