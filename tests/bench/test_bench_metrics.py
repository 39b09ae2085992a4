"""The benchmark of metrics at a small size: it tells what part of the time they take."""

from benchmarks import metrics


def test_it_tells_a_share(monkeypatch):
    monkeypatch.setattr(metrics, "EVENTS", 20_000)
    monkeypatch.setattr(metrics, "REPEATS", 1)
    found = metrics.run(lambda line: None)
    assert found["one_query_metrics_share"] > -1
    rows = {row["measure"]: row for row in metrics.table(found)}
    assert rows["queries_50_metrics_share"]["target"] == "at most 0.01"
    assert rows["queries_50_metrics_share"]["met"] in ("yes", "no")
