"""What git does: to uncommitted work, to branches and stashes, to remotes, and past the project's hooks."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ....matching.shell.words import MANY, ONE
from ..rows import RUNS, Arguments, Found, Program, Row, line_of

__all__ = ["PROGRAMS"]

_GLOBALS = (
    "C= c= p,paginate P,no-pager git-dir= work-tree= namespace= exec-path=? config-env= super-prefix= bare help,h "
    "version,v no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks "
    "html-path man-path info-path attr-source= list-cmds="
)


def _directory(arguments: Arguments) -> str:
    """Return the directory in which git works, relative to that of the command."""
    place = ""
    for one in arguments.options.get("C", ()):
        place = _joined(place, one)
    assigned = dict(arguments.command.assigned)
    repository = arguments.value("git-dir") or assigned.get("GIT_DIR", "")
    tree = arguments.value("work-tree") or assigned.get("GIT_WORK_TREE", "")
    if tree:
        return _joined(place, tree)
    if repository:
        return _joined(place, repository.rstrip("/").removesuffix("/.git") if repository != ".git" else "")
    return place


def _joined(place: str, path: str) -> str:
    return path if path.startswith("~") else os.path.join(place, path)


# Uncommitted work.

_CHECKOUT = (
    "f,force b= B= q,quiet p,patch t,track=? d,detach orphan= m,merge theirs,3 ours,2 l guess no-guess conflict= "
    "ignore-other-worktrees progress no-progress overlay no-overlay pathspec-from-file= pathspec-file-nul "
    "ignore-skip-worktree-bits recurse-submodules=? no-recurse-submodules U=,unified= inter-hunk-context="
)

_SWITCH = (
    "f,force,discard-changes c=,create= C=,force-create= d,detach m,merge t,track=? orphan= guess no-guess q,quiet "
    "conflict= ignore-other-worktrees"
)

_CLONE = (
    "l,local s,shared q,quiet v,verbose n,no-checkout bare mirror o=,origin= b=,branch= u=,upload-pack= reference= "
    "dissociate separate-git-dir= depth= shallow-since= shallow-exclude= single-branch no-single-branch tags no-tags "
    "recurse-submodules=?,recursive=? shallow-submodules j=,jobs= filter= c=,config= template= progress sparse "
    "no-hardlinks remote-submodules also-filter-submodules bundle-uri= revision= server-option="
)

_RESTORE = (
    "s=,source= S,staged W,worktree p,patch q,quiet m,merge conflict= theirs ours overlay no-overlay "
    "pathspec-from-file= ignore-unmerged progress recurse-submodules U=,unified= inter-hunk-context="
)


_NEW, _RESET = "new", "reset"
"""How a branch is switched to: it is created, which fails if it exists, or created or moved."""


def _switched(arguments: Arguments, new: str, reset: str) -> Iterator[Found]:
    """Find the branch that is the current one afterwards."""
    operands = arguments.operands
    if name := arguments.value(reset):
        yield Found("switch-branch", name, (_RESET,))
    elif name := arguments.value(new) or arguments.value("orphan"):
        yield Found("switch-branch", name, (_NEW,))
    elif len(operands) == 1 and arguments.dashes is None and not arguments.has("d"):
        yield Found("switch-branch", operands[0])


def _switch(arguments: Arguments) -> Iterator[Found]:
    yield from _switched(arguments, "c", "C")


def _worktree(arguments: Arguments) -> Iterator[Found]:
    """Find the branch of a new worktree; without one it is named as the directory."""
    place = arguments.operands[0] if arguments.operands else ""
    named = arguments.operands[1:2] or [os.path.basename(place.rstrip("/"))]
    for name in (arguments.value("B"), arguments.value("b"), named[0]):
        if name and place:
            yield Found("switch-branch", name, (_RESET, place))
            return


def _clone(arguments: Arguments) -> Iterator[Found]:
    """Find the branch of a clone: ``*`` is that which the remote has chosen."""
    if arguments.operands:
        source = arguments.operands[0].rstrip("/").removesuffix(".git").removesuffix("/")
        place = arguments.operands[1] if len(arguments.operands) > 1 else os.path.basename(source.replace(":", "/"))
        yield Found("switch-branch", arguments.value("b") or _EVERYTHING, (_RESET, place))


def _symbolic_ref(arguments: Arguments) -> Iterator[Found]:
    """Find what makes HEAD or a branch a link to another: a push of such a branch pushes the other."""
    name, target, *_ = *map(_short, arguments.operands), "", ""
    if name == "HEAD" and target:
        yield Found("switch-branch", target, (_RESET,))
    elif target and arguments.operands[0].startswith("refs/heads/"):
        yield Found("change-branch", target)


def _checkout(arguments: Arguments) -> Iterator[Found]:
    yield from _switched(arguments, "b", "B")
    operands, dashes = arguments.operands, arguments.dashes
    if arguments.has("p"):
        return
    if name := arguments.value("B"):
        yield from _moves_branch(name)
    if arguments.has("f", "pathspec-from-file"):
        yield Found("lose-changes", ".")
    if dashes is not None:
        yield from (Found("lose-changes", path) for path in operands[dashes:])
    elif arguments.has("b", "B", "orphan", "d"):
        return
    elif arguments.has("theirs", "ours"):
        yield from (Found("lose-changes", path) for path in operands)
    elif len(operands) >= 2:
        first = operands[:1] if _is_path(operands[0]) else []
        yield from (Found("lose-changes", path) for path in (*first, *operands[1:]))
    elif operands and _is_path(operands[0]):
        yield Found("lose-changes", operands[0])
    elif operands and operands[0] not in (ONE, MANY, "-", "HEAD", "@") and not arguments.has("t"):
        yield Found("lose-changes-perhaps", operands[0])


def _is_path(word: str) -> bool:
    """Return whether a word can only be a path, and no branch."""
    whole, starts = (".", "..", "~"), ("./", "../", "/", ":/", ":(", ":!", ":^", "~/")
    return word in whole or word.startswith(starts) or word.endswith("/") or (MANY in word and word != MANY)


def _clean(arguments: Arguments) -> Iterator[Found]:
    settings = dict(_settings(arguments))
    unforced = settings.get("clean.requireforce", "true").lower() in ("false", "no", "off", "0")
    if arguments.has("n", "i") or not (arguments.has("f") or unforced):
        return
    yield from (Found("lose-untracked", path) for path in arguments.operands or ["."])


def _settings(arguments: Arguments) -> Iterator[tuple[str, str]]:
    """Yield the settings that are given for one command, their names in lower case."""
    for one in (*arguments.options.get("c", ()), *arguments.options.get("config-env", ())):
        name, equals, value = one.partition("=")
        yield name.lower(), value if equals else "true"
    given = dict(arguments.command.assigned)
    for name, value in arguments.command.assigned:
        if name.startswith("GIT_CONFIG_KEY_"):
            yield value.lower(), given.get(name.replace("KEY", "VALUE"), "")


# Branches.


def _moves_branch(*names: str) -> Iterator[Found]:
    for name in names:
        yield Found("lose-commits", name)
        yield Found("change-branch", name)


def _branch(arguments: Arguments) -> Iterator[Found]:
    names = arguments.operands
    if arguments.has("r"):
        return
    if arguments.has("D") or (arguments.has("d") and arguments.has("f")):
        yield from _moves_branch(*names)
    elif arguments.has("d"):
        yield from (Found("change-branch", name, ("if merged",)) for name in names)
    elif arguments.has("M", "C", "m", "c"):
        if arguments.has("M", "C", "f"):
            yield from (Found("lose-commits", name, ("if it exists",)) for name in names[-1:])
        if arguments.has("M") or (arguments.has("m") and len(names) > 1):  # ``-m NAME`` renames the current one here
            yield Found("change-branch", names[0] if len(names) > 1 else "HEAD", tuple(names[-1:]))
        if arguments.has("M", "m") and len(names) == 1:
            yield Found("switch-branch", names[0], (_RESET,))
    elif arguments.has("f"):
        yield from _moves_branch(*names[:1])


_SOON = "now|all|0|0.*|*second*|*minute*|*hour*"


def _gc(arguments: Arguments) -> Iterator[Found]:
    for name, value in _settings(arguments):
        if name in ("gc.pruneexpire", "gc.reflogexpire", "gc.reflogexpireunreachable") and value in ("now", "all"):
            yield Found("lose-recovery")


def _update_ref(arguments: Arguments) -> Iterator[Found]:
    if arguments.has("stdin"):
        yield Found("lose-commits", ONE)
    elif arguments.operands and (arguments.has("d") or not arguments.operands[0].startswith("refs/tags/")):
        yield from _moves_branch(_short(arguments.operands[0]))


def _short(ref: str) -> str:
    return ref.removeprefix("refs/").removeprefix("heads/") if ref.startswith("refs/heads/") else ref


def _for_each(arguments: Arguments) -> Iterator[Found]:
    """Read ``git for-each-repo``: its words are a command of git."""
    words = [word for word in arguments.words if not word.startswith(("--config", "--keep-going"))]
    yield Found(RUNS, line_of(["git", *words[words[:1] == ["for-each-repo"] :]]))


# Remotes.

_PUSH = (
    "f,force d,delete u,set-upstream n,dry-run q,quiet v,verbose all branches mirror tags follow-tags prune no-verify "
    "force-with-lease=? force-if-includes o=,push-option= repo= atomic no-atomic thin no-thin signed=? "
    "receive-pack=,exec= "
    "4,ipv4 6,ipv6 porcelain progress verify recurse-submodules= stdin stateless-rpc helper-status"
)
_EVERYTHING = "*"


def _push(arguments: Arguments) -> Iterator[Found]:
    if arguments.has("n"):
        return
    remote = (arguments.operands or [arguments.value("repo") or ""])[0]
    values = (*arguments.options.get("c", ()), f"remote={remote}")
    refs = list(_refspecs(arguments))
    if arguments.has("mirror"):
        yield Found("rewrite-remote", _EVERYTHING, values)
    if arguments.has("prune"):
        yield Found("delete-remote-ref", _EVERYTHING, values)
    if arguments.has("all", "branches"):
        refs.append(_EVERYTHING)
    if len(arguments.operands) == 1 and not arguments.has("mirror", "all", "tags"):
        values = (*values, f"alone={arguments.operands[0]}")
    if not refs and not arguments.has("mirror"):
        refs.append("refs/tags/*" if arguments.has("tags") else "")
    for ref in refs:
        yield _pushed(ref, arguments, values)


def _refspecs(arguments: Arguments) -> Iterator[str]:
    rest = iter(arguments.operands[1:])  # the first is the repository, also beside --repo
    for word in rest:
        yield f"refs/tags/{next(rest, '')}" if word == "tag" else word


def _pushed(ref: str, arguments: Arguments, values: tuple[str, ...]) -> Found:
    forced = ref.startswith("+") or arguments.has("f")
    source, colon, target = ref.removeprefix("+").partition(":")
    target = target.removeprefix("+")
    if source.startswith("^"):
        return Found("push", "", values)
    name = _short(target or source) if target or not colon else ""
    values = (*values, "named=" if colon else f"source={name}")
    if name == "@":
        name = "HEAD"
    if ref.removeprefix("+") == ":":
        name = _EVERYTHING
    elif arguments.has("d") or (colon and not source):
        return Found("delete-remote-ref", _short(target or source), values)
    if forced:
        return Found("rewrite-remote", name, values)
    if arguments.has("force-with-lease", "force-if-includes"):
        return Found("rewrite-remote-checked", name, values)
    return Found("push", name, values)


def _fetch(arguments: Arguments) -> Iterator[Found]:
    for ref in arguments.operands[1:]:
        source, colon, target = ref.removeprefix("+").partition(":")
        if colon and not target.startswith(("refs/remotes/", "refs/tags/", "refs/pull")):
            if ref.startswith("+") or arguments.has("f"):
                yield from _moves_branch(_short(target))
            elif _short(source) != _short(target):
                yield Found("change-branch", _short(target))


# The project's own checks.

_CHECKED = ("commit", "merge", "rebase", "cherry-pick", "am", "pull", "push", "revert", "checkout", "switch")
_OFF = ("false", "no", "off", "0", "")


def _checks(arguments: Arguments) -> Iterator[Found]:
    """Find what switches hooks and signatures off for one command."""
    sub = next((word for word in arguments.words if not word.startswith("-")), "")
    if sub not in _CHECKED:
        return
    for name, value in _settings(arguments):
        if name == "core.hookspath":
            yield Found("skip-checks", f"by core.hooksPath={value}")
        elif name in ("commit.gpgsign", "tag.gpgsign", "push.gpgsign") and value.lower() in _OFF:
            yield Found("skip-checks", f"by {name}={value}")


_LOSING = ("clean", "merge", "push", "rebase", "reflog", "reset", "stash", "worktree")
"""Subcommands that lose something with one option more."""


def _computed(arguments: Arguments) -> Iterator[Found]:
    """Find words that may be a subcommand or options that lose something."""
    words = arguments.words
    is_fed = arguments.command.via[-1:] in (("xargs",), ("parallel",))
    unknown = [word for word in words if ONE in word or (is_fed and "{" in word)]
    sub = words[0] if words else ""
    may_lose = sub in _LOSING and "--" not in words and (is_fed or any(word.startswith("-") for word in unknown))
    if unknown and ((is_fed and sub in unknown) or may_lose):
        yield Found("computed-options")


_COMMANDS = frozenset(
    """
    add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap
    check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree
    config count-objects credential daemon describe diagnose diff diff-files diff-index diff-tree difftool fast-export
    fast-import fetch fetch-pack filter-branch for-each-ref for-each-repo format-patch fsck gc grep hash-object help
    index-pack init init-db instaweb interpret-trailers log ls-files ls-remote ls-tree mailinfo mailsplit maintenance
    merge merge-base merge-file merge-index merge-tree mergetool mktag mktree mv name-rev notes pack-objects pack-refs
    patch-id prune pull push range-diff read-tree rebase receive-pack reflog remote repack replace request-pull rerere
    reset restore rev-list rev-parse revert rm send-email send-pack shortlog show show-branch show-ref sparse-checkout
    stage stash status stripspace submodule switch symbolic-ref tag update-index update-ref var verify-commit
    verify-pack verify-tag version worktree write-tree
""".split()
)
"""Subcommands of git: an alias of such a name is ignored."""


def _alias(arguments: Arguments) -> Iterator[Found]:
    """Find a subcommand that only an alias can be; what it stands for is in git's settings."""
    name, *words = arguments.words or ("",)
    if name and not name.startswith("-") and name not in _COMMANDS and ONE not in name and MANY not in name:
        yield Found("git-alias", name, (line_of(words),))


def _all(arguments: Arguments) -> Iterator[Found]:
    yield from _checks(arguments)
    yield from _computed(arguments)
    yield from _alias(arguments)


_CONFIG = (
    "global local system worktree f=,file= blob= unset unset-all add replace-all get get-all get-regexp get-urlmatch "
    "l,list e,edit bool int bool-or-int path type= default= z,null name-only show-origin show-scope rename-section "
    "remove-section fixed-value all value= append comment= h includes no-includes"
)


def _config(arguments: Arguments) -> Iterator[Found]:
    operands = list(arguments.operands)
    action = operands.pop(0) if operands[:1] and operands[0] in ("set", "unset", "get", "list", "edit") else ""
    if action in ("get", "list") or arguments.has("get", "get-all", "get-regexp", "l") or not operands:
        return
    name, value = operands[0].lower(), operands[1] if len(operands) > 1 else None
    removes = action == "unset" or arguments.has("unset", "unset-all", "remove-section")
    if name in ("core.hookspath", "core") and removes:
        yield Found("skip-checks", "by unsetting core.hooksPath")
    elif name == "core.hookspath" and value is not None:
        yield Found("skip-checks", f"by core.hooksPath={value}")
    elif name in ("commit.gpgsign", "push.gpgsign") and value is not None and value.lower() in _OFF:
        yield Found("skip-checks", f"by {name}={value}")


_COMMIT = (
    "a,all m=,message= n,no-verify amend s,signoff q,quiet v,verbose F=,file= C=,reuse-message= c=,reedit-message= "
    "no-edit S=?,gpg-sign=? fixup= squash= author= date= allow-empty allow-empty-message p,patch t=,template= e,edit "
    "reset-author no-gpg-sign trailer= dry-run short porcelain long z,null i,include o,only u=?,untracked-files=? "
    "cleanup= pathspec-from-file= interactive no-post-rewrite status no-status verify branch"
)
_MERGE = (
    "abort continue quit skip ff no-ff ff-only squash m=,message= F= no-edit edit s=,strategy= X=,strategy-option= "
    "no-commit commit no-verify S=?,gpg-sign=? no-gpg-sign n stat into-name= allow-unrelated-histories onto= "
    "i,interactive x=,exec= autosquash autostash root keep-base r=?,rebase-merges=? e x q,quiet v,verbose 3 "
    "show-current-patch=? edit-todo rebase=? no-rebase t,track u,update-head-ok"
)
_WORK = "commit|merge|rebase|cherry-pick|revert|am"

_SHOWS = "log|diff|show|diff-tree|diff-index|diff-files|whatchanged|stash show"

_GIT = Program(
    globals=_GLOBALS,
    aka="git-* hub",
    dashed=True,
    directory=_directory,
    effects=_all,
    rows=(
        # Checks come first and are no reason to stop reading.
        Row("skip-checks", ("-n", "--no-gpg-sign"), "commit", _COMMIT, also=True),
        Row("skip-checks", ("--no-verify", "--no-gpg-sign"), "merge|rebase|cherry-pick|am|pull|revert", _MERGE, True),
        Row("skip-checks", "--no-verify", "push", _PUSH, also=True),
        # Files that are written beside.
        Row("write-files:value:output", "--output", _SHOWS, "output=", also=True),
        Row("write-files:value:o", "-o", "archive", "o=,output= format= prefix= remote= exec=", also=True),
        Row("write-files:first", "#>=1", "bundle create", "q,quiet progress version=", also=True),
        Row("write-files:value:prefix", "--prefix", "checkout-index", "f,force a,all u,index prefix=", also=True),
        Row("write-files:last", "#>=2", "submodule add", "b= f,force name= reference= depth= q,quiet", also=True),
        # Uncommitted work.
        Row(
            "lose-changes:here",
            ("--hard", "--merge"),
            "reset",
            "hard soft mixed merge keep q,quiet p,patch N,intent-to-add recurse-submodules=? pathspec-from-file= "
            "no-refresh refresh",
        ),
        Row(_checkout, (), "checkout", _CHECKOUT),
        Row("", ("-p", "-S !-W"), "restore", _RESTORE),
        Row("lose-changes:here", "--pathspec-from-file", "restore", _RESTORE),
        Row("lose-changes:all", "#>=1", "restore", _RESTORE),
        Row(
            "lose-changes:here",
            "-f",
            "switch",
            _SWITCH,
            also=True,
        ),
        Row(_switch, (), "switch", _SWITCH, also=True),
        Row("lose-commits:value:C change-branch:value:C", "-C", "switch", "f,force c=,create= C=,force-create="),
        Row(_worktree, (), "worktree add", "f,force b= B= d,detach checkout no-checkout lock reason= orphan q,quiet "
            "track no-track guess-remote"),
        Row(_clone, (), "clone", _CLONE, also=True),
        Row(_clean, (), "clean", "f,force d x X n,dry-run q,quiet i,interactive e=,exclude="),
        Row("lose-stash:each", (), "stash drop|stash clear", "q,quiet"),
        Row("lose-changes:all", "-f", "worktree remove", "f,force"),
        Row("lose-changes:here", "-f !--prefix", "checkout-index", "f,force a,all u,index prefix= n stdin "
        "q,quiet z temp stage="),
        Row("lose-changes:here", "--reset -u", "read-tree", "reset u m i n,dry-run prefix= v q aggressive trivial"),
        Row("lose-changes:each", ("-f", "--all"), "submodule deinit", "f,force all q,quiet"),
        Row("lose-changes:here", "-f", "submodule update", "f,force init recursive remote q,quiet N j= "
        "depth= reference="),
        Row("", ("--cached", "-n"), "rm", "f,force r cached n,dry-run q,quiet ignore-unmatch sparse "
        "pathspec-from-file="),
        Row("lose-changes:all delete-files:all", "-f", "rm", "f,force r q,quiet ignore-unmatch sparse "
        "pathspec-from-file="),
        Row("delete-files:all", (), "rm", "r q,quiet ignore-unmatch sparse pathspec-from-file="),
        Row("", "-n", "mv", "n,dry-run f,force k v,verbose sparse"),
        Row("move-files:notlast write-files:last", (), "mv", "f,force k v,verbose sparse"),
        # Branches, tags and the way back.
        Row(
            _branch,
            (),
            "branch",
            "D d,delete f,force m,move M c,copy C a,all r,remotes v,verbose l,list u=,set-upstream-to= unset-upstream "
            "merged=? no-merged=? contains=? no-contains=? sort= format= show-current t,track=? no-track points-at= "
            "edit-description q,quiet column=? color=? abbrev=? create-reflog i,ignore-case",
        ),
        Row(
            "delete-tag:all",
            "-d #>=1",
            "tag",
            "d,delete f,force a,annotate m=,message= s,sign u=,local-user= l,list n=? v,verify F=,file= e,edit sort= "
            "format= contains=? points-at= merged=? no-merged=? create-reflog cleanup= i,ignore-case",
        ),
        Row(_update_ref, (), "update-ref", "d,delete m= no-deref stdin create-reflog z"),
        Row("lose-commits:all", "-d", "symbolic-ref", "d,delete m= q,quiet short"),
        Row(_symbolic_ref, (), "symbolic-ref", "d,delete m= q,quiet short no-recurse"),
        Row(_fetch, (), "fetch|pull", "f,force p,prune t,tags a,all depth= q,quiet v,verbose j= o= "
        "upload-pack= r=?,rebase=? n"),
        Row("", "-n", "reflog expire|reflog delete", "n,dry-run"),
        Row("lose-recovery", (), "reflog delete"),
        Row(
            "lose-recovery",
            (f"--expire={_SOON}", f"--expire-unreachable={_SOON}"),
            "reflog expire",
            "n,dry-run all expire= expire-unreachable= rewrite updateref stale-fix verbose single-worktree",
        ),
        Row("lose-recovery", f"--prune={_SOON}", "gc", "prune=? aggressive auto q,quiet force no-prune"),
        Row(_gc, (), "gc"),
        Row("", "-n", "prune", "n,dry-run v,verbose expire= progress"),
        Row("lose-recovery", (), "prune", "v,verbose expire= progress"),
        Row("rewrite-history", (), "filter-branch"),
        Row("", ("--analyze", "--dry-run"), "filter-repo", "force analyze dry-run"),
        Row("rewrite-history", (), "filter-repo"),
        Row("", "1:info", "lfs migrate"),
        Row("rewrite-history", (), "lfs migrate"),
        Row("rewrite-history", ("-d", "-f", "--graft"), "replace", "d,delete f,force edit g,graft l,list"),
        # Remotes.
        Row(_push, (), "push|send-pack", _PUSH),
        Row("", "-n", "svn dcommit", "n,dry-run"),
        Row("push:words", (), "svn dcommit", "n,dry-run"),
        Row(_for_each, (), "for-each-repo"),
        Row("push:last", "#>=2", "subtree push", "P=,prefix= q,quiet d,debug"),
        Row("skip-checks", (), "commit-tree"),
        Row("change-remote:last", "#>=2", "remote set-url|remote add", "push add delete f t= m= tags no-tags mirror=?"),
        # Work on the current branch.
        Row("abort-merge", "--abort", _WORK, f"{_COMMIT} {_MERGE}"),
        Row("", ("--quit", "--dry-run", "--show-current-patch"), _WORK, f"{_COMMIT} {_MERGE}"),
        Row("amend commit-here", "--amend", "commit", _COMMIT),
        Row("commit-here", (), _WORK),
        Row(_config, (), "config", _CONFIG),
    ),
)  # fmt: skip

_JJ = "b=,bookmark=,branch= all tracked deleted N,allow-new dry-run remote= r=,revisions= c=,change= named="
_SL = "f,force to=,t= r=,rev= create pushvars="


def _everything(_arguments: Arguments) -> Iterator[Found]:
    yield Found("push", _EVERYTHING)


PROGRAMS = {
    "git": _GIT,
    "bfg": Program((Row("rewrite-history", "#>=1"),)),
    "hg": Program(
        (
            Row("lose-changes:here", ("-C",), "update|up|checkout|co", "C,clean r=,rev= c,check"),
            Row("lose-changes:each", ("#>=1", "-a"), "revert", "a,all r=,rev= C,no-backup I= X="),
            Row("", ("-p", "--print"), "purge|clean", "p,print a,all"),
            Row("lose-untracked:here", (), "purge|clean"),
            Row("lose-commits", (), "strip|rollback|prune"),
            Row("rewrite-remote", "-f", "push", "f,force r= b= B="),
        ),
        globals="R=,repository= cwd= config= q,quiet v,verbose y",
    ),
    "jj": Program(
        (
            Row("", "--dry-run", "git push", _JJ),
            Row("push:value:b", "-b", "git push", _JJ),
            Row(_everything, ("--all", "--tracked"), "git push", _JJ),
            Row("delete-remote-ref", "--deleted", "git push", _JJ),
        ),
        globals="R=,repository= ignore-working-copy at-operation= debug color= quiet no-pager config= config-file=",
    ),
    "sl": Program((Row("rewrite-remote:value:to", "-f --to", "push", _SL), Row("push:value:to", "--to", "push", _SL))),
    "svn": Program(
        (Row("lose-changes:each", (), "revert"), Row("lose-untracked:here", "--remove-unversioned", "cleanup"))
    ),
    "pre-commit": Program((Row("skip-checks", (), "uninstall"),), aka="lefthook"),
    "husky": Program((Row("skip-checks", (), "uninstall"),)),
}
