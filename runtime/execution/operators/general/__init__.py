"""One query by itself, whatever the language allows: the run that every query can fall back to."""

from runtime.execution.operators.general.operator import GeneralRun

__all__ = ["GeneralRun"]
