"""Checks which shares are possible: between two runs of a type there is a run of another."""

from __future__ import annotations

import numpy as np

from runtime.errors import InputError
from runtime.generate.lifecycle import Floats, Lifecycle

# Of all runs, those of one type may be as many as this part of all others together.
ROOM = 1.0 - 1e-6


def alternating(lifecycle: Lifecycle, shares: Floats, lengths: Floats) -> Floats:
    """Run lengths with which the shares can alternate.

    A bursty type keeps its length. One that comes alone comes in runs where its share is so large
    that there would be more of it than places between other types.
    """
    runs = shares / lengths
    top = int(np.argmax(runs))
    others = float(runs.sum() - runs[top])
    # Two types can only take turns: they have equally many runs.
    turns = np.count_nonzero(shares) == 2
    room = others if turns else others * ROOM
    if runs[top] <= room * (1.0 + 1e-9):
        return lengths
    if room == 0 or lifecycle.type_names[top] in lifecycle.bursty:
        raise _refusal(lifecycle, top, shares, lengths)
    longer = lengths.copy()
    longer[top] = shares[top] / room
    return longer


def _refusal(lifecycle: Lifecycle, top: int, shares: Floats, lengths: Floats) -> InputError:
    name = lifecycle.type_names[top]
    message = (
        f"`{name}` cannot be {shares[top]:.4g} of the events in runs of {lengths[top]:g}: "
        "between two of its runs there is another type"
    )
    if np.count_nonzero(shares) == 1:
        return InputError(message, "leave a share to other types")
    density = (np.delete(shares / lengths, top).sum() / (1.0 - shares[top])) * lengths[top]
    hint = f"choose a share below {density / (1.0 + density):.3g}"
    if len(lifecycle.bursty) < len(shares):
        hint += " or longer bursts"
    return InputError(message, hint)
