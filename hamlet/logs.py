"""Writes the events of a run as lines of a log: text, or JSON for machines.

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
        return _json(found)


class TextLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, FIELDS, {})
        pairs = [f"{name}={_value(value)}" for name, value in fields.items()]
        line = " ".join(
            [_time(record.created), record.levelname.lower(), record.getMessage(), *pairs]
        )
        return line + ("\n" + self.formatException(record.exc_info) if record.exc_info else "")


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to what `sys.stderr` is at the time: a job on Ray replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def configure(format: str, stream: TextIO | None = None) -> None:
    """All that Hamlet's own modules log goes to standard error from now on."""
    handler = _StderrHandler() if stream is None else logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if format == "json" else TextLines())
    for name in (LOGGER, "runtime", "actors", "spark_ingest"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(logging.INFO)
        logger.propagate = False


def log(event: str, level: int = logging.INFO, **fields: Any) -> None:
    logging.getLogger(LOGGER).log(level, event, extra={FIELDS: fields})


class MetricsLogger:
    """Logs what is new in each metrics snapshot."""

    def __init__(self) -> None:
        self._before: MetricsSnapshot | None = None

    def update(self, snapshot: MetricsSnapshot) -> None:
        before, self._before = self._before or MetricsSnapshot(), snapshot
        if snapshot.epochs > before.epochs:
            log("epoch", **_epoch(snapshot, before))
        known = before.log[-1].number if before.log else -1
        for entry in snapshot.log:
            if entry.number > known:
                log("decision", **_decision(snapshot.job, entry))
        for replan in snapshot.model.last_replans:
            if replan not in before.model.last_replans:
                log(
                    "replan",
                    job=snapshot.job,
                    epoch=snapshot.epoch,
                    reason=replan.reason,
                    planner=replan.planner,
                    migrated=replan.migrated,
                    change=replan.change,
                    nanoseconds_before=round(replan.before, 3),
                    nanoseconds_after=round(replan.after, 3),
                )
        for part, count in snapshot.restarts.items():
            if count > before.restarts.get(part, 0):
                log("restart", logging.WARNING, job=snapshot.job, epoch=snapshot.epoch, part=part)


def _epoch(snapshot: MetricsSnapshot, before: MetricsSnapshot) -> dict[str, Any]:
    seconds = {
        stage: round(each.sum - (before.stages[stage].sum if stage in before.stages else 0.0), 6)
        for stage, each in snapshot.stages.items()
    }
    return {
        "job": snapshot.job,
        "epoch": snapshot.epoch,
        "rows": snapshot.rows - before.rows,
        "events": snapshot.events - before.events,
        "results": snapshot.results - before.results,
        "late": snapshot.late - before.late,
        "invalid_rows": sum(snapshot.invalid_rows.values()) - sum(before.invalid_rows.values()),
        "watermark": None if snapshot.watermark is None else _time(snapshot.watermark / 1e6),
        "seconds": seconds,
        "actors": {
            name: {"events": each.events, "state_bytes": each.state_bytes}
            for name, each in snapshot.actors.items()
        },
    }


def _decision(job: str, entry: DecisionLogEntry) -> dict[str, Any]:
    example = entry.example
    return {
        "job": job,
        "epoch": entry.epoch,
        "share_group": entry.group,
        "actor": entry.actor,
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
    if isinstance(value, str) and value.isprintable() and re.fullmatch(r'[^\s"=]+', value):
        return value
    return _json(value)


def _json(value: Any) -> str:
    """Escapes what does not print: text from an input must not control the terminal, or turn the
    direction of the line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if text.isprintable() else json.dumps(value, default=str)
