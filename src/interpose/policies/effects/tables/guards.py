"""Programs that guard the agent, and agents: what switches guards off, and what starts an agent without them."""

import posixpath
import re
from collections.abc import Iterator

from ..rows import Arguments, Found, Program, Row

__all__ = ["AGENTS", "PROGRAMS"]

_READS = frozenset({
    "check", "list", "events", "schema", "log", "stats", "explain", "fire", "test", "replay", "doctor", "demo", "run",
    "policies", "report", "tail", "help", "version", "status", "completion", "questions", "lint", "agents", "scan",
})  # fmt: skip
"""Commands of Interpose that change neither what is trusted nor what is switched on."""
_CHANGES = frozenset({"accept", "approve", "refuse", "deny", "enable", "disable", "on", "off", "add", "remove"})
_INSTALLERS = "uninstall|remove|rm|erase|purge|autoremove|un|unlink"


def _interpose(arguments: Arguments) -> Iterator[Found]:
    words = [word for word in arguments.words if not word.startswith("-")]
    if not words or arguments.has("help", "h"):
        return
    reads = words[0] in _READS or words[:2] == ["fleet", "status"]
    if not reads or (words[1:2] and words[1] in _CHANGES):
        yield Found("guard", f"interpose {words[0]}")


def _module(arguments: Arguments) -> Iterator[Found]:
    """Read ``python -m interpose trust``, and ``python -m pip uninstall interpose``."""
    module = arguments.value("m")
    if module in ("interpose", "interpose.cli", "interpose.__main__"):
        at = next((at for at, word in enumerate(arguments.words) if word.endswith(module)), 0)
        words = arguments.words[at + 1 :]
        yield from _interpose(arguments._replace(words=words, options={"help": []} if "--help" in words else {}))
    elif module in ("pip", "pipx", "uv"):
        yield from _uninstall(arguments)
    elif module is None and arguments.operands[:1] and posixpath.basename(arguments.operands[0]) == "interpose":
        words = arguments.words[arguments.words.index(arguments.operands[0]) + 1 :]
        yield from _interpose(arguments._replace(words=words, options={"help": []} if "--help" in words else {}))


def _uninstall(arguments: Arguments) -> Iterator[Found]:
    verbs = _INSTALLERS.split("|")
    at = next((at for at, word in enumerate(arguments.operands) if word in verbs), None)
    if at is not None:
        for word in arguments.operands[at + 1 :]:
            if _package(word) in _PACKAGES:
                yield Found("guard", f"the package {word}")
        if arguments.operands[at] == "uninstall" and {"-r", "--requirement"} & set(arguments.words):
            yield Found("guard", "the packages that a file names")
    elif {"install", "add"} & set(arguments.operands[:2]):
        yield from _other_version(arguments)


_PACKAGES = ("interpose", "interpose-hooks")


def _other_version(arguments: Arguments) -> Iterator[Found]:
    """Yield Interpose as a package that is installed again, in another version or from another place."""
    forced = {"--force-reinstall", "--reinstall", "--force", "-I", "--ignore-installed"} & set(arguments.words)
    for word in arguments.operands[1:]:
        file = posixpath.basename(word)
        is_file = file.startswith("interpose") and file.endswith((".whl", ".tar.gz", ".zip"))
        is_pinned = _package(word) in _PACKAGES and (forced or any(mark in word for mark in ("==", "<", "@", "~=")))
        if is_file or is_pinned:
            yield Found("guard", f"the package {word}")


def _package(word: str) -> str:
    for mark in "=<>[@~!; ":
        word = word.partition(mark)[0]
    return word.lower().replace("_", "-")


def _kill(arguments: Arguments) -> Iterator[Found]:
    for word in arguments.operands:
        if "interpose" in word.lower() or _means_own(word.lower()):
            yield Found("guard-process", word)


_LONGEST_PATTERN = 40


def _means_own(pattern: str) -> bool:
    """Return whether a pattern for names of processes means Interpose's: ``interpos``, ``inter[p]ose``."""
    plain = re.sub(r"\[(.)\]", r"\1", pattern)
    if not 4 <= len(plain) <= _LONGEST_PATTERN or re.search(r"[+{}()]|\*.*\*.*\*", plain):
        return False
    try:
        return re.search(plain, "interpose") is not None
    except re.error:
        return False


def _services(arguments: Arguments) -> Iterator[Found]:
    """Read systemctl, service and launchctl: a service of Interpose is stopped or switched off."""
    stops = {"stop", "disable", "mask", "kill", "unload", "bootout", "remove", "restart", "reset-failed"}
    if stops & set(arguments.operands):
        yield from _kill(arguments)


_MCP = "mcp add*|mcp remove|mcp rm|mcp reset*|mcp enable|mcp disable|mcp set*|mcp import*|mcp login"
_PLUGINS = (
    "plugin install|plugin i|plugin uninstall|plugin remove|plugin rm|plugin enable|plugin disable|plugin update|"
    "plugin add|plugins add|plugins install|plugins remove|plugins uninstall|plugins rm|plugins enable|plugins disable|"
    "plugin marketplace add|plugin marketplace remove|plugin marketplace rm|plugin marketplace update|"
    "extensions install|extensions uninstall|extensions disable|extensions enable|extensions link|extensions new|"
    "extension install|extension remove"
)
_CONFIG = (
    "config set|config add|config remove|config unset|config rm|config edit|hooks rm|hooks remove|hooks add|"
    "hooks disable|hooks enable|hooks revoke|hooks uninstall|hooks migrate|hooks trust|settings set|features enable|"
    "features disable|policy set|policy add|policy remove|install-github-app|setup-token|trust"
)
_SETTINGS = Row("agent-config", sub=f"{_MCP}|{_PLUGINS}|{_CONFIG}")

_UNGUARDED = {
    "claude": (
        "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--permission-mode=bypassPermissions",
        "--safe-mode", "--bare", "--settings", "--setting-sources", "--managed-settings",
    ),
    "codex": (
        "--yolo", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust",
        "-s=danger-full-access", "-c=*hooks*|sandbox_mode*danger*|approval_policy*never*|features.*",
        "--disable=*hook*",
    ),
    "gemini": ("--yolo", "--approval-mode=yolo"),
    "cursor-agent": ("--force", "--yolo", "--trust"),
    "copilot": ("--allow-all-tools", "--allow-all", "--yolo", "--allow-all-paths", "--disable-hooks"),
    "opencode": ("--pure", "--dangerously-skip-permissions", "--yolo"),
    "amp": ("--dangerously-allow-all", "--no-plugins", "--settings-file"),
    "droid": ("--skip-permissions-unsafe", "--settings", "--auto=high"),
    "kimi": ("--yolo", "--yes", "--auto-approve", "--afk", "--config", "--config-file"),
    "goose": ("--no-plugins", "--no-hooks"),
    "aider": ("--yes-always",),
    "auggie": ("--dangerously-skip-permissions", "--no-hooks", "--augment-cache-dir"),
    "kiro-cli": ("--trust-all-tools", "--no-hooks"),
    "cline": ("--yolo", "--no-hooks"),
    "hermes": ("--safe-mode", "--yolo", "--no-hooks", "--no-plugins"),
    "pi": ("--no-extensions",),
    "openhands": ("--always-approve", "--yolo"),
    "vibe": ("--auto-approve", "--yolo"),
    "grok": ("--yolo", "--no-hooks", "--always-approve"),
    "devin": ("--dangerously-skip-permissions", "--permission-mode=bypass*|dangerous*"),
    "agy": ("--dangerously-skip-permissions", "--yolo"),
    "crush": ("--yolo",),
    "deepagents": ("--yolo", "--auto-approve", "--no-hooks"),
    "junie": ("--yolo", "--brave"),
}  # fmt: skip
_SHORT = {
    "codex": "c=,config= s=,sandbox= a=,ask-for-approval= disable= m=,model= C=,cd= i=,image= p=,profile=",
    "gemini": "y,yolo approval-mode= m=,model= p=,prompt= i=,prompt-interactive= e=,extensions=",
    "cursor-agent": "f,force p,print m=,model=", "kimi": "y,yolo yes w=,work-dir= c=,command= m=,model= config-file=",
    "cline": "y,yolo m=,model=", "crush": "y,yolo c=,cwd=", "openhands": "t=,task= f=,file=",
    "claude": "p,print permission-mode= settings= setting-sources= model= managed-settings=",
    "droid": "settings= auto= m=,model= f=,file= o=", "amp": "x,execute settings-file= mcp-config=",
    "devin": "permission-mode= p,print", "kiro-cli": "a,trust-all-tools",
}  # fmt: skip
_ALSO = {
    "claude": "claude-code", "gemini": "gemini-cli qwen qwen-code", "cursor-agent": "cursor", "auggie": "augment",
    "copilot": "copilot-cli", "kimi": "kimi-cli kimi-code", "kiro-cli": "kiro", "deepagents": "deepagents-code",
    "agy": "antigravity", "opencode": "opencode-ai openclaw", "amp": "ampcode",
}  # fmt: skip

AGENTS: frozenset[str] = frozenset(name for one in _UNGUARDED for name in (one, *_ALSO.get(one, "").split()))
"""The programs of coding agents."""

PROGRAMS = {
    **{
        name: Program(
            (Row("", "--help"), _SETTINGS, Row("agent-unguarded", conditions)),
            options=_SHORT.get(name, ""),
            aka=_ALSO.get(name, ""),
        )
        for name, conditions in _UNGUARDED.items()
    },
    "interpose": Program(effects=_interpose),
    "python": Program(effects=_module, options="m= W= X= c= h I S E B u", aka="python3 py pypy pypy3"),
    "pip": Program(effects=_uninstall, aka="pip3 pipx uv poetry pdm conda mamba micromamba rye hatch brew"),
    "pkill": Program(effects=_kill, aka="killall skill", options="s=,signal= u= U= t= g= P= n o x f,full i e"),
    "taskkill": Program(effects=_kill),
    "systemctl": Program(effects=_services, aka="service launchctl supervisorctl pm2 rc-service sv"),
}
