"""Every expression of every panel, variable, annotation and rule gives data from a real run."""

from __future__ import annotations

import math

import pytest

from monitoring.expressions import (
    LABEL_VALUES,
    PrometheusQuery,
    of_annotations,
    of_panels,
    of_variables,
    rules,
)


def named(several):
    return pytest.mark.parametrize("asked", list(several), ids=lambda each: each.where)


@named(of_panels())
def test_panels(watched, asked: PrometheusQuery):
    expr = watched.substituted(asked.expr)
    if not asked.now:
        over = watched.prometheus.over(expr, watched.start, watched.end)
        assert_data([v for each in over for _, v in each["values"]], expr)
    now = watched.prometheus.now(expr, watched.end)
    assert_data([each["value"][1] for each in now], expr)


@named(of_annotations())
def test_annotations(watched, asked: PrometheusQuery):
    """There were restarts, and the workload was re-planned; not at every moment."""
    expr = watched.substituted(asked.expr)
    over = watched.prometheus.over(expr, watched.start, watched.end)
    assert_data([v for each in over for _, v in each["values"]], expr)


@named(of_variables())
def test_variables(watched, asked: PrometheusQuery):
    found = LABEL_VALUES.fullmatch(watched.substituted(asked.expr))
    assert found is not None
    assert watched.prometheus.values_of(found["label"], found["match"])


@pytest.mark.parametrize("rule", rules("record"), ids=lambda rule: rule["record"])
def test_recorded(watched, rule):
    of = f'{{hamlet_job="{watched.job.name}"}}'
    now = watched.prometheus.now(rule["record"] + of, watched.end)
    assert_data([each["value"][1] for each in now], rule["record"])


def test_no_rule_fails(watched):
    found = watched.prometheus.rules()
    assert len(found) == len(rules("record")) + len(rules("alert"))
    assert [each for each in found if each["health"] != "ok"] == []


def test_a_share_group_can_be_chosen(watched):
    """Names have a plus in them, which Grafana puts a backslash before."""
    asked = next(each for each in of_panels() if each.where == "sharing: Decisions A")
    for name in watched.prometheus.values_of("share_group", "hamlet_bursts_total"):
        if name != "(former)":
            escaped = name.replace("+", "\\\\+")
            expr = watched.substituted(asked.expr.replace("$group", escaped))
            assert watched.prometheus.over(expr, watched.start, watched.end), name


def assert_data(values: list[str], expr: str) -> None:
    assert values, f"no data: {expr}"
    wrong = [each for each in values if not math.isfinite(float(each))]
    assert not wrong, f"{len(wrong)} of {len(values)} values are {wrong[0]}: {expr}"
