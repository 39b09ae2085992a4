"""Builds dashboards from panels, each with queries and a description.

Each function returns a piece of the JSON that Grafana reads. Panels flow from left to right over 24
columns, in the order in which they are listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

#: Of Grafana 13.2; newer versions convert it.
SCHEMA_VERSION = 42
COLUMNS = 24
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
OF_GRAFANA = {"type": "grafana", "uid": "-- Grafana --"}


def query(expr: str, legend: str = "", *, now: bool = False, table: bool = False) -> Json:
    """`now`: the newest value only, not its history."""
    return {
        "datasource": SOURCE,
        "editorMode": "code",
        "expr": " ".join(expr.split()),
        "format": "table" if table else "time_series",
        "instant": now,
        "legendFormat": legend,
        "range": not now,
        "refId": "",
    }


def many(expr: str, legend: str) -> Json:
    """The buckets of a histogram."""
    return query(expr, legend) | {"format": "heatmap"}


# ---- panels --------------------------------------------------------------------------------


def graph(
    title: str,
    told: str,
    unit: str,
    *queries: Json,
    width: int = 12,
    stacked: bool = False,
    bars: bool = False,
    most: float | None = None,
) -> Json:
    custom = {
        "drawStyle": "bars" if bars else "line",
        "fillOpacity": 60 if bars else 25 if stacked else 8,
        "lineWidth": 1,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"group": "A", "mode": "normal" if stacked else "none"},
    }
    options = {
        "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    bounds = {} if most is None else {"min": 0, "max": most}
    return _panel("timeseries", title, told, unit, queries, width, 8, options, custom, bounds)


def number(title: str, told: str, unit: str, *queries: Json, width: int = 4) -> Json:
    options = {
        "colorMode": "value",
        "graphMode": "area",
        "justifyMode": "auto",
        "orientation": "auto",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "textMode": "auto",
        "wideLayout": True,
    }
    return _panel("stat", title, told, unit, queries, width, 4, options)


def timeline(title: str, told: str, unit: str, *queries: Json, width: int = 24) -> Json:
    """A row of coloured cells for each series: red is 0, green is 1."""
    custom = {"fillOpacity": 80, "lineWidth": 0}
    options = {
        "colWidth": 1,
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False},
        "rowHeight": 0.9,
        "showValue": "never",
        "tooltip": {"mode": "single", "sort": "none"},
    }
    bounds = {"min": 0, "max": 1, "color": {"mode": "continuous-RdYlGr"}}
    return _panel("status-history", title, told, unit, queries, width, 8, options, custom, bounds)


def spread(title: str, told: str, unit: str, *queries: Json, width: int = 12) -> Json:
    """A heatmap of a histogram over time."""
    options = {
        "calculate": False,
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Spectral", "steps": 64, "reverse": True},
        "legend": {"show": True},
        "rowsFrame": {"layout": "auto"},
        "tooltip": {"mode": "single", "yHistogram": True},
        "yAxis": {"axisPlacement": "left", "unit": unit},
    }
    return _panel("heatmap", title, told, unit, queries, width, 8, options)


def table(
    title: str,
    told: str,
    unit: str,
    *queries: Json,
    columns: dict[str, str],
    units: dict[str, str] | None = None,
    width: int = 24,
) -> Json:
    """`columns` maps a label or `Value #A` to its heading; all others are hidden. `units` has the
    columns whose unit differs, by heading."""
    options = {"cellHeight": "sm", "showHeader": True}
    found = _panel("table", title, told, unit, queries, width, 8, options)
    one = len(queries) == 1  # then Grafana calls the column `Value`
    renamed = {
        ("Value" if one and name == "Value #A" else name): to for name, to in columns.items()
    }
    found["transformations"] = [
        {"id": "merge", "options": {}},
        {"id": "filterFieldsByName", "options": {"include": {"names": list(renamed)}}},
        {
            "id": "organize",
            "options": {
                "indexByName": {name: place for place, name in enumerate(renamed)},
                "renameByName": renamed,
            },
        },
    ]
    found["fieldConfig"]["overrides"] = [
        {
            "matcher": {"id": "byName", "options": heading},
            "properties": [{"id": "unit", "value": other}],
        }
        for heading, other in (units or {}).items()
    ]
    return found


def heading(title: str) -> Json:
    """A heading above the panels that follow."""
    return {"type": "row", "title": title, "collapsed": False, "panels": [], "_size": (COLUMNS, 1)}


def _panel(
    kind: str,
    title: str,
    told: str,
    unit: str,
    queries: Iterable[Json],
    width: int,
    height: int,
    options: Json,
    custom: Json | None = None,
    more: Json | None = None,
) -> Json:
    defaults = {"unit": unit, "custom": custom or {}, **(more or {})}
    return {
        "type": kind,
        "title": title,
        "description": told,
        "datasource": SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
        "targets": [each | {"refId": chr(ord("A") + n)} for n, each in enumerate(queries)],
        "_size": (width, height),
    }


# ---- dashboards ----------------------------------------------------------------------------


def dashboard(uid: str, title: str, told: str, variables: list[Json], panels: list[Json]) -> Json:
    return {
        "annotations": {"list": [_BUILT_IN, *_ANNOTATIONS]},
        "description": told,
        "editable": True,
        "fiscalYearStartMonth": 0,
        "graphTooltip": 1,
        "id": None,
        "links": [_OTHERS],
        "panels": _placed(panels),
        "refresh": "10s",
        "schemaVersion": SCHEMA_VERSION,
        "tags": ["hamlet"],
        "templating": {"list": variables},
        "time": {"from": "now-30m", "to": "now"},
        "timepicker": {},
        "timezone": "browser",
        "title": title,
        "uid": uid,
        "version": 1,
    }


def _placed(panels: list[Json]) -> list[Json]:
    x = y = tallest = 0
    found = []
    for number_, panel in enumerate(panels, 1):
        width, height = panel["_size"]
        if x + width > COLUMNS:
            x, y, tallest = 0, y + tallest, 0
        place = {"h": height, "w": width, "x": x, "y": y}
        rest = {name: value for name, value in panel.items() if name != "_size"}
        found.append({"id": number_, "gridPos": place, **rest})
        x, tallest = x + width, max(tallest, height)
    return found


DATA_SOURCE: Json = {
    "hide": 0,
    "includeAll": False,
    "label": "Data source",
    "multi": False,
    "name": "datasource",
    "options": [],
    "query": "prometheus",
    "refresh": 1,
    "type": "datasource",
}


def variable(name: str, label: str, told: str, query: str, *, several: bool = True) -> Json:
    """A menu of the values of a label."""
    everything = {"allValue": ".*", "current": {"text": ["All"], "value": ["$__all"]}}
    return {
        "datasource": SOURCE,
        "description": told,
        "hide": 0,
        "includeAll": several,
        "label": label,
        "multi": several,
        "name": name,
        "options": [],
        "query": {"query": query, "refId": "Variable"},
        "refresh": 2,
        "sort": 1,
        "type": "query",
        **(everything if several else {}),
    }


#: Every panel shows one job.
JOB = variable(
    "job", "Job", "The name of a job", "label_values(hamlet_build_info, hamlet_job)", several=False
)
GROUP = variable(
    "group",
    "Share group",
    "Queries that share; a group is named after its first query and the number of others",
    'label_values(hamlet_share_group_queries{hamlet_job="$job"}, share_group)',
)
QUERY = variable(
    "query",
    "Query",
    "Queries of the workload",
    'label_values(hamlet_results_total{hamlet_job="$job"}, query)',
)

_BUILT_IN = {
    "builtIn": 1,
    "datasource": OF_GRAFANA,
    "enable": True,
    "hide": True,
    "iconColor": "rgba(0, 211, 255, 1)",
    "name": "Annotations & Alerts",
    "type": "dashboard",
}


def _annotation(name: str, colour: str, expr: str, title: str, text: str) -> Json:
    return {
        "datasource": SOURCE,
        "enable": True,
        "hide": False,
        "iconColor": colour,
        "name": name,
        "target": {"expr": expr, "interval": "", "refId": "Anno"},
        "textFormat": text,
        "titleFormat": title,
    }


_ANNOTATIONS = [
    _annotation(
        "Re-plans",
        "purple",
        'sum by (reason, migrated) (increase(hamlet_replans_total{hamlet_job="$job"}[1m])) > 0',
        "Re-planned: {{reason}}",
        "The plan changed: {{migrated}}",
    ),
    _annotation(
        "Restarts",
        "red",
        'sum by (part) (increase(hamlet_restarts_total{hamlet_job="$job"}[1m])) > 0',
        "Restarted: {{part}}",
        "It failed, and its work is repeated",
    ),
]

_OTHERS = {
    "asDropdown": False,
    "icon": "external link",
    "includeVars": True,
    "keepTime": True,
    "tags": ["hamlet"],
    "targetBlank": False,
    "title": "Hamlet",
    "tooltip": "",
    "type": "dashboards",
    "url": "",
}
