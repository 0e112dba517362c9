"""Programs for clusters, clouds and other services: what reads, what changes, what deletes, and how much.

The programs have thousands of commands, whose verbs say what they do. A program is a list of groups of words before the
verb is known; the tables have the exceptions.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator
from functools import cache

from ....matching.shell.words import MANY, ONE, is_known
from ..rows import Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]

# Verbs. A verb is a whole word of a subcommand, or its part before the first dash or colon-separated part.

_READS = [
    "list",
    "ls",
    "get",
    "show",
    "describe",
    "status",
    "logs",
    "log",
    "tail",
    "info",
    "view",
    "cat",
    "read",
    "search",
    "find",
    "check",
    "validate",
    "verify",
    "inspect",
    "diff",
    "plan",
    "preview",
    "version",
    "whoami",
    "who-am-i",
    "help",
    "history",
    "top",
    "explain",
    "lookup",
    "query",
    "scan",
    "print",
    "fmt",
    "graph",
    "output",
    "outputs",
    "console",
    "providers",
    "metadata",
    "stat",
    "du",
    "hash",
    "test",
    "ping",
    "dump",
    "stats",
    "size",
    "head",
    "exists",
    "wait",
    "watch",
    "open",
    "browse",
    "doctor",
    "docs",
    "completion",
    "template",
    "lint",
    "tree",
    "events",
    "usage",
    "about",
    "snapshots",
    "snapshot-list",
    "export",
    "download",
    "dry-run",
    "estimate",
    "simulate",
    "count",
    "current",
    "current-context",
    "cluster-info",
    "api-resources",
    "api-versions",
    "options",
    "config-view",
    "login",
    "logout",
    "auth",
    "init",
    "setup",
    "configure",
    "completions",
    "env-list",
    "regions",
    "zones",
    "locations",
    "pull",
    "fetch",
    "examples",
    "whatis",
    "health",
    "monitor",
    "trace",
    "profile",
    "report",
    "summary",
    "compare",
    "releases",
    "tags",
    "images",
    "commands",
    "man",
    "shell-init",
    "use-context",
    "use",
]
_DELETES = [
    "delete",
    "del",
    "destroy",
    "remove",
    "rm",
    "rb",
    "purge",
    "drop",
    "unregister",
    "undeploy",
    "revoke",
    "archive",
    "forget",
    "wipe",
    "reset",
    "clear",
    "terminate",
    "uninstall",
    "teardown",
    "prune",
    "decommission",
    "deregister",
    "detach",
    "disassociate",
    "evict",
    "drain",
    "flush",
    "nuke",
    "unset",
    "kill",
    "deprovision",
    "deallocate",
    "truncate",
    "clean",
    "cleanup",
    "force-reset",
    "force-unlock",
    "unpublish",
    "invalidate",
    "expire",
    "down",
    "disable",
]
_CHANGES = [
    "create",
    "update",
    "set",
    "put",
    "apply",
    "deploy",
    "push",
    "up",
    "add",
    "edit",
    "patch",
    "replace",
    "scale",
    "restart",
    "start",
    "stop",
    "enable",
    "rollback",
    "promote",
    "import",
    "install",
    "upgrade",
    "publish",
    "run",
    "exec",
    "write",
    "attach",
    "associate",
    "register",
    "grant",
    "rotate",
    "move",
    "mv",
    "copy",
    "cp",
    "sync",
    "restore",
    "rename",
    "resize",
    "release",
    "redeploy",
    "activate",
    "assign",
    "invoke",
    "send",
    "trigger",
    "approve",
    "cancel",
    "merge",
    "close",
    "reopen",
    "transfer",
    "suspend",
    "resume",
    "pause",
    "unpause",
    "failover",
    "migrate",
    "roll",
    "refresh",
    "taint",
    "untaint",
    "modify",
    "change",
    "tag",
    "label",
    "annotate",
    "cordon",
    "uncordon",
    "provision",
    "bootstrap",
    "reboot",
    "launch",
    "insert",
    "alter",
]

_READ, _CHANGE, _DELETE, _WIDE = "cloud-read", "cloud-change", "cloud-delete", "cloud-delete-wide"


@cache
def _kind_of(word: str, whole: bool = False) -> str:
    """Return what a verb does; empty if it is no known verb. With ``whole``, parts of the word do not count."""
    plain = word.lower()
    parts = re.split(r"[-_:]", plain)
    for part in (plain,) if whole else dict.fromkeys((plain, parts[0], parts[-1])):
        if part in _DELETE_SET:
            return _DELETE
        if part in _READ_SET:
            return _READ
        if part in _CHANGE_SET:
            return _CHANGE
    return ""


def _verb(words: list[str], first: int) -> tuple[str, int]:
    """Return what the verb among words does, and where it is: the first word that is one, else one with a verb in it.

    Some verbs are nouns too: in ``velero restore delete`` the second word is the verb.
    """
    for whole in (True, False):
        for at, word in enumerate(words[first:6], first):
            kind = _kind_of(word, whole)
            if kind and not (whole and kind != _DELETE and at == 0 and _kind_of("".join(words[1:2]), True)):
                return kind, at
    return "", 0


_READ_SET, _DELETE_SET, _CHANGE_SET = frozenset(_READS), frozenset(_DELETES), frozenset(_CHANGES)

_DRY = frozenset(
    [
        "--dry-run",
        "--dryrun",
        "--check",
        "--noop",
        "--what-if",
        "--whatif",
        "--preview",
        "--plan",
        "--generate-cli-skeleton",
    ]
)


def _is_dry(arguments: Arguments) -> bool:
    """Return whether the command only shows what it would do."""
    for word in arguments.words:
        name, _, value = word.partition("=")
        if name in _DRY and value not in ("none", "false"):
            return True
    return False


def _values(arguments: Arguments, names: str) -> tuple[str, ...]:
    """Return the values that may say which environment it is: of options, and of variables that are set."""
    given = [value for name in names.split() for value in arguments.options.get(name, ())]
    return (*given, *(value for _, value in arguments.command.assigned))


def _by_verb(
    names: str, *, wide: str = "", unknown: str = "", first: int = 0
) -> Callable[[Arguments], Iterator[Found]]:
    """Return a function that reads a command by its verb: the first word that is one.

    ``names`` are the options that say which environment it is; ``wide`` has the subcommands after which everything
    in something is lost; ``unknown`` is the effect of a command without a known verb; ``first`` words are skipped.
    """
    patterns = [one.split() for one in wide.split("|") if one]

    def effects(arguments: Arguments) -> Iterator[Found]:
        words = [word for word in arguments.operands if word]
        if not words or words[0] in ("help", "version"):
            return
        kind, at = _verb(words, first)
        if any(word in (ONE, MANY) for word in words[: at + 1]):
            kind = _CHANGE
        kind = kind or unknown
        if not kind:
            return
        if kind != _READ and _is_dry(arguments):
            kind = _READ
        if kind == _DELETE and any(_begins(words, one) for one in patterns):
            kind = _WIDE
        yield Found(kind, " ".join(words[at + 1 :][:3]) or " ".join(words[:at]), _values(arguments, names))

    return effects


def _begins(words: list[str], pattern: list[str]) -> bool:
    return len(words) >= len(pattern) and all(
        fnmatch.fnmatchcase(word, one) for word, one in zip(words, pattern, strict=False)
    )


# Clusters.

_KUBE_GLOBALS = (
    "n=,namespace= context= cluster= kubeconfig= user= s=,server= v= token= as= as-group= request-timeout= "
    "insecure-skip-tls-verify certificate-authority= client-key= client-certificate= cache-dir="
)
_KUBE_WIDE = [
    "ns",
    "namespace",
    "namespaces",
    "project",
    "projects",
    "pv",
    "pvc",
    "persistentvolume",
    "persistentvolumes",
    "persistentvolumeclaim",
    "persistentvolumeclaims",
    "node",
    "nodes",
    "crd",
    "crds",
    "customresourcedefinition",
    "customresourcedefinitions",
    "all",
    "storageclass",
    "storageclasses",
    "clusterrole",
    "clusterroles",
]
_KUBE_READS = frozenset(
    [
        "get",
        "describe",
        "logs",
        "top",
        "explain",
        "diff",
        "version",
        "api-resources",
        "api-versions",
        "cluster-info",
        "events",
        "wait",
        "options",
        "kustomize",
        "plugin",
        "completion",
        "whoami",
        "status",
        "auth",
        "proxy",
        "port-forward",
        "projects",
        "config",
        "alpha",
        "rollout",
    ]
)
_DELETE_OPTIONS = (
    "f=,filename= k=,kustomize= l=,selector= A,all-namespaces all force now grace-period= R,recursive cascade= wait= "
    "field-selector= ignore-not-found o=,output= timeout= dry-run=?"
)


def _kubectl_delete(arguments: Arguments) -> Iterator[Found]:
    values = _values(arguments, "context cluster n kubeconfig s user")
    if _is_dry(arguments):
        yield Found(_READ, "", values)
        return
    first = arguments.operands[0] if arguments.operands else ""
    kinds = {part.partition("/")[0].partition(".")[0].lower() for part in first.split(",")}
    wide = bool(kinds & set(_KUBE_WIDE)) or arguments.has("all", "A") or first in (ONE, MANY)
    target = " ".join(arguments.operands) or " ".join(arguments.options.get("f", arguments.options.get("k", ())))
    yield Found(_WIDE if wide else _DELETE, target, values)


def _kubectl(arguments: Arguments) -> Iterator[Found]:
    """Read every other subcommand of kubectl."""
    values = _values(arguments, "context cluster n kubeconfig s user")
    words = arguments.operands
    first, second = "".join(words[:1]), "".join(words[1:2])
    if first == "config":
        if second in ("use-context", "set-context", "set-cluster"):
            yield Found("cloud-select", "".join(words[2:3]), values)
        elif second.startswith(("delete", "unset", "rename")):
            yield Found(_CHANGE, " ".join(words[1:]), values)
        return
    if first in ("ctx", "ns"):
        return
    if first == "auth" and second == "reconcile":
        yield Found(_CHANGE, second, values)
    elif first == "rollout" and second not in ("status", "history", ""):
        yield Found(_READ if _is_dry(arguments) else _CHANGE, " ".join(words[2:]), values)
    elif first in _KUBE_READS or not first:
        yield Found(_READ, " ".join(words[1:3]), values)
    else:
        yield Found(_READ if _is_dry(arguments) else _CHANGE, " ".join(words[1:3]), values)


_KUBECTL = Program(
    (
        Row(_kubectl_delete, sub="delete", options=_DELETE_OPTIONS),
        Row("cloud-read", "--dry-run", sub="drain|evict|cordon|taint|replace|apply|scale", options="dry-run=?"),
        Row("cloud-delete:words", sub="drain|evict"),
        Row("cloud-delete:value:f", ("--force -f", "--prune -f"), sub="replace|apply",
            options="f=,filename= k=,kustomize= force R server-side prune l=,selector= all dry-run=?"),
        Row("cloud-delete", ("--force", "--prune"), sub="replace|apply", options="force prune"),
        Row("cloud-delete:words", "--replicas=0", sub="scale", options="replicas= l= f= current-replicas= all"),
        Row("", sub="exec|rsh|cp|attach|debug|port-forward|proxy"),
        Row(_kubectl),
    ),
    globals=_KUBE_GLOBALS,
    aka="oc k microk8s.kubectl kubecolor k3s-kubectl kubectl.exe",
    environment="context cluster n kubeconfig s user",
)  # fmt: skip

_HELM = Program(
    (
        Row("cloud-read", "--dry-run", options="dry-run=?"),
        Row("cloud-delete:words", sub="uninstall|delete|un|del"),
        Row("cloud-delete:first", "--force", sub="upgrade|rollback", options="force i,install f=,values= set= version="),
        Row("cloud-change:first", sub="install|upgrade|rollback|push|plugin uninstall|repo remove",
            options="i,install f=,values= set= set-string= version= reset-values atomic wait create-namespace timeout="),
        Row("cloud-read"),
    ),
    globals="n=,namespace= kube-context= kubeconfig= debug registry-config= repository-config= kube-apiserver=",
    environment="kube-context n kubeconfig",
)  # fmt: skip

# Infrastructure as code.

_TERRAFORM_OPTIONS = (
    "auto-approve destroy var= var-file= target= refresh=? input= lock= replace= state= parallelism= compact-warnings json "
    "force out= refresh-only no-color chdir= lock-timeout= backup= terragrunt-non-interactive terragrunt-working-dir= yes,y"
)


def _terraform(arguments: Arguments) -> Iterator[Found]:
    values = (*_values(arguments, "chdir var-file var"), *_words_of(arguments, ("workspace", "select")))
    words = [word for word in arguments.operands if word not in ("run-all", "run", "--", "all")]
    first, second = "".join(words[:1]), "".join(words[1:2])
    target = " ".join([*arguments.options.get("target", ()), *arguments.options.get("chdir", ())]) or "what it manages"
    if first == "destroy" or (first in ("apply", "run") and arguments.has("destroy")):
        yield Found(_DELETE if arguments.has("target") else _WIDE, target, values)
    elif first == "apply" and arguments.has("auto-approve"):
        yield Found("cloud-change-unseen", target, values)
    elif (
        (first, second) == ("state", "rm")
        or first == "force-unlock"
        or (first, second) == ("state", "push")
        or (first, second) == ("workspace", "delete")
    ):
        yield Found(_DELETE, " ".join(words[1:]), values)
    elif (first, second) == ("workspace", "select"):
        yield Found("cloud-select", " ".join(words[2:3]), values)
    elif first in ("apply", "import", "taint", "untaint") or (
        first == "state" and second in ("mv", "replace-provider")
    ):
        yield Found(_READ if second in ("list", "show", "pull") else _CHANGE, target, values)
    elif first:
        yield Found(_READ, "", values)


def _words_of(arguments: Arguments, sub: tuple[str, ...]) -> tuple[str, ...]:
    words = tuple(arguments.operands)
    return words[len(sub) : len(sub) + 1] if words[: len(sub)] == sub else ()


def _pulumi(arguments: Arguments) -> Iterator[Found]:
    values = _values(arguments, "s")
    words = arguments.operands
    first, second = "".join(words[:1]), "".join(words[1:2])
    if first in ("destroy", "down") or (first, second) == ("stack", "rm"):
        yield Found(_READ if arguments.has("preview-only") else _WIDE, second or "the stack", values)
    elif (first, second) in (("state", "delete"), ("config", "rm"), ("org", "remove")) or first == "cancel":
        yield Found(_DELETE, " ".join(words[1:]), values)
    elif (first, second) == ("stack", "select"):
        yield Found("cloud-select", "".join(words[2:3]), values)
    elif first in ("up", "update") and arguments.has("y", "f"):
        yield Found("cloud-change-unseen", "the stack", values)
    elif first in ("up", "update", "import", "refresh") or (first, second) in (("config", "set"), ("stack", "init")):
        yield Found(_CHANGE, "the stack", values)
    elif first:
        yield Found(_READ, "", values)


def _ansible(arguments: Arguments) -> Iterator[Found]:
    values = (*_values(arguments, "i l"), *(arguments.operands if arguments.program == "ansible" else ()))
    reads = ("C", "check", "list-hosts", "list-tasks", "list-tags", "syntax-check", "version")
    module = arguments.value("m") or "command"
    if arguments.has(*reads) or (arguments.program == "ansible" and module in ("ping", "setup", "debug", "stat")):
        yield Found(_READ, "", values)
    elif arguments.operands:
        yield Found(_CHANGE, " ".join(arguments.operands), values)


# Clouds.

_AWS_DELETE = re.compile(
    r"(?:batch-)?(?:delete|terminate|remove|deregister|purge|destroy|disassociate|detach|revoke|release|disable|abort"
    r"|schedule-key-deletion|reset|forget|cancel-key)(?:-|$)|rb$|rm$"
)
_AWS_READ = re.compile(
    r"(?:describe|list|get|head|lookup|search|query|scan|batch-get|filter|estimate|validate|simulate|preview|test|help|wait"
    r"|ls|presign|select|download|export|receive|poll|detect|decode|tail|check|view|discover|compare|verify|generate-cli"
    r"|detect|sign|is|lint|start-query|stop-query|start-live-tail|assume|generate|retrieve|explain|history|logs"
    r"|package|build|login|logout|sso|list-|transact-get|synthesize|classify|calculate|match|resolve|encrypt|decrypt)(?:-|$)"
)
_AWS_WIDE = (
    "s3 rb|ec2 terminate-instances|rds delete-db-*|cloudformation delete-stack*|eks delete-cluster|dynamodb delete-table|"
    "s3api delete-bucket|kms schedule-key-deletion|organizations delete-*|organizations remove-*|organizations close-*|"
    "route53 delete-hosted-zone|redshift delete-cluster|efs delete-file-system|backup delete-*|ecr delete-repository|"
    "ec2 delete-vpc|ecs delete-cluster|elasticache delete-*|logs delete-log-group|opensearch delete-domain|es delete-*|"
    "docdb delete-*|neptune delete-*|s3control delete-*"
)
_AWS_WIDE_PATTERNS = tuple(one.split() for one in _AWS_WIDE.split("|"))


def _aws(arguments: Arguments) -> Iterator[Found]:
    values = _values(arguments, "profile region")
    words = arguments.operands
    service, operation = "".join(words[:1]), "".join(words[1:2])
    if not operation or operation == "help":
        return
    target = " ".join(words[2:4]) or f"{service} {operation}"
    if service in (ONE, MANY) or operation in (ONE, MANY):
        yield Found(_CHANGE, target, values)
    elif _is_dry(arguments):
        yield Found(_READ, target, values)
    elif service == "s3":
        yield from _s3(operation, arguments, values)
    elif service == "configure":
        if operation in ("set", "sso", "import", "add-model"):
            yield Found(_CHANGE, target, values)
    elif service == "route53" and operation == "change-resource-record-sets":
        text = " ".join(arguments.words)
        yield Found(_DELETE if re.search(r'"DELETE"|Action=DELETE', text) else _CHANGE, target, values)
    elif _AWS_READ.match(operation.removeprefix("admin-")):
        yield Found(_READ, target, values)
    elif _AWS_DELETE.match(operation.removeprefix("admin-")):
        wide = any(_begins(words, one) for one in _AWS_WIDE_PATTERNS)
        yield Found(_WIDE if wide else _DELETE, target, values)
    else:
        yield Found(_CHANGE, target, values)


def _s3(operation: str, arguments: Arguments, values: tuple[str, ...]) -> Iterator[Found]:
    words = arguments.operands[2:]
    target = " ".join(words)
    if operation == "rb" or (operation == "rm" and arguments.has("recursive")):
        yield Found(_WIDE, target, values)
    elif (
        operation in ("rm",)
        or (operation == "mv" and "".join(words[:1]).startswith("s3:"))
        or (operation == "sync" and arguments.has("delete") and not _is_local(words[-1:]))
    ):
        yield Found(_DELETE, target, values)
    elif operation in ("cp", "sync", "mv", "mb", "website"):
        yield Found(_READ if _is_local(words[-1:]) and operation != "mb" else _CHANGE, target, values)
    else:
        yield Found(_READ, target, values)


def _is_local(words: list[str]) -> bool:
    return not any(re.match(r"(?:s3|gs|az|https?):", word) for word in words)


_GCLOUD_WIDE = (
    "projects delete|sql instances delete|container clusters delete|compute disks delete|kms keys versions destroy|"
    "spanner databases delete|spanner instances delete|storage buckets delete|bigtable instances delete|"
    "dns managed-zones delete|artifacts repositories delete|filestore instances delete|alloydb clusters delete|"
    "redis instances delete|compute networks delete|organizations *"
)
_GCLOUD_GLOBALS = (
    "q,quiet project= account= configuration= verbosity= format= impersonate-service-account= zone= region= flatten= "
    "filter= location= cluster= limit= sort-by= instance= database= secret= key= billing-project= user-output-enabled="
)
_gcloud_verb = _by_verb("project configuration cluster", wide=_GCLOUD_WIDE, unknown=_CHANGE, first=1)
_GCLOUD_READS = frozenset({"auth", "info", "version", "init", "help", "topic", "components", "feedback", "cheat-sheet"})


def _gcloud(arguments: Arguments) -> Iterator[Found]:
    words = [word for word in arguments.operands if word not in ("beta", "alpha", "preview")]
    values = _values(arguments, "project configuration")
    if words[:2] == ["config", "set"] or words[:3] == ["config", "configurations", "activate"]:
        yield Found("cloud-select", "".join(words[-1:]), values)
    elif words[:1] and words[0] in _GCLOUD_READS:
        return
    elif words[:2] == ["storage", "rm"]:
        yield Found(_WIDE if arguments.has("r") else _DELETE, " ".join(words[2:]), values)
    elif words[:2] in (["storage", "rsync"], ["storage", "cp"], ["storage", "mv"]):
        if arguments.has("delete-unmatched-destination-objects", "d") or words[1] == "mv":
            yield Found(_DELETE, " ".join(words[2:]), values)
        else:
            yield Found(_READ if _is_local(words[-1:]) else _CHANGE, " ".join(words[2:]), values)
    elif words[:2] == ["compute", "ssh"] or words[:2] == ["compute", "scp"] or words[:1] == ["workspace"]:
        yield Found(_CHANGE, " ".join(words[2:]), values)
    else:
        yield from _gcloud_verb(arguments._replace(operands=words))


def _gsutil(arguments: Arguments) -> Iterator[Found]:
    words = arguments.operands
    first, target = "".join(words[:1]), " ".join(words[1:])
    if first == "rb" or (first == "rm" and arguments.has("r", "R", "a")):
        yield Found(_WIDE, target)
    elif first in ("rm", "mv") or (first == "rsync" and arguments.has("d")):
        yield Found(_DELETE, target)
    elif first in (
        "cp",
        "rsync",
        "mb",
        "setmeta",
        "acl",
        "iam",
        "defacl",
        "lifecycle",
        "versioning",
        "web",
        "cors",
        "compose",
    ):
        reads = {"get", "list"} & set(words[1:2])
        yield Found(_READ if reads or (first in ("cp", "rsync") and _is_local(words[-1:])) else _CHANGE, target)
    elif first:
        yield Found(_READ, target)


def _bq(arguments: Arguments) -> Iterator[Found]:
    first, target = "".join(arguments.operands[:1]), " ".join(arguments.operands[1:])
    if first == "rm":
        yield Found(_WIDE if arguments.has("r", "d") else _DELETE, target, _values(arguments, "project_id"))
    elif first in ("mk", "load", "cp", "update", "insert", "cancel", "extract", "set-iam-policy", "truncate"):
        yield Found(_DELETE if first == "truncate" else _CHANGE, target, _values(arguments, "project_id"))
    elif first:
        yield Found(_READ, target)


_AZ_WIDE = (
    "group delete|aks delete|sql server delete|sql db delete|storage account delete|storage container delete|keyvault delete|"
    "keyvault purge|cosmosdb delete|vm delete|network dns zone delete|acr delete|postgres * delete|mysql * delete|"
    "redis delete|storage blob delete-batch|ad app delete|backup vault delete|deployment * delete"
)
_az_verb = _by_verb("subscription g", wide=_AZ_WIDE, unknown=_CHANGE, first=1)


def _az(arguments: Arguments) -> Iterator[Found]:
    words = arguments.operands
    if words[:2] == ["account", "set"]:
        yield Found("cloud-select", arguments.value("subscription") or arguments.value("s") or "", ())
    elif words[:1] and words[0] in (
        "login",
        "logout",
        "version",
        "find",
        "interactive",
        "feedback",
        "upgrade",
        "configure",
    ):
        return
    elif words[:1] == ["rest"]:
        method = (arguments.value("method") or "get").upper()
        kind = _DELETE if method == "DELETE" else _READ if method in ("GET", "HEAD") else _CHANGE
        yield Found(kind, arguments.value("uri") or "", _values(arguments, "subscription"))
    else:
        yield from _az_verb(arguments)


# Code hosting.

_API = "X=,method= f=,raw-field= F=,field= H=,header= input= paginate q=,jq= t=,template= silent i,include hostname= cache= p=,preview= verbose slurp"


def _api(arguments: Arguments) -> Iterator[Found]:
    method = (arguments.value("X") or "").upper()
    target = "".join(arguments.operands[:1])
    if method == "DELETE" or not is_known(method):
        yield Found(_DELETE, target)
    elif target == "graphql" or target.endswith("/graphql"):
        text = " ".join(value for name in ("f", "F") for value in arguments.options.get(name, ()))
        yield Found(
            _DELETE if re.search(r"\bmutation\b[^}]*\bdelete", text) else _CHANGE if "mutation" in text else _READ,
            target,
        )
    elif method in ("POST", "PUT", "PATCH") or (not method and arguments.has("f", "F", "input")):
        yield Found(_CHANGE, target)
    else:
        yield Found(_READ, target)


_GH_DELETES = (
    "release delete|release delete-asset|secret delete|secret remove|variable delete|variable remove|ssh-key delete|"
    "gpg-key delete|cache delete|run delete|codespace delete|issue delete|gist delete|label delete|project delete|"
    "project item-delete|project field-delete|repo deploy-key delete|workflow disable|ci delete|mr delete|ci cancel|"
    "deploy-key delete|milestone delete|pipeline delete|token revoke|release asset delete|schedule delete|snippet delete|"
    "runner delete|runner unregister|variable rm|label remove|repo deploy-key remove|runner-controller delete"
)

_GH = Program(
    (
        Row("cloud-delete-wide:words", sub="repo delete|repo archive|group delete|project delete"),
        Row("cloud-delete:words", sub=_GH_DELETES),
        Row("cloud-change:words", "--visibility", sub="repo edit", options="visibility= default-branch= accept-visibility-change-consequences"),
        Row("cloud-change:words", sub="repo rename|repo transfer|repo edit|repo sync|secret set|variable set|workflow enable|workflow run|"
            "run rerun|run cancel|ruleset create|ssh-key add|gpg-key add|repo deploy-key add|codespace create|ci run|ci retry|ci trigger|"
            "repo unarchive|secret update|variable update|schedule run"),
        Row(_api, sub="api", options=_API),
        Row("cloud-read"),
    ),
    globals="R=,repo= hostname=",
    aka="hub glab",
)  # fmt: skip

# Other services, by their verbs.

_service = _by_verb(
    "a app e env environment context c config project p profile n namespace stack s site org o cluster team"
)


def _dashed(arguments: Arguments) -> Iterator[Found]:
    """Read programs whose verbs are options: ``kafka-topics --delete``."""
    names = {word.partition("=")[0].lstrip("-") for word in arguments.words if word.startswith("--")}
    target = " ".join([*arguments.options.get("topic", ()), *arguments.options.get("group", ())])
    if (
        "delete-records" in arguments.program
        or names & {"delete", "remove", "delete-config", "delete-offsets"}
        or (names & {"reset-offsets"} and "execute" in names)
    ):
        yield Found(_DELETE, target)
    elif names & {"alter", "create", "add", "reset-offsets"}:
        yield Found(_CHANGE, target)


_HEROKU = Program(
    (
        Row("cloud-delete-wide:words", sub="apps:destroy|apps:delete|destroy|pg:reset|addons:destroy|pipelines:destroy|spaces:destroy|repo:reset|repo:purge_cache"),
        Row("cloud-delete:words", sub="*:destroy|*:remove|*:rm|*:unset|*:clear|*:kill|*:stop|*:revoke|*:leave|*:disable|*:detach|*:rotate|container:rm|maintenance:on|pg:kill*|clients:*"),
        Row("cloud-change:words", sub="*:set|*:scale|*:rollback|*:rename|*:add|*:update|*:release|*:restart|*:promote|*:create|*:upgrade|*:copy|*:restore|*:resize|*:type|*:transfer|pg:*|deploy|restart|scale|create|run"),
        Row("cloud-read"),
    ),
    globals="a=,app= r=,remote= t=,team=",
    options="c=,confirm= force",
    environment="a r",
)  # fmt: skip

_SERVICES = (
    "flyctl netlify wrangler firebase railway supabase doctl linode-cli hcloud surge ionosctl oci ibmcloud scw civo eksctl "
    "argocd flux velero consul nomad vault doppler op kamal atmos rancher nats fastly apigeecli ldcli unleash flipt stripe "
    "algolia pd newrelic datadog-ci circleci rabbitmqctl rabbitmqadmin gitlab-runner rpk restic borg rclone mc s3cmd s5cmd "
    "azcopy grafana-cli splunk square deck confluent ccloud neonctl neon turso pscale planetscale render cf "
    "snyk sentry-cli temporal tctl istioctl linkerd kops cloudctl upsun platform porter aptible dokku caprover gitlab-rake "
    "vcluster teleport tsh tctl tailscale elastic-cli auth0 okta clever koyeb zeabur qovery northflank "
    "twilio shopify contentful sanity hasura appwrite pocketbase mongocli atlas redisctl pinecone influx "
    "amplify copilot eb sam serverless sls sst cdk cdktf chalice arc zappa up now vercel nix-copy knife chef salt puppet"
)
_WHOLE = frozenset({"destroy", "teardown", "nuke", "uninstall", "remove", "delete", "terminate"})
_DEPLOYERS = frozenset(
    [
        "amplify",
        "copilot",
        "eb",
        "sam",
        "serverless",
        "sls",
        "sst",
        "cdk",
        "cdktf",
        "chalice",
        "arc",
        "zappa",
        "up",
        "kamal",
    ]
)


def _services(arguments: Arguments) -> Iterator[Found]:
    name = arguments.command.name.lower()
    words = arguments.operands
    if name in _DEPLOYERS and words[:1] and words[0] in _WHOLE:
        yield Found(
            _READ if _is_dry(arguments) else _WIDE,
            " ".join(words[1:]) or "the application",
            _values(arguments, "stage s profile"),
        )
        return
    if name == "vault" and words[1:2] == ["disable"]:
        yield Found(_WIDE, " ".join(words[2:]), _values(arguments, "namespace"))
        return
    if name == "eksctl" and words[:2] == ["delete", "cluster"]:
        yield Found(_WIDE, " ".join(words[2:]), _values(arguments, "profile"))
        return
    extra = _EXTRA.get(name)
    if extra is not None and words[:1]:
        for verbs, options in extra:
            if (
                words[0] in verbs.split()
                and (not options or arguments.has(*options.split()))
                and not _is_dry(arguments)
            ):
                if not (name in ("rclone", "restic", "borg", "mc") and arguments.has("n", "dry-run")):
                    yield Found(_DELETE, " ".join(words[1:]), _values(arguments, "env"))
                return
    for found in _service(arguments):
        if name in _OWN_READS and words and words[0] in _OWN_READS[name].split():
            found = found._replace(kind=_READ)
        if not (name in ("rclone",) and arguments.has("n")):
            yield found


def _jenkins(arguments: Arguments) -> Iterator[Found]:
    """Read ``java -jar jenkins-cli.jar … delete-job NAME``."""
    words = arguments.words
    at = next((at for at, word in enumerate(words) if word.endswith("jenkins-cli.jar")), None)
    if at is not None:
        for word in words[at + 1 :]:
            if kind := "" if "/" in word else _kind_of(word):
                yield Found(kind, " ".join(words[at + 1 :]))
                return


_EXTRA: dict[str, tuple[tuple[str, str], ...]] = {
    "rclone": (("sync purge delete deletefile rmdir rmdirs cleanup move moveto dedupe", ""),),
    "restic": (("forget prune", ""), ("key", "remove"), ("unlock", "remove-all"), ("cache", "cleanup")),
    "borg": (("delete prune compact break-lock recreate rdelete repo-delete", ""),),
    "mc": (("mirror", "remove"), ("rm rb", "")),
    "azcopy": (("sync", "delete-destination"),),
    "deck": (("sync reset gateway", ""),),
    "kamal": (("remove", ""),),
    "rabbitmqctl": (("force_reset reset", ""),),
    "fastly": (("service-version", ""),),
    "stripe": (("api_keys", ""),),
    "netlify": (("env:clone env:unset sites:delete", ""),),
    "wrangler": (("rollback", ""),),
}
_OWN_READS = {
    "restic": "backup check dump find ls mount snapshots stats version unlock cat diff init",
    "borg": "check create diff extract info list mount version export-tar init",
    "rclone": "ls lsd lsl lsf lsjson cat check copy copyto size about md5sum sha1sum config mount ncdu tree",
    "supabase": "start status login link init gen functions-serve services",
    "vault": "status login read list",
    "hasura": "console init",
    "vercel": "dev build link env-pull pull ls list inspect logs whoami",
    "netlify": "dev build link status open serve init watch",
    "firebase": "serve emulators:start emulators:exec login init use projects:list",
    "serverless": "offline invoke-local package print",
    "sam": "build local validate",
    "amplify": "status pull mock",
    "railway": "run status logs link shell",
    "stripe": "listen trigger login logs",
    "doppler": "run setup login",
    "op": "run read signin inject",
    "wrangler": "dev tail whoami types login",
    "tsh": "login status ls ssh",
}

_CURL = (
    "X=,request= H=,header= d=,data= data-raw= data-binary= data-urlencode= u=,user= o=,output= F=,form= T= x=,proxy= A= e= "
    "b=,cookie= c= m= w= K= E=,cert= key= cacert= connect-timeout= max-time= retry= url= s S L k f i v g G O json="
)
_LOCAL = re.compile(
    r"(?:https?://)?(?:localhost|127\.[0-9.]+|\[::1\]|0\.0\.0\.0|host\.docker\.internal)?(?::([0-9]+))?(?:/|$)"
)
_SERVICE_PORTS = frozenset(
    {"9200", "9201", "7700", "8001", "8444", "15672", "6333", "8108", "8983", "8086", "2379", "8500"}
)
"""Ports of local services that hold data: search engines, gateways, queues. A DELETE there deletes it."""


def _request(arguments: Arguments) -> Iterator[Found]:
    """Read a request that deletes something of a service."""
    method = (arguments.value("X") or "").upper()
    urls = [*arguments.operands, *arguments.options.get("url", ())]
    for url in urls:
        local = _LOCAL.match(url)
        if local and (local[1] or "") not in _SERVICE_PORTS:
            continue
        if method == "DELETE" or (method == "POST" and re.search(r"_delete_by_query|/delete-batch|/doDelete\b", url)):
            yield Found(_DELETE, url)
            return


def _httpie(arguments: Arguments) -> Iterator[Found]:
    words = arguments.operands
    if words[:1] and words[0].upper() in ("DELETE", "POST"):
        yield from _request(arguments._replace(options={"X": [words[0]]}, operands=words[1:2]))


def _nsupdate(arguments: Arguments) -> Iterator[Found]:
    text = "\n".join(arguments.texts)
    yield Found(_DELETE if "delete" in text or arguments.has("l") else _CHANGE, "DNS records")


_AWS_GLOBALS = (
    "region= profile= output= endpoint-url= query= no-verify-ssl no-paginate debug color= ca-bundle= no-sign-request "
    "no-cli-pager cli-input-json= cli-binary-format= cli-read-timeout= cli-connect-timeout="
)

PROGRAMS: dict[str, Program] = {
    "kubectl": _KUBECTL,
    "kubectx": Program((Row("cloud-delete:value:d", "-d"), Row("cloud-select:first", "#>=1")), options="d= c,current u", aka="kubens"),
    "helm": _HELM,
    "helmfile": Program(
        (
            Row("cloud-delete-wide", sub="destroy|delete"),
            Row("cloud-change", sub="apply|sync"),
            Row("cloud-read"),
        ),
        globals="e=,environment= f=,file= n=,namespace= l=,selector= kube-context= q", environment="e n kube-context",
    ),
    "terraform": Program(effects=_terraform, options=_TERRAFORM_OPTIONS, globals="chdir= version help", aka="tofu terragrunt tf opentofu"),
    "pulumi": Program(effects=_pulumi, options="s=,stack= y,yes f,skip-preview preview-only C=,cwd= t=,target= preview-only"),
    "ansible": Program(effects=_ansible, options="i=,inventory= l=,limit= C,check m=,module-name= a=,args= e=,extra-vars= u= b K k f= t=,tags= "
                       "list-hosts list-tasks list-tags syntax-check D v vault-password-file= private-key= skip-tags= start-at-task="),
    "ansible-playbook": Program(effects=_ansible, options="i=,inventory= l=,limit= C,check e=,extra-vars= u= b K k f= t=,tags= list-hosts "
                                "list-tasks list-tags syntax-check D v vault-password-file= private-key= skip-tags= start-at-task="),
    "aws": Program(effects=_aws, globals=_AWS_GLOBALS, options="recursive delete dryrun dry-run generate-cli-skeleton", aka="awslocal"),
    "gcloud": Program(effects=_gcloud, options=f"{_GCLOUD_GLOBALS} r,R,recursive d"),
    "gsutil": Program(effects=_gsutil, options="m q D o= h= u= r,R,recursive f a d n"),
    "bq": Program(effects=_bq, options="r f d t project_id= dataset_id= location= format= use_legacy_sql=? n="),
    "az": Program(effects=_az, options="o=,output= subscription= s= query= verbose debug only-show-errors g=,resource-group= n=,name= "
                  "method= uri=,u= l=,location= y,yes ids="),
    "gh": _GH,
    "heroku": _HEROKU,
    "fly": Program(
        (
            Row("cloud-delete-wide:words", sub="apps destroy|destroy|volumes destroy|volumes delete|postgres destroy|mpg destroy|redis destroy|pg destroy"),
            Row("cloud-delete:words", sub="secrets unset|ips release|machine destroy|machines destroy|machine remove|certs remove|certs delete|tokens revoke|apps suspend"),
            Row(_service),
        ),
        options="a=,app= c=,config= y,yes", aka="flyctl", environment="a",
    ),
    "vercel": Program(
        (
            Row("cloud-delete:words", sub="rm|remove|* rm|* remove|certs rm|dns rm"),
            Row(_services),
        ),
        options="y,yes t=,token= S=,scope= prod", aka="now",
    ),
    "services": Program(effects=_services, options="e=,env= a=,app= p=,project= n,dry-run y,yes f,force remove cleanup remove-all delete-destination=? "
                        "c=,config= r,recursive s=,stage= profile= context= o=,org= namespace=", aka=" ".join(
                            one for one in _SERVICES.split() if one not in ("vercel", "now", "flyctl"))),
    "kafka-topics": Program(effects=_dashed, options="topic= group= bootstrap-server= delete describe list create alter execute",
                            aka="kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-configs kafka-configs.sh kafka-acls kafka-acls.sh"),
    "java": Program(effects=_jenkins),
    "split": Program((Row("cloud-delete:words", sub="environments delete|segments delete|splits delete|splits kill|traffic-types delete|workspaces delete"),)),
    "kafka-delete-records": Program(effects=_dashed, aka="kafka-delete-records.sh"),
    "curl": Program(effects=_request, options=_CURL, aka="curlie"),
    "http": Program(effects=_httpie, aka="https xh xhs"),
    "nsupdate": Program(effects=_nsupdate, options="l g d v k= y="),
}  # fmt: skip
