"""What a run tells as lines of a log: text, or JSON for machines.

Each line has a time, a level, an event and its fields; `epoch`, `share_group` and `actor` say where
it happened.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

from runtime.metrics.snapshot import DecisionLogEntry, MetricsSnapshot

LOGGER = "hamlet"
FIELDS = "fields"


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        found: dict[str, Any] = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            found["traceback"] = self.formatException(record.exc_info)
        return json.dumps(found, ensure_ascii=False, default=str)


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, FIELDS, {})
        told = [f"{name}={_value(value)}" for name, value in fields.items()]
        line = " ".join(
            [_time(record.created), record.levelname.lower(), record.getMessage(), *told]
        )
        return line + ("\n" + self.formatException(record.exc_info) if record.exc_info else "")


def configure(format: str, stream: TextIO | None = None) -> None:
    """All that Hamlet's own modules log goes to standard error from now on."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if format == "json" else TextLines())
    for name in (LOGGER, "runtime", "actors", "spark_ingest"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False


def log(event: str, level: int = logging.INFO, **fields: Any) -> None:
    logging.getLogger(LOGGER).log(level, event, extra={FIELDS: fields})


class MetricsLogger:
    """Hears of the newest facts, and logs what is new in them."""

    def __init__(self) -> None:
        self._before: MetricsSnapshot | None = None

    def update(self, facts: MetricsSnapshot) -> None:
        before, self._before = self._before or MetricsSnapshot(), facts
        if facts.epochs > before.epochs:
            log("epoch", **_epoch(facts, before))
        known = before.log[-1].number if before.log else -1
        for noted in facts.log:
            if noted.number > known:
                log("decision", **_decision(facts.job, noted))
        for replan in facts.model.last_replans:
            if replan not in before.model.last_replans:
                log(
                    "replan",
                    job=facts.job,
                    epoch=facts.epoch,
                    reason=replan.reason,
                    planner=replan.planner,
                    migrated=replan.migrated,
                    nanoseconds_before=round(replan.before, 3),
                    nanoseconds_after=round(replan.after, 3),
                )
        for part, count in facts.restarts.items():
            if count > before.restarts.get(part, 0):
                log("restart", logging.WARNING, job=facts.job, epoch=facts.epoch, part=part)


def _epoch(facts: MetricsSnapshot, before: MetricsSnapshot) -> dict[str, Any]:
    seconds = {
        stage: round(each.sum - (before.stages[stage].sum if stage in before.stages else 0.0), 6)
        for stage, each in facts.stages.items()
    }
    return {
        "job": facts.job,
        "epoch": facts.epoch,
        "rows": facts.rows - before.rows,
        "events": facts.events - before.events,
        "results": facts.results - before.results,
        "late": facts.late - before.late,
        "dead": sum(facts.dead.values()) - sum(before.dead.values()),
        "watermark": None if facts.watermark is None else _time(facts.watermark / 1e6),
        "seconds": seconds,
        "actors": {
            name: {"events": each.events, "state_bytes": each.state_bytes}
            for name, each in facts.actors.items()
        },
    }


def _decision(job: str, noted: DecisionLogEntry) -> dict[str, Any]:
    example = noted.example
    return {
        "job": job,
        "epoch": noted.epoch,
        "share_group": noted.group,
        "actor": noted.actor,
        "kleene_type": example.type,
        "decision": example.kind,
        "events": example.events,
        "benefit_nanoseconds": round(example.benefit, 3),
        "nanoseconds": example.nanoseconds,
        "why": example.describe(),
    }


def _time(seconds: float) -> str:
    """Of the stream too, whose times may be beyond those of a calendar."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.3f}"


def _value(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r'[^\s"=]+', value):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
