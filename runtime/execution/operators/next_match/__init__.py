"""One query by itself under skip-till-next-match or contiguous: a vector for each open window."""

from runtime.execution.operators.next_match.operator import MovingRun, takes

__all__ = ["MovingRun", "takes"]
