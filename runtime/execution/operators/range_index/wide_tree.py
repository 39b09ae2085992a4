"""Trees with wide nodes that compute sums over ranges of keys; entries are never removed.

An entry is a key with a vector of wide floats (summed over a range) and of least values (the
smallest of a range). Entries with equal keys are one entry. An inner node keeps the total of every
child, so the total over the keys below, at or above a border is the sum of whole children along
one path; nothing is ever subtracted. Leaves are not sorted: entries are appended, and a range query
scans them, which is faster than moving entries. If no exponent of a tree is set, totals are plain
sums over contiguous doubles.

`used` is how many numbers of a tree's shape are in use so far: the others stay zero.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import compiled, inlined
from runtime.execution.operators.range_index.node_arena import (
    BIG,
    HEAD,
    HEIGHT,
    INNER,
    KIND,
    NONE,
    ROOT,
    SHAPE,
    SIZE,
    children_at,
    exponents_at,
    leasts_at,
    mantissas_at,
    new_node,
)
from runtime.execution.operators.range_index.node_scan import (
    NOTHING,
    count_up_to,
    greatest_exponent,
    least_of,
    place_of,
    range_greatest_exponent,
    range_least,
    range_total,
    range_total_at,
    total_at,
    total_of,
)
from runtime.execution.operators.range_index.node_split import is_full, raise_root, split_child
from runtime.execution.wide_float import LARGE, add, normal
from runtime.plan.operators.range_index.key_range import ABOVE, AT, BELOW


@compiled
def gather(arena, tree, key, parts, lanes, into, folds, folds_into, m, e, x):
    """Adds the total over a range (`parts` of BELOW, AT, ABOVE the key) to `m, e, x`: each of
    `lanes` at the index in `into`, and likewise for the least values."""
    node = arena.trees[tree, ROOT]
    if node == NONE:
        return
    shape, big = arena.trees[tree, SHAPE], arena.trees[tree, BIG] != 0
    width, depth = arena.lanes[shape], arena.folds[shape]
    for _ in range(arena.trees[tree, HEIGHT]):
        size, capacity = arena.words[node + SIZE], arena.capacities[INNER]
        at = child_of(arena, node, key)
        for side in range(2):
            low, high = (0, at) if side == 0 else (at + 1, size)
            if low >= high or not parts & (BELOW if side == 0 else ABOVE):
                continue
            for i in range(lanes.size):
                start = mantissas_at(node, capacity, lanes[i])
                values, top = arena.reals[start + low : start + high], np.int64(0)
                if big:
                    start = exponents_at(node, capacity, width, lanes[i])
                    powers = arena.halves[start + low : start + high]
                    top = np.int64(greatest_exponent(powers))
                value = total_of(values) if top == 0 else total_at(values, powers, top)
                _add_to(m, e, into[i], value, top)
            for i in range(folds.size):
                start = leasts_at(node, capacity, width, folds[i])
                x[folds_into[i]] = min(
                    x[folds_into[i]], least_of(arena.words[start + low : start + high])
                )
        node = arena.words[children_at(node, capacity, width, depth) + at]
    size, capacity = arena.words[node + SIZE], arena.capacities[arena.words[node + KIND]]
    keys = arena.words[node + HEAD : node + HEAD + size]
    below, same, above = parts & BELOW != 0, parts & AT != 0, parts & ABOVE != 0
    for i in range(lanes.size):
        start = mantissas_at(node, capacity, lanes[i])
        values, top = arena.reals[start : start + size], np.int64(0)
        if big:
            start = exponents_at(node, capacity, width, lanes[i])
            powers = arena.halves[start : start + size]
            top = np.int64(range_greatest_exponent(keys, powers, key, below, same, above))
        if top == 0:
            value = range_total(keys, values, key, below, same, above)
        else:
            value = range_total_at(keys, values, powers, top, key, below, same, above)
        _add_to(m, e, into[i], value, top)
    for i in range(folds.size):
        start = leasts_at(node, capacity, width, folds[i])
        least = range_least(keys, arena.words[start : start + size], key, below, same, above)
        x[folds_into[i]] = min(x[folds_into[i]], least)


@inlined
def _add_to(m, e, place, value, power):
    """Adds a sum that may be out of its range to a number in an array."""
    if power == 0 and e[place] == 0 and abs(m[place] + value) < LARGE:
        m[place] += value
    else:
        value, power = normal(value, power)
        m[place], e[place] = add(m[place], np.int64(e[place]), value, power)


@compiled
def insert(arena, tree, key, m, e, x, used):
    """Adds an entry of `used` numbers and all least values of the tree's shape. The caller has
    checked that it fits. Full nodes are split on the way down, so one pass is enough."""
    words = arena.words
    node = arena.trees[tree, ROOT]
    if node == NONE:
        node = new_node(arena, tree, 0)
        arena.trees[tree, ROOT] = node
    elif is_full(arena, node):
        node = raise_root(arena, tree, node, key, used)
    shape = arena.trees[tree, SHAPE]
    width, depth, capacity = arena.lanes[shape], arena.folds[shape], arena.capacities[INNER]
    for _ in range(arena.trees[tree, HEIGHT]):
        at = child_of(arena, node, key)
        children = children_at(node, capacity, width, depth)
        child = words[children + at]
        if is_full(arena, child):
            split_child(arena, tree, node, at, key, used)
            if key >= words[node + HEAD + at + 1]:
                at += 1
                child = words[children + at]
        _merge(arena, tree, node, capacity, at, m, e, x, used)
        node = child
    size, start = words[node + SIZE], node + HEAD
    capacity = arena.capacities[words[node + KIND]]
    at = place_of(words[start : start + size], key)
    if at == NONE:
        at = size
        words[start + at] = key
        words[node + SIZE] = size + 1
        for fold in range(depth):
            words[leasts_at(node, capacity, width, fold) + at] = NOTHING
    _merge(arena, tree, node, capacity, at, m, e, x, used)


@inlined
def _merge(arena, tree, node, capacity, at, m, e, x, used):
    """Adds numbers to an entry of a node; a new entry holds zeros."""
    shape, big = arena.trees[tree, SHAPE], arena.trees[tree, BIG] != 0
    width = arena.lanes[shape]
    for lane in range(used):
        place = mantissas_at(node, capacity, lane) + at
        total = arena.reals[place] + m[lane]
        if not big and e[lane] == 0 and abs(total) < LARGE:
            arena.reals[place] = total
            continue
        power_place = exponents_at(node, capacity, width, lane) + at
        power = np.int64(arena.halves[power_place])
        total, power = add(arena.reals[place], power, m[lane], np.int64(e[lane]))
        arena.reals[place] = total
        arena.halves[power_place] = power
        if power > 0:
            arena.trees[tree, BIG] = 1
    for fold in range(arena.folds[shape]):
        place = leasts_at(node, capacity, width, fold) + at
        arena.words[place] = min(arena.words[place], x[fold])


@inlined
def child_of(arena, node, key):
    """The child that a key belongs to. A separator is the least key of its child; all smaller keys
    belong to the first child."""
    start = node + HEAD
    return count_up_to(arena.words[start + 1 : start + arena.words[node + SIZE]], key)
