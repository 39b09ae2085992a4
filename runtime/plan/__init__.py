"""Planners: from a workload and the rates of its events to who shares what."""
