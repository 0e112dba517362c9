"""Redaction: what a secret looks like, what does not look like one, and what stands in its place."""

import json
import time

import pytest

from interpose.audit.redact import Redactor, is_redacted, secrets_of
from interpose.audit.secret_patterns import is_secret_name

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
]


def redactor(**environ: str) -> Redactor:
    return Redactor(KEY, environ=environ)


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize(
    "around", ["{}", "it is {} they say", "line\n{}\nline", 'x = "{}"', "line\\n{}\\nline", "é{}"], ids=repr
)
def test_a_secret_is_found_by_its_shape_wherever_it_stands(kind, around):
    secret = SECRETS[kind]

    made = redactor()(around.format(secret))

    assert secret not in made
    assert f"[redacted:{kind.partition(',')[0]}:" in made or "pem" in kind


@pytest.mark.parametrize("case", NAMED)
def test_a_secret_is_found_by_what_stands_before_it(case):
    text, secret = NAMED[case]

    made = redactor()(text.format(secret))

    assert secret not in made
    assert is_redacted(made)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text):
    assert redactor()(text) == text


@pytest.mark.parametrize("kind", [*SECRETS, *NAMED])
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


def test_what_is_a_secret_in_one_place_of_a_value_goes_everywhere_in_it():
    made = redactor().value(
        {"password": "correct horse", "said": ["no: correct horse"], "line": "--token abcdefgh12", "x": "abcdefgh12"}
    )

    assert "horse" not in str(made)
    assert made["said"][0].startswith("no: [redacted:repeated:")
    assert made["x"].startswith("[redacted:repeated:")


def test_keys_of_mappings_are_texts_too():
    made = redactor().value({SECRETS["github"]: 1})

    assert [key[:17] for key in made] == ["[redacted:github:"]


def test_rules_of_ones_own_are_asked_too_and_their_group_is_what_goes():
    take = Redactor(KEY, [("badge", "EMP-[0-9]{6}"), ("cell", "cell=(é+)")], environ={})

    assert take("EMP-123456 and cell=ééé!").startswith("[redacted:badge:")
    assert "cell=[redacted:cell:" in take("EMP-123456 and cell=ééé!")
    assert take.suspects(b'{"a":"EMP-123456"}')


@pytest.mark.parametrize(
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


def test_a_megabyte_of_secrets_takes_a_moment_and_not_minutes():
    text = "password=hunter2 token: abc123def " * 30_000
    began = time.process_time()

    made = redactor()(text)

    assert "hunter2" not in made
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
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
