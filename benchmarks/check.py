"""Regression guard: ratios of times, compared with the committed ones.

A ratio divides the shortest CPU times of two tasks, so the speed of the machine and other load
matter little. A ratio got worse if it exceeds the committed one by more than its tolerance, and
does so again when it is measured once more. Improvements are reported. `benchmarks/_ratios.py`
lists the tasks.

--update measures the whole set several times and commits the median of each ratio. The tolerance is
four times the median deviation, the largest deviation above the median, or 15 %, whichever is
largest: `benchmarks/measured/check.json`.

HAMLET_BENCH_EVENTS (1 million) sets the size, HAMLET_BENCH_REPEATS (5) how often tasks run,
HAMLET_BENCH_SETS (5) how often --update measures the whole set.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import _ratios
from benchmarks._environment import whole
from benchmarks._ratios import Ratio
from benchmarks._run import one_thread
from benchmarks._scaling.measure import in_turns
from runtime.errors import HamletError

REPEATS = whole("REPEATS", 5)
SETS = whole("SETS", 5)
COMMITTED = Path(__file__).parent / "measured" / "check.json"
LEAST_TOLERANCE, SPREADS = 0.15, 4
WORSE, WITHIN, BETTER = "worse", "within", "better"


@dataclass(frozen=True)
class Committed:
    ratio: float
    tolerance: float  #: as a part of the ratio

    @classmethod
    def of(cls, found: Sequence[float]) -> Committed:
        middle = median(found)
        spread = median(abs(each - middle) for each in found)
        above = max(found) - middle  # seen once, it will be seen again
        return cls(middle, max(LEAST_TOLERANCE, SPREADS * spread / middle, above / middle))

    def verdict(self, found: float) -> str:
        if found > self.ratio * (1 + self.tolerance):
            return WORSE
        return BETTER if found < self.ratio / (1 + self.tolerance) else WITHIN


def run(
    progress: Callable[[str], None], update: bool = False, output: Path | None = None
) -> dict[str, Any]:
    """`output` is the file with the committed ratios, if not ours."""
    path = Path(output or COMMITTED)
    if update:
        return _renewed(progress, path)
    committed = read(path)
    _same_names(committed, path)
    progress(f"measuring {len(_ratios.RATIOS)} ratios")
    found = measured(_ratios.RATIOS)
    doubtful = [r for r in _ratios.RATIOS if committed[r.name].verdict(found[r.name]) == WORSE]
    if doubtful:
        progress(f"once more: {', '.join(ratio.name for ratio in doubtful)}")
        again = measured(doubtful)
        found |= {name: min(ratio, found[name]) for name, ratio in again.items()}
    return {name: _judged(committed[name], ratio) for name, ratio in found.items()}


def _judged(committed: Committed, found: float) -> dict[str, Any]:
    said = committed.verdict(found)
    return {"ratio": found, "committed": committed.ratio, "tolerance": committed.tolerance} | {
        "verdict": said
    }


def table(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"measure": name, **each, "tolerance": f"{each['tolerance']:.0%}"}
        for name, each in result.items()
    ]


def judge(result: dict[str, Any]) -> None:
    """Raises if a ratio has become worse; called when all of them have been shown."""
    worse = [name for name, each in result.items() if each["verdict"] == WORSE]
    if worse:
        raise HamletError(
            f"{'a ratio has' if len(worse) == 1 else 'ratios have'} become worse: "
            f"{', '.join(worse)}",
            "if that is meant, renew the committed ones with `hamlet bench check --update`",
        )


def measured(ratios: Sequence[Ratio]) -> dict[str, float]:
    """In a process of its own: how memory lies there can make one time twice another, for as long
    as the process lives, so that repeats within one say too little of the next."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(_measured, ratios).result()


def _measured(ratios: Sequence[Ratio]) -> dict[str, float]:
    names = {name for ratio in ratios for name in (ratio.of, ratio.to)}
    works = {name: work for name, work in _ratios.WORKS.items() if name in names}
    with one_thread():
        times = {name: min(each.cpu) for name, each in in_turns(works, REPEATS).items()}
    return {ratio.name: times[ratio.of] / times[ratio.to] for ratio in ratios}


# ---- the committed ones --------------------------------------------------------------------


def read(path: Path) -> dict[str, Committed]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {name: Committed(**each) for name, each in data.items()}
    except FileNotFoundError:
        raise HamletError(
            f"{path} is not there", "make it with `hamlet bench check --update`"
        ) from None
    except (ValueError, TypeError, AttributeError) as error:
        raise HamletError(f"{path} has no ratios: {error}") from error


def _same_names(committed: Mapping[str, Committed], path: Path) -> None:
    wanted = {ratio.name for ratio in _ratios.RATIOS}
    if missing := sorted(wanted - committed.keys()):
        raise HamletError(
            f"{path} has no ratio `{missing[0]}`", "renew it with `hamlet bench check --update`"
        )
    if gone := sorted(committed.keys() - wanted):
        raise HamletError(
            f"nothing measures `{gone[0]}`, which is in {path}",
            "renew it with `hamlet bench check --update`",
        )


def _renewed(progress: Callable[[str], None], path: Path) -> dict[str, Any]:
    found: dict[str, list[float]] = {ratio.name: [] for ratio in _ratios.RATIOS}
    for turn in range(SETS):
        progress(f"measuring all ratios, {turn + 1} of {SETS}")
        for name, ratio in measured(_ratios.RATIOS).items():
            found[name].append(ratio)
    renewed = {name: Committed.of(each) for name, each in found.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    written = {name: asdict(each) for name, each in renewed.items()}
    path.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    return {name: _judged(each, each.ratio) for name, each in renewed.items()}
