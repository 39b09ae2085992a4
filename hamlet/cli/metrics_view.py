"""Shows the metrics of a job as tables for a terminal. `facts` is the JSON of its live page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from hamlet.cli.stderr import many
from hamlet.cli.text_table import TextTable
from runtime.plan.decisions import KINDS
from runtime.report.number_format import count, nanoseconds, number, percent, seconds, size

MetricsSnapshot = dict[str, Any]


def view(facts: MetricsSnapshot, before: MetricsSnapshot | None, rows: int) -> Iterator[TextTable]:
    """`before` are older facts: rates are shown since then, or since the job began. `rows` is how
    many queries, types and decisions are shown, each."""
    yield _now(facts, before)
    yield _queries(facts, rows)
    if facts["groups"]:
        yield _sharing(facts, rows)
    if facts["model"]["last_replans"]:
        yield _replans(facts, max(1, rows // 4))
    if facts["log"]:
        yield _log(facts, max(1, rows // 2))


def _now(facts: MetricsSnapshot, before: MetricsSnapshot | None) -> TextTable:
    shown = {
        "epoch": count(facts["epoch"]),
        "events": count(facts["events"]),
        "events/s": number(_rate(facts, before)),
        "results": count(facts["results"]),
        "windows": count(facts["windows"]),
        "lag": _lag(facts),
        "waits": _backlog(facts),
        "late": count(facts["late"]),
        "bad": count(sum(facts["dead"].values())),
        "state": size(sum(each["state_bytes"] for each in facts["actors"].values())),
        "model": percent(facts["model"]["error"]),
        "restarts": count(sum(facts["restarts"].values())),
    }
    table = TextTable.of(shown, [list(shown.values())], set(shown))
    state = "finished" if facts["finished"] else "running"
    queries = many(facts["workload"], "query", "queries")
    what = f"{state}, engine {facts['engine']}, {queries}, since {_clock(facts['began'])}"
    table.title = facts["job"], what
    return table


def _rate(facts: MetricsSnapshot, before: MetricsSnapshot | None) -> float:
    then, events = (facts["began"], 0) if before is None else (before["time"], before["events"])
    spent = facts["time"] - then
    return (facts["events"] - events) / spent if spent > 0 else 0.0


def _lag(facts: MetricsSnapshot) -> str:
    if facts["watermark"] is None or facts["newest"] is None:
        return "–"
    return seconds((facts["newest"] - facts["watermark"]) / 1e6)


def _backlog(facts: MetricsSnapshot) -> str:
    waits, unit = facts["backlog"], facts["backlog_in"]
    return size(waits) if unit == "bytes" else f"{count(waits)} {unit}"


def _queries(facts: MetricsSnapshot, rows: int) -> TextTable:
    """The slowest query first."""
    found = sorted(facts["queries"].items(), key=lambda each: -(each[1]["latency"]["p95"] or 0.0))
    shown = [
        (
            name,
            count(each["results"]),
            count(each["windows"]),
            *(seconds(each["latency"][share]) for share in ("p50", "p95", "p99")),
        )
        for name, each in found[:rows]
    ]
    names = ("query", "results", "windows", "p50", "p95", "p99")
    table = TextTable.of(names, shown, set(names[1:]))
    if len(found) > rows:
        table.footer = f"{len(found) - rows} faster ones"
    return table


def _sharing(facts: MetricsSnapshot, rows: int) -> TextTable:
    shown = [
        (
            group["name"],
            each["type"],
            *(count(each[kind]) for kind in KINDS),
            nanoseconds(each["benefit"]),
        )
        for group in facts["groups"]
        for each in group["types"]
    ]
    names = ("share group", "type", *KINDS, "predicted to save")
    return TextTable.of(names, shown[:rows], set(names[2:]))


def _replans(facts: MetricsSnapshot, rows: int) -> TextTable:
    shown = [
        (
            _clock(each["time"]),
            each["reason"],
            f"{nanoseconds(each['before'])} to {nanoseconds(each['after'])} an event",
            "another plan" if each["migrated"] else "kept",
        )
        for each in reversed(facts["model"]["last_replans"][-rows:])
    ]
    return TextTable.of(("re-planned", "why", "cost", "outcome"), shown, set())


def _log(facts: MetricsSnapshot, rows: int) -> TextTable:
    shown = [(_clock(each["time"]), each["told"]) for each in reversed(facts["log"][-rows:])]
    return TextTable.of(("decided", "what and why"), shown, set())


def _clock(time: float) -> str:
    return datetime.fromtimestamp(time).strftime("%H:%M:%S")
