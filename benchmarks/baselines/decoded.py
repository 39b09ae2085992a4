"""A query and its events as arrays, for kernels.

Every type stands in a pattern once, so an event sits in one state or in none. States are the
positions of the pattern, in the order in which they are written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.baselines.system import Unsupported
from runtime.execution.batch import Batch
from runtime.execution.partition_index import PartitionIndex
from runtime.execution.text_dictionary import TextDictionary
from runtime.execution.type_dictionary import TypeDictionary
from runtime.language import ast as s
from runtime.language.query import Fold, Query, Workload
from runtime.pipeline.normalize import Preparer
from runtime.types.columns import TYPE

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int8]

NOWHERE = -1
FOLDS = {Fold.SUM: 0, Fold.MIN: 1, Fold.MAX: 2}
#: What a lane holds of no event.
FUNCTIONS = {"COUNT", "SUM", "MIN", "MAX", "AVG"}
NOTHING = {Fold.SUM: 0.0, Fold.MIN: np.inf, Fold.MAX: -np.inf}
OPERATORS = {"<": 0, "<=": 1, ">": 2, ">=": 3, "=": 4, "!=": 5}


@dataclass(frozen=True)
class Automaton:
    before: Mask  #: [p, t]: p may come right before t
    begins: Mask
    ends: Mask

    @property
    def states(self) -> int:
        return len(self.begins)


@dataclass(frozen=True)
class Adjacent:
    """`left[i] OP right[j]` for neighbours i, j in states p, t where `applies[p, t]`."""

    operator: int
    left: Doubles  #: NaN where null: no comparison with it is true
    right: Doubles
    applies: Mask


@dataclass(frozen=True)
class Groups:
    """Partitions with the same values of the GROUP-BY attributes."""

    of: Ints  #: its number, by slot
    count: int
    values: dict[str, pa.Array]  #: of each attribute, by number


@dataclass(frozen=True)
class Decoded:
    """A query over all events, in order of time."""

    query: Query
    automaton: Automaton
    time: Ints
    slot: Ints  #: of the partition
    state: Codes  #: NOWHERE: another type, or a local condition that is not true
    values: Doubles  #: [lane, event]: what the event adds to each lane
    folds: Codes  #: of lanes
    adjacent: tuple[Adjacent, ...]
    groups: Groups

    @property
    def slots(self) -> int:
        return len(self.groups.of)


def decoded(workload: Workload, table: pa.Table) -> list[Decoded]:
    """Each query of a workload. Queries with the same partitions have the same arrays of them."""
    preparer = Preparer("time", "type", "us", workload.uses)
    whole = table.combine_chunks().to_batches() or [_empty(table.schema)]
    prepared = [preparer.prepare(batch).events for batch in whole]
    joined = pa.Table.from_batches(prepared).combine_chunks()
    events = (joined.to_batches() or [_empty(joined.schema)])[0]
    types = {name: events.schema.field(name).type for name in workload.uses}
    batches: dict[tuple[str, ...], tuple[Batch, PartitionIndex]] = {}
    found = []
    codes = TypeDictionary()
    texts = TextDictionary()
    names = events.column(TYPE).cast(pa.string()).to_numpy(zero_copy_only=False)
    for query in workload:
        _check(query)
        by = query.partition_by
        if by not in batches:
            keys = PartitionIndex({name: types[name] for name in by})
            batches[by] = Batch.of(events, keys, codes, texts, types), keys
        found.append(_decoded(query, *batches[by], names))
    return found


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.record_batch([pa.array([], field.type) for field in schema], schema=schema)


def _check(query: Query) -> None:
    """What no baseline expresses."""
    template = query.template
    kinds = [position.type for position in template.positions]
    for wrong, why in (
        (template.negations, "NOT"),
        (query.conjunctive, "P & Q"),
        (query.least_length > 1, "LENGTH"),
        (query.having is not None, "HAVING"),
        (query.window.counted, "windows of so many events"),
        (len(set(kinds)) < len(kinds), "a type that stands in the pattern twice"),
        (not {m.function.name for m in query.measures} <= FUNCTIONS, "such an aggregate"),
    ):
        if wrong:
            raise Unsupported(f"query `{query.name}`: {why} is not expressed by any baseline")


def _decoded(
    query: Query, batch: Batch, keys: PartitionIndex, names: npt.NDArray[np.object_]
) -> Decoded:
    slot = batch.slots.astype(np.int64)
    state = _states(query, batch, names)
    return Decoded(
        query=query,
        automaton=_automaton(query),
        time=batch.times,
        slot=slot,
        state=state,
        values=_values(query, batch, state),
        folds=np.array([FOLDS[lane.fold] for lane in query.lanes], np.int8),
        adjacent=tuple(_adjacent(query, batch)),
        groups=_groups(query, keys),
    )


def _automaton(query: Query) -> Automaton:
    automaton = query.template.automaton
    states = len(query.template.positions)
    before = np.zeros((states, states), np.bool_)
    for p, t in automaton.edges:
        before[p, t] = True
    return Automaton(before, _marked(states, automaton.first), _marked(states, automaton.last))


def _marked(states: int, places: Iterable[int]) -> Mask:
    found = np.zeros(states, np.bool_)
    found[list(places)] = True
    return found


def _states(query: Query, batch: Batch, names: npt.NDArray[np.object_]) -> Codes:
    state = np.full(batch.size, NOWHERE, np.int8)
    for position in query.template.positions:
        picked = names == position.type
        for condition in query.local:
            if position.index in condition.positions:
                picked = picked & batch.truth(condition.expression)
        state[picked] = position.index
    return state


def _values(query: Query, batch: Batch, state: Codes) -> Doubles:
    values = np.empty((len(query.lanes), batch.size))
    for number, lane in enumerate(query.lanes):
        covered = np.isin(state, list(lane.positions))
        given = batch.lane_values(lane.input)
        values[number] = np.where(covered & ~np.isnan(given), given, NOTHING[lane.fold])
    return values


def _adjacent(query: Query, batch: Batch) -> list[Adjacent]:
    found = []
    states = len(query.template.positions)
    for condition in query.adjacent:
        match condition.expression:
            case s.Compare(
                symbol, s.Attribute(name=left, next=False), s.Attribute(name=right, next=True)
            ):
                pass
            case _:
                raise Unsupported(
                    f"query `{query.name}`: of adjacent conditions, baselines know comparisons "
                    "of one attribute with one attribute"
                )
        if batch.cells(left).is_arrow or batch.cells(right).is_arrow:
            raise Unsupported(f"query `{query.name}`: baselines compare numbers, not text")
        applies = np.zeros((states, states), np.bool_)
        applies[np.ix_(sorted(condition.before), sorted(condition.after))] = True
        found.append(Adjacent(OPERATORS[symbol], batch.number(left), batch.number(right), applies))
    return found


def _groups(query: Query, keys: PartitionIndex) -> Groups:
    slots = np.arange(keys.top)
    columns = dict(zip(query.partition_by, keys.columns(slots), strict=True))
    of = np.zeros(keys.top, np.int64)
    if not query.group_by:
        return Groups(of, 1, {})
    names = [str(number) for number in range(len(query.group_by))]
    given = pa.table([*(columns[name] for name in query.group_by), slots], [*names, "slot"])
    found = pa.TableGroupBy(given, names, use_threads=False).aggregate([("slot", "list")])
    found = found.combine_chunks()
    members = found["slot_list"].combine_chunks()
    of[members.flatten().to_numpy()] = np.repeat(np.arange(len(found)), members.value_lengths())
    values = {
        name: found[number].combine_chunks()
        for name, number in zip(query.group_by, names, strict=True)
    }
    return Groups(of, len(found), values)
