"""Programs for clusters and for infrastructure as code."""

from __future__ import annotations

from collections.abc import Iterator

from ....matching.shell.words import MANY, ONE
from ..rows import RUNS, Arguments, Found, Program, Row
from .verbs import CHANGE, DELETE, READ, UNKNOWN, WIDE, is_dry, values_of

__all__ = ["PROGRAMS"]


_KUBE_GLOBALS = (
    "n=,namespace= context= cluster= kubeconfig= user= s=,server= v= token= as= as-group= request-timeout= "
    "insecure-skip-tls-verify certificate-authority= client-key= client-certificate= cache-dir="
)
_KUBE_WIDE = """
    ns namespace namespaces project projects pv pvc persistentvolume persistentvolumes persistentvolumeclaim
    persistentvolumeclaims node nodes crd crds customresourcedefinition customresourcedefinitions all
    storageclass storageclasses clusterrole clusterroles
""".split()
_KUBE_READS = frozenset(
    """
        get describe logs top explain diff version api-resources api-versions cluster-info events wait
        options kustomize plugin completion whoami status auth proxy port-forward projects config alpha
        rollout
    """.split()
)
_DELETE_OPTIONS = (
    "f=,filename= k=,kustomize= l=,selector= A,all-namespaces all force now grace-period= R,recursive cascade= wait= "
    "field-selector= ignore-not-found o=,output= timeout= dry-run=?"
)


def _kubectl_delete(arguments: Arguments) -> Iterator[Found]:
    values = values_of(arguments, "context cluster n kubeconfig s user")
    if is_dry(arguments):
        yield Found(READ, "", values)
        return
    first = arguments.operands[0] if arguments.operands else ""
    kinds = {part.partition("/")[0].partition(".")[0].lower() for part in first.split(",")}
    wide = bool(kinds & set(_KUBE_WIDE)) or arguments.has("all", "A") or first in (ONE, MANY)
    target = " ".join(arguments.operands) or " ".join(arguments.options.get("f", arguments.options.get("k", ())))
    yield Found(WIDE if wide else DELETE, target, values)


def _kubectl(arguments: Arguments) -> Iterator[Found]:
    """Read every other subcommand of kubectl."""
    values = values_of(arguments, "context cluster n kubeconfig s user")
    words = arguments.operands
    first, second = "".join(words[:1]), "".join(words[1:2])
    if first == "config":
        if second in ("use-context", "set-context", "set-cluster"):
            yield Found("cloud-select", "".join(words[2:3]), values)
        elif second.startswith(("delete", "unset", "rename")):
            yield Found(CHANGE, " ".join(words[1:]), values)
        return
    if first in ("ctx", "ns"):
        return
    if first == "auth" and second == "reconcile":
        yield Found(CHANGE, second, values)
    elif first == "rollout" and second not in ("status", "history", ""):
        yield Found(READ if is_dry(arguments) else CHANGE, " ".join(words[2:]), values)
    elif first in _KUBE_READS or not first:
        yield Found(READ, " ".join(words[1:3]), values)
    else:
        yield Found(READ if is_dry(arguments) else CHANGE, " ".join(words[1:3]), values)


_LOOKS = frozenset("cat date df du free grep head hostname id ls ps pwd stat tail uname wc whoami".split())


def _kubectl_exec(arguments: Arguments) -> Iterator[Found]:
    """Read exec by the program that it runs in a container: some only look."""
    operands, dashes = arguments.operands, arguments.dashes
    inner = operands[dashes:] if dashes is not None else operands[1:]
    looks = "".join(inner[:1]) in _LOOKS
    values = values_of(arguments, "context cluster n kubeconfig s user")
    yield Found(READ if looks else CHANGE, "".join(operands[:1]), values)


_KUBECTL = Program(
    (
        Row(_kubectl_delete, sub="delete", options=_DELETE_OPTIONS),
        Row(
            "cloud-read",
            "--dry-run !--dry-run=none|false",
            sub="drain|evict|cordon|taint|replace|apply|scale",
            options="dry-run=?",
        ),
        Row("cloud-delete:words", sub="drain|evict"),
        Row(
            "cloud-delete:value:f",
            ("--force -f", "--prune -f"),
            sub="replace|apply",
            options="f=,filename= k=,kustomize= force R server-side prune l=,selector= all dry-run=?",
        ),
        Row("cloud-delete", ("--force", "--prune"), sub="replace|apply", options="force prune"),
        Row("cloud-delete:words", "--replicas=0", sub="scale", options="replicas= l= f= current-replicas= all"),
        Row("cloud-read", sub="port-forward|proxy"),
        Row(_kubectl_exec, sub="exec|rsh"),
        Row("cloud-change:first", sub="cp|attach|debug"),
        Row(_kubectl),
    ),
    globals=_KUBE_GLOBALS,
    aka="oc k microk8s.kubectl kubecolor k3s-kubectl kubectl.exe",
    environment="context cluster n kubeconfig s user",
)

_HELM = Program(
    (
        Row("cloud-read", "--dry-run !--dry-run=none|false", options="dry-run=?"),
        Row("cloud-delete:words", sub="uninstall|delete|un|del"),
        Row(
            "cloud-delete:first", "--force", sub="upgrade|rollback", options="force i,install f=,values= set= version="
        ),
        Row(
            "cloud-change:first",
            sub="install|upgrade|rollback|push|plugin uninstall|repo remove",
            options="i,install f=,values= set= set-string= version= reset-values atomic wait create-namespace timeout=",
        ),
        Row("cloud-change:words", UNKNOWN),
        Row("cloud-read"),
    ),
    globals="n=,namespace= kube-context= kubeconfig= debug registry-config= repository-config= kube-apiserver=",
    environment="kube-context n kubeconfig",
)

# Infrastructure as code.

_TERRAFORM_OPTIONS = (
    "auto-approve destroy var= var-file= target= refresh=? input= lock= replace= state= parallelism= "
    "compact-warnings json "
    "force out= refresh-only no-color chdir= lock-timeout= backup= terragrunt-non-interactive "
    "terragrunt-working-dir= yes,y"
)


def _terraform(arguments: Arguments) -> Iterator[Found]:
    values = (*values_of(arguments, "chdir var-file var"), *_words_of(arguments, ("workspace", "select")))
    words = [word for word in arguments.operands if word not in ("run-all", "run", "--", "all")]
    first, second = "".join(words[:1]), "".join(words[1:2])
    target = " ".join([*arguments.options.get("target", ()), *arguments.options.get("chdir", ())]) or "what it manages"
    if arguments.has("help", "h"):
        return
    if first in (ONE, MANY):
        yield Found(CHANGE, target, values)
    elif first in ("destroy", "destroy-all") or (first in ("apply", "apply-all", "run") and arguments.has("destroy")):
        # Without -auto-approve it waits for an answer, which only a line that pipes one in gives.
        waits = arguments.waits_for_person and not arguments.has(
            "auto-approve", "force", "yes", "terragrunt-non-interactive"
        )
        yield Found(DELETE if waits or arguments.has("target") else WIDE, target, values)
    elif first == "apply" and arguments.has("auto-approve"):
        yield Found("cloud-change-unseen", target, values)
    elif (
        (first, second) == ("state", "rm")
        or first == "force-unlock"
        or (first, second) == ("state", "push")
        or (first, second) == ("workspace", "delete")
    ):
        yield Found(DELETE, " ".join(words[1:]), values)
    elif (first, second) == ("workspace", "select"):
        yield Found("cloud-select", " ".join(words[2:3]), values)
    elif first in ("apply", "apply-all", "import", "taint", "untaint") or (
        first == "state" and second in ("mv", "replace-provider")
    ):
        yield Found(READ if second in ("list", "show", "pull") else CHANGE, target, values)
    elif first:
        yield Found(READ, "", values)


def _words_of(arguments: Arguments, sub: tuple[str, ...]) -> tuple[str, ...]:
    words = tuple(arguments.operands)
    return words[len(sub) : len(sub) + 1] if words[: len(sub)] == sub else ()


def _pulumi(arguments: Arguments) -> Iterator[Found]:
    values = values_of(arguments, "s")
    words = arguments.operands
    first, second = "".join(words[:1]), "".join(words[1:2])
    if first in (ONE, MANY):
        yield Found(CHANGE, "the stack", values)
    elif first in ("destroy", "down") or (first, second) == ("stack", "rm"):
        yield Found(READ if arguments.has("preview-only") else WIDE, second or "the stack", values)
    elif (first, second) in (("state", "delete"), ("config", "rm"), ("org", "remove")) or first == "cancel":
        yield Found(DELETE, " ".join(words[1:]), values)
    elif (first, second) == ("stack", "select"):
        yield Found("cloud-select", "".join(words[2:3]), values)
    elif first in ("up", "update") and arguments.has("y", "f"):
        yield Found("cloud-change-unseen", "the stack", values)
    elif first in ("up", "update", "import", "refresh") or (first, second) in (("config", "set"), ("stack", "init")):
        yield Found(CHANGE, "the stack", values)
    elif first:
        yield Found(READ, "", values)


def _ansible(arguments: Arguments) -> Iterator[Found]:
    values = (*values_of(arguments, "i l"), *(arguments.operands if arguments.program == "ansible" else ()))
    reads = ("C", "check", "list-hosts", "list-tasks", "list-tags", "syntax-check", "version")
    module = arguments.value("m") or "command"
    if arguments.has(*reads) or (arguments.program == "ansible" and module in ("ping", "setup", "debug", "stat")):
        yield Found(READ, "", values)
    elif arguments.operands:
        yield Found(CHANGE, " ".join(arguments.operands), values)
        if arguments.program == "ansible" and module in ("command", "shell", "raw"):
            yield from (Found(RUNS, text) for text in arguments.options.get("a", ()))


PROGRAMS: dict[str, Program] = {
    "kubectl": _KUBECTL,
    "kubectx": Program(
        (Row("cloud-delete:value:d", "-d"), Row("cloud-select:first", "#>=1")), options="d= c,current u", aka="kubens"
    ),
    "helm": _HELM,
    "helmfile": Program(
        (
            Row("cloud-delete-wide", sub="destroy|delete"),
            Row("cloud-change", sub="apply|sync"),
            Row("cloud-read"),
        ),
        globals="e=,environment= f=,file= n=,namespace= l=,selector= kube-context= q",
        environment="e n kube-context",
    ),
    "terraform": Program(
        effects=_terraform, options=_TERRAFORM_OPTIONS, globals="chdir= version help", aka="tofu terragrunt tf opentofu"
    ),
    "pulumi": Program(
        effects=_pulumi, options="s=,stack= y,yes f,skip-preview preview-only C=,cwd= t=,target= preview-only"
    ),
    "ansible": Program(
        effects=_ansible,
        options="i=,inventory= l=,limit= C,check m=,module-name= a=,args= e=,extra-vars= u= b K k f= t=,tags= "
        "list-hosts list-tasks list-tags syntax-check D v vault-password-file= private-key= skip-tags= start-at-task=",
    ),
    "ansible-playbook": Program(
        effects=_ansible,
        options="i=,inventory= l=,limit= C,check e=,extra-vars= u= b K k f= t=,tags= list-hosts "
        "list-tasks list-tags syntax-check D v vault-password-file= private-key= skip-tags= start-at-task=",
    ),
}
