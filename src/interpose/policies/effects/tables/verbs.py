"""Read the commands of services by their verbs: what reads, what changes, what deletes.

Such programs have thousands of subcommands; their verbs are few.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from functools import cache

from ....matching.shell.words import MANY, ONE, is_known
from ..rows import Arguments, Found

__all__ = [
    "CHANGE",
    "DELETE",
    "READ",
    "UNKNOWN",
    "WIDE",
    "begins",
    "by_verb",
    "is_dry",
    "is_local",
    "kind_of",
    "values_of",
]

_READS = """
    list ls get show describe status logs log tail info view cat read search find check validate verify inspect
    diff plan preview version whoami who-am-i help history top explain lookup query scan print fmt graph output
    outputs console providers metadata stat du hash test ping dump stats size head exists wait watch open browse
    doctor docs completion template lint tree events usage about snapshots snapshot-list export download dry-run
    estimate simulate count current current-context cluster-info api-resources api-versions options config-view
    login logout auth init setup configure completions env-list regions zones locations pull fetch examples
    whatis health monitor trace profile report summary summarize url compare releases tags images commands man
    shell-init use-context use
""".split()
_DELETES = """
    delete del destroy remove rm rb purge drop unregister undeploy revoke archive forget wipe reset clear
    terminate uninstall teardown prune decommission deregister detach disassociate evict drain flush nuke unset
    kill deprovision deallocate truncate clean cleanup force-reset force-unlock unpublish invalidate expire down
    disable
""".split()
_CHANGES = """
    create update set put apply deploy push up add edit patch replace scale restart start stop enable rollback
    promote import install upgrade publish run exec write attach associate register grant rotate move mv copy cp
    sync restore rename resize release redeploy activate assign invoke send trigger approve cancel merge close
    reopen transfer suspend resume pause unpause failover migrate roll refresh taint untaint modify change tag
    label annotate cordon uncordon provision bootstrap reboot launch insert alter
""".split()

READ, CHANGE, DELETE, WIDE = "cloud-read", "cloud-change", "cloud-delete", "cloud-delete-wide"


@cache
def kind_of(word: str, whole: bool = False) -> str:
    """Return what a verb does; empty if it is no known verb. With ``whole``, parts of the word do not count."""
    plain = word.lower()
    parts = re.split(r"[-_:]", plain)
    for part in (plain,) if whole else dict.fromkeys((plain, parts[0], parts[-1])):
        if part in _DELETE_SET:
            return DELETE
        if part in _READ_SET:
            return READ
        if part in _CHANGE_SET:
            return CHANGE
    return ""


def _verb(words: list[str], first: int) -> tuple[str, int]:
    """Return what the verb among words does, and where it is: the first word that is one, else one with a verb in it.

    Some verbs are nouns too: in ``velero restore delete`` the second word is the verb.
    """
    for whole in (True, False):
        for at, word in enumerate(words[first:6], first):
            kind = kind_of(word, whole)
            if kind and not (whole and kind != DELETE and at == 0 and kind_of("".join(words[1:2]), True)):
                return kind, at
    return "", 0


_READ_SET, _DELETE_SET, _CHANGE_SET = frozenset(_READS), frozenset(_DELETES), frozenset(_CHANGES)

UNKNOWN = "1:(unknown)"
"""The condition that the first word is unknown: such a word matches every pattern, and no other word this one."""

_DRY = frozenset({"--dry-run", "--dryrun", "--noop", "--what-if", "--whatif", "--generate-cli-skeleton"})


def is_dry(arguments: Arguments) -> bool:
    """Return whether the command only shows what it would do; the last of several options counts."""
    words = arguments.words[: arguments.words.index("--")] if "--" in arguments.words else arguments.words
    given = [word.partition("=") for word in words if word.partition("=")[0] in _DRY]
    return bool(given) and given[-1][2] not in ("none", "false") and is_known(given[-1][2])


def values_of(arguments: Arguments, names: str) -> tuple[str, ...]:
    """Return the values that may say which environment it is: of options, and of variables that are set."""
    given = [value for name in names.split() for value in arguments.options.get(name, ())]
    return (*given, *(value for _, value in arguments.command.assigned))


def by_verb(names: str, *, wide: str = "", unknown: str = "", first: int = 0) -> Callable[[Arguments], Iterator[Found]]:
    """Return a function that reads a command by its verb: the first word that is one.

    ``names`` are the options that say which environment it is; ``wide`` has the subcommands after which everything
    in something is lost; ``unknown`` is the effect of a command without a known verb; ``first`` words are skipped.
    """
    patterns = [one.split() for one in wide.split("|") if one]

    def effects(arguments: Arguments) -> Iterator[Found]:
        words = [word for word in arguments.operands if word]
        if not words or words[0] in ("help", "version"):
            return
        kind, at = _verb(words, first)
        if any(word in (ONE, MANY) for word in words[: at + 1]):
            kind = CHANGE
        kind = kind or unknown
        if not kind:
            return
        if kind != READ and is_dry(arguments):
            kind = READ
        if kind == DELETE and any(begins(words, one) for one in patterns):
            kind = WIDE
        yield Found(kind, " ".join(words[at + 1 :][:3]) or " ".join(words[:at]), values_of(arguments, names))

    return effects


def begins(words: list[str], pattern: list[str]) -> bool:
    """Return whether the words begin with those of a pattern."""
    return len(words) >= len(pattern) and all(
        fnmatch.fnmatchcase(word, one) for word, one in zip(words, pattern, strict=False)
    )


def is_local(words: list[str]) -> bool:
    """Return whether none of the words is an address of a storage service."""
    return not any(re.match(r"(?:s3|gs|az|https?):", word) for word in words)
