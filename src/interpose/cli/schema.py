"""``interpose schema``: the JSON Schema of the configuration."""

from __future__ import annotations

import json

from ..config.schema import schema

__all__ = ["run"]


def run() -> None:
    """Editors use it to complete and check a configuration; `interpose init` writes it beside the configuration.

    Example: interpose schema > .interpose/hooks.schema.json
    """
    print(json.dumps(schema(), indent=2))
