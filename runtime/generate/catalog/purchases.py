"""What customers of a shop buy, as in figure 2 of the SHARON paper; the type is the item."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from runtime.generate.generated_block import GeneratedBlock, GeneratedColumn
from runtime.generate.lifecycle import Lifecycle
from runtime.generate.stream import Stream

HABITS = {
    "Laptop": {"Case": 80, "Mouse": 10, "Phone": 10},
    "Case": {"Adapter": 40, "KeyBoardProtector": 25, "Phone": 25, "Laptop": 10},
    "Adapter": {"Mouse": 50, "Monitor": 30, "Laptop": 20},
    "Mouse": {"Monitor": 40, "Laptop": 40, "Phone": 20},
    "KeyBoardProtector": {"Monitor": 40, "Laptop": 40, "Phone": 20},
    "Monitor": {"Laptop": 80, "Mouse": 20},
    "Phone": {"ScreenProtector": 80, "Laptop": 20},
    "ScreenProtector": {"Monitor": 40, "Laptop": 60},
}
LIFECYCLE = Lifecycle(moves=HABITS, bursty=tuple(HABITS), types={})
PRICES = np.array([1200.0, 40.0, 35.0, 25.0, 15.0, 300.0, 800.0, 12.0])


class ShopPurchases:
    def __init__(self, groups: int, rng: np.random.Generator) -> None:
        self._prices = PRICES * rng.uniform(0.9, 1.1, len(PRICES))

    def __call__(self, block: GeneratedBlock) -> Mapping[str, GeneratedColumn]:
        price = self._prices[block.state] * block.uniform(0.7, 1.5)
        return {
            "customer": GeneratedColumn(block.slot + 1),
            "price": GeneratedColumn(np.round(price, 2)),
        }


STREAM = Stream(
    name="purchases",
    description="purchases of customers, one item leading to the next; the type is the item",
    lifecycle=LIFECYCLE,
    runs="purchases of one item by a customer",
    partition=("customer",),
    attributes={"customer": pa.int64(), "price": pa.float64()},
    unit="us",
    rate=600,
    burst=1,
    groups=50,
    columns=ShopPurchases,
)
