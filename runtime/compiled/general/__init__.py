"""One query by itself, whatever the language allows: the run that every query can fall back to."""

from runtime.compiled.general.run import GeneralRun

__all__ = ["GeneralRun"]
