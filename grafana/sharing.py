"""Why it shares: who shares which types and when, what was predicted and what was measured."""

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

# Groups that are over are added up as `(former)`, at once: there is no rate in that.
OF = 'hamlet_job="$job", share_group=~"$group", share_group!="(former)"'
RATE = "[$__rate_interval]"
BY = "sum by (share_group, kleene_type)"
NAME = "{{share_group}}: {{kleene_type}}"


def rate(name: str, by: str, legend: str, more: str = "") -> Json:
    return query(f"sum by ({by}) (rate({name}{{{OF}{more}}}{RATE}))", legend)


def shared_part() -> Json:
    """Of all bursts; none where there are none."""
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
        "Which Kleene types are shared by whom and when, and whether that was right.",
        [DATA_SOURCE, JOB, GROUP],
        [
            number(
                "Bursts",
                "Bursts that were decided on in a second.",
                "cps",
                query(f"sum(rate(hamlet_bursts_total{{{OF}}}{RATE}))"),
            ),
            number(
                "Shared",
                "The part of all bursts that queries shared.",
                "percentunit",
                query(
                    f'sum(rate(hamlet_bursts_total{{{OF}, decision!="split"}}{RATE})) / '
                    f"(sum(rate(hamlet_bursts_total{{{OF}}}{RATE})) > 0)"
                ),
            ),
            number(
                "Events in a burst",
                "How long bursts are. Longer ones are better to share.",
                "none",
                query(
                    f"sum(rate(hamlet_burst_events_total{{{OF}}}{RATE})) / "
                    f"(sum(rate(hamlet_bursts_total{{{OF}}}{RATE})) > 0)"
                ),
            ),
            number(
                "Model error",
                "Half of the predictions are off by this part of the measured time, at the most.",
                "percentunit",
                query('max(hamlet_model_error_ratio{hamlet_job="$job"})'),
            ),
            number(
                "Policy",
                "Version of the cost model's coefficients. It grows as the model learns.",
                "none",
                query('max(hamlet_policy_version{hamlet_job="$job"})'),
            ),
            number(
                "Plan",
                "Version of the plan: which queries may share what.",
                "none",
                query('max(hamlet_plan_version{hamlet_job="$job"})'),
            ),
            heading("Who shares what, and when"),
            timeline(
                "Shared bursts by Kleene type",
                "The part of the bursts of a type that the queries of a group shared: green is "
                "all, red is none.",
                "percentunit",
                shared_part(),
                width=16,
            ),
            table(
                "Share groups",
                "Which queries are in which group, now.",
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
                "What was decided on bursts: shared after nothing, continued as shared, split, or "
                "merged again after a split.",
                "cps",
                rate("hamlet_bursts_total", "decision", "{{decision}}"),
                stacked=True,
            ),
            graph(
                "Splits and merges",
                "Where queries began to go by themselves, and where they came together again. "
                "Many of both: conditions differ from burst to burst.",
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
                "Many of the latter make sharing dear.",
                "cps",
                rate("hamlet_snapshots_created_total", "level", "{{level}}"),
                width=8,
            ),
            graph(
                "Snapshots propagated",
                "Values of snapshots that were carried on: one for each query that shares.",
                "cps",
                rate("hamlet_snapshots_propagated_total", "level", "{{level}}"),
                width=8,
            ),
            graph(
                "Graphlets",
                "Bursts that have begun and not ended.",
                "short",
                query('sum(hamlet_graphlets{hamlet_job="$job"})', "graphlets"),
                width=8,
            ),
            heading("Predicted and measured"),
            graph(
                "Predicted benefit",
                "Time that sharing was predicted to save in each second, by group and type. Below "
                "zero, splitting was better.",
                "s",
                query(f"{BY} (deriv(hamlet_predicted_benefit_seconds{{{OF}}}{RATE}))", NAME),
            ),
            graph(
                "Time of a burst, shared and split",
                "What bursts took that were timed, on the average.",
                "s",
                mean_time("shared"),
                mean_time("split"),
            ),
            graph(
                "Time of a burst, predicted and measured",
                "Of the bursts that the model was held to, before it learned from them.",
                "s",
                model_time("predicted"),
                model_time("measured"),
                width=8,
            ),
            graph(
                "How good the model is",
                "Correlation of predicted and measured time, and by what part half of the "
                "predictions are off at the most.",
                "percentunit",
                query('max(hamlet_model_correlation{hamlet_job="$job"})', "correlation"),
                query('max(hamlet_model_error_ratio{hamlet_job="$job"})', "error"),
                width=8,
            ),
            graph(
                "Planned anew",
                "How often, why, and whether another plan came of it: the stream's rates changed, "
                "or queries came and went.",
                "short",
                query(
                    "sum by (reason, migrated) "
                    f'(increase(hamlet_replans_total{{hamlet_job="$job"}}{RATE}))',
                    "{{reason}}, another plan: {{migrated}}",
                ),
                width=8,
                bars=True,
            ),
        ],
    )
