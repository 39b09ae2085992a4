"""A stream and its workload, as an experiment asks for them.

The same arguments give the same events. Events are one microsecond apart, whatever the rate of the
original data. So a window of n microseconds holds exactly n events, and no two have the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from runtime.generate import generate


class Made(NamedTuple):
    """`window_events`: events from the end of a window to that of the next. For windows that do not
    overlap, all of a window. Of several lengths, those of the shortest."""

    workload: str
    table: pa.Table
    window_events: int | None


def drawn(name: str, events: int, *, seed: int, **parameters: Any) -> pa.Table:
    """A stream of the catalog."""
    table = pa.Table.from_batches(list(generate(name, events=events, seed=seed, **parameters)))
    table = replaced(table, "time", pa.array(np.arange(events, dtype=np.int64))).combine_chunks()
    return replaced(table, "type", table["type"].combine_chunks().dictionary_encode())


def replaced(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


def retyped(table: pa.Table, codes: npt.NDArray[np.integer[Any]], names: Sequence[str]) -> pa.Table:
    """The same events, of other types."""
    places = pa.array(codes.astype(np.int32))
    types = pa.DictionaryArray.from_arrays(places, pa.array(names, pa.string()))
    return replaced(table, "type", types)


def is_type(table: pa.Table, name: str) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = text(table, "type") == name
    return found


def text(table: pa.Table, column: str) -> npt.NDArray[np.object_]:
    """A column of words."""
    values = table[column].cast(pa.string())
    return np.asarray(values.to_numpy(zero_copy_only=False), object)


def workload(texts: Sequence[str], clauses: Sequence[str] | str) -> str:
    """A query a line; `clauses` are those after the pattern, of each or the same for all."""
    ends = [clauses] * len(texts) if isinstance(clauses, str) else clauses
    pairs = zip(texts, ends, strict=True)
    return "\n".join(f"QUERY q{n} {query} {end}" for n, (query, end) in enumerate(pairs))
