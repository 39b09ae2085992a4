"""Dashboards are what their source says, and a person can read them."""

from __future__ import annotations

import re

import pytest
import yaml

from grafana.__main__ import written
from monitoring.expressions import (
    DASHBOARDS,
    GRAFANA,
    dashboard,
    of_annotations,
    of_panels,
    of_variables,
    panels,
    rules,
)
from runtime.metrics.declarations import METRICS

UIDS = {"hamlet-overview", "hamlet-sharing", "hamlet-queries", "hamlet-runtime"}
#: What a histogram adds to its name.
ENDINGS = ("_bucket", "_sum", "_count")
BUILT_IN = {"datasource", "__rate_interval", "__range", "__all"}

each = pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)


def test_the_files_are_those_of_the_source():
    """`make dashboards` writes them."""
    assert written() == {path.name: path.read_text() for path in DASHBOARDS}


def test_uids_stay():
    """Links to them must not break."""
    assert {dashboard(path)["uid"] for path in DASHBOARDS} == UIDS


@each
def test_every_panel_says_what_it_shows(path):
    for panel in panels(path):
        told, unit = panel["description"], panel["fieldConfig"]["defaults"]["unit"]
        assert len(told.split()) > 1, panel["title"]
        assert told.endswith("."), panel["title"]
        assert unit, panel["title"]
        assert panel["targets"], panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
    assert len({panel["id"] for panel in panels(path)}) == len(panels(path))


@each
def test_panels_do_not_overlap(path):
    taken: set[tuple[int, int]] = set()
    for panel in dashboard(path)["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells


@each
def test_every_panel_is_about_the_chosen_job(path):
    text = path.read_text()
    known = {variable["name"] for variable in dashboard(path)["templating"]["list"]}
    assert {"datasource", "job"} <= known
    assert set(re.findall(r"\$\{?(\w+)", text)) <= known | BUILT_IN
    for panel in panels(path):
        for target in panel["targets"]:
            named = target["expr"].count("hamlet_job=")
            assert named == len(re.findall(r"hamlet_\w+\{", target["expr"])) > 0, target["expr"]


@each
def test_replans_and_restarts_are_marked(path):
    names = [each["name"] for each in dashboard(path)["annotations"]["list"]]
    assert names[1:] == ["Re-plans", "Restarts"]


def test_only_metrics_that_there_are():
    """Also where nothing is running that could be scraped."""
    known = {metric.name for metric in METRICS}
    asked = [*of_panels(), *of_annotations(), *of_variables()]
    exprs = [each.expr for each in asked] + [
        rule["expr"] for kind in ("record", "alert") for rule in rules(kind)
    ]
    recorded = {name for rule in rules("record") for name in rule["record"].split(":")}
    labels = {"hamlet_job"}
    for expr in exprs:
        for name in re.findall(r"hamlet_\w+", expr):
            plain = next((name.removesuffix(e) for e in ENDINGS if name.endswith(e)), name)
            assert {name, plain} & (known | recorded | labels), (name, expr)


def test_every_metric_is_shown_somewhere():
    """But for those that only others are made of, and one that many streams do not have."""
    text = "".join(path.read_text() for path in DASHBOARDS)
    beside = {"hamlet_newest_event_timestamp_seconds", "hamlet_watermark_timestamp_seconds"}
    beside |= {"hamlet_epoch", "hamlet_share_group_queries", "hamlet_model_kinds_correlation"}
    hidden = {metric.name for metric in METRICS if metric.name not in text}
    assert hidden <= beside


def test_provisioning():
    """What Grafana reads when it starts."""
    folder = GRAFANA / "provisioning"
    (source,) = yaml.safe_load((folder / "datasources" / "prometheus.yml").read_text())[
        "datasources"
    ]
    scraped = yaml.safe_load((GRAFANA / "prometheus" / "prometheus.yml").read_text())
    assert source["type"] == "prometheus"
    assert source["jsonData"]["timeInterval"] == scraped["global"]["scrape_interval"]
    (provider,) = yaml.safe_load((folder / "dashboards" / "hamlet.yml").read_text())["providers"]
    assert provider["options"]["path"] == "$HAMLET_DASHBOARDS"
