"""The dashboard that shows whether a job is healthy: rate, errors, latency, lag."""

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
        "Is the job healthy: rate, errors, latency, lag.",
        [DATA_SOURCE, JOB],
        [
            number(
                "Events",
                "Events processed per second.",
                "cps",
                query('sum(rate(hamlet_events_total{hamlet_job="$job"}[$__rate_interval]))'),
            ),
            number(
                "Results",
                "Result rows written per second.",
                "cps",
                query('sum(rate(hamlet_results_total{hamlet_job="$job"}[$__rate_interval]))'),
            ),
            number(
                "Latency, p99",
                "Time from the arrival of the last event of a window to its results: 99 of 100 "
                "windows are faster.",
                "s",
                quantile(0.99),
            ),
            number(
                "Last commit",
                "Time since the last epoch was committed. It grows while there is nothing to read.",
                "s",
                query('time() - max(hamlet_commit_timestamp_seconds{hamlet_job="$job"})'),
            ),
            number(
                "Queries",
                "Number of queries in the workload.",
                "none",
                query('max(hamlet_queries{hamlet_job="$job"})'),
            ),
            number(
                "Uptime",
                "Time since the job started.",
                "s",
                query('time() - max(hamlet_start_timestamp_seconds{hamlet_job="$job"})'),
            ),
            heading("Rate"),
            graph(
                "Rows and events",
                "Rows read and events processed per second. The rest is late or invalid rows.",
                "cps",
                query('sum(rate(hamlet_rows_total{hamlet_job="$job"}[$__rate_interval]))', "rows"),
                query(
                    'sum(rate(hamlet_events_total{hamlet_job="$job"}[$__rate_interval]))', "events"
                ),
            ),
            graph(
                "Results and windows",
                "Result rows and windows closed with results, per second.",
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
                "Rows behind the watermark, per second. They are kept in _late; results do not "
                "include them.",
                "cps",
                query('sum(rate(hamlet_late_rows_total{hamlet_job="$job"}[$__rate_interval]))'),
                width=8,
            ),
            graph(
                "Dead letters",
                "Invalid rows so far, by reason. They are kept in _dead_letter.",
                "short",
                query(
                    'sum by (reason) (hamlet_dead_letter_rows_total{hamlet_job="$job"})',
                    "{{reason}}",
                ),
                width=8,
            ),
            graph(
                "Restarts",
                "Restarts after a failure: of an aggregator, of Spark, or of rows that were lost "
                "and read again.",
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
                "Time from the arrival of the last event of a window to the output of its results, "
                "over all queries.",
                "s",
                *map(quantile, (0.5, 0.95, 0.99)),
                width=8,
            ),
            graph(
                "Watermark lag",
                "How far the watermark is behind the newest event, in event time. It equals "
                "--lateness, or more if a partition of the source is idle.",
                "s",
                query('max(hamlet_watermark_lag_seconds{hamlet_job="$job"})', "lag"),
                width=8,
            ),
            graph(
                "Backlog",
                "Input that is not read yet: bytes, or Kafka records. If it grows, the job is too "
                "slow.",
                "short",
                query('sum by (unit) (hamlet_backlog{hamlet_job="$job"})', "{{unit}}"),
                width=8,
            ),
        ],
    )
