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

    assert [origin.resident for origin in Hooks.load(path).origins] == [resident]


def test_what_is_neither_true_nor_false_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "hooks.json"
    path.write_text('{"resident": "yes"}')

    with pytest.raises(ConfigError, match="where true or false is expected"):
        Hooks.load(path)
