"""What the tests of generated streams share."""

from collections.abc import Callable

import pyarrow as pa
import pytest

from runtime.generate import generate, schema, streams


@pytest.fixture(scope="session")
def table() -> Callable[..., pa.Table]:
    """`table("stock", events=100)` is the whole stream."""

    def whole(name: str, **parameters: object) -> pa.Table:
        return pa.Table.from_batches(generate(name, **parameters), schema=schema(name))

    return whole


@pytest.fixture(scope="session")
def partitions(table: Callable[..., pa.Table]) -> Callable[..., list[list[dict[str, object]]]]:
    """`partitions("stock", events=100)` is a list of events, in order, for each partition."""

    def split(name: str, **parameters: object) -> list[list[dict[str, object]]]:
        keys = streams()[name].partition
        found: dict[tuple[object, ...], list[dict[str, object]]] = {}
        for event in table(name, **parameters).to_pylist():
            found.setdefault(tuple(event[key] for key in keys), []).append(event)
        return list(found.values())

    return split
