"""Short words to read the lines of a script and to run one of them."""

from typing import Any

import pytest

from interpose import ConfigError
from interpose.event import Event, event_of
from interpose.events import TABLE
from interpose.model import Hook, Template
from interpose.scripts import Commands, ScriptHandler, ScriptHost, ScriptLine, parse

SEED = """\
hook pre:message /log debug "Sending: $prompt"
hook pre:tool:shell /perms check shellExec
hook post:agent:complete /notify "Agent $agent finished"
"""

QUOTE_IT = "put text with blanks in quotes"

NOTIFY = 'hook post:agent:complete /notify "Agent $agent finished"'


def read(text: str, commands: Commands | None = None) -> list[ScriptLine]:
    return parse(text, source="my.arma", table=TABLE, commands=commands or Commands())


def read_line(text: str, commands: Commands | None = None) -> ScriptLine:
    [line] = read(text, commands)
    return line


def problems(text: str, commands: Commands | None = None) -> list[str]:
    with pytest.raises(ConfigError) as refused:
        read(text, commands)
    return [str(problem) for problem in refused.value.problems]


def make_event(name: str, /, **fields: Any) -> Event:
    template = Template(TABLE[name], "session-1")
    return event_of(template.row, template.complete(fields))


def hook_of(handler: Any) -> Hook:
    return Hook(row=TABLE["pre:tool"], handler=handler, type="script")


def answer(text: str, event: Event, commands: Commands | None = None, **world: Any) -> Any:
    """What a line answers at an event, run without an event loop."""
    commands = commands or Commands()
    handler = ScriptHandler(commands, ScriptHost(**world))
    return handler.blocking(hook_of(read_line(text, commands)), event, 0.0)


def shell(**fields: Any) -> Event:
    return make_event("pre:tool", tool_name="shell", tool_input={"command": "ls", "paths": ["/a", "/b"]}, **fields)
