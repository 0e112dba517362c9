"""The shadow git: a repository beside the work tree with every file that an agent wrote, and its content before.

A write is committed first and done afterwards; an undo is done first and committed afterwards. So if the process is
killed in between, the repository has everything that is on disk, and the same command can be given again.
"""

from __future__ import annotations

from .git import ShadowError
from .journal import Write
from .shadow_git import ShadowGit, Undone

__all__ = ["ShadowError", "ShadowGit", "Undone", "Write"]
