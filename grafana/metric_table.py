"""Writes the table of metrics into docs/monitoring.md, from their declarations."""

from __future__ import annotations

from pathlib import Path

from runtime.metrics.declarations import METRICS
from runtime.metrics.metric import MetricDeclaration

PAGE = Path(__file__).parents[1] / "docs" / "monitoring.md"
BEGIN, END = "<!-- metrics -->\n", "<!-- end of metrics -->\n"


def page_with_table(text: str) -> str:
    """The page with its table replaced."""
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    head = ["| metric | type | labels | unit | meaning |", "|---|---|---|---|---|"]
    table = "\n".join([*head, *map(_row, METRICS)])
    return f"{before}{BEGIN}\n{table}\n\n{END}{after}"


def _row(metric: MetricDeclaration) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    cells = (f"`{metric.name}`", metric.kind, labels, metric.unit, metric.help)
    return "| " + " | ".join(cells) + " |"
