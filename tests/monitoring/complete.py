"""A snapshot in which every metric has a value."""

from __future__ import annotations

from runtime.metrics.histogram import Histogram
from runtime.metrics.snapshot import (
    ActorMetrics,
    CheckpointMetrics,
    MetricsSnapshot,
    QueryMetrics,
    ShareGroupMetrics,
)
from runtime.optimizer.model_report import ModelMetrics
from runtime.plan.decisions import TypeDecisions

COMPLETE = MetricsSnapshot(
    epoch=0,
    invalid_rows={"the type is null": 1},
    stages={"compute": Histogram()},
    queries={"q": QueryMetrics()},
    groups=(
        ShareGroupMetrics("q", ("q",), "bursts", (TypeDecisions("A", 1, 1, 1, 1, 9, 2, 3.0),)),
    ),
    actors={"0": ActorMetrics()},
    model=ModelMetrics(correlation=0.9, kinds_correlation=0.97, error=0.1),
    checkpoint=CheckpointMetrics(1, 1, 1.0),
    watermark=1,
    newest=2,
    reported=1.0,
)
