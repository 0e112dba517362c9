"""Redaction: what a secret looks like, what does not look like one, and what stands in its place."""

import base64
import json
import re
import time
from urllib.parse import quote

import pytest
from tests.tables import rows

from interpose.redaction import Redactor, is_redacted, secrets_of
from interpose.redaction.names import is_secret_name

KEY = b"a key for the tests"

# Put together here, so that no tool which looks for secrets in source code finds one.
SECRETS = {
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "github": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "github, fine-grained": "github_pat_" + "11AAAAAAA0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789",
    "github, app": "ghs_" + "16C7e42F292c6912E7710c838347Ae178B4a",
    "gitlab": "glpat-" + "xYz12345678901234567",
    "slack": "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "slack_webhook": "hooks.slack.com/services/" + "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "stripe": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "google_api": "AIza" + "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "google_oauth": "ya29." + "a0AfH6SMBx-1234567890abcdefghij",
    "anthropic": "sk-ant-" + "api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "openai": "sk-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL",
    "openai, project": "sk-proj-" + "Abc_def-GhiJklMnoPqrStuVwx0123456789",
    "npm": "npm_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "pypi": "pypi-" + "AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMA",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n7bq3\n-----END RSA PRIVATE KEY-----",
    "pem, cut off": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ",
    "sendgrid": "SG." + "ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr",
    "twilio": "SK" + "0123456789abcdef0123456789abcdef",
    "telegram": "123456789:AA" + "HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
    "huggingface": "hf_" + "AbCdEfGhIjKlMnOpQrStUvWxYz01234567",
    "digitalocean": "dop_v1_" + "0123456789abcdef" * 4,
    "databricks": "dapi" + "0123456789abcdef0123456789abcdef",
    "vault": "hvs." + "CAESIJlU02LQZq-7UyGyJPRjO6gM_8bNbLTGoHxA",
    "age": "AGE-SECRET-KEY-1" + "QQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQQPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "azure_signature": "?sig=" + "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789%2B%2F%3D",
    "shopify": "shpat_" + "0123456789abcdef0123456789abcdef",
    "service": "dckr_pat_" + "AbCdEfGhIjKlMnOpQrStUvWx",
    "discord": "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
}
NAMED = {
    "a header": ("Authorization: Bearer {}", "abc.def-123"),
    "a basic header": ("authorization: Basic {}", "dXNlcjpwYXNzd29yZA=="),
    "a scheme alone": ("curl -H 'Bearer {}'", "AbCdEf0123456789"),
    "a cookie": ("Cookie: {}", "session=abcdef; theme=dark"),
    "a URL": ("git clone https://bob:{}@example.com/repo.git", "s3cret"),
    "a URL without a name": ("redis://:{}@localhost:6379", "s3cret"),
    "a token in a URL": ("https://{}@example.com/repo.git", "0123456789abcdefABCDEF"),
    "an assignment": ("password={}", "hunter2"),
    "an assignment in a line": ("mysqladmin; export DB_PASSWORD={} && run", "hunter2"),
    "an environment file": ("A=1\nAPI_SECRET={}\nB=2", "p@ss;w(or)d&x"),
    "YAML": ("  client_secret: {}\n", "hunter2hunter2"),
    "JSON": ('{{"db_password": "{}"}}', "hunter 2"),
    "JSON in a text": ('{{\\"apiKey\\": \\"{}\\"}}', "hunter2"),
    "a flag": ("deploy --token {} --verbose", "hunter2"),
    "a flag with a sign": ("deploy --api-key={}", "hunter2"),
    "a flag in quotes": ("deploy --password '{}'", "hunter 2"),
    "curl": ("curl -u bob:{} https://example.com", "hunter2"),
    "mysql": ("mysql -u root -p{} shop", "hunter2"),
    "sshpass": ("sshpass -p {} ssh host", "hunter2"),
    "AWS": ("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    "Azure": ("DefaultEndpointsProtocol=https;AccountKey={};", "AbCdEfGhIjKlMnOp0123456789+/=="),
    "a key that looks like one": ("license_key: {}", "A1b2-C3d4-E5f6-G7h8"),
    "a name and a value": ('[{{"name": "API_KEY", "value": "{}"}}]', "hunter2x"),
    "a name and a value in YAML": ("- name: API_KEY\n  value: {}\n", "hunter2x"),
    "a value and a name": ('{{"value": "{}", "name": "API_KEY"}}', "hunter2x"),
    "a field called pass": ("smtp:\n  pass: {}\n", "hunter2x"),
    "a block of YAML": ("a:\n  password: |\n    {}\n  b: c\n", "hunter2x\n    and more"),
    "a folded block of YAML": ("client_secret: >-\n  {}\nb: c\n", "hunter2x"),
    "the next line": ("password:\n  {}\n", "hunter2x"),
    "an XML element": ("<password>{}</password>", "hunter2x"),
    "an XML attribute": ('<db user="bob" password="{}"/>', "hunter2x"),
    "an XML pair": ('<add key="ApiSecret" value="{}" />', "hunter2x"),
    "an XML property": ('<property name="db.password">{}</property>', "hunter2x"),
    "netrc": ("machine example.com login bob password {}", "hunter2x"),
    "pgpass": ("db.example.com:5432:shop:bob:{}\n", "hunter2x"),
    "docker login": ("docker login -u bob -p {} registry.example.com", "hunter2x"),
    "redis-cli": ("redis-cli -h cache -a {} ping", "hunter2x"),
    "redis-server": ("redis-server --requirepass {}", "hunter2x"),
    "az login": ("az login --service-principal -u app -p {} --tenant t", "hunter2x"),
    "aws configure": ("aws configure set aws_secret_access_key {}", "hunter2x"),
    "ldapsearch": ("ldapsearch -D cn=admin -w {} -b dc=x", "hunter2x"),
    "a password on the input": ("echo {} | docker login -u bob --password-stdin", "hunter2x"),
    "a password in a here-string": ("docker login --password-stdin <<< '{}'", "hunter2x"),
    "chpasswd": ("echo 'bob:{}' | chpasswd", "hunter2x"),
    "openssl": ("openssl rsa -passin pass:{} -in k", "hunter2x"),
    "fish": ("set -gx API_TOKEN {}", "hunter2x"),
    "an @ in the password of a URL": ("postgres://bob:{}@db:5432/shop", "hunter@2x"),
    "a slash in the password of a URL": ("postgres://bob:{}@db:5432/shop", "hunter/2x"),
    "a cookie that is set": ("Set-Cookie: sid={}; Path=/", "hunter2x"),
    "a cookie of curl": ("curl -b 'session={}' https://example.com", "hunter2x"),
    "a digest": ('Authorization: Digest username="bob", response="{}"', "hunter2x"),
    "a connection string": ("Server=db;User Id=bob;Password={};Encrypt=true", "hunter2x"),
    "SQL": ("CREATE USER bob IDENTIFIED BY '{}';", "hunter2x"),
    "a function of two texts": ("define('DB_PASSWORD', '{}');", "hunter2x"),
    "a method": ('builder.setPassword("{}")', "hunter2x"),
    "a type": ('const token: string = "{}"', "hunter2x"),
    "a sentence": ("the password is {}", "hunter2x"),
    "CSV": ("user,password,note\nbob,{},x\n", "hunter2x"),
    "a table": ("| user | password |\n| --- | --- |\n| bob | {} |\n", "hunter2x"),
    "a crypted password": ("bob:{}:19000:0", "$6$abcdefgh$" + "1bCd" * 10),
    "mixed case": ("PaSsWoRd={}", "hunter2x"),
    "an escaped letter": ('{{"pass\\u0077ord": "{}"}}', "hunter2x"),
    "a letter of a URL": ("%70assword%3D{}", "hunter2x"),
    "HTML": ("&lt;password&gt;{}&lt;/password&gt;", "hunter2x"),
    "a character of no width": ("pass\u200bword={}", "hunter2x"),
    "full-width letters": ("ｐａｓｓｗｏｒｄ＝{}", "hunter2x"),
    "a line that goes on": ("export DB_PASS\\\nWORD={}", "hunter2x"),
    "a text that looks like a mark": ("password=[redacted:{}:00000000]", "hunter2x"),
    "after a text that looks like a mark": ("password=[redacted:pem:00000000]{}", "hunter2x"),
}
HARMLESS = [
    "ls -la src",
    "mkdir -p build && cd build",
    "git push origin main",
    "the token is short-lived and the key is under the mat",
    "passwords are bad; use passkeys",
    "token: str",
    "password: Optional[str] = None",
    "token = get_token()",
    "const secret = process.env.SECRET",
    "password = os.environ['DB_PASSWORD']",
    "export TOKEN=$OTHER",
    "max_tokens=4096",
    "tokens: 1234",
    "basic authentication is bad",
    "bearer authentication needs TLS",
    "risk-averse desk-bound task-force",
    "sk-learn",
    "https://example.com/a@b",
    "http://localhost:8080/path",
    "user@example.com",
    "monkey business",
    "key: value",
    "550e8400-e29b-41d4-a716-446655440000",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "import keyring; keyring.get_keyring()",
    "author: Jane Doe",
    "docker run -p 8080:80 -u 1000:1000 nginx",
    "http://localhost:3000/@vite/client",
    "password: your-password-here",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    "self.password = password",
    "token = token_from_header",
    "set token expiry to one hour",
    "Set-Cookie: foo=bar; Path=/",
    "cache_key: user:123:profile",
    "<password>required</password>",
    '{"key": "ABC-1234", "name": "token"}',
    "| token | string |\n| name | string |",
    "from tokens import tokenizer, password_hash",
    "data: aGVsbG8gd29ybGQsIHRoaXMgaXMgdGV4dA==",
]


def redactor(**environ: str) -> Redactor:
    return Redactor(KEY, environ=environ)


@rows("kind", SECRETS)
@rows("around", ["{}", "it is {} they say", "line\n{}\nline", 'x = "{}"', "line\\n{}\\nline", "é{}"], ids=repr)
def test_a_secret_is_found_by_its_shape_wherever_it_stands(kind, around):
    secret = SECRETS[kind]

    made = redactor()(around.format(secret))

    assert secret not in made
    assert f"[redacted:{kind.partition(',')[0]}:" in made or "pem" in kind


@rows("case", NAMED)
def test_a_secret_is_found_by_what_stands_before_it(case):
    text, secret = NAMED[case]

    made = redactor()(text.format(secret))

    assert secret not in made
    assert is_redacted(made)


@rows("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    assert redactor()(text) == text


@rows("kind", [*SECRETS, *NAMED])
def test_a_text_that_was_redacted_stays_as_it_is(kind):
    text = SECRETS[kind] if kind in SECRETS else NAMED[kind][0].format(NAMED[kind][1])
    once = redactor()(text)

    assert redactor()(once) == once


def test_the_secret_in_a_sentence_is_all_that_goes():
    made = redactor()(f"before {SECRETS['github']} after")

    assert made.startswith("before [redacted:github:")
    assert made.endswith("] after")


def test_equal_secrets_are_seen_to_be_equal_under_one_key_only():
    text = f"{SECRETS['github']} password={SECRETS['gitlab']}"

    same, other = redactor()(text), Redactor(b"another", environ={})(text)

    assert same == redactor()(text)
    assert same != other
    assert same.count("[redacted:") == 2


def test_a_secret_value_of_the_environment_is_found_wherever_it_occurs():
    secret = 'correct "horse" bätt'
    take = redactor(DEPLOY_KEY=secret, HOME="/home/somebody", SHORT_TOKEN="abc")

    texts = [secret, f"<{secret}>", json.dumps(secret), json.dumps(json.dumps({"a": secret})), "abc /home/somebody"]
    made = [take(text) for text in texts]

    assert all("[redacted:environment:" in text for text in made[:-1])
    assert not any("horse" in text for text in made)
    assert made[-1] == "abc /home/somebody"


def test_a_value_that_was_secret_stays_secret_after_it_has_left_the_environment():
    environ = {"DEPLOY_KEY": "correct horse"}
    take = Redactor(KEY, environ=environ)
    del environ["DEPLOY_KEY"]
    environ["OTHER_PASSWORD"] = "battery staple"

    take.refresh()

    assert "horse" not in take("correct horse")
    assert "staple" not in take("battery staple")


def test_the_path_of_a_file_with_a_secret_is_none(tmp_path):
    environ = {"CREDENTIALS": str(tmp_path), "API_TOKEN": "/not/a/file"}

    assert secrets_of(environ) == {"/not/a/file"}


def test_what_goes_by_a_telling_name_is_redacted_as_a_whole():
    given = {
        "password": "abc", "apiKey": "x", "GITHUB_TOKEN": ["one", {"two": "three"}], "secret": 1234, "cookie": "",
        "max_tokens": 100, "token_type": "bearer", "password_file": "/etc/x", "ok": True, "authorization": None,
        "nested": [{"client_secret": "abc"}],
    }  # fmt: skip

    made = redactor().value(given)

    mark = "[redacted:named:"
    assert [made["password"][:16], made["apiKey"][:16], made["secret"][:16]] == [mark] * 3
    assert made["GITHUB_TOKEN"][0].startswith(mark)
    assert made["GITHUB_TOKEN"][1]["two"].startswith(mark)
    assert made["nested"][0]["client_secret"] == made["password"]
    rest = ("cookie", "max_tokens", "token_type", "password_file", "ok", "authorization")
    assert {name: made[name] for name in rest} == {name: given[name] for name in rest}


@rows("text", ["hunter2 [redacted:", "[redacted:hunter2:00000000]", "[redacted:named:0000000a]hunter2"])
def test_a_secret_does_not_stay_because_it_looks_redacted(text):
    made = redactor().value({"password": text})

    assert "hunter2" not in str(made)


def test_what_is_a_secret_in_one_place_of_a_value_goes_everywhere_in_it():
    made = redactor().value(
        {"password": "correct horse", "said": ["no: correct horse"], "line": "--token abcdefgh12", "x": "abcdefgh12"}
    )

    assert "horse" not in str(made)
    assert made["said"][0].startswith("no: [redacted:repeated:")
    assert made["x"].startswith("[redacted:repeated:")


@rows(
    "value",
    [
        {"name": "API_KEY", "value": "hunter2x"},
        {"Key": "db_password", "Value": "hunter2x"},
        {"value": "hunter2x", "name": "GITHUB_TOKEN"},
        {"user": "bob", "pass": "hunter2x"},
        ["X-Api-Key", "hunter2x"],
        [["Accept", "*/*"], ["Authorization", "hunter2x"]],
        ["docker", "login", "-u", "bob", "-p", "hunter2x"],
        ["curl", "-u", "bob:hunter2x", "https://example.com"],
        ["deploy", "--token", "hunter2x"],
        {"a": json.dumps({"b": json.dumps({"c": json.dumps({"password": "hunter2x"})})})},
        {"password=hunter2x": 1},
        {"file_path": "/tmp/token=hunter2x/x"},
        {"runs": [{"error": {"code": "raised", "text": "ValueError: bad password 'hunter2x'"}}]},
    ],
    ids=str,
)
def test_a_secret_is_found_by_where_it_is_in_a_value(value):
    assert "hunter2x" not in json.dumps(redactor().value(value))


def test_the_name_of_something_is_no_secret():
    value = {"key": "0123456789abcdef0123456789abcdef", "name": "token", "session_id": "e9bc951f-64b9-499a-b8b5"}

    assert redactor().value(value) == value


@rows(
    "encode",
    [
        lambda data: base64.b64encode(data).decode(),
        lambda data: base64.b64encode(b"ab" + data + b"c").decode(),
        lambda data: base64.urlsafe_b64encode(b"x" + data).decode(),
        lambda data: data.hex(),
        lambda data: data.hex().upper(),
        lambda data: quote(data, safe=""),
        lambda data: json.dumps(json.dumps(json.dumps(data.decode()))),
    ],
)
def test_a_secret_value_of_the_environment_is_found_in_any_encoding(encode):
    take = redactor(DEPLOY_TOKEN='p4ss/w"ord+?>x')
    text = f"it says {encode(b'p4ss/w' + bytes([34]) + b'ord+?>x')} here"

    made = take.value({"text": text})["text"]

    assert take.suspects(json.dumps({"text": text}).encode())
    assert made.startswith("it says ")
    assert "[redacted:environment:" in made


@rows("text", ["password=hunter2x", "A=1\nAPI_TOKEN=hunter2x\n", SECRETS["github"], SECRETS["pem"]])
def test_a_secret_is_found_in_base64_and_hex(text):
    inside = f"some text {text} more".encode()
    encoded = base64.b64encode(inside).decode()

    for given in (encoded, inside.hex(), "\n".join(encoded[at : at + 64] for at in range(0, len(encoded), 64))):
        assert redactor()(f"echo {given} | base64 -d").startswith("echo [redacted:encoded:")


def test_the_rest_of_a_line_and_of_a_block_stays():
    text = "a:\n  password: |\n    hunter2x\n  b: c\nurl: postgres://bob:x@y1@db:5432/shop\n"

    made = re.sub(r"\[redacted:\w+:[0-9a-f]{8}\]", "X", redactor()(text))

    assert made == "a:\n  password: |\n    X\n  b: c\nurl: postgres://bob:X@db:5432/shop\n"


def test_keys_of_mappings_are_texts_too():
    made = redactor().value({SECRETS["github"]: 1})

    assert [key[:17] for key in made] == ["[redacted:github:"]


def test_rules_of_ones_own_are_asked_too_and_their_group_is_what_goes():
    take = Redactor(KEY, [("badge", "EMP-[0-9]{6}"), ("cell", "cell=(é+)")], environ={})

    assert take("EMP-123456 and cell=ééé!").startswith("[redacted:badge:")
    assert "cell=[redacted:cell:" in take("EMP-123456 and cell=ééé!")
    assert take.suspects(b'{"a":"EMP-123456"}')


@rows(
    ("name", "secret"),
    [("password", True), ("dbPassword", True), ("API-KEY", True), ("AWSSecretAccessKey", True), ("token", True),
     ("tokens", False), ("max_tokens", False), ("tokenizer", False), ("keyboard", False), ("primary_key", False),
     ("secret_name", False), ("", False), ("session_id", False)],
)  # fmt: skip
def test_names_that_mean_secrets(name, secret):
    assert is_secret_name(name) == secret


def test_an_ordinary_record_needs_no_second_look():
    record = json.dumps({
        "event": "PreToolUse", "subject": "Bash", "us": 12, "runs": [{"hook": "safety-check", "us": 12}],
        "input": {"session_id": "e9bc951f-64b9-499a-b8b5-c1008918ebec", "transcript_path": "", "tool_name": "Bash",
                  "hook_event_name": "PreToolUse", "tool_input": {"command": "ls -la", "description": "List files"},
                  "cwd": "/home/somebody/project", "tool_use_id": "toolu_4853_1", "permission_mode": "default"},
    })  # fmt: skip

    assert not redactor().suspects(record.encode())


@pytest.mark.slow
def test_a_megabyte_of_secrets_takes_a_moment_and_not_minutes():
    text = "password=hunter2 token: abc123def " * 30_000
    began = time.process_time()

    made = redactor()(text)

    assert "hunter2" not in made
    assert time.process_time() - began < 20


@rows(
    "part",
    [
        "key=",
        "password=example",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "glpat-",
        "cookie: ",
        "token: {",
        "password = x\n",
    ],
)
def test_many_names_in_one_text_take_no_longer_than_their_length(part):
    text = part * (60_000 // len(part))
    began = time.process_time()

    Redactor(key=KEY, environ={}, ignore=lambda kind, before, value: True).value({"stdout": text})

    assert time.process_time() - began < 10


def test_many_different_secrets_are_replaced_wherever_they_are():
    secrets = [f"Kj8sdf9QwEr7z{number}" for number in range(3_000)]
    text = "".join(f"password: {secret}\n" for secret in secrets)
    began = time.process_time()

    made = redactor().value({"stdout": text, "again": [f"x{secret}y" for secret in secrets]})

    assert "Kj8sdf9QwEr7z" not in str(made)
    assert time.process_time() - began < 10


def test_a_private_key_after_many_lines_that_only_begin_one_is_replaced():
    begin = "-----BEGIN RSA PRIVATE KEY-----\n"
    key = begin + "MIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----"
    made = Redactor(key=KEY, environ={}, ignore=lambda kind, before, value: "MIIE" not in value.split("\n")[1])

    assert "MIIE" not in made(begin * 50 + key)


def test_a_secret_after_text_that_is_none_is_replaced():
    assert "hunter2secret" not in redactor()("key=key=key= password=hunter2secret")
