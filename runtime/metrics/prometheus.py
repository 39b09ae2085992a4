"""Exposes the declared metrics to Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from runtime.metrics.declarations import METRICS
from runtime.metrics.histogram import SECONDS, Histogram
from runtime.metrics.metric import MetricDeclaration
from runtime.metrics.snapshot import MetricsSnapshot

#: Every series carries the name of its job, so that one Prometheus can scrape several jobs.
JOB = "hamlet_job"

_FAMILIES = {
    "counter": CounterMetricFamily,
    "gauge": GaugeMetricFamily,
    "histogram": HistogramMetricFamily,
}


class PrometheusCollector(Collector):
    """Converts the newest snapshot whenever Prometheus scrapes."""

    def __init__(self, newest: Callable[[], MetricsSnapshot | None]) -> None:
        self._newest = newest

    def collect(self) -> Iterator[Metric]:
        snapshot = self._newest()
        if snapshot is not None:
            for metric in METRICS:
                family = to_family(metric, snapshot)
                if family.samples:
                    yield family

    def describe(self) -> Iterable[Metric]:
        """Nothing: without a snapshot there are no series."""
        return ()


def to_family(metric: MetricDeclaration, snapshot: MetricsSnapshot) -> Metric:
    """The series of a metric; none while its value is unknown."""
    family: Any = _FAMILIES[metric.kind](metric.name, metric.help, labels=(JOB, *metric.labels))
    for labels, value in metric.samples(snapshot):
        if isinstance(value, Histogram):
            family.add_metric((snapshot.job, *labels), _buckets(value), value.sum)
        else:
            family.add_metric((snapshot.job, *labels), value)
    return cast("Metric", family)


def _buckets(histogram: Histogram) -> list[tuple[str, int]]:
    """Upper bounds, and how many values do not exceed them."""
    total, buckets = 0, []
    for bound, count in zip((*SECONDS, None), histogram.counts, strict=True):
        total += count
        buckets.append(("+Inf" if bound is None else f"{bound:g}", total))
    return buckets
