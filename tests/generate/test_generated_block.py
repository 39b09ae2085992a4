"""What columns are made with: values that last, sums and reflections, by partition."""

import numpy as np
import pytest

from runtime.generate.generated_block import GeneratedBlock, fold


@pytest.fixture
def block():
    """Partitions 0, 0, 0, 2, 2, 3 of four; partition 1 has no event."""
    slot = np.array([0, 0, 0, 2, 2, 3])
    return GeneratedBlock(
        rng=np.random.default_rng(0),
        order=np.arange(6),
        slot=slot,
        state=np.zeros(6, dtype=np.uint8),
        active=np.array([0, 2, 3]),
        heads=np.array([0, 3, 5]),
    )


def test_hold(block):
    memory = np.array([10, 11, 12, 13])
    fresh = np.array([False, True, False, False, True, False])
    held = block.hold(fresh, np.arange(6), memory)
    assert held.tolist() == [10, 1, 1, 12, 4, 13]
    assert memory.tolist() == [1, 11, 4, 13]


def test_total(block):
    memory = np.array([10, 0, 20, 30])
    totals = block.total(np.array([1, 2, 3, 4, 5, 6]), memory)
    assert totals.tolist() == [11, 13, 16, 24, 29, 36]
    assert memory.tolist() == [16, 0, 29, 36]


def test_fold_reflects_at_both_bounds():
    walk = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, -1.0, -2.0, -3.0])
    assert fold(walk, 0.0, 2.0).tolist() == [0, 1, 2, 1, 0, 1, 1, 2, 1]
    far = fold(np.linspace(-1e6, 1e6, 1001), -0.5, 0.5)
    assert far.min() >= -0.5
    assert far.max() <= 0.5
