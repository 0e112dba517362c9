"""Variables of the environment that this process was given and does not use itself.

``os.environ`` has the others. Hooks that are no guards get these too, and their values are hidden in records.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["forget_variables", "set_variable_aside", "variables_set_aside"]

_variables: dict[bytes, bytes] = {}


def variables_set_aside() -> Mapping[bytes, bytes]:
    """Return the variables that were set aside, with the values that were given."""
    return _variables


def set_variable_aside(name: bytes, value: bytes) -> None:
    """Keep a variable that ``os.environ`` does not have any more, or has with another value."""
    _variables[name] = value


def forget_variables() -> None:
    """Forget all of them: the next event may be another caller's."""
    _variables.clear()
