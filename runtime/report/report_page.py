"""Builds the report of a run: one self-contained HTML file."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape

from runtime.metrics.web.live_page import policy, read
from runtime.report import sections
from runtime.report.log_reader import History
from runtime.report.series import thinned


def report(history: History) -> str:
    times = thinned(history.lines)
    found = {
        "Summary": sections.summary(history),
        "Events": sections.events(times),
        "Decisions": sections.decisions(history, times),
        "Cost model": sections.model(history, times),
        "Queries": sections.queries(history),
        "Latency": sections.latency(history, times),
        "Epochs": sections.stages(history, times),
        "Late and invalid rows": sections.rows(history, times),
        "Decision log": sections.log(history),
    }
    return _page(history, found)


def _page(history: History, found: dict[str, str]) -> str:
    last, style = history.last, read("style.css")
    job = escape(str(last["job"]))
    links = "".join(f'<li><a href="#{_id(name)}">{escape(name)}</a></li>' for name in found)
    notes = "".join(f'<p class="warning">Note: {escape(note)}.</p>' for note in history.notes)
    body = "".join(
        f'<section id="{_id(name)}"><h2>{escape(name)}</h2>\n{text}</section>\n'
        for name, text in found.items()
    )
    when = datetime.fromtimestamp(history.lines[0]["began"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, "", asks=False)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{job} · Hamlet</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header><h1>{job}</h1><span class="quiet">a run of Hamlet, engine {escape(str(last["engine"]))},
started {when}</span></header>
<main>
<nav aria-label="Sections"><ul>{links}</ul></nav>
{notes}{body}</main>
<footer><p>Built from {len(history.lines):,} lines of {escape(history.path.name)}.</p></footer>
</body>
</html>
"""


def _id(name: str) -> str:
    return name.lower().replace(" ", "-")
