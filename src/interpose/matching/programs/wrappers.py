"""Programs that run the command in their arguments."""

from __future__ import annotations

from ...runtime.named_tuples import NamedTuple
from .options import words

__all__ = [
    "DOCKER_FLAGS",
    "SHELL_WITHOUT_COMMAND",
    "TEXT_WRAPPERS",
    "WRAPPERS",
    "Wrapper",
]


class Wrapper(NamedTuple):
    """A program that runs the command in its arguments."""

    options: str = ""
    skipped: int = 0
    """The number of operands before the command."""
    assigns: bool = False
    """Whether ``NAME=value`` may stand before the command."""
    elsewhere: bool = False
    """Whether the command runs on another machine or in a container, or may be an argument of its own."""


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


TEXT_WRAPPERS = frozenset([
    "concurrently", "entr", "heroku run", "hyperfine", "npm exec", "npm x", "npx", "parallel", "pnpm exec", "screen",
    "srun", "watchexec", "xvfb-run", "yarn exec",
])  # fmt: skip
"""Wrappers that give one text to a shell."""


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


DOCKER_FLAGS = words(
    """
    --detach --disable-content-trust --help --init --interactive --no-healthcheck --oom-kill-disable --privileged
    --publish-all --quiet --read-only --replace --rm --sig-proxy --tls-verify --tty -P -d -i -it -q -t -ti
    """
)
"""Options of docker run without a value."""
