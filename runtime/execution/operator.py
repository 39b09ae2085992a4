"""The interface of a physical operator: batches of events in, closed windows out.

An operator lives in one process. Its arrays leave it only through `save`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from runtime.execution.batch import Batch
from runtime.execution.column import Ints, Mask
from runtime.execution.context import OperatorContext
from runtime.execution.window_partials import ClosedWindows
from runtime.plan.cost_model import Samples
from runtime.plan.decisions import Decisions
from runtime.plan.operators.operator_node import OperatorNode
from runtime.plan.policy import Policy

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

#: The owner of state that is not kept query by query.
ALL_QUERIES = ""
#: Decisions that are kept as examples.
EXAMPLES = 256


@dataclass(frozen=True)
class OperatorStatistics:
    open_windows: int
    live_graphlets: int = 0  #: bursts that have begun and not ended


class Operator(ABC):
    """Evaluates the queries of one node of the physical plan."""

    @abstractmethod
    def process(self, batch: Batch) -> None:
        """Processes events in order. All events of one instant come in one batch."""

    @abstractmethod
    def close_windows(self, watermark: int) -> list[ClosedWindows]:
        """The windows that end at or before the watermark and the count windows that are full."""

    @abstractmethod
    def save(self) -> dict[str, Arrays]:
        """All state by its owner: the name of a query, or `ALL_QUERIES`."""

    @abstractmethod
    def load(self, owner: str, arrays: Arrays, slots: Ints) -> None:
        """Restores saved state. `slots[old]` is the new number of a partition's slot, or negative
        if the partition had no state."""

    @property
    @abstractmethod
    def state_bytes(self) -> int:
        """The memory of its state."""

    @abstractmethod
    def statistics(self) -> OperatorStatistics: ...

    @abstractmethod
    def live(self, capacity: int) -> Mask:
        """The slots that hold state or results that have not been collected yet."""

    # ---- optional --------------------------------------------------------------------------

    def drain(self, now: int) -> list[ClosedWindows]:
        """Brings the state to a point where `save` can split it by query. Returns the windows that
        close as a result."""
        return []

    def update(self, node: OperatorNode) -> None:  # noqa: B027 (most have nothing to do)
        """Follows a node with the same layout and other settings, or fewer queries."""

    def set_policy(self, policy: Policy) -> None:  # noqa: B027
        """Decides by these coefficients from the next burst on."""

    def decisions(self, last: int = EXAMPLES) -> Decisions | None:
        """The sharing decisions with the `last` most recent examples; None if the operator makes
        no decisions."""
        return None

    def take_samples(self) -> Samples:
        """The bursts that were timed since the last call."""
        return Samples.empty()

    @property
    def decision_nanoseconds(self) -> float:
        """The time that all decisions took."""
        return 0.0

    @property
    def can_specialize(self) -> bool:
        """Whether a kernel compiled for this workload would be faster than the current one."""
        return False

    @property
    def counts_from(self) -> int | None:
        """The time from which its windows count events, if they do."""
        return None


def all_slots(context: OperatorContext) -> Ints:
    """Every slot under its own number."""
    return np.arange(context.keys.capacity)
