"""The table of metrics in the documentation is complete."""

from __future__ import annotations

import re
from pathlib import Path

from monitoring.expressions import rules
from monitoring.families import every_family

ROW = re.compile(r"^\| `(hamlet_\w+)` \| (\w+) \| (.*?) ?\| (.+) \|$", re.MULTILINE)


def test_metrics(root: Path):
    text = (root / "docs" / "monitoring.md").read_text()
    wanted = [
        (each.name, each.kind, ", ".join(f"`{label}`" for label in each.labels), each.told)
        for each in every_family()
    ]
    assert ROW.findall(text) == wanted, "\n".join(
        "| `{}` | {} | {} | {} |".format(*w) for w in wanted
    )


def test_alerts_and_recorded_series(root: Path):
    text = (root / "docs" / "monitoring.md").read_text()
    for rule in rules("alert"):
        page = Path(rule["annotations"]["runbook_url"]).name
        assert f"[{rule['alert']}](runbooks/{page})" in text
    for rule in rules("record"):
        assert f"`{rule['record']}`" in text
