"""Functions that read the values of metrics from a snapshot."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version

from runtime.metrics.metric import (
    Labels,
    Reader,
    Value,
)
from runtime.metrics.snapshot import (
    OTHER,
    REASONS,
    ActorMetrics,
    CheckpointMetrics,
    MetricsSnapshot,
    QueryMetrics,
    ShareGroupMetrics,
)
from runtime.plan.decisions import KINDS, TypeDecisions

MICROSECONDS = 1e6  # in a second
NANOSECOND = 1e-9


# ---- readers of one value for each query, aggregator or share group ------------------------


def per_query(read: Callable[[QueryMetrics], Value]) -> Reader:
    return lambda snapshot: {name: read(each) for name, each in snapshot.queries.items()}


def per_actor(read: Callable[[ActorMetrics], float]) -> Reader:
    return lambda snapshot: {name: read(each) for name, each in snapshot.actors.items()}


def per_type(read: Callable[[TypeDecisions], float]) -> Reader:
    """By share group and Kleene type."""

    def read_all(snapshot: MetricsSnapshot) -> Mapping[Labels, Value]:
        return {
            (group.name, each.type): read(each) for group in snapshot.groups for each in group.types
        }

    return read_all


def per_type_and(
    read: Callable[[ShareGroupMetrics, TypeDecisions], Mapping[str, float]],
) -> Reader:
    """By the keys that `read` gives, share group and Kleene type."""

    def read_all(snapshot: MetricsSnapshot) -> Mapping[Labels, Value]:
        return {
            (label, group.name, each.type): value
            for group in snapshot.groups
            for each in group.types
            for label, value in read(group, each).items()
        }

    return read_all


def of_checkpoint(read: Callable[[CheckpointMetrics], float | None]) -> Reader:
    """Unknown until there is a checkpoint."""
    return lambda snapshot: None if snapshot.checkpoint.time is None else read(snapshot.checkpoint)


# ---- readers that take more than an expression ---------------------------------------------


def build(snapshot: MetricsSnapshot) -> Mapping[Labels, float]:
    try:
        installed = version("hamlet-runtime")
    except PackageNotFoundError:
        installed = "unknown"
    return {(installed, platform.python_version(), snapshot.engine): 1}


def seconds(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds / MICROSECONDS


def watermark_lag(snapshot: MetricsSnapshot) -> float | None:
    if snapshot.watermark is None or snapshot.newest is None:
        return None
    return seconds(snapshot.newest - snapshot.watermark)


def bursts(group: ShareGroupMetrics, each: TypeDecisions) -> Mapping[str, float]:
    return {kind: getattr(each, kind) for kind in KINDS}


def snapshots_created(group: ShareGroupMetrics, each: TypeDecisions) -> Mapping[str, float]:
    return {"graphlet": each.all - each.split, "event": each.snapshots}


def snapshots_propagated(group: ShareGroupMetrics, each: TypeDecisions) -> Mapping[str, float]:
    return dict(zip(("graphlet", "event"), group.carried.get(each.type, (0, 0)), strict=True))


def timed_bursts(group: ShareGroupMetrics, each: TypeDecisions) -> Mapping[str, float]:
    return {"shared": each.time_shared.bursts, "split": each.time_split.bursts}


def timed_seconds(group: ShareGroupMetrics, each: TypeDecisions) -> Mapping[str, float]:
    shared, split = each.time_shared.nanoseconds, each.time_split.nanoseconds
    return {"shared": shared * NANOSECOND, "split": split * NANOSECOND}


def members(snapshot: MetricsSnapshot) -> Mapping[Labels, float]:
    """A query without series of its own is `(other)` here, too."""
    return {
        (group.name, query if query in snapshot.queries else OTHER): 1
        for group in snapshot.groups
        for query in group.queries
    }


def replans(snapshot: MetricsSnapshot) -> Mapping[Labels, float]:
    """Series start at zero: `increase` would miss the first re-plan if they started at one."""
    never = {(reason, migrated): 0 for reason in REASONS for migrated in (False, True)}
    counts = never | dict(snapshot.model.replans)
    return {(why, "yes" if migrated else "no"): count for (why, migrated), count in counts.items()}
