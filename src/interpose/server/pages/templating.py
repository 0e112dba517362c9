"""The templates: what they print is escaped, and nothing in it hides."""

from __future__ import annotations

import shlex
from functools import partial
from time import time

from jinja2 import ChainableUndefined, Environment, PackageLoader

from ... import __version__
from . import text

__all__ = ["environment"]


def environment() -> Environment:
    """Return the environment of all templates."""
    made = Environment(
        loader=PackageLoader("interpose.server.pages"), autoescape=True, undefined=ChainableUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=lambda value: text.visible(value) if type(value) is str else value,
    )  # fmt: skip
    made.filters |= {
        "ago": text.ago, "brief": text.brief, "clock": text.clock, "day": text.day, "duration": text.duration,
        "full": partial(text.clock, full=True), "marked": text.marked, "part": text.part, "path": text.path_of,
        "pretty": text.as_json, "query": text.query, "session_path": text.session_path, "shell": shlex.quote,
        "when": text.when, "zone": text.zone,
    }  # fmt: skip
    made.globals |= {"version": __version__, "now": time}
    return made
