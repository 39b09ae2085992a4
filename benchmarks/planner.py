"""Planning: how long SHARON and GLORIA take, and how far their plans are from the optimum.

Queries have length 10. For SHARON they are cut from shared routes over 60 types. For GLORIA they
are drawn in one order from 40 types, one in seven with a nested Kleene part. `growth` is the
exponent of the largest step: 1 is linear, 2 quadratic. `whole` runs from parsed queries (those of
SHARON) to a plan with its estimated cost, as for `hamlet run --planner`. The others are the papers'
algorithms alone. The gaps are to an exhaustive search over small workloads, in percent:
`principles` uses the paper's rules alone, `subsets` also merges subsets of sets.

HAMLET_BENCH_WORKLOADS (200) sets the number of small workloads.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import _run
from benchmarks._environment import whole
from runtime.language.parser import parse
from runtime.plan.planner import plan
from runtime.plan.planners import gloria, sharon

WORKLOADS = whole("WORKLOADS", 200)
SIZES = (200, 500, 1_000, 2_000)
LENGTH, TYPES, ROUTES, ROUTE = 10, 60, 8, 50


TARGETS = {
    f"{name}_{what}": limit
    for name in ("sharon", "gloria", "whole_sharon", "whole_gloria")
    for what, limit in (
        ("seconds_200_queries", 1.0),
        ("seconds_2000_queries", 10.0),
        ("growth", 2.0),
    )
}


def run(progress: Callable[[str], None]) -> dict[str, Any]:
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    return {
        **_times("sharon", _sharon, progress),
        **_times("gloria", _gloria, progress),
        **_times("whole_sharon", partial(_whole, "sharon"), progress),
        **_times("whole_gloria", partial(_whole, "gloria"), progress),
        **_gaps(progress),
    }


def _times(
    name: str, seconds: Callable[[int], float], progress: Callable[[str], None]
) -> dict[str, float]:
    found = {}
    for size in SIZES:
        progress(f"planning {size:,} queries with {name}")
        found[size] = seconds(size)
    steps = [math.log(found[b] / found[a]) / math.log(b / a) for a, b in pairwise(SIZES)]
    times = {f"{name}_seconds_{size}_queries": taken for size, taken in found.items()}
    return {**times, f"{name}_growth": max(steps)}


def _sharon(size: int) -> float:
    queries = routes(size)
    return _run.clock(lambda: sharon.plan(queries))


def _gloria(size: int) -> float:
    from plan.gloria.workloads import large

    queries, rates = large(size, seed=1, kleene=7)
    return _run.clock(lambda: gloria.plan(queries, rates))


def _whole(planner: str, size: int) -> float:
    queries = parse(
        "\n".join(
            f"QUERY {name} RETURN COUNT(*) PATTERN SEQ({', '.join(types)}) WITHIN 1 minute"
            for name, types in routes(size).items()
        )
    )
    return _run.clock(lambda: plan(queries, planner))


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "measure": name,
            "value": value,
            "target": f"at most {TARGETS[name]:g}" if name in TARGETS else "",
            "met": ("yes" if value <= TARGETS[name] else "no") if name in TARGETS else "",
        }
        for name, value in result.items()
    ]


def routes(
    size: int,
    seed: int = 1,
    *,
    length: int = LENGTH,
    types: int = TYPES,
    among: int = ROUTES,
    route: int = ROUTE,
) -> dict[str, Sequence[str]]:
    """Stretches of a few long routes through the same streets."""
    random = Random(seed)
    streets = [f"S{n}" for n in range(types)]
    drawn = [random.sample(streets, route) for _ in range(among)]
    found: dict[str, Sequence[str]] = {}
    for n in range(size):
        start = random.randrange(route - length + 1)
        found[f"q{n}"] = random.choice(drawn)[start : start + length]
    return found


def _gaps(progress: Callable[[str], None]) -> dict[str, float]:
    from plan.gloria.gaps import measure

    found = {}
    for kleene, where in ((False, "sequences"), (True, "kleene")):
        progress(f"all plans of {WORKLOADS} small workloads ({where})")
        for way, gaps in measure(range(WORKLOADS), kleene).items():
            name = f"gap_{where}_{'subsets' if 'subsets' in way else 'principles'}"
            found[f"{name}_mean_percent"] = 100 * gaps.mean
            found[f"{name}_largest_percent"] = 100 * gaps.worst
    return found
