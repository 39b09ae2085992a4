"""Solves least squares whose solution must not be negative.

SciPy's optimizers take a third of a second to import. A short run solves nothing, and every run
starts sooner without them: they are imported with the first problem.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]


def solve_non_negative(matrix: Floats, right: Floats) -> npt.NDArray[np.float64]:
    from scipy.optimize import nnls  # type: ignore[import-untyped]

    found: npt.NDArray[np.float64] = nnls(matrix, right)[0]
    return found
