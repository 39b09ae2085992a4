"""Sharing: whole workloads in one run, against every query in a separate run.

The workloads are those of SHARON and GLORIA (see `_workloads.py`), each over the same events with
every plan. A plan whose results differ from those of the first one is an error. `none`, `greedy`,
`sharon` and `gloria` are plans of these planners, from the rates of the stream; `none` puts each
query in a separate run. `one_group` puts all queries in one group by hand, and `never` is the same
with `--sharing never`. Figures are nanoseconds per event, and the speedup over `none`.

HAMLET_BENCH_EVENTS (2 million) sets the size, HAMLET_BENCH_REPEATS (3) the number of repeats,
HAMLET_BENCH_KERNELS (general) the kernels. With `exact` kernels, each of the 120 separate queries
has its own kernel to compile, which takes long.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from benchmarks import _run
from benchmarks import _workloads as workloads
from benchmarks._environment import whole
from benchmarks._workloads import Workload
from runtime.language.parser import parse
from runtime.pipeline.engine import Results
from runtime.plan.planner import plan
from runtime.plan.sharing_plan import SharingPlan
from runtime.plan.statistics import Statistics

EVENTS = whole("EVENTS", 2_000_000)
REPEATS = whole("REPEATS", 3)
KERNELS = os.environ.get("HAMLET_BENCH_KERNELS", "general")
NONE = "none"

Rows: TypeAlias = dict[tuple[object, ...], dict[str, Any]]

MADE: dict[str, Callable[[], Workload]] = {
    "sharon": lambda: workloads.sharon(events=EVENTS),
    "sharon_tumbling": lambda: workloads.sharon(events=EVENTS, sliding=False),
    "mixed": lambda: workloads.mixed(events=EVENTS),
}
PLANNERS = ("greedy", "sharon", "gloria")
TARGETS = {
    "sharon_none_over_sharon": 10.0,
    "mixed_none_over_gloria": 5.0,
    "mixed_greedy_over_gloria": 2.0,
}


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    result: dict[str, Any] = {"events": EVENTS}
    for name, made in MADE.items():
        progress(f"the workload {name}")
        workload = made()
        options: dict[str, dict[str, Any]] = {
            each: {"plan": found} for each, found in plans(workload).items()
        }
        options["never"] = {"plan": options["one_group"]["plan"], "sharing": "never"}
        times = compared(workload, options)
        result |= {f"{name}_{each}_ns_per_event": ns for each, ns in times.items()}
        result |= {
            f"{name}_none_over_{each}": times[NONE] / ns
            for each, ns in times.items()
            if each != NONE
        }
        result[f"{name}_greedy_over_gloria"] = times["greedy"] / times["gloria"]
    return result


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [_row(name, value) for name, value in result.items()]


def _row(measure: str, value: float) -> dict[str, Any]:
    least = TARGETS.get(measure)
    row = {"measure": measure, "value": value}
    if least is None:
        return row | {"target": "", "met": ""}
    return row | {"target": f"at least {least:,g}", "met": "yes" if value >= least else "no"}


def plans(workload: Workload) -> dict[str, SharingPlan]:
    queries = parse(workload.text)
    names = tuple(query.name for query in queries)
    rates = Statistics(workload.rates)
    return {
        NONE: plan(queries, NONE, rates).plan,
        **{name: plan(queries, name, rates).plan for name in PLANNERS},
        "one_group": SharingPlan(groups=(names,)),
    }


def compared(workload: Workload, options: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Nanoseconds for an event, by the options of an engine, a plan above all. They take turns; the
    results of all are compared before."""
    text, events, _ = workload
    wanted: Rows | None = None
    works: dict[str, Callable[[], float]] = {}
    for name, given in options.items():
        _run.warm(text, events, kernels=KERNELS, **given)
        _, _, results = _run.run(text, events, kernels=KERNELS, **given)
        found = rows(results)
        wanted = found if wanted is None else wanted
        if not same(found, wanted):
            raise RuntimeError(f"the results of `{name}` are not those of the first plan")
        works[name] = partial(_run.seconds, text, events, kernels=KERNELS, **given)
    best = _run.best(works, REPEATS)
    return {name: seconds / events.num_rows * 1e9 for name, seconds in best.items()}


# ---- results -------------------------------------------------------------------------------


def rows(results: list[Results]) -> Rows:
    """By query and window."""
    return {
        (name, row["window_start"]): row
        for each in results
        for name, found in each.items()
        for row in found.to_pylist()
    }


def same(found: Rows, wanted: Rows) -> bool:
    return found.keys() == wanted.keys() and all(
        _alike(value, wanted[key][name])
        for key, row in found.items()
        for name, value in row.items()
    )


def _alike(value: Any, wanted: Any) -> bool:
    """To the last digit, but for doubles that are not whole, or are beyond 2^53."""
    if value == wanted or not (isinstance(value, float) and isinstance(wanted, float)):
        return bool(value == wanted)
    exact = wanted.is_integer() and abs(wanted) < 2**53
    return not exact and math.isclose(value, wanted, rel_tol=1e-9)
