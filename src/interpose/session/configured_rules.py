"""The permission rules of a configuration as it is now: they follow a reload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .permission import Rules, merge_rules

__all__ = ["ConfiguredRules"]

Configured = tuple[Mapping[str, str], Iterable[str]]
"""The rules of a configuration with their answers, and those for calls that are not asked about."""


class ConfiguredRules:
    """Rules that are read at each call: those of the configuration, and some of the host, which do not change."""

    def __init__(
        self,
        configured: Callable[[], Configured],
        more: Mapping[str, str] | None = None,
        harmless: Iterable[str] = (),
    ) -> None:
        self._configured = configured
        self._more = dict(more or {})
        self._harmless = tuple(harmless)
        self._seen, self._rules = self._compile()

    def current(self) -> Rules:
        """Return the rules that hold now; they are compiled again only if they have changed."""
        if self._configured() != self._seen:
            self._seen, self._rules = self._compile()
        return self._rules

    def _compile(self) -> tuple[Configured, Rules]:
        permissions, harmless = self._configured()
        seen = dict(permissions), tuple(harmless)
        return seen, Rules(merge_rules(seen[0], self._more), harmless=(*seen[1], *self._harmless))
