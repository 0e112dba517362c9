"""Programs that show, copy or pack what is in files. A file that is an option's value counts as read too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....runtime.regex import regex
from ..rows import Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]

_GREP = (
    "e=,regexp= f=,file= A=,after-context= B=,before-context= C=,context= m=,max-count= include= exclude= exclude-dir= "
    "exclude-from= color=? colour=? l,files-with-matches L,files-without-match q,quiet,silent c,count d= D= g=,glob= "
    "iglob= t=,type= T= j= M= E= files G= depth= ignore= path-to-ignore= file-search-regex= hidden"
)


def _after_first(arguments: Arguments) -> Iterator[Found]:
    """Yield the files of a program whose first operand is a script or a pattern unless an option gives one."""
    operands = arguments.operands
    for path in operands if arguments.has("e", "f", "expression", "file", "from-file") else operands[1:]:
        yield Found("read-files", path)


def _grep(arguments: Arguments) -> Iterator[Found]:
    if arguments.has("l", "L", "q", "c", "files"):
        return
    yield from _after_first(arguments)
    for option in ("f", "include", "exclude-from", "g", "iglob", "G", "file-search-regex"):
        for value in arguments.options.get(option, ()):
            if not value.startswith("!"):
                yield Found("read-files", value)


def _jq(arguments: Arguments) -> Iterator[Found]:
    operands = arguments.operands[arguments.operands[:1] in (["eval"], ["e"], ["ea"], ["eval-all"]) :]
    for path in operands if arguments.has("f") else operands[1:]:
        yield Found("read-files", path)


_SED_READ = regex(r"(?:^|[;{}!0-9$/\s])[rR]\s*(\S+)$", re.MULTILINE)


def _sed(arguments: Arguments) -> Iterator[Found]:
    if not arguments.has("i"):
        yield from _after_first(arguments)
    if arguments.program == "sed":
        scripts = [*arguments.options.get("e", ()), *(() if arguments.has("e", "f") else arguments.operands[:1])]
        for path in _SED_READ.findall("\n".join(scripts)[:_LONGEST]):
            yield Found("read-files", path)


_SQL_READ = regex(r"""readfile\s*\(\s*'([^']+)'|\.(?:import|read)\s+(?:--?\S+\s+)*["']?([^\s"']+)""")
_LONGEST = 10_000


def _sqlite(arguments: Arguments) -> Iterator[Found]:
    """Yield the files that statements and commands of sqlite3 read."""
    for text in (*arguments.operands[1:], *arguments.texts):
        for called, imported in _SQL_READ.findall(text[:_LONGEST]):
            yield Found("read-files", called or imported)


def _sources(arguments: Arguments) -> Iterator[Found]:
    """Yield the sources of a copy: all operands but the last, or all with ``-t``."""
    operands = arguments.operands
    for path in operands if arguments.has("t") or len(operands) < 2 else operands[:-1]:
        yield Found("read-files", path)


def _tar(arguments: Arguments) -> Iterator[Found]:
    words = arguments.words
    bundle = words[0] if words and not words[0].startswith("-") else ""
    options = arguments.options
    creates = any(name in options for name in ("c", "r", "u", "A")) or any(letter in bundle for letter in "cruA")
    if bundle:
        # The letters of the bundle take their values from the words after it, in this order.
        skipped = 1 + sum(letter in "fCbTXIgKNVFL" for letter in bundle)
        values = dict(zip((letter for letter in bundle if letter in "fCbTXIgKNVFL"), words[1:skipped], strict=False))
        operands = [word for word in arguments.operands if word not in words[:skipped]]
        folder = values.get("C") or arguments.value("C")
    else:
        operands, folder = list(arguments.operands), arguments.value("C")
    if not creates:
        return
    for path in operands:
        yield Found("read-files", f"{folder}/{path}" if folder and not path.startswith(("/", "~")) else path)


def _archive(arguments: Arguments) -> Iterator[Found]:
    """Yield the files that are packed: all operands after the archive."""
    for path in arguments.operands[1:]:
        yield Found("read-files", path)


def _seven_zip(arguments: Arguments) -> Iterator[Found]:
    if arguments.operands[:1] in (["a"], ["u"]):
        for path in arguments.operands[2:]:
            yield Found("read-files", path)


def _dd(arguments: Arguments) -> Iterator[Found]:
    for word in arguments.operands:
        if word.startswith("if="):
            yield Found("read-files", word[3:])


_PATCH = ("p", "u", "patch", "patch-with-stat")
_GIT_SHOWS = frozenset({
    "add", "stage", "show", "diff", "difftool", "cat-file", "blame", "annotate", "archive", "grep", "hash-object",
})  # fmt: skip


def _git(arguments: Arguments) -> Iterator[Found]:
    operands = arguments.operands
    if operands[:1] in (["commit"], ["tag"], ["notes"]):
        yield from (Found("read-files", path) for path in arguments.options.get("F", ()))
    shows = operands[:1] in (["log"], ["whatchanged"], ["stash"], ["format-patch"]) and arguments.has(*_PATCH)
    if shows or (operands[:1] and operands[0] in _GIT_SHOWS):
        if arguments.has("stat", "name-only", "name-status", "quiet", "check", "numstat", "shortstat"):
            return
        skipped = 2 if arguments.operands[0] == "grep" and not arguments.has("e", "f") else 1
        for word in arguments.operands[skipped:]:
            if "://" not in word:
                yield Found("read-files", word.rpartition(":")[2])


_NO_SHOWING = frozenset({
    "ls", "stat", "file", "test", "[", "chmod", "chown", "chgrp", "touch", "rm", "unlink", "echo", "printf", "basename",
    "dirname", "realpath", "readlink", "du", "wc", "md5sum", "sha1sum", "sha256sum", "shasum", "cksum", "true", "git",
    "shred", "mkdir", "rmdir",
})  # fmt: skip
_QUIET_GREP = frozenset({"-l", "-q", "-c", "-L", "-il", "-li", "-rl", "-lr", "--files-with-matches"})


def _find(arguments: Arguments) -> Iterator[Found]:
    """Yield the names that a find looks for if it runs a program that shows what it finds."""
    words = arguments.words
    runs = [at for at, word in enumerate(words) if word in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X")]
    shows = False
    for at in runs:
        program = words[at + 1].rpartition("/")[2] if at + 1 < len(words) else ""
        quiet = program in ("grep", "rg", "egrep", "fgrep") and not _QUIET_GREP.isdisjoint(words[at + 2 :])
        shows |= program not in _NO_SHOWING and not quiet
    if shows:
        end = runs[0]
        for at, word in enumerate(words[:end]):
            if word in ("-name", "-iname", "-path", "-ipath", "-wholename") and at + 1 < end:
                yield Found("read-files", words[at + 1])
            elif not word.startswith("-") and at == 0:
                yield Found("read-files", word)


def _curl(arguments: Arguments) -> Iterator[Found]:
    for word in arguments.words:
        if word.lower().startswith("file:"):
            yield Found("read-files", "/" + word[5:].lstrip("/").removeprefix("localhost/"))


def _second(arguments: Arguments) -> Iterator[Found]:
    """Yield the source of ``docker cp`` and ``kubectl cp`` if it is a local file."""
    operands = arguments.operands
    if operands[:1] == ["cp"] and len(operands) >= 3 and ":" not in operands[1]:
        yield Found("read-files", operands[1])


def _cut(arguments: Arguments) -> Iterator[Found]:
    """Yield the files of cut, unless it shows only the names of variables."""
    if not (arguments.options.get("d") in (["="], [""]) and arguments.options.get("f") == ["1"]):
        yield from (Found("read-files", word) for word in arguments.operands)


PROGRAMS = {
    "cut": Program(
        options="d=,delimiter= f=,fields= b=,bytes= c=,characters= s,only-delimited complement output-delimiter= z",
        effects=_cut,
        aka="gcut",
    ),
    "cat": Program(
        (Row("read-files:all"),),
        aka="tac nl head tail less more most bat batcat view zcat bzcat xzcat zless zmore gzcat lz4cat zstdcat gunzip "
        "bunzip2 unxz uncompress rev fold fmt pr column expand unexpand paste join uniq shuf comm tsort split "
        "csplit od xxd hexdump hd hexyl strings base64 base32 basenc uuencode iconv dos2unix unix2dos diff sdiff "
        "colordiff delta cmp vimdiff diff3 wdiff look ul glow mdcat pygmentize highlight cpp m4 aspell gzip pigz bzip2 "
        "xz zstd lz4 lzma brotli compress ed ex date pandoc soelim mapfile readarray sponge ptx jless fx gron xmllint "
        "xsltproc csvlook mlr qrencode w3m lynx links elinks open xdg-open get-content gc php",
    ),
    "sort": Program(
        (
            Row("write-files:value:o", "-o", also=True),
            Row("read-files:value:files0-from", "--files0-from", also=True),
            Row("read-files:all"),
        ),
        options="o=,output= k=,key= t=,field-separator= S=,buffer-size= T=,temporary-directory= files0-from= parallel=",
        aka="gsort",
    ),
    "grep": Program(options=_GREP, effects=_grep, aka="egrep fgrep rg ag ack zgrep ripgrep git-grep ugrep pcregrep"),
    "sed": Program(
        options="i=?,in-place=? n,quiet,silent e=,expression= f=,file= E,r,regexp-extended s z u l= follow-symlinks",
        effects=_sed, aka="gsed",
    ),
    "awk": Program(options="f=,file= F= v= e=,source= i= l=", effects=_after_first, aka="gawk mawk nawk goawk"),
    "jq": Program(options="f=,from-file= S r c n s a j M C L=", effects=_jq, aka="yq gojq jaq tomlq xq dasel"),
    "perl": Program(options="e=,expression= E=,expression= n p l i=? a F= 0=?", effects=_sed, aka="ruby"),
    "cp": Program(options="t=,target-directory= S=,suffix=", effects=_sources, aka="mv install ln link gcp gmv ditto"),
    "tar": Program(
        options="c,create r,append u,update A,catenate,concatenate x,extract,get t,list,T f=,file= C=,directory= "
        "T=,files-from= exclude= X=,exclude-from= I=,use-compress-program= to-command= transform= b= V=,label=",
        effects=_tar, aka="bsdtar gtar gnutar",
    ),
    "zip": Program(options="r q j x= i= P= 9 e u m", effects=_archive, aka="rar jar ar"),
    "cpio": Program((Row("read-files:value:F"),), options="F= I= O= o i p"),
    "7z": Program(effects=_seven_zip, aka="7za 7zr 7zz"),
    "dd": Program(effects=_dd, aka="dcfldd"),
    "git": Program(
        globals="C= c= git-dir= work-tree= namespace= exec-path=? p no-pager bare literal-pathspecs config-env=",
        options="F=,file= m= message= author= date= stat name-only name-status quiet check numstat shortstat format=? "
        "pretty=?",
        effects=_git,
    ),
    "xargs": Program((Row("read-files:value:a", "-a"),), options="a=,arg-file= I= n= P= d= L= s= E="),
    "find": Program(effects=_find, aka="gfind fd fdfind"),
    "curl": Program(effects=_curl, aka="wget"),
    "wget": Program((Row("read-files:value:i", "-i"),), options="i=,input-file= O= o= P= a= U= e="),
    "file": Program((Row("read-files:value:f", "-f"),), options="f=,files-from= m= F= e="),
    "pip": Program((Row("read-files:value:r", "-r", sub="install|download|wheel"),), options="r=,requirement= c= t= i=",
                   aka="pip3 pip2"),
    "make": Program((Row("read-files:value:f", "-f -p"),), aka="gmake",
                    options="f=,file=,makefile= p,print-data-base C= j=? I= o= W="),
    "sqlite3": Program(effects=_sqlite, aka="sqlite"),
    "docker": Program(effects=_second, aka="podman nerdctl kubectl oc"),
}  # fmt: skip
