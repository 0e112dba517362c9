"""A model as a configuration names it: which one, where, with the key in which variable, and how much of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

from ..records import Record
from . import Model, ModelError, find_model

__all__ = ["PERIODS", "Budget", "ConfiguredModel"]

PERIODS = ("session", "hour", "day")

_VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
}
_TOKEN = "ANTHROPIC_AUTH_TOKEN"  # noqa: S105 - the name of a variable


class Budget(Record):
    """How many calls and tokens a model may use per session, hour or day; 0 means no limit."""

    calls: int = 0
    tokens: int = 0
    per: str = "session"

    def __str__(self) -> str:
        parts = [f"{self.calls} calls"] * bool(self.calls) + [f"{self.tokens} tokens"] * bool(self.tokens)
        return f"{' and '.join(parts)} per {self.per}"


class ConfiguredModel(Record):
    """An entry of ``models:``. Without a spec, the key in the environment decides, as for ``interpose run``."""

    name: str = ""
    spec: str = ""
    """``anthropic:NAME``, ``openai:NAME`` or ``scripted:FILE``."""
    base_url: str = ""
    key_variable: str = ""
    """The variable with the key; nothing stands for the usual one."""
    window: int = 0
    redact: bool = True
    """Whether secrets are removed from what is sent."""
    budget: Budget | None = None
    layer: str = "code"
    source: str = ""

    @property
    def kind(self) -> str:
        """The API: ``anthropic``, ``openai`` or ``scripted``; nothing if the environment decides."""
        return self.spec.partition(":")[0]

    def open(self, environ: Mapping[str, str] | None = None) -> Model:
        """Return a client; raise ModelError if there is no such model, package or key."""
        environ = os.environ if environ is None else environ
        model = find_model(self.spec or None, environ=self._environ(environ), window=self.window or None)
        if model is None:
            hint = "add models: {default: anthropic:NAME}, or set ANTHROPIC_API_KEY"
            raise ModelError("no model is configured, and there is no key for one", code="no_key", hint=hint)
        return model

    def _environ(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        """Return the environment with the configured key and address in the places where a client looks for them."""
        if self.kind not in _VARIABLES or not (self.key_variable or self.base_url):
            return environ
        key, address = _VARIABLES[self.kind]
        found = {**environ, address: self.base_url or environ.get(address, "")}
        if self.key_variable:
            found[key] = environ.get(self.key_variable, "")
            found.pop(_TOKEN, None)  # of another server
        return found

    def lacks(self, environ: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Return what is missing to ask it, and what to do; empty texts if nothing is. Asks nothing."""
        environ = os.environ if environ is None else environ
        kind = self.kind
        if not kind:
            kind = next((one for one, (key, _) in _VARIABLES.items() if environ.get(key)), "")
            kind = kind or ("anthropic" if environ.get(_TOKEN) else "")
            if not kind:
                return "no model is configured, and there is no key for one", "add models:, or set ANTHROPIC_API_KEY"
        if kind == "scripted":
            path = self.spec.partition(":")[2]
            return ("", "") if os.path.isfile(path) else (f"its script {path} does not exist", "check models:")
        if find_spec(kind) is None:
            return f"the package {kind} is not installed", f"pip install 'interpose[{kind}]'"
        variable = self.key_variable or _VARIABLES[kind][0]
        if not environ.get(variable) and not (kind == "anthropic" and not self.key_variable and environ.get(_TOKEN)):
            return f"there is no key: {variable} is not set", f"set {variable}"
        return "", ""

    def describe(self) -> str:
        """Return it in words: the model, the address and the variable with the key, never the key."""
        where = f" at {self.base_url}" if self.base_url else ""
        key = f", key in {self.key_variable}" if self.key_variable else ""
        budget = f", at most {self.budget}" if self.budget else ""
        sent = "" if self.redact else ", secrets are not removed"
        return f"{self.spec or 'the model of the key that is set'}{where}{key}{budget}{sent}"
