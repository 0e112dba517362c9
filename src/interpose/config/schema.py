"""The JSON Schema of a configuration, made from the tables of its reader.

A key that the reader knows and this module does not is an error here, so that the two cannot differ. The schema is for
editors; a file is still checked when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..dialects import NAMES as DIALECTS
from ..events import TABLE, EventSpec, Table
from ..handlers.declared_command import ISOLATIONS
from ..matching.declared_tools import KINDS
from ..models.configured import PERIODS
from ..policies import POLICIES, RECOMMENDED, Policy, find_policy
from ..policies.reading import COMMON, HOOK_OPTIONS, WORDS
from .audit import AUDIT_KEYS
from .declare import ERROR_BEHAVIORS, UNITS
from .fleet import FLEET_KEYS, TLS_KEYS
from .mapping import GROUP_KEYS, HOOK_KEYS, SETTINGS, SNAKE, TOP_LEVEL
from .models import BUDGET_KEYS, MODEL_KEYS
from .questions import QUESTION_KEYS
from .tools import TOOL_KEYS

__all__ = ["SETTING_SCHEMAS", "schema"]

_TEXT: dict[str, Any] = {"type": "string"}
_FLAG: dict[str, Any] = {"type": "boolean"}
_TEXTS: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
_SECONDS: dict[str, Any] = {"type": "number", "minimum": 0}
_DURATION: dict[str, Any] = {
    "anyOf": [_SECONDS, {"type": "string", "pattern": rf"^\s*[0-9]+(\.[0-9]+)?({'|'.join(UNITS)})\s*$"}]
}
_FREE = {"^x-": {"description": "Yours: ignored."}}

_PUBLIC_KEYS = {"type": "object", "additionalProperties": {**_TEXT, "pattern": "^ed25519:[A-Za-z0-9+/]{43}=$"}}
_FLEET: dict[str, dict[str, Any]] = {
    "servers": {"anyOf": [_TEXT, {**_TEXTS, "minItems": 1}], "description": "URLs of NATS, such as tls://host:4222."},
    "team": {**_TEXT, "description": "The first part of all names in NATS."},
    "node": {**_TEXT, "description": "The name of this machine; its host name by default."},
    "ring": {**_TEXT, "default": "prod", "description": "The ring whose rules it takes."},
    "credentials": {**_TEXT, "description": "A file with the credentials of this node, as nsc writes it."},
    "nkey": {**_TEXT, "description": "A file with the seed of this node's nkey."},
    "tls": {"type": "object", "properties": dict.fromkeys(sorted(TLS_KEYS), _TEXT), "additionalProperties": False,
            "description": "Files: ca (authorities to believe), cert and key (of this node)."},
    "signers": {**_PUBLIC_KEYS, "description": "Who may sign rules: names and public keys."},
    "approvers": {**_PUBLIC_KEYS, "description": "Who may answer questions: names and public keys."},
    "replicas": {"enum": [1, 3, 5], "default": 1, "description": "On how many servers NATS keeps what it stores."},
    "outbox": {**_TEXT, "default": "2GB",
               "description": "How large a store may become before records are deleted that were not forwarded."},
}  # fmt: skip

_HOOK: dict[str, dict[str, Any]] = {
    "name": {**_TEXT, "description": "What it is called: to switch it, and in every report."},
    "matcher": {**_TEXT, "description": 'Names and globs separated by |, such as "Write|Edit" or "mcp__*", or "re:" '
                                        "and a regular expression (RE2) for the whole name. Case-sensitive."},
    "if": {"anyOf": [_TEXT, {**_TEXTS, "minItems": 1}],
           "description": "A rule on what a tool is given, such as Bash(git push *) or Write(src/**), or a list of "
                          "rules, of which one has to match."},
    "type": {"enum": ["python", "command", "http", "mcp_tool", "nats", "script", "prompt", "agent"],
             "description": "What handler: is: a Python function (the default), a program, or a line of a script. url: "
                            "means http, server: means mcp_tool, subject: means nats, prompt: means prompt; an "
                            "agent reads files first."},
    "prompt": {**_TEXT, "minLength": 1,
               "description": "What a model is to judge; $ARGUMENTS is the event, which otherwise comes last."},
    "model": {**_TEXT, "minLength": 1, "description": "The model that is asked: a name from models:, or "
                                                      "anthropic:NAME. The entry default if not given."},
    "continueOnBlock": {**_FLAG, "default": True,
                        "description": "false: if the verdict is not ok, the agent's turn ends."},
    "cache": {**_FLAG, "default": True, "description": "false: ask again about what was judged already."},
    "handler": {"anyOf": [_TEXT, {**_TEXTS, "minItems": 1}],
                "description": "module.function; with type: command a program and its arguments; with type: script a "
                               "line such as /deny."},
    "command": {**_TEXT, "description": "A line for the shell; with args: a program."},
    "args": {**_TEXTS, "description": "Arguments; the command is then run without a shell."},
    "shell": {"enum": ["sh", "bash"], "default": "sh", "description": "The shell that runs command:."},
    "priority": {"type": "integer", "default": 100, "description": "Lower runs earlier."},
    "timeout": {**_SECONDS, "description": "Seconds; 0 means not set. The default is 30."},
    "onError": {"enum": list(ERROR_BEHAVIORS),
                "description": "What a failure of this hook means: abort denies, which makes it a guard; log goes on; "
                               "skip goes on and is silent."},
    "enabled": {**_FLAG, "default": True, "description": "false switches it off."},
    "enforce": {**_FLAG, "default": True, "description": "false only records what it would have decided."},
    "locked": {**_FLAG, "default": False,
               "description": "Nothing replaces it, no other file switches it off, and it denies if it fails."},
    "parallel": {**_FLAG, "default": False, "description": "Run beside its neighbours of the same priority."},
    "async": {**_FLAG, "default": False, "description": "Run in the background; its context comes later."},
    "once": {**_FLAG, "default": False, "description": "Run once per process."},
    "inline": {**_FLAG, "default": False, "description": "Run in the caller's own task or thread."},
    "isolate": {"enum": ["process"], "description": "Run a Python function in a kept process, which can be ended."},
    "isolation": {"enum": list(ISOLATIONS), "description": "What is ended with a command at its deadline."},
    "background": {"enum": ["keep"], "description": "keep: leave running what the command has started."},
    "warm": {**_FLAG, "default": False, "description": "Start a Python script from a kept process."},
    "env": {"type": "object", "additionalProperties": _TEXT, "description": "Variables for the command."},
    "passEnv": {**_TEXTS, "description": "Names of the host's variables that it may see, beside the usual ones."},
    "inheritEnv": {**_FLAG, "default": False, "description": "Let it see all variables of the host, secrets too."},
    "cwd": {**_TEXT, "description": "Where it runs; from this file's directory. event: where the event is."},
    "url": {"anyOf": [{**_TEXT, "pattern": "^https?://", "description": "Such as https://hooks.example.com/events."}],
            "description": "Where the event is posted to."},
    "headers": {"type": "object", "additionalProperties": _TEXT,
                "description": "Headers of the request; $NAME and ${NAME} stand for variables of allowedEnvVars."},
    "allowedEnvVars": {**_TEXTS, "description": "Names of the host's variables that headers may name."},
    "server": {"anyOf": [_TEXT, {"$ref": "#/$defs/mcpServer"}],
               "description": "The MCP server of tool: its name below mcpServers, or the server itself."},
    "tool": {**_TEXT, "description": "The tool of the MCP server that is called."},
    "input": {"type": "object",
              "description": "What the tool is given; ${tool_input.file_path} stands for a part of the event."},
    "subject": {"anyOf": [{**_TEXT, "pattern": "^[^\\s.*>$]+([.][^\\s.*>]+)*$",
                           "description": "Such as checks.licences."}],
                "description": "The subject of NATS whose workers are asked; fleet: says where NATS is."},
    "description": {**_TEXT, "description": "For the next reader."},
}  # fmt: skip
_SERVER: dict[str, dict[str, Any]] = {
    "type": {"enum": ["stdio", "http", "streamable-http", "streamableHttp"]},
    "command": {**_TEXT, "description": "A program, which is run without a shell."},
    "args": {**_TEXTS, "description": "Its arguments."},
    "env": {"type": "object", "additionalProperties": _TEXT, "description": "Variables for the program."},
    "cwd": {**_TEXT, "description": "Where it runs; the project if not given."},
    "url": {**_TEXT, "description": "The address of a server that runs elsewhere."},
    "headers": {"type": "object", "additionalProperties": _TEXT, "description": "Headers of its requests."},
}  # fmt: skip
SETTING_SCHEMAS: dict[str, dict[str, Any]] = {
    "errorBehavior": {"enum": list(ERROR_BEHAVIORS), "default": "log",
                      "description": "What a failure means for hooks that do not say so themselves."},
    "timeout": {"type": "number", "minimum": 100, "description": "A ceiling over all hooks, in milliseconds."},
    "defaultTimeout": {**_DURATION, "description": "For hooks without a timeout, such as 5s or 250ms."},
    "totalTimeout": {**_DURATION, "description": "For all hooks of one event together, such as 2m."},
    "maxHooksPerPoint": {"type": "integer", "minimum": 0, "default": 50,
                         "description": "How many hooks one layer may have at an event; 0 means no limit."},
    "enforce": {**_FLAG, "default": True, "description": "false only records what would have been decided."},
}  # fmt: skip
_GROUP: dict[str, dict[str, Any]] = {
    "matcher": _HOOK["matcher"],
    "timeout": _HOOK["timeout"],
    "hooks": {"type": "array", "items": {"$ref": "#/$defs/hook"}, "description": "Run first, in order."},
    "commands": {"type": "array", "items": {"anyOf": [_TEXT, {"$ref": "#/$defs/hook"}]},
                 "description": "Lines for the shell; run after the hooks, in order."},
}  # fmt: skip
_AGE: dict[str, Any] = {**_TEXT, "pattern": r"^\s*[0-9.]+\s*[mhdwy]\s*$", "description": "Such as 30d, 12h or 1y."}
_SIZE: dict[str, Any] = {
    **_TEXT, "pattern": r"^\s*[0-9.]+\s*[KMGkmg][Ii]?[Bb]\s*$", "description": "Such as 500MB or 2GiB."
}  # fmt: skip
_AUDIT: dict[str, dict[str, Any]] = {
    "path": {**_TEXT, "description": "The store, from the directory of this file; the person's own if not given."},
    "required": {**_FLAG, "default": False, "description": "Deny what cannot be recorded."},
    "durable": {**_FLAG, "default": False, "description": "Wait for the disk before going on."},
    "retention": {
        "anyOf": [_AGE, _SIZE, {"type": "object", "properties": {"age": _AGE, "size": _SIZE},
                                "additionalProperties": False}],
        "description": "How long records are kept, and how large the store may become.",
    },
    "redact": {"type": "object", "additionalProperties": _TEXT,
               "description": "Further secrets that must not be recorded: a kind, and its pattern (RE2)."},
    "key": {**_TEXT, "description": "A file with a key that seals the record, or env:VARIABLE."},
    "anchor": {**_TEXT, "description": "A second file, elsewhere, that proves that nothing is missing."},
}  # fmt: skip
_QUESTIONS: dict[str, dict[str, Any]] = {
    "wait": {**_DURATION, "default": "5m", "description": "How long a question waits: 1s to 24h."},
    "default": {"const": "deny", "default": "deny", "description": "What happens then."},
}
_LIMIT: dict[str, Any] = {"type": "integer", "minimum": 1}
_BUDGET: dict[str, dict[str, Any]] = {
    "calls": {**_LIMIT, "description": "How often it may be asked."},
    "tokens": {**_LIMIT, "description": "How many tokens it may use."},
    "per": {"enum": list(PERIODS), "default": PERIODS[0], "description": "For which time the limits hold."},
}
_MODEL: dict[str, dict[str, Any]] = {
    "model": {**_TEXT, "pattern": "^(anthropic|openai)(:.*)?$|^scripted:.+$",
              "description": "anthropic:NAME, openai:NAME or scripted:FILE."},
    "baseUrl": {**_TEXT, "pattern": "^https?://", "description": "The address of its server, if it is another."},
    "apiKeyEnv": {**_TEXT, "description": "The variable of the environment that has the key, if it is another."},
    "window": {"type": "integer", "minimum": 1000, "description": "The size of its context in tokens."},
    "redact": {**_FLAG, "default": True, "description": "false: send events with the secrets in them."},
    "budget": {"type": "object", "properties": _BUDGET, "patternProperties": _FREE, "additionalProperties": False,
               "anyOf": [{"required": ["calls"]}, {"required": ["tokens"]}],
               "description": "How much of it hooks may use; a hook that cannot ask it any more has failed."},
}  # fmt: skip
_TOOL: dict[str, dict[str, Any]] = {
    "as": {**_TEXT, "minLength": 1, "description": "The name that rules know the tool by, such as Bash."},
    "fields": {"type": "object", "additionalProperties": _TEXT,
               "description": "The host's name of a field of the input, and the one that rules know, such as command."},
    "kind": {"enum": list(KINDS), "description": "What the tool does, for the permission modes."},
}  # fmt: skip


def schema(table: Table = TABLE) -> dict[str, Any]:
    """Return the schema of a configuration for these events."""
    _all_of(BUDGET_KEYS, _BUDGET)
    top: dict[str, dict[str, Any]] = {
        "hooks": {"$ref": "#/$defs/hooks"},
        "policies": {"$ref": "#/$defs/policies",
                     "description": "Rules that come with Interpose: recommended, or a list of names, some with "
                                    "parameters."},
        "tools": {"type": "object", "patternProperties": _FREE,
                  "additionalProperties": {"anyOf": [_TOOL["as"], _closed(_all_of(TOOL_KEYS, _TOOL), minProperties=1)]},
                  "description": "Tools that the host calls by names of its own, in which * stands for any text: "
                                 "shell: Bash, or as:, fields: and kind:."},
        "models": {"type": "object", "patternProperties": _FREE,
                   "additionalProperties": {"anyOf": [_MODEL["model"], _closed(
                       _all_of(MODEL_KEYS, _MODEL), required=["model"])]},
                   "description": "The models that hooks of type prompt and agent ask, by a name of yours: "
                                  "default: anthropic:NAME, or model:, baseUrl:, apiKeyEnv:, budget: and more."},
        "mcpServers": {"type": "object", "additionalProperties": {"$ref": "#/$defs/mcpServer"},
                       "description": "MCP servers whose tools hooks of type mcp_tool call, as in a .mcp.json."},
        "agents": {"type": "array", "items": {"$ref": "#/$defs/agent"}, "description": "Hooks of single agents."},
        "scripts": {**_TEXTS, "description": "Files of script lines (.arma), from the directory of this file."},
        "permissions": {"type": "object", "additionalProperties": {"enum": ["allow", "ask", "deny"]},
                        "description": "Rules of sessions, such as Bash(git push *); also names for /perms check."},
        "audit": {"anyOf": [_closed(_all_of(AUDIT_KEYS, _AUDIT)), _FLAG, {"const": "required"}],
                  "description": "Record every firing: where, and what happens if that cannot be done."},
        "questions": {"anyOf": [_closed(_all_of(QUESTION_KEYS, _QUESTIONS)), _FLAG],
                      "description": "Questions wait in the record until a person answers: interpose approve, refuse."},
        "fleet": {**_closed(_all_of(FLEET_KEYS, _FLEET)), "required": ["servers", "team"],
                  "description": "The fleet that this machine is a node of; in a person's own configuration only."},
        "resident": {**_FLAG, "default": False,
                     "description": "Let interpose fire start the resident engine for the events that follow."},
        "dialect": {"enum": list(DIALECTS), "default": "native",
                    "description": "claude: this file is one of Claude Code's settings."},
    }  # fmt: skip
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Hooks of Interpose",
        "type": "object",
        "properties": _all_of(TOP_LEVEL, top),
        # Other keys are allowed at the top level: they belong to other programs.
        "$defs": {
            "hook": _closed(
                _spelled(_all_of(HOOK_KEYS, _HOOK)),
                anyOf=[{"required": [key]} for key in ("handler", "command", "url", "server", "subject", "prompt")],
            ),
            "mcpServer": {
                "type": "object",
                "properties": _SERVER,
                "additionalProperties": False,
                "anyOf": [{"required": ["command"]}, {"required": ["url"]}],
            },
            "group": _closed(_all_of(GROUP_KEYS, _GROUP), anyOf=[{"required": ["hooks"]}, {"required": ["commands"]}]),
            "list": {"type": "array", "items": _hook_or_group()},
            "policies": _policies(),
            "policyName": {
                "anyOf": [
                    {"const": RECOMMENDED},
                    *({"const": name, "description": find_policy(name).prevents} for name in POLICIES),
                ]
            },
            "policyWord": {
                "enum": [*WORDS, False],
                "description": "observe only records what it would decide; off switches it off.",
            },
            "policyOptions": {"properties": _options_of_all()},
            "hooks": _section(table, shared=True),
            "agentHooks": _section(table, shared=False),
            "agent": {
                "type": "object",
                "properties": {
                    "id": {**_TEXT, "description": "The agent's id: hooks hold for it."},
                    "backend": {"type": "object", "properties": {"hooks": {"$ref": "#/$defs/agentHooks"}}},
                },
            },
        },
    }


_RULES: dict[str, Any] = {"anyOf": [_TEXT, _TEXTS]}
_COMMON: dict[str, dict[str, Any]] = {
    "onMatch": {"enum": ["deny", "ask"]},
    "allow": _RULES,
    "hint": _TEXT,
    "unreadable": {"enum": ["ask", "allow"]},
}


def _policies() -> dict[str, Any]:
    """Return the schema of ``policies:``: the name of the set or a list of names, each with its parameters."""
    policies = [find_policy(name) for name in POLICIES]
    named = {
        RECOMMENDED: _policy_value({}, "The policies that are recommended."),
        **{policy.name: _policy_value(_parameters_of(policy), policy.prevents) for policy in policies},
    }
    names = {"$ref": "#/$defs/policyName"}
    entry = {
        "type": "object", "properties": named, "additionalProperties": False, "minProperties": 1, "maxProperties": 1,
    }  # fmt: skip
    return {
        "anyOf": [names, {"type": "array", "items": {"anyOf": [names, entry]}}, {"type": "null"}],
        "description": "Rules that come with Interpose: recommended, or a list of names, some with parameters. "
                       "`interpose policies` lists them.",
    }  # fmt: skip


def _policy_value(own: dict[str, Any], about: str) -> dict[str, Any]:
    """Return the schema of what stands behind the name of a policy, which has parameters of its own."""
    names = "|".join(re.escape(name) for name in dict.fromkeys((*own, *COMMON, *HOOK_OPTIONS)))
    options = {
        "type": "object",
        "allOf": [{"$ref": "#/$defs/policyOptions"}],
        "properties": own,
        "propertyNames": {"pattern": f"^(x-.*|{names})$"},
    }
    return {"anyOf": [{"$ref": "#/$defs/policyWord"}, options, {"type": "null"}], "description": about}


def _options_of_all() -> dict[str, Any]:
    """Return the options that every policy has; the others refer to these."""
    described = _all_of(COMMON, _COMMON)
    common = {name: {**about, "description": _sentence(COMMON[name])} for name, about in described.items()}
    of_hooks = {name: _HOOK.get(name, _TEXT) for name in HOOK_OPTIONS}
    of_hooks["scope"] = {**_TEXT, "description": "The agent that it holds for."}
    return {**common, **of_hooks}


def _parameters_of(policy: Policy) -> dict[str, Any]:
    return {
        one.name: {
            **one.schema,
            "description": _sentence(f"{one.purpose} ({one.expects})" if one.expects else one.purpose),
            **({} if one.default is None else {"default": _plain(one.default)}),
        }
        for one in policy.parameters
    }


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value


def _hook_or_group() -> dict[str, Any]:
    """Return a schema that tells the two apart by their keys, so that an editor reports the right problem."""
    is_group = {"anyOf": [{"required": ["hooks"]}, {"required": ["commands"]}]}
    return {"type": "object", "if": is_group, "then": {"$ref": "#/$defs/group"}, "else": {"$ref": "#/$defs/hook"}}


def _section(table: Table, *, shared: bool) -> dict[str, Any]:
    """Return the schema of ``hooks:``: settings, if it is the shared one, and events."""
    whole: dict[str, Any] = {"type": "object", "required": ["hooks"], "properties": {"hooks": {"$ref": "#/$defs/list"}}}
    if not shared:
        whole["properties"] = {
            "override": {**_FLAG, "default": False, "description": "Drop the shared hooks of this event."},
            **whole["properties"],
        }
        whole["required"] = []
    entry = {"anyOf": [{"$ref": "#/$defs/list"}, {**whole, "additionalProperties": False, "patternProperties": _FREE},
                       {"type": "null"}]}  # fmt: skip
    events = {spelling: {**entry, "description": _about(table[spelling])} for spelling in table.spellings()}
    settings = _spelled(_all_of(SETTINGS, SETTING_SCHEMAS)) if shared else {}
    with_matcher = "|".join(re.escape(name) for name in table.spellings() if table[name].subject)
    return {
        "type": ["object", "null"],
        "properties": {**settings, **events},
        "patternProperties": {**_FREE, f"^({with_matcher}):.+$": {**entry, "description": "The suffix is a matcher."}},
        "additionalProperties": False,
    }


def _about(row: EventSpec) -> str:
    may = ", ".join([*sorted(row.can), *(f"modify {name}" for name in sorted(row.modifies))]) or "only look"
    compared = f" A matcher is compared with {row.subject}." if row.subject else ""
    return f"{row.meaning[:1].upper()}{row.meaning[1:]}. A hook may {may}.{compared}"


def _closed(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": _FREE,
        "additionalProperties": False,
        **more,
    }


def _all_of(keys: Iterable[str], described: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the description of every key that the reader knows, and of no other."""
    known = set(keys)
    if known != set(described):
        raise RuntimeError(f"the schema and the reader differ: {sorted(known ^ set(described))}")
    return {key: about for key, about in described.items() if key in known}


def _spelled(properties: dict[str, Any]) -> dict[str, Any]:
    """Add the spellings with underscores, which are read too."""
    others = {snake: {**properties[camel], "deprecated": True} for snake, camel in SNAKE.items() if camel in properties}
    return {**properties, **others}
