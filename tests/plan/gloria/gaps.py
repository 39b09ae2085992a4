"""How far plans are from the best one of all, by the paper's principles and with merged subsets.

`print_gaps()` is for benchmarks.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from plan.gloria.exhaustive import cheapest
from plan.gloria.workloads import small
from runtime.plan.planners.gloria import CandidateOptions, PaperCosts, plan

WAYS = {"principles alone": CandidateOptions(subsets=0), "with subsets": CandidateOptions()}


@dataclass(frozen=True)
class Gaps:
    """Of each workload, how much more its plan costs than the best one, as a fraction."""

    gaps: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(self.gaps) / len(self.gaps)

    @property
    def worst(self) -> float:
        return max(self.gaps)

    @property
    def optimal(self) -> float:
        return sum(gap < 1e-9 for gap in self.gaps) / len(self.gaps)

    def __str__(self) -> str:
        return (
            f"mean gap {self.mean:.2%}, largest {self.worst:.2%}, optimal {self.optimal:.0%} "
            f"of {len(self.gaps)}"
        )


def measure(seeds: Iterable[int], kleene: bool) -> dict[str, Gaps]:
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    for seed in seeds:
        queries, rates = small(seed, kleene)
        best = cheapest(queries, PaperCosts(rates))
        for way, options in WAYS.items():
            found[way].append(plan(queries, rates, options=options).cost / best - 1)
    return {way: Gaps(tuple(gaps)) for way, gaps in found.items()}


def print_gaps(workloads: int = 200) -> None:
    for kleene in (False, True):
        for way, gaps in measure(range(workloads), kleene).items():
            print(f"{'with' if kleene else 'without'} Kleene parts, {way}: {gaps}")


if __name__ == "__main__":
    print_gaps()
