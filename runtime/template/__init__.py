"""Merges the patterns of a workload and groups the queries that can share."""
