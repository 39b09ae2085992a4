"""Trees with wide nodes that add up ranges of keys: entries go in, none goes out.

An entry is a key with a vector of extended numbers (summed over a range) and of least values (the
smallest of a range). Entries of equal keys are one entry. An inner node keeps the total of every
child, so the total over the keys below, at or above a border is put together from whole children
along one path; nothing is ever subtracted. Leaves are not sorted: an entry is put at their end,
and a range scans them, which is faster than moving entries. Where no exponent of a tree is set,
totals are plain sums over contiguous doubles.

`used` is how many numbers of a tree's shape carry anything yet: the others are zero, and are
not touched.
"""

from __future__ import annotations

import numpy as np

from runtime.execution.jit import compiled, inlined, scanning
from runtime.execution.operators.range_index.node_arena import (
    BIG,
    HEAD,
    HEIGHT,
    INNER,
    KIND,
    LEAF,
    NONE,
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
from runtime.execution.wide_float import LARGE, SMALL, add, normal
from runtime.plan.operators.range_index.comparison_edges import ABOVE, AT, BELOW

# Which keys a range holds, seen from the border: a comparison is a set of these.
NOTHING = np.iinfo(np.int64).max  # the least of no values


# ---- sums over a part of a node: few arguments and no calls, so that they become vector code --


@scanning
def _total(values):
    total = 0.0
    for i in range(values.size):
        total += values[i]
    return total


@scanning
def _total_at(values, powers, top):
    """The sum in units of the greatest exponent; what is two below it does not count."""
    total, less = 0.0, 0.0
    for i in range(values.size):
        total += values[i] if powers[i] == top else 0.0
        less += values[i] if powers[i] == top - 1 else 0.0
    return total + less * SMALL


@scanning
def _top(powers):
    top = np.int32(0)
    for i in range(powers.size):
        top = max(top, powers[i])
    return top


@inlined
def _inside(each, key, below, at, above):
    return (below & (each < key)) | (at & (each == key)) | (above & (each > key))


@scanning
def _range_total(keys, values, key, below, at, above):
    total = 0.0
    for i in range(keys.size):
        total += values[i] if _inside(keys[i], key, below, at, above) else 0.0
    return total


@scanning
def _range_total_at(keys, values, powers, top, key, below, at, above):
    total, less = 0.0, 0.0
    for i in range(keys.size):
        value = values[i] if _inside(keys[i], key, below, at, above) else 0.0
        total += value if powers[i] == top else 0.0
        less += value if powers[i] == top - 1 else 0.0
    return total + less * SMALL


@scanning
def _range_top(keys, powers, key, below, at, above):
    top = np.int32(0)
    for i in range(keys.size):
        top = max(top, powers[i] if _inside(keys[i], key, below, at, above) else np.int32(0))
    return top


@scanning
def _range_least(keys, leasts, key, below, at, above):
    least = NOTHING
    for i in range(keys.size):
        least = min(least, leasts[i] if _inside(keys[i], key, below, at, above) else NOTHING)
    return least


@scanning
def _least(leasts):
    least = NOTHING
    for i in range(leasts.size):
        least = min(least, leasts[i])
    return least


@scanning
def _count_up_to(keys, key):
    count = 0
    for i in range(keys.size):
        count += keys[i] <= key
    return count


@scanning
def _place_of(keys, key):
    place = NONE
    for i in range(keys.size):
        place = i if keys[i] == key else place
    return place


@inlined
def _child_of(pool, node, key):
    """Which child a key belongs to. A separator is the least key of its child; the first child
    takes all that is less."""
    start = node + HEAD
    return _count_up_to(pool.words[start + 1 : start + pool.words[node + SIZE]], key)


# ---- ranges --------------------------------------------------------------------------------


@compiled
def gather(pool, tree, key, parts, lanes, into, folds, folds_into, m, e, x):
    """Adds the total over a range (`parts` of BELOW, AT, ABOVE the key) to `m, e, x`: of each of
    `lanes` at the place that `into` says, and so for the least values."""
    node = pool.trees[tree, ROOT]
    if node == NONE:
        return
    shape, big = pool.trees[tree, SHAPE], pool.trees[tree, BIG] != 0
    width, depth = pool.lanes[shape], pool.folds[shape]
    for _ in range(pool.trees[tree, HEIGHT]):
        size, room = pool.words[node + SIZE], pool.rooms[INNER]
        at = _child_of(pool, node, key)
        for side in range(2):
            low, high = (0, at) if side == 0 else (at + 1, size)
            if low >= high or not parts & (BELOW if side == 0 else ABOVE):
                continue
            for i in range(lanes.size):
                start = mantissas_at(node, room, lanes[i])
                values, top = pool.reals[start + low : start + high], np.int64(0)
                if big:
                    start = exponents_at(node, room, width, lanes[i])
                    powers = pool.halves[start + low : start + high]
                    top = np.int64(_top(powers))
                value = _total(values) if top == 0 else _total_at(values, powers, top)
                _add_to(m, e, into[i], value, top)
            for i in range(folds.size):
                start = leasts_at(node, room, width, folds[i])
                x[folds_into[i]] = min(
                    x[folds_into[i]], _least(pool.words[start + low : start + high])
                )
        node = pool.words[children_at(node, room, width, depth) + at]
    size, room = pool.words[node + SIZE], pool.rooms[pool.words[node + KIND]]
    keys = pool.words[node + HEAD : node + HEAD + size]
    below, same, above = parts & BELOW != 0, parts & AT != 0, parts & ABOVE != 0
    for i in range(lanes.size):
        start = mantissas_at(node, room, lanes[i])
        values, top = pool.reals[start : start + size], np.int64(0)
        if big:
            start = exponents_at(node, room, width, lanes[i])
            powers = pool.halves[start : start + size]
            top = np.int64(_range_top(keys, powers, key, below, same, above))
        if top == 0:
            value = _range_total(keys, values, key, below, same, above)
        else:
            value = _range_total_at(keys, values, powers, top, key, below, same, above)
        _add_to(m, e, into[i], value, top)
    for i in range(folds.size):
        start = leasts_at(node, room, width, folds[i])
        least = _range_least(keys, pool.words[start : start + size], key, below, same, above)
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
def holds(pool, tree, key):
    """Whether some entry has this key."""
    node = pool.trees[tree, ROOT]
    if node == NONE:
        return False
    shape = pool.trees[tree, SHAPE]
    for _ in range(pool.trees[tree, HEIGHT]):
        at = _child_of(pool, node, key)
        first = children_at(node, pool.rooms[INNER], pool.lanes[shape], pool.folds[shape])
        node = pool.words[first + at]
    start = node + HEAD
    return _place_of(pool.words[start : start + pool.words[node + SIZE]], key) != NONE


# ---- insertion -----------------------------------------------------------------------------


@compiled
def insert(pool, tree, key, m, e, x, used):
    """Adds an entry, of `used` numbers and all least values of the tree's shape. The pool must
    have room. Nodes that are full are split on the way down, so one pass is enough."""
    words = pool.words
    node = pool.trees[tree, ROOT]
    if node == NONE:
        node = new_node(pool, tree, 0)
        pool.trees[tree, ROOT] = node
    elif _is_full(pool, node):
        node = _raise(pool, tree, node, key, used)
    shape = pool.trees[tree, SHAPE]
    width, depth, room = pool.lanes[shape], pool.folds[shape], pool.rooms[INNER]
    for _ in range(pool.trees[tree, HEIGHT]):
        at = _child_of(pool, node, key)
        children = children_at(node, room, width, depth)
        child = words[children + at]
        if _is_full(pool, child):
            _split(pool, tree, node, at, key, used)
            if key >= words[node + HEAD + at + 1]:
                at += 1
                child = words[children + at]
        _merge(pool, tree, node, room, at, m, e, x, used)
        node = child
    size, start = words[node + SIZE], node + HEAD
    room = pool.rooms[words[node + KIND]]
    at = _place_of(words[start : start + size], key)
    if at == NONE:
        at = size
        words[start + at] = key
        words[node + SIZE] = size + 1
        for fold in range(depth):
            words[leasts_at(node, room, width, fold) + at] = NOTHING
    _merge(pool, tree, node, room, at, m, e, x, used)


@inlined
def _is_full(pool, node):
    return pool.words[node + SIZE] == pool.rooms[pool.words[node + KIND]]


@inlined
def _merge(pool, tree, node, room, at, m, e, x, used):
    """Adds to what is at a place of a node; a place that is new holds zeros."""
    shape, big = pool.trees[tree, SHAPE], pool.trees[tree, BIG] != 0
    width = pool.lanes[shape]
    for lane in range(used):
        place = mantissas_at(node, room, lane) + at
        total = pool.reals[place] + m[lane]
        if not big and e[lane] == 0 and abs(total) < LARGE:
            pool.reals[place] = total
            continue
        power_place = exponents_at(node, room, width, lane) + at
        power = np.int64(pool.halves[power_place])
        total, power = add(pool.reals[place], power, m[lane], np.int64(e[lane]))
        pool.reals[place] = total
        pool.halves[power_place] = power
        if power > 0:
            pool.trees[tree, BIG] = 1
    for fold in range(pool.folds[shape]):
        place = leasts_at(node, room, width, fold) + at
        pool.words[place] = min(pool.words[place], x[fold])


# ---- nodes that are full -------------------------------------------------------------------


@compiled
def _raise(pool, tree, node, key, used):
    """A root with room in place of one that is full: a larger leaf, or a level more."""
    words, kind = pool.words, pool.words[node + KIND]
    shape = pool.trees[tree, SHAPE]
    if kind < LEAF:
        free_only_leaf(pool, tree)
        root = new_node(pool, tree, kind + 1)
        for i in range(words[node + SIZE]):
            _move(pool, shape, node, i, root, i, used)
        words[root + SIZE] = words[node + SIZE]
    else:
        root = new_node(pool, tree, INNER)
        words[root + SIZE] = 1
        words[children_at(root, pool.rooms[INNER], pool.lanes[shape], pool.folds[shape])] = node
        pool.trees[tree, HEIGHT] += 1
        _split(pool, tree, root, 0, key, used)
    pool.trees[tree, ROOT] = root
    return root


@compiled
def _split(pool, tree, parent, at, key, used):
    """Splits a full child of a parent that is not full."""
    words, shape = pool.words, pool.trees[tree, SHAPE]
    room = pool.rooms[INNER]
    children = children_at(parent, room, pool.lanes[shape], pool.folds[shape])
    left = words[children + at]
    size = words[parent + SIZE]
    ahead = at + 1 == size
    right = new_node(pool, tree, words[left + KIND])
    if words[left + KIND] == INNER:
        border = _split_inner(pool, shape, left, right, key, ahead, used)
    else:
        border = _split_leaf(pool, shape, left, right, key, at == 0, ahead, used)
    for i in range(size, at + 1, -1):
        _move(pool, shape, parent, i - 1, parent, i, used)
        words[children + i] = words[children + i - 1]
    words[parent + SIZE] = size + 1
    words[parent + HEAD + at + 1] = border
    words[children + at + 1] = right
    _summarise(pool, tree, parent, at, left, used)
    _summarise(pool, tree, parent, at + 1, right, used)


@compiled
def _split_inner(pool, shape, left, right, key, ahead, used):
    words, room = pool.words, pool.rooms[INNER]
    size = words[left + SIZE]
    middle = size - 1 if ahead and key > words[left + HEAD + size - 1] else size // 2
    start = children_at(left, room, pool.lanes[shape], pool.folds[shape])
    target = children_at(right, room, pool.lanes[shape], pool.folds[shape])
    for i in range(middle, size):
        _move(pool, shape, left, i, right, i - middle, used)
        words[target + i - middle] = words[start + i]
    words[left + SIZE] = middle
    words[right + SIZE] = size - middle
    return words[right + HEAD]


@compiled
def _split_leaf(pool, shape, left, right, key, behind, ahead, used):
    """Keys from the middle one up go to the right. Where keys come in order, nearly all stay on
    one side, so that leaves end up full."""
    words = pool.words
    size = words[left + SIZE]
    order = pool.sorting[:size]
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
                _move(pool, shape, left, i, left, kept, used)
            kept += 1
        else:
            _move(pool, shape, left, i, right, gone, used)
            gone += 1
    for i in range(kept, size):
        _clear(pool, shape, left, i, used)
    words[left + SIZE] = kept
    words[right + SIZE] = gone
    return border


@compiled
def _move(pool, shape, node, i, target, j, used):
    """Writes one entry of a node over one of another (or the same)."""
    words, width = pool.words, pool.lanes[shape]
    room, target_room = pool.rooms[words[node + KIND]], pool.rooms[words[target + KIND]]
    words[target + HEAD + j] = words[node + HEAD + i]
    for lane in range(used):
        start, end = mantissas_at(node, room, lane), mantissas_at(target, target_room, lane)
        pool.reals[end + j] = pool.reals[start + i]
        start = exponents_at(node, room, width, lane)
        end = exponents_at(target, target_room, width, lane)
        pool.halves[end + j] = pool.halves[start + i]
    for fold in range(pool.folds[shape]):
        start, end = leasts_at(node, room, width, fold), leasts_at(target, target_room, width, fold)
        words[end + j] = words[start + i]


@compiled
def _clear(pool, shape, node, i, used):
    """Makes the numbers of a place zero again."""
    room = pool.rooms[pool.words[node + KIND]]
    for lane in range(used):
        pool.reals[mantissas_at(node, room, lane) + i] = 0.0
        pool.halves[exponents_at(node, room, pool.lanes[shape], lane) + i] = 0


@compiled
def _summarise(pool, tree, parent, at, child, used):
    """Writes the total of a child into its parent."""
    shape = pool.trees[tree, SHAPE]
    size, width = pool.words[child + SIZE], pool.lanes[shape]
    room, child_room = pool.rooms[INNER], pool.rooms[pool.words[child + KIND]]
    for lane in range(used):
        start = mantissas_at(child, child_room, lane)
        values = pool.reals[start : start + size]
        start = exponents_at(child, child_room, width, lane)
        powers = pool.halves[start : start + size]
        top = np.int64(_top(powers))
        total, power = normal(_total_at(values, powers, top), top)
        pool.reals[mantissas_at(parent, room, lane) + at] = total
        pool.halves[exponents_at(parent, room, width, lane) + at] = power
        if power > 0:
            pool.trees[tree, BIG] = 1
    for fold in range(pool.folds[shape]):
        start = leasts_at(child, child_room, width, fold)
        least = _least(pool.words[start : start + size])
        pool.words[leasts_at(parent, room, width, fold) + at] = least
