"""The least that the same work costs, and what asyncio's own ways cost."""

import asyncio
import os
import subprocess
import sys
import time

from benchmarks.measure import Idle, Stopwatch


def posix_spawn(program: str, event: bytes, answer: bytes) -> Stopwatch:
    """The floor: three pipes, a spawn, write, read to the end, wait. It blocks, and keeps no deadline."""

    def once() -> bytes:
        their_stdin, stdin = os.pipe()
        stdout, their_stdout = os.pipe()
        stderr, their_stderr = os.pipe()
        pid = os.posix_spawn(
            program,
            [program],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, their_stdin, 0),
                (os.POSIX_SPAWN_DUP2, their_stdout, 1),
                (os.POSIX_SPAWN_DUP2, their_stderr, 2),
            ],
        )
        os.close(their_stdin)
        os.close(their_stdout)
        os.close(their_stderr)
        try:
            os.write(stdin, event)
        except BrokenPipeError:  # a command that does not read
            pass
        os.close(stdin)
        said = b""
        while data := os.read(stdout, 65536):
            said += data
        os.close(stdout)
        os.close(stderr)
        os.waitpid(pid, 0)
        return said

    def timed(loops: int) -> float:
        began = time.perf_counter()
        said = {once() for _ in range(loops)}
        seconds = time.perf_counter() - began
        _check("posix_spawn", said, answer)
        return seconds

    return timed


def create_subprocess_exec(runner: asyncio.Runner, program: str, event: bytes, answer: bytes) -> Stopwatch:
    """What asyncio offers, on the event loop of the runner."""

    async def once() -> bytes:
        process = await asyncio.create_subprocess_exec(
            program,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        said, _ = await process.communicate(event)
        return said

    async def timed(loops: int) -> float:
        began = time.perf_counter()
        said = {await once() for _ in range(loops)}
        seconds = time.perf_counter() - began
        _check("create_subprocess_exec", said, answer)
        return seconds

    return lambda loops: runner.run(timed(loops))


def python_start() -> Stopwatch:
    """Starting this interpreter for nothing."""

    def timed(loops: int) -> float:
        began = time.perf_counter()
        for _ in range(loops):
            subprocess.run([sys.executable, "-c", "pass"], check=True)
        return time.perf_counter() - began

    return timed


def _check(name: str, said: set[bytes], answer: bytes) -> None:
    if said != {answer}:
        raise Idle(f"{name}: the command said {said}")
