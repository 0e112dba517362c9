"""Find secrets in prompts, results, failures, writes, commits, command lines and requests."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from ..matching.shell.words import is_known
from ..redaction import Redactor
from ..redaction.names import is_secret_variable
from ..replies import Reply, context, deny, modify
from ..runtime.regex import regex
from .call import Call
from .effects.secret_names import secret_kind
from .parameters import Parameter, action, names, one_of, patterns
from .placeholders import is_no_secret
from .policy import Action, Objection, Options, Policy
from .staged_files import files_to_commit

__all__ = ["POLICY"]

_WHERE = ("prompts", "results", "failures", "writes", "commits", "commands", "requests")
_WRITTEN = frozenset({
    "content", "contents", "new_string", "new_str", "new_source", "newstring", "newtext", "new_text", "patch", "diff",
    "file_text", "text", "insert_text", "code", "input", "patchtext",
})  # fmt: skip
_MARK = regex(r"\[redacted:([A-Za-z0-9_-]+):[0-9a-f]{8}\]")
_INSTEAD = "read it from a variable or an env file"


@lru_cache(maxsize=8)
def _redactor(rules: tuple[tuple[str, str], ...], ignored: tuple[str, ...]) -> Redactor:
    own = frozenset(kind for kind, _ in rules)

    def ignore(kind: str, before: str, value: str) -> bool:
        if any(fnmatchcase(value, glob) for glob in ignored):
            return True
        return kind not in own and is_no_secret(kind, before, value)

    return Redactor(rules=rules, ignore=ignore)


def _made(options: Options) -> Redactor:
    rules: Mapping[str, re.Pattern[str]] = options["patterns"]
    made = _redactor(tuple((kind, rule.pattern) for kind, rule in rules.items()), options["ignore"])
    made.refresh()
    return made


def _kinds(before: Any, after: Any) -> Counter[str]:
    """Return the kinds of secrets that were replaced, and how many of each."""
    if before == after:
        return Counter()
    found = Counter(_MARK.findall(str(after)))
    found.subtract(Counter(_MARK.findall(str(before))))
    return +found


def _said(kinds: Counter[str]) -> str:
    number = sum(kinds.values())
    listed = ", ".join(sorted(kind.replace("_", " ") for kind in kinds))
    return f"{number} secret{'s' if number > 1 else ''} ({listed})"


# Before a call.


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    redactor, where = _made(options), options["where"]
    what: Action = "deny" if options["action"] == "deny" else "ask"
    for place, text in _texts(call, where):
        if place == "writes" and options["action"] == "redact":
            continue
        if kinds := _kinds(text, redactor(text)):
            yield Objection(what, f"{_PLACES[place]} has {_said(kinds)} in it: {_INSTEAD}")
    if "commands" in where and options["exports"] != "allow":
        for name in _exported(call, options["ignore"]):
            yield Objection(options["exports"], f"the command line has the value of {name} in it: {_INSTEAD}")
    if "commits" in where:
        for path, text in files_to_commit(call):
            if kinds := _kinds(text, redactor(text)):
                yield Objection(what, f"{path}, which is to be committed, has {_said(kinds)} in it: {_INSTEAD}")


def _exported(call: Call, ignored: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of variables for secrets that a line exports with a value that stands in it."""
    for command in (command for line in call.lines for command in line.commands if command.name == "export"):
        for word in command.parts[1:]:
            name, _, value = word.partition("=")
            is_secret = is_secret_variable(name) or name.endswith("ACCESS_KEY_ID")
            if (
                value
                and is_known(value)
                and is_secret
                and not any(fnmatchcase(value, glob) for glob in ("<*", *ignored))
            ):
                yield name


_PLACES = {
    "writes": "the text to be written",
    "commits": "the commit",
    "commands": "the command line",
    "requests": "the request",
}


def _texts(call: Call, where: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a call with what they are for, as far as these are looked at."""
    for line in call.lines:
        commits = any(one.name == "git" and "commit" in one.parts[1:4] for one in line.commands)
        place = "commits" if commits and "commits" in where else "commands"
        if place in where:
            yield place, line.text
    if call.lines:
        return
    if "writes" in where and not _holds_secrets(call):
        for _, text in _written(call.input):
            yield "writes", text
    if "requests" in where and _requests(call):
        yield from (("requests", text) for text in _strings(call.input))


def _requests(call: Call) -> bool:
    return call.own_name.startswith("mcp__") or any(True for _ in call.of("request"))


def _holds_secrets(call: Call) -> bool:
    """Return whether the file that is written is one for secrets."""
    return any(secret_kind(effect.target, call.home) for effect in call.of("write-files"))


def _written(given: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if isinstance(given, Mapping) and depth < 5:
        for name, value in given.items():
            yield from _written(value, str(name), depth + 1)
    elif isinstance(given, (list, tuple)) and depth < 5:
        for value in given:
            yield from _written(value, key, depth + 1)
    elif isinstance(given, str) and key.lower() in _WRITTEN:
        yield key, given


def _strings(given: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif depth < 20:
        values = given.values() if isinstance(given, Mapping) else given if isinstance(given, (list, tuple)) else ()
        for value in values:
            yield from _strings(value, depth + 1)


def _change(call: Call, options: Options) -> Reply | None:
    """Replace secrets in what a tool writes."""
    if options["action"] != "redact" or "writes" not in options["where"] or call.lines or _holds_secrets(call):
        return None
    redactor = _made(options)
    made = _rewritten(call.input, redactor)
    kinds = _kinds(call.input, made)
    if not kinds:
        return None
    said = f"{_said(kinds)} in the text that {call.tool} writes: replaced by a mark. {_INSTEAD.capitalize()}."
    return modify(tool_input=made) + context(said)


def _rewritten(given: Any, redactor: Redactor, key: str = "", depth: int = 0) -> Any:
    if isinstance(given, Mapping) and depth < 5:
        return {name: _rewritten(value, redactor, str(name), depth + 1) for name, value in given.items()}
    if isinstance(given, (list, tuple)) and depth < 5:
        return [_rewritten(value, redactor, key, depth + 1) for value in given]
    return redactor(given) if isinstance(given, str) and key.lower() in _WRITTEN else given


# Other events.


def _on_prompt(event: Any, options: Options) -> Reply | None:
    if "prompts" not in options["where"]:
        return None
    prompt = event.get("prompt")
    kinds = _kinds(prompt, _made(options)(prompt)) if isinstance(prompt, str) else Counter[str]()
    return deny(f"secrets: the prompt has {_said(kinds)} in it; send it without") if kinds else None


def _on_message(event: Any, options: Options) -> Reply | None:
    """Redact a prompt where it can be changed."""
    prompt = event.get("prompt")
    if "prompts" not in options["where"] or not isinstance(prompt, str):
        return None
    made = _made(options)(prompt)
    kinds = _kinds(prompt, made)
    if not kinds:
        return None
    return (
        modify(prompt=made) if options["action"] == "redact" else deny(f"secrets: the prompt has {_said(kinds)} in it")
    )


def _on_result(event: Any, options: Options) -> Reply | None:
    return _replaced(event, "tool_response", "result", options) if "results" in options["where"] else None


def _on_failure(event: Any, options: Options) -> Reply | None:
    return _replaced(event, "error", "error", options) if "failures" in options["where"] else None


def _replaced(event: Any, field: str, called: str, options: Options) -> Reply | None:
    value = event.get(field)
    made = _made(options).value(value)
    kinds = _kinds(value, made)
    if not kinds:
        return None
    return modify({field: made}) + context(
        f"{_said(kinds)} in the {called} of {event.get('tool_name')}: replaced by marks."
    )


def _places(value: Any) -> tuple[str, ...]:
    read = one_of("where", _WHERE, "", "").read
    return tuple(read(one) for one in names("where", (), "").read(value))


POLICY = Policy(
    name="secrets",
    prevents="Secrets in prompts, results, failures, writes, commits, command lines and requests.",
    judge=_judge,
    change=_change,
    hooks={
        "UserPromptSubmit": _on_prompt,
        "pre:message": _on_message,
        "PostToolUse": _on_result,
        "PostToolUseFailure": _on_failure,
    },
    parameters=(
        Parameter("where", _places, _WHERE, "where secrets are looked for", f"a list of {', '.join(_WHERE)}"),
        one_of(
            "action",
            ("redact", "deny", "ask"),
            "redact",
            "redact replaces it in results, failures and writes, and asks about other calls",
        ),
        action("exports", "ask", "exporting a variable for a secret with any value that stands in the line"),
        patterns("patterns", "further secrets; the first group of an expression is the secret if it has one"),
        names("ignore", (), "secrets that are none", "a list of texts; * stands for any text"),
    ),
    recommended={"exports": "allow", "where": ["prompts", "results", "failures", "writes", "commits", "requests"]},
    notes=(
        "A secret is found by its shape (keys and tokens of services, private keys) or by the text before it (a "
        "password in an address, a random text after TOKEN=). Placeholders and words are none. Text written to an env "
        "file passes. A prompt that a person submits cannot be changed and is denied; a command with a mark in it "
        "would not work, so it is asked about. Of a commit, the message, the files that git add names, changed files, "
        "and what is staged are looked at; not a new file that the same line adds with its whole folder."
    ),
)
