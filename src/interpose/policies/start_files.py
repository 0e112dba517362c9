"""The files whose content runs later, by the parameter of ``persistence`` that decides about them."""

from __future__ import annotations

from .file_table import FileTable

__all__ = ["START_FILES"]

START_FILES = FileTable({
    "cron": """
        /etc/crontab /etc/cron.d/ /etc/cron.hourly/ /etc/cron.daily/ /etc/cron.weekly/ /etc/cron.monthly/
        /etc/anacrontab /var/spool/cron/ /var/spool/at/ /var/at/ /usr/lib/cron/ /etc/periodic/
    """,
    "sshKeys": "~/.ssh/authorized_keys ~/.ssh/authorized_keys2 ~/.ssh/rc /etc/ssh/sshrc /etc/ssh/authorized_keys/ "
    "/etc/ssh/sshd_config /etc/ssh/sshd_config.d/",
    "startFiles": """
        ~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.bash_aliases ~/.profile ~/.zshrc ~/.zshenv
        ~/.zprofile ~/.zlogin ~/.zlogout ~/.oh-my-zsh/custom/*.zsh ~/.oh-my-zsh/custom/plugins/
        ~/.oh-my-zsh/custom/themes/ ~/.oh-my-zsh/custom/lib/ ~/.config/fish/config.fish ~/.config/fish/conf.d/
        ~/.kshrc ~/.mkshrc ~/.cshrc ~/.tcshrc ~/.login ~/.logout ~/.config/nushell/ ~/.elvish/ ~/.xonshrc ~/.inputrc
        ~/.xinitrc ~/.xprofile ~/.xsession ~/.xsessionrc ~/.pam_environment ~/.ssh/config /etc/profile /etc/profile.d/
        /etc/bash.bashrc /etc/bashrc /etc/zsh/ /etc/zshrc /etc/zshenv /etc/environment ~/.config/environment.d/
        ~/.vimrc ~/.config/nvim/init.* ~/.emacs ~/.emacs.d/init.el ~/.tmux.conf ~/.screenrc ~/.config/powershell/
        profile.ps1
    """,
    "services": """
        /etc/systemd/ /lib/systemd/ /usr/lib/systemd/ ~/.config/systemd/ ~/.local/share/systemd/ /etc/init.d/
        /etc/init/ /etc/rc.local /etc/rc.d/ /etc/inittab ~/library/launchagents/ /library/launchagents/
        /library/launchdaemons/ /system/library/launchdaemons/ ~/.config/autostart/ ~/.config/autostart-scripts/
        /etc/xdg/autostart/ /library/startupitems/ /etc/modules-load.d/ /etc/modules /etc/supervisor/ /etc/sv/
        /etc/local.d/
    """,
    "loaders": """
        /etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d/ /etc/pam.d/ /etc/udev/ /lib/udev/rules.d/
        /usr/lib/udev/rules.d/ sitecustomize.py usercustomize.py site-packages/*.pth dist-packages/*.pth ~/.pythonrc
        ~/.pythonrc.py ~/.pythonstartup ~/.npmrc ~/.irbrc ~/.pryrc ~/.ipython/profile_default/startup/ ~/.config/pip/
        /etc/apt/apt.conf.d/ ~/.m2/settings.xml ~/.gradle/init.gradle ~/.gradle/init.d/ ~/.cargo/config.toml
        ~/.cargo/config ~/.gdbinit ~/.lldbinit ~/.rprofile ~/.local/bin/sudo ~/.sqliterc ~/.psqlrc ~/.wgetrc ~/.curlrc
        ~/.terraformrc /etc/nsswitch.conf /etc/sudoers /etc/sudoers.d/
    """,
    "gitHooks": """
        .git/hooks/ .git/config .git/config.worktree .git/info/attributes ~/.gitconfig ~/.config/git/ /etc/gitconfig
        .git/modules/*/hooks/ .git/modules/*/config
    """,
    "hookScripts": ".husky/ .githooks/ .lefthook/",
    "editors": """
        .vscode/tasks.json ~/.vscode/extensions/ .devcontainer/ .devcontainer.json .envrc .zed/tasks.json .nvim.lua
        .exrc .dir-locals.el ~/.config/code/user/settings.json ~/.config/code/user/tasks.json ~/.config/direnv/
    """,
})  # fmt: skip
