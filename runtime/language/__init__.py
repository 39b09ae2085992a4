"""From the text of a query file to a checked `Workload`: clauses, syntax, names, conditions."""
