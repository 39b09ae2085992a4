"""How a workload will be evaluated, and why: as text, as JSON, as a drawing."""

from runtime.explain.build import explain
from runtime.explain.explanation import Explanation

__all__ = ["Explanation", "explain"]
