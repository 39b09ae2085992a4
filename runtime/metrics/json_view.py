"""Facts as JSON, for the live page, `hamlet top` and the log of a run."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from runtime.metrics.histogram import Histogram
from runtime.metrics.snapshot import Facts, Noted
from runtime.plan.decision_text import why
from runtime.plan.policy import Policy


def shown(facts: Facts | None) -> str:
    return json.dumps(None if facts is None else as_json(facts), allow_nan=False)


def as_json(facts: Facts) -> dict[str, Any]:
    """Histograms come with their quantiles, decisions with their reasons in words. Of pictures
    there is a mark, which is another one when they change; they are large, and seldom change."""
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
    found["log"] = [_noted(each, facts.model.policies) for each in facts.log]
    found["actors"] = {name: asdict(each) for name, each in facts.actors.items()}
    model = asdict(facts.model)
    model["replans"] = [
        {"reason": reason, "migrated": migrated, "count": count}
        for (reason, migrated), count in facts.model.replans.items()
    ]
    found["model"] = model
    found["checkpoint"] = asdict(facts.checkpoint)
    found["drawings"] = _mark(facts.drawings)
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


def _mark(drawings: Mapping[str, str]) -> str:
    found = zlib.crc32("".join(f"{name}{svg}" for name, svg in drawings.items()).encode())
    return f"{found:08x}"


def _noted(noted: Noted, policies: Iterable[Policy]) -> dict[str, Any]:
    found = why(noted.example, policies)
    return {
        "group": noted.group,
        "epoch": noted.epoch,
        "time": noted.time,
        "actor": noted.actor,
        "noted": noted.number,
        **asdict(noted.example),
        "told": noted.example.told(),
        "why": {**asdict(found), "split": found.split, "shared": found.shared},
    }
