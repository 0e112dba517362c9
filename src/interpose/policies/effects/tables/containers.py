"""Programs for containers: data that they lose, and containers with the rights of the host's root."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from ....matching.shell.words import MANY, is_known
from ....runtime.regex import regex
from ..rows import Arguments, Found, Program, Row, parse

__all__ = ["PROGRAMS"]

_RUN = (
    "v=,volume= mount= privileged pid= network=,net= cap-add= cap-drop= device= security-opt= userns= ipc= "
    "uts= u=,user= i t d "
    "rm name= p=,publish= e=,env= w=,workdir= entrypoint= env-file= restart= platform= volumes-from= "
    "cgroupns= add-host= "
    "l=,label= m=,memory= cpus= gpus= shm-size= tmpfs= ulimit= h=,hostname= link= log-driver= log-opt= "
    "pull= read-only init "
    "c= cpu-shares= cpuset-cpus= dns= expose= group-add= health-cmd= ip= isolation= label-file= "
    "mac-address= memory-swap= "
    "network-alias= oom-score-adj= pids-limit= runtime= stop-signal= stop-timeout= storage-opt= sysctl= a=,attach= "
    "detach-keys= device-cgroup-rule= cidfile= blkio-weight= annotation= P q,quiet"
)
_HOST_DIRECTORIES = frozenset(
    """
        / /etc /root /boot /proc /sys /dev /home /var /usr /lib /bin /sbin /var/lib /var/lib/docker /private
        /Users
    """.split()
)
_SOCKETS = regex(
    r"(?:/private)?/(?:var/)?run/(?:docker|containerd/containerd|podman/podman|crio/crio)\.sock|.*docker\.sock"
)
_CAPABILITIES = frozenset({"ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "DAC_READ_SEARCH", "SYS_RAWIO"})
_GLOBALS = (
    "c=,context= D,debug H=,host= l=,log-level= config= tls tlsverify tlscacert= tlscert= tlskey= r,remote url= "
    "connection="
)


def _run(arguments: Arguments) -> Iterator[Found]:
    """Read the options of run and create that give a container the rights of the host's root."""
    words = arguments.words
    end = words.index(arguments.operands[0]) if arguments.operands else len(words)
    options = parse(arguments.program, words[:end], _RUN, arguments.command).options
    remote = (*arguments.options.get("H", ()), *arguments.options.get("c", ()))
    if "privileged" in options and options["privileged"][-1] != "false":
        yield Found("host-root", "--privileged", remote)
    for mount in (*options.get("v", ()), *options.get("mount", ())):
        source = _source(mount)
        if source and _SOCKETS.fullmatch(source):
            yield Found("host-socket", source, remote)
        elif source in _HOST_DIRECTORIES or (source and source.rstrip("/") in _HOST_DIRECTORIES):
            read_only = re.search(r":ro\b|readonly|,ro\b", mount) is not None
            yield Found("host-files" if read_only and source != "/" else "host-root", f"the mount of {source}", remote)
    if "host" in (*options.get("pid", ()), *options.get("userns", ())):
        yield Found("host-root", "the processes of the host", remote)
    for name in options.get("cap-add", ()):
        if name.upper().removeprefix("CAP_") in _CAPABILITIES:
            yield Found("host-capability", name, remote)
    if any("unconfined" in one or "disable" in one for one in options.get("security-opt", ())):
        yield Found("host-capability", "security-opt", remote)
    if any(re.match(r"/dev/(?:sd|nvme|vd|mem|kmem|disk|mapper)", one) for one in options.get("device", ())):
        yield Found("host-root", "a disk of the host", remote)
    if "host" in options.get("network", ()):
        yield Found("host-network", "", remote)


def _source(mount: str) -> str:
    """Return what is mounted: ``/var`` of ``/var:/host``, or of ``type=bind,source=/var,target=/host``."""
    named = re.search(r"(?:^|,)(?:source|src)=([^,]*)", mount)
    source = named[1] if named else mount.partition(":")[0] if ":" in mount else ""
    return "/" + posixpath.normpath(source).lstrip("/") if source.startswith("/") else source


def _removed(arguments: Arguments) -> Iterator[Found]:
    """Read rm, rmi, stop and kill: what they are given may be all there is."""
    everything = any(MANY in word or not is_known(word) for word in arguments.operands)
    if any(word == MANY for word in arguments.operands) or (everything and len(arguments.operands) == 1):
        yield Found("container-all", "")
    elif arguments.has("v", "a", "all"):
        yield Found("container-data-loss" if arguments.has("v") else "container-all", " ".join(arguments.operands))
    else:
        yield Found("container-change", " ".join(arguments.operands))


_PRUNES = "image prune|builder prune|buildx prune|container prune|network prune|system prune|compose rm"

_ROWS = (
    Row("", ("--help",)),
    Row("container-data-loss", "--volumes", sub="system prune", options="a,all f,force volumes filter="),
    Row(
        "container-data-loss:words",
        sub="volume prune|volume rm|volume remove|system reset|machine rm|machine reset|pod rm",
    ),
    Row("container-cleanup", "-a", sub=_PRUNES, options="a,all f,force volumes filter= keep-storage="),
    Row("container-change", sub=_PRUNES),
    Row("container-image:words", "-f #>=1", sub="rmi|image rm|image remove", options="f,force no-prune", also=True),
    Row(
        _removed,
        sub="rm|container rm|container remove|rmi|image rm|image remove|stop|kill|container stop|container kill",
        options="f,force v,volumes l,link no-prune t=,time= s=,signal= a,all i,ignore",
    ),
    Row(
        "container-data-loss",
        ("-v", "--rmi=all"),
        sub="compose down",
        options="v,volumes rmi= remove-orphans t=,timeout= f=,file= p=,project-name= profile= env-file=",
    ),
    Row(
        "container-change",
        sub="compose down|compose rm|compose stop|compose kill|network rm|secret rm|config rm|context rm",
    ),
    Row("cloud-delete:words", sub="swarm leave|stack rm|stack remove|service rm|node rm|stack down"),
    Row(_run, sub="run|create|container run|container create", options=_RUN),
    Row("host-root", "--privileged", sub="exec|container exec", options="d i t u=,user= w= e= privileged env-file="),
    Row("host-root:value:cap-add", "--privileged", sub="compose run|compose exec", options="privileged"),
)
_COMPOSE = (
    "f=,file= p=,project-name= profile= env-file= project-directory= H=,host= ansi= parallel= context= progress= "
    "compatibility"
)

PROGRAMS = {
    "docker": Program(_ROWS, globals=_GLOBALS, aka="podman nerdctl finch", environment="c H"),
    "docker-compose": Program(
        (
            Row(
                "container-data-loss",
                ("-v", "--rmi=all"),
                sub="down",
                options="v,volumes rmi= remove-orphans t=,timeout=",
            ),
            Row("container-data-loss", "-v", sub="rm", options="v f,force s,stop"),
            Row("container-change", sub="down|rm|stop|kill"),
        ),
        globals=_COMPOSE,
        aka="podman-compose",
    ),
    "minikube": Program(
        (
            Row(
                "container-cluster:words",
                sub="delete|destroy|purge|cluster delete|delete cluster|delete clusters|factory-reset",
            ),
        ),
        globals="p=,profile= v=",
        aka="kind k3d colima limactl vagrant multipass microk8s lxc incus",
    ),
    "k3s-uninstall.sh": Program((Row("container-cluster"),), aka="k3s-agent-uninstall.sh rke2-uninstall.sh"),
    "kubeadm": Program((Row("container-cluster", sub="reset"),)),
}
