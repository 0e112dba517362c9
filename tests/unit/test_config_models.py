"""``models:`` of a configuration, the hooks that ask them, and what check, doctor, explain and trust say of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.people import somebody

from interpose import BadHook, ConfigError, Hooks
from interpose.cli import main
from interpose.config.load import load_sources
from interpose.config.read import Source
from interpose.config.schema import schema
from interpose.events import TABLE
from interpose.models.configured import Budget, ConfiguredModel

PROMPT = {"type": "prompt", "prompt": "Fine?"}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in (
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)


def hooks_with(models: Any, **hook: Any) -> Hooks:
    return Hooks.from_mapping({"models": models, "hooks": {"PreToolUse": [{**PROMPT, **hook}]}})


def asked(hooks: Hooks) -> ConfiguredModel:
    [hook] = hooks
    configured: ConfiguredModel = hook.binding.target.configured
    return configured


def test_a_model_is_a_name_and_what_it_stands_for() -> None:
    whole = {
        "model": "openai:qwen", "baseUrl": "http://127.0.0.1:8000/v1", "apiKeyEnv": "LOCAL", "window": 32_000,
        "redact": False, "budget": {"calls": 9, "tokens": 5000, "per": "day"}, "x-note": "ours",
    }  # fmt: skip

    hooks = hooks_with({"default": "anthropic:a", "local": whole}, model="local")

    assert asked(hooks) == ConfiguredModel(
        name="local", spec="openai:qwen", base_url="http://127.0.0.1:8000/v1", key_variable="LOCAL", window=32_000,
        redact=False, budget=Budget(calls=9, tokens=5000, per="day"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("models", "written", "spec"),
    [
        ({"default": "anthropic:a", "b": "openai:b"}, None, "anthropic:a"),
        ({"b": "openai:b"}, None, "openai:b"),
        ({"default": "anthropic:a", "b": "openai:b"}, "b", "openai:b"),
        ({}, "anthropic:c", "anthropic:c"),
        ({}, None, ""),
    ],
)
def test_which_model_a_hook_asks(models: dict[str, str], written: str | None, spec: str) -> None:
    assert asked(hooks_with(models, model=written)).spec == spec


WRONG: dict[str, tuple[Any, str]] = {
    "no mapping": (["anthropic:a"], "where names of models are expected"),
    "a name with a colon": ({"a:b": "anthropic:a"}, "cannot name a model"),
    "another kind": ({"a": "llama:x"}, "is not a model"),
    "a script without a file": ({"a": "scripted:"}, "is not a model"),
    "no model": ({"a": {"window": 5000}}, "is not a model"),
    "another key": ({"a": {"model": "openai:b", "modle": 1}}, "modle is not a key of a model (did you mean model?)"),
    "a small window": ({"a": {"model": "openai:b", "window": 10}}, "is not a number of tokens"),
    "redact as text": ({"a": {"model": "openai:b", "redact": "no"}}, "where true or false is expected"),
    "an address without a host": ({"a": {"model": "openai:b", "baseUrl": "localhost"}}, "not the address of a server"),
    "a password in the address": ({"a": {"model": "openai:b", "baseUrl": "http://u:p@h/"}}, "with a password in it"),
    "a key in the file": ({"a": {"model": "openai:b", "apiKeyEnv": "sk-1234"}}, "not the name of a variable"),
    "an empty budget": ({"a": {"model": "openai:b", "budget": {}}}, "a budget without calls: or tokens:"),
    "a budget of nothing": ({"a": {"model": "openai:b", "budget": {"calls": 0}}}, "is not a number of calls"),
    "another period": ({"a": {"model": "openai:b", "budget": {"calls": 1, "per": "week"}}}, "is not a period"),
    "another limit": ({"a": {"model": "openai:b", "budget": {"dollars": 1}}}, "dollars is not a key of a budget"),
    "a script with a key": ({"a": {"model": "scripted:x", "apiKeyEnv": "K"}}, "neither an address nor a key"),
}  # fmt: skip


@pytest.mark.parametrize(("models", "what"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said(models: Any, what: str) -> None:
    with pytest.raises(ConfigError) as error:
        hooks_with(models, model="openai:b")

    assert what in str(error.value)
    assert "sk-1234" not in str(error.value)
    assert (
        not Draft202012Validator(schema()).is_valid({"models": models})
        or what == "neither an address nor a key"
        or ("password" in what or "cannot name" in what or "variable" in what)
    )


def test_a_problem_has_its_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "hooks.yaml").write_text("models:\n  judge:\n    model: openai:b\n    budget: {calls: many}\n")

    with pytest.raises(ConfigError) as error:
        Hooks.load("hooks.yaml")

    assert "hooks.yaml:4:14: 'many' is not a number of calls" in str(error.value)


HOOKS: dict[str, tuple[dict[str, Any], str]] = {
    "no prompt": ({"type": "prompt", "prompt": " "}, "prompt: ' ' where text is expected"),
    "a handler too": ({**PROMPT, "handler": "a.b"}, "handler: a hook of type prompt has none"),
    "a command too": ({**PROMPT, "command": "ls"}, "command: a hook of type prompt has none"),
    "arguments": ({**PROMPT, "args": ["x"]}, "args: a hook of type prompt has no such option"),
    "inline": ({**PROMPT, "inline": True}, "inline: "),
    "isolate": ({**PROMPT, "isolate": "process"}, "isolate: "),
    "a flag as text": ({**PROMPT, "continueOnBlock": "no"}, "continueOnBlock: "),
    "a model of another type": ({"handler": "a.b", "model": "x"}, "model: only a hook of type prompt or agent"),
    "an unknown model": ({**PROMPT, "model": "judge"}, "model: there is no model judge"),
    "an agent with a cache": ({**PROMPT, "type": "agent", "cache": True}, "cache: "),
    "an agent that ends the turn": ({**PROMPT, "type": "agent", "continueOnBlock": False}, "continueOnBlock: "),
}


@pytest.mark.parametrize(("hook", "what"), HOOKS.values(), ids=HOOKS)
def test_what_is_wrong_with_a_hook_is_said(hook: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigError) as error:
        Hooks.from_mapping({"models": {"a": "openai:a"}, "hooks": {"PreToolUse": [hook]}})

    assert what in str(error.value)


def test_a_hook_that_keeps_an_agent_going_cannot_end_its_turn() -> None:
    with pytest.raises(ConfigError, match="keeps the agent going"):
        Hooks.from_mapping({"hooks": {"Stop": [{**PROMPT, "continueOnBlock": False}]}})


def test_several_models_need_a_default() -> None:
    with pytest.raises(ConfigError, match="none is the default"):
        hooks_with({"a": "openai:a", "b": "openai:b"})


def test_code_registers_such_hooks_too() -> None:
    hooks = Hooks.from_mapping({"models": {"a": "openai:a"}})

    hook = hooks.register("PreToolUse", prompt="Fine?", model="a", continue_on_block=False, cache=False)

    judge = hook.binding.target
    assert (hook.type, hook.label, judge.configured.spec) == ("prompt", "Fine?", "openai:a")
    assert (judge.continues, judge.cache) == (False, False)
    with pytest.raises(BadHook, match="only a hook of type prompt"):
        hooks.register("PreToolUse", print, model="a")


def test_a_lower_file_does_not_change_who_judges_for_a_higher_one(tmp_path: Path) -> None:
    """Otherwise a project could have its own script judge for the guards of a person."""
    (tmp_path / "user.yaml").write_text("hooks: {PreToolUse: [{name: mine, prompt: Fine?}]}\n")
    (tmp_path / "project.yaml").write_text(
        "models: {default: scripted:yes.yaml}\nhooks: {PreToolUse: [{name: its, prompt: Fine?}]}\n"
    )
    (tmp_path / "above.yaml").write_text("models: {default: openai:big}\n")

    def specs(*files: tuple[str, str]) -> dict[str, str]:
        loaded = load_sources(TABLE, [Source(str(tmp_path / f"{name}.yaml"), layer) for name, layer in files])
        return {hook.label: hook.binding.target.configured.spec for hook in loaded.hooks}

    script = f"scripted:{tmp_path}/yes.yaml"
    assert specs(("user", "user"), ("project", "project")) == {"mine": "", "its": script}
    assert specs(("above", "user"), ("project", "project")) == {"its": "openai:big"}


def test_a_reload_brings_other_models(tmp_path: Path) -> None:
    text = "models: {{default: openai:{}}}\nhooks: {{PreToolUse: [{{prompt: Fine?}}]}}\n"
    (tmp_path / "hooks.yaml").write_text(text.format("a"))
    hooks = Hooks.load("hooks.yaml")

    (tmp_path / "hooks.yaml").write_text(text.format("bb"))

    assert hooks.reload()
    assert asked(hooks).spec == "openai:bb"


# What is missing.

KEYED = ConfiguredModel(name="a", spec="anthropic:a")


@pytest.mark.parametrize(
    ("model", "environ", "lacks"),
    [
        (KEYED, {"ANTHROPIC_API_KEY": "k"}, ""),
        (KEYED, {"ANTHROPIC_AUTH_TOKEN": "k"}, ""),
        (KEYED, {"OPENAI_API_KEY": "k"}, "ANTHROPIC_API_KEY is not set"),
        (ConfiguredModel(spec="openai:b", key_variable="MINE"), {"OPENAI_API_KEY": "k"}, "MINE is not set"),
        (ConfiguredModel(spec="openai:b", key_variable="MINE"), {"MINE": "k"}, ""),
        (ConfiguredModel(), {}, "no model is configured"),
        (ConfiguredModel(), {"OPENAI_API_KEY": "k"}, ""),
        (ConfiguredModel(spec="scripted:/gone.yaml"), {}, "its script /gone.yaml does not exist"),
    ],
)
def test_what_a_model_lacks(model: ConfiguredModel, environ: dict[str, str], lacks: str) -> None:
    what, hint = model.lacks(environ)

    assert lacks in what
    assert bool(what) is bool(lacks) is bool(hint)


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interpose.models.configured.find_spec", lambda name: None)

    assert KEYED.lacks({"ANTHROPIC_API_KEY": "k"}) == (
        "the package anthropic is not installed",
        "pip install 'interpose[anthropic]'",
    )


# On the command line.


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HAVE", "a-key-that-is-secret")
    path = tmp_path / "hooks.yaml"
    path.write_text(
        """\
models:
  default: {model: anthropic:a, apiKeyEnv: HAVE}
  other: {model: openai:b, apiKeyEnv: LACK, budget: {calls: 5, per: hour}}
hooks:
  PreToolUse:
    - {name: judge, prompt: Fine?, onError: abort}
    - {name: look, type: agent, prompt: Look., model: other}
"""
    )
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    status = main([*arguments, "--json"])
    said = capsys.readouterr().out
    assert "a-key-that-is-secret" not in said
    return status, json.loads(said)


def test_check_says_what_is_missing_and_what_may_fail_open(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, said = printed(capsys, "check", config)

    [warning] = said["warnings"]
    [note] = said["notes"]
    assert "LACK is not set" in warning["what"]
    assert "look" in note["what"]
    assert "budget" in note["what"]


def test_doctor_looks_for_keys_and_asks_no_model(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = printed(capsys, "doctor", "--yes", "--config", config)

    models = {check["name"]: (check["state"], check["text"]) for check in said["machine"] if "model:" in check["name"]}
    assert models["model: default"] == ("ok", "anthropic:a, key in HAVE")
    assert models["model: other"][0] == "warning"
    assert "LACK is not set" in models["model: other"][1]
    assert [(hook["hook"], hook["ran"], hook["state"]) for hook in said["hooks"]] == [
        ("judge", False, "ok"),
        ("look", False, "wrong"),
    ]
    assert (status, said["ran"]) == (1, False)


def test_explain_and_list_say_whom_a_hook_asks(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, explained = printed(capsys, "explain", "PreToolUse", "--tool", "Bash", "--config", config)
    _, listed = printed(capsys, "list", "--config", config)

    where = {fact["hook"]: fact["isolation"] for fact in explained["hooks"]}
    assert where == {row["label"]: row["isolation"] for row in listed["hooks"]}
    assert where["judge"] == "the model anthropic:a, key in HAVE"
    assert where["look"].startswith("an agent that reads, with the model openai:b")
    assert [row["deadline"] for row in listed["hooks"]] == [30, 60]


def test_trust_shows_the_models_that_events_are_sent_to(
    config: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interpose.person.processes.read_processes", somebody)
    _, said = printed(capsys, "trust", config, "--diff")

    assert said["files"][0]["models"] == {
        "default": "anthropic:a, key in HAVE",
        "other": "openai:b, key in LACK, at most 5 calls per hour",
    }


def test_a_script_of_a_trusted_configuration_is_that_of_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], person: None
) -> None:
    folder = tmp_path / ".interpose"
    folder.mkdir(mode=0o700)
    no = "turns: [{call: {verdict: {ok: false, reason: as trusted}}}]\n"
    (folder / "turns.yaml").write_text(no)
    (folder / "hooks.yaml").write_text(
        "models: {default: scripted:turns.yaml}\nhooks: {PreToolUse: [{prompt: Fine?}]}\n"
    )
    monkeypatch.setattr("interpose.cli.trust.require_person", lambda *_, **__: None)
    main(["trust", "--yes", "--json"])
    capsys.readouterr()

    (folder / "turns.yaml").write_text(no.replace("false", "true"))

    outcome = Hooks.discover(changed="keep").fire_sync("PreToolUse", tool_name="Bash", tool_input={})
    assert outcome.reason == "as trusted"
