"""The shadow git: a real repository beside the work tree that has every file an agent wrote, and what was there before.

A write is recorded first and done afterwards; one that is taken back is undone first and recorded afterwards. So if
somebody is killed in between, the record has everything that is on disk, and the same command can be given again.
"""

from __future__ import annotations

from .git import ShadowError
from .journal import Write
from .record import ShadowGit, Undone

__all__ = ["ShadowError", "ShadowGit", "Undone", "Write"]
