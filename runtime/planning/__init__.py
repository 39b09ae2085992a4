"""Planners: from a workload and the rates of its event types to what is shared by whom."""
