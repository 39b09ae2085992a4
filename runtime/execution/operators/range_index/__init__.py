"""The range-index operator: evaluates adjacent comparisons in O(log n) per event."""
