"""Measures what the parts of our operators cost on this machine, and fits the cost model to it.

A small share group runs over bursts of known sizes, once made to share and once made to split;
the difference in time is what the model has to predict. A fraction of a second, once for each
machine: the outcome is kept beside the kernels.
"""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.compiled.batch import Batch
from runtime.compiled.codes import TypeCodes
from runtime.compiled.graphlets import kernel as k
from runtime.compiled.graphlets.run import GraphletRun, Options
from runtime.compiled.keys import Keys
from runtime.compiled.specialise import cache_folder
from runtime.compiled.texts import Texts
from runtime.compiled.ties import Ties
from runtime.events.prepare import TIME, TYPE, TYPES
from runtime.language.parser import parse
from runtime.sharing.policy import Policy

QUERIES = 16
PARTITIONS = 32
EVENTS = 24_000
REPEATS = 3
BURSTS = (2, 4, 8, 16, 48)
# The largest x of a stream: its events are picked by all, half or few of the queries.
REACHES = (0.5, 1.0, 4.0)

Doubles = npt.NDArray[np.float64]


@cache
def calibrated() -> Policy:
    """The policy for this machine: kept from an earlier start, or measured now."""
    path = cache_folder() / "policy.json"
    try:
        kept = json.loads(path.read_text("utf-8"))
        if kept.pop("machine") == _machine():
            return Policy(**kept)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        pass  # none was kept, or by a version that knew other coefficients
    policy = measured()
    _keep(path, policy)
    return policy


def measured() -> Policy:
    rows, saved = [], []
    for burst in BURSTS:
        for reach in REACHES:
            terms, nanoseconds = _difference(burst, reach)
            rows.append(terms)
            saved.append(nanoseconds)
    found = _positive_fit(np.array(rows), np.array(saved))
    names = ("scan", "event", "pick", "operator", "compare")
    return replace(Policy(), **dict(zip(names, found.tolist(), strict=True)))


def _difference(burst: int, reach: float) -> tuple[list[float], float]:
    """The terms of the model for a stream, and the nanoseconds for each burst that sharing saved
    there. The terms are those of `kernel.benefit_of_classes`."""
    events = _stream(burst, reach)
    split, shared = (
        min(_seconds(events, forced) for _ in range(REPEATS))
        for forced in (Policy(pick=1e9), Policy(scan=1e9))
    )
    x = events.column("x").to_numpy()
    bursts = len(x) / (burst + 1)
    picked = burst * float(np.mean(np.minimum(QUERIES, np.ceil(QUERIES - x * QUERIES).clip(0))))
    each, classes = picked / QUERIES, min(QUERIES, burst + 1)
    terms = [QUERIES * burst, (QUERIES - classes) * each, -picked, -classes, -(QUERIES**2)]
    return terms, (split - shared) / bursts * 1e9


def _positive_fit(rows: Doubles, wanted: Doubles) -> Doubles:
    """Least squares with coefficients above zero: what comes out below is held at a little."""
    free = np.ones(rows.shape[1], np.bool_)
    found = np.full(rows.shape[1], 0.05)
    while free.any():
        rest = wanted - rows[:, ~free] @ found[~free]
        found[free] = np.linalg.lstsq(rows[:, free], rest, rcond=None)[0]
        below = free & (found < 0.05)
        if not below.any():
            break
        found[below] = 0.05
        free &= ~below
    return found


def _stream(burst: int, reach: float) -> pa.RecordBatch:
    draw = np.random.default_rng(1)
    rounds = EVENTS // PARTITIONS
    size = rounds * PARTITIONS
    types = np.repeat(np.arange(rounds) % (burst + 1) > 0, PARTITIONS).astype(np.int32)
    columns = {
        TIME: pa.array(np.arange(size)),
        TYPE: pa.DictionaryArray.from_arrays(pa.array(types), ["A", "B"]).cast(TYPES),
        "key": pa.array(np.tile(np.arange(PARTITIONS), rounds)),
        "x": pa.array(draw.random(size) * reach),
    }
    return pa.RecordBatch.from_pydict(columns)


def _seconds(events: pa.RecordBatch, policy: Policy) -> float:
    text = "".join(
        f"RETURN COUNT(*), SUM(B.x) PATTERN SEQ(A, B+) WHERE [key] AND B.x < {n / QUERIES} "
        "WITHIN 4 ms\n"
        for n in range(1, QUERIES + 1)
    )
    queries = tuple(parse(text))
    types = {"key": pa.int64(), "x": pa.float64()}
    codes, keys = TypeCodes(), Keys({"key": pa.int64()})
    for name in "AB":
        codes.code(name)
    since = (k.UNBORN,) * QUERIES
    run = GraphletRun(queries, since, codes, Options(kernels="general"), policy)
    batch = Batch.of(events, keys, codes, Texts(), types)
    groups = Ties().groups(batch.instants, batch.slots, keys.capacity)
    for query in queries:  # conditions are the same work in both cases
        for condition in query.local:
            batch.truth(condition.expression)
    began = time.perf_counter()
    run.process(batch, groups, keys.capacity)
    return time.perf_counter() - began


def _machine() -> str:
    return f"{platform.machine()} {platform.processor()} {os.cpu_count()}"


def _keep(path: Path, policy: Policy) -> None:
    """For the next start; without it that one measures again."""
    beside = path.with_suffix(f".{os.getpid()}")
    try:
        beside.write_text(json.dumps({"machine": _machine(), **asdict(policy)}), "utf-8")
        beside.replace(path)
    except OSError:
        pass
