"""Declares every metric of a job, in the order in which they are exposed and documented.

To add a metric, declare it here. Its value is a function of the `MetricsSnapshot`; a value that is
not counted yet also needs a field there. `make dashboards` updates the table in docs/monitoring.md.
"""

from __future__ import annotations

from runtime.metrics.metric import MetricDeclaration, counter, gauge, histogram
from runtime.metrics.readers import (
    NANOSECOND,
    build,
    bursts,
    members,
    of_checkpoint,
    per_actor,
    per_query,
    per_type,
    per_type_and,
    replans,
    seconds,
    snapshots_created,
    snapshots_propagated,
    timed_bursts,
    timed_seconds,
    watermark_lag,
)
from runtime.metrics.snapshot import PARTS, STAGES

_TYPE = ("share_group", "kleene_type")

METRICS: tuple[MetricDeclaration, ...] = (
    # The job.
    gauge(
        "hamlet_build_info",
        "Versions of Hamlet and Python, and the engine; always 1",
        "",
        build,
        ("version", "python", "engine"),
    ),
    gauge(
        "hamlet_start_timestamp_seconds",
        "Unix time at which the job started",
        "seconds",
        lambda snapshot: snapshot.began,
    ),
    # The stream.
    counter("hamlet_rows_total", "Rows read", "rows", lambda snapshot: snapshot.rows),
    counter("hamlet_events_total", "Events processed", "events", lambda snapshot: snapshot.events),
    counter(
        "hamlet_late_rows_total",
        "Rows behind the watermark; they go to the late output",
        "rows",
        lambda snapshot: snapshot.late,
    ),
    counter(
        "hamlet_dead_letter_rows_total",
        "Invalid rows, by reason",
        "rows",
        lambda snapshot: snapshot.invalid_rows or {"none": 0},
        ("reason",),
    ),
    gauge(
        "hamlet_watermark_timestamp_seconds",
        "The watermark: windows that end before it are closed",
        "seconds",
        lambda snapshot: seconds(snapshot.watermark),
    ),
    gauge(
        "hamlet_newest_event_timestamp_seconds",
        "The largest event time so far",
        "seconds",
        lambda snapshot: seconds(snapshot.newest),
    ),
    gauge(
        "hamlet_watermark_lag_seconds",
        "How far the watermark is behind the newest event, in event time",
        "seconds",
        watermark_lag,
    ),
    gauge(
        "hamlet_backlog",
        "Input that is not read yet, in bytes or records",
        "bytes or records",
        lambda snapshot: {snapshot.backlog_in: snapshot.backlog},
        ("unit",),
    ),
    # Sharing.
    counter(
        "hamlet_bursts_total",
        "Bursts by decision: shared, split, merged after a split, or continued as shared",
        "bursts",
        per_type_and(bursts),
        ("decision", *_TYPE),
    ),
    counter(
        "hamlet_burst_events_total",
        "Events in these bursts",
        "events",
        per_type(lambda each: each.events),
        _TYPE,
    ),
    counter(
        "hamlet_snapshots_created_total",
        "Snapshots created: one for a shared graphlet, one for an event on which queries differ",
        "snapshots",
        per_type_and(snapshots_created),
        ("level", *_TYPE),
    ),
    counter(
        "hamlet_snapshots_propagated_total",
        "Snapshot values propagated, one for each query that shares",
        "values",
        per_type_and(snapshots_propagated),
        ("level", *_TYPE),
    ),
    gauge(
        "hamlet_predicted_benefit_seconds",
        "Total time that sharing was predicted to save; negative if splitting was cheaper",
        "seconds",
        per_type(lambda each: each.benefit * NANOSECOND),
        _TYPE,
    ),
    counter(
        "hamlet_timed_bursts_total",
        "Bursts whose processing was timed",
        "bursts",
        per_type_and(timed_bursts),
        ("decision", *_TYPE),
    ),
    counter(
        "hamlet_timed_bursts_seconds_total",
        "Time that the timed bursts took",
        "seconds",
        per_type_and(timed_seconds),
        ("decision", *_TYPE),
    ),
    gauge(
        "hamlet_share_group_queries",
        "Queries in a share group",
        "queries",
        lambda snapshot: {group.name: len(group.queries) for group in snapshot.groups},
        ("share_group",),
    ),
    gauge(
        "hamlet_share_group_info",
        "Which queries belong to a share group; always 1",
        "",
        members,
        ("share_group", "query"),
    ),
    # The cost model and the plan.
    gauge(
        "hamlet_model_correlation",
        "Correlation of predicted and measured burst times",
        "",
        lambda snapshot: snapshot.model.correlation,
    ),
    gauge(
        "hamlet_model_kinds_correlation",
        "The same correlation, over the means of bursts with similar predictions",
        "",
        lambda snapshot: snapshot.model.kinds_correlation,
    ),
    gauge(
        "hamlet_model_error_ratio",
        "Median relative error of the predictions",
        "ratio",
        lambda snapshot: snapshot.model.error,
    ),
    counter(
        "hamlet_model_samples_total",
        "Timed bursts that predictions were compared with",
        "bursts",
        lambda snapshot: snapshot.model.timed,
    ),
    counter(
        "hamlet_model_predicted_seconds_total",
        "Predicted time of these bursts",
        "seconds",
        lambda snapshot: snapshot.model.predicted * NANOSECOND,
    ),
    counter(
        "hamlet_model_measured_seconds_total",
        "Measured time of these bursts",
        "seconds",
        lambda snapshot: snapshot.model.measured * NANOSECOND,
    ),
    gauge(
        "hamlet_policy_version",
        "Version of the current sharing policy",
        "",
        lambda snapshot: snapshot.model.policy,
    ),
    gauge(
        "hamlet_plan_version",
        "Version of the current plan",
        "",
        lambda snapshot: snapshot.model.plan,
    ),
    counter(
        "hamlet_replans_total",
        "Re-plans of the workload, by reason and by whether the plan changed",
        "re-plans",
        replans,
        ("reason", "migrated"),
    ),
    # Queries.
    gauge(
        "hamlet_queries",
        "Queries in the workload",
        "queries",
        lambda snapshot: snapshot.workload,
    ),
    counter(
        "hamlet_results_total",
        "Result rows",
        "rows",
        per_query(lambda query: query.results),
        ("query",),
    ),
    counter(
        "hamlet_windows_closed_total",
        "Windows closed with results",
        "windows",
        per_query(lambda query: query.windows),
        ("query",),
    ),
    histogram(
        "hamlet_query_latency_seconds",
        "Time from the arrival of the last event of a window to the output of its results",
        "seconds",
        per_query(lambda query: query.latency),
        ("query",),
    ),
    # Epochs, checkpoints and restarts.
    counter(
        "hamlet_epochs_total",
        "Epochs committed by this run",
        "epochs",
        lambda snapshot: snapshot.epochs,
    ),
    gauge(
        "hamlet_epoch",
        "Number of the last committed epoch",
        "",
        lambda snapshot: snapshot.epoch if snapshot.epoch >= 0 else None,
    ),
    gauge(
        "hamlet_commit_timestamp_seconds",
        "Unix time of the last commit",
        "seconds",
        lambda snapshot: snapshot.time,
    ),
    gauge(
        "hamlet_report_timestamp_seconds",
        "Unix time of the driver's last report, which it makes every few seconds",
        "seconds",
        lambda snapshot: snapshot.reported,
    ),
    histogram(
        "hamlet_epoch_stage_seconds",
        "Time that each stage of an epoch took",
        "seconds",
        lambda snapshot: {
            name: snapshot.stages[name] for name in STAGES if name in snapshot.stages
        },
        ("stage",),
    ),
    gauge(
        "hamlet_epochs_in_flight",
        "Epochs that are being read or computed",
        "epochs",
        lambda snapshot: snapshot.in_flight,
    ),
    gauge(
        "hamlet_checkpoint_size_bytes",
        "Bytes that a restart would read from the checkpoint",
        "bytes",
        of_checkpoint(lambda checkpoint: checkpoint.size),
    ),
    counter(
        "hamlet_checkpoint_written_bytes_total",
        "Bytes written to the checkpoint",
        "bytes",
        of_checkpoint(lambda checkpoint: checkpoint.written),
    ),
    gauge(
        "hamlet_checkpoint_timestamp_seconds",
        "Unix time of the last checkpoint",
        "seconds",
        of_checkpoint(lambda checkpoint: checkpoint.time),
    ),
    counter(
        "hamlet_restarts_total",
        "Restarts after a failure, by part",
        "restarts",
        lambda snapshot: {part: snapshot.restarts.get(part, 0) for part in PARTS},
        ("part",),
    ),
    # Aggregators.
    gauge(
        "hamlet_state_bytes",
        "Memory held by partitions and their windows",
        "bytes",
        per_actor(lambda actor: actor.state_bytes),
        ("actor",),
    ),
    gauge(
        "hamlet_partitions",
        "Partitions with state",
        "partitions",
        per_actor(lambda actor: actor.partitions),
        ("actor",),
    ),
    gauge(
        "hamlet_graphlets",
        "Open graphlets: bursts that have not ended",
        "graphlets",
        per_actor(lambda actor: actor.graphlets),
        ("actor",),
    ),
    gauge(
        "hamlet_open_windows",
        "Open windows with state",
        "windows",
        per_actor(lambda actor: actor.open_windows),
        ("actor",),
    ),
    gauge(
        "hamlet_waiting_events",
        "Events ahead of the watermark, buffered until it reaches them",
        "events",
        per_actor(lambda actor: actor.waiting),
        ("actor",),
    ),
    counter(
        "hamlet_actor_events_total",
        "Events processed by an aggregator",
        "events",
        per_actor(lambda actor: actor.events),
        ("actor",),
    ),
    counter(
        "hamlet_actor_compute_seconds_total",
        "Time that an aggregator spent computing",
        "seconds",
        per_actor(lambda actor: actor.compute_seconds),
        ("actor",),
    ),
)
