"""The dashboard of sharing decisions: which queries share what, and whether predictions hold."""

from __future__ import annotations

from grafana.panels import (
    DATA_SOURCE,
    GROUP,
    JOB,
    Json,
    dashboard,
    graph,
    heading,
    number,
    query,
    table,
    timeline,
)

# Former groups are added to `(former)` all at once, so their rate means nothing.
OF = 'hamlet_job="$job", share_group=~"$group", share_group!="(former)"'
RATE = "[$__rate_interval]"
BY = "sum by (share_group, kleene_type)"
NAME = "{{share_group}}: {{kleene_type}}"


def rate(name: str, by: str, legend: str, more: str = "") -> Json:
    return query(f"sum by ({by}) (rate({name}{{{OF}{more}}}{RATE}))", legend)


def shared_part() -> Json:
    """The share of bursts that are shared; no value if there are no bursts."""
    shared = f'{BY} (rate(hamlet_bursts_total{{{OF}, decision!="split"}}{RATE}))'
    every = f"{BY} (rate(hamlet_bursts_total{{{OF}}}{RATE}))"
    return query(f"{shared} / ({every} > 0)", NAME)


def mean_time(decision: str) -> Json:
    of = f'{OF}, decision="{decision}"'
    spent = f"{BY} (rate(hamlet_timed_bursts_seconds_total{{{of}}}{RATE}))"
    timed = f"{BY} (rate(hamlet_timed_bursts_total{{{of}}}{RATE}))"
    return query(f"{spent} / ({timed} > 0)", f"{NAME}, {decision}")


def model_time(kind: str) -> Json:
    job = 'hamlet_job="$job"'
    spent = f"sum(rate(hamlet_model_{kind}_seconds_total{{{job}}}{RATE}))"
    return query(f"{spent} / (sum(rate(hamlet_model_samples_total{{{job}}}{RATE})) > 0)", kind)


def sharing() -> Json:
    return dashboard(
        "hamlet-sharing",
        "Hamlet / Sharing decisions",
        "Which queries share which Kleene types and when, and whether that pays off.",
        [DATA_SOURCE, JOB, GROUP],
        [
            number(
                "Bursts",
                "Bursts per second.",
                "cps",
                query(f"sum(rate(hamlet_bursts_total{{{OF}}}{RATE}))"),
            ),
            number(
                "Shared",
                "Share of the bursts that queries shared.",
                "percentunit",
                query(
                    f'sum(rate(hamlet_bursts_total{{{OF}, decision!="split"}}{RATE})) / '
                    f"(sum(rate(hamlet_bursts_total{{{OF}}}{RATE})) > 0)"
                ),
            ),
            number(
                "Events per burst",
                "Mean length of bursts. Longer ones benefit more from sharing.",
                "none",
                query(
                    f"sum(rate(hamlet_burst_events_total{{{OF}}}{RATE})) / "
                    f"(sum(rate(hamlet_bursts_total{{{OF}}}{RATE})) > 0)"
                ),
            ),
            number(
                "Model error",
                "Median relative error of the predicted burst times.",
                "percentunit",
                query('max(hamlet_model_error_ratio{hamlet_job="$job"})'),
            ),
            number(
                "Policy",
                "Version of the coefficients of the cost model. It grows as the model learns.",
                "none",
                query('max(hamlet_policy_version{hamlet_job="$job"})'),
            ),
            number(
                "Plan",
                "Version of the plan, which says what queries may share.",
                "none",
                query('max(hamlet_plan_version{hamlet_job="$job"})'),
            ),
            heading("Which queries share what, and when"),
            timeline(
                "Shared bursts by Kleene type",
                "Share of the bursts of a type that the queries of a group shared: green is all, "
                "red is none.",
                "percentunit",
                shared_part(),
                width=16,
            ),
            table(
                "Share groups",
                "The queries of each group.",
                "none",
                query(
                    "max by (share_group, query) (hamlet_share_group_info"
                    '{hamlet_job="$job", share_group=~"$group"})',
                    now=True,
                    table=True,
                ),
                columns={"share_group": "share group", "query": "query"},
                width=8,
            ),
            graph(
                "Decisions",
                "Decisions per second: shared, continued as shared, split, or merged again after a "
                "split.",
                "cps",
                rate("hamlet_bursts_total", "decision", "{{decision}}"),
                stacked=True,
            ),
            graph(
                "Splits and merges",
                "Where queries stopped sharing and where they share again. If there are many of "
                "both, predicates differ from burst to burst.",
                "cps",
                rate(
                    "hamlet_bursts_total",
                    "decision, share_group, kleene_type",
                    f"{NAME}, {{{{decision}}}}",
                    ', decision=~"split|merged"',
                ),
            ),
            heading("Snapshots"),
            graph(
                "Snapshots created",
                "One for a shared graphlet, and one for each event on which its queries differ. "
                "Many of the latter make sharing expensive.",
                "cps",
                rate("hamlet_snapshots_created_total", "level", "{{level}}"),
                width=8,
            ),
            graph(
                "Snapshots propagated",
                "Snapshot values propagated per second, one for each query that shares.",
                "cps",
                rate("hamlet_snapshots_propagated_total", "level", "{{level}}"),
                width=8,
            ),
            graph(
                "Graphlets",
                "Open graphlets: bursts that have not ended.",
                "short",
                query('sum(hamlet_graphlets{hamlet_job="$job"})', "graphlets"),
                width=8,
            ),
            heading("Predicted and measured"),
            graph(
                "Predicted benefit",
                "Time that sharing was predicted to save per second, by group and type. Negative "
                "if splitting is cheaper.",
                "s",
                query(f"{BY} (deriv(hamlet_predicted_benefit_seconds{{{OF}}}{RATE}))", NAME),
            ),
            graph(
                "Burst time, shared and split",
                "Mean time of the timed bursts.",
                "s",
                mean_time("shared"),
                mean_time("split"),
            ),
            graph(
                "Burst time, predicted and measured",
                "Mean time of the timed bursts, predicted before the model learned from them.",
                "s",
                model_time("predicted"),
                model_time("measured"),
                width=8,
            ),
            graph(
                "Model accuracy",
                "Correlation of predicted and measured times, and the median relative error.",
                "percentunit",
                query('max(hamlet_model_correlation{hamlet_job="$job"})', "correlation"),
                query('max(hamlet_model_error_ratio{hamlet_job="$job"})', "error"),
                width=8,
            ),
            graph(
                "Re-plans",
                "Re-plans by reason: the rates of the stream changed, or queries were added or "
                "removed; and whether the plan changed.",
                "short",
                query(
                    "sum by (reason, migrated) "
                    f'(increase(hamlet_replans_total{{hamlet_job="$job"}}{RATE}))',
                    "{{reason}}, plan changed: {{migrated}}",
                ),
                width=8,
                bars=True,
            ),
        ],
    )
