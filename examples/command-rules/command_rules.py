"""Deny programs that this project does not use, and say what to use instead."""

from interpose import ask, deny, shell_commands

INSTEAD = {"yarn": "npm", "pip": "uv", "pip3": "uv"}


def check(event):
    """Look at every command that a line runs."""
    commands = shell_commands(event.tool_input["command"])
    if commands is None or any(not command[0].known for command in commands):
        return ask("it cannot be seen which programs this line runs")
    for command in commands:
        program = command[0].text.rpartition("/")[2]
        if program in INSTEAD:
            return deny(f"this project uses {INSTEAD[program]}, not {program}")
