"""Heart rates of patients during their activities, as in query q4 of the COGRA paper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import GeneratedBlock, GeneratedColumn
from runtime.generate.lifecycle import Lifecycle
from runtime.generate.stream import Stream

LIFECYCLE = Lifecycle(
    moves={
        "Slow": {"Rest": 70, "Fast": 30},
        "Rest": {"Slow": 30, "Fast": 30, "Move": 40},
        "Fast": {"Rest": 70, "Slow": 30},
        "Move": {"Rest": 100},
    },
    bursty=("Activity",),
    types=dict.fromkeys(("Slow", "Rest", "Fast", "Move"), "Activity"),
)

# For each state: the bounds of the heart rate, and the activities that go with it.
LOWEST = np.array([40, 60, 101, 85])
HIGHEST = np.array([59, 100, 150, 140])
ACTIVITIES = ("lying", "sitting", "standing", "walking", "cycling", "ironing")
PASSIVE = 3
MOVING = LIFECYCLE.states.index("Move")


class PatientActivities:
    def __init__(self, groups: int, rng: np.random.Generator) -> None:
        self._kinds = pa.array(["passive", "active"])
        self._activities = pa.array(ACTIVITIES)

    def __call__(self, block: GeneratedBlock) -> Mapping[str, GeneratedColumn]:
        active = (block.state == MOVING).astype(np.int64)
        rate = block.rng.integers(LOWEST[block.state], HIGHEST[block.state], endpoint=True)
        activity = block.rng.integers(PASSIVE, size=block.size) + active * PASSIVE
        return {
            "patient": GeneratedColumn(block.slot + 1),
            "kind": GeneratedColumn(active, self._kinds),
            "activity": GeneratedColumn(activity, self._activities),
            "rate": GeneratedColumn(rate),
        }


STREAM = Stream(
    name="patients",
    description="heart rates of patients, at times too slow or too fast, and what they are doing",
    lifecycle=LIFECYCLE,
    runs="activities of a patient with a slow, a fast or a normal heart rate, or on the move",
    partition=("patient",),
    attributes={
        "patient": pa.int64(),
        "kind": pa.string(),
        "activity": pa.string(),
        "rate": pa.int64(),
    },
    unit="us",
    rate=840,
    burst=3,
    groups=14,
    columns=PatientActivities,
)
