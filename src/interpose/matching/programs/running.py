"""Options, files and inputs that make a program run something."""

from __future__ import annotations

from .options import words

__all__ = [
    "BUILD_TOOLS",
    "COMMANDS_IN_VALUES",
    "COMMAND_OPTIONS",
    "FILES_READ_BY_NAME",
    "MODULES_THAT_RUN_CODE",
    "READS_COMMANDS",
    "READS_DATA",
    "REST_OPTIONS",
    "RUN_OPTIONS",
    "SETTINGS_PRINTERS",
    "TEXT_OPTIONS",
    "WRITERS",
    "is_sourced_safely",
]

RUN_OPTIONS: dict[str, frozenset[str]] = {
    "ansible": words("--args -a"),
    "apt": words("--option -o"),
    "apt-get": words("--option -o"),
    "bsdtar": words("--use-compress-program"),
    "c++": words("-wrapper"),
    "cargo": words("--config"),
    "cc": words("-wrapper"),
    "clang": words("-wrapper"),
    "dpkg": words("--post-invoke --pre-invoke"),
    "emacs": words("--eval -eval -f"),
    "fzf": words("--bind --preview --preview-window"),
    "g++": words("-wrapper"),
    "gcc": words("-wrapper"),
    "git": words(
        "--commit-filter --env-filter --exec --extcmd --index-filter --msg-filter --open-files-in-pager "
        "--receive-pack --tool --tree-filter --upload-pack -O -x"
    ),
    "git clone": words("-u"),
    "git daemon": words("--access-hook"),
    "git difftool": words("--extcmd -x"),
    "git grep": words("--open-files-in-pager -O"),
    "git rebase": words("--exec -x"),
    "git send-email": words("--cc-cmd --header-cmd --sendmail-cmd --to-cmd"),
    "gnome-terminal": words("-- --command -e -x"),
    "go": words("-exec -toolexec"),
    "hyperfine": words("-C -c -p -s --cleanup --conclude --prepare --setup"),
    "hg": words("--config --remotecmd --ssh"),
    "install": words("--strip-program"),
    "man": words("--html --pager -H -P"),
    "mutt": words("-e"),
    "mysql": words("--pager"),
    "nc": words("-c -e"),
    "ncat": words("--exec --sh-exec -c -e"),
    "nix-shell": words("--command --run"),
    "nodemon": words("--exec -x"),
    "npm exec": words("--call -c"),
    "npm x": words("--call -c"),
    "npx": words("--call -c"),
    "openssl": words("-engine"),
    "prove": words("--exec -e"),
    "psql": words("--command -c"),
    "rg": words("--hostname-bin --pre"),
    "rsync": words("--rsh --rsync-path -e"),
    "scp": words("-D -S -o"),
    "sftp": words("-D -S -o"),
    "sort": words("--compress-program"),
    "split": words("--filter"),
    "sqlite3": words("-cmd"),
    "ssh-keygen": words("-D"),
    "svn": words("--config-option --diff-cmd --diff3-cmd --editor-cmd"),
    "tar": words(
        "--checkpoint-action --info-script --new-volume-script --rmt-command --rsh-command --to-command "
        "--use-compress-program -F -I"
    ),
    "tcpdump": words("-z"),
    "vagrant": words("--command -c"),
    "watchman-make": words("--run"),
    "wget": words("--execute --use-askpass -e"),
    "zip": words("--unzip-command -TT"),
}
"""Options whose value is a command, or sets one."""


COMMAND_OPTIONS: dict[str, frozenset[str]] = {
    "bsdtar": words("--use-compress-program"),
    "c++": words("-wrapper"),
    "cc": words("-wrapper"),
    "clang": words("-wrapper"),
    "fzf": words("--preview"),
    "g++": words("-wrapper"),
    "gcc": words("-wrapper"),
    "git": words(
        "--commit-filter --env-filter --exec --extcmd --index-filter --msg-filter --open-files-in-pager "
        "--parent-filter --receive-pack --tag-name-filter --tree-filter --upload-pack"
    ),
    "git clone": words("-u"),
    "git daemon": words("--access-hook"),
    "git difftool": words("--extcmd -x"),
    "git grep": words("--open-files-in-pager -O"),
    "git rebase": words("--exec -x"),
    "git send-email": words("--cc-cmd --header-cmd --sendmail-cmd --to-cmd"),
    "go": words("-exec -toolexec"),
    "hyperfine": words("-C -c -p -s --cleanup --conclude --prepare --setup"),
    "man": words("--pager -P"),
    "nc": words("-c -e"),
    "ncat": words("--exec --sh-exec -c -e"),
    "netcat": words("-c -e"),
    "nix-shell": words("--command --run"),
    "nodemon": words("--exec -x"),
    "npm exec": words("--call -c"),
    "npm x": words("--call -c"),
    "npx": words("--call -c"),
    "prove": words("--exec -e"),
    "rg": words("--hostname-bin --pre"),
    "rsync": words("--rsh --rsync-path -e"),
    "scp": words("-D -S"),
    "sftp": words("-D -S"),
    "sort": words("--compress-program"),
    "split": words("--filter"),
    "svn": words("--diff-cmd --diff3-cmd --editor-cmd"),
    "tar": words(
        "--info-script --new-volume-script --rmt-command --rsh-command --to-command --use-compress-program -F -I"
    ),
    "tcpdump": words("-z"),
    "vagrant": words("--command -c"),
    "watchman-make": words("--run"),
    "zip": words("--unzip-command -TT"),
}
"""Those of them whose value is wholly a command of a shell, to which the program may add words."""


REST_OPTIONS: dict[str, frozenset[str]] = {
    "alacritty": words("--command -e"),
    "gnome-terminal": words("-- -x"),
    "just": words("--command -c"),
    "konsole": words("-e"),
    "nix": words("--command -c"),
    "terminator": words("--execute -x"),
    "urxvt": words("-e"),
    "xfce4-terminal": words("--execute -x"),
    "xterm": words("-e"),
}
"""Those of them after which all words are one command."""


COMMANDS_IN_VALUES: dict[str, tuple[str, ...]] = {
    "scp": ("ProxyCommand", "KnownHostsCommand", "LocalCommand"),
    "sftp": ("ProxyCommand", "KnownHostsCommand", "LocalCommand"),
    "socat": ("EXEC:", "SYSTEM:", "SHELL:"),
    "ssh": ("ProxyCommand", "KnownHostsCommand", "LocalCommand", "RemoteCommand"),
    "tar": ("exec",),
}
"""Names in the values of other options after which a command stands, with an equals sign, a colon or a blank."""


READS_COMMANDS = words(
    """
    at batch cmd cmd.exe crontab ed ex expect ftp gdb lftp m4 nc ncat parallel psql socat sqlite3 ssh ssh-agent
    tclsh telnet
    """
)
"""Programs that may run what they read from standard input; shells and interpreters do so too."""


READS_DATA = words(
    """
    aws docker gcloud gh git glab gpg helm kubectl openssl pandoc patch podman sort tar terraform wget
    """
)
"""Programs that take what they read for data."""


TEXT_OPTIONS = words(
    """
    --annotation --author --body --comment --commit-message --data --data-binary --data-raw --date --desc
    --description --filter --format --grep --header --jq --label --message --name --note --notes --pretty --prompt
    --query --reason --subject --summary --template --text --title --user-agent -H -m
    """
)
"""Options of known programs whose value is a text that is only stored or sent."""


BUILD_TOOLS = words(
    """
    ansible-playbook ant artisan bazel bun bundle c++ cabal cargo cc clang cmake composer dart deno dotnet dune
    flutter g++ gcc gmake go gradle gradlew hardhat java javac jest kotlinc make meson mix mocha mvn mvnw nim ninja
    nox npm phpunit pnpm pytest rails rake rustc sbt scons stack swift swiftc tox truffle ts-node tsc tsx vite
    vitest webpack yarn zig
    """
)
"""Programs that run, or make a program of, the files that they are given."""


FILES_READ_BY_NAME = words(
    """
    .gitconfig .npmrc .pythonrc BUILD CMakeLists.txt GNUmakefile Gemfile Gruntfile.js Justfile Makefile Rakefile
    WORKSPACE build.gradle build.rs build.zig commit-msg conftest.py gulpfile.js justfile makefile noxfile.py
    package.json pom.xml post-checkout post-commit post-merge pre-commit pre-merge-commit pre-push
    prepare-commit-msg setup.py sitecustomize.py tox.ini usercustomize.py
    """
)
"""Files that a program runs without being told their name."""


WRITERS: dict[str, str] = {
    "base64": "",
    "c++": "-o",
    "cc": "-o",
    "clang": "-o",
    "cp": "",
    "curl": "-o",
    "dd": "of",
    "g++": "-o",
    "gcc": "-o",
    "gunzip": "",
    "install": "",
    "link": "",
    "ln": "",
    "mv": "",
    "patch": "",
    "rustc": "-o",
    "sort": "-o",
    "tee": "",
    "touch": "",
    "truncate": "",
    "wget": "-O",
    "xxd": "",
}
"""Programs that write files: the option that names the file, or empty if the operands do."""


MODULES_THAT_RUN_CODE = words(
    """
    cProfile code pdb profile pty runpy timeit trace
    """
)
"""Modules of Python that run code in their arguments."""


SETTINGS_PRINTERS = tuple(
    tuple(line.split())
    for line in (
        "arkade completion",
        "rg --generate",
        "asdf completion",
        "atuin init",
        "batpipe",
        "brew shellenv",
        "conda shell.bash hook",
        "crc oc-env",
        "crc podman-env",
        "dircolors",
        "direnv export",
        "direnv hook",
        "docker-machine env",
        "doctl completion",
        "flux completion",
        "fnm env",
        "fzf --bash",
        "fzf --zsh",
        "gh completion",
        "goenv init",
        "gpg-agent",
        "gpgconf --create-socketdir",
        "gulp --completion",
        "gcloud completion",
        "helm completion",
        "hook-env",
        "hub alias",
        "jenv init",
        "k3d completion",
        "keychain",
        "kind completion",
        "kubectl completion",
        "lesspipe",
        "luarocks path",
        "mcfly init",
        "minikube -p minikube docker-env",
        "minikube completion",
        "minikube docker-env",
        "mise activate",
        "navi widget",
        "nvm completion",
        "nodenv init",
        "npm completion",
        "oc completion",
        "opam config env",
        "opam env",
        "perl -I",
        "poetry env activate",
        "pip completion",
        "pipenv --completion",
        "pyenv init",
        "pyenv virtualenv-init",
        "rbenv init",
        "register-python-argcomplete",
        "rtx activate",
        "sheldon source",
        "ssh-agent",
        "starship init",
        "plenv init",
        "phpenv init",
        "stern --completion",
        "thefuck --alias",
        "tk complete",
        "zoxide init",
    )
)
"""Commands that print settings for a shell to evaluate."""


_SAFE_SOURCES = tuple(
    """
    bin/activate bin/activate.fish bin/activate.csh Scripts/activate .bashrc .bash_profile .zshrc .profile .zprofile
    .zshenv .cargo/env .nvm/nvm.sh /etc/profile /etc/bash_completion /etc/os-release /etc/environment
    setup.bash setup.zsh
    """.split()  # noqa: SIM905 - a table
)


def is_sourced_safely(path: str) -> bool:
    """Return whether a sourced file is usually one that a program wrote: ``.venv/bin/activate``, ``~/.bashrc``."""
    return any(path == end or path.endswith("/" + end.lstrip("/")) for end in _SAFE_SOURCES)
