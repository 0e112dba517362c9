"""The permission rules of a configuration as it is now: they follow a reload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .permission import Rules, merge_rules

__all__ = ["ConfiguredRules"]


class ConfiguredRules:
    """Rules that are read at each call: those of the configuration, and ``more`` of the host, which do not change.

    ``permissions`` returns the rules of the configuration; ``harmless`` is that of ``Rules``.
    """

    def __init__(
        self,
        permissions: Callable[[], Mapping[str, str]],
        *,
        more: Mapping[str, str] | None = None,
        harmless: Iterable[str] = (),
    ) -> None:
        self._permissions = permissions
        self._more = dict(more or {})
        self._harmless = tuple(harmless)
        self._seen, self._rules = self._compiled()

    def current(self) -> Rules:
        """Return the rules that hold now; they are compiled again only if they have changed."""
        if self._permissions() != self._seen:
            self._seen, self._rules = self._compiled()
        return self._rules

    def _compiled(self) -> tuple[dict[str, str], Rules]:
        seen = dict(self._permissions())
        return seen, Rules(merge_rules(seen, self._more), harmless=self._harmless)
