"""Ask about printing the environment, or a variable that holds a secret."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ..redaction.names import is_secret_variable
from ..runtime.regex import regex
from .call import Call
from .effects import Effect, say
from .parameters import action, names
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASS", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "AUTH",
"PRIVATE",
          "APIKEY", "PWD", "PAT", "SECRETS", "CREDS")  # fmt: skip
_ENVIRON = regex(r"/proc/[^/]+/(?:task/[^/]+/)?environ")


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    parts = frozenset(name.upper() for name in options["names"])
    for effect in call.effects:
        if effect.kind == "print-env" and effect.command not in call.consumed:
            is_elsewhere = "container" in effect.values or (call.is_elsewhere(effect) and not _is_given(call))
            what = options["containers" if is_elsewhere else "all"]
            yield Objection(what, say(effect, "print the one variable that is needed"), effect.grade)
        elif effect.kind == "read-files" and _ENVIRON.fullmatch(effect.target):
            yield Objection(options["all"], say(effect, "it is the environment of a process"), effect.grade)
        elif _prints_secret(effect, parts) and effect.command not in call.consumed:
            instead = f'test -n "${effect.target}" says whether it is set'
            yield Objection(options["secrets"], say(effect, instead), effect.grade)


def _is_given(call: Call) -> bool:
    """Return whether a container gets variables of this machine: ``docker run -e NAME``, or an env file."""
    words = [word for line in call.lines for command in line.commands for word in command.parts[1:]]
    return any(before in ("-e", "--env") and "=" not in word for before, word in pairwise(words)) or any(
        word.startswith(("--env-file", "--env-host")) for word in words
    )


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
        action("containers", "ask", "printing the environment of a container, a composition or another machine"),
        names(
            "names", _NAMES, "the parts of a name that mean a secret", "a list of words: TOKEN means GITHUB_TOKEN too"
        ),
    ),
    recommended={"containers": "allow"},
)
