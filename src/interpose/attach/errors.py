"""What attaching raises."""

from __future__ import annotations

from ..errors import UsageError

__all__ = ["BadSettings"]


class BadSettings(UsageError, code="bad_settings"):
    """A settings file that cannot be read or edited; nothing was written."""
