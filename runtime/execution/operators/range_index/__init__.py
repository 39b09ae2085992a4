"""Adjacent comparisons in O(log n): trends that end in a state, ordered by what is compared."""
