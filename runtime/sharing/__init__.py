"""Sharing in the paper's own terms: snapshots, expressions, benefit. Pure functions; no kernels."""
