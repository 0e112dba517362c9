"""A receiver of OTLP over HTTP on loopback: what a collector would have been sent, decoded, to be looked at."""

import gzip
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

ERROR = Status.STATUS_CODE_ERROR
UNSET = Status.STATUS_CODE_UNSET


@dataclass
class Span:
    """One span as it arrived."""

    name: str
    trace_id: str
    id: str
    parent_id: str
    attributes: dict[str, Any]
    status: int
    message: str
    began: int
    ended: int

    @property
    def traceparent(self) -> str:
        """How W3C names it, but for the flags."""
        return f"00-{self.trace_id}-{self.id}-"


@dataclass
class Point:
    """One series of a metric as it last arrived: how many there were, and what they add up to."""

    attributes: dict[str, Any]
    count: int
    sum: float
    unit: str


class Receiver:
    """Takes what is posted to it. ``answer_with`` is the status that it answers; ``held`` keeps it from answering."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.metrics: dict[str, list[Point]] = {}
        self.services: set[str] = set()
        self.bodies: list[bytes] = []
        self.answer_with = 200
        self.held = threading.Event()
        self.held.set()
        self.asked = threading.Event()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True)
        self._thread.start()

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Let everybody go who waits for an answer, and listen no more."""
        self.held.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def span(self, name: str, **attributes: Any) -> Span:
        """The one span of that name and with these attributes, whose dots are written as two underscores."""
        wanted = {f"interpose.{key.replace('__', '.')}": value for key, value in attributes.items()}
        found = [one for one in self.spans if one.name == name and wanted.items() <= one.attributes.items()]
        assert len(found) == 1, (name, wanted, [(one.name, one.attributes) for one in self.spans])
        return found[0]

    def children(self, of: Span) -> list[Span]:
        """The spans below one, in the order they began."""
        return sorted((one for one in self.spans if one.parent_id == of.id), key=lambda one: one.began)

    def take(self, path: str, body: bytes) -> None:
        """Decode one message; keep what it holds."""
        self.bodies.append(body)
        if path == "/v1/traces":
            for batch in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.services.add(_values(batch.resource.attributes)["service.name"])
                self.spans += [_span(one) for scope in batch.scope_spans for one in scope.spans]
        elif path == "/v1/metrics":
            for group in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in group.scope_metrics:
                    self.metrics.update({one.name: _points(one) for one in scope.metrics})


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # joined at the end: nothing is left of a test

    def __init__(self, receiver: Receiver) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.receiver = receiver


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10  # a connection that is kept and never used again does not keep the end of the test

    def do_POST(self) -> None:
        receiver = self.server.receiver
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.asked.set()
        receiver.held.wait(120)
        if receiver.answer_with == 200:
            receiver.take(self.path, gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body)
        self.send_response(receiver.answer_with)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _span(span: Any) -> Span:
    return Span(
        name=span.name,
        trace_id=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        attributes=_values(span.attributes),
        status=span.status.code,
        message=span.status.message,
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
    )


def _points(metric: Any) -> list[Point]:
    if metric.HasField("sum"):
        return [Point(_values(one.attributes), one.as_int, one.as_int, metric.unit) for one in metric.sum.data_points]
    return [Point(_values(one.attributes), one.count, one.sum, metric.unit) for one in metric.histogram.data_points]


def _values(attributes: Iterable[Any]) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}
