"""Programs of other services, by their verbs, and requests that delete something of a service."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....matching.shell.words import is_known
from ....runtime.regex import regex
from ..rows import Arguments, Found, Program, Row
from .verbs import CHANGE, DELETE, READ, UNKNOWN, WIDE, by_verb, is_dry, kind_of, values_of

__all__ = ["PROGRAMS"]

# Code hosting.

_API = (
    "X=,method= f=,raw-field= F=,field= H=,header= input= paginate q=,jq= t=,template= silent i,include "
    "hostname= cache= p=,preview= verbose slurp"
)


def _api(arguments: Arguments) -> Iterator[Found]:
    method = (arguments.value("X") or "").upper()
    target = "".join(arguments.operands[:1])
    if method == "DELETE" or not is_known(method):
        yield Found(DELETE, target)
    elif target == "graphql" or target.endswith("/graphql"):
        text = " ".join(value for name in ("f", "F") for value in arguments.options.get(name, ()))
        yield Found(
            DELETE if re.search(r"\bmutation\b[^}]*\bdelete", text) else CHANGE if "mutation" in text else READ,
            target,
        )
    elif method in ("POST", "PUT", "PATCH") or (not method and arguments.has("f", "F", "input")):
        yield Found(CHANGE, target)
    else:
        yield Found(READ, target)


_GH_DELETES = (
    "release delete|release delete-asset|secret delete|secret remove|variable delete|variable remove|ssh-key delete|"
    "gpg-key delete|cache delete|run delete|codespace delete|issue delete|gist delete|label delete|project delete|"
    "project item-delete|project field-delete|repo deploy-key delete|workflow disable|ci delete|mr delete|ci cancel|"
    "deploy-key delete|milestone delete|pipeline delete|token revoke|release asset delete|schedule delete|"
    "snippet delete|"
    "runner delete|runner unregister|variable rm|label remove|repo deploy-key remove|runner-controller delete"
)

_GH = Program(
    (
        Row("cloud-delete-wide:words", sub="repo delete|repo archive|group delete|project delete"),
        Row("cloud-delete:words", sub=_GH_DELETES),
        Row(
            "cloud-change:words",
            "--visibility",
            sub="repo edit",
            options="visibility= default-branch= accept-visibility-change-consequences",
        ),
        Row(
            "cloud-change:words",
            sub="repo rename|repo transfer|repo edit|repo sync|secret set|variable set|workflow enable|workflow run|"
            "run rerun|run cancel|ruleset create|ssh-key add|gpg-key add|repo deploy-key add|codespace "
            "create|ci run|ci retry|ci trigger|"
            "repo unarchive|secret update|variable update|schedule run",
        ),
        Row(_api, sub="api", options=_API),
        Row("cloud-change:words", UNKNOWN),
        Row("cloud-read"),
    ),
    globals="R=,repo= hostname=",
    aka="hub glab",
)

# Other services, by their verbs.

_service = by_verb(
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
        yield Found(DELETE, target)
    elif names & {"alter", "create", "add", "reset-offsets"}:
        yield Found(CHANGE, target)


_HEROKU = Program(
    (
        Row(
            "cloud-delete-wide:words",
            sub=(
                "apps:destroy|apps:delete|destroy|pg:reset|addons:destroy|pipelines:destroy|spaces:destroy|"
                "repo:reset|repo:purge_cache"
            ),
        ),
        Row(
            "cloud-delete:words",
            sub=(
                "*:destroy|*:remove|*:rm|*:unset|*:clear|*:kill|*:stop|*:revoke|*:leave|*:disable|*:detach|"
                "*:rotate|container:rm|maintenance:on|pg:kill*|clients:*"
            ),
        ),
        Row(
            "cloud-change:words",
            sub=(
                "*:set|*:scale|*:rollback|*:rename|*:add|*:update|*:release|*:restart|*:promote|*:create|"
                "*:upgrade|*:copy|*:restore|*:resize|*:type|*:transfer|pg:*|deploy|restart|scale|create|run"
            ),
        ),
        Row("cloud-change:words", UNKNOWN),
        Row("cloud-read"),
    ),
    globals="a=,app= r=,remote= t=,team=",
    options="c=,confirm= force",
    environment="a r",
)

_SERVICES = """
    algolia amplify apigeecli appwrite aptible arc argocd atlas atmos auth0 azcopy borg caprover ccloud cdk
    cdktf cf chalice chef circleci civo clever cloudctl confluent consul contentful copilot datadog-ci deck
    doctl dokku doppler eb eksctl elastic-cli fastly firebase flipt flux gitlab-rake gitlab-runner grafana-cli
    hasura hcloud ibmcloud influx ionosctl istioctl kamal knife kops koyeb ldcli linkerd linode-cli mc mongocli
    nats neon neonctl netlify newrelic nix-copy nomad northflank oci okta op pd pinecone planetscale platform
    pocketbase porter pscale puppet qovery rabbitmqadmin rabbitmqctl railway rancher rclone redisctl render
    restic rpk s3cmd s5cmd salt sam sanity scw sentry-cli serverless shopify sls snyk splunk square sst stripe
    supabase surge tailscale tctl teleport temporal tsh turso twilio unleash up upsun vault vcluster velero
    wrangler zappa zeabur
"""
_WHOLE = frozenset({"destroy", "teardown", "nuke", "uninstall", "remove", "delete", "terminate"})
_DEPLOYERS = frozenset("amplify arc cdk cdktf chalice copilot eb kamal sam serverless sls sst up zappa".split())
"""Programs that deploy a whole application: what they remove is all of it."""


def _services(arguments: Arguments) -> Iterator[Found]:
    """Read a service's command: what only this program means by its words, else the verb."""
    name, words = arguments.command.name.lower(), arguments.operands
    if is_dry(arguments) or (name in _DRY_LETTER and arguments.has("n")):
        yield Found(READ, " ".join(words[1:]))
        return
    own = _own_meaning(name, arguments)
    if own is not None:
        yield own
        return
    reads = words and words[0] in _OWN_READS.get(name, "").split()
    for found in _service(arguments):
        yield found._replace(kind=READ) if reads else found


def _own_meaning(name: str, arguments: Arguments) -> Found | None:
    """Return what words mean to one program only; None if they mean what their verb says."""
    words = arguments.operands
    first, target = "".join(words[:1]), " ".join(words[1:])
    if name in _DEPLOYERS and first in _WHOLE:
        return Found(WIDE, target or "the application", values_of(arguments, "stage s profile"))
    if (name == "vault" and words[1:2] == ["disable"]) or (name == "eksctl" and words[:2] == ["delete", "cluster"]):
        return Found(WIDE, " ".join(words[2:]), values_of(arguments, "namespace profile"))
    if name in ("vercel", "now", "netlify") and first in ("", "deploy") and arguments.has("prod", "production"):
        return Found(CHANGE, "the site", ("production",))
    for verbs, options in _EXTRA.get(name, ()):
        if first in verbs.split() and (not options or arguments.has(*options.split())):
            return Found(DELETE, target, values_of(arguments, "env"))
    return None


_DRY_LETTER = frozenset({"rclone", "restic", "borg", "mc"})
"""Programs whose ``-n`` is a dry run."""


def _jenkins(arguments: Arguments) -> Iterator[Found]:
    """Read ``java -jar jenkins-cli.jar … delete-job NAME``."""
    words = arguments.words
    at = next((at for at, word in enumerate(words) if word.endswith("jenkins-cli.jar")), None)
    if at is not None:
        for word in words[at + 1 :]:
            if kind := "" if "/" in word else kind_of(word):
                yield Found(kind, " ".join(words[at + 1 :]))
                return


# The words with which a program deletes, each with the options that make it so.
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
# The words with which a program only reads, or works on this machine, though their verb says otherwise.
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
    "X=,request= H=,header= d=,data= data-raw= data-binary= data-urlencode= u=,user= o=,output= F=,form= "
    "T= x=,proxy= A= e= "
    "b=,cookie= c= m= w= K= E=,cert= key= cacert= connect-timeout= max-time= retry= url= s S L k f i v g G O json="
)
_LOCAL = regex(
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
            yield Found(DELETE, url)
            return


def _httpie(arguments: Arguments) -> Iterator[Found]:
    words = arguments.operands
    if words[:1] and words[0].upper() in ("DELETE", "POST"):
        yield from _request(arguments._replace(options={"X": [words[0]]}, operands=words[1:2]))


def _nsupdate(arguments: Arguments) -> Iterator[Found]:
    text = "\n".join(arguments.texts)
    yield Found(DELETE if "delete" in text or arguments.has("l") else CHANGE, "DNS records")


PROGRAMS: dict[str, Program] = {
    "gh": _GH,
    "heroku": _HEROKU,
    "fly": Program(
        (
            Row(
                "cloud-delete-wide:words",
                sub=(
                    "apps destroy|destroy|volumes destroy|volumes delete|postgres destroy|mpg destroy|redis "
                    "destroy|pg destroy"
                ),
            ),
            Row(
                "cloud-delete:words",
                sub=(
                    "secrets unset|ips release|machine destroy|machines destroy|machine remove|certs remove|"
                    "certs delete|tokens revoke|apps suspend"
                ),
            ),
            Row(_service),
        ),
        options="a=,app= c=,config= y,yes",
        aka="flyctl",
        environment="a",
    ),
    "vercel": Program(
        (
            Row("cloud-delete:words", sub="rm|remove|* rm|* remove|certs rm|dns rm"),
            Row(_services),
        ),
        options="y,yes t=,token= S=,scope= prod production",
        aka="now",
    ),
    "services": Program(
        effects=_services,
        options="e=,env= a=,app= p=,project= n,dry-run y,yes f,force remove cleanup remove-all delete-destination=? "
        "c=,config= r,recursive s=,stage= profile= context= o=,org= namespace=",
        aka=_SERVICES,
    ),
    "kafka-topics": Program(
        effects=_dashed,
        options="topic= group= bootstrap-server= delete describe list create alter execute",
        aka=(
            "kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-configs kafka-configs.sh "
            "kafka-acls kafka-acls.sh"
        ),
    ),
    "java": Program(effects=_jenkins),
    "split": Program(
        (
            Row(
                "cloud-delete:words",
                sub=(
                    "environments delete|segments delete|splits delete|splits kill|traffic-types delete|"
                    "workspaces delete"
                ),
            ),
        )
    ),
    "kafka-delete-records": Program(effects=_dashed, aka="kafka-delete-records.sh"),
    "curl": Program(effects=_request, options=_CURL, aka="curlie"),
    "http": Program(effects=_httpie, aka="https xh xhs"),
    "nsupdate": Program(effects=_nsupdate, options="l g d v k= y="),
}
