"""The fleet of the person's own configuration: hooks of other files ask its workers, if it is trusted."""

from pathlib import Path

import pytest

from interpose import Hooks
from interpose.handlers.nats import nats_service_of


def servers_of(hooks: Hooks) -> tuple[str, ...] | None:
    [hook] = hooks
    service = nats_service_of(hook)
    assert service is not None
    return service.nats.servers if service.nats is not None else None


@pytest.mark.parametrize("trusted", [True, False])
def test_a_named_file_without_a_fleet_asks_the_workers_of_the_persons_own_if_that_is_trusted(
    trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("INTERPOSE_TRUST", "all" if trusted else "")
    own = tmp_path / ".config/interpose/hooks.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("fleet: {servers: 'nats://127.0.0.1:1', team: t}\n")
    (tmp_path / "named.yaml").write_text("hooks: {PreToolUse: [{subject: checks.x}]}\n")

    assert servers_of(Hooks.load(tmp_path / "named.yaml")) == (("nats://127.0.0.1:1",) if trusted else None)


def test_code_asks_the_workers_of_the_fleet_that_it_names() -> None:
    hooks = Hooks.from_mapping({"fleet": {"servers": "nats://127.0.0.1:1", "team": "t"}})
    hooks.register("PreToolUse", subject="checks.x")

    assert servers_of(hooks) == ("nats://127.0.0.1:1",)
