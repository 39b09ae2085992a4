"""The ratios that `hamlet bench check` guards: the time of one task over that of another.

To add one, name its tasks in `WORKS` and the two of them in `RATIOS`. A system of
`benchmarks/baselines` is a task by its name: `"cogra": _system("cogra", _stream_of_one_query)`. A
larger ratio is always worse, so put the task that should be fast first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from benchmarks import _run
from benchmarks import _streams as streams
from benchmarks._environment import whole
from benchmarks._scaling.measure import Work
from benchmarks._scaling.parts import Pieces
from benchmarks._streams import Stream
from benchmarks.baselines.system import Prepared
from runtime.language.parser import parse

EVENTS = whole("EVENTS", 1_000_000)
PLANNED = 400  #: queries


class Ratio(NamedTuple):
    name: str
    of: str
    to: str


# ---- streams -------------------------------------------------------------------------------


@cache
def _one() -> Stream:
    return streams.trends(EVENTS)


@cache
def _moving() -> Stream:
    """The same, where partial trends move."""
    workload, table = _one()
    moving = workload.replace("GROUP-BY", "SEMANTICS skip-till-next-match GROUP-BY")
    return Stream(moving, table)


@cache
def _fifty() -> Stream:
    return streams.sharing(50, EVENTS)


@cache
def _windows(windows: int) -> Stream:
    return streams.overlapping(windows, EVENTS)


@cache
def _adjacent(parts: int) -> Stream:
    """Of a million events, windows of 10^4 (100 parts) and of 10^5 (10)."""
    return streams.adjacent(max(1, EVENTS // parts), max(1, EVENTS // 5))


# ---- works ---------------------------------------------------------------------------------


def _engine(stream: Callable[[], Stream], **options: Any) -> Work:
    """Events are prepared before the clock starts; the engine is new each time."""

    def ready() -> Callable[[], Any]:
        workload, table = stream()
        engine = _run.engine(workload, kernels="general", **options)
        engine.bind(table.schema)
        batches = [engine.prepare(each) for each in table.to_batches(_run.BATCH_ROWS)]

        def work() -> None:
            for batch in batches:
                engine.execute(batch)
            engine.finish()

        return work

    return ready


def _group_by(stream: Callable[[], Stream]) -> Work:
    return lambda: lambda: _run.group_by(stream().table)


def _system(name: str, stream: Callable[[], Stream]) -> Work:
    """A system of `benchmarks/baselines`."""

    @cache
    def prepared() -> Prepared:
        from benchmarks.baselines.registry import system

        workload, table = stream()
        return system(name).prepare(parse(workload), table)

    def ready() -> Callable[[], Any]:
        prepared().ready()
        return prepared().run

    return ready


@cache
def _pieces() -> Pieces:
    return Pieces(_fifty())


def _router() -> Callable[[], Any]:
    return _pieces().routed


def _aggregator() -> Callable[[], Any]:
    return _pieces().aggregator("dynamic")


def _planner(name: str) -> Work:
    def ready() -> Callable[[], Any]:
        from benchmarks.planner import routes
        from runtime.plan.planner import plan

        text = "\n".join(
            f"QUERY {each} RETURN COUNT(*) PATTERN SEQ({', '.join(types)}) WITHIN 1 minute"
            for each, types in routes(PLANNED).items()
        )
        parsed = parse(text)
        return lambda: plan(parsed, name)

    return ready


WORKS: Mapping[str, Work] = {
    "group by, one query": _group_by(_one),
    "one query": _engine(_one),
    "group by, 50 queries": _group_by(_fifty),
    "50 queries": _engine(_fifty),
    "50 queries, never": _engine(_fifty, sharing="never"),
    "60 windows": _engine(lambda: _windows(60)),
    "1 window": _engine(lambda: _windows(1)),
    "adjacent 1e5": _engine(lambda: _adjacent(10)),
    "adjacent 1e4": _engine(lambda: _adjacent(100)),
    "cogra, one query": _system("cogra", _one),
    "one moving query": _engine(_moving),
    "cogra, one moving query": _system("cogra", _moving),
    "cogra, 50 queries": _system("cogra", _fifty),
    "router": _router,
    "aggregator": _aggregator,
    "sharon's plan": _planner("sharon"),
    "gloria's plan": _planner("gloria"),
    "greedy": _system("greedy", _fifty),
    "hamlet": _system("hamlet", _fifty),
}
RATIOS = (
    Ratio("one_query_over_group_by", "one query", "group by, one query"),
    Ratio("queries_50_over_group_by", "50 queries", "group by, 50 queries"),
    Ratio("queries_50_dynamic_over_never", "50 queries", "50 queries, never"),
    Ratio("windows_60_over_1", "60 windows", "1 window"),
    Ratio("adjacent_1e5_over_1e4", "adjacent 1e5", "adjacent 1e4"),
    Ratio("one_query_over_cogra", "one query", "cogra, one query"),
    Ratio("one_moving_query_over_cogra", "one moving query", "cogra, one moving query"),
    Ratio("queries_50_over_cogra", "50 queries", "cogra, 50 queries"),
    Ratio("router_over_group_by", "router", "group by, 50 queries"),
    Ratio("aggregator_over_engine", "aggregator", "50 queries"),
    Ratio("plan_sharon_400_over_group_by", "sharon's plan", "group by, 50 queries"),
    Ratio("plan_gloria_400_over_group_by", "gloria's plan", "group by, 50 queries"),
    Ratio("hamlet_over_greedy", "hamlet", "greedy"),
)
