"""A snapshot as JSON, for the live page, `hamlet top` and the log of a run."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from runtime.metrics.histogram import Histogram
from runtime.metrics.snapshot import DecisionLogEntry, MetricsSnapshot
from runtime.plan.decision_text import explain_decision
from runtime.plan.policy import Policy


def snapshot_text(snapshot: MetricsSnapshot | None) -> str:
    """`now` is the time here: how old a snapshot is does not depend on the reader's clock."""
    if snapshot is None:
        return json.dumps(None)
    return json.dumps({**snapshot_json(snapshot), "now": time.time()}, allow_nan=False)


def snapshot_json(
    snapshot: MetricsSnapshot, histogram: Callable[[Histogram], Any] | None = None
) -> dict[str, Any]:
    """Every field of a snapshot, under its own name. Histograms come with their quantiles unless
    `histogram` says otherwise, and decisions with their reasons in words. Drawings are large and
    seldom change: a checksum stands for them."""
    found: dict[str, Any] = _plain(snapshot, histogram or _with_quantiles)
    found["log"] = [_entry(each, snapshot.model.policies) for each in snapshot.log]
    found["model"]["replans"] = [
        {"reason": reason, "migrated": migrated, "count": count}
        for (reason, migrated), count in snapshot.model.replans.items()
    ]
    found["drawings"] = _checksum(snapshot.drawings)
    return found


def _plain(value: Any, histogram: Callable[[Histogram], Any]) -> Any:
    """Dataclasses become objects; tuples, lists."""
    if isinstance(value, Histogram):
        return histogram(value)
    if is_dataclass(value):
        each = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: _plain(inner, histogram) for name, inner in each.items()}
    if isinstance(value, Mapping):
        return {key: _plain(inner, histogram) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner, histogram) for inner in value]
    return value


def _with_quantiles(each: Histogram) -> dict[str, Any]:
    return {
        "count": each.count,
        "sum": each.sum,
        "counts": each.counts,
        "mean": each.mean,
        "p50": each.quantile(0.5),
        "p95": each.quantile(0.95),
        "p99": each.quantile(0.99),
    }


def _checksum(drawings: Mapping[str, str]) -> str:
    found = zlib.crc32("".join(f"{name}{svg}" for name, svg in drawings.items()).encode())
    return f"{found:08x}"


def _entry(entry: DecisionLogEntry, policies: Iterable[Policy]) -> dict[str, Any]:
    reason = explain_decision(entry.example, policies)
    return {
        "group": entry.group,
        "epoch": entry.epoch,
        "time": entry.time,
        "actor": entry.actor,
        "entry": entry.number,
        **asdict(entry.example),
        "text": entry.example.describe(),
        "why": {
            "sentences": reason.sentences,
            "terms": [asdict(term) for term in reason.terms],
            "split": reason.split,
            "shared": reason.shared,
        },
    }
