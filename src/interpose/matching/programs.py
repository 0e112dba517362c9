"""What is known about programs: which of their words are commands, files or subcommands, and how options are spelled.

One place for everything that reads command lines. A program that is in none of these tables is *unknown*: each of its
arguments may be a command that it runs.

Options are written as for ``getopt``: single letters, a colon after those with a value; after a blank the long names, an
``=`` after those with a value. Options that mean the same are joined by a comma in ``SPELLINGS``.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

__all__ = [
    "COMMAND_VARIABLES", "FILE_VARIABLES", "GLOBAL_OPTIONS", "INERT", "INTERPRETERS", "KNOWN", "OPTION_VARIABLES", "PRODUCERS",
    "READS_COMMANDS", "READS_DATA", "RUN_OPTIONS", "SHELLS", "SPELLINGS", "SUBCOMMAND_WORDS", "TEXT_OPTIONS", "WRAPPERS", "Options",
    "Wrapper", "is_known_program", "is_sourced_safely", "options_of", "spellings_of",
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


@cache
def options_of(spec: str) -> Options:
    """Return the options of a getopt-like text."""
    letters, _, names = spec.partition(" ")
    valued = {letter for at, letter in enumerate(letters) if letters[at + 1 : at + 2] == ":"}
    valued |= {name[:-1] for name in names.split() if name.endswith("=")}
    flags = {letter for letter in letters if letter != ":"} | {name for name in names.split() if not name.endswith("=")}
    return Options(frozenset(flags - valued), frozenset(valued))


SHELLS = frozenset("sh bash zsh dash ash ksh mksh rbash fish lksh pdksh yash posh csh tcsh".split())

INTERPRETERS: dict[str, str] = {
    # The options whose value is code.
    "python": "c", "py": "c", "python2": "c", "python3": "c", "pypy": "c", "pypy3": "c", "perl": "eE", "ruby": "e", "node": "ep",
    "nodejs": "ep", "bun": "e", "deno": "", "php": "rBRE", "lua": "e", "luajit": "e", "Rscript": "e", "R": "e", "julia": "eE", "tclsh": "",
    "wish": "", "expect": "c", "osascript": "e", "pwsh": "cC", "powershell": "cC", "groovy": "e", "scala": "e", "ghc": "e", "guile": "c",
    "racket": "e", "elixir": "e", "erl": "", "jshell": "", "jrunscript": "e", "ipython": "c", "irb": "", "clojure": "e", "clj": "e",
    "sbcl": "", "ocaml": "e", "psysh": "", "raku": "e",
}  # fmt: skip
"""Programs that run code in another language, which is not read."""

INERT = frozenset(
    """
    : [ [[ arch b2sum base32 base64 basename basenc bg break bunzip2 bzcat bzip2 cal cat cd chattr chgrp chmod chown cksum clear cmp col
    colordiff column comm continue cp csplit curl cut date dd df diff dir dirname dirs disown du echo egrep exa exit expand expr eza factor
    false fg fgrep file fmt fold free fuser getconf getent getfacl grep groups gunzip gzip hash head hexdump host hostid hostname hostnamectl
    iconv id ifconfig install join jobs jq kill killall last link ln locale logname logout ls lsattr lsb_release lsblk lscpu lsof lspci lsusb
    lz4 lzcat lzma md5 md5sum mkdir mkfifo mknod mktemp more mv netstat nl nm nproc nslookup ntpdate numfmt objdump od open paste
    pathchk pbcopy pbpaste pgrep pidof ping ping6 pkill popd pr printenv printf ps pstree pushd pwd pwdx readelf readlink realpath
    renice reset return rev rm rmdir seq sha1sum sha224sum sha256sum sha384sum sha512sum shasum shred shuf shift size sleep ss stat strings
    strip stty sum sync tac tail tee test times top touch tput tr tree true truncate tsort tty type umask ulimit uname unexpand uniq unlink
    unlz4 unlzma unxz unzip unzstd uptime users vdir vmstat w wait wc whatis whereis which who whoami xclip xsel xxd xz xzcat yes zcat zgrep
    zstd zstdcat dig traceroute tracepath mtr htop shutdown reboot poweroff halt say notify-send local readonly export declare typeset
    suspend caller getopts set shopt unalias pip-compile rg ag ack ugrep read unset getopts let adduser addgroup useradd usermod groupadd passwd mount umount
    open-url dos2unix unix2dos sha3sum md5deep pv lsmod modprobe sysctl dmesg timedatectl loginctl localectl swapon swapoff mkswap fallocate
    ldconfig ldd gunzip bzgrep xzgrep figlet cowsay lolcat neofetch bat hexyl tokei cloc wslpath cygpath pygmentize locale-gen
    """.split()
)
"""Programs that run none of their arguments, and not what they are given to read."""

PRODUCERS = frozenset(
    ["echo", "printf", "cat", "tee", "base64", "xxd", "rev", "tr", "head", "tail", "yes", "gunzip", "zcat"]
)
"""Inert programs whose output a line can choose."""

KNOWN = frozenset(
    """
    make gmake cmake ctest cpack ninja meson bazel bazelisk buck scons configure autoconf automake autoreconf libtool autogen.sh qmake gradle
    gradlew mvn mvnw ant sbt lein boot mill rake grunt gulp just task invoke fab nox tox waf premake5 xmake conan vcpkg
    npm pnpm yarn bower lerna nx turbo rush node-gyp ng vue react-native expo create-react-app next nuxt gatsby vite webpack rollup parcel
    esbuild tsc ts-node tsx eslint prettier stylelint jest mocha vitest karma ava tape cypress playwright storybook serverless sls firebase
    netlify vercel heroku wrangler pm2 nodemon serve http-server live-server json-server nvm fnm volta n yo electron electron-builder bunx-known
    ember polymer ionic cordova meteor sails nest strapi hexo hugo jekyll mkdocs sphinx-build sphinx-quickstart docusaurus gitbook
    pip pip3 pipx poetry pdm rye hatch flit twine conda mamba micromamba virtualenv venv mkvirtualenv workon pyenv easy_install pytest nosetests mypy
    flake8 pylint black isort ruff pre-commit jupyter jupyter-lab jupyter-notebook django-admin flask uvicorn gunicorn celery scrapy
    streamlit tensorboard huggingface-cli wandb alembic coverage bumpversion cookiecutter yapf autopep8 bandit uv dvc mlflow kaggle
    gem bundle bundler rbenv rvm rails rspec rubocop pod fastlane jruby chruby foreman puma unicorn rackup thor
    cargo rustc rustup rustfmt trunk wasm-pack cross maturin go gofmt golint golangci-lint goreleaser dep glide gox air mage buf protoc
    javac java jar kotlinc kotlin scalac dotnet nuget msbuild mono mcs csc paket
    gcc g++ cc c++ clang clang++ ld ar as ranlib gfortran nvcc clang-format clang-tidy cppcheck gcov lcov swift swiftc xcodebuild xcrun xcode-select
    pkg-config patch ctags doxygen dot nasm objcopy
    composer phpunit artisan drush wp pecl symfony phpcs psalm phpstan phpize php-config
    mix rebar3 hex stack cabal opam dune nimble nim zig elm spago purs dart flutter pub luarocks cpan cpanm crystal shards gleam odin vlang
    apt apt-get apt-cache apt-key apt-mark add-apt-repository aptitude dpkg yum dnf rpm zypper pacman yay paru makepkg emerge apk snap flatpak brew port
    nix-env nix-build nix-channel nix-collect-garbage guix xbps-install pkg pkg_add choco scoop winget eopkg swupd tdnf microdnf urpmi
    docker podman buildah skopeo docker-compose docker-machine docker-credential-gcloud kubectl helm minikube kind k3d k3s k9s oc kustomize skaffold
    tilt kops kubeadm kubectx kubens eksctl istioctl linkerd argocd flux velero nerdctl crictl ctr colima lima limactl
    terraform terragrunt tofu packer vagrant ansible ansible-playbook ansible-galaxy pulumi cdk cdktf sam amplify chef knife puppet salt consul
    nomad vault boundary
    aws gcloud gsutil bq az doctl linode-cli flyctl fly eb s3cmd rclone ibmcloud oci hcloud scw civo railway render supabase
    git gh hub glab svn hg bzr cvs fossil git-lfs tig git-flow git-secret lazygit
    systemctl service journalctl update-rc.d chkconfig rc-service launchctl supervisorctl initctl ufw iptables ip6tables firewall-cmd
    mysql mysqldump mysqladmin psql pg_dump pg_restore createdb dropdb createuser initdb pg_ctl sqlite3 mongo mongosh mongod mongodump mongorestore
    mongoimport redis-cli redis-server influx cqlsh clickhouse-client clickhouse cockroach memcached rabbitmqctl kafka-topics kafka-topics.sh
    zookeeper etcdctl elasticsearch kibana logstash nats nats-server mosquitto_pub mosquitto_sub
    nginx apachectl apache2 httpd a2ensite a2enmod caddy haproxy traefik certbot openssl ssh-keygen ssh-add ssh-copy-id ssh-keyscan gpg gpg2
    keytool age sops pass htpasswd ngrok cloudflared localtunnel
    vim vi nvim emacs nano code subl atom gedit less man info sort split sed awk gawk mawk nawk zip 7z 7za rar unrar tar bsdtar cpio rsync scp sftp
    wget aria2c http https httpie ab wrk siege hey vegeta k6 locust ffmpeg ffprobe convert magick mogrify identify youtube-dl yt-dlp gs pdflatex
    xelatex latexmk latex bibtex pandoc inkscape gimp sox tesseract potrace optipng jpegoptim pngquant svgo exiftool
    adb fastboot avrdude esptool.py esptool platformio pio arduino-cli openocd idf.py west st-flash dfu-util picotool minicom
    rosdep catkin_make catkin colcon roslaunch rosrun ros2 roscore ign gazebo rviz
    update-alternatives setfacl getcap setcap visudo hostnamectl timedatectl locale-gen dpkg-reconfigure
    truffle hardhat forge cast anvil ganache-cli ganache solc geth ipfs slither brownie solana anchor near starport ignite substrate
    xdg-open sw_vers defaults diskutil hdiutil softwareupdate plutil scutil networksetup pbcopy mas open lipo otool codesign spctl security
    swag sqlc wire mockgen stringer gotestsum dlv migrate goose atlas templ
    pip-sync tree-sitter mdbook just-install chezmoi stow direnv asdf mise tmuxinator
    ollama llama-cli transformers-cli torchserve nvidia-smi nvtop rocm-smi
    nvidia-docker journalctl logrotate mail sendmail mutt telnet ftp nmap tcpdump wireshark tshark
    gatsby-cli npm-check-updates ncu yalc standard xo tslint husky lint-staged semantic-release release-it standard-version changeset changesets
    blender godot unity steamcmd xcodegen tuist carthage mint swiftlint swiftformat periphery sourcery
    poetry-core asciidoctor antora hadolint shellcheck shfmt actionlint act yamllint markdownlint vale codespell
    fdisk parted mkfs lvcreate resize2fs e2fsck wipefs gdisk sgdisk cfdisk growpart partprobe blkid
    a2dissite phpenmod plesk drupal magento craft statamic valet laravel sail lando ddev wp-cli
    ghci hlint ormolu fourmolu hoogle idris agda coqc lean lake elan ocamlfind esy
    terraform-docs tflint checkov trivy grype syft snyk semgrep sonar-scanner gitleaks trufflehog
    postgres redis mysqld mariadb docker-entrypoint.sh dotnet-ef dotnet-format spring jhipster quarkus micronaut grails
    """.split()
)
"""Programs whose words are subcommands, files and names, except where another table says that they are commands."""

GLOBAL_OPTIONS: dict[str, str] = {
    "git": "C:c:pPhv git-dir= work-tree= namespace= exec-path= super-prefix= config-env= list-cmds= attr-source= paginate no-pager bare "
    "no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks html-path man-path info-path version help",
    "docker": "c:DH:l:v config= context= debug host= log-level= tls tlscacert= tlscert= tlskey= tlsverify version help",
    "podman": "c:r connection= log-level= identity= remote url= root= runroot= storage-driver= storage-opt= cgroup-manager=",
    "docker-compose": "f:p:H:v file= project-name= profile= env-file= project-directory= host= verbose ansi= no-ansi compatibility context= parallel=",
    "kubectl": "n:s:v: namespace= context= cluster= kubeconfig= user= server= token= as= as-group= request-timeout= insecure-skip-tls-verify "
    "certificate-authority= client-key= client-certificate= cache-dir= match-server-version username= password=",
    "helm": "n: namespace= kube-context= kubeconfig= debug registry-config= repository-config= repository-cache=",
    "npm": "gsdC:w: prefix= registry= userconfig= globalconfig= cache= loglevel= silent quiet verbose global workspace= workspaces "
    "no-workspaces include-workspace-root production legacy-peer-deps force otp= tag= access= scope= dry-run json long yes",
    "pnpm": "rC:wF: recursive dir= filter= workspace-root silent loglevel= stream parallel use-stderr color no-color registry= store-dir=",
    "yarn": "s cwd= silent verbose registry= cache-folder= modules-folder= no-progress offline ignore-engines json",
    "pip": "qvh quiet verbose isolated require-virtualenv python= log= proxy= retries= timeout= exists-action= trusted-host= cert= client-cert= "
    "cache-dir= no-cache-dir disable-pip-version-check no-color no-python-version-warning use-feature= use-deprecated= no-input debug",
    "pip3": "qvh quiet verbose isolated require-virtualenv python= log= proxy= retries= timeout= exists-action= trusted-host= cert= client-cert= "
    "cache-dir= no-cache-dir disable-pip-version-check no-color use-feature= no-input debug",
    "cargo": "qvVZ:C: quiet verbose color= config= locked offline frozen list manifest-path=",
    "go": "C:",
    "gh": "R: repo= hostname= help version",
    "aws": "region= profile= output= endpoint-url= query= no-verify-ssl no-paginate debug color= ca-bundle= cli-read-timeout= "
    "cli-connect-timeout= no-sign-request no-cli-pager",
    "gcloud": "q project= account= configuration= quiet verbosity= format= impersonate-service-account= zone= region=",
    "terraform": " chdir= version help",
    "systemctl": "qaln:o:H:M:t:p: user system quiet no-pager no-block now force host= machine= type= property= all full lines= root= runtime global",
    "apt-get": "qyfdsmuVht:c:o:a: quiet yes assume-yes no-install-recommends option= target-release= config-file= allow-unauthenticated "
    "fix-broken simulate dry-run download-only fix-missing reinstall",
    "apt": "qyfdsmuVht:c:o:a: quiet yes assume-yes no-install-recommends option= target-release= config-file= allow-downgrades fix-broken",
    "yum": "yqvc:d:e: assumeyes quiet enablerepo= disablerepo= exclude= installroot= nogpgcheck releasever= setopt=",
    "dnf": "yqvc:d:e: assumeyes quiet enablerepo= disablerepo= exclude= installroot= nogpgcheck refresh releasever= setopt= best allowerasing",
    "brew": "dqv debug quiet verbose",
    "svn": "q username= password= no-auth-cache non-interactive trust-server-cert config-dir= config-option= quiet",
    "hg": "R:qvyn repository= cwd= config= noninteractive quiet verbose debug",
    "composer": "d:nqv working-dir= no-interaction quiet verbose no-plugins no-scripts profile no-cache ansi no-ansi",
    "poetry": "C:P:qvn directory= project= quiet verbose no-interaction no-ansi no-plugins no-cache",
    "make": "", "bundle": "V verbose no-color retry=", "gem": "", "conda": "hV", "vagrant": "", "heroku": "a: app=", "dotnet": "d diagnostics",
    "snap": "", "flatpak": "v user system installation=", "gsutil": "mqDo:h:u:", "az": "o: output= subscription= query= verbose debug only-show-errors",
    "ip": "46Bbsdohj n: netns= family= oneline batch= color json pretty",
}  # fmt: skip
"""Options before a program's subcommand; the program is judged as if they were not there."""

SPELLINGS: dict[str, str] = {
    "rm": "r,R,recursive f,force i I,interactive v,verbose d,dir one-file-system no-preserve-root preserve-root",
    "cp": "r,R,recursive a,archive f,force i,interactive n,no-clobber p v,verbose u,update L P d T t=,target-directory= S=,suffix=",
    "mv": "f,force i,interactive n,no-clobber v,verbose u,update T t=,target-directory= S=,suffix=",
    "chmod": "R,recursive f,silent,quiet v,verbose c,changes reference=",
    "chown": "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P reference= from=",
    "chgrp": "R,recursive f,silent,quiet v,verbose c,changes h,no-dereference H L P reference=",
    "mkdir": "p,parents m=,mode= v,verbose", "rmdir": "p,parents v,verbose", "ln": "s,symbolic f,force n,no-dereference v,verbose r,relative T",
    "ls": "a,all A,almost-all l h,human-readable r,reverse R,recursive t S 1 d,directory i,inode s,size",
    "kill": "s=,signal= l,list n= 9,KILL,SIGKILL 15,TERM,SIGTERM 1,HUP,SIGHUP", "shred": "u v,verbose z,zero f,force n=,iterations=",
    "git push": "f,force d,delete u,set-upstream n,dry-run q,quiet v,verbose all mirror tags follow-tags prune no-verify force-with-lease o=,push-option= repo= 4 6",
    "git reset": "hard soft mixed merge keep q,quiet p,patch N", "git clean": "f,force d x X n,dry-run q,quiet i,interactive e=,exclude=",
    "git checkout": "f,force b= B= q,quiet p,patch t,track detach orphan= m,merge theirs ours", "git switch": "f,force,discard-changes c=,create= C=,force-create= d,detach",
    "git branch": "D d,delete f,force m,move M a,all r,remotes v,verbose", "git commit": "a,all m=,message= n,no-verify amend s,signoff q,quiet v,verbose F=,file= C= c= no-edit",
    "git rm": "f,force r cached n,dry-run q,quiet", "git tag": "d,delete f,force a,annotate m=,message= s,sign l,list", "git stash": "u,include-untracked a,all k,keep-index",
    "docker rm": "f,force v,volumes l,link", "docker rmi": "f,force no-prune", "docker system prune": "a,all f,force volumes filter=",
    "kubectl delete": "f=,filename= l=,selector= A,all-namespaces all force n=,namespace= now grace-period= R,recursive",
    "npm install": "g,global D,save-dev S,save E,save-exact O,save-optional f,force", "npm publish": "tag= access= dry-run otp= f,force",
    "pip install": "U,upgrade e=,editable= r=,requirement= t=,target= user q,quiet pre no-deps force-reinstall i=,index-url= c=,constraint=",
    "curl": "f,fail s,silent S,show-error L,location o=,output= O,remote-name X=,request= H=,header= d=,data= k,insecure v,verbose u=,user= I,head F=,form= T=,upload-file= x=,proxy= A=,user-agent= e=,referer= b=,cookie= c=,cookie-jar= m=,max-time= w=,write-out= i,include g,globoff N,no-buffer 4 6 G,get C=",
    "wget": "q,quiet O=,output-document= P=,directory-prefix= c,continue r,recursive N,timestamping no-check-certificate nc,no-clobber",
    "rsync": "a,archive v,verbose z,compress r,recursive n,dry-run delete e=,rsh= P h u l p t g o D exclude= include= progress",
    "tar": "x,extract,get c,create t,list f=,file= z,gzip j,bzip2 J,xz v,verbose C=,directory= p",
    "apt-get install": "y,yes,assume-yes q,quiet f,fix-broken no-install-recommends", "apt install": "y,yes,assume-yes q,quiet f,fix-broken no-install-recommends",
    "terraform apply": "auto-approve var= var-file= target=", "terraform destroy": "auto-approve var= var-file= target=",
    "systemctl stop": "now f,force", "crontab": "r e l i u=", "pkill": "f,full 9,KILL,SIGKILL u= x,exact", "killall": "9,KILL,SIGKILL q,quiet u= w,wait",
}  # fmt: skip
"""Options that a rule names, each with all its spellings. A key is a program and its subcommand."""

WRAPPERS: dict[str, Wrapper] = {
    "builtin": Wrapper(), "busybox": Wrapper(), "toybox": Wrapper(), "caffeinate": Wrapper("disut:w:"),
    "bwrap": Wrapper(" bind= ro-bind= dev= proc= tmpfs= unshare-all unshare-user unshare-pid unshare-net die-with-parent new-session chdir= setenv= hostname="),
    "chroot": Wrapper(" groups= userspec= skip-chdir", 1), "chronic": Wrapper("ev"), "catchsegv": Wrapper(), "chpst": Wrapper("u:U:e:nl:b:/:m:d:o:p:f:c:P012v"),
    "choom": Wrapper("n:p: adjust= pid="), "command": Wrapper("p"), "coproc": Wrapper(), "cpulimit": Wrapper("l:p:e:zbi"),
    "chrt": Wrapper("abdfiorvRT:P:D: all-tasks batch deadline fifo idle other rr verbose reset-on-fork", 1),
    "cross-env": Wrapper(assigns=True), "cross-env-shell": Wrapper(assigns=True), "dbus-run-session": Wrapper(" config-file= dbus-daemon="), "dbus-launch": Wrapper(" exit-with-session"),
    "doas": Wrapper("C:Lnsu:", assigns=True), "dotenv": Wrapper("e:f:q override"), "dumb-init": Wrapper("cvr:"), "eatmydata": Wrapper(),
    "env": Wrapper("0iu:C:v ignore-environment null unset= chdir= debug block-signal default-signal ignore-signal", assigns=True),
    "exec": Wrapper("a:cl"), "faketime": Wrapper("fmp: exclude-monotonic", 1), "fakeroot": Wrapper("l:s:i:ub: lib= faked="), "fakechroot": Wrapper(),
    "firejail": Wrapper(" quiet noprofile private net= profile="), "gosu": Wrapper(skipped=1), "su-exec": Wrapper(skipped=1), "setuidgid": Wrapper(skipped=1),
    "i386": Wrapper("vRFZLXBI3T"), "linux32": Wrapper("vRFZLXBI3T"), "linux64": Wrapper("vRFZLXBI3T"), "x86_64": Wrapper("vRFZLXBI3T"),
    "ionice": Wrapper("c:n:t class= classdata= ignore"), "logsave": Wrapper("asv", 1),
    "ltrace": Wrapper("a:A:bcCD:e:fF:hiL:l:n:o:p:rs:StTu:Vw:x:"), "memusage": Wrapper("p:d:ut:x:y:n: progname= png= data= unbuffered timer total"), "heaptrack": Wrapper("do:r use-inject output=", 0),
    "mpirun": Wrapper("n:H:c: np= host= hostfile= oversubscribe allow-run-as-root bind-to= map-by= mca="), "mpiexec": Wrapper("n:H:c: np= host= hostfile="), "srun": Wrapper("n:N:p:t:c: gres= mem= pty ntasks= nodes= partition= time="),
    "nice": Wrapper("n:0123456789 adjustment="), "nohup": Wrapper(), "not": Wrapper(), "numactl": Wrapper("i:N:C:m:lp: interleave= cpunodebind= physcpubind= membind= localalloc preferred="),
    "nsenter": Wrapper("at:mu:i:n:pC:U:T:S:G:r:w:FZ all target= mount uts ipc net pid cgroup user time root= wd= preserve-credentials no-fork setuid= setgid="),
    "optirun": Wrapper(), "primusrun": Wrapper(), "pkexec": Wrapper(" user= disable-internal-agent keep-cwd"), "proot": Wrapper("r:b:q:w:k:0S:R: rootfs= bind= pwd= cwd="),
    "proxychains": Wrapper("qf:"), "proxychains4": Wrapper("qf:"), "torsocks": Wrapper(), "torify": Wrapper(), "tsocks": Wrapper(), "usewithtor": Wrapper(),
    "rlwrap": Wrapper("aAbcCDeEfFgGhHiIlmMnNopPqrRsStTuUvVwWXz"), "run0": Wrapper("u:g:D: user= group= chdir= setenv="), "runcon": Wrapper("ct:u:r:l: compute type= user= role= range=", 1),
    "setarch": Wrapper("vRFZLXBI3T list 4gb addr-no-randomize uname-2.6", 1), "setpriv": Wrapper(" ruid= euid= rgid= egid= reuid= regid= clear-groups keep-groups init-groups groups= inh-caps= ambient-caps= bounding-set= no-new-privs pdeathsig= reset-env selinux-label= apparmor-profile= dump nnp securebits="),
    "setsid": Wrapper("cfw ctty fork wait"), "softlimit": Wrapper("m:d:s:l:a:o:p:f:c:r:t:"), "sotruss": Wrapper("F:T:eo:f from= to= exit output= follow"), "ssh-agent": Wrapper("csDda:E:O:P:t:"),
    "stdbuf": Wrapper("i:o:e: input= output= error="), "strace": Wrapper("a:b:cCdDe:E:fFhiI:kno:O:p:P:qrs:S:tTu:U:vVwxX:yYzZ"), 
    "sudo": Wrapper(
        "AbBC:D:Eg:Hh:iknNPp:r:R:sSt:T:u:U: user= group= chdir= host= prompt= preserve-env non-interactive login shell set-home stdin reset-timestamp background askpass close-from= chroot= role= type=",
        assigns=True,
    ),
    "systemd-cat": Wrapper("t:p: identifier= priority= stderr-priority= level-prefix="), "systemd-inhibit": Wrapper(" what= who= why= mode= no-pager no-legend"),
    "systemd-run": Wrapper("dE:GHM:p:PqrStu: collect gid= nice= pipe property= pty quiet same-dir scope setenv= slice= uid= unit= user wait shell no-block system service-type= on-active= on-calendar= description= working-directory="),
    "taskset": Wrapper("ac all-tasks cpu-list", 1), "time": Wrapper("af:o:pqvl append format= output= portability quiet verbose"), "gtime": Wrapper("af:o:pqvl append format= output= portability quiet verbose"),
    "timeout": Wrapper("fk:ps:v foreground kill-after= preserve-status signal= verbose", 1), "gtimeout": Wrapper("fk:ps:v foreground kill-after= preserve-status signal= verbose", 1),
    "tini": Wrapper("svgwp:e:"), "catatonit": Wrapper(), "trickle": Wrapper("d:u:sw:t:l:n:"), "unbuffer": Wrapper("p"), "uclampset": Wrapper("m:M:avVR"), "winpty": Wrapper(), "wine": Wrapper(), "vglrun": Wrapper("d:"),
    "unshare": Wrapper("cCfG:imnprR:S:TuUw: fork ipc keep-caps map-root-user map-current-user mount mount-proc net pid time user uts root= wd= setuid= setgid= kill-child"),
    "valgrind": Wrapper("qv tool= leak-check= log-file= track-origins= show-leak-kinds= error-exitcode= suppressions= trace-children= callgrind-out-file= quiet verbose"), "xvfb-run": Wrapper("ae:f:n:lp:s:w: auto-servernum error-file= auth-file= server-num= listen-tcp server-args= wait="),
    "npx": Wrapper("yqp:c-n: yes no quiet package= no-install ignore-existing userconfig= shell= npm= legacy-peer-deps"), "bunx": Wrapper(" bun"), "pnpx": Wrapper(" package= silent"), "uvx": Wrapper("p:qvn from= with= python= index-url= extra-index-url= no-cache refresh quiet"),
    "pipx run": Wrapper("v spec= no-cache python= pip-args= index-url= verbose"), "npm exec": Wrapper("yp:w: yes package= workspace="), "npm x": Wrapper("yp:w: yes package= workspace="), "pnpm exec": Wrapper("rcC: recursive parallel filter="), "pnpm dlx": Wrapper(" package= silent"),
    "yarn exec": Wrapper(), "yarn dlx": Wrapper("p:q package= quiet"), "bun x": Wrapper(" bun"), "poetry run": Wrapper(), "pipenv run": Wrapper(), "pdm run": Wrapper("sg:p:"), "rye run": Wrapper(), "hatch run": Wrapper(), "uv run": Wrapper("p:m:qn with= python= extra= group= no-sync frozen locked isolated env-file= active no-project all-extras package= script= project= directory= with-requirements= with-editable= index-url= no-dev dev upgrade quiet verbose"),
    "conda run": Wrapper("n:p: name= prefix= no-capture-output live-stream cwd="), "mamba run": Wrapper("n:p: name= prefix="), "micromamba run": Wrapper("n:p: name= prefix="), "bundle exec": Wrapper(" keep-file-descriptors gemfile="), "rbenv exec": Wrapper(), "pyenv exec": Wrapper(),
    "asdf exec": Wrapper(), "mise exec": Wrapper("c:j:"), "mise x": Wrapper("c:j:"), "direnv exec": Wrapper(skipped=1), "doppler run": Wrapper("p:c: project= config= command="), "op run": Wrapper(" env-file= no-masking"), "aws-vault exec": Wrapper("d:nj duration= no-session", 1), "chamber exec": Wrapper(skipped=1), "dotenvx run": Wrapper("f:"),
    "heroku run": Wrapper("a:s:x app= size= remote= no-tty exit-code type=", elsewhere=True), "xcrun": Wrapper(" sdk= toolchain= log verbose find= show-sdk-path"), "perf stat": Wrapper("e:r:dvao:x:p:I: event= repeat= detailed all-cpus output="), "perf record": Wrapper("e:F:ago:p:c:t: call-graph= event= freq= all-cpus output="), "perf trace": Wrapper("e:s"), "perf mem record": Wrapper(),
    "git bisect run": Wrapper(), "ip netns exec": Wrapper(skipped=1), "lxc exec": Wrapper(" cwd= env= user= mode= project=", 1, elsewhere=True), "kubectl exec": Wrapper("itc:n:qf: stdin tty container= namespace= quiet filename= context=", 1, elsewhere=True), "oc exec": Wrapper("itc:n: stdin tty container= namespace=", 1, elsewhere=True), "oc rsh": Wrapper("c:n: container= namespace=", 1, elsewhere=True),
    "docker exec": Wrapper("ditu:w:e: detach interactive tty user= workdir= env= env-file= privileged detach-keys=", 1, elsewhere=True), "podman exec": Wrapper("ditu:w:e: detach interactive tty user= workdir= env= env-file= privileged latest", 1, elsewhere=True),
    "docker-compose exec": Wrapper("dTu:w:e: detach user= workdir= env= index= privileged no-TTY", 1, elsewhere=True), "docker-compose run": Wrapper("dTu:w:e:v:p:l: rm detach user= workdir= env= volume= publish= service-ports no-deps entrypoint= name= use-aliases label= build no-TTY quiet-pull", 1, elsewhere=True), "docker compose exec": Wrapper("dTitu:w:e: detach user= workdir= env= index= privileged no-TTY interactive tty", 1, elsewhere=True), "docker compose run": Wrapper("dTitu:w:e:v:p:l: rm detach user= workdir= env= volume= publish= service-ports no-deps entrypoint= name= use-aliases label= build no-TTY interactive quiet-pull remove-orphans", 1, elsewhere=True),
    "xargs": Wrapper("0a:d:eE:iI:J:lL:n:oP:prR:s:S:tx null arg-file= delimiter= replace max-args= max-procs= no-run-if-empty max-lines verbose interactive"),
    "entr": Wrapper("acdnprsz"), "hyperfine": Wrapper("w:r:m:M:p:c:iN warmup= runs= min-runs= prepare= cleanup= ignore-failure export-markdown= export-json= shell= style="), "watchexec": Wrapper("e:w:rci:s:n exts= watch= restart clear ignore= signal= shell= no-shell"), "cmake -E env": Wrapper(assigns=True), "parallel": Wrapper("0j:kn:N:P:tuvX jobs= keep-order dry-run bar halt= joblog= progress eta retries= timeout= delay= will-cite pipe colsep= verbose"),
    "run-one": Wrapper(), "flatpak-spawn": Wrapper(" host"), "distrobox-enter": Wrapper(), "arch": Wrapper("e: x86_64 arm64 i386"), "jobs -x": Wrapper(), "pg_virtualenv": Wrapper("actv:o:"), "prlimit": Wrapper("p:vo: pid= output= noheadings raw verbose core nofile= nproc= as= cpu= fsize= stack= data="),
    "supervise": Wrapper(), "daemonize": Wrapper("ap:l:c:e:o:E:u:v"), "daemon": Wrapper("n:u:D:r name= user= chdir= respawn"), "s6-setuidgid": Wrapper(skipped=1), "screen": Wrapper("dmDLS:s:t:T:c:e:h:RrxXUa"), 
    "cgexec": Wrapper("g: sticky"), "schroot": Wrapper("c:u:d: chroot= user= directory= session= run-session"), "systemd-nspawn": Wrapper("D:M:u:bq directory= machine= user= boot quiet bind=", elsewhere=True), "machinectl shell": Wrapper(skipped=1, elsewhere=True), "toolbox run": Wrapper("c: container="), "nerdctl exec": Wrapper("ditu:w:e:", 1, elsewhere=True), "wsl": Wrapper("d:u: distribution= user= cd="), "tsp": Wrapper("nfmdL:"), "kubectl debug": Wrapper("itc: image= target=", 1, elsewhere=True), "msgexec": Wrapper("i:D: input= directory="), "msgfilter": Wrapper("i:o:D: input= output-file="),
}  # fmt: skip
"""Programs after whose options and operands a command follows. A key is a program, or a program and its subcommand."""

RUN_OPTIONS: dict[str, frozenset[str]] = {
    "tar": frozenset("-I --use-compress-program --to-command --checkpoint-action -F --info-script --new-volume-script --rsh-command --rmt-command".split()),
    "bsdtar": frozenset(["--use-compress-program"]), "sort": frozenset(["--compress-program"]), "split": frozenset(["--filter"]), "rsync": frozenset("-e --rsh --rsync-path".split()),
    "scp": frozenset(["-S", "-o", "-D"]), "sftp": frozenset(["-S", "-o", "-D"]), "man": frozenset("-P --pager -H --html".split()), "gcc": frozenset(["-wrapper"]), "g++": frozenset(["-wrapper"]), "cc": frozenset(["-wrapper"]), "c++": frozenset(["-wrapper"]), "wget": frozenset(["--use-askpass", "-e", "--execute"]),
    "zip": frozenset(["-TT", "--unzip-command"]), "make": frozenset(["--eval", "-E"]), "gmake": frozenset(["--eval", "-E"]), "go": frozenset(["-exec", "-toolexec"]), "nodemon": frozenset("--exec -x".split()), "rg": frozenset(["--pre", "--hostname-bin"]),
    "fzf": frozenset("--preview --bind --preview-window".split()), "install": frozenset(["--strip-program"]), "ansible": frozenset("-a --args".split()), "vagrant": frozenset("-c --command".split()), "git": frozenset("--upload-pack --receive-pack --exec -x --extcmd -O --open-files-in-pager --tree-filter --index-filter --msg-filter --env-filter --commit-filter --tool".split()),
    "prove": frozenset("-e --exec".split()), "hugo": frozenset(), "mysql": frozenset(["--pager"]), "apt-get": frozenset(["-o", "--option"]), "apt": frozenset(["-o", "--option"]), "dpkg": frozenset(["--pre-invoke", "--post-invoke"]), "cargo": frozenset(["--config"]), "nix-shell": frozenset("--run --command".split()), "nix": frozenset("-c --command".split()),
    "gdb": frozenset("-ex -eval-command -iex".split()), "psql": frozenset("-c --command".split()), "xterm": frozenset(["-e"]), "gnome-terminal": frozenset("-e --command -x --".split()), "tmux": frozenset(), "emacs": frozenset("--eval -eval -f".split()), "pm2": frozenset(), "sqlite3": frozenset(["-cmd"]), "socat": frozenset(), "ncat": frozenset("-e -c --exec --sh-exec".split()), "nc": frozenset("-e -c".split()),
    "clang": frozenset(["-wrapper"]), "ssh-keygen": frozenset(["-D"]), "openssl": frozenset(["-engine"]), "mutt": frozenset(["-e"]), "less": frozenset(), "7z": frozenset(), "svn": frozenset("--editor-cmd --diff-cmd --diff3-cmd --config-option".split()), "hg": frozenset("--config --ssh --remotecmd".split()), "mpv": frozenset(), "task": frozenset(), "watchman-make": frozenset(["--run"]), "crontab": frozenset(),
}  # fmt: skip
"""Options whose value is a command, or sets one."""

READS_COMMANDS = frozenset(
    "at batch crontab ssh gdb lftp ftp sqlite3 psql ed ex telnet expect tclsh nc ncat socat ssh-agent parallel m4 cmd cmd.exe".split()
)
"""Programs that may run what they read from standard input; shells and interpreters do so too."""

READS_DATA = frozenset(
    "git gh glab kubectl helm docker podman gpg openssl tar sort patch pandoc wget terraform aws gcloud".split()
)
"""Programs that take what they read for data."""

TEXT_OPTIONS = frozenset(
    "-m --message --title --body --description --desc --author --comment --notes --note --subject --summary --name --label --grep --user-agent --header "
    "-H --data --data-raw --data-binary --prompt --text --query --filter --format --pretty --date --jq --template --commit-message --annotation --reason".split()
)
"""Options of known programs whose value is a text that is only stored or sent."""

COMMAND_VARIABLES = frozenset(
    "PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR BROWSER GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS "
    "GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND RSYNC_RSH CVS_RSH SVN_SSH HGEDITOR SVN_EDITOR LESSOPEN LESSCLOSE SHELL CC CXX LD FC AR CPP RUSTC_WRAPPER RUSTC CARGO_BUILD_RUSTC_WRAPPER "
    "DEBUGGER PERLDB_OPTS TEST_EDITOR FCEDIT MAKE PYTHON NODE DIFF COMPRESS ACK_PAGER DELTA_PAGER BAT_PAGER GH_PAGER GH_BROWSER GH_EDITOR AWS_PAGER KUBE_EDITOR PSQL_PAGER PSQL_EDITOR".split()
)
"""Variables whose value some program runs."""

FILE_VARIABLES = frozenset(
    "BASH_ENV PS4 PS0 PS1 PS2 PROMPT_COMMAND LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PERL5OPT PERL5DB PERL5LIB PYTHONSTARTUP "
    "PYTHONHOME PYTHONINSPECT RUBYOPT RUBYLIB BASHOPTS SHELLOPTS BASH_XTRACEFD BASH_ALIASES BASH_CMDS GIT_CONFIG_COUNT GIT_CONFIG_PARAMETERS GIT_CONFIG "
    "GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_EXEC_PATH GIT_TEMPLATE_DIR ZDOTDIR MAKEFILES MAKEFLAGS GNUMAKEFLAGS MFLAGS LUA_INIT NODE_REPL_EXTERNAL_MODULE GCC_EXEC_PREFIX COMPILER_PATH "
    "TAR_OPTIONS RSYNC_CONNECT_PROG VIMINIT EXINIT EMACSLOADPATH TCLLIBPATH AWKPATH AWKLIBPATH INPUTRC LESS MANOPT".split()
)
"""Variables that make a program run or load what the line does not show."""

OPTION_VARIABLES = frozenset(
    "MAKEFLAGS GNUMAKEFLAGS MFLAGS TAR_OPTIONS RUBYOPT PERL5OPT LESS MANOPT PS1 PS2 PYTHONINSPECT PYTHONHOME".split()
)
"""Those of them that hold options, which may be harmless."""

SUBCOMMAND_WORDS = frozenset(
    "test install time watch format find search link run start stop build update add clean deploy publish".split()
)
"""Names of programs that are also usual subcommands: after an unknown program they are a command only with arguments of one."""

_SAFE_SOURCES = (
    "bin/activate", "bin/activate.fish", "bin/activate.csh", "Scripts/activate", ".bashrc", ".bash_profile", ".zshrc", ".profile", ".zprofile", ".zshenv",
    ".cargo/env", ".nvm/nvm.sh", "/etc/profile", "/etc/bash_completion", "/etc/os-release", "/etc/environment", "/usr/share/bash-completion/bash_completion", "setup.bash", "setup.sh", "setup.zsh", "setvars.sh",
)  # fmt: skip


def is_sourced_safely(path: str) -> bool:
    """Return whether a sourced file is one that its program or the system wrote: ``.venv/bin/activate``, ``~/.bashrc``."""
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
