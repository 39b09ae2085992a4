"""Whether the memory of each process of a job grows, by its second half."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import numpy as np

from benchmarks._soak.processes import EXPECTED, OTHER, Series

# Within the second half, a flat process grows by less than both together allow.
MOST_MB, MOST_PART = 5.0, 0.025
# A process that is in fewer samples has come only to go: Ray and Java start helpers.
BRIEF = 3
ALL = "all"


@dataclass(frozen=True)
class Growth:
    """`mb` is the median of the second half, and `rise` what its trend adds to it in that time.
    `throughout`: the process was there all of that time."""

    kind: str
    pid: int
    mb: float
    mb_per_hour: float
    part_per_hour: float
    rise: float
    throughout: bool

    @property
    def is_flat(self) -> bool:
        return self.rise <= max(MOST_MB, MOST_PART * self.mb)


def slope(seconds: Sequence[float], values: Sequence[float]) -> float:
    """The median slope between two of the points (Theil and Sen), per second. A few samples that
    are far off do not change it."""
    x, y = np.asarray(seconds, float), np.asarray(values, float)
    first, second = np.triu_indices(len(x), 1)
    if not len(first):
        return 0.0
    return float(np.median((y[second] - y[first]) / (x[second] - x[first])))


def growths(series: Iterable[Series], moments: Sequence[float]) -> list[Growth]:
    """Of every process that was there in the second half, and of all of them together."""
    series = list(series)
    half = [moment for moment in moments if moment >= (moments[0] + moments[-1]) / 2]
    found = [_growth(each, half) for each in series if _counts(each, half)]
    found.sort(key=lambda each: (each.kind, each.pid))
    return [*found, _growth(_together(series, half), half)]


def _counts(each: Series, half: Sequence[float]) -> bool:
    return len(each.seconds) >= BRIEF and each.seconds[-1] >= half[0]


def _growth(each: Series, half: Sequence[float]) -> Growth:
    points = [(x, y) for x, y in zip(each.seconds, each.mb, strict=True) if x >= half[0]]
    seconds, mb = [x for x, _ in points], [y for _, y in points]
    middle, rate = median(mb), slope(seconds, mb)
    return Growth(
        each.kind,
        each.pid,
        middle,
        rate * 3_600,
        rate * 3_600 / middle if middle else 0.0,
        rate * (half[-1] - half[0]),
        seconds[0] == half[0] and seconds[-1] == half[-1],
    )


def _together(series: Iterable[Series], half: Sequence[float]) -> Series:
    totals = dict.fromkeys(half, 0.0)
    for each in series:
        for second, mb in zip(each.seconds, each.mb, strict=True):
            if second in totals:
                totals[second] += mb
    return Series(ALL, 0, list(totals), list(totals.values()))


def as_rows(found: Iterable[Growth]) -> list[dict[str, Any]]:
    return [{**asdict(each), "flat": each.is_flat} for each in found]


def problems(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What keeps these rows from being those of a job with flat memory."""
    for kind in EXPECTED:
        if all(row["kind"] != kind for row in rows):
            yield f"no process was seen that is the {kind}"
    for row in rows:
        name = f"{row['kind']} ({row['pid']})" if row["pid"] else row["kind"]
        if not row["throughout"] and row["kind"] in EXPECTED:
            yield f"{name} ended or was started in the second half"
        elif not row["flat"] and (row["throughout"] or row["kind"] != OTHER):
            yield (
                f"{name} grows by {row['mb_per_hour']:,.0f} MB an hour, "
                f"{row['part_per_hour']:.0%} of its {row['mb']:,.0f} MB"
            )
