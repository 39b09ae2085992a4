"""Applies a burst's operator to all vectors of some queries."""

from __future__ import annotations

from runtime.execution.jit import brief

from .apply_many import aligned, wide
from .apply_one import aligned_one, plain, wide_one
from .record import (
    BIG,
    E_LANES,
    E_LOOP,
    E_PLACE,
    E_QUERIES,
    E_ROW_CLASS,
    E_SIZE,
    EXACT_POWER,
    FLAGS,
    LIMIT,
    POWERS,
    RC_LANES,
    W_PARTS,
)
from .vectors import start_of, vectors


@brief
def apply(h, s, e, place, queries, count):
    """Applies the operator in scratch to every vector of some of an entry's queries; returns the
    number of vectors."""
    at, step, idle = vectors(h, s, h.tab[e + E_ROW_CLASS])
    apply_vectors(h, s, e, queries, count, at + step * place, step, idle)
    return step


@brief
def apply_alike(h, s, first, last, count):
    """Applies it to all queries of entries that differ only in their offsets."""
    ri, tab = h.ri, h.tab
    f = tab[first + E_ROW_CLASS]
    at, step, idle = vectors(h, s, f)
    small = step == 1 and ri[s, FLAGS] & BIG == 0 and count <= EXACT_POWER
    for e in range(first, last, E_SIZE):
        base, queries = at + step * tab[e + E_PLACE], tab[e + E_QUERIES]
        if (
            not small
            or queries > 1
            or not plain(h, s, first, f, count, base, step, start_of(0, idle))
        ):
            apply_vectors(h, s, e, queries, count, base, step, idle)


@brief
def apply_vectors(h, s, e, queries, count, base, step, idle):
    """Applies it to the vectors of contiguous queries, whose words begin at `base`."""
    ri, f = h.ri, h.tab[e + E_ROW_CLASS]
    one = step * queries == 1
    if ri[s, FLAGS] & BIG == 0 and count <= EXACT_POWER:
        if one:
            if plain(h, s, e, f, count, base, step, start_of(0, idle)):
                return
        elif wide(h, s, e, f, queries, count, base, step, idle):
            return
    ri[s, FLAGS] |= BIG
    if count > EXACT_POWER or not moderate(h, e, f, count):
        for i in range(step * queries):
            wide_one(h, s, e, f, count, base + i, step, start_of(i % step, idle))
    elif one:
        aligned_one(h, s, e, f, count, base, step, start_of(0, idle))
    else:
        aligned(h, s, e, f, queries, count, base, step, idle)


@brief
def moderate(h, e, f, count):
    """Whether the operator times any mantissa is still a finite double."""
    tab, wf = h.tab, h.wf
    scale = POWERS[count - 1] if tab[e + E_LOOP] != 0 else 1.0
    for j in range(tab[f + RC_LANES]):
        if not abs(scale * wf[W_PARTS + tab[e + E_LANES + j]]) < LIMIT:
            return False
    return True
