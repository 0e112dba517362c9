"""What is true of every redaction, whatever is given to it."""

import json
import time

import pytest
from benchmarks.secrets.planted import FORMS, Planted, planted
from benchmarks.secrets.survival import survives
from hypothesis import given
from hypothesis import strategies as st

from interpose.redaction import Redactor

ENVIRON = {"DEPLOY_TOKEN": 'p4ss/w"örd+?>x'}
REDACTOR = Redactor(b"properties", environ=ENVIRON)

values_of_secrets = st.text(alphabet="abcdefgXYZ0123456789", min_size=12, max_size=30).filter(
    lambda text: any(sign.isdigit() for sign in text) and any(sign.islower() for sign in text) and len(set(text)) > 5
)
texts = st.text(max_size=40) | st.sampled_from(
    ["password=", "token: ", "\\", '\\"', "%3D", "&quot;", "cGFzc3dvcmQ9", "70617373776f7264", "://a:b@c", "|", ",", "\n",
     "\u200b", "ｐ", "[redacted:pem:00000000]", "[redacted:", "-----BEGIN PRIVATE KEY-----", "<token>", "Cookie: a=b1",
     "user,password\nbob,x1y2z3", "password: |\n  a1b2c3", "docker login -p ", "\ud800", "\0", "ghp_", "key=", "'", "`"]
)  # fmt: skip
mixed = st.lists(texts, max_size=12).map("".join)
keys = st.text(max_size=8) | st.sampled_from(["password", "name", "value", "pass", "key", "token", "auth"])
data = st.recursive(
    st.none() | st.booleans() | st.integers() | mixed,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys | mixed, inner, max_size=4),
    max_leaves=12,
)


def is_alike(before: object, after: object) -> bool:
    """Say whether two values have the same shape: only texts, and numbers under names of secrets, are different."""
    if isinstance(before, dict) and isinstance(after, dict):
        if len(before) != len(after):  # two keys had secrets and became equal
            return len(after) < len(before)
        return all(map(is_alike, before.values(), after.values()))
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(is_alike, before, after))
    return before == after or (isinstance(before, (str, int)) and isinstance(after, str))


@given(data)
def test_redaction_never_raises_keeps_the_shape_and_is_done_after_once(value):
    once = REDACTOR.value(value)

    assert is_alike(value, once)
    assert REDACTOR.value(once) == once


@given(mixed)
def test_a_text_that_was_redacted_is_left_as_it_is(text):
    once = REDACTOR(text)

    assert REDACTOR(once) == once


@given(mixed)
def test_a_text_that_is_not_suspected_is_not_changed(text):
    if not REDACTOR.suspects(json.dumps(text).encode()):
        assert REDACTOR(text) == text


@given(st.sampled_from(sorted(FORMS)), values_of_secrets)
def test_a_planted_secret_is_gone_from_every_decoding(form, secret):
    assert not survives(Planted(form, secret, FORMS[form](secret)), REDACTOR)


def test_at_most_one_planted_secret_in_ten_survives():
    given_ = [one for one in planted(seed=20, each=2) if not one.environ]

    left = [one.form for one in given_ if survives(one, REDACTOR)]

    assert len(left) <= len(given_) / 10, left


@pytest.mark.parametrize(
    "part",
    ["key=", '\\"', "\\", "%41", "&#97;", "cGFzc3dvcmQ9aHVudGVyMg", "70617373776f7264", "://a:b@", "mysql -u ", "<password ",
     "password: |\n", "password,", "user,password\n", "|token|\n", "\u200b", "ｐ", "cookie: a=b; ", "[redacted:", "Bearer ",
     '{"name": "API_KEY", "value": ', "token:\n  ", "a\\\n", "set token ", "login a password ", "," + " " * 999, "\0"],
    ids=repr,
)  # fmt: skip
def test_hostile_text_takes_a_moment_and_not_minutes(part):
    text = (part * (80_000 // len(part) + 1))[:80_000]
    began = time.process_time()

    REDACTOR.value({"stdout": text})

    assert time.process_time() - began < 10
