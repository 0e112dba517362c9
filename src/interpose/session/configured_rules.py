"""The permission rules of a configuration as it is now: they follow a reload."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .permission import Rules, merge_rules

__all__ = ["ConfiguredRules"]

Configured = tuple[Mapping[str, str], Iterable[str], Mapping[str, str]]
"""The rules of a configuration with their answers, those for calls that are not asked about, and where each is."""


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
        permissions, harmless, places = self._configured()
        seen = dict(permissions), tuple(harmless), dict(places)
        rules = merge_rules(seen[0], self._more)
        # The answer of a host to the same rule is not what the file says.
        known = {text: place for text, place in seen[2].items() if rules.get(text) == seen[0].get(text)}
        return seen, Rules(rules, harmless=(*seen[1], *self._harmless), places=known)
