"""Read ``models:``, the models that hooks may ask, and find the model of each hook."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ..errors import Problem, nearest
from ..handlers.prompt import Judge, judge_of
from ..matching.written import as_written
from ..model import Hook
from ..models.configured import PERIODS, Budget, ConfiguredModel
from ..records import replace
from ..registry import LAYERS
from ..runtime.regex import regex

__all__ = ["BUDGET_KEYS", "MODEL_KEYS", "find_models", "read_models"]

MODEL_KEYS = {"model", "baseUrl", "apiKeyEnv", "window", "redact", "budget"}
BUDGET_KEYS = {"calls", "tokens", "per"}
DEFAULT = "default"

_SNAKE = {"base_url": "baseUrl", "api_key_env": "apiKeyEnv"}
_KINDS = ("anthropic", "openai", "scripted")
_NAME = regex(r"[A-Za-z0-9][\w.-]*")
_SPEC_HINT = "anthropic:NAME, openai:NAME or scripted:FILE"
_ALIASES = ("haiku", "sonnet", "opus", "inherit")
"""Names that Claude Code gives to models, whichever is the current one."""

Wrong = Callable[[str, str, str], None]  # is told of a path, what is wrong there, and what to do


def read_models(
    given: Any, wrong: Wrong, *, layer: str = "code", directory: str = "", locate: Callable[[str], str] = str
) -> list[ConfiguredModel]:
    """Read a section ``models:``; tell ``wrong`` of every problem. Scripts are in the ``directory``."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        wrong("models", f"{as_written(given)} where names of models are expected", "write judge: anthropic:NAME")
        return []
    found = []
    for name, value in given.items():
        if isinstance(name, str) and name.startswith("x-"):
            continue
        path = f"models.{name}"
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            wrong(path, f"{as_written(name)} cannot name a model", "letters, digits, - and _")
            continue
        parts = _ModelReader(path, wrong, directory).read({"model": value} if isinstance(value, str) else value)
        if parts is not None:
            found.append(ConfiguredModel(name=name, layer=layer, source=locate(path), **parts))
    return found


class _ModelReader:
    """Reads one entry."""

    def __init__(self, path: str, wrong: Wrong, directory: str) -> None:
        self.path = path
        self.directory = directory
        self.failed = False
        self._wrong = wrong

    def wrong(self, key: str, what: str, hint: str = "") -> None:
        self.failed = True
        self._wrong(f"{self.path}.{key}" if key else self.path, what, hint)

    def known(self, given: Mapping[Any, Any], keys: set[str], below: str, what: str) -> dict[str, Any]:
        made = {}
        for key, value in given.items():
            name = _SNAKE.get(key, key)
            if name in keys:
                made[name] = value
            elif not isinstance(key, str) or not key.startswith("x-"):
                hint = nearest(str(key), keys) or f"keys are {', '.join(sorted(keys))}"
                self.wrong(f"{below}{key}", f"{key} is not a key of {what}", hint)
        return made

    def read(self, given: Any) -> dict[str, Any] | None:
        """Return the parts of a model; None if one of them is wrong."""
        if not isinstance(given, Mapping) or not given:
            self.wrong("", f"{as_written(given)} where a model is expected", _SPEC_HINT)
            return None
        value = self.known(given, MODEL_KEYS, "", "a model")
        window, redact = value.get("window"), value.get("redact", True)
        if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 1000):
            self.wrong("window", f"{as_written(window)} is not a number of tokens", "at least 1000")
        if not isinstance(redact, bool):
            self.wrong("redact", f"{as_written(redact)} where true or false is expected")
        spec = self.spec(value.get("model"))
        parts = {"spec": spec, "window": window or 0, "redact": redact, "base_url": self.url(value.get("baseUrl")),
                 "key_variable": self.variable(value.get("apiKeyEnv")),
                 "budget": self.budget(value.get("budget"))}  # fmt: skip
        if spec.startswith("scripted:") and (parts["base_url"] or parts["key_variable"]):
            self.wrong("", "a script has neither an address nor a key", "leave out baseUrl and apiKeyEnv")
        return None if self.failed else parts

    def spec(self, given: Any) -> str:
        kind, _, name = given.partition(":") if isinstance(given, str) else ("", "", "")
        if kind not in _KINDS or (kind == "scripted" and not name):
            self.wrong("model" if given is not None else "", f"{as_written(given)} is not a model", _SPEC_HINT)
            return ""
        if kind == "scripted":
            return f"scripted:{os.path.join(self.directory, name)}"
        return str(given)

    def url(self, given: Any) -> str:
        if given is None:
            return ""
        try:
            parts = urlsplit(given) if isinstance(given, str) else None
            usable = parts is not None and parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            parts, usable = None, False
        if not usable or parts is None:
            self.wrong("baseUrl", "this is not the address of a server", "https://host/path")
        elif "@" in parts.netloc:
            self.wrong("baseUrl", "an address with a password in it", "name a variable in apiKeyEnv")
        return str(given)

    def variable(self, given: Any) -> str:
        if given is not None and not (isinstance(given, str) and given.isidentifier() and given.isascii()):
            # Not shown: it may be the key itself.
            self.wrong("apiKeyEnv", "this is not the name of a variable", "the variable that has the key")
            return ""
        return given or ""

    def budget(self, given: Any) -> Budget | None:
        if given is None:
            return None
        if not isinstance(given, Mapping):
            self.wrong("budget", f"{as_written(given)} where a budget is expected", "{calls: 100, per: hour}")
            return None
        value = self.known(given, BUDGET_KEYS, "budget.", "a budget")
        per = value.pop("per", PERIODS[0])
        if per not in PERIODS:
            self.wrong("budget.per", f"{as_written(per)} is not a period", " or ".join(PERIODS))
        for key, number in value.items():
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                self.wrong(f"budget.{key}", f"{as_written(number)} is not a number of {key}", "a whole number above 0")
        if not value:
            self.wrong("budget", "a budget without calls: or tokens:", "{calls: 100, per: hour}")
        return None if self.failed else Budget(per=per, **value)


def find_models(
    hooks: Iterable[Hook], models: Sequence[ConfiguredModel], wrong: Callable[[Problem], None],
    warn: Callable[[Problem], None],
) -> list[Hook]:  # fmt: skip
    """Return hooks with the models that they ask.

    A hook asks a model of its own layer or a higher one: what a lower file says must not change who judges for it. Of
    two models of a name, that of the higher layer counts, then the first.
    """
    found = []
    for hook in hooks:
        judge = judge_of(hook)
        if judge is not None:
            rank = LAYERS.index(hook.layer)
            known = {one.name: one for one in reversed(_in_order(models)) if LAYERS.index(one.layer) >= rank}
            try:
                configured = _choose(judge, known, hook, warn)
            except _NoModel as error:
                wrong(Problem(error.what, where=hook.source, hint=error.hint))
                continue
            binding = replace(hook.binding, target=replace(judge, configured=configured))
            hook = replace(hook, binding=binding)  # noqa: PLW2901 - the hook with its model
        found.append(hook)
    return found


class _NoModel(Exception):
    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


def _choose(
    judge: Judge, known: Mapping[str, ConfiguredModel], hook: Hook, warn: Callable[[Problem], None]
) -> ConfiguredModel:
    name, claude = judge.model, judge.dialect == "claude"
    if name in known:
        return known[name]
    if name.partition(":")[0] in _KINDS and (":" in name or not claude):
        return ConfiguredModel(name=name, spec=name, layer=hook.layer)
    if claude and name in _ALIASES:
        warn(Problem(f"{hook.label}: model: {name} is the client's own name, so the default model is asked",
                     where=hook.source, hint=f"models: {{{name}: anthropic:NAME}} in a file of ours"))  # fmt: skip
    elif claude and name:
        return ConfiguredModel(name=name, spec=f"anthropic:{name}", layer=hook.layer)
    elif name:
        raise _NoModel(f"{hook.label}: model: there is no model {name}",
                       nearest(name, known) or f"add it to models:, or write {_SPEC_HINT}")  # fmt: skip
    if DEFAULT in known or len(known) <= 1:
        return known.get(DEFAULT) or next(iter(known.values()), ConfiguredModel(name=DEFAULT))
    if claude:
        return ConfiguredModel(name=DEFAULT)
    raise _NoModel(f"{hook.label}: there are {len(known)} models, and none is the default",
                   f"model: {min(known)}, or an entry default in models:")  # fmt: skip


def _in_order(models: Sequence[ConfiguredModel]) -> list[ConfiguredModel]:
    return sorted(models, key=lambda one: -LAYERS.index(one.layer))
