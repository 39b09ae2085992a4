"""Where the nodes of many trees live: one flat buffer that grows by being replaced.

Every tree has a *shape*: how many numbers and how many least values an entry carries. A node is a
block of the buffer, known by the place where it starts, with all that belongs to it side by side:

    size, kind, next | keys | mantissas, lane by lane | exponents | least values | children

A node that is freed goes to a list of its shape and kind, where the next one is taken from.
Kernels never allocate: they ask `has_room` before they change anything, and leave for Python to
call `grown` if there is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import compiled, inlined

Ints = npt.NDArray[np.int64]

# Kinds of nodes by their room for entries. A tree of few entries is one small leaf, so that
# millions of partitions with a handful of events each stay small.
ROOMS = (4, 16, 32, 64)
LEAF, INNER = 2, 3
KINDS = len(ROOMS)

SIZE, KIND, NEXT, HEAD = 0, 1, 2, 4
# The head of a tree. BIG: some exponent is not zero. Two chains hold all its leaves and inner
# nodes (first, last), so that a tree is freed in constant time.
ROOT, HEIGHT, BIG, SHAPE, FIRST_LEAF, LAST_LEAF, FIRST_INNER, LAST_INNER, TREE = range(9)

NONE = -1
# What one insertion can ask for: a node on every level, one more for a new root and one for
# a leaf that outgrew its kind; no tree is higher than this.
MOST_NODES = 14


class Pool(NamedTuple):
    words: Ints  # the buffer
    reals: npt.NDArray[np.float64]  # the same memory
    halves: npt.NDArray[np.int32]  # the same memory
    lanes: Ints  # numbers of an entry, by shape
    folds: Ints  # least values of an entry, by shape
    rooms: Ints  # ROOMS
    used: Ints  # words in use
    free: Ints  # by shape and kind: the first free node
    trees: Ints
    sorting: Ints  # to sort keys in


def empty_pool(lanes: list[int], folds: list[int], trees: int = 0) -> Pool:
    shapes = len(lanes)
    words = np.zeros(1024, np.int64)
    return Pool(
        words=words,
        reals=words.view(np.float64),
        halves=words.view(np.int32),
        lanes=np.array(lanes, np.int64),
        folds=np.array(folds, np.int64),
        rooms=np.array(ROOMS, np.int64),
        used=np.zeros(1, np.int64),
        free=np.full((shapes, KINDS), NONE, np.int64),
        trees=np.full((trees, TREE), NONE, np.int64),
        sorting=np.zeros(max(ROOMS), np.int64),
    )


def grown(pool: Pool, asked: int = 0) -> Pool:
    """The same pool with room for more: for what is asked for and for one insertion at least."""
    widest = max(widest_node(pool, shape) for shape in range(len(pool.lanes)))
    more = max(asked, MOST_NODES * widest)
    words = np.zeros(2 * len(pool.words) + more, np.int64)
    used = int(pool.used[0])
    words[:used] = pool.words[:used]
    return pool._replace(words=words, reals=words.view(np.float64), halves=words.view(np.int32))


def with_trees(pool: Pool, trees: int) -> Pool:
    """The same pool with heads for more trees."""
    more = np.full((trees, TREE), NONE, np.int64)
    more[: len(pool.trees)] = pool.trees
    return pool._replace(trees=more)


def widest_node(pool: Pool, shape: int) -> int:
    """The words of the largest node of a shape."""
    return int(_node_words(pool.rooms, pool.lanes, pool.folds, shape, INNER))


# ---- where things are in a node ------------------------------------------------------------


def _node_words(rooms, lanes, folds, shape, kind):
    room = rooms[kind]
    children = room if kind == INNER else 0
    return HEAD + room * (1 + lanes[shape] + folds[shape]) + room * lanes[shape] // 2 + children


node_words = inlined(_node_words)


@inlined
def mantissas_at(node, room, lane):
    return node + HEAD + room * (1 + lane)


@inlined
def exponents_at(node, room, lanes, lane):
    """A place in `halves`."""
    return 2 * (node + HEAD + room * (1 + lanes)) + room * lane


@inlined
def leasts_at(node, room, lanes, fold):
    return node + HEAD + room * (1 + lanes + fold) + room * lanes // 2


@inlined
def children_at(node, room, lanes, folds):
    return leasts_at(node, room, lanes, folds)


# ---- nodes come and go ---------------------------------------------------------------------


@inlined
def has_room(pool, shape):
    """Whether an insertion into any tree of this shape is sure to find the nodes it needs."""
    most = MOST_NODES * node_words(pool.rooms, pool.lanes, pool.folds, shape, INNER)
    return pool.used[0] + most <= pool.words.size


@compiled
def new_node(pool, tree, kind):
    """An empty node, in its tree's chain; its numbers are zero."""
    trees, words = pool.trees, pool.words
    shape = trees[tree, SHAPE]
    node = pool.free[shape, kind]
    size = node_words(pool.rooms, pool.lanes, pool.folds, shape, kind)
    if node == NONE:
        node = pool.used[0]
        pool.used[0] += size
        words[node + KIND] = kind
    else:
        pool.free[shape, kind] = words[node + NEXT]
        words[node + HEAD : node + size] = 0
    words[node + SIZE] = 0
    chain = FIRST_INNER if kind == INNER else FIRST_LEAF
    first = trees[tree, chain]
    words[node + NEXT] = first
    if first == NONE:
        trees[tree, chain + 1] = node
    trees[tree, chain] = node
    return node


@compiled
def free_only_leaf(pool, tree):
    """Frees the leaf that is the whole tree."""
    shape, node = pool.trees[tree, SHAPE], pool.trees[tree, FIRST_LEAF]
    kind = pool.words[node + KIND]
    pool.words[node + NEXT] = pool.free[shape, kind]
    pool.free[shape, kind] = node
    pool.trees[tree, FIRST_LEAF] = NONE


@compiled
def plant(pool, tree, shape):
    """Makes a tree of no entries."""
    pool.trees[tree, ROOT] = NONE
    pool.trees[tree, HEIGHT] = 0
    pool.trees[tree, BIG] = 0
    pool.trees[tree, SHAPE] = shape
    pool.trees[tree, FIRST_LEAF] = NONE
    pool.trees[tree, FIRST_INNER] = NONE


@compiled
def fell(pool, tree):
    """Frees all nodes of a tree at once."""
    if pool.trees[tree, ROOT] == NONE:
        return
    if pool.trees[tree, HEIGHT] == 0:
        free_only_leaf(pool, tree)
    else:
        _free_chain(pool, tree, FIRST_LEAF, LEAF)
        _free_chain(pool, tree, FIRST_INNER, INNER)
    pool.trees[tree, ROOT] = NONE


@compiled
def _free_chain(pool, tree, chain, kind):
    shape = pool.trees[tree, SHAPE]
    pool.words[pool.trees[tree, chain + 1] + NEXT] = pool.free[shape, kind]
    pool.free[shape, kind] = pool.trees[tree, chain]
    pool.trees[tree, chain] = NONE
