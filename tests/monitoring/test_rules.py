"""Rules are right, every alert fires when it should and not else, and has a page that helps."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from monitoring.expressions import GRAFANA, RULES, rules

TESTS = sorted(Path(__file__).with_name("alerts").glob("*.yml"))
ALERTS = rules("alert")
SECTIONS = ("## What it means", "## What to look at", "## What to do")

of_alerts = pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])


def test_promtool_likes_the_rules(promtool):
    assert "21 rules found" in promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)


def test_promtool_likes_the_configuration(promtool):
    promtool("check", "config", GRAFANA / "prometheus" / "prometheus.yml")


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_alerts(promtool, path: Path):
    assert "SUCCESS" in promtool("test", "rules", path)


@of_alerts
def test_every_alert_is_tested_both_ways(alert):
    checks = [
        bool(check["exp_alerts"])
        for path in TESTS
        for test in yaml.safe_load(path.read_text())["tests"]
        for check in test["alert_rule_test"]
        if check["alertname"] == alert["alert"]
    ]
    assert {True, False} == set(checks)


@of_alerts
def test_every_alert_has_a_page(alert, root: Path):
    assert alert["labels"]["severity"] in ("warning", "critical")
    told = alert["annotations"]
    assert told["summary"]
    assert told["description"].endswith(".")
    page = root / told["runbook_url"]
    assert page.read_text().startswith(f"# {alert['alert']}\n")
    for section in SECTIONS:
        assert section in page.read_text(), page
    assert f"runbooks/{page.name}" in (root / "mkdocs.yml").read_text()


def test_no_page_without_an_alert(root: Path):
    pages = {f"docs/runbooks/{path.name}" for path in (root / "docs" / "runbooks").glob("*.md")}
    assert pages == {alert["annotations"]["runbook_url"] for alert in ALERTS}
