"""Explains how a workload will be evaluated, and why: as text, JSON or a drawing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from runtime.language.query import Workload
from runtime.plan.explain.explanation import Explanation
from runtime.plan.explain.explanation_sections import InputSection

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Explanation", "InputSection", "explain"]


def explain(
    workload: Workload | str,
    *,
    planner: str = "auto",
    ties: str = "strict",
    types: "Mapping[str, pa.DataType | None] | pa.Schema | None" = None,
) -> Explanation:
    """Explains a workload, which can be text. `planner` is auto, greedy, sharon, gloria or none;
    `ties` is as for the engine: strict or arrival. `types` are those of the input's columns, by
    which operators are chosen; if one is missing, it is assumed from the queries."""
    from runtime.plan.explain import build  # loads the planner, which takes a while

    return build.explain(workload, planner, ties, types)
