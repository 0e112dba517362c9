"""Programs that run commands as another user, or give the rights of root."""

from __future__ import annotations

from collections.abc import Iterator

from ....matching.programs import SHELLS, WRAPPERS
from ....matching.shell.options import parse_options
from ....matching.shell.words import base_name, is_known
from ..rows import Arguments, Found, Program, Row, written

__all__ = ["PROGRAMS"]

_SU = (
    "c:lmpPs:g:G:w:fhVT command= login shell= group= supp-group= session-command= preserve-environment "
    "whitelist-environment= pty"
)
_OPTIONS = {
    "su": _SU,
    "runuser": f"{_SU}u: user=",
    "pkexec": "u: user= disable-internal-agent keep-cwd",
    "gosu": "",
    "su-exec": "",
    "run0": "u:g:D: user= group= chdir= unit= property= description= slice= nice= setenv= background= machine=",
    "doas": WRAPPERS["doas"].options,
    "sudo": WRAPPERS["sudo"].options,
    "machinectl": "M:q uid= machine= quiet",
}
_ASKS_NOTHING = frozenset({"v", "K", "k", "l", "V", "h", "version", "list", "validate", "help", "remove-timestamp"})
_GROUPS = (
    "sudo|wheel|docker|root|admin|lxd|libvirt|disk|shadow|adm|sudo,*|wheel,*|docker,*|*,sudo|*,wheel|*,docker|*,sudo,*|"
    "*,docker,*"
)
_ROOT = frozenset({"root", "0", "#0", ""})


def _sudo(arguments: Arguments) -> Iterator[Found]:
    """Read the user and the command of sudo, doas, pkexec, run0 and the like."""
    words = [written(word) for word in arguments.command.parts[1:]]
    at, options, _ = parse_options(words, _OPTIONS[arguments.program])
    while at < len(words) and "=" in words[at] and not words[at].startswith(("-", "/")):
        at += 1
    inner = words[at:]
    edits = bool({"-e", "--edit"} & set(words[:at]))
    user = options.get("u") or options.get("user") or ""
    if arguments.program in ("gosu", "su-exec"):
        user, inner = "".join(inner[:1]).partition(":")[0], inner[1:]
    if not inner:
        if options.keys() & {"i", "s", "login", "shell"} or (
            arguments.program != "sudo" and not options.keys() & _ASKS_NOTHING
        ):
            yield Found("elevated-shell")
        return
    if edits:
        yield from (Found("write-files", path) for path in inner)
        inner = ["sudoedit", *inner]
    yield from _elevated(user, inner, is_fed=bool(arguments.texts))


def _elevated(user: str, inner: list[str], *, is_fed: bool) -> Iterator[Found]:
    """Say what runs as the other user: a shell without a text or a file, or a command."""
    name = base_name(inner[0])
    is_shell = name in SHELLS and not is_fed and all(word[:1] == "-" and "c" not in word for word in inner[1:])
    if is_shell or (name == "su" and not any(word.startswith(("-c", "--command")) for word in inner)):
        yield Found("elevated-shell")
    elif user in _ROOT or not is_known(user):
        yield Found("elevate", " ".join([name, *inner[1:]]))
    else:
        yield Found("elevate-user", " ".join([name, *inner[1:]]))


def _su(arguments: Arguments) -> Iterator[Found]:
    """Read su: a shell or a text, as root unless a user is named."""
    words = [written(word) for word in arguments.command.parts[1:]]
    given = [word for word in words if not word.startswith("-")]
    at, options, _ = parse_options(words, _OPTIONS[arguments.program], dash=True)
    text = options.get("c") or options.get("command") or options.get("session-command")
    rest = [word for word in words[at:] if word != "-"]
    user = options.get("u") or options.get("user") or "".join(rest[:1])
    for place, word in enumerate(rest):
        if word in ("-c", "--command"):
            text = "".join(rest[place + 1 : place + 2])
    if options.keys() & {"V", "h", "version", "help"} or "--help" in words:
        return
    if text is None and not (arguments.program == "runuser" and options.keys() & {"u", "user"} and rest):
        if user in _ROOT or not given:
            yield Found("elevated-shell")
        else:
            yield Found("elevate-user", user)
    elif user in _ROOT:
        yield Found("elevated-shell")
    else:
        yield Found("elevate-user", text or " ".join(rest))


def _visudo(arguments: Arguments) -> Iterator[Found]:
    if not arguments.has("c") and not arguments.waits_for_person:
        yield Found("grant-root")


def _nsenter(arguments: Arguments) -> Iterator[Found]:
    if arguments.value("t") in ("1", None):
        yield Found("host-root", "the first process of the host")


def _shell(arguments: Arguments) -> Iterator[Found]:
    """Read a shell without a text, a file or input that another program runs as root: ``sudo env bash``."""
    elevated = {"sudo", "doas", "pkexec", "run0"} & set(arguments.command.via)
    words = arguments.command.parts[1:]
    if elevated and not arguments.texts and all(word[:1] == "-" and "c" not in word for word in words):
        yield Found("elevated-shell")


PROGRAMS = {
    "bash": Program(effects=_shell, aka="sh zsh dash ksh fish tcsh csh ash"),
    "sudo": Program(effects=_sudo),
    "doas": Program(effects=_sudo),
    "pkexec": Program(effects=_sudo),
    "run0": Program(effects=_sudo),
    "gosu": Program(effects=_sudo),
    "su-exec": Program(effects=_sudo),
    "su": Program(effects=_su),
    "runuser": Program(effects=_su),
    "machinectl": Program((Row("elevated-shell", sub="shell|login"),)),
    "sudoedit": Program((Row("elevate:words write-files:all"),)),
    "visudo": Program(effects=_visudo, options="c,check f=,file= q,quiet s,strict"),
    "usermod": Program(
        (
            Row("grant-root:value:G", f"-G={_GROUPS}"),
            Row("grant-root", ("-o -u=0", "-u=0")),
            Row("change-users:last"),
        ),
        options=(
            "a,append G=,groups= g=,gid= u=,uid= o,non-unique l=,login= d=,home= m s=,shell= c= p=,password= L U e="
        ),
        aka="useradd",
    ),
    "gpasswd": Program(
        (Row("grant-root:words", ("-a *:sudo|wheel|docker|root|admin", "-A")), Row("change-users:words")),
        options="a=,add= d=,delete= A=,administrators= M=,members= r R",
    ),
    "adduser": Program(
        (Row("grant-root:last", "*:sudo|wheel|docker|root|admin"), Row("change-users:words")), aka="addgroup"
    ),
    "passwd": Program(
        (Row("", ("-S", "--status")), Row("grant-root", "1:root"), Row("change-users:words")),
        options="S,status l u d e",
    ),
    "chpasswd": Program(
        (Row("change-users"),), aka="userdel deluser groupdel delgroup chsh chfn groupmod newusers vipw vigr"
    ),
    "nsenter": Program(
        effects=_nsenter, options="t=,target= m,mount=? u,uts=? i,ipc=? n,net=? p,pid=? U,user=? a,all S= G= F r=? w=?"
    ),
    "insmod": Program((Row("load-kernel-code:words", "#>=1"),), aka="rmmod"),
    "kexec": Program((Row("load-kernel-code:words"),)),
    "sysctl": Program(
        (
            Row(
                "load-kernel-code:words",
                ("*:kernel.core_pattern=*|kernel.modprobe=*|kernel.yama*=*|kernel.randomize*=*|fs.suid*=*",),
            ),
        ),
        options="w p n a q e N",
    ),
}
