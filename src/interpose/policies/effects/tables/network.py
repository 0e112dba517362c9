"""Programs that use the network: what they ask for, what they send, which ports they open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....matching.programs import INTERPRETERS, SHELLS
from ....matching.shell import ShellCommand
from ....matching.shell.options import program_of
from ....matching.shell.words import MANY, ONE, base_name, is_known
from ....runtime.named_tuples import NamedTuple
from ....runtime.regex import regex
from ..rows import Arguments, Found, Program, Row, parse, written

__all__ = ["PROGRAMS", "Fetched", "fetches", "is_check_off", "is_plain_fetch"]


class Fetched(NamedTuple):
    """Something that a command brings from the network."""

    url: str
    file: str = ""
    """The file that it is written to; empty if it is the output."""


_CURL = (
    "o=,output= O,remote-name remote-name-all J,remote-header-name X=,request= H=,header= d=,data= data-raw= "
    "data-binary= data-urlencode= data-ascii= json= k,insecure u=,user= F=,form= form-string= T=,upload-file= "
    "x=,proxy= A=,user-agent= e=,referer= b=,cookie= c=,cookie-jar= m=,max-time= w=,write-out= C=,continue-at= "
    "K=,config= E=,cert= key= cacert= capath= cert-type= key-type= pass= url= proto= proto-default= proto-redir= "
    "connect-timeout= retry= retry-delay= retry-max-time= retry-connrefused retry-all-errors resolve= connect-to= "
    "unix-socket= abstract-unix-socket= output-dir= z=,time-cond= r=,range= n,netrc netrc-file= netrc-optional "
    "oauth2-bearer= interface= limit-rate= Y=,speed-limit= y=,speed-time= max-filesize= max-redirs= P=,ftp-port= "
    "Q=,quote= t=,telnet-option= D=,dump-header= dns-servers= doh-url= doh-insecure proxy-insecure ciphers= "
    "tls13-ciphers= tls-max= tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 tlsv1.3 curves= engine= pinnedpubkey= stderr= trace= "
    "trace-ascii= socks5= socks5-hostname= socks4= socks4a= preproxy= U=,proxy-user= noproxy= request-target= "
    "aws-sigv4= variable= rate= parallel-max= keepalive-time= local-port= mail-from= mail-rcpt= mail-auth= "
    "login-options= krb= service-name= proxy-header= etag-save= etag-compare= alt-svc= hsts= pubkey= hostpubmd5= "
    "crlfile= happy-eyeballs-timeout-ms= G,get I,head i,include f,fail fail-with-body fail-early s,silent "
    "S,show-error L,location location-trusted v,verbose V,version h,help N,no-buffer compressed create-dirs "
    "progress-bar no-progress-meter parallel Z url-query="
)
_WGET = (
    "O=,output-document= P=,directory-prefix= i=,input-file= a=,append-output= o=,output-file= U=,user-agent= "
    "e=,execute= T=,timeout= t=,tries= l=,level= A=,accept= R=,reject= D=,domains= I=,include-directories= "
    "X=,exclude-directories= Q=,quota= w=,wait= B=,base= header= user= password= post-data= post-file= body-data= "
    "body-file= method= ftp-user= ftp-password= proxy-user= proxy-password= http-user= http-password= ca-certificate= "
    "certificate= private-key= load-cookies= save-cookies= referer= limit-rate= progress= bind-address= default-page= "
    "restrict-file-names= warc-file= secure-protocol= cut-dirs= prefer-family= config= connect-timeout= read-timeout= "
    "dns-timeout= waitretry= max-redirect= no-check-certificate q,quiet c,continue r,recursive N,timestamping "
    "nc,no-clobber b,background nv,no-verbose v,verbose V,version h,help m,mirror np,no-parent k,convert-links "
    "p,page-requisites spider S content-disposition no-proxy show-progress https-only 4 6"
)
_HTTPIE = (
    "o=,output= d,download c,continue b,body p=,print= h,headers v,verbose a=,auth= A=,auth-type= verify= cert= "
    "cert-key= proxy= timeout= session= session-read-only= s=,style= j,json f,form multipart F,follow max-redirects= "
    "check-status I,ignore-stdin x,compress raw= B,bearer= P=,pretty="
)
_SSH = "p= i= l= L= R= D= J= o= F= N f T t q v A X Y C n W= E= b= c= e= m= S= w= B= I= O= Q= 4 6 g K k M s V a x y G P="
_SCP = "r p q C v P= i= o= F= J= l= S= c= D= 3 4 6 B O T A R a b= R= s="
_NC = (
    "e=,exec= c=,sh-exec= l,listen k,keep-open p=,source-port= s=,source= w=,wait= i=,idle-timeout= o=,output= "
    "x=,hex-dump= X= z u,udp v,verbose n,nodns t q= g= G= U C,crlf d D I= O= T= V= P= S b ssl proxy= proxy-type= "
    "lua-exec= broker chat ssl-verify ssl-cert= ssl-key= allow= deny= recv-only send-only m= M= N R r 4 6 h F W="
)
_ARIA = "o=,out= d=,dir= x= s= j= i=,input-file= header= check-certificate= c q k= user-agent= http-user= all-proxy="
_FETCHER = "o=,O=,output= n= S= a q v u= U= d= source dump dump_source stdin"
_POWERSHELL = regex(r"-(?:u|uri|o|outfile|outf|method|body|infile|headers|usebasicparsing|useb)\Z", re.IGNORECASE)

_DATA = ("data", "data-raw", "data-binary", "data-urlencode", "data-ascii", "json", "d", "F", "form-string", "T")
_METHODS = frozenset(["POST", "PUT", "PATCH", "DELETE"])
_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_SHELL_ADDRESS = regex(r"(?:exec|system|shell)(?::|$)", re.IGNORECASE)
_NETWORK_ADDRESS = regex(
    r"(?:tcp|tcp4|tcp6|udp|udp4|udp6|openssl|ssl|sctp|dccp|dtls|udplite|proxy|socks4a?|socks5|ws|quic|vsock)[\w-]*"
    r":([^,:\s]*|\[[^\]]*\])(?::[^,]*)?(?:,|\Z)",
    re.IGNORECASE,
)
_REMOTE_FILE = regex(r"(?:[\w.+-]+@)?(?:\[[0-9A-Fa-f:.%]+\]|[\w.-]+\.[\w.-]+|[\w-]+):(?!//)(?!\\)")
_WITH_SCHEME = regex(r"[A-Za-z][A-Za-z0-9+.-]*://")


def _curl(given: Arguments) -> Iterator[Found]:
    if given.has("unix-socket", "abstract-unix-socket"):
        return
    for url in _urls(given, "url"):
        yield Found("request", url)
        sends = given.has(*_DATA) and not given.has("G", "I")
        is_inline = not any(_posted(given)) and all(
            is_known(value) for name in _DATA for value in given.options.get(name, ())
        )
        yield from _changes(url, sends=sends, method=given.value("X"), is_inline=is_inline)
        if given.has("k"):
            yield Found("tls-off", url)
    for name in ("x", "preproxy", "socks5", "socks5-hostname", "socks4", "socks4a", "doh-url"):
        yield from (Found("request", value) for value in given.options.get(name, ()))
    yield from (Found("read-files", value) for value in _posted(given) if value != "-")


def _wget(given: Arguments) -> Iterator[Found]:
    sends = given.has("post-data", "post-file", "body-data", "body-file")
    for url in given.operands:
        yield Found("request", url)
        is_inline = not given.has("post-file", "body-file") and all(map(is_known, given.words))
        yield from _changes(url, sends=sends, method=given.value("method"), is_inline=is_inline)
        if given.has("no-check-certificate"):
            yield Found("tls-off", url)
    for name in ("post-file", "body-file"):
        yield from (Found("read-files", value) for value in given.options.get(name, ()))


def _changes(url: str, *, sends: bool, method: str | None, is_inline: bool) -> Iterator[Found]:
    """Yield that a request sends data; ``inline`` says that the line shows all of it."""
    if sends or (method or "").upper() in _METHODS:
        yield Found("send", url, ("inline",) if is_inline else ())


def _posted(given: Arguments) -> Iterator[str]:
    """Yield the files that curl sends: ``-T FILE``, ``-d @FILE``, ``-F name=@FILE``."""
    yield from given.options.get("T", ())
    for name in ("d", "data-binary", "data-ascii", "json"):
        yield from (value[1:] for value in given.options.get(name, ()) if value.startswith("@"))
    for value in given.options.get("data-urlencode", ()):
        if "@" in value and "=" not in value.partition("@")[0]:
            yield value.partition("@")[2]
    for value in given.options.get("F", ()):
        text = value.partition("=")[2]
        if text[:1] in ("@", "<"):
            yield text[1:].partition(";")[0]


def _httpie(given: Arguments) -> Iterator[Found]:
    if given.has("offline"):
        return
    url, sends = _httpie_url(given)
    if url:
        yield Found("request", url)
        if sends:
            yield Found("send", url)
        if (given.value("verify") or "").lower() in ("no", "false"):
            yield Found("tls-off", url)
    for word in given.operands:
        if "@" in word and not _WITH_SCHEME.match(word) and word != url:
            yield Found("read-files", word.partition("@")[2])


def _httpie_url(given: Arguments) -> tuple[str, bool]:
    words = given.operands
    method = words[0].isalpha() and words[0].isupper() if words else False
    url = "".join(words[method : method + 1])
    rest = words[method + 1 :]
    sends = (method and words[0] in _METHODS) or any(re.search(r"[^=]=[^=]|:=|@", word) for word in rest)
    return url, sends or given.has("raw")


def _urls(given: Arguments, option: str) -> list[str]:
    return [word for word in (*given.operands, *given.options.get(option, ())) if not word.startswith("/")]


def _first_url(given: Arguments) -> Iterator[Found]:
    yield from (Found("request", word) for word in given.operands if _looks_like_url(word))


def _looks_like_url(word: str) -> bool:
    return bool(_WITH_SCHEME.match(word)) or (word[:1] not in ("/", ".", "-") and "." in word.partition("/")[0])


def _ssh(given: Arguments) -> Iterator[Found]:
    host = "".join(given.operands[:1])
    if not host:
        return
    yield Found("request", _authority(host))
    if given.has("R", "D", "w") or _forwards(given.options.get("o", ())):
        yield Found("tunnel", host)
    yield from (Found("request", _authority(one)) for one in (given.value("J") or "").split(",") if one)


def _forwards(settings: list[str] | tuple[()]) -> bool:
    return any(one.lower().startswith(("remoteforward", "dynamicforward")) for one in settings)


def _authority(host: str) -> str:
    """Return a host of ssh as a URL: without a user its name alone."""
    return host if _WITH_SCHEME.match(host) else f"ssh://{host}"


def _copy(given: Arguments) -> Iterator[Found]:
    """Read scp, sftp and rsync: the last operand may be on another machine, or one of the others."""
    remote = [bool(_REMOTE_FILE.match(word) or _WITH_SCHEME.match(word)) for word in given.operands]
    for word, is_remote in zip(given.operands, remote, strict=True):
        if is_remote:
            yield Found("request", _remote_host(word))
    if len(given.operands) > 1 and remote[-1]:
        yield Found("send", _remote_host(given.operands[-1]))
        local = zip(given.operands[:-1], remote[:-1], strict=True)
        yield from (Found("read-files", word) for word, is_remote in local if not is_remote)


def _remote_host(word: str) -> str:
    return word if _WITH_SCHEME.match(word) else f"ssh://{word.partition(':')[0]}"


def _netcat(given: Arguments) -> Iterator[Found]:
    if given.has("lua-exec") or any(_is_shell(value) for name in "ec" for value in given.options.get(name, ())):
        yield Found("network-shell")
    if given.has("l"):
        yield Found("listen")
    elif given.operands and not given.has("U"):
        yield Found("request", given.operands[0])
        if not given.has("z"):
            yield Found("send", given.operands[0])


def _is_shell(text: str) -> bool:
    """Return whether a command starts a shell or an interpreter, or may."""
    words = re.findall(r"[^\s;|&<>()'\"]+", text)
    names = {program_of(base_name(word).lower().removesuffix(".exe")) for word in words}
    return ONE in text or MANY in text or not words or bool(names & (SHELLS | INTERPRETERS.keys() | {"cmd", "busybox"}))


def _socat(given: Arguments) -> Iterator[Found]:
    runs = [word for word in given.operands if _SHELL_ADDRESS.match(word.partition("!!")[2] or word)]
    networks = [found for word in given.operands if (found := _NETWORK_ADDRESS.match(word))]
    listens = any("listen" in word.lower().partition(":")[0] or "-l:" in word.lower() for word in given.operands)
    if runs and networks:
        yield Found("network-shell")
    for found in networks:
        if "listen" not in found.group().lower().partition(":")[0]:
            yield Found("request", found[1])
            yield Found("send", found[1])
    if listens:
        yield Found("listen")


def _openssl(given: Arguments) -> Iterator[Found]:
    if given.words[:1] == ("s_client",):
        hosts = [given.words[at + 1] for at, word in enumerate(given.words[:-1]) if word in ("-connect", "-host")]
        yield from (Found("request", host) for host in hosts)
    elif given.words[:1] == ("s_server",):
        yield Found("listen")


def _resolver(given: Arguments) -> Iterator[Found]:
    for word in given.operands:
        if word.startswith("@"):
            yield Found("request", word[1:])
        elif ONE in word or MANY in word:
            yield Found("send", word)


def _powershell(given: Arguments) -> Iterator[Found]:
    for url, _ in _powershell_fetches(given.words):
        yield Found("request", url)


def _powershell_fetches(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    file = next((words[at + 1] for at, word in enumerate(words[:-1]) if word.lower().startswith("-outf")), "")
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if _looks_like_url(word) and not before.lower().startswith(("-outf", "-o")):
            yield word, file


def _git_settings(given: Arguments) -> Iterator[Found]:
    """Read the settings and the variables that switch the check of certificates off, and what is cloned."""
    settings = [*given.options.get("c", ()), *given.options.get("config", ())]
    off = any(_is_off(setting) for setting in settings)
    if off:
        yield Found("tls-off")
    words = [word for word in given.operands if word]
    if words[:1] == ["config"] and len(words) > 2 and _is_off("=".join(words[-2:])):
        yield Found("tls-off")


def _is_off(setting: str) -> bool:
    name, _, value = setting.partition("=")
    parts = name.lower().split(".")
    return parts[0] == "http" and parts[-1] == "sslverify" and value.strip().lower() in ("false", "0", "no", "off")


_OFF_VARIABLES = {
    "NODE_TLS_REJECT_UNAUTHORIZED": ("0",),
    "PYTHONHTTPSVERIFY": ("0",),
    "GIT_SSL_NO_VERIFY": ("1", "true", "yes", "on"),
    "CURL_INSECURE": ("1", "true"),
    "NPM_CONFIG_STRICT_SSL": ("false", "0"),
    "npm_config_strict_ssl": ("false", "0"),
    "YARN_ENABLE_STRICT_SSL": ("false", "0"),
    "HEX_UNSAFE_HTTPS": ("1", "true"),
    "CARGO_HTTP_CHECK_REVOKE": ("false",),
    "PIP_TRUSTED_HOST": ("*",),
    "UV_INSECURE_HOST": ("*",),
    "GOINSECURE": ("*",),
    "GONOSUMDB": ("*",),
    "GONOSUMCHECK": ("*",),
    "GOSUMDB": ("off",),
}


def is_check_off(name: str, value: str) -> bool:
    """Return whether a variable switches the check of certificates or checksums off; ``*`` stands for any value."""
    off = _OFF_VARIABLES.get(name, ())
    return bool(value) and (value.lower() in off or off == ("*",))


def _exported(given: Arguments) -> Iterator[Found]:
    yield from (Found("tls-off") for word in given.operands if is_check_off(*word.partition("=")[::2]))


def _strict_ssl(given: Arguments) -> Iterator[Found]:
    said = "=".join(given.operands)
    if "strict-ssl=false" in said or given.value("strict-ssl") == "false" or "no-strict-ssl" in given.options:
        yield Found("tls-off")


_TUNNELS = "http|https|tcp|tls|start|tunnel|share|client|connect|funnel|serve|host|up"

PROGRAMS: dict[str, Program] = {
    "curl": Program(options=_CURL, aka="curlie", effects=_curl),
    "wget": Program(options=_WGET, aka="wget2", effects=_wget),
    "http": Program(options=_HTTPIE, aka="https xh xhs httpie", effects=_httpie),
    "aria2c": Program(options=_ARIA, aka="axel", effects=_first_url),
    "lynx": Program(options=_FETCHER, aka="links elinks w3m fetch ftp GET lwp-request", effects=_first_url),
    "iwr": Program(aka="irm invoke-webrequest invoke-restmethod start-bitstransfer curl.exe", effects=_powershell),
    "ssh": Program(options=_SSH, aka="autossh slogin", effects=_ssh),
    "mosh": Program((Row("request:first"),)),
    "scp": Program(options=_SCP, effects=_copy),
    "sftp": Program(options=_SCP, effects=_copy),
    "rsync": Program(
        options="e=,rsh= n,dry-run exclude= include= files-from= rsync-path= password-file= chmod= backup-dir= "
        "bwlimit= log-file= timeout= port= partial-dir= link-dest= filter=,f= max-size= out-format= T=,temp-dir=",
        effects=_copy,
    ),
    "nc": Program(options=_NC, aka="ncat netcat nc.traditional nc.openbsd nc6", effects=_netcat),
    "socat": Program(options="d v x h b= t= T= u U s L= lf= ly lm lp= D g 4 6", aka="socat1 socat2", effects=_socat),
    "telnet": Program((Row("request:first send:first", "#>=1"),), options="l= 4 6 8 E a e= n= b= k= x"),
    "openssl": Program(effects=_openssl),
    "dig": Program(effects=_resolver, aka="host nslookup drill kdig doggo dog"),
    "ping": Program((Row("request:last", "#>=1"),), options="c= i= w= W= s= t= I= n q 4 6 f"),
    "nmap": Program((Row("request:all", "#>=1"),), options="p= o= oN= oX= oG= oA= iL= T= script= D= S= e= g="),
    "ngrok": Program((Row("tunnel:first", sub=_TUNNELS),), aka="bore zrok tailscale-funnel"),
    "cloudflared": Program(
        (Row("tunnel:value:url", "--url", sub="tunnel"), Row("tunnel", sub="tunnel run")),
        options="url= name= config= hostname=",
    ),
    "localtunnel": Program((Row("tunnel"),), aka="lt chisel frpc rathole pinggy serveo gost gs-netcat pwncat"),
    "tailscale": Program((Row("tunnel", sub="funnel"),)),
    "git": Program(globals="C= c= git-dir= work-tree= namespace= exec-path= config-env=", effects=_git_settings),
    "npm": Program(options="strict-ssl=? location= g,global userconfig=", aka="pnpm yarn", effects=_strict_ssl),
    "export": Program(aka="declare typeset setenv", effects=_exported),
    "composer": Program((Row("tls-off", ("1:disable-tls *:true", "1:secure-http *:false"), sub="config"),)),
}


def fetches(command: ShellCommand) -> Iterator[Fetched]:
    """Yield what a command brings from the network, and where to."""
    name = program_of(command.name.lower())
    words = tuple(map(written, command.parts[1:]))
    reader = _FETCHES.get(name)
    if reader is not None:
        yield from reader(parse(name, words, _OPTIONS.get(name, ""), command))
    for one in command.redirections:
        if one.is_input and one.target.startswith(("/dev/tcp/", "/dev/udp/")):
            yield Fetched(one.target)


_OTHER_SOURCES = (
    "k", "K", "cacert", "capath", "proxy-insecure", "doh-insecure", "connect-to", "resolve", "proto-default", "next",
    "no-check-certificate", "ca-certificate", "ca-directory", "e", "config", "i", "B", "verify", "unix-socket",
)  # fmt: skip
"""Options after which a program may ask another server, or not check which one answers."""


def is_plain_fetch(command: ShellCommand) -> bool:
    """Return whether a command only downloads what its URLs name, with the usual checks."""
    name = program_of(command.name.lower())
    if name in ("irm", "iwr", "invoke-restmethod", "invoke-webrequest"):
        return len(command.parts) == 2 and any(True for _ in fetches(command))
    if name not in ("curl", "wget") or any(is_check_off(*one) for one in command.assigned):
        return False
    given = parse(name, map(written, command.parts[1:]), _OPTIONS[name], command)
    is_other = given.has(*(one for one in _OTHER_SOURCES if name == "wget" or one not in ("e", "i", "B")))
    return not is_other and any(True for _ in fetches(command))


def _fetched_by_curl(given: Arguments) -> Iterator[Fetched]:
    if given.has("V", "h", "I"):
        return
    for url in _urls(given, "url") or ([MANY] if given.has("K") else []):
        named = ONE if given.has("J") else _name_in(url)
        files = given.options.get("o") or [named if given.has("O", "remote-name-all") else ""]
        yield from (Fetched(url, "" if file in _STANDARD_OUTPUT else file) for file in files)


def _fetched_by_wget(given: Arguments) -> Iterator[Fetched]:
    if given.has("V", "h", "spider"):
        return
    for url in given.operands or ([MANY] if given.has("i") else []):
        file = given.value("O")
        if file is None:
            folder = (given.value("P") or "").rstrip("/")
            file = f"{folder}/{_name_in(url)}" if folder else _name_in(url)
        yield Fetched(url, "" if file in _STANDARD_OUTPUT else file)


def _name_in(url: str) -> str:
    """Return the file name that a program takes from a URL."""
    path = re.split(r"[?#]", url, maxsplit=1)[0]
    path = path.partition("://")[2] or path
    return base_name(path) if "/" in path and base_name(path) else "index.html"


def _fetched_by_httpie(given: Arguments) -> Iterator[Fetched]:
    url, _ = _httpie_url(given)
    if url:
        yield Fetched(url, given.value("o") or (_name_in(url) if given.has("d") else ""))


def _fetched_by_others(given: Arguments) -> Iterator[Fetched]:
    for word in given.operands:
        if _looks_like_url(word):
            saves = given.program in ("aria2c", "axel", "fetch", "ftp")
            file = given.value("o") or (_name_in(word) if saves else "")
            yield Fetched(word, "" if file in _STANDARD_OUTPUT else file)


def _fetched_by_powershell(given: Arguments) -> Iterator[Fetched]:
    yield from (Fetched(url, file) for url, file in _powershell_fetches(given.words))


def _fetched_by_copying(given: Arguments) -> Iterator[Fetched]:
    *sources, target = given.operands if len(given.operands) > 1 else [*given.operands, "."]
    for word in sources:
        if _REMOTE_FILE.match(word) or _WITH_SCHEME.match(word):
            name = base_name(word.partition(":")[2])
            yield Fetched(word, target if base_name(target.rstrip("/")) not in ("", ".", "..") else name)


def _fetched_from_peer(given: Arguments) -> Iterator[Fetched]:
    if not given.has("z"):
        yield Fetched("".join(given.operands[:1]) or "a connection")


def _fetched_by_ssh(given: Arguments) -> Iterator[Fetched]:
    if len(given.operands) > 1 and not given.has("N"):
        yield Fetched(_authority(given.operands[0]))


def _fetched_by_openssl(given: Arguments) -> Iterator[Fetched]:
    if given.words[:1] in (("s_client",), ("s_server",)):
        yield Fetched(" ".join(found.target for found in _openssl(given)) or "a connection")


def _fetched_by_git(given: Arguments) -> Iterator[Fetched]:
    """Read ``git archive --remote``; a clone is judged by other policies."""
    remote = next((word.partition("=")[2] for word in given.words if word.startswith("--remote=")), "")
    if "archive" in given.words and (remote or "--remote" in given.words):
        yield Fetched(remote or MANY)


def _fetched_by_resolver(given: Arguments) -> Iterator[Fetched]:
    if given.operands:
        yield Fetched(given.operands[-1])


def _fetched_by_services(given: Arguments) -> Iterator[Fetched]:
    """Read ``gh api``, ``aws s3 cp s3://… -``, ``gsutil cat`` and the like."""
    words = [word for word in given.words if not word.startswith("-") or word == "-"]
    if given.program == "gh" and words[:1] == ["api"]:
        yield Fetched(f"https://api.github.com/{''.join(words[1:2]).lstrip('/')}")
    elif given.program == "gh" and words[:2] in (["gist", "view"], ["release", "download"], ["run", "download"]):
        yield Fetched("https://github.com", ONE if words[1] == "download" else "")
    remote = [word for word in words if _WITH_SCHEME.match(word) or (given.program == "rclone" and ":" in word)]
    copies = {"cat", "cp", "copy", "copyto", "get", "download", "sync", "mv", "archive"} & set(words)
    if remote and copies and not _WITH_SCHEME.match(words[-1]):
        to_output = words[-1] == "-" or "cat" in copies
        yield Fetched(remote[0], "" if to_output else words[-1])
    elif remote and "cat" in copies:
        yield Fetched(remote[0])


_FETCHES = {
    **dict.fromkeys(("curl", "curlie"), _fetched_by_curl),
    **dict.fromkeys(("wget", "wget2"), _fetched_by_wget),
    **dict.fromkeys(("http", "https", "xh", "xhs", "httpie"), _fetched_by_httpie),
    **dict.fromkeys("aria2c axel lynx links elinks w3m fetch ftp get lwp-request".split(), _fetched_by_others),
    **dict.fromkeys("iwr irm invoke-webrequest invoke-restmethod curl.exe".split(), _fetched_by_powershell),
    **dict.fromkeys(("scp", "rsync", "sftp"), _fetched_by_copying),
    **dict.fromkeys("nc ncat netcat nc.traditional nc.openbsd telnet socat".split(), _fetched_from_peer),
    "ssh": _fetched_by_ssh,
    "git": _fetched_by_git,
    "openssl": _fetched_by_openssl,
    **dict.fromkeys(("dig", "host", "nslookup", "drill"), _fetched_by_resolver),
    **dict.fromkeys("gh aws gsutil gcloud rclone s3cmd mc az svn ipfs s5cmd".split(), _fetched_by_services),
}
_OPTIONS = {
    spelling: program.options for name, program in PROGRAMS.items() for spelling in (name, *program.aka.split())
}
