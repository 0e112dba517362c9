"""Programs that read, write, move and delete files, and change their modes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from ....matching.shell.words import ONE
from ....runtime.regex import regex
from ..find import effects_of_find
from ..rows import Arguments, Found, Program, Row, parse

__all__ = ["PROGRAMS", "copied_to"]


def copied_to(sources: Iterable[str], target: str) -> Iterator[str]:
    """Yield the files that a copy may write: the target, and if it looks like a directory, the files in it."""
    given = list(sources)
    yield target
    name = os.path.basename(target.rstrip("/"))
    if len(given) > 1 or target.endswith("/") or name in (".", "..", "~") or "." not in name[1:]:
        yield from (os.path.join(target, os.path.basename(source.rstrip("/"))) for source in given)


def _ends(arguments: Arguments) -> tuple[list[str], str]:
    """Return the sources and the target of a copy or a move."""
    operands, folder = arguments.operands, arguments.value("t")
    if folder is not None:
        return operands, folder.rstrip("/") + "/"
    return operands[:-1], operands[-1] if len(operands) > 1 else ""


def _mv(arguments: Arguments) -> Iterator[Found]:
    sources, target = _ends(arguments)
    if not target:
        return
    if target == "/dev/null":
        yield from (Found("delete-files-for-good", source) for source in sources)
        return
    yield from (Found("move-files", source) for source in sources)
    yield from (Found("write-files", path) for path in copied_to(sources, target))


def _cp(arguments: Arguments) -> Iterator[Found]:
    sources, target = _ends(arguments)
    if not target:
        return
    yield from (Found("read-files", source) for source in sources if source != "/dev/null")
    kind = "empty-files" if sources == ["/dev/null"] else "write-files"
    yield from (Found(kind, path) for path in copied_to(sources, target))


def _install(arguments: Arguments) -> Iterator[Found]:
    if arguments.has("d"):
        yield from (Found("write-files", path) for path in arguments.operands)
        return
    yield from _cp(arguments)
    if "setuid" in _kinds_of_mode(arguments.value("m") or ""):
        yield Found("setuid", _ends(arguments)[1])


def _ln(arguments: Arguments) -> Iterator[Found]:
    sources, target = _ends(arguments)
    if not target and len(arguments.operands) == 1:
        sources, target = arguments.operands, "./"
    yield from (Found("read-files", source) for source in sources)
    if target:
        yield from (Found("write-files", path) for path in copied_to(sources, target))


def _dd(arguments: Arguments) -> Iterator[Found]:
    given = dict(word.split("=", 1) for word in arguments.operands if "=" in word)
    if given.get("if"):
        yield Found("read-files", given["if"])
    if given.get("of"):
        yield Found("write-files", given["of"])
        if given.get("if") in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"):
            yield Found("empty-files", given["of"])


def _script(arguments: Arguments, *options: str) -> list[str]:
    """Return the operands without the script or the pattern, which is the first unless an option gives it."""
    return arguments.operands if arguments.has(*options) else arguments.operands[1:]


def _sed(arguments: Arguments) -> Iterator[Found]:
    kind = "write-files" if arguments.has("i") else "read-files"
    yield from (Found(kind, path) for path in _script(arguments, "e", "f"))


def _awk(arguments: Arguments) -> Iterator[Found]:
    files = [word for word in _script(arguments, "f", "e") if not re.match(r"\w+=", word)]
    kind = "write-files" if "inplace" in arguments.options.get("i", ()) else "read-files"
    yield from (Found(kind, path) for path in files)


def _grep(arguments: Arguments) -> Iterator[Found]:
    if not arguments.has("l", "L", "q", "c", "files"):
        yield from (Found("read-files", path) for path in _script(arguments, "e", "f"))
    yield from (Found("read-files", path) for path in arguments.options.get("f", ()))


def _in_place(arguments: Arguments) -> Iterator[Found]:
    """Read ``perl -pi -e …`` and ``ruby -i``."""
    if arguments.has("i"):
        yield from (Found("write-files", path) for path in _script(arguments, "e", "E"))


# Modes.

_SYMBOLIC = regex(r"([ugoa]*)((?:[-+=][rwxXstugo]*)+)")
_CHANGE = regex(r"([-+=])([rwxXstugo]*)")


def _kinds_of_mode(mode: str) -> tuple[str, ...]:
    """Return the kinds of effects that a mode has: octal, or symbolic such as ``u+s,o=rw``."""
    found: set[str] = set()
    if re.fullmatch(r"[0-7]{1,5}", mode):
        number = int(mode, 8)
        found |= {"open-permissions"} if number & 0o002 else set()
        found |= {"setuid"} if number & 0o6000 else set()
        found |= {"not-executable"} if not number & 0o100 else set()
        found |= {"lock-out"} if not number & 0o700 else set()
    for part in mode.split(","):
        symbolic = _SYMBOLIC.fullmatch(part)
        for sign, rights in _CHANGE.findall(symbolic[2]) if symbolic else ():
            found |= set(_kinds_of_change(symbolic[1] if symbolic else "", sign, rights))
    return tuple(sorted(found))


def _kinds_of_change(who: str, sign: str, rights: str) -> Iterator[str]:
    is_owner = not who or "u" in who or "a" in who
    if sign in "+=" and "w" in rights and ("o" in who or "a" in who):
        yield "open-permissions"
    if sign in "+=" and "s" in rights:
        yield "setuid"
    if is_owner and ((sign == "-" and "x" in rights) or (sign == "=" and not set("xX") & set(rights))):
        yield "not-executable"
    if is_owner and ((sign == "-" and {"r", "w"} <= set(rights)) or (sign == "=" and not rights)):
        yield "lock-out"


def _chmod(arguments: Arguments) -> Iterator[Found]:
    words = [word for word in arguments.words if re.fullmatch(r"-[rwxXst]+", word) is None]
    modes = [word for word in arguments.words if word not in words]
    given = parse("chmod", words, _CHMOD, arguments.command)
    operands = given.operands if modes or given.has("reference") else given.operands[1:]
    mode = modes[0] if modes else given.operands[0] if given.operands else ""
    kinds = ("change-mode", *_kinds_of_mode(mode), *(["change-tree"] if given.has("R") else []))
    yield from (Found(kind, path) for path in operands for kind in kinds)


# Deleting.


def _rm(arguments: Arguments) -> Iterator[Found]:
    via = arguments.command.via[-1:]
    if via and via[0].startswith("find -"):
        # The entry of find says what it deletes; other words of the command are judged here.
        yield from (Found("delete-files", path) for path in arguments.operands if path.strip(ONE))
        return
    yield from (Found("delete-files", path) for path in arguments.operands)


def _remove_item(arguments: Arguments) -> Iterator[Found]:
    named = [*arguments.options.get("path", ()), *arguments.options.get("literalpath", ())]
    yield from (
        Found("delete-files", path) for path in (*arguments.operands, *named) if path[1:] not in ("s", "q", "f")
    )


# Archives and copies of trees.

_TAR = (
    "x,extract,get c,create t,list r,append u,update A,catenate d,diff,compare delete f=,file= C=,directory= "
    "remove-files T=,files-from= X=,exclude-from= exclude= I=,use-compress-program= to-command= checkpoint-action= "
    "strip-components= transform=,xform= k,keep-old-files p P,absolute-names O,to-stdout b= g= L= N= F= H= K= V= "
    "z j J v a h m overwrite owner= group= mode="
)


def _tar(arguments: Arguments) -> Iterator[Found]:
    words = list(arguments.words)
    if words and re.fullmatch(r"[a-zA-Z]+", words[0]):
        words[0] = f"-{words[0]}"
        # The values of a bundle without a dash follow it in the order of its letters.
        if "f" in words[0] and not words[0].endswith("f"):
            words[0] = words[0].replace("f", "") + "f"
    given = parse("tar", words, _TAR, arguments.command)
    folder, archive = given.value("C") or "", given.value("f")
    inside = [path if path.startswith("~") else os.path.join(folder, path) for path in given.operands]
    if given.has("x") and not given.has("O", "to-command"):
        yield from (Found("write-files", path) for path in (folder or ".", *inside))
    elif given.has("c", "r", "u"):
        yield from (Found("read-files", path) for path in inside)
        if archive not in (None, "-"):
            yield Found("write-files", str(archive))
        if given.has("remove-files"):
            yield from (Found("delete-files", path) for path in inside)


def _is_remote(path: str) -> bool:
    return re.match(r"rsync://|[^/]+::?", path) is not None


def _rsync(arguments: Arguments) -> Iterator[Found]:
    *sources, target = arguments.operands or [""]
    if not sources:
        return
    yield from (Found("read-files", path) for path in sources if not _is_remote(path))
    if arguments.has("remove-source-files"):
        yield from (Found("move-files", path) for path in sources if not _is_remote(path))
    if _is_remote(target):
        return
    yield from (Found("write-files", path) for path in copied_to((one for one in sources if one[-1:] != "/"), target))
    if arguments.has("delete"):
        yield Found("delete-files", target)


_CHMOD = "R,recursive f,silent,quiet v,verbose c,changes reference= preserve-root no-preserve-root h H L P E N"
_COPY = (
    "r,R,recursive a,archive f,force i,interactive n,no-clobber p v,verbose u,update=? L P d T,no-target-directory "
    "t=,target-directory= S=,suffix= b,backup=? parents x l,link s,symbolic-link reflink=? preserve=? no-preserve= "
    "attributes-only remove-destination strip-trailing-slashes Z c X"
)
_SHOW = "n,number c=,bytes= lines= q,quiet v,verbose A E s T f,follow F retry pid="

PROGRAMS = {
    # Deleting.
    "rm": Program(
        options="r,R,recursive f,force i I interactive=? v,verbose d,dir one-file-system no-preserve-root "
        "preserve-root=? P W x",
        effects=_rm,
        aka="grm rimraf del-cli",
    ),
    "remove-item": Program(
        effects=_remove_item,
        options="path=,Path= literalpath=,LiteralPath= Recurse,recurse Force,force ErrorAction= Filter= Include= "
        "Exclude= WhatIf Confirm=?",
        aka="ri del erase rd",
    ),
    "unlink": Program(effects=_rm),
    "shred": Program(
        (Row("delete-files-for-good:all", "#>=1"),),
        options="u remove=? v,verbose z,zero f,force n=,iterations= s=,size= x,exact random-source=",
        aka="srm gshred",
    ),
    "truncate": Program(
        (Row("empty-files:all", ("--size=0", "--size=<*", "--size=-*", "--size=0?*")), Row("write-files:all")),
        options="s=,size= c,no-create r=,reference= o,io-blocks",
        aka="gtruncate",
    ),
    "find": Program(effects=effects_of_find, aka="gfind bfs"),
    # Moving, copying, writing.
    "mv": Program(effects=_mv, options=_COPY, aka="gmv"),
    "cp": Program(effects=_cp, options=_COPY, aka="gcp ditto"),
    "install": Program(
        effects=_install,
        options="d,directory m=,mode= o=,owner= g=,group= s,strip D t=,target-directory= T v,verbose b S= p C c",
        aka="ginstall",
    ),
    "ln": Program(
        effects=_ln,
        options="s,symbolic f,force n,no-dereference v,verbose r,relative T t=,target-directory= b S= i h L P",
        aka="gln link",
    ),
    "tee": Program(
        (Row("write-files:all"),), options="a,append i,ignore-interrupts p output-error=?", aka="gtee sponge"
    ),
    "touch": Program((Row("write-files:all"),), options="a c m r=,reference= t= d=,date= h,no-dereference A="),
    "ddrescue": Program((Row("read-files:first write-files:last", "#>=2"),)),
    "dd": Program(effects=_dd, aka="gdd dcfldd dc3dd"),
    "sed": Program(
        effects=_sed,
        options="i=?,in-place=? n,quiet,silent e=,expression= f=,file= E,r,regexp-extended s,separate z u l= "
        "follow-symlinks posix debug",
        aka="gsed",
    ),
    "awk": Program(
        effects=_awk, options="f=,file= e=,source= v=,assign= F=,field-separator= i=,include=", aka="gawk mawk nawk"
    ),
    "perl": Program(effects=_in_place, options="i=? p n e= E= w l=? 0=? a F= M= m= I= s u U c"),
    "ruby": Program(effects=_in_place, options="i=? p n e= w l a F= r= I= s c"),
    "sort": Program(
        (Row("read-files:all write-files:value:o"),), options="o=,output= k=,key= t= S= T= n r u f b h V c m"
    ),
    "dump": Program(
        (Row("write-files:value:f", "-f"),), options="f= b= B= d= s= T= h= I= L= Q= j=? z=?", aka="xfsdump"
    ),
    "patch": Program(
        (Row("", "--dry-run"), Row("write-files:value:o", "-o"), Row("write-files:first", "#>=1")),
        options="p= i=,input= o=,output= d=,directory= R N b B= dry-run s f t E l F= r=",
    ),
    # Showing.
    "cat": Program(
        (Row("read-files:all"),),
        options="n b A E s T v e t u",
        aka="tac bat batcat nl less more most rev fold fmt pr expand unexpand strings od xxd hexdump hd base64 base32 "
        "basenc uuencode paste comm join cmp diff colordiff sdiff vimdiff shuf uniq tsort csplit zcat gzcat zless "
        "bzcat xzcat view source . highlight pygmentize glow",
    ),
    "head": Program((Row("read-files:all"),), options=f"{_SHOW} n=,lines=", aka="tail gtail ghead"),
    "grep": Program(
        effects=_grep,
        options="e=,regexp= f=,file= l,files-with-matches L,files-without-match q,quiet c,count r,recursive "
        "R n i v w x "
        "o h H s E F P a A= B= C= m= "
        "include= exclude= exclude-dir= color=? colour=? d= D= z U files "
        "g= glob= t= type= T=",
        aka="egrep fgrep zgrep rg ag ack ggrep ugrep",
    ),
    # Modes and owners.
    "chmod": Program(effects=_chmod, options=_CHMOD, aka="gchmod"),
    "chown": Program(
        (
            Row("change-tree:all change-mode:all", "-R --reference"),
            Row("change-tree:notfirst change-mode:notfirst", "-R"),
            Row("change-mode:all", "--reference"),
            Row("change-mode:notfirst"),
        ),
        options=f"{_CHMOD} from= dereference no-dereference",
        aka="chgrp gchown",
    ),
    "setfacl": Program(
        (
            Row("open-permissions:all change-mode:all", ("-m=*o::*w*|*other::*w*|*o:*w*|*other:*w*",)),
            Row("change-tree:all change-mode:all", "-R"),
            Row("change-mode:all", ("-m", "-x", "-b", "-k", "-M", "-X")),
        ),
        options="m=,modify= x=,remove= b,remove-all k,remove-default M= X= R,recursive d,default n L P set= "
        "set-file= restore=",
    ),
    "chattr": Program(
        (Row("change-tree:last change-mode:last", "-R"), Row("change-mode:notfirst", "1:+*|=*"), Row("change-mode:all"))
    ),
    "setcap": Program((Row("setuid:last", "#>=2"),)),
    # Archives.
    "tar": Program(effects=_tar, aka="gtar bsdtar"),
    "unzip": Program(
        (Row("", ("-l", "-t", "-p", "-v", "-Z", "-z")), Row("write-files:value:d", "-d")),
        options="o n d= q l t v p j Z z x= P=",
    ),
    "zip": Program(
        (
            Row("delete-files:notfirst", "-m", also=True),
            Row("write-files:first read-files:notfirst"),
        ),
        options="r,recurse-paths m,move q e x= i= 0 1 9 j u f d P= n=",
    ),
    "gzip": Program(
        (
            Row("", ("-l", "-t")),
            Row("read-files:all", ("-c", "-k")),
            Row("read-files:all move-files:all"),  # only the packed file is left
        ),
        options="c,stdout,to-stdout d,decompress k,keep f,force r,recursive l,list t,test S= v q 1 9",
        aka="gunzip bzip2 bunzip2 xz unxz lzma pigz compress",
    ),
    "zstd": Program(
        (Row("", ("-l", "-t")), Row("read-files:all move-files:all", "--rm"), Row("read-files:all")),
        options="c,stdout d,decompress k,keep f,force r l,list t,test rm o= q v",
        aka="lz4 brotli",
    ),
    "rsync": Program(
        (Row("", ("-n", "--list-only")), Row(_rsync)),
        options="a,archive v,verbose z,compress r,recursive n,dry-run "
        "delete,del,delete-before,delete-during,delete-after,delete-excluded,delete-delay,delete-missing-args "
        "remove-source-files e=,rsh= P h u,update l p t g o D exclude= include= exclude-from= include-from= progress "
        "list-only stats files-from= rsync-path= password-file= chmod= chown= b,backup backup-dir= partial "
        "partial-dir= inplace i,itemize-changes c,checksum L H A X x S W f=,filter= T=,temp-dir= log-file= bwlimit= "
        "compare-dest= copy-dest= link-dest= port= max-size= min-size= M= info= out-format= suffix= timeout=",
    ),
    "rclone": Program(
        (
            Row("", ("-n",)),
            Row("delete-files:first", sub="purge|delete|deletefile|rmdirs|cleanup"),
            Row("delete-files:last", sub="sync"),
        ),
        options="n,dry-run i,interactive P,progress v,verbose include= exclude= filter= transfers= config= "
        "min-age= max-age=",
    ),
}
