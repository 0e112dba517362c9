"""`resident:` in a configuration."""

import json
from pathlib import Path

import jsonschema
import pytest

from interpose import ConfigError, Hooks
from interpose.config.schema import schema


@pytest.mark.parametrize(("given", "resident"), [({}, False), ({"resident": True}, True), ({"resident": False}, False)])
def test_a_configuration_can_ask_for_the_resident_engine(
    given: dict[str, bool], resident: bool, tmp_path: Path
) -> None:
    path = tmp_path / "hooks.json"
    path.write_text(json.dumps(given))
    jsonschema.validate(given, schema())

    assert Hooks.load(path).resident is resident


def test_one_of_several_files_is_enough(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text('{"resident": true}')
    (tmp_path / "two.json").write_text("{}")

    assert Hooks.load(tmp_path / "one.json", tmp_path / "two.json").resident


def test_what_is_neither_true_nor_false_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "hooks.json"
    path.write_text('{"resident": "yes"}')

    with pytest.raises(ConfigError, match="where true or false is expected"):
        Hooks.load(path)
