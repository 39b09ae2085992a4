"""How finely partial trends are told apart: by the event in which they end, or by its state.

`coarse[p, t]`: an event in state t need not know which events of state p come before it, so the
aggregates of all of p will do. COGRA takes as many such pairs as there are, GRETA none.
"""

from __future__ import annotations

import numpy as np

from benchmarks.baselines.decoded import Decoded, Mask
from runtime.language.query import Semantics

#: What becomes of a partial trend that was extended: it stays, it leaves; or all others leave, too.
MOVES = {Semantics.ANY: 0, Semantics.NEXT: 1, Semantics.CONTIGUOUS: 2}


def conditional(decoded: Decoded) -> Mask:
    """Pairs of neighbouring states with a condition on their events."""
    before = decoded.automaton.before
    applied = [before & adjacent.applies for adjacent in decoded.adjacent]
    found: Mask = np.logical_or.reduce([np.zeros_like(before), *applied])
    return found


def coarsest(decoded: Decoded) -> Mask:
    """Where partial trends leave when they are extended and a condition says which, none is left
    to the aggregates of its state: it would have to be subtracted."""
    under = conditional(decoded)
    coarse = decoded.automaton.before & ~under
    if decoded.query.semantics is not Semantics.ANY:
        coarse &= ~under.any(axis=1, keepdims=True)
    return coarse
