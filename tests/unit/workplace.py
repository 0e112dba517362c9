"""A place for the agent's tools to work in: a real directory, and writes that nobody objects to."""

import asyncio
from pathlib import Path
from typing import Any

from interpose.agent.tools import TOOLS, ToolFailed, Workplace, replace_file

NAMED = {tool.name: tool for tool in TOOLS}


async def write(path: Path, content: str) -> str:
    replace_file(path, content.encode())
    return content


def workplace(root: Path, **options: Any) -> Workplace:
    return Workplace(root, options.pop("write", write), **options)


async def calling(place: Workplace, tool: str, **given: Any) -> str:
    """Call a tool on a loop; a failure is text, too, as it is for a model."""
    try:
        return await NAMED[tool].run({key.replace("_dash_", "-"): value for key, value in given.items()}, place)
    except ToolFailed as failed:
        return f"failed: {failed}"


def call(place: Workplace, tool: str, **given: Any) -> str:
    return asyncio.run(calling(place, tool, **given))
