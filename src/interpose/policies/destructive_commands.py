"""Stop the loss of files outside the project, of the project as a whole, and of work that git does not have."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator

from ..matching.shell.words import MANY, ONE, is_known
from .call import Call, PlaceKind
from .effects import Effect, say
from .parameters import action, flag, names, one_of
from .policy import Action, Objection, Options, Policy
from .repository import Repository, find_repository

__all__ = ["POLICY"]

_FILES = ("delete-files", "delete-files-for-good", "empty-files", "move-files", "change-tree", "lock-out")
_INSTEAD = {
    "lose-changes": "git stash keeps them",
    "lose-changes-perhaps": "git stash keeps them",
    "lose-untracked": "git clean -n shows them, git stash -u keeps them",
    "lose-stash": "git stash list shows them",
    "lose-commits": "git branch -d refuses if they are not merged",
    "lose-recovery": "git gc without --prune=now keeps it for two weeks",
}
_REPLACEABLE = ("*.lock", "*.pid", "*.sample", "COMMIT_EDITMSG", "MERGE_MSG", "gc.log")
"""Files in .git that may be deleted: a lock that an ended git has left, a message."""
_HISTORY = ("HEAD", "index", "logs", "objects", "packed-refs", "refs")
"""What in .git is damaged if something else than git writes to it."""
_SYSTEM = (
    "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin",
    "/srv", "/sys", "/usr", "/usr/bin", "/usr/include", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/sbin",
    "/usr/share", "/var", "/var/lib", "/var/log", "/Applications", "/Library", "/System", "/Users",
)  # fmt: skip


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of(*_FILES, "write-files"):
        verdict, instead = _judge_files(effect, call, options)
        if verdict != "allow":
            yield Objection(verdict, say(_shown(effect, call), instead), effect.grade)
    for effect in call.of(*_INSTEAD):
        if not _is_free(effect, call, options):
            yield Objection(options["git"], say(_shown(effect, call), _INSTEAD[effect.kind]), effect.grade)


def _shown(effect: Effect, call: Call) -> Effect:
    """Return an effect whose target is short: relative to the directory of the call if it is below it."""
    target = effect.target
    if os.path.isabs(target):
        target = os.path.normpath(target)
        if target == call.cwd:
            target = "the project" if target == call.project else target
        else:
            target = target.removeprefix(call.cwd.rstrip("/") + "/")
    return effect._replace(target=target)


# Files.


def _judge_files(effect: Effect, call: Call, options: Options) -> tuple[Action, str]:
    """Return what is done about an effect on files, and what to do instead."""
    deny: Action = options["files"]
    path = _plain(effect.target)
    if effect.kind == "write-files":
        return (deny, "git itself writes there") if _is_history(path) else ("allow", "")
    if effect.kind in ("move-files", "change-tree"):
        is_moved_whole = effect.kind == "move-files" and (
            call.place_of(path) == "root" or _is_kept(path, call, options)
        )
        return (deny, "") if _is_system(path, call) or is_moved_whole else ("allow", "")
    if ONE in effect.target:
        return options["unknownTargets"], "what that is, is not known before it runs"
    place = _place(path, call, options)
    if place in ("root", "outside") or (place == "inside" and _is_kept(path, call, options)):
        return deny, "delete single files in the project, or ask the user"
    return (_inside(effect, path, call, options), "") if place == "inside" else ("allow", "")


def _plain(target: str) -> str:
    """Return the file or directory that a pattern stands for: ``build/*`` is build, ``build/*.o`` a file in it."""
    while True:
        head, slash, name = target.rpartition("/")
        if not slash or name not in ("", MANY, f".{MANY}", MANY * 2):
            break
        if not name and not (head.endswith(MANY) or head == ""):
            return target
        if head == "":
            return "/"
        target = head if name else head.rstrip("/")
        if not target.endswith(MANY):
            return target + "/."
    return target.replace(MANY, "x")


def _place(path: str, call: Call, options: Options) -> PlaceKind:
    place = call.place_of(path)
    if place in ("outside", "temporary"):
        whole = os.path.normpath(os.path.join(call.cwd, path))
        resolved = os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole))
        return "temporary" if _is_temporary(resolved, options["temporary"]) else "outside"
    return place


def _is_temporary(path: str, folders: tuple[str, ...]) -> bool:
    for one in folders:
        folder = os.path.expandvars(os.path.expanduser(one))
        if os.path.isabs(folder) and path.startswith(os.path.realpath(folder).rstrip("/") + "/"):
            return True
    return False


def _is_system(path: str, call: Call) -> bool:
    """Return whether a path is a folder of the system, the home or above it."""
    whole = os.path.normpath(path)
    return whole in _SYSTEM or whole == call.home or call.home.startswith(whole.rstrip("/") + "/")


def _is_kept(path: str, call: Call, options: Options) -> bool:
    """Return whether a path is, or is in, something that is kept: of the project itself, or anywhere if it exists."""
    parts = os.path.normpath(os.path.join(call.cwd, path)).split("/")
    if ".git" in parts and (parts[-2] == "hooks" or any(fnmatch.fnmatchcase(parts[-1], one) for one in _REPLACEABLE)):
        return False
    for at, part in enumerate(parts):
        if any(fnmatch.fnmatchcase(part, pattern) for pattern in options["keep"]):
            folder = "/".join(parts[:at]) or "/"
            if folder in (call.project, call.cwd) or os.path.lexists(f"{folder}/{part}"):
                return True
    return False


def _is_history(path: str) -> bool:
    """Return whether a path is in the part of .git that holds the history."""
    head, found, rest = os.path.normpath(path).rpartition("/.git/")
    return bool(found and head) and rest.split("/")[0] in _HISTORY and not rest.endswith(".lock")


def _inside(effect: Effect, path: str, call: Call, options: Options) -> Action:
    wanted = options["inside"]
    if effect.kind == "delete-files-for-good" and options["files"] != "allow":
        return "ask"
    if wanted == "ask-tracked":
        whole = os.path.join(call.cwd, path)
        repository = find_repository(os.path.dirname(whole))
        return "ask" if repository is not None and repository.tracks(whole) is not False else "allow"
    found: Action = wanted
    return found


# Git.


def _is_free(effect: Effect, call: Call, options: Options) -> bool:
    """Return whether a git command loses nothing as far as the repository and the parameters say."""
    if effect.kind == "lose-changes-perhaps":
        return not _is_file(effect, call)
    if effect.kind == "lose-commits":
        known = _repository(effect, call)
        return known is not None and is_known(effect.target) and not known.has_ref(effect.target)
    if effect.kind not in ("lose-changes", "lose-untracked"):
        return False
    repository = _repository(effect, call)
    if repository is None:
        return False
    if options["worktrees"] == "relax" and repository.is_linked:
        return True
    if options["onlyIfChanged"] and effect.grade == "certain" and ONE not in effect.target:
        folder, _, _ = effect.target.partition(MANY)[0].rpartition("/")
        path = os.path.join(call.cwd, folder if MANY in effect.target else effect.target)
        return repository.changes(path, untracked=effect.kind == "lose-untracked") is False
    return False


def _repository(effect: Effect, call: Call) -> Repository | None:
    if effect.directory is None:
        return None
    return find_repository(os.path.join(call.cwd, effect.directory))


def _is_file(effect: Effect, call: Call) -> bool:
    """Return whether the word of ``git checkout WORD`` is a file; if that cannot be seen, whether it looks like one."""
    name = effect.target
    repository = _repository(effect, call)
    if repository is not None and ONE not in name and MANY not in name:
        path = os.path.join(effect.directory or call.cwd, name)
        return not repository.has_ref(name) and os.path.exists(path)
    stem, dot, ending = os.path.basename(name).rpartition(".")
    return bool(dot and stem and ending[:1].isalpha() and len(ending) <= 5)


POLICY = Policy(
    name="destructive-commands",
    prevents="Deleting, emptying or moving away files outside the project, or the project, the home or .git "
    "as a whole; "
    "and git commands that discard uncommitted changes, stashes, branches or the way back to lost commits.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("files", "deny", "deleting or emptying files outside the project, or the project itself"),
        action("git", "ask", "git commands that lose changes, untracked files, stashes, branches or recovery"),
        action("unknownTargets", "ask", "deleting files that are not known before the command runs"),
        one_of("inside", ("allow", "ask", "ask-tracked", "deny"), "allow", "deleting files in the project"),
        names(
            "temporary", ("/tmp", "/var/tmp", "$TMPDIR"), "directories below which everything may be deleted",  # noqa: S108
            "a list of directories",
        ),
        names("keep", (".git",), "names of files and directories that are not deleted in the project either"),
        one_of("worktrees", ("same", "relax"), "same", "whether changes in linked worktrees may be discarded"),
        flag("onlyIfChanged", False, "whether git is asked first if there is something to lose"),
    ),
    recommended={},
    notes="Deleting in the project is allowed by default: git has it, or it can be built again. A lock file "
    "in .git may "
    "be deleted. `git checkout WORD` is stopped if the repository has a file and no branch of that name.",
)  # fmt: skip
