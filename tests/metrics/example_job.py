"""Snapshots of a small job, for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runtime.metrics.collector import EpochStats, MetricsCollector
from runtime.metrics.snapshot import MetricsSnapshot
from runtime.optimizer.model_report import Replan
from runtime.plan.decisions import BurstTiming, DecisionExample, Decisions, TypeDecisions
from runtime.plan.policy import Policy

POLICY = Policy(version=1)
#: What comes from outside and must stay text.
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


def example(kind: str, number: int, type_: str = "B", nanoseconds: int = 700) -> DecisionExample:
    benefit = -120.0 if kind == "split" else 340.0
    return DecisionExample(type_, kind, 5, 3, 2, 3, benefit, number, nanoseconds, 1, 3, 2.0, 1)


def collector(
    queries: tuple[str, ...] = ("one", "two", "three"), engine: str = "local"
) -> MetricsCollector:
    return MetricsCollector("made", engine, queries)


def after_epoch(
    kept: MetricsCollector, epoch: int, queries: tuple[str, ...], **other: Any
) -> MetricsSnapshot:
    """After an epoch more: 1,000 events, a window of each query, ten bursts."""
    counts = TypeDecisions("B", 1, 2, 2, 5, 50, 12, 900.0, BurstTiming(1, 700), BurstTiming(1, 900))
    decided = Decisions(
        queries, (counts,), (example("shared", 2 * epoch + 1), example("split", 2 * epoch + 2))
    )
    kept.record_epoch(
        EpochStats(
            epoch=epoch,
            rows=1_000 * (epoch + 1),
            events=1_000 * (epoch + 1),
            stages={"compute": 0.2, "sink": 0.01},
            results=dict.fromkeys(queries, 4),
            windows=dict.fromkeys(queries, 2),
            latencies={name: [0.02, 0.3] for name in queries},
            decided={"0": [decided]},
            watermark=1_000_000 * epoch,
            newest=1_000_000 * epoch + 500_000,
            **other,
        )
    )
    return kept.snapshot


def replanned(snapshot: MetricsSnapshot, time: float, reason: str) -> MetricsSnapshot:
    replans = (*snapshot.model.last_replans, Replan(time, reason, "greedy", 60.0, 40.0, True))
    return replace(
        snapshot, model=replace(snapshot.model, last_replans=replans, policies=(POLICY,))
    )
