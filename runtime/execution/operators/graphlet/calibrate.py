"""Measures what the parts of our operators cost on this machine: the cost model's coefficients.

A few milliseconds, once for each machine: the outcome is kept beside the kernels. Each part is
timed many times over and the shortest time counts, so that it does not matter what else the
machine does.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from runtime.execution.context import ExecutionOptions
from runtime.execution.kernel_template import cache_folder
from runtime.execution.operators.graphlet.kernel import record as k
from runtime.execution.operators.graphlet.kernel import timing as m
from runtime.execution.operators.graphlet.operator import GraphletOperator
from runtime.execution.source_digest import source_digest
from runtime.execution.type_dictionary import TypeDictionary
from runtime.language.parser import parse
from runtime.language.query import Query
from runtime.plan.policy import Policy

QUERIES, STATES, WINDOWS = 16, 2, 16
ROUNDS, REPEATS = 64, 40
LEAST, MOST = 0.01, 1_000.0  # nanoseconds that a coefficient may come to
# To look at a condition is one comparison; what else is measured with it is of the class itself.
MOST_WALK = 0.5


@cache
def calibrated() -> Policy:
    """The policy for this machine: kept from an earlier start, or measured now."""
    path = cache_folder() / "policy.json"
    try:
        kept = json.loads(path.read_text("utf-8"))
        if kept.pop("machine") == _machine() and kept.keys() == asdict(Policy()).keys():
            return Policy(**kept)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        pass  # none was kept, or by a version that knew other coefficients
    policy = measured()
    _keep(path, policy)
    return policy


def measured() -> Policy:
    times = _times()
    # Of one event, half of the conditions pick it and half do not: two classes.
    one = times[m.M_CLASSIFY_ONE]
    scan = (times[m.M_GATHER] - times[m.M_GATHER_ONE]) / (k.BURST - 1)
    pick = (times[m.M_CLASSIFY] - one) / ((k.BURST - 1) * QUERIES)
    beside = (times[m.M_APPLY_ALL] - times[m.M_APPLY]) / ((QUERIES - 1) * WINDOWS)
    # Each condition is a class of its own, whose operator finds nothing to extend.
    walked = times[m.M_CLASSES] - QUERIES * (times[m.M_GATHER] + times[m.M_APPLY_IDLE])
    found: dict[str, float] = {
        "scan": scan,
        "operator": times[m.M_GATHER_ONE] - scan,
        "pick": pick,
        "compare": (one / QUERIES - pick) / 2,
        "walk": min(walked / QUERIES**2, MOST_WALK),
        "apply": times[m.M_APPLY] / WINDOWS - max(beside, 0.0),
        "beside": beside,
        "cross": times[m.M_CROSS] / (QUERIES * STATES * (STATES + 1) / 2),
        "decide": times[m.M_DECIDE],
    }
    within = {name: float(min(max(value, LEAST), MOST)) for name, value in found.items()}
    return Policy(version=0, **within)


def _times() -> npt.NDArray[np.float64]:
    """The shortest time of one call of each part."""
    queries = _queries()
    options = ExecutionOptions(kernels="general")
    since = (k.UNBORN,) * len(queries)
    run = GraphletOperator(queries, since, TypeDictionary(), options, Policy())
    # What conditions picked of the events that wait: each another half of them.
    picked = np.random.default_rng(1).integers(0, 2**QUERIES, k.BURST)
    found = np.empty((REPEATS, m.M_SIZE), np.int64)
    for row in found:
        run.measure("A", "B", picked, QUERIES, ROUNDS, row)
    best: npt.NDArray[np.float64] = found.min(axis=0) / ROUNDS
    return best


def _queries() -> tuple[Query, ...]:
    return tuple(
        parse(
            "".join(
                f"QUERY q{n} RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) WHERE B.x < {n} "
                f"WITHIN {WINDOWS} s SLIDE 1 s\n"
                for n in range(QUERIES)
            )
        )
    )


def _machine() -> str:
    """This machine, and these kernels: others may take other times."""
    kernels = source_digest(m.__name__)[:16]
    return f"{platform.machine()} {platform.processor()} {os.cpu_count()} {kernels}"


def _keep(path: Path, policy: Policy) -> None:
    """For the next start; without it that one measures again."""
    beside = path.with_suffix(f".{os.getpid()}")
    try:
        beside.write_text(json.dumps({"machine": _machine(), **asdict(policy)}), "utf-8")
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
