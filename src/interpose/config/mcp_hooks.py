"""MCP servers of a configuration, and the McpTool of a hook from its options: ``server``, ``tool`` and ``input``.

The program of a server is looked up when a hook is declared, as a command is, and is run from the snapshot if the
configuration is trusted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ..dialects import dialect as find_dialect
from ..errors import BadHook, ConfigError, InterposeError, UsageError, nearest
from ..handlers.declared_command import Command
from ..handlers.mcp_servers import HttpServer, McpServer, StdioServer, filled_in, servers_of
from ..handlers.mcp_tool import McpTool
from ..handlers.projects import VARIABLE
from ..matching.written import as_written
from ..strict_json import BadJson, decode
from .commands import make_command
from .kinds import ConfigPlace

__all__ = ["FILE", "make_mcp_tool", "read_servers_file", "read_servers_section"]

FILE = ".mcp.json"
"""The servers of a project, for its settings files of Claude Code."""


def make_mcp_tool(place: ConfigPlace, *, server: Any, tool: Any, input: Any) -> tuple[McpTool, str]:
    """Return the tool that these options describe, and how it is shown; raise BadHook if they are wrong."""
    if not isinstance(server, (str, Mapping)) or not server:
        raise BadHook(f"server: {as_written(server)} where the name of an MCP server is expected",
                      hint="a name below mcpServers:, or a server such as {command: …}")  # fmt: skip
    if not isinstance(tool, str) or not tool:
        raise BadHook(f"tool: {as_written(tool)} where the name of a tool is expected")
    if input is not None and (not isinstance(input, Mapping) or not all(isinstance(name, str) for name in input)):
        raise BadHook(f"input: {as_written(input)} where names and values are expected")
    name, found = _server(server, place)
    problem = found if isinstance(found, str) else ""
    config = None if isinstance(found, str) else found
    program: Command | None = None
    if isinstance(config, StdioServer):
        program, config, problem = _program(name, config, place)
    made = McpTool(
        name=name, tool=tool, input=dict(input or {}), server=None if problem else config, program=program,
        problem=problem, dialect=place.dialect, write=find_dialect(place.dialect).write,
    )  # fmt: skip
    return made, f"{name}: {tool}"


def _server(server: str | Mapping[str, Any], place: ConfigPlace) -> tuple[str, McpServer | str]:
    """Return the name of a server, and the server, or why there is none."""
    if isinstance(server, Mapping):
        try:
            [found] = servers_of({"mcpServers": {"server": server}}, "server", None).values()
        except UsageError as error:
            raise BadHook(f"server: {error.problem.what}", hint=error.problem.hint) from None
        shown = found.url if isinstance(found, HttpServer) else os.path.basename(found.command)
        return shown.partition("?")[0].rpartition("@")[2], found
    if server in place.servers:
        return server, place.servers[server]
    if place.dialect == "claude":  # the client loads such a hook, and fails when its turn comes
        return server, f"no server of that name in the project's {FILE} or in ~/.claude.json"
    raise BadHook(f"server: there is no MCP server {server}",
                  hint=nearest(server, place.servers) or "describe it below mcpServers:")  # fmt: skip


def _program(name: str, config: StdioServer, place: ConfigPlace) -> tuple[Command | None, StdioServer | None, str]:
    """Return the program of a server as a command, the server with it, and why it cannot be used."""
    own = place.project_dir or os.path.abspath(place.directory or os.getcwd())
    try:
        first = filled_in(StdioServer(config.command), f"MCP server {name}")
    except UsageError as error:
        return None, None, str(error)
    words = [_placed(word, own) for word in (getattr(first, "command", ""), *config.args)]
    command = make_command(
        words, directory=place.directory, dialect=place.dialect, project_dir=place.project_dir,
        hooks_dir=place.hooks_dir, trusted=place.trusted, guard=place.guard,
        env=dict(config.env), cwd=config.cwd or own,
    )  # fmt: skip
    return command, config, ""


def _placed(word: str, project: str) -> str:
    for spelled in (f"${{{VARIABLE}}}", f"${{{VARIABLE}:-.}}"):
        word = word.replace(spelled, project)
    return word


def read_servers_section(given: Any, wrong: Callable[..., None]) -> dict[str, McpServer]:
    """Read ``mcpServers:`` of a configuration; report every server that is wrong."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        wrong("mcpServers", f"{as_written(given)} where names and servers are expected", "name: {command: …}")
        return {}
    found: dict[str, McpServer] = {}
    for name, entry in given.items():
        path = f"mcpServers.{name}"
        if not isinstance(name, str) or not name:
            wrong("mcpServers", f"{name!r} is not the name of a server", "quote it")
            continue
        if name.startswith("x-"):
            continue
        try:
            found |= servers_of({"mcpServers": {name: entry}}, "", None)
        except UsageError as error:
            key = error.problem.where.removeprefix(f": {path}").removeprefix(".")
            wrong(f"{path}.{key}" if key else path, f"{key}: {error.problem.what}" if key else error.problem.what,
                  error.problem.hint)  # fmt: skip
    return found


def read_servers_file(path: str, read: Callable[[str], bytes] | None, warn: Callable[..., None]) -> dict[str, Any]:
    """Read the servers of a ``.mcp.json``; a server that cannot be read is a text that says why.

    ``read`` returns the content of a file that is a part of what is trusted.
    """
    try:
        data = read(path) if read is not None else _content(path)
        given = decode(data) if data is not None else {}
    except (InterposeError, BadJson, OSError) as error:
        if isinstance(error, ConfigError) and not os.path.lexists(path):
            return {}
        warn("hooks", f"{path} cannot be read, so its MCP servers cannot be used: {error}")
        return {}
    entries = given.get("mcpServers") if isinstance(given, Mapping) else None
    found: dict[str, Any] = {}
    for name, entry in entries.items() if isinstance(entries, Mapping) else ():
        try:
            found |= servers_of({"mcpServers": {name: entry}}, path, None)
        except UsageError as error:
            found[name] = str(error)
    return found


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None
