"""Turns rows into events, routes them to shards, computes each epoch and commits it.

The actors of a cluster call these classes; nothing here depends on Ray.
"""
