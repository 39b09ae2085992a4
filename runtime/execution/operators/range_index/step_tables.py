"""Builds the tables of an event's steps in a block: its inputs, its own values, its outputs."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.execution.operators.range_index.group_numbering import GroupNumbering, QueryPosition
from runtime.execution.operators.range_index.tables import Lists, lists_of
from runtime.language.query import Fold


def kept(group: GroupNumbering, *, fold: bool) -> list[list[list[int]]]:
    """The numbers that each store keeps of an event, by their index in the block's vector."""
    stored = group.store_fold_numbers if fold else group.store_numbers
    return [
        [[(group.blocks[b].folds if fold else group.blocks[b].numbers)[key]] for key in stored[at]]
        for (b, _), at in group.stores.items()
    ]


def of_type(group: GroupNumbering, code: Mapping[str, int]) -> Lists:
    rows: list[list[list[int]]] = [[] for _ in range(max(code.values(), default=-1) + 1)]
    for b, block in enumerate(group.blocks):
        rows[code[block.type]].append([b])
    return lists_of(rows, 1)


def counts(group: GroupNumbering, b: int) -> list[list[int]]:
    block = group.blocks[b]
    return [[block.numbers[place, -1]] for place in block.places]


def starts(group: GroupNumbering, b: int) -> list[list[int]]:
    block = group.blocks[b]
    return [
        [block.numbers[place, -1]]
        for place in block.places
        if place.position in group.queries[place.query].template.automaton.first
    ]


def adds(group: GroupNumbering, b: int, *, fold: bool) -> list[list[int]]:
    block = group.blocks[b]
    totals = group.total_folds if fold else group.totals
    numbers = block.folds if fold else block.numbers
    return [
        [totals[before, j], numbers[place, j]]
        for place in block.places
        for before, edge in group.entering(place)
        if edge is None
        for j in (group.extremes if fold else group.sums)(place.query)
    ]


def probes(group: GroupNumbering) -> tuple[Lists, ...]:
    """Steps from one store with one comparison are one probe, whatever their queries."""
    by_block: list[list[list[int]]] = [[] for _ in group.blocks]
    lanes: list[list[list[int]]] = []
    folds: list[list[list[int]]] = []
    known: dict[tuple[int, int, int, int], int] = {}
    for b, block in enumerate(group.blocks):
        for place in block.places:
            for before, edge in group.entering(place):
                if edge is None:
                    continue
                store = group.stores[group.block_of[before], edge.key]
                key = b, store, edge.parts, group.orders(edge.border)
                if key not in known:
                    known[key] = len(lanes)
                    by_block[b].append([len(lanes), *key[1:]])
                    lanes.append([])
                    folds.append([])
                for j in group.sums(place.query):
                    lane = group.store_numbers[store][before, j]
                    lanes[known[key]].append([lane, block.numbers[place, j]])
                for j in group.extremes(place.query):
                    lane = group.store_fold_numbers[store][before, j]
                    folds[known[key]].append([lane, block.folds[place, j]])
    columns = [
        [[[row[i]] for row in rows] for rows in each] for each in (lanes, folds) for i in (0, 1)
    ]
    return lists_of(by_block, 4), *(lists_of(column, 1) for column in columns)


def touches(group: GroupNumbering, b: int) -> list[list[int]]:
    block, rows = group.blocks[b], []
    for place in block.places:
        for j in group.sums(place.query)[1:]:
            lane = group.queries[place.query].lanes[j]
            if place.position in lane.positions:
                count = block.numbers[place, -1]
                column = group.values(lane.input.column)
                rows.append([block.numbers[place, j], count, column, lane.input.is_count])
    return rows


def fold_touches(group: GroupNumbering, b: int) -> list[list[int]]:
    block, rows = group.blocks[b], []
    for place in block.places:
        for j in group.extremes(place.query):
            lane = group.queries[place.query].lanes[j]
            if place.position in lane.positions:
                count, most = block.numbers[place, -1], lane.fold is Fold.MAX
                column = group.orders(lane.attribute)
                rows.append([block.folds[place, j], count, column, int(most)])
    return rows


def gives(group: GroupNumbering, b: int, *, fold: bool) -> list[list[int]]:
    block, rows = group.blocks[b], []
    totals = group.total_folds if fold else group.totals
    numbers = block.folds if fold else block.numbers
    for place in block.places:
        targets = [place] if group.has_total(place) else []
        if place.position in group.queries[place.query].template.automaton.last:
            targets.append(QueryPosition(place.query, -1))
        for target in targets:
            for j in (group.extremes if fold else group.sums)(place.query):
                rows.append([numbers[place, j], totals[target, j]])
    return rows


def stores(group: GroupNumbering, b: int) -> list[list[int]]:
    return [
        [store, group.orders(key)] for (owner, key), store in group.stores.items() if owner == b
    ]
