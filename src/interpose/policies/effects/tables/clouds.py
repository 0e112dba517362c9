"""Programs of the large clouds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....matching.shell.words import MANY, ONE
from ....runtime.regex import regex
from ..rows import RUNS, Arguments, Found, Program
from .verbs import CHANGE, DELETE, READ, WIDE, begins, by_verb, is_dry, is_local, values_of

__all__ = ["PROGRAMS"]


_AWS_DELETE = regex(
    r"(?:batch-)?(?:delete|terminate|remove|deregister|purge|destroy|disassociate|detach|revoke|release|disable|abort"
    r"|schedule-key-deletion|reset|forget|cancel-key)(?:-|$)|rb$|rm$"
)
_AWS_READ = regex(
    r"(?:describe|list|get|head|lookup|search|query|scan|batch-get|filter|estimate|validate|simulate|preview|test|help|wait"
    r"|ls|presign|select|download|export|receive|poll|detect|decode|tail|check|view|discover|compare|verify|generate-cli"
    r"|detect|sign|is|lint|start-query|stop-query|start-live-tail|assume|generate|retrieve|explain|history|logs"
    r"|package|build|login|logout|sso|list-|transact-get|synthesize|classify|calculate|match|resolve|encrypt|decrypt)(?:-|$)"
)
_AWS_WIDE = (
    "s3 rb|ec2 terminate-instances|rds delete-db-*|cloudformation delete-stack*|eks delete-cluster|"
    "dynamodb delete-table|"
    "s3api delete-bucket|kms schedule-key-deletion|organizations delete-*|organizations remove-*|organizations close-*|"
    "route53 delete-hosted-zone|redshift delete-cluster|efs delete-file-system|backup delete-*|ecr delete-repository|"
    "ec2 delete-vpc|ecs delete-cluster|elasticache delete-*|logs delete-log-group|opensearch delete-domain|es delete-*|"
    "docdb delete-*|neptune delete-*|s3control delete-*"
)
_AWS_WIDE_PATTERNS = tuple(one.split() for one in _AWS_WIDE.split("|"))


def _aws(arguments: Arguments) -> Iterator[Found]:
    values = values_of(arguments, "profile region")
    words = arguments.operands
    service, operation = "".join(words[:1]), "".join(words[1:2])
    if not operation or operation == "help":
        return
    target = " ".join(words[2:4]) or f"{service} {operation}"
    if service in (ONE, MANY) or operation in (ONE, MANY):
        yield Found(CHANGE, target, values)
    elif is_dry(arguments):
        yield Found(READ, target, values)
    elif service == "s3":
        yield from _s3(operation, arguments, values)
    elif service == "configure":
        if operation in ("set", "sso", "import", "add-model"):
            yield Found(CHANGE, target, values)
    elif service == "route53" and operation == "change-resource-record-sets":
        text = " ".join(arguments.words)
        yield Found(DELETE if re.search(r'"DELETE"|Action=DELETE', text) else CHANGE, target, values)
    elif _AWS_READ.match(operation.removeprefix("admin-")):
        yield Found(READ, target, values)
    elif _AWS_DELETE.match(operation.removeprefix("admin-")):
        wide = any(begins(words, one) for one in _AWS_WIDE_PATTERNS)
        yield Found(WIDE if wide else DELETE, target, values)
    else:
        yield Found(CHANGE, target, values)


def _s3(operation: str, arguments: Arguments, values: tuple[str, ...]) -> Iterator[Found]:
    words = arguments.operands[2:]
    target = " ".join(words)
    if operation == "rb" or (operation == "rm" and arguments.has("recursive")):
        yield Found(WIDE, target, values)
    elif (
        operation == "rm"
        or (operation == "mv" and "".join(words[:1]).startswith("s3:"))
        or (operation == "sync" and arguments.has("delete") and not is_local(words[-1:]))
    ):
        yield Found(DELETE, target, values)
    elif operation in ("cp", "sync", "mv", "mb", "website"):
        yield Found(READ if is_local(words[-1:]) and operation != "mb" else CHANGE, target, values)
    else:
        yield Found(READ, target, values)


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
_gcloud_verb = by_verb("project configuration cluster", wide=_GCLOUD_WIDE, unknown=CHANGE, first=1)
_GCLOUD_READS = frozenset({"auth", "info", "version", "init", "help", "topic", "components", "feedback", "cheat-sheet"})


def _gcloud(arguments: Arguments) -> Iterator[Found]:
    words = [word for word in arguments.operands if word not in ("beta", "alpha", "preview")]
    values = values_of(arguments, "project configuration")
    if words[:2] == ["config", "set"] or words[:3] == ["config", "configurations", "activate"]:
        yield Found("cloud-select", "".join(words[-1:]), values)
    elif words[:1] and words[0] in _GCLOUD_READS:
        return
    elif words[:2] == ["storage", "rm"]:
        yield Found(WIDE if arguments.has("r") else DELETE, " ".join(words[2:]), values)
    elif words[:2] in (["storage", "rsync"], ["storage", "cp"], ["storage", "mv"]):
        if arguments.has("delete-unmatched-destination-objects", "d") or words[1] == "mv":
            yield Found(DELETE, " ".join(words[2:]), values)
        else:
            yield Found(READ if is_local(words[-1:]) else CHANGE, " ".join(words[2:]), values)
    elif words[:2] in (["compute", "ssh"], ["compute", "scp"]):
        yield Found(CHANGE, " ".join(words[2:]), values)
        yield from (Found(RUNS, text) for text in arguments.options.get("command", ()))
    else:
        yield from _gcloud_verb(arguments._replace(operands=words))


def _gsutil(arguments: Arguments) -> Iterator[Found]:
    words = arguments.operands
    first, target = "".join(words[:1]), " ".join(words[1:])
    if first == "rb" or (first == "rm" and arguments.has("r", "R", "a")):
        yield Found(WIDE, target)
    elif first in ("rm", "mv") or (first == "rsync" and arguments.has("d")):
        yield Found(DELETE, target)
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
        yield Found(READ if reads or (first in ("cp", "rsync") and is_local(words[-1:])) else CHANGE, target)
    elif first:
        yield Found(READ, target)


def _bq(arguments: Arguments) -> Iterator[Found]:
    first, target = "".join(arguments.operands[:1]), " ".join(arguments.operands[1:])
    if first == "rm":
        yield Found(WIDE if arguments.has("r", "d") else DELETE, target, values_of(arguments, "project_id"))
    elif first in ("mk", "load", "cp", "update", "insert", "cancel", "extract", "set-iam-policy", "truncate"):
        yield Found(DELETE if first == "truncate" else CHANGE, target, values_of(arguments, "project_id"))
    elif first:
        yield Found(READ, target)


_AZ_WIDE = (
    "group delete|aks delete|sql server delete|sql db delete|storage account delete|storage container "
    "delete|keyvault delete|"
    "keyvault purge|cosmosdb delete|vm delete|network dns zone delete|acr delete|postgres * delete|mysql * delete|"
    "redis delete|storage blob delete-batch|ad app delete|backup vault delete|deployment * delete"
)
_az_verb = by_verb("subscription g", wide=_AZ_WIDE, unknown=CHANGE, first=1)


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
        kind = DELETE if method == "DELETE" else READ if method in ("GET", "HEAD") else CHANGE
        yield Found(kind, arguments.value("uri") or "", values_of(arguments, "subscription"))
    else:
        yield from _az_verb(arguments)


_AWS_GLOBALS = (
    "region= profile= output= endpoint-url= query= no-verify-ssl no-paginate debug color= ca-bundle= no-sign-request "
    "no-cli-pager cli-input-json= cli-binary-format= cli-read-timeout= cli-connect-timeout="
)

PROGRAMS: dict[str, Program] = {
    "aws": Program(
        effects=_aws,
        globals=_AWS_GLOBALS,
        options="recursive delete dryrun dry-run generate-cli-skeleton",
        aka="awslocal",
    ),
    "gcloud": Program(effects=_gcloud, options=f"{_GCLOUD_GLOBALS} r,R,recursive d command="),
    "gsutil": Program(effects=_gsutil, options="m q D o= h= u= r,R,recursive f a d n"),
    "bq": Program(effects=_bq, options="r f d t project_id= dataset_id= location= format= use_legacy_sql=? n="),
    "az": Program(
        effects=_az,
        options="o=,output= subscription= s= query= verbose debug only-show-errors g=,resource-group= n=,name= "
        "method= uri=,u= l=,location= y,yes ids=",
    ),
}
