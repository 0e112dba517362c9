"""MCP servers, as a ``.mcp.json`` and ``mcpServers:`` describe them.

Variables such as ``${TOKEN}`` and ``${PORT:-8000}`` are filled in when servers are read, or later, by ``filled_in``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import UsageError
from ..runtime.named_tuples import NamedTuple
from ..runtime.regex import regex

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["HttpServer", "McpServer", "StdioServer", "filled_in", "read_servers", "servers_of"]


_NOTHING: Mapping[str, str] = MappingProxyType({})


class StdioServer(NamedTuple):
    """A server that is a program; it gets a few variables of our environment, and those given here."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = _NOTHING
    cwd: str | None = None


class HttpServer(NamedTuple):
    """A server at a URL (streamable HTTP)."""

    url: str
    headers: Mapping[str, str] = _NOTHING


McpServer: TypeAlias = StdioServer | HttpServer

_VARIABLE = regex(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KEYS = {"stdio": ("command", "args", "env", "cwd"), "http": ("url", "headers")}
_TYPES = {"stdio": "stdio", "http": "http", "streamable-http": "http", "streamableHttp": "http"}


def read_servers(path: Path, environ: Mapping[str, str] = os.environ) -> dict[str, McpServer]:
    """Return the servers of a file; raise UsageError if it cannot be read or is not valid."""
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path), hint="check the path") from None
    except UnicodeDecodeError:
        raise UsageError("is not in UTF-8", where=str(path), hint="save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"not JSON: {error.msg}", where=f"{path}:{error.lineno}:{error.colno}") from None
    except RecursionError:
        raise UsageError("is nested too deeply", where=str(path)) from None
    return servers_of(value, str(path), environ)


def servers_of(value: Any, where: str, environ: Mapping[str, str] | None = os.environ) -> dict[str, McpServer]:
    """Return the servers of ``{"mcpServers": {name: …}}``; ``where`` is named in errors.

    Without an ``environ``, variables stay as they are written, for ``filled_in``.
    """
    servers = value.get("mcpServers") if isinstance(value, dict) else None
    if not isinstance(servers, dict):
        raise UsageError("has no servers", where=where, hint='{"mcpServers": {"name": {"command": "…"}}}')
    return {
        name: _ServerEntryReader(f"{where}: mcpServers.{name}", environ).server(entry)
        for name, entry in servers.items()
    }


def filled_in(server: McpServer, where: str, environ: Mapping[str, str] = os.environ) -> McpServer:
    """Return a server with its variables filled in; raise UsageError if one is not set."""
    reader = _ServerEntryReader(where, environ)
    if isinstance(server, HttpServer):
        return HttpServer(reader.fill("url", server.url), reader.fill_all("headers", server.headers))
    args = tuple(reader.fill(f"args[{number}]", arg) for number, arg in enumerate(server.args))
    cwd = None if server.cwd is None else reader.fill("cwd", server.cwd)
    return StdioServer(reader.fill("command", server.command), args, reader.fill_all("env", server.env), cwd)


class _ServerEntryReader:
    """Reads the entry of one server; errors say where the entry is."""

    def __init__(self, where: str, environ: Mapping[str, str] | None) -> None:
        self._where = where
        self._environ = environ

    def server(self, entry: Any) -> McpServer:
        if not isinstance(entry, dict):
            raise self._wrong("", "is not an object", 'such as {"command": "…"} or {"type": "http", "url": "…"}')
        kind = self._kind(entry)
        for key in entry:
            if key not in ("type", *_KEYS[kind]):
                raise self._wrong(key, f"is not a key of a server of type {kind}", f"{', '.join(_KEYS[kind])}")
        if kind == "http":
            url = self._text("url", entry.get("url"))
            if not url.startswith(("http://", "https://", *(() if self._environ is not None else ("${",)))):
                raise self._wrong("url", f"{url!a} is not a URL", "http:// or https://")
            return HttpServer(url, self._texts("headers", entry.get("headers", {})))
        args = entry.get("args", [])
        if not isinstance(args, list):
            raise self._wrong("args", "is not a list", "a list of texts")
        cwd = entry.get("cwd")
        return StdioServer(
            self._text("command", entry.get("command")),
            tuple(self._text(f"args[{number}]", arg, empty=True) for number, arg in enumerate(args)),
            self._texts("env", entry.get("env", {})),
            None if cwd is None else self._text("cwd", cwd),
        )

    def _kind(self, entry: dict[str, Any]) -> str:
        named = entry.get("type", "http" if "url" in entry and "command" not in entry else "stdio")
        kind = _TYPES.get(named) if isinstance(named, str) else None
        if kind is None:
            raise self._wrong("type", f"{named!a} is not a type of server that can be used", "stdio or http")
        return kind

    def _texts(self, key: str, value: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            raise self._wrong(key, "is not an object", "names and texts")
        return {name: self._text(f"{key}.{name}", text, empty=True) for name, text in value.items()}

    def _text(self, key: str, value: Any, *, empty: bool = False) -> str:
        if not isinstance(value, str) or (not value and not empty):
            raise self._wrong(key, "is missing" if value is None else "is not a text", "a text in quotes")
        return self.fill(key, value)

    def fill(self, key: str, text: str) -> str:
        """Return a text with its variables filled in."""
        return text if self._environ is None else _VARIABLE.sub(lambda match: self._variable(key, match), text)

    def fill_all(self, key: str, texts: Mapping[str, str]) -> dict[str, str]:
        """Return texts with their variables filled in."""
        return {name: self.fill(f"{key}.{name}", text) for name, text in texts.items()}

    def _variable(self, key: str, match: re.Match[str]) -> str:
        found = (self._environ or {}).get(match[1], match[2])
        if found is None:
            hint = f"set it, or give a default: ${{{match[1]}:-…}}"
            raise self._wrong(key, f"the variable {match[1]} is not set", hint)
        return found

    def _wrong(self, key: str, what: str, hint: str) -> UsageError:
        return UsageError(what, where=f"{self._where}.{key}" if key else self._where, hint=hint)
