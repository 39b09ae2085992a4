"""The range-index operator: adjacent comparisons in O(log n) per event."""
