"""How a value stands in a configuration file, for messages about it."""

from __future__ import annotations

__all__ = ["as_written"]


def as_written(value: object) -> str:
    """Return a value as it stands in a configuration file: ``5``, ``'yes'``, ``a list``, ``nothing``."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, str)):
        return repr(value if not isinstance(value, str) or len(value) <= 40 else f"{value[:40]}…")
    if isinstance(value, (list, tuple)):
        return "a list"
    return "a mapping" if isinstance(value, dict) else type(value).__name__
