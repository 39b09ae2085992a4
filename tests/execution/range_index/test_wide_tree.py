"""Trees of ranges against a list that is looked through from end to end."""

import operator
from fractions import Fraction

import numpy as np
import pytest

from runtime.execution.jit import entry
from runtime.execution.kernel_args import handle_of
from runtime.execution.operators.range_index import node_arena as arenas
from runtime.execution.operators.range_index.node_arena import (
    INNER,
    MOST_NODES,
    NodeArena,
    empty_arena,
    grown,
    node_words,
    with_trees,
)
from runtime.execution.operators.range_index.node_scan import NOTHING
from runtime.execution.operators.range_index.wide_tree import gather, insert
from runtime.execution.wide_float import LARGE
from runtime.plan.operators.range_index.comparison_edges import PARTS

COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
EXTREMES = (np.iinfo(np.int64).min, np.iinfo(np.int64).max)


@entry
def insert_all(pool, tree, keys, m, e, x, first):
    most = MOST_NODES * node_words(pool.capacities, pool.lanes, pool.folds, 0, INNER)
    for i in range(first, keys.size):
        if pool.used[0] + most > pool.words.size:
            return i
        insert(pool, tree, keys[i], m[i], e[i], x[i], m.shape[1])
    return keys.size


@entry
def gather_all(pool, tree, keys, parts, lanes, folds, m, e, x):
    for i in range(keys.size):
        gather(pool, tree, keys[i], parts, lanes, lanes, folds, folds, m[i], e[i], x[i])


@entry
def plant(pool, tree):
    arenas.plant(pool, tree, 0)


@entry
def fell(pool, tree):
    arenas.fell(pool, tree)


class Forest:
    """Trees of one shape, and beside each the list of what was put in."""

    def __init__(self, lanes: int, folds: int, trees: int = 1) -> None:
        self.lanes, self.folds = lanes, folds
        self.pool: NodeArena = with_trees(empty_arena([lanes], [folds]), trees)
        self.entries: list[list[tuple[int, list[Fraction], list[int]]]] = [[] for _ in range(trees)]
        for tree in range(trees):
            plant(handle_of(self.pool), tree)

    def put(self, tree, keys, m, e, x):
        first = 0
        while (first := insert_all(handle_of(self.pool), tree, keys, m, e, x, first)) < len(keys):
            self.pool = grown(self.pool)
        for i, key in enumerate(keys.tolist()):
            numbers = [exact(a, b) for a, b in zip(m[i], e[i], strict=True)]
            self.entries[tree].append((key, numbers, x[i].tolist()))

    def check(self, tree, borders, tolerance=0):
        borders = np.array(borders, np.int64)
        for symbol, parts in PARTS.items():
            m = np.zeros((len(borders), self.lanes))
            e = np.zeros((len(borders), self.lanes), np.int64)
            x = np.full((len(borders), self.folds), NOTHING)
            places = np.arange(self.lanes), np.arange(self.folds)
            gather_all(handle_of(self.pool), tree, borders, parts, *places, m, e, x)
            for i, border in enumerate(borders.tolist()):
                inside = [each for each in self.entries[tree] if COMPARE[symbol](each[0], border)]
                for lane in range(self.lanes):
                    wanted = sum((numbers[lane] for _, numbers, _ in inside), Fraction())
                    size = sum((abs(numbers[lane]) for _, numbers, _ in inside), Fraction())
                    got = exact(m[i, lane], e[i, lane])
                    assert abs(got - wanted) <= tolerance * size, (symbol, border)
                for fold in range(self.folds):
                    wanted = min((leasts[fold] for _, _, leasts in inside), default=NOTHING)
                    assert x[i, fold] == wanted


def exact(m, e) -> Fraction:
    return Fraction(float(m)) * 2 ** (512 * int(e))


def drawn(rng, size, lanes, folds, keys, *, powers=1):
    m = rng.integers(1, 1000, (size, lanes)).astype(np.float64)
    e = rng.integers(0, powers, (size, lanes))
    x = rng.integers(-1000, 1000, (size, folds))
    return rng.choice(keys, size), m, e, x


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 16, 17, 33, 200, 3000])
@pytest.mark.parametrize(("lanes", "folds"), [(1, 0), (3, 2)])
def test_ranges_of_random_keys(size, lanes, folds):
    rng = np.random.default_rng(size)
    keys = np.append(rng.integers(-(2**62), 2**62, max(size, 1)), EXTREMES)
    forest = Forest(lanes, folds)
    forest.put(0, *drawn(rng, size, lanes, folds, keys))
    forest.check(0, [*rng.choice(keys, 20), *EXTREMES, 0])


@pytest.mark.parametrize("size", [40, 2000])
def test_few_keys_that_come_again_and_again(size):
    rng = np.random.default_rng(7)
    forest = Forest(2, 1)
    forest.put(0, *drawn(rng, size, 2, 1, np.arange(-20, 20)))
    forest.check(0, range(-21, 22))


@pytest.mark.parametrize("step", [1, -1])
def test_keys_in_order(step):
    rng = np.random.default_rng(3)
    forest = Forest(1, 1)
    _, m, e, x = drawn(rng, 5000, 1, 1, [0])
    forest.put(0, np.arange(5000)[::step].copy(), m, e, x)
    forest.check(0, [-1, 0, 1, 31, 32, 33, 2500, 4998, 4999, 5000])
    assert forest.pool.used[0] < 5000 * 5, "leaves are full, or nearly so"


def test_numbers_of_any_size():
    rng = np.random.default_rng(5)
    forest = Forest(2, 0)
    keys, m, e, x = drawn(rng, 1500, 2, 0, np.arange(1000), powers=4)
    forest.put(0, keys, m, e, x)
    forest.check(0, rng.choice(1000, 30), tolerance=Fraction(1, 10**12))


def test_totals_that_leave_the_range_of_mantissas():
    forest = Forest(1, 0)
    keys = np.arange(300)
    m = np.full((300, 1), LARGE / 2)
    forest.put(0, keys, m, np.zeros((300, 1), np.int64), np.zeros((300, 0), np.int64))
    forest.check(0, [0, 1, 2, 3, 150, 299, 300])


def test_signs_cancel():
    rng = np.random.default_rng(9)
    forest = Forest(1, 0)
    keys, m, e, x = drawn(rng, 800, 1, 0, np.arange(500))
    forest.put(0, keys, m * rng.choice([-1.0, 1.0], m.shape), e, x)
    forest.check(0, range(0, 500, 17))


def test_trees_of_one_pool_do_not_meet():
    rng = np.random.default_rng(11)
    forest = Forest(1, 1, trees=5)
    for _ in range(10):
        for tree in range(5):
            forest.put(tree, *drawn(rng, int(rng.integers(0, 60)), 1, 1, np.arange(200)))
    for tree in range(5):
        forest.check(tree, range(0, 200, 13))


def test_nodes_of_a_felled_tree_are_used_again():
    rng = np.random.default_rng(13)
    forest = Forest(1, 1)
    used = []
    for _ in range(5):
        forest.put(0, *drawn(rng, 2000, 1, 1, np.arange(10**6), powers=3))
        forest.check(0, [10, 5000, 10**6], tolerance=Fraction(1, 10**12))
        used.append(int(forest.pool.used[0]))
        fell(handle_of(forest.pool), 0)
        plant(handle_of(forest.pool), 0)
        forest.entries[0] = []
    assert max(used) < 1.1 * used[0]


def test_lanes_that_come_into_use_later():
    """Numbers that no entry carries yet are zero, wherever nodes split."""
    rng = np.random.default_rng(17)
    forest = Forest(3, 0)
    for lanes in (1, 2, 2, 3, 3):
        keys, m, e, x = drawn(rng, 500, lanes, 0, np.arange(5000))
        first = 0
        while (first := insert_all(handle_of(forest.pool), 0, keys, m, e, x, first)) < len(keys):
            forest.pool = grown(forest.pool)
        for i, key in enumerate(keys.tolist()):
            numbers = [exact(m[i, j], 0) if j < lanes else Fraction() for j in range(3)]
            forest.entries[0].append((key, numbers, []))
        forest.check(0, range(0, 5000, 499))
