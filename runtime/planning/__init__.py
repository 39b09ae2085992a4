"""Plans for a whole workload, made before the first event: which queries share what."""
