"""What is known about programs: which of their words are commands, files or subcommands, and how options are spelled.

One place for everything that reads command lines. A program that is in none of these tables is *unknown*: each of its
arguments may be a command that it runs.

Options are written as for ``getopt``: single letters, a colon after those with a value; after a blank the long names,
with ``=`` after those with a value. Options that mean the same are joined by a comma in ``SPELLINGS``.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

__all__ = [
    "BUILD_TOOLS", "BUILTINS", "COMMANDS_IN_VALUES", "COMMAND_OPTIONS", "COMMAND_VARIABLES",
    "DIRECTORY_VARIABLES", "DOCKER_FLAGS", "EVALUATING_BUILTINS",
    "FILES_READ_BY_NAME", "FILE_VARIABLES", "GIT_TEXT_SUBCOMMANDS", "GLOBAL_OPTIONS", "INERT", "INTERPRETERS", "KNOWN",
    "MODULES_THAT_RUN_CODE", "OPTION_VARIABLES", "PRODUCERS", "READS_COMMANDS", "READS_DATA",
    "REST_OPTIONS", "RUN_OPTIONS",
    "SETTINGS_PRINTERS", "SHELLS", "SHELL_WITHOUT_COMMAND", "SPELLINGS", "SUBCOMMAND_WORDS", "TEXT_OPTIONS",
    "TEXT_WRAPPERS", "WRAPPERS", "WRITERS", "Options", "Wrapper", "is_known_program", "is_sourced_safely",
    "options_of", "spellings_of",
]  # fmt: skip


class Options(NamedTuple):
    """The options of a program: those without and those with a value, letters and long names alike."""

    flags: frozenset[str]
    valued: frozenset[str]


class Wrapper(NamedTuple):
    """A program that runs the command in its arguments."""

    options: str = ""
    skipped: int = 0
    """The number of operands before the command."""
    assigns: bool = False
    """Whether ``NAME=value`` may stand before the command."""
    elsewhere: bool = False
    """Whether the command runs on another machine or in a container, or may be an argument of its own."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


@cache
def options_of(spec: str) -> Options:
    """Return the options of a getopt-like text."""
    letters, _, names = spec.partition(" ")
    valued = {letter for at, letter in enumerate(letters) if letters[at + 1 : at + 2] == ":"}
    valued |= {name[:-1] for name in names.split() if name.endswith("=")}
    flags = {letter for letter in letters if letter != ":"} | {name for name in names.split() if not name.endswith("=")}
    return Options(frozenset(flags - valued), frozenset(valued))


SHELLS = _names(
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

INERT = _names(
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

PRODUCERS = _names(
    """
    base64 cat echo gunzip head printf rev tail tee tr xxd yes zcat
    """
)
"""Inert programs whose output a line can choose."""

KNOWN = _names(
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

GLOBAL_OPTIONS: dict[str, str] = {
    "git": (
        "C:c:pPhv git-dir= work-tree= namespace= exec-path= super-prefix= config-env= list-cmds= attr-source= "
        "paginate no-pager bare no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs "
        "icase-pathspecs no-optional-locks html-path man-path info-path version help"
    ),
    "docker": "c:DH:l:v config= context= debug host= log-level= tls tlscacert= tlscert= tlskey= tlsverify version help",
    "podman": "c:r connection= log-level= identity= remote url= root= runroot= storage-driver= storage-opt=",
    "docker-compose": (
        "f:p:H:v file= project-name= profile= env-file= project-directory= host= verbose ansi= no-ansi "
        "compatibility context= parallel="
    ),
    "kubectl": (
        "n:s:v: namespace= context= cluster= kubeconfig= user= server= token= as= as-group= request-timeout= "
        "insecure-skip-tls-verify certificate-authority= client-key= client-certificate= cache-dir= "
        "match-server-version username= password="
    ),
    "helm": "n: namespace= kube-context= kubeconfig= debug registry-config= repository-config= repository-cache=",
    "npm": (
        "gsdC:w: prefix= registry= userconfig= globalconfig= cache= loglevel= silent quiet verbose global "
        "workspace= workspaces no-workspaces include-workspace-root production legacy-peer-deps force otp= "
        "tag= access= scope= dry-run json long yes"
    ),
    "pnpm": (
        "rC:wF: recursive dir= filter= workspace-root silent loglevel= stream parallel use-stderr color "
        "no-color registry= store-dir="
    ),
    "yarn": "s cwd= silent verbose registry= cache-folder= modules-folder= no-progress offline ignore-engines json",
    "pip": (
        "qvh quiet verbose isolated require-virtualenv python= log= proxy= retries= timeout= exists-action= "
        "trusted-host= cert= client-cert= cache-dir= no-cache-dir disable-pip-version-check no-color "
        "no-python-version-warning use-feature= use-deprecated= no-input debug"
    ),
    "pip3": (
        "qvh quiet verbose isolated require-virtualenv python= log= proxy= retries= timeout= exists-action= "
        "trusted-host= cert= client-cert= cache-dir= no-cache-dir disable-pip-version-check no-color "
        "use-feature= no-input debug"
    ),
    "cargo": "qvVZ:C: quiet verbose color= config= locked offline frozen list manifest-path=",
    "go": "C:",
    "gh": "R: repo= hostname= help version",
    "aws": (
        "region= profile= output= endpoint-url= query= no-verify-ssl no-paginate debug color= ca-bundle= "
        "cli-read-timeout= cli-connect-timeout= no-sign-request no-cli-pager"
    ),
    "gcloud": "q project= account= configuration= quiet verbosity= format= impersonate-service-account= zone= region=",
    "terraform": " chdir= version help",
    "systemctl": (
        "qaln:o:H:M:t:p: user system quiet no-pager no-block now force host= machine= type= property= all "
        "full lines= root= runtime global"
    ),
    "apt-get": (
        "qyfdsmuVht:c:o:a: quiet yes assume-yes no-install-recommends option= target-release= config-file= "
        "allow-unauthenticated fix-broken simulate dry-run download-only fix-missing reinstall"
    ),
    "apt": (
        "qyfdsmuVht:c:o:a: quiet yes assume-yes no-install-recommends option= target-release= config-file= "
        "allow-downgrades fix-broken"
    ),
    "yum": "yqvc:d:e: assumeyes quiet enablerepo= disablerepo= exclude= installroot= nogpgcheck releasever= setopt=",
    "dnf": (
        "yqvc:d:e: assumeyes quiet enablerepo= disablerepo= exclude= installroot= nogpgcheck refresh "
        "releasever= setopt= best allowerasing"
    ),
    "brew": "dqv debug quiet verbose",
    "svn": "q username= password= no-auth-cache non-interactive trust-server-cert config-dir= config-option= quiet",
    "hg": "R:qvyn repository= cwd= config= noninteractive quiet verbose debug",
    "composer": "d:nqv working-dir= no-interaction quiet verbose no-plugins no-scripts profile no-cache ansi no-ansi",
    "poetry": "C:P:qvn directory= project= quiet verbose no-interaction no-ansi no-plugins no-cache",
    "make": "",
    "bundle": "V verbose no-color retry=",
    "gem": "",
    "conda": "hV",
    "vagrant": "",
    "heroku": "a: app=",
    "dotnet": "d diagnostics",
    "snap": "",
    "flatpak": "v user system installation=",
    "gsutil": "mqDo:h:u:",
    "az": "o: output= subscription= query= verbose debug only-show-errors",
    "ip": "46Bbsdohj n: netns= family= oneline batch= color json pretty",
}
"""Options before a program's subcommand; the program is judged as if they were not there."""

SPELLINGS: dict[str, str] = {
    "rm": "r,R,recursive f,force i I,interactive v,verbose d,dir one-file-system no-preserve-root preserve-root",
    "cp": (
        "r,R,recursive a,archive f,force i,interactive n,no-clobber p v,verbose u,update L P d T "
        "t=,target-directory= S=,suffix="
    ),
    "mv": "f,force i,interactive n,no-clobber v,verbose u,update T t=,target-directory= S=,suffix=",
    "chmod": "R,recursive f,silent,quiet v,verbose c,changes reference=",
    "chown": "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P reference= from=",
    "chgrp": "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P reference=",
    "mkdir": "p,parents m=,mode= v,verbose",
    "rmdir": "p,parents v,verbose",
    "ln": "s,symbolic f,force n,no-dereference v,verbose r,relative T",
    "ls": "a,all A,almost-all l h,human-readable r,reverse R,recursive t S 1 d,directory i,inode s,size",
    "kill": "s=,signal= l,list n= 9,KILL,SIGKILL 15,TERM,SIGTERM 1,HUP,SIGHUP",
    "shred": "u v,verbose z,zero f,force n=,iterations=",
    "git push": (
        "f,force d,delete u,set-upstream n,dry-run q,quiet v,verbose all mirror tags follow-tags prune "
        "no-verify force-with-lease o=,push-option= repo= 4 6"
    ),
    "git reset": "hard soft mixed merge keep q,quiet p,patch N",
    "git clean": "f,force d x X n,dry-run q,quiet i,interactive e=,exclude=",
    "git checkout": "f,force b= B= q,quiet p,patch t,track detach orphan= m,merge theirs ours",
    "git switch": "f,force,discard-changes c=,create= C=,force-create= d,detach",
    "git branch": "D d,delete f,force m,move M a,all r,remotes v,verbose",
    "git commit": "a,all m=,message= n,no-verify amend s,signoff q,quiet v,verbose F=,file= C= c= no-edit",
    "git rm": "f,force r cached n,dry-run q,quiet",
    "git tag": "d,delete f,force a,annotate m=,message= s,sign l,list",
    "git stash": "u,include-untracked a,all k,keep-index",
    "docker rm": "f,force v,volumes l,link",
    "docker rmi": "f,force no-prune",
    "docker system prune": "a,all f,force volumes filter=",
    "kubectl delete": "f=,filename= l=,selector= A,all-namespaces all force n=,namespace= now grace-period=",
    "npm install": "g,global D,save-dev S,save E,save-exact O,save-optional f,force",
    "npm publish": "tag= access= dry-run otp= f,force",
    "pip install": (
        "U,upgrade e=,editable= r=,requirement= t=,target= user q,quiet pre no-deps force-reinstall "
        "i=,index-url= c=,constraint="
    ),
    "curl": (
        "f,fail s,silent S,show-error L,location o=,output= O,remote-name X=,request= H=,header= d=,data= "
        "k,insecure v,verbose u=,user= I,head F=,form= T=,upload-file= x=,proxy= A=,user-agent= e=,referer= "
        "b=,cookie= c=,cookie-jar= m=,max-time= w=,write-out= i,include g,globoff N,no-buffer 4 6 G,get C="
    ),
    "wget": (
        "q,quiet O=,output-document= P=,directory-prefix= c,continue r,recursive N,timestamping "
        "no-check-certificate nc,no-clobber"
    ),
    "rsync": (
        "a,archive v,verbose z,compress r,recursive n,dry-run delete e=,rsh= P h u l p t g o D exclude= "
        "include= progress"
    ),
    "tar": "x,extract,get c,create t,list f=,file= z,gzip j,bzip2 J,xz v,verbose C=,directory= p",
    "apt-get install": "y,yes,assume-yes q,quiet f,fix-broken no-install-recommends",
    "apt install": "y,yes,assume-yes q,quiet f,fix-broken no-install-recommends",
    "terraform apply": "auto-approve var= var-file= target=",
    "terraform destroy": "auto-approve var= var-file= target=",
    "systemctl stop": "now f,force",
    "crontab": "r e l i u=",
    "pkill": "f,full 9,KILL,SIGKILL u= x,exact",
    "killall": "9,KILL,SIGKILL q,quiet u= w,wait",
}
"""Options that a rule names, each with all its spellings. A key is a program and its subcommand."""

WRAPPERS: dict[str, Wrapper] = {
    "arch": Wrapper("e: x86_64 arm64 i386"),
    "asdf exec": Wrapper(),
    "aws-vault exec": Wrapper("d:nj duration= no-session", skipped=1),
    "builtin": Wrapper(),
    "bun x": Wrapper(" bun"),
    "bundle exec": Wrapper(" keep-file-descriptors gemfile="),
    "bunx": Wrapper(" bun"),
    "busybox": Wrapper(),
    "bwrap": Wrapper(" unshare-all unshare-net unshare-pid die-with-parent new-session chdir= dev= proc= tmpfs="),
    "caffeinate": Wrapper("disut:w:"),
    "catatonit": Wrapper(),
    "catchsegv": Wrapper(),
    "cgexec": Wrapper("g: sticky"),
    "chamber exec": Wrapper(skipped=1),
    "choom": Wrapper("n:p: adjust= pid="),
    "chpst": Wrapper("u:U:e:nl:b:/:m:d:o:p:f:c:P012v"),
    "chronic": Wrapper("ev"),
    "chroot": Wrapper(" groups= userspec= skip-chdir", skipped=1),
    "chrt": Wrapper("abdfiorvRT:P:D: all-tasks batch deadline fifo idle other rr verbose reset-on-fork", skipped=1),
    "cmake -E env": Wrapper(assigns=True),
    "command": Wrapper("p"),
    "concurrently": Wrapper(
        "krn:c:s:m:p:t:l:i kill-others kill-others-on-fail names= success= prefix= max-processes= raw"
    ),
    "conda run": Wrapper("n:p: name= prefix= no-capture-output live-stream cwd="),
    "coproc": Wrapper(),
    "cpulimit": Wrapper("l:p:e:zbi"),
    "cross-env": Wrapper(assigns=True),
    "cross-env-shell": Wrapper(assigns=True),
    "daemon": Wrapper("n:u:D:r name= user= chdir= respawn"),
    "daemonize": Wrapper("ap:l:c:e:o:E:u:v"),
    "dbus-launch": Wrapper(" exit-with-session"),
    "dbus-run-session": Wrapper(" config-file= dbus-daemon="),
    "direnv exec": Wrapper(skipped=1),
    "distrobox-enter": Wrapper(),
    "doas": Wrapper("C:Lnsu:", assigns=True),
    "docker compose exec": Wrapper(
        "dTitu:w:e: detach user= workdir= env= index= privileged no-TTY interactive tty", skipped=1, elsewhere=True
    ),
    "docker compose run": Wrapper(
        (
            "dTitu:w:e:v:p:l: rm detach user= workdir= env= volume= publish= service-ports no-deps "
            "entrypoint= name= use-aliases label= build no-TTY interactive quiet-pull remove-orphans"
        ),
        skipped=1,
        elsewhere=True,
    ),
    "docker exec": Wrapper(
        "ditu:w:e: detach interactive tty user= workdir= env= env-file= privileged detach-keys=",
        skipped=1,
        elsewhere=True,
    ),
    "docker-compose exec": Wrapper(
        "dTu:w:e: detach user= workdir= env= index= privileged no-TTY", skipped=1, elsewhere=True
    ),
    "docker-compose run": Wrapper(
        (
            "dTu:w:e:v:p:l: rm detach user= workdir= env= volume= publish= service-ports no-deps entrypoint= "
            "name= use-aliases label= build no-TTY quiet-pull"
        ),
        skipped=1,
        elsewhere=True,
    ),
    "doppler run": Wrapper("p:c: project= config= command="),
    "dotenv": Wrapper("e:f:q override"),
    "dotenvx run": Wrapper("f:"),
    "dumb-init": Wrapper("cvr:"),
    "eatmydata": Wrapper(),
    "entr": Wrapper("acdnprsz"),
    "env": Wrapper(
        "0iu:C:v ignore-environment null unset= chdir= debug block-signal default-signal ignore-signal", assigns=True
    ),
    "exec": Wrapper("a:cl"),
    "fakechroot": Wrapper(),
    "fakeroot": Wrapper("l:s:i:ub: lib= faked="),
    "faketime": Wrapper("fmp: exclude-monotonic", skipped=1),
    "firejail": Wrapper(" quiet noprofile private net= profile="),
    "flatpak-spawn": Wrapper(" host"),
    "git bisect run": Wrapper(),
    "gosu": Wrapper(skipped=1),
    "gtime": Wrapper("af:o:pqvl append format= output= portability quiet verbose"),
    "gtimeout": Wrapper("fk:ps:v foreground kill-after= preserve-status signal= verbose", skipped=1),
    "hatch run": Wrapper(),
    "heaptrack": Wrapper("do:r use-inject output="),
    "heroku run": Wrapper("a:s:x app= size= remote= no-tty exit-code type=", elsewhere=True),
    "hyperfine": Wrapper(
        "w:r:m:M:p:c:iN warmup= runs= min-runs= prepare= cleanup= ignore-failure export-markdown= "
        "export-json= shell= style="
    ),
    "i386": Wrapper("vRFZLXBI3T"),
    "ionice": Wrapper("c:n:t class= classdata= ignore"),
    "ip netns exec": Wrapper(skipped=1),
    "jobs -x": Wrapper(),
    "kubectl debug": Wrapper("itc: image= target=", skipped=1, elsewhere=True),
    "kubectl exec": Wrapper(
        "itc:n:qf: stdin tty container= namespace= quiet filename= context=", skipped=1, elsewhere=True
    ),
    "ld.so": Wrapper(
        " argv0= audit= glibc-hwcaps-mask= glibc-hwcaps-prepend= inhibit-cache inhibit-rpath= library-path= list "
        "preload= verify"
    ),
    "linux32": Wrapper("vRFZLXBI3T"),
    "linux64": Wrapper("vRFZLXBI3T"),
    "logsave": Wrapper("asv", skipped=1),
    "ltrace": Wrapper("a:A:bcCD:e:fF:hiL:l:n:o:p:rs:StTu:Vw:x:"),
    "lxc exec": Wrapper(" cwd= env= user= mode= project=", skipped=1, elsewhere=True),
    "machinectl shell": Wrapper(skipped=1, elsewhere=True),
    "mamba run": Wrapper("n:p: name= prefix="),
    "memusage": Wrapper("p:d:ut:x:y:n: progname= png= data= unbuffered timer total"),
    "micromamba run": Wrapper("n:p: name= prefix="),
    "mise exec": Wrapper("c:j:"),
    "mise x": Wrapper("c:j:"),
    "mpiexec": Wrapper("n:H:c: np= host= hostfile="),
    "mpirun": Wrapper("n:H:c: np= host= hostfile= oversubscribe allow-run-as-root bind-to= map-by= mca="),
    "msgexec": Wrapper("i:D: input= directory="),
    "msgfilter": Wrapper("i:o:D: input= output-file="),
    "nerdctl exec": Wrapper("ditu:w:e:", skipped=1, elsewhere=True),
    "nice": Wrapper("n:0123456789 adjustment="),
    "nohup": Wrapper(),
    "not": Wrapper(),
    "npm exec": Wrapper("yp:w: yes package= workspace="),
    "npm x": Wrapper("yp:w: yes package= workspace="),
    "npx": Wrapper(
        "yqp:c-n: yes no quiet package= no-install ignore-existing userconfig= shell= npm= legacy-peer-deps"
    ),
    "nsenter": Wrapper(
        "at:muinpCUTS:G:rwFZ all target= mount uts ipc net pid cgroup user time root= wd= "
        "preserve-credentials no-fork setuid= setgid="
    ),
    "numactl": Wrapper("i:N:C:m:lp: interleave= cpunodebind= physcpubind= membind= localalloc preferred="),
    "oc exec": Wrapper("itc:n: stdin tty container= namespace=", skipped=1, elsewhere=True),
    "oc rsh": Wrapper("c:n: container= namespace=", skipped=1, elsewhere=True),
    "op run": Wrapper(" env-file= no-masking"),
    "optirun": Wrapper(),
    "parallel": Wrapper(
        "0a:C:d:D:E:gi:I:j:kl:L:mn:N:P:pqrs:S:tTuU:vX arg-file= arg-sep= bar block= citation colsep= delay= delimiter= "
        "dry-run dryrun eta fg group halt= header= jobs= joblog= keep-order line-buffer linebuffer load= max-args= "
        "max-chars= max-lines= max-procs= max-replace-args= memfree= nice= no-notice no-run-if-empty null pipe "
        "progress quote recend= recstart= results= resume retries= rpl= shuf silent sshlogin= tag tagstring= timeout= "
        "tmpdir= trim= tty ungroup verbose wc will-cite workdir= wd= xargs"
    ),
    "pdm run": Wrapper("sg:p:"),
    "perf mem record": Wrapper(),
    "perf record": Wrapper("e:F:ago:p:c:t: call-graph= event= freq= all-cpus output="),
    "perf stat": Wrapper("e:r:dvao:x:p:I: event= repeat= detailed all-cpus output="),
    "perf trace": Wrapper("e:s"),
    "pg_virtualenv": Wrapper("actv:o:"),
    "pipenv run": Wrapper(),
    "pipx run": Wrapper("v spec= no-cache python= pip-args= index-url= verbose"),
    "pkexec": Wrapper(" user= disable-internal-agent keep-cwd"),
    "pnpm dlx": Wrapper(" package= silent"),
    "pnpm exec": Wrapper("rcC: recursive parallel filter="),
    "pnpx": Wrapper(" package= silent"),
    "podman exec": Wrapper(
        "ditu:w:e: detach interactive tty user= workdir= env= env-file= privileged latest", skipped=1, elsewhere=True
    ),
    "poetry run": Wrapper(),
    "primusrun": Wrapper(),
    "prlimit": Wrapper("p:vo: pid= output= noheadings raw verbose core nofile= nproc= as= cpu= fsize= stack= data="),
    "proot": Wrapper("r:b:q:w:k:0S:R: rootfs= bind= pwd= cwd="),
    "proxychains": Wrapper("qf:"),
    "proxychains4": Wrapper("qf:"),
    "pyenv exec": Wrapper(),
    "rbenv exec": Wrapper(),
    "rlwrap": Wrapper("aAbcCDeEfFgGhHiIlmMnNopPqrRsStTuUvVwWXz"),
    "run-one": Wrapper(),
    "run0": Wrapper("u:g:D: user= group= chdir= setenv="),
    "runcon": Wrapper("ct:u:r:l: compute type= user= role= range=", skipped=1),
    "rye run": Wrapper(),
    "s6-setuidgid": Wrapper(skipped=1),
    "schroot": Wrapper("c:u:d: chroot= user= directory= session= run-session"),
    "screen": Wrapper("dmDLS:s:t:T:c:e:h:RrxXUa"),
    "setarch": Wrapper("vRFZLXBI3T list 4gb addr-no-randomize uname-2.6", skipped=1),
    "setpriv": Wrapper(
        " ruid= euid= rgid= egid= reuid= regid= clear-groups keep-groups init-groups groups= inh-caps= "
        "ambient-caps= bounding-set= no-new-privs pdeathsig= reset-env selinux-label= apparmor-profile= "
        "dump nnp securebits="
    ),
    "setsid": Wrapper("cfw ctty fork wait"),
    "setuidgid": Wrapper(skipped=1),
    "softlimit": Wrapper("m:d:s:l:a:o:p:f:c:r:t:"),
    "sotruss": Wrapper("F:T:eo:f from= to= exit output= follow"),
    "shx": Wrapper(),
    "srun": Wrapper("n:N:p:t:c: gres= mem= pty ntasks= nodes= partition= time="),
    "ssh-agent": Wrapper("csDda:E:O:P:t:"),
    "stdbuf": Wrapper("i:o:e: input= output= error="),
    "strace": Wrapper("a:b:cCdDe:E:fFhiI:kno:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ"),
    "su-exec": Wrapper(skipped=1),
    "sudo": Wrapper(
        (
            "AbBC:D:Eg:Hh:iknNPp:r:R:sSt:T:u:U: user= group= chdir= host= prompt= preserve-env "
            "non-interactive login shell set-home stdin reset-timestamp background askpass close-from= "
            "chroot= role= type="
        ),
        assigns=True,
    ),
    "supervise": Wrapper(),
    "systemd-cat": Wrapper("t:p: identifier= priority= stderr-priority= level-prefix="),
    "systemd-inhibit": Wrapper(" what= who= why= mode= no-pager no-legend"),
    "systemd-nspawn": Wrapper("D:M:u:bq directory= machine= user= boot quiet bind=", elsewhere=True),
    "systemd-run": Wrapper(
        "dE:GHM:p:PqrStu: collect gid= nice= pipe property= pty quiet same-dir scope setenv= slice= uid= "
        "unit= user wait shell no-block system service-type= on-active= on-calendar= description= "
        "working-directory="
    ),
    "taskset": Wrapper("ac all-tasks cpu-list", skipped=1),
    "time": Wrapper("af:o:pqvl append format= output= portability quiet verbose"),
    "timeout": Wrapper("fk:ps:v foreground kill-after= preserve-status signal= verbose", skipped=1),
    "tini": Wrapper("svgwp:e:"),
    "toolbox run": Wrapper("c: container="),
    "torify": Wrapper(),
    "torsocks": Wrapper(),
    "toybox": Wrapper(),
    "trickle": Wrapper("d:u:sw:t:l:n:"),
    "tsocks": Wrapper(),
    "tsp": Wrapper("nfmdL:"),
    "uclampset": Wrapper("m:M:avVR"),
    "unbuffer": Wrapper("p"),
    "unshare": Wrapper(
        "cCfG:imnprR:S:TuUw: fork ipc keep-caps map-root-user map-current-user mount mount-proc net pid "
        "time user uts root= wd= setuid= setgid= kill-child"
    ),
    "usewithtor": Wrapper(),
    "uv tool run": Wrapper("p:qv from= with= python="),
    "uv run": Wrapper(
        "p:m:qn with= python= extra= group= no-sync frozen locked isolated env-file= active no-project "
        "all-extras package= script= project= directory= with-requirements= with-editable= index-url= "
        "no-dev dev upgrade quiet verbose"
    ),
    "uvx": Wrapper("p:qvn from= with= python= index-url= extra-index-url= no-cache refresh quiet"),
    "valgrind": Wrapper(
        "qv tool= leak-check= log-file= track-origins= show-leak-kinds= error-exitcode= suppressions= "
        "trace-children= callgrind-out-file= quiet verbose"
    ),
    "vglrun": Wrapper("d:"),
    "watchexec": Wrapper("e:w:rci:s:n exts= watch= restart clear ignore= signal= shell= no-shell"),
    "wine": Wrapper(),
    "winpty": Wrapper(),
    "wsl": Wrapper("d:u: distribution= user= cd="),
    "x86_64": Wrapper("vRFZLXBI3T"),
    "xargs": Wrapper(
        "0a:d:eE:iI:J:lL:n:oP:prR:s:S:tx null arg-file= delimiter= replace max-args= max-procs= "
        "no-run-if-empty max-lines verbose interactive process-slot-var= max-chars= eof show-limits exit open-tty"
    ),
    "xcrun": Wrapper(" sdk= toolchain= log verbose find= show-sdk-path"),
    "xvfb-run": Wrapper(
        "ae:f:n:lp:s:w: auto-servernum error-file= auth-file= server-num= listen-tcp server-args= wait="
    ),
    "yarn dlx": Wrapper("p:q package= quiet"),
    "yarn exec": Wrapper(),
}
"""Programs after whose options and operands a command follows. A key is a program, or a program and its subcommand."""

RUN_OPTIONS: dict[str, frozenset[str]] = {
    "ansible": _names("--args -a"),
    "apt": _names("--option -o"),
    "apt-get": _names("--option -o"),
    "bsdtar": _names("--use-compress-program"),
    "c++": _names("-wrapper"),
    "cargo": _names("--config"),
    "cc": _names("-wrapper"),
    "clang": _names("-wrapper"),
    "dpkg": _names("--post-invoke --pre-invoke"),
    "emacs": _names("--eval -eval -f"),
    "fzf": _names("--bind --preview --preview-window"),
    "g++": _names("-wrapper"),
    "gcc": _names("-wrapper"),
    "git": _names(
        "--commit-filter --env-filter --exec --extcmd --index-filter --msg-filter --open-files-in-pager "
        "--receive-pack --tool --tree-filter --upload-pack -O -x"
    ),
    "git clone": _names("-u"),
    "git daemon": _names("--access-hook"),
    "git difftool": _names("--extcmd -x"),
    "git grep": _names("--open-files-in-pager -O"),
    "git rebase": _names("--exec -x"),
    "git send-email": _names("--cc-cmd --header-cmd --sendmail-cmd --to-cmd"),
    "gnome-terminal": _names("-- --command -e -x"),
    "go": _names("-exec -toolexec"),
    "hyperfine": _names("-C -c -p -s --cleanup --conclude --prepare --setup"),
    "hg": _names("--config --remotecmd --ssh"),
    "install": _names("--strip-program"),
    "man": _names("--html --pager -H -P"),
    "mutt": _names("-e"),
    "mysql": _names("--pager"),
    "nc": _names("-c -e"),
    "ncat": _names("--exec --sh-exec -c -e"),
    "nix-shell": _names("--command --run"),
    "nodemon": _names("--exec -x"),
    "npm exec": _names("--call -c"),
    "npm x": _names("--call -c"),
    "npx": _names("--call -c"),
    "openssl": _names("-engine"),
    "prove": _names("--exec -e"),
    "psql": _names("--command -c"),
    "rg": _names("--hostname-bin --pre"),
    "rsync": _names("--rsh --rsync-path -e"),
    "scp": _names("-D -S -o"),
    "sftp": _names("-D -S -o"),
    "sort": _names("--compress-program"),
    "split": _names("--filter"),
    "sqlite3": _names("-cmd"),
    "ssh-keygen": _names("-D"),
    "svn": _names("--config-option --diff-cmd --diff3-cmd --editor-cmd"),
    "tar": _names(
        "--checkpoint-action --info-script --new-volume-script --rmt-command --rsh-command --to-command "
        "--use-compress-program -F -I"
    ),
    "tcpdump": _names("-z"),
    "vagrant": _names("--command -c"),
    "watchman-make": _names("--run"),
    "wget": _names("--execute --use-askpass -e"),
    "zip": _names("--unzip-command -TT"),
}
"""Options whose value is a command, or sets one."""

COMMAND_OPTIONS: dict[str, frozenset[str]] = {
    "bsdtar": _names("--use-compress-program"),
    "c++": _names("-wrapper"),
    "cc": _names("-wrapper"),
    "clang": _names("-wrapper"),
    "fzf": _names("--preview"),
    "g++": _names("-wrapper"),
    "gcc": _names("-wrapper"),
    "git": _names(
        "--commit-filter --env-filter --exec --extcmd --index-filter --msg-filter --open-files-in-pager "
        "--parent-filter --receive-pack --tag-name-filter --tree-filter --upload-pack"
    ),
    "git clone": _names("-u"),
    "git daemon": _names("--access-hook"),
    "git difftool": _names("--extcmd -x"),
    "git grep": _names("--open-files-in-pager -O"),
    "git rebase": _names("--exec -x"),
    "git send-email": _names("--cc-cmd --header-cmd --sendmail-cmd --to-cmd"),
    "go": _names("-exec -toolexec"),
    "hyperfine": _names("-C -c -p -s --cleanup --conclude --prepare --setup"),
    "man": _names("--pager -P"),
    "nc": _names("-c -e"),
    "ncat": _names("--exec --sh-exec -c -e"),
    "netcat": _names("-c -e"),
    "nix-shell": _names("--command --run"),
    "nodemon": _names("--exec -x"),
    "npm exec": _names("--call -c"),
    "npm x": _names("--call -c"),
    "npx": _names("--call -c"),
    "prove": _names("--exec -e"),
    "rg": _names("--hostname-bin --pre"),
    "rsync": _names("--rsh --rsync-path -e"),
    "scp": _names("-D -S"),
    "sftp": _names("-D -S"),
    "sort": _names("--compress-program"),
    "split": _names("--filter"),
    "svn": _names("--diff-cmd --diff3-cmd --editor-cmd"),
    "tar": _names(
        "--info-script --new-volume-script --rmt-command --rsh-command --to-command --use-compress-program -F -I"
    ),
    "tcpdump": _names("-z"),
    "vagrant": _names("--command -c"),
    "watchman-make": _names("--run"),
    "zip": _names("--unzip-command -TT"),
}
"""Those of them whose value is wholly a command of a shell, to which the program may add words."""

REST_OPTIONS: dict[str, frozenset[str]] = {
    "alacritty": _names("--command -e"),
    "gnome-terminal": _names("-- -x"),
    "just": _names("--command -c"),
    "konsole": _names("-e"),
    "nix": _names("--command -c"),
    "terminator": _names("--execute -x"),
    "urxvt": _names("-e"),
    "xfce4-terminal": _names("--execute -x"),
    "xterm": _names("-e"),
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

READS_COMMANDS = _names(
    """
    at batch cmd cmd.exe crontab ed ex expect ftp gdb lftp m4 nc ncat parallel psql socat sqlite3 ssh ssh-agent
    tclsh telnet
    """
)
"""Programs that may run what they read from standard input; shells and interpreters do so too."""

READS_DATA = _names(
    """
    aws docker gcloud gh git glab gpg helm kubectl openssl pandoc patch podman sort tar terraform wget
    """
)
"""Programs that take what they read for data."""

TEXT_OPTIONS = _names(
    """
    --annotation --author --body --comment --commit-message --data --data-binary --data-raw --date --desc
    --description --filter --format --grep --header --jq --label --message --name --note --notes --pretty --prompt
    --query --reason --subject --summary --template --text --title --user-agent -H -m
    """
)
"""Options of known programs whose value is a text that is only stored or sent."""

COMMAND_VARIABLES = _names(
    """
    ACK_PAGER AR AWS_PAGER BAT_PAGER BROWSER CARGO_BUILD_RUSTC_WRAPPER CC COMPRESS CPP CVS_RSH CXX DEBUGGER
    DELTA_PAGER DIFF EDITOR FC FCEDIT GH_BROWSER GH_EDITOR GH_PAGER GIT_ASKPASS GIT_EDITOR GIT_EXTERNAL_DIFF
    GIT_PAGER GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND HGEDITOR KUBE_EDITOR LD LESSCLOSE
    LESSOPEN MAKE MANPAGER NODE PAGER PERLDB_OPTS PSQL_EDITOR PSQL_PAGER PYTHON RSYNC_RSH RUSTC RUSTC_WRAPPER SHELL
    SSH_ASKPASS SUDO_ASKPASS SVN_EDITOR SVN_SSH SYSTEMD_PAGER TEST_EDITOR VISUAL
    """
)
"""Variables whose value some program runs."""

FILE_VARIABLES = _names(
    """
    AWKLIBPATH AWKPATH BASHOPTS BASH_ALIASES BASH_CMDS BASH_ENV BASH_XTRACEFD COMPILER_PATH DYLD_INSERT_LIBRARIES
    DYLD_LIBRARY_PATH EMACSLOADPATH EXINIT GCC_EXEC_PREFIX GIT_CONFIG GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL
    GIT_CONFIG_PARAMETERS GIT_CONFIG_SYSTEM GIT_EXEC_PATH GIT_TEMPLATE_DIR GNUMAKEFLAGS INPUTRC LD_AUDIT
    LD_LIBRARY_PATH LD_PRELOAD LESS LUA_INIT MAKEFILES MAKEFLAGS MANOPT MFLAGS NODE_OPTIONS
    NODE_REPL_EXTERNAL_MODULE PERL5DB
    PERL5LIB PERL5OPT PROMPT_COMMAND PS0 PS1 PS2 PS4 PYTHONHOME PYTHONINSPECT PYTHONSTARTUP RSYNC_CONNECT_PROG
    RUBYLIB RUBYOPT SHELLOPTS TAR_OPTIONS TCLLIBPATH VIMINIT ZDOTDIR
    """
)
"""Variables that make a program run or load what the line does not show."""

DIRECTORY_VARIABLES = _names(
    """
    ANDROID_HOME ANDROID_SDK_ROOT CARGO_HOME CONDA_PREFIX GOBIN GOPATH GOROOT HOME HOMEBREW_PREFIX JAVA_HOME NVM_DIR
    OLDPWD PWD PYENV_ROOT TMPDIR VIRTUAL_ENV XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME
    """
)
"""Variables that hold a directory; a line that sets one of them is not believed."""

OPTION_VARIABLES = _names(
    """
    GNUMAKEFLAGS LESS MAKEFLAGS MANOPT MFLAGS NODE_OPTIONS PERL5OPT PS1 PS2 PYTHONHOME PYTHONINSPECT RUBYOPT
    TAR_OPTIONS
    """
)
"""Those of them that hold options, which may be harmless."""

SUBCOMMAND_WORDS = _names(
    """
    add build clean deploy find format install link publish run search start stop test time update watch
    """
)
"""Names of programs that are also usual subcommands; after an unknown program they are most likely that."""

BUILTINS = _names(
    """
    . : [ [[ alias bg bind break builtin caller cd command compgen complete continue declare dirs disown echo enable
    eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd
    pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask
    unalias unset wait
    """
)
"""What a shell does itself, whatever the PATH is."""

EVALUATING_BUILTINS = _names(
    """
    [ [[ declare export getopts let local mapfile printf read readarray readonly test typeset unset wait
    """
)
"""Builtins that evaluate the subscript in the name of a variable."""

BUILD_TOOLS = _names(
    """
    ansible-playbook ant artisan bazel bun bundle c++ cabal cargo cc clang cmake composer dart deno dotnet dune
    flutter g++ gcc gmake go gradle gradlew hardhat java javac jest kotlinc make meson mix mocha mvn mvnw nim ninja
    nox npm phpunit pnpm pytest rails rake rustc sbt scons stack swift swiftc tox truffle ts-node tsc tsx vite
    vitest webpack yarn zig
    """
)
"""Programs that run, or make a program of, the files that they are given."""

FILES_READ_BY_NAME = _names(
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

SHELL_WITHOUT_COMMAND = frozenset(
    [
        "chroot",
        "doas",
        "fakeroot",
        "i386",
        "linux32",
        "linux64",
        "newgrp",
        "nsenter",
        "screen",
        "setarch",
        "setpriv",
        "sudo",
        "unshare",
        "x86_64",
    ]
)
"""Wrappers that start a shell if no command is given."""

TEXT_WRAPPERS = frozenset([
    "concurrently", "entr", "heroku run", "hyperfine", "npm exec", "npm x", "npx", "parallel", "pnpm exec", "screen",
    "srun", "watchexec", "xvfb-run", "yarn exec",
])  # fmt: skip
"""Wrappers that give one text to a shell."""

MODULES_THAT_RUN_CODE = _names(
    """
    cProfile code pdb profile pty runpy timeit trace
    """
)
"""Modules of Python that run code in their arguments."""

GIT_TEXT_SUBCOMMANDS = _names("blame commit config diff grep log merge notes rev-list shortlog show stash tag")
"""Subcommands of git whose texts are messages, patterns and values."""

DOCKER_FLAGS = _names(
    """
    --detach --disable-content-trust --help --init --interactive --no-healthcheck --oom-kill-disable --privileged
    --publish-all --quiet --read-only --replace --rm --sig-proxy --tls-verify --tty -P -d -i -it -q -t -ti
    """
)
"""Options of docker run without a value."""

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


def is_known_program(name: str) -> bool:
    """Return whether a program's words are known: it is no wrapper, no shell and no interpreter."""
    return name in INERT or name in KNOWN


@cache
def spellings_of(key: str) -> tuple[dict[str, str], frozenset[str]] | None:
    """Return for each spelling of an option its first one, and those with a value; None if the program has no table."""
    spec = SPELLINGS.get(key)
    if spec is None:
        return None
    first, valued = dict[str, str](), set[str]()
    for option in spec.split():
        names = [name.removesuffix("=") for name in option.split(",")]
        for name in names:
            first[name] = names[0]
        if "=" in option:
            valued.update(names)
    return first, frozenset(valued)
