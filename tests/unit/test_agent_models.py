"""What is asked and answered, in words of no particular API; and which model a name stands for."""

import subprocess
import sys
from pathlib import Path

import pytest

from interpose import InterposeError
from interpose.models import (
    Assistant,
    ModelError,
    Request,
    ToolCall,
    ToolResult,
    ToolResults,
    ToolSpec,
    Turn,
    User,
    estimate_tokens,
    find_model,
    message_text,
    parse_tool_input,
)
from interpose.models.catalog import ANTHROPIC_MODEL, OPENAI_MODEL, window_of

KEYS = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
CALL = ToolCall("call_1", "Bash", {"command": "echo ä"})


def test_a_turn_becomes_the_message_that_it_is_from_then_on() -> None:
    turn = Turn("I look.", (CALL,), "tool_use", 90, {"for": "the API"})

    assert turn.message() == Assistant("I look.", (CALL,), {"for": "the API"})


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (User("Hello?"), "Hello?"),
        (Assistant("I look.", (CALL,)), 'I look.\nBash {"command": "echo ä"}'),
        (Assistant("", (CALL,)), 'Bash {"command": "echo ä"}'),
        (ToolResults((ToolResult("a", "one"), ToolResult("b", "two", ok=False))), "one\ntwo"),
    ],
)
def test_a_message_can_be_written_as_plain_text(message: User | Assistant | ToolResults, text: str) -> None:
    assert message_text(message) == text


def test_a_token_is_counted_for_every_four_letters_of_everything_that_is_sent() -> None:
    tool = ToolSpec("name", "four", {"a": 5})  # 4 + 4 + 8 letters

    assert estimate_tokens(Request("", [])) == 0
    assert estimate_tokens(Request("12345678", [User("1234"), User("1234")], [tool]), "1234") == 2 + 1 + 1 + 4 + 1


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("", ({}, "")),
        (" \n", ({}, "")),
        ('{"a": [1]}', ({"a": [1]}, "")),
        ("[1]", ({}, "the input was not a JSON object")),
        ("null", ({}, "the input was not a JSON object")),
        ('{"a"', ({}, "the input was not valid JSON: Expecting ':' delimiter: line 1 column 5 (char 4)")),
    ],
)
def test_input_is_read_or_it_is_said_what_is_wrong_with_it(text: str, made: tuple[dict[str, object], str]) -> None:
    assert parse_tool_input(text) == made


@pytest.mark.parametrize(
    ("spec", "environ", "name"),
    [
        ("anthropic:claude-opus-5-5", KEYS, "claude-opus-5-5"),
        ("anthropic", KEYS, ANTHROPIC_MODEL),
        ("openai:gpt-5.4-mini", KEYS, "gpt-5.4-mini"),
        ("openai:vendor/model:free", KEYS, "vendor/model:free"),
        ("openai", KEYS, OPENAI_MODEL),
        (None, KEYS, ANTHROPIC_MODEL),
        (None, {"ANTHROPIC_AUTH_TOKEN": "t"}, ANTHROPIC_MODEL),
        (None, {"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": ""}, OPENAI_MODEL),
    ],
)
def test_a_name_or_else_a_key_says_which_model_is_asked(spec: str | None, environ: dict[str, str], name: str) -> None:
    model = find_model(spec, environ=environ)

    assert model is not None
    assert model.name == name


def test_without_a_key_there_is_no_model() -> None:
    assert find_model(None, environ={"OPENAI_API_KEY": "", "OPENAI_BASE_URL": "http://127.0.0.1:9"}) is None


def test_a_script_is_a_model(tmp_path: Path) -> None:
    script = tmp_path / "turns.yaml"
    script.write_text("turns: [{say: Hello.}]\nwindow: 5000")

    assert find_model(f"scripted:{script}").name == f"scripted:{script}"
    assert find_model(f"scripted:{script}").window == 5000
    assert find_model(f"scripted:{script}", window=100).window == 100


@pytest.mark.parametrize(
    ("spec", "environ", "code", "said"),
    [
        ("gpt", KEYS, "no_model", "'gpt' is not a model (anthropic:NAME, openai:NAME or scripted:FILE)"),
        ("", KEYS, "no_model", "'' is not a model (anthropic:NAME, openai:NAME or scripted:FILE)"),
        ("scripted:", KEYS, "no_model", "scripted names no file (scripted:turns.yaml)"),
        ("anthropic", {}, "no_key", "there is no key for Anthropic (set ANTHROPIC_API_KEY)"),
        ("openai", {}, "no_key", "there is no key for OpenAI (set OPENAI_API_KEY)"),
        (
            "openai",
            {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},
            "no_key",
            "there is no key for the server at 127.0.0.1:9 (set OPENAI_API_KEY, to any word if the server needs none)",
        ),
    ],
)
def test_a_model_that_cannot_be_asked_is_an_error_that_says_what_to_do(
    spec: str, environ: dict[str, str], code: str, said: str
) -> None:
    with pytest.raises(ModelError) as raised:
        find_model(spec, environ=environ)

    assert (raised.value.code, str(raised.value)) == (code, said)
    assert isinstance(raised.value, InterposeError)


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
def test_a_package_that_is_not_installed_is_an_error_that_names_the_extra(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, kind, None)

    with pytest.raises(ModelError, match=rf"is not installed \(pip install 'interpose\[{kind}\]'\)") as raised:
        find_model(kind, environ=KEYS)

    assert raised.value.code == "no_package"


def test_naming_a_model_loads_no_package_that_it_does_not_need() -> None:
    code = (
        "import sys; from interpose.models import find_model;"
        "find_model(None, environ={}); find_model('scripted:/dev/stdin');"
        "print({'anthropic', 'openai', 'httpx2', 'pydantic'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], input=b"turns: []", capture_output=True, check=True, timeout=60)

    assert done.stdout == b"set()\n"


@pytest.mark.parametrize(
    ("name", "window"),
    [
        (ANTHROPIC_MODEL, 1_000_000),
        ("claude-haiku-4-5", 200_000),
        ("claude-someday-9", 200_000),
        (OPENAI_MODEL, 922_000),
        ("gpt-5.4", 272_000),
        ("llama-of-yours", 128_000),
    ],
)
def test_the_size_of_a_context_is_known_or_guessed_low(name: str, window: int) -> None:
    assert window_of(name) == window


def test_the_default_models_are_listed_by_their_packages() -> None:
    from typing import get_args

    from anthropic.types import ModelParam
    from openai.types import ChatModel

    assert ANTHROPIC_MODEL in get_args(get_args(ModelParam)[0])
    assert OPENAI_MODEL in get_args(ChatModel)
