"""Bursts that were timed, as a policy says that they take."""

from dataclasses import replace

import numpy as np

from runtime.plan import cost_model
from runtime.plan.cost_model import TERMS, Samples
from runtime.plan.policy import Policy

TRUE = Policy(
    scan=0.3, operator=10, pick=0.2, compare=0.5, walk=1.5, apply=25, join=50, beside=3, cross=9
)
CLOCK = 60


def drawn(
    truth: Policy, size: int = 400, seed: int = 1, noise: float = 0.1, ways: tuple[int, ...] = ()
) -> Samples:
    """Bursts of all sizes, with the times that a policy says."""
    draw = np.random.default_rng(seed)
    way = draw.choice(ways or cost_model.SAMPLE_KINDS, size)
    queries = draw.integers(2, 60, size)
    classes = np.minimum(draw.integers(1, 60, size), queries)
    by_classes = way == cost_model.CLASSES
    each = draw.integers(1, 6, size)
    joined = np.minimum(classes, queries - classes) * each
    applied = np.select(
        [way == cost_model.AGREED, by_classes, way == cost_model.APART],
        [each, classes * each, queries * each],
        draw.integers(10, 1_000, size),
    )
    samples = Samples(
        kind=way,
        waiting=np.where(way == cost_model.AGREED, 0, draw.integers(1, 65, size)),
        classes=classes,
        queries=queries,
        conditions=queries,
        applied=applied,
        joined=np.where(by_classes, joined, 0),
        stepped=queries * each,
        compared=np.zeros(size, np.int64),
        nanoseconds=np.zeros(size, np.int64),
        version=np.zeros(size, np.int64),
    )
    work, compared = (
        rows @ cost_model.coefficients(truth) for rows in cost_model.equations(samples)
    )
    compared = np.where(by_classes, compared + CLOCK, 0) * draw.lognormal(0, noise, size)
    total = (work + CLOCK) * draw.lognormal(0, noise, size) + compared
    return samples._replace(compared=compared.astype(np.int64), nanoseconds=total.astype(np.int64))


def scaled(policy: Policy, by: float, *names: str) -> Policy:
    return replace(policy, **{name: by * getattr(policy, name) for name in names or TERMS})


def predict(policy: Policy, samples: Samples):
    """The nanoseconds of each sample's work."""
    work, compared = cost_model.equations(samples)
    return (work + compared) @ cost_model.coefficients(policy)
