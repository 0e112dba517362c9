"""Results of MCP servers as text."""

from __future__ import annotations

import json
from typing import Any

from .truncated_output import TruncatedOutput

__all__ = ["text_of"]

_MAX_CHARACTERS = 100_000


def text_of(result: Any) -> str:
    """Return a result as text; images and other data are described."""
    parts = [_block(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    output = TruncatedOutput(_MAX_CHARACTERS)
    output.feed("\n".join(parts).encode("utf-8", "replace"), final=True)
    return output.text() or "(no output)"


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
