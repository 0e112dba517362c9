"""What is run as a hook: a compiled program, a Python script, a Python function. Each proves what it did."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

ANSWER = b"{}"

_SOURCE = r"""
#include <unistd.h>

/* Reads the event to its end and prints {}. Fails if there was no event. */
int main(void) {
    char buffer[65536];
    ssize_t got, total = 0;
    while ((got = read(0, buffer, sizeof buffer)) > 0) total += got;
    return total > 0 && write(1, "{}", 2) == 2 ? 0 : 1;
}
"""

_SCRIPT = r"""
import json
import sys

event = json.load(sys.stdin)
with open("/proc/self/cmdline") as file:
    began_as = file.read().replace("\0", " ")
json.dump({"systemMessage": event["tool_input"]["command"] + " " + began_as}, sys.stdout)
"""


class Programs:
    """The programs, made in a scratch directory."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.missing = ""
        """What is wrong with the compiled program; it is then one that neither reads nor answers."""
        self.trivial = self._compiled()
        self.script = scratch / "hook.py"
        self.script.write_text(_SCRIPT.lstrip(), encoding="utf-8")

    def _compiled(self) -> str:
        compiler = shutil.which("cc") or shutil.which("gcc")
        source, program = self.scratch / "trivial.c", self.scratch / "trivial"
        source.write_text(_SOURCE, encoding="utf-8")
        if compiler:
            for flags in (["-O2", "-static"], ["-O2"]):  # not every system has a C library to link statically
                command = [compiler, *flags, "-o", str(program), str(source)]
                if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                    return str(program)
        self.missing = "no C compiler here, so the command is /bin/true, which neither reads nor answers"
        return shutil.which("true") or "/bin/true"

    @property
    def answer(self) -> bytes:
        return b"" if self.missing else ANSWER


def answers(event: Mapping[str, object]) -> dict[str, str]:
    """The Python function: says which process it ran in."""
    _ = event["tool_input"]
    return {"systemMessage": str(os.getpid())}
