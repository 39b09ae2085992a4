"""Writes the dashboards, and the table of metrics in docs/monitoring.md: `python -m grafana`."""

from __future__ import annotations

import json
from pathlib import Path

from grafana.metric_table import PAGE, page_with_table
from grafana.overview import overview
from grafana.queries import queries
from grafana.runtime import runtime
from grafana.sharing import sharing

FOLDER = Path(__file__).with_name("dashboards")


def written() -> dict[str, str]:
    """The text of each file, by name."""
    made = {
        "overview.json": overview(),
        "sharing.json": sharing(),
        "queries.json": queries(),
        "runtime.json": runtime(),
    }
    return {name: json.dumps(each, indent=2) + "\n" for name, each in made.items()}


if __name__ == "__main__":
    for name, text in written().items():
        (FOLDER / name).write_text(text)
    PAGE.write_text(page_with_table(PAGE.read_text("utf-8")), "utf-8")
