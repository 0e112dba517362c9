"""Programs that make something run later: schedulers, services, settings that are commands."""

import shlex
from collections.abc import Iterator

from ....matching.shell.words import is_known
from ..rows import Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]

_COMMANDS = (
    "core.hookspath", "core.fsmonitor", "core.sshcommand", "core.gitproxy", "core.askpass", "core.editor", "core.pager",
    "sequence.editor", "diff.external", "init.templatedir", "include.path", "uploadpack.packobjectshook", "gpg.program",
    "credential.helper", "protocol.ext.allow", "http.proxy", "core.alternaterefscommand", "interactive.difffilter",
)  # fmt: skip
"""Settings of git whose values are run, or lead to files whose content is."""
_ENDINGS = {
    "filter": ("clean", "smudge", "process"), "diff": ("command", "textconv"), "merge": ("driver",),
    "difftool": ("cmd", "path"), "mergetool": ("cmd", "path"), "alias": None, "pager": None, "includeif": ("path",),
    "credential": ("helper",), "gpg": ("program",), "man": ("cmd",), "browser": ("cmd",),
    "remote": ("vcs", "uploadpack"),
    "hook": ("command",), "submodule": ("update",), "trailer": ("cmd", "command"), "sendemail": ("smtpserver",),
}  # fmt: skip
_ORDINARY = frozenset({
    "vim", "vi", "nvim", "nano", "emacs", "emacsclient", "code", "code-insiders", "codium", "subl", "atom", "mate",
    "gvim", "mvim", "micro", "helix", "hx", "kak", "pico", "joe", "notepad", "notepad++", "idea", "pycharm", "zed",
    "cursor", "less", "more", "most", "cat", "bat", "delta", "diff-so-fancy", "diff-highlight", "true", "false",
    "store", "cache", "osxkeychain", "manager", "manager-core", "libsecret", "wincred", "gnome-keyring", "git-lfs",
    "gpg", "gpg2", "ssh", "meld", "kdiff3", "opendiff", "p4merge", "bc3", "bcompare", "vimdiff", "nvimdiff", "difft",
    "difftastic", "nbdime", "git-nbdiffdriver", "git-nbmergedriver", "git-crypt", "nbstripout", "gh", "glab", "oauth",
    "aws", "gcloud.sh", "gcloud", "always", "never", "user", "auth", "ghostty", "wl-copy", "tig", "column",
    "exiftool", "pdftotext", "hexdump", "sops", "npx", "jupytext", "mergiraf", "git-merge-driver", "npm-merge-driver",
    "docx2txt", "pandoc", "odt2txt", "openssl", "pre-commit", "lefthook", "husky", "lint-staged",
})  # fmt: skip
"""Programs that are usual as values: editors, pagers, stores of passwords, tools for comparing."""
_INSTEAD = (".insteadof", ".pushinsteadof")
_SHELL = frozenset("|;&$`<>(){}\n")
_WRITES = "add unset unset-all replace-all global local system worktree f=,file= type= e,edit bool int path null,z"
_READS = ("get", "get-all", "get-regexp", "list", "l", "get-urlmatch", "show-origin", "show-scope", "name-only")


def _git(arguments: Arguments) -> Iterator[Found]:
    """Read ``git config KEY VALUE``: a setting whose value git runs."""
    sub, *words = arguments.operands or [""]
    template = arguments.value("template")
    if sub in ("init", "clone") and template:
        yield Found("persist-command", f"the hooks in {template}")
    if sub != "config" or arguments.has(*_READS, "unset", "unset-all", "remove-section", "rename-section"):
        return
    if words[:1] == ["set"]:
        words = words[1:]
    elif words[:1] in (["get"], ["list"], ["unset"], ["remove-section"], ["rename-section"], ["edit"]):
        return
    if len(words) >= 2 and _is_command(words[0].lower(), words[1]):
        yield Found("persist-command", f"{words[0]} = {words[1]}")
    if len(words) >= 2 and words[0].lower().startswith("url.") and words[0].lower().endswith(_INSTEAD):
        base = words[0][len("url.") :].rpartition(".")[0]
        if _host(base) != _host(words[1]):
            yield Found("redirect-source", f"{base} in place of {words[1]}")


def _host(address: str) -> str:
    """Return the host of an address as git writes it: a URL, or ``user@host:path``."""
    rest = address.partition("://")[2] or address
    return rest.partition("/")[0].rpartition("@")[2].partition(":")[0].lower().removeprefix("ssh.")


def _is_command(key: str, value: str) -> bool:
    section, _, rest = key.partition(".")
    endings = _ENDINGS.get(section, ())
    if key not in _COMMANDS and (section not in _ENDINGS or (endings is not None and not rest.endswith(endings))):
        return False
    if section in ("alias", "submodule"):
        return value.startswith("!") and not _is_ordinary(value[1:])
    if key in ("core.hookspath", "init.templatedir", "include.path") or section == "includeif":
        return value not in ("", "/dev/null")
    if key in ("http.proxy", "protocol.ext.allow"):
        return key == "protocol.ext.allow" and value != "never"
    return not _is_ordinary(value)


def _is_ordinary(value: str) -> bool:
    """Return whether a value is a usual program without a shell's operators."""
    if not is_known(value) or _SHELL & set(value.replace("$@", "")):
        return False
    try:
        words = shlex.split(value.strip().lstrip("!").replace("\\", "/"))
    except ValueError:
        return False
    name = words[0].rpartition("/")[2].lower().removesuffix(".exe") if words else ""
    return not name or name in _ORDINARY or name == "git"


def _npm(arguments: Arguments) -> Iterator[Found]:
    words = arguments.operands
    if words[:2] == ["config", "set"] or words[:1] == ["set"]:
        for word in words[1:]:
            if word.partition("=")[0] in ("script-shell", "shell", "node-options", "git", "editor", "viewer"):
                yield Found("persist", word)


def _crontab(arguments: Arguments) -> Iterator[Found]:
    """Read crontab: without options it reads the jobs from a file, or from its input; its editor waits for a person."""
    if arguments.has("e") and arguments.waits_for_person:
        return
    if not arguments.has("l", "r", "V", "T"):
        yield Found("persist", "cron jobs", ("cron",))


def _schtasks(arguments: Arguments) -> Iterator[Found]:
    if "/create" in map(str.lower, arguments.words):
        yield Found("persist", "a task", ("cron",))


def _at(arguments: Arguments) -> Iterator[Found]:
    if not arguments.has("l", "r", "d", "c", "V") and (arguments.operands or arguments.command.name == "batch"):
        yield Found("persist", "a command", ("cron",))


def _key(arguments: Arguments) -> Iterator[Found]:
    yield from (Found("persist", f"logins to {word} with a key", ("ssh",)) for word in arguments.operands)


_SERVICES = (
    "enable|link|edit|set-default|add-wants|add-requires|preset|preset-all|import-environment|set-environment|reenable"
)

PROGRAMS = {
    "git": Program(
        effects=_git,
        globals="C= c= git-dir= work-tree= namespace= exec-path= p,paginate P,no-pager bare",
        options=f"{_WRITES} get get-all get-regexp list,l show-origin show-scope name-only"
        " template= remove-section rename-section",
    ),
    "crontab": Program(effects=_crontab, options="l r e i V T u="),
    "at": Program(effects=_at, options="f= q= t= m M l r d c V v b", aka="batch"),
    "systemd-run": Program((Row("persist-service:all", ("--on-calendar", "--on-boot", "--on-active", "--timer-property",
                                                        "--on-startup", "--on-unit-active")),),
                           options="on-calendar= on-boot= on-active= on-startup= on-unit-active= timer-property="
                           " unit=,u= user scope p=,property= wait t,pty d= G"),
    "systemctl": Program((Row("persist-service:all", sub=_SERVICES),),
                         globals="user system q,quiet no-pager now force H= M= t= p= all root= global runtime"),
    "loginctl": Program((Row("persist-service", sub="enable-linger"),)),
    "launchctl": Program((Row("persist-service:all", sub="load|bootstrap|enable|submit|setenv|config"),)),
    "update-rc.d": Program((Row("persist-service:first", "#>=2"),), aka="rc-update chkconfig sysv-rc-conf"),
    "schtasks": Program(effects=_schtasks),
    "pm2": Program((Row("persist-service", sub="startup|save"),)),
    "brew": Program((Row("persist-service:all", sub="services start|services restart"),)),
    "ssh-copy-id": Program(effects=_key, options="i= p= o= f n s"),
    "npm": Program(effects=_npm, aka="pnpm yarn", options="g,global location="),
}  # fmt: skip
