"""Is all well: rate, errors, latency, lag."""

from __future__ import annotations

from grafana.panels import DATA_SOURCE, JOB, Json, dashboard, graph, heading, number, query

LATENCY = """histogram_quantile({share}, sum by (le) (
  rate(hamlet_query_latency_seconds_bucket{{hamlet_job="$job"}}[$__rate_interval]))) >= 0"""


def quantile(share: float) -> Json:
    return query(LATENCY.format(share=share), f"p{share * 100:g}")


def overview() -> Json:
    return dashboard(
        "hamlet-overview",
        "Hamlet / Overview",
        "Is all well with a job: rate, errors, latency, lag.",
        [DATA_SOURCE, JOB],
        [
            number(
                "Events",
                "Events that are taken in a second.",
                "cps",
                query('sum(rate(hamlet_events_total{hamlet_job="$job"}[$__rate_interval]))'),
            ),
            number(
                "Results",
                "Result rows that come out in a second.",
                "cps",
                query('sum(rate(hamlet_results_total{hamlet_job="$job"}[$__rate_interval]))'),
            ),
            number(
                "Latency, p99",
                "From the arrival of the last event of a window to its results: 99 of 100 windows "
                "are faster.",
                "s",
                quantile(0.99),
            ),
            number(
                "Last commit",
                "How long ago an epoch was committed. It grows while nothing is to be read.",
                "s",
                query('time() - max(hamlet_commit_timestamp_seconds{hamlet_job="$job"})'),
            ),
            number(
                "Queries",
                "How many queries the job has.",
                "none",
                query('max(hamlet_queries{hamlet_job="$job"})'),
            ),
            number(
                "Runs for",
                "Since the job was started.",
                "s",
                query('time() - max(hamlet_start_timestamp_seconds{hamlet_job="$job"})'),
            ),
            heading("Rate"),
            graph(
                "Rows and events",
                "Rows that were read, and events that were taken. The rest is late, or in the "
                "dead letters.",
                "cps",
                query('sum(rate(hamlet_rows_total{hamlet_job="$job"}[$__rate_interval]))', "rows"),
                query(
                    'sum(rate(hamlet_events_total{hamlet_job="$job"}[$__rate_interval]))', "events"
                ),
            ),
            graph(
                "Results and windows",
                "Result rows, and windows that closed with results.",
                "cps",
                query(
                    'sum(rate(hamlet_results_total{hamlet_job="$job"}[$__rate_interval]))',
                    "results",
                ),
                query(
                    'sum(rate(hamlet_windows_closed_total{hamlet_job="$job"}[$__rate_interval]))',
                    "windows",
                ),
            ),
            heading("Errors"),
            graph(
                "Late rows",
                "Rows behind the watermark in a second. They are kept in _late and change no "
                "result.",
                "cps",
                query('sum(rate(hamlet_late_rows_total{hamlet_job="$job"}[$__rate_interval]))'),
                width=8,
            ),
            graph(
                "Dead letters",
                "Rows that could not be used, so far, by reason. They are kept in _dead_letter.",
                "short",
                query(
                    'sum by (reason) (hamlet_dead_letter_rows_total{hamlet_job="$job"})',
                    "{{reason}}",
                ),
                width=8,
            ),
            graph(
                "Restarts",
                "What died and began again: an aggregator, Spark, or rows that had to be read "
                "again.",
                "short",
                query(
                    "sum by (part) "
                    '(increase(hamlet_restarts_total{hamlet_job="$job"}[$__rate_interval]))',
                    "{{part}}",
                ),
                width=8,
                bars=True,
            ),
            heading("Latency and lag"),
            graph(
                "Latency of results",
                "From the arrival of the last event of a window to the output of its results, "
                "over all queries.",
                "s",
                *map(quantile, (0.5, 0.95, 0.99)),
                width=8,
            ),
            graph(
                "Watermark lag",
                "How far the watermark is behind the newest event, in the stream's own time. It "
                "is --lateness, and more where a partition of the source is idle.",
                "s",
                query('max(hamlet_watermark_lag_seconds{hamlet_job="$job"})', "lag"),
                width=8,
            ),
            graph(
                "Backlog",
                "What waits to be read: bytes, or records of Kafka. If it grows, the job is too "
                "slow.",
                "short",
                query('sum by (unit) (hamlet_backlog{hamlet_job="$job"})', "{{unit}}"),
                width=8,
            ),
        ],
    )
