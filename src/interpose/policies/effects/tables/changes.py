"""What the table of files does not say: the pairs of names of mv, links, patches, downloads, files that git changes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ....matching.shell.words import MANY, ONE
from ....runtime.regex import regex
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
    if sub in (
        "checkout",
        "restore",
        "rm",
        "mv",
        "clean",
        "apply",
        "stash",
        "update-index",
        "reset",
        "init",
        "clone",
        "worktree",
    ):
        yield from (Found("change-files", word, (), directory) for word in words[sub == "stash" :])
        yield from _patched(arguments)
    if sub in ("clean", "restore", "checkout", "init") and (not words or sub == "clean"):
        yield Found("change-files", ".", (), directory)
    if sub == "add" and not arguments.has("n"):
        yield from (Found("add-files", word, (), directory) for word in words)
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


def _rename(arguments: Arguments) -> Iterator[Found]:
    """Read rename: an expression in Perl, then the files; without the files that its input names."""
    given = arguments.value("e")
    code, files = (given, arguments.operands) if given else (arguments.operands[:1], arguments.operands[1:])
    if arguments.has("n"):
        return
    text = "".join(code)
    in_case = text.lower().startswith(("y/a-z", "tr/a-z")) or any(
        one in text for one in ("lc", "uc", "\\L", "\\U", "\\u")
    )
    yield from (Found("change-case" if in_case else "rename-files", word) for word in files)


def _find(arguments: Arguments) -> Iterator[Found]:
    """Yield what find changes by name: ``find . -name .mcp.json -delete``."""
    words = arguments.words
    runs = {program for option, program in pairwise(words) if option in ("-exec", "-execdir", "-ok", "-okdir")}
    if "-delete" not in words and not {_base(one) for one in runs} & _CHANGERS:
        return
    end = next((at for at, word in enumerate(words) if word.startswith(("-", "(", "!"))), len(words))
    for option, value in pairwise(words):
        if option in ("-name", "-iname", "-path", "-ipath", "-wholename"):
            for root in words[:end] or (".",):
                yield Found("change-files", f"{root.rstrip('/') or '/'}/{value.lstrip('./')}")
                yield Found("change-files", f"{root.rstrip('/') or '/'}/{value}")


def _saved(arguments: Arguments) -> Iterator[Found]:
    """Yield the files to which curl and wget save what they download."""
    folder = arguments.value("P") or arguments.value("output-dir") or ""
    given = [value for name in ("o", "output-document") for value in arguments.options.get(name, ())]
    if arguments.has("O") and arguments.program == "curl":
        given += [_base(word.partition("?")[0]) for word in arguments.operands]
    elif arguments.program == "wget" and not given:
        given += [_base(word.partition("?")[0]) for word in arguments.operands if "/" in word]
    for name in given:
        if name not in ("", "-"):
            yield Found("write-files", f"{folder.rstrip('/')}/{name}" if folder else name)


_CHANGERS = frozenset(
    {"rm", "unlink", "shred", "mv", "sed", "perl", "chmod", "chown", "truncate", "tee", "cp", "sh", "bash"}
)
_COPY = "t=,target-directory= T,no-target-directory S=,suffix= f,force n,no-clobber s,symbolic"


def _screen_editor(arguments: Arguments) -> Iterator[Found]:
    """Read an editor: it changes a file only if its words or its input give it commands, else it waits for a person."""
    commands = [word for word in arguments.words if word[:1] in ("-", "+", ONE, MANY) and not _OPENS.fullmatch(word)]
    if commands or not arguments.waits_for_person:
        yield from (Found("change-files", path) for path in arguments.operands)


_OPENS = regex(r"-[RnNoOpdmy]\d*|-nw|--no-window-system|--readonly|\+\d*")
_EDITED = Row("change-files:all")

PROGRAMS = {
    "mv": Program(effects=_moves, options=_COPY, aka="gmv"),
    "ln": Program(effects=_links, options=_COPY, aka="gln link"),
    "sed": Program((Row("write-files:notfirst", ("*:-I*",)),)),
    "find": Program(effects=_find, aka="gfind bfs"),
    "curl": Program(
        effects=_saved,
        options="o=,output= O,remote-name J,remote-header-name output-dir= X=,request= H=,header= d=,data= data-raw="
        " u=,user= A= e= b= c= E= F= x= m= T= w= K= cacert= cert= key= retry= connect-timeout= max-time="
        " url= L f s S k i I v",
        aka="curlie",
    ),
    "wget": Program(
        effects=_saved,
        options="output-document=,O= P=,directory-prefix= output-file= a= e= U= t= T= w= header= user= password= q nv"
        " i= B= Q= l= A= R= D= X=",
    ),
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
    "ed": Program((_EDITED,), options="p= s c= S=", aka="ex"),
    "vi": Program(effects=_screen_editor, options="c= S= s= u= w= W= i=", aka="vim nvim nano emacs micro kak pico"),
    "strip": Program((Row("write-files:value:o", "-o"), _EDITED), options="o= s d g K= N= R= strip-debug"),
    "objcopy": Program((Row("write-files:last", "#>=1"),), options="strip-debug I= O= B= j= R="),
    "prettier": Program((Row("write-files:all", ("--write", "-w")),), options="w,write c,check config= parser="),
    "sqlite3": Program((Row("", "*:-readonly|--readonly"), Row("change-files:first", "#>=1"))),
    "yq": Program((Row("write-files:notfirst", "-i"),), options="i,inplace e P o= p= r"),
    "jq": Program((Row("write-files:notfirst", "-i"),), options="i,in-place r e c n s f= arg="),
    "rename": Program(
        effects=_rename, options="n,nono,no-act,dry-run f,force v s d e=", aka="prename file-rename perl-rename"
    ),
}
