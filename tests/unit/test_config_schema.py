"""The JSON Schema of the configuration: it is one, and what we show people keeps to it."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from interpose import ConfigError, EventSpec, Hooks
from interpose.cli.init.starter import FILES
from interpose.config.schema import schema
from interpose.events import TABLE
from interpose.policies import POLICIES, RECOMMENDED, find_policy

ROOT = Path(__file__).parents[2]
VALIDATOR = jsonschema.Draft202012Validator(schema())


def examples():
    """Every configuration in the README, in the documentation and in what init writes."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]:
        for language, text in re.findall(r"^```(json|yaml)\n(.*?)^```", path.read_text(), re.DOTALL | re.MULTILINE):
            try:
                given = json.loads(text) if language == "json" else yaml.safe_load(text)
            except ValueError:
                continue  # answers of hooks, one to a line
            of_claude_code = (
                path.stem == "coming-from-claude-code" and language == "json"
            )  # settings of another program
            if isinstance(given, dict) and {"hooks", "policies"} & set(given) and not of_claude_code:
                yield pytest.param(given, id=f"{path.name}:{text.splitlines()[1].strip()[:30]}")
    yield pytest.param(yaml.safe_load(FILES["hooks.yaml"][0]()), id="init")


def test_it_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("given", list(examples()))
def test_what_we_show_people_keeps_to_it(given):
    VALIDATOR.validate(given)


WHOLE = {
    "hooks": {
        "errorBehavior": "abort", "timeout": 5000, "defaultTimeout": "250ms", "totalTimeout": 20, "enforce": True,
        "max_hooks_per_point": 10, "x-mine": {"anything": [1]},
        "PreToolUse": [
            {"name": "a", "matcher": "Bash", "handler": "m.f", "on_error": "abort", "x-owner": "me"},
            {"matcher": "Write|Edit", "timeout": 3, "hooks": [{"handler": "m.f"}], "commands": ["true", {"command": "true"}]},
            {"type": "command", "handler": ["./guard.sh", "-v"], "env": {"A": "1"}, "passEnv": ["B"], "isolation": "tree"},
        ],
        "pre:tool:shell": [{"command": "true", "shell": "bash"}],
        "Stop": None,
        "SessionEnd": {"hooks": [{"command": "true"}]},
    },
    "agents": [{"id": "a", "backend": {"model": "any", "hooks": {"Stop": {"override": True, "hooks": []}}}}],
    "permissions": {"deploy": "ask"},
    "their_own": 1,
}  # fmt: skip


def test_everything_that_can_be_written_keeps_to_it():
    VALIDATOR.validate(WHOLE)
    Hooks.from_mapping(WHOLE)


@pytest.mark.parametrize(
    "hooks",
    [
        {"PreToolUze": []},
        {"Stop:suffix": []},
        {"PreToolUse": [{"handlr": "m.f"}]},
        {"PreToolUse": [{"name": "neither handler nor command"}]},
        {"PreToolUse": [{"command": "true", "onError": "explode"}]},
        {"PreToolUse": [{"command": "true", "timeout": "5"}]},
        {"PreToolUse": [{"command": "true", "priority": 1.5}]},
        {"PreToolUse": [{"command": "true", "enabled": "yes"}]},
        {"PreToolUse": [{"matcher": "Bash", "hooks": [], "handler": "m.f"}]},
        {"PreToolUse": {"override": True, "hooks": []}},
        {"PreToolUse": 3},
        {"timeout": 50},
        {"defaultTimeout": "5 parsecs"},
        {"errorBehavior": "explode"},
        {"maxHooksPerPoint": -1},
    ],
    ids=str,
)
def test_what_is_refused_when_it_is_read_is_marked_in_an_editor(hooks):
    with pytest.raises(ConfigError):
        Hooks.from_mapping({"hooks": hooks})

    assert not VALIDATOR.is_valid({"hooks": hooks})


@pytest.mark.parametrize(
    "policies",
    [
        None, "recommended", [], ["recommended", "disks-and-devices"], [{"disks-and-devices": "observe"}],
        [{"disks-and-devices": False}], [{"disks-and-devices": None}], [{"recommended": {"enforce": False, "hint": "x"}}],
        [{"disks-and-devices": {"write": "ask", "onMatch": "deny", "allow": ["Bash(ls)"], "locked": True, "x-mine": 1}}],
    ],
    ids=str,
)  # fmt: skip
def test_policies_keep_to_it(policies):
    VALIDATOR.validate({"policies": policies})
    Hooks.from_mapping({"policies": policies})


@pytest.mark.parametrize(
    "policies",
    [
        5, "recomended", ["disk-and-devices"], {"disks-and-devices": {}}, [{"disks-and-devices": "obzerve"}],
        [{"disks-and-devices": {"wirte": "ask"}}], [{"disks-and-devices": {"write": "aks"}}], [["recommended"]],
        [{"disks-and-devices": {"onMatch": "allow"}}], [{"disks-and-devices": {}, "recommended": {}}],
    ],
    ids=str,
)  # fmt: skip
def test_what_is_wrong_with_policies_is_marked_in_an_editor(policies):
    with pytest.raises(ConfigError):
        Hooks.from_mapping({"policies": policies})

    assert not VALIDATOR.is_valid({"policies": policies})


def test_every_policy_and_every_parameter_is_there_with_a_description():
    entry = schema()["$defs"]["policies"]["anyOf"][1]["items"]["anyOf"][1]["properties"]

    assert set(entry) == {RECOMMENDED, *POLICIES}
    for name in POLICIES:
        described = next(one for one in entry[name]["anyOf"] if "properties" in one)["properties"]
        own = {one.name: described[one.name] for one in find_policy(name).parameters}
        assert [one for one, about in own.items() if not about["description"]] == []
        for one in find_policy(name).parameters:  # the default is one of the values
            if one.default is not None:
                jsonschema.validate(own[one.name]["default"], own[one.name])


def test_every_event_and_every_spelling_of_it_is_there():
    assert set(TABLE.spellings()) <= set(schema()["$defs"]["hooks"]["properties"])


def test_a_hosts_own_events_can_be_in_it():
    table = TABLE.with_row(EventSpec("pre:deploy", "before a release", subject="stage", fields="stage", can="deny"))

    jsonschema.validate({"hooks": {"pre:deploy:production": [{"command": "true"}]}}, schema(table))
