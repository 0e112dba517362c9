"""The typer options that several commands share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

__all__ = [
    "Agent", "AsJson", "Config", "Cwd", "Dialect", "Event", "Fields", "Fleet", "FleetKey", "FleetNode", "Input", "Line",
    "Policies", "Tool", "ToolInput", "group",
]  # fmt: skip

_WHERE = "Which configuration"
_WHAT = "Which event"
_FLEET = "In a fleet"

Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config", "-c", metavar="FILE", rich_help_panel=_WHERE,
        help="A configuration file, trusted because you name it; may be repeated. Default: the files that are found "
             "and trusted.",
    ),
]  # fmt: skip
Fleet = Annotated[bool, typer.Option("--fleet", rich_help_panel=_FLEET, help="Of all nodes of the fleet, over NATS.")]
FleetNode = Annotated[
    str, typer.Option("--node", metavar="NODE", rich_help_panel=_FLEET, help="Of this node only.", show_default=False)
]
FleetKey = Annotated[
    str | None,
    typer.Option("--key", metavar="FILE", rich_help_panel=_FLEET, show_default=False,
                 help="The private key that signs the answer; the one of `fleet key` by default."),
]  # fmt: skip
Dialect = Annotated[
    str | None,
    typer.Option(
        "--dialect", metavar="NAME", rich_help_panel=_WHERE,
        help="`claude`: the files are settings of Claude Code; without files, look for those.",
    ),
]  # fmt: skip
Cwd = Annotated[
    str | None,
    typer.Option(
        "--cwd",
        metavar="DIR",
        rich_help_panel=_WHERE,
        help="Look for files from this directory upwards, and run hooks in it.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for programs.")]

Event = Annotated[
    str | None,
    typer.Argument(
        metavar="[EVENT]", show_default=False,
        help="The event, such as PreToolUse or pre:message; `interpose events` lists them. May come from --input.",
    ),
]  # fmt: skip
Input = Annotated[
    str | None,
    typer.Option(
        "--input", metavar="JSON|-|@FILE", rich_help_panel=_WHAT,
        help="The whole input of the event, as a hook reads it: JSON, `-` for standard input, or `@file`.",
    ),
]  # fmt: skip
Tool = Annotated[
    str | None, typer.Option("--tool", metavar="NAME", rich_help_panel=_WHAT, help="The tool's name (tool_name).")
]
ToolInput = Annotated[
    str | None,
    typer.Option("--tool-input", metavar="JSON", rich_help_panel=_WHAT, help="The tool's input (tool_input)."),
]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="ID", rich_help_panel=_WHAT, help="Fire for this agent (agent_id)."),
]
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--field", "-f", metavar="K=V", rich_help_panel=_WHAT,
        help="Any other field: JSON if it is valid for the field, else text. May be repeated.",
    ),
]  # fmt: skip
Line = Annotated[
    str | None,
    typer.Option(
        "--line", metavar="TEXT", rich_help_panel=_WHAT,
        help="Show how this command line is read: each command, its grade and why.",
    ),
]  # fmt: skip
Policies = Annotated[
    bool,
    typer.Option(
        "--policies", rich_help_panel=_WHAT,
        help="With --line: show what every policy says, also those that are not switched on.",
    ),
]  # fmt: skip


def group(
    parameter: str, options: Mapping[str, Any], make: Callable[..., Any]
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command these options in the place of one parameter, which gets what ``make`` makes of them.

    An option may also stand before the subcommand, if the command above has it too.
    """

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        given = inspect.signature(command, eval_str=True).parameters.values()
        own = next((one.name for one in given if one.annotation is typer.Context), None)
        context = own or "context"

        @functools.wraps(command)
        def run(**values: Any) -> int:
            parent = (values[context] if own else values.pop(context)).parent
            above = parent.params if parent is not None else {}
            said = {name: values.pop(name) or above.get(name) for name in options}
            return command(**values, **{parameter: make(**said)})

        parameters = [] if own else [_parameter(context, typer.Context, inspect.Parameter.empty)]
        for one in given:
            if one.name == parameter:
                parameters += [_parameter(name, option, None) for name, option in options.items()]
            else:
                parameters.append(_parameter(one.name, one.annotation, one.default))
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
