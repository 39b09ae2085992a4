"""Shows a job: in a terminal a few lines that are refreshed after each epoch, elsewhere a line for
each stage of its start."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from hamlet.cli.stderr import Notices, one_line
from hamlet.cli.value_format import format_column
from hamlet.job.epoch_report import EpochReport
from runtime.plan.decisions import KINDS
from runtime.types.columns import plain

# The number of epochs over which the rate is averaged.
RECENT = 16
# As many as fit on a screen.
MOST_QUERIES, MOST_TYPES = 16, 8


class JobScreen:
    """Shows the stages of the start, then the last epoch. Without a terminal, prints stages and
    warnings."""

    def __init__(
        self, notices: Notices, live: Live | None = None, shows_results: bool = False
    ) -> None:
        self._notices = notices
        self._shows_results = shows_results
        self._results: dict[str, tuple[str, str, str]] = {}
        self._live = live
        self._stage = ""
        self._recent: deque[tuple[float, int]] = deque(maxlen=RECENT)
        self._windows = 0
        self.began = self._opened = time.perf_counter()
        self.running = False  #: whether everything has been started
        self.first: float | None = None  #: when the first epoch was committed
        self.last: EpochReport | None = None

    def stage(self, what: str) -> None:
        self._stage = what
        if what and self._live is None:
            self._notices.stage(what, time.perf_counter() - self._opened)
        if not what:
            self.running = True
            self.began = time.perf_counter()
            self._recent.append((self.began, 0))
        self._show()

    def warn(self, what: str) -> None:
        self._notices.warn(what)

    def say(self, what: str) -> None:
        self._notices.say(what)

    def serves(self, url: str) -> None:
        self._notices.say(f"live page and metrics: {url}")

    def trouble(self, what: str) -> None:
        self._notices.warn(f"{one_line(what)}; retrying")

    def committed(self, report: EpochReport) -> None:
        self.last = report
        self._windows += sum(_count_windows(table) for table in report.results.values())
        self._recent.append((time.perf_counter(), report.counts.rows))
        if self._shows_results:
            for query, table in report.results.items():
                self._results[query] = _newest(table)
        self._show()

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(self._view(), refresh=True)

    def _view(self) -> RenderableType:
        if self._stage:
            return Spinner("dots", Text(self._stage))
        if self.last is None:
            return Spinner("dots", Text("reading"))
        parts: list[RenderableType] = [self._metrics(self.last)]
        if self._results:
            parts += [Text(), self._last_results(), Text(), _decisions(self.last)]
        return Group(*parts)

    def _last_results(self) -> Table:
        """The newest row of each query."""
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for name in ("query", "newest window", "group", "result"):
            table.add_column(name, overflow="ellipsis", no_wrap=True)
        for name, row in list(self._results.items())[:MOST_QUERIES]:
            table.add_row(name, *row)
        return table

    def _metrics(self, report: EpochReport) -> Table:
        facts = {
            "epoch": f"{report.epoch:,}",
            "events": f"{report.counts.events:,}",
            "events/s": f"{self._rate():,.0f}",
            "lag": self._lag(report),
            "windows closed": f"{self._windows:,}",
            "open": f"{report.open_windows:,}",
            "results": f"{report.counts.results.total():,}",
            "bursts shared": shared_bursts(report),
            "late": f"{report.counts.late:,}",
            "invalid": f"{report.counts.dead.total():,}",
        }
        table = Table.grid(padding=(0, 2))
        table.add_row(*[Text(name, "dim") for name in facts])
        table.add_row(*[Text(value, "bold") for value in facts.values()])
        return table

    def _rate(self) -> float:
        (then, before), (now, rows) = self._recent[0], self._recent[-1]
        return (rows - before) / (now - then) if now > then else 0.0

    def _lag(self, report: EpochReport) -> str:
        """The backlog of the source, and how far the watermark is behind if times are recent."""
        parts = []
        if report.backlog and report.backlog_in == "bytes":
            parts.append(f"{report.backlog / 1e6:,.1f} MB")
        elif report.backlog:
            parts.append(f"{report.backlog:,} {report.backlog_in}")
        if report.watermark is not None:
            behind = datetime.now(UTC).timestamp() - report.watermark / 1e6
            if 0 <= behind < 86_400:
                parts.append(f"{behind:,.1f} s")
        return ", ".join(parts) or "none"


def _count_windows(table: pa.Table) -> int:
    return len(table["window_start"].unique())


def _newest(table: pa.Table) -> tuple[str, str, str]:
    """The window, the group and the aggregates of the last row, as text."""
    last = table.slice(table.num_rows - 1).combine_chunks()
    row = {name: format_column(plain(last[name]), False)[0] for name in last.schema.names}
    start, end = row.pop("window_start"), row.pop("window_end")
    groups = [name for name in row if not pa.types.is_floating(table.schema.field(name).type)]
    group = ", ".join(row.pop(name) for name in groups)
    return f"{start} to {end}", group, ", ".join(f"{k} {v}" for k, v in row.items())


def _decisions(report: EpochReport) -> Table:
    """The decisions about bursts so far, by type."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("bursts of", "by queries", *KINDS):
        table.add_column(name, justify="left" if name in ("bursts of", "by queries") else "right")
    for group in report.decisions:
        for each in group.types:
            if len(table.rows) < MOST_TYPES:
                counts = [f"{getattr(each, kind):,}" for kind in KINDS]
                table.add_row(each.type, f"{len(group.queries)}", *counts)
    return table


def shared_bursts(report: EpochReport) -> str:
    """The share of bursts that queries shared."""
    counts = dict.fromkeys(KINDS, 0)
    for group in report.decisions:
        for each in group.types:
            for kind in KINDS:
                counts[kind] += getattr(each, kind)
    total = sum(counts.values())
    return f"{(total - counts['split']) / total:.0%}" if total else "none to share"


@contextmanager
def job_screen(notices: Notices, shows_results: bool = False) -> Iterator[JobScreen]:
    """`shows_results`: show the newest results, because they are not printed as they arrive."""
    if not notices.live:
        yield JobScreen(notices)
        return
    with Live(console=notices.console, transient=True, auto_refresh=True) as live:
        yield JobScreen(notices, live, shows_results)
