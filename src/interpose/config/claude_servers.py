"""MCP servers of ``~/.claude.json``: those of the user, and those that the user has added for one project.

The client writes that file all the time, and it has keys in it. So what is trusted is not the file but a part of it:
the entry of each server that a hook names. A part has a name of its own, and is read, hashed and stored as a file is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import ConfigError, InterposeError, Problem, UsageError
from ..strict_json import BadJson, decode
from .files import read as read_file

__all__ = ["file_of", "is_part", "read_part", "servers_named"]

_FILE = ".claude.json"
_MARK = f"{os.sep}{_FILE}#"
_MOST_BYTES = 64 * 1024 * 1024
"""The client keeps its history there too."""


def is_part(path: str) -> bool:
    """Return whether a path names an entry of ``~/.claude.json``."""
    return _MARK in path


def file_of(path: str) -> str:
    """Return the file that a path is a part of; the path itself if it is a file."""
    return path.partition("#")[0] if is_part(path) else path


def _part(name: str, project: str) -> str:
    """Return the name of an entry: of a project, or of the user."""
    where = f"projects[{json.dumps(project)}].mcpServers" if project else "mcpServers"
    # No part of it may look like a folder.
    named = f"{where}[{json.dumps(name)}]".replace("%", "%25").replace(os.sep, "%2F")
    return os.path.join(os.path.expanduser("~"), f"{_FILE}#{named}")


def read_part(path: str) -> bytes:
    """Return an entry as JSON; raise ConfigError if there is none."""
    file, _, named = path.partition("#")
    named = named.replace("%2F", os.sep).replace("%25", "%")
    try:
        value: Any = decode(read_file(file, found=False, limit=_MOST_BYTES, hashed=False).data)
    except BadJson as error:
        raise ConfigError([Problem(f"not JSON: {error}", where=file)]) from None
    if named.startswith("projects["):
        project, end = json.JSONDecoder().raw_decode(named, len("projects["))
        value, named = _member(_member(value, "projects"), project), named[end + 2 :]
    entry = _member(_member(value, "mcpServers"), json.loads(named[len("mcpServers[") : -1]))
    if entry is None:
        raise ConfigError([Problem("there is no such MCP server", where=path)])
    return json.dumps(entry, sort_keys=True).encode()


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def servers_named(
    name: str, project: str, read: Callable[[str], bytes] | None, others: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the server of a name, or nothing: the project's own one first, then one of ``others``, then the user's.

    ``read`` returns what is a part of what is trusted. A server that cannot be read is a text that says why.
    """
    for scope in (project, "") if project else ("",):
        if not scope and name in others:
            return {name: others[name]}
        part = _part(name, scope)
        try:
            entry = decode((read or read_part)(part))
        except (InterposeError, BadJson, OSError):
            continue
        try:
            from ..handlers.mcp_servers import servers_of

            return servers_of({"mcpServers": {name: entry}}, part, None)
        except UsageError as error:
            return {name: str(error)}
    return {}
