"""Programs that send data to other machines: what each of them sends, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...matching.shell import ShellCommand
from ...matching.shell.options import program_of
from ...matching.shell.words import is_known, names_in, written_of
from ...runtime.named_tuples import NamedTuple
from ...runtime.regex import regex
from .rows import Arguments, parse

__all__ = ["SENDERS", "Sent", "sent_by"]


class Sent(NamedTuple):
    """What a command sends."""

    host: str = ""
    files: tuple[str, ...] = ()
    reads_input: bool = False
    """Whether it sends its standard input."""
    values: bool = False
    """Whether it sends unknown values among its words, as a body or in an address."""
    variables: tuple[str, ...] = ()
    """The variables among its words, except in headers and in what a user signs in with."""


_CURL = (
    "d=,data= data-ascii= data-binary= data-raw= data-urlencode= json= F=,form= form-string= T=,upload-file= "
    "X=,request= "
    "H=,header= u=,user= o=,output= b=,cookie= c=,cookie-jar= A=,user-agent= e=,referer= E=,cert= key= cacert= "
    "K=,config= "
    "x=,proxy= w=,write-out= m=,max-time= url= url-query= variable= expand-data= expand-url= "
    "connect-timeout= resolve= retry= C= D= r= U= Y= y= z= t= Q= "
    "P="
)
_WGET = (
    "post-data= post-file= body-data= body-file= method= header= O=,output-document= o=,output-file= P= user= "
    "password= "
    "i=,input-file= a= t= T= w= Q= U=,user-agent= certificate= private-key= ca-certificate= e= load-cookies="
)


def _host(text: str) -> str:
    """Return the host of an address."""
    rest = text.partition("://")[2] or text
    host = rest.split("/")[0].split("?")[0].rpartition("@")[2]
    if host.startswith("["):
        return host.partition("]")[0][1:]
    return host.partition(":")[0].lower()


def _one_host(urls: list[str]) -> str:
    """Return the host of addresses; empty if there are several."""
    hosts = {_host(url) for url in urls}
    return hosts.pop() if len(hosts) == 1 else ""


_BRACES = regex("[{},]")
_CONFIG = regex(r"""(?m)^\s*-{0,2}(upload-file|T|data(?:-\w+)?|d|json|form|F)(?:\s*[=:]\s*|\s+|(?=@))["']?([^"'\n]+)""")


def _configs(arguments: Arguments) -> list[str]:
    """Return the texts of the configurations that curl reads, as far as the line shows them."""
    values = arguments.options.get("K", [])
    if not any(value in ("-", "/dev/stdin") or not is_known(value) for value in values):
        return []
    return [*(one.text for one in arguments.command.redirections), *arguments.texts]


def _in_config(text: str) -> list[str]:
    """Return the files that a configuration of curl sends."""
    found = list[str]()
    for option, value in _CONFIG.findall(text):
        is_upload = option in ("upload-file", "T")
        found += [value if is_upload else value.partition("@")[2]] if is_upload or "@" in value else []
    return [path.strip() for path in found if path.strip()]


def _curl(arguments: Arguments) -> Sent | None:
    files, has_input, values = list[str](), False, False
    for option in ("d", "data-ascii", "data-binary", "data-urlencode", "json", "url-query"):
        for value in arguments.options.get(option, ()):
            name, at, path = value.partition("@")
            is_file = at and (name == "" or (option in ("data-urlencode", "url-query") and "=" not in name))
            if is_file:
                files.append(path)
            values |= not is_file or not is_known(value)
    for value in arguments.options.get("F", ()):
        _, _, content = value.partition("=")
        if content[:1] in ("@", "<"):
            files += [part.partition(";")[0].strip("\"'") for part in content[1:].split(",")]
        values |= not is_known(content)
    for value in arguments.options.get("T", ()):  # curl has braces of its own
        files += [part for part in _BRACES.split(value) if part] if "{" in value else [value]
    files += [value.partition("@")[2] for value in arguments.options.get("variable", ()) if "@" in value]
    files += [path for text in _configs(arguments) for path in _in_config(text)]
    files += [value[1:] for value in arguments.options.get("H", ()) if value.startswith("@")]
    files += [value for value in arguments.options.get("b", ()) if "=" not in value and is_known(value)]
    values |= arguments.has("data-raw", "form-string")
    urls = [*arguments.operands, *arguments.options.get("url", ())]
    values |= any(not is_known(url) for url in urls)
    has_input = any(path in ("-", ".", "/dev/stdin") for path in files)
    if not files and not values:
        return None
    return Sent(_one_host(urls), tuple(files), has_input, values)


def _wget(arguments: Arguments) -> Sent | None:
    files = [*arguments.options.get("post-file", ()), *arguments.options.get("body-file", ())]
    urls = arguments.operands
    values = arguments.has("post-data", "body-data") or any(not is_known(url) for url in urls)
    if not files and not values:
        return None
    return Sent(_one_host(urls), tuple(files), "-" in files or "/dev/stdin" in files, values)


def _httpie(arguments: Arguments) -> Sent | None:
    words = [
        word for word in arguments.operands if word.upper() not in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")
    ]
    files = [word.partition("@")[2] for word in words[1:] if "@" in word and "=" not in word.partition("@")[0]]
    files += [word.partition("=@")[2] for word in words[1:] if "=@" in word]
    return Sent(_host(words[0]) if words else "", tuple(files), True, any(not is_known(word) for word in words))


def _stream(arguments: Arguments) -> Sent:
    """``nc``, ``telnet``: they send what they read."""
    runs = [text for name in ("e", "c", "exec", "sh-exec") for text in arguments.options.get(name, ())]
    files = tuple(word for text in runs for word in text.split()[1:] if word[:1] != "-")
    return Sent(_host(arguments.operands[0]) if arguments.operands else "", files, True)


def _socat(arguments: Arguments) -> Sent | None:
    addresses = [one for word in arguments.operands for one in word.split("!!")]
    remote = [one for one in addresses if one.partition(":")[0].upper().startswith(_SOCKETS)]
    runs = [one.partition(":")[2] for one in addresses if one.partition(":")[0].upper() in ("EXEC", "SYSTEM", "SHELL")]
    remote += [text for text in runs if text.strip("\"'").split(" ")[0] in ("curl", "wget", "nc", "ncat", "ssh")]
    if not remote:
        return None
    files = [word.strip("\"'") for text in runs for word in text.strip("\"'").split()[1:] if word[:1] != "-"]
    for one in addresses:
        kind, _, rest = one.partition(":")
        if kind.upper() in ("OPEN", "FILE", "GOPEN", "RDONLY", "PIPE", "CREATE"):
            path, *options = rest.split(",")
            folder = next((option[6:] + "/" for option in options if option.startswith("chdir=")), "")
            files.append(folder + path.strip("\"'"))
        elif one.startswith((".", "/")):
            files.append(one)
    return Sent(_host(remote[0].partition(":")[2]), tuple(files), True)


_SOCKETS = ("TCP", "UDP", "SCTP", "OPENSSL", "SSL", "SOCKS", "PROXY", "VSOCK", "DCCP", "FD")


def _is_remote(word: str) -> bool:
    head, colon, _ = word.partition(":")
    return bool(colon) and "/" not in head and not (len(head) == 1 and head.isalpha())


def _copy(arguments: Arguments) -> Sent | None:
    """``scp``, ``rsync``: they send their sources if the target is another machine."""
    operands = arguments.operands
    if len(operands) < 2 or not (_is_remote(operands[-1]) or "://" in operands[-1]):
        return None
    sources = [word for word in operands[:-1] if not _is_remote(word)]
    return Sent(_host(operands[-1]), (*sources, *arguments.options.get("files-from", ())), False)


def _ssh(arguments: Arguments) -> Sent | None:
    return Sent(_host(arguments.operands[0]), (), True) if arguments.operands else None


def _buckets(arguments: Arguments) -> Sent | None:
    """``aws s3 cp``, ``gsutil cp`` and the like: they send their sources if the target is a bucket."""
    operands = [
        word for word in arguments.operands if word not in ("s3", "storage", "cp", "mv", "sync", "rsync", "copy")
    ]
    if len(arguments.operands) < 2 or not operands or ("://" not in operands[-1] and ":" not in operands[-1]):
        return None
    sources = operands[:-1]
    return Sent(_host(operands[-1]), tuple(sources), "-" in sources)


def _all_files(arguments: Arguments) -> Sent:
    """Mail programs, pastes and tools for uploads: they send what they read and the files that they are given."""
    return Sent("", tuple(arguments.operands) + tuple(arguments.options.get("a", ())), True)


def _gh(arguments: Arguments) -> Sent | None:
    operands = arguments.operands
    if operands[:2] in (["gist", "create"], ["gist", "edit"], ["release", "upload"], ["snippet", "create"]):
        return Sent("github.com", tuple(operands[2:]), True)
    if operands[:2] in (["issue", "create"], ["pr", "create"], ["issue", "comment"], ["pr", "comment"]):
        return Sent("github.com", tuple(arguments.options.get("F", ())), "-" in arguments.options.get("F", ()), True)
    if operands[:1] == ["api"]:
        fields = [value.partition("=@")[2] for value in arguments.options.get("F", ())]
        fields += arguments.options.get("input", [])
        return Sent("github.com", tuple(filter(None, fields)), "-" in fields, True)
    if operands[:2] == ["variable", "set"]:
        return Sent("github.com", tuple(arguments.options.get("f", ())), True, True)
    return None


def _dns(arguments: Arguments) -> Sent | None:
    """Lookups: a name that is computed can carry data."""
    return Sent("a name server", (), False, True) if any(not is_known(word) for word in arguments.words) else None


def _git(arguments: Arguments) -> Sent | None:
    """``git clone`` and the like: an address that is computed can carry data."""
    asks = arguments.operands[:1] and arguments.operands[0] in ("clone", "fetch", "pull", "push", "ls-remote", "remote")
    return Sent("", (), False, True) if asks and any(not is_known(word) for word in arguments.words) else None


_BODIES = (
    "body", "payload", "message", "data-file", "f", "file", "content", "zip-file", "secret-string", "secret-binary",
    "cli-input-json", "source", "b", "value", "template-body", "user-data",
)  # fmt: skip


_CLOUD = (
    "profile= region= acl= body= payload= message= data-file= f=,file= content= zip-file= secret-string= "
    "secret-binary= cli-input-json= source= b= value= template-body= user-data= n= g= output= query= project="
)
_VAULTS = frozenset({"secrets", "secretsmanager", "keyvault", "ssm", "kms"})
"""Services that are there to hold secrets."""


def _cloud(arguments: Arguments) -> Sent | None:
    """``aws``, ``gcloud``, ``az``: copies to buckets, and options whose value is sent or names a file that is."""
    if arguments.operands[:1] and arguments.operands[0] in _VAULTS:
        return None
    given = [value for name in _BODIES for value in arguments.options.get(name, ())]
    given += [word for word in arguments.operands if word.startswith(("file://", "fileb://"))]
    files = [value.partition("://")[2] if value.startswith("file") else value.removeprefix("@") for value in given]
    copied = _buckets(arguments)
    if copied is not None:
        return copied._replace(files=(*copied.files, *files))
    return Sent("", tuple(files), False, True) if given else None


def _tar(arguments: Arguments) -> Sent | None:
    """``tar -f host:file`` writes to another machine."""
    files = arguments.options.get("f", [])
    bundle = arguments.words[0] if arguments.words else ""
    if not files and not bundle.startswith("-") and "f" in bundle:
        files = list(arguments.words[1:2])
    assigned = dict(arguments.command.assigned)
    files = [*files, *(assigned.get("TAPE", ""),)]
    files += [word[7:] for word in assigned.get("TAR_OPTIONS", "").split() if word.startswith("--file=")]
    remote = next((path for path in files if _is_remote(path)), "")
    if not remote or arguments.has("force-local"):
        return None
    return Sent(_host(remote), tuple(word for word in arguments.operands if word != remote), True)


Reads = Callable[[Arguments], Sent | None]

_SENDERS: dict[str, tuple[str, Reads]] = {
    "curl": (_CURL, _curl),
    "curlie": (_CURL, _curl),
    "wget": (_WGET, _wget),
    "wget2": (_WGET, _wget),
    "scp": ("i= P= o= F= S= c= J= l=", _copy),
    "pscp": ("i= P= pw= l=", _copy),
    "rsync": ("e=,rsh= files-from= exclude= include= password-file= rsync-path= port= f=,filter=", _copy),
    "ssh": ("i= p= l= o= F= J= L= R= D= W= b= c= E= e= I= m= O= Q= S= w= B=", _ssh),
    "sftp": ("i= P= o= b= F= S=", _ssh),
    "tar": ("f=,file= C=,directory= T= X= I= c,create force-local", _tar),
    "socat": ("b= t= T= l= d u U", _socat),
    "gh": (
        "F=,body-file=,field= input= H=,header= X=,method= q= f=,filename= d=,desc= t=,title= b=,body= R=,repo= p",
        _gh,
    ),
    "glab": ("f=,filename= d=,description= t=,title=", _gh),
    **dict.fromkeys(("http", "https", "xh", "xhs", "httpie"), ("a=,auth= o=,output= A=", _httpie)),
    **dict.fromkeys(
        ("nc", "ncat", "netcat", "telnet", "nc.openbsd", "nc.traditional", "pwncat", "websocat", "wscat"),
        ("p= s= w= e=,exec= c=,sh-exec= i= q= x= X=", _stream),
    ),
    **dict.fromkeys(("gsutil", "rclone", "mc", "s3cmd", "azcopy", "b2", "s5cmd"),
    ("profile= region= acl=", _buckets)),
    **dict.fromkeys(("aws", "gcloud", "az"), (_CLOUD, _cloud)),
    "git": ("C= c= git-dir= work-tree=", _git),
    **dict.fromkeys(
        ("mail", "mailx", "mutt", "sendmail", "msmtp", "swaks", "ftp", "lftp", "tftp", "ncftpput", "smbclient",
        "transfer",
         "croc", "wormhole", "magic-wormhole", "pastebinit", "ix", "termbin", "0x0", "rcp", "uucp", "curlftpfs",
         "ffsend"),
        ("s= a= c= b= u= p= e= E= f= t=", _all_files),
    ),
    **dict.fromkeys(("dig", "nslookup", "host", "drill", "ping", "ping6", "whois", "finger", "resolvectl",
    "getent", "traceroute", "traceroute6", "tracepath", "mtr"), ("c= W= t= p= s=", _dns)),
}  # fmt: skip


SENDERS = frozenset(_SENDERS)


def sent_by(command: ShellCommand, texts: tuple[str, ...] = ()) -> Sent | None:
    """Return what a command that reads these texts sends to another machine; None if it sends nothing."""
    known = _SENDERS.get(program_of(command.name.lower())) if command.name else None
    if known is None or command.parts[1:2] in (("--help",), ("--version",)):
        return None
    spec, read = known
    sent = read(parse(command.name, map(written_of, command.parts[1:]), spec, command)._replace(texts=texts))
    return None if sent is None else sent._replace(variables=tuple(_variables(command)) if sent.values else ())


_SIGN_IN = frozenset({
    "-H", "--header", "-u", "--user", "-b", "--cookie", "-E", "--cert", "--key", "-K", "--oauth2-bearer", "--aws-sigv4",
    "-A", "--auth", "-a", "--password", "--proxy-user", "-U", "-x", "--proxy", "-i",
})  # fmt: skip


def _variables(command: ShellCommand) -> Iterator[str]:
    """Yield the variables in the words of a command that are no headers and no passwords."""
    before = ""
    for word in command.parts[1:]:
        option = str(word).partition("=")[0]
        if before not in _SIGN_IN and option not in _SIGN_IN and not (word[:2] in _SIGN_IN and word[:2] != "--"):
            yield from names_in([word])
        before = word
