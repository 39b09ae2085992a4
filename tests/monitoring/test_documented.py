"""The documentation lists every metric, recorded series and alert."""

from __future__ import annotations

import re
from pathlib import Path

from grafana.metric_table import PAGE, page_with_table
from monitoring.expressions import rules
from runtime.metrics.declarations import METRICS


def test_metrics():
    """`make dashboards` writes the table."""
    text = PAGE.read_text()
    assert text == page_with_table(text)


def test_labels():
    """Those of the build explain themselves."""
    labels = {label for metric in METRICS for label in metric.labels}
    explained = set(re.findall(r"^\| `(\w+)` \| ", PAGE.read_text(), re.MULTILINE))
    names = {metric.name for metric in METRICS}
    assert explained - names == labels - {"version", "python", "engine"}


def test_alerts_and_recorded_series(root: Path):
    text = (root / "docs" / "monitoring.md").read_text()
    for rule in rules("alert"):
        page = Path(rule["annotations"]["runbook_url"]).name
        assert f"[{rule['alert']}](runbooks/{page})" in text
    for rule in rules("record"):
        assert f"`{rule['record']}`" in text
