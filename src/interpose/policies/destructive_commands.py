"""Stop the loss of files outside the project, of the project as a whole, and of work that git does not have."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator

from ..matching.shell import Line, ShellCommand
from ..matching.shell.words import MANY, ONE, is_known
from .call import SETTERS, Call, PlaceKind
from .effects import Effect, say
from .effects.find import SELECTED
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
_MOST_QUESTIONS = 20
"""How many targets git is asked about; a call with more is judged without git."""
_REPLACEABLE = ("*.lock", "*.pid", "*.sample", "COMMIT_EDITMSG", "MERGE_MSG", "gc.log")
"""Files in .git that may be deleted: a lock that an ended git has left, a message."""
_HISTORY = ("HEAD", "index", "logs", "objects", "packed-refs", "refs")
"""What in .git is damaged if something else than git writes to it."""
_SYSTEM = (
    "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/proc", "/root", "/run", "/sbin", "/sys",
    "/usr", "/usr/bin", "/usr/include", "/usr/lib", "/usr/lib64", "/usr/sbin", "/usr/share", "/var", "/var/lib",
    "/var/log", "/Applications", "/Library", "/System", "/Users",
)  # fmt: skip


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    if sum(1 for _ in call.of(*_FILES, "lose-changes", "lose-untracked")) > _MOST_QUESTIONS:
        options = {**options, "onlyIfChanged": False, "inside": options["inside"].removesuffix("-tracked")}
    for effect in call.of(*_FILES, "write-files"):
        verdict, instead = _judge_files(effect, call, options)
        if verdict != "allow":
            yield Objection(verdict, say(_shown(effect, call), instead), effect.grade)
    for effect in call.of("computed-options"):
        yield Objection(options["unknownTargets"], say(effect), effect.grade)
    for effect in call.of("abort-merge"):
        yield Objection(options["aborts"], say(effect), effect.grade)
    for effect in call.of(*_INSTEAD):
        if not _is_free(effect, call, options):
            yield Objection(options["git"], say(_shown(effect, call), _INSTEAD[effect.kind]), effect.grade)


def _shown(effect: Effect, call: Call) -> Effect:
    """Return an effect whose target is short: relative to the directory of the call if it is below it."""
    target = effect.target
    if target.endswith(f"/{SELECTED}"):
        return effect._replace(target=f"files in {os.path.normpath(os.path.dirname(target))}")
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
    if effect.kind == "empty-files" and not effect.program and is_known(path) and not os.path.lexists(path):
        return "allow", ""  # ``NAME=<placeholder>/x`` is a redirection without a command: it makes an empty file
    if effect.kind in ("move-files", "change-tree"):
        is_moved_whole = effect.kind == "move-files" and (
            call.place_of(path) == "root" or _is_kept(effect.target, call, options)
        )
        if _is_system(path, call) or is_moved_whole:
            return deny, ""
        is_tree = effect.kind == "change-tree" and call.place_of(path) in ("root", "inside")
        return (options["trees"], "name the files") if is_tree else ("allow", "")
    if ONE in effect.target and not _is_part_of_a_name(effect.target):
        if _is_one_file(effect, call):
            return "allow", ""
        return options["unknownTargets"], "what that is, is not known before it runs"
    place = _place(path, call, options)
    if place == "outside" and not _is_system(path, call) and call.is_elsewhere(effect):
        return options["unknownTargets"], "it is in a container or on another machine"
    if place == "outside" and deny == "deny" and _is_one_named_file(effect, call):
        return "ask", "it is outside the project"
    if place in ("root", "outside") or (place == "inside" and _is_kept(effect.target, call, options)):
        return deny, "the user can do it" if effect.kind == "lock-out" else "delete single files in the project instead"
    if place != "inside":
        return "allow", ""
    if effect.target.endswith(f"/{SELECTED}") and options["inside"] == "allow":
        return options["selected"], "look at the list of them first"
    if os.path.basename(os.path.normpath(effect.target)) == "~":
        return options["unknownTargets"], "quoted, ~ is a name in this directory and not the home"
    return _inside(effect, path, call, options), ""


def _plain(target: str) -> str:
    """Return the file or directory that a pattern stands for: ``build/*`` is build, ``build/*.o`` a file in it.

    A directory whose content is meant ends in ``/.``, so that a link to it is followed.
    """
    path, is_content = target.rstrip("/"), target.endswith("/")
    while os.path.basename(path) in (MANY, f".{MANY}"):
        path, is_content = os.path.dirname(path).rstrip("/"), True
    path = path.replace(MANY, "x")
    if _is_part_of_a_name(path):
        path = path.replace(ONE, "x")
    return f"{path}/." if is_content else path


def _is_one_file(effect: Effect, call: Call) -> bool:
    """Return whether ``rm "$file"`` deletes single files that variables name which the line does not set."""
    found = list(call.commands_of(effect))
    return effect.target == ONE and bool(found) and all(_deletes_one_file(line, command) for line, command in found)


def _deletes_one_file(line: Line, command: ShellCommand) -> bool:
    unknown = [word for word in command.parts[1:] if not is_known(word)]
    variables = command.variables
    if len(unknown) != len(variables) or any(word != ONE for word in unknown) or any(map(str.isdigit, variables)):
        return False
    if any(one.name in SETTERS for one in line.commands) or set(variables) & dict(command.assigned).keys():
        return False
    return not _is_recursive(command)


def _is_one_named_file(effect: Effect, call: Call) -> bool:
    """Return whether ``rm`` deletes a file by its name: not a directory, and no pattern."""
    found = [command for _, command in call.commands_of(effect)]
    is_plain = effect.kind == "delete-files" and MANY not in effect.target and effect.program in ("rm", "unlink")
    return is_plain and bool(found) and not any(map(_is_recursive, found))


def _is_recursive(command: ShellCommand) -> bool:
    return any(word.startswith("-") and "r" in word.lower() for word in command.parts[1:])


def _is_part_of_a_name(target: str) -> bool:
    """Return whether only the rest of a file's name is unknown, as in ``/tmp/log-$n``: its directory is known."""
    head, _, rest = target.partition(ONE)
    return os.path.isabs(head) and os.path.basename(head).strip(".") != "" and "/" not in rest and ONE not in rest


def _place(path: str, call: Call, options: Options) -> PlaceKind:
    place = call.place_of(path)
    if place == "temporary" and path.startswith(call.cwd + "/") and ".." in path.split("/"):
        return "outside"  # ``../other`` leaves a project that is in a temporary directory itself
    if place in ("outside", "temporary"):
        folder, name = os.path.split(os.path.join(call.cwd, path))
        resolved = os.path.normpath(os.path.join(os.path.realpath(folder), name))
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
        if part.endswith(".git") and part != ".git" and parts[at + 1 : at + 2] and parts[at + 1] in _HISTORY:
            return True  # a bare repository
        if any(_can_be(part, pattern) for pattern in options["keep"]):
            folder = "/".join(parts[:at]) or "/"
            if folder in (call.project, call.cwd) or os.path.lexists(f"{folder}/{part}"):
                return True
    return False


def _can_be(name: str, pattern: str) -> bool:
    """Return whether a name, which may have wildcards, can be one that is kept."""
    name, pattern = name.lower(), pattern.lower()  # some file systems do not tell .GIT from .git
    if MANY in name:
        return fnmatch.fnmatchcase(pattern, name.replace(MANY, "*"))
    return fnmatch.fnmatchcase(name, pattern)


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
        if known is None:  # ``git branch -M main`` of a new repository
            return "if it exists" in effect.values
        return is_known(effect.target) and not known.has_ref(effect.target)
    if effect.kind not in ("lose-changes", "lose-untracked"):
        return False
    repository = _repository(effect, call)
    if repository is None:
        return False
    if options["worktrees"] == "relax" and effect.command.startswith("git worktree remove "):
        repository = find_repository(os.path.join(call.cwd, effect.target)) or repository
    if options["worktrees"] == "relax" and repository.is_linked:
        return True
    if options["onlyIfChanged"] and effect.grade == "certain" and ONE not in effect.target and not _brings_work(call):
        path = _changed_below(effect, repository, call)
        untracked = effect.kind == "lose-untracked" or _names_a_commit(effect)
        return repository.changes(path, untracked=untracked) is False
    return False


def _names_a_commit(effect: Effect) -> bool:
    """Return whether files of another commit replace those of the tree: then an untracked one of that name is lost."""
    words = effect.command.split()
    return "--" not in words and any(word[:1] != "-" and word != "HEAD" for word in words[2:])


def _brings_work(call: Call) -> bool:
    """Return whether a line puts work into the tree that is only there afterwards: a stash, or files that it moves."""
    commands = [command for line in call.lines for command in line.commands]
    return any(one.name == "mv" or (one.name == "git" and "stash" in one.parts) for one in commands)


def _changed_below(effect: Effect, repository: Repository, call: Call) -> str:
    """Return the path below which changes are lost: the whole tree for commands and pathspecs without a path."""
    target = effect.target
    if "/:" in target or os.path.normpath(target) == os.path.normpath(effect.directory or call.cwd):
        return repository.tree
    folder, _, _ = target.partition(MANY)[0].rpartition("/")
    return os.path.join(call.cwd, folder if MANY in target else target)


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
    return bool(dot and stem and ending[:1].isalpha() and len(ending) <= 5 and ending != "x")


_TEMPORARY = ("/tmp", "/var/tmp", "$TMPDIR", "~/.cache", "~/Library/Caches")  # noqa: S108

POLICY = Policy(
    name="destructive-commands",
    prevents="Deleting, emptying or moving away files outside the project, or the project, home or .git as a whole; "
    "git commands that discard uncommitted changes, stashes, branches or the way back to lost commits.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("files", "deny", "deleting or emptying files outside the project, or the project itself"),
        action("git", "ask", "git commands that lose changes, untracked files, stashes, branches or recovery"),
        action("aborts", "ask", "git merge --abort, git rebase --abort and the like"),
        action("unknownTargets", "ask", "deleting files that are not known before the command runs"),
        action("selected", "ask", "deleting files in the project that find selects"),
        action("trees", "ask", "changing modes or owners of a whole folder in the project"),
        one_of("inside", ("allow", "ask", "ask-tracked", "deny"), "allow", "deleting files in the project"),
        names(
            "temporary", _TEMPORARY, "directories of temporary files and caches: all that is below may be deleted",
            "a list of directories",
        ),
        names("keep", (".git",), "names of files and directories that are not deleted in the project either"),
        one_of("worktrees", ("same", "relax"), "same", "changes in linked worktrees: judged the same, or let go"),
        flag("onlyIfChanged", False, "whether git is asked first if there is something to lose"),
    ),
    recommended={"onlyIfChanged": True, "aborts": "allow", "selected": "allow", "trees": "allow"},
    notes="Deleting one named file outside the project is asked about where more would be denied. "
    "Deleting in the project is allowed by default: git has it, or it can be built again. A lock file in .git "
    "may be deleted. `git checkout WORD` is stopped if the repository has a file and no branch of that name.",
)  # fmt: skip
