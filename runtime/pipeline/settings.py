"""The settings of an engine: numbers, ties, sharing, kernels and plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runtime.errors import HamletError, check_choice
from runtime.language.query import Query
from runtime.plan.operators.graphlet.shared_subpattern import check_plan
from runtime.plan.sharing_plan import SharingPlan

NUMERIC = ("float", "exact")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "numeric": NUMERIC,
    "ties": ("strict", "arrival"),
    "sharing": ("dynamic", "always", "never"),
    "kernels": ("auto", "general", "exact"),
}


@dataclass(frozen=True)
class Settings:
    """How to compute queries. With a `planner`, the plan is renewed when the stream changes.
    Otherwise it stays."""

    numeric: str = "float"
    ties: str = "strict"
    sharing: str = "dynamic"
    kernels: str = "auto"
    plan: SharingPlan | None = None
    planner: str | None = None

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            check_choice(name, getattr(self, name), known)

    def check_plan(self, plan: SharingPlan, queries: tuple[Query, ...]) -> None:
        """Rejects a plan that these queries cannot follow."""
        if not isinstance(plan, SharingPlan):
            raise HamletError(
                f"the plan must be a SharingPlan, but is {plan!r}",
                "SharingPlan.read accepts a dict",
            )
        if self.numeric != "float":
            raise HamletError("the exact engine shares nothing, so it does not support a plan")
        check_plan(plan, queries)
