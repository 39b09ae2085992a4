"""Builds the sections of a report, as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from runtime.metrics.histogram import SECONDS, Histogram
from runtime.metrics.snapshot import STAGES
from runtime.plan.decisions import KINDS
from runtime.report import plot
from runtime.report.html import table, tiles
from runtime.report.log_reader import History
from runtime.report.number_format import at, count, nanoseconds, number, percent, seconds, size
from runtime.report.series import (
    Line,
    Series,
    Times,
    added_up,
    count_decisions,
    grown,
    latency_of,
    of_model,
    quotient,
    rate,
    stage_of,
    standing,
    thinned,
    total_of_model,
)

SLOWEST, DECISIONS = 25, 300


def summary(history: History) -> str:
    last, runs = history.last, history.runs
    spent = sum(line["time"] - line["began"] for line in runs)
    invalid = sum(last["invalid_rows"].values())
    restarts = sum(sum(line["restarts"].values()) for line in runs)
    found = {
        "events": count(last["events"]),
        "events/s": number(_mean_rate(history)),
        "results": count(last["results"]),
        "queries": count(last["workload"]),
        "time": seconds(spent),
        "epochs": count(sum(line["epochs"] for line in runs)),
        "late rows": count(last["late"]),
        "invalid rows": count(invalid),
        "runs": count(len(runs)),
        "restarts": count(restarts),
        "ended": "yes" if last["finished"] else "no: stopped, or still running",
    }
    return tiles(found)


def _mean_rate(history: History) -> float:
    times = thinned(history.lines)
    added = sum(grown(times, lambda line: line["events"], lasting=True))
    spent = sum(line["time"] - line["began"] for line in history.runs)
    return added / spent if spent > 0 else 0.0


def events(times: Times) -> str:
    found = rate(times, lambda line: line["events"], lasting=True)
    series = [Series("events per second", found, "plain")]
    text = plot.curves("Events per second", times.seconds, series, number, at)
    behind = standing(times, _behind)
    if any(behind):
        lag = [Series("lag", behind, "bad")]
        text += "<h3>Watermark lag behind the newest event</h3>\n"
        text += plot.curves("Lag", times.seconds, lag, seconds, at)
    state = standing(times, lambda line: sum(e["state_bytes"] for e in line["actors"].values()))
    text += "<h3>Memory of the aggregators</h3>\n"
    memory = [Series("bytes", state, "plain")]
    return text + plot.curves("State", times.seconds, memory, size, at)


def _behind(line: Line) -> float | None:
    if line["watermark"] is None or line["newest"] is None:
        return None
    return float((line["newest"] - line["watermark"]) / 1e6)


def decisions(history: History, times: Times) -> str:
    series = [Series(kind, rate(times, partial(count_decisions, kind)), kind) for kind in KINDS]
    text = "<p>Bursts per second, by decision.</p>\n"
    text += plot.stacked("Decisions", times.seconds, series, number, at)
    rows = []
    for line in history.runs:
        for group in line["groups"]:
            for each in group["types"]:
                rows.append(_group(group, each))
    names = ("share group", "type", *KINDS, "events", "predicted benefit")
    return text + table((*names, "mean shared", "mean split"), rows, 2, "Nothing was shared.")


def _group(group: Line, each: Line) -> Sequence[str]:
    def mean(timed: Line) -> str:
        return nanoseconds(timed["nanoseconds"] / timed["bursts"]) if timed["bursts"] else "–"

    name = group["name"] + (" (event by event)" if group["over"] == "events" else "")
    counts = [count(each[kind]) for kind in KINDS]
    saved = nanoseconds(each["benefit"])
    timed = mean(each["time_shared"]), mean(each["time_split"])
    return [name, each["type"], *counts, count(each["events"]), saved, *timed]


def model(history: History, times: Times) -> str:
    model = history.last["model"]
    text = tiles(
        {
            "planner": model["planner"] or "given",
            "plan version": count(model["plan"]),
            "policy version": count(model["policy"]),
            "correlation": "–" if model["correlation"] is None else f"{model['correlation']:.2f}",
            "error": percent(model["error"]),
            "timed bursts": count(model["timed"]),
            "predicted": nanoseconds(model["predicted"]),
            "measured": nanoseconds(model["measured"]),
        }
    )
    timed = grown(times, partial(total_of_model, "timed"))
    sides = [
        Series(name, quotient(grown(times, partial(total_of_model, name)), timed), look)
        for name, look in (("predicted", "shared"), ("measured", "plain"))
    ]
    text += "<h3>Mean time of a timed burst</h3>\n"
    text += plot.curves("Predicted and measured", times.seconds, sides, nanoseconds, at)
    good = [
        Series("correlation", standing(times, partial(of_model, "correlation")), "plain"),
        Series("error", standing(times, partial(of_model, "error")), "bad"),
    ]
    text += "<h3>Accuracy of the cost model</h3>\n"
    text += plot.curves("Correlation and error", times.seconds, good, number, at)
    versions = [
        Series("policy", standing(times, partial(of_model, "policy")), "plain"),
        Series("plan", standing(times, partial(of_model, "plan")), "split"),
    ]
    text += "<h3>Versions of the policy and the plan</h3>\n"
    text += plot.curves("Versions", times.seconds, versions, count, at, steps=True)
    return text + "<h3>Re-plans</h3>\n" + _replans(history)


def _replans(history: History) -> str:
    first = history.lines[0]["began"]
    found = {each["time"]: each for line in history.lines for each in line["model"]["last_replans"]}
    rows = [
        (
            at(each["time"] - first),
            each["reason"],
            each["planner"],
            f"{nanoseconds(each['before'])} per event",
            f"{nanoseconds(each['after'])} per event",
            "new plan" if each["migrated"] else "plan kept",
        )
        for each in found.values()
    ]
    names = ("at", "why", "planner", "before", "after", "outcome")
    return table(names, rows, 6, "None: neither the stream nor the workload changed much.")


def queries(history: History) -> str:
    last = history.last
    found = {name: added_up(history.runs, partial(latency_of, name)) for name in last["queries"]}
    slowest = sorted(found, key=lambda name: -(found[name].quantile(0.95) or 0.0))
    rows = [_query(name, last["queries"][name], found[name]) for name in slowest]
    text = "<p>Latency is the time from the arrival of the last event of a window to its result."
    text += " The slowest queries come first.</p>\n"
    names = ("query", "results", "windows", "mean", "p50", "p95", "p99")
    text += table(names, rows[:SLOWEST], 1, "No queries.")
    if len(rows) > SLOWEST:
        rest = table(names, rows[SLOWEST:], 1, "")
        text += f"<details><summary>{len(rows) - SLOWEST} more</summary>{rest}</details>\n"
    return text


def _query(name: str, each: Line, latency: Histogram) -> Sequence[str]:
    results, windows = count(each["results"]), count(each["windows"])
    return [name, results, windows, seconds(latency.mean), *_shares(latency)]


def _shares(each: Histogram) -> list[str]:
    return [seconds(each.quantile(share)) for share in (0.5, 0.95, 0.99)]


def latency(history: History, times: Times) -> str:
    found = added_up(history.runs, partial(latency_of, None))
    bounds = [f"≤ {seconds(bound)}" for bound in SECONDS] + [f"> {seconds(SECONDS[-1])}"]
    there = [place for place, number in enumerate(found.counts) if number]
    text = f"<p>{count(found.count)} windows of all queries.</p>\n"
    if there:
        part = range(max(0, there[0] - 1), min(len(bounds), there[-1] + 2))
        names, values = [bounds[n] for n in part], [float(found.counts[n]) for n in part]
        text += plot.columns("Windows by latency", names, values, number)
    means = quotient(
        grown(times, lambda line: latency_of(None, line).sum),
        grown(times, lambda line: latency_of(None, line).count),
    )
    text += "<h3>Mean over time</h3>\n"
    series = [Series("latency", means, "plain")]
    return text + plot.curves("Mean latency", times.seconds, series, seconds, at)


def stages(history: History, times: Times) -> str:
    known = [name for name in STAGES if any(name in line["stages"] for line in history.runs)]
    found = {name: added_up(history.runs, partial(stage_of, name)) for name in known}
    rows = [
        (name, count(each.count), seconds(each.sum), *_shares(each)) for name, each in found.items()
    ]
    text = plot.columns("Seconds by stage", known, [found[name].sum for name in known], seconds)
    names = ("stage", "epochs", "total", "p50", "p95", "p99")
    text += table(names, rows, 1, "No epochs.")
    if history.last["checkpoint"]["written"]:
        now, written = (history.last["checkpoint"][name] for name in ("size", "written"))
        text += f"<p>Checkpoints: {size(written)} written; a restart would read {size(now)}.</p>\n"
    return text


def rows(history: History, times: Times) -> str:
    last = history.last
    rows = [("late: behind the watermark", count(last["late"]))] if last["late"] else []
    rows += [(reason, count(found)) for reason, found in last["invalid_rows"].items()]
    text = table(("reason", "rows"), rows, 1, "None.")
    if rows:
        both = [
            Series("late", rate(times, lambda line: line["late"], lasting=True), "split"),
            Series("invalid", rate(times, _dead, lasting=True), "bad"),
        ]
        text += "<p>Rows per second.</p>\n"
        text += plot.stacked("Late and invalid rows", times.seconds, both, number, at)
    return text


def _dead(line: Line) -> float:
    return float(sum(line["invalid_rows"].values()))


def log(history: History) -> str:
    first = history.lines[0]["began"]
    entries = [each for line in history.lines for each in line["log"]]
    rows = [
        (at(each["time"] - first), each["kind"], each["group"], each["text"])
        for each in reversed(entries[-DECISIONS:])
    ]
    found = table(("at", "decision", "share group", "why"), rows, 4, "No decisions were logged.")
    summary = f"The last {len(rows)} logged decisions, newest first"
    return f"<details><summary>{summary}</summary>{found}</details>\n"
