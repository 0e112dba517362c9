"""What a team keeps in NATS is created once, changed where it differs, and refused with the reason."""

import asyncio
from pathlib import Path

import pytest
from tests.fleet.nats_servers import NatsServer, a_nats_server, free_ports

from interpose.config.fleet import FleetSettings
from interpose.fleet.names import TeamNames
from interpose.fleet.setup import SetupRefused, create_all
from interpose.handlers.nats_client import NatsOptions, connect


def settings_for(url: str, **more: object) -> FleetSettings:
    return FleetSettings(nats=NatsOptions(servers=(url,)), team="payments", node="one", **more)  # type: ignore[arg-type]


async def created(settings: FleetSettings, **more: int) -> list[str]:
    client = await connect(settings.nats, name="test")
    try:
        return await create_all(client, settings, **more)
    finally:
        await client.close()


def test_everything_is_created_once_and_a_second_setup_changes_nothing(tmp_path: Path) -> None:
    with a_nats_server(tmp_path) as server:
        settings = settings_for(server.url)

        first = asyncio.run(created(settings))
        second = asyncio.run(created(settings))
        limited = asyncio.run(created(settings, record_bytes=1_000_000))

    assert [line.partition(" ")[0] for line in first] == ["created"] * 6
    assert second == []
    assert limited == [f"changed {TeamNames('payments').record_stream}"]


def test_two_setups_at_once_both_succeed(tmp_path: Path) -> None:
    async def both(settings: FleetSettings) -> list[list[str]]:
        return list(await asyncio.gather(created(settings), created(settings)))

    with a_nats_server(tmp_path) as server:
        made = asyncio.run(both(settings_for(server.url)))

    assert {line.partition(" ")[2] for lines in made for line in lines} >= {TeamNames("payments").record_stream}


def test_a_server_without_jetstream_is_named_as_such(tmp_path: Path) -> None:
    server = NatsServer(tmp_path, free_ports(1)[0])
    server.config.write_text(f'listen: "127.0.0.1:{server.port}"\n')
    server.start()
    try:
        with pytest.raises(SetupRefused, match="has no JetStream"):
            asyncio.run(created(settings_for(server.url)))
    finally:
        server.stop()


def test_more_replicas_than_servers_are_refused_with_what_to_do(tmp_path: Path) -> None:
    with a_nats_server(tmp_path) as server, pytest.raises(SetupRefused, match="replicas"):
        asyncio.run(created(settings_for(server.url, replicas=3)))
