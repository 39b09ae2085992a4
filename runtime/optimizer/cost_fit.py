"""Learns the coefficients of the cost model from bursts that were timed.

Lives with whoever hands out policies: an optimizer, or the owner of one engine. It keeps the last
samples of each way that work is done, weighs the older ones less and less, and solves for the
coefficients that explain their times: non-negative least squares of relative errors, so that short
and long bursts count alike.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import nnls  # type: ignore[import-untyped]

from runtime.plan import cost_model
from runtime.plan.cost_model import TERMS, Floats, Ints, Samples
from runtime.plan.policy import Policy

KEPT = 256  # samples of each way
HALF_LIFE = 8.0  # solutions after which a sample counts half
NEW = 8  # coefficients are solved for when one in so many samples is new
LEAST, MOST = 0.001, 10_000.0  # nanoseconds that a coefficient may come to
# A coefficient is held where it was, by so little that any evidence moves it.
HELD = 1e-5
FIRST_ROUNDS, ROUNDS = 6, 2  # at first nothing is known of what is odd
# From this relative error on, a sample counts less the further it is off: it was interrupted.
ODD = 0.3
# By how much predictions must differ before another policy is worth giving.
MATTERS = 0.1
# From here on predictions were plainly wrong, and say nothing of those to come.
WRONG = 0.5
RECENT = 1_024
FEW = 32
# The longest times are cut to the others' before they are correlated. One that was interrupted is
# a thousand times as long, and would be all that counts.
CUT = 98

# Bursts are of one kind whose predictions are within so much of each other; of kinds that are seen
# often there must be some.
ALIKE, OFTEN, KINDS = 0.1, 8, 3

# Reading the clock takes time, and finding a row in memory: once for work, once for comparing.
_WORK, _COMPARED = len(TERMS), len(TERMS) + 1
_SIZE = len(TERMS) + 2
_CLOCK = 40.0


class Learner:
    """`policy` is the one that was given last. Its version is whatever the caller makes of it."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._values = np.array([*cost_model.coefficients(policy), _CLOCK, _CLOCK])
        self._samples = Samples.none()
        self._born: Ints = np.zeros(0, np.int64)
        self._new = 0
        self._solutions = 0
        self._told: Floats = np.zeros((0, 2))  # predicted and measured
        self.timed = 0  #: bursts so far; what they were predicted to take and took, in nanoseconds
        self.predicted = self.measured = 0.0

    def learn(self, samples: Samples) -> Policy | None:
        """Takes what was timed since the last call. Gives another policy, with the version of the
        last one, where that would predict other times."""
        if samples.size == 0:
            return None
        self._tell(samples)
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
            self._told = self._told[:0]
        self.policy = better
        return better

    # ---- how good it is --------------------------------------------------------------------

    @property
    def correlation(self) -> float | None:
        """Of predicted and measured nanoseconds, over bursts that were predicted by the policy
        before anything was learned from them. None until there are some."""
        predicted, measured = self._told.T
        if len(measured) < FEW:
            return None
        measured = np.minimum(measured, np.percentile(measured, CUT))
        if not predicted.std() > 0 or not measured.std() > 0:
            return None
        return float(np.corrcoef(predicted, measured)[0, 1])

    @property
    def kinds_correlation(self) -> float | None:
        """The same of the means of bursts that were predicted to take about as long. A single
        burst's time is half noise: of the clock, and of where its partition lay in memory. None
        where bursts are of too few kinds."""
        predicted, measured = self._told.T
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
        """By what part of the measured time half of the predictions were off, at the most."""
        predicted, measured = self._told.T
        if len(measured) < FEW:
            return None
        return float(np.median(np.abs(predicted - measured) / np.maximum(measured, 1)))

    def _tell(self, samples: Samples) -> None:
        values = np.array([*cost_model.coefficients(self.policy), *self._values[_WORK:]])
        rows, _ = _equations(samples)
        work, compared = np.split(rows @ values, [samples.size])
        compared[samples.way != cost_model.CLASSES] = 0.0
        told = np.column_stack([work + compared, samples.nanoseconds])
        self._told = np.concatenate([self._told, told])[-RECENT:]
        self.timed += samples.size
        self.predicted += float(told[:, 0].sum())
        self.measured += float(told[:, 1].sum())

    # ---- what is kept ----------------------------------------------------------------------

    def _keep(self, samples: Samples) -> None:
        born = np.full(samples.size, self._solutions)
        self._samples = Samples.all([self._samples, samples])
        self._born = np.concatenate([self._born, born])
        newest = [np.flatnonzero(self._samples.way == way)[-KEPT:] for way in cost_model.WAYS]
        kept = np.zeros(self._samples.size, np.bool_)
        kept[np.concatenate(newest)] = True
        self._samples, self._born = self._samples.those(kept), self._born[kept]

    def _weights(self) -> Floats:
        """By age; and a way that is seen often counts more than a rare one, but not as much more:
        decisions compare ways."""
        by_way = np.bincount(self._samples.way, minlength=len(cost_model.WAYS) + 1)
        age = self._solutions - self._born
        found: Floats = 0.5 ** (age / HALF_LIFE) / np.sqrt(by_way[self._samples.way])
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
        """By what part predictions change, of the kind of work where they change most."""
        before, after = cost_model.coefficients(self.policy), cost_model.coefficients(better)
        work, compared = cost_model.equations(self._samples)
        done = [(work + compared)[self._samples.way == way] for way in cost_model.WAYS]
        kinds = [*done, *np.split(cost_model.alternatives(self._samples), 2)]
        return max(_difference(kind @ before, kind @ after) for kind in kinds)


def _equations(samples: Samples) -> tuple[Floats, Floats]:
    """Rows for the work of each sample, then for comparing, and their times; where nothing was
    compared the time is 0."""
    work, compared = cost_model.equations(samples)
    rows = np.zeros((2 * samples.size, _SIZE))
    rows[: samples.size, : len(TERMS)], rows[: samples.size, _WORK] = work, 1.0
    rows[samples.size :, : len(TERMS)], rows[samples.size :, _COMPARED] = compared, 1.0
    times = np.concatenate([samples.nanoseconds - samples.compared, samples.compared])
    return rows, times.astype(np.float64)


def _trust(predicted: Floats, times: Floats) -> Floats:
    """By what an error is multiplied: errors are relative, and those that are odd count less."""
    # What is predicted to take no time would count without bound.
    scale = np.maximum(predicted, ODD * times)
    off = np.abs(times - predicted) / scale
    trust: Floats = np.sqrt(ODD / np.maximum(off, ODD)) / scale
    return trust


def _least_squares(rows: Floats, times: Floats, unit: Floats, anchor: Floats) -> Floats:
    """By the normal equations, with coefficients in units of what holds them: so their matrix is
    never singular, and has a root."""
    scaled = rows * unit
    normal = scaled.T @ scaled + np.eye(len(unit))
    root = np.linalg.cholesky(normal)
    right = np.linalg.solve(root, scaled.T @ times + anchor / unit)
    values: Floats = nnls(root.T, right)[0] * unit
    return values


def _weighted_correlation(one: Floats, other: Floats, weights: Floats) -> float | None:
    one, other = one - weights @ one, other - weights @ other
    spread = np.sqrt((weights @ one**2) * (weights @ other**2))
    return float(weights @ (one * other) / spread) if spread > 0 else None


def _difference(before: Floats, after: Floats) -> float:
    most = np.maximum(before, after)
    return float(np.mean(np.abs(after - before) / np.maximum(most, LEAST))) if len(most) else 0.0
