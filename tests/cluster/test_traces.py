"""Traces of epochs reach a collector, by the real exporter."""

from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from cluster.jobs import JobInput, Watcher, driver_of
from cluster.streams import write_parquet
from hamlet.job import tracing
from hamlet.job.metrics_recorder import JobMetrics
from hamlet.job.tracing import Tracing
from runtime.language.parser import parse
from spark_ingest.sources.files import FileSource

TEXT = "QUERY q RETURN COUNT(*) AS n PATTERN A+ WITHIN 10 ms"


class Collector(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spans: list = []
        self.resources: list[dict[str, str]] = []
        Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            told = {each.key: each.value.string_value for each in resource.resource.attributes}
            self.server.resources.append(told)
            for scope in resource.scope_spans:
                self.server.spans += scope.spans
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def collector(monkeypatch):
    server = Collector()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    yield server
    server.shutdown()


def test_an_epoch_is_a_trace(spark, actor_pool, tmp_path: Path, collector: Collector, monkeypatch):
    assert tracing.is_wanted()
    events = tmp_path / "events"
    events.mkdir()
    for number in range(3):
        table = pa.table({"time": [10 * number, 10 * number + 5], "type": ["A", "A"]})
        write_parquet(table, events / f"{number}.parquet")
    asked = JobInput(parse(TEXT), events, unit="ms")
    source = FileSource(spark, events, asked.needs, unit="ms")
    watcher = Watcher()
    traced = Tracing("my job")
    monkeypatch.setattr("cluster.jobs.JobMetrics", partial(JobMetrics, tracing=traced))
    driver, _ = driver_of(spark, actor_pool(2), asked, source, tmp_path / "checkpoint", watcher)
    driver.run()
    traced.close()

    assert {told["hamlet.job"] for told in collector.resources} == {"my job"}
    roots = [span for span in collector.spans if not span.parent_span_id]
    assert [span.name for span in roots] == ["epoch"] * len(watcher.reports)
    for root in roots:
        parts = [span for span in collector.spans if span.parent_span_id == root.span_id]
        names = [span.name for span in parts]
        wanted = ["spark", "hand-over", "merge", "checkpoint", "publish"]
        assert sorted(names) == sorted([*wanted, "compute", "compute"])
        for span in parts:
            assert span.trace_id == root.trace_id
            assert root.start_time_unix_nano <= span.start_time_unix_nano
            assert span.start_time_unix_nano <= span.end_time_unix_nano
            assert span.end_time_unix_nano <= root.end_time_unix_nano + 10**7
        actors = {
            each.value.string_value
            for span in parts
            for each in span.attributes
            if each.key == "hamlet.actor"
        }
        assert actors == {"0", "1"}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none"}, False),
        ({"OTEL_TRACES_EXPORTER": "console"}, True),
    ],
)
def test_traces_are_made_where_an_exporter_is_configured(monkeypatch, given, wanted):
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert tracing.is_wanted() is wanted
