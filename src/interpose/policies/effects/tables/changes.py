"""What the table of files does not say: the pairs of names of mv, further names, patches, and files that git changes."""

from __future__ import annotations

from collections.abc import Iterator

from ..rows import Arguments, Found, Program, Row
from ..tools import files_of_patch

__all__ = ["PROGRAMS"]


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _ends(arguments: Arguments) -> tuple[list[str], str, bool]:
    """Return the sources and the target of mv, cp or ln, and whether the target is certainly a folder."""
    folder, operands = arguments.value("t"), arguments.operands
    if folder is not None:
        return operands, folder, True
    if len(operands) < 2:
        return operands, "", False
    *sources, target = operands
    return sources, target, len(sources) > 1 or target.endswith(("/", "/.", "/..")) or target in (".", "..")


def _moves(arguments: Arguments, directory: str = "") -> Iterator[Found]:
    sources, target, is_folder = _ends(arguments)
    if target:
        for source in sources:
            new = f"{target.rstrip('/')}/{_base(source)}" if is_folder else target
            yield Found("rename-files", source, (new,), directory)


def _links(arguments: Arguments) -> Iterator[Found]:
    yield from (Found("link-files", source) for source in _ends(arguments)[0])


def _git(arguments: Arguments) -> Iterator[Found]:
    """Yield the files that git takes from a commit, removes or renames."""
    sub, *words = arguments.operands or [""]
    directory = arguments.value("C") or ""
    if sub in ("checkout", "restore", "rm", "mv", "clean", "apply", "stash", "update-index", "reset", "init"):
        yield from (Found("change-files", word, (), directory) for word in words[sub == "stash" :])
        yield from _patched(arguments)
    if sub in ("clean", "restore", "checkout", "init") and (not words or sub == "clean"):
        yield Found("change-files", ".", (), directory)
    if sub == "rm" and not arguments.has("cached", "n"):
        yield from (Found("delete-files", word, (), directory) for word in words)
    if sub == "mv" and not arguments.has("n"):
        yield from _moves(arguments._replace(operands=words), directory)


def _patched(arguments: Arguments) -> Iterator[Found]:
    """Yield the files of a patch that stands in the line."""
    for redirection in arguments.command.redirections:
        if redirection.text:
            yield from (Found(kind, path) for kind, path in files_of_patch(redirection.text))


def _apply_patch(arguments: Arguments) -> Iterator[Found]:
    yield from _patched(arguments)
    for word in arguments.operands:
        if "\n" in word:
            yield from (Found(kind, path) for kind, path in files_of_patch(word))


_COPY = "t=,target-directory= T,no-target-directory S=,suffix= f,force n,no-clobber s,symbolic"
_EDITED = Row("change-files:all")

PROGRAMS = {
    "mv": Program(effects=_moves, options=_COPY, aka="gmv"),
    "ln": Program(effects=_links, options=_COPY, aka="gln link"),
    "mkdir": Program((Row("make-folder:all"),), options="m=,mode= p,parents v Z"),
    "mkfifo": Program((Row("write-files:all"),), options="m=,mode=", aka="mknod"),
    "chflags": Program((Row("change-files:notfirst"),), options="R h v H L P"),
    "xattr": Program((Row("change-files:all", ("-w", "-d", "-c")),), options="w d c r s l p"),
    "git": Program(
        effects=_git,
        globals="C= c= git-dir= work-tree= namespace= exec-path= p,paginate P,no-pager bare no-replace-objects",
        options="b= B= s=,source= pathspec-from-file= m=,message= e=,exclude= patch f,force q,quiet cached S,staged W"
        " n,dry-run r d x X u,include-untracked t,track ours theirs orphan= conflict= directory=",
    ),
    "apply_patch": Program(effects=_apply_patch, aka="applypatch"),
    "patch": Program(effects=_patched),
    "ed": Program((_EDITED,), options="p= s c= S=", aka="ex vi vim nvim nano emacs micro kak"),
    "strip": Program((Row("write-files:value:o", "-o"), _EDITED), options="o= s d g K= N= R= strip-debug"),
    "objcopy": Program((Row("write-files:last", "#>=1"),), options="strip-debug I= O= B= j= R="),
    "prettier": Program((Row("write-files:all", ("--write", "-w")),), options="w,write c,check config= parser="),
    "sqlite3": Program((Row("", "*:-readonly|--readonly"), Row("change-files:first", "#>=1"))),
    "yq": Program((Row("write-files:notfirst", "-i"),), options="i,inplace e P o= p= r"),
    "jq": Program((Row("write-files:notfirst", "-i"),), options="i,in-place r e c n s f= arg="),
    "rename": Program((Row("rename-files:all"),), aka="prename file-rename"),
}
