"""Parses and checks a query file: text to clauses, syntax tree, and bound `Workload`."""
