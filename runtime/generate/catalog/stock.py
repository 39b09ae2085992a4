"""Transactions of companies by sector, as in query q3 of the COGRA paper."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import GeneratedBlock, GeneratedColumn, fold
from runtime.generate.lifecycle import Lifecycle
from runtime.generate.stream import Stream

LIFECYCLE = Lifecycle(
    moves={"Rise": {"Fall": 1}, "Fall": {"Rise": 1}},
    bursty=("Stock",),
    types={"Rise": "Stock", "Fall": "Stock"},
)
DIRECTION = np.array([1.0, -1.0])

SECTORS = (
    "Communication", "Consumer", "Energy", "Finance", "Health", "Industry", "Materials",
    "Property", "Staples", "Technology", "Utilities",
)  # fmt: skip

# A price moves by at least 0.04% and stays between half and twice of what it was at first.
STEP = (0.0004, 0.002)
BAND = float(np.log(2.0))


class StockTransactions:
    """Remembers how far each company's price has moved."""

    def __init__(self, groups: int, rng: np.random.Generator) -> None:
        width = max(3, len(str(groups)))
        self._names = pa.array([f"C{number:0{width}}" for number in range(1, groups + 1)])
        self._sectors = pa.array(SECTORS)
        self._first = rng.uniform(50.0, 500.0, groups)
        self._moved = np.zeros(groups)

    def __call__(self, block: GeneratedBlock) -> Mapping[str, GeneratedColumn]:
        steps = DIRECTION[block.state] * block.uniform(*STEP)
        moved = fold(block.total(steps, self._moved), -BAND, BAND)
        return {
            "company": GeneratedColumn(block.slot, self._names),
            "sector": GeneratedColumn(block.slot % len(SECTORS), self._sectors),
            "price": GeneratedColumn(np.round(self._first[block.slot] * np.exp(moved), 2)),
            "volume": GeneratedColumn(block.rng.integers(1, 100, block.size) * 100),
        }


STREAM = Stream(
    name="stock",
    description="transactions of companies by sector, with prices that rise and fall in trends",
    lifecycle=LIFECYCLE,
    runs="transactions of a company with the price moving one way",
    partition=("company", "sector"),
    attributes={
        "company": pa.string(),
        "sector": pa.string(),
        "price": pa.float64(),
        "volume": pa.int64(),
    },
    unit="s",
    rate=4_500,
    burst=4,
    groups=220,
    columns=StockTransactions,
)
