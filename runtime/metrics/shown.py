"""Facts as JSON, for the live page, `hamlet top` and the log of a run."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from runtime.metrics.facts import Facts, Noted
from runtime.metrics.histogram import Histogram


def shown(facts: Facts | None) -> str:
    return json.dumps(None if facts is None else as_json(facts), allow_nan=False)


def as_json(facts: Facts) -> dict[str, Any]:
    """Histograms come with their quantiles, decisions with their reasons in words."""
    found = {name: getattr(facts, name) for name in facts.__dataclass_fields__}
    found["dead"], found["restarts"] = dict(facts.dead), dict(facts.restarts)
    found["stages"] = {name: _histogram(each) for name, each in facts.stages.items()}
    found["queries"] = {
        name: {
            "results": each.results,
            "windows": each.windows,
            "latency": _histogram(each.latency),
        }
        for name, each in facts.queries.items()
    }
    found["groups"] = [asdict(group) for group in facts.groups]
    found["log"] = [_noted(each) for each in facts.log]
    found["actors"] = {name: asdict(each) for name, each in facts.actors.items()}
    model = asdict(facts.model)
    model["replans"] = [
        {"reason": reason, "migrated": migrated, "count": count}
        for (reason, migrated), count in facts.model.replans.items()
    ]
    found["model"] = model
    found["checkpoint"] = asdict(facts.checkpoint)
    found["drawings"] = dict(facts.drawings)
    return found


def _histogram(each: Histogram) -> dict[str, Any]:
    return {
        "count": each.count,
        "sum": each.sum,
        "counts": each.counts,
        "mean": each.mean,
        "p50": each.quantile(0.5),
        "p95": each.quantile(0.95),
        "p99": each.quantile(0.99),
    }


def _noted(noted: Noted) -> dict[str, Any]:
    return {
        "group": noted.group,
        "epoch": noted.epoch,
        "time": noted.time,
        "actor": noted.actor,
        **asdict(noted.example),
        "why": noted.example.told(),
    }
