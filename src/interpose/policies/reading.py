"""Read ``policies:``: names with their parameters, each to the hooks that it stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import BadHook, InterposeError, nearest
from ..matching import compile_rule
from ..matching.written import as_written
from ..records import replace
from ..runtime.named_tuples import NamedTuple
from .hook import PolicyHook
from .parameters import written
from .policy import Policy
from .table import POLICIES, RECOMMENDED, find_policy

__all__ = ["COMMON", "HOOK_OPTIONS", "WORDS", "PolicyUse", "read_policies", "read_policy"]

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

WORDS: dict[str, dict[str, Any] | None] = {"enforce": {"enforce": True}, "observe": {"enforce": False}, "off": None}
"""What can stand in the place of parameters, with the options that each word means; ``off`` switches off."""

_ONLY_OF_A_POLICY = ("name", "description", "matcher", "if")
_SPELLINGS = {python: written for written, python in HOOK_OPTIONS.items()}
_VOICE = "unreadable-commands"

Wrong = Callable[[str, str, str], None]


class PolicyUse(NamedTuple):
    """One hook of a policy that is switched on."""

    path: str
    """Where it stands: ``policies[2].protected-branches``."""
    event: str
    hook: PolicyHook
    options: dict[str, Any]
    """The options of the hook."""


class _Entry(NamedTuple):
    """A policy that is switched on, with what was written about it."""

    path: str
    policy: Policy
    given: dict[str, Any]


def read_policies(given: Any, wrong: Wrong, *, project: str = "") -> list[PolicyUse]:
    """Read the value of ``policies:``; ``wrong`` is told of each problem with its path, its text and a hint.

    A policy that is named beside ``recommended`` has the parameters that it has there, except those that are given.
    """
    written = list(_entries(given, wrong))
    recommended = _recommended(written, wrong)
    found = dict(recommended)
    seen: set[str] = set()
    for path, name, value in written:
        if name == RECOMMENDED or not _is_known(path, name, wrong):
            continue
        is_right, options = _options(path, value, wrong)
        label = name if options is None else options.get("name", name)
        if not is_right:
            continue
        if not isinstance(label, str) or not label:
            wrong(f"{path}.name", f"name: {as_written(label)} where text is expected", "")
        elif label in seen:
            wrong(path, f"there are two policies {label}", "give one of them a name: of its own")
        elif options is None:
            found.pop(label, None)
        else:
            before = recommended[name].given if name in recommended and label == name else {}
            found[label] = _Entry(path, find_policy(name), {**before, **options})
        seen.add(str(label))
    return _with_one_voice([use for entry in found.values() for use in _uses(entry, wrong, project)])


def read_policy(name: str, options: Mapping[str, Any]) -> list[PolicyUse]:
    """Return the hooks of one policy, or of the set ``recommended``; raise BadHook if something is wrong.

    The options of a hook can be spelt as in Python: ``if_``, ``on_error``.
    """
    if not isinstance(name, str):
        raise BadHook(f"{as_written(name)} where the name of a policy is expected")
    problems: list[BadHook] = []

    def wrong(path: str, what: str, hint: str) -> None:
        problems.append(BadHook(what, hint=hint))

    given = {_SPELLINGS.get(key, key): value for key, value in options.items()}
    uses = read_policies([{name: given}], wrong)
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
        hint = "write policies: recommended, or a list of names"
        if given and isinstance(given, Mapping):
            hint = f"begin each policy with a dash: - {next(iter(given))}"
        wrong("policies", f"{as_written(given)} where a list of policies is expected", hint)
        return
    for index, entry in enumerate(given):
        path = f"policies[{index}]"
        if isinstance(entry, str):
            yield path, entry, {}
        elif isinstance(entry, Mapping) and len(entry) == 1 and all(isinstance(name, str) for name in entry):
            ((name, value),) = entry.items()
            yield f"{path}.{name}", name, {} if value is None else value
        elif isinstance(entry, Mapping) and entry and all(isinstance(name, str) for name in entry):
            name = next(iter(entry))
            hint = f"set the parameters of {name} in by two more spaces, or begin each policy with -"
            wrong(path, f"an entry with {len(entry)} keys: {', '.join(list(entry)[:3])}", hint)
        else:
            wrong(path, f"{as_written(entry)} where a policy is expected", "a name, or a name: with its parameters")


def _recommended(written: list[tuple[str, str, Any]], wrong: Wrong) -> dict[str, _Entry]:
    """Return the policies of the set ``recommended`` by name, if it is among the entries."""
    sets = [(path, value) for path, name, value in written if name == RECOMMENDED]
    if not sets:
        return {}
    if len(sets) > 1:
        wrong(sets[1][0], f"{RECOMMENDED} is there twice", "leave one out")
    path, value = sets[0]
    is_right, options = _options(path, value, wrong)
    if not is_right or options is None:
        return {}
    known = [key for key in (*COMMON, *HOOK_OPTIONS) if key not in _ONLY_OF_A_POLICY]
    for key in options:
        if key not in known and not str(key).startswith("x-"):
            hint = "" if key in _ONLY_OF_A_POLICY else nearest(str(key), known)
            hint = hint or "name the policy itself, beside the set, to give it parameters"
            wrong(f"{path}.{key}", f"{key} is not an option of a set", hint)
            return {}
    policies = [find_policy(name) for name in POLICIES]
    return {
        policy.name: _Entry(path, policy, {**policy.recommended, **options})
        for policy in policies
        if policy.recommended is not None
    }


def _is_known(path: str, name: str, wrong: Wrong) -> bool:
    if name in POLICIES:
        return True
    hint = nearest(name.replace("_", "-"), [*POLICIES, RECOMMENDED]) or "`interpose policies` lists them"
    wrong(path, f"there is no policy {name}", hint)
    return False


def _options(path: str, value: Any, wrong: Wrong) -> tuple[bool, dict[str, Any] | None]:
    """Return whether the value of an entry is right, and the options that it means; None if it is switched off."""
    if isinstance(value, Mapping):
        return True, dict(value)
    if isinstance(value, str) and value in WORDS:
        return True, WORDS[value]
    if value is False:
        return True, None
    hint = "" if not isinstance(value, str) else nearest(value, WORDS)
    if value is True or value in ("on", "yes", "enable", "enabled"):
        hint = "its name alone switches it on"
    wrong(path, f"{as_written(value)} is not what a policy can be", hint or f"{', '.join(WORDS)}, or its parameters")
    return False, None


def _uses(entry: _Entry, wrong: Wrong, project: str) -> list[PolicyUse]:
    path, policy, given = entry
    known = {one.name: one for one in policy.parameters}
    values: dict[str, Any] = {}
    common: dict[str, Any] = {}
    hook: dict[str, Any] = {}
    is_right = True
    for key, value in given.items():
        try:
            if key in known:
                values[key] = known[key].read(value)
            elif key in COMMON:
                common[key] = _common(key, value)
            elif key in HOOK_OPTIONS:
                hook[HOOK_OPTIONS[key]] = value
            elif not str(key).startswith("x-"):
                hint = nearest(str(key), [*known, *COMMON, *HOOK_OPTIONS]) or _parameters(policy)
                wrong(f"{path}.{key}", f"{key} is not a parameter of {policy.name}", hint)
                is_right = False
        except InterposeError as error:
            wrong(f"{path}.{key}", f"{key}: {error.problem.what}", error.problem.hint)
            is_right = False
    if not is_right:
        return []
    for one in policy.parameters:
        if one.name not in values:
            values[one.name] = None if one.default is None else one.read(one.default)
    values["project"] = project
    name = str(hook.pop("name", policy.name))
    options: dict[str, Any] = {"name": name, "description": policy.prevents}
    if policy.guard:
        options["on_error"] = "abort"
    if policy.locked:
        options["locked"] = True
    if policy.timeout is not None:
        options["timeout"] = policy.timeout
    functions = {**({} if policy.judge is None else {"PreToolUse": None}), **policy.hooks}
    return [
        PolicyUse(
            path,
            event,
            PolicyHook(
                policy=policy, name=name, options=values, event=event, function=function,
                allowed=common.get("allow", ()), on_match=common.get("onMatch"), hint=common.get("hint", ""),
                unreadable=common.get("unreadable", "ask"), project=project,
                given=_changed(policy, given),
            ),
            {**options, **hook},
        )
        for event, function in functions.items()
    ]  # fmt: skip


def _changed(policy: Policy, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are given and differ from the policy's own."""
    defaults = {one.name: one.default for one in policy.parameters}
    return {
        key: value for key, value in given.items()
        if key in COMMON or (key in defaults and written(value) != written(defaults[key]))
    }  # fmt: skip


def _parameters(policy: Policy) -> str:
    return f"its parameters are {', '.join([*(one.name for one in policy.parameters), *COMMON])}"


def _common(key: str, value: Any) -> Any:
    if key == "allow":
        return tuple(compile_rule(rule) for rule in (value if isinstance(value, (list, tuple)) else [value]))
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
    voices = [use for use in uses if use.hook.policy.name == _VOICE]
    return [
        use._replace(hook=replace(use.hook, unreadable="allow"))
        if use not in voices and any(_speaks_for(voice, use) for voice in voices)
        else use
        for use in uses
    ]


def _speaks_for(voice: PolicyUse, use: PolicyUse) -> bool:
    """Return whether a policy sees every call that another one sees, and decides if that one does."""
    mine, its = voice.options, use.options
    is_on = mine.get("enabled", True) is True and not {"if_", "matcher"} & mine.keys()
    decides = mine.get("enforce", True) is True or its.get("enforce", True) is not True
    return is_on and decides and mine.get("scope") in (None, its.get("scope"))
