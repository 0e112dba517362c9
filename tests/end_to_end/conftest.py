"""What tests of traces share: a receiver, a host's providers that send to it, and an environment without traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # the SDK takes half a second to load, which the other tests of this folder do not need
    from tests.end_to_end.otlp_receiver import Receiver
    from tests.end_to_end.traced_hosts import Telemetry


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy on the way to loopback, and no trace around the tests."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("TRACEPARENT", "TRACESTATE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def receiver(plain_environment: None) -> Iterator[Receiver]:
    """A receiver of traces and metrics on loopback."""
    from tests.end_to_end.otlp_receiver import Receiver

    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def telemetry(receiver: Receiver) -> Iterator[Telemetry]:
    """The providers of a host, whose exporters send to the receiver."""
    from tests.end_to_end.traced_hosts import Telemetry

    telemetry = Telemetry(receiver)
    yield telemetry
    telemetry.close()
