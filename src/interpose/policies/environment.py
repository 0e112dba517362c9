"""Ask about printing the environment, or a variable that holds a secret."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .call import Call
from .effects import Effect, say
from .effects.secret_names import is_secret_variable
from .parameters import action, names
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "AUTH",
"PRIVATE",
          "APIKEY", "PWD", "PAT", "SECRETS", "CREDS")  # fmt: skip
_ENVIRON = re.compile(r"/proc/[^/]+/(?:task/[^/]+/)?environ")


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    parts = frozenset(name.upper() for name in options["names"])
    for effect in call.effects:
        if effect.kind == "print-env" and effect.command not in call.consumed:
            what = options["containers"] if "container" in effect.values else options["all"]
            yield Objection(what, say(effect, "print the one variable that is needed"), effect.grade)
        elif effect.kind == "read-files" and _ENVIRON.fullmatch(effect.target):
            yield Objection(options["all"], say(effect, "it is the environment of a process"), effect.grade)
        elif _prints_secret(effect, parts) and effect.command not in call.consumed:
            instead = f'test -n "${effect.target}" says whether it is set'
            yield Objection(options["secrets"], say(effect, instead), effect.grade)


def _prints_secret(effect: Effect, parts: frozenset[str]) -> bool:
    return effect.kind == "print-variable" and is_secret_variable(effect.target, parts)


POLICY = Policy(
    name="environment",
    prevents="Printing the environment, or a variable that holds a secret.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("all", "ask", "printing all variables"),
        action("secrets", "ask", "printing a variable that holds a secret by its name"),
        action("containers", "ask", "printing the environment of a container or a composition"),
        names(
            "names", _NAMES, "the parts of a name that mean a secret", "a list of words: TOKEN means GITHUB_TOKEN too"
        ),
    ),
    recommended={"containers": "allow"},
)
