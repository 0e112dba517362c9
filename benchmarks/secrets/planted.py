"""Secrets planted in many forms. Every value is random, made from a seed; half of the forms are held out.

A form is a name and a function that puts a value into a text or a JSON value. Forms of the half ``develop`` may be
looked at while the rules of redaction are written; those of the half ``held_out`` only tell how well the rules do.
"""

import base64
import hashlib
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

__all__ = ["FORMS", "Planted", "is_held_out", "planted"]

Form = Callable[[str], Any]


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _pem(value: str) -> str:
    body = _b64(value * 12)
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])


FORMS: dict[str, Form] = {
    # Pairs of a name and a value.
    "pair name and value": lambda v: {"env": [{"name": "API_KEY", "value": v}]},
    "pair key and value": lambda v: [{"Key": "db_password", "Value": v}],
    "pair as text": lambda v: f'env: [{{"name": "SMTP_PASSWORD", "value": "{v}"}}]',
    "pair in YAML": lambda v: f"env:\n  - name: STRIPE_SECRET_KEY\n    value: {v}\n  - name: MODE\n    value: fast\n",
    "pair, value first": lambda v: {"value": v, "name": "GITHUB_TOKEN"},
    "list of headers": lambda v: {"headers": [["Accept", "*/*"], ["X-Api-Key", v]]},
    "function of two texts": lambda v: f"define('DB_PASSWORD', '{v}');",
    "item of the environment": lambda v: f'os.environ["SERVICE_TOKEN"] = "{v}"',
    # Mappings.
    "mapping": lambda v: {"config": {"clientSecret": v}},
    "mapping, pass": lambda v: {"smtp": {"user": "bob", "pass": v}},
    "mapping of mappings": lambda v: {"credentials": {"main": {"first": v}}},
    "mapping in a list": lambda v: [[{"accessToken": v}]],
    # JSON in JSON.
    "JSON as text": lambda v: json.dumps({"user": "bob", "password": v}),
    "JSON in JSON": lambda v: json.dumps({"body": json.dumps({"password": v})}),
    "JSON in JSON in JSON": lambda v: json.dumps({"a": json.dumps({"b": json.dumps({"api_key": v})})}),
    "JSON in a shell line": lambda v: f"curl -d '{json.dumps({'client_secret': v})}' https://example.com/token",
    "JSON in double quotes": lambda v: f'curl -d "{{\\"password\\": \\"{v}\\"}}" https://example.com/login',
    # Configuration files.
    "env file": lambda v: f"MODE=fast\nDB_PASSWORD={v}\nPORT=80\n",
    "env file, quoted": lambda v: f'MODE="fast"\nAPP_SECRET="{v}"\n',
    "shell export": lambda v: f"export OPENAI_API_KEY={v} && run",
    "shell export, quoted": lambda v: f"export SERVICE_TOKEN='{v}'; run",
    "variable before a command": lambda v: f"PGPASSWORD='{v}' psql -h db shop",
    "fish": lambda v: f"set -gx API_TOKEN {v}",
    "csh": lambda v: f"setenv API_TOKEN {v}",
    "PowerShell": lambda v: f'$env:API_KEY = "{v}"',
    "Windows": lambda v: f"set DB_PASSWORD={v}\r\nrun.exe",
    "ini": lambda v: f"[db]\nuser = bob\npassword = {v}\n",
    "properties": lambda v: f"spring.datasource.username=bob\nspring.datasource.password={v}\n",
    "TOML": lambda v: f'[service]\napi_token = "{v}"\n',
    "YAML": lambda v: f"db:\n  user: bob\n  password: {v}\n",
    "YAML, quoted": lambda v: f"db:\n  password: '{v}'\n",
    "YAML, pass": lambda v: f"smtp:\n  user: bob\n  pass: {v}\n",
    "YAML block": lambda v: f"stringData:\n  password: |\n    {v}\n  other: x\n",
    "YAML folded block": lambda v: f"client_secret: >-\n  {v}\nother: x\n",
    "Kubernetes secret": lambda v: f"kind: Secret\ndata:\n  password: {_b64(v)}\n",
    "netrc": lambda v: f"machine example.com login bob password {v}\n",
    "netrc, lines": lambda v: f"machine example.com\n  login bob\n  password {v}\n",
    "pgpass": lambda v: f"db.example.com:5432:shop:bob:{v}\n",
    "npmrc": lambda v: f"//registry.example.com/:_authToken={v}\n",
    "Docker's settings": lambda v: json.dumps({"auths": {"r.example.com": {"auth": _b64(f"bob:{v}")}}}),
    "git credentials": lambda v: f"https://bob:{quote(v, safe='')}@git.example.com\n",
    "Dockerfile": lambda v: f"FROM x\nENV API_TOKEN {v}\nRUN y",
    "compose": lambda v: f"    environment:\n      - MYSQL_ROOT_PASSWORD={v}\n",
    "Terraform": lambda v: f'variable "x" {{\n  db_password = "{v}"\n}}',
    "rclone": lambda v: f"[remote]\ntype = sftp\npass = {v}\n",
    "wpa": lambda v: f'network={{\n  ssid="home"\n  psk="{v}"\n}}',
    # XML.
    "XML element": lambda v: f"<server><username>bob</username><password>{v}</password></server>",
    "XML attribute": lambda v: f'<dataSource user="bob" password="{v}" url="x"/>',
    "XML key and value": lambda v: f'<add key="ApiSecret" value="{v}" />',
    "XML property": lambda v: f'<property name="connection.password">{v}</property>',
    "JSON in XML": lambda v: f"<body>{{&quot;password&quot;:&quot;{v}&quot;}}</body>",
    # Command lines.
    "docker login": lambda v: f"docker login -u bob -p {v} registry.example.com",
    "docker login, long": lambda v: f"docker login --username bob --password={v}",
    "docker run": lambda v: f"docker run -e POSTGRES_PASSWORD={v} postgres:16",
    "redis-cli": lambda v: f"redis-cli -h cache -a {v} ping",
    "mysql": lambda v: f"mysql -u root -p{v} -e 'select 1' shop",
    "mysqldump, quoted": lambda v: f"mysqldump -uroot -p'{v}' shop > shop.sql",
    "aws configure": lambda v: f"aws configure set aws_secret_access_key {v}",
    "az login": lambda v: f"az login --service-principal -u app -p {v} --tenant t",
    "sshpass": lambda v: f"sshpass -p '{v}' ssh bob@host",
    "curl -u": lambda v: f"curl -u 'bob:{v}' https://example.com",
    "curl --user": lambda v: f"curl --user bob:{v} https://example.com",
    "wget": lambda v: f"wget --user=bob --password={v} https://example.com/x",
    "mongo": lambda v: f"mongosh --host db -u bob -p {v} shop",
    "zip": lambda v: f"zip -P {v} -r out.zip folder",
    "openssl": lambda v: f"openssl rsa -in key.pem -passin pass:{v} -out plain.pem",
    "gpg": lambda v: f"gpg --batch --passphrase {v} -d file.gpg",
    "ldapsearch": lambda v: f"ldapsearch -x -D cn=admin -w {v} -b dc=example",
    "htpasswd": lambda v: f"htpasswd -b .htpasswd bob {v}",
    "smbclient": lambda v: f"smbclient //files/share -U bob%{v}",
    "sqlcmd": lambda v: f"sqlcmd -S db -U sa -P {v} -Q 'select 1'",
    "kubectl": lambda v: f"kubectl create secret generic app --from-literal=password={v}",
    "gh secret": lambda v: f"gh secret set DEPLOY_TOKEN --body {v}",
    "vault": lambda v: f"vault kv put secret/app db_password={v}",
    "npm config": lambda v: f"npm config set //registry.example.com/:_authToken {v}",
    "heroku": lambda v: f"heroku config:set SECRET_KEY_BASE={v} -a shop",
    "keytool": lambda v: f"keytool -list -keystore s.jks -storepass {v}",
    "echo into login": lambda v: f"echo {v} | docker login -u bob --password-stdin",
    "chpasswd": lambda v: f"echo 'bob:{v}' | chpasswd",
    "Java property": lambda v: f"java -Djavax.net.ssl.keyStorePassword={v} -jar app.jar",
    "mount": lambda v: f"mount -t cifs //files/x /mnt -o username=bob,password={v},vers=3.0",
    "cargo login": lambda v: f"cargo login {v}",
    "helm": lambda v: f"helm install app chart --set auth.password={v}",
    # Headers.
    "bearer": lambda v: f"curl -H 'Authorization: Bearer {v}' https://example.com",
    "token header": lambda v: f"authorization: token {v}\r\nAccept: */*",
    "basic header": lambda v: f"Authorization: Basic {_b64(f'bob:{v}')}",
    "digest header": lambda v: f'Authorization: Digest username="bob", realm="x", nonce="1", response="{v}"',
    "API key header": lambda v: f"X-Api-Key: {v}",
    "header in code": lambda v: f'headers = {{"Authorization": "Bearer {v}"}}',
    "private token header": lambda v: f'curl --header "PRIVATE-TOKEN: {v}" https://git.example.com/api',
    "cookie": lambda v: f"Cookie: theme=dark; session={v}",
    "set-cookie": lambda v: f"Set-Cookie: sid={v}; Path=/; HttpOnly",
    "curl -b": lambda v: f"curl -b 'session={v}' https://example.com",
    # URLs.
    "URL": lambda v: f"git clone https://bob:{quote(v, safe='')}@example.com/x.git",
    "URL, @ in it": lambda v: f"DATABASE=postgres://bob:a@{v}@db.example.com:5432/shop",
    "URL, / in it": lambda v: f"postgres://bob:a/{v}@db.example.com:5432/shop",
    "URL, no user": lambda v: f"redis://:{quote(v, safe='')}@cache.example.com:6379/0",
    "URL, token": lambda v: f"https://example.com/hook?access_token={quote(v, safe='')}&x=1",
    "URL, api key": lambda v: f"GET /v1/x?api_key={quote(v, safe='')} HTTP/1.1",
    "URL in a URL": lambda v: (
        f"https://a.example.com/?next=https%3A%2F%2Fb.example.com%2F%3Ftoken%3D{quote(v, safe='')}"
    ),
    "form": lambda v: f"grant_type=password&username=bob&password={quote(v, safe='')}&scope=all",
    # Connection strings.
    "connection string": lambda v: f"Server=db;Database=shop;User Id=bob;Password={v};Encrypt=true",
    "connection string, pwd": lambda v: f"Driver={{SQL Server}};Server=db;Uid=bob;Pwd={v};",
    "DSN": lambda v: f"host=db user=bob password={v} dbname=shop sslmode=require",
    "storage account": lambda v: f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={v};EndpointSuffix=x",
    "JDBC": lambda v: f"jdbc:mysql://db:3306/shop?user=bob&password={quote(v, safe='')}",
    # SQL and code.
    "SQL": lambda v: f"CREATE USER bob IDENTIFIED BY '{v}';",
    "SQL, password": lambda v: f"ALTER ROLE bob WITH PASSWORD '{v}';",
    "Python": lambda v: f'client = Client(user="bob", password="{v}")',
    "JavaScript": lambda v: f"const apiKey = '{v}';",
    "Go": lambda v: f'cfg := Config{{Password: "{v}"}}',
    "Ruby": lambda v: f":password => '{v}'",
    "method": lambda v: f'builder.setPassword("{v}").build()',
    "Java": lambda v: f'private static final String CLIENT_SECRET = "{v}";',
    "prose": lambda v: f"The password is {v} and do not tell",
    "prose, colon": lambda v: f"Here is the token: {v}",
    # Private keys.
    "private key": _pem,
    "private key in JSON": lambda v: json.dumps({"private_key": _pem(v)}),
    "private key with escapes": lambda v: f'KEY="{_pem(v)}"'.replace("\n", "\\n"),
    # Encoded.
    "env file in base64": lambda v: f"echo {_b64(f'MODE=fast{chr(10)}DB_PASSWORD={v}{chr(10)}')} | base64 -d > .env",
    "JSON in base64": lambda v: _b64(json.dumps({"client_secret": v, "x": 1})),
    "assignment in hex": lambda v: f"password={v}".encode().hex(),
    "zero-width characters": lambda v: f"pass\u200bword={v}",
    "full-width letters": lambda v: f"ｐａｓｓｗｏｒｄ＝{v}",
    "mixed case": lambda v: f"PaSsWoRd={v}",
    "key of a mapping": lambda v: {f"password={v}": 1},
    "file name": lambda v: {"file_path": f"/tmp/token={v}/x.txt"},
    "error of a hook": lambda v: {"runs": [{"error": {"code": "raised", "text": f"KeyError: bad password '{v}'"}}]},
}

SHAPES: dict[str, Callable[[random.Random], str]] = {
    "shape AWS": lambda dice: "AKIA" + _some(dice, string.ascii_uppercase + "234567", 16),
    "shape GitHub": lambda dice: "ghp_" + _some(dice, string.ascii_letters + string.digits, 36),
    "shape GitLab": lambda dice: "glpat-" + _some(dice, string.ascii_letters + string.digits, 20),
    "shape Slack": lambda dice: f"xoxb-{_some(dice, string.digits, 12)}-{_some(dice, string.ascii_letters, 24)}",
    "shape Stripe": lambda dice: "sk_live_" + _some(dice, string.ascii_letters + string.digits, 24),
    "shape npm": lambda dice: "npm_" + _some(dice, string.ascii_letters + string.digits, 36),
    "shape Google": lambda dice: "AIza" + _some(dice, string.ascii_letters + string.digits, 35),
    "shape Anthropic": lambda dice: "sk-ant-api03-" + _some(dice, string.ascii_letters + string.digits, 90),
    "shape Hugging Face": lambda dice: "hf_" + _some(dice, string.ascii_letters, 34),
    "shape Vault": lambda dice: "hvs." + _some(dice, string.ascii_letters + string.digits, 90),
}
ENVIRONMENT: dict[str, Form] = {
    "environment": lambda v: f"it says {v} here",
    "environment in base64": lambda v: f"it says {_b64(v)} here",
    "environment in the middle of base64": lambda v: f"it says {_b64(f'ab:{v}:cd')} here",
    "environment in base64url": lambda v: base64.urlsafe_b64encode(f"x{v}".encode()).decode().rstrip("="),
    "environment in hex": lambda v: f"0x{v.encode().hex()}",
    "environment in HEX": lambda v: v.encode().hex().upper(),
    "environment in a URL": lambda v: f"/x/{quote(v, safe='')}/y",
    "environment in JSON": lambda v: json.dumps(json.dumps(v)),
}


def _some(dice: random.Random, alphabet: str, length: int) -> str:
    return "".join(dice.choices(alphabet, k=length))


def _token(dice: random.Random) -> str:
    return _some(dice, string.ascii_letters + string.digits, dice.randint(20, 40))


def _hex(dice: random.Random) -> str:
    return _some(dice, "0123456789abcdef", 32)


def _password(dice: random.Random) -> str:
    """Return a password of letters, digits and signs that no form has to quote."""
    parts = [_some(dice, string.ascii_letters, 5), _some(dice, string.digits, 2), dice.choice("!.+-_*^~")]
    dice.shuffle(parts)
    return dice.choice(string.ascii_letters) + "".join(parts) + _some(dice, string.ascii_lowercase, 3)


def _short(dice: random.Random) -> str:
    return _some(dice, string.ascii_lowercase, 6) + _some(dice, string.digits, 3)


_VALUES = (_token, _hex, _password, _short)


@dataclass(frozen=True)
class Planted:
    """A secret, and the value that has it in it."""

    form: str
    secret: str
    value: Any
    environ: tuple[tuple[str, str], ...] = ()


def is_held_out(form: str) -> bool:
    """Say whether a form is of the half that the rules were not written for."""
    return hashlib.sha256(form.encode()).digest()[0] % 2 == 1


def planted(seed: int, each: int = 4) -> Iterator[Planted]:
    """Yield secrets in every form, so many of each."""
    dice = random.Random(seed)
    for form, put in FORMS.items():
        for number in range(each):
            secret = _VALUES[number % len(_VALUES)](dice)
            yield Planted(form, secret, put(secret))
    for form, make in SHAPES.items():
        for _ in range(each):
            secret = make(dice)
            yield Planted(form, secret, f"it says {secret} here")
    for form, put in ENVIRONMENT.items():
        for number in range(each):
            secret = _VALUES[number % len(_VALUES)](dice)
            yield Planted(form, secret, put(secret), (("DEPLOY_TOKEN", secret),))
