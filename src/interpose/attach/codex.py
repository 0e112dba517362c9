"""Codex's trust of hooks: it skips a hook without a word unless its config has the hash of exactly that hook.

Trust is by position: the key is the file, the event, the number of the group and of the hook. A group that is put in
front of ours, or an edit of ours, makes the hash wrong or missing.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import Any

from .entry import is_line_of_ours
from .json_edit import JsonText
from .toml_edit import parse_toml

__all__ = ["disarmed", "hash_of", "trust_of"]

_MATCHED = frozenset(("permission_request", "post_compact", "post_tool_use", "pre_compact", "pre_tool_use",
                      "session_start", "subagent_start", "subagent_stop"))  # fmt: skip
"""Events whose matcher is a part of the hash."""


def hash_of(event: str, group: dict[str, Any], hook: dict[str, Any]) -> str:
    """Return the hash by which Codex knows a hook: of its definition in a normal form."""
    label = _label(event)
    timeout = hook.get("timeout", 600)
    definition: dict[str, Any] = {"type": "command", "command": hook.get("command", ""),
                                  "timeout": max(timeout, 1) if isinstance(timeout, int) else 600,
                                  "async": bool(hook.get("async", False))}  # fmt: skip
    if hook.get("statusMessage") is not None:
        definition["statusMessage"] = hook["statusMessage"]
    whole: dict[str, Any] = {"event_name": label, "hooks": [definition]}
    if label in _MATCHED and group.get("matcher") is not None:
        whole["matcher"] = group["matcher"]
    normal = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(normal.encode()).hexdigest()}"


def _label(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def trust_of(text: str, path: str) -> dict[str, str]:
    """Return the keys and hashes of our hooks in a hooks.json, at the positions that they have now."""
    found = JsonText(text, path).find(("hooks",))
    paths = {path, os.path.realpath(path)}
    trusted: dict[str, str] = {}
    for event, _, groups in found.members if found is not None else []:
        for number, element in enumerate(groups.elements):
            group = element.plain()
            hooks = group.get("hooks") if isinstance(group, dict) else None
            for index, hook in enumerate(hooks if isinstance(hooks, list) else []):
                if isinstance(hook, dict) and is_line_of_ours(hook.get("command")):
                    for one in sorted(paths):
                        trusted[f"{one}:{_label(event)}:{number}:{index}"] = hash_of(event, group, hook)
    return trusted


def disarmed(hooks_text: str, path: str, config_text: str, config_path: str) -> list[str]:
    """Return a sentence for each of our hooks that Codex skips: it is not trusted at its position, or switched off."""
    config = parse_toml(config_text, config_path).get("hooks", {})
    state = config.get("state", {}) if isinstance(config, dict) else {}
    wrong = []
    for key, digest in trust_of(hooks_text, path).items():
        if os.path.realpath(path) != path and key.startswith(f"{path}:"):
            continue  # the same hook by its other name
        known = state.get(key) if isinstance(state, dict) else None
        event = key.rsplit(":", 3)[1]
        if not isinstance(known, dict) or known.get("trusted_hash") is None:
            wrong.append(f"{event}: Codex does not trust our hook at this position, and skips it")
        elif known.get("trusted_hash") != digest:
            wrong.append(f"{event}: Codex trusts another hook at this position, and skips ours")
        elif known.get("enabled") is False:
            wrong.append(f"{event}: our hook is switched off in Codex")
    return wrong
