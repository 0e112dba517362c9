"""The machine that a run was made on, in words that can be compared with another machine."""

import os
import platform
import subprocess
from pathlib import Path


def machine() -> str:
    """Processor, cores, memory and kernel; nothing that tells whose machine it is."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [
        processor(),
        "1 core" if cores == 1 else f"{cores} cores",
        f"{memory:.0f} GiB of memory",
        f"{platform.system()} {platform.release()}",
    ]
    return ", ".join(parts)


def processor() -> str:
    """The processor's name as the system has it, or at least its architecture."""
    try:
        return model_name(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")) or platform.machine()
    except OSError:  # no Linux
        return _asked("sysctl", "-n", "machdep.cpu.brand_string") or platform.machine()


def model_name(cpuinfo: str) -> str:
    """The name in the text of `/proc/cpuinfo`; nothing where the architecture writes none."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return " ".join(value.split())
    return ""


def load() -> float:
    """How many processes wanted to run during the last minute: what else the machine was doing."""
    return round(os.getloadavg()[0], 1)


def _asked(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return " ".join(done.stdout.split()) if done.returncode == 0 else ""
