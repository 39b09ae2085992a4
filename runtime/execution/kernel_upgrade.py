"""Replaces general kernels with kernels compiled for the workload once the stream is long."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from runtime.execution.background_compile import BackgroundCompile, CompileRequest
from runtime.execution.context import ExecutorContext
from runtime.execution.operator import Operator
from runtime.plan.operators.operator_node import NodeKey
from runtime.plan.physical_plan import PhysicalPlan
from runtime.plan.sharing_plan import SharingPlan

# After this many events, a kernel for this workload alone is worth the seconds to compile it
# (in another process).
LONG_STREAM = 20_000_000


class KernelUpgrade:
    """Compiles the kernels in the background, once for each grouping of the queries."""

    def __init__(self, attributes: tuple[str, ...], shared: ExecutorContext) -> None:
        self._attributes = attributes
        self._shared = shared
        self._events = 0
        self._compiling: BackgroundCompile | None = None

    def is_ready(
        self,
        batch: pa.RecordBatch,
        operators: Mapping[NodeKey, Operator],
        plan: PhysicalPlan,
        sharing_plan: SharingPlan,
    ) -> bool:
        """Whether operators started now would get faster kernels. Called after each batch."""
        self._events += batch.num_rows
        if self._events < LONG_STREAM or self._shared.options.kernels != "auto":
            return False
        groups = tuple(node.queries for node in plan if operators[node.key].can_specialize)
        if not groups:
            return False
        if self._compiling is None or self._compiling.groups != groups:
            shared = self._shared
            self._compiling = BackgroundCompile(
                CompileRequest(
                    self._attributes,
                    shared.types,
                    shared.options.sharing,
                    groups,
                    sharing_plan,
                    batch.slice(0, 1),
                )
            )
            return False
        return self._compiling.has_finished()
