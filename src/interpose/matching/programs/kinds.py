"""Programs by what is known of their words."""

from __future__ import annotations

from .options import words

__all__ = [
    "BUILTINS",
    "EVALUATING_BUILTINS",
    "GIT_TEXT_SUBCOMMANDS",
    "INERT",
    "INTERPRETERS",
    "KNOWN",
    "PRODUCERS",
    "SHELLS",
    "SUBCOMMAND_WORDS",
    "is_known_program",
]

SHELLS = words(
    """
    ash bash csh dash fish ksh lksh mksh pdksh posh rbash sh tcsh yash zsh
    """
)


INTERPRETERS: dict[str, str] = {
    "python": "c",
    "py": "c",
    "python2": "c",
    "python3": "c",
    "pypy": "c",
    "pypy3": "c",
    "perl": "eE",
    "ruby": "e",
    "node": "ep",
    "nodejs": "ep",
    "bun": "e",
    "deno": "",
    "php": "rBRE",
    "lua": "e",
    "luajit": "e",
    "Rscript": "e",
    "R": "e",
    "julia": "eE",
    "tclsh": "",
    "wish": "",
    "expect": "c",
    "osascript": "e",
    "pwsh": "cC",
    "powershell": "cC",
    "groovy": "e",
    "scala": "e",
    "ghc": "e",
    "guile": "c",
    "racket": "e",
    "elixir": "e",
    "erl": "",
    "jshell": "",
    "jrunscript": "e",
    "ipython": "c",
    "irb": "",
    "clojure": "e",
    "clj": "e",
    "sbcl": "",
    "ocaml": "e",
    "psysh": "",
    "raku": "e",
}
"""Programs that run code in another language, which is not read."""


INERT = words(
    """
    : [ [[ ack addgroup adduser ag arch b2sum base32 base64 basename basenc bat bg break bunzip2 bzcat bzgrep bzip2
    cal caller cat cd chattr chgrp chmod chown cksum clear cloc cmp col colordiff column comm continue cowsay cp
    csplit curl cut cygpath date dd declare df diff dig dir dirname dirs disown dmesg dos2unix du echo egrep exa
    exit expand export expr eza factor fallocate false fg fgrep figlet file fmt fold free fuser getconf getent
    getfacl getopts grep groupadd groups gunzip gzip halt hash head hexdump hexyl host hostid hostname hostnamectl
    htop iconv id ifconfig install jobs join jq kill killall last ldconfig ldd let link ln local locale locale-gen
    localectl loginctl logname logout lolcat ls lsattr lsb_release lsblk lscpu lsmod lsof lspci lsusb lz4 lzcat lzma
    md5 md5deep md5sum mkdir mkfifo mknod mkswap mktemp modprobe more mount mtr mv neofetch netstat nl nm
    notify-send nproc nslookup ntpdate numfmt objdump od open open-url passwd paste pathchk pbcopy pbpaste pgrep
    pidof ping ping6 pip-compile pkill popd poweroff pr printenv printf ps pstree pushd pv pwd pwdx pygmentize read
    readelf readlink readonly realpath reboot renice reset return rev rg rm rmdir say seq set sha1sum sha224sum
    sha256sum sha384sum sha3sum sha512sum shasum shift shopt shred shuf shutdown size sleep ss stat strings strip
    stty sum suspend swapoff swapon sync sysctl tac tail tee test timedatectl times tokei top touch tput tr
    tracepath traceroute tree true truncate tsort tty type typeset ugrep ulimit umask umount unalias uname unexpand
    uniq unix2dos unlink unlz4 unlzma unset unxz unzip unzstd uptime useradd usermod users vdir vmstat w wait wc
    whatis whereis which who whoami wslpath xclip xsel xxd xz xzcat xzgrep yes zcat zgrep zstd zstdcat
    """
)
"""Programs that run none of their arguments, and not what they are given to read."""


PRODUCERS = words(
    """
    base64 cat echo gunzip head printf rev tail tee tr xxd yes zcat
    """
)
"""Inert programs whose output a line can choose."""


KNOWN = words(
    """
    7z 7za a2dissite a2enmod a2ensite ab act actionlint adb add-apt-repository agda age air alembic amplify anchor
    ansible ansible-galaxy ansible-playbook ant antora anvil apache2 apachectl apk apt apt-cache apt-get apt-key
    apt-mark aptitude ar arduino-cli argocd aria2c artisan as asciidoctor asdf atlas atom autoconf autogen.sh
    automake autopep8 autoreconf ava avrdude awk aws az bandit bazel bazelisk bibtex black blender blkid boot
    boundary bower bq brew brownie bsdtar buck buf buildah bumpversion bundle bundler bunx-known bzr c++ cabal caddy
    cargo carthage cast catkin catkin_make cc cdk cdktf celery certbot cfdisk changeset changesets checkov chef
    chezmoi chkconfig choco chruby civo clang clang++ clang-format clang-tidy clickhouse clickhouse-client
    cloudflared cmake cockroach code codesign codespell colcon colima composer conan conda configure consul convert
    cookiecutter coqc cordova coverage cpack cpan cpanm cpio cppcheck cqlsh craft create-react-app createdb
    createuser crictl cross crystal csc ctags ctest ctr cvs cypress dart ddev defaults dep dfu-util direnv diskutil
    django-admin dlv dnf docker docker-compose docker-credential-gcloud docker-entrypoint.sh docker-machine doctl
    docusaurus dot dotnet dotnet-ef dotnet-format doxygen dpkg dpkg-reconfigure dropdb drupal drush dune dvc e2fsck
    easy_install eb eksctl elan elasticsearch electron electron-builder elm emacs ember emerge eopkg esbuild eslint
    esptool esptool.py esy etcdctl exiftool expo fab fastboot fastlane fdisk ffmpeg ffprobe firebase firewall-cmd
    flake8 flask flatpak flit flutter flux fly flyctl fnm foreman forge fossil fourmolu ftp g++ ganache ganache-cli
    gatsby gatsby-cli gawk gazebo gcc gcloud gcov gdisk gedit gem getcap geth gfortran gh ghci gimp git git-flow
    git-lfs git-secret gitbook gitleaks glab gleam glide gmake go godot gofmt golangci-lint golint goose goreleaser
    gotestsum gox gpg gpg2 gradle gradlew grails growpart grunt grype gs gsutil guix gulp gunicorn hadolint haproxy
    hardhat hatch hcloud hdiutil helm heroku hex hexo hey hg hlint hoogle hostnamectl htpasswd http http-server
    httpd httpie https hub huggingface-cli hugo husky ibmcloud identify idf.py idris ign ignite influx info initctl
    initdb inkscape invoke ionic ip6tables ipfs iptables isort istioctl jar java javac jekyll jest jhipster
    journalctl jpegoptim jruby json-server jupyter jupyter-lab jupyter-notebook just just-install k3d k3s k6 k9s
    kafka-topics kafka-topics.sh kaggle karma keytool kibana kind knife kops kotlin kotlinc kubeadm kubectl kubectx
    kubens kustomize lake lando laravel latex latexmk launchctl lazygit lcov ld lean lein lerna less libtool lima
    limactl linkerd linode-cli lint-staged lipo live-server llama-cli locale-gen localtunnel locust logrotate
    logstash luarocks lvcreate mage magento magick mail make makepkg mamba man mariadb markdownlint mas maturin mawk
    mcs mdbook memcached meson meteor microdnf micromamba micronaut migrate mill minicom minikube mint mise mix
    mkdocs mkfs mkvirtualenv mlflow mocha mockgen mogrify mongo mongod mongodump mongoimport mongorestore mongosh
    mono mosquitto_pub mosquitto_sub msbuild mutt mvn mvnw mypy mysql mysqladmin mysqld mysqldump n nano nasm nats
    nats-server nawk ncu near nerdctl nest netlify networksetup next ng nginx ngrok nim nimble ninja nix-build
    nix-channel nix-collect-garbage nix-env nmap node-gyp nodemon nomad nosetests nox npm npm-check-updates nuget
    nuxt nvcc nvidia-docker nvidia-smi nvim nvm nvtop nx objcopy oc ocamlfind oci odin ollama opam open openocd
    openssl optipng ormolu otool packer pacman paket pandoc parcel parted partprobe paru pass patch pbcopy pdflatex
    pdm pecl periphery pg_ctl pg_dump pg_restore php-config phpcs phpenmod phpize phpstan phpunit picotool pio pip
    pip-sync pip3 pipx pkg pkg-config pkg_add platformio playwright plesk plutil pm2 pngquant pnpm pod podman poetry
    poetry-core polymer port postgres potrace pre-commit premake5 prettier protoc psalm psql pub pulumi puma puppet
    purs pyenv pylint pytest qmake quarkus rabbitmqctl rackup rails railway rake ranlib rar rbenv rc-service rclone
    react-native rebar3 redis redis-cli redis-server release-it render resize2fs rocm-smi rollup ros2 roscore rosdep
    roslaunch rosrun rpm rspec rsync rubocop ruff rush rustc rustfmt rustup rviz rvm rye s3cmd sail sails salt sam
    sbt scalac scons scoop scp scrapy scutil scw security sed semantic-release semgrep sendmail serve serverless
    service setcap setfacl sftp sgdisk shards shellcheck shfmt siege skaffold skopeo slither sls snap snyk
    softwareupdate solana solc sonar-scanner sops sort sourcery sox spago spctl sphinx-build sphinx-quickstart split
    spring sqlc sqlite3 ssh-add ssh-copy-id ssh-keygen ssh-keyscan st-flash stack standard standard-version starport
    statamic steamcmd storybook stow strapi streamlit stringer stylelint subl substrate supabase supervisorctl svgo
    svn sw_vers swag swift swiftc swiftformat swiftlint swupd syft symfony systemctl tape tar task tcpdump tdnf
    telnet templ tensorboard terraform terraform-docs terragrunt tesseract tflint thor tig tilt timedatectl
    tmuxinator tofu torchserve tox traefik transformers-cli tree-sitter trivy truffle trufflehog trunk ts-node tsc
    tshark tslint tsx tuist turbo twine ufw unicorn unity unrar update-alternatives update-rc.d urpmi uv uvicorn
    vagrant vale valet vault vcpkg vegeta velero venv vercel vi vim virtualenv visudo vite vitest vlang volta vue
    waf wandb wasm-pack webpack west wget winget wipefs wire wireshark workon wp wp-cli wrangler wrk xbps-install
    xcode-select xcodebuild xcodegen xcrun xdg-open xelatex xmake xo yalc yamllint yapf yarn yay yo youtube-dl
    yt-dlp yum zig zip zookeeper zypper
    """
)
"""Programs whose words are subcommands, files and names, except where another table says that they are commands."""


SUBCOMMAND_WORDS = words(
    """
    add build clean deploy find format install link publish run search start stop test time update watch
    """
)
"""Names of programs that are also usual subcommands; after an unknown program they are most likely that."""


BUILTINS = words(
    """
    . : [ [[ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable
    eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd
    pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask
    unalias unset wait
    """
)
"""What a shell does itself, whatever the PATH is."""


EVALUATING_BUILTINS = words(
    """
    [ [[ declare export getopts let local mapfile printf read readarray readonly test typeset unset wait
    """
)
"""Builtins that evaluate the subscript in the name of a variable."""


GIT_TEXT_SUBCOMMANDS = words("blame commit config diff grep log merge notes rev-list shortlog show stash tag")
"""Subcommands of git whose texts are messages, patterns and values."""


def is_known_program(name: str) -> bool:
    """Return whether a program's words are known: it is no wrapper, no shell and no interpreter."""
    return name in INERT or name in KNOWN
