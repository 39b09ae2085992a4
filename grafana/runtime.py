"""The dashboard that shows where time and memory go, from Spark to checkpoints."""

from __future__ import annotations

from grafana.panels import (
    DATA_SOURCE,
    JOB,
    Json,
    dashboard,
    graph,
    heading,
    many,
    number,
    query,
    spread,
    table,
)

OF = 'hamlet_job="$job"'
RATE = "[$__rate_interval]"
STAGE = "hamlet_epoch_stage_seconds"


def of_actors(name: str) -> Json:
    return query(f"sum by (actor) ({name}{{{OF}}})", "aggregator {{actor}}")


def rate_of_actors(name: str) -> Json:
    return query(f"sum by (actor) (rate({name}{{{OF}}}{RATE}))", "aggregator {{actor}}")


def stage_quantile(share: float, stage: str) -> Json:
    buckets = f'sum by (le) (rate({STAGE}_bucket{{{OF}, stage="{stage}"}}{RATE}))'
    return query(f"histogram_quantile({share}, {buckets}) >= 0", f"{stage}, p{share * 100:g}")


def runtime() -> Json:
    return dashboard(
        "hamlet-runtime",
        "Hamlet / Runtime",
        "Where the time and memory of a job go.",
        [DATA_SOURCE, JOB],
        [
            number(
                "Epochs",
                "Epochs committed per second.",
                "cps",
                query(f"sum(rate(hamlet_epochs_total{{{OF}}}{RATE}))"),
            ),
            number(
                "In flight",
                "Epochs that are being read or computed: up to four.",
                "none",
                query(f"sum(hamlet_epochs_in_flight{{{OF}}})"),
            ),
            number(
                "State",
                "Memory held by partitions and their windows, over all aggregators.",
                "bytes",
                query(f"sum(hamlet_state_bytes{{{OF}}})"),
            ),
            number(
                "Checkpoint",
                "Bytes that a restart would read.",
                "bytes",
                query(f"sum(hamlet_checkpoint_size_bytes{{{OF}}})"),
            ),
            number(
                "Checkpoint age",
                "Time since the last checkpoint. It grows while there is nothing to read.",
                "s",
                query(f"time() - max(hamlet_checkpoint_timestamp_seconds{{{OF}}})"),
            ),
            number(
                "Last report",
                "Time since the driver last reported. It does so every few seconds; one that is "
                "silent hangs.",
                "s",
                query(f"time() - max(hamlet_report_timestamp_seconds{{{OF}}})"),
            ),
            number(
                "Restarts",
                "Restarts after a failure, since the job started.",
                "none",
                query(f"sum(hamlet_restarts_total{{{OF}}})"),
            ),
            heading("Epochs"),
            graph(
                "Stages of an epoch",
                "Mean time of each stage. Stages overlap: while one epoch is being finished, the "
                "next is computed and the one after that is read.",
                "s",
                query(
                    f"sum by (stage) (rate({STAGE}_sum{{{OF}}}{RATE})) / "
                    f"(sum by (stage) (rate({STAGE}_count{{{OF}}}{RATE})) > 0)",
                    "{{stage}}",
                ),
                stacked=True,
            ),
            graph(
                "Stages, p95",
                "95 of 100 epochs are faster.",
                "s",
                query(
                    f"histogram_quantile(0.95, sum by (stage, le) (rate({STAGE}_bucket{{{OF}}}"
                    f"{RATE}))) >= 0",
                    "{{stage}}",
                ),
            ),
            graph(
                "Rows per epoch",
                "Epochs grow if there is more to read, and shrink if they take long.",
                "short",
                query(
                    f"sum(rate(hamlet_rows_total{{{OF}}}{RATE})) / "
                    f"(sum(rate(hamlet_epochs_total{{{OF}}}{RATE})) > 0)",
                    "rows",
                ),
                width=8,
            ),
            graph(
                "Epochs",
                "Epochs committed per second.",
                "cps",
                query(f"sum(rate(hamlet_epochs_total{{{OF}}}{RATE}))", "epochs"),
                width=8,
            ),
            graph(
                "Epochs in flight",
                "Epochs that are being read or computed. Always four: the job is saturated.",
                "none",
                query(f"sum(hamlet_epochs_in_flight{{{OF}}})", "in flight"),
                width=8,
            ),
            heading("Spark"),
            graph(
                "Spark and hand-over",
                "Time that Spark takes to read an epoch, and routers to fetch and split it.",
                "s",
                stage_quantile(0.5, "spark"),
                stage_quantile(0.95, "spark"),
                stage_quantile(0.5, "hand-over"),
                stage_quantile(0.95, "hand-over"),
            ),
            spread(
                "Spark, all epochs",
                "Distribution of the time that Spark takes to read an epoch.",
                "s",
                many(
                    f'sum by (le) (increase({STAGE}_bucket{{{OF}, stage="spark"}}{RATE}))',
                    "{{le}}",
                ),
            ),
            heading("Aggregators"),
            graph(
                "Busy",
                "Share of its time that an aggregator computes. If only one is at 100%, its keys "
                "are hot.",
                "percentunit",
                rate_of_actors("hamlet_actor_compute_seconds_total"),
                width=8,
            ),
            graph(
                "Events",
                "Events per second of each aggregator.",
                "cps",
                rate_of_actors("hamlet_actor_events_total"),
                width=8,
            ),
            graph(
                "Buffered events",
                "Events ahead of the watermark, buffered until it reaches them.",
                "short",
                of_actors("hamlet_waiting_events"),
                width=8,
            ),
            heading("Memory"),
            graph(
                "State",
                "Memory held by partitions and their windows.",
                "bytes",
                of_actors("hamlet_state_bytes"),
                width=8,
                stacked=True,
            ),
            graph(
                "Partitions",
                "Partitions with state.",
                "short",
                of_actors("hamlet_partitions"),
                width=8,
                stacked=True,
            ),
            graph(
                "Open windows",
                "Open windows with state.",
                "short",
                of_actors("hamlet_open_windows"),
                width=8,
                stacked=True,
            ),
            heading("Checkpoints and restarts"),
            graph(
                "Checkpoint",
                "Bytes that a restart would read: the state of all shards, and the events since.",
                "bytes",
                query(f"sum(hamlet_checkpoint_size_bytes{{{OF}}})", "size"),
                width=8,
            ),
            graph(
                "State written",
                "Bytes written to the checkpoint per second.",
                "Bps",
                query(f"sum(rate(hamlet_checkpoint_written_bytes_total{{{OF}}}{RATE}))", "written"),
                width=8,
            ),
            graph(
                "Restarts",
                "Restarts after a failure: of an aggregator, of Spark, or of rows that were lost "
                "and read again.",
                "short",
                query(f"sum by (part) (increase(hamlet_restarts_total{{{OF}}}{RATE}))", "{{part}}"),
                width=8,
                bars=True,
            ),
            table(
                "Build",
                "Versions of Hamlet and Python, and the engine.",
                "none",
                query(
                    f"max by (hamlet_job, engine, version, python) (hamlet_build_info{{{OF}}})",
                    now=True,
                    table=True,
                ),
                columns={
                    "hamlet_job": "job",
                    "engine": "engine",
                    "version": "version",
                    "python": "Python",
                },
            ),
        ],
    )
