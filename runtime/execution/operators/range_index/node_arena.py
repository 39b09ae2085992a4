"""The memory for the nodes of many trees: one flat buffer that is replaced by a larger one to grow.

Every tree has a *shape*: the number of sums and of least values of an entry. A node is a contiguous
block of the buffer, identified by its start:

    size, kind, next | keys | mantissas, lane by lane | exponents | least values | children

A freed node goes to a free list of its shape and kind and is reused. Kernels never allocate: they
check that an insertion fits before they change anything, and otherwise return to Python, which
calls `grown`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from runtime.execution.jit import compiled, inlined

Ints = npt.NDArray[np.int64]

# Kinds of nodes by their capacity. A tree of few entries is one small leaf, so that millions of
# partitions with a handful of events each stay small.
CAPACITIES = (4, 16, 32, 64)
LEAF, INNER = 2, 3
KINDS = len(CAPACITIES)

SIZE, KIND, NEXT, HEAD = 0, 1, 2, 4
# The head of a tree. BIG: some exponent is not zero. Two chains hold all its leaves and inner
# nodes (first, last), so that a tree is freed in constant time.
ROOT, HEIGHT, BIG, SHAPE, FIRST_LEAF, LAST_LEAF, FIRST_INNER, LAST_INNER, TREE = range(9)

NONE = -1
# The most nodes that one insertion needs: one on every level, one for a new root and one for a leaf
# that outgrew its kind; no tree is higher than this.
MOST_NODES = 14


class NodeArena(NamedTuple):
    words: Ints  # the buffer
    reals: npt.NDArray[np.float64]  # the same memory
    halves: npt.NDArray[np.int32]  # the same memory
    lanes: Ints  # numbers of an entry, by shape
    folds: Ints  # least values of an entry, by shape
    capacities: Ints  # CAPACITIES
    used: Ints  # words in use
    free: Ints  # by shape and kind: the first free node
    trees: Ints
    sorting: Ints  # to sort keys in


def empty_arena(lanes: list[int], folds: list[int], trees: int = 0) -> NodeArena:
    shapes = len(lanes)
    words = np.zeros(1024, np.int64)
    return NodeArena(
        words=words,
        reals=words.view(np.float64),
        halves=words.view(np.int32),
        lanes=np.array(lanes, np.int64),
        folds=np.array(folds, np.int64),
        capacities=np.array(CAPACITIES, np.int64),
        used=np.zeros(1, np.int64),
        free=np.full((shapes, KINDS), NONE, np.int64),
        trees=np.full((trees, TREE), NONE, np.int64),
        sorting=np.zeros(max(CAPACITIES), np.int64),
    )


def grown(arena: NodeArena, asked: int = 0) -> NodeArena:
    """The same arena with more capacity: for `asked` words and at least one insertion."""
    widest = max(widest_node(arena, shape) for shape in range(len(arena.lanes)))
    more = max(asked, MOST_NODES * widest)
    words = np.zeros(2 * len(arena.words) + more, np.int64)
    used = int(arena.used[0])
    words[:used] = arena.words[:used]
    return arena._replace(words=words, reals=words.view(np.float64), halves=words.view(np.int32))


def with_trees(arena: NodeArena, trees: int) -> NodeArena:
    """The same arena with heads for more trees."""
    more = np.full((trees, TREE), NONE, np.int64)
    more[: len(arena.trees)] = arena.trees
    return arena._replace(trees=more)


def widest_node(arena: NodeArena, shape: int) -> int:
    """The words of the largest node of a shape."""
    return int(_node_words(arena.capacities, arena.lanes, arena.folds, shape, INNER))


# ---- where things are in a node ------------------------------------------------------------


def _node_words(capacities, lanes, folds, shape, kind):
    capacity = capacities[kind]
    children = capacity if kind == INNER else 0
    entries = capacity * (1 + lanes[shape] + folds[shape])
    return HEAD + entries + capacity * lanes[shape] // 2 + children


node_words = inlined(_node_words)


@inlined
def mantissas_at(node, capacity, lane):
    return node + HEAD + capacity * (1 + lane)


@inlined
def exponents_at(node, capacity, lanes, lane):
    """An index of `halves`."""
    return 2 * (node + HEAD + capacity * (1 + lanes)) + capacity * lane


@inlined
def leasts_at(node, capacity, lanes, fold):
    return node + HEAD + capacity * (1 + lanes + fold) + capacity * lanes // 2


@inlined
def children_at(node, capacity, lanes, folds):
    return leasts_at(node, capacity, lanes, folds)


# ---- nodes come and go ---------------------------------------------------------------------


@compiled
def new_node(arena, tree, kind):
    """An empty node, in its tree's chain; its numbers are zero."""
    trees, words = arena.trees, arena.words
    shape = trees[tree, SHAPE]
    node = arena.free[shape, kind]
    size = node_words(arena.capacities, arena.lanes, arena.folds, shape, kind)
    if node == NONE:
        node = arena.used[0]
        arena.used[0] += size
        words[node + KIND] = kind
    else:
        arena.free[shape, kind] = words[node + NEXT]
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
def free_only_leaf(arena, tree):
    """Frees the leaf that is the whole tree."""
    shape, node = arena.trees[tree, SHAPE], arena.trees[tree, FIRST_LEAF]
    kind = arena.words[node + KIND]
    arena.words[node + NEXT] = arena.free[shape, kind]
    arena.free[shape, kind] = node
    arena.trees[tree, FIRST_LEAF] = NONE


@compiled
def plant(arena, tree, shape):
    """Creates a tree without entries."""
    arena.trees[tree, ROOT] = NONE
    arena.trees[tree, HEIGHT] = 0
    arena.trees[tree, BIG] = 0
    arena.trees[tree, SHAPE] = shape
    arena.trees[tree, FIRST_LEAF] = NONE
    arena.trees[tree, FIRST_INNER] = NONE


@compiled
def fell(arena, tree):
    """Frees all nodes of a tree at once."""
    if arena.trees[tree, ROOT] == NONE:
        return
    if arena.trees[tree, HEIGHT] == 0:
        free_only_leaf(arena, tree)
    else:
        _free_chain(arena, tree, FIRST_LEAF, LEAF)
        _free_chain(arena, tree, FIRST_INNER, INNER)
    arena.trees[tree, ROOT] = NONE


@compiled
def _free_chain(arena, tree, chain, kind):
    shape = arena.trees[tree, SHAPE]
    arena.words[arena.trees[tree, chain + 1] + NEXT] = arena.free[shape, kind]
    arena.free[shape, kind] = arena.trees[tree, chain]
    arena.trees[tree, chain] = NONE
