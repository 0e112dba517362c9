"""Worker processes of ``interpose worker``: started, listened to, stopped, killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.faults.hosts import environment, halt

from interpose import Hooks

CHECKS = """
import asyncio, os, time
from interpose import ask, deny, modify

def licences(event):
    if "gpl" in event.tool_input["command"]:
        return deny("GPL")

async def name(event):
    return deny(f"{os.getpid()}")

async def sdk(input, tool_use_id, context):
    return {"decision": "deny", "reason": f"{input['tool_input']['command']} {tool_use_id}"}

def change(event):
    return modify(tool_input={**event.tool_input, "command": "pwd"})

def boom(event):
    raise ValueError("boom")

def nonsense(event):
    return 5

async def hang(event):
    await asyncio.sleep(60)

def slow(event):
    time.sleep(0.3)
    return deny("slow")

def count(event):
    with open("count.txt", "a") as opened:
        opened.write(event.tool_input["command"] + "\\n")
    time.sleep(4.5)  # the request comes again after half of its eight seconds
    return deny("counted")

def slower(event):
    time.sleep(3)
    return deny("slower")

def large(event):
    return deny("x" * 2_000_000)

not_a_function = 5
"""


def write_project(folder: Path, url: str) -> Path:
    """Write functions and a configuration; return the configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "checks.py").write_text(CHECKS)
    config = folder / "fleet.yaml"
    config.write_text(f"fleet: {{servers: '{url}', team: t}}\n")
    return config


def interpose(folder: Path, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "interpose.cli", *arguments], cwd=folder, env=environment(**more),
        capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


class WorkerProcess:
    """A worker that serves functions of ``checks.py``."""

    def __init__(self, folder: Path, *functions: str, options: tuple[str, ...] = ()) -> None:
        names = [f"checks:{function}" for function in functions]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "interpose.cli", "worker", *names, "--config", "fleet.yaml", *options],
            cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.said = [self.process.stdout.readline() for _ in functions]

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, number: int) -> None:
        if number == signal.SIGSTOP:
            halt(self.pid)
        else:
            os.kill(self.pid, number)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.send(signal.SIGCONT)
            self.process.kill()
        self.process.communicate()


def asks(url: str, function: str, **options: object) -> Hooks:
    """Return hooks with one that asks the workers of a function."""
    hooks = Hooks.from_mapping({"fleet": {"servers": url, "team": "t"}})
    hooks.register("PreToolUse", subject=f"checks.{function}", name="remote", **{"timeout": 20, **options})  # type: ignore[arg-type]
    return hooks
