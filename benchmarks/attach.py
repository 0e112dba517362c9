"""Attach and detach on settings files as people have them: does every file come back byte for byte?

python -m benchmarks.attach --cases DIR     every .json, .jsonc, .toml, .yaml and .yml below a directory

Each file is put where its agent has it in an empty project, attached and detached. A file whose path names no agent
is read as Claude Code's; TOML is read as Codex's and YAML as Hermes's. The exit status is 1 if a file does not come
back, or if an agent could not read what was written.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from interpose.attach import attachment
from interpose.attach.agents import AGENTS, CodingAgent, Scope
from interpose.attach.attachment import detach, plan, write
from interpose.attach.entry import SettingsEntry, make_entries
from interpose.attach.errors import BadSettings
from interpose.attach.json_edit import JsonText
from interpose.attach.shapes import JsonHooks
from interpose.dialects.agents import agent_dialect

__all__ = ["main", "run_case"]

_FOLDERS = {".gemini": "gemini", ".qwen": "qwen", ".cursor": "cursor", ".factory": "droid", ".windsurf": "windsurf",
            ".augment": "auggie", ".deepagents": "deepagents", ".openhands": "openhands",
            ".codex": "codex"}  # fmt: skip


MOVED: dict[str, CodingAgent] = {}
"""The agents of the case, with the places where it has their files."""


def agent_of(path: Path) -> tuple[CodingAgent, Scope]:
    """Return the agent and the scope whose settings a file is taken for."""
    if path.suffix == ".toml":
        return AGENTS["codex"], "managed"
    if path.suffix in (".yaml", ".yml"):
        return AGENTS["hermes"], "user"
    name = next((agent for folder, agent in _FOLDERS.items() if folder in path.parts), "claude")
    return AGENTS[name], "local"


def entries_for(agent: CodingAgent) -> list[SettingsEntry]:
    """Return the entries of an agent, for a client that is never started."""
    dialect = agent_dialect(agent.name)
    return make_entries(agent.name, dialect.EVENTS, dialect.write_failure, agent.deadlines, ["/opt/interpose-fire"])


def run_case(path: Path, folder: Path) -> str:
    """Attach and detach one file; return ``same``, ``refused``, or what went wrong."""
    agent, scope = agent_of(path)
    data = path.read_bytes()
    project = folder / "project"
    os.environ["HOME"] = str(folder / "home")
    if scope == "managed":  # not on this machine
        agent = replace(agent, places={**agent.places, scope: "managed.toml"})
    MOVED[agent.name] = agent
    file = Path(agent.path(scope, str(project)))
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    shape = agent.shape_of(scope)
    try:
        made = plan(agent, scope, str(project), entries_for(agent))
    except BadSettings as error:
        return (
            f"refused: {str(error).partition(': ')[2].partition(' (')[0]}" if file.read_bytes() == data else "changed"
        )
    write(made)
    after = file.read_text(encoding="utf-8-sig")
    if wrong := _unreadable(shape, after, data):
        return wrong
    taken_out = shape.remove(file.read_bytes().decode(), made.files[0].made, str(file)).encode()
    detach(made.key)
    if not file.exists() or file.read_bytes() != data:
        return "not the same"
    return "same" if taken_out == data else "same, and by its copy only"


def _unreadable(shape: object, after: str, data: bytes) -> str:
    """Return why an agent could not read the file that was written; empty if it can."""
    try:
        if isinstance(shape, JsonHooks):
            if not JsonText(data.decode("utf-8-sig")).notes:
                json.loads(after)
        elif after.lstrip().startswith(("[", "#")) or "=" in after:
            tomllib.loads(after)
    except ValueError as error:
        return f"unreadable: {error}"
    return ""


def files_below(folder: Path) -> Iterator[Path]:
    """Return the settings files below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".json", ".jsonc", ".toml", ".yaml", ".yml") and path.is_file():
            yield path


def main(arguments: list[str] | None = None) -> int:
    """Run the cases and print the counts."""
    parser = argparse.ArgumentParser(prog="benchmarks.attach", description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", required=True, type=Path, help="a directory of settings files")
    parser.add_argument("--list", action="store_true", help="print each file that was refused or is wrong")
    given = parser.parse_args(arguments)
    if not given.cases.is_dir():
        parser.error(f"{given.cases} is not a directory")
    known = attachment.find_agent
    attachment.find_agent = lambda name: MOVED.get(name) or known(name)  # where the case has its file
    counts: dict[str, Counter[str]] = {}
    home = os.environ.get("HOME", "")
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        del os.environ[name]
    try:
        for path in files_below(given.cases):
            with tempfile.TemporaryDirectory() as folder:
                result = run_case(path, Path(folder))
            counts.setdefault(agent_of(path)[0].title, Counter())[result.partition(":")[0]] += 1
            if given.list and not result.startswith("same"):
                print(f"{path}: {result}")
    finally:
        os.environ["HOME"] = home
    total = sum(counts.values(), Counter[str]())
    for title, found in [*counts.items(), ("all", total)]:
        print(f"{title:<14} {sum(found.values()):>4} files: " + ", ".join(f"{n} {what}" for what, n in found.items()))
    wrong = [what for what in total if not what.startswith(("same", "refused"))]
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
