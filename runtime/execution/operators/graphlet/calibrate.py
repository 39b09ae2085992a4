"""Measures the coefficients of the burst cost model on this machine.

It takes a few milliseconds, once per machine: the result is cached with the kernels. Each step is
timed many times and the shortest time counts, so that other load on the machine does not matter.
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
LEAST, MOST = 0.01, 1_000.0  # the range of a coefficient in nanoseconds
# Checking a condition is one comparison; the rest of the measured time belongs to the class.
MOST_WALK = 0.5


@cache
def calibrated() -> Policy:
    """The policy for this machine: from the cache, or measured now."""
    path = cache_folder() / "policy.json"
    try:
        kept = json.loads(path.read_text("utf-8"))
        if kept.pop("machine") == _machine() and kept.keys() == asdict(Policy()).keys():
            return Policy(**kept)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        pass  # not cached, or by a version with other coefficients
    policy = measure_policy()
    _keep(path, policy)
    return policy


def measure_policy() -> Policy:
    times = _times()
    # Half of the conditions pick an event and half do not: two classes.
    one = times[m.M_CLASSIFY_ONE]
    scan = (times[m.M_GATHER] - times[m.M_GATHER_ONE]) / (k.BURST - 1)
    pick = (times[m.M_CLASSIFY] - one) / ((k.BURST - 1) * QUERIES)
    beside = (times[m.M_APPLY_ALL] - times[m.M_APPLY]) / ((QUERIES - 1) * WINDOWS)
    # Each condition forms its own class, whose operator finds nothing to extend.
    walked = times[m.M_CLASSES] - QUERIES * (times[m.M_GATHER] + times[m.M_APPLY_IDLE])
    coefficients: dict[str, float] = {
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
    clipped = {name: float(min(max(value, LEAST), MOST)) for name, value in coefficients.items()}
    return Policy(version=0, **clipped)


def _times() -> npt.NDArray[np.float64]:
    """The shortest time of one call of each step."""
    queries = _queries()
    options = ExecutionOptions(kernels="general")
    since = (k.UNBORN,) * len(queries)
    operator = GraphletOperator(queries, since, TypeDictionary(), options, Policy())
    # The buffered events that each condition picks: a different half for each.
    picked = np.random.default_rng(1).integers(0, 2**QUERIES, k.BURST)
    times = np.empty((REPEATS, m.M_SIZE), np.int64)
    for row in times:
        operator.measure("A", "B", picked, QUERIES, ROUNDS, row)
    best: npt.NDArray[np.float64] = times.min(axis=0) / ROUNDS
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
    """Identifies the machine and the kernels, on which the times depend."""
    kernels = source_digest(m.__name__)[:16]
    return f"{platform.machine()} {platform.processor()} {os.cpu_count()} {kernels}"


def _keep(path: Path, policy: Policy) -> None:
    """Caches the policy for the next start."""
    beside = path.with_suffix(f".{os.getpid()}")
    try:
        beside.write_text(json.dumps({"machine": _machine(), **asdict(policy)}), "utf-8")
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
