"""From a pattern to its automaton, and from a workload to what its queries share."""
