"""Ask about what runs later: cron jobs, start files, git hooks, keys for logins, services, tasks of editors."""

from __future__ import annotations

from collections.abc import Iterator

from .call import Call
from .changes import changes_of, label_of
from .effects import say
from .file_table import FileTable
from .parameters import action
from .policy import Objection, Options, Policy

__all__ = ["POLICY"]

_FILES = FileTable({
    "cron": """
        /etc/crontab /etc/cron.d/ /etc/cron.hourly/ /etc/cron.daily/ /etc/cron.weekly/ /etc/cron.monthly/ /etc/anacrontab
        /var/spool/cron/ /var/spool/at/ /var/at/ /usr/lib/cron/ /etc/periodic/
    """,
    "sshKeys": "~/.ssh/authorized_keys ~/.ssh/authorized_keys2 ~/.ssh/rc /etc/ssh/sshrc /etc/ssh/authorized_keys/ "
    "/etc/ssh/sshd_config /etc/ssh/sshd_config.d/",
    "startFiles": """
        ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile ~/.zshrc ~/.zshenv ~/.zprofile
        ~/.zlogin ~/.zlogout ~/.oh-my-zsh/custom/ ~/.config/fish/config.fish ~/.config/fish/conf.d/ ~/.kshrc ~/.mkshrc ~/.cshrc ~/.tcshrc ~/.login ~/.logout
        ~/.config/nushell/ ~/.elvish/ ~/.xonshrc ~/.inputrc ~/.xinitrc ~/.xprofile ~/.xsession ~/.xsessionrc ~/.pam_environment
        ~/.ssh/config /etc/profile /etc/profile.d/ /etc/bash.bashrc /etc/bashrc /etc/zsh/ /etc/zshrc /etc/zshenv
        /etc/environment ~/.config/environment.d/ ~/.vimrc ~/.config/nvim/init.* ~/.emacs ~/.emacs.d/init.el ~/.tmux.conf
        ~/.screenrc ~/.config/powershell/ profile.ps1
    """,
    "services": """
        /etc/systemd/ /lib/systemd/ /usr/lib/systemd/ ~/.config/systemd/ ~/.local/share/systemd/ /etc/init.d/ /etc/init/
        /etc/rc.local /etc/rc.d/ /etc/inittab ~/library/launchagents/ /library/launchagents/ /library/launchdaemons/
        /system/library/launchdaemons/ ~/.config/autostart/ ~/.config/autostart-scripts/ /etc/xdg/autostart/
        /library/startupitems/ /etc/modules-load.d/ /etc/modules /etc/supervisor/ /etc/sv/ /etc/local.d/
    """,
    "loaders": """
        /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d/ /etc/pam.d/ /etc/udev/ /lib/udev/rules.d/ /usr/lib/udev/rules.d/
        sitecustomize.py usercustomize.py site-packages/*.pth dist-packages/*.pth ~/.pythonrc ~/.pythonrc.py ~/.pythonstartup
        ~/.npmrc ~/.irbrc ~/.pryrc ~/.ipython/profile_default/startup/ ~/.config/pip/
        /etc/apt/apt.conf.d/ ~/.m2/settings.xml ~/.gradle/init.gradle ~/.gradle/init.d/ ~/.cargo/config.toml ~/.cargo/config
        ~/.gdbinit ~/.lldbinit ~/.rprofile ~/.local/bin/sudo ~/.sqliterc ~/.psqlrc ~/.wgetrc ~/.curlrc ~/.terraformrc
        /etc/nsswitch.conf /etc/sudoers /etc/sudoers.d/
    """,
    "gitHooks": """
        .git/hooks/ .git/config .git/config.worktree .git/info/attributes ~/.gitconfig ~/.config/git/ /etc/gitconfig .husky/
        .githooks/ .lefthook/ .git/modules/*/hooks/ .git/modules/*/config
    """,
    "editors": """
        .vscode/tasks.json ~/.vscode/extensions/ .devcontainer/ .devcontainer.json .envrc .zed/tasks.json .nvim.lua .exrc
        .dir-locals.el ~/.config/code/user/settings.json ~/.config/code/user/tasks.json ~/.config/direnv/
    """,
})  # fmt: skip
_KINDS = ("write-files", "change-files", "change-mode", "open-permissions", "setuid")
_INSTEAD = {
    "cron": "it runs without the agent's guards",
    "sshKeys": "a person has to give access to this account",
    "startFiles": "every new shell or program runs it",
    "additions": "every new shell runs it",
    "services": "it starts with the machine or the session",
    "loaders": "every program of this kind loads it",
    "gitHooks": "git runs it later",
    "editors": "an editor or a shell runs it when the folder is opened",
}


def _judge(call: Call, options: Options) -> Iterator[Objection]:
    for effect in call.of("persist", "persist-service", "persist-command"):
        parameter = _parameter(effect.kind, effect.values)
        yield Objection(options[parameter], say(effect, _INSTEAD[parameter]), effect.grade)
    added = _added_to(call)
    for change in changes_of(call, *_KINDS):
        if change.effect.program == "git" and change.effect.kind == "change-files":
            continue  # a version that was committed
        label = label_of(change, _FILES, call)
        if change.effect.kind == "change-mode" and label != "gitHooks":
            continue
        if label == "startFiles" and change.effect.command in added:
            label = "additions"
        if label:
            yield Objection(options[label], say(change.effect, _INSTEAD[label]), change.effect.grade)


def _parameter(kind: str, values: tuple[str, ...]) -> str:
    if kind == "persist-service":
        return "services"
    if kind == "persist-command":
        return "gitHooks"
    return "sshKeys" if "ssh" in values else "cron" if "cron" in values else "loaders"


def _added_to(call: Call) -> frozenset[str]:
    """Return the commands that only add lines to files: ``echo … >> FILE``, ``tee -a FILE``."""
    found = set()
    for line in call.lines:
        for command in line.commands:
            outputs = [one.operator for one in command.redirections if one.is_output]
            adds = command.name == "tee" and {"-a", "--append"} & set(command.parts)
            if (outputs and all(">>" in one for one in outputs)) or (adds and not outputs):
                found.add(" ".join(command.parts))
    return frozenset(found)


POLICY = Policy(
    name="persistence",
    prevents="Making something run later without being asked for: cron jobs, start files of shells, git hooks and "
    "settings that are commands, keys for logins, services, files that programs load, tasks of editors.",
    judge=_judge,
    reads_lines=True,
    parameters=(
        action("cron", "ask", "cron jobs and commands for at"),
        action("startFiles", "ask", "overwriting start files of shells and sessions"),
        action("additions", "ask", "adding lines to start files of shells and sessions"),
        action("gitHooks", "ask", "git hooks, and settings of git whose values it runs"),
        action("sshKeys", "deny", "keys that give access to an account"),
        action("services", "ask", "services, timers and login items"),
        action("loaders", "ask", "files that every program of a kind loads: ld.so.preload, sitecustomize.py, .pth"),
        action("editors", "ask", "tasks of editors, dev containers and .envrc"),
    ),
    recommended={"additions": "allow", "services": "allow"},
)
