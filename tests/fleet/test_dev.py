"""`interpose fleet dev` starts a whole fleet, of which nothing is left after Ctrl-C."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.hosts import eventually

from interpose.cli.fleet import dev
from interpose.runtime.tasks import end_tasks

pytestmark = pytest.mark.slow


def _left(folder: Path) -> list[str]:
    """The command lines of processes that name a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if os.fsencode(folder) in line and entry.name != str(os.getpid()):
            found.append(line.decode(errors="replace"))
    return found


def _environment(home: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "INTERPOSE"))}
    return {**clean, "HOME": str(home), "NO_COLOR": "1"}


def test_a_fleet_on_one_machine_denies_on_both_nodes_and_ends_whole(tmp_path: Path) -> None:
    folder = tmp_path / "dev"
    environment = _environment(tmp_path)
    with (tmp_path / "out.txt").open("wb") as out:
        fleet = subprocess.Popen(
            [sys.executable, "-m", "interpose.cli", "fleet", "dev", "--dir", str(folder)],
            stdout=out,
            stderr=out,
            env=environment,
        )
    try:
        out_file = tmp_path / "out.txt"
        assert eventually(lambda: "Ctrl-C ends" in out_file.read_text() or fleet.poll() is not None, 180), "too slow"
        shown = out_file.read_text()
        assert fleet.poll() is None, shown
        for node in ("one", "two"):
            given = json.dumps({"command": "cat secrets/key"})
            done = subprocess.run(
                [folder / node / "interpose", "fire", "PreToolUse", "--tool", "Bash", "--tool-input", given, "--json"],
                capture_output=True, env=environment, timeout=60, check=False,
            )  # fmt: skip
            assert json.loads(done.stdout)["decision"] == "deny", done
        lines = [line.strip() for line in shown.splitlines() if line.startswith("      ")]
        assert len(lines) == 10
        for line in lines:
            program = f"{sys.executable} -m interpose.cli"
            words = line.replace("interpose fleet", f"{program} fleet", 1) if line.startswith("interpose ") else line
            tried = subprocess.run(
                words, shell=True, capture_output=True, text=True, env=environment, timeout=120, check=False
            )
            assert "Traceback" not in tried.stderr, tried
            assert tried.returncode in (0, 1, 2), tried
        status = subprocess.run(
            [sys.executable, "-m", "interpose.cli", "fleet", "status", "-c", folder / "alice.yaml", "--json"],
            capture_output=True, env=environment, timeout=60, check=False,
        )  # fmt: skip
        said = json.loads(status.stdout)
        assert {ring["ring"]: ring["version"] for ring in said["rings"]} == {"canary": 1, "prod": 2}, (said, lines)
    finally:
        fleet.send_signal(signal.SIGINT)
        fleet.wait(60)

    assert fleet.returncode == 0
    assert eventually(lambda: not _left(folder)), _left(folder)


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    words = [sys.executable, "-m", "interpose.cli", "fleet", "dev", "--dir", str(tmp_path)]

    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60, env=_environment(tmp_path / "home"), check=False
    )

    assert done.returncode == 1
    assert "not an empty folder" in done.stderr


def test_a_process_whose_end_is_interrupted_is_killed(tmp_path: Path) -> None:
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True)"

    async def main() -> int | None:
        async def ended() -> None:
            async with dev._process([sys.executable, "-c", f"{stubborn}; time.sleep(600)"], tmp_path / "log") as one:
                started.append(one)
                assert await asyncio.to_thread(eventually, lambda: "ready" in (tmp_path / "log").read_text())
                ready.set()
                await one.wait()

        ready = asyncio.Event()
        started: list[asyncio.subprocess.Process] = []
        ending = asyncio.create_task(ended())
        async with asyncio.timeout(60):
            await ready.wait()
            await end_tasks([ending], pause=0.2)
            return await started[0].wait()

    assert asyncio.run(main()) == -signal.SIGKILL


def test_a_process_that_ends_as_it_is_given_up_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ended:
        """A process that has ended, of which the loop has not been told yet."""

        returncode = None

        def __init__(self, pid: int) -> None:
            self.pid = pid

        async def wait(self) -> None:
            self.wait = self.told  # type: ignore[method-assign]
            await asyncio.Event().wait()

        async def told(self) -> None:
            return None

    with subprocess.Popen(["true"], start_new_session=True) as process:
        process.wait()
    monkeypatch.setattr(dev, "_ENDING", 0.01)

    asyncio.run(dev._end(Ended(process.pid)))  # type: ignore[arg-type]
