"""The text that is being read, and the place in it."""

from __future__ import annotations

from ...runtime.regex import regex
from .words import Unsure

__all__ = ["BARE", "ShellSource"]

_DEEPEST = 40

_BLANKS = regex(r"(?:[ \t]|\\\n)+")
BARE = regex(r"[^\s'\"\\$`*?\[{}=;&|()<>#~!]+")
"""Characters that stand for themselves."""
# A mark that continues on the next line: $ and (, < and <.
_BROKEN_MARK = regex(r"\$\\\n|[<>]\\\n[<>(&|]|\(\\\n\(|[&|;]\\\n[&|;>]")


class ShellSource:
    """A text, the place up to which it has been read, and how deeply that place is nested."""

    __slots__ = ("arithmetic", "at", "depth", "text")

    def __init__(self, text: str, depth: int) -> None:
        if _BROKEN_MARK.search(text):
            raise Unsure("an operator that is broken over two lines")
        self.text = text
        self.at = 0
        self.depth = depth
        self.arithmetic = 0
        """How many times ``((`` is open."""

    def go_deeper(self) -> None:
        """Enter what is nested; it is left by taking one from the depth."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unsure("nested too deeply")

    def mark(self) -> str:
        """Return the next character; empty at the end."""
        return self.text[self.at : self.at + 1]

    def starts(self, beginning: str | tuple[str, ...]) -> bool:
        """Return whether the rest of the text begins so."""
        return self.text.startswith(beginning, self.at)

    def is_process_substitution(self) -> bool:
        """Return whether ``<(`` or ``>(`` follows."""
        return self.text.startswith(("<(", ">("), self.at)

    def since(self, began: int) -> str:
        """Return the text from a place on to here, without line continuations."""
        return self.text[began : self.at].replace("\\\n", "")

    def skip_blanks(self) -> None:
        """Pass blanks and line continuations."""
        blanks = _BLANKS.match(self.text, self.at)
        if blanks:
            self.at = blanks.end()

    def skip_to_line_end(self) -> None:
        """Pass the rest of the line."""
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end

    def read_bare(self) -> str:
        """Read characters that stand for themselves; return them."""
        bare = BARE.match(self.text, self.at)
        if bare is None:
            return ""
        self.at = bare.end()
        return bare.group()
