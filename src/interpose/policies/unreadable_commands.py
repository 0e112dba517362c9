"""Object to command lines that cannot be read, by the kind of what is unreadable."""

from __future__ import annotations

from collections.abc import Iterator

from .call import Call
from .effects.downloads import is_download_and_run
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {
    "computed": "computed",
    "input": "input",
    "written": "written",
    "file": "files",
    "code": "code",
    "variable": "variables",
    "broken": "broken",
    "control": "control",
}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for line in call.lines:
        if not line.opaque or is_download_and_run(line):
            continue
        for reason in line.opaque:
            yield Objection(options[_PARAMETERS[reason.kind]], f"the command line cannot be read: {reason}")


POLICY = Policy(
    name="unreadable-commands",
    prevents="Command lines whose commands cannot be read before they run, so that no rule can judge them.",
    judge=_judge,
    parameters=(
        action("computed", "ask", "a command that is computed while the line runs, such as eval with a variable"),
        action("input", "ask", "a program that runs what it reads from a pipe"),
        action("written", "ask", "running a file that the same line writes"),
        action("files", "ask", "commands in a file that is there already, such as source setup.sh"),
        action("code", "ask", "code in another language, such as python -c, that does more than print"),
        action("variables", "ask", "variables that make programs load code, such as LD_PRELOAD and PATH"),
        action("broken", "ask", "a text that is not a shell's, or too long to read"),
        action("control", "deny", "control characters in a line"),
    ),
    recommended={"files": "allow", "code": "allow"},
    notes="A line that does nothing but download a script and run it is judged by downloaded-code. "
    "While this policy is on, the other policies leave lines that cannot be read to it.",
)
