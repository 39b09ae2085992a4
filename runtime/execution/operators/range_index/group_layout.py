"""Lays out the queries of a share group for the kernel of the range-index operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from runtime.execution.operators.range_index import step_tables as steps
from runtime.execution.operators.range_index.group_numbering import GroupNumbering
from runtime.execution.operators.range_index.kleene_tables import (
    KleeneLayout,
    flows,
    kleene_layout,
    kleene_probes,
    members,
    touched_columns,
)
from runtime.execution.operators.range_index.tables import (
    ALWAYS,
    Lists,
    RangeIndexTables,
    lists_of,
)
from runtime.language import ast as s
from runtime.language.aggregates import LaneInput
from runtime.language.query import Query
from runtime.plan.operators.range_index.kleene_sharing import KleeneCoefficients, KleeneStateCosts


@dataclass
class RangeIndexLayout:
    """The tables, and the data that Python needs to call the kernel and read its results."""

    tables: RangeIndexTables
    classes: list[tuple[str, tuple[s.Expression, ...]]]  # by class that has conditions
    orders: list[str]
    values: list[LaneInput]
    lanes: list[int]  # by shape of tree
    folds: list[int]
    trees: int  # of one window and partition
    totals: int
    total_folds: int
    results: list[tuple[list[int], list[int]]]  # by query: totals and folds, lane by lane
    kleene_ints: int
    kleene_pending: int
    snapshot_width: int
    kleenes: list[KleeneStateCosts]
    chunks: list[list[int]]  # by kleene: the shapes of its trees


def lay_out(
    queries: Sequence[Query],
    types: Mapping[str, pa.DataType],
    code: Mapping[str, int],
    sharing: str,
    since: int | None,
    costs: KleeneCoefficients,
) -> RangeIndexLayout:
    """`types` are those of attributes, `code` has the codes of event types."""
    group = GroupNumbering(queries, types, sharing)
    probes = steps.probes(group)
    kleenes = kleene_layout(group, costs)
    tables = _tables(group, code, since, probes, kleenes)
    lanes = [*map(len, group.store_numbers), *kleenes.lanes]
    return RangeIndexLayout(
        tables=tables,
        classes=[(type_, tuple(conditions)) for type_, conditions in group.classes],
        orders=list(group.orders.known),
        values=list(group.values.known),
        lanes=lanes,
        folds=[*map(len, group.store_fold_numbers), *(0 for _ in kleenes.lanes)],
        trees=len(lanes),
        totals=len(group.totals),
        total_folds=len(group.total_folds),
        results=group.results,
        kleene_ints=kleenes.ints,
        kleene_pending=kleenes.pending,
        snapshot_width=max((len(group.blocks[b].numbers) for b in group.kleenes), default=0),
        kleenes=kleenes.states,
        chunks=kleenes.trees,
    )


def _tables(
    group: GroupNumbering,
    code: Mapping[str, int],
    since: int | None,
    probes: tuple[Lists, ...],
    kleenes: KleeneLayout,
) -> RangeIndexTables:
    blocks = range(len(group.blocks))
    flushes, stirs = flows(group)
    leaving, targets = kleene_probes(group)
    return RangeIndexTables(
        window=_window(group.queries[0], since),
        of_type=steps.of_type(group, code),
        blocks=lists_of([[_block(group, b)] for b in blocks], 4),
        counts=lists_of([steps.counts(group, b) for b in blocks], 1),
        starts=lists_of([steps.starts(group, b) for b in blocks], 1),
        adds=lists_of([steps.adds(group, b, fold=False) for b in blocks], 2),
        fold_adds=lists_of([steps.adds(group, b, fold=True) for b in blocks], 2),
        probes=probes[0],
        probe_lanes=probes[1],
        probe_numbers=probes[2],
        probe_folds=probes[3],
        probe_fold_numbers=probes[4],
        touches=lists_of([steps.touches(group, b) for b in blocks], 4),
        fold_touches=lists_of([steps.fold_touches(group, b) for b in blocks], 4),
        gives=lists_of([steps.gives(group, b, fold=False) for b in blocks], 2),
        fold_gives=lists_of([steps.gives(group, b, fold=True) for b in blocks], 2),
        stores=lists_of([steps.stores(group, b) for b in blocks], 2),
        store_lanes=lists_of(steps.kept(group, fold=False), 1),
        store_folds=lists_of(steps.kept(group, fold=True), 1),
        kleenes=kleenes.table,
        members=lists_of([members(group, b) for b in group.kleenes], 4),
        touched=lists_of([touched_columns(group, b) for b in group.kleenes], 2),
        flushes=flushes,
        stirs=stirs,
        kleene_probes=leaving,
        kleene_targets=targets,
    )


def _window(query: Query, since: int | None) -> Lists:
    window = query.window
    at_once = window.open_at_once
    begin = ALWAYS if since is None else since
    return lists_of([[[window.within, window.slide, int(window.counted), at_once, begin]]], 5)


def _block(group: GroupNumbering, b: int) -> list[int]:
    block = group.blocks[b]
    kleene = group.kleenes.index(b) if b in group.kleenes else -1
    return [block.class_, len(block.numbers), len(block.folds), kleene]
