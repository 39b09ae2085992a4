"""Fits the coefficients of the cost model to timed bursts.

It keeps the last samples of each way to process a burst, weighs older ones less, and solves for the
coefficients that explain their times: non-negative least squares of relative timings, so that short
and long bursts count alike.
"""

from __future__ import annotations

import numpy as np

from runtime.optimizer.least_squares import solve_non_negative
from runtime.plan import cost_model
from runtime.plan.cost_model import TERMS, Floats, Ints, Samples
from runtime.plan.policy import Policy

KEPT = 256  # samples of each way to process a burst
HALF_LIFE = 8.0  # solutions after which a sample weighs half
NEW = 8  # coefficients are solved for again when one in so many samples is new
LEAST, MOST = 0.001, 10_000.0  # bounds of a coefficient, in nanoseconds
# Weight of the previous coefficients: so small that any evidence moves them.
HELD = 1e-5
FIRST_ROUNDS, ROUNDS = 6, 2  # at first, no outlier is known
# Beyond this relative error a sample is an outlier, and weighs less the larger its error.
ODD = 0.3
# A new policy must change predictions by at least this part.
MATTERS = 0.1
# Beyond this change, the old predictions say nothing about the new policy.
WRONG = 0.5
RECENT = 1_024
FEW = 32
# Times above this percentile are cut before correlating. An interrupted burst takes a thousand
# times as long, and would dominate.
CUT = 98

# Bursts are of one kind if their predictions are this close. There must be this many bursts of a
# kind, and this many such kinds.
ALIKE, OFTEN, KINDS = 0.1, 8, 3

# The overhead of timing, reading the clock and a cache miss: once for work, once for comparing.
_WORK, _COMPARED = len(TERMS), len(TERMS) + 1
_SIZE = len(TERMS) + 2
_CLOCK = 40.0


class CostModelFitter:
    """`policy` is the newest one. The caller assigns its version."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._values = np.array([*cost_model.coefficients(policy), _CLOCK, _CLOCK])
        self._samples = Samples.empty()
        self._born: Ints = np.zeros(0, np.int64)
        self._new = 0
        self._solutions = 0
        self._timings: Floats = np.zeros((0, 2))  # predicted and measured
        self.timed = 0  #: bursts so far; their predicted and measured nanoseconds follow
        self.predicted = self.measured = 0.0

    def learn(self, samples: Samples) -> Policy | None:
        """Adds the bursts timed since the last call. Returns a new policy, with the old version, if
        its predictions differ."""
        if samples.size == 0:
            return None
        self._record(samples)
        self._keep(samples)
        self._new += samples.size
        if NEW * self._new < self._samples.size:
            return None
        self._values = self._solved()
        self._new, self._solutions = 0, self._solutions + 1
        better = cost_model.with_coefficients(self.policy, self._values[: len(TERMS)])
        change = self._change(better)
        if change < MATTERS:
            return None
        if change > WRONG:
            self._timings = self._timings[:0]
        self.policy = better
        return better

    # ---- accuracy --------------------------------------------------------------------------

    @property
    def correlation(self) -> float | None:
        """Correlation of predicted and measured nanoseconds. Bursts are predicted before the model
        learns from them. None until there are enough."""
        predicted, measured = self._timings.T
        if len(measured) < FEW:
            return None
        measured = np.minimum(measured, np.percentile(measured, CUT))
        if not predicted.std() > 0 or not measured.std() > 0:
            return None
        return float(np.corrcoef(predicted, measured)[0, 1])

    @property
    def kinds_correlation(self) -> float | None:
        """The same correlation, over the means of bursts with similar predictions. The time of a
        single burst is half noise: of the clock, and of caches. None if there are too few kinds."""
        predicted, measured = self._timings.T
        if len(measured) < FEW:
            return None
        measured = np.minimum(measured, np.percentile(measured, CUT))
        kinds = np.round(np.log(np.maximum(predicted, 1.0)) / ALIKE).astype(np.int64)
        _, places, counts = np.unique(kinds, return_inverse=True, return_counts=True)
        often = counts >= OFTEN
        if np.count_nonzero(often) < KINDS:
            return None
        expected = np.bincount(places, predicted)[often] / counts[often]
        taken = np.bincount(places, measured)[often] / counts[often]
        return _weighted_correlation(expected, taken, counts[often] / counts[often].sum())

    @property
    def error(self) -> float | None:
        """The median relative error of the predictions."""
        predicted, measured = self._timings.T
        if len(measured) < FEW:
            return None
        return float(np.median(np.abs(predicted - measured) / np.maximum(measured, 1)))

    def _record(self, samples: Samples) -> None:
        values = np.array([*cost_model.coefficients(self.policy), *self._values[_WORK:]])
        rows, _ = _equations(samples)
        work, compared = np.split(rows @ values, [samples.size])
        compared[samples.kind != cost_model.CLASSES] = 0.0
        timings = np.column_stack([work + compared, samples.nanoseconds])
        self._timings = np.concatenate([self._timings, timings])[-RECENT:]
        self.timed += samples.size
        self.predicted += float(timings[:, 0].sum())
        self.measured += float(timings[:, 1].sum())

    # ---- samples ---------------------------------------------------------------------------

    def _keep(self, samples: Samples) -> None:
        born = np.full(samples.size, self._solutions)
        self._samples = Samples.concat([self._samples, samples])
        self._born = np.concatenate([self._born, born])
        newest = [
            np.flatnonzero(self._samples.kind == way)[-KEPT:] for way in cost_model.SAMPLE_KINDS
        ]
        kept = np.zeros(self._samples.size, np.bool_)
        kept[np.concatenate(newest)] = True
        self._samples, self._born = self._samples.select(kept), self._born[kept]

    def _weights(self) -> Floats:
        """By age and by how rare a way is: decisions compare ways, so a frequent one must not drown
        a rare one."""
        by_way = np.bincount(self._samples.kind, minlength=len(cost_model.SAMPLE_KINDS) + 1)
        age = self._solutions - self._born
        found: Floats = 0.5 ** (age / HALF_LIFE) / np.sqrt(by_way[self._samples.kind])
        found /= found.sum()
        return found

    # ---- solving ---------------------------------------------------------------------------

    def _solved(self) -> Floats:
        rows, times = _equations(self._samples)
        timed = times > 0
        rows, times = rows[timed], times[timed]
        weights = np.tile(self._weights(), 2)[timed]
        values = np.array([*cost_model.coefficients(self.policy), *self._values[_WORK:]])
        typical = np.array([*cost_model.coefficients(Policy()), _CLOCK, _CLOCK])
        anchor, unit = values, np.maximum(values, 0.1 * typical) / np.sqrt(HELD)
        first = self._solutions == 0
        trust = 1 / times if first else _trust(rows @ self._values, times)
        for _ in range(FIRST_ROUNDS if first else ROUNDS):
            by = np.sqrt(weights) * trust
            values = _least_squares(rows * by[:, None], times * by, unit, anchor)
            trust = _trust(rows @ values, times)
        within: Floats = np.clip(values, LEAST, MOST)
        return within

    def _change(self, better: Policy) -> float:
        """The relative change of the predictions, for the kind of work where it is largest."""
        before, after = cost_model.coefficients(self.policy), cost_model.coefficients(better)
        work, compared = cost_model.equations(self._samples)
        done = [(work + compared)[self._samples.kind == way] for way in cost_model.SAMPLE_KINDS]
        kinds = [*done, *np.split(cost_model.alternatives(self._samples), 2)]
        return max(_difference(kind @ before, kind @ after) for kind in kinds)


def _equations(samples: Samples) -> tuple[Floats, Floats]:
    """Rows for the work of each sample, then for comparing, and their times. The time is 0 if
    nothing was compared."""
    work, compared = cost_model.equations(samples)
    rows = np.zeros((2 * samples.size, _SIZE))
    rows[: samples.size, : len(TERMS)], rows[: samples.size, _WORK] = work, 1.0
    rows[samples.size :, : len(TERMS)], rows[samples.size :, _COMPARED] = compared, 1.0
    times = np.concatenate([samples.nanoseconds - samples.compared, samples.compared])
    return rows, times.astype(np.float64)


def _trust(predicted: Floats, times: Floats) -> Floats:
    """The factor of each error: timings are relative, and outliers weigh less."""
    # A prediction near zero would weigh without bound.
    scale = np.maximum(predicted, ODD * times)
    off = np.abs(times - predicted) / scale
    trust: Floats = np.sqrt(ODD / np.maximum(off, ODD)) / scale
    return trust


def _least_squares(rows: Floats, times: Floats, unit: Floats, anchor: Floats) -> Floats:
    """Solves the normal equations. Coefficients are scaled by their penalty, so that the matrix is
    never singular and has a Cholesky factor."""
    scaled = rows * unit
    normal = scaled.T @ scaled + np.eye(len(unit))
    root = np.linalg.cholesky(normal)
    right = np.linalg.solve(root, scaled.T @ times + anchor / unit)
    values: Floats = solve_non_negative(root.T, right) * unit
    return values


def _weighted_correlation(one: Floats, other: Floats, weights: Floats) -> float | None:
    one, other = one - weights @ one, other - weights @ other
    spread = np.sqrt((weights @ one**2) * (weights @ other**2))
    return float(weights @ (one * other) / spread) if spread > 0 else None


def _difference(before: Floats, after: Floats) -> float:
    most = np.maximum(before, after)
    return float(np.mean(np.abs(after - before) / np.maximum(most, LEAST))) if len(most) else 0.0
