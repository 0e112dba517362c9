"""Programs that write the file which an option or an operand names, beside what else they do."""

from __future__ import annotations

from collections.abc import Iterator

from ..rows import RUNS, Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]


def _by_option(spec: str, names: str) -> dict[str, Program]:
    """Return entries of programs that write the file after an option: all its spellings, as in the other tables."""
    first = spec.partition(",")[0].rstrip("=")
    return {name: Program((Row(f"write-files:value:{first}", f"-{first}"),), options=spec) for name in names.split()}


_DOT_FILES = {
    ".backup": "write-files", ".clone": "write-files", ".excel": "", ".log": "write-files", ".once": "write-files",
    ".open": "", ".output": "write-files", ".save": "write-files", ".read": "read-files", ".import": "read-files",
    ".restore": "read-files",
}  # fmt: skip


def _sqlite(arguments: Arguments) -> Iterator[Found]:
    """Read the commands of sqlite3 that begin with a dot: they write and read files, and run commands."""
    given = [*arguments.operands[1:], *arguments.options.get("cmd", ()), *arguments.texts]
    for row in (row.strip() for text in given for row in text.splitlines() if row.strip().startswith(".")):
        name, _, rest = row.partition(" ")
        words = [word.strip("\"'") for word in rest.split() if not word.startswith("-")]
        if name in (".shell", ".system", ".sh"):
            yield Found(RUNS, rest)
        elif name in (".output", ".once") and rest.strip("\"'").startswith("|"):
            yield Found(RUNS, rest.strip("\"'").lstrip("|"))
        elif _DOT_FILES.get(name) and words:
            yield Found(_DOT_FILES[name], words[0] if name == ".import" else words[-1])


def _seven_zip(arguments: Arguments) -> Iterator[Found]:
    if arguments.operands[:1] in (["a"], ["u"]) and any(word.startswith("-sdel") for word in arguments.words):
        yield from (Found("delete-files", path) for path in arguments.operands[2:])


PROGRAMS = {
    **_by_option("o=,output=", "shuf gpg gpg2 iconv pandoc bison yacc flex dot neato ld as nasm age yq zstd ltrace"),
    **_by_option("o=,output=,append=", "strace time gtime"),
    **_by_option("out=", "openssl"),
    **_by_option("w=", "tcpdump tshark dumpcap"),
    **_by_option("f=,prefix=", "csplit"),
    **_by_option("log-file=", "valgrind"),
    **_by_option("outfile=,o=", "esbuild"),
    "uniq": Program((Row("write-files:last", "#>=2"),), options="c d D u i z f=,skip-fields= s= w= group=?"),
    "split": Program(
        (Row("write-files:last", "#>=2"),),
        options="a=,suffix-length= b=,bytes= C= d e filter= l=,lines= n=,number= t= u x=? additional-suffix= verbose",
        aka="gsplit",
    ),
    "xxd": Program((Row("write-files:last", "#>=2"),), options="a b c= C d e E g= h i l= n= o= p,ps r s= seek= u v"),
    "objcopy": Program((Row("write-files:last", "#>=1"),), options="I= O= B= j= R= only-section= remove-section="),
    "ffmpeg": Program(
        (Row("write-files:last", "#>=1"),),
        options="i= f= ss= t= to= c= codec= vf= af= r= s= b= ar= ac= map= preset= crf= vcodec= acodec= filter_complex= "
        "y n an vn loglevel=,v= hide_banner pix_fmt= c:v= c:a= b:v= b:a= vframes= frames:v= "
        "q:v= movflags= stream_loop=",
    ),
    "qpdf": Program((Row("write-files:last", "#>=2"),), options="password= empty"),
    "sox": Program((Row("write-files:last", "#>=2"),)),
    "sqlite3": Program(effects=_sqlite, options="cmd= init= separator= nullvalue= newline= batch header csv json line"),
    "7z": Program(effects=_seven_zip, aka="7za 7zz 7zr"),
}
