"""Programs that print secrets, or the environment."""

from __future__ import annotations

from collections.abc import Iterator

from ....runtime.regex import regex
from ..rows import Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]


def _set(arguments: Arguments) -> Iterator[Found]:
    if not arguments.words:
        yield Found("print-env")


def _env(arguments: Arguments) -> Iterator[Found]:
    """``env`` prints the environment unless it runs a program; ``-i`` empties it first."""
    if not arguments.has("i", "help", "version", "S") and all("=" in word for word in arguments.operands):
        yield Found("print-env")


def _printed(arguments: Arguments) -> Iterator[Found]:
    """``printenv NAME``: the policy judges the names."""
    for name in arguments.operands:
        yield Found("print-variable", name)
    if not arguments.operands:
        yield Found("print-env")


_IN_JQ = regex(r"""\$ENV\b(?:\.(\w+)|\["(\w+)"\])?|(?<![\w.$"])env\b(?!["(:])(?:\.(\w+)|\["(\w+)"\])?""")
_IN_AWK = regex(r"""\bENVIRON\b(?:\s*\[\s*"(\w+)"\s*\])?()""")


def _filter(arguments: Arguments) -> Iterator[Found]:
    """Yield what a filter of jq or a program of awk prints of the environment: ``env``, ``$ENV.NAME``, ``ENVIRON``."""
    pattern = _IN_AWK if arguments.program == "awk" else _IN_JQ
    for text in arguments.operands[:1]:
        for names in pattern.findall(text[:_LONGEST]):
            name = "".join(names)
            yield Found("print-variable", name) if name else Found("print-env")


_LONGEST = 10_000


def _declare(arguments: Arguments) -> Iterator[Found]:
    if arguments.has("f", "F"):
        return
    names = arguments.operands
    if not names and (arguments.has("p", "x") or not arguments.words):
        yield Found("print-env")
    elif arguments.has("p"):
        for name in names:
            yield Found("print-variable", name)


def _docker(arguments: Arguments) -> Iterator[Found]:
    words, form = arguments.operands, arguments.value("f") or ""
    if words[:1] == ["inspect"] or words[:2] == ["container", "inspect"]:
        if "Env" in form or form in ("{{json .Config}}", "{{.Config}}"):
            yield Found("print-env", values=("container",))
    elif words[:2] == ["compose", "config"] and not arguments.has("q", "services", "images", "volumes", "profiles"):
        yield Found("print-env", values=("container",))


def _python_server(arguments: Arguments) -> Iterator[Found]:
    """Yield the folder that ``python -m http.server -d FOLDER`` serves."""
    if arguments.value("m") in ("http.server", "SimpleHTTPServer", "pyftpdlib", "uploadserver"):
        yield from (Found("serve-files", folder) for folder in arguments.options.get("d", ()))


_SECRET = "1:secret|secrets|secret/*|secrets/*|sealedsecret*|externalsecret*"  # noqa: S105 - a glob
PROGRAMS = {
    # The environment.
    "env": Program(options="i,ignore-environment u=,unset= C=,chdir= S=,split-string= 0,null v", effects=_env),
    "jq": Program(options="S r c n s a j M C L= f=,from-file= arg= argjson= slurpfile= rawfile=", effects=_filter,
                  aka="gojq jaq"),
    "awk": Program(options="f=,file= F= v= e=,source= i= l=", effects=_filter, aka="gawk mawk nawk goawk"),
    "python": Program(options="m= c= W= X= d=,directory= b=,bind=", effects=_python_server, aka="python3 py pypy3"),
    "http-server": Program((Row("serve-files:first", "#>=1"),), options="p= a= c=? P= d S C= K=",
                           aka="serve live-server"),
    "busybox": Program((Row("serve-files:value:h", "-h", sub="httpd"),), options="h= p= f v c= u="),
    "php": Program((Row("serve-files:value:t", "-S -t"),), options="S= t= d= c= r= B= R= E= f="),
    "printenv": Program(options="0,null", effects=_printed),
    "set": Program(effects=_set),
    "export": Program(options="p n f", effects=_declare),
    "declare": Program(options="p x a A r i f F g n u l", effects=_declare, aka="typeset"),
    "compgen": Program((Row("print-env", ("-v", "-e")),), options="v e A= c a b f"),
    "docker": Program(
        options="f=,format= q,quiet services images volumes profiles s type= file= p= env-file=", effects=_docker,
        aka="podman nerdctl",
    ),
    "docker-compose": Program(
        (Row("", ("-q", "--services", "--images", "--volumes"), sub="config"), Row("print-env", sub="config")),
        globals="f=,file= p=,project-name= env-file= profile=", options="q,quiet services images volumes",
    ),
    # Stores.
    "gh": Program((Row("read-secret", sub="auth token"), Row("read-secret", "-t", sub="auth status")),
                  options="t,show-token h=,hostname="),
    "glab": Program((Row("read-secret", "-t", sub="auth status"),), options="t,show-token"),
    "security": Program((Row("print-key", ("-w", "-g", "-d"), sub="find-generic-password|find-internet-password"),
                         Row("print-key", sub="dump-keychain|export")), options="w g s= a= d"),
    "pass": Program((Row("", "#==0"), Row("",
    sub="ls|list|find|search|insert|generate|edit|rm|mv|cp|git|init|version|otp"),
                     Row("read-secret:all", sub="show"), Row("read-secret:all", sub="grep"), Row("read-secret:all")),
                    options="c=?,clip=? q=?", aka="gopass"),
    "op": Program((Row("read-secret", sub="read|item get|document get|inject"),), globals="account= vault= session="),
    "bw": Program((Row("read-secret", sub="get|export|list items"),)),
    "lpass": Program((Row("read-secret", sub="show|export"),)),
    "keepassxc-cli": Program((Row("read-secret:all", sub="show|export|clip"),)),
    "secret-tool": Program((Row("read-secret", sub="lookup|search"),)),
    "kwallet-query": Program((Row("read-secret", "-r"),), options="r="),
    "vault": Program((Row("", "--field=ttl|lease_duration", sub="read|kv get"),
                      Row("read-secret:all", sub="read|kv get|token create|unwrap"), Row("read-secret",
                      sub="print token")),
                     globals="address= namespace=", options="field= format= mount="),
    "doppler": Program((Row("read-secret", sub="secrets get|secrets download"),)),
    "chamber": Program((Row("read-secret", sub="read|export|env"),)),
    "sops": Program((Row("read-secret:all", ("-d", "--decrypt")), Row("read-secret:all", sub="decrypt")),
                    options="d,decrypt i,in-place output= input-type= output-type= extract="),
    "ansible-vault": Program((Row("read-secret:all", sub="view|decrypt"),), options="vault-password-file= vault-id="),
    "age": Program((Row("read-secret:all", "-d"),), options="d,decrypt i=,identity= o=,output= r= p"),
    "gpg": Program((Row("print-key", ("--export-secret-keys", "--export-secret-subkeys",
    "--export-secret-ssh-key")),),
                   options="export export-ssh-key export-secret-keys export-secret-subkeys export-secret-ssh-key "
                   "a,armor o=,output=",
                   aka="gpg2"),
    "openssl": Program((
        Row("", ("--noout", "-pubout"), sub="rsa|pkey|ec|dsa|pkcs12|pkcs8"),
        Row("", "-out", sub="rsa|pkey|ec|dsa|pkcs12|pkcs8"),
        Row("", ("-check",), sub="rsa|pkey|ec|dsa"),
        Row("read-files:value:in", "-in", sub="rsa|pkey|ec|dsa|pkcs12|pkcs8"),
        Row("read-files:value:in", "-in", sub="enc|base64|aes-256-cbc|aes-128-cbc|cms|smime|zlib"),
        Row("", sub="*"),
    ), options="in= out= noout pubout text passin= passout= check nodes export inkey= certfile= e d k= pass= pubin "
               "inform= "
               "outform= des3 topk8 nocrypt a A base64 salt pbkdf2 iter= K="),
    "kubectl": Program((
        Row("", "-o=name|wide|custom-columns*", sub="get"),
        Row("read-secret:all", (f"{_SECRET} -o", "*:*,secret*|secret*,* -o"), sub="get"),
        Row("read-secret", ("--raw",), sub="config view"),
    ), globals="n=,namespace= context= kubeconfig= cluster= user= s=,server= token= as=",
        options="o=,output= l=,selector= raw A w field-selector= template=", aka="oc k"),
    "aws": Program((
        Row("read-secret", sub="secretsmanager get-secret-value|secretsmanager batch-get-secret-value"
            "|sts get-session-token"
            "|sts assume-role*|iam create-access-key|ecr get-login-password|ecr get-login|configure export-credentials"
            "|ecr-public get-login-password|rds generate-db-auth-token|codeartifact get-authorization-token|eks "
            "get-token"
            "|sso get-role-credentials|lightsail download-default-key-pair|ec2 get-password-data|ec2 create-key-pair"),
        Row("read-secret", "--with-decryption", sub="ssm get-parameter*"),
        Row("read-secret", "1:*secret*|*token*", sub="configure get"),
    ), globals="profile= region= output= endpoint-url= query= no-cli-pager", options="with-decryption"),
    "gcloud": Program((Row("read-secret",
    sub="secrets versions access|auth print-access-token|auth print-identity-token"
                           "|auth application-default print-access-token|sql generate-login-token"
                           "|iam service-accounts keys create|config config-helper"),),
                      globals="project= account= configuration= format= impersonate-service-account="),
    "az": Program((Row("read-secret", sub="keyvault secret show|keyvault secret download|account get-access-token"
                       "|storage account keys list|ad sp create-for-rbac|acr credential show|ad sp credential reset"
                       "|webapp deployment list-publishing-credentials|cosmosdb keys list|redis list-keys"
                       "|storage account show-connection-string"),)),
    "heroku": Program((Row("read-secret", sub="config|config:get|auth:token"),), globals="a=,app= r=,remote="),
    "fly": Program((Row("read-secret", sub="auth token|tokens create *"),), aka="flyctl"),
    "vercel": Program((Row("read-secret", sub="env pull"),)),
    "doctl": Program((Row("read-secret", sub="auth token|databases connection"),)),
    "npm": Program((Row("read-secret", sub="config get *_auth*|config get *authToken|token create"),)),
    "git": Program((Row("read-secret", sub="credential fill|credential-store get|credential-osxkeychain get"),)),
    "systemctl": Program((Row("print-env", sub="show-environment"),)),
    "launchctl": Program((Row("print-env", sub="export"),)),
    "ps": Program((Row("print-env", "1:e|eww|auxe|auxeww|axe|axeww|eaux|auxewww"),)),
}  # fmt: skip
