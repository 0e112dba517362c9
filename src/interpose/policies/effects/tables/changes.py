"""Programs that change files in ways that are neither writing nor deleting, and the pairs of names of mv, cp and ln."""

from collections.abc import Iterator

from ..rows import Arguments, Found, Program, Row
from ..tools import files_of_patch

__all__ = ["PROGRAMS"]


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _pairs(arguments: Arguments) -> Iterator[tuple[str, str, bool]]:
    """Yield source, target and whether the target is certainly a folder, for programs such as mv, cp and ln."""
    folder = arguments.value("t")
    sources = arguments.operands if folder is not None else arguments.operands[:-1]
    target = folder if folder is not None else arguments.operands[-1] if arguments.operands else ""
    if target:
        is_folder = folder is not None or len(sources) > 1 or target.endswith(("/", "/.", "..")) or target == "."
        yield from ((source, target, is_folder) for source in sources)


def _into(arguments: Arguments) -> Iterator[Found]:
    """Yield the files that a copy writes if its target is a folder."""
    for source, target, is_folder in _pairs(arguments):
        if not arguments.has("T") and _base(source) not in ("", ".", ".."):
            kind = "write-files" if is_folder else "write-into"
            yield Found(kind, f"{target.rstrip('/') or '/'}/{_base(source)}")


def _moves(arguments: Arguments) -> Iterator[Found]:
    yield from _into(arguments)
    for source, target, is_folder in _pairs(arguments):
        yield Found("rename-files", source, (f"{target}/{_base(source)}" if is_folder else target,))
        if not is_folder:
            yield Found("write-files", target)


def _links(arguments: Arguments) -> Iterator[Found]:
    yield from _into(arguments)
    for source, target, _ in _pairs(arguments):
        yield Found("write-files", target)
        yield Found("link-files", source)
    if len(arguments.operands) == 1:  # the link has the name of its target, here
        yield Found("write-files", _base(arguments.operands[0]))
        yield Found("link-files", arguments.operands[0])


def _git(arguments: Arguments) -> Iterator[Found]:
    """Yield the files that git takes from a commit, removes or renames."""
    sub, *words = arguments.operands or [""]
    if sub in ("checkout", "restore", "rm", "mv", "clean", "apply", "stash", "update-index", "reset"):
        yield from (Found("change-files", word) for word in words[sub == "stash" :])
        yield from _patched(arguments)
    if sub == "rm" and not arguments.has("cached", "n"):
        yield from (Found("delete-files", word) for word in words)
    if sub == "mv" and len(words) > 1:
        *sources, target = words
        for source in sources:
            yield Found("rename-files", source, (f"{target}/{_base(source)}" if len(sources) > 1 else target,))


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


def _patch(arguments: Arguments) -> Iterator[Found]:
    yield from _patched(arguments)
    yield from (Found("write-files", word) for word in arguments.operands[:1])


_COPY = "t=,target-directory= T,no-target-directory S=,suffix= m=,mode= o=,owner= g=,group= f,force s,symbolic"
_EDITED = Row("write-files:all")

PROGRAMS = {
    "mv": Program(effects=_moves, options=_COPY),
    "cp": Program(effects=_into, options=_COPY, aka="install rsync scp ditto"),
    "ln": Program(effects=_links, options=_COPY, aka="link"),
    "mkdir": Program((Row("make-folder:all"),), options="m=,mode= p,parents v Z"),
    "touch": Program((Row("change-files:all"),), options="d=,date= r=,reference= t= c a m h"),
    "mkfifo": Program((_EDITED,), options="m=,mode=", aka="mknod"),
    "chmod": Program((Row("change-files:all", "--reference"), Row("change-files:notfirst")), options="reference= R f v c"),
    "chown": Program((Row("change-files:all", "--reference"), Row("change-files:notfirst")),
                     options="reference= from= R f v c h H L P", aka="chgrp"),
    "chattr": Program((Row("change-files:notfirst"),), options="R V f", aka="chflags"),
    "setfacl": Program((Row("change-files:all"),), options="m=,modify= x=,remove= M= X= b k R d set= restore="),
    "xattr": Program((Row("change-files:all", ("-w", "-d", "-c")),), options="w d c r s l p"),
    "git": Program(
        effects=_git,
        globals="C= c= git-dir= work-tree= namespace= exec-path= p,paginate P,no-pager bare no-replace-objects",
        options="b= B= s=,source= pathspec-from-file= m=,message= e=,exclude= p,patch f,force q,quiet cached S,staged W"
        " n,dry-run r d x X u,include-untracked t,track ours theirs orphan= conflict=",
    ),
    "apply_patch": Program(effects=_apply_patch, aka="applypatch"),
    "patch": Program(
        effects=_patch,
        options="p=,strip= i=,input= o=,output= d=,directory= R,reverse N,forward f t s b B= z= r= F= E dry-run",
    ),
    "perl": Program((Row("write-files:all", ("-i -e",)), Row("write-files:notfirst", "-i")),
                    options="e= E= i=? n p a w l=? 0=? M= m= I= F="),
    "ruby": Program((Row("write-files:all", ("-i -e",)), Row("write-files:notfirst", "-i")),
                    options="e= i=? n p a w l r= I= F="),
    "awk": Program((Row("write-files:notfirst", "-i=inplace"),), options="i=,include= v=,assign= F=,field-separator= f=",
                   aka="gawk"),
    "ed": Program((Row("change-files:all"),), options="p= s c= S=", aka="ex vi vim nvim nano emacs micro kak"),
    "strip": Program((Row("write-files:value:o", "-o"), _EDITED), options="o= s d g K= N= R= strip-debug"),
    "objcopy": Program((Row("write-files:last", "#>=1"),), options="strip-debug I= O= B= j= R="),
    "prettier": Program((Row("write-files:all", ("--write", "-w")),), options="w,write c,check config= parser="),
    "sqlite3": Program((Row("read-files:first", "*:-readonly|--readonly"), Row("change-files:first", "#>=1")),
                       options="cmd= init= separator= json csv header readonly batch"),
    "shred": Program((Row("delete-files:all"),), options="u n=,iterations= z f v x s=,size="),
    "yq": Program((Row("write-files:notfirst", "-i"),), options="i,inplace e P o= p= r"),
    "jq": Program((Row("write-files:notfirst", "-i"),), options="i,in-place r e c n s f= arg="),
    "sponge": Program((_EDITED,), options="a"),
    "rename": Program((Row("rename-files:all"),), aka="prename file-rename"),
}  # fmt: skip
