"""The tables of Kleene states that queries share under comparisons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from runtime.execution.operators.range_index.group_numbering import GroupNumbering, QueryPosition
from runtime.execution.operators.range_index.step_tables import adds, gives, touches
from runtime.execution.operators.range_index.tables import K_COLUMNS, STATE_INTS, Lists, lists_of
from runtime.plan.operators.range_index.kleene_sharing import (
    KleeneCoefficients,
    KleeneStateCosts,
    chunk_sizes,
    kleene_state_costs,
    snapshot_limit,
)


class KleeneLayout(NamedTuple):
    """The shared Kleene states of a group. Their trees follow those of the stores."""

    table: Lists
    states: list[KleeneStateCosts]
    ints: int  # words of a row for all states
    pending: int  # numbers of a row that wait to be given
    lanes: list[int]  # by tree
    trees: list[list[int]]  # by state


def kleene_layout(group: GroupNumbering, costs: KleeneCoefficients) -> KleeneLayout:
    rows, ints, pending = [], 0, 0
    states: list[KleeneStateCosts] = []
    lanes: list[int] = []
    trees: list[list[int]] = []
    for b in group.kleenes:
        block = group.blocks[b]
        assert block.kleene is not None
        key, border = block.kleene
        compared = [parts(group, place) for place in block.places]
        common = int(np.bitwise_and.reduce(compared))
        differ = int(np.bitwise_or.reduce(compared)) & ~common
        width, numbers = 1 + len(touched_columns(group, b)), len(block.numbers)
        limit = snapshot_limit(group.sharing, numbers)
        state = kleene_state_costs(block.type, numbers, width, differ, costs)
        tree = len(group.stores) + len(lanes)
        sizes = chunk_sizes(limit)
        columns = group.orders(key), group.orders(border)
        known = [b, width, limit, common, differ, *columns, tree, ints, pending]
        snapshot = state.snapshot if group.sharing == "dynamic" else 0
        rows.append([*known, group.stores[b, key], snapshot, state.alone, costs.move * numbers])
        states.append(state)
        trees.append(list(range(tree, tree + len(sizes))))
        lanes += (size * width for size in sizes)
        ints += STATE_INTS + limit
        pending += limit * width
    table = lists_of([[row] for row in rows], K_COLUMNS)
    return KleeneLayout(table, states, ints, pending, lanes, trees)


def parts(group: GroupNumbering, place: QueryPosition) -> int:
    return group.edges[place.query][place.position, place.position].parts


def touched_columns(group: GroupNumbering, b: int) -> list[list[int]]:
    """The distinct columns that an event adds to sums of the state."""
    columns = dict.fromkeys((column, ones) for _, _, column, ones in touches(group, b))
    return [list(column) for column in columns]


def members(group: GroupNumbering, b: int) -> list[list[int]]:
    """Every number of the block, in order."""
    block = group.blocks[b]
    columns = touched_columns(group, b)
    touched = {row[0]: columns.index(row[2:]) for row in touches(group, b)}
    return [
        [number, block.numbers[place, -1], parts(group, place), touched.get(number, -1)]
        for (place, _), number in block.numbers.items()
    ]


def flows(group: GroupNumbering) -> tuple[Lists, Lists]:
    blocks = range(len(group.blocks))
    given = [{row[1] for row in gives(group, b, fold=False)} for b in blocks]
    read = [{row[0] for row in adds(group, b, fold=False)} for b in blocks]
    flushes = [
        [[k] for k, owner in enumerate(group.kleenes) if read[b] & given[owner]] for b in blocks
    ]
    stirs = [
        [[k] for k, owner in enumerate(group.kleenes) if given[b] & read[owner]] for b in blocks
    ]
    return lists_of(flushes, 1), lists_of(stirs, 1)


def kleene_probes(group: GroupNumbering) -> tuple[Lists, Lists]:
    """Steps that leave a shared Kleene state under a comparison."""
    by_block: list[list[list[int]]] = [[] for _ in group.blocks]
    targets: list[list[list[int]]] = []
    known: dict[tuple[int, int, int, int], int] = {}
    for b, block in enumerate(group.blocks):
        for place in block.places:
            for before, edge in group.entering(place):
                owner = group.block_of[before]
                if edge is None or owner not in group.kleenes or before == place:
                    continue
                shared = group.blocks[owner].kleene
                assert shared is not None
                assert edge.key == shared[0], "kept by one attribute only"
                key = b, group.kleenes.index(owner), edge.parts, group.orders(edge.border)
                if key not in known:
                    known[key] = len(targets)
                    by_block[b].append([len(targets), *key[1:]])
                    targets.append([])
                for j in group.sums(place.query):
                    number = group.blocks[owner].numbers[before, j]
                    targets[known[key]].append([number, block.numbers[place, j]])
    return lists_of(by_block, 4), lists_of(targets, 2)
