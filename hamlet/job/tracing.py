"""Sends a trace of each epoch to OpenTelemetry, if an exporter is configured in the environment.

    OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 hamlet run ...

The spans of an epoch: reading, hand-over, the work of each aggregator, merging, the sink, the
checkpoint.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from runtime.errors import HamletError

if TYPE_CHECKING:
    from hamlet.job.epoch import Epoch, EpochCommit

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
EXPORTER = "OTEL_TRACES_EXPORTER"
SERVICE = "hamlet"
NANOSECONDS = 10**9


def is_wanted() -> bool:
    chosen = _chosen()
    if not chosen:
        return any(map(os.environ.get, ENDPOINTS))
    return bool({"otlp", "console"} & chosen)


def _chosen() -> set[str]:
    return {each.strip() for each in os.environ.get(EXPORTER, "").split(",")} - {""}


class Tracing:
    """Sends spans in the background. `close` sends the last ones."""

    def __init__(self, job: str) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        name = os.environ.get("OTEL_SERVICE_NAME", SERVICE)
        resource = Resource.create({"service.name": name, "hamlet.job": job})
        self._provider = TracerProvider(resource=resource)
        self._provider.add_span_processor(BatchSpanProcessor(_exporter()))
        self._tracer = self._provider.get_tracer("hamlet")

    def published(self, epoch: Epoch, finished: EpochCommit) -> None:
        from opentelemetry import trace

        spans = finished.spans
        whole = self._tracer.start_span(
            "epoch",
            attributes={
                "hamlet.epoch": epoch.order.epoch,
                "hamlet.rows": epoch.read.rows,
                "hamlet.results": sum(table.num_rows for table in finished.tables.values()),
            },
            start_time=_time(min(span.began for span in spans)),
        )
        inside = trace.set_span_in_context(whole)
        for span in spans:
            part = self._tracer.start_span(
                span.name,
                inside,
                attributes={f"hamlet.{name}": value for name, value in span.attributes.items()},
                start_time=_time(span.began),
            )
            part.end(_time(span.ended))
        whole.end(_time(finished.published))

    def close(self) -> None:
        self._provider.shutdown()


def _exporter() -> Any:
    if "otlp" not in _chosen() and "console" in _chosen():
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter()
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    except ImportError:
        raise HamletError(
            "traces are configured, but the exporter is not installed",
            "pip install 'hamlet-runtime[traces]', or unset OTEL_EXPORTER_OTLP_ENDPOINT",
        ) from None
    return OTLPSpanExporter()


def _time(seconds: float) -> int:
    return int(seconds * NANOSECONDS)
