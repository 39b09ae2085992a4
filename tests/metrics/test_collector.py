"""What is added up, and how it stays small."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.openmetrics import parser as openmetrics_parser
from prometheus_client.parser import text_string_to_metric_families

from metrics.snapshots import EVIL, decided, named
from runtime.metrics.collector import NAMED_QUERIES, NAMED_REASONS, EpochStats, MetricsCollector
from runtime.metrics.histogram import Histogram
from runtime.metrics.prometheus import PrometheusCollector
from runtime.metrics.snapshot import MetricsSnapshot
from runtime.optimizer.model_report import ModelMetrics

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def series(snapshot: MetricsSnapshot) -> Series:
    """All that is scraped, by name and labels without that of the job."""
    text = generate_latest(registry_of(snapshot)).decode()
    return series_of(text_string_to_metric_families(text), snapshot.job)


def openmetrics_series(snapshot: MetricsSnapshot) -> Series:
    """The same in the format for which Prometheus asks first."""
    text = openmetrics.generate_latest(registry_of(snapshot)).decode()
    return series_of(openmetrics_parser.text_string_to_metric_families(text), snapshot.job)


def registry_of(snapshot: MetricsSnapshot) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(PrometheusCollector(lambda: snapshot))
    return registry


def series_of(families: Iterable[Metric], job: str) -> Series:
    found = {}
    for family in families:
        for sample in family.samples:
            assert sample.labels.pop("hamlet_job") == job
            key = sample.name, frozenset(sample.labels.items())
            assert key not in found, f"{key} is there twice"
            found[key] = sample.value
    return found


def value(snapshot: MetricsSnapshot, name: str, **labels: str) -> float:
    return series(snapshot)[name, frozenset(labels.items())]


def total(snapshot: MetricsSnapshot, name: str) -> float:
    return sum(v for (each, _), v in series(snapshot).items() if each == name)


def test_totals_of_epochs():
    collector = MetricsCollector("j", "ray", ["q", "r"])
    for epoch in range(3):
        collector.record_epoch(
            EpochStats(
                epoch,
                rows=100 * (epoch + 1),
                events=90 * (epoch + 1),
                late=2 * epoch,
                invalid_rows=Counter({"no time": epoch}),
                stages={"spark": 0.2, "compute": 0.004},
                results={"q": 5},
                windows={"q": 2},
                latencies={"q": [0.3, 0.002]},
                decided={"0": [decided("q", "r", shared=4)], "1": [decided("q", "r", split=1)]},
                saved_bytes=10,
                checkpoint_bytes=7,
            )
        )
    snapshot = collector.snapshot
    assert value(snapshot, "hamlet_rows_total") == 300
    assert value(snapshot, "hamlet_events_total") == 270
    assert value(snapshot, "hamlet_late_rows_total") == 4
    assert value(snapshot, "hamlet_dead_letter_rows_total", reason="no time") == 2
    assert value(snapshot, "hamlet_results_total", query="q") == 15
    assert value(snapshot, "hamlet_windows_closed_total", query="q") == 6
    group = {"share_group": "q +1", "kleene_type": "B"}
    assert value(snapshot, "hamlet_bursts_total", decision="shared", **group) == 12
    assert value(snapshot, "hamlet_bursts_total", decision="split", **group) == 3
    assert value(snapshot, "hamlet_snapshots_created_total", level="event", **group) == 36
    assert value(snapshot, "hamlet_snapshots_propagated_total", level="graphlet", **group) == 24
    assert value(snapshot, "hamlet_query_latency_seconds_count", query="q") == 6
    assert value(snapshot, "hamlet_query_latency_seconds_sum", query="q") == pytest.approx(0.906)
    assert value(snapshot, "hamlet_query_latency_seconds_bucket", query="q", le="0.0025") == 3
    assert value(snapshot, "hamlet_query_latency_seconds_bucket", query="q", le="0.5") == 6
    assert value(snapshot, "hamlet_epoch_stage_seconds_count", stage="spark") == 3
    assert value(snapshot, "hamlet_checkpoint_written_bytes_total") == 30
    assert value(snapshot, "hamlet_checkpoint_size_bytes") == 7
    assert value(snapshot, "hamlet_epochs_total") == 3


def test_a_group_that_is_over_is_counted_on_as_former():
    collector = MetricsCollector("j", "ray", ["q", "r", "s"])
    collector.record_epoch(
        EpochStats(0, decided={"0": [decided("q", "r", shared=4), decided("s", shared=2)]})
    )
    collector.record_epoch(EpochStats(1, decided={"0": [decided("q", "s", shared=8)]}))
    snapshot = collector.snapshot
    assert {group.name: group.types[0].shared for group in snapshot.groups} == {
        "q +1": 8,
        "(former)": 6,
    }
    assert total(snapshot, "hamlet_bursts_total") == 14
    assert sum(each.all for group in collector.decisions for each in group.types) == 14


def test_series_of_a_removed_query_disappear():
    collector = MetricsCollector("j", "ray", ["q", "r"])
    collector.record_epoch(
        EpochStats(0, results={"q": 1, "r": 1}, decided={"0": [decided("q", "r", shared=1)]})
    )
    collector.set_queries(["q"])
    snapshot = collector.snapshot
    assert not any("r" in dict(labels).values() for _, labels in series(snapshot))
    assert {group.name for group in snapshot.groups} == {"(former)"}


def test_many_queries_have_few_series():
    names = [f"q{n}" for n in range(10_000)]
    collector = MetricsCollector("j", "ray", names)
    every = dict.fromkeys(names, 1)
    collector.record_epoch(
        EpochStats(
            0,
            results=every,
            windows=every,
            latencies={name: [0.1] for name in names},
            invalid_rows={f"row {n} is odd": 1 for n in range(10_000)},
            decided={"0": [decided(name, shared=1) for name in names]},
        )
    )
    snapshot = collector.snapshot
    assert len(snapshot.queries) == NAMED_QUERIES + 1
    assert len(snapshot.invalid_rows) == NAMED_REASONS + 1
    assert len(series(snapshot)) < 10_000
    for counter in ("results", "windows_closed", "dead_letter_rows", "bursts"):
        assert total(snapshot, f"hamlet_{counter}_total") == 10_000
    assert value(snapshot, "hamlet_query_latency_seconds_count", query="(other)") == 9_800


def test_what_is_not_known_has_no_series():
    names = {name for name, _ in series(MetricsCollector("j", "local", ["q"]).snapshot)}
    assert "hamlet_model_correlation" not in names
    assert "hamlet_watermark_timestamp_seconds" not in names
    collector = MetricsCollector("j", "local", ["q"])
    collector.set_model(ModelMetrics(correlation=0.5, replans={("rates", True): 2}))
    assert value(collector.snapshot, "hamlet_model_correlation") == 0.5
    assert value(collector.snapshot, "hamlet_replans_total", reason="rates", migrated="yes") == 2


def test_quantiles():
    found = Histogram()
    found.add_all([0.02] * 50 + [0.3] * 49 + [1_000.0])
    assert found.count == 100
    assert 0.01 <= found.quantile(0.5) <= 0.025
    assert 0.25 < found.quantile(0.95) <= 0.5
    assert found.quantile(1.0) == 1_000.0, "and nothing is longer than the longest"
    assert Histogram().quantile(0.5) is None


def test_no_count_goes_back_where_queries_go():
    """Beyond the names that there are; and a query may be called as it likes."""
    names = ["other", *(f"q{n}" for n in range(NAMED_QUERIES + 1))]
    collector = MetricsCollector("j", "ray", names)
    every = dict.fromkeys(names, 10)
    collector.record_epoch(EpochStats(0, results=every, windows=every))
    before = series(collector.snapshot)
    collector.set_queries([name for name in names if name not in ("q0", f"q{NAMED_QUERIES}")])
    after = series(collector.snapshot)
    for (name, labels), value in before.items():
        if name.endswith("_total") and (name, labels) in after:
            assert after[name, labels] >= value, (name, labels)
    assert value_of(after, "hamlet_results_total", query="other") == 10
    assert value_of(after, "hamlet_results_total", query="(other)") == 20
    assert collector.snapshot.results == 10 * len(names), (
        "those that are gone were written all the same"
    )


def value_of(found: dict, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]


def test_groups_of_both_kinds_are_over():
    collector = MetricsCollector("j", "ray", ["q", "r", "s"])
    ordered = replace(decided("s", shared=5), over="events")
    collector.record_epoch(EpochStats(0, decided={"0": [decided("q", "r", shared=4), ordered]}))
    carried = total(collector.snapshot, "hamlet_snapshots_propagated_total")
    collector.set_queries(["q"])
    snapshot = collector.snapshot
    assert {group.name for group in snapshot.groups} == {"(former)"}
    assert total(snapshot, "hamlet_bursts_total") == 9
    assert total(snapshot, "hamlet_snapshots_propagated_total") == carried > 0


@pytest.mark.parametrize("read", [series, openmetrics_series])
@pytest.mark.parametrize("evil", EVIL)
def test_hostile_labels_are_read_back_unchanged(
    evil: str, read: Callable[[MetricsSnapshot], Series]
):
    found = read(named(evil))
    assert {name.partition("_")[0] for name, _ in found} == {"hamlet"}
    for label in ("query", "kleene_type", "reason"):
        values = {dict(labels)[label] for _, labels in found if label in dict(labels)}
        assert evil in values, label


def test_both_formats_have_the_same_series():
    snapshot = named("q")
    assert openmetrics_series(snapshot) == series(snapshot)
