"""An OpenTelemetry collector on loopback: takes OTLP over HTTP, and decodes the protobuf."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tests.doubles.loopback import LoopbackServer


@dataclass(frozen=True, slots=True)
class Span:
    """A span as it arrived; ids are in hexadecimal, `parent` is empty for a root."""

    name: str
    trace: str
    id: str
    parent: str
    failed: bool
    began: int
    ended: int
    attributes: Mapping[str, Any]


class Collector(LoopbackServer):
    """Collects spans while it is open."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.resources: list[dict[str, Any]] = []
        self.bodies: list[bytes] = []
        self.headers: list[Mapping[str, str]] = []

    @property
    def endpoint(self) -> str:
        return self.origin

    def named(self, name: str) -> list[Span]:
        found = [span for span in self.spans if span.name == name]
        return sorted(found, key=lambda span: span.began)

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/traces", self._take)
        return app

    async def _take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        for one in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append({kv.key: _plain(kv.value) for kv in one.resource.attributes})
            for scope in one.scope_spans:
                self.spans.extend(map(_read, scope.spans))
        return web.Response(content_type="application/x-protobuf")


def _read(span: Any) -> Span:
    return Span(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        failed=span.status.code == 2,
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        attributes={kv.key: _plain(kv.value) for kv in span.attributes},
    )


def _plain(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_plain(one) for one in value.array_value.values]
    return getattr(value, kind) if kind else None
