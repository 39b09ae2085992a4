"""Least squares without negative coefficients, and what they cost a run that solves none."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from runtime.optimizer.least_squares import solve_non_negative

LATER = """
import sys
import actors.optimizer, hamlet.job.job_run
assert "scipy.optimize" not in sys.modules
"""


def test_no_coefficient_is_negative():
    """Without the bound, the second would be -1."""
    found = solve_non_negative(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([2.0, -1.0]))
    assert found.tolist() == [2.0, 0.0]


def test_scipy_is_imported_with_the_first_problem(root: Path):
    command = [sys.executable, "-c", LATER]
    subprocess.run(command, cwd=root, check=True)
