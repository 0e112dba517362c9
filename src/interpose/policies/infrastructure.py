"""Ask about changes of clusters and clouds, and deny deleting in them."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from ..model import STRICTNESS
from .call import Call
from .effects import say
from .environments import names_match, production
from .parameters import action, names
from .policy import Action, Objection, Options, Policy

__all__ = ["POLICY"]

_PARAMETERS = {
    "cloud-read": "read",
    "cloud-change": "change",
    "cloud-change-unseen": "unseen",
    "cloud-delete": "delete",
    "cloud-delete-wide": "wide",
}
_INSTEAD = {
    "cloud-change-unseen": "apply without -auto-approve shows the changes first",
    "cloud-delete-wide": "a person should do this",
}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    selected = [*_exported(call), *(text for one in call.of("cloud-select") for text in (one.target, *one.values))]
    for effect in call.of(*_PARAMETERS):
        if not any(fnmatchcase(effect.program.lower(), pattern.lower()) for pattern in options["programs"]):
            continue
        chosen: Action = options[_PARAMETERS[effect.kind]]
        reason = say(effect, _INSTEAD.get(effect.kind, ""))
        named = (*effect.values, *selected, effect.target)
        if effect.kind != "cloud-read" and names_match(named, options["production"]):
            stricter = options["productionDelete" if "delete" in effect.kind else "productionChange"]
            chosen = max(chosen, stricter, key=lambda one: STRICTNESS.get(one, 0))
            reason += ", in production"
        yield Objection(chosen, reason, effect.grade)


def _exported(call: Call) -> Iterator[str]:
    """Yield the values of variables that a line exports: ``export AWS_PROFILE=prod``."""
    for line in call.lines:
        for command in line.commands:
            if command.name in ("export", "declare"):
                yield from (word.partition("=")[2] for word in command.parts[1:] if "=" in word)


POLICY = Policy(
    name="infrastructure",
    prevents="Changing or deleting what runs in clusters, clouds and other services.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("read", "allow", "looking: get, list, describe, logs, plan, dry runs"),
        action("change", "ask", "creating and changing: apply, deploy, set, scale"),
        action("unseen", "ask", "applying changes that were not shown: terraform apply -auto-approve"),
        action("delete", "deny", "deleting one thing, and changes that delete: drain, scale to 0, replace --force"),
        action("wide", "deny", "deleting something with everything in it: a namespace, a bucket, a stack, a project"),
        production(),
        action("productionChange", "ask", "changes in production"),
        action("productionDelete", "deny", "deleting in production"),
        names("programs", ("*",), "the programs that are judged"),
    ),
    recommended={"change": "allow", "unseen": "ask", "delete": "allow", "wide": "ask"},
    notes=(
        "A command is read by its verb, so that the thousands of subcommands need no list; for programs "
        "without an entry of "
        "their own, only known verbs count. A request with the method DELETE counts as deleting, except to "
        "a server on this "
        "machine; gh api and az rest likewise.\n\n"
        "Production is recognised by names in the call: of a context, profile, namespace, project, "
        "workspace, host of ssh, "
        "or of variables that are set in the line. A context that was selected earlier is not seen."
    ),
)
