"""The old name of ``interpose.audit.reader``, which is read for one release."""

from __future__ import annotations

import warnings

from .protocol import HookStats, NotAStore
from .reader import open_store

__all__ = ["HookStats", "NotAStore", "open_store"]

warnings.warn("interpose.audit.reading is interpose.audit now: import open_store from there", DeprecationWarning, 2)
