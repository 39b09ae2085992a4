"""The dashboard of queries: latency, results and windows of each."""

from __future__ import annotations

from grafana.panels import (
    DATA_SOURCE,
    JOB,
    QUERY,
    Json,
    dashboard,
    graph,
    heading,
    many,
    query,
    spread,
    table,
)

OF = 'hamlet_job="$job", query=~"$query"'
RATE = "[$__rate_interval]"
BUCKETS = f"hamlet_query_latency_seconds_bucket{{{OF}}}"


def quantile(share: float, time: str) -> str:
    """No value, instead of NaN, if no window closed."""
    return f"histogram_quantile({share}, sum by (query, le) (rate({BUCKETS}[{time}]))) >= 0"


def in_all(share: float) -> Json:
    """Over the whole time range of the dashboard."""
    return query(quantile(share, "$__range"), now=True, table=True)


def rate(name: str) -> str:
    return f"sum by (query) (rate({name}{{{OF}}}{RATE}))"


def counted(name: str) -> Json:
    return query(f"sum by (query) ({name}{{{OF}}})", now=True, table=True)


def latency(share: float) -> Json:
    return graph(
        f"Latency, p{share * 100:g}",
        f"Time from the arrival of the last event of a window to its results: {share:.0%} of the "
        "windows of a query are faster.",
        "s",
        query(quantile(share, "$__rate_interval"), "{{query}}"),
        width=8,
    )


def queries() -> Json:
    return dashboard(
        "hamlet-queries",
        "Hamlet / Queries",
        "Latency, results and windows of each query.",
        [DATA_SOURCE, JOB, QUERY],
        [
            table(
                "Queries",
                "Results and windows so far, and latency over the selected time range.",
                "short",
                counted("hamlet_results_total"),
                counted("hamlet_windows_closed_total"),
                in_all(0.5),
                in_all(0.95),
                in_all(0.99),
                columns={
                    "query": "query",
                    "Value #A": "results",
                    "Value #B": "windows",
                    "Value #C": "p50",
                    "Value #D": "p95",
                    "Value #E": "p99",
                },
                units={"p50": "s", "p95": "s", "p99": "s"},
            ),
            heading("Latency"),
            latency(0.5),
            latency(0.95),
            latency(0.99),
            spread(
                "Latency of all windows",
                "Distribution of the latency of the selected queries.",
                "s",
                many(f"sum by (le) (increase({BUCKETS}{RATE}))", "{{le}}"),
            ),
            graph(
                "Mean latency",
                "Mean time from the arrival of the last event of a window to its results.",
                "s",
                query(
                    f"{rate('hamlet_query_latency_seconds_sum')} / "
                    f"({rate('hamlet_query_latency_seconds_count')} > 0)",
                    "{{query}}",
                ),
            ),
            heading("Results"),
            graph(
                "Results",
                "Result rows per second.",
                "cps",
                query(rate("hamlet_results_total"), "{{query}}"),
                width=8,
            ),
            graph(
                "Windows",
                "Windows closed with results, per second.",
                "cps",
                query(rate("hamlet_windows_closed_total"), "{{query}}"),
                width=8,
            ),
            graph(
                "Rows per window",
                "Mean number of result rows of a window.",
                "none",
                query(
                    f"{rate('hamlet_results_total')} / ({rate('hamlet_windows_closed_total')} > 0)",
                    "{{query}}",
                ),
                width=8,
            ),
        ],
    )
