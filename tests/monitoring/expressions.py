"""All that Grafana and Prometheus are asked for, taken out of the files that say so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

GRAFANA = Path(__file__).parents[2] / "grafana"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))
RULES = GRAFANA / "prometheus" / "rules.yml"
LABEL_VALUES = re.compile(r"label_values\((?P<match>.+), (?P<label>\w+)\)")


@dataclass(frozen=True)
class PrometheusQuery:
    """`where` is for a person. `now`: the newest value alone is asked for."""

    where: str
    expr: str
    now: bool = False


def dashboard(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def panels(path: Path) -> list[dict[str, Any]]:
    """Without the headings between them."""
    return [each for each in dashboard(path)["panels"] if each["type"] != "row"]


def of_panels() -> Iterator[PrometheusQuery]:
    for path in DASHBOARDS:
        for panel in panels(path):
            for target in panel["targets"]:
                where = f"{path.stem}: {panel['title']} {target['refId']}"
                yield PrometheusQuery(where, target["expr"], target["instant"])


def of_annotations() -> Iterator[PrometheusQuery]:
    for path in DASHBOARDS:
        for each in dashboard(path)["annotations"]["list"]:
            if "target" in each:
                yield PrometheusQuery(f"{path.stem}: {each['name']}", each["target"]["expr"])


def of_variables() -> Iterator[PrometheusQuery]:
    for path in DASHBOARDS:
        for each in dashboard(path)["templating"]["list"]:
            if each["type"] == "query":
                yield PrometheusQuery(f"{path.stem}: {each['name']}", each["query"]["query"])


def rules(kind: str) -> list[dict[str, Any]]:
    """`kind`: record or alert."""
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"] if kind in rule]
