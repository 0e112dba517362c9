"""What an MCP server's tool answered, and what went wrong with a server, as text for a model or a person."""

from __future__ import annotations

import json
from typing import Any

from .excerpt import Excerpt

__all__ = ["explained", "text_of"]

_MOST_CHARACTERS = 100_000


def text_of(result: Any) -> str:
    """Return an answer as text; what is none, such as an image, is described."""
    parts = [_block(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    excerpt = Excerpt(_MOST_CHARACTERS)
    excerpt.feed("\n".join(parts).encode("utf-8", "replace"), final=True)
    return excerpt.text() or "(no output)"


def _block(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return f"({block.type}, {block.mime_type}, {_bytes(block.data)}: it cannot be shown as text)"
        case "resource_link":
            return f"(resource {block.uri}: {block.description or block.title or block.name})"
        case "resource" if hasattr(block.resource, "text"):
            return f"(resource {block.resource.uri})\n{block.resource.text}"
        case "resource":
            kind = block.resource.mime_type or "binary"
            return f"(resource {block.resource.uri}, {kind}, {_bytes(block.resource.blob)}: it cannot be shown as text)"
        case other:
            return f"({other}: it cannot be shown as text)"


def _bytes(base64: str) -> str:
    return f"{len(base64.rstrip('=')) * 3 // 4:,} bytes"


def explained(error: BaseException) -> str:
    """Return what is wrong in a line; of a group of errors, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if type(error).__name__ in ("ClosedResourceError", "BrokenResourceError"):
        return "the connection is closed"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= 500 else f"{said[:500]} …"
