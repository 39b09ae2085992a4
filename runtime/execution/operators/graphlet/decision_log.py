"""Reads the decisions that the kernel has logged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runtime.execution.column import Ints
from runtime.execution.operators.graphlet.kernel import record as k
from runtime.plan.cost_model import Samples
from runtime.plan.decisions import KINDS, BurstTiming, DecisionExample, TypeDecisions


def by_type(types: list[str], counted: Ints) -> Iterator[TypeDecisions]:
    """`counted` has a row of words for each type. Types without decisions are left out."""
    for name, row in zip(types, counted, strict=True):
        if row[k.D_ALL]:
            shared, split, merged, continued = row[: len(KINDS)].tolist()
            yield TypeDecisions(
                name,
                shared,
                split,
                merged,
                continued,
                events=int(row[k.D_EVENTS]),
                snapshots=int(row[k.D_SNAPSHOTS]),
                benefit=_double(row[k.D_BENEFIT]),
                time_shared=BurstTiming(int(row[k.D_SHARED]), int(row[k.D_SHARED_NS])),
                time_split=BurstTiming(int(row[k.D_SPLIT]), int(row[k.D_SPLIT_NS])),
            )


def examples(types: list[str], log: Ints) -> list[DecisionExample]:
    """`log` has a row of words for each decision."""
    found = [
        DecisionExample(
            type=types[row[k.L_TYPE]],
            kind=KINDS[row[k.L_KIND]],
            events=int(row[k.L_EVENTS]),
            snapshots=int(row[k.L_SNAPSHOTS]),
            classes=int(row[k.L_CLASSES]),
            queries=int(row[k.L_QUERIES]),
            benefit=_double(row[k.L_BENEFIT]),
            number=int(row[k.L_NUMBER]),
            nanoseconds=int(row[k.L_NS]),
            policy=int(row[k.L_VERSION]),
            conditions=int(row[k.L_CONDITIONS]),
            expected=_double(row[k.L_EXPECTED]),
            vectors=int(row[k.L_EACH]),
        )
        for row in log
        if row[k.L_WAY] != k.CROSSED
    ]
    return sorted(found, key=lambda example: (example.type, example.number))


def samples(log: Ints) -> Samples:
    """The timed bursts, as input of the cost model. Single events of `always` are not bursts."""
    log = log[(log[:, k.L_WAY] != k.SINGLE) & (log[:, k.L_APPLIED] > 0)]
    columns = (
        k.L_WAY,
        k.L_SNAPSHOTS,
        k.L_CLASSES,
        k.L_QUERIES,
        k.L_CONDITIONS,
        k.L_APPLIED,
        k.L_JOINED,
        k.L_STEPPED,
        k.L_COMPARED,
        k.L_NS,
        k.L_VERSION,
    )
    return Samples(*(log[:, column].copy() for column in columns))


def _double(word: np.int64) -> float:
    """The double that has the bits of a word."""
    return float(word.view(np.float64))
