"""Every metric is declared once, can be scraped, and is named as Prometheus recommends."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from monitoring.complete import COMPLETE
from runtime.metrics.declarations import METRICS
from runtime.metrics.metric import counter
from runtime.metrics.prometheus import JOB, PrometheusCollector, to_family
from runtime.metrics.snapshot import MetricsSnapshot

#: Units that belong into the name of a metric.
BASE_UNITS = ("seconds", "bytes", "ratio")

every = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def test_names_are_unique():
    assert len({metric.name for metric in METRICS}) == len(METRICS)


@every
def test_names_and_units(metric):
    assert metric.name.startswith("hamlet_")
    assert metric.name.endswith("_total") == (metric.kind == "counter")
    ending = metric.name.removesuffix("_total").rpartition("_")[2]
    assert (ending in BASE_UNITS) == (metric.unit in BASE_UNITS)
    if metric.unit in BASE_UNITS:
        assert ending == metric.unit
    assert metric.help
    assert not metric.help.endswith(".")


@every
def test_samples_have_the_declared_labels(metric):
    samples = list(metric.samples(COMPLETE))
    assert samples, "a complete snapshot has a value for every metric"
    for labels, _ in samples:
        assert len(labels) == len(metric.labels)


def test_what_is_scraped_is_what_is_declared():
    registry = CollectorRegistry()
    registry.register(PrometheusCollector(lambda: COMPLETE))
    scraped = list(text_string_to_metric_families(generate_latest(registry).decode()))
    declared = [(m.name.removesuffix("_total"), m.kind, m.help) for m in METRICS]
    assert [(each.name, each.type, each.documentation) for each in scraped] == declared
    for family, metric in zip(scraped, METRICS, strict=True):
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == {JOB, *metric.labels}


def test_a_new_metric_needs_its_declaration_alone():
    found = counter("hamlet_valid_rows_total", "Valid rows", "rows", lambda s: s.rows - s.late)
    family = to_family(found, MetricsSnapshot(rows=10, late=3))
    (sample,) = family.samples
    assert (sample.name, sample.value) == ("hamlet_valid_rows_total", 7)


def test_an_unknown_value_has_no_series():
    unknown = [m.name for m in METRICS if not to_family(m, MetricsSnapshot()).samples]
    assert "hamlet_watermark_timestamp_seconds" in unknown
    assert "hamlet_checkpoint_written_bytes_total" in unknown
    assert "hamlet_rows_total" not in unknown
