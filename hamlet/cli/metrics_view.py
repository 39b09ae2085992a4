"""Shows a snapshot of a job's metrics as tables in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from hamlet.cli.stderr import pluralize
from hamlet.cli.text_table import TextTable
from runtime.plan.decisions import KINDS
from runtime.report.number_format import count, nanoseconds, number, percent, seconds, size

#: A snapshot as the metrics server gives it, parsed from JSON.
SnapshotJson = dict[str, Any]


def view(snapshot: SnapshotJson, before: SnapshotJson | None, rows: int) -> Iterator[TextTable]:
    """Rates are since the older snapshot `before`; without it, since the job started. At most
    `rows` queries, types and decisions are shown, each."""
    yield _now(snapshot, before)
    yield _queries(snapshot, rows)
    if snapshot["groups"]:
        yield _sharing(snapshot, rows)
    if snapshot["model"]["last_replans"]:
        yield _replans(snapshot, max(1, rows // 4))
    if snapshot["log"]:
        yield _log(snapshot, max(1, rows // 2))


def _now(snapshot: SnapshotJson, before: SnapshotJson | None) -> TextTable:
    shown = {
        "epoch": count(snapshot["epoch"]),
        "events": count(snapshot["events"]),
        "events/s": number(_rate(snapshot, before)),
        "results": count(snapshot["results"]),
        "windows": count(snapshot["windows"]),
        "lag": _lag(snapshot),
        "backlog": _backlog(snapshot),
        "late": count(snapshot["late"]),
        "invalid": count(sum(snapshot["invalid_rows"].values())),
        "state": size(sum(each["state_bytes"] for each in snapshot["actors"].values())),
        "model": percent(snapshot["model"]["error"]),
        "restarts": count(sum(snapshot["restarts"].values())),
    }
    table = TextTable.of(shown, [list(shown.values())], set(shown))
    state = "finished" if snapshot["finished"] else "running"
    queries = pluralize(snapshot["workload"], "query", "queries")
    what = f"{state}, engine {snapshot['engine']}, {queries}, since {_clock(snapshot['began'])}"
    table.title = snapshot["job"], what
    return table


def _rate(snapshot: SnapshotJson, before: SnapshotJson | None) -> float:
    then, events = (snapshot["began"], 0) if before is None else (before["time"], before["events"])
    spent = snapshot["time"] - then
    return (snapshot["events"] - events) / spent if spent > 0 else 0.0


def _lag(snapshot: SnapshotJson) -> str:
    if snapshot["watermark"] is None or snapshot["newest"] is None:
        return "–"
    return seconds((snapshot["newest"] - snapshot["watermark"]) / 1e6)


def _backlog(snapshot: SnapshotJson) -> str:
    waits, unit = snapshot["backlog"], snapshot["backlog_in"]
    return size(waits) if unit == "bytes" else f"{count(waits)} {unit}"


def _queries(snapshot: SnapshotJson, rows: int) -> TextTable:
    """The slowest queries come first."""
    found = sorted(
        snapshot["queries"].items(), key=lambda each: -(each[1]["latency"]["p95"] or 0.0)
    )
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
        table.footer = f"{len(found) - rows} faster queries"
    return table


def _sharing(snapshot: SnapshotJson, rows: int) -> TextTable:
    shown = [
        (
            group["name"],
            each["type"],
            *(count(each[kind]) for kind in KINDS),
            nanoseconds(each["benefit"]),
        )
        for group in snapshot["groups"]
        for each in group["types"]
    ]
    names = ("share group", "type", *KINDS, "predicted benefit")
    return TextTable.of(names, shown[:rows], set(names[2:]))


def _replans(snapshot: SnapshotJson, rows: int) -> TextTable:
    shown = [
        (
            _clock(each["time"]),
            each["reason"],
            f"{nanoseconds(each['before'])} to {nanoseconds(each['after'])} per event",
            "new plan" if each["migrated"] else "plan kept",
        )
        for each in reversed(snapshot["model"]["last_replans"][-rows:])
    ]
    return TextTable.of(("re-planned", "why", "cost", "outcome"), shown, set())


def _log(snapshot: SnapshotJson, rows: int) -> TextTable:
    shown = [(_clock(each["time"]), each["text"]) for each in reversed(snapshot["log"][-rows:])]
    return TextTable.of(("time", "decision and reason"), shown, set())


def _clock(time: float) -> str:
    return datetime.fromtimestamp(time).strftime("%H:%M:%S")
