"""Simulates the lifecycle of every partition, one block of events at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runtime.generate.generated_block import BLOCK, GeneratedBlock
from runtime.generate.lifecycle import Floats

# A jump is looked up by a 16-bit random number: chances are exact to 1 in 65,536.
JUMPS = 1 << 16


@dataclass(frozen=True)
class MarkovChain:
    """How long runs last and what follows them. Run lengths are geometric, hence memoryless."""

    leave: tuple[float, ...]
    jump: tuple[bytes, ...]
    start: Floats


def chain(flows: Floats, lengths: Floats) -> MarkovChain:
    """From the flows between states and the mean run length in each state."""
    runs = flows.sum(axis=1)
    events = runs * lengths
    return MarkovChain(
        leave=tuple((1.0 / lengths).tolist()),
        jump=tuple(_jumps(row) for row in flows),
        start=np.asarray(events / events.sum()),
    )


def _jumps(weights: Floats) -> bytes:
    """Every state as often as its weight says; a state that is never left may hold anything."""
    if weights.sum() == 0:
        return bytes(JUMPS)
    bounds = np.rint(np.cumsum(weights) / weights.sum() * JUMPS).astype(np.int64)
    return np.repeat(np.arange(len(weights), dtype=np.uint8), np.diff(bounds, prepend=0)).tobytes()


class Walker:
    """The state of every partition. Grows with the number of partitions, not with the stream."""

    def __init__(self, steps: MarkovChain, groups: int, rng: np.random.Generator) -> None:
        self._chain = steps
        self._groups = groups
        # As if the stream had run forever: shares hold from the first event on.
        drawn = rng.choice(len(steps.start), size=groups, p=steps.start)
        self._state: list[int] = drawn.tolist()

    def block(self, rng: np.random.Generator) -> GeneratedBlock:
        # Small integers are sorted by radix.
        dtype = np.uint16 if self._groups <= JUMPS else np.uint32
        slots = rng.integers(self._groups, size=BLOCK, dtype=dtype)
        order = np.argsort(slots, kind="stable")
        slot = slots[order].astype(np.int64)
        heads = np.flatnonzero(np.diff(slot, prepend=-1))
        active = slot[heads]
        state = self._walk(rng, active, np.diff(heads, append=BLOCK))
        return GeneratedBlock(rng, order, slot, state, active, heads)

    def _walk(
        self, rng: np.random.Generator, active: NDArray[np.int64], counts: NDArray[np.intp]
    ) -> NDArray[np.uint8]:
        """Plain Python: one event costs some 60 ns, and no vector could look ahead."""
        leave, jump, states = self._chain.leave, self._chain.jump, self._state
        leaving = rng.random(BLOCK).tolist()
        target = rng.integers(JUMPS, size=BLOCK, dtype=np.uint16).tolist()
        walked = bytearray(BLOCK)
        begin = 0
        for slot, count in zip(active.tolist(), counts.tolist(), strict=True):
            state = states[slot]
            for at in range(begin, begin + count):
                if leaving[at] < leave[state]:
                    state = jump[state][target[at]]
                walked[at] = state
            begin += count
            states[slot] = state
        return np.frombuffer(walked, dtype=np.uint8)
