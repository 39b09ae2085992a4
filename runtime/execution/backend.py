"""The compiled engine behind `Engine`: feeds batches of columns to kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from runtime.errors import HamletError
from runtime.execution.array_codec import from_bytes, to_bytes
from runtime.execution.context import ExecutionOptions, ExecutorContext
from runtime.execution.executor import Executor
from runtime.execution.partials import Partials
from runtime.execution.state_file import StatePart
from runtime.execution.window_partials import PartialAggregates, merge
from runtime.language.query import Query, Workload
from runtime.plan.cost_model import Samples
from runtime.plan.decisions import Decisions
from runtime.plan.observations import Observations
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan


class CompiledBackend:
    def __init__(self, options: ExecutionOptions, plan: SharingPlan) -> None:
        self._context = ExecutorContext(options, plan=plan)
        self._executors: dict[tuple[str, ...], Executor] = {}
        self._ended: dict[str, list[PartialAggregates]] = {}

    def bind(self, types: Mapping[str, pa.DataType]) -> None:
        """`types` are those of the attributes that the workload uses from now on."""
        self._context.types = {**self._context.types, **types}

    def add(
        self, queries: tuple[Query, ...], since: int | None, plan: SharingPlan | None = None
    ) -> None:
        self._context.plan = plan or self._context.plan
        groups: dict[tuple[str, ...], list[Query]] = {}
        for query in queries:
            groups.setdefault(query.partition_by, []).append(query)
        for attributes, members in groups.items():
            executor = self._executors.get(attributes)
            if executor is None:
                executor = self._executors[attributes] = Executor(attributes, self._context)
            executor.add(*members, since=since, plan=plan)

    def remove(self, query: Query) -> None:
        self._context.plan = self._context.plan.without(query.name)
        self._executors[query.partition_by].remove(query.name)

    def execute(self, events: pa.RecordBatch, arrivals: range | None) -> None:
        instants = None if arrivals is None else np.arange(arrivals.start, arrivals.stop)
        for executor in self._executors.values():
            executor.process(events, instants)

    def sweep(self, watermark: int) -> None:
        """Closes windows, so that their partitions can be dropped. The next `close` reports
        them."""
        for executor in self._executors.values():
            for name, blocks in executor.close(watermark).items():
                self._ended.setdefault(name, []).extend(blocks)

    def close(self, watermark: int, workload: Workload) -> Partials:
        """The partial aggregates of the windows that end by the watermark, by query."""
        self.sweep(watermark)
        blocks, self._ended = self._ended, {}
        return {
            query.name: merge(blocks[query.name], [lane.fold for lane in query.lanes])
            for query in workload
            if query.name in blocks
        }

    def set_policy(self, policy: Policy) -> None:
        self._context.policy = policy
        for executor in self._executors.values():
            executor.set_policy(policy)

    def set_plan(self, plan: SharingPlan) -> None:
        before = self._context.plan.granularity
        if self._executors and dict(plan.granularity) != dict(before):
            raise HamletError("the granularity of a query cannot change while it runs")
        self._context.plan = plan
        for executor in self._executors.values():
            executor.set_plan(plan)

    def take_observations(self) -> Observations:
        """The observations since the last call. Executors of several routing groups see the same
        events, each with its own operators."""
        observations = Observations.merge(
            executor.take_observations() for executor in self._executors.values()
        )
        return replace(observations, samples=self.take_samples())

    @property
    def executors(self) -> list[Executor]:
        return list(self._executors.values())

    def state_bytes(self) -> int:
        return sum(executor.state_bytes for executor in self._executors.values())

    def open_windows(self) -> int:
        return sum(executor.open_windows() for executor in self._executors.values())

    def decisions(self) -> list[Decisions]:
        operators = [each for executor in self.executors for each in executor.operators]
        return [made for each in operators if (made := each.decisions()) is not None]

    def take_decisions(self) -> list[Decisions]:
        return [each for executor in self.executors for each in executor.take_decisions()]

    def plan_version(self) -> int:
        return min((executor.plan.version for executor in self.executors), default=0)

    def partitions(self) -> int:
        return sum(executor.partitions for executor in self.executors)

    def live_graphlets(self) -> int:
        return sum(executor.live_graphlets() for executor in self.executors)

    def take_samples(self) -> Samples:
        operators = [each for executor in self.executors for each in executor.operators]
        return Samples.concat(each.take_samples() for each in operators)

    def decision_seconds(self) -> float:
        operators = [each for executor in self.executors for each in executor.operators]
        return sum(each.decision_nanoseconds for each in operators) * 1e-9

    def save(self) -> Iterator[StatePart]:
        yield StatePart("texts", to_bytes({"texts": self._context.texts.all()}), "")
        for executor in self._executors.values():
            yield from executor.save()

    def load(self, part: StatePart) -> None:
        if part.part == "texts":
            self._context.texts.ids(from_bytes(part.data)["texts"])
            return
        for executor in self._executors.values():
            executor.load(part)

    def load_first(self, parts: Mapping[str, Any]) -> None:
        """Does nothing: binding columns needs no saved state."""

    @property
    def types(self) -> Mapping[str, pa.DataType]:
        return self._context.types
