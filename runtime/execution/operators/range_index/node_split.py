"""Splits the full nodes of a tree.

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
    LEAF,
    ROOT,
    SHAPE,
    SIZE,
    children_at,
    exponents_at,
    free_only_leaf,
    leasts_at,
    mantissas_at,
    new_node,
)
from runtime.execution.operators.range_index.node_scan import greatest_exponent, least_of, total_at
from runtime.execution.wide_float import normal


@inlined
def is_full(arena, node):
    return arena.words[node + SIZE] == arena.capacities[arena.words[node + KIND]]


@compiled
def raise_root(arena, tree, node, key, used):
    """Replaces a full root by a larger leaf, or adds a level."""
    words, kind = arena.words, arena.words[node + KIND]
    shape = arena.trees[tree, SHAPE]
    if kind < LEAF:
        free_only_leaf(arena, tree)
        root = new_node(arena, tree, kind + 1)
        for i in range(words[node + SIZE]):
            _move(arena, shape, node, i, root, i, used)
        words[root + SIZE] = words[node + SIZE]
    else:
        root = new_node(arena, tree, INNER)
        words[root + SIZE] = 1
        capacity = arena.capacities[INNER]
        words[children_at(root, capacity, arena.lanes[shape], arena.folds[shape])] = node
        arena.trees[tree, HEIGHT] += 1
        split_child(arena, tree, root, 0, key, used)
    arena.trees[tree, ROOT] = root
    return root


@compiled
def split_child(arena, tree, parent, at, key, used):
    """Splits a full child of a parent that is not full."""
    words, shape = arena.words, arena.trees[tree, SHAPE]
    capacity = arena.capacities[INNER]
    children = children_at(parent, capacity, arena.lanes[shape], arena.folds[shape])
    left = words[children + at]
    size = words[parent + SIZE]
    ahead = at + 1 == size
    right = new_node(arena, tree, words[left + KIND])
    if words[left + KIND] == INNER:
        border = _split_inner(arena, shape, left, right, key, ahead, used)
    else:
        border = _split_leaf(arena, shape, left, right, key, at == 0, ahead, used)
    for i in range(size, at + 1, -1):
        _move(arena, shape, parent, i - 1, parent, i, used)
        words[children + i] = words[children + i - 1]
    words[parent + SIZE] = size + 1
    words[parent + HEAD + at + 1] = border
    words[children + at + 1] = right
    _summarize(arena, tree, parent, at, left, used)
    _summarize(arena, tree, parent, at + 1, right, used)


@compiled
def _split_inner(arena, shape, left, right, key, ahead, used):
    words, capacity = arena.words, arena.capacities[INNER]
    size = words[left + SIZE]
    middle = size - 1 if ahead and key > words[left + HEAD + size - 1] else size // 2
    start = children_at(left, capacity, arena.lanes[shape], arena.folds[shape])
    target = children_at(right, capacity, arena.lanes[shape], arena.folds[shape])
    for i in range(middle, size):
        _move(arena, shape, left, i, right, i - middle, used)
        words[target + i - middle] = words[start + i]
    words[left + SIZE] = middle
    words[right + SIZE] = size - middle
    return words[right + HEAD]


@compiled
def _split_leaf(arena, shape, left, right, key, behind, ahead, used):
    """Keys from the middle one up go to the right. If keys arrive in order, nearly all stay on one
    side, so that leaves end up full."""
    words = arena.words
    size = words[left + SIZE]
    order = arena.sorting[:size]
    for i in range(size):
        each, j = words[left + HEAD + i], i
        while j > 0 and order[j - 1] > each:
            order[j] = order[j - 1]
            j -= 1
        order[j] = each
    middle = size // 2
    if ahead and key > order[size - 1]:
        middle = size - 1
    elif behind and key < order[0]:
        middle = 1
    border, kept, gone = order[middle], 0, 0
    for i in range(size):
        if words[left + HEAD + i] < border:
            if kept < i:
                _move(arena, shape, left, i, left, kept, used)
            kept += 1
        else:
            _move(arena, shape, left, i, right, gone, used)
            gone += 1
    for i in range(kept, size):
        _clear(arena, shape, left, i, used)
    words[left + SIZE] = kept
    words[right + SIZE] = gone
    return border


@compiled
def _move(arena, shape, node, i, target, j, used):
    """Copies one entry of a node over an entry of another node (or the same)."""
    words, width = arena.words, arena.lanes[shape]
    capacity = arena.capacities[words[node + KIND]]
    target_capacity = arena.capacities[words[target + KIND]]
    words[target + HEAD + j] = words[node + HEAD + i]
    for lane in range(used):
        start, end = mantissas_at(node, capacity, lane), mantissas_at(target, target_capacity, lane)
        arena.reals[end + j] = arena.reals[start + i]
        start = exponents_at(node, capacity, width, lane)
        end = exponents_at(target, target_capacity, width, lane)
        arena.halves[end + j] = arena.halves[start + i]
    for fold in range(arena.folds[shape]):
        start = leasts_at(node, capacity, width, fold)
        end = leasts_at(target, target_capacity, width, fold)
        words[end + j] = words[start + i]


@compiled
def _clear(arena, shape, node, i, used):
    """Resets the numbers of an entry to zero."""
    capacity = arena.capacities[arena.words[node + KIND]]
    for lane in range(used):
        arena.reals[mantissas_at(node, capacity, lane) + i] = 0.0
        arena.halves[exponents_at(node, capacity, arena.lanes[shape], lane) + i] = 0


@compiled
def _summarize(arena, tree, parent, at, child, used):
    """Writes the total of a child into its parent."""
    shape = arena.trees[tree, SHAPE]
    size, width = arena.words[child + SIZE], arena.lanes[shape]
    capacity, child_capacity = arena.capacities[INNER], arena.capacities[arena.words[child + KIND]]
    for lane in range(used):
        start = mantissas_at(child, child_capacity, lane)
        values = arena.reals[start : start + size]
        start = exponents_at(child, child_capacity, width, lane)
        powers = arena.halves[start : start + size]
        top = np.int64(greatest_exponent(powers))
        total, power = normal(total_at(values, powers, top), top)
        arena.reals[mantissas_at(parent, capacity, lane) + at] = total
        arena.halves[exponents_at(parent, capacity, width, lane) + at] = power
        if power > 0:
            arena.trees[tree, BIG] = 1
    for fold in range(arena.folds[shape]):
        start = leasts_at(child, child_capacity, width, fold)
        least = least_of(arena.words[start : start + size])
        arena.words[leasts_at(parent, capacity, width, fold) + at] = least
