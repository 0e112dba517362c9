"""Read ``policies:``: names with their parameters, each to the hooks that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import BadHook, InterposeError, as_written, nearest
from ..matching import Condition, compile_rule
from ..records import replace
from .hook import PolicyHook
from .policy import Policy
from .table import POLICIES, RECOMMENDED, find_policy

__all__ = ["COMMON", "HOOK_OPTIONS", "PolicyUse", "read_policies", "read_policy"]

HOOK_OPTIONS = {
    "name": "name", "enabled": "enabled", "enforce": "enforce", "locked": "locked", "scope": "scope",
    "priority": "priority", "timeout": "timeout", "onError": "on_error", "matcher": "matcher", "if": "if_",
    "description": "description",
}  # fmt: skip
"""The options of a hook that every policy takes, with their names in Python."""

COMMON = {
    "onMatch": "deny or ask, whatever the policy would do",
    "allow": "rules such as Bash(git push origin docs); a call that one of them covers passes",
    "hint": "a text that is added to every reason",
    "unreadable": "ask or allow command lines that cannot be read",
}
"""The parameters that every policy has."""

_WORDS: dict[object, dict[str, Any]] = {"enforce": {}, "observe": {"enforce": False}}
_OFF = (False, "off")

Wrong = Callable[[str, str, str], None]


class PolicyUse(NamedTuple):
    """One hook of a policy that is switched on."""

    path: str
    """Where it stands: ``policies[2].protected-branches``."""
    event: str
    hook: PolicyHook
    options: dict[str, Any]
    """The options of the hook."""


def read_policies(given: Any, wrong: Wrong, *, project: str = "") -> list[PolicyUse]:
    """Read the value of ``policies:``; ``wrong`` is told of each problem with its path, its text and a hint."""
    entries: dict[str, tuple[str, dict[str, Any]]] = {}
    by_set: set[str] = set()
    for path, name, value in _entries(given, wrong):
        if name == RECOMMENDED:
            _read_set(path, value, entries, by_set, wrong)
            continue
        policy = _known(path, name, wrong)
        options = _options(path, value, wrong)
        if policy is None or (options is None and value not in _OFF):
            continue
        label = options.get("name", name) if options else name
        if not isinstance(label, str) or (label in entries and label not in by_set):
            wrong(path, f"there are two policies {label}", "give one of them a name: of its own")
            continue
        by_set.discard(label)
        if options is None:
            entries.pop(label, None)
        else:
            entries[label] = (path, {**options, "policy": name})
    uses = [use for label, (path, options) in entries.items() for use in _uses(path, options, wrong, project)]
    return _with_one_voice(uses)


def read_policy(name: str, options: Mapping[str, Any]) -> list[PolicyUse]:
    """Return the hooks of one policy, or of the set ``recommended``; raise BadHook if something is wrong."""
    problems: list[BadHook] = []

    def wrong(path: str, what: str, hint: str) -> None:
        at = path.rpartition(".")[2]
        problems.append(BadHook(what if at == name or name not in path else f"{at}: {what}", hint=hint))

    uses = read_policies([{name: dict(options)}] if options else [name], wrong)
    if problems:
        raise problems[0]
    return uses


def _entries(given: Any, wrong: Wrong) -> Iterator[tuple[str, str, Any]]:
    """Yield path, name and value of each entry: a name, or a name with its parameters."""
    if given is None:
        return
    if isinstance(given, str):
        yield "policies", given, {}
        return
    if not isinstance(given, (list, tuple)):
        hint = "write - destructive-commands, or - protected-branches: {branches: [main]}"
        wrong("policies", f"{as_written(given)} where a list of policies is expected", hint)
        return
    for index, entry in enumerate(given):
        path = f"policies[{index}]"
        if isinstance(entry, str):
            yield path, entry, {}
        elif isinstance(entry, Mapping) and len(entry) == 1 and all(isinstance(name, str) for name in entry):
            ((name, value),) = entry.items()
            yield f"{path}.{name}", name, {} if value is None else value
        else:
            wrong(path, f"{as_written(entry)} where a policy is expected", "a name, or a name: with its parameters")


def _read_set(
    path: str, value: Any, entries: dict[str, tuple[str, dict[str, Any]]], by_set: set[str], wrong: Wrong
) -> None:
    """Add the recommended policies; those that are named themselves stay as they are."""
    options = _options(path, value, wrong)
    for key in [key for key in options or () if key not in HOOK_OPTIONS or key == "name"]:
        wrong(f"{path}.{key}", f"{key} is not an option of a set", "name the policy itself to give it parameters")
        return
    for name in POLICIES:
        policy = find_policy(name)
        if policy.recommended is not None and name not in entries and options is not None:
            entries[name] = (path, {**policy.recommended, **options, "policy": name})
            by_set.add(name)


def _known(path: str, name: str, wrong: Wrong) -> Policy | None:
    if name in POLICIES:
        return find_policy(name)
    hint = nearest(name, [*POLICIES, RECOMMENDED]) or "interpose policies lists them"
    wrong(path, f"there is no policy {name}", hint)
    return None


def _options(path: str, value: Any, wrong: Wrong) -> dict[str, Any] | None:
    """Return the options of an entry; None if it is switched off, or wrong."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, str) and value in _WORDS:
        return dict(_WORDS[value])
    if value not in _OFF:
        hint = nearest(str(value), ["enforce", "observe", "off"]) or "enforce, observe, off, or parameters"
        wrong(path, f"{as_written(value)} is not what a policy can be", hint)
    return None


def _uses(path: str, given: dict[str, Any], wrong: Wrong, project: str) -> list[PolicyUse]:
    policy = find_policy(given.pop("policy"))
    values: dict[str, Any] = {one.name: one.default for one in policy.parameters}
    known = {one.name: one for one in policy.parameters}
    common: dict[str, Any] = {}
    hook: dict[str, Any] = {}
    is_right = True

    def refuse(key: str, what: str, hint: str = "") -> None:
        nonlocal is_right
        is_right = False
        wrong(f"{path}.{key}", what, hint)

    for key, value in given.items():
        try:
            if key in known:
                values[key] = known[key].read(value)
            elif key in COMMON:
                common[key] = _common(key, value)
            elif key in HOOK_OPTIONS:
                hook[HOOK_OPTIONS[key]] = value
            else:
                hint = nearest(str(key), [*known, *COMMON, *HOOK_OPTIONS])
                refuse(str(key), f"{key} is not a parameter of {policy.name}", hint or _parameters(policy))
        except InterposeError as error:
            refuse(str(key), f"{key}: {error.problem.what}", error.problem.hint)
    if not is_right:
        return []
    for one in policy.parameters:
        if values[one.name] is one.default:
            values[one.name] = one.read(one.default) if one.default is not None else None
    values["project"] = project
    name = hook.pop("name", policy.name)
    functions = {**({"PreToolUse": None} if policy.judge is not None else {}), **policy.hooks}
    options: dict[str, Any] = {"on_error": "abort"} if policy.guard else {}
    if policy.timeout is not None:
        options["timeout"] = policy.timeout
    return [
        PolicyUse(
            path,
            event,
            PolicyHook(
                policy=policy, name=str(name), options=values, event=event, function=function,
                allowed=common.get("allow", ()), on_match=common.get("onMatch"), hint=common.get("hint", ""),
                unreadable=common.get("unreadable", "ask"), project=project,
            ),
            {"name": name, "description": policy.prevents, **options, **hook},
        )
        for event, function in functions.items()
    ]  # fmt: skip


def _parameters(policy: Policy) -> str:
    return f"its parameters are {', '.join([*(one.name for one in policy.parameters), *COMMON])}"


def _common(key: str, value: Any) -> Any:
    if key == "allow":
        rules: tuple[Condition, ...] = tuple(
            compile_rule(rule) for rule in (value if isinstance(value, (list, tuple)) else [value])
        )
        return rules
    if key == "hint":
        if not isinstance(value, str):
            raise BadHook(f"{as_written(value)} where text is expected")
        return value
    choices = ("deny", "ask") if key == "onMatch" else ("ask", "allow")
    if value not in choices:
        raise BadHook(f"{as_written(value)} is not a choice", hint=f"choose {' or '.join(choices)}")
    return value


def _with_one_voice(uses: list[PolicyUse]) -> list[PolicyUse]:
    """Leave lines that cannot be read to the policy that is about them, if it is switched on."""
    voice = [use for use in uses if use.hook.policy.name == "unreadable-commands"]
    speaks = any(
        use.options.get("enforce", True) is True and use.options.get("enabled", True) is True
        and not {"if_", "matcher", "scope"} & use.options.keys() for use in voice
    )  # fmt: skip
    if not speaks:
        return uses

    return [use if use in voice else use._replace(hook=replace(use.hook, unreadable="allow")) for use in uses]
