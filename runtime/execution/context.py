"""The context of executors and operators: options, the policy, dictionaries and counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from runtime.execution.event_counter import EventCounter
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.text_dictionary import TextDictionary
from runtime.execution.type_dictionary import TypeDictionary
from runtime.plan.policy import Policy
from runtime.plan.sharing_plan import SharingPlan


@dataclass(frozen=True)
class ExecutionOptions:
    """`kernels`: "general" uses the kernel that serves many workloads, "exact" one compiled for
    this workload alone, "auto" the latter if the cache has it."""

    sharing: str = "dynamic"
    kernels: str = "auto"


@dataclass
class ExecutorContext:
    """The state that the executors of an engine share. `types` grows with the workload."""

    options: ExecutionOptions
    policy: Policy | None = None  #: None: the one measured on this machine
    plan: SharingPlan = field(default_factory=SharingPlan)
    codes: TypeDictionary = field(default_factory=TypeDictionary)
    texts: TextDictionary = field(default_factory=TextDictionary)
    types: Mapping[str, pa.DataType] = field(default_factory=dict)


@dataclass
class OperatorContext:
    """The state that the operators of an executor share."""

    executor: ExecutorContext
    keys: PartitionIndex
    _counters: dict[int, EventCounter] = field(default_factory=dict)

    def counter(self, since: int) -> EventCounter:
        """The counter of each partition's events from the time `since` on."""
        if since not in self._counters:
            self._counters[since] = EventCounter(since)
        return self._counters[since]

    @property
    def counters(self) -> Mapping[int, EventCounter]:
        return self._counters

    def keep_counters(self, used: set[int]) -> None:
        self._counters = {
            since: counter for since, counter in self._counters.items() if since in used
        }
