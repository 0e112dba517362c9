"""The route of a call of a tool whose name can be read in several ways: a hook about any of them is on it.

Some agents join the names of an MCP server and its tool with a mark that either may contain. ``tool_readings`` has all
that the name may mean, and ``tool_name`` the first of them.
"""

from __future__ import annotations

from typing import Any

from ..engine import Engine
from ..routes import Route, make_route

__all__ = ["route_of_call"]


def route_of_call(engine: Engine, event: str, fields: dict[str, Any]) -> Route:
    """Return the one route of an event, whatever its tool is called."""
    route = engine.route(event, fields)
    names = fields.get("tool_readings")
    others = [name for name in names[1:] if isinstance(name, str)] if isinstance(names, list) else []
    if not others:
        return route
    routes = [route, *(engine.route(event, {**fields, "tool_name": name}) for name in others)]
    steps = (member for one in routes for step in one.steps for member in step.members or (step,))
    hooks = {step.hook.sequence: step.hook for step in steps}
    return make_route(route.template, hooks.values(), "", route.inputs)
